"""The package that ships, data/natural100: what its files say of each other and, where the source is present, of it."""

import json
import os
import sys
from collections import Counter
from pathlib import Path

import mlcroissant
import pytest

from memaudit.natural import labelled, labelling
from memaudit.natural.conversations_io import load_examples
from memaudit.natural.coverage_check import check_package
from memaudit.natural.coverage_package import CoverageOptions, build_coverage
from memaudit.natural.coverage_package_io import load_coverage_package, read_coverage_package
from memaudit.natural.pointers import session_text
from memaudit.objective import scale
from memaudit.solve.choose import solve_all

REPOSITORY = Path(__file__).parents[2]
DATA = REPOSITORY / "data" / "natural100"
SHARED = Path(os.environ.get("MEMAUDIT_SHARED_DATA", REPOSITORY.parent / "shared" / "data")) / "longmemeval"
SLICES = SHARED / "s_support_slices_ku_tr.json"
PACKAGES = ("primary", "adjudicated")
needs_source = pytest.mark.skipif(
    not SLICES.is_file(), reason="no LongMemEval here; MEMAUDIT_SHARED_DATA names the folder that holds it"
)

sys.path.insert(0, str(REPOSITORY / "tools"))
import natural100 as tool  # noqa: E402


@pytest.fixture(scope="module")
def frame():
    return tool.frame(str(SLICES))


@pytest.fixture(scope="module")
def labels():
    return {name: tool.labels(name) for name in ("a1", "a2", "b", "corrections")}


def built(name):
    package = load_coverage_package(DATA / name, CoverageOptions(own=True))
    return build_coverage(package, name).packages


def test_every_session_and_query_is_labelled_once_in_each_pass(labels):
    index = tool.index()
    assert [row["session"] for row in sorted(labels["a1"], key=lambda r: r["session"])] == list(index["sessions"])
    for name in ("a2", "b"):
        assert sorted(row["query"] for row in labels[name]) == list(index["queries"])
    assert len(index["queries"]) == 100


def test_b_labelled_the_whole_audit_frame(labels):
    frame_cells = tool.audit_frame()
    for row in labels["b"]:
        assert sorted((c, u) for c, u, _ in row["cells"]) == sorted(frame_cells[row["query"]])


def test_corrections_do_not_contradict_each_other(labels):
    values: dict[tuple, set] = {}
    for row in labels["corrections"]:
        what = (row["what"], row.get("query"), row.get("candidate"), row["unit"])
        values.setdefault(what, set()).add(str(row.get("value", row.get("text", row.get("unit_kind")))))
    assert len(values) > 400 and {len(v) for v in values.values()} == {1}


def test_the_packages_are_what_the_labels_give(tmp_path):
    tool.assemble_into(tmp_path)
    made = sorted(p.relative_to(tmp_path) for p in tmp_path.rglob("*") if p.is_file())
    assert len(made) == 17
    for file in made:
        assert (tmp_path / file).read_bytes() == (DATA / file).read_bytes(), file


def test_the_card_states_the_counts_of_the_files():
    card = (DATA / "README.md").read_text("utf-8")
    assert tool.counts_table() in card


@pytest.mark.parametrize("name", PACKAGES)
def test_the_packages_pass_the_check(name):
    findings = check_package(read_coverage_package(DATA / name), CoverageOptions(own=True))
    assert {f.kind for f in findings if f.severity != "note"} == {"unfilled"}


def test_every_accepted_example_has_value_at_100():
    packages = built("adjudicated")
    solved = solve_all([scale(p) for p in packages], 100, 1, 10**7)
    assert {s.status for s in solved} == {"optimal"}
    assert [p.package_id for p, s in zip(packages, solved, strict=True) if s.value_int == 0] == []


def test_at_least_30_examples_carry_a_validity_memory():
    carrying = [p for p in built("primary") if {"tombstone", "compound_update"} & set(p.visible.representation_type)]
    assert len(carrying) >= 30


def test_decisions_of_all_queries_stand_beside_the_packages():
    rows = [json.loads(line) for line in (DATA / "adjudication_decisions.jsonl").read_text("utf-8").split("\n") if line]
    assert len(rows) == 100 and set(Counter(r["status"] for r in rows)) <= {
        "accepted", "corrected", "ambiguous", "rejected"
    }  # fmt: skip
    scored = {r["query_id"] for r in rows if r["status"] in ("accepted", "corrected")}
    kept = read_coverage_package(DATA / "adjudicated").queries
    assert {q.query_id for q in kept} == scored


def test_the_croissant_description_is_valid_and_reads_the_files():
    dataset = mlcroissant.Dataset(jsonld=str(DATA / "croissant.json"))
    assert dataset.metadata.ctx.issues.errors == set() and dataset.metadata.ctx.issues.warnings == set()
    rows = list(dataset.records("adjudicated/coverage_matrix"))
    assert len(rows) == len(read_coverage_package(DATA / "adjudicated").coverage)


@needs_source
def test_the_choice_follows_its_rule():
    choice = json.loads((DATA / "choice.json").read_text())
    ids = set(json.loads((SHARED / "natural200_question_ids.json").read_text())["question_ids"])
    examples = [e for e in load_examples(SLICES) if e.question_id in ids]
    chosen, strata = labelling.choose_stratified(examples, 100, choice["seed"])
    assert [e.question_id for e in chosen] == choice["question_ids"] and strata == choice["strata"]
    assert sorted(ids - {e.question_id for e in examples}) == choice["not_in_the_file"]


@needs_source
@pytest.mark.parametrize("labelling_pass", ["a1", "a2", "b"])
def test_labellers_were_given_these_bundles(frame, labelling_pass):
    kept = json.loads((DATA / "bundles.json").read_text())[labelling_pass]
    assert tool.hashes_of(tool.bundle_texts(labelling_pass, frame)) == kept


@needs_source
def test_the_index_is_that_of_the_source(frame):
    assert json.loads(json.dumps(labelled.index_of(frame))) == tool.index()


@needs_source
@pytest.mark.parametrize("name", PACKAGES)
def test_every_pointer_resolves_and_every_quote_stands_in_its_session(name):
    package = read_coverage_package(DATA / name, SLICES)
    findings = check_package(package, CoverageOptions(own=True, strict=True))
    assert [f for f in findings if f.severity != "note"] == []
    assert all(q.question and q.answer for q in package.queries)


@needs_source
def test_no_text_shares_more_than_eight_words_in_a_row_with_the_source(frame, labels):
    """Labels against what their labeller had in view; what the packages ship against the whole source."""
    asked = {name: [e.question, e.answer_text] for name, e in frame.queries.items()}
    told = {name: [session_text(session)] for name, session in frame.sessions.items()}
    for rows in labels.values():
        for row in rows:
            places = [row.get("session") or row.get("query") or row["unit"].partition(".")[0]]
            places += frame.sessions_of.get(places[0], ())
            runs = labelling.runs_of([text for p in places for text in (*asked.get(p, ()), *told.get(p, ()))])
            assert labelling.runs_of(labelling.texts_of(row)) & runs == set(), row
    everything = labelling.runs_of([text for texts in (*asked.values(), *told.values()) for text in texts])
    for name in PACKAGES:
        package = read_coverage_package(DATA / name)
        texts = [row.text for row in (*package.units, *package.candidates) if row.text is not None]
        assert len(texts) > 1500 and labelling.runs_of(texts) & everything == set()
