"""How a natural suite was built, in counts: what is scored and what is not and why, who labelled, what was odd."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from ..schemas import CONSTRUCTION

SCORED, UNSCORED = "scored", "unscored"


def construction(suite: str, tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Schema CONSTRUCTION from the tables of packages/{suite}/ (name -> frame).

    what: examples (scored, unscored), unscored (by reason), queries (by category), requirements (all,
    "of queries": those that need something), units (by kind, by role, by whether they count), candidates (by
    representation type), coverage cells (full, partial), labels (by source, pass, status and whether
    positive), warnings (by kind).
    """
    units, coverage, labels = tables["units"], tables["coverage"], tables["labels"]
    required = tables["requirements"][["package_id", "query_id"]].drop_duplicates()
    counts = {
        "examples": {SCORED: len(tables["packages"]), UNSCORED: len(tables["unscored"])},
        "unscored": _by(tables["unscored"]["reason"]),
        "queries": _by(tables["queries"]["category"].fillna("no category")),
        "queries with a requirement": {"all": len(required)},
        "units by kind": _by(units["kind"].fillna("no kind")),
        "units by role": _by(units["role"].replace("", "no role")),
        "units by weight": {
            "positive": int((units["weight"] > 0).sum()),
            "zero": int((units["weight"] == 0).sum()),
        },
        "candidates": _by(tables["candidates"]["representation_type"]),
        "coverage cells": {
            "full": int((coverage["coverage"] >= 1).sum()),
            "partial": int((coverage["coverage"] < 1).sum()),
        },
        "labels": _by(
            labels["source"] + ", pass " + labels["pass"] + ", " + labels["status"] + ", "
            + (labels["value"] > 0).map({True: "positive", False: "zero"})
        ),
        "warnings": _by(tables["warnings"]["kind"]),
    }  # fmt: skip
    rows = [(suite, what, name, count) for what, of in counts.items() for name, count in sorted(of.items())]
    return pd.DataFrame(rows, columns=CONSTRUCTION.schema.names)


def _by(values: pd.Series) -> dict[str, int]:
    return {str(name): int(count) for name, count in values.value_counts().items()}
