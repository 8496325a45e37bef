"""How far package ratios move when coverage is labelled by others (natural.md, "Reliability and coverage audit").

Two ways: against labels that two sources agree on (selections stay, `relabel`), and between two packages
over the same examples (each with its own selections).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd
from scipy.stats import rankdata, spearmanr

from ..errors import InputError
from ..objective import Saturation
from ..package import Package
from ..schemas import LABEL_RATIOS, RELABELLED
from .agreement import binary
from .bootstrap import mean, mean_interval
from .relabel import ROW, Kept, override, reworth

# The writers whose ratios the paper's audit compares.
RATIO_WRITERS = ("oracle_gvt", "estimated_gvt", "memgpt_tiered", "mem0_extract", "amem_graph")
AGREED, SUITE = "agreed labels", "another package"
_SETTING = ("cost_model", "k", "saturation")
PAIR_COLUMNS = (*ROW, "budget_spec", "ratio", "binary_ratio", "new_ratio")


def under_labels(
    packages: Sequence[Package],
    kept: Kept,
    labels: Mapping[str, Mapping[tuple[str, str], float]],
    *,
    saturation: Saturation,
    k: int,
    node_limit: int,
) -> pd.DataFrame:
    """Columns PAIR_COLUMNS: the ratios of `kept`, and those with coverage overridden by `labels`.

    `labels`: package_id -> cell -> value (`agreement.agreed_labels`). new_ratio is NaN where the new OPT is
    0 or unproven. binary_ratio: the same with the package's own coverage of these cells made binary, where all of
    `labels` are 0 or 1: such labels make a half a whole, which moves ratios without any disagreement. Else NaN.
    """

    def under(coverage: Sequence[Mapping[tuple[str, str], float]], name: str) -> pd.DataFrame:
        changed = [override(p, cells) for p, cells in zip(packages, coverage, strict=True)]
        new = reworth(changed, kept, saturation=saturation, k=k, node_limit=node_limit)
        return new[[*ROW, "new_ratio"]].rename(columns={"new_ratio": name})

    given = [labels.get(p.package_id, {}) for p in packages]
    pairs = kept.rows.merge(under(given, "new_ratio"), on=ROW, how="inner", validate="one_to_one")
    if all(value in (0, 1) for cells in given for value in cells.values()):
        own = [_own_binary(p, cells) for p, cells in zip(packages, given, strict=True)]
        pairs = pairs.merge(under(own, "binary_ratio"), on=ROW, how="inner", validate="one_to_one")
    return pairs.reindex(columns=list(PAIR_COLUMNS))


def _own_binary(package: Package, cells: Iterable[tuple[str, str]]) -> dict[tuple[str, str], float]:
    """The package's own binary label of each of the cells (candidate_id, unit_id)."""
    rows = {c: package.coverage_row(i) for i, c in enumerate(package.visible.candidate_ids)}
    cells = list(cells)
    values = binary([rows[c].get(u, 0.0) for c, u in cells]).tolist()
    return dict(zip(cells, map(float, values), strict=True))


def under_other_suite(suite: str, scores: pd.DataFrame, other_suite: str, other: pd.DataFrame) -> pd.DataFrame:
    """Columns PAIR_COLUMNS: rows of `scores` and of another suite's that share (package_id, budget, writer).

    Both in schema SCORES, one setting. Raises InputError where nothing is shared.
    """
    there = other[[*ROW, "ratio"]].rename(columns={"ratio": "new_ratio"})
    shared = scores[[*ROW, "budget_spec", "ratio"]].merge(there, on=ROW, how="inner", validate="one_to_one")
    if shared.empty:
        raise InputError(
            f"suites {suite} and {other_suite} share no package, absolute budget and "
            f"writer in the first setting; give them the same examples, budgets and writers, or remove compare_with"
        )
    return shared.reindex(columns=list(PAIR_COLUMNS))


