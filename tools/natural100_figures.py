"""The figures that the data card and the README state of natural100, from its files (`tools/natural100.py assemble`).

Each is a Markdown table between marks, so that a test can say whether what is written is what the files give.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "tools")]

import natural100  # noqa: E402

from memaudit.analysis.agreement import cohen_kappa, kappa_interval, ordinal_alpha  # noqa: E402
from memaudit.analysis.scores import Scorer  # noqa: E402
from memaudit.analysis.store_scores import LOSSES, Solved, case, score_store  # noqa: E402
from memaudit.analysis.store_summary import Declared, diagnosis  # noqa: E402
from memaudit.budgets import amounts, mean_total_cost  # noqa: E402
from memaudit.config_io import load_config  # noqa: E402
from memaudit.costs import BUILT_IN  # noqa: E402
from memaudit.errors import InputError  # noqa: E402
from memaudit.natural import labelled  # noqa: E402
from memaudit.natural.coverage_package import CoverageOptions, build_coverage  # noqa: E402
from memaudit.natural.coverage_package_io import load_coverage_package, write_coverage_package  # noqa: E402
from memaudit.natural.second_round import NO_SECOND_ROUND  # noqa: E402
from memaudit.objective import CAP1  # noqa: E402
from memaudit.package import Package  # noqa: E402
from memaudit.pools import BUILT_IN as POOLS  # noqa: E402
from memaudit.present.store_tables import RULE_LABELS  # noqa: E402
from memaudit.present.style import label  # noqa: E402
from memaudit.run_info import make_writer  # noqa: E402
from memaudit.solve.results import optimum_of, selected_ids  # noqa: E402
from memaudit.solve.stage import instances_of, recost, solve_packages  # noqa: E402
from memaudit.stores.ingest_io import read_labels, read_stores  # noqa: E402
from memaudit.stores.labelled import labelled_stores  # noqa: E402
from memaudit.stores.model import IngestOptions  # noqa: E402
from memaudit.stores.unions import union_suite  # noqa: E402
from memaudit.table_io import write_text  # noqa: E402
from memaudit.writers.stage import kept  # noqa: E402

CARD, README = natural100.DATA / "README.md", ROOT / "README.md"
SUITE, COST_MODEL = "natural100", "declared"
NODE_LIMIT = 10**7
BUDGETS_SHOWN = (10, 15, 20, 30, 60, 100)
WRITERS = (
    "no_tombstone_opt", "generic_candidate_opt", "summary_candidate_opt", "density_only", "estimated_gvt",
    "mem0_extract", "amem_graph",
)  # fmt: skip

# The store whose losses the README shows, and the rules that it is pruned by there.
DEMONSTRATED, RULES_SHOWN = "mem0-scripted", ("recency", "salience")


def main() -> None:
    """Write every block anew."""
    for file, blocks in ((CARD, card_blocks()), (README, readme_blocks())):
        text = file.read_text("utf-8")
        for name, content in blocks.items():
            text = with_block(text, name, content)
        write_text(file, text)


def marks(name: str) -> tuple[str, str]:
    return f"<!-- {name} -->", f"<!-- end of {name} -->"


def with_block(text: str, name: str, content: str) -> str:
    """The text with `content` between the marks of a block; InputError where it has no such marks."""
    begin, end = marks(name)
    if begin not in text or end not in text:
        raise InputError(f"there is no place for the block {name!r}; write {begin} and {end} where it belongs")
    before, _, rest = text.partition(begin)
    return before + begin + "\n" + content + "\n" + end + rest.partition(end)[2]


def card_blocks() -> dict[str, str]:
    cells = labelled_cells()
    return {
        "agreement": agreement_table(cells),
        "full or half": full_or_half_table(cells),
        "confusion": confusion_table(cells),
        "labels and optimum": optimum_table(),
        "budgets": budget_table(packages(True)),
    }


def readme_blocks() -> dict[str, str]:
    cells = labelled_cells()
    return {
        "natural100 writers": writer_table(packages(True)),
        "natural100 budgets": budget_table(packages(True)),
        "natural100 agreement": agreement_table(cells),
        "natural100 labels and optimum": optimum_table(),
        "demonstration": losses_table(),
    }


# ---- Agreement


@dataclass(frozen=True)
class Cell:
    """What both passes say of a cell in a round."""

    query: str
    name: tuple[str, str]  # of candidate and unit
    a: float
    b: float
    again: bool  # of the second round
    candidate_type: str
    unit_kind: str
    required: bool
    narrowed: bool


def labelled_cells() -> list[Cell]:
    """Of both rounds; required: by either pass, of that round."""
    a2, second = {row["query"]: row for row in natural100.labels("a2")}, natural100.second()
    made = natural100.made_by_a1()
    types = {f"{s}.{c['candidate']}": c["type"] for s, row in made.items() for c in row["candidates"]}
    types |= {f"{s}.raw": "raw_span" for s in made}
    cells = []
    for row in natural100.labels("b"):
        query = row["query"]
        required = {*row["required"], *a2[query]["required"]}
        units, narrow = natural100.unit_texts(query), second.units(query)
        by_a = {(c, u): v for c, u, v in a2[query]["coverage"]}
        again_a, again_b = second.values(query)
        for again, values, needed in (
            (False, {(c, u): v for c, u, v in row["cells"]}, required),
            (True, again_b, set(second.required(query, required))),
        ):
            cells += [
                Cell(
                    query,
                    (c, u),
                    again_a[c, u] if again else by_a.get((c, u), 0.0),
                    b,
                    again,
                    types[c],
                    units[u]["kind"],
                    u in needed,
                    u in narrow,
                )
                for (c, u), b in sorted(values.items())
            ]
    return cells


def agreement_table(cells: Iterable[Cell]) -> str:
    """Labels against labels: A against B in both rounds, and each pass against itself; intervals by query."""
    rows = []
    for name, (queries, first, second) in _compared(list(cells)).items():
        binary = [v >= 0.5 for v in first], [v >= 0.5 for v in second]
        kappa = _with_interval(cohen_kappa(*binary), kappa_interval(*binary, queries))
        both = [(q, x, y) for q, x, y in zip(queries, first, second, strict=True) if x > 0 and y > 0]
        rows.append((
            name, f"{len(queries):,}", kappa, f"{ordinal_alpha(first, second):.3f}", f"{len(both):,}",
            _kappa_of_halves(both),
        ))  # fmt: skip
    head = ("what", "cells", "kappa, covered or not", "ordinal alpha, 0 / 0.5 / 1", "cells that both find covered",
            "kappa, full or half")  # fmt: skip
    return table(head, rows)


Compared = tuple[list[str], list[float], list[float]]  # query, one label, the other


def _compared(cells: Sequence[Cell]) -> dict[str, Compared]:
    one = {(c.query, c.name): c for c in cells if not c.again}
    two = {(c.query, c.name): c for c in cells if c.again}
    same = sorted(one.keys() & two.keys())
    return {
        "A and B, first round": _columns((c.query, c.a, c.b) for c in one.values()),
        "A and B, second round": _columns((c.query, c.a, c.b) for c in two.values()),
        "A and B, first round, cells labelled in both": _columns((k[0], one[k].a, one[k].b) for k in same),
        "A and B, second round, the same cells": _columns((k[0], two[k].a, two[k].b) for k in same),
        "A, first and second round, the same cells": _columns((k[0], one[k].a, two[k].a) for k in same),
        "B, first and second round, the same cells": _columns((k[0], one[k].b, two[k].b) for k in same),
        "third reader and A, every cell of five queries, first round": third_and_a(),
    }


def _columns(rows: Iterable[tuple[str, float, float]]) -> Compared:
    queries, first, second = map(list, zip(*rows, strict=True))
    return queries, first, second


def third_and_a() -> Compared:
    """Of each cell that the third reader labelled blind."""
    by_a = {row["query"]: {(c, u): v for c, u, v in row["coverage"]} for row in natural100.labels("a2")}
    rows = [(row["query"], *cell) for row in natural100.labels("third") for cell in row["cells"]]
    return _columns((q, v, by_a[q].get((c, u), 0.0)) for q, c, u, v in rows)


KINDS: Mapping[str, Callable[[Cell], bool]] = {
    "all": lambda c: True,
    **{f"queries {20 * n + 1} to {20 * n + 20}": (lambda c, n=n: (int(c.query[1:]) - 1) // 20 == n) for n in range(5)},
    "required units": lambda c: c.required,
    "narrowed units": lambda c: c.narrowed,
    **{
        f"candidates: {t}": (lambda c, t=t: c.candidate_type == t)
        for t in ("atomic_fact", "compound_update", "graph_edge", "raw_span", "summary", "tombstone")
    },
    **{
        f"units: {k}": (lambda c, k=k: c.unit_kind == k)
        for k in ("abstention", "context", "current_fact", "invalidation", "other", "preference",
                  "stale_or_superseded", "temporal_fact", "update")
    },
}  # fmt: skip


def full_or_half_table(cells: Iterable[Cell]) -> str:
    """Kappa of full against half where both passes find a cell covered, by kind and round."""
    cells = [c for c in cells if c.a > 0 and c.b > 0]
    rows = []
    for name, of_kind in KINDS.items():
        row = [name]
        for again in (False, True):
            chosen = [(c.query, c.a, c.b) for c in cells if c.again == again and of_kind(c)]
            full = " / ".join(str(sum(labels[i] == 1 for labels in chosen)) for i in (1, 2))
            row += [f"{len(chosen):,}", full, _kappa_of_halves(chosen)]
        rows.append(row)
    own = ("cells", "full: A / B", "kappa")
    return table(("kind", *(f"{what}, {n} round" for n in ("first", "second") for what in own)), rows)


def _kappa_of_halves(cells: Sequence[tuple[str, float, float]]) -> str:
    """Blank where there are no two levels to tell apart."""
    full = [a == 1 for _, a, _ in cells], [b == 1 for *_, b in cells]
    if len({*full[0], *full[1]}) < 2:
        return ""
    return _with_interval(cohen_kappa(*full), kappa_interval(*full, [q for q, *_ in cells]))


def confusion_table(cells: Iterable[Cell]) -> str:
    cells = list(cells)
    rows = []
    for name, again in (("first", False), ("second", True)):
        for a in (0.0, 0.5, 1.0):
            own = [c for c in cells if c.again == again and c.a == a]
            rows.append((f"{name} round, A: {a:g}", *(f"{sum(c.b == b for c in own):,}" for b in (0.0, 0.5, 1.0))))
    return table(("", "B: 0", "B: 0.5", "B: 1"), rows)


def _with_interval(kappa: float, interval: tuple[float, float]) -> str:
    return f"{kappa:.3f} [{interval[0]:.3f}, {interval[1]:.3f}]"


# ---- Optima and ratios


def packages(by_b: bool, *, corrected: bool = True, again: bool = True) -> list[Package]:
    """The scored queries' packages under the labels of one pass, with or without corrections of coverage and second
    round."""
    rows = natural100.labels("corrections")
    rows = rows if corrected else [row for row in rows if row["what"] != "coverage"]
    second = natural100.second() if again else NO_SECOND_ROUND
    made = [natural100.labels(name) for name in ("a1", "a2", "b")]
    tables = labelled.package_tables(natural100.index(), *made, rows, second, by_b=by_b)
    with tempfile.TemporaryDirectory() as folder:
        write_coverage_package(folder, tables, natural100.manifest())
        built = build_coverage(load_coverage_package(folder, CoverageOptions(own=True)), SUITE).packages
    scored = {row["query_id"] for row in decisions() if row["status"] not in labelled.UNSCORED}
    return [package for package in built if package.package_id in scored]


def decisions() -> list[dict]:
    return labelled.decisions(natural100.index(), natural100.labels("a2"), natural100.labels("b"), natural100.second())


def optimum_table() -> str:
    """What the labels do to the optimum at B = 100 and without a budget."""
    variants = {
        "first pass, first round": packages(False, again=False),
        "second pass, first round": packages(True, corrected=False, again=False),
        "second pass, first round, corrected": packages(True, again=False),
        "first pass, both rounds": packages(False),
        "second pass, both rounds, corrected (as it ships)": packages(True),
    }
    rows = []
    for name, own in variants.items():
        value = optima(own, (100,))[100]
        needed = np.array([required(package) for package in own])
        rows.append((
            name, f"{value.mean():.2f}", f"{(value / needed).mean():.2f}", f"{(value < needed).sum()}",
            f"{sum(map(never_full, own))} of {needed.sum()}",
        ))  # fmt: skip
    head = ("labels", "mean OPT", "mean share of the required units", "queries with OPT below their number",
            "required units that no candidate covers in full")  # fmt: skip
    return table(head, rows)


def required(package: Package) -> int:
    return len({unit for query in package.queries for unit in query.required})


def never_full(package: Package) -> int:
    full = {unit for i in range(len(package)) for unit, value in package.coverage_row(i).items() if value >= 1}
    return len({unit for query in package.queries for unit in query.required} - full)


def optima(own: Sequence[Package], budgets: Sequence[int]) -> dict[int, np.ndarray]:
    """Budget -> optimum of each package at k = 1, in protocol units."""
    return {b: _in_order(own, table_, "value") for b, table_ in solved(own, ("full",), budgets)[0].items()}


def _in_order(own: Sequence[Package], solutions: pa.Table, column: str) -> np.ndarray:
    found = dict(zip(solutions["package_id"].to_pylist(), solutions[column].to_pylist(), strict=True))
    return np.array([found[package.package_id] for package in own])


def solved(
    own: Sequence[Package], pools: Sequence[str], budgets: Sequence[int], cost_model: str = COST_MODEL
) -> tuple[dict, dict]:
    """Budget -> rows of table solutions; budget -> (pool, package) -> the optimum's candidates."""
    found = solve_packages(
        own, [POOLS[name] for name in pools], cost_model=cost_model, k=1, saturation=CAP1,
        budgets={b: str(b) for b in budgets}, node_limit=NODE_LIMIT,
    )  # fmt: skip
    solutions, selections = (pa.table(dict(columns)) for columns in (found.solutions, found.selections))
    if set(solutions["status"].to_pylist()) != {"optimal"}:
        raise RuntimeError("an optimum of natural100 is not proven")
    of = {b: (pc.equal(solutions["budget"], b), pc.equal(selections["budget"], b)) for b in budgets}
    return (
        {b: solutions.filter(rows) for b, (rows, _) in of.items()},
        {b: selected_ids(selections.filter(rows)) for b, (_, rows) in of.items()},
    )


