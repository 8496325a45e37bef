"""Do two sources of labels agree on what candidates cover? The coverage audit (natural.md, "Reliability and
coverage audit").

A cell is a (candidate, unit) pair of a package, units of weight 0 too; its binary label is coverage >= .5.
The frame is what a source labelled cell by cell where there is such a source, else it is drawn: every
positive cell and a seeded 20 % of the zero cells of each package. Each cell of the frame stands for
`weight` cells of its package and stratum; the stratum is by the labels that the frame was drawn on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from random import Random
from typing import TypeVar

import numpy as np
import pandas as pd

from ..errors import InputError
from ..objective import quantize
from ..package import Package
from ..schemas import AGREEMENT, BY_ROW, DISAGREEMENTS
from .bootstrap import percentile_interval, resample_indices

T = TypeVar("T")

FRAME_SEED = 20260503
ZERO_SHARE = 0.2
LEVELS = (0.0, 0.5, 1.0)
POSITIVE, ZERO = "positive", "sampled zero"
DRAWN, LABELLED = "drawn", "labelled"
# Name of the source of a package's own coverage, where the labels name none that it was taken from.
PACKAGE_SOURCE = "package"
# Name of rows that name no annotator, where they are not the whole coverage.
UNNAMED = "unnamed rows"
FIRST_PASS = "1"
_IN_LABELS = "the suite's labels"

_CELL = ["package_id", "candidate_id", "unit_id"]
FRAME_COLUMNS = (*_CELL, "representation_type", "stratum", "weight")


# ---- Statistics of two lists of labels


def binary(values: Sequence[float] | np.ndarray) -> np.ndarray:
    """Coverage as a label: 1 where it is >= .5, else 0."""
    return (np.asarray(values, dtype=np.float64) >= 0.5).astype(np.int64)


def level(values: Sequence[float] | np.ndarray) -> np.ndarray:
    """Coverage as one of LEVELS: full (1) from 1 on, partial (.5) from .5 on, else 0."""
    values = np.asarray(values, dtype=np.float64)
    return np.where(values >= 1, 1.0, np.where(values >= 0.5, 0.5, 0.0))


def raw_agreement(a, b, weights=None) -> float:
    """Share of equal labels (of the weight, where weights are given)."""
    a, b, weights = _two(a, b, weights)
    return float(weights[a == b].sum() / weights.sum())


def cohen_kappa(a, b, weights=None) -> float:
    """Unweighted Cohen's kappa of two lists of 0/1 labels; `weights`: how many cells each one stands for.

    Where agreement by chance is 1 (both sources give one and the same label throughout): 1, as they agree.
    """
    a, b, weights = _two(a, b, weights)
    table = np.bincount(2 * a.astype(np.int64) + b.astype(np.int64), weights, 4)
    return float(_kappas(table[None, :])[0])


def _kappas(tables: np.ndarray) -> np.ndarray:
    """Kappa of each row (n00, n01, n10, n11)."""
    share = tables / tables.sum(axis=1, keepdims=True)
    n00, n01, n10, n11 = share.T
    observed = n00 + n11
    chance = (n00 + n01) * (n00 + n10) + (n10 + n11) * (n01 + n11)
    # Counts decide, not their rounded quotients: chance is 1 only where one label is all there is. Two
    # constant sources that differ have chance 0 and so kappa 0.
    one_label = (tables[:, 1] == 0) & (tables[:, 2] == 0) & ((tables[:, 0] == 0) | (tables[:, 3] == 0))
    return np.where(one_label, 1.0, (observed - chance) / np.where(one_label, 1.0, 1.0 - chance))


def kappa_interval(a, b, clusters: Sequence, resamples: int = 1000, seed: int = 0) -> tuple[float, float]:
    """95 % percentile interval of Cohen's kappa (0/1 labels), whole clusters resampled (analysis.bootstrap)."""
    a, b, _ = _two(a, b, None)
    _, code = np.unique(np.asarray(clusters), return_inverse=True)
    count = int(code.max()) + 1
    cell = 2 * a.astype(np.int64) + b.astype(np.int64)
    tables = np.bincount(4 * code + cell, minlength=4 * count).reshape(count, 4).astype(np.float64)
    drawn = [
        _kappas(np.stack([np.bincount(row, minlength=count) for row in index]) @ tables)
        for index in resample_indices(count, resamples, seed)
    ]
    return percentile_interval(np.concatenate(drawn))


