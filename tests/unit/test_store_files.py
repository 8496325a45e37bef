"""Store files: folders, the paper's layout, hostile content, tables, the command."""

import csv
import gzip
import json
import os
import socket
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from coverage_folders import tables
from coverage_folders import write as package
from hypothesis import given
from hypothesis import strategies as st

from memaudit.cli import main
from memaudit.errors import InputError
from memaudit.stores import documents_io
from memaudit.stores.adapters import ADAPTERS
from memaudit.stores.documents_io import read_document
from memaudit.stores.ingest_io import ingest_main, memory_columns, read_labels, read_stores, report_columns
from memaudit.stores.json_slim import LONG, Dropped, slim
from memaudit.stores.labels import coverage_of, salience_of
from memaudit.stores.model import IngestOptions, lacking
from memaudit.table_io import read_table, to_table

LISTING = {"results": [{"id": "1", "memory": "A"}]}
EMBEDDING = [0.1234567890123] * 400


def write(path, content):
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return path


def texts(found):
    return [m.text for m in found.store.memories]


def slimmed(data, size):
    dropped = Dropped()
    pieces = [data[i : i + size] for i in range(0, len(data), size)]
    return b"".join(slim(pieces, dropped)), dropped


# ---- embeddings


JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(alphabet='a"\\[]{}0,1.: \n\u00e9', max_size=9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text('k"[\\', max_size=3), inner, max_size=3),
    max_leaves=12,
)


@given(JSON_VALUES, st.integers(1, 40), st.sampled_from([None, 1]))
def test_short_content_is_left_as_it_is(value, size, indent):
    data = json.dumps(value, indent=indent).encode()
    assert slimmed(data, size) == (data, Dropped())


@given(JSON_VALUES, st.sampled_from([1, 7, 64, 5000]), st.sampled_from([None, 1]), st.sampled_from([0.5, float("nan")]))
def test_long_arrays_of_numbers_go_and_the_rest_stays(value, size, indent, number):
    long = [number] * LONG
    data = json.dumps({"a": value, "embedding": long, "b": [value, long], "c": value}, indent=indent).encode()
    out, dropped = slimmed(data, size)
    assert json.loads(out) == {"a": value, "embedding": [], "b": [value, []], "c": value}
    assert dropped.arrays == 2 and dropped.bytes >= 8 * LONG - 10


def test_a_text_that_spells_an_embedding_stays():
    text = json.dumps(EMBEDDING)
    data = json.dumps({"memory": f'say "{text}" \\', "x": text}).encode()
    for size in (1, 13, len(data)):
        assert slimmed(data, size)[0] == data


def test_an_array_that_turns_out_to_hold_text_is_no_json(tmp_path):
    path = write(tmp_path / "a.json", {"results": [{"id": "1", "memory": "A", "e": [*EMBEDDING, "text"]}]})
    with pytest.raises(InputError, match="invalid JSON"):
        read_document(path)


def test_ten_thousand_memories_with_embeddings(tmp_path, monkeypatch):
    """The parser sees a hundredth of the file; so does the limit."""
    row = json.dumps({"id": "passage-1", "text": "A", "archive_id": "a", "embedding": EMBEDDING})
    path = write(tmp_path / "a.json", f"[{','.join([row] * 2000)}]".encode())
    seen = []
    monkeypatch.setattr(documents_io.strict_json, "loads", lambda text: seen.append(len(text)) or json.loads(text))
    (found,) = read_stores(path)
    assert found.report.kept == 2000
    assert found.report.notes["numeric arrays (embeddings) left out"] == 2000
    assert seen[0] * 50 < path.stat().st_size


# ---- hostile content


DEEP = b"[" * 1_000_000


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (DEEP, r"nested too deeply \(at \[0\]\[0\]\[0\]"),
        (b'{"a":' * 1_000_000, r"nested too deeply \(at a\.a\.a"),
        (b'{"results": [\n{"id": "1", "memory": NaN}]}', r"NaN is no JSON number \(at results\[0\]\.memory, line 2\)"),
        (b'{"results": [], "results": []}', "key 'results' stands twice"),
        (b'{"results": [\n{"' + b"k" * 5000 + b'":1, "' + b"k" * 5000 + b'":1}]}', r"\(at results\[0\], line 2\)"),
        (
            b'{"results": [{"id": ' + b"9" * 5000 + b"}]}",
            r"cannot be read: .* has too many digits \(at results\[0\]\.id",
        ),
        (b'{"results": [{"id": 1e999}]}', r"too large a number \(at results\[0\]\.id\)"),
        (b'{"results": [', "cut off"),
        (b'{"results": [' + b"1.5," * 1000, "invalid JSON"),
        (b'\xff\xfe{"a"', "not UTF-8"),
        (b'{"a": "\0"}', "invalid JSON"),
        (b"", "cut off"),
        (b'"' + b"\\" * 99_999, "invalid JSON"),
    ],
)
def test_hostile_json(tmp_path, content, told):
    path = write(tmp_path / "a.json", content)
    with pytest.raises(InputError, match=told) as error:
        read_stores(path)
    assert str(path) in str(error.value) and len(str(error.value)) < 2000


def test_hostile_lines_are_counted(tmp_path, monkeypatch):
    monkeypatch.setattr(documents_io, "MAX_ROW", 4_000_000)
    row = b'{"id": "1", "memory": "A"}'
    bad = [DEEP, b'{"id": "2", "memory": "' + b"x" * 5_000_000 + b'"}', b'{"memory": NaN}', b'{"a":1,"a":2}', b"\xff"]
    path = write(tmp_path / "a.jsonl", b"\n".join([row, *bad, row.replace(b"1", b"3"), b""]))
    (found,) = read_stores(path)
    assert [m.memory_id for m in found.store.memories] == ["1", "3"]
    assert found.report.skipped == {"line nested too deeply": 1, "line too long": 1, "line that is no JSON": 3}
    assert found.report.warnings["line nested too deeply"][1] == "line 2: nested too deeply (at [0][0][0][0]...)"
    assert found.report.warnings["line too long"] == (1, "line 3 has more than 4000000 bytes")
    with pytest.raises(InputError, match="strict"):
        read_stores(path, IngestOptions(strict=True))


HUGE = "k" * 2_000_000


@pytest.mark.parametrize(
    "content",
    [
        [{"text": "A", HUGE: 1}],
        [{"txt": "A", HUGE: 1}],
        {HUGE: 1},
        {HUGE: LISTING, "q": LISTING},
        {"instance_id": HUGE, **LISTING},
        [{"id": HUGE, "text": "A"}],
        [{"text": "A", "time": HUGE, "salience": HUGE, "native_order": HUGE}],
        [{"text": [HUGE]}, {"text": "A"}],
        [{"text": "A", f"{HUGE}{i}": i} for i in range(60)],
        {**LISTING, "history": [{"id": "e", "memory_id": "m", "old_memory": None, "event": HUGE}]},
        {**LISTING, "history": [{"id": HUGE, "old_memory": None, "new_memory": None, "event": "ADD"}]},
        [{"memory": "A", "id": "1", "user_id": HUGE}, {"memory": "A", "id": "2", "user_id": "u"}],
        [{"uuid": HUGE, "fact": "A", "valid_at": "2026-01-02", "invalid_at": "2026-01-01"}],
        [{"type": "entity", "name": "n", "entityType": "t", "observations": ["A"]}, {"type": HUGE}, HUGE],
        [{"label": HUGE, "value": "A" * 9, "limit": 1}],
        HUGE,
    ],
)
def test_no_line_of_a_report_or_error_is_long(tmp_path, capsys, content):
    main(["ingest", str(write(tmp_path / "a.json", content)), "--out", str(tmp_path / "out")])
    said = "".join(capsys.readouterr())
    assert said and max(map(len, said.splitlines())) < 6000
    if (tmp_path / "out").exists():
        rows = read_table(tmp_path / "out" / "ingest.parquet", "ingest").to_pylist()
        assert max(len(row["name"]) for row in rows) < 200
        assert max(len(row["detail"] or "") for row in rows) < 1000