def budget_table(own: Sequence[Package]) -> str:
    """Where a budget binds: OPT is below what it would be without one."""
    whole = int(max(package.visible.cost.sum() for package in own))
    solutions = solved(own, ("full",), (*BUDGETS_SHOWN, whole))[0]
    unlimited = _in_order(own, solutions[whole], "value")
    rows = []
    for budget, found in solutions.items():
        value, cost = _in_order(own, found, "value"), _in_order(own, found, "cost")
        binds = (value < unlimited - 1e-9).sum()
        name = "none" if budget == whole else str(budget)
        rows.append((name, f"{value.mean():.2f}", f"{cost.mean():.1f}", str((value == 0).sum()), str(binds)))
    return table(
        ("B", "mean OPT", "its mean cost", "queries with OPT = 0", "queries for which B binds"), rows, numbers=True
    )


def writer_table(own: Sequence[Package]) -> str:
    """Mean package ratios of WRITERS at the suite's budgets, at k = 1 and declared costs."""
    config = load_config(ROOT / "config" / "config.yaml")
    budgets = list(amounts([str(b) for b in config.suites[SUITE].budgets], mean_total_cost(own)))
    writers = [make_writer(name, config.writer_part(name)) for name in WRITERS]
    pools = sorted({"full", *(writer.pool for writer in writers)})
    solutions, selections = solved(own, pools, budgets)
    scorer = Scorer(own, instances_of(own, POOLS["full"], CAP1))
    means: dict[str, list[float]] = {name: [] for name in WRITERS}
    for writer, budget, _, chosen in kept(
        writers, own, own, pools={name: POOLS[name] for name in pools}, saturation=CAP1, k=1, optima=selections
    ):
        opt = optimum_of(solutions[budget], "full")
        scores, _ = scorer.rows(
            chosen, writer=writer.name, pool=writer.pool, cost_model=COST_MODEL, k=1, saturation=CAP1.name,
            budget_spec=str(budget), budget=budget, opt=opt,
        )  # fmt: skip
        ratio, worth = np.array(scores["ratio"]), np.array([opt[p.package_id][0] > 0 for p in own])
        means[writer.name] += [ratio.mean()] if worth.all() else [ratio.mean(), ratio[worth].mean()]
    zero = {b: (np.array([opt[0] for opt in optimum_of(solutions[b], "full").values()]) == 0).sum() for b in budgets}
    head = [h for b in budgets for h in ([f"B = {b}"] if zero[b] == 0 else [f"B = {b}", f"{b}, OPT > 0"])]
    rows = [(label(name), *(f"{mean:.3f}" for mean in means[name])) for name in WRITERS]
    return table(("writer", *head), rows, numbers=True)


