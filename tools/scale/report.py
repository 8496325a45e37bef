"""FOLDER/report.md with its tables (CSV, Parquet) and figures (PNG) from the records of run.py.

    python tools/scale/report.py [--readme] [FOLDER]     default results/scale

--readme also rewrites the part of README.md between the scale markers. Records that contradict each other (a selection
not worth what its solver says, two different proven optima) are an error, and nothing is written.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / part) for part in ("scripts", "tests", "tools")]

import pandas as pd  # noqa: E402

from memaudit.errors import InputError  # noqa: E402
from memaudit.table_io import atomic_path, write_text  # noqa: E402
from scale import figures, tables  # noqa: E402
from scale import plan as plans  # noqa: E402
from scale.plan import Plan  # noqa: E402

BEGIN = "<!-- scale: begin (written by tools/scale/report.py --readme) -->"
END = "<!-- scale: end -->"


def write(folder: Path, plan: Plan, readme: bool = False) -> None:
    """Write tables, figures and report.md into `folder`; InputError where its records contradict each other."""
    from scale.run import read_records

    setting = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    begun = folder / "start.json"
    start = json.loads(begun.read_text(encoding="utf-8")) if begun.exists() else {}
    rows = tables.frame(read_records(folder), plan)
    wrong = tables.faults(rows)
    if wrong:
        raise InputError(f"{folder}: the records contradict each other, so there is no report:\n" + "\n".join(wrong))
    _write_tables(folder, rows)
    figures.times(rows, folder / "times.png")
    figures.profile(rows, folder / "profile.png")
    figures.gaps(rows, folder / "gaps.png")
    write_text(folder / "report.md", report(rows, plan, setting, start))
    print(f"written: {folder / 'report.md'}")
    if readme:
        path = ROOT / "README.md"
        write_text(path, with_block(path.read_text(encoding="utf-8"), readme_block(rows, setting, start)))


def _write_tables(folder: Path, rows: pd.DataFrame) -> None:
    made = {"solves": rows, "times": tables.times(rows), "gaps": tables.gaps(rows),
            "losses": tables.losses(rows), "growth": tables.growth(rows)}  # fmt: skip
    for name, table in made.items():
        write_text(folder / f"{name}.csv", table.to_csv(index=False, lineterminator="\n"))
        with atomic_path(folder / f"{name}.parquet") as temporary:
            table.to_parquet(temporary, index=False)


def report(rows: pd.DataFrame, plan: Plan, setting: Mapping[str, Any], start: Mapping[str, Any]) -> str:
    """The report as Markdown."""
    return "\n\n".join([
        "# How the exact solver scales, beside others",
        _how(plan, setting),
        _state(rows, plan),
        "## Aims", _markdown(pd.DataFrame(tables.aims(rows, start)), _plain),
        "## Time against size",
        "Median of the seeds proven, at budgets of 10 % of the total cost; a hollow mark stands at the limit where a "
        "seed was left unproven.",
        "![Time against size](times.png)",
        "## Performance profile", "![Performance profile](profile.png)",
        "## Gap against time, dense overlap",
        "The largest gap, (bound - value) / bound, over the seeds. Others: at the end of their time limit. Ours: its "
        "limits count work, so each mark is a share of these at the seconds it took. Where its whole limits overran "
        "the seconds of a solve, the largest share that ended in time counts in all tables.",
        "![Gap against time](gaps.png)" if tables.gap_panels(tables.gaps(rows)) else "Not measured.",
        "## Where another solver was ahead", _losses(rows),
        "## Growth",
        "Slopes of log seconds and log memory (beyond what the process held before the solve; only where above 1 MiB) "
        "against the log of what grows; 1 is proportional.",
        _growth(rows),
        "## Every cell", _legend(), _cells(rows),
    ]) + "\n"  # fmt: skip


def _how(plan: Plan, setting: Mapping[str, Any]) -> str:
    versions = ", ".join(f"{name} {number}" for name, number in setting["versions"].items())
    return (
        f"{setting['machine']}; Python {setting['python']}, {versions}. {plan.seeds} seeds a cell, {plan.limit:g} s a "
        f"solve, one after the other, each in a process of its own and on one thread. All solvers start from the same "
        f"integers and build their model on the clock. Values are computed again in integers from every selection. "
        f"Seconds depend on the machine; read the ratios (other solver / ours, pair by pair)."
    )


def _state(rows: pd.DataFrame, plan: Plan) -> str:
    counts = rows["status"].value_counts()
    listed = ", ".join(f"{n:,} {status}" for status, n in counts.items())
    said = [f"{len(rows):,} solves planned: {listed}."]
    if counts.get("not run", 0):
        said.append(
            f"**Not complete**: the run, or its {plan.hours:g} hours, ended before; the tables count what is missing."
        )
    if counts.get("died", 0):
        said.append("Processes that died count as unproven.")
    heard = tables.noise(rows)
    if heard["loops"]:
        said.append(
            f"The reference loop before each solve took {heard['least']:.2f} to {heard['most']:.2f} times its median "
            f"(90 % below {heard['p90']:.2f}; above {tables.SLOWEST_NOISE:g} before {100 * heard['noisy']:.1f} % of "
            f"the solves), and {100 * heard['waiting']:.1f} % of the solves' time was waiting for the processor."
        )
    low = tables.low_bounds(rows)
    if low:
        said.append("Bounds of other solvers below a proven optimum: " + "; ".join(low) + ".")
    return " ".join(said)


def _losses(rows: pd.DataFrame) -> str:
    found = tables.losses(rows)
    if found.empty:
        return "Nowhere, of the instances that were run."
    tried = rows[rows["main"] & rows["seconds"].notna() & ~rows["solver"].isin([plans.OURS, plans.CURVE])]
    found = found.assign(solver=found["solver"].map(figures.NAMES), fraction=found["fraction"].map("{:.0%}".format))
    return f"{len(found)} of {len(tried)} pairs.\n\n" + _markdown(found, _plain)


def _growth(rows: pd.DataFrame) -> str:
    found = tables.growth(rows)
    shown = pd.DataFrame({
        "against": found["against"],
        "from - to": [f"{a:,.0f} - {b:,.0f}" for a, b in zip(found["from"], found["to"], strict=True)],
        "solver": found["solver"].map(figures.NAMES), "solves": found["solves"],
        "time": found["seconds_slope"], "memory": found["memory_slope"], "at most, MiB": found["peak_mib_at_most"],
    })  # fmt: skip
    return _markdown(shown, lambda x: f"{x:.2f}" if x < 10 else f"{x:,.0f}")


def _legend() -> str:
    return (
        "`proven`: seeds proven of those tried; *skipped*: the solver had left this or a smaller size unproven at this "
        "or an earlier seed (of dense overlap: only CP-SAT and the plain search); *not run*: the time was over. Ratios "
        "are min / median / max of the pairs; `>=` where an unproven solve counts with the seconds it was given. "
        "Memory is beyond what the process held before the solve."
    )


def _cells(rows: pd.DataFrame) -> str:
    found = tables.times(rows)
    shown = [
        {
            "family": r.family, "size": f"{r.size:,}", "budget": "-" if r.family == "small" else f"{r.fraction:.0%}",
            "solver": figures.NAMES[r.solver], "proven": _proven(r), "seconds": tables.short(r.seconds_median),
            "ratio": _ratio(r), "largest gap": "-" if pd.isna(r.gap_max) else f"{100 * r.gap_max:.3g} %",
            "MiB": "-" if pd.isna(r.peak_mib) else f"{r.peak_mib:.0f}",
        }
        for r in found.itertuples(index=False)
    ]  # fmt: skip
    return _markdown(pd.DataFrame(shown), _plain)


def _proven(row: Any) -> str:
    if row.tried:
        return f"{row.proven} of {row.tried}"
    return "skipped" if row.skipped else "not run"


def _ratio(row: Any) -> str:
    if pd.isna(row.ratio_median):
        return "-"
    numbers = " / ".join(f"{x:.3g}" for x in (row.ratio_min, row.ratio_median, row.ratio_max))
    return f">= {numbers}" if row.ratio_at_least else numbers


def _plain(number: float) -> str:
    return f"{number:g}"


def _markdown(table: pd.DataFrame, number: Any) -> str:
    """A Markdown table; floats by `number`, NaN as a dash."""

    def cell(value: Any) -> str:
        if isinstance(value, float):
            return "-" if pd.isna(value) else number(value)
        return str(value)

    head = f"| {' | '.join(table.columns)} |\n|{'---|' * len(table.columns)}"
    return "\n".join([head, *("| " + " | ".join(map(cell, row)) + " |" for row in table.itertuples(index=False))])


def readme_block(rows: pd.DataFrame, setting: Mapping[str, Any], start: Mapping[str, Any]) -> str:
    """What the README shows of a run: where it was measured, the aims, how often another solver was ahead."""
    main = rows[rows["main"] & rows["seconds"].notna()]
    others = main[~main["solver"].isin([plans.OURS, plans.CURVE])]
    heard = tables.noise(rows)
    text = (
        f"Measured on {setting['machine']} ({setting['mode']} plan; {int((rows['status'] == 'not run').sum())} of "
        f"{len(rows):,} solves not run; {100 * heard['waiting']:.1f} % of the time waiting for the processor). Another "
        f"solver was ahead in {len(tables.losses(rows))} of {len(others)} pairs; the report lists each."
    )
    return text + "\n\n" + _markdown(pd.DataFrame(tables.aims(rows, start)), _plain)


def with_block(text: str, block: str) -> str:
    """`text` with what stands between the markers replaced; InputError where a marker is missing."""
    head, begin, rest = text.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not begin or not end:
        raise InputError(f"README.md: the lines {BEGIN!r} and {END!r} must stand in it, in this order")
    return f"{head}{BEGIN}\n\n{block}\n\n{END}{tail}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "results" / "scale")
    parser.add_argument("--readme", action="store_true", help="write the figures into the README too")
    arguments = parser.parse_args()
    try:
        if not (arguments.folder / "run.json").exists():
            raise InputError(f"{arguments.folder}: no run.json there; `make scale` makes one")
        setting = json.loads((arguments.folder / "run.json").read_text(encoding="utf-8"))
        plan = plans.PLANS[setting["mode"]]._replace(hours=setting["hours"])
        write(arguments.folder, plan, arguments.readme)
    except InputError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