def test_a_byte_order_mark_is_no_content(tmp_path):
    for name, content in (("a.json", json.dumps(LISTING)), ("b.jsonl", json.dumps(LISTING["results"][0]) + "\r\n")):
        (found,) = read_stores(write(tmp_path / name, b"\xef\xbb\xbf" + content.encode()))
        assert texts(found) == ["A"] and not found.report.warnings


def test_size_limits(tmp_path, monkeypatch):
    path = write(tmp_path / "a.json", {"results": [{"id": "1", "memory": "x" * 5000}]})
    with pytest.raises(InputError, match="more than 4000 bytes without embeddings"):
        read_document(path, max_bytes=4000)
    monkeypatch.setattr(documents_io, "MAX_FILE", 1000)
    bomb = tmp_path / "b.json.gz"
    bomb.write_bytes(gzip.compress(b"[" + b"0," * 2_000_000))
    with pytest.raises(InputError, match="more than 1000 bytes"):
        read_document(bomb)


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("a.pkl", b"anything", "pickle can run code"),
        ("a.json", b"\x80\x04\x95abc", "pickle can run code"),
        ("chroma.sqlite3", b"SQLite format 3\0", "export its rows as JSON"),
        ("a.json", b"PK\x03\x04", "archive"),
        ("a.txt", b"A", "must end in .json"),
        ("a.json.gz", b"no gzip", "not a whole gzip file"),
        ("a.parquet", b"PAR0", "Parquet"),
        ("a.jsonl", b"{\n}\n", "no row has a text"),
        ("a.csv", b'id,text\n1,"A', "not valid CSV"),
        ("a.csv", b"id,text\n1,A,B\n", "line 2: 3 cells under 2 columns"),
        ("a.csv", b"text,text\n", "stands twice"),
    ],
)
def test_files_that_are_refused(tmp_path, name, content, told):
    with pytest.raises(InputError, match=told):
        read_stores(write(tmp_path / name, content))


def test_a_missing_file(tmp_path):
    with pytest.raises(InputError, match="not readable"):
        read_stores(tmp_path / "a.json")


# ---- what a file holds, whatever its name says


LETTA = {"blocks": [{"id": "b", "label": "human", "value": "A"}], "archival": [{"id": "p", "text": "B"}]}
NOTE = {"content": "A", "context": "c", "keywords": [], "links": [], "tags": []}


@pytest.mark.parametrize(
    ("document", "system"),
    [
        (LISTING, "mem0"),
        ({"instance_id": "q1", **LISTING}, "mem0"),
        (LISTING["results"], "mem0"),
        ({"q1": LISTING, "q2": {"results": []}}, "mem0"),
        (LETTA, "letta"),
        ({"n1": NOTE}, "amem"),
        ({"edges": [{"uuid": "u", "fact": "A"}]}, "graphiti"),
        ({"items": [{"namespace": [], "key": "k", "value": {"text": "A"}}]}, "langgraph"),
        ({"entities": [{"name": "n", "entityType": "t", "observations": ["A"]}], "relations": []}, "mcp_memory"),
        ({"instance_id": "q1", "memories": [{"memory_id": "1", "text": "A"}]}, "written_stores"),
        (["A", "B"], "generic"),
        ({"memories": [{"text": "A"}]}, "generic"),
        ([], "generic"),
    ],
)
@pytest.mark.parametrize("indent", [None, 2])
def test_a_document_under_the_name_of_json_lines(tmp_path, document, system, indent):
    """Also with its format named, it is read as under its own name."""
    text = json.dumps(document, indent=indent).encode()
    for options in (IngestOptions(), IngestOptions(format=system)):
        named = read_stores(write(tmp_path / "a.json", text), options)
        assert read_stores(write(tmp_path / "a.jsonl", text), options) == named
        assert named[0].store.system == system


@pytest.mark.parametrize("document", [["A"], {"results": [{"id": "1", "memory": "A"}], "next": "page 2"}])
def test_a_document_whose_middle_line_is_a_value_is_no_json_lines(tmp_path, document):
    """What stands around the one row says something too: here that there is a next page."""
    row = json.dumps(document["results"][0] if isinstance(document, dict) else document[0])
    text = json.dumps(document).replace(row, f"\n{row}\n").encode()
    named = read_stores(write(tmp_path / "a.json", text))
    assert read_stores(write(tmp_path / "a.jsonl", text)) == named
    assert bool(named[0].report.partial) == isinstance(document, dict)


HISTORY = [{"memory_id": "9", "event": "DELETE", "old_memory": "B", "new_memory": None}]


@pytest.mark.parametrize("history", [HISTORY, {"9": HISTORY}, json.dumps(HISTORY)])
def test_a_further_file_is_read_as_what_it_is(tmp_path, history):
    main = write(tmp_path / "a.json", LISTING)
    for name in ("h.json", "h.jsonl"):
        part = write(tmp_path / name, history)
        if isinstance(history, str) and name == "h.jsonl":
            continue
        assert texts(read_stores(main, parts={"history": part})[0]) == ["A", "No longer valid: B"], name
    part = write(tmp_path / "p.jsonl", {"archival": LETTA["archival"]})
    (found,) = read_stores(write(tmp_path / "b.json", LETTA["blocks"]), parts={"archival": part})
    assert texts(found) == ["A", "B"]


@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
def test_a_history_under_its_key_is_read_wherever_the_listing_stands(tmp_path, name):
    (found,) = read_stores(write(tmp_path / name, {**LISTING, "history": HISTORY}))
    assert texts(found) == ["A", "No longer valid: B"]
    pages = [{"instance_id": q, **LISTING, "history": HISTORY} for q in ("q1", "q2")]
    content = json.dumps(pages) if name == "a.json" else "\n".join(map(json.dumps, pages))
    found = read_stores(write(tmp_path / name, content.encode()))
    assert [texts(one) for one in found] == [["A", "No longer valid: B"]] * 2