def label_ratios(suite: str, labels: str, kind: str, setting: Mapping, pairs: pd.DataFrame) -> pd.DataFrame:
    """Schema LABEL_RATIOS: a row a budget, and one of all budgets pooled (budget null), over RATIO_WRITERS.

    ratio_mad: mean |ratio - new_ratio| over rows where both are defined; ratio_mad_binary: mean |binary_ratio -
    new_ratio| over those of them with a binary_ratio; ranking_preserved: the writers'
    mean ratios come in the same order (ties as ties); spearman: of those means, null below two writers or
    where one side is all ties.
    """
    pairs = pairs[pairs["writer"].isin(RATIO_WRITERS)]
    head = {"suite": suite, "labels": labels, "kind": kind, **{c: setting[c] for c in _SETTING}}
    rows = [head | {"budget": None} | _moved(pairs)]
    rows += [head | {"budget": int(budget)} | _moved(part) for budget, part in pairs.groupby("budget")]
    return pd.DataFrame(rows, columns=LABEL_RATIOS.schema.names).astype({"budget": "Int64"})


def _moved(pairs: pd.DataFrame) -> dict:
    used = pairs[pairs["ratio"].notna() & pairs["new_ratio"].notna()]
    numbers = {
        "packages": used["package_id"].nunique(),
        "rows": len(used),
        "dropped": len(pairs) - len(used),
        "writers": used["writer"].nunique(),
        "ratio_mad": np.nan,
        "ratio_mad_binary": np.nan,
        "ranking_preserved": None,
        "spearman": np.nan,
    }
    if used.empty:
        return numbers
    numbers["ratio_mad"] = mean((used["ratio"] - used["new_ratio"]).abs().to_numpy())
    binary_too = used[used["binary_ratio"].notna()]
    if len(binary_too):
        numbers["ratio_mad_binary"] = mean((binary_too["binary_ratio"] - binary_too["new_ratio"]).abs().to_numpy())
    means = used.groupby("writer")[["ratio", "new_ratio"]].agg(lambda values: mean(values.to_numpy()))
    numbers["ranking_preserved"] = same_ranking(means["ratio"], means["new_ratio"])
    if len(means) > 1 and means["ratio"].nunique() > 1 and means["new_ratio"].nunique() > 1:
        numbers["spearman"] = float(spearmanr(means["ratio"], means["new_ratio"]).statistic)
    return numbers


def same_ranking(a: Sequence[float], b: Sequence[float]) -> bool:
    """Whether two lists of means rank their entries alike; means nearer than 1e-12 are tied."""
    ranks = [rankdata(np.round(np.asarray(values, dtype=np.float64), 12)) for values in (a, b)]
    return bool((ranks[0] == ranks[1]).all())


def relabelled(
    suite: str, labels: str, kind: str, setting: Mapping, pairs: pd.DataFrame, *, resamples: int = 1000, seed: int = 0
) -> pd.DataFrame:
    """Schema RELABELLED: mean ratio of each writer and budget under own and under other labels, on the packages
    where both are defined (n), with the interval of the latter over packages; beside them that under own labels
    made binary, over those with one (n_binary)."""
    rows = []
    for (budget, spec, writer), part in pairs.groupby(["budget", "budget_spec", "writer"]):
        used = part[part["ratio"].notna() & part["new_ratio"].notna()]
        row = {"suite": suite, "labels": labels, "kind": kind, **{c: setting[c] for c in _SETTING}}
        row |= {"budget": int(budget), "budget_spec": spec, "writer": writer}
        row |= {"n": len(used), "dropped": len(part) - len(used)}
        if len(used):
            new, low, high = mean_interval(used["new_ratio"].to_numpy(), resamples, seed)
            row |= {"mean_own": mean(used["ratio"].to_numpy()), "mean_ratio": new, "ci_low": low, "ci_high": high}
        binary_ratio = used["binary_ratio"].dropna().to_numpy()
        if len(binary_ratio):
            row |= {"n_binary": len(binary_ratio), "mean_own_binary": mean(binary_ratio)}
        rows.append(row)
    return pd.DataFrame(rows, columns=RELABELLED.schema.names).astype({"n_binary": "Int64"})
