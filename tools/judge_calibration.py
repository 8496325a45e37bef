"""How far the proxy judge can be believed on exported stores: its words, losses and verdicts beside the labels of those
scripted stores whose texts ship, written into docs/stores.md (`make judge`, after the fit).

    python tools/judge_calibration.py

All stores are pooled: they show the method and are not compared.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "tools")]

import natural100_figures as figures  # noqa: E402

from memaudit.analysis.agreement import cohen_kappa, kappa_interval  # noqa: E402
from memaudit.analysis.judge_fit import ABSTENTION, Example  # noqa: E402
from memaudit.analysis.store_verdicts import seed_of  # noqa: E402
from memaudit.config_io import load_config  # noqa: E402
from memaudit.costs import BUILT_IN  # noqa: E402
from memaudit.objective import CAP1, scale  # noqa: E402
from memaudit.package import Package  # noqa: E402
from memaudit.solve.bnb import OPTIMAL  # noqa: E402
from memaudit.solve.stage import recost  # noqa: E402
from memaudit.stores.ingest_io import read_labels, read_stores  # noqa: E402
from memaudit.stores.judge import FAR, LEVELS, ROW_LEVEL, ROWS, Judged  # noqa: E402
from memaudit.stores.judge_io import proxy_judge  # noqa: E402
from memaudit.stores.judge_verdict import (  # noqa: E402
    DRAWS,
    LOSSES,
    MIN_SHARE,
    UNDECIDED,
    conclude,
    drawn_losses,
    largest_loss,
)
from memaudit.stores.labelled import judged_stores, labelled_stores  # noqa: E402
from memaudit.stores.model import IngestOptions  # noqa: E402
from memaudit.stores.pruning import RULES, best_subset  # noqa: E402
from memaudit.stores.union import Labelled, Losses, losses, store_package, union  # noqa: E402
from memaudit.table_io import write_text  # noqa: E402

DOCS, BLOCK = ROOT / "docs" / "stores.md", "calibration of the judge"
# A-Mem's store is left out: the content of its notes does not ship.
STORES, PRUNED_BY = ("letta-scripted", "mem0-scripted"), ("recency", "salience")


@dataclass(frozen=True, eq=False)
class Both:
    """One example of a store, with labels and as judged."""

    store: str
    package: Package
    labelled: Labelled
    judged: Judged


@dataclass(frozen=True)
class Cell:
    """What the judge said of a memory and a unit (one of ROWS), and the label. required: the unit has a weight."""

    example: str
    row: str
    label: float
    required: bool


@dataclass(frozen=True)
class Point:
    """Mean losses of one store, cost model, budget and rule: by labels, as judged, under each draw."""

    labels: Losses
    judged: Losses
    drawn: tuple[Losses | None, ...]


def main() -> None:
    found = examples()
    block = calibration_text(cells(found), points(found))
    write_text(DOCS, figures.with_block(DOCS.read_text("utf-8"), BLOCK, block))
    print(f"{DOCS.relative_to(ROOT)}: {BLOCK}")


def examples(names: Sequence[str] = STORES) -> list[Both]:
    """Every example of the stores that is in the adjudicated package."""
    config, judge = load_config(ROOT / "config" / "config.yaml"), proxy_judge()
    packages = {package.package_id: package for package in figures.packages(True)}
    out = []
    for name in names:
        entry = config.stores[name]
        found = read_stores(ROOT / entry.path, IngestOptions(name=name))
        salience = read_labels(ROOT / entry.salience)
        labelled = labelled_stores(found, packages, read_labels(ROOT / entry.coverage), salience, name=name).stores
        judged = judged_stores(found, packages, judge, salience, name=name).judged
        out += [Both(name, packages[i], labelled[i], judged[i]) for i in labelled]
    return out


def cells(found: Iterable[Both]) -> list[Cell]:
    """Every memory and unit; the labels name all cells that are not 0."""
    return [
        Cell(
            one.package.package_id,
            one.judged.rows.get((i, j), FAR),
            one.labelled.coverage.get((memory.memory_id, memory.view), {}).get(unit.unit_id, 0.0),
            unit.weight > 0,
        )
        for one in found
        for i, memory in enumerate(one.labelled.store.memories)
        for j, unit in enumerate(one.package.units)
    ]


def points(found: Sequence[Both], draws: int = DRAWS) -> list[Point]:
    """A point for every store, cost model and budget of its suite, and rule of PRUNED_BY; no draws where `draws` is
    0."""
    config = load_config(ROOT / "config" / "config.yaml")
    out = []
    for name in sorted({one.store for one in found}):
        suite = config.stores[name].suite
        budgets = [int(spec) for spec in config.budget_specs(suite)]
        for setting in config.settings(suite):
            own = [_losses_of(one, setting.cost_model, budgets, draws) for one in found if one.store == name]
            out += [_mean_point([losses_[key] for losses_ in own]) for key in own[0]]
    return out


def _losses_of(one: Both, cost_model: str, budgets: Sequence[int], draws: int) -> dict[tuple[int, str], Point]:
    """(budget, rule) -> losses of one example."""
    package, cost = recost([one.package], cost_model, None)[0], BUILT_IN[cost_model]
    store, as_judged = one.labelled.store, Labelled(one.labelled.store, one.judged.coverage)
    sides = [(union(package, [side], cost), store_package(package, side, cost)) for side in (one.labelled, as_judged)]
    stored, instance = sides[0][1], scale(sides[0][1].package, CAP1)
    kept = {(b, rule): RULES[rule](stored, instance, b) for b in budgets for rule in PRUNED_BY}
    drawn: Mapping = {key: () for key in kept}
    if draws:
        seed = seed_of(0, one.store, package.package_id)
        drawn = drawn_losses(*sides[1], store, one.judged, kept, draws=draws, seed=seed)
    by_side = [_exact(both, alone.package, kept) for both, alone in sides]
    return {key: Point(*(side[key] for side in by_side), tuple(drawn[key])) for key in kept}


def _exact(both: Package, alone: Package, kept: Mapping[tuple[int, str], Sequence[int]]) -> dict:
    instances = [scale(p, CAP1) for p in (both, alone)]

    def best(at: int, budget: int) -> Fraction:
        found = best_subset(instances[at], budget)
        if found.status != OPTIMAL:
            raise RuntimeError(f"{both.package_id}: an optimum at budget {budget} is not proven")
        return Fraction(found.value_int, found.scale)

    def value(chosen: Iterable[int]) -> Fraction:
        return Fraction(instances[1].value_int(chosen), instances[1].scale)

    optima = {b: (best(0, b), best(1, b)) for b in {budget for budget, _ in kept}}
    whole = value(range(len(alone)))
    return {(b, rule): losses(optima[b][0], whole, optima[b][1], value(own)) for (b, rule), own in kept.items()}


def _mean_point(own: Sequence[Point]) -> Point:
    draws = zip(*(point.drawn for point in own), strict=True)
    drawn = tuple(None if None in one else _mean(one) for one in draws)
    return Point(_mean([p.labels for p in own]), _mean([p.judged for p in own]), drawn)


def _mean(of: Sequence[Losses]) -> Losses:
    return Losses(*(sum((getattr(one, name) for one in of), Fraction(0)) / len(of) for name in LOSSES))


# ---- tables


def calibration_text(of: Sequence[Cell], at: Sequence[Point]) -> str:
    """The block of docs/stores.md."""
    return "\n\n".join([kappa_text(of), cell_table(of), loss_table(at), verdict_table(at)])


def kappa_text(of: Sequence[Cell]) -> str:
    """Binary kappa (a label of 0.5 or more) on all cells, and on examples that the judge was not fitted on."""
    lines = []
    for what, own in {
        "All": of,
        "Required units": [c for c in of if c.required],
        "Examples of the judge's test split": [c for c in of if _tested(c.example)],
    }.items():
        a, b = (np.array([x(c) >= 0.5 for c in own], dtype=np.int64) for x in (_word, _label))
        groups = np.array([c.example.removesuffix(ABSTENTION) for c in own])
        low, high = kappa_interval(a, b, groups, 1000, 0)
        count = len({c.example for c in own})
        lines.append((what, f"{count}", f"{len(own):,}", f"{cohen_kappa(a, b):.2f} [{low:.2f}, {high:.2f}]"))
    return figures.table(("cells", "examples", "number", "binary kappa"), lines, numbers=True)


def _tested(example: str) -> bool:
    return Example(example, "", "", "", 0.0, 1.0).test


def _word(cell: Cell) -> float:
    return ROW_LEVEL[cell.row]


def _label(cell: Cell) -> float:
    return cell.label


def cell_table(of: Sequence[Cell]) -> str:
    """Of each word of the judge the shares of labels: of its test split (what is drawn from), of the stores' cells, and
    of those of required units, which alone count in F."""
    given = proxy_judge().provenance["true_given_judged"]
    rows = []
    for row in ROWS:
        own = [c for c in of if c.row == row]
        needed = [c for c in own if c.required]
        texts = [_shares(given[row])]
        texts += [f"{_shares(_share_of(some))} of {len(some):,}" for some in (own, needed)]
        rows.append((row, *texts))
    heads = ("judged", "label 0 / 0.5 / 1, judge's test split", "stores, all units", "stores, required units")
    return figures.table(heads, rows)


def _share_of(some: Sequence[Cell]) -> list[float]:
    counts = Counter(cell.label for cell in some)
    return [counts[level] / max(1, len(some)) for level in LEVELS]


def _shares(shares: Sequence[float]) -> str:
    return " / ".join(f"{share:.3f}" for share in shares)


def loss_table(at: Sequence[Point]) -> str:
    """Mean losses over all points, and at how many the labels' loss lies where nearly all draws do."""
    rows = []
    for name in LOSSES:
        means = [
            float(np.mean([float(getattr(side(p), name)) for p in at])) for side in (_by_labels, _as_judged, _drawn)
        ]
        inside = sum(_inside(p, name) for p in at)
        rows.append((name, *(f"{mean:.2f}" for mean in means), f"{inside} of {len(at)}"))
    heads = ("loss", "by labels", "as judged", "mean of the draws", "labels' loss in the middle 95 % of the draws")
    return figures.table(heads, rows, numbers=True)


