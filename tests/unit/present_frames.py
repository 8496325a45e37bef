"""Invented results of a run, in the frames' real columns: smooth made-up curves, not measurements."""

from __future__ import annotations

import zlib

import natural_frames
import numpy as np
import pandas as pd
import store_frames

from memaudit.present.results import Illustration, Results, RunInfo, Setting, SuiteInfo, WriterInfo

EXACT = {
    "opt": "full",
    "no_tombstone_opt": "no_validity",
    "generic_candidate_opt": "generic",
    "summary_candidate_opt": "summary",
}
ORACLE = (
    "oracle_gvt",
    "no_tombstone_gvt",
    "generic_candidate_gvt",
    "greedy",
    "density_only",
    "fact_only",
    "summary_only",
)
BLIND = (
    "recency_raw",
    "reservoir_raw",
    "estimated_gvt",
    "estimated_utility",
    "estimated_gvt_noisy",
    "estimated_gvt_external",
    "estimated_gvt_learned",
)
PROXIES = ("mem0_extract", "memgpt_tiered", "amac_admission", "amem_graph")
WRITERS = (
    *(WriterInfo(name, "opt", pool, "solution") for name, pool in EXACT.items()),
    *(WriterInfo(name, name, "full", "coverage") for name in ORACLE),
    *(WriterInfo(name, name, learned=name.endswith("learned")) for name in BLIND),
    *(WriterInfo(name, name, is_proxy=True) for name in PROXIES),
)
STRESS = (
    "base",
    "update_chain",
    "temporal_interval",
    "density_trap",
    "scope_shift",
    "summary_tradeoff",
    "redundancy_heavy",
    "abstention_hard",
)
TYPES = (
    "raw_span",
    "atomic_fact",
    "summary",
    "tombstone",
    "compound_update",
    "interval_fact",
    "abstention",
    "uncertainty",
)


def _draw(*key) -> float:
    """A number in [0, 1) that depends on the key alone."""
    return zlib.crc32(repr(key).encode()) / 2**32


def _cells(suite: SuiteInfo, budgets: dict[Setting, list[int]]):
    """One dict a row of the summary, with a made-up mean ratio."""
    names = [*suite.distributions, *(["all"] if len(suite.distributions) > 1 else [])]
    for setting in suite.settings:
        for distribution in names:
            for i, budget in enumerate(budgets[setting]):
                for writer in suite.writers:
                    level = (
                        1.0 if writer.name in ("opt", "oracle_gvt") else 0.15 + 0.6 * _draw(writer.name, distribution)
                    )
                    yield {
                        "suite": suite.name,
                        "distribution": distribution,
                        "cost_model": setting.cost_model,
                        "pool": writer.pool,
                        "k": setting.k,
                        "saturation": setting.saturation,
                        "budget": budget,
                        "budget_spec": str(budget),
                        "writer": writer.name,
                        "ratio": min(1.0, level + 0.25 * (1 - level) * i),
                        "step": i,
                    }