def ordinal_alpha(a, b) -> float:
    """Krippendorff's alpha, ordinal metric, of two sources on LEVELS; 1 where there is only one level.

    Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011): with n_g the number of values of
    level g, delta^2(c, k) = (sum of n_g for g = c..k - (n_c + n_k) / 2)^2.
    """
    a, b, _ = _two(level(a), level(b), None)
    index = {value: i for i, value in enumerate(LEVELS)}
    rows = np.array([index[v] for v in a])
    columns = np.array([index[v] for v in b])
    size = len(LEVELS)
    coincidence = np.zeros((size, size))
    np.add.at(coincidence, (rows, columns), 1.0)
    np.add.at(coincidence, (columns, rows), 1.0)
    n = coincidence.sum(axis=1)
    upto = np.cumsum(n)
    lower = np.minimum.outer(np.arange(size), np.arange(size))
    between = np.abs(upto[:, None] - upto[None, :]) + n[lower]
    distance = (between - (n[:, None] + n[None, :]) / 2) ** 2
    np.fill_diagonal(distance, 0.0)
    expected = (np.outer(n, n) * distance).sum() / (n.sum() - 1)
    return 1.0 if expected == 0 else float(1 - (coincidence * distance).sum() / expected)


def _two(a, b, weights) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    a, b = np.asarray(a), np.asarray(b)
    weights = np.ones(len(a)) if weights is None else np.asarray(weights, dtype=np.float64)
    if not len(a) or not a.shape == b.shape == weights.shape:
        raise InputError("agreement: needs two lists of labels of one length, with at least one cell")
    return a, b, weights


# ---- Sources


@dataclass(frozen=True)
class Source:
    """One source of labels: its values by (package_id, candidate_id, unit_id).

    whole: packages it labelled as a whole, where a cell without a value is 0 (natural.md: absent pair = 0);
    elsewhere a cell without a value was not labelled. made_of: the sources whose labels together make these
    values. again_of: the source of the same labeller's first labels, where these are later ones of the same cells.
    draws: the cells that others labelled one by one were drawn on its labels. where: what it was read from, for
    messages.
    """

    name: str
    values: Mapping[tuple[str, str, str], float]
    whole: frozenset[str] = frozenset()
    made_of: frozenset[str] = frozenset()
    again_of: str = ""
    draws: bool = False
    where: str = field(default="", compare=False)

    @property
    def by_cell(self) -> bool:
        """Whether it is an audit: of chosen cells, none of which it had labelled before."""
        return not self.whole and not self.again_of

    def on(self, frame: pd.DataFrame) -> np.ndarray:
        """Its value of each cell of the frame, NaN where it has none."""
        absent = [0.0 if p in self.whole else np.nan for p in frame["package_id"]]
        cells = frame[_CELL].itertuples(index=False, name=None)
        return np.array([self.values.get(c, a) for c, a in zip(cells, absent, strict=True)], dtype=np.float64)

    def restricted(self, packages: Iterable[Package]) -> Source:
        """Only what is about cells that the packages have."""
        known = {p.package_id: (set(p.visible.candidate_ids), set(p.unit_index)) for p in packages}
        values = {
            (p, c, u): v for (p, c, u), v in self.values.items() if p in known and c in known[p][0] and u in known[p][1]
        }
        return replace(self, values=values, whole=self.whole & known.keys())


def package_source(packages: Iterable[Package], name: str = PACKAGE_SOURCE) -> Source:
    """The packages' own coverage as a source; every cell of them is labelled."""
    packages = list(packages)
    values = {
        (p.package_id, candidate_id, unit_id): value
        for p in packages
        for i, candidate_id in enumerate(p.visible.candidate_ids)
        for unit_id, value in p.coverage_row(i).items()
    }
    return Source(name, values, frozenset(p.package_id for p in packages))


