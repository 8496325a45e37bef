"""The structural check: each thing that can be wrong, found with file, line and id, and how grave it is."""

import gzip
import hashlib
import json

import pytest
from coverage_folders import GENERATION, row, tables, write

from memaudit.cli import main
from memaudit.errors import InputError
from memaudit.natural.coverage_check import ACROSS, ERRORS, NOTES, WARNINGS, check_package, folded
from memaudit.natural.coverage_package import CoverageOptions
from memaudit.natural.coverage_package_io import load_coverage_package, read_coverage_package
from memaudit.natural.coverage_rows import TABLE_FILES

IMPORTED, OWN = CoverageOptions(), CoverageOptions(own=True)


def clean():
    """Rows with nothing to find."""
    rows = tables()
    for c in rows["candidates"]:
        c.setdefault("experience_id", "q_bike::s2")
        c.setdefault("text", "a skill")
        c.pop("time_index", None)  # one of six has it
    return rows


def found(folder, options=IMPORTED):
    findings = check_package(read_coverage_package(folder), options)
    return [(f.severity, f.kind, f.file, f.line, f.id) for f in findings]


def test_a_clean_package_has_no_finding(tmp_path):
    assert found(write(tmp_path, clean()), CoverageOptions(own=True, strict=True)) == []


QUERIES, UNITS, COVERAGE = "queries.jsonl", "evidence_units.jsonl", "coverage_matrix.jsonl"
CELL = {"candidate_id": "q_bike::c1", "unit_id": "q_bike::aside", "coverage": 0.5}
TEA_UNIT = clean()["units"][4]

SKILL = ("candidates", 5, "q_bike::c5")
UNIT, BIKE_UNIT = ("units", 5, "q_tea::u1"), ("units", 2, "q_bike::new")
CANDIDATE, EXPERIENCE = ("candidates", 6, "q_tea::c1"), ("experiences", 3, "q_tea::s3")
QUERY, BIKE_QUERY = ("queries", 1, "q_tea"), ("queries", 2, "q_bike")


def changed(place, kind, message, **values):
    """A case: keys of the row at `place` (table, line, id) set to `values` give this finding there."""

    def change(rows):
        row(rows[place[0]], place[2]).update(values)

    return change, kind, place, message


def added(table, object, kind, message, name=""):
    """A case: a last row (an object, or a raw line) gives this finding there."""

    def change(rows):
        rows[table] = [*rows.get(table, ()), object]

    return change, kind, (table, len(clean().get(table, ())) + 1, name), message


