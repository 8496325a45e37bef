"""Tables made of scores: means with intervals, paired differences, decomposition, mixes, counts.

Tables come in as Arrow tables or pandas DataFrames in the schemas of `memaudit.schemas`; results are
pandas DataFrames, sorted by their key, a missing number NaN. Where a suite has several distributions,
rows of distribution "all" stand beside those of each. Means are over packages and do not depend on the
order of the rows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa

from ..errors import InputError
from ..schemas import PAIRED, STATUSES, SUMMARY
from .bootstrap import mean, mean_interval

Frame = pa.Table | pd.DataFrame
# suite -> package_id -> label: packages that are resampled together (a conversation's questions).
Clusters = Mapping[str, Mapping[str, str]]

ALL = "all"
# (suite, distribution, writer) -> note.
Notes = Mapping[tuple[str, str, str], str]
OWN_TEXTS_NOTE = "reads texts; those of some distributions are ours, not the paper's"

_PROBLEM = ["cost_model", "k", "saturation", "budget"]
_INSTANCE = ["cost_model", "pool", "k", "saturation"]
_ROW = ["suite", "distribution", *_PROBLEM, "writer"]
_STRINGS = {
    "suite", "package_id", "distribution", "cost_model", "pool", "saturation", "budget_spec", "writer",
    "opt_status", "representation_type",
}  # fmt: skip
# Mean column of the summary -> column of the scores.
_MEANS = {
    "mean_value": "value",
    "mean_cost": "cost",
    "mean_current_covered": "current_covered",
    "mean_invalidation_covered": "invalidation_covered",
    "mean_stale_covered": "stale_covered",
    "mean_current_mass": "current_mass",
    "mean_invalidation_mass": "invalidation_mass",
    "mean_stale_mass": "stale_mass",
    "mean_selected": "n_selected",
    "mean_validity_selected": "n_validity_selected",
}


# ---- Means and intervals


def summarise(
    scores: Frame,
    *,
    resamples: int = 1000,
    seed: int = 0,
    notes: Notes | None = None,
    clusters: Clusters | None = None,
) -> pd.DataFrame:
    """Schema SUMMARY: one row per suite, distribution, problem, budget and writer.

    n: ratios in the mean and its interval; undefined_n packages (no ratio though OPT is proven) and
    n_unproven ones (OPT not proven) are left out of it. opt_zero_n: packages with a proven OPT of 0.
    mean_opt: over packages with a proven OPT. mean_ratio_opt_positive: over those of the n whose OPT is not 0.
    mean_queries_covered: mean share of a package's queries with all required units covered, over packages with a
    query. All other means: over all packages of the row, n + undefined_n + n_unproven. `notes`: see `text_notes`.
    Raises InputError where a row has two budget specs (keep one spec per absolute budget).
    """
    columns = ["ratio", "opt_status", "opt_int", "opt", "queries", "queries_covered", "pool", "budget_spec"]
    frame = _scores(scores, [*columns, *_MEANS.values()])
    notes = notes or {}
    rows = []
    for key, part in _groups(frame, _row_with("pool"), "summary"):
        row = dict(zip(_row_with("pool"), key, strict=True))
        row |= {
            "budget_spec": _one_spec(row, part),
            "note": notes.get(tuple(row[c] for c in ("suite", "distribution", "writer"))),
        }
        rows.append(row | _summary_numbers(row["suite"], part, resamples, seed, clusters))
    return _table(rows, SUMMARY.schema.names, SUMMARY.key)


def _summary_numbers(suite: str, part: pd.DataFrame, resamples: int, seed: int, clusters) -> dict:
    proven = (part["opt_status"] != "limit").to_numpy()
    ratio = part["ratio"].to_numpy(dtype=np.float64)
    defined = ~np.isnan(ratio)
    queries = part["queries"].to_numpy()
    asked = queries > 0
    numbers = {name: mean(part[column].to_numpy()) for name, column in _MEANS.items()}
    numbers["mean_opt"] = _mean_or_nan(part["opt"].to_numpy()[proven])
    positive = defined & (part["opt_int"] > 0).to_numpy()
    numbers["mean_ratio_opt_positive"] = _mean_or_nan(ratio[positive])
    numbers["mean_queries_covered"] = _mean_or_nan(part["queries_covered"].to_numpy()[asked] / queries[asked])
    ids = part["package_id"][defined]
    numbers |= _interval("mean_ratio", ratio[defined], suite, ids, clusters, resamples, seed)
    return numbers | {
        "n": int(defined.sum()),
        "undefined_n": int((proven & ~defined).sum()),
        "n_unproven": int((~proven).sum()),
        "opt_zero_n": int((proven & (part["opt_int"] == 0).to_numpy()).sum()),
    }


def text_notes(texts_ours: Mapping[str, Collection[str]], text_writers: Collection[str]) -> Notes:
    """Notes for rows of writers that read texts, where the texts are not the paper's.

    `texts_ours`: suite -> its distributions whose texts are ours; distribution "all" holds them too.
    """
    rows = [(suite, d) for suite, own in texts_ours.items() for d in ([*own, ALL] if own else [])]
    return {(suite, d, writer): OWN_TEXTS_NOTE for suite, d in rows for writer in text_writers}


def learned_comparison(
    scores: Frame,
    packages: Frame,
    learned: Collection[str],
    *,
    resamples: int = 1000,
    seed: int = 0,
    notes: Notes | None = None,
) -> pd.DataFrame:
    """Schema SUMMARY on packages of odd seeds only, in suites that have a learned writer: all writers.

    Even seeds train the learned writers (writers' rules, profile `learned`); `packages`: table packages
    (suite, package_id, seed). Raises InputError when a learned writer was scored on a package with an even
    seed, which it was trained on.
    """
    frame = _plain(scores)
    is_learned = frame["writer"].isin(list(learned))
    suites = frame["suite"][is_learned].unique()
    seeds = _plain(packages)[["suite", "package_id", "seed"]].dropna(subset=["seed"])
    odd = seeds[seeds["seed"].astype("int64") % 2 == 1]
    keep = pd.MultiIndex.from_frame(frame[["suite", "package_id"]]).isin(
        pd.MultiIndex.from_frame(odd[["suite", "package_id"]])
    )
    trained_on = frame[is_learned & ~keep & frame["suite"].isin(seeds["suite"].unique())]
    if len(trained_on):
        row = trained_on.iloc[0]
        raise InputError(
            f"learned writer {row['writer']} is scored on package {row['package_id']} of suite "
            f"{row['suite']}, which has no odd seed; score learned writers on odd seeds, even ones train them"
        )
    return summarise(frame[keep & frame["suite"].isin(suites)], resamples=resamples, seed=seed, notes=notes)


# ---- Pairs of writers


def paired(
    scores: Frame,
    references: str | Sequence[str],
    *,
    resamples: int = 1000,
    seed: int = 0,
    clusters: Clusters | None = None,
) -> pd.DataFrame:
    """Schema PAIRED: ratio of each writer minus that of each reference writer on the same packages.

    n: packages where both ratios are defined; wins, ties and losses of the writer compare exact integer
    values on those. Raises InputError on a reference that no row has, or where a pair has two scales.
    """
    references = [references] if isinstance(references, str) else list(references)
    frame = _scores(scores, ["ratio", "value_int", "scale"])
    on = ["suite", "package_id", *_PROBLEM]
    rows = []
    for reference in references:
        own = frame.loc[frame["writer"] == reference, [*on, "ratio", "value_int", "scale"]]
        if own.empty:
            raise InputError(f"paired differences: no scores of the reference writer {reference!r}")
        others = frame[frame["writer"] != reference]
        pairs = others.merge(own, on=on, how="inner", suffixes=("", "_reference"))
        _refuse_two_scales(pairs, reference)
        for key, part in _groups(pairs, _ROW, "paired differences"):
            row = dict(zip(_ROW, key, strict=True)) | {"reference": reference}
            rows.append(row | _pair_numbers(row["suite"], part, resamples, seed, clusters))
    return _table(rows, PAIRED.schema.names, PAIRED.key)


def _refuse_two_scales(pairs: pd.DataFrame, reference: str) -> None:
    bad = pairs[pairs["scale"] != pairs["scale_reference"]]
    if len(bad):
        row = bad.iloc[0]
        raise InputError(
            f"scores of package {row['package_id']} of suite {row['suite']} have scale {row['scale']} for "
            f"writer {row['writer']} and {row['scale_reference']} for {reference}; score both again"
        )


def _pair_numbers(suite: str, part: pd.DataFrame, resamples: int, seed: int, clusters) -> dict:
    part = part[part["ratio"].notna() & part["ratio_reference"].notna()]
    difference = (part["ratio"] - part["ratio_reference"]).to_numpy(dtype=np.float64)
    order = np.sign(part["value_int"].to_numpy() - part["value_int_reference"].to_numpy())
    ids = part["package_id"]
    numbers = _interval("mean_difference", difference, suite, ids, clusters, resamples, seed)
    return numbers | {
        "n": len(part),
        "wins": int((order > 0).sum()),
        "ties": int((order == 0).sum()),
        "losses": int((order < 0).sum()),
    }


# ---- Decomposition, mixes


def decomposition(scores: Frame) -> pd.DataFrame:
    """Mean write and retrieval failure per suite, distribution, problem, budget and writer.

    Required mass: current + invalidation units. write_failure: required mass that the store does not
    cover; beyond_candidates: the part of it that no store of at most k candidates a group could; retrieval_failure_*:
    covered mass that is not retrieved in mode oracle (0, all is retrieved) and fixed (the three most recent memories).
    """
    masses = ["current_covered", "invalidation_covered", "current_mass", "invalidation_mass", "coverable_mass"]
    frame = _scores(scores, [*masses, "retrieved_fixed", "budget_spec"])
    frame["required_mass"] = frame["current_mass"] + frame["invalidation_mass"]
    frame["covered"] = frame["current_covered"] + frame["invalidation_covered"]
    frame["write_failure"] = _minus(frame["required_mass"], frame["covered"])
    frame["beyond_candidates"] = _minus(frame["required_mass"], frame["coverable_mass"])
    frame["retrieval_failure_oracle"] = 0.0
    frame["retrieval_failure_fixed"] = _minus(frame["covered"], frame["retrieved_fixed"])
    means = ["required_mass", "covered", "write_failure", "beyond_candidates"]
    means += ["retrieval_failure_oracle", "retrieval_failure_fixed"]
    rows = []
    for key, part in _groups(frame, _ROW, "decomposition"):
        row = dict(zip(_ROW, key, strict=True))
        row |= {"budget_spec": _one_spec(row, part), "n": len(part)}
        rows.append(row | {name: mean(part[name].to_numpy()) for name in means})
    return _table(rows, [*_row_with("budget_spec", after="budget"), "n", *means], _ROW)


def _minus(a: pd.Series, b: pd.Series) -> pd.Series:
    """a - b for masses, which are multiples of a unit far above 1e-12: the rounding takes off float noise,
    so that nothing missing is 0 and not -4e-16."""
    return np.round(a - b, 12) + 0.0


def representation_mix(selections: Frame, scores: Frame) -> pd.DataFrame:
    """Mean number of kept memories by representation type, per suite, distribution, problem, budget, writer.

    The mean is over all scored packages, also those where nothing was kept. Every writer and budget has a
    row for each type that any writer kept in that suite and distribution (0 where it kept none).
    """
    frame = _scores(scores, [])
    _several(frame)
    n = frame.groupby(_ROW, observed=True).size().rename("n").reset_index()
    distribution = frame[["suite", "package_id", "distribution"]].drop_duplicates()
    kept = _categories(selections, ["suite", "package_id", *_PROBLEM, "writer", "representation_type"])
    kept = kept.merge(distribution, on=["suite", "package_id"], how="left")
    count = kept.groupby([*_ROW, "representation_type"], observed=True, dropna=False).size()
    count = count.rename("count").reset_index()
    unscored = count.merge(n, on=_ROW, how="left").loc[lambda f: f["n"].isna()]
    if len(unscored):
        raise InputError(f"selections of {dict(unscored.iloc[0][_ROW])} have no score; score them again")
    n, count = _add_all(n, "n"), _add_all(count, "count")
    types = count[["suite", "distribution", "representation_type"]].drop_duplicates()
    grid = n.merge(types, on=["suite", "distribution"])
    grid = grid.merge(count, on=[*_ROW, "representation_type"], how="left")
    grid["mean_count"] = grid["count"].fillna(0) / grid["n"]
    columns = [*_ROW, "representation_type", "n", "mean_count"]
    return grid[columns].sort_values(columns[:-2], ignore_index=True)


def _add_all(counts: pd.DataFrame, number: str) -> pd.DataFrame:
    """Counts by distribution, and their sums over the distributions of a suite that has several."""
    text = {column: "str" for column in counts if isinstance(counts[column].dtype, pd.CategoricalDtype)}
    counts = counts.astype(text)
    together = counts[counts["suite"].isin(_several(counts))].assign(distribution=ALL)
    by = [column for column in counts.columns if column != number]
    return pd.concat([counts, together.groupby(by)[number].sum().reset_index()], ignore_index=True)


# ---- Solutions and checks


def status_counts(solutions: Frame, checks: Frame | None = None) -> pd.DataFrame:
    """Rows (package x budget) and distinct instances (content x budget) of solutions by status.

    Columns: suite, cost_model, pool, k, saturation, status, rows, distinct; each problem has a row for
    each of optimal, cross_checked (optimal, and a check proved the same value) and limit, zeros included.
    Raises InputError on a check that found a mismatch.
    """
    frame = _plain(solutions)
    status = frame["status"].to_numpy(dtype=object)
    if checks is not None:
        checks = _plain(checks)
        _refuse_unequal(checks)
        proven = checks.loc[checks["equal"].astype(bool), ["suite", "solution_id"]]
        checked = _pairs(frame, "solution_id").isin(_pairs(proven, "solution_id"))
        status = np.where(checked & (status == "optimal"), "cross_checked", status)
    unknown = sorted(set(status) - set(STATUSES))
    if unknown:
        raise InputError(f"solutions: status {unknown} is not one of {STATUSES}")
    rows = []
    for key, part in frame.groupby(["suite", *_INSTANCE], sort=True):
        own = status[part.index]
        for name in STATUSES:
            ids = part["solution_id"][own == name]
            row = dict(zip(["suite", *_INSTANCE], key, strict=True))
            rows.append(row | {"status": name, "rows": len(ids), "distinct": ids.nunique()})
    return pd.DataFrame(rows, columns=["suite", *_INSTANCE, "status", "rows", "distinct"])


def _refuse_unequal(checks: pd.DataFrame) -> None:
    bad = checks[checks["status"] == "mismatch"]
    if len(bad):
        row = bad.iloc[0]
        raise InputError(
            f"check of {row['solution_id']} (package {row['package_id']} of suite {row['suite']}) by "
            f"{row['solver']} found a mismatch: {row['value']}, the solution says {row['solution_value']}"
        )


def audit_table(solutions: Frame, checks: Frame, pool: str = "full") -> pd.DataFrame:
    """The solver audit: our optima of `pool` against each independent solver.

    Columns: suite, cost_model, k, saturation, solver, rows (package x budget that the solver was given),
    distinct (content x budget), objective_matches (rows whose value the solver proved), unfinished (rows where it
    stopped at its limit), max_difference (largest |our value - the solver's|, exact before its last rounding, over
    what the solver proved; NaN where it proved nothing).
    """
    frame = _plain(solutions)
    frame = frame[frame["pool"] == pool]
    checks = _plain(checks)[["suite", "solution_id", "solver", "status", "value", "equal"]]
    checks = checks.rename(columns={"status": "check_status", "value": "check_value"})
    # Files of two pools may check one solution each; the row that speaks against it stays.
    checks = checks.sort_values("equal").drop_duplicates(["suite", "solution_id", "solver"])
    by = ["suite", "cost_model", "k", "saturation", "solver"]
    rows = []
    for key, part in frame.merge(checks, on=["suite", "solution_id"]).groupby(by, sort=True):
        numbers = {
            "rows": len(part),
            "distinct": part["solution_id"].nunique(),
            "objective_matches": int(part["equal"].astype(bool).sum()),
            "unfinished": int((part["check_status"] == "limit").sum()),
            "max_difference": _largest_difference(part.drop_duplicates("solution_id")),
        }
        rows.append(dict(zip(by, key, strict=True)) | numbers)
    return pd.DataFrame(rows, columns=[*by, "rows", "distinct", "objective_matches", "unfinished", "max_difference"])


def _largest_difference(part: pd.DataFrame) -> float:
    proven = part[part["check_status"].isin(["optimal", "mismatch"]) & (part["check_value"] != "")]
    columns = (proven[c].tolist() for c in ("value_int", "scale", "check_value"))
    differences = [abs(Fraction(v, s) - Fraction(c)) for v, s, c in zip(*columns, strict=True)]
    return float(max(differences, default=np.nan))


# ---- Frames and groups


def _plain(table: Frame) -> pd.DataFrame:
    """A DataFrame with a fresh index."""
    return (table.to_pandas() if isinstance(table, pa.Table) else table).reset_index(drop=True)


def _scores(scores: Frame, columns: Sequence[str]) -> pd.DataFrame:
    """Key columns and `columns` of the scores, sorted by package."""
    frame = _categories(scores, list(dict.fromkeys([*_ROW, "package_id", *columns])))
    return frame.sort_values("package_id", kind="stable", ignore_index=True)


def _categories(table: Frame, columns: list[str]) -> pd.DataFrame:
    """The columns, strings as sorted categories (groups by them are fast), empty number columns as floats."""
    frame = table.select(columns).to_pandas() if isinstance(table, pa.Table) else table[columns].copy()
    for column in columns:
        if column in _STRINGS:
            frame[column] = frame[column].astype("str").astype("category")
        elif frame[column].dtype == object:
            frame[column] = frame[column].astype(np.float64)
    return frame


def _several(frame: pd.DataFrame) -> set[str]:
    """Suites with more than one distribution."""
    pairs = frame[["suite", "distribution"]].drop_duplicates().astype("str")
    clash = pairs[pairs["distribution"] == ALL]
    if len(clash):
        raise InputError(f"suite {clash['suite'].iloc[0]}: a distribution is named {ALL!r}; rename it")
    return set(pairs["suite"][pairs["suite"].duplicated()])


def _groups(frame: pd.DataFrame, by: list[str], what: str) -> Iterator[tuple[tuple, pd.DataFrame]]:
    """Groups of rows by `by`, with those of all distributions together; each package once in a group."""
    several = _several(frame)
    together = frame[frame["suite"].isin(several)].assign(distribution=ALL)
    for rows in (frame, together):
        for key, index in rows.groupby(by, observed=True, sort=False).indices.items():
            part = rows.take(index)
            if part["package_id"].duplicated().any():
                twice = part["package_id"][part["package_id"].duplicated()].iloc[0]
                raise InputError(f"{what}: package {twice} stands twice in {dict(zip(by, key, strict=True))}")
            yield key, part


def _row_with(column: str, after: str = "cost_model") -> list[str]:
    at = _ROW.index(after) + 1
    return [*_ROW[:at], column, *_ROW[at:]]


def _one_spec(row: Mapping, part: pd.DataFrame) -> str:
    specs = sorted(part["budget_spec"].astype("str").unique())
    if len(specs) > 1:
        raise InputError(
            f"scores of suite {row['suite']} at budget {row['budget']} come under {specs}; keep one a budget"
        )
    return specs[0]


def _interval(name, values, suite, package_ids, clusters, resamples, seed) -> dict[str, float]:
    if not len(values):
        return {name: np.nan, "ci_low": np.nan, "ci_high": np.nan}
    labels = (clusters or {}).get(suite)
    labels = None if labels is None else [labels[p] for p in package_ids]
    return dict(zip((name, "ci_low", "ci_high"), mean_interval(values, resamples, seed, labels), strict=True))


def _mean_or_nan(values: np.ndarray) -> float:
    return mean(values) if len(values) else np.nan


def _pairs(frame: pd.DataFrame, column: str) -> pd.MultiIndex:
    return pd.MultiIndex.from_frame(frame[["suite", column]].astype("str"))


def _table(rows: list[dict], columns: Sequence[str], key: Sequence[str]) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=list(columns))
    return frame.sort_values(list(key), ignore_index=True)