def _by_labels(point: Point) -> Losses:
    return point.labels


def _as_judged(point: Point) -> Losses:
    return point.judged


def _drawn(point: Point) -> Losses:
    return _mean([one for one in point.drawn if one is not None])


def _inside(point: Point, name: str) -> bool:
    low, high = np.quantile([float(getattr(one, name)) for one in point.drawn if one is not None], [0.025, 0.975])
    return low - 1e-9 <= float(getattr(point.labels, name)) <= high + 1e-9


def verdict_table(at: Sequence[Point]) -> str:
    """How many verdicts are decided, and how often the loss that is the largest as judged is so by the labels."""
    judge = proxy_judge()
    found = [(conclude(p.judged, p.drawn, judge), largest_loss(p.labels)) for p in at]
    percent = f"{100 * MIN_SHARE:.0f} %"
    kinds: dict[str, Callable] = {
        f"decided: {percent} of the draws or more agree, and do not lean": lambda v: v.verdict != UNDECIDED,
        f"undecided: {percent} or more agree, and lean": lambda v: v.share >= MIN_SHARE and v.leans,
        f"undecided: fewer than {percent} agree": lambda v: v.share < MIN_SHARE,
    }
    rows = []
    for name, of in kinds.items():
        own = [(verdict, true) for verdict, true in found if of(verdict)]
        rows.append((name, str(len(own)), str(sum(verdict.largest == true for verdict, true in own))))
    return figures.table(("verdicts", "number", "largest loss as by the labels"), rows, numbers=True)


if __name__ == "__main__":
    main()