CASES = [
    # malformed, missing, of a wrong type
    added("units", '{"unit_id": "q_tea::u2",', "malformed", 'it begins \'{"unit_id": "q_tea::u2",\'', ""),
    added("units", '{"unit_weight": NaN}', "malformed", "NaN is no JSON number", ""),
    added("units", "[1]", "wrong_type", "[1] where an object is needed", ""),
    added("queries", {"question": "?"}, "missing", "query_id is missing", ""),
    added("units", {**TEA_UNIT, "unit_id": ""}, "missing", "unit_id is empty", ""),
    added("units", {**TEA_UNIT, "unit_id": 7}, "wrong_type", "unit_id is 7; write a string", ""),
    changed(UNIT, "wrong_type", "surrogate", canonical_text="\ud83d"),
    changed(UNIT, "incomplete", "canonical_text is missing", canonical_text=None),
    changed(UNIT, "wrong_type", "write a list of objects", source_spans={}),
    changed(UNIT, "wrong_type", "a source span is 7", source_spans=[7]),
    changed(UNIT, "unknown_role", "role is 'fresh'", role="fresh"),
    changed(QUERY, "wrong_type", "answer is True", answer=True),
    changed(QUERY, "incomplete", "answer is missing", answer=None),
    changed(QUERY, "wrong_type", "list of strings", required_unit_ids="q_tea::u1"),
    changed(CANDIDATE, "missing", "representation_type", representation_type=None),
    changed(CANDIDATE, "incomplete", "serialized or text is missing", text=None),
    changed(CANDIDATE, "incomplete", "text is missing", text=None, serialized=""),
    changed(CANDIDATE, "wrong_type", "serialized is 0", serialized=0),
    changed(CANDIDATE, "wrong_type", "write an object", estimated_coverage=[1]),
    added("coverage", {**CELL, "coverage": None}, "missing", "coverage or fidelity", "q_bike::c1, q_bike::aside"),
    added("coverage", {**CELL, "annotator_ids": ["a", " "]}, "wrong_type", "is blank", "q_bike::c1, q_bike::aside"),
    added("coverage", {**CELL, "labels": {"": 1}}, "wrong_type", "is blank", "q_bike::c1, q_bike::aside"),
    # out of range
    changed(CANDIDATE, "no_cost", "cost is missing", cost=None),
    changed(CANDIDATE, "out_of_range", "cost is -1", cost=-1),
    changed(CANDIDATE, "out_of_range", "write a whole number", cost=1.5),
    changed(CANDIDATE, "wrong_type", "cost is '9'; write a number", cost="9"),
    changed(CANDIDATE, "out_of_range", "cost is 1", cost=10**30),
    changed(CANDIDATE, "out_of_range", "cost is -1; write a whole number of at least 1", cost=-1),
    changed(CANDIDATE, "out_of_range", "estimated_value is 1", estimated_value=10**400),
    changed(CANDIDATE, "out_of_range", "confidence is 1", confidence=10**400),
    changed(CANDIDATE, "out_of_range", "time_index is 1", time_index=10**400),
    changed(UNIT, "out_of_range", "000...; write", unit_weight=10**400),
    changed(CANDIDATE, "confidence", "confidence is 7; one is in [0, 1]", confidence=7),
    changed(SKILL, "mixed_time", "only 1 of the example's 5 candidates", time_index=3),
    changed(UNIT, "not_exact", "unit_weight: 0.333", unit_weight=1 / 3),
    added("coverage", {**CELL, "coverage": 1 / 3}, "not_exact", "coverage: 0.333", "q_bike::c1, q_bike::aside"),
    changed(CANDIDATE, "out_of_range", "at least 0", confidence=-0.1),
    changed(CANDIDATE, "out_of_range", "time_index is 0.5", time_index=0.5),
    changed(UNIT, "out_of_range", "unit_weight is -1", unit_weight=-1),
    added("units", '{"unit_id": "q_tea::u2", "unit_weight": 1e999}', "out_of_range", "inf", "q_tea::u2"),
    added("coverage", {**CELL, "coverage": 1.01}, "out_of_range", "[0, 1]", "q_bike::c1, q_bike::aside"),
    added("coverage", {**CELL, "coverage": True}, "wrong_type", "True", "q_bike::c1, q_bike::aside"),
    # duplicated
    added("units", {**TEA_UNIT, "kind": "other"}, "duplicate_id", "stands already in line 5", "q_tea::u1"),
    added("units", TEA_UNIT, "duplicate_row", "the same row as line 5", ""),
    added("coverage", clean()["coverage"][0], "duplicate_coverage", "line 1", "q_bike::c1, q_bike::old"),
    # unknown
    added("coverage", {**CELL, "unit_id": "q_bike::x"}, "unknown_id", "q_bike::x does not", "q_bike::c1, q_bike::x"),
    added("coverage", {**CELL, "candidate_id": "q_bike::x"}, "unknown_id", "not used", "q_bike::x, q_bike::aside"),
    added("coverage", {**CELL, "unit_id": "q_tea::u1"}, "other_example", "two examples", "q_bike::c1, q_tea::u1"),
    changed(BIKE_QUERY, "unknown_id", "q_bike::x", required_unit_ids=["q_bike::new", "q_bike::x"]),
    changed(BIKE_QUERY, "unknown_id", "primary_required", primary_required_unit_ids=["q_x"]),
    changed(BIKE_QUERY, "other_example", "q_tea::u1", required_unit_ids=["q_bike::new", "q_tea::u1"]),
    changed(QUERY, "unknown_session", "answer session s9", answer_session_ids=["s9"]),
    changed(CANDIDATE, "unknown_id", "q_tea::s9, which has no row", experience_id="q_tea::s9"),
    changed(CANDIDATE, "other_example", "another example", experience_id="q_bike::s1"),
    changed(CANDIDATE, "unknown_id", "names x", estimated_coverage={"x": 1}),
    changed(EXPERIENCE, "unknown_id", "visible_unit_ids", visible_unit_ids=["q_tea::u9"]),
    changed(EXPERIENCE, "unknown_id", "source_span_ids", source_span_ids=["p9"]),
    added("decisions", {"query_id": "q_x", "status": "accepted"}, "unknown_id", "q_x", "q_x"),
    added("units", {**TEA_UNIT, "unit_id": "q_x::u1"}, "unknown_example", "names no query before '::'", "q_x::u1"),
    added("units", {**TEA_UNIT, "unit_id": "u9"}, "unknown_example", "has no '::'", "u9"),
    # adjudication
    changed(QUERY, "unknown_status", "'Rejected'; write one of accepted,", adjudication_status="Rejected"),
    added("decisions", {"query_id": "q_tea", "status": "pending"}, "unknown_status", "not scored", "q_tea"),
    added("decisions", {"query_id": "q_tea"}, "incomplete", "decides nothing", "q_tea"),
    added("decisions", {"query_id": "q_bike", "status": "accepted"}, "conflicting_status", "; it is scored", "q_bike"),
    added("decisions", {"query_id": "q_bike", "status": "rejected"}, "conflicting_status", "is not scored", "q_bike"),
    changed(QUERY, "reserved_name", "category 'all'", category="all"),
    # quotes
    changed(UNIT, "no_quote", "quote the source", source_spans=[]),
    changed(UNIT, "no_quote", "source span 0 is empty", source_spans=[{"text": " "}]),
    changed(UNIT, "quote_not_in_session", "'four cups'", source_spans=["four cups"]),
    changed(BIKE_UNIT, "quote_not_in_session", "blue", source_spans=[{"session_id": "s1", "text": "blue"}]),
    changed(UNIT, "unknown_session", "(s9) has no", source_spans=[{"session_id": "s9", "text": "x"}]),
    changed(UNIT, "unknown_session", "(e9)", source_spans=[{"experience_id": "e9", "text": "x"}]),
    # others
    changed(CANDIDATE, "leaked_question", "must not see", text="It was asked: how many CUPS\nof tea do I drink?"),
    added(
        "coverage", {**CELL, "coverage_label": "full"}, "label_mismatch", "partial_weak", "q_bike::c1, q_bike::aside"
    ),
    changed(EXPERIENCE, "unread_date", "'one day'", timestamp="one day"),
    changed(EXPERIENCE, "weekday", "is a Sat", timestamp="2024/03/02 (Mon) 10:00"),
]


