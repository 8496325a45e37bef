"""Pointers and round trip on LongMemEval-S support slices, where that file is present (it is not shipped)."""

import os
from pathlib import Path

import pytest

from memaudit.natural.build import build_packages
from memaudit.natural.conversations_io import load_examples
from memaudit.natural.coverage_package import CoverageOptions, build_coverage
from memaudit.natural.coverage_package_io import load_coverage_package, write_coverage_package
from memaudit.natural.coverage_write import package_rows
from memaudit.natural.pointers import pointer_row
from memaudit.package_io import package_tables

REPOSITORY = Path(__file__).parents[2]
DATA = Path(os.environ.get("MEMAUDIT_SHARED_DATA", REPOSITORY.parent / "shared" / "data")) / "longmemeval"
SLICES = DATA / "s_support_slices_ku_tr.json"

pytestmark = pytest.mark.skipif(
    not SLICES.is_file(), reason="no LongMemEval here; MEMAUDIT_SHARED_DATA names the folder that holds it"
)


def pointed(candidate, sessions):
    """A candidate row with a pointer instead of its text."""
    row = dict(candidate)
    text = row.pop("text")
    name = row["candidate_id"].rpartition("::")[2]
    session = sessions[row["experience_id"]]
    if name == "raw":
        parts = {"words": [0, 220], "cut_mark": True}
    elif name.startswith("turn"):
        n = int(name.removeprefix("turn"))
        parts = {"turns": [n, n + 1], "roles": False}
    else:
        n = int(name.removeprefix("window"))
        spoken = [m for m, turn in enumerate(session.turns) if m >= n and not turn.is_blank]
        parts = {"turns": [n, spoken[:3][-1] + 1]}
    row["pointer"] = pointer_row(session, **parts)
    assert row["pointer"]["n_chars"] == len(text)
    return row


def test_packages_come_back_equal_from_a_folder_of_pointers(tmp_path):
    examples = load_examples(SLICES)[:70]
    made = build_packages(examples, "s").packages
    sessions = {f"{e.question_id}::{s.experience_id}": s for e in examples for s in e.sessions}
    rows = package_rows(made)
    rows["candidates"] = [pointed(c, sessions) for c in rows["candidates"]]
    for unit in rows["units"]:
        group, _, turn = unit["unit_id"].rpartition("::")
        n = int(turn.removeprefix("turn"))
        unit["source_spans"] = [{"experience_id": group, "pointer": pointer_row(sessions[group], turns=[n, n + 1])}]
    for experience in rows["experiences"]:
        session = sessions[experience["experience_id"]]
        experience.update(session_id=session.session_id, timestamp=session.date_text, pointer=pointer_row(session))
    write_coverage_package(tmp_path, rows)
    package = load_coverage_package(tmp_path, CoverageOptions(), SLICES)
    # What the deterministic route does not know: the sessions of an answer by name, and what generated candidates.
    assert {f.kind for f in package.findings} == {"incomplete", "manifest"}
    back = build_coverage(package, "s").packages

    def content(packages):
        tables = package_tables(packages, suite="s", label_source="x")
        return {name: table.to_pydict() for name, table in tables.items()}

    assert content(back) == content(made)
