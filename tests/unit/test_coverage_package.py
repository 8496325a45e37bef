"""Packages from coverage-package folders: every rule of the layout, worked out by hand; round trip."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from coverage_folders import NEW, OLD, TEA, row, tables, write

from memaudit.errors import InputError
from memaudit.natural.build import build_packages
from memaudit.natural.conversations_io import load_examples
from memaudit.natural.coverage_package import (
    DEFAULT_OPTIONS,
    CoverageOptions,
    build_coverage,
    examples,
    time_ranks,
    unit_role,
)
from memaudit.natural.coverage_package_io import load_coverage_package, package_files, write_coverage_package
from memaudit.natural.coverage_rows import EvidenceUnit, Place
from memaudit.natural.coverage_write import package_rows
from memaudit.natural.free_dates import read_date
from memaudit.package_io import PACKAGE_TABLES, package_tables
from memaudit.suites_io import build_suite, source_files

INVENTED = Path(__file__).parents[1] / "fixtures" / "longmemeval_invented.json"
SOURCE = {
    "source": "coverage_package",
    "quantize": None,
    "weights": "required",
    "paper_defaults": False,
    "own": False,
    "strict": False,
}


def built(folder, options=DEFAULT_OPTIONS):
    return build_coverage(load_coverage_package(folder, options), "natural", options)


def one(result, package_id="q_bike"):
    return next(p for p in result.packages if p.package_id == package_id)


def content(package):
    tables = package_tables([package], suite=package.suite, label_source="x")
    return {name: tables[name].to_pylist() for name in PACKAGE_TABLES}


def test_one_package_a_query_sorted_by_id(tmp_path):
    result = built(write(tmp_path, tables()))
    assert [(p.package_id, p.distribution, p.seed) for p in result.packages] == [
        ("q_bike", "knowledge-update", None),
        ("q_tea", "single-session", None),
    ]
    assert result.unscored == []
    (query,) = one(result, "q_tea").queries
    assert (query.text, query.answer, query.required) == ("How many cups of tea do I drink?", "3", ("q_tea::u1",))


def test_candidates_groups_costs_texts_and_times(tmp_path):
    package = one(built(write(tmp_path, tables())))
    v = package.visible
    assert v.group_ids == ("q_bike::s1", "q_bike::s2", "q_bike::loose", "q_bike::c5")
    columns = (v.candidate_ids, v.text, v.cost.tolist(), v.confidence.tolist(), v.time_index.tolist())
    assert list(zip(*columns, strict=True)) == [
        ("q_bike::c1", "bicycle: red", 2, 0.75, 0),  # serialized before text; s1 is earlier, though listed later
        ("q_bike::c2", "bicycle: not red", 3, 1.0, 1),  # cost_tokens without a cost; confidence 0 is 1
        ("q_bike::c3", "bicycle: red before, blue now", 5, 1.0, 1),  # cost before cost_tokens
        ("q_bike::c4", "about a bicycle", 3, 1.0, 2),  # no experience: after all that have one
        ("q_bike::c5", None, 9, 1.0, 7),
    ]
    assert v.estimated_value == (None, None, 1.5, None, None)
    assert v.estimated_coverage[2] == {"q_bike::new": 0.5}
    assert package.coverage_row(1) == {"q_bike::gone": 1.0}
    assert package.coverage_row(2) == {"q_bike::new": 0.5}


def test_weights_and_roles(tmp_path):
    folder = write(tmp_path, tables())
    package = one(built(folder))
    assert {u.unit_id: (u.weight, u.role) for u in package.units} == {
        "q_bike::aside": (0.0, ""),
        "q_bike::gone": (1.0, "invalidation"),
        "q_bike::new": (2.5, "current"),
        "q_bike::old": (0.0, "stale"),
    }
    uniform = one(built(folder, CoverageOptions(weights="uniform")))
    assert {u.unit_id: (u.weight, u.role) for u in uniform.units} == {
        "q_bike::aside": (1.0, "current"),
        "q_bike::gone": (1.0, "invalidation"),
        "q_bike::new": (1.0, "current"),
        "q_bike::old": (1.0, "stale"),
    }
    assert uniform.queries == package.queries


@pytest.mark.parametrize(
    ("kind", "state", "role", "weight", "expected"),
    [
        ("current_fact", None, None, 1.0, "current"),
        ("current_fact", "superseded", None, 1.0, "stale"),
        ("invalidation", "stale", None, 1.0, "invalidation"),  # the kind goes first
        ("current_fact", "current", None, 0.0, ""),
        ("invalidation", None, "current", 0.0, "current"),  # stated by a package written here
        (None, None, "", 1.0, ""),
    ],
)
def test_role(kind, state, role, weight, expected):
    unit = EvidenceUnit(Place("f", 1), "u", kind, state, role, None, weight, ())
    assert unit_role(unit, weight) == expected


def test_labels_name_their_source_and_keep_zeros(tmp_path):
    rows = tables()
    rows["coverage"].append(
        {"candidate_id": "q_bike::c2", "unit_id": "q_bike::gone", "coverage": 0.5, "annotator_ids": ["m1"]}
    )
    result = built(write(tmp_path, rows))
    labels = [tuple(label.values())[1:] for label in result.labels if label["package_id"] == "q_bike"]
    assert labels == [
        ("q_bike::c1", "q_bike::old", "package", "1", 1.0, "unstated", "row", 1),
        ("q_bike::c2", "q_bike::gone", "m1", "1", 1.0, "unstated", "row", 2),
        ("q_bike::c2", "q_bike::gone", "m2", "1", 1.0, "unstated", "row", 2),
        ("q_bike::c3", "q_bike::new", "package", "1", 0.5, "unstated", "row", 3),
        ("q_bike::c3", "q_bike::gone", "package", "1", 0.0, "accepted", "row", 4),
        ("q_bike::c2", "q_bike::gone", "m1", "2", 0.5, "unstated", "row", 6),
    ]
    assert one(result).coverage_row(1) == {"q_bike::gone": 1.0}  # the largest of the two counts
    assert [w["kind"] for w in result.warnings if w["kind"] == "duplicate_coverage"] == ["duplicate_coverage"]
    made = package_tables(
        result.packages, suite="natural", label_source="x", labels=result.labels, primary=result.primary
    )
    assert len(made["labels"]) == 7
    primary = {r["unit_id"]: r["primary"] for r in made["requirements"].to_pylist()}
    assert primary == {"q_bike::gone": False, "q_bike::new": True, "q_tea::u1": True}


def test_largest_duplicate_counts_in_either_order(tmp_path):
    rows = tables()
    rows["coverage"].insert(0, {"candidate_id": "q_bike::c1", "unit_id": "q_bike::old", "coverage": 0.25})
    assert one(built(write(tmp_path, rows))).coverage_row(0) == {"q_bike::old": 1.0}


def test_what_cannot_be_scored_is_listed_with_the_reason(tmp_path):
    rows = tables()
    query = row(rows["queries"], "q_tea")
    rows["queries"] += [
        {**query, "query_id": "q_a", "required_unit_ids": []},
        {**query, "query_id": "q_b", "required_unit_ids": ["q_b::none"]},
        {**query, "query_id": "q_c", "adjudication_status": "ambiguous"},
        {**query, "query_id": "q_d", "required_unit_ids": ["q_d::u"]},
    ]
    rows["units"].append({**row(rows["units"], "q_tea::u1"), "unit_id": "q_d::u"})
    rows["decisions"] = [{"query_id": "q_tea", "status": "rejected"}, {"query_id": "q_bike", "status": "corrected"}]
    folder = write(tmp_path / "package", rows)
    (tmp_path / "adjudication_decisions.jsonl").write_text(
        '{"query_id": "q_gone", "status": "rejected"}\n{"query_id": "q_bike", "status": "corrected"}\n'
    )
    result = built(folder)
    assert [p.package_id for p in result.packages] == ["q_bike"]
    assert [(r["source_id"], r["reason"]) for r in result.unscored] == [
        ("q_a", "no required unit; no candidate; no evidence unit"),
        ("q_b", "none of its required units exists; no candidate; no evidence unit"),
        ("q_c", "adjudication: ambiguous; none of its required units exists; no candidate; no evidence unit"),
        ("q_d", "no candidate"),
        ("q_gone", "adjudication: rejected, not in the package"),
        ("q_tea", "adjudication: rejected"),
    ]
    assert str(tmp_path / "adjudication_decisions.jsonl") in package_files(folder)


@pytest.mark.parametrize("status", ["Rejected", " rejected", "disputed", "pending", "needs_review", "ACCEPTED", ""])
@pytest.mark.parametrize("by_decision", [False, True])
def test_only_accepted_and_corrected_queries_are_scored(tmp_path, status, by_decision):
    rows = tables()
    if by_decision:
        rows["decisions"] = [{"query_id": "q_tea", "status": status}]
    else:
        row(rows["queries"], "q_tea")["adjudication_status"] = status
    result = built(write(tmp_path, rows))
    assert [p.package_id for p in result.packages] == ["q_bike"]
    assert [(r["source_id"], r["reason"]) for r in result.unscored] == [
        ("q_tea", f"adjudication: {status!r}, no known status")
    ]
    assert [w["kind"] for w in result.warnings if w["source_id"] == "q_tea"] == ["unknown_status"]


def test_one_rejection_among_several_decisions_stops_a_query(tmp_path):
    rows = tables()
    rows["decisions"] = [{"query_id": "q_tea", "status": "rejected"}, {"query_id": "q_tea", "status": "accepted"}]
    result = built(write(tmp_path, rows))
    assert [(r["source_id"], r["reason"]) for r in result.unscored] == [("q_tea", "adjudication: rejected")]
    assert [w["kind"] for w in result.warnings if w["source_id"] == "q_tea"] == ["conflicting_status"]


def test_a_parents_decisions_count_for_an_adjudicated_package_only(tmp_path):
    (tmp_path / "adjudication_decisions.jsonl").write_text(
        '{"query_id": "q_tea", "status": "rejected"}\n{"query_id": "q_gone", "status": "Rejected"}\n'
    )
    rows = tables()
    adjudicated = built(write(tmp_path / "adjudicated", rows))
    del row(rows["queries"], "q_bike")["adjudication_status"]
    primary = built(write(tmp_path / "primary", rows))
    gone = ("q_gone", "adjudication: 'Rejected', no known status, not in the package")
    assert [(r["source_id"], r["reason"]) for r in adjudicated.unscored] == [gone, ("q_tea", "adjudication: rejected")]
    assert [(r["source_id"], r["reason"]) for r in primary.unscored] == [gone]
    assert [p.package_id for p in primary.packages] == ["q_bike", "q_tea"]


def test_labels_of_a_row_are_stated_cell_by_cell(tmp_path):
    rows = tables()
    rows["coverage"][2] |= {"labels": {"A": 0.5, "B": 0.0}, "annotator_ids": ["A"]}
    labels = built(write(tmp_path, rows)).labels
    assert [(r["source"], r["value"], r["stated"], r["line"]) for r in labels if r["line"] == 3] == [
        ("A", 0.5, "cell", 3), ("B", 0.0, "cell", 3),
    ]  # fmt: skip


def test_cell_decisions_of_a_primary_package_stop_no_query(tmp_path):
    rows = tables()
    cell = {"candidate_id": "q_tea::c1", "unit_id": "q_tea::u1", "query_id": "q_tea", "status": "rejected"}
    rows["decisions"] = [cell]
    result = built(write(tmp_path, rows))
    assert len(result.packages) == 2 and ("q_tea", "q_tea") not in result.statuses
    assert {r["status"] for r in result.labels if r["candidate_id"] == "q_tea::c1"} == {"rejected"}


def test_statuses_and_changed_requirements_of_scored_queries_are_kept(tmp_path):
    rows = tables()
    rows["decisions"] = [{"query_id": "q_tea", "status": "accepted"}]
    result = built(write(tmp_path, rows))
    assert result.statuses == {("q_bike", "q_bike"): "corrected", ("q_tea", "q_tea"): "accepted"}
    made = package_tables(
        result.packages, suite="natural", label_source="x", labels=result.labels, primary=result.primary,
        statuses=result.statuses,
    )["queries"].to_pylist()  # fmt: skip
    assert [(q["status"], q["required_changed"]) for q in made] == [("corrected", True), ("accepted", None)]


def test_rows_without_an_example_belong_to_every_query(tmp_path):
    text = json.dumps(tables()).replace("q_bike::", "").replace("q_tea::", "t_")
    rows = json.loads(text)
    result = built(write(tmp_path, rows))
    assert [len(p) for p in result.packages] == [6, 6]
    assert {u.unit_id: u.weight for u in one(result, "q_tea").units}["t_u1"] == 1.0
    # t_c1 covers the unit that q_tea requires in both, and counts for q_tea only.
    assert {u.unit_id: u.weight for u in one(result).units}["t_u1"] == 0.0


def test_missing_cost_is_refused_or_counted(tmp_path):
    rows = tables()
    del row(rows["candidates"], "q_bike::c1")["cost"]
    row(rows["candidates"], "q_tea::c1")["cost"] = 0
    folder = write(tmp_path, rows)
    with pytest.raises(InputError, match=r"candidate_memories.jsonl: line 1: no_cost: q_bike::c1: cost is missing"):
        load_coverage_package(folder)
    result = built(folder, CoverageOptions(paper_defaults=True))
    assert one(result).visible.cost[0] == 1
    assert one(result, "q_tea").visible.cost[0] == 1
    assert sum(w["kind"] == "no_cost" for w in result.warnings) == 2


def test_cost_tokens_only_where_cost_is_absent(tmp_path):
    rows = tables()
    row(rows["candidates"], "q_bike::c3")["cost"] = 0  # present and zero: cost_tokens does not stand in
    with pytest.raises(InputError, match="q_bike::c3: cost is 0"):
        load_coverage_package(write(tmp_path, rows))


def ranks(tmp_path, *timestamps):
    rows = tables()
    rows["experiences"] = [
        {"experience_id": f"q_tea::e{n}", "session_id": "s3", "timestamp": t, "text": TEA} if t is not None
        else {"experience_id": f"q_tea::e{n}", "session_id": "s3", "text": TEA}
        for n, t in enumerate(timestamps)
    ]  # fmt: skip
    package = load_coverage_package(write(tmp_path, rows))
    example = next(e for e in examples(package) if e.query.query_id == "q_tea")
    found = time_ranks(example)
    return [found[f"q_tea::e{n}"] for n in range(len(timestamps))], [f.kind for f in package.findings]


def test_dates_of_any_form_order_the_experiences(tmp_path):
    found, _ = ranks(tmp_path, "1:56 pm on 8 May, 2023", "2023/05/07 (Sun) 23:00", "2023-05-08T13:55:00Z", "June 2020")
    assert found == [3, 1, 2, 0]


def test_equal_dates_keep_the_order_of_the_file(tmp_path):
    assert ranks(tmp_path, "2023-05-08", "8 May 2023", "2023-05-07")[0] == [1, 2, 0]


def test_unreadable_dates_keep_their_place(tmp_path):
    found, kinds = ranks(tmp_path, "2024-01-03", "some day", "2024-01-01", None, "2024-01-02")
    assert found == [4, 1, 0, 3, 2]
    assert kinds.count("unread_date") == 1
    assert "incomplete" in kinds


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2023/05/20 (Sat) 02:21", "2023-05-20 02:21:00"),
        ("1:56 pm on 8 May, 2023", "2023-05-08 13:56:00"),
        ("12:05 am on 1 Jan 2024", "2024-01-01 00:05:00"),
        ("12:05 PM on 1 Jan 2024", "2024-01-01 12:05:00"),
        ("May 8th, 2023", "2023-05-08 00:00:00"),
        ("Monday, May 8, 2023 at 1:56 PM", "2023-05-08 13:56:00"),
        ("Mon, 08 May 2023 13:56:00 +0200", "2023-05-08 11:56:00"),
        ("8 May 2023, 14:00 UTC", "2023-05-08 14:00:00"),
        ("2023-05-08T10:00:00-03:00", "2023-05-08 13:00:00"),
        ("2023-5-8", "2023-05-08 00:00:00"),
        ("1683554160", "2023-05-08 13:56:00"),
        ("1683554160000", "2023-05-08 13:56:00"),
        ("1701123112345", "2023-11-27 22:11:52.345000"),  # not the year 1701
        ("1610123012", "2021-01-08 16:23:32"),
        ("20230520x0221", "None"),
        ("May 2023", "2023-05-01 00:00:00"),
        ("03/04/2023", "None"),  # two readings
        ("Feb 30 2023", "None"),
        ("13:61 on 8 May 2023", "None"),
        ("0:10 pm on 8 May 2023", "None"),
        ("session 3 of 8 May 2023", "None"),
        ("", "None"),
    ],
)
def test_date_forms(text, expected):
    assert str(read_date(text)[0]) == expected


def test_gzip_gives_the_same(tmp_path):
    plain = built(write(tmp_path / "plain", tables()))
    packed = built(write(tmp_path / "packed", tables(), packed=("coverage", "candidates", "queries")))
    assert [content(p) for p in plain.packages] == [content(p) for p in packed.packages]
    assert plain.labels == packed.labels


def test_only_a_newline_ends_a_line_and_texts_stay_exact(tmp_path):
    odd = "line one\u2028line\x0b two\x02 \x85\U0001f6b2\u200b"
    rows = tables()
    row(rows["candidates"], "q_tea::c1")["text"] = odd
    result = built(write(tmp_path / "a", rows))
    assert one(result, "q_tea").visible.text == (odd,)
    folder = tmp_path / "b"
    write_coverage_package(folder, package_rows(result.packages))
    assert len((folder / "candidate_memories.jsonl").read_text(encoding="utf-8").splitlines()) == 6
    assert one(built(folder), "q_tea").visible.text == (odd,)


def test_unknown_keys_and_nulls_are_ignored(tmp_path):
    rows = tables()
    before = built(write(tmp_path / "a", rows))
    for objects in rows.values():
        for r in objects:
            r.update(surprise={"x": [1]}, split=None, time_index=r.get("time_index"))
    after = built(write(tmp_path / "b", rows))
    assert [content(p) for p in before.packages] == [content(p) for p in after.packages]


# ---- round trip


def test_package_to_folder_to_package_is_equal(tmp_path):
    before = built(write(tmp_path / "in", tables()))
    write_coverage_package(tmp_path / "out", package_rows(before.packages), {"generator": "x"})
    after = built(tmp_path / "out")
    assert [content(p) for p in after.packages] == [content(p) for p in before.packages]
    write_coverage_package(tmp_path / "again", package_rows(after.packages), {"generator": "x"})
    for path in (tmp_path / "out").iterdir():
        assert path.read_bytes() == (tmp_path / "again" / path.name).read_bytes()


def test_packages_from_conversations_survive_the_folder(tmp_path):
    made = build_packages(load_examples(INVENTED), "natural").packages
    write_coverage_package(tmp_path / "out", package_rows(made))
    assert [content(p) for p in built(tmp_path / "out").packages] == [content(p) for p in made]


def test_experience_rows_may_be_given(tmp_path):
    made = built(write(tmp_path / "in", tables()))
    rows = package_rows(made.packages, tables()["experiences"])
    assert [r["text"] for r in rows["experiences"]] == [NEW, OLD, TEA]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda p: replace(p, seed=1), "it has a seed"),
        (lambda p: replace(p, queries=p.queries * 2), "it has 2 queries"),
        (lambda p: replace(p, package_id="other"), "give both one id"),
        (lambda p: replace(p, distribution="x"), "its distribution is not"),
        (lambda p: replace(p, visible=replace(p.visible, confidence=0 * p.visible.confidence)), "confidence 0"),
        (lambda p: replace(p, visible=replace(p.visible, group_ids=("a", "b", "c", "d"))), "id a does not begin"),
        (lambda p: replace(p, units=tuple(replace(u, weight=0.5) for u in p.units)), "weight is below 1"),
    ],
)
def test_what_the_layout_cannot_hold_is_refused(tmp_path, change, message):
    package = one(built(write(tmp_path, tables())))
    with pytest.raises(InputError, match=message):
        package_rows([change(package)])


# ---- as a suite


def test_suite_reads_the_listed_files(tmp_path):
    folder = write(tmp_path, tables(), packed=("queries",))
    (folder / "human_a_labels.csv").write_text("cell_id,annotator_id,label,notes\n")
    (folder / "notes.txt").write_text("not of the layout")
    files = source_files("coverage_package", [str(folder)])
    assert [Path(f).name for f in files] == [
        "queries.jsonl.gz",
        "experiences.jsonl",
        "evidence_units.jsonl",
        "candidate_memories.jsonl",
        "coverage_matrix.jsonl",
        "candidate_generation_manifest.json",
        "human_a_labels.csv",
    ]
    made = build_suite("natural", SOURCE, files)
    assert [p.package_id for p in made.packages] == ["q_bike", "q_tea"]
    assert load_coverage_package(folder).other_files == ("human_a_labels.csv",)


def test_quantized_suite_keeps_its_labels(tmp_path):
    folder = write(tmp_path, tables())
    made = build_suite("natural", {**SOURCE, "quantize": 2}, source_files("coverage_package", [str(folder)]))
    assert len(made.labels) == 6
    assert made.primary == {("q_bike", "q_bike"): frozenset({"q_bike::new"})}


STRICT = {
    "longmemeval": (
        INVENTED, {"question_types": None, "limit": None, "seed": 0, "distractors": 0, "word_limit": None,
                   "route": "marked"}),
    "locomo": (INVENTED.with_name("locomo_invented.json"), {"grid": 20, "observation_floor": 0.0, "summary_floor": 0.25,
                                                            "adversarial": "abstention"}),
}  # fmt: skip


@pytest.mark.parametrize("source", STRICT)
def test_strict_conversations_stop_at_warnings(source):
    path, keys = STRICT[source]
    keys = {"source": source, "quantize": None, **keys}
    made = build_suite("s", {**keys, "strict": False}, [str(path)])
    with pytest.raises(InputError, match=f"{len(made.warnings)} warnings, and the suite is strict") as error:
        build_suite("s", {**keys, "strict": True}, [str(path)])
    assert made.warnings[0]["detail"] in str(error.value)


def test_no_category_is_named_like_the_total(tmp_path):
    rows = json.loads(INVENTED.read_text())
    for example in rows:
        example["question_type"] = "all"
    path = tmp_path / "talks.json"
    path.write_text(json.dumps(rows))
    with pytest.raises(InputError, match="'all' is what results call all of them together"):
        build_packages(load_examples(path), "s")


def test_folder_without_any_file_of_the_layout(tmp_path):
    with pytest.raises(InputError, match="no file of the coverage-package layout"):
        package_files(tmp_path)
    with pytest.raises(InputError, match="no such folder"):
        load_coverage_package(tmp_path / "none")
