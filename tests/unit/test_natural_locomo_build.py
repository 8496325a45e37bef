"""Packages from LoCoMo, on the invented file, with expectations worked out by hand."""

from dataclasses import replace
from pathlib import Path

import pytest

from memaudit.errors import InputError
from memaudit.natural.locomo_build import LABEL_SOURCE, LocomoOptions, build_locomo
from memaudit.natural.locomo_io import load_conversations
from memaudit.package_io import package_tables, read_packages, write_packages

INVENTED = Path(__file__).parents[1] / "fixtures" / "locomo_invented.json"


@pytest.fixture(scope="module")
def conversations():
    return load_conversations(INVENTED)


@pytest.fixture(scope="module")
def result(conversations):
    return build_locomo(conversations, "talks")


@pytest.fixture(scope="module")
def package(result):
    (package,) = result.packages
    return package


def short(name):
    return name.removeprefix("inv-1::")


def rows(package):
    """(id, group, type, cost, time index, coverage) in package order; ids without the conversation."""
    v = package.visible
    return [
        (
            short(v.candidate_ids[i]),
            short(v.group_ids[v.group_of[i]]),
            v.representation_type[i],
            int(v.cost[i]),
            int(v.time_index[i]),
            {short(unit): value for unit, value in package.coverage_row(i).items()},
        )
        for i in range(len(package))
    ]


def test_candidates_groups_and_coverage(package):
    # Session 2 is half a day older than session 1. Content words: D1:1 planted 12 tulips beside old ("well"
    # is a stop word); D1:2 lovely adopted grey parrot named kiwi monday photo wooden perch; D2:1 tomorrow visit
    # lighthouse ferry leaves 7:30; D2:2 lighthouse dusk. Shares are rounded down to 0.05: 5/6 is 0.8.
    assert rows(package) == [
        ("session_2::observation0", "D2:1", "atomic_fact", 10, 0, {"D2:1": 0.8}),
        ("D2:1::raw", "D2:1", "raw_span", 11, 0, {"D2:1": 1.0}),
        ("D2:2::raw", "D2:2", "raw_span", 6, 1, {"D2:2": 1.0}),
        ("session_2::summary", "session_2", "summary", 6, 2, {}),
        # It cites D1:1 and D1:2 and keeps no word of either: a citation alone covers nothing.
        ("session_1::observation2", "D1:1", "atomic_fact", 3, 3, {}),
        ("session_1::observation0", "D1:1", "atomic_fact", 7, 3, {"D1:1": 0.8}),
        ("D1:1::raw", "D1:1", "raw_span", 11, 3, {"D1:1": 1.0}),
        # It cites D1:3 first and D1:2 second: the group is that of the turn that was first in time. No
        # question cites D1:3, so it is no unit.
        ("session_1::observation1", "D1:2", "atomic_fact", 11, 4, {"D1:2": 0.3}),
        ("D1:2::raw", "D1:2", "raw_span", 21, 4, {"D1:2": 1.0}),
        ("D1:3::raw", "D1:3", "raw_span", 5, 5, {}),
        ("session_1::summary", "session_1", "summary", 14, 7, {"D1:1": 0.8, "D1:2": 0.5}),
        ("D4:1::raw", "D4:1", "raw_span", 6, 8, {"D4:1": 1.0}),
    ]
    assert (package.suite, package.package_id, package.distribution, package.seed) == (
        "talks",
        "inv-1",
        "conversation",
        None,
    )


def test_units_are_cited_turns_weighted_by_the_queries_that_need_them(package):
    # D1:2 is needed by q0, q3 and q4, the same question twice; D4:1 by an adversarial question only.
    assert [(short(u.unit_id), u.weight, u.role, u.kind) for u in package.units] == [
        ("D1:1", 2.0, "current", "cited_turn"),
        ("D1:2", 3.0, "current", "cited_turn"),
        ("D2:1", 1.0, "current", "cited_turn"),
        ("D2:2", 1.0, "current", "cited_turn"),
        ("D4:1", 0.0, "", "cited_turn"),
    ]
    assert package.units[3].text == "Ada: [shares a lighthouse at dusk]"


