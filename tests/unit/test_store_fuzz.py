"""Whatever JSON an export holds: a store whose counts add up and that can be written, or an InputError."""

from datetime import UTC, datetime

from hypothesis import given, settings
from hypothesis import strategies as st

from memaudit.errors import InputError
from memaudit.stores.adapters import ADAPTERS
from memaudit.stores.builder import in_time_order
from memaudit.stores.ingest import Document, ingest
from memaudit.stores.ingest_io import memory_columns, report_columns
from memaudit.stores.labels import coverage_of, labels, salience_of
from memaudit.stores.model import IngestOptions, Memory
from memaudit.table_io import to_table

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.sampled_from([2**70, -(10**30), 202602030915, 1672567200, 1e300, 0.5, "", "  ", "A", "B\ud800", "2026-01-01"])
    | st.sampled_from(["ADD", "UPDATE", "DELETE", "entity", "relation", "passage-1", "block-1", '["a"]', "0001-01-01"])
)
KEYS = [
    "id",
    "memory",
    "data",
    "payload",
    "hash",
    "metadata",
    "created_at",
    "updated_at",
    "createdAt",
    "user_id",
    "replaced_by",
    "results",
    "history",
    "relations",
    "count",
    "next",
    "previous",
    "event",
    "memory_id",
    "old_memory",
    "new_memory",
    "label",
    "value",
    "limit",
    "text",
    "contents",
    "archive_id",
    "is_deleted",
    "blocks",
    "archival",
    "agents",
    "tags",
    "content",
    "keywords",
    "links",
    "context",
    "timestamp",
    "namespace",
    "key",
    "uuid",
    "fact",
    "valid_at",
    "invalid_at",
    "expired_at",
    "group_id",
    "edges",
    "nodes",
    "type",
    "name",
    "entityType",
    "observations",
    "from",
    "to",
    "relationType",
    "entities",
    "instance_id",
    "store",
    "memories",
    "core_memories",
    "archival_memories",
    "full_text",
    "metadata_text",
    "native_order",
    "salience",
    "ids",
    "documents",
    "metadatas",
]


def rows(inner):
    return st.dictionaries(st.sampled_from(KEYS), inner, max_size=7)


CONTENTS = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=4) | rows(inner) | rows(inner), max_leaves=25)


def shaped(*keys):
    """Lists of rows that have these keys, of whatever value, and maybe others."""
    inner = SCALARS | st.lists(SCALARS, max_size=2) | rows(SCALARS)
    return st.lists(
        st.fixed_dictionaries({k: inner for k in keys}, optional={k: inner for k in KEYS if k not in keys}), max_size=4
    )


SHAPES = {
    "mem0": st.fixed_dictionaries(
        {"results": shaped("id", "memory")},
        optional={"history": shaped("memory_id", "event", "old_memory"), "next": SCALARS},
    ),
    "letta": st.fixed_dictionaries({"blocks": shaped("id", "label", "value"), "archival": shaped("id", "text")}),
    "amem": shaped("id", "content", "keywords", "context", "timestamp"),
    "langgraph": shaped("namespace", "key", "value"),
    "graphiti": shaped("uuid", "fact", "valid_at", "invalid_at", "expired_at"),
    "mcp_memory": shaped("type", "name", "observations", "from", "to", "relationType"),
    "generic": shaped("text"),
    "written_stores": st.fixed_dictionaries(
        {"memories": shaped("memory_id", "text")}, optional={"native_order": CONTENTS}
    ),
    "markdown": st.text(alphabet="#-*`> \n\r1.aé~", max_size=60),
}


def check(content, options):
    try:
        found = ingest(
            Document(content, "file", is_text=options.format == "markdown" and isinstance(content, str)), options
        )
    except InputError as error:
        assert str(error).startswith("file: ") and len(str(error)) < 5000
        return
    for one in found:
        report, memories = one.report, one.store.memories
        assert report.read == report.kept + report.tombstones + sum(report.skipped.values())
        assert len({(m.memory_id, m.view) for m in memories}) == len(memories)
        assert all(m.text.strip() for m in memories)
        times = [m.time for m in memories if m.time is not None]
        assert times == sorted(times) and all(t.utcoffset().total_seconds() == 0 for t in times)
    assert to_table("store_memories", memory_columns(one.store for one in found)).num_rows == sum(
        len(one.store.memories) for one in found
    )
    to_table("ingest", report_columns(found))


def test_every_format_has_a_shape():
    assert set(SHAPES) == set(ADAPTERS)


@settings(max_examples=400)
@given(CONTENTS, st.sampled_from([None, *ADAPTERS]), st.booleans())
def test_any_json(content, name, tombstones):
    check(content, IngestOptions(format=name, tombstones=tombstones))


@settings(max_examples=300)
@given(st.data(), st.sampled_from(sorted(SHAPES)))
def test_nearly_right_exports(data, name):
    views = [None, *ADAPTERS[name].views]
    options = IngestOptions(format=name, view=data.draw(st.sampled_from(views)), strict=data.draw(st.booleans()))
    check(data.draw(SHAPES[name]), options)


@settings(max_examples=100)
@given(
    st.lists(
        rows(CONTENTS) | st.fixed_dictionaries({"instance_id": st.just("q"), "coverage_edges": CONTENTS}), max_size=3
    )
)
def test_any_labels(given_rows):
    store = ingest(Document({"results": [{"id": "A", "memory": "A"}]}, ""), IngestOptions(instance_id="q"))[0].store
    for use in (coverage_of, salience_of):
        try:
            use(store, labels([("line 1", row) for row in given_rows], "file"))
        except InputError as error:
            assert str(error).startswith("line 1: ")


@given(st.lists(st.none() | st.integers(0, 3), max_size=8))
def test_memories_without_a_time_keep_their_place(numbers):
    times = [None if n is None else datetime(2026, 1, 1 + n, tzinfo=UTC) for n in numbers]
    memories = [Memory(str(i), "t", i, str(i), time=time) for i, time in enumerate(times)]
    ordered = in_time_order(reversed(memories))
    assert [m.position for m in ordered if m.time is None] == [i for i, m in enumerate(ordered) if m.time is None]
    dated = [(m.time, m.position) for m in ordered if m.time is not None]
    assert dated == sorted(dated)