def sources_of(
    packages: Sequence[Package], labels: pd.DataFrame, external: Sequence[Source] = (), grid: int | None = None
) -> list[Source]:
    """The packages' own coverage first, then each other source of the labels by name, then `external`.

    `labels`: schema LABELS; `grid`: coverage was rounded to multiples of 1/grid, and so are the labels here. A row
    of a coverage matrix is part of a whole labelling of its package by those it names (who share one source where
    they stand in the same rows throughout); a label stated cell by cell is of that cell alone. The first source
    whose values are the coverage gives it its name. Where there is none, several made the coverage together, and
    it is compared with no one of those. Of several who labelled cell by cell, the first by name `draws`: theirs is a
    frame drawn on its labels. Raises InputError on an empty or repeated name.
    """
    own = package_source(packages)
    made = [s for name, part in _by_labeller(labels) for s in _of_labeller(name, part, grid)]
    first = next((s for s in made if not s.again_of and _positive(s) == own.values), None)
    single = [s.name for s in made if not s.again_of]
    drawn_on = _drawn_on(made)
    made = [replace(s, draws=s.name == drawn_on) if s is not first else s for s in made]
    makers = frozenset(single) if first is None else frozenset()
    name = PACKAGE_SOURCE if first is None or first.name == UNNAMED else first.name
    others = [s for s in made if s is not first and not (drawn_on and s.name == UNNAMED)]
    if first is not None:
        others = [replace(s, again_of=name) if s.again_of == first.name else s for s in others]
    draws = first is not None and first.name == drawn_on
    sources = [Source(name, own.values, own.whole, makers, draws=draws, where=_IN_LABELS), *others, *external]
    _refuse_names(sources)
    return sources


def _drawn_on(made: Sequence[Source]) -> str | None:
    """The first by name of those who labelled cell by cell, where they are several.

    Rows that name nobody beside such cells are no labelling: what they leave out may be a cell that others labelled.
    """
    by_cell = sorted(s.name for s in made if s.by_cell)
    return by_cell[0] if len(by_cell) > 1 else None


def _positive(source: Source) -> dict[tuple[str, str, str], float]:
    return {cell: value for cell, value in source.values.items() if value > 0}


def _by_labeller(labels: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """(name, its labels), sorted; names that stand in the very same rows are one, "a + b"."""
    together: dict[tuple, list[str]] = {}
    # "package" is a row that names nobody: the coverage only where no one else has part in it.
    labels = labels.assign(source=labels["source"].replace(PACKAGE_SOURCE, UNNAMED))
    for source, part in labels.groupby("source", sort=True):
        in_rows = (part["stated"] == BY_ROW).all() and part["line"].notna().all()
        together.setdefault(tuple(sorted(set(part["line"]))) if in_rows else (source,), []).append(source)
    # Equal rows have equal labels: those of the first name are those of all.
    found = [(" + ".join(names), labels[labels["source"] == names[0]]) for names in together.values()]
    return sorted(found, key=lambda pair: pair[0])


def _of_labeller(name: str, labels: pd.DataFrame, grid: int | None) -> Iterator[Source]:
    """The labeller's first labels, under the name alone, and each later pass over pairs that it labelled again."""
    for n in sorted(set(labels["pass"]), key=int):
        part = labels[labels["pass"] == n]
        rounded = [quantize(value, grid or 0) for value in part["value"]]
        values = dict(zip(part[_CELL].itertuples(index=False, name=None), rounded, strict=True))
        if n == FIRST_PASS:
            whole = frozenset(part.loc[part["stated"] == BY_ROW, "package_id"])
            yield Source(name, values, whole, where=_IN_LABELS)
        else:
            # Which pass a pair that stands once would be of nobody knows, so a later pass is never whole.
            yield Source(f"{name}, pass {n}", values, again_of=name, where=_IN_LABELS)


def _refuse_names(sources: Sequence[Source]) -> None:
    places: dict[str, str] = {}
    for source in sources:
        if not source.name.strip():
            raise InputError(f"{source.where or 'label sources'}: a source of labels has no name; give it one")
        if source.name in places:
            both = " and ".join(filter(None, dict.fromkeys((places[source.name], source.where)))) or "label sources"
            raise InputError(f"{both}: two sources of labels are named {source.name!r}; rename one of them")
        places[source.name] = source.where


# ---- The frame


def draw_zeros(zeros: Mapping[str, Sequence[T]]) -> dict[str, list[T]]:
    """Package -> those of its zero cells that the audit frame takes, by the rule of `draw_frame`."""
    random = Random(FRAME_SEED)
    return {
        name: random.sample(zeros[name], max(1, round(ZERO_SHARE * len(zeros[name])))) if zeros[name] else []
        for name in sorted(zeros)
    }


def draw_frame(packages: Iterable[Package]) -> pd.DataFrame:
    """The audit frame of the packages' own coverage: columns FRAME_COLUMNS, sorted by cell.

    Every positive cell; of the zero cells of each package, sorted by candidate and unit id,
    max(1, round(.2 n)) drawn without replacement by one Random(20260503) over the packages in sorted order
    (none where there are none).
    """
    cells = {package.package_id: _cells(package) for package in packages}
    drawn = draw_zeros({name: own.index[own["stratum"] == ZERO].tolist() for name, own in cells.items()})
    parts = []
    for name in sorted(cells):
        own = cells[name]
        parts.append(_weighted(own, own.index.isin(drawn[name]) | (own["stratum"] == POSITIVE)))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=FRAME_COLUMNS)


