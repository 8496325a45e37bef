"""Adapters on exports of real systems (an invented conversation) and on every form that they take."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memaudit.errors import InputError
from memaudit.package import size_of
from memaudit.stores.adapters import ADAPTERS
from memaudit.stores.ingest import Document, ingest, match
from memaudit.stores.ingest_io import memory_columns, read_stores, report_columns
from memaudit.stores.labels import coverage_of, labels
from memaudit.stores.model import IngestOptions, Store
from memaudit.stores.registry import guess
from memaudit.stores.times import minute_stamp, to_utc
from memaudit.table_io import to_table

FIXTURES = Path(__file__).parents[1] / "fixtures" / "stores"


def one(content, parts=None, **options):
    documents = {name: Document(part, name) for name, part in (parts or {}).items()}
    (found,) = ingest(Document(content, "file"), IngestOptions(**options), documents)
    return found


def markdown(text):
    (found,) = ingest(Document(text, "file", is_text=True))
    return found


def load(name):
    return json.loads((FIXTURES / name).read_text("utf-8"))


def texts(found):
    return [m.text for m in found.store.memories]


def test_counts_add_up():
    for path, parts in [
        ("mem0_real.json", {"history": "mem0_history.json"}),
        ("mem0_v0118_real.json", {"history": "mem0_v0118_history.json"}),
        ("letta_core_blocks_real.json", {"archival": "letta_archival_slim.json"}),
        ("letta_export_v2_trimmed.af", {}),
        ("amem_pypi_real.json", {}),
        ("mcp_server_memory_real.jsonl", {}),
    ]:
        (found,) = read_stores(FIXTURES / path, parts={name: FIXTURES / part for name, part in parts.items()})
        report = found.report
        assert report.read == report.kept + report.tombstones + sum(report.skipped.values()), path
        assert len(found.store.memories) == report.kept + report.tombstones > 0
        assert found.store.system == guess(load(path)).system if not path.endswith(".jsonl") else True


# ---- mem0


def test_mem0_history_gives_tombstones():
    (found,) = read_stores(FIXTURES / "mem0_v0118_real.json", parts={"history": FIXTURES / "mem0_v0118_history.json"})
    gone = {m.memory_id: m.text for m in found.store.memories if m.representation_type == "tombstone"}
    assert gone == {
        "142d0750-1441-4f7c-a0ea-31cb6a04c608#deleted": "No longer valid: Ticket reference is BX-4471.",
        "3f918da1-1a94-4aa6-a85b-72173e9a3f4a#superseded.1": (
            "No longer valid: User live in Oslo and User work as a ferry engineer."
        ),
        "99707c32-7b4c-436d-befa-63a448bd9db8#superseded.1": (
            "No longer valid: User have a dentist appointment on 12 February at 08:30."
        ),
    }
    assert found.report.skipped["history: UPDATE that changes nothing"] == 1
    (plain,) = read_stores(FIXTURES / "mem0_v0118_real.json")
    assert plain.report.kept == found.report.kept == 9


def test_mem0_histories_of_all_pages_are_read():
    page = {"results": [{"id": "1", "memory": "A"}], "history": []}
    gone = [{"memory_id": "9", "event": "DELETE", "old_memory": "B", "new_memory": None}]
    assert texts(one([{**page, "history": gone}, page])) == ["A", "A", "No longer valid: B"]
    assert texts(one(page, {"history": gone})) == ["A", "No longer valid: B"]
    with pytest.raises(InputError, match="two histories, under the key history and as a part; keep one"):
        one({**page, "history": gone}, {"history": gone})


def test_mem0_live_memories_missing_from_the_listing_are_told():
    event = {"memory_id": "m2", "old_memory": None, "new_memory": "B", "event": "ADD", "created_at": None}
    history = {"m2": [event], "m1": [{**event, "memory_id": "m1", "event": "DELETE", "old_memory": "A"}]}
    found = one([{"id": "m1", "memory": "A"}], {"history": history})
    assert set(found.report.warnings) == {"deleted and listed", "not listed"}


def test_mem0_keys_of_other_versions():
    at = "2026-01-01T00:00:00.000Z"
    rows = [
        {"id": "1", "memory": "typescript", "createdAt": at, "userId": "mira"},
        {"id": "2", "payload": {"data": "payload", "created_at": at, "user_id": "mira", "hash": "h"}},
        {"id": "3", "data": "flat payload", "hash": "h", "created_at": at, "user_id": "mira"},
    ]
    for row in rows:
        (memory,) = one({"results": [row]}).store.memories
        assert (memory.time, memory.user_id) == (datetime(2026, 1, 1, tzinfo=UTC), "mira")
    assert [one([row]).store.memories[0].text for row in rows] == ["typescript", "payload", "flat payload"]


def test_mem0_events_of_a_memory_go_by_kind_then_time():
    """A deletion may be dated with the creation of what it deletes, or before; updates go by their own time."""

    def event(kind, old, new, updated_at):
        return {"memory_id": "m", "event": kind, "old_memory": old, "new_memory": new, "updated_at": updated_at}

    history = [
        event("DELETE", None, None, "2026-01-01T00:00:00Z"),
        event("UPDATE", "B", "C", "2026-01-04T00:00:00Z"),
        event("UPDATE", "A", "B", "2026-01-03T00:00:00Z"),
        event("ADD", None, "A", "2026-01-02T00:00:00Z"),
    ]
    found = one([], {"history": history}, format="mem0")
    gone = {m.memory_id: m.text for m in found.store.memories}
    assert gone == {
        "m#superseded.1": "No longer valid: A",
        "m#superseded.2": "No longer valid: B",
        "m#deleted": "No longer valid: C",
    }
    assert found.report.warnings == {}


@pytest.mark.parametrize(("rows", "warned"), [(20, True), (21, False), (100, True)])
def test_mem0_default_limits(rows, warned):
    found = one({"results": [{"id": str(i), "memory": f"m{i}"} for i in range(rows)]})
    assert ("a listing's default limit" in found.report.warnings) == warned


# ---- letta


def test_letta_views():
    content = {"blocks": load("letta_core_blocks_real.json"), "archival": load("letta_archival_slim.json")}
    both, core, archival = (one(content, view=view) for view in (None, "core", "archival"))
    assert (both.report.kept, core.report.kept, archival.report.kept) == (10, 2, 8)
    assert {m.view for m in both.store.memories} == {"core", "archival"}
    assert texts(both)[0].startswith("Name: Mira") and texts(both)[2].startswith("Mira lives in Oslo")
    assert core.report.notes == {"passages of the other view": 10}
    joined = one(load("letta_core_blocks_real.json"), {"archival": load("letta_archival_slim.json")})
    assert joined.store == both.store


LETTA_BLOCKS, LETTA_PASSAGES = [{"label": "human", "value": "A"}], [{"id": "passage-1", "text": "B"}]


@pytest.mark.parametrize("part", [{"results": LETTA_PASSAGES}, {"archival": {"passages": LETTA_PASSAGES}}, {}])
def test_letta_a_further_file_of_another_form_is_an_error(part):
    with pytest.raises(InputError, match="archival must be a list"):
        one({"blocks": LETTA_BLOCKS}, {"archival": part})


def test_letta_rows_under_every_key_are_read():
    assert texts(one({"blocks": LETTA_BLOCKS, "archival": [], "passages": LETTA_PASSAGES})) == ["A", "B"]
    with pytest.raises(InputError, match="archival must be a list, and is"):
        one({"blocks": LETTA_BLOCKS, "archival": {"passages": LETTA_PASSAGES}})


def test_letta_an_agent_without_blocks_is_an_empty_store():
    found = one({"agents": [{"id": "agent-0"}], "blocks": [], "files": []})
    assert found.store.system == "letta" and found.store.memories == ()


def test_letta_agent_file():
    path = FIXTURES / "letta_export_v2_trimmed.af"
    (found,) = read_stores(path)
    assert "no archival passages" in found.report.warnings and found.report.kept == 2
    assert "no archival passages" not in read_stores(path, IngestOptions(view="core"))[0].report.warnings
    with pytest.raises(InputError, match="no archival listing"):
        read_stores(path, IngestOptions(view="archival"))
    wrapped = one(path.read_text("utf-8"))  # a JSON string that holds the JSON
    assert wrapped.store == found.store


# ---- a-mem


def test_amem_views_share_a_group():
    notes = load("amem_pypi_real.json")
    both = one(notes, view="both")
    assert both.report.kept == 12 and len(both.store.memories) == 24
    groups = {}
    for memory in both.store.memories:
        groups.setdefault(memory.group, []).append(memory.view)
    assert set(map(tuple, groups.values())) == {("full", "metadata")}
    as_map = {note["id"]: {k: v for k, v in note.items() if k != "id"} for note in notes}
    assert one(as_map).store == one(notes).store
    assert one(notes).store.memories[0].text.startswith("content: Speaker mira says : I have a dentist")


def test_amem_metadata_is_cut():
    note = {"id": "n", "content": "C", "context": "w " * 90, "category": "c", "evolution_history": []}
    note |= {key: [f"{key[0]}{i}" for i in range(20)] for key in ("keywords", "tags", "links")}
    (memory,) = one([note], view="metadata").store.memories
    lines = dict(line.split(": ", 1) for line in memory.text.split("\n"))
    counts = {key: len(text.split()) for key, text in lines.items()}
    assert counts == {"context": 80, "keywords": 12, "tags": 12, "links": 8}
    (full,) = one([note]).store.memories
    assert full.text.count("k1, ") == 1 and "k19" in full.text and "l0" not in full.text


def elsewhere(**changes):
    return {
        "id": "n", "content": "", "context": "About hens.", "keywords": [], "links": [],
        "content_from": {"n_words": 3, "n_chars": 13, "n_bytes": 14} | changes,
    }  # fmt: skip


def test_a_note_whose_content_stands_elsewhere_has_its_size():
    found = one([elsewhere()], view="both")
    full, metadata = found.store.memories
    assert full.text == "content: [3 words that stand elsewhere]\ncontext: About hens."
    assert full.size == full.whole_size == size_of("content: Ei H\u00fchner da.\ncontext: About hens.")
    assert metadata.size is None and metadata.whole_size == size_of("context: About hens.")
    assert found.report.notes == {"notes whose content stands elsewhere, known by its counts": 1}
    assert found.report.warnings == {}
    assert texts(one([elsewhere() | {"content": "Hens."}])) == ["content: Hens.\ncontext: About hens."]


@pytest.mark.parametrize(
    "changes", [{"n_words": "3"}, {"n_words": True}, {"n_bytes": -1}, {"n_chars": 1}, {"n_bytes": 2**40}]
)
def test_counts_that_cannot_be_are_no_content(changes):
    found = one([elsewhere(**changes)])
    assert found.store.memories == () and found.report.skipped == {"no text": 1}
    assert list(found.report.warnings) == ["unreadable content_from"]


def test_an_empty_content_elsewhere_is_no_text():
    found = one([elsewhere(n_words=0, n_chars=0, n_bytes=0), elsewhere() | {"content_from": []}])
    assert found.store.memories == () and found.report.skipped == {"no text": 2}


def test_amem_times():
    times = {m.details["context"]: m.time for m in one(load("amem_pypi_real.json")).store.memories}
    assert times["evolved context #0"] == datetime(2026, 2, 3, 9, 15, tzinfo=UTC)
    assert times["Personal logistics note: Speaker assistant says : Done."] == datetime(2026, 5, 2, 7, 40, tzinfo=UTC)


# ---- others


def test_langgraph_and_graphiti_of_real_runs():
    misc = load("misc_generic_real.json")
    found = one(misc["langmem_after"])
    assert texts(found) == ["Mira lives in Bergen.", "Walnut allergy", "Mira prefers morning calls."]
    edges = one(misc["graphiti_edges"])
    assert texts(edges) == [
        "No longer valid: Mira lives in Oslo.",
        "Mira moved to Bergen.",
        "Mira is allergic to walnuts.",
    ]
    assert (edges.report.kept, edges.report.tombstones) == (2, 1)
    assert edges.store.memories[0].invalid_at == datetime(2026, 3, 14, tzinfo=UTC)
    off = one({"edges": misc["graphiti_edges"], "nodes": [misc["graphiti_node"]]}, tombstones=False)
    assert texts(off) == ["Mira moved to Bergen.", "Mira is allergic to walnuts."]
    assert off.report.skipped == {"tombstone, switched off": 1} and off.report.notes["nodes not read"] == 1
    with pytest.raises(InputError, match="no known format"):
        one(misc)


def test_mcp_memory_as_lines_and_as_a_graph():
    (lines,) = read_stores(FIXTURES / "mcp_server_memory_real.jsonl")
    assert texts(lines)[3:] == ["Card from Åse 🎂 日本語", "Mira lives in Bergen", "Mira used to live in Oslo"]
    assert lines.store.memories[0].details == {"entity": "Mira", "entity_type": "person"}
    rows = [json.loads(line) for line in (FIXTURES / "mcp_server_memory_real.jsonl").read_text("utf-8").splitlines()]
    graph = {
        "entities": [row for row in rows if row["type"] == "entity"],
        "relations": [row for row in rows if row["type"] == "relation"],
    }
    assert one(graph).store == lines.store


MARKDOWN = """---
name: memory
---
Mira, ferry engineer.