@pytest.mark.parametrize(
    "store",
    [
        LETTA,
        {"edges": [{"uuid": "u", "fact": "A"}]},
        {"entities": [{"name": "n", "entityType": "t", "observations": ["A"]}], "relations": []},
        {"items": [{"namespace": [], "key": "k", "value": {"text": "A"}}]},
        {"memories": [{"text": "A"}]},
        LISTING,
    ],
)
def test_lines_that_are_each_the_store_of_an_example(tmp_path, store):
    (alone,) = read_stores(write(tmp_path / "a.json", store))
    rows = [{"instance_id": q, **store} for q in ("q1", "q2")]
    found = read_stores(write(tmp_path / "a.jsonl", "\n".join(map(json.dumps, rows)).encode()))
    assert [(one.store.instance_id, one.store.system) for one in found] == [
        (q, alone.store.system) for q in ("q1", "q2")
    ]
    assert all(one.store.memories == alone.store.memories for one in found)


def test_a_row_with_a_list_and_a_text_of_another_key_is_no_store(tmp_path):
    row = {"instance_id": "q1", "note": "A", "data": []}
    with pytest.raises(InputError, match="no row has a text: the first of 1 have the keys data, note"):
        read_stores(write(tmp_path / "a.jsonl", row))
    (found,) = read_stores(tmp_path / "a.jsonl", IngestOptions(columns={"text": "note"}))
    assert texts(found) == ["A"]


def test_rows_over_several_lines(tmp_path):
    rows = [{"id": "1", "memory": "A"}, {"id": "2", "memory": "B"}]
    lines = read_stores(write(tmp_path / "a.jsonl", "\n".join(map(json.dumps, rows)).encode()))
    row_a_line = ",\n".join(map(json.dumps, rows))
    for text in ("\n".join(json.dumps(row, indent=2) for row in rows), f"[\n{row_a_line}\n]"):
        assert read_stores(write(tmp_path / "b.jsonl", text.encode())) == lines
    (one,) = read_stores(write(tmp_path / "c.jsonl", json.dumps(rows[0], indent=2).encode()))
    assert texts(one) == ["A"] and not one.report.warnings


@pytest.mark.parametrize(
    ("cut", "told"),
    [
        (lambda text: text[:-20], r"as a JSON document invalid at line 5, column \d+"),
        (lambda text: text.replace('"A"', "NaN"), r"NaN is no JSON number \(at results\[0\]\.memory, line 5\)"),
    ],
)
@pytest.mark.parametrize("name", [None, "mem0", "generic"])
def test_a_damaged_document_has_no_rows(tmp_path, cut, told, name):
    path = write(tmp_path / "a.jsonl", cut(json.dumps(LISTING, indent=2)).encode())
    with pytest.raises(InputError, match=f"a.jsonl: no JSON lines, as values go over several lines.*{told}"):
        read_stores(path, IngestOptions(format=name))


def test_a_torn_line_is_a_fault_of_its_own(tmp_path):
    """Keys and values before the damage are no memories; whole objects are."""
    lines = ['{"id": "1", "memory": "A"}', '{"id": "2",', '{"id": "3", "memory": "C"}']
    lines += ['{"id": "4", "memory": "D"} "memory": 4', '"memory": "E"}']
    (found,) = read_stores(write(tmp_path / "a.jsonl", "\n".join(lines).encode()))
    assert texts(found) == ["A", "C", "D"] and found.report.skipped == {"line that is no JSON": 3}


@pytest.mark.parametrize("name", ["a.jsonl", "a.md", "a.csv", "a.jsonl.gz", "a.md.gz"])
@pytest.mark.parametrize("content", [b"", b"\n \n", b"\xef\xbb\xbf\n"])
def test_an_empty_file_is_told(tmp_path, name, content):
    path = write(tmp_path / name, gzip.compress(content) if name.endswith(".gz") else content)
    (found,) = read_stores(path)
    assert found.store.memories == () and found.report.warnings["empty file"][0] == 1
    with pytest.raises(InputError, match=r"refused in strict mode.*(\n.*)*empty file"):
        read_stores(path, IngestOptions(strict=True))


def test_an_empty_part_is_told(tmp_path):
    write(tmp_path / "h.jsonl", b"")
    (found,) = read_stores(write(tmp_path / "a.json", LISTING), parts={"history": tmp_path / "h.jsonl"})
    assert found.report.warnings["empty file"][1].startswith("the part history holds nothing")


@pytest.mark.parametrize(("name", "content"), [("a.json", b"[]"), ("a.jsonl", b"[]"), ("a.csv", b"id,text\n")])
def test_an_empty_store_is_none_of_these(tmp_path, name, content):
    (found,) = read_stores(write(tmp_path / name, content), IngestOptions(strict=True))
    assert found.store.memories == () and found.report.warnings == {}


@pytest.mark.parametrize("where", ["a.json", "folder"])
def test_only_regular_files_are_opened(tmp_path, where):
    (tmp_path / "folder").mkdir()
    path = tmp_path / "folder" / "a.json" if where == "folder" else tmp_path / where
    os.mkfifo(path)
    with pytest.raises(InputError, match=r"a\.json: is no regular file but a pipe"):
        read_stores(tmp_path / where)
    with pytest.raises(InputError, match="is no regular file but a pipe"):
        read_labels(path)
    path.unlink()
    path.symlink_to("/dev/zero")
    with pytest.raises(InputError, match="is no regular file but a device"):
        read_stores(tmp_path / where)
    path.unlink()
    path.symlink_to("nowhere")
    with pytest.raises(InputError, match="is no regular file but a link that leads nowhere"):
        read_stores(tmp_path / where)


def test_a_socket_is_no_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # a socket's path must be short
    with socket.socket(socket.AF_UNIX) as one:
        one.bind("a.json")
        with pytest.raises(InputError, match="is no regular file but a socket"):
            read_stores("a.json")


BLANKS = b" \n" * 500_000


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.json", b"[" + BLANKS + b"]"),
        ("a.json", b"[1, 2," + BLANKS + b"3]"),
        ("a.json", b"[" + b"1.5," * 999 + BLANKS + b"3]"),
        ("a.jsonl", BLANKS),
        ("a.jsonl", b'{"id": 1, "e": [' + b" " * 1_000_000 + b"]}"),
        ("a.md", BLANKS),
        ("a.csv", b"text\n" + b"\n" * 1_000_000),
    ],
)
def test_blanks_count_as_what_is_parsed(tmp_path, name, content):
    path = tmp_path / f"{name}.gz"
    path.write_bytes(gzip.compress(content))
    with pytest.raises(
        InputError, match=r"more than 900000 bytes without embeddings.* or raise the limit \(--max-bytes"
    ):
        read_document(path, max_bytes=900_000)


def test_blanks_are_no_embedding(tmp_path):
    path = write(tmp_path / "a.json", b'[{"id": "1", "tags": [' + b" " * 5000 + b'"t"], "memory": "A"}]')
    (found,) = read_stores(path)
    assert texts(found) == ["A"] and found.report.notes == {}
    (found,) = read_stores(
        write(tmp_path / "a.json", json.dumps([{"memory": "A", "e": EMBEDDING}], indent=300).encode())
    )
    assert found.report.notes["numeric arrays (embeddings) left out"] == 1


# ---- tables