def frame_of(packages: Sequence[Package], sources: Sequence[Source]) -> tuple[pd.DataFrame, str]:
    """(the frame, LABELLED or DRAWN): the cells that sources labelled cell by cell, or the drawn frame.

    A labelled cell's stratum is by the source that `draws`, in packages of which it labelled something (a cell that
    it did not label is a zero), else by the coverage. Raises InputError on a label of a cell that no package has.
    """
    named = {cell for s in sources if not s.again_of for cell in s.values if cell[0] not in s.whole}
    if not named:
        return draw_frame(packages), DRAWN
    parts, left = [], set(named)
    strata = _by_package(next((s for s in sources if s.draws), None))
    for package in sorted(packages, key=lambda p: p.package_id):
        cells = _cells(package, strata.get(package.package_id))
        keys = list(cells[_CELL].itertuples(index=False, name=None))
        taken = np.array([key in named for key in keys], dtype=bool)
        left.difference_update(keys)
        parts.append(_weighted(cells, taken))
    if left:
        cell = dict(zip(_CELL, min(left), strict=True))
        raise InputError(f"labels name {len(left)} cells that no package has, the first {cell}; remove them")
    return pd.concat(parts, ignore_index=True), LABELLED


def frames_of(packages: Sequence[Package], sources: Sequence[Source]) -> list[tuple[pd.DataFrame, str, list[Source]]]:
    """(frame, LABELLED or DRAWN, sources to compare on it): `frame_of` for all, and beside labelled cells the drawn
    frame for those that labelled packages as a whole, where there are two. What few cells a third one labelled is
    no reason to compare these two on these cells alone."""
    if len(sources) < 2:
        return []
    frame, kind = frame_of(packages, sources)
    found = [(frame, kind, list(sources))]
    whole = [source for source in sources if source.whole]
    if kind == LABELLED and len(whole) > 1:
        drawn = draw_frame(packages)
        if not drawn[_CELL].equals(frame[_CELL]):
            found.append((drawn, DRAWN, whole))
    return found


def _by_package(source: Source | None) -> dict[str, dict[tuple[str, str], float]]:
    """package_id -> (candidate_id, unit_id) -> value, of a source's labels."""
    found: dict[str, dict[tuple[str, str], float]] = {}
    for (package_id, *cell), value in source.values.items() if source else ():
        found.setdefault(package_id, {})[tuple(cell)] = value
    return found


def _cells(package: Package, drawn_on: Mapping[tuple[str, str], float] | None = None) -> pd.DataFrame:
    """All cells of a package, sorted by candidate and unit id, with their stratum (no weight yet): by the values
    `drawn_on`, absent ones 0, else by the package's own."""
    v = package.visible
    order = sorted(range(len(package)), key=lambda i: v.candidate_ids[i])
    units = sorted(package.unit_index)
    rows = []
    for i in order:
        covered = package.coverage_row(i)
        for unit_id in units:
            own = covered.get(unit_id, 0.0)
            value = own if drawn_on is None else drawn_on.get((v.candidate_ids[i], unit_id), 0.0)
            stratum = POSITIVE if value >= 0.5 else ZERO
            rows.append((package.package_id, v.candidate_ids[i], unit_id, v.representation_type[i], stratum))
    return pd.DataFrame(rows, columns=[*_CELL, "representation_type", "stratum"])