def test_queries_keep_category_and_answer(package):
    assert [(short(q.query_id), q.category, [short(u) for u in q.required], q.answer) for q in package.queries] == [
        ("q0", "multi-hop", ["D1:1", "D1:2"], "tulips and a parrot"),
        ("q1", "single-hop", ["D1:1"], "12"),
        ("q10", "single-hop", ["D2:2"], "a lighthouse"),
        ("q2", "temporal", ["D2:1"], "7:30"),
        ("q3", "single-hop", ["D1:2"], "a parrot"),
        ("q4", "multi-hop", ["D1:2"], "a parrot"),
        ("q8", "adversarial", [], None),
        ("q9", "adversarial", [], "No"),
    ]


def test_unscored_questions_have_a_reason(result):
    assert result.unscored == [
        {"source_id": "inv-1::q5", "category": "open-domain", "reason": "no evidence"},
        {"source_id": "inv-1::q6", "category": "multi-hop", "reason": "evidence that is no turn: D4:36"},
        {"source_id": "inv-1::q7", "category": "open-domain", "reason": "evidence that is no turn: D"},
        {
            "source_id": "inv-2::q0",
            "category": "adversarial",
            "reason": "no question of the conversation requires a turn",
        },
    ]


def test_conversation_without_questions_is_listed(conversations):
    silent = replace(conversations[1], questions=())
    (row,) = build_locomo([silent], "talks").unscored
    assert (row["source_id"], row["category"]) == ("inv-2", "conversation")


def test_adversarial_questions_can_require_the_twisted_turn(conversations):
    first, second = build_locomo(conversations, "talks", LocomoOptions(adversarial="evidence")).packages
    weights = {short(u.unit_id): (u.weight, u.role) for u in first.units}
    assert weights["D4:1"] == (1.0, "current") and weights["D1:2"] == (4.0, "current")
    assert [q.required for q in second.queries] == [("inv-2::D1:1",)]


def test_unknown_way_of_adversarial_questions():
    with pytest.raises(InputError, match="adversarial 'gold' is unknown; write one of abstention, evidence"):
        LocomoOptions(adversarial="gold")


def test_grid_and_floors(conversations):
    def coverage(**options):
        package = build_locomo(conversations, "talks", LocomoOptions(**options)).packages[0]
        return {row[0]: row[5] for row in rows(package)}

    fine = coverage(grid=100)
    assert fine["session_2::observation0"] == {"D2:1": 0.83}
    floors = coverage(observation_floor=0.4, summary_floor=0.6)
    assert floors["session_1::observation1"] == {} and floors["session_1::observation0"] == {"D1:1": 0.8}
    assert floors["session_1::summary"] == {"D1:1": 0.8}
    assert floors["D1:2::raw"] == {"D1:2": 1.0}


def test_candidates_do_not_depend_on_the_questions(conversations, package):
    other = replace(conversations[0], questions=conversations[0].questions[:1])
    changed = build_locomo([other], "talks").packages[0]
    assert [row[:5] for row in rows(changed)] == [row[:5] for row in rows(package)]
    assert changed.visible.text == package.visible.text


def test_order_of_input_does_not_matter(conversations, result):
    again = build_locomo(reversed(conversations), "talks")
    assert [p.content_hash for p in again.packages] == [p.content_hash for p in result.packages]
    assert (again.unscored, again.warnings) == (result.unscored, result.warnings)


def test_tables_keep_everything(tmp_path, result, package):
    tables = package_tables(
        result.packages, suite="talks", label_source=LABEL_SOURCE, unscored=result.unscored, warnings=result.warnings
    )
    write_packages(tmp_path, tables)
    (after,) = read_packages(tmp_path)
    assert after.content_hash == package.content_hash
    assert (after.visible.text, after.units, after.queries) == (
        package.visible.text,
        package.units,
        package.queries,
    )
    assert tables["unscored"].num_rows == 4 and tables["warnings"].num_rows == len(result.warnings) == 13