def test_csv_and_parquet(tmp_path):
    rows = [{"id": "1", "text": 'A, "b"\nc', "time": "2026-01-01", "embedding": str(EMBEDDING)}] * 2
    rows[1] = {**rows[1], "id": "2", "text": ""}
    with (tmp_path / "a.csv").open("w", newline="", encoding="utf-8-sig") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "b.parquet")
    limit = csv.field_size_limit()
    found = [read_stores(tmp_path / name)[0] for name in ("a.csv", "b.parquet")]
    assert found[0] == found[1] and csv.field_size_limit() == limit
    assert texts(found[0]) == ['A, "b"\nc'] and found[0].report.skipped == {"no text": 1}
    assert found[0].report.notes == {"columns not read": 1}


@pytest.mark.parametrize(
    ("table", "told"),
    [
        (pa.table([pa.array(["A"]), pa.array(["B"])], names=["text", "text"]), "a column name stands twice"),
        (
            pa.table({"text": ["A"], "time": pa.array([2**62], pa.timestamp("us"))}),
            "a time before year 1 or after 9999",
        ),
        (pa.table({"note": ["A"], "n": [1]}), "the first of 1 have the keys n, note"),
    ],
)
def test_tables_that_cannot_be_read_say_why(tmp_path, table, told):
    pq.write_table(table, tmp_path / "a.parquet")
    with pytest.raises(InputError, match=f"a.parquet: .*{told}"):
        read_stores(tmp_path / "a.parquet")


def test_a_cell_is_kept_as_stored(tmp_path):
    """A byte order mark is one at the start of the file only."""
    (found,) = read_stores(write(tmp_path / "a.csv", '\ufefftext\n"A\n\ufeffB"\n'.encode()))
    assert texts(found) == ["A\n\ufeffB"]


def test_a_table_of_unknown_columns_names_them(tmp_path):
    """So that a semicolon between cells shows."""
    with pytest.raises(InputError, match="the first of 1 have the keys id;text,"):
        read_stores(write(tmp_path / "a.csv", b"id;text\n1;A\n"))


def test_report_and_memories_fit_their_tables(tmp_path):
    event = {"id": "e", "memory_id": "m", "old_memory": "B", "event": "DELETE", "updated_at": "2026-01-01T00:00:00Z"}
    path = write(
        tmp_path / "a.json", {"results": [{**LISTING["results"][0], "memory": "x\ud800"}, 5], "history": [event]}
    )
    assert main(["ingest", str(path), "--out", str(tmp_path / "out")]) == 0
    memories = read_table(tmp_path / "out" / "store_memories.parquet", "store_memories").to_pylist()
    assert [m["text"] for m in memories] == ["x\ufffd", "No longer valid: B"]
    assert memories[1]["details"] == '{"of": "m"}' and memories[1]["group_id"] == "m#deleted"
    rows = {(r["what"], r["name"]): r for r in read_table(tmp_path / "out" / "ingest.parquet", "ingest").to_pylist()}
    assert rows["count", "read"]["count"] == 3 and rows["skipped", "row is no object"]["count"] == 1
    assert rows["warning", "row is no object"]["detail"] == "row 2 is 5"
    again = read_stores(path)
    assert to_table("store_memories", memory_columns(f.store for f in again)).to_pylist() == memories
    assert to_table("ingest", report_columns(again)).num_rows == len(rows)
    assert to_table("store_memories", memory_columns([])).num_rows == 0


# ---- folders


def test_a_folder_of_one_file_an_example(tmp_path):
    write(tmp_path / "q1.json", LISTING)
    event = {"id": "e", "memory_id": "m", "old_memory": "B", "event": "DELETE"}
    write(tmp_path / "q1.history.json", [event])
    (tmp_path / "q2.jsonl.gz").write_bytes(gzip.compress(b'{"id": "1", "memory": "C"}\n'))
    write(tmp_path / "notes.txt", b"left out")
    (tmp_path / "sub").mkdir()
    found = {f.store.instance_id: texts(f) for f in read_stores(tmp_path)}
    assert found == {"q1": ["A", "No longer valid: B"], "q2": ["C"]}
    with pytest.raises(InputError, match="instance_id fits one file"):
        read_stores(tmp_path, IngestOptions(instance_id="q1"))
    write(tmp_path / "q3.history.json", [event])
    third = read_stores(tmp_path)[2]
    assert (third.store.instance_id, texts(third)) == ("q3", ["No longer valid: B"])
    assert "no listing" in third.report.warnings
    write(tmp_path / "q3.history.json", [{**event, "event": "ADD", "new_memory": "B"}])
    with pytest.raises(InputError, match=r"q3: .* a history and no listing, and by it memory m lives"):
        read_stores(tmp_path)


def test_a_folder_of_letta_parts(tmp_path):
    write(tmp_path / "q1.blocks.json", [{"id": "b", "label": "human", "value": "core"}])
    write(tmp_path / "q1.archival.json", [{"id": "p", "text": "far"}])
    ((found),) = read_stores(tmp_path)
    assert (found.store.system, found.store.instance_id, texts(found)) == ("letta", "q1", ["core", "far"])


def test_suffixes_of_a_folder_are_of_any_case(tmp_path):
    (tmp_path / "Q1.JSON.GZ").write_bytes(gzip.compress(json.dumps(LISTING).encode()))
    (tmp_path / "Q1.history.JSONL.gz").write_bytes(gzip.compress(json.dumps(HISTORY).encode()))
    (found,) = read_stores(tmp_path)
    assert found.store.instance_id == "Q1" and texts(found) == ["A", "No longer valid: B"]


def test_files_of_a_folder_that_are_not_read_are_told(tmp_path):
    for name in ("q1.json", "q2.json"):
        write(tmp_path / name, LISTING)
    for name in ("q3.json.bz2", "q4.txt", ".hidden"):
        write(tmp_path / name, b"x")
    first, second = read_stores(tmp_path)
    assert first.report.notes == {"files of the folder not read (q3.json.bz2, q4.txt)": 2}
    assert second.report.notes == {}


def test_names_are_no_paths(tmp_path):
    """An id may look like a path; nothing is opened or written by it."""
    path = write(tmp_path / "a.json", {"../../../etc/passwd": LISTING, "C:\\x\0": LISTING})
    assert main(["ingest", str(path), "--out", str(tmp_path / "out")]) == 0
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["a.json", "ingest.parquet", "out", "store_memories.parquet"]


def test_folders_that_say_two_things(tmp_path):
    with pytest.raises(InputError, match="no file ends in"):
        read_stores(tmp_path)
    write(tmp_path / "q1.json", LISTING)
    write(tmp_path / "q1.jsonl", LISTING)
    with pytest.raises(InputError, match="of the same example"):
        read_stores(tmp_path)
    (tmp_path / "q1.jsonl").unlink()
    write(tmp_path / "q2.json", {"instance_id": "q1", **LISTING})
    with pytest.raises(InputError, match="q1 has two stores"):
        read_stores(tmp_path)


# ---- the paper's files


def lines(path, *rows):
    return write(path, "".join(json.dumps(row) + "\n" for row in rows).encode())


def memory(i, **more):
    return {"memory_id": i, "memory_index": 0, "text": f"text {i}", "created_at": "2020-01-01T00:00:00Z", **more}