def _weighted(cells: pd.DataFrame, taken: np.ndarray) -> pd.DataFrame:
    """The taken cells; weight: cells of the package's stratum over those taken of it."""
    frame = cells[taken].copy()
    ratio = cells["stratum"].value_counts() / frame["stratum"].value_counts()
    frame["weight"] = frame["stratum"].map(ratio).astype(np.float64)
    return frame


# ---- Agreement of every pair


@dataclass(frozen=True)
class Comparison:
    """Two lists of values on the cells of a frame that both sources labelled.

    agreed_with: where not empty, `a` is the label that `first` and `agreed_with` share, on cells where they do.
    exact: where `a` is a value that was given, and not only the binary label that two values share.
    """

    first: str
    agreed_with: str
    second: str
    cells: pd.DataFrame
    a: np.ndarray
    b: np.ndarray
    exact: np.ndarray


def comparisons(frame: pd.DataFrame, sources: Sequence[Source]) -> Iterator[Comparison]:
    """Each pair of sources, then pairs against each third source on the cells where the pair agrees: pairs of
    sources that labelled cell by cell (of people, say), or of all where fewer than two did.

    A source is not compared with what it was made of, and labels given again with the same labeller's first ones
    only. Comparisons without a shared cell are left out.
    """
    values = {id(source): source.on(frame) for source in sources}
    for x, y in combinations(sources, 2):
        if _comparable(x, y):
            yield from _comparison(frame, x.name, "", y.name, values[id(x)], values[id(y)])
    single = [source for source in sources if not source.again_of]
    by_cell = [source for source in single if source.by_cell]
    for x, y in combinations(by_cell if len(by_cell) > 1 else single, 2):
        a, b = values[id(x)], values[id(y)]
        agree = ~np.isnan(a) & ~np.isnan(b) & (binary(a) == binary(b))
        exact = level(a) == level(b)
        shared = np.where(agree, np.where(a == b, a, binary(a)), np.nan)
        for third in single:
            if third is not x and third is not y and all(_comparable(*p) for p in combinations((x, y, third), 2)):
                yield from _comparison(frame, x.name, y.name, third.name, shared, values[id(third)], exact)


def _comparable(x: Source, y: Source) -> bool:
    if x.name in y.made_of or y.name in x.made_of:
        return False
    return all(not one.again_of or one.again_of == other.name for one, other in ((x, y), (y, x)))


def _comparison(frame, first, agreed_with, second, a, b, exact=None) -> Iterator[Comparison]:
    both = ~np.isnan(a) & ~np.isnan(b)
    exact = np.ones(len(a), dtype=bool) if exact is None else exact
    if both.any():
        cells = frame[both].reset_index(drop=True)
        yield Comparison(first, agreed_with, second, cells, a[both], b[both], exact[both])


def agreement(
    suite: str, frame: pd.DataFrame, kind: str, sources: Sequence[Source], *, resamples: int = 1000, seed: int = 0
) -> pd.DataFrame:
    """Schema AGREEMENT: one row a comparison; kind is the frame's, kappa's interval is clustered by package.

    kappa, raw_agreement: of binary labels, every cell counting once; *_weighted: every cell counting for as
    many as it stands for; alpha: ordinal Krippendorff's alpha of the values on LEVELS; level_*: `_levels`.
    """
    rows = []
    for c in comparisons(frame, sources):
        a, b, weight = binary(c.a), binary(c.b), c.cells["weight"].to_numpy()
        low, high = kappa_interval(a, b, c.cells["package_id"], resamples, seed)
        rows.append({
            "suite": suite, "first": c.first, "agreed_with": c.agreed_with, "second": c.second, "frame": kind,
            "packages": c.cells["package_id"].nunique(), "cells": len(a),
            "first_positive": int(a.sum()), "second_positive": int(b.sum()),
            "raw_agreement": raw_agreement(a, b), "raw_agreement_weighted": raw_agreement(a, b, weight),
            "kappa": cohen_kappa(a, b), "ci_low": low, "ci_high": high,
            "kappa_weighted": cohen_kappa(a, b, weight), "alpha": ordinal_alpha(c.a, c.b),
            **_levels(c, resamples, seed),
        })  # fmt: skip
    return pd.DataFrame(rows, columns=AGREEMENT.schema.names).sort_values(list(AGREEMENT.key), ignore_index=True)


