"""How a natural suite was built, in counts: what is scored and what is not and why, who labelled, what was odd."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import pandas as pd

from ..schemas import CONSTRUCTION

SCORED, NOTHING_REQUIRED, NOT_SCORED = "scored", "nothing required", "not scored"
# What the reason of a query that a judge stopped starts with; the judge's status follows.
STOPPED = "adjudication: "
NO_STATUS = "unstated"
# Units of positive weight, by role.
COUNTED_BY_ROLE = "counted units by role"
_CELL = ["package_id", "candidate_id", "unit_id"]


def construction(suite: str, tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Schema CONSTRUCTION from the tables of packages/{suite}/ (name -> frame).

    what: packages (all); queries (scored: those that require a unit; nothing required; not scored), not scored
    (by reason), queries by category (those in packages); adjudication (queries by a judge's status, those that
    are not scored for it too; none where no judge was), required units (of the queries whose primary pass is
    known: changed or unchanged by the judge); units (by kind, by role, by role of those that count, by whether they
    count), candidates (by representation type), coverage cells (full, partial); label cells and labels unlike the
    coverage (by source and pass), labels (by source, pass, status and whether positive); warnings (by kind).
    """
    units, coverage, labels, queries = (tables[name] for name in ("units", "coverage", "labels", "queries"))
    required = len(tables["requirements"][["package_id", "query_id"]].drop_duplicates())
    by_source = labels["source"] + ", pass " + labels["pass"]
    counts = {
        "packages": {"all": len(tables["packages"])},
        "queries": {
            SCORED: required,
            NOTHING_REQUIRED: len(queries) - required,
            NOT_SCORED: len(tables["unscored"]),
        },
        NOT_SCORED: _by(tables["unscored"]["reason"]),
        "queries by category": _by(queries["category"].fillna("no category")),
        "adjudication": _adjudication(queries["status"], tables["unscored"]["reason"]),
        "required units": _by(queries["required_changed"].dropna().map({True: "changed", False: "unchanged"})),
        "units by kind": _by(units["kind"].fillna("no kind")),
        "units by role": _by(units["role"].replace("", "no role")),
        COUNTED_BY_ROLE: _by(units.loc[units["weight"] > 0, "role"].replace("", "no role")),
        "units by weight": {
            "positive": int((units["weight"] > 0).sum()),
            "zero": int((units["weight"] == 0).sum()),
        },
        "candidates": _by(tables["candidates"]["representation_type"]),
        "coverage cells": {
            "full": int((coverage["coverage"] >= 1).sum()),
            "partial": int((coverage["coverage"] < 1).sum()),
        },
        "label cells": _by(by_source),
        "labels unlike the coverage": _by(by_source[_unlike(labels, coverage)]),
        "labels": _by(
            by_source + ", " + labels["status"] + ", " + (labels["value"] > 0).map({True: "positive", False: "zero"})
        ),
        "warnings": _by(tables["warnings"]["kind"]),
    }
    rows = [(suite, what, name, count) for what, of in counts.items() for name, count in sorted(of.items())]
    return pd.DataFrame(rows, columns=CONSTRUCTION.schema.names)


def _adjudication(statuses: pd.Series, reasons: pd.Series) -> dict[str, int]:
    """Queries by status; empty where no judge said anything."""
    stopped = reasons[reasons.str.startswith(STOPPED)].str.removeprefix(STOPPED).str.extract(r"(\w+)")[0]
    if statuses.isna().all() and stopped.empty:
        return {}
    return dict(Counter(_by(statuses.fillna(NO_STATUS))) + Counter(_by(stopped)))


def _unlike(labels: pd.DataFrame, coverage: pd.DataFrame) -> pd.Series:
    """Whether each label is another value than the coverage of its cell."""
    cells = labels[_CELL].merge(coverage[[*_CELL, "coverage"]], on=_CELL, how="left", validate="many_to_one")
    return (cells["coverage"].fillna(0.0) != labels["value"].to_numpy()).set_axis(labels.index)


def _by(values: pd.Series) -> dict[str, int]:
    return {str(name): int(count) for name, count in values.value_counts().items()}