def test_written_stores(tmp_path):
    rows = [memory("m2"), memory("m1", created_at="1999-01-01"), memory("m0", text="")]
    lines(
        tmp_path / "written_stores.jsonl",
        {"instance_id": "q1", "memories": rows},
        {"instance_id": "q2", "memories": []},
    )
    scores = {"m1": {"salience": 0.5, "rationale": "r"}, "gone": {"salience": 1}}
    lines(tmp_path / "salience_scoring_calls.jsonl", {"instance_id": "q1", "scores": scores})
    edges = [("m2", "u1", 0.5), ("m2", "u1", 1.0), ("m2", "u1", 0.25), ("m2", "u2", 0), ("gone", "u1", 1)]
    edges = [dict(zip(("memory_id", "unit_id", "coverage"), edge, strict=True)) for edge in edges]
    labels = lines(tmp_path / "coverage_scoring_calls.jsonl", {"instance_id": "q1", "coverage_edges": edges})
    first, second = read_stores(tmp_path)
    assert [(m.memory_id, m.time, m.salience) for m in first.store.memories] == [("m2", None, None), ("m1", None, 0.5)]
    assert (second.store.instance_id, second.store.memories) == ("q2", ())
    told = "the first is m2; a run refuses them"
    assert first.report.warnings["memories without salience"] == (1, told) and first.report.ranked == ("salience",)
    with pytest.raises(InputError, match="refused in strict mode"):
        read_stores(tmp_path, IngestOptions(strict=True))
    assert [m.salience for m in read_stores(tmp_path, beside=False)[0].store.memories] == [None, None]
    covered = coverage_of(first.store, read_labels(labels))
    assert covered.cells == {("m2", ""): {"u1": 1.0}}
    assert (covered.repeats, covered.stale, covered.unlabelled) == (2, ("gone",), ("m1",))


def test_salience_of_another_store_beside_the_export(tmp_path, capsys):
    lines(tmp_path / "written_stores.jsonl", {"instance_id": "q1", "memories": [memory("m1"), memory("m2")]})
    file = lines(tmp_path / "salience_scoring_calls.jsonl", {"instance_id": "q1", "scores": {"x": 1}})
    assert main(["ingest", str(tmp_path)]) == 2
    told = capsys.readouterr().err
    assert f"{file}: no score is of a memory of store written_stores; it has rows of the examples q1" in told
    assert "expected are memories such as m1 (example q1), m2 (example q1)" in told


def test_written_amem_rows(tmp_path):
    rows = [{"memory_id": i, "full_text": f"full {i}", "metadata_text": f"meta {i}"} for i in ("a", "b", "c")]
    path = lines(
        tmp_path / "written_stores.jsonl", {"instance_id": "q", "memories": rows, "native_order": [2, 2, 0, 9]}
    )
    (full,) = read_stores(path)
    assert [(m.text, m.view, m.native_order) for m in full.store.memories] == [
        ("full a", "full", 1),
        ("full b", "full", None),
        ("full c", "full", 0),
    ]
    assert full.report.notes == {"native order: positions out of range": 1}
    assert "native order repeats" in full.report.warnings
    (both,) = read_stores(path, IngestOptions(view="both"))
    assert [(m.group, m.view) for m in both.store.memories][:2] == [("a", "full"), ("a", "metadata")]
    labels = lines(
        tmp_path / "labels.jsonl",
        {
            "instance_id": "q",
            "memory_view": "full",
            "coverage_edges": [{"memory_id": "a", "unit_id": "u", "coverage": 1}],
        },
        {"instance_id": "q", "memory_view": "metadata", "coverage_edges": []},
    )
    assert coverage_of(both.store, read_labels(labels)).cells == {("a", "full"): {"u": 1.0}}


def test_written_letta_rows(tmp_path):
    core, archival = [memory("c")], [memory("a"), memory("b")]
    row = {"instance_id": "q", "core_memories": core, "archival_memories": archival, "memories": [*core, *archival]}
    path = lines(tmp_path / "written_stores.jsonl", row)
    seen = {
        v: [(m.memory_id, m.view) for m in read_stores(path, IngestOptions(view=v))[0].store.memories]
        for v in (None, "core", "archival")
    }
    assert seen[None] == [("c", "core"), ("a", "archival"), ("b", "archival")]
    assert seen["core"] == [("c", "core")] and seen["archival"] == [("a", "archival"), ("b", "archival")]
    edge = {"memory_id": "a", "unit_id": "u"}
    labels = lines(
        tmp_path / "labels.jsonl",
        {"instance_id": "q", "memory_scope": "archival", "coverage_edges": [{**edge, "coverage": 0.5}]},
        {"instance_id": "q", "memory_scope": "combined", "coverage_edges": [{**edge, "coverage": 1}]},
    )
    store = read_stores(path)[0].store
    assert coverage_of(store, read_labels(labels), "combined").cells == {("a", "archival"): {"u": 1.0}}
    assert coverage_of(store, read_labels(labels)).cells == {("a", "archival"): {"u": 0.5}}


def edge(i, value, **more):
    return {"memory_id": i, "unit_id": "u", "coverage": value, **more}


def covered_by(tmp_path, *rows, view="both", scope="both"):
    """(memory, view) -> coverage of unit u of the notes a and b, by label rows of one example."""
    notes = [{"memory_id": i, "full_text": f"full {i}", "metadata_text": f"meta {i}"} for i in "ab"]
    path = lines(tmp_path / "written_stores.jsonl", {"instance_id": "q", "memories": notes})
    (found,) = read_stores(path, IngestOptions(view=view))
    file = lines(tmp_path / "labels.jsonl", *({"instance_id": "q", **row} for row in rows))
    covered = coverage_of(found.store, read_labels(file), scope)
    return {key: row["u"] for key, row in covered.cells.items() if row}, covered


def test_an_edge_may_name_its_view_itself(tmp_path):
    edges = [edge("a", 1, memory_view="full"), edge("a", 0.5, memory_view="metadata"), edge("b", 0.25)]
    found, _ = covered_by(tmp_path, {"coverage_edges": edges})
    assert found == {("a", "full"): 1, ("a", "metadata"): 0.5, ("b", "full"): 0.25, ("b", "metadata"): 0.25}
    found, covered = covered_by(tmp_path, {"coverage_edges": edges[:2]}, view="full", scope="full")
    assert found == {("a", "full"): 1} and covered.unread == {"metadata": 1}


def test_what_a_row_of_a_view_leaves_out_is_not_covered_in_it(tmp_path):
    rows = (
        {"memory_view": "full", "coverage_edges": [edge("a", 1)]},
        {"coverage_edges": [edge("a", 0.5), edge("b", 0.5)]},
    )
    found, _ = covered_by(tmp_path, *rows)
    assert found == {("a", "full"): 1, ("a", "metadata"): 0.5, ("b", "metadata"): 0.5}
    # An edge that names the view speaks for its memory alone.
    found, _ = covered_by(
        tmp_path, {"coverage_edges": [edge("a", 1, memory_view="full"), edge("a", 0.5), edge("b", 0.5)]}
    )
    assert found == {("a", "full"): 1, ("a", "metadata"): 0.5, ("b", "full"): 0.5, ("b", "metadata"): 0.5}


