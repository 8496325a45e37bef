"""The package that ships, data/natural100: what its files say of each other and, where the source is present, of it."""

import argparse
import json
import os
import shutil
import sys
from collections import Counter
from pathlib import Path

import mlcroissant
import pandas as pd
import pytest

from memaudit.analysis import agreement
from memaudit.errors import InputError
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
import natural100_figures as figures  # noqa: E402


@pytest.fixture(scope="module")
def frame():
    return tool.frame(str(SLICES))


@pytest.fixture(scope="module")
def labels():
    return {name: tool.labels(name) for name in (*tool.PASSES, "corrections")}


def built(name):
    package = load_coverage_package(DATA / name, CoverageOptions(own=True))
    return build_coverage(package, name).packages


def test_every_session_and_query_is_labelled_once_in_each_pass(labels):
    index = tool.index()
    assert [row["session"] for row in sorted(labels["a1"], key=lambda r: r["session"])] == list(index["sessions"])
    for name in tool.PASSES[1:]:
        assert sorted(row["query"] for row in labels[name]) == list(index["queries"])
    assert len(index["queries"]) == 100


def test_b_labelled_the_whole_audit_frame(labels):
    frame_cells = tool.audit_frame()
    for row in labels["b"]:
        assert sorted((c, u) for c, u, _ in row["cells"]) == sorted(frame_cells[row["query"]])


def test_the_second_round_labelled_its_cells_in_both_passes(labels):
    cells = tool.again_cells()
    for name in ("again_a", "again_b"):
        for row in labels[name]:
            assert sorted((c, u) for c, u, _ in row["cells"]) == sorted(cells[row["query"]])


def test_labellers_were_told_what_stands_in_the_instructions():
    assert json.loads((DATA / "bundles.json").read_text())["instructions"] == tool.instruction_hashes()


@pytest.mark.parametrize("file", [figures.CARD, figures.README], ids=["card", "readme"])
def test_card_and_readme_state_the_figures_of_the_files(file):
    blocks = figures.card_blocks() if file == figures.CARD else figures.readme_blocks()
    text = file.read_text("utf-8")
    for name, content in blocks.items():
        begin, end = figures.marks(name)
        assert text.partition(begin)[2].partition(end)[0].strip() == content, name


def test_the_prose_of_card_and_readme_is_true_of_the_files():
    """The figures that stand in sentences."""
    readme, card = (file.read_text("utf-8").replace("\n", " ") for file in (figures.README, figures.CARD))
    scored, cells = figures.packages(True), figures.labelled_cells()
    required = [u for p in scored for u in p.units if u.unit_id in {x for q in p.queries for x in q.required}]
    assert {u.role for u in required} == {"current"}
    assert f"none of the {len(required)} required units is an invalidation" in readme
    assert f"labelled in two independent passes, {len(scored)} questions kept by the second" in readme
    found = [r["severity"] for _, r in tool.rows_of(DATA / "third_reader.jsonl")]
    assert f"{found.count('error')} errors and {found.count('doubtful')} doubtful" in card

    same = {(c.query, c.name) for c in cells if c.again} & {(c.query, c.name) for c in cells if not c.again}
    first, second = ({(c.query, c.name): c for c in cells if c.again == again} for again in (False, True))
    for own in ("a", "b"):
        moved = [(getattr(first[k], own), getattr(second[k], own)) for k in same]
        assert sum(pair == (1, 0.5) for pair in moved) > 50 and (0.5, 1) not in moved  # "always from full to half"


def test_what_the_readme_says_of_the_demonstration_is_true_of_its_losses():
    lines = [line.strip("| ").split(" | ") for line in figures.losses_table().splitlines()[2:]]
    rows = {(kept_by, int(b)): tuple(map(float, numbers)) for kept_by, b, *numbers in lines}
    assert len(rows) == 10
    for opt, kept, *losses in rows.values():
        assert sum(losses) == pytest.approx(opt - kept, abs=0.03)  # of rounded figures
    largest = {key: max(range(3), key=losses.__getitem__) for key, (_, _, *losses) in rows.items()}
    assert {largest[rule, 20] for rule in ("Newest first", "Salience per cost")} == {1}
    assert {largest["Newest first", b] for b in (40, 80)} == {2}
    assert all(rows["Salience per cost", b][4] <= 0.05 for b in (40, 80))
    for budget in (80, 160, 320):
        missing, *others = rows["Salience per cost", budget][2:]
        assert missing > 0 and others == [0, 0]


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


def copied(tmp_path, monkeypatch):
    """The labels in a folder of the test's own, in which the tool then works."""
    for name in ("labels", "index.json"):
        copy = shutil.copytree if (DATA / name).is_dir() else shutil.copy
        copy(DATA / name, tmp_path / name)
    monkeypatch.setattr(tool, "DATA", tmp_path)
    monkeypatch.setattr(tool, "INDEX", tmp_path / "index.json")
    return tmp_path / "labels"


