"""What the records of a run say: ratios pair by pair, growth, losses, the aims. Arithmetic only, no files.

A frame has one row a planned job: the job's own columns, the record's, and besides `gap` ((bound - value) / bound, 0
where proven, NaN without both), `solved`, `main` (the plan's own limit, whole effort). Its `status` is optimal, late
(proven, but only after the limit: counted as unproven), limit, killed (with nothing to show), died, skipped, answered
(plan.needless) or `not run`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from . import plan as plans
from .plan import CURVE, MIPS, OURS, Job, Plan

INSTANCE = ["family", "size", "fraction", "seed"]
CELL = ["family", "size", "fraction"]
_RECORDED = [
    "groups", "candidates", "units", "budget", "solves", "seconds", "cpu", "repeats", "noise", "peak_mib", "value",
    "bound", "wall", "fault",
]  # fmt: skip
_PROVEN = ("optimal", "late")
SLOWEST_NOISE = 1.5  # a reference loop this many times its median: the machine was not quiet


def frame(records: Mapping[Job, Mapping[str, Any]], plan: Plan) -> pd.DataFrame:
    """One row a job of the plan, in its order.

    Our limits count work, so the whole effort may overrun the seconds: then the most effort that ended in time counts,
    its value and bound (status `limit`), with all the seconds given. That is what a caller could have had.
    """
    rows = []
    for job in dict.fromkeys(plans.jobs(plan)):
        row = _found(job, records) or {"status": plans.needless(job, records, plan) or "not run"}
        late = row["status"] == "optimal" and row["seconds"] > job.limit
        rows.append({
            **job._asdict(), "status": "late" if late else row["status"],
            **{column: row.get(column) for column in _RECORDED},
            "main": plans.main_job(job, plan), "gap": _gap(row), "solved": row["status"] == "optimal" and not late,
        })  # fmt: skip
    made = pd.DataFrame(rows)
    numbers = ["groups", "candidates", "units", "budget", "seconds", "cpu", "noise", "peak_mib", "wall"]
    return made.astype(dict.fromkeys(numbers, float))


def _found(job: Job, records: Mapping[Job, Mapping[str, Any]]) -> Mapping[str, Any] | None:
    row = records.get(job)
    if job.solver != OURS or job.effort < 1.0 or (row is not None and row["status"] != "killed"):
        return row
    for effort in reversed(plans.EFFORTS):
        less = records.get(job._replace(effort=effort))
        if less and less["status"] in ("optimal", "limit") and less["seconds"] <= job.limit:
            return less if less["status"] == "optimal" else {**less, "seconds": job.limit}
    return row


def _gap(row: Mapping[str, Any]) -> float:
    if row["status"] == "optimal":
        return 0.0
    if row.get("value") is None or row.get("bound") is None:
        return math.nan
    value, bound = Fraction(row["value"]), Fraction(row["bound"])
    return float((bound - value) / bound) if bound else 0.0


def faults(rows: pd.DataFrame) -> list[str]:
    """Whatever makes the figures worthless: a selection that is infeasible or worth something else than its solver
    says, two proven values of one instance, a value or a bound beyond a proven one."""
    found = [f"{_where(r)}, {r.solver}: {r.fault}" for r in rows[rows["fault"].notna()].itertuples()]
    for _, part in rows.groupby(INSTANCE):
        proven = [(Fraction(r.value), r.solver) for r in part[part["status"].isin(_PROVEN)].itertuples()]
        if len({value for value, _ in proven}) > 1:
            listed = ", ".join(f"{solver} {value}" for value, solver in proven)
            found.append(f"{_where(part.iloc[0])}: proven optima differ: {listed}")
            continue
        for r in part.itertuples() if proven else ():
            optimum = proven[0][0]
            if pd.notna(r.value) and Fraction(r.value) > optimum:
                found.append(f"{_where(r)}, {r.solver}: the value {r.value} is above the proven {optimum}")
            if r.solver in (OURS, CURVE) and pd.notna(r.bound) and Fraction(r.bound) < optimum:
                found.append(f"{_where(r)}, {r.solver}: the bound {r.bound} is below the proven {optimum}")
    return found


def low_bounds(rows: pd.DataFrame) -> list[str]:
    """Unproven solves of others whose bound (a double, rounded) is below the proven optimum: told, not an error."""
    found = []
    for _, part in rows.groupby(INSTANCE):
        proven = [Fraction(r.value) for r in part[part["status"].isin(_PROVEN)].itertuples()]
        for r in part[~part["status"].isin(_PROVEN) & part["bound"].notna()].itertuples() if proven else ():
            if Fraction(r.bound) < proven[0]:
                found.append(f"{_where(r)}, {r.solver} ({r.limit:g} s): {r.bound} where {proven[0]} is proven")
    return found


def _where(row: Any) -> str:
    return f"{row.family} {row.size}, {100 * row.fraction:g} %, seed {row.seed}"


def pairs(rows: pd.DataFrame, ours: str = OURS) -> pd.DataFrame:
    """One row an instance that `ours` proved and another solver tried: `ratio` of the seconds, other / ours; where the
    other did not prove it, the seconds it was given are a lower bound (`at_least`)."""
    main = rows[rows["main"]]
    base = main[(main["solver"] == ours) & main["solved"]][[*INSTANCE, "seconds"]]
    others = main[~main["solver"].isin([OURS, CURVE]) & main["seconds"].notna()]
    joined = others.merge(base, on=INSTANCE, suffixes=("", "_ours"))
    return joined.assign(
        ratio=joined[["seconds", "limit"]].max(axis=1).where(~joined["solved"], joined["seconds"])
        / joined["seconds_ours"],
        at_least=~joined["solved"],
    )


def times(rows: pd.DataFrame) -> pd.DataFrame:
    """Per family, size, fraction and solver: how many seeds were proven, median and largest seconds of these, memory,
    and min / median / max of the pairs' ratios (`ratio_at_least`: how many of them are lower bounds)."""
    ratio = pairs(rows).set_index([*INSTANCE, "solver"])
    made = []
    main = rows[rows["main"]]
    for key, part in main.groupby([*CELL, "solver"], sort=False):
        solved = part[part["solved"]]
        own = ratio[ratio.index.isin(pd.MultiIndex.from_frame(part[[*INSTANCE, "solver"]]))]
        made.append({
            **dict(zip([*CELL, "solver"], key, strict=True)),
            "groups": part["groups"].max(), "candidates": part["candidates"].max(), "units": part["units"].max(),
            "seeds": len(part), "proven": len(solved), "tried": int(part["seconds"].notna().sum()),
            "skipped": int((part["status"] == "skipped").sum()), "not_run": int((part["status"] == "not run").sum()),
            "seconds_median": solved["seconds"].median(), "seconds_max": solved["seconds"].max(),
            "ratio_min": own["ratio"].min(), "ratio_median": own["ratio"].median(), "ratio_max": own["ratio"].max(),
            "ratio_at_least": int(own["at_least"].sum()),
            "gap_max": part["gap"].max(), "peak_mib": part["peak_mib"].max(),
        })  # fmt: skip
    return pd.DataFrame(made)