def test_a_row_and_its_edge_name_one_view(tmp_path):
    row = {"memory_view": "full", "coverage_edges": [edge("a", 1, memory_view="metadata")]}
    with pytest.raises(
        InputError, match=r"labels.jsonl: line 1: the row is of view 'full', and .* of 'metadata'; keep one"
    ):
        covered_by(tmp_path, row)
    same = {"memory_view": "full", "coverage_edges": [edge("a", 1, memory_scope="full")]}
    assert covered_by(tmp_path, same)[0] == {("a", "full"): 1}


def test_a_score_may_name_its_view_itself(tmp_path):
    (found,) = read_stores(
        lines(
            tmp_path / "written_stores.jsonl",
            {"instance_id": "q", "memories": [{"memory_id": "a", "full_text": "f", "metadata_text": "m"}]},
        ),
        IngestOptions(view="both"),
    )
    row = {"instance_id": "q", "scores": {"a": {"salience": 0.5, "memory_view": "full"}}}
    rated = salience_of(found.store, read_labels(lines(tmp_path / "s.jsonl", row)), "both")
    assert rated.salience == {("a", "full"): 0.5} and rated.unrated == (("a", "metadata"),)
    with pytest.raises(InputError, match="line 1: the row is of view 'metadata'"):
        salience_of(found.store, read_labels(lines(tmp_path / "s.jsonl", {**row, "memory_view": "metadata"})))


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ({"coverage_edges": []}, "instance_id"),
        ({"instance_id": "q", "coverage_edges": {}}, "write a list"),
        ({"instance_id": "q", "coverage_edges": [{"memory_id": "a"}]}, "no memory_id or unit_id"),
        ({"instance_id": "q", "coverage_edges": [{"memory_id": "a", "unit_id": "u", "coverage": 1.5}]}, r"\[0, 1\]"),
        ({"instance_id": "q", "coverage_edges": [{"memory_id": "a", "unit_id": "u", "coverage": True}]}, r"\[0, 1\]"),
    ],
)
def test_wrong_labels_name_their_line(tmp_path, row, told):
    (store,) = read_stores(lines(tmp_path / "written_stores.jsonl", {"instance_id": "q", "memories": [memory("a")]}))
    path = lines(tmp_path / "labels.jsonl", row)
    with pytest.raises(InputError, match=f"labels.jsonl: line 1: .*{told}"):
        coverage_of(store.store, read_labels(path))


# ---- the command


@pytest.mark.parametrize("option", ["--part", "--column"])
def test_an_option_that_names_one_thing_twice_is_refused(tmp_path, option):
    path = write(tmp_path / "a.json", LISTING)
    with pytest.raises(InputError, match=f"{option}: 'history' is named twice; keep one"):
        ingest_main([str(path), option, "history=a.json", option, "history=b.json"])


def test_the_command(tmp_path, capsys):
    path = write(tmp_path / "a.json", {"count": 3, "next": "x", "results": LISTING["results"]})
    assert main(["ingest", str(path), "--name", "mine"]) == 0
    out = capsys.readouterr().out
    assert "store mine (mem0, format mem0): read 1, kept 1" in out and "partial: 1 of 3" in out and "guessed" in out
    assert main(["ingest", str(path), "--strict"]) == 2
    assert "partial" in capsys.readouterr().err
    rows = write(tmp_path / "b.jsonl", b'{"note": "A", "n": 1}\n')
    assert main(["ingest", str(rows), "--column", "text=note", "--column", "id=n"]) == 0
    assert main(["ingest", str(rows), "--column", "text"]) == 2
    assert main(["ingest", str(rows), "--as-of", "soon"]) == 2
    assert "ROLE=KEY" in capsys.readouterr().err


# ---- what the report says of columns and ids

ROWS = [{"id": 1, "body": {"text": "it is blue"}, "created_at": "2024-01-01", "importance": 3, "user_id": "u"}]


def test_the_report_says_what_was_read_and_what_not(tmp_path):
    file = write(tmp_path / "rows.json", json.dumps(ROWS).encode())
    (found,) = read_stores(file, IngestOptions(columns={"text": "body.text"}))
    columns = {"text": ("body.text",), "id": ("id",), "time": ("created_at",), "user": ("user_id",)}
    assert found.report.columns == columns and found.report.ignored == ("importance",)
    told = "read: text from body.text, id from id, time from created_at, user from user_id; ignored: importance"
    assert told in str(found.report)
    (ranked,) = read_stores(file, IngestOptions(columns={"text": "body.text", "native_order": "importance"}))
    assert ranked.report.ranked == ("native_order",)
    assert list(lacking([found.report, ranked.report, found.report])) == [
        "2 of 3 stores with memories: no salience, no order of its own; a system could keep newest first only, unless "
        "a salience file is given",
        "1 of 3 stores with memories: no salience",
    ]
    assert list(lacking([])) == []


TEXTLESS = {
    "mem0": ({"results": [{"id": "1", "memroy": "A"}, {"id": "2", "memory": None}]}, "row", "memory, data"),
    "letta": (
        {"blocks": [{"id": "b", "label": "human", "value": ""}], "archival": [{"id": "passage-1", "txet": "A"}]},
        "passage",
        "value (blocks), text, contents (passages)",
    ),
    "amem": ([{"id": "1", "contnet": "A", "keywords": [], "context": "c"}], "note", "content"),
    "langgraph": ([{"namespace": ["a"], "key": "k", "vlaue": {"text": "A"}}], "item", "value"),
    "graphiti": ([{"uuid": "u", "fcat": "A"}], "edge", "fact"),
    "mcp_memory": ({"entities": [{"name": "n", "observation": ["A"]}], "relations": []}, "entity", "observations"),
    "written_stores": ({"instance_id": "q", "memories": [{"memory_id": "1", "txt": "A"}]}, "memory", "text"),
    "generic": ([{"id": "1", "txet": "A"}, 5], "row", "text, memory, content, contents, fact"),
}  # fmt: skip


@pytest.mark.parametrize("name", TEXTLESS)
def test_a_named_format_whose_rows_all_lack_a_text_is_an_error(tmp_path, name):
    """Naming the format does not switch off what guessing asks for."""
    content, what, keys = TEXTLESS[name]
    with pytest.raises(InputError) as error:
        read_stores(write(tmp_path / "x.json", content), IngestOptions(format=name))
    told = str(error.value)
    assert f"x.json: {'example q: ' * (name == 'written_stores')}no {what} has a text: the first of" in told
    assert f"as strings, stand under {keys}" in told and "column map" in told


def test_every_format_of_rows_says_where_texts_stand():
    assert set(TEXTLESS) == set(ADAPTERS) - {"markdown"}
    assert {name for name, adapter in ADAPTERS.items() if not adapter.texts} == {"generic", "markdown"}


def test_one_example_without_texts_in_a_file_of_several_is_named(tmp_path):
    rows = [{"id": "1", "memory": "A", "instance_id": "q1"}, {"id": "2", "memroy": "B", "instance_id": "q2"}]
    with pytest.raises(
        InputError, match=r"example q2: no row has a text: the first of 1 have the keys id, memroy, and"
    ):
        read_stores(write(tmp_path / "x.json", rows), IngestOptions(format="mem0"))
    both = [*rows, {"id": "3", "memory": "C", "instance_id": "q2"}]
    found = read_stores(write(tmp_path / "x.json", both), IngestOptions(format="mem0"))
    assert [(f.report.kept, f.report.skipped) for f in found] == [(1, {}), (1, {"no text": 1})]