@pytest.mark.parametrize(("change", "kind", "place", "message"), CASES)
def test_each_finding(tmp_path, change, kind, place, message):
    rows = clean()
    change(rows)
    package = read_coverage_package(write(tmp_path, rows))
    findings = [f for f in check_package(package, IMPORTED) if f.kind == kind]
    assert [(f.file, f.line, f.id) for f in findings] == [(TABLE_FILES[place[0]], *place[1:])]
    assert message in findings[0].message
    grave = {o: [f.severity for f in check_package(package, o) if f.kind == kind] for o in (IMPORTED, OWN)}
    assert grave[IMPORTED] == ["error" if kind in ERRORS else "warning"]
    assert grave[OWN] == ["warning" if kind in WARNINGS else "error"]
    assert [f.severity for f in check_package(package, CoverageOptions(strict=True)) if f.kind == kind] == ["error"]


def test_every_kind_has_a_case():
    elsewhere = {"ambiguous_file", "bad_pointer", "leaky_inputs", "manifest", "not_read", "unfilled"}
    assert {case[1] for case in CASES} | elsewhere | NOTES == ACROSS | ERRORS | WARNINGS | NOTES


def test_quotes_match_after_folding_only(tmp_path):
    assert folded(" a\u00a0\tb\n\nc ") == "a b c"
    rows = clean()
    row(rows["units"], "q_tea::u1")["source_spans"] = [{"text": "Three cups"}]  # case counts
    assert [f[1] for f in found(write(tmp_path, rows))] == ["quote_not_in_session"]