def losses(rows: pd.DataFrame) -> pd.DataFrame:
    """Every instance on which another solver beat ours: to the proof, by proving it at all, or by a smaller gap."""
    main = rows[rows["main"] & rows["seconds"].notna()]
    ours = main[main["solver"] == OURS].set_index(INSTANCE)
    made = []
    for row in main[~main["solver"].isin([OURS, CURVE])].itertuples():
        key = tuple(getattr(row, column) for column in INSTANCE)
        if key in ours.index and (how := _beaten(row, ours.loc[key])):
            made.append({**dict(zip(INSTANCE, key, strict=True)), "solver": row.solver, "how": how})
    return pd.DataFrame(made, columns=[*INSTANCE, "solver", "how"])


def _beaten(other: Any, ours: Any) -> str | None:
    if other.solved and not ours["solved"]:
        return f"proved it in {other.seconds:.3g} s, ours did not"
    if other.solved and other.seconds < ours["seconds"]:
        return f"faster, {ours['seconds'] / other.seconds:.2f} times"
    if not ours["solved"] and not other.solved and other.gap < (1 if math.isnan(ours["gap"]) else ours["gap"]):
        mine = "none" if math.isnan(ours["gap"]) else f"{100 * ours['gap']:.3g} %"
        return f"gap {100 * other.gap:.3g} % against {mine}"
    return None


# What grows along which instances, the rest being held: (what, column, family, size or None for all sizes).
_GROWTH = (
    ("groups", "groups", "chains", None),
    ("groups, one path", "groups", "path", None),
    ("candidates", "candidates", "wide", None),
    ("units", "units", "rich", None),
    ("budget", "budget", "chains", 2000),
)
_LEAST_GROUPS = 50  # below, constant costs rule
_LEAST_MIB = 1.0