def test_blank_texts_under_the_known_key_are_an_empty_store(tmp_path):
    """What a system holds that has nothing to say, in every format as before."""
    for name, content in {
        "mem0": {"results": [{"id": "1", "memory": ""}, {"id": "2", "memory": " "}]},
        "letta": [{"id": "1", "label": "human", "value": ""}],
        "amem": [{"id": "1", "content": "", "keywords": [], "links": []}],
        "generic": [{"id": "1", "text": ""}],
        "mcp_memory": {"entities": [{"name": "n", "observations": []}], "relations": []},
    }.items():
        (found,) = read_stores(write(tmp_path / "x.json", content), IngestOptions(format=name))
        assert found.report.kept == 0 and sum(found.report.skipped.values()) == found.report.read > 0
    (tmp_path / "x.csv").write_text("id,text\n1,\n2,\n")
    assert read_stores(tmp_path / "x.csv")[0].report.skipped == {"no text": 2}


def test_tombstones_that_are_left_out_have_a_text(tmp_path):
    past = {"uuid": "1", "fact": "A", "created_at": "2024-01-02", "invalid_at": "2024-01-01", "valid_at": "2023-01-01"}
    edges = [past, {"uuid": "2", "created_at": "2024-01-02"}]
    (found,) = read_stores(write(tmp_path / "x.json", edges), IngestOptions(format="graphiti", tombstones=False))
    assert found.report.skipped == {"no text": 1, "tombstone, switched off": 1}


@pytest.mark.parametrize(
    ("role", "values", "told"),
    [
        ("salience", [9, 3], r"'v' \(salience\) has 9, 2 of 2 values being so; write numbers from 0 .* to 1"),
        ("salience", [1, 3, 0.5], r"'v' \(salience\) has 3, 1 of 3 values"),  # of 1 to 10: 1 is not the most
        ("salience", [-1, 0.5], r"has -1, 1 of 2"),
        ("salience", ["high", "low"], r"has 'high', 2 of 2 values"),
        ("salience", ["", ""], r"'v' \(salience\) is empty in all rows"),
        ("native_order", ["first", -1], r"'v' \(native_order\) has 'first', 2 of 2 values .* write whole numbers"),
        ("time", ["soon", "later"], r"'v' \(time\) has 'soon', 2 of 2 values being so; write ISO 8601"),
    ],
)
def test_a_named_column_without_a_usable_value_is_an_error(tmp_path, role, values, told):
    path = write(tmp_path / "x.json", [{"id": str(i), "text": "A", "v": v} for i, v in enumerate(values)])
    with pytest.raises(InputError, match=rf"x\.json: columns: .*{told}.* or leave the column out"):
        read_stores(path, IngestOptions(columns={role: "v"}))


def test_a_named_column_with_some_usable_values_is_read(tmp_path):
    values = enumerate([(1, "2024-01-01"), ("?", "soon"), (0, "")])
    rows = [{"id": str(i), "text": "A", "s": s, "t": t} for i, (s, t) in values]
    (found,) = read_stores(write(tmp_path / "x.json", rows), IngestOptions(columns={"salience": "s", "time": "t"}))
    assert [m.salience for m in found.store.memories] == [1.0, None, 0.0]
    assert found.report.warnings["salience is no number in [0, 1]"] == (1, "'?'")


def test_a_column_that_no_row_has_is_told_beside_all_that_there_are(tmp_path):
    """Of a table too, of which only what is wanted is read, and of objects inside."""
    (tmp_path / "x.csv").write_text("content,user,question\nA,u,q\n")
    with pytest.raises(
        InputError, match=r"no row has 'contnet' \(text\); the rows have content, question, user; is it 'content'\?"
    ):
        read_stores(tmp_path / "x.csv", IngestOptions(columns={"text": "contnet"}))
    with pytest.raises(InputError, match=r"instance_key: no row has 'questoin'; nearest known: 'question'"):
        read_stores(tmp_path / "x.csv", IngestOptions(instance_key="questoin"))
    path = write(tmp_path / "x.json", [{"note": {"body": "A"}}])
    with pytest.raises(InputError, match=r"the rows have note, note\.body; is it 'note\.body'\?"):
        read_stores(path, IngestOptions(columns={"text": "note.bodi"}))


def test_columns_not_read_are_told_of_every_store_of_a_table(tmp_path):
    (tmp_path / "x.csv").write_text("text,instance_id,size\nA,q1,1\nB,q2,2\n")
    found = read_stores(tmp_path / "x.csv", IngestOptions(columns={"instance": "instance_id"}))
    assert [f.report.notes for f in found] == [{"columns not read": 1}] * 2


def test_another_format_named_markdown_says_which_it_is(tmp_path):
    with pytest.raises(
        InputError, match=r"format markdown is the text of a \.md file.*; by its keys it is of format mem0"
    ):
        read_stores(write(tmp_path / "x.json", LISTING), IngestOptions(format="markdown"))
    with pytest.raises(InputError, match=r"this is JSON or a table$"):
        read_stores(write(tmp_path / "x.json", [1]), IngestOptions(format="markdown"))


def test_a_folder_that_is_no_package_is_told_with_those_in_it(tmp_path, capsys):
    (tmp_path / "all").mkdir()
    package(tmp_path / "all" / "package", tables())
    (tmp_path / "empty").mkdir()
    file = write(tmp_path / "q_bik.json", [{"id": "1", "text": "A"}])
    for folder, told in {
        "gone": "gone: no such folder",
        "all": f"no queries.jsonl there; is it {tmp_path / 'all' / 'package'}?",
        "empty": "no queries.jsonl there; name a folder in the coverage-package layout",
    }.items():
        command = ["ingest", str(file), "--instance-id", "q_bik", "--package", str(tmp_path / folder)]
        assert main(command) == 2
        assert told in capsys.readouterr().err
    assert main([*command[:-1], str(tmp_path / "all" / "package")]) == 2
    told = capsys.readouterr().err
    assert f"memaudit ingest: {file}, compared with " in told
    assert "found 'q_bik', nearest expected: 'q_bike': set instance_id" in told


def test_rows_of_another_user_in_a_file_of_one_example_are_told(tmp_path, capsys):
    """Whoever wrote the file: kept, and counted by id, in every format whose rows name a user."""
    rows = [{"id": str(i), "text": f"t{i}", "user_id": user} for i, user in enumerate(["q1", "q2", "q1", "q3"])]
    write(tmp_path / "q1.json", rows)
    write(
        tmp_path / "q2.json", {"results": [{"id": r["id"], "memory": r["text"], "user_id": r["user_id"]} for r in rows]}
    )
    passages = [{"id": r["id"], "text": r["text"], "user_id": r["user_id"], "archive_id": "a"} for r in rows]
    write(tmp_path / "q3.json", passages)
    (tmp_path / "q4.csv").write_text("id,text,user_id\n1,a,q1\n2,b,q1\n3,c,q2\n4,d,q3\n")
    for found in read_stores(tmp_path):
        count, told = found.report.warnings["several users"]
        assert (count, found.report.kept) == (3, 4) and told.startswith("'q1': 2, 'q2': 1, 'q3': 1; export one")
    assert [m.user_id for m in found.store.memories] == ["q1", "q1", "q2", "q3"]