def test_abstention_needs_no_quote(tmp_path):
    rows = clean()
    row(rows["units"], "q_bike::aside").update(kind="abstention", source_spans=[])
    assert found(write(tmp_path, rows), OWN) == []


def test_a_session_that_holds_the_question_itself_leaks_nothing(tmp_path):
    rows = clean()
    text = "user: How many cups of tea do I drink? I drink three cups of tea a day."
    row(rows["experiences"], "q_tea::s3")["text"] = text
    row(rows["candidates"], "q_tea::c1")["text"] = text
    assert found(write(tmp_path, rows), OWN) == []


def test_the_question_of_another_example_is_no_leak(tmp_path):
    rows = clean()
    row(rows["candidates"], "q_tea::c1")["text"] = "What colour is my bicycle now?"
    assert found(write(tmp_path, rows), OWN) == []


@pytest.mark.parametrize(
    ("manifest", "kinds"),
    [
        (None, ["manifest"]),
        ({}, ["manifest"]),
        ({"allowed_inputs": ["session", "gold answer"], "forbidden_inputs": ["query"]}, ["leaky_inputs"]),
        ({"candidates": {"allowed_inputs": "question_text", "forbidden_inputs": ["answer"]}}, ["leaky_inputs"]),
        ({**GENERATION, "counts": {"candidates": 5, "evidence_units": 5}}, ["manifest"]),
        ({**GENERATION, "files": {"queries.jsonl": "0" * 64}}, ["manifest"]),
        ({**GENERATION, "files": {"nothing.jsonl": "0" * 64}}, ["manifest"]),
        ({**GENERATION, "counts": {"units": 5}, "usage": {"tokens": 3}}, []),
    ],
)
def test_manifest(tmp_path, manifest, kinds):
    folder = write(tmp_path, clean(), manifest)
    assert [f[1] for f in found(folder)] == kinds
    assert {f[0] for f in found(folder, OWN)} == ({"error"} if kinds else set())


def test_manifest_with_the_right_hash(tmp_path):
    digest = hashlib.sha256(write(tmp_path, clean()).joinpath(QUERIES).read_bytes()).hexdigest()
    manifest = {**GENERATION, "files": {QUERIES: digest}}
    assert found(write(tmp_path, clean(), manifest), OWN) == []
    # Packed later, the content is still the one that was hashed; the packed file may be named too.
    folder = write(tmp_path / "packed", clean(), manifest, packed=("queries",))
    assert found(folder, OWN) == []
    packed = hashlib.sha256((folder / f"{QUERIES}.gz").read_bytes()).hexdigest()
    write(folder, clean(), {**GENERATION, "files": {f"{QUERIES}.gz": packed}}, packed=("queries",))
    (folder / QUERIES).unlink(missing_ok=True)
    assert found(folder, OWN) == []


def test_a_packed_manifest_is_read(tmp_path):
    folder = write(tmp_path, clean(), None)
    content = json.dumps({**GENERATION, "counts": {"queries": 99}}).encode()
    (folder / "candidate_generation_manifest.json.gz").write_bytes(gzip.compress(content))
    assert [f[1] for f in found(folder)] == ["manifest"]


def test_missing_and_ambiguous_files(tmp_path):
    folder = write(tmp_path, clean())
    (folder / COVERAGE).unlink()
    assert found(folder) == [("error", "missing", COVERAGE, 0, "")]
    write(tmp_path, clean(), packed=("coverage",))
    (folder / COVERAGE).write_text("")
    assert ("error", "ambiguous_file", COVERAGE, 0, "") in found(folder)


def test_a_manifest_that_is_no_json(tmp_path):
    folder = write(tmp_path, clean(), packed=("units",))
    (folder / "candidate_generation_manifest.json").write_text("{")
    assert ("error", "malformed", "candidate_generation_manifest.json", 0, "") in found(folder)