def losses_table() -> str:
    """Mean losses of DEMONSTRATED, pruned by RULES_SHOWN, in the first setting of its suite. One store alone: several
    side by side would be compared."""
    config = load_config(ROOT / "config" / "config.yaml")
    entry = config.stores[DEMONSTRATED]
    setting = config.settings(entry.suite)[0]
    cost = BUILT_IN[setting.cost_model]
    stores = labelled_stores(
        read_stores(ROOT / entry.path, IngestOptions(name=DEMONSTRATED)),
        [package.package_id for package in packages(True)],
        read_labels(ROOT / entry.coverage),
        read_labels(ROOT / entry.salience),
        name=DEMONSTRATED,
    ).stores
    own = [package for package in packages(True) if package.package_id in stores]
    kinds = {
        "package": own,
        "union": union_suite(entry.suite, own, [stores], [cost]),
        "store": union_suite(entry.suite, own, [stores], [cost], alone=True),
    }
    kinds = {kind: recost(some, setting.cost_model, None) for kind, some in kinds.items()}
    budgets = {int(spec): spec for spec in config.budget_specs(entry.suite)}
    optima = {kind: solved(some, ("full",), list(budgets), setting.cost_model) for kind, some in kinds.items()}
    cases = [
        case(union, package, stores[package.package_id], cost)
        for union, package in zip(kinds["union"], kinds["package"], strict=True)
    ]
    constants = {"suite": entry.suite, "store": DEMONSTRATED, **setting._asdict()}
    made = score_store(cases, RULES_SHOWN, _solved_stores(optima, budgets), constants, budgets, CAP1)
    told = diagnosis(made.losses, made.scores, Declared(setting.cost_model, demonstration=True))
    rows = [
        (RULE_LABELS[r.rule], str(r.budget), *(f"{getattr(r, f'mean_{n}'):.2f}" for n in ("opt", "selected", *LOSSES)))
        for r in told.sort_values(["rule", "budget"]).itertuples()
    ]
    return table(("kept by", "B", "OPT of the union", "kept", *LOSSES), rows, numbers=True)


def _solved_stores(optima: Mapping[str, tuple[dict, dict]], budgets: Iterable[int]) -> dict[int, Solved]:
    def kept_of(kind: str, budget: int) -> dict:
        return {package: ids for (_, package), ids in optima[kind][1][budget].items()}

    return {
        b: Solved(
            *(optimum_of(optima[kind][0][b], "full") for kind in ("package", "union", "store")), None,
            kept_of("union", b), kept_of("store", b),
        )
        for b in budgets
    }  # fmt: skip


def table(head: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: bool = False) -> str:
    rule = "|---|" + ("---:|" if numbers else "---|") * (len(head) - 1)
    return "\n".join([_line(head), rule, *map(_line, rows)])


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