def make(suites: tuple[SuiteInfo, ...], budgets: dict[str, dict[Setting, list[int]]], n: int = 500, **run) -> Results:
    """Results with every frame for the suites; `budgets`: suite -> setting -> absolute budgets."""
    rows, pairs, parts, mix = [], [], [], []
    for suite in suites:
        for cell in _cells(suite, budgets[suite.name]):
            ratio, step, width = cell.pop("ratio"), cell.pop("step"), 0.3 / np.sqrt(n)
            head = {key: cell[key] for key in ("suite", "distribution", "cost_model", "k", "saturation", "budget")}
            opt = 2.0 + 1.9 * step + _draw("opt", cell["distribution"])
            packages = n * (len(suite.distributions) if cell["distribution"] == "all" else 1)
            packages //= 2 if cell["writer"].endswith("learned") else 1
            zero = packages if cell["distribution"] == "scope_shift" and cell["budget"] == 1 else 0
            exact = ratio == 1.0
            rows.append(
                {
                    **cell,
                    "n": packages,
                    "undefined_n": 0,
                    "n_unproven": 0,
                    "opt_zero_n": zero,
                    "mean_ratio_opt_positive": np.nan if zero == packages else ratio,
                    "mean_value": ratio * opt,
                    "mean_opt": opt,
                    "mean_cost": cell["budget"] * 0.9,
                    "mean_current_covered": ratio * (0.4 + 0.5 * step),
                    "mean_invalidation_covered": 2.0 if exact else ratio * 0.8 * (cell["pool"] == "full"),
                    "mean_stale_covered": 0.3 * _draw("s", cell["writer"], step),
                    "mean_current_mass": 4.0,
                    "mean_invalidation_mass": 2.0,
                    "mean_stale_mass": 0.5,
                    "mean_selected": 1.0 + step,
                    "mean_validity_selected": ratio,
                    "mean_queries_covered": ratio * 0.5,
                    "mean_ratio": ratio,
                    "ci_low": ratio if exact else ratio - width,
                    "ci_high": ratio if exact else min(1.0, ratio + width),
                    "note": "reads texts; some are ours" if cell["writer"] in PROXIES else None,
                }
            )
            if cell["writer"] != "opt":
                lost = round(packages * (1 - ratio))
                pairs.append(
                    {
                        **head,
                        "writer": cell["writer"],
                        "reference": "opt",
                        "n": packages,
                        "mean_difference": ratio - 1,
                        "ci_low": ratio - 1 - width,
                        "ci_high": min(0.0, ratio - 1 + width),
                        "wins": 0,
                        "ties": packages - lost,
                        "losses": lost,
                    }
                )
            required, covered = 4.0, 4.0 * ratio * (0.3 + 0.1 * step)
            parts.append(
                {
                    **head,
                    "budget_spec": cell["budget_spec"],
                    "writer": cell["writer"],
                    "n": packages,
                    "required_mass": required,
                    "covered": covered,
                    "write_failure": required - covered,
                    "beyond_candidates": min(0.25, required - covered),
                    "retrieval_failure_oracle": 0.0,
                    "retrieval_failure_fixed": covered * 0.12 * step,
                }
            )
            for kind in TYPES if cell["distribution"] == "all" else TYPES[:5]:
                kept = 0.0 if _draw(kind, cell["writer"]) < 0.4 else _draw(kind, cell["writer"], 1) * (1 + step) * 0.5
                mix.append(
                    {
                        **head,
                        "writer": cell["writer"],
                        "representation_type": kind,
                        "n": packages,
                        "mean_count": kept,
                    }
                )
    summary = pd.DataFrame(rows)
    frames = {
        "summary": summary,
        "paired": pd.DataFrame(pairs),
        "decomposition": pd.DataFrame(parts),
        "representation_mix": lambda: pd.DataFrame(mix),
        "learned": summary.assign(n=summary["n"] // 2),
        "status_counts": pd.DataFrame(
            [
                {
                    "suite": s.name,
                    "cost_model": "declared",
                    "pool": "full",
                    "k": 1,
                    "saturation": "cap1",
                    "status": status,
                    "rows": rows_,
                    "distinct": rows_ // 3,
                }
                for s in suites
                for status, rows_ in (("optimal", 1500), ("cross_checked", 1200), ("limit", 0))
            ]
        ),
        "audit": pd.DataFrame(
            [
                {
                    "suite": "solver_audit",
                    "cost_model": "declared",
                    "k": 1,
                    "saturation": "cap1",
                    "solver": solver,
                    "rows": 1200,
                    "distinct": 392,
                    "objective_matches": 1200,
                    "unfinished": 0,
                    "max_difference": 0.0,
                }
                for solver in ("cbc", "cp_sat", "highs")
            ]
        ),
        "mean_curves": pd.DataFrame([row for s in suites if s.curve for row in _curves(s, budgets[s.name], n)]),
        "curve_counts": pd.DataFrame(
            [
                {
                    **head,
                    "solver": "cp_sat",
                    "curves": n,
                    "unproven": n // 100,
                    "jumps": 30 * n,
                    "points": 5 * n,
                    "equal": 5 * n - 1,
                    "unfinished": 1,
                }
                for head in (
                    {"suite": s.name, **_problem(x), "pool": "full"} for s in suites if s.curve for x in s.settings
                )
            ]
        ),
    }
    return Results(RunInfo(suites, **run), frames, package)


def _problem(setting: Setting) -> dict:
    return {"cost_model": setting.cost_model, "k": setting.k, "saturation": setting.saturation}


def _curves(suite: SuiteInfo, budgets: dict[Setting, list[int]], n: int):
    """Rows of mean_curves: pools that differ a little, all distributions and each."""
    names = [*suite.distributions, *(["all"] if len(suite.distributions) > 1 else [])]
    for setting in suite.settings:
        for distribution in names:
            for lost, pool in enumerate(("full", "no_validity", "generic", "summary", "mine")):
                for budget in sorted({0, *range(1 + lost, 60 + lost, 2), *budgets[setting]}):
                    yield {
                        "suite": suite.name,
                        "distribution": distribution,
                        **_problem(setting),
                        "pool": pool,
                        "budget": budget,
                        "mean_value": (1 - 0.1 * lost) * budget**0.5,
                        "n": n,
                        "unproven_n": n // 100,
                        "budget_spec": str(budget) if budget in budgets[setting] else None,
                    }


def published() -> pd.DataFrame:
    """Two rows of a published comparison."""
    return pd.DataFrame(
        [
            {
                "item": "fig:stress",
                "suite": "stress",
                "distribution": "base",
                "method": "greedy",
                "metric": "mean_ratio",
                "value": 0.983,
                "decimals": 3,
                "source": "heat map cell",
                "status": "reproduced",
                "budget": 6.0,
                "produced": 0.98312,
                "difference": 0.00012,
            },
            {
                "item": "tab:natural",
                "suite": "natural",
                "distribution": "all",
                "method": "memgpt_tiered",
                "metric": "mean_ratio",
                "value": 0.638,
                "decimals": 3,
                "source": "table",
                "status": "needs the natural set",
                "budget": 30.0,
                "produced": np.nan,
                "difference": np.nan,
            },
        ]
    )


def package() -> Illustration:
    """A small package in the manner of the paper's: facts, old preferences, updates."""
    candidates, units, coverage = [], [], []

    def group(name, time, *members):
        for kind, cost, covered in members:
            candidate = f"{name}_{kind}"
            candidates.append(
                {
                    "candidate_id": candidate,
                    "group_id": name,
                    "representation_type": kind,
                    "cost": cost,
                    "time_index": time,
                }
            )
            coverage.extend({"candidate_id": candidate, "unit_id": u, "coverage": c} for u, c in covered.items())

    for i in range(3):
        units.append({"unit_id": f"fact:{i}", "role": "", "weight": 1.2})
        group(
            f"s0_fact_{i}",
            i,
            ("atomic_fact", 2, {f"fact:{i}": 1.0}),
            ("summary", 3, {f"fact:{i}": 0.7}),
            ("raw_span", 5, {f"fact:{i}": 1.0}),
        )
    for i in range(2):
        for name, role, weight in (
            ("stale", "stale", 0.15),
            ("current", "current", 2.25),
            ("invalid", "invalidation", 2.5),
        ):
            units.append({"unit_id": f"{name}:{i}", "role": role, "weight": weight})
        group(
            f"s0_pref_{i}_old",
            3 + 2 * i,
            ("atomic_fact", 2, {f"stale:{i}": 1.0}),
            ("raw_span", 4, {f"stale:{i}": 1.0}),
        )
        group(
            f"s0_pref_{i}_update",
            4 + 2 * i,
            ("tombstone", 1, {f"invalid:{i}": 1.0}),
            ("atomic_fact", 2, {f"current:{i}": 1.0}),
            ("compound_update", 3, {f"current:{i}": 1.0, f"invalid:{i}": 1.0}),
            ("summary", 4, {f"current:{i}": 0.75, f"invalid:{i}": 0.75, f"stale:{i}": 0.1}),
            ("raw_span", 16, {f"current:{i}": 1.0, f"invalid:{i}": 0.45, f"stale:{i}": 0.2}),
        )
    kept = {
        1: ["s0_pref_0_update_tombstone"],
        4: ["s0_pref_0_update_compound_update", "s0_pref_1_update_tombstone"],
        8: ["s0_pref_0_update_compound_update", "s0_pref_1_update_compound_update", "s0_fact_0_atomic_fact"],
    }
    cost = {c["candidate_id"]: c["cost"] for c in candidates}
    solutions = [
        {"budget": b, "value": 2.5 * b**0.6, "cost": sum(cost[c] for c in chosen), "status": "optimal"}
        for b, chosen in kept.items()
    ]
    selections = [{"budget": b, "candidate_id": c} for b, chosen in kept.items() for c in chosen]
    return Illustration("synthetic_seed_0", *map(pd.DataFrame, (candidates, units, coverage, solutions, selections)))


def paper_like(n: int = 500) -> Results:
    """The default configuration's shape: 22 writers, one suite of one distribution, one of eight."""
    seeds = range(n)
    small = SuiteInfo("small", WRITERS, ("base",), 5, seeds=seeds, curve=True)
    stress = SuiteInfo("stress", WRITERS, STRESS, 4, seeds=seeds, curve=True)
    extra = ("density_trap_v2", "update_chain_randomized", "temporal_interval_randomized")
    extra = SuiteInfo("stress_extra", WRITERS, extra, 4, seeds=seeds)
    audit = SuiteInfo("solver_audit", (), ("base", "update_chain", "temporal_interval"), 4, seeds=range(100))
    budgets = {
        "small": {Setting(): [1, 2, 4, 8, 16]},
        "stress": {Setting(): [1, 3, 6, 13]},
        "stress_extra": {Setting(): [1, 3, 6, 11]},
        "solver_audit": {Setting(): []},
    }
    return make(
        (small, stress, extra, audit),
        budgets,
        n,
        illustration="small",
        audit="solver_audit",
    )


def tiny(
    writers: tuple[str, ...] = ("opt", "no_tombstone_opt", "recency_raw", "mem0_extract", "mine"),
) -> Results:
    """A user's shape: two budgets, an own writer, two settings, a natural suite of one budget."""
    known = {w.name: w for w in WRITERS}
    some = tuple(known.get(name, WriterInfo(name, "mine.py:keep")) for name in writers)
    settings = (Setting(), Setting("words", 2, "linear"))
    mine = SuiteInfo("mine", some, ("base", "scope_shift"), 2, seeds=range(4), settings=settings, curve=True)
    natural = SuiteInfo(
        "conversations", (known["opt"], known["recency_raw"]), ("temporal-reasoning",), 1, "longmemeval"
    )
    budgets = {"mine": {settings[0]: [1, 6], settings[1]: [40, 80]}, "conversations": {Setting(): [60]}}
    talks = natural_frames.suite()
    budgets[talks.name] = {setting: list(natural_frames.BUDGETS) for setting in talks.settings}
    made = make((mine, natural, talks), budgets, n=4, illustration="mine")
    stores = store_frames.frames(talks.name, settings=talks.settings)
    return Results(made.info, {**made.frames, **natural_frames.frames(), **stores}, package)