# Home
- Lives in Bergen,
  near the harbour
  - second floor
* Red bike: sold

Bergen since March.
## Health ##
1. Walnut allergy
## Code
```
- no bullet
```
---
# Empty
"""


def test_markdown():
    found = markdown(MARKDOWN)
    assert [(m.text, m.details.get("heading")) for m in found.store.memories] == [
        ("Mira, ferry engineer.", None),
        ("Lives in Bergen,\nnear the harbour", "Home"),
        ("second floor", "Home"),
        ("Red bike: sold", "Home"),
        ("Bergen since March.", "Home"),
        ("Walnut allergy", "Health"),
        ("## Code\n```\n- no bullet\n```", "Code"),
    ]
    assert found.report.skipped == {"front matter": 1, "heading without text": 3}
    assert markdown("").report.read == 0


def test_markdown_that_looks_like_json():
    (memory,) = markdown("[1, 2]\n").store.memories
    assert memory.text == "[1, 2]"


def test_generic_rows_in_a_second_list_are_told():
    found = one({"memories": [{"text": "A"}], "archived": [{"text": "B"}, {"text": "C"}], "tags": ["x"]})
    assert texts(found) == ["A"]
    told = "the first under 'archived'; put the rows that are memories into one list"
    assert found.report.warnings == {"rows in another list, not read": (2, told)}


def test_generic_columns():
    rows = [{"note": {"body": "A"}, "nr": 7, "when": "2026-01-02", "of": "g", "use": "0.5", "rank": "1"}]
    columns = {
        "text": "note.body",
        "id": "nr",
        "time": "when",
        "group": "of",
        "salience": "use",
        "native_order": "rank",
    }
    (memory,) = one(rows, columns=columns).store.memories
    assert (memory.text, memory.memory_id, memory.group, memory.salience, memory.native_order) == (
        "A",
        "7",
        "g",
        0.5,
        1,
    )
    assert memory.time == datetime(2026, 1, 2, tzinfo=UTC)
    with pytest.raises(InputError, match="no row has 'body'"):
        one(rows, columns={"text": "body"})
    with pytest.raises(InputError, match="'txt' is no role"):
        one(rows, columns={"txt": "body"})
    assert texts(one(["A", "B"])) == ["A", "B"] and one([]).store.memories == ()
    odd = one([{"text": "A", "salience": 2, "native_order": -1, "time": "soon"}])
    assert set(odd.report.warnings) == {
        "salience is no number in [0, 1]",
        "native order is no whole number >= 0",
        "unreadable time",
    }


def test_memories_without_the_salience_that_others_have_are_told():
    rows = [{"id": i, "text": i, "salience": value} for i, value in (("a", 0.5), ("b", None), ("c", 2))]
    told = one(rows).report.warnings["memories without salience"]
    assert told == (2, "the first is b; rule salience never keeps them")
    assert "memories without salience" not in one(rows[:1]).report.warnings
    assert "memories without salience" not in one(rows[1:]).report.warnings


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (
            {"results": [{"id": "1", "memory": "A", "metadata": {"timestamp": "2026-01-01"}}]},
            "nearest known: 'metadata.t",
        ),
        ([{"text": "A", "zzz": "2026-01-01"}, {"text": "B"}], "known: text, zzz"),
        ([{"id": "b", "label": "human", "value": "A"}], "known: id, label, value"),
        ([{"uuid": "u", "fact": "A"}], "known: fact, uuid"),
        ({"entities": [{"name": "n", "observations": ["A"]}], "relations": []}, "format mcp_memory reads no times"),
        ({"instance_id": "q", "memories": [{"memory_id": "1", "text": "A"}]}, "format written_stores reads no times"),
    ],
)
def test_a_time_key_that_no_row_has_is_told(content, told):
    report = one(content, time_key="metadata.timestmp").report
    count, detail = report.warnings["time_key of no row"]
    assert count == report.kept > 0
    assert detail.startswith(f"no row has a time under 'metadata.timestmp'; {told}")
    with pytest.raises(InputError, match="time_key of no row"):
        one(content, time_key="metadata.timestmp", strict=True)


def test_a_time_key_that_a_row_has_is_not_told():
    rows = [{"id": "1", "memory": "A"}, {"id": "2", "memory": "B", "metadata": {"at": "2026-01-01"}}]
    report = one(rows, time_key="metadata.at").report
    assert "time_key of no row" not in report.warnings
    assert report.notes["rows without a time under 'metadata.at'"] == 1
    assert one({"results": []}, time_key="metadata.at").report.warnings == {}


def test_a_time_key_that_no_column_is_called(tmp_path):
    (tmp_path / "a.csv").write_text("text,when\nA,2026-01-01\n")
    (found,) = read_stores(tmp_path / "a.csv", IngestOptions(time_key="whan"))
    assert found.report.warnings["time_key of no row"][1] == "no row has a time under 'whan'; nearest known: 'when'"


def test_repeated_and_missing_ids():
    found = one({"results": [{"id": i, "memory": f"m{n}"} for n, i in enumerate(["a", "a", "a#2", None, True, 5])]})
    ids = [m.memory_id for m in found.store.memories]
    assert ids == ["a", "a#3", "a#2", "row-4", "row-5", "5"]
    assert [m.group for m in found.store.memories] == ids
    assert found.report.warnings["no id"] == (2, "row 4: id is None; it is called row-4")
    assert found.report.warnings["repeated id"] == (1, "a stands again; it is called a#3")


@pytest.mark.parametrize(
    ("rows", "ids"),
    [
        ([{"id": None}, {"id": "row-1"}], ["row-1#2", "row-1"]),
        ([{"id": "a"}, {"id": "a"}, {"id": "a"}], ["a", "a#2", "a#3"]),
        ([{"id": "a"}, {"id": "a"}, {"id": "a#2", "memory": ""}], ["a", "a#3"]),
        ([{"id": "a"}, {"id": "a"}, {"id": "b", "replaced_by": "a#2"}], ["a", "a#3", "b"]),
        ([{"id": "m#deleted"}], ["m#deleted", "m#deleted#2"]),
    ],
)
def test_a_made_name_is_no_id_of_the_export(rows, ids):
    history = [{"memory_id": "m", "event": "DELETE", "old_memory": "gone", "new_memory": None}]
    rows = [{"memory": f"text {i}"} | row for i, row in enumerate(rows)]
    found = one({"results": rows} | ({"history": history} if "m#deleted" in ids else {}))
    assert [m.memory_id for m in found.store.memories] == ids


def test_rows_without_ids_leave_those_of_others_alone():
    found = one([{"text": "A"}, {"text": "B", "id": "row-1"}, {"text": "C", "group": "row-3"}])
    assert [(m.memory_id, m.group) for m in found.store.memories] == [
        ("row-1#2", "row-1#2"),
        ("row-1", "row-1"),
        ("row-3#2", "row-3"),
    ]


def test_labels_stay_with_their_memories_where_ids_repeat():
    """Labels of a repeated id are those of its first memory; the others have labels under the names they were given."""
    found = one({"results": [{"id": i, "memory": f"m{n}"} for n, i in enumerate(["a", "a", "a#2"])]}, instance_id="q")
    edges = [{"memory_id": i, "unit_id": unit, "coverage": 1} for i, unit in (("a", "u"), ("a#2", "v"))]
    covered = coverage_of(found.store, labels([("here", {"instance_id": "q", "coverage_edges": edges})], "file"))
    texts = {m.memory_id: m.text for m in found.store.memories}
    assert {texts[i]: row for (i, _), row in covered.cells.items()} == {"m0": {"u": 1.0}, "m2": {"v": 1.0}}
    assert covered.unlabelled == ("a#3",)


def test_half_characters_in_ids_can_be_written():
    row = {"id": "a\ud800", "memory": "A", "user_id": "u\ud800", "replaced_by": "b\ud800"}
    found = one({"results": [row]}, instance_id="q\ud800")
    (memory,) = found.store.memories
    assert (memory.memory_id, memory.user_id, memory.superseded_by) == ("a\ufffd", "u\ufffd", "b\ufffd")
    assert to_table("store_memories", memory_columns([found.store]))["instance_id"].to_pylist() == ["q\ufffd"]
    assert to_table("ingest", report_columns([found])).num_rows > 4


def test_rows_that_are_no_memories():
    found = one({"results": [{"id": "1", "memory": "A"}, 5, None, {"id": "2", "memory": ["x"]}]})
    assert found.report.skipped == {"row is no object": 2, "text is no string": 1}
    assert found.report.warnings.keys() == found.report.skipped.keys()


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ({"core_memory": [], "messages": [], "version": "0.7"}, "blocks and its archival listing"),
        ({"ids": ["1"], "documents": ["d"], "metadatas": [{"source": "s"}], "embeddings": None}, "Chroma dump"),
        ({"what": 1}, "name one of amem"),
        (7, "no known format"),
        ("A", "the JSON is one string"),
    ],
)
def test_refused(content, told):
    with pytest.raises(InputError, match=told):
        one(content)


def test_a_named_format_is_not_guessed():
    assert one([{"content": "A"}], format="generic").report.format == "generic"
    for name in ADAPTERS:
        with pytest.raises(InputError, match="file: "):
            one({"what": 1}, format=name)
    with pytest.raises(InputError, match="there is none of that name; one of amem"):
        one([], format="memo")
    with pytest.raises(InputError, match="one view only"):
        one([{"id": "1", "memory": "A"}], view="core")
    with pytest.raises(InputError, match="takes the parts none"):
        one([{"text": "A"}], {"history": []})


# ---- which example a store is of

A, B = {"results": [{"id": "1", "memory": "A"}]}, {"results": [{"id": "1", "memory": "B"}]}


@pytest.mark.parametrize(
    "content",
    [
        {"q1": A, "q2": B},
        {"q1": A["results"], "q2": B["results"]},
        [{"instance_id": "q1", "store": A}, {"instance_id": "q2", "store": B}],
        [{"instance_id": i, **c["results"][0]} for i, c in (("q1", A), ("q2", B))],
    ],
)
def test_several_stores_in_one_file(content):
    found = ingest(Document(content, "file"))
    assert [(f.store.instance_id, texts(f), f.report.system) for f in found] == [
        ("q1", ["A"], "mem0"),
        ("q2", ["B"], "mem0"),
    ]


def test_rows_split_by_a_key():
    rows = [{"id": str(i), "memory": f"m{i}", "user_id": u} for i, u in enumerate("aba")]
    for content in (rows, {"count": 4, "results": rows}):
        found = ingest(Document(content, "file"), IngestOptions(instance_key="user_id"))
        assert {f.store.instance_id: texts(f) for f in found} == {"a": ["m0", "m2"], "b": ["m1"]}
        reasons = ["2 of 3 memories", "1 of 2 memories"] if isinstance(content, dict) else []
        assert [r.split(";")[0] for f in found for r in f.report.partial] == reasons
    with pytest.raises(InputError, match="instance_key: no row has 'run_id'; nearest known: 'user_id'"):
        ingest(Document(rows, "file"), IngestOptions(instance_key="run_id"))


def test_empty_stores_have_the_format_of_the_others():
    found = ingest(Document({"q0": [], "q1": A["results"]}, "file"))
    assert [(f.store.instance_id, f.store.system, f.report.kept) for f in found] == [
        ("q0", "mem0", 0),
        ("q1", "mem0", 1),
    ]


def test_rows_of_several_users_are_told():
    rows = [{"id": u, "memory": u, "user_id": u} for u in "ab"]
    assert one(rows).report.warnings["several users"][0] == 2 and not one(rows[:1]).report.warnings


def test_one_store_says_its_example():
    assert one({"instance_id": "q1", **A}).store.instance_id == "q1"
    assert one(A, instance_id="q2").store.instance_id == "q2"
    assert one(A).store.instance_id is None


def test_match():
    def stores(*ids):
        return [Store("s", "mem0", i, ()) for i in ids]

    assert match(stores(None), ["q1"], "f").stores["q1"].instance_id == "q1"
    found = match(stores("q2", "x"), ["q1", "q2"], "f")
    assert (set(found.stores), found.without, found.unknown) == ({"q2"}, ("q1",), ("x",))
    with pytest.raises(InputError, match=r"f: no store is of an example .* found 'x', expected 'q1', 'q2'"):
        match(stores("x"), ["q1", "q2"], "f")
    with pytest.raises(InputError, match="does not say which example it is of; expected 'q1', 'q2'"):
        match(stores(None), ["q1", "q2"], "f")
    with pytest.raises(InputError, match="two stores"):
        match(stores("q1", "q1"), ["q1"], "f")
    assert match([], ["q1"], "f").without == ("q1",)


# ---- times


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2025-09-05 21:02:11.062577", datetime(2025, 9, 5, 21, 2, 11, 62577, tzinfo=UTC)),
        ("2025-09-05T21:02:11.123456789Z", datetime(2025, 9, 5, 21, 2, 11, 123456, tzinfo=UTC)),
        ("2026-03-15T08:00:00-07:00", datetime(2026, 3, 15, 15, tzinfo=UTC)),
        (1672567200, datetime(2023, 1, 1, 10, tzinfo=UTC)),
        ("1612112010100", datetime(2021, 1, 31, 16, 53, 30, 100000, tzinfo=UTC)),
        ("1612112010.5", datetime(2021, 1, 31, 16, 53, 30, 500000, tzinfo=UTC)),
        ("1612112010100.0", datetime(2021, 1, 31, 16, 53, 30, 100000, tzinfo=UTC)),
        ("  ", None),
        (None, None),
    ],
)
def test_times(value, expected):
    assert to_utc(value) == expected


@pytest.mark.parametrize("value", ["soon", True, [], 1e300, float("nan"), 10**400, "0001-01-01T00:00:00+14:00"])
def test_no_times(value):
    with pytest.raises(ValueError, match="time"):
        to_utc(value)


def test_minute_stamps():
    assert minute_stamp(202611301008) == minute_stamp("202611301008") == datetime(2026, 11, 30, 10, 8, tzinfo=UTC)
    with pytest.raises(ValueError):
        minute_stamp("202613301008")