def growth(rows: pd.DataFrame) -> pd.DataFrame:
    """Slopes of log seconds and log memory against the log of what grows, least squares over all seeds (1:
    proportional); NaN with fewer than three sizes. Groups at 10 % budgets, from 50 on; memory where above 1 MiB."""
    made = []
    for what, column, family, size in _GROWTH:
        part = rows[rows["main"] & rows["solved"] & (rows["family"] == family) & (rows["groups"] >= _LEAST_GROUPS)]
        part = part[part["fraction"] == 0.1] if size is None else part[part["size"] == size]
        for solver, own in part.groupby("solver", sort=False):
            if own[column].nunique() < 3:
                continue
            large = own[own["peak_mib"] > _LEAST_MIB]
            made.append({
                "against": what, "family": family, "solver": solver, "from": own[column].min(), "to": own[column].max(),
                "solves": len(own), "seconds_slope": slope(own[column], own["seconds"]),
                "memory_slope": slope(large[column], large["peak_mib"]), "peak_mib_at_most": own["peak_mib"].max(),
            })  # fmt: skip
    columns = ["against", "family", "solver", "from", "to", "solves", "seconds_slope", "memory_slope"]
    return pd.DataFrame(made, columns=[*columns, "peak_mib_at_most"])


def slope(x: pd.Series, y: pd.Series) -> float:
    """Least-squares slope of log y against log x; NaN with fewer than three different x that are as far apart as one
    and two (x of one size differ a little between seeds)."""
    if x.nunique() < 3 or x.max() < 2 * x.min():
        return math.nan
    return float(np.polyfit(np.log(x.astype(float)), np.log(y.astype(float)), 1)[0])


def profile(rows: pd.DataFrame) -> dict[str, np.ndarray]:
    """Performance profile (Dolan and More 2002) of the solves of one budget: per solver, for each instance its seconds
    over those of the fastest, rising, inf where it did not prove it. Of the instances that no solver still has to be
    run on and at least one proved; the small batch and instances of our solver alone are left out."""
    main = rows[rows["main"] & (rows["solver"] != CURVE) & (rows["family"] != "small")]
    whole = main.groupby(INSTANCE).filter(
        lambda p: len(p) == len(plans.ONE_BUDGET) and (p["status"] != "not run").all()
    )
    if whole.empty:
        return {}
    seconds = whole.assign(s=whole["seconds"].where(whole["solved"])).pivot(
        index=INSTANCE, columns="solver", values="s"
    )
    seconds = seconds.dropna(how="all")
    ratio = seconds.div(seconds.min(axis=1), axis=0).fillna(math.inf)
    return {solver: np.sort(ratio[solver].to_numpy()) for solver in plans.ONE_BUDGET}


def gap_panels(found: pd.DataFrame) -> list[tuple[int, float]]:
    """(size, fraction) of the cells of `gaps` that other solvers were run on at several limits."""
    several = found[found["solver"] != OURS].groupby(["size", "fraction"])["limit"].nunique()
    return list(several[several > 1].index)


def gaps(rows: pd.DataFrame) -> pd.DataFrame:
    """The dense family's gap against time: per size, fraction, solver, limit and effort the seconds (given; of ours:
    taken, the median), the largest gap over the seeds that were run, and how many of them ended without any."""
    dense = rows[(rows["family"] == "dense") & (rows["solver"] != plans.PLAIN)]
    dense = dense[dense["status"] != "not run"]
    made = []
    for key, part in dense.groupby(["size", "fraction", "solver", "limit", "effort"], sort=False):
        known = part.assign(gap=part["gap"].where(part["status"] != "answered", 0.0))
        size, fraction, solver, limit, effort = key
        made.append({
            "size": size, "fraction": fraction, "solver": solver, "limit": limit, "effort": effort,
            "seconds": part["seconds"].median() if solver == OURS else limit,
            "gap_max": known["gap"].max() if known["gap"].notna().all() else math.nan,
            "seeds": len(part), "without": int(known["gap"].isna().sum()),
        })  # fmt: skip
    columns = ["size", "fraction", "solver", "limit", "effort", "seconds", "gap_max", "seeds", "without"]
    return pd.DataFrame(made, columns=columns).sort_values(["size", "fraction", "solver", "seconds"], ignore_index=True)


