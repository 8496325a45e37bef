"""Texts filled in from conversations: ranges, hashes, counts, and what a package without them can do."""

from pathlib import Path

import pytest
from coverage_folders import tables, write

from memaudit.errors import InputError
from memaudit.natural.conversations_io import load_examples
from memaudit.natural.coverage_check import check_package
from memaudit.natural.coverage_package import CoverageOptions, build_coverage
from memaudit.natural.coverage_package_io import load_coverage_package, read_coverage_package
from memaudit.natural.coverage_rows import Pointer
from memaudit.natural.pointers import Sessions, pointer_row, session_text, sha256_of
from memaudit.natural.turns import RAW_SPAN_WORDS, spans
from memaudit.package_io import package_tables
from memaudit.suites_io import build_suite, source_files

INVENTED = Path(__file__).parents[1] / "fixtures" / "longmemeval_invented.json"
EXAMPLES = {e.question_id: e for e in load_examples(INVENTED)}
KILN = EXAMPLES["inv_kiln"].answer_sessions[0]
QUINCE = EXAMPLES["inv_quince"].answer_sessions[0]
QUOTE = "Mugs now get 1240 degrees"


def folder_with(path, pointer, **more):
    """A package of one query on the kiln session, its candidate's text behind `pointer`."""
    rows = {
        "queries": [
            {
                "query_id": "inv_kiln",
                "question": "How hot?",
                "answer": "1240",
                "category": "knowledge-update",
                "required_unit_ids": ["inv_kiln::u"],
                "answer_session_ids": [KILN.session_id],
            }
        ],
        "experiences": [
            {
                "experience_id": "inv_kiln::e",
                "session_id": KILN.session_id,
                "timestamp": "2024-05-24",
                "pointer": pointer_row(KILN),
            }
        ],
        "units": [
            {
                "unit_id": "inv_kiln::u",
                "kind": "current_fact",
                "canonical_text": "Mugs are fired hotter now.",
                "source_spans": [{"session_id": KILN.session_id, "pointer": quote_pointer()}],
            }
        ],
        "candidates": [
            {
                "candidate_id": "inv_kiln::c",
                "experience_id": "inv_kiln::e",
                "representation_type": "raw_span",
                "cost": 12,
                "pointer": pointer,
                **more,
            }
        ],
        "coverage": [{"candidate_id": "inv_kiln::c", "unit_id": "inv_kiln::u", "coverage": 1}],
    }
    return write(path, rows)


def quote_pointer():
    start = session_text(KILN).index(QUOTE)
    return pointer_row(KILN, chars=[start, start + len(QUOTE)])


def filled(path, pointer, **more):
    package = load_coverage_package(folder_with(path, pointer, **more), CoverageOptions(own=True), INVENTED)
    return package.candidates[0].text


def test_ranges(tmp_path):
    assert filled(tmp_path, pointer_row(KILN)) == session_text(KILN)
    assert filled(tmp_path, quote_pointer()) == QUOTE
    assert filled(tmp_path, pointer_row(KILN, words=[1, 3])) == " ".join(session_text(KILN).split()[1:3])
    # Turns 0 and 3 are blank: counted, and not shown.
    assert filled(tmp_path, pointer_row(KILN, turns=[3, 6])) == session_text(KILN, turns=range(4, 6))
    lone = filled(tmp_path, pointer_row(KILN, turns=[2, 3], roles=False))
    assert lone == KILN.turns[2].content


def meant(span):
    """The range of a span of the builder, as parts of a pointer."""
    if span.representation_type == "raw_span":
        return {"words": [0, RAW_SPAN_WORDS], "cut_mark": True}
    if span.representation_type == "turn":
        n = int(span.name.removeprefix("turn"))
        return {"turns": [n, n + 1], "roles": False}
    return {"turns": [min(span.turns), max(span.turns) + 1]}


@pytest.mark.parametrize("session", [KILN, QUINCE], ids=["short", "cut"])
def test_every_text_of_the_builder_can_be_pointed_at(tmp_path, session):
    sessions = Sessions(EXAMPLES.values())
    for span in spans(session):
        row = pointer_row(session, **meant(span))
        (unit,) = {"words", "turns"} & set(row)
        options = {key: row[key] for key in ("roles", "cut_mark") if key in row}
        counts = {key: row[key] for key in ("n_words", "n_chars", "n_bytes")}
        pointer = Pointer(row["session_id"], row["sha256"], unit, *row[unit], **options, counts=counts)
        assert sessions.text(pointer) == span.text


