"""A small invented coverage package as rows, changed and written by the tests of coverage packages."""

import copy
import gzip
import json

from memaudit.natural.coverage_rows import MANIFEST, TABLE_FILES

OLD, NEW = "user: My bicycle is red.\nassistant: Nice.", "user: I painted the bicycle blue,\n it is red no more."
TEA = "user: I drink three cups of tea a day."

TABLES = {
    "queries": [
        {
            "query_id": "q_tea",
            "question": "How many cups of tea do I drink?",
            "answer": 3,
            "category": "single-session",
            "required_unit_ids": ["q_tea::u1"],
            "answer_session_ids": ["s3"],
        },
        {
            "query_id": "q_bike",
            "question": "What colour is my bicycle now?",
            "answer": "blue",
            "category": "knowledge-update",
            "required_unit_ids": ["q_bike::new", "q_bike::gone"],
            "primary_required_unit_ids": ["q_bike::new"],
            "answer_session_ids": ["s1", "s2"],
            "adjudication_status": "corrected",
        },
    ],
    "experiences": [
        {"experience_id": "q_bike::s2", "session_id": "s2", "timestamp": "2024/03/02 (Sat) 10:00", "text": NEW},
        {"experience_id": "q_bike::s1", "session_id": "s1", "timestamp": "2024/02/01 (Thu) 10:00", "text": OLD},
        {"experience_id": "q_tea::s3", "session_id": "s3", "timestamp": "2024-01-05T08:00:00", "text": TEA},
    ],
    "units": [
        {
            "unit_id": "q_bike::old",
            "kind": "stale_or_superseded",
            "canonical_text": "The bicycle was red.",
            "source_spans": [{"span_id": "q_bike::p1", "session_id": "s1", "text": "My bicycle is red."}],
        },
        {
            "unit_id": "q_bike::new",
            "kind": "current_fact",
            "canonical_text": "The bicycle is blue.",
            "source_spans": [{"experience_id": "q_bike::s2", "text": "I painted the bicycle blue"}],
            "unit_weight": 2.5,
        },
        {
            "unit_id": "q_bike::gone",
            "kind": "invalidation",
            "canonical_text": "The bicycle is no longer red.",
            "source_spans": [{"session_id": "s2", "text": "it is red  no\nmore"}],
        },
        {
            "unit_id": "q_bike::aside",
            "kind": "context",
            "canonical_text": "Somebody said nice.",
            "source_spans": [{"text": "assistant: Nice."}],
        },
        {
            "unit_id": "q_tea::u1",
            "kind": "preference",
            "canonical_text": "Three cups a day.",
            "source_spans": [{"session_id": "s3", "text": "three cups of tea"}],
        },
    ],
    "candidates": [
        {
            "candidate_id": "q_bike::c1",
            "experience_id": "q_bike::s1",
            "representation_type": "atomic_fact",
            "text": "not this",
            "serialized": "bicycle: red",
            "cost": 2,
            "confidence": 0.75,
            "generator_id": "g",
        },
        {
            "candidate_id": "q_bike::c2",
            "experience_id": "q_bike::s2",
            "representation_type": "tombstone",
            "text": "bicycle: not red",
            "cost_tokens": 3,
            "confidence": 0,
            "generator_id": "g",
        },
        {
            "candidate_id": "q_bike::c3",
            "experience_id": "q_bike::s2",
            "representation_type": "compound_update",
            "text": "bicycle: red before, blue now",
            "cost": 5.0,
            "cost_tokens": 50,
            "estimated_value": 1.5,
            "estimated_coverage": {"q_bike::new": 0.5},
        },
        {
            "candidate_id": "q_bike::c4",
            "candidate_group": "q_bike::loose",
            "representation_type": "summary",
            "serialized": "",
            "text": "about a bicycle",
            "cost": 3,
        },
        {"candidate_id": "q_bike::c5", "representation_type": "skill", "cost": 9, "time_index": 7},
        {
            "candidate_id": "q_tea::c1",
            "experience_id": "q_tea::s3",
            "representation_type": "raw_span",
            "text": TEA,
            "cost": 9,
        },
    ],
    "coverage": [
        {"candidate_id": "q_bike::c1", "unit_id": "q_bike::old", "coverage": 1, "coverage_label": "full"},
        {"candidate_id": "q_bike::c2", "unit_id": "q_bike::gone", "fidelity": 1.0, "annotator_ids": ["m1", "m2"]},
        {"candidate_id": "q_bike::c3", "unit_id": "q_bike::new", "coverage": 0.5, "coverage_label": "partial_weak"},
        {"candidate_id": "q_bike::c3", "unit_id": "q_bike::gone", "coverage": 0.0, "adjudication_status": "accepted"},
        {"candidate_id": "q_tea::c1", "unit_id": "q_tea::u1", "coverage": 1.0},
    ],
}
GENERATION = {
    "allowed_inputs": ["session text", "answer_session timestamp"],
    "forbidden_inputs": ["question", "answer"],
}


def tables():
    """A copy to change."""
    return copy.deepcopy(TABLES)


def row(rows, name):
    """The row that has `name` as its own id."""
    return next(r for r in rows if name in (r.get(k) for k in ("query_id", "experience_id", "unit_id", "candidate_id")))


def write(folder, rows, manifest=GENERATION, packed=()):
    """Write rows (table -> objects or raw lines); tables in `packed` gzipped."""
    folder.mkdir(exist_ok=True)
    for table, objects in rows.items():
        lines = [o if isinstance(o, str) else json.dumps(o, ensure_ascii=False) for o in objects]
        # Half a surrogate pair can only stand as an escape.
        data = "".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace")
        name = TABLE_FILES[table]
        if table in packed:
            (folder / f"{name}.gz").write_bytes(gzip.compress(data))
        else:
            (folder / name).write_bytes(data)
    if manifest is not None:
        (folder / MANIFEST).write_text(json.dumps(manifest))
    return folder
