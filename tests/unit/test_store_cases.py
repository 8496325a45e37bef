"""Odd shapes that real memory systems export, one test a line of fixtures/store_cases.jsonl."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memaudit import costs
from memaudit.errors import InputError
from memaudit.package import size_of
from memaudit.stores.documents_io import read_document
from memaudit.stores.ingest import Document, ingest
from memaudit.stores.ingest_io import memory_columns
from memaudit.stores.model import IngestOptions
from memaudit.table_io import to_table

CASES = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "fixtures" / "store_cases.jsonl").read_text("utf-8").splitlines()
]


def payload(shape):
    """The payload of the one case whose shape begins so."""
    (case,) = (c for c in CASES if c["shape"].startswith(shape))
    return case["payload"]


def read(shape, **options):
    (found,) = ingest(Document(payload(shape), "case"), IngestOptions(**options))
    return found.store.memories, found.report


def texts(memories):
    return [m.text for m in memories]


def short(memories):
    """The last two digits of each id, as the cases name them."""
    return [m.memory_id[-2:] for m in memories]


def test_a_deletion_without_time_before_its_addition():
    content = {"results": [], **payload("history DELETE row has null created_at")}
    ((tombstone,), report) = next((f.store.memories, f.report) for f in ingest(Document(content, "case")))
    assert (tombstone.representation_type, tombstone.time) == ("tombstone", None)
    assert tombstone.memory_id == "0000005a-1111-4222-8333-00000000005a#deleted"
    assert tombstone.text == "No longer valid: Mira keeps a spare key at Lund's."
    assert report.warnings == {} and report.skipped == {"history: ADD": 1}


def test_a_history_alone_is_no_store_unless_all_is_deleted():
    """What a history that ends in deletions only leaves is an empty store, which strict mode wants a listing of."""
    content = payload("history DELETE row has null created_at")
    deletion, addition = content["history"]
    listed = ingest(Document({"results": [], **content}, "case"))[0]
    for history in (content, content["history"], {deletion["memory_id"]: content["history"]}, [deletion]):
        (found,) = ingest(Document(history, "case"))
        assert [replace(m, position=1) for m in found.store.memories] == list(listed.store.memories)
        assert (found.report.kept, found.report.tombstones) == (0, 1)
        assert list(found.report.warnings) == ["no listing"]
    with pytest.raises(InputError, match="strict"):
        ingest(Document(content, "case"), IngestOptions(strict=True))
    for lives in ([addition], [deletion, {**addition, "memory_id": "b"}]):
        with pytest.raises(InputError, match=r"a history and no listing, and by it memory \S+ lives; .*get_all"):
            ingest(Document(lives, "case"))
    with pytest.raises(InputError, match="two histories"):
        ingest(Document([deletion], "case"), parts={"history": Document([deletion], "part")})


@pytest.mark.parametrize("listing", [[], {"results": []}])
def test_a_history_beside_an_empty_listing(listing):
    """An empty list may be of any format; the part says of which."""
    history = payload("history DELETE row has null created_at")["history"]
    (found,) = ingest(Document(listing, "case"), IngestOptions(strict=True), {"history": Document(history, "part")})
    assert (found.store.system, found.report.kept, found.report.tombstones) == ("mem0", 0, 1)


def test_offsets_are_turned_into_utc():
    memories, _ = read("US/Pacific offsets")
    assert texts(memories) == ["The kiln was fired at cone 10.", "The kiln was fired at cone 6."]
    assert memories[1].time == datetime(2025, 2, 4, 7, 30, 0, 100000, tzinfo=UTC)


def test_contradicting_facts_stay_live():
    memories, report = read("add-only pipeline")
    assert short(memories) == ["05", "06"] and report.tombstones == 0
    assert all(m.superseded_by is None and m.invalid_at is None for m in memories)


def test_a_store_may_be_empty():
    memories, report = read("contradiction removes the old fact")
    assert (report.kept, report.tombstones, report.warnings) == (0, 1, {})
    assert memories[0].time == datetime(2026, 1, 9, 8, tzinfo=UTC)
    memories, report = read("contradiction removes the old fact", tombstones=False)
    assert memories == () and report.skipped["tombstone, switched off"] == 1


def test_repeats_are_reported_and_not_merged():
    memories, report = read("mass exact and near duplicates")
    assert short(memories) == ["0a", "0b", "0c", "0d"]
    assert texts(memories)[3] == "The user prefers vim. "
    assert (report.kept, report.duplicates) == (4, 1)


def test_rows_of_nulls_are_counted():
    memories, report = read("listing rows whose id and memory are both null")
    assert texts(memories) == ["Ferry leaves at 07:10."]
    assert (report.read, report.kept, report.skipped) == (3, 1, {"no text": 2})


def test_a_first_page_is_partial():
    memories, report = read("truncated export")
    assert texts(memories) == ["A", "B"]
    assert any("2 of 5" in reason for reason in report.partial) and any("next" in reason for reason in report.partial)
    with pytest.raises(InputError, match=r"strict.*\n.*\n.*partial"):
        read("truncated export", strict=True)


def test_pages_are_joined():
    first = payload("truncated export")
    last = {"count": 3, "next": None, "previous": "x", "results": [{"id": "c", "memory": "C"}]}
    (found,) = ingest(Document([{**first, "count": 3}, last], "case"), IngestOptions(strict=True))
    assert (found.report.kept, found.report.partial) == (3, ())


def test_times_of_an_import():
    _, report = read("back-filled history")
    assert "within one second" in report.warnings["times of an import"][1]
    memories, report = read("back-filled history", time_key="metadata.timestamp")
    assert texts(memories) == ["User bought skis.", "User went to Tromsø last week."]
    assert [m.time for m in memories] == [
        datetime(2023, 1, 1, 10, tzinfo=UTC),
        datetime(2023, 5, 24, 10, tzinfo=UTC),
    ]
    assert report.warnings == {}


def test_a_bare_list_is_a_listing():
    bare = payload("pre-1.0 API v1.0")
    wrapped = {"results": bare, "relations": [{"source": "a", "relationship": "b", "target": "c"}]}
    one, two = (ingest(Document(content, "case"))[0] for content in (bare, wrapped))
    assert one.store == two.store and one.store.memories[0].time == datetime(2024, 9, 1, 17, tzinfo=UTC)
    assert two.report.notes == {"graph relations not read": 1} and two.report.read == 1
    assert ingest(Document({"results": bare, "relations": None}, "case"))[0].report == one.report


def test_lifecycle_fields():
    memories, report = read("hosted platform lifecycle fields")
    old, new = memories
    assert old.superseded_by == new.memory_id and new.superseded_by is None
    assert old.details["expiration_date"] == "2026-02-15" and old.details["lifecycle_state"] == "archived"
    assert report.kept == 2 and report.partial == ()


def test_a_block_longer_than_its_limit():
    ((memory,), report) = read("block text longer than its own limit")
    assert costs.BUILT_IN["chars"](size_of(memory.text)) == 2500
    assert list(report.warnings) == ["longer than its limit"]


def test_embeddings_are_no_text():
    memories, report = read("four archival passages")
    assert report.kept == 4 and all(m.view == "archival" for m in memories)
    assert [m.details.get("tags", []) for m in memories] == [[], [], ["tea"], ["tea", "taste"]]
    assert "embedding" not in json.dumps(memory_columns([ingest(Document(payload("four"), ""))[0].store]), default=str)


def test_passages_without_dates():
    memories, report = read("archival listing of an old server")
    assert texts(memories) == ["Piano tuned in May.", "Piano sold."]
    assert [m.time for m in memories] == [None, None] and report.system == "letta"


def test_empty_and_long_passages():
    ((memory,), report) = read("empty block, blank passage")
    assert len(memory.text) == 12_000 and report.skipped == {"no text": 3}


def test_links_are_kept_as_they_are():
    memories, report = read("links are list positions")
    assert memories[1].details["links"] == ["0", "00000032-1111-4222-8333-000000000032", "no-such-id", 99]
    assert short(memories) == ["32", "33"] and report.kept == 2
    views, _ = read("links are list positions", view="metadata")
    assert views[1].text == (
        "context: Garden\nkeywords: heat\ntags: x\nlinks: 0, 00000032-1111-4222-8333-000000000032, no-such-id, 99"
    )


def test_content_of_other_types():
    memories, _ = read("type drift after a cold read")
    assert texts(memories) == [
        "content: 4471\ncontext: General",
        'content: ["walnuts", "pecans"]\ncontext: General',
    ]
    assert memories[0].time == datetime(2026, 11, 30, 10, 8, tzinfo=UTC)


def test_a_chroma_dump_of_notes():
    ((memory,), report) = read("raw Chroma dump")
    assert memory.text == "content: Mira moved.\ncontext: relocation\nkeywords: moved, Tromsø\ntags: a, b"
    assert memory.time == datetime(2026, 3, 20, 18, 2, tzinfo=UTC) and report.format == "amem"


def test_naive_and_aware_times_compare():
    memories, report = read("naive and aware datetimes")
    assert texts(memories) == ["Ledger opened.", "Ledger closed.", "Ledger audited."]
    assert memories[2].time == datetime(2025, 9, 5, 21, 2, 13, 500000, tzinfo=UTC)
    assert report.warnings == {}


def test_facts_that_end():
    memories, report = read("same fact true in two", as_of=datetime(2026, 11, 30, tzinfo=UTC))
    kinds = {m.memory_id[-2:]: m.representation_type for m in memories}
    assert kinds == {"45": "tombstone", "46": "memory", "47": "memory"}
    assert list(report.warnings) == ["ends before it begins"]
    # Without a time of export: nothing is known to be past that had not ended at the last write.
    memories, _ = read("same fact true in two")
    assert {m.representation_type for m in memories} == {"memory"} and len(memories) == 3


def test_damaged_lines(tmp_path):
    path = tmp_path / "memory.jsonl"
    path.write_text(payload("JSONL damaged by concurrent writes"), "utf-8")
    (found,) = ingest(read_document(path))
    assert texts(found.store.memories) == [
        "Ferry engineer",
        "Ferry engineer",
        "Mira lives in Bergen",
        "Mira left Nowhere",
    ]
    report = found.report
    assert report.skipped == {"entity without observations": 1, "line that is no JSON": 1}
    assert "line 4" in report.warnings["line that is no JSON"][1]
    assert report.notes == {"lines that hold several values": 1} and report.duplicates == 1


def test_values_of_any_shape():
    memories, _ = read("store items: arbitrary value shapes")
    assert {m.memory_id: m.text for m in memories} == {
        "memories/mira/k1": "Lives in Bergen.",
        "memories/mira/k2": "Walnut allergy",
        "memories/k3": '{"profile":{"name":"Mira","langs":["nb"]}}',
    }


def test_unicode():
    memories, report = read("unicode: NFD vs NFC")
    assert texts(memories)[2:] == ["a\u200bb \u202eabc\u202c \U0001f469\u200d\U0001f680", "x\0y", "bad \ufffd end"]
    assert report.duplicates == 1 and list(report.warnings) == ["half a surrogate pair"]
    (found,) = ingest(Document(payload("unicode"), ""))
    table = to_table("store_memories", memory_columns([found.store]))
    assert sorted(table["text"].to_pylist()) == sorted(texts(memories))


def test_every_case_has_a_test():
    """There is one test or more above for each of these; a line that is added needs one."""
    assert len(CASES) == 22
