"""Files of conversations: list, JSON lines, gzip, folder; broken files."""

import gzip
import json
from pathlib import Path

import pytest

from memaudit.errors import InputError
from memaudit.natural.conversations_io import load_examples

INVENTED = Path(__file__).parents[1] / "fixtures" / "longmemeval_invented.json"
ROWS = json.loads(INVENTED.read_text(encoding="utf-8"))


def lines(rows, ascii_only=False):
    return "".join(json.dumps(row, ensure_ascii=ascii_only) + "\n" for row in rows).encode("utf-8")


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.json", json.dumps(ROWS, ensure_ascii=False).encode("utf-8")),
        ("bom.json", b"\xef\xbb\xbf" + json.dumps(ROWS).encode()),
        ("a.json.gz", gzip.compress(json.dumps(ROWS).encode())),
        # raw U+2028 inside a line, which str.splitlines would break at
        ("a.jsonl", lines(ROWS)),
        ("crlf.jsonl", lines(ROWS, ascii_only=True).replace(b"\n", b"\r\n") + b"\r\n"),
        ("a.jsonl.gz", gzip.compress(lines(ROWS))),
    ],
)
def test_each_form_gives_the_same_examples(tmp_path, name, data):
    (tmp_path / name).write_bytes(data)
    assert load_examples(tmp_path / name) == load_examples(INVENTED)


def test_the_jsonl_case_holds_a_line_separator():
    assert "\u2028".encode() in lines(ROWS)


def test_folder_reads_its_files_by_name(tmp_path):
    (tmp_path / "b.jsonl").write_bytes(lines(ROWS[:3]))
    (tmp_path / "a.json.gz").write_bytes(gzip.compress(json.dumps(ROWS[3:]).encode()))
    (tmp_path / "README.md").write_text("not data")
    (tmp_path / "sub").mkdir()
    ids = [example.question_id for example in load_examples(tmp_path)]
    assert ids == [row["question_id"] for row in ROWS[3:] + ROWS[:3]]


@pytest.mark.parametrize("make", [lambda p: p.mkdir(), lambda p: p.symlink_to(p), lambda p: p.symlink_to("nowhere")])
def test_what_is_named_like_data_and_is_no_file_stops(tmp_path, make):
    (tmp_path / "a.jsonl").write_bytes(lines(ROWS[:2]))
    make(tmp_path / "b.json")
    with pytest.raises(InputError, match=r"b\.json: is a folder or a link that leads nowhere"):
        load_examples(tmp_path)


def test_question_in_two_files_of_a_folder(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(lines(ROWS[:2]))
    (tmp_path / "b.json").write_text(json.dumps(ROWS[1:2]))
    message = r"b\.json: row 1: question inv_ferry stands already at .*a\.jsonl: line 2"
    with pytest.raises(InputError, match=message):
        load_examples(tmp_path)


WHOLE = json.dumps(ROWS).encode()


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("cut.json", WHOLE[:500], r"cut\.json: invalid JSON at line 1, column \d+, character \d+"),
        ("cut.json.gz", gzip.compress(WHOLE)[:300], r"cut\.json\.gz: not a whole gzip file"),
        ("fake.json.gz", WHOLE, r"fake\.json\.gz: not a whole gzip file"),
        ("cut.jsonl", lines(ROWS[:2])[:-40], r"cut\.jsonl: line 2: invalid JSON at line 1, column"),
        ("lines.json", lines(ROWS), r"lines\.json: invalid JSON at line 2.*belongs in a \.jsonl file"),
        ("one.json", json.dumps(ROWS[0]).encode(), "must hold one list of questions"),
        ("empty.json", b"[]", "holds no question"),
        ("empty.jsonl", b"\n", "holds no question"),
        ("latin.json", '[{"question_id": "é"}]'.encode("latin-1"), "not UTF-8 at byte 18"),
        ("nan.json", b'[{"answer": NaN}]', "NaN is no JSON number"),
        ("deep.json", b"[" * 200_000, "JSON that cannot be read"),
        ("long.json", b"[" + b"1" * 5000 + b"]", "JSON that cannot be read"),
        ("numbers.jsonl", lines(ROWS[:1]) + b"17\n", r"numbers\.jsonl: line 2: a number where an object"),
        ("rows.csv", b"question_id\n", "the name must end in"),
    ],
)
def test_broken_file_names_the_file_and_the_position(tmp_path, name, data, message):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError, match=message):
        load_examples(tmp_path / name)


def test_missing_file_and_folder_without_data(tmp_path):
    with pytest.raises(InputError, match=r"none\.json: no such file"):
        load_examples(tmp_path / "none.json")
    with pytest.raises(InputError, match="no file ends in"):
        load_examples(tmp_path)


@pytest.mark.parametrize(("name", "pack"), [("a.json", bytes), ("a.json.gz", gzip.compress)])
def test_size_limit_holds_after_unzipping(tmp_path, name, pack):
    (tmp_path / name).write_bytes(pack(WHOLE))
    assert load_examples(tmp_path / name, max_bytes=len(WHOLE))
    with pytest.raises(InputError, match=r"more than \d+ bytes"):
        load_examples(tmp_path / name, max_bytes=len(WHOLE) - 1)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('[{"a": 1, "a": 2}]', "key 'a' stands twice"),
        ('[{"a": 1e999}]', "1e999 is too large"),
        ("[NaN]", "NaN is no JSON"),
    ],
)
def test_json_that_says_two_things_or_no_number_is_refused(tmp_path, text, why):
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(InputError, match=rf"x\.json: JSON that cannot be read \({why}"):
        load_examples(tmp_path / "x.json")
