"""The published comparison on an invented summary that holds the paper's own values, and on lacking ones."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from memaudit.analysis.published import compare
from memaudit.errors import InputError
from memaudit.schemas import PUBLISHED
from memaudit.table_io import to_table

CSV = Path(__file__).parents[2] / "config" / "published.csv"
CONTROLLED = ["fig:exact", "text:controlled", "fig:stress", "tab:milp"]


@pytest.fixture
def published():
    return pd.read_csv(CSV)


@pytest.fixture
def summary(published):
    """Summary rows with the paper's values, and rows of other settings that must not be taken."""
    rows: dict[tuple, dict] = {}
    for row in published[published["item"].isin(CONTROLLED[:3])].to_dict("records"):
        key = {"suite": row["suite"], "distribution": row["distribution"], "budget": int(row["budget"]),
               "writer": row["method"]}  # fmt: skip
        start = key | {"cost_model": "declared", "k": 1, "saturation": "cap1", "n": 500, "n_unproven": 0}
        rows.setdefault(tuple(key.values()), start)[row["metric"]] = row["value"]
    own = list(rows.values())
    wrong = {"mean_ratio": 9.0, "mean_invalidation_covered": 9.0}
    settings = ({"k": 2}, {"cost_model": "words"}, {"saturation": "linear"}, {"distribution": "all"})
    others = [row | setting | wrong for row in own for setting in settings]
    return pd.DataFrame(others + own)


def audit(**changes):
    row = {"suite": "solver_audit", "cost_model": "declared", "k": 1, "saturation": "cap1", "solver": "highs",
           "rows": 1200, "distinct": 400, "objective_matches": 1200, "max_difference": 0.0}  # fmt: skip
    cp_sat = row | {"solver": "cp_sat", "rows": 7, "objective_matches": 0, "max_difference": 5.0}
    return pd.DataFrame([row | changes, cp_sat])


def row_of(result, item, **where):
    match = result["item"] == item
    for column, value in where.items():
        match &= result[column] == value
    assert match.sum() == 1
    return result[match].iloc[0]


def test_all_controlled_rows_are_reproduced_and_all_others_say_what_they_need(published, summary):
    result = compare(published, summary, audit())
    assert result.columns.tolist() == PUBLISHED.schema.names
    controlled = result["item"].isin(CONTROLLED)
    assert controlled.sum() == 39
    assert set(result["status"][controlled]) == {"reproduced"}
    assert (result["difference"][controlled] == 0).all()
    others = result[~controlled]
    assert others["status"].str.startswith("needs the paper's").all()
    assert others[["produced", "difference"]].isna().all().all()
    assert result["value"].tolist() == published["value"].tolist()
    table = to_table("published_comparison", result.to_dict("list"))
    assert len(table) == len(published) and table["budget"].null_count == published["budget"].isna().sum()


def test_what_natural_rows_need_is_precise(published, summary):
    result = compare(published, summary, audit())
    for text, row in (
        ("Letta export", row_of(result, "fig:systems", method="letta:salience", budget=30)),
        ("A-Mem export", row_of(result, "fig:systems", method="amem_full:native", budget=30)),
        ("87 examples) named as a suite", row_of(result, "docs:adapters", method="amem_graph", budget=30)),
        (
            "human_b_labels.csv",
            row_of(result, "tab:coverage-audit", distribution="human-human", metric="kappa"),
        ),
        (
            "adjudication_summary.json",
            row_of(result, "tab:reliability", distribution="adjudicated", metric="scope"),
        ),
    ):
        assert text in row["status"]


@pytest.mark.parametrize(
    ("shift", "status"),
    [(0.000005, "reproduced"), (-0.000005, "reproduced"), (0.0000051, "differs"), (-0.00002, "differs")],
)
def test_tolerance_is_half_a_unit_of_the_last_printed_decimal(published, summary, shift, status):
    own = summary["cost_model"].eq("declared") & summary["k"].eq(1) & summary["saturation"].eq("cap1")
    own &= summary["writer"].eq("density_only") & summary["budget"].eq(2) & summary["distribution"].eq("base")
    summary.loc[own, "mean_ratio"] += shift
    row = row_of(compare(published, summary, audit()), "fig:exact", method="density_only", budget=2)
    assert row["status"] == status
    assert row["difference"] == pytest.approx(shift) and row["produced"] == pytest.approx(0.26368 + shift)


def test_half_to_even_rounding_of_the_paper_is_within_the_tolerance(published, summary):
    cell = {"suite": "stress", "distribution": "temporal_interval", "writer": "density_only", "k": 1,
            "cost_model": "declared", "saturation": "cap1"}  # fmt: skip
    own = (summary[list(cell)] == pd.Series(cell)).all(axis=1)
    summary.loc[own, "mean_ratio"] = 0.6625
    row = row_of(
        compare(published, summary, audit()),
        "fig:stress",
        method="density_only",
        distribution="temporal_interval",
    )
    assert (row["value"], row["status"]) == (0.662, "reproduced")