def noise(rows: pd.DataFrame) -> dict[str, float]:
    """The reference loop over the run, as ratios to its median, and how much of the solves' time was waiting."""
    loops = rows["noise"].dropna()
    long = rows[rows["cpu"].notna() & (rows["seconds"] > 0.05)]
    ratio = loops / loops.median()
    return {
        "loops": len(loops),
        "least": ratio.min(),
        "most": ratio.max(),
        "p90": ratio.quantile(0.9),
        "noisy": float((ratio > SLOWEST_NOISE).mean()) if len(loops) else 0.0,
        "waiting": 1 - long["cpu"].sum() / long["seconds"].sum() if len(long) else 0.0,
    }


# ---- The aims


UNDECIDED = "undecided (limit too short)"


class Aim(NamedTuple):
    """`met`: yes, no, undecided (the limit was too short to tell), reported (there is no threshold) or not
    measured."""

    family: str
    aim: str
    measured: str
    met: str


def aims(rows: pd.DataFrame, start: Mapping[str, Any]) -> list[Aim]:
    """What was to be reached, what was, from one run. Seconds are medians over seeds; a ratio is the smallest over
    sizes of the median over seeds, a lower bound where the other solver proved less."""
    return [*_small(rows), *_chains(rows), *_curves(rows), *_natural(rows), *_dense(rows), *_start(start)]


def _small(rows: pd.DataFrame) -> Iterator[Aim]:
    yield _time(rows, "small suite, batched", "a solve in 10 µs", 1e-5, OURS, "small", None)
    part = pairs(rows)
    part = part[(part["family"] == "small") & (part["solver"] == "cp_sat")]
    yield Aim(
        "small suite, batched", "ratio to tuned CP-SAT reported",
        "-" if part.empty else f"{part['ratio'].median():,.0f}", "not measured" if part.empty else "reported",
    )  # fmt: skip


def _chains(rows: pd.DataFrame) -> Iterator[Aim]:
    name = "chains, one budget"
    for size, most in ((2000, 0.3), (10000, 5.0)):
        yield _time(rows, name, f"{size:,} groups in {most:g} s", most, OURS, "chains", size)
    for solver, least in (("highs", 10), ("cbc", 20), ("cp_sat", 10)):
        yield _ratio(rows, name, solver, least, OURS)


def _curves(rows: pd.DataFrame) -> Iterator[Aim]:
    name = "chains, all budgets, 100 selections"
    for size, most in ((2000, 0.1), (10000, 2.0)):
        yield _time(rows, name, f"{size:,} groups in {most:g} s", most, CURVE, "chains", size)
    yield _ratio(rows, name, "highs", 20, CURVE)


def _natural(rows: pd.DataFrame) -> Iterator[Aim]:
    cases = (
        ("without exports in 0.1 ms", 1e-4, "natural_like", 0),
        ("60 exports in 5 ms", 5e-3, "natural_like", 60),
        ("corpus of 87 queries in 60 ms", 0.06, "corpus", 87),
        ("shared corpus of 3,500 groups in 1.5 s", 1.5, "shared_corpus", 3500),
    )
    for aim, most, family, size in cases:
        yield _time(rows, "natural-like", aim, most, OURS, family, size)


def _dense(rows: pd.DataFrame) -> Iterator[Aim]:
    for size, fraction, aim in (
        (30, 0.10, "30 groups at 10 % proven"),
        (200, 0.05, "200 groups at 5 % proven"),
        (60, 0.10, "60 groups at 10 % within 60 s"),
    ):
        part = _cell(rows, "dense", size, fraction)
        own = part[part["solver"] == OURS]
        within = int((own["solved"] & (own["seconds"] <= 60)).sum())
        took = f", at most {own['seconds'].max():.3g} s" if len(own) else ""
        too_short = own.loc[~own["solved"], "limit"].max() < 60
        met = "yes" if within == len(own) else UNDECIDED if too_short else "no"
        yield Aim("dense overlap", aim, f"{within} of {len(own)} seeds{took}", met if len(own) else "not measured")
        if size != 60:
            mine = pairs(part)
            mine = mine[mine["solver"] == "highs"]
            met = _met(mine, 3) if mine["ratio"].median() < 3 else "yes"
            aim = f"... >= 3 times HiGHS ({size} groups)"
            yield Aim("dense overlap", aim, _spread(mine), met if len(mine) else "not measured")
    for size in (100, 200):
        yield _gap_aim(_cell(rows, "dense", size, 0.10), size)


