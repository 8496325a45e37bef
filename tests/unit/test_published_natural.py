"""Published natural values out of suites declared as the paper's, on invented frames."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from memaudit.analysis.published import compare
from memaudit.analysis.published_natural import COLUMNS, natural_values
from memaudit.errors import InputError
from memaudit.present.tables import published_document
from memaudit.present.tables_io import to_markdown
from memaudit.schemas import AGREEMENT, LABEL_RATIOS, RELABELLED, SENSITIVITY, SUMMARY

PUBLISHED = pd.read_csv(Path(__file__).parents[2] / "config" / "published.csv")
SETTING = {"cost_model": "declared", "k": 1, "saturation": "cap1"}


def frame(schema, *rows):
    return pd.DataFrame([{name: None for name in schema.names} | row for row in rows], columns=schema.names)


def construction(scored, unscored=0, disputed=0):
    rows = [("packages", "all", scored), ("queries", "not scored", unscored + disputed)]
    rows += [("not scored", "adjudication: rejected, not in the package", disputed)] if disputed else []
    rows += [("not scored", "no candidate", unscored)] if unscored else []
    return pd.DataFrame([("paper", *row) for row in rows], columns=["suite", "what", "name", "count"])


def value(**where):
    """The published value of one row of the CSV."""
    match = PUBLISHED["suite"] == "natural"
    for column, wanted in where.items():
        match &= PUBLISHED[column] == wanted
    assert match.sum() == 1
    return float(PUBLISHED.loc[match, "value"].iloc[0])


def cells(distribution, first, agreed_with, second):
    where = {"item": "tab:coverage-audit", "distribution": distribution, "method": "cells"}
    numbers = {m: value(metric=m, **where) for m in ("kappa", "raw_agreement")}
    scope = {"human-human": 1975, "human-model": 1813}.get(distribution, 1)
    return {
        "first": first, "agreed_with": agreed_with, "second": second, "frame": "labelled", "cells": scope, **numbers
    }  # fmt: skip


def paper_frames():
    """Frames that hold the paper's own values, under the names that its folders give them."""
    systems = PUBLISHED[(PUBLISHED["suite"] == "natural") & ~PUBLISHED["method"].str.contains("[:@]", regex=True)]
    systems = systems[systems["item"].isin(["fig:systems", "docs:adapters"])]
    summary = [
        SETTING | {"distribution": "all", "n": 87, "budget": int(r.budget), "writer": r.method, "mean_ratio": r.value}
        for r in systems.itertuples()
    ]
    others = ({"k": 2}, {"cost_model": "words"}, {"distribution": "x"})
    wrong = [row | other | {"mean_ratio": 9.0} for row in summary for other in others]
    package = "tab:sensitivity-package"
    shape = {"pool": "full", "saturation": "cap1", "n": 87, "undefined_n": 0, "n_unproven": 0}
    sensitivity = []
    for b in (30, 60, 100):
        at = {"item": package, "budget": b}
        sensitivity += [
            shape | {
                "varied": "k", "value": "2", "reference": "1", "cost_model": "words", "k": 2, "budget": b,
                "reference_budget": b, "mean_value": value(method="opt_k2@words", **at),
                "mean_reference": value(method="opt_k1@words", **at),
                "mean_ratio": value(method="k2_over_k1@words", **at),
            },
            shape | {
                "varied": "cost_model", "value": "byte_overhead", "reference": "words", "cost_model": "byte_overhead",
                "k": 1, "budget": b, "reference_budget": b, "mean_value": value(method="opt_byte_overhead", **at),
                "mean_reference": 0.0, "mean_ratio": value(method="byte_overhead_over_words", **at),
            },
        ]  # fmt: skip
    wrong_costs = [row | {"reference": "declared", "mean_ratio": 9.0, "mean_value": 9.0} for row in sensitivity]
    agreement = [
        cells("human-human", "human_a", "", "human_b"),
        cells("human-model", "human_a", "human_b", "gemini"),
        cells("model-model package pass", "gemini", "", "suite second"),
        cells("second model-human package pass", "human_a", "human_b", "suite second"),
        cells("model-model blind cell pass", "gemini", "", "model_blind"),
        cells("second model-human blind cell pass", "human_a", "human_b", "model_blind"),
        {"first": "gemini", "agreed_with": "", "second": "human_a", "cells": 9, "kappa": 9.0, "raw_agreement": 9.0},
    ]
    audit = {"item": "tab:coverage-audit", "metric": "ratio_mad"}
    ratios = [{"labels": "human_a = human_b", "budget": None, "ratio_mad": value(distribution="human-model", **audit)}]
    ratios += [{"labels": "human_a = human_b", "budget": 30, "ratio_mad": 9.0}]
    ratios += [
        {"labels": "suite second", "budget": b, "ratio_mad": value(budget=b, **audit)} for b in (30, 60, 100)
    ]  # fmt: skip
    ratios += [{"labels": "suite second", "budget": None, "ratio_mad": 9.0}]
    relabelled = [
        {"labels": "human_a = human_b", "budget": 100, "writer": "estimated_gvt", "mean_ratio": 0.828},
        {"labels": "suite second", "budget": 100, "writer": "estimated_gvt", "mean_ratio": 9.0},
    ]
    return {
        "construction": construction(87, disputed=13),
        "summary": frame(SUMMARY.schema, *wrong, *summary),
        "sensitivity": frame(SENSITIVITY.schema, *sensitivity, *wrong_costs),
        "agreement": frame(AGREEMENT.schema, *agreement),
        "label_ratios": frame(LABEL_RATIOS.schema, *ratios),
        "relabelled": frame(RELABELLED.schema, *relabelled),
    }