def test_rows_of_another_example_in_a_file_of_one_are_told(tmp_path):
    rows = [{"id": "1", "text": "a"}, {"id": "2", "text": "b", "instance_id": "q2"}, {"id": "3", "text": "c"}]
    (found,) = read_stores(write(tmp_path / "x.json", rows), IngestOptions(instance_id="q1"))
    assert found.report.kept == 3
    assert found.report.warnings["rows of another example"][0] == 1
    assert "'q2': 1 in the store of q1" in found.report.warnings["rows of another example"][1]
    (named,) = read_stores(write(tmp_path / "x.json", [rows[1]] * 2))
    assert named.store.instance_id == "q2" and "rows of another example" not in named.report.warnings


def test_the_command_tells_memories_of_other_questions(tmp_path, capsys):
    package(tmp_path / "package", tables())
    rows = [{"id": i, "text": "t", "user_id": user} for i, user in enumerate(["q_tea", "q_tea", "alice"])]
    file = write(tmp_path / "q.json", rows)
    command = ["ingest", str(file), "--instance-id", "q_bike", "--package", str(tmp_path / "package")]
    assert main(command) == 0
    assert "memories with the user_id of others in the store of q_bike (q_tea: 2)" in capsys.readouterr().out


@pytest.mark.parametrize("wrapped", [False, True])
def test_rows_without_any_text_say_what_they_have(tmp_path, wrapped):
    rows = [{"id": "1", "user_id": "u", "created_at": "2024-01-01"}] * 3
    with pytest.raises(InputError) as error:
        read_stores(write(tmp_path / "x.json", {"results": rows} if wrapped else rows))
    assert "no row has a text: the first of 3 have the keys created_at, id, user_id, and texts," in str(error.value)
    assert "as strings, stand under text, memory, content, contents, fact; export the texts, or name their key" in str(
        error.value
    )


LONG_ID = "x" * 200_000
LONG_IDS = {
    "mem0": {"results": [{"id": "1", "memory": "A"}, {"id": LONG_ID, "memory": "B"}]},
    "generic": [{"id": "1", "text": "A"}, {"id": LONG_ID, "text": "B"}],
    "letta": [{"id": "1", "label": "human", "value": "A"}, {"id": LONG_ID, "label": "x", "value": "B"}],
    "amem": {"1": {"content": "A", "keywords": [], "context": "", "links": []}, LONG_ID: {"content": "B"}},
    "langgraph": [{"namespace": ["a"], "key": k, "value": {"text": "A"}} for k in ("1", LONG_ID)],
    "graphiti": [{"uuid": k, "fact": "A", "created_at": None} for k in ("1", LONG_ID)],
    "mcp_memory": {"entities": [{"name": n, "observations": ["A"]} for n in ("a", LONG_ID)], "relations": []},
    "written_stores": {"instance_id": "q", "memories": [{"memory_id": k, "text": "A"} for k in ("1", LONG_ID)]},
}


@pytest.mark.parametrize("name", LONG_IDS)
def test_an_id_as_long_as_a_text_is_refused_with_its_row(tmp_path, name):
    path = write(tmp_path / "x.json", LONG_IDS[name])
    with pytest.raises(InputError) as error:
        read_stores(path, IngestOptions(format=name))
    told = str(error.value)
    assert f"{path}: row 2: its id has 2000" in told and "an id at most 1000" in told and len(told) < 500


@pytest.mark.parametrize(
    ("row", "what"),
    [({"group": LONG_ID}, "row 1: its group"), ({"user_id": LONG_ID}, "row 1: its user_id"),
     ({"instance_id": LONG_ID}, "the store: its example's id")],
)  # fmt: skip
def test_every_id_has_the_same_limit(tmp_path, row, what):
    with pytest.raises(InputError, match=f"{what} has 200000 characters, an id at most 1000"):
        read_stores(write(tmp_path / "x.json", [{"id": "1", "text": "A", **row}]))
    (found,) = read_stores(write(tmp_path / "x.json", [{"id": "i" * 1000, "text": "A", "group": "g" * 1000}]))
    assert len(found.store.memories[0].memory_id) == 1000


def test_a_column_that_names_the_example_is_read(tmp_path):
    rows = [{"id": "1", "text": "A", "of": "q1"}, {"id": "1", "text": "B", "of": "q2"}]
    found = read_stores(write(tmp_path / "x.json", rows), IngestOptions(columns={"instance": "of", "text": "text"}))
    assert [(f.store.instance_id, texts(f)) for f in found] == [("q1", ["A"]), ("q2", ["B"])]
    assert found[0].report.ignored == ()
    with pytest.raises(InputError, match="format mem0 has its own"):
        read_stores(write(tmp_path / "x.json", LISTING), IngestOptions(format="mem0", columns={"text": "memory"}))


def test_columns_of_a_table_that_are_not_read_are_named(tmp_path):
    file = write(tmp_path / "rows.csv", b"text,importance,instance_id\nit is blue,3,q\n")
    (found,) = read_stores(file)
    assert found.report.ignored == ("importance",) and found.report.columns == {"text": ("text",)}
    rows = [row for row in found.report.rows() if row["what"] == "column"]
    assert {row["name"]: row["detail"] for row in rows} == {"text": "read as text", "importance": "ignored"}


def test_a_key_that_is_read_twice_has_one_row(tmp_path):
    file = write(tmp_path / "rows.json", [{"text": "it is blue", "at": "2024-01-01"}])
    (found,) = read_stores(file, IngestOptions(columns={"time": "at", "group": "at"}))
    rows = [row for row in found.report.rows() if row["name"] == "at"]
    assert len(rows) == 1 and set(rows[0]["detail"].removeprefix("read as ").split(" and ")) == {"time", "group"}


def test_a_format_of_its_own_ignores_nothing_by_name(tmp_path):
    listing = {"results": [{"id": "m", "memory": "it is blue", "hash": None}]}
    (found,) = read_stores(write(tmp_path / "m.json", json.dumps(listing).encode()), IngestOptions(format="mem0"))
    assert found.report.columns == {} and found.report.ignored == ()


def test_ids_are_compared_with_a_package(tmp_path, capsys):
    package = str(Path(__file__).parents[2] / "data" / "natural100" / "adjudicated")
    file = write(tmp_path / "rows.json", json.dumps([{"text": "it is blue"}]).encode())
    assert ingest_main([str(file), "--instance-id", "031748ae_abs", "--package", package]) == 0
    assert "1 of " in capsys.readouterr().out
    with pytest.raises(
        InputError, match=r"no store is of an example of the package; found .?q7.?, expected .*set instance_id"
    ):
        ingest_main([str(file), "--instance-id", "q7", "--package", package])
    assert ingest_main([str(file), "--instance-id", "q7"]) == 0
    assert "compared with nothing" in capsys.readouterr().out