def test_fewer_seeds_or_missing_rows_need_something_and_never_differ(published, summary):
    changed = summary.assign(n=4, mean_ratio=0.1)
    small = row_of(compare(published, changed, audit()), "fig:exact", method="density_only", budget=2)
    needed = "needs suite small with distribution base at budget 2 with 500 seeds"
    assert small["status"] == f"{needed} and writer density_only (n is 4)"
    assert pd.isna(small["produced"])
    unproven = summary.assign(n=499, n_unproven=1)
    assert (
        "1 optima are unproven"
        in row_of(compare(published, unproven, audit()), "fig:exact", method="density_only", budget=2)["status"]
    )
    for left, text in (
        (summary[summary["suite"] != "small"], "needs suite small with distribution base"),
        (
            summary[summary["budget"] != 2],
            "needs suite small with distribution base at budget 2 with 500 seeds",
        ),
        (summary[summary["writer"] != "density_only"], "and writer density_only"),
        (summary.iloc[:0], "needs suite small with distribution base"),
    ):
        row = row_of(compare(published, left, audit()), "fig:exact", method="density_only", budget=2)
        assert row["status"].startswith("needs ") and row["status"].endswith(text.removeprefix("needs "))


def test_audit_rows(published, summary):
    def statuses(table):
        rows = compare(published, summary, table)
        return rows[rows["item"] == "tab:milp"].set_index("metric")["status"].to_dict()

    assert set(statuses(audit()).values()) == {"reproduced"}
    assert statuses(audit(objective_matches=1199)) == {
        "rows": "reproduced", "objective_matches": "differs", "max_diff": "reproduced",
    }  # fmt: skip
    assert statuses(audit(max_difference=0.25))["max_diff"] == "differs"
    assert all(s.startswith("needs suite solver_audit with 100 seeds") for s in statuses(audit(rows=24)).values())
    assert all("checked by a MIP solver" in s for s in statuses(audit(solver="cp_sat")).values())
    # Every MIP solver at hand must agree.
    both = pd.concat([audit(), audit(solver="cbc", objective_matches=1100)])
    assert statuses(both)["objective_matches"] == "differs"


def test_produced_natural_values_are_compared(published, summary):
    natural = pd.DataFrame([
        {"item": "docs:adapters", "distribution": "natural87", "budget": 30, "method": "amem_graph",
         "metric": "mean_ratio", "produced": 0.4812},
        {"item": "tab:coverage-audit", "distribution": "human-human", "budget": None, "method": "cells",
         "metric": "kappa", "produced": 0.9},
    ])  # fmt: skip
    result = compare(published, summary, audit(), natural)
    assert row_of(result, "docs:adapters", method="amem_graph", budget=30)["status"] == "reproduced"
    assert row_of(result, "docs:adapters", method="amem_graph", budget=60)["status"].startswith("needs ")
    kappa = row_of(result, "tab:coverage-audit", distribution="human-human", metric="kappa")
    assert (kappa["status"], kappa["produced"]) == ("differs", 0.9)
    with pytest.raises(InputError, match=r"row 49 .tab:coverage-audit.: 2 produced natural values"):
        compare(published, summary, audit(), pd.concat([natural, natural]))


@pytest.mark.parametrize(
    ("item", "column", "value", "message"),
    [
        ("fig:exact", "item", "fig:new", "row 1 .fig:new.: unknown item"),
        ("fig:exact", "suite", "stress", "row 1 .fig:exact.: suite 'stress'; this item is of suite 'small'"),
        ("fig:exact", "metric", "median", "row 1 .fig:exact.: unknown metric 'median'"),
        ("fig:exact", "budget", None, "row 1 .fig:exact.: no budget"),
        ("tab:milp", "metric", "seconds", "unknown method or metric 'bnb_vs_milp', 'seconds'"),
        ("tab:coverage-audit", "distribution", "cat-dog", "unknown labels 'cat-dog'"),
        ("tab:reliability", "distribution", "third", "unknown set 'third'"),
        ("fig:systems", "method", "zep:salience", "unknown store 'zep'"),
    ],
)
def test_unknown_rows_are_refused_by_name(published, summary, item, column, value, message):
    place = published.index[published["item"] == item][0]
    published[column] = published[column].astype(object)
    published.loc[place, column] = value
    with pytest.raises(InputError, match=message):
        compare(published, summary, audit())


def test_missing_columns_and_repeated_summary_rows_are_refused(published, summary):
    with pytest.raises(InputError, match=r"columns \['decimals'\] are missing"):
        compare(published.drop(columns="decimals"), summary, audit())
    with pytest.raises(InputError, match="2 rows of the summary match"):
        compare(published, pd.concat([summary, summary]), audit())
