"""The Arrow schema of every table that passes between stages.

A table is long and tidy; its key starts with (suite, package_id) wherever a row belongs to one package.
Rows are sorted by the table's key. `SCHEMA_VERSION` travels in every file's metadata: raise it when a
column changes its name, type or meaning.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

SCHEMA_VERSION = "3"

STATUSES = ("optimal", "cross_checked", "limit")
ROLES = ("current", "invalidation", "stale", "")
# How labels are stated, see LABELS.
BY_ROW, BY_CELL = "row", "cell"

_str, _int, _float, _bool = pa.string(), pa.int64(), pa.float64(), pa.bool_()


def _fields(required: dict[str, pa.DataType], optional: dict[str, pa.DataType] | None = None) -> pa.Schema:
    fields = [pa.field(name, kind, nullable=False) for name, kind in required.items()]
    fields += [pa.field(name, kind) for name, kind in (optional or {}).items()]
    return pa.schema(fields)


@dataclass(frozen=True)
class Table:
    """One table: its name, Arrow schema, and the columns that identify (and sort) a row."""

    name: str
    schema: pa.Schema
    key: tuple[str, ...]


_PACKAGE = {"suite": _str, "package_id": _str}
# One optimisation problem besides its package: how costs are counted, what may be chosen, how units saturate.
_PROBLEM = {"cost_model": _str, "pool": _str, "k": _int, "saturation": _str}
# `budget_spec` is the YAML spelling (a fraction or an integer); `budget` is the absolute budget in cost units.
_BUDGET = {"budget_spec": _str, "budget": _int}

TABLES: dict[str, Table] = {}


def _table(name: str, key: tuple[str, ...], required: dict, optional: dict | None = None) -> Table:
    TABLES[name] = Table(name, _fields(required, optional), key)
    return TABLES[name]


# ---- packages/{suite}/
# content_hash: of everything an optimum depends on (groups, costs, types, weights, coverage), ids and texts
# left out: equal hashes have equal optima. n_*: counts; total_cost: sum of declared costs.
PACKAGES = _table(
    "packages",
    ("suite", "package_id"),
    {
        **_PACKAGE,
        "distribution": _str,
        "content_hash": _str,
        "n_groups": _int,
        "n_candidates": _int,
        "n_units": _int,
        "n_queries": _int,
        "total_cost": _int,
    },
    {"seed": _int},
)
# n_*: what a text that is absent (it stands elsewhere and may not be copied) measures, all three or none.
# estimated_value / estimated_coverage: a supplied estimate that a writer may see; null = none supplied.
CANDIDATES = _table(
    "candidates",
    ("suite", "package_id", "candidate_id"),
    {
        **_PACKAGE,
        "candidate_id": _str,
        "group_id": _str,
        "representation_type": _str,
        "cost": _int,
        "time_index": _int,
        "confidence": _float,
    },
    {
        "text": _str,
        "n_words": _int,
        "n_chars": _int,
        "n_bytes": _int,
        "estimated_value": _float,
        "estimated_coverage": pa.list_(pa.struct([("unit_id", _str), ("coverage", _float)])),
    },
)
# role: current / invalidation / stale, or "" where the unit has none. weight >= 0.
UNITS = _table(
    "units",
    ("suite", "package_id", "unit_id"),
    {**_PACKAGE, "unit_id": _str, "role": _str, "weight": _float},
    {"kind": _str, "text": _str},
)
# status: what a judge made of the query, null where none did; required_changed: whether it requires other units
# than the primary pass named, null where the source does not tell.
QUERIES = _table(
    "queries",
    ("suite", "package_id", "query_id"),
    {**_PACKAGE, "query_id": _str},
    {"category": _str, "text": _str, "answer": _str, "status": _str, "required_changed": _bool},
)
REQUIREMENTS = _table(
    "requirements",
    ("suite", "package_id", "query_id", "unit_id"),
    {**_PACKAGE, "query_id": _str, "unit_id": _str, "primary": _bool},
)
# Who said what a candidate covers; zeros are rows too where somebody labelled them. stated: by a "row" of a coverage
# matrix, which together label a package whole (an absent pair is 0), or cell by "cell" (an absent one is unlabelled);
# line: of the source's file; labels by row on one line are one label under several names.
LABELS = _table(
    "labels",
    ("suite", "package_id", "candidate_id", "unit_id", "source", "pass"),
    {
        **_PACKAGE,
        "candidate_id": _str,
        "unit_id": _str,
        "source": _str,
        "pass": _str,
        "value": _float,
        "status": _str,
        "stated": _str,
    },
    {"line": _int},
)
# Derived from labels by the suite's rule; non-zero cells only, in (0, 1].
COVERAGE = _table(
    "coverage",
    ("suite", "package_id", "candidate_id", "unit_id"),
    {**_PACKAGE, "candidate_id": _str, "unit_id": _str, "coverage": _float},
)
# What the suite's source holds but no package was made of, with the reason.
UNSCORED = _table(
    "unscored", ("suite", "source_id"), {"suite": _str, "source_id": _str, "category": _str, "reason": _str}
)
# Notes of the build that a reader should know (kept rows that looked odd), one row a finding.
WARNINGS = _table(
    "warnings",
    ("suite", "source_id", "kind", "detail"),
    {"suite": _str, "source_id": _str, "kind": _str, "detail": _str},
)

# ---- budgets/{suite}.parquet: spec -> absolute budget. merged_into: the spec that stands for the same
# absolute budget (itself where the spec is the first of its budget).
BUDGETS = _table(
    "budgets",
    ("suite", "cost_model", "budget_spec"),
    {"suite": _str, "cost_model": _str, **_BUDGET, "merged_into": _str, "mean_total_cost": _float},
    {"fraction": _float},
)

# ---- solutions/{suite}/...: one row is one instance, at a declared budget. Of two spellings of one budget the
# first stands.
# value = value_int / scale; bound_int is a proven upper bound on value_int (equal where optimal). canonical: the
# selection is proven to be the one that the protocol reports among equal optima.
# instance_hash: of the solver's own input (restricted, re-costed, in order): solved once per hash.
SOLUTIONS = _table(
    "solutions",
    ("suite", "package_id", "cost_model", "pool", "k", "saturation", "budget"),
    {
        **_PACKAGE,
        **_PROBLEM,
        **_BUDGET,
        "instance_hash": _str,
        "solution_id": _str,
        "status": _str,
        "value_int": _int,
        "bound_int": _int,
        "scale": _int,
        "value": _float,
        "cost": _int,
        "n_selected": _int,
        "nodes": _int,
        "canonical": _bool,
    },
)
# solution_id = {instance_hash}.{k}.{saturation}.{budget}; several packages may share one solution, so a
# chosen candidate is named per package.
SOLUTION_SELECTIONS = _table(
    "solution_selections",
    ("suite", "package_id", "cost_model", "pool", "k", "saturation", "budget", "candidate_id"),
    {**_PACKAGE, **_PROBLEM, "budget": _int, "candidate_id": _str},
)

# solutions/{suite}/...curves: OPT at every budget 0 .. max_budget: value_int from this row's budget on to the next
# row's, from (0, 0). max_budget: the suite's, or the package's total cost (then the last value holds for all
# budgets). status "limit": the curve was not proven, and only the row of budget 0 stands.
CURVES = _table(
    "curves",
    ("suite", "package_id", "cost_model", "pool", "k", "saturation", "budget"),
    {
        **_PACKAGE,
        "distribution": _str,
        **_PROBLEM,
        "budget": _int,
        "value_int": _int,
        "scale": _int,
        "value": _float,
        "status": _str,
        "max_budget": _int,
    },
)

# ---- checks/{suite}/...: the same instances by an independent solver. One row per solution_id and solver.
# value, bound: exact fractions written "p/q" (or "p"); selected_value: the checked file's own selection,
# re-evaluated; equal: the solver proved the same optimum and the selection is feasible and worth it.
CHECKS = _table(
    "checks",
    ("suite", "solution_id", "solver"),
    {
        "suite": _str,
        "solution_id": _str,
        "package_id": _str,
        **_PROBLEM,
        "budget": _int,
        "solver": _str,
        "status": _str,
        "value": _str,
        "bound": _str,
        "selected_value": _str,
        "solution_value": _str,
        "n_packages": _int,
        "equal": _bool,
    },
)

# checks/{suite}/...-curves: OPT by an independent solver at budgets drawn from a curve: its end, and of some jumps
# the budget of the jump and the one below. One row per content (package_id: its first package), budget and solver.
# value, bound, curve_value: exact fractions; n_packages: those of that content; equal: it proved the curve's value.
CURVE_CHECKS = _table(
    "curve_checks",
    ("suite", "package_id", "cost_model", "pool", "k", "saturation", "budget", "solver"),
    {
        **_PACKAGE,
        **_PROBLEM,
        "budget": _int,
        "solver": _str,
        "status": _str,
        "value": _str,
        "bound": _str,
        "curve_value": _str,
        "n_packages": _int,
        "equal": _bool,
    },
)

# ---- scores/{suite}/...: one row per package, budget and writer.
# opt_status: status of the denominator (OPT on the full pool); ratio null where it is undefined or unproven.
# *_covered, *_mass: unweighted covered / total mass of the units of that role, each unit capped at 1.
# required_* : current + invalidation units; retrieved_fixed: the part held by the three most recent memories;
# coverable_mass: the required mass that at most k candidates a group can cover, unit by unit, whatever they cost.
SCORES = _table(
    "scores",
    ("suite", "package_id", "cost_model", "k", "saturation", "budget", "writer"),
    {
        **_PACKAGE,
        "distribution": _str,
        **_PROBLEM,
        **_BUDGET,
        "writer": _str,
        "value_int": _int,
        "scale": _int,
        "value": _float,
        "opt_status": _str,
        "opt_int": _int,
        "opt": _float,
        "cost": _int,
        "n_selected": _int,
        "n_validity_selected": _int,
        "current_covered": _float,
        "invalidation_covered": _float,
        "stale_covered": _float,
        "current_mass": _float,
        "invalidation_mass": _float,
        "stale_mass": _float,
        "coverable_mass": _float,
        "retrieved_fixed": _float,
        "queries": _int,
        "queries_covered": _int,
    },
    {"ratio": _float},
)
# What each writer kept: one row per memory.
SELECTIONS = _table(
    "selections",
    ("suite", "package_id", "cost_model", "k", "saturation", "budget", "writer", "candidate_id"),
    {
        **_PACKAGE,
        "cost_model": _str,
        "k": _int,
        "saturation": _str,
        "budget": _int,
        "writer": _str,
        "candidate_id": _str,
        "representation_type": _str,
    },
)

# ---- summary: one row per suite, distribution, problem, budget and writer.
# n: ratios in mean_ratio; the other means are over n + undefined_n + n_unproven packages (mean_opt: those with
# a proven OPT; mean_queries_covered: those with a query; null where there are none). distribution may be "all".
SUMMARY = _table(
    "summary",
    ("suite", "distribution", "cost_model", "pool", "k", "saturation", "budget", "writer"),
    {
        "suite": _str,
        "distribution": _str,
        "cost_model": _str,
        "pool": _str,
        "k": _int,
        "saturation": _str,
        "budget": _int,
        "budget_spec": _str,
        "writer": _str,
        "n": _int,
        "undefined_n": _int,
        "n_unproven": _int,
        "opt_zero_n": _int,
        "mean_value": _float,
        "mean_cost": _float,
        "mean_current_covered": _float,
        "mean_invalidation_covered": _float,
        "mean_stale_covered": _float,
        "mean_current_mass": _float,
        "mean_invalidation_mass": _float,
        "mean_stale_mass": _float,
        "mean_selected": _float,
        "mean_validity_selected": _float,
    },
    {
        "mean_opt": _float,
        "mean_queries_covered": _float,
        "mean_ratio": _float,
        "ci_low": _float,
        "ci_high": _float,
        "mean_ratio_opt_positive": _float,
        "note": _str,
    },
)
# Paired differences of per-package ratios: writer minus reference, on packages where both are defined.
PAIRED = _table(
    "paired",
    ("suite", "distribution", "cost_model", "k", "saturation", "budget", "writer", "reference"),
    {
        "suite": _str,
        "distribution": _str,
        "cost_model": _str,
        "k": _int,
        "saturation": _str,
        "budget": _int,
        "writer": _str,
        "reference": _str,
        "n": _int,
    },
    {"mean_difference": _float, "ci_low": _float, "ci_high": _float, "wins": _int, "ties": _int, "losses": _int},
)
PUBLISHED = _table(
    "published_comparison",
    ("item", "suite", "distribution", "budget", "method", "metric"),
    {
        "item": _str,
        "suite": _str,
        "distribution": _str,
        "method": _str,
        "metric": _str,
        "value": _float,
        "decimals": _int,
        "source": _str,
        "status": _str,
    },
    {"budget": _int, "produced": _float, "difference": _float},
)

# ---- analysis/{suite}/: what tables and figures show beside the summary (definitions: analysis/summary.py)
_ROW = {
    "suite": _str,
    "distribution": _str,
    "cost_model": _str,
    "k": _int,
    "saturation": _str,
    "budget": _int,
    "writer": _str,
}
# Learned writers and all others on the odd seeds, which no learned writer trained on.
LEARNED = _table(
    "learned",
    SUMMARY.key,
    {f.name: f.type for f in SUMMARY.schema if not f.nullable},
    {f.name: f.type for f in SUMMARY.schema if f.nullable},
)
DECOMPOSITION = _table(
    "decomposition",
    tuple(_ROW),
    {
        **_ROW,
        "budget_spec": _str,
        "n": _int,
        "required_mass": _float,
        "covered": _float,
        "write_failure": _float,
        "beyond_candidates": _float,
        "retrieval_failure_oracle": _float,
        "retrieval_failure_fixed": _float,
    },
)
REPRESENTATION_MIX = _table(
    "representation_mix",
    (*_ROW, "representation_type"),
    {**_ROW, "representation_type": _str, "n": _int, "mean_count": _float},
)
# rows: package x budget; distinct: content x budget.
STATUS_COUNTS = _table(
    "status_counts",
    ("suite", "cost_model", "pool", "k", "saturation", "status"),
    {"suite": _str, **_PROBLEM, "status": _str, "rows": _int, "distinct": _int},
)
AUDIT = _table(
    "audit",
    ("suite", "cost_model", "k", "saturation", "solver"),
    {
        "suite": _str,
        "cost_model": _str,
        "k": _int,
        "saturation": _str,
        "solver": _str,
        "rows": _int,
        "distinct": _int,
        "objective_matches": _int,
        "unfinished": _int,
    },
    {"max_difference": _float},
)
# Mean over packages of OPT at every budget: mean_value from this row's budget on to the next row's. budget_spec: at
# declared budgets, null elsewhere. n: packages in the mean; unproven_n: those left out, their curve not proven.
MEAN_CURVES = _table(
    "mean_curves",
    ("suite", "distribution", "cost_model", "pool", "k", "saturation", "budget"),
    {
        "suite": _str,
        "distribution": _str,
        **_PROBLEM,
        "budget": _int,
        "mean_value": _float,
        "n": _int,
        "unproven_n": _int,
    },
    {"budget_spec": _str},
)
# A suite's curves and their check, a row a solver. curves: all, of which unproven; jumps: of the proven ones. points:
# (content, budget) solved again, of which equal, and unfinished: the solver stopped at its limit.
CURVE_COUNTS = _table(
    "curve_counts",
    ("suite", "cost_model", "pool", "k", "saturation", "solver"),
    {
        "suite": _str,
        **_PROBLEM,
        "solver": _str,
        "curves": _int,
        "unproven": _int,
        "jumps": _int,
        "points": _int,
        "equal": _int,
        "unfinished": _int,
    },
)

# ---- Natural suites only: scores/{suite}/query_scores and analysis/{suite}/ (definitions: the modules of
# analysis/ that make them)
NATURAL_TABLES = (
    "query_scores",
    "construction",
    "agreement",
    "disagreements",
    "label_ratios",
    "relabelled",
    "sensitivity",
    "robustness",
    "robustness_writers",
    "categories",
    "downstream",
)
_SETTING = {"cost_model": _str, "k": _int, "saturation": _str}
# One row per query and what a writer kept for it. required: units it requires; covered: their mass, each unit
# capped at 1; all_covered: each has coverage >= 1, null where the query requires nothing.
QUERY_SCORES = _table(
    "query_scores",
    ("suite", "package_id", "cost_model", "k", "saturation", "budget", "writer", "query_id"),
    {
        **_PACKAGE,
        "query_id": _str,
        "category": _str,
        **_SETTING,
        **_BUDGET,
        "writer": _str,
        "required": _int,
        "covered": _float,
    },
    {"all_covered": _bool},
)
# Counts of how a suite was built: `what` is counted (packages, queries, candidates, ...), by `name`.
CONSTRUCTION = _table(
    "construction", ("suite", "what", "name"), {"suite": _str, "what": _str, "name": _str, "count": _int}
)
# first, second: label sources; agreed_with: where not "", first and it agree on every cell that is counted.
_PAIR = {"suite": _str, "first": _str, "agreed_with": _str, "second": _str}
# frame: labelled (cells that a source labelled one by one) or drawn (a seeded sample of all cells). level_*: full
# against partial coverage on the cells that both find covered (level_cells of them); null where one level is all.
AGREEMENT = _table(
    "agreement",
    (*_PAIR, "frame"),
    {
        **_PAIR,
        "frame": _str,
        "packages": _int,
        "cells": _int,
        "first_positive": _int,
        "second_positive": _int,
        "raw_agreement": _float,
        "raw_agreement_weighted": _float,
        "kappa": _float,
        "ci_low": _float,
        "ci_high": _float,
        "kappa_weighted": _float,
        "alpha": _float,
        "level_cells": _int,
    },
    {"level_agreement": _float, "level_kappa": _float, "level_low": _float, "level_high": _float},
)
DISAGREEMENTS = _table(
    "disagreements",
    (*_PAIR, "frame", "by", "group"),
    {**_PAIR, "frame": _str, "by": _str, "group": _str, "cells": _int, "only_first": _int, "only_second": _int},
)
# How far package ratios move under other labels. labels: which; budget: null where all are pooled;
# rows: (package, budget, writer) compared; dropped: left out, as an optimum is 0 or not proven. ratio_mad_binary:
# against the own labels made binary too, null where the others are not binary.
LABEL_RATIOS = _table(
    "label_ratios",
    ("suite", "labels", "budget"),
    {"suite": _str, "labels": _str, "kind": _str, **_SETTING, "packages": _int, "rows": _int, "dropped": _int},
    {
        "budget": _int,
        "ratio_mad": _float,
        "ratio_mad_binary": _float,
        "ranking_preserved": _bool,
        "spearman": _float,
        "writers": _int,
    },
)
# Mean ratio of every writer under the package's own labels (`mean_own`), under these made binary on the cells that the
# others label (`mean_own_binary`, over n_binary packages; null where the others are not binary), and under others
# (`mean_ratio`).
RELABELLED = _table(
    "relabelled",
    ("suite", "labels", "budget", "writer"),
    {"suite": _str, "labels": _str, "kind": _str, **_SETTING, **_BUDGET, "writer": _str, "n": _int, "dropped": _int},
    {
        "mean_own": _float,
        "n_binary": _int,
        "mean_own_binary": _float,
        "mean_ratio": _float,
        "ci_low": _float,
        "ci_high": _float,
    },
)
# An optimum of a changed problem over that of the reference, on the same packages and budget as written.
# varied: k, cost_model or pool; value, reference: of what is varied. undefined_n: packages whose reference
# optimum is 0; n_unproven: where one of the two is not proven.
SENSITIVITY = _table(
    "sensitivity",
    ("suite", "varied", "value", "reference", "cost_model", "pool", "k", "saturation", "budget_spec"),
    {
        "suite": _str,
        "varied": _str,
        "value": _str,
        "reference": _str,
        **_PROBLEM,
        **_BUDGET,
        "reference_budget": _int,
        "n": _int,
        "undefined_n": _int,
        "n_unproven": _int,
    },
    {
        "mean_value": _float,
        "mean_reference": _float,
        "mean_ratio": _float,
        "ci_low": _float,
        "ci_high": _float,
        "min_ratio": _float,
        "max_ratio": _float,
    },
)
# Label noise. rate: share of cells flipped; ranked: "all" writers, or "blind" ones (analysis/robustness.py);
# kendall_tau: tau-b of the writers' mean ratios, noisy against clean, mean over draws, with the least and largest
# draw; reversed_pairs: mean share of pairs of writers, apart without noise, that stand the other way round with
# it; n, n_zero, n_unproven: packages used, and left out as an optimum is 0 or not proven, means over draws.
_NOISE = {"suite": _str, "flips": _str, "rate": _float, **_SETTING, **_BUDGET}
ROBUSTNESS = _table(
    "robustness",
    ("suite", "flips", "rate", "cost_model", "k", "saturation", "budget", "ranked"),
    {
        **_NOISE,
        "ranked": _str,
        "draws": _int,
        "writers": _int,
        "packages": _int,
        "n": _float,
        "n_zero": _float,
        "n_unproven": _float,
    },
    {"kendall_tau": _float, "tau_low": _float, "tau_high": _float, "reversed_pairs": _float},
)
ROBUSTNESS_WRITERS = _table(
    "robustness_writers",
    ("suite", "flips", "rate", "cost_model", "k", "saturation", "budget", "writer"),
    {**_NOISE, "writer": _str, "draws": _int},
    {
        "clean_ratio": _float,
        "mean_ratio": _float,
        "low": _float,
        "high": _float,
        "mean_change": _float,
        "mean_absolute_change": _float,
    },
)
# Queries by category ("all" beside them). mean_covered: share of a query's required mass; share_all: of queries with
# all required units covered; intervals clustered by package. mean_ratio: of the packages all of whose queries are of
# the category.
CATEGORIES = _table(
    "categories",
    ("suite", "category", "cost_model", "k", "saturation", "budget", "writer"),
    {
        "suite": _str,
        "category": _str,
        **_SETTING,
        **_BUDGET,
        "writer": _str,
        "packages": _int,
        "queries": _int,
        "without_requirement": _int,
        "n": _int,
    },
    {
        "share_all": _float,
        "share_low": _float,
        "share_high": _float,
        "share_none": _float,
        "mean_covered": _float,
        "covered_low": _float,
        "covered_high": _float,
        "mean_ratio": _float,
        "ci_low": _float,
        "ci_high": _float,
    },
)
ALL_SYSTEMS = "all systems"
# Answers of a downstream system where all, some or none of a query's required units were kept ("nothing
# required" and "any" beside them); system ALL_SYSTEMS pools them (writer ""). n_any_budget: of the n, those given
# without a budget, which count at each; answers: those of the system in the file. Intervals: 95 %, Wilson's for one
# system, bootstrap over queries for all.
DOWNSTREAM = _table(
    "downstream",
    ("suite", "system", "cost_model", "k", "saturation", "budget", "covered"),
    {
        "suite": _str,
        "system": _str,
        "writer": _str,
        **_SETTING,
        **_BUDGET,
        "covered": _str,
        "n": _int,
        "correct": _int,
        "n_any_budget": _int,
        "answers": _int,
    },
    {"accuracy": _float, "ci_low": _float, "ci_high": _float},
)

# ---- stores: exported memory stores as they were read (stores/). instance_id: "" where the export names no example.
# position: place of the row in the export; time_index: place in order of time; details: other metadata as JSON; n_*:
# of the whole text, where `text` has a mark in place of a part that stands elsewhere.
_time = pa.timestamp("us", "UTC")
STORE_MEMORIES = _table(
    "store_memories",
    ("store", "instance_id", "memory_id", "view"),
    {
        "store": _str,
        "system": _str,
        "instance_id": _str,
        "memory_id": _str,
        "view": _str,
        "representation_type": _str,
        "group_id": _str,
        "position": _int,
        "time_index": _int,
        "text": _str,
    },
    {
        "time": _time,
        "native_order": _int,
        "salience": _float,
        "superseded_by": _str,
        "invalid_at": _time,
        "user_id": _str,
        "details": _str,
        "n_words": _int,
        "n_chars": _int,
        "n_bytes": _int,
    },
)
# How each store was read. what: count, format, skipped, warning, partial, note or column (detail: read as what, or
# ignored); labels: what its label files say too much or too little; package: examples that have no store, stores of no
# example; name: which, of its kind.
INGEST = _table(
    "ingest",
    ("store", "instance_id", "what", "name"),
    {"store": _str, "instance_id": _str, "what": _str, "name": _str, "count": _int},
    {"detail": _str},
)
# What each memory covers, labelled or judged: in (0, 1], zeros left out. labels: who says so.
STORE_COVERAGE = _table(
    "store_coverage",
    ("store", "instance_id", "memory_id", "view", "unit_id"),
    {
        "store": _str,
        "instance_id": _str,
        "memory_id": _str,
        "view": _str,
        "unit_id": _str,
        "coverage": _float,
        "labels": _str,
    },
)
# What a judge said of each cell that is not far from a cover: judged is a row of stores/judge.py's ROWS; memory: place
# in order of time (time_index), unit: place among the example's units by id.
STORE_JUDGED = _table(
    "store_judged",
    ("store", "instance_id", "memory", "unit"),
    {"store": _str, "instance_id": _str, "memory": _int, "unit": _int, "judged": _str},
)
# What the judge is worth, on its test split (stores/judge_record.py). what: kappa and kappa_all_cells, with _low and
# _high, numbers of the split; confusion (cells by label and judged), confusion_all_cells, true_given_judged (shares).
_JUDGE = {"judge": _str, "kind": _str, "what": _str, "label": _str, "judged": _str, "value": _float}
STORE_JUDGE = _table("store_judge", ("store", "what", "label", "judged"), {"store": _str, **_JUDGE})
# ---- stores/{store}/{setting}/: a store pruned to each budget. package_id: examples that have a store. view: "" for
# all memories, else those of one view alone. rule: of stores/pruning.py. union_opt: of the package with this store;
# joint_opt: with all compared stores, null where it is in no comparison. A ratio is null where its optimum is 0 or not
# proven. upper_exact is the proven best subset of the store; status of the best found where it is not proven: "limit".
# labels: who says what memories cover.
_STORE = {"suite": _str, "store": _str}
STORE_SCORES = _table(
    "store_scores",
    ("suite", "store", "package_id", "cost_model", "k", "saturation", "budget", "view", "rule"),
    {
        "suite": _str,
        "store": _str,
        "package_id": _str,
        **_SETTING,
        **_BUDGET,
        "view": _str,
        "rule": _str,
        "labels": _str,
        "status": _str,
        "n_memories": _int,
        "n_selected": _int,
        "cost": _int,
        "value_int": _int,
        "scale": _int,
        "value": _float,
        "package_opt": _float,
        "package_status": _str,
        "union_opt": _float,
        "union_status": _str,
        "invalidation_covered": _float,
        "invalidation_mass": _float,
    },
    {
        "package_ratio": _float,
        "union_ratio": _float,
        "joint_opt": _float,
        "joint_status": _str,
        "joint_ratio": _float,
    },
)
# What each rule kept of a store: one row a memory, by its id as a candidate.
STORE_SELECTIONS = _table(
    "store_selections",
    ("suite", "store", "package_id", "cost_model", "k", "saturation", "budget", "view", "rule", "candidate_id"),
    {
        **_STORE,
        "package_id": _str,
        **_SETTING,
        "budget": _int,
        "view": _str,
        "rule": _str,
        "candidate_id": _str,
        "representation_type": _str,
    },
)
# Losses against the optimum of the union (stores/union.py, `losses`), all / scale: optimum O, whole Y, upper U,
# selected S; *_invalidation: the part of a loss in invalidation units, by the selections reported: 0 where these units
# gain, and at most the loss, which is less where other units gain in exchange. fits: whether all that
# may be kept at once of the store, k views of each memory, is within the budget whatever is chosen: a loss to size is
# then one of views. Rows where O and U are proven.
_LOSSES = ("missing", "size", "selection")
STORE_LOSSES = _table(
    "store_losses",
    ("suite", "store", "package_id", "cost_model", "k", "saturation", "budget", "rule"),
    {
        **_STORE,
        "package_id": _str,
        **_SETTING,
        **_BUDGET,
        "rule": _str,
        "labels": _str,
        "scale": _int,
        "fits": _bool,
        **dict.fromkeys(("optimum_int", "whole_int", "upper_int", "selected_int"), _int),
        **dict.fromkeys(_LOSSES, _float),
        **{f"{name}_invalidation": _float for name in _LOSSES},
    },
)
# Units of which the selection holds less than the optimum of the union, where that is worth more (gap: by how much, in
# this example). lost: the difference in F; missing, size, selection: the part of it in each loss, which is negative
# where a step gives the unit back; kept_instead: candidates of the optimum that cover the unit, a line each, with type,
# cost and text (whole, on one line); store_best: the memory of the store that covers it most, with coverage, cost and
# text.
_LOST = {
    "package_id": _str,
    **_SETTING,
    **_BUDGET,
    "rule": _str,
    "labels": _str,
    "unit_id": _str,
    "role": _str,
    "lost": _float,
    **dict.fromkeys(_LOSSES, _float),
    "gap": _float,
    "kept_instead": _str,
}
STORE_LOST_UNITS = _table(
    "store_lost_units",
    ("suite", "store", "package_id", "cost_model", "k", "saturation", "budget", "rule", "unit_id"),
    {**_STORE, **_LOST},
    {"kind": _str, "unit_text": _str, "store_best": _str},
)
# How sure the largest mean loss of a judged store is (stores/judge_verdict.py): `agreement` is the share of `draws` of
# labels under which it is the same; verdict: `largest`, or undecided. tied: the others that are as large, joined by +;
# where there are any, draws agree in which these very ones tie. kappa: the lower of the judge's two. n: examples;
# *_draws: draws in which that alone is the largest mean loss; tied_draws: draws in which several are, whichever they
# are; these and unproven_draws sum to draws. drawn_*: mean of the loss over the proven draws.
_CAUSES = (*_LOSSES, "nothing")
STORE_VERDICTS = _table(
    "store_verdicts",
    ("suite", "store", "cost_model", "k", "saturation", "budget", "rule"),
    {
        **_STORE,
        **_SETTING,
        **_BUDGET,
        "rule": _str,
        "judge": _str,
        "kind": _str,
        "kappa": _float,
        "n": _int,
        "verdict": _str,
        "largest": _str,
        "tied": _str,
        "agreement": _float,
        "draws": _int,
        "tied_draws": _int,
        "unproven_draws": _int,
        "leans": _bool,
        **{f"{name}_draws": _int for name in _CAUSES},
    },
    {f"drawn_{name}": _float for name in _LOSSES},
)
# What the verdicts are counted from: the mean losses over the examples under each draw of labels (draw: 0, 1, ...),
# null where an optimum of the draw is not proven. judge: whose confusion the labels are drawn from.
STORE_DRAWS = _table(
    "store_draws",
    ("suite", "store", "cost_model", "k", "saturation", "budget", "rule", "draw"),
    {**_STORE, **_SETTING, **_BUDGET, "rule": _str, "judge": _str, "draw": _int},
    dict.fromkeys(_LOSSES, _float),
)

# ---- analysis/{suite}/ of suites with exported stores
STORE_TABLES = (
    "store_summary",
    "store_diagnosis",
    "store_ranges",
    "store_anatomy",
    "store_most_lost",
    "store_units",
    "store_judges",
    "store_compared",
    "store_compared_ranges",
)
_STORE_ROW = {**_STORE, **_SETTING, **_BUDGET, "memory_cost": _str}
# Means over the examples that have a store. examples: those; left_out_n: of them empty ones that skip_empty leaves
# out; empty_n: empty ones that count as 0. n, package_n, joint_n: ratios in the three means; *_undefined_n: without
# one as the optimum is 0; *_unproven_n: not proven. without_n: scored examples that have no store.
_INTERVALS = {f"{name}{part}": _float for name in ("package_ratio", "union_ratio", "joint_ratio")
              for part in ("", "_low", "_high")}  # fmt: skip
STORE_SUMMARY = _table(
    "store_summary",
    ("suite", "store", "cost_model", "k", "saturation", "budget", "view", "rule"),
    {
        **_STORE_ROW,
        "view": _str,
        "rule": _str,
        "labels": _str,
        "demonstration": _bool,
        **dict.fromkeys(
            ("examples", "without_n", "left_out_n", "empty_n", "n", "union_undefined_n", "union_unproven_n"), _int
        ),
        **dict.fromkeys(("package_n", "package_undefined_n", "package_unproven_n", "joint_n"), _int),
    },
    {
        **dict.fromkeys(("mean_value", "mean_cost", "mean_kept", "mean_memories"), _float),
        **dict.fromkeys(("mean_package_opt", "mean_union_opt", "mean_invalidation_covered"), _float),
        **_INTERVALS,
    },
)
# Mean losses, each with its 95 % percentile bootstrap interval over examples (_low, _high); largest: the largest of
# them, of equal ones the first; tied: the others, joined by +; verdict: `largest`, `undefined` where the optimum is 0
# in every example, or `undecided` where a judge said what memories cover and drawn labels do not bear it out
# (agreement: share of the draws that do, tied_draws and unproven_draws: as in STORE_VERDICTS, kappa: of the judge;
# null under labels); rival: of an undecided verdict the loss that may be the largest instead, or "" (where the draws
# lean, what their mean or the step the other way puts ahead, else what is alone the largest in most draws);
# verdict_text: the verdict in words; diagnosed: whether the rule is the one that the diagnosis is of; missing_advice,
# ...: a sentence each on what to change.
STORE_DIAGNOSIS = _table(
    "store_diagnosis",
    ("suite", "store", "cost_model", "k", "saturation", "budget", "rule"),
    {
        **_STORE_ROW,
        "rule": _str,
        "labels": _str,
        "diagnosed": _bool,
        "n": _int,
        "unproven_n": _int,
        "largest": _str,
        "tied": _str,
        "verdict": _str,
        "rival": _str,
        "of_views": _bool,
        "verdict_text": _str,
        **{f"{name}_advice": _str for name in _LOSSES},
    },
    {
        "agreement": _float,
        "draws": _int,
        "tied_draws": _int,
        "unproven_draws": _int,
        "kappa": _float,
        "leans": _bool,
        **{f"drawn_{name}": _float for name in _LOSSES},
        **dict.fromkeys(("mean_opt", "mean_whole", "mean_upper", "mean_selected", "mean_gap"), _float),
        **{f"mean_{name}{part}": _float for name in _LOSSES for part in ("", "_low", "_high")},
        **{f"mean_{name}_invalidation": _float for name in _LOSSES},
        **{f"mean_{name}_fitting": _float for name in ("size", "selection")},
    },
)
# What to change first, by ranges of the budgets that were scored: one row a range in which the diagnosed rule (`rule`)
# has one verdict, largest loss, tie and rival, from its first to its last budget, `budgets` of them. text: the range in
# words; the texts of a setting make one line. A budget of which nothing is diagnosed (no example is proven) is in no
# range.
STORE_RANGES = _table(
    "store_ranges",
    ("suite", "store", "cost_model", "k", "saturation", "first_budget"),
    {
        **_STORE,
        **_SETTING,
        "first_budget": _int,
        "last_budget": _int,
        "budgets": _int,
        **dict.fromkeys(("rule", "labels", "verdict", "largest", "tied", "rival", "text"), _str),
        "of_views": _bool,
    },
)
# What a store holds: `what` is measured, by `name`; detail: of what the export was told of, where (the example and what
# was said there, or the first of several examples).
STORE_ANATOMY = _table(
    "store_anatomy",
    ("suite", "store", "cost_model", "what", "name"),
    {**_STORE, "labels": _str, "cost_model": _str, "what": _str, "name": _str, "value": _float},
    {"detail": _str},
)
# What the whole store, without a budget, covers of each unit that counts (weight above 0): in [0, 1]. Examples as in
# the means: empty stores that skip_empty leaves out are not among them.
STORE_UNITS = _table(
    "store_units",
    ("suite", "store", "package_id", "unit_id"),
    {
        **_STORE,
        "labels": _str,
        "demonstration": _bool,
        "package_id": _str,
        "unit_id": _str,
        "role": _str,
        "weight": _float,
        "covered": _float,
    },
    {"kind": _str, "unit_text": _str},
)
# What the judges of the suite's stores are worth: rows of STORE_JUDGE; none where all stores have labels.
STORE_JUDGES = _table("store_judges", ("suite", "store", "what", "label", "judged"), {**_STORE, **_JUDGE})
# The ten of STORE_LOST_UNITS that lose most, at each budget, by the diagnosed rule.
STORE_MOST_LOST = _table(
    "store_most_lost",
    ("suite", "store", "cost_model", "k", "saturation", "budget", "rank"),
    {**_STORE, "rank": _int, **_LOST},
    {"kind": _str, "unit_text": _str, "store_best": _str},
)
# Joint ratios of every two compared stores (suite key compare_stores) over the same examples: those of which all of
# them have a store, and a joint ratio. kept: `diagnosed`, each store pruned by the rule that its diagnosis is of (rule,
# other_rule), or `upper_exact`, the best subset of each. ratio, other_ratio: means of `store` and `other`; difference:
# mean of the first less the second, example by example; each with its interval. n: examples in these means; left_out_n:
# others where a store is empty and skip_empty leaves it out, undefined_n: where the joint optimum is 0, unproven_n:
# where it, or a best subset, is not proven. memory_cost, other_memory_cost: what memories cost. wins, ties, losses: of
# `store`, by exact value. verdict: which of the two keeps more (`store`, `other`) where the interval of the difference
# is beyond 0, else `none`; `too_few` examples.
_PAIR = {"kept": _str, "store": _str, "other": _str, "rule": _str, "other_rule": _str, "labels": _str}
_PAIR |= {"other_labels": _str}
STORE_COMPARED = _table(
    "store_compared",
    ("suite", "cost_model", "k", "saturation", "budget", "kept", "store", "other"),
    {
        "suite": _str,
        **_SETTING,
        **_BUDGET,
        **_PAIR,
        "memory_cost": _str,
        "other_memory_cost": _str,
        **dict.fromkeys(("n", "left_out_n", "undefined_n", "unproven_n", "wins", "ties", "losses"), _int),
        "verdict": _str,
    },
    {f"{name}{part}": _float for name in ("ratio", "other_ratio", "difference") for part in ("", "_low", "_high")},
)
# The same by ranges of the budgets that were scored, as STORE_RANGES: one row a range in which a pair has one verdict.
# text: the range in words, with the difference (of the store that keeps more, less the other) and n.
STORE_COMPARED_RANGES = _table(
    "store_compared_ranges",
    ("suite", "cost_model", "k", "saturation", "kept", "store", "other", "first_budget"),
    {
        "suite": _str,
        **_SETTING,
        **_PAIR,
        **dict.fromkeys(("first_budget", "last_budget", "budgets"), _int),
        "verdict": _str,
        "text": _str,
    },
)