def test_a_broken_gzip_is_a_finding_and_what_follows_from_it_is_not(tmp_path):
    folder = write(tmp_path, clean(), packed=("units",))
    path = folder / f"{UNITS}.gz"
    path.write_bytes(path.read_bytes()[:-20])
    assert found(folder) == [("error", "malformed", f"{UNITS}.gz", 0, "")]
    with pytest.raises(InputError, match=r"evidence_units.jsonl.gz: malformed: not a whole gzip file"):
        load_coverage_package(folder)


@pytest.mark.parametrize("table", ["queries", "experiences", "units", "candidates"])
def test_a_row_that_cannot_be_read_is_told_alone(tmp_path, table):
    rows = clean()
    key = next(k for k in rows[table][0] if k.endswith("_id"))
    rows[table][0][key] = 7
    assert found(write(tmp_path, rows)) == [("error", "wrong_type", TABLE_FILES[table], 1, "")]


def test_errors_come_first(tmp_path):
    rows = clean()
    row(rows["experiences"], "q_bike::s1")["timestamp"] = "one day"  # a warning, in a file that sorts before
    row(rows["units"], "q_bike::new")["source_spans"] = ["four cups"]
    row(rows["queries"], "q_tea")["answer"] = True
    assert [f[0] for f in found(write(tmp_path, rows))] == ["error", "warning", "warning"]


@pytest.mark.parametrize("make", [lambda p: p.mkdir(), lambda p: p.symlink_to(p), lambda p: p.symlink_to("nowhere")])
@pytest.mark.parametrize("name", [COVERAGE, "annotation_decisions.jsonl", "candidate_generation_manifest.json.gz"])
def test_what_is_no_file_is_not_absent(tmp_path, name, make):
    folder = write(tmp_path, clean())
    (folder / name).unlink(missing_ok=True)
    make(folder / name)
    assert ("error", "malformed", name, 0, "") in found(folder)


def test_a_number_beyond_a_float_is_no_answer(tmp_path):
    rows = clean()
    rows["queries"] = [json.dumps(q).replace('"answer": 3', '"answer": 1e400') for q in rows["queries"]]
    assert found(write(tmp_path, rows)) == [("error", "out_of_range", QUERIES, 1, "q_tea")]


def test_numbers_need_not_be_exact_where_they_are_rounded_or_not_used(tmp_path):
    rows = clean()
    row(rows["units"], "q_tea::u1")["unit_weight"] = 1 / 3
    folder = write(tmp_path, rows)
    assert found(folder, CoverageOptions(quantize=4)) == []
    assert found(folder, CoverageOptions(weights="uniform")) == []
    row(rows["queries"], "q_tea")["adjudication_status"] = "rejected"
    assert found(write(tmp_path, rows)) == []


def with_parent(tmp_path, rows, *decisions):
    (tmp_path / "adjudication_decisions.jsonl").write_text("".join(f"{json.dumps(d)}\n" for d in decisions))
    return write(tmp_path / "package", rows)


def test_a_parents_decision_on_an_adjudicated_package_conflicts_with_its_own(tmp_path):
    folder = with_parent(tmp_path, clean(), {"query_id": "q_bike", "status": "rejected"})
    assert found(folder) == [("warning", "conflicting_status", "adjudication_decisions.jsonl", 1, "q_bike")]


def test_a_parents_decision_beside_a_primary_package_is_a_note_in_strict_mode_too(tmp_path):
    rows = clean()
    del row(rows["queries"], "q_bike")["adjudication_status"]
    folder = with_parent(
        tmp_path, rows, {"query_id": "q_bike", "status": "rejected"}, {"query_id": "q_tea", "status": "accepted"}
    )
    assert found(folder, CoverageOptions(own=True, strict=True)) == [
        ("note", "parent_decision", "adjudication_decisions.jsonl", 1, "q_bike")
    ]
    load_coverage_package(folder, CoverageOptions(own=True, strict=True))