def test_quote_of_a_filled_session_is_checked(tmp_path):
    folder = folder_with(tmp_path, pointer_row(KILN))
    path = folder / "evidence_units.jsonl"
    path.write_text(path.read_text().replace('"pointer":', '"text": "Bowls get 900 degrees", "x":'))
    kinds = [f.kind for f in check_package(read_coverage_package(folder, INVENTED))]
    assert kinds == ["quote_not_in_session"]


def broken(**values):
    return {**pointer_row(KILN, words=[0, 3]), **values}


@pytest.mark.parametrize(
    ("pointer", "message"),
    [
        (broken(sha256="0" * 64), f"has sha256 {sha256_of(session_text(KILN))}, the pointer says 0000"),
        (broken(session_id="nowhere"), "session nowhere is not in the conversations"),
        (broken(n_words=4), "n_words is 3, not 4"),
        (broken(n_bytes=1, n_chars=1), "n_bytes is .*, not 1, n_chars is .*, not 1"),
        (broken(words=[0, 9000]), "reach beyond session answer_kiln, which has"),
        (broken(words=[9000, 9001], cut_mark=True), "reach beyond"),
        (broken(words=None, turns=[0, 1]), r"turns 0 to 1 of session answer_kiln are blank"),
        (broken(words=None, turns=[0, 99]), "which has 6"),
        (broken(words=[3, 3]), r"words is \[3, 3\]; write \[first, end\]"),
        (broken(words=[0, True]), r"write \[first, end\]"),
        (broken(turns=[0, 1]), "both words and turns"),
        (broken(sha256=None), "sha256 is missing"),
        (broken(roles="no"), "roles is 'no'; write true or false"),
        (broken(n_words=-1), "n_words is -1"),
        ("session 1", "pointer is 'session 1'; write an object"),
    ],
)
def test_a_bad_pointer_names_the_row(tmp_path, pointer, message):
    folder = folder_with(tmp_path, pointer)
    with pytest.raises(InputError, match=rf"candidate_memories.jsonl: line 1: \w+: inv_kiln::c: .*{message}"):
        load_coverage_package(folder, conversations=INVENTED)


def test_a_text_beside_its_pointer_must_be_the_same(tmp_path):
    pointer = pointer_row(KILN, words=[0, 2])
    text = " ".join(session_text(KILN).split()[:2])
    assert filled(tmp_path, pointer, text=text) == text
    with pytest.raises(InputError, match="the row's text is not what its pointer means"):
        filled(tmp_path, pointer, text="something else")


def test_without_conversations_texts_stay_absent_and_declared_costs_work(tmp_path):
    folder = folder_with(tmp_path, pointer_row(KILN))
    package = load_coverage_package(folder, CoverageOptions(own=True))
    assert [(f.kind, f.file, f.severity) for f in package.findings] == [
        ("unfilled", "candidate_memories.jsonl", "warning"),
        ("unfilled", "evidence_units.jsonl", "warning"),
        ("unfilled", "experiences.jsonl", "warning"),
    ]
    (made,) = build_coverage(package, "natural").packages
    assert (made.visible.text, made.visible.cost.tolist()) == ((None,), [12])
    with pytest.raises(InputError, match="unfilled"):
        load_coverage_package(folder, CoverageOptions(strict=True))


def test_suite_with_conversations(tmp_path):
    folder = folder_with(tmp_path, pointer_row(KILN))
    options = {"weights": "required", "paper_defaults": False, "own": True, "strict": True}
    source = {"source": "coverage_package", "quantize": None, **options}
    files = source_files("coverage_package", [str(folder), str(INVENTED)])
    assert files[-1] == str(INVENTED)
    made = build_suite("natural", source, files)
    assert made.warnings == []
    assert made.packages[0].visible.text == (session_text(KILN),)
    assert len(package_tables(made.packages, suite="natural", label_source="x", labels=made.labels)["labels"]) == 1


def test_packages_without_pointers_need_no_conversations(tmp_path):
    folder = write(tmp_path, tables())
    assert read_coverage_package(folder) == read_coverage_package(folder, INVENTED)