def compared(suites):
    values, _ = natural_values(suites)
    empty = pd.DataFrame(columns=SUMMARY.schema.names)
    audit = pd.DataFrame(columns=["suite", "solver", "cost_model", "k", "saturation", "rows"])
    result = compare(PUBLISHED, empty, audit, values)
    return result[result["suite"] == "natural"]


def test_every_value_that_rests_on_packages_and_labels_is_filled_in():
    primary = {"construction": construction(198, 2), "summary": frame(SUMMARY.schema)}
    seed = {"construction": construction(100), "summary": frame(SUMMARY.schema)}
    result = compared({"paper": paper_frames(), "first": primary, "seed": seed})
    left = result[result["status"] != "reproduced"]
    assert set(left["status"].str.split().str[0]) == {"needs"}
    stores = left["method"].str.contains("letta|mem0:|amem_", regex=True)
    assert set(left[~stores]["distribution"]) == {"spot_check"}
    assert (result["status"] == "reproduced").sum() == len(result) - stores.sum() - 3


def test_wrong_values_differ():
    frames = paper_frames()
    frames["agreement"]["kappa"] += 0.01
    result = compared({"paper": frames})
    kappa = result[(result["metric"] == "kappa")]
    assert set(kappa["status"]) == {"differs"} and np.allclose(kappa["difference"], 0.01)


def test_other_counts_give_nothing_and_say_so():
    frames = paper_frames() | {"construction": construction(12, 3)}
    result = compared({"mine": frames})
    assert result["status"].str.startswith("needs").all()
    _, said = natural_values({"mine": frames})
    assert "suite mine, declared as the paper's, has 12 scored of 15 examples" in said
    text = to_markdown(published_document(result, said))
    assert text.count(said) == 1 and text.index(said) < text.index("###")
    values, note = natural_values({})
    assert values.empty and list(values.columns) == list(COLUMNS) and note == ""


def test_disputed_examples_are_counted_only_where_the_folder_tells():
    values, _ = natural_values({"paper": paper_frames() | {"construction": construction(87)}})
    own = values[values["item"] == "tab:reliability"]
    assert own[["metric", "produced"]].values.tolist() == [["accepted_or_corrected", 87.0]]


def test_a_value_is_given_once():
    with pytest.raises(InputError, match="suites a and b both have the counts of the paper's adjudicated package"):
        natural_values({"a": paper_frames(), "b": paper_frames()})
    frames = paper_frames()
    third = frame(AGREEMENT.schema, cells("human-human", "human_a", "", "human_c"))
    frames["agreement"] = pd.concat([frames["agreement"], third])
    with pytest.raises(InputError, match="human-human, cells, scope more than once"):
        natural_values({"paper": frames})