def _levels(c: Comparison, resamples: int, seed: int) -> dict[str, float]:
    """Full against partial coverage on the cells that both find covered, which binary labels do not tell apart:
    level_cells, and of them raw agreement and kappa with its interval by package. NaN where both give one and the
    same level throughout (or there is no such cell): nothing was told apart."""
    both = c.exact & (binary(c.a) == 1) & (binary(c.b) == 1)
    a, b = ((level(values[both]) == 1).astype(np.int64) for values in (c.a, c.b))
    names = ("level_agreement", "level_kappa", "level_low", "level_high")
    numbers = {"level_cells": len(a), **dict.fromkeys(names, np.nan)}
    if len(np.unique([a, b])) < 2:
        return numbers
    interval = kappa_interval(a, b, c.cells["package_id"][both], resamples, seed)
    return numbers | dict(zip(names, (raw_agreement(a, b), cohen_kappa(a, b), *interval), strict=True))


def disagreements(suite: str, frame: pd.DataFrame, kind: str, sources: Sequence[Source]) -> pd.DataFrame:
    """Schema DISAGREEMENTS: cells and disagreements of each comparison by stratum and representation type; kind is
    the frame's."""
    rows = []
    for c in comparisons(frame, sources):
        a, b = binary(c.a), binary(c.b)
        for by in ("stratum", "representation_type"):
            for group in sorted(set(c.cells[by])):
                own = (c.cells[by] == group).to_numpy()
                rows.append({
                    "suite": suite, "first": c.first, "agreed_with": c.agreed_with, "second": c.second,
                    "frame": kind, "by": by, "group": group, "cells": int(own.sum()),
                    "only_first": int((own & (a > b)).sum()), "only_second": int((own & (a < b)).sum()),
                })  # fmt: skip
    table = pd.DataFrame(rows, columns=DISAGREEMENTS.schema.names)
    return table.sort_values(list(DISAGREEMENTS.key), ignore_index=True)


def agreed_labels(frame: pd.DataFrame, x: Source, y: Source) -> dict[str, dict[tuple[str, str], float]]:
    """package_id -> (candidate_id, unit_id) -> 1.0 or 0.0, for the cells of the frame where both agree."""
    a, b = x.on(frame), y.on(frame)
    agree = ~np.isnan(a) & ~np.isnan(b) & (binary(a) == binary(b))
    labels: dict[str, dict[tuple[str, str], float]] = {}
    for (package_id, candidate_id, unit_id), value in zip(
        frame.loc[agree, _CELL].itertuples(index=False, name=None), binary(a[agree]).tolist(), strict=True
    ):
        labels.setdefault(package_id, {})[candidate_id, unit_id] = float(value)
    return labels


def label_sets(frame: pd.DataFrame, sources: Sequence[Source]) -> dict[str, dict[str, dict[tuple[str, str], float]]]:
    """Name -> `agreed_labels` of every pair of sources besides the first (the own one), "x = y"; of a single
    other source its own labels, "x", as they are (halves stay halves). Labels given again, and sets without a label,
    are left out."""
    others = [source for source in sources[1:] if not source.again_of]
    found = {others[0].name: _labels_of(frame, others[0])} if len(others) == 1 else {}
    found |= {f"{x.name} = {y.name}": agreed_labels(frame, x, y) for x, y in combinations(others, 2)}
    return {name: labels for name, labels in found.items() if labels}


def _labels_of(frame: pd.DataFrame, source: Source) -> dict[str, dict[tuple[str, str], float]]:
    """package_id -> (candidate_id, unit_id) -> the source's value, on the cells of the frame that it labelled."""
    labels: dict[str, dict[tuple[str, str], float]] = {}
    cells = frame[_CELL].itertuples(index=False, name=None)
    for (package_id, candidate_id, unit_id), value in zip(cells, source.on(frame).tolist(), strict=True):
        if not np.isnan(value):
            labels.setdefault(package_id, {})[candidate_id, unit_id] = value
    return labels
