"""Fitting the proxy judge: what ships is what the labels give; split, weights and quality on small invented cells."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from memaudit.analysis import judge_fit
from memaudit.analysis.agreement import cohen_kappa
from memaudit.analysis.judge_fit import Example
from memaudit.errors import InputError
from memaudit.stores.judge import LEVELS, ROW_LEVEL, ROWS
from memaudit.stores.judge_io import SHIPPED, proxy_judge

REPOSITORY = Path(__file__).parents[2]
sys.path.insert(0, str(REPOSITORY / "tools"))
import fit_judge as tool  # noqa: E402


@pytest.fixture(scope="module")
def cells():
    return judge_fit.examples(tool.tables(), "A", "B")


@pytest.fixture(scope="module")
def shipped():
    return proxy_judge()


def test_the_shipped_judge_was_fitted_on_the_labels_as_they_are(cells, shipped):
    assert shipped.provenance["cells_sha256"] == tool.cells_hash(cells), "labels changed since; run `make judge`"


def test_refitting_gives_the_shipped_parameters(cells, shipped):
    again, ours = judge_fit.fit(cells), shipped.parameters
    assert (again.vocabulary.documents, again.vocabulary.counts) == (ours.vocabulary.documents, ours.vocabulary.counts)
    for a, b in ((again.any, ours.any), (again.full, ours.full)):
        assert (a.intercept, *a.coefficients, a.threshold) == pytest.approx(
            (b.intercept, *b.coefficients, b.threshold), abs=5e-3
        )
    assert (again.far, again.low) == pytest.approx((ours.far, ours.low), abs=5e-3)


def test_what_is_said_of_it_holds(cells, shipped):
    stated = tool.provenance_of(shipped.parameters, cells)
    assert json.loads(json.dumps(stated)) == shipped.provenance
    assert stated["kappa_interval"][0] <= stated["kappa"] <= stated["kappa_interval"][1]


def test_the_documentation_states_the_quality(shipped):
    text = (REPOSITORY / "docs" / "stores.md").read_text("utf-8")
    assert tool.quality_text(shipped.provenance) in text


def test_kappa_and_confusion_by_hand(cells, shipped):
    test = [cell for cell in cells if cell.test]
    judged = [ROW_LEVEL[row] for row in judge_fit.rows_of(shipped.parameters, test)]
    table = shipped.provenance["confusion"]
    for true in LEVELS:
        for j in LEVELS:
            count = sum(c.label == true and v == j for c, v in zip(test, judged, strict=True))
            assert table[f"{true:g}"][f"{j:g}"] == count
    ours = cohen_kappa([v > 0 for v in judged], [c.label > 0 for c in test])
    assert shipped.provenance["kappa"] == round(ours, 4)
    kinds = shipped.provenance["by_representation_type"].values()
    assert sum(kind["cells"] for kind in kinds) == len(test) == shipped.provenance["test_cells"]


def test_nothing_of_the_test_split_is_learned(cells, shipped):
    """Other labels and texts in the test split leave the parameters as they are."""
    other = [
        Example(c.example, "turnip", c.unit[::-1], c.representation_type, 1.0, 9.0) if c.test else c for c in cells
    ]
    one, two = judge_fit.fit(cells), judge_fit.fit(other)
    assert (one.any, one.full, one.far, one.low, one.vocabulary.counts) == (
        two.any, two.full, two.far, two.low, two.vocabulary.counts
    )  # fmt: skip


def test_variants_of_a_question_are_on_one_side(cells):
    sides = {}
    for cell in cells:
        sides.setdefault(cell.example.removesuffix("_abs"), set()).add(cell.test)
    assert all(len(side) == 1 for side in sides.values())
    assert any(
        c.example.endswith("_abs") and c.example.removesuffix("_abs") in {d.example for d in cells} for c in cells
    )


def rows(*labels):
    """A package of one question with three candidates (one without text) and two units, and these cells."""
    candidates = [
        {"candidate_id": f"q::c{i}", "representation_type": "fact", "serialized": f"text {i}"} for i in (1, 2)
    ]
    return {
        "candidates": [*candidates, {"candidate_id": "q::raw", "representation_type": "raw_span", "pointer": {}}],
        "units": [{"unit_id": f"q::u{i}", "canonical_text": f"unit {i}"} for i in (1, 2)],
        "coverage": [
            {"candidate_id": f"q::{c}", "unit_id": f"q::{u}", "labels": {"A": a, "B": b}} for c, u, a, b in labels
        ],
    }


def test_zeros_of_the_sample_stand_for_all_cells_that_have_a_text():
    found = judge_fit.examples(rows(("c1", "u1", 1.0, 0.5), ("c2", "u2", 0.0, 0.0), ("raw", "u1", 0.5, 0.5)), "A", "B")
    assert [(c.memory, c.unit, c.label, c.weight) for c in found] == [
        ("text 1", "unit 1", 0.5, 1.0),
        ("text 2", "unit 2", 0.0, 3.0),
    ]
    with pytest.raises(InputError, match="no cell with a text is labelled"):
        judge_fit.examples(rows(("raw", "u1", 1.0, 1.0)), "A", "B")


def test_shares_of_true_labels_are_of_all_cells(shipped):
    given = shipped.provenance["true_given_judged"]
    assert list(given) == list(ROWS) and all(sum(shares) == pytest.approx(1, abs=1e-5) for shares in given.values())
    weights = shipped.provenance["confusion_all_cells"]
    for level in (0.5, 1.0):
        column = np.array([weights[f"{true:g}"][f"{level:g}"] for true in LEVELS])
        row = given["0.5" if level == 0.5 else "1"]
        assert row == pytest.approx(list(column / column.sum()), abs=2e-3)
    zero = sum(weights[f"{true:g}"]["0"] for true in LEVELS)
    frame = shipped.provenance["confusion"]
    missed = (weights["0.5"]["0"] + weights["1"]["0"]) / zero
    assert missed < (frame["0.5"]["0"] + frame["1"]["0"]) / sum(frame[f"{true:g}"]["0"] for true in LEVELS) / 2
    assert SHIPPED.is_file()