def _gap_aim(part: pd.DataFrame, size: int) -> Aim:
    aim = f"{size} groups at 10 %: gap <= 1 %, no worse than the best of HiGHS, CBC, SCIP"
    gap = part.pivot(index="seed", columns="solver", values="gap")
    if OURS not in gap:
        return _aim("dense overlap", aim, "-", False, False)
    ours = gap[OURS].fillna(1.0)
    best = gap[[solver for solver in MIPS if solver in gap]].min(axis=1).fillna(1.0)
    shown = "; ".join(f"{100 * a:.2g} % against {100 * b:.2g} %" for a, b in zip(ours, best, strict=True))
    return _aim("dense overlap", aim, shown, bool(((ours <= 0.01) & (ours <= best)).all()), True)


def _start(start: Mapping[str, Any]) -> Iterator[Aim]:
    if not start:
        yield Aim("start", "first solve, cold compile", "-", "not measured")
        return
    solve, whole = (float(np.median(start[key])) for key in ("first_solve", "first_process"))
    yield _aim("start", "first solve in a new process, kernels cached: 0.3 s", f"{1000 * solve:.2g} ms", solve <= 0.3)
    yield Aim("start", "... with starting Python and all imports", f"{whole:.2f} s", "reported")
    cold = start["cold_compile"]
    yield _aim("start", "compiling everything in 60 s", f"{cold:.0f} s, {start['kernels']} kernels", cold <= 60)
    some = start["edited_kernels"]
    yield _aim("start", "editing one kernel does not recompile all",
               f"{some} of {start['kernels']}, {start['edited_compile']:.0f} s", some < start["kernels"])  # fmt: skip


def _cell(rows: pd.DataFrame, family: str, size: int | None, fraction: float | None) -> pd.DataFrame:
    """The main solves of a cell that were run."""
    part = rows[rows["main"] & rows["seconds"].notna() & (rows["family"] == family)]
    part = part if size is None else part[part["size"] == size]
    return part if fraction is None else part[part["fraction"] == fraction]


def _time(rows: pd.DataFrame, name: str, aim: str, most: float, solver: str, family: str, size: int | None) -> Aim:
    part = _cell(rows, family, size, None if family == "small" else 0.10)
    part = part[part["solver"] == solver]
    solved = part[part["solved"]]
    if len(solved) < len(part):
        return _aim(name, aim, f"{len(solved)} of {len(part)} seeds proven", False)
    median = solved["seconds"].median()
    shown = (
        "-" if part.empty else f"{short(median)} ({short(solved['seconds'].min())} to {short(solved['seconds'].max())})"
    )
    return _aim(name, aim, shown, median <= most, len(part) > 0)


def _ratio(rows: pd.DataFrame, name: str, solver: str, least: float, ours: str) -> Aim:
    """The smallest over sizes from 20 up of the median ratio. A size that the other was not tried at says nothing."""
    part = pairs(rows, ours)
    part = part[(part["family"] == "chains") & (part["fraction"] == 0.10) & (part["size"] >= 20)]
    part = part[part["solver"] == solver]
    medians = part.groupby("size")["ratio"].median()
    aim = f">= {least} times {solver} at every size from 20 up"
    if medians.empty:
        return _aim(name, aim, "-", False, False)
    worst = medians.idxmin()
    shown = f"{_spread(part[part['size'] == worst])} at {worst:,} groups (tried up to {medians.index.max():,})"
    short_of = part[part["size"].isin(medians.index[medians < least])]
    return Aim(name, aim, shown, _met(short_of, least))


def _met(pairs: pd.DataFrame, least: float) -> str:
    """Of the pairs at sizes whose median is below `least`: no where one is below it for certain; where all of these are
    lower bounds the limit is too short to tell."""
    below = pairs[pairs["ratio"] < least]
    if below.empty:
        return "yes"
    return UNDECIDED if below["at_least"].all() else "no"


def _spread(part: pd.DataFrame) -> str:
    """Median ratio with its range; `>=` where one of the pairs is a lower bound."""
    if part.empty:
        return "-"
    sign = ">= " if part["at_least"].any() else ""
    return f"{sign}{part['ratio'].median():.3g} ({part['ratio'].min():.3g} to {part['ratio'].max():.3g})"


def _aim(family: str, aim: str, measured: str, met: bool, known: bool = True) -> Aim:
    return Aim(family, aim, measured, ("yes" if met else "no") if known else "not measured")


def short(seconds: float) -> str:
    """1.2e-05 -> 12 µs."""
    if math.isnan(seconds):
        return "-"
    for unit, factor in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= factor:
            return f"{seconds / factor:.3g} {unit}"
    return f"{seconds * 1e6:.3g} µs"