def edited(file, change):
    lines = file.read_text("utf-8").splitlines()
    file.write_text("".join(f"{line}\n" for line in change(lines)), "utf-8")


NARROWED = json.loads((DATA / "labels/narrow/batch_01.jsonl").read_text("utf-8").split("\n")[0])["units"][0]


def with_first(**values):
    return lambda lines: [json.dumps(json.loads(lines[0]) | values), *lines[1:]]


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("b/batch_01", lambda rows: [*rows[:-1], rows[-1][:100]], r"b/batch_01.jsonl, line 20: no JSON"),
        ("b/batch_01", lambda rows: ["3", *rows], r"b/batch_01.jsonl, line 1: not an object"),
        ("a1/batch_01", lambda rows: rows[1:], r"labels/a1: session S001 has no row \(1 have none\)"),
        ("a2/batch_05", lambda rows: rows[:-2], r"labels/a2: query Q099 has no row \(2 have none\)"),
        ("b/batch_01", lambda rows: [], r"labels/b: query Q001 has no row \(20 have none\)"),
        ("b/batch_01", lambda rows: [*rows, rows[0]], r"line 21: query Q001 stands already at .*, line 1;"),
        ("b/batch_01", with_first(query="Q999"), r"line 1: query 'Q999' is not known here"),
        ("b/batch_01", with_first(required=None), r"line 1: required is no list"),
        ("b/batch_01", with_first(required=["S003.u1"]), r"line 1: query Q001: required unit 'S003.u1' is not known"),
        ("a2/batch_01", with_first(stale=["S001.u9"]), r"line 1: query Q001: stale unit 'S001.u9' is not known"),
        ("a2/batch_01", with_first(coverage=[["S001.c1", "S001.u1"]]), r"coverage holds .*, not \[candidate, unit"),
        ("b/batch_01", with_first(cells=[["S001.c1", "S001.u1", 2]]), r"cells: value 2 of S001.c1, S001.u1 is none of"),
        ("b/batch_01", with_first(cells=[["S001.c99", "S001.u1", 1]]), r"candidate 'S001.c99' is not known"),
        ("a1/batch_01", with_first(units=[{"unit": "u1"}]), r"a1/batch_01.jsonl, line 1: units 1: kind is missing"),
        ("narrow/batch_01", with_first(units=[{"unit": "n1"}]), r"line 1: units 1: kind is missing"),
        ("narrow/batch_01", with_first(query="Q100"), r"narrow/batch_05.jsonl, line 20: query Q100 stands already at"),
        ("narrow/batch_01", with_first(units=[{**NARROWED, "replaces": "S001.u1"}]), r"replaced unit 'S001.u1' is not"),
        ("narrow/batch_01", with_first(units=[{**NARROWED, "session": "S001"}]), r"n1 replaces S002.u1, not of S001"),
        ("narrow/batch_01", with_first(units=[{**NARROWED, "kind": "fact"}]), r"units 1: kind 'fact' is not known"),
        ("narrow/batch_01", with_first(units=[NARROWED, NARROWED]), r"units 2: n1 stands already"),
        ("narrow/batch_01", with_first(units=[{**NARROWED, "pointer": {}}]), r"units 1: pointer: turn is missing"),
        ("narrow/batch_01", lambda rows: [], r"labels/narrow: query Q001 has no row \(20 have none\)"),
        ("again_a/batch_01", with_first(cells=[["S001.c1", "Q001.n1", 1], ["S001.c1", "Q001.n1", 0]]), r"stands twice"),
        ("again_a/batch_02", lambda rows: rows[1:], r"labels/again_a: query Q021 has no row \(1 have none\)"),
        ("again_b/batch_01", with_first(cells=[["S001.c1", "Q001.n9", 1]]), r"cells: unit 'Q001.n9' is not known"),
        ("again_b/batch_01", with_first(cells=[]), r"query Q001: cell \S+ \S+ is labelled in one pass alone"),
        ("corrections/units", with_first(unit="S001.u9"), r"units.jsonl, line 1: unit 'S001.u9' is not known"),
        ("corrections/coverage", with_first(unit="S001.u1"), r"line 1: query Q028: unit 'S001.u1' is not known"),
        ("corrections/coverage", with_first(query="Q000"), r"coverage.jsonl, line 1: query 'Q000' is not known"),
        ("corrections/units", with_first(what="unit"), r"units.jsonl, line 1: what 'unit' is not known"),
        ("corrections/units", with_first(text=None), r"units.jsonl, line 1: text is no str"),
    ],
)  # fmt: skip
def test_damaged_label_files_are_named(tmp_path, monkeypatch, name, change, message):
    edited(copied(tmp_path, monkeypatch) / f"{name}.jsonl", change)
    with pytest.raises(InputError, match=message):
        tool.assemble_into(tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_cell_that_neither_pass_labelled_again_is_missed(tmp_path, monkeypatch):
    folder = copied(tmp_path, monkeypatch)
    for name in ("again_a", "again_b"):
        first = json.loads((folder / name / "batch_01.jsonl").read_text("utf-8").split("\n")[0])
        edited(folder / name / "batch_01.jsonl", with_first(cells=first["cells"][1:]))
    with pytest.raises(InputError, match=r"again_a: query Q001: cell S001.c1 Q001.n1 is missing"):
        tool.assemble_into(tmp_path / "out")


def test_a_missing_second_round_is_missed(tmp_path, monkeypatch):
    folder = copied(tmp_path, monkeypatch)
    for name in ("narrow", "again_a", "again_b"):
        shutil.rmtree(folder / name)
    with pytest.raises(InputError, match=r"labels/narrow: query Q001 has no row \(100 have none\)"):
        tool.assemble_into(tmp_path / "out")


def test_a_required_unit_is_not_superseded():
    for name, stale in (("primary", 0), ("adjudicated", 0)):
        for query in built(name):
            required = {unit for q in query.queries for unit in q.required}
            stale += sum(unit.role == "stale" for unit in query.units)
            assert {unit.role for unit in query.units if unit.unit_id in required} <= {"current", "invalidation"}
        assert stale > 0


def test_both_packages_weigh_cells_as_they_were_drawn():
    """B's frame was drawn on A's labels, whatever coverage the package has."""
    kappas = {}
    for name in PACKAGES:
        result = build_coverage(load_coverage_package(DATA / name, CoverageOptions(own=True)), name)
        sources = agreement.sources_of(result.packages, pd.DataFrame(result.labels))
        ((frame, kind, compared),) = agreement.frames_of(result.packages, sources)
        a = next(s for s in sources if s.name == "A")
        assert (frame["stratum"] == agreement.POSITIVE).tolist() == (a.on(frame) >= 0.5).tolist()
        table = agreement.agreement(name, frame, kind, compared, resamples=5)
        assert table[["first", "second"]].values.tolist() == [["A", "B"]]
        kappas[name] = (len(frame), round(table["kappa_weighted"][0], 3))
    assert kappas == {"primary": (6402, 0.963), "adjudicated": (5183, 0.965)}


def test_the_third_reader_labelled_every_cell_of_five_queries_and_read_fifteen(labels):
    index, made = tool.index(), {row["session"]: row for row in labels["a1"]}
    derived = {row["query"]: row["derived"] for row in labels["a2"]}
    blind = tool.labels("third")
    assert len({row["query"] for row in blind}) == len(blind) == 5
    for row in blind:
        sessions = index["queries"][row["query"]]["sessions"]
        units = [f"{s}.{u['unit']}" for s in sessions for u in made[s]["units"]]
        units += [f"{row['query']}.{u['unit']}" for u in derived[row["query"]]]
        candidates = [f"{s}.{c['candidate']}" for s in sessions for c in made[s]["candidates"]]
        candidates += [f"{s}.raw" for s in sessions if made[s]["units"]]
        assert sorted((c, u) for c, u, _ in row["cells"]) == sorted((c, u) for c in candidates for u in units)
    read = {row["query"] for _, row in tool.rows_of(DATA / "third_reader.jsonl")}
    assert len(read) == 15 and {row["query"] for row in blind} <= read


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
@pytest.mark.parametrize("labelling_pass", tool.PASSES)
def test_labellers_were_given_these_bundles(frame, labelling_pass):
    kept = json.loads((DATA / "bundles.json").read_text())[labelling_pass]
    assert tool.hashes_of(tool.bundle_texts(labelling_pass, frame)) == kept


@needs_source
@pytest.mark.parametrize("labelling_pass", ["a2", "b", "narrow", "again_b"])
def test_bundles_of_damaged_labels_are_refused(tmp_path, monkeypatch, labelling_pass):
    edited(copied(tmp_path, monkeypatch) / "a1" / "batch_01.jsonl", lambda rows: [*rows[1:]])
    given = argparse.Namespace(labelling_pass=labelling_pass, file=str(SLICES), out=str(tmp_path / "out"))
    with pytest.raises(InputError, match=r"labels/a1: session S001 has no row"):
        tool.bundles(given)
    assert not (tmp_path / "out").exists()


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
def test_conversations_of_other_dates_get_no_text_filled_in(tmp_path):
    rows = json.loads(SLICES.read_text("utf-8"))
    asked = set(json.loads((DATA / "choice.json").read_text())["question_ids"])
    row = next(r for r in rows if r["question_id"] in asked)
    at = row["haystack_session_ids"].index(row["answer_session_ids"][0])
    row["haystack_dates"][at] = "2023/01/01 (Sun) 00:00"
    (tmp_path / "other.json").write_text(json.dumps(rows))
    given = argparse.Namespace(file=str(tmp_path / "other.json"), out=str(tmp_path / "out"))
    with pytest.raises(InputError, match=rf"{row['question_id']}::.* is dated 2023/01/01 \(Sun\) 00:00, and"):
        tool.text(given)
    assert not (tmp_path / "out").exists()


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