@pytest.mark.parametrize(
    ("keys", "fate"),
    [({}, "query is scored"), ({"required_unit_ids": []}, "query is not scored: no required unit")],
)
def test_the_note_on_a_parents_decision_says_whether_the_query_is_scored(tmp_path, keys, fate):
    rows = clean()
    del row(rows["queries"], "q_bike")["adjudication_status"]
    row(rows["queries"], "q_bike").update(keys)
    folder = with_parent(tmp_path, rows, {"query_id": "q_bike", "status": "rejected"})
    messages = [f.message for f in check_package(read_coverage_package(folder), IMPORTED) if f.severity == "note"]
    assert [m.endswith(fate) for m in messages] == [True]


def test_a_file_of_another_layout_is_named(tmp_path):
    folder = write(tmp_path, clean())
    (folder / "instance.json").write_text("{}")
    assert found(folder) == [("warning", "not_read", "instance.json", 0, "")]


def test_loading_stops_at_errors_and_keeps_warnings(tmp_path):
    rows = clean()
    row(rows["units"], "q_tea::u1")["source_spans"] = ["four cups"]
    folder = write(tmp_path, rows)
    assert [f.kind for f in load_coverage_package(folder).findings] == ["quote_not_in_session"]
    for options in (OWN, CoverageOptions(strict=True)):
        with pytest.raises(
            InputError, match=r"1 error; .*\n  evidence_units.jsonl: line 5: quote_not_in_session: q_tea"
        ):
            load_coverage_package(folder, options)
    rows["units"] = [{**u, "unit_weight": -1, "unit_id": f"q_tea::{n}"} for n, u in enumerate(rows["units"] * 5)]
    with pytest.raises(InputError, match=r"25 errors; (.|\n)*\n  and 5 more$"):
        load_coverage_package(write(tmp_path, rows))


def test_command(tmp_path, capsys):
    folder = write(tmp_path, clean())
    (folder / "written_stores.jsonl").write_text("")
    assert main(["check-package", str(folder), "--own", "--strict"]) == 0
    assert capsys.readouterr().out == (
        "2 queries, 3 experiences, 5 units, 6 candidates, 5 coverage\n"
        "also there: written_stores.jsonl\n0 errors, 0 warnings\n"
    )
    rows = clean()
    rows["coverage"].append({**CELL, "unit_id": "q_bike::x"})
    write(tmp_path, rows)
    assert main(["check-package", str(folder)]) == 0
    out = capsys.readouterr().out
    assert "WARNING coverage_matrix.jsonl: line 6: unknown_id: q_bike::c1, q_bike::x: " in out
    assert out.endswith("warning unknown_id: 1\n0 errors, 1 warning\n")
    assert main(["check-package", str(folder), "--strict"]) == 1
    assert main(["check-package", str(folder), "--own"]) == 1
    assert "ERROR   coverage_matrix.jsonl: line 6" in capsys.readouterr().out
    assert main(["check-package", str(tmp_path / "none")]) == 2
    assert "no such folder" in capsys.readouterr().err


def test_command_with_paper_defaults(tmp_path, capsys):
    rows = clean()
    del row(rows["candidates"], "q_bike::c1")["cost"]
    folder = write(tmp_path, rows)
    assert main(["check-package", str(folder)]) == 1
    assert main(["check-package", str(folder), "--paper-defaults"]) == 0
    assert "warning no_cost: 1" in capsys.readouterr().out


def test_command_tells_what_is_not_scored_and_what_a_suite_would_refuse(tmp_path, capsys):
    rows = clean()
    row(rows["queries"], "q_tea")["required_unit_ids"] = []
    row(rows["units"], "q_bike::new")["unit_weight"] = 1e15
    row(rows["units"], "q_bike::old")["unit_weight"] = 0.000001
    folder = write(tmp_path, rows)
    assert main(["check-package", str(folder)]) == 1
    out = capsys.readouterr().out
    assert "not scored: q_tea (no required unit)\n" in out
    assert "ERROR   package q_bike of suite check-package: weights and coverages need" in out
    assert out.endswith("\n1 error, 0 warnings\n")
    assert main(["check-package", str(folder), "--quantize", "10"]) == 0
