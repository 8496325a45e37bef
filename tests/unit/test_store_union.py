"""Union packages, losses and pruning rules of exported stores, against exhaustive search and plain references."""

from dataclasses import fields, replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memaudit.costs import BUILT_IN
from memaudit.errors import InputError
from memaudit.objective import CAP1, scale
from memaudit.package import Candidate, TextSize, Unit, build
from memaudit.stores.model import Memory, Store
from memaudit.stores.pruning import CALLED, RULES, best_subset
from memaudit.stores.union import Labelled, losses, store_package, union
from reference import selections, value
from strategies import COVERAGES, packages, saturations

words = BUILT_IN["words"]


@st.composite
def stores(draw, package, name="s", max_groups=3):
    """A store of random memories over the package's units: views share groups, labels may be stale or missing."""
    memories, coverage = [], {}
    for g in range(draw(st.integers(0, max_groups))):
        order, salience = draw(st.none() | st.integers(0, 3)), draw(st.sampled_from((None, 0.0, 0.25, 0.5, 1.0)))
        for view in ("full", "metadata")[: draw(st.integers(1, 2))]:
            memory = Memory(f"m{g}", "w " * draw(st.integers(1, 4)), g, f"m{g}", view=view)
            memories.append(replace(memory, native_order=order, salience=salience))
            if draw(st.booleans()):
                row = {u.unit_id: draw(st.sampled_from(COVERAGES)) for u in package.units}
                coverage[f"m{g}", view] = row
    coverage["gone", "full"] = {"no such unit": 1.0}
    return Labelled(Store(name, "amem", None, tuple(memories)), coverage)


def opt(package, budget, saturation=CAP1):
    instance = scale(package, saturation)
    found = best_subset(instance, budget)
    assert found.status == "optimal"
    return Fraction(found.value_int, instance.scale)


@settings(max_examples=150)
@given(st.data())
def test_the_union_contains_package_and_store(data):
    package = data.draw(packages(max_groups=3, max_per_group=2, max_units=4))
    store, saturation = data.draw(stores(package)), data.draw(saturations())
    budget = data.draw(st.integers(0, 14))
    both, alone = union(package, [store], words), store_package(package, store, words)
    assert len(both) == len(package) + len(alone.package) == len(package) + len(store.store.memories)
    assert [both.coverage_row(both.visible.candidate_ids.index(i)) for i in package.visible.candidate_ids] == [
        package.coverage_row(i) for i in range(len(package))
    ]
    top = opt(both, budget, saturation)
    assert top >= max(opt(package, budget, saturation), opt(alone.package, budget, saturation))
    assert top == max(value(both, s, saturation) for s in selections(both, budget))


@given(packages(texts=True, estimates=True))
def test_the_packages_candidates_stay_as_they_are(package):
    """Every field of them; a union with an empty store is the package itself."""
    same = union(package, [Labelled(Store("s", "mem0", None, ()))], words)
    for field in fields(same.visible):
        ours, theirs = (getattr(p.visible, field.name) for p in (same, package))
        assert list(ours) == list(theirs), field.name
    assert (same.content_hash, same.units, same.queries) == (package.content_hash, package.units, package.queries)


def test_sizes_of_absent_texts_stay():
    sized = build("s", "p", "d", None, [Candidate("c", "g", "fact", 3, 5, size=TextSize(1, 2, 3))], UNITS, {}, [])
    assert union(sized, [], words).visible.size == (TextSize(1, 2, 3),)


@settings(max_examples=80)
@given(st.data())
def test_the_joint_union_is_at_least_each(data):
    package = data.draw(packages(max_groups=2, max_per_group=2, max_units=3))
    one, two = data.draw(stores(package, "a", 2)), data.draw(stores(package, "b", 2))
    budget = data.draw(st.integers(0, 12))
    joint = union(package, [one, two], words)
    assert union(package, [two, one], words).visible.candidate_ids == joint.visible.candidate_ids
    assert opt(joint, budget) >= max(opt(union(package, [s], words), budget) for s in (one, two))
    assert joint.content_hash == union(package, [two, one], words).content_hash


@settings(max_examples=150)
@given(st.data())
def test_losses_are_none_negative_and_sum_to_the_gap(data):
    package = data.draw(packages(max_groups=3, max_per_group=2, max_units=4))
    store, saturation = data.draw(stores(package)), data.draw(saturations())
    budget, name = data.draw(st.integers(0, 14)), data.draw(st.sampled_from(sorted(RULES)))
    stored = store_package(package, store, words)
    optimum = opt(union(package, [store], words), budget, saturation)
    whole = value(stored.package, range(len(stored.package)), saturation)
    upper = opt(stored.package, budget, saturation)
    selected = value(stored.package, pruned(name, stored, budget, saturation), saturation)
    lost = losses(optimum, whole, upper, selected)
    assert min(lost.missing, lost.size, lost.selection) >= 0
    assert lost.missing + lost.size + lost.selection == optimum - selected
    if name == "upper_exact":
        assert lost.selection == 0


def pruned(name, stored, budget, saturation=CAP1):
    """The rule's choice, feasible; nothing where it has nothing to go by."""
    try:
        chosen = RULES[name](stored, scale(stored.package, saturation), budget)
    except InputError:
        assert name in ("native_order", "salience", "salience_order")
        return []
    groups = stored.package.visible.group_of[chosen].tolist()
    assert chosen == sorted(set(chosen)) and len(set(groups)) == len(groups)
    assert stored.package.visible.cost[chosen].sum() <= budget
    return chosen


def plain_greedy(stored, budget):
    """upper_greedy as it is written down: every marginal again in every round, in fractions."""
    package, chosen = stored.package, []
    by_place = sorted(range(len(package)), key=lambda i: (stored.memories[i].position, i))
    group = package.visible.group_of
    while True:
        used = int(package.visible.cost[chosen].sum())
        best = (Fraction(0), None)
        for i in by_place:
            if used + package.visible.cost[i] <= budget and group[i] not in group[chosen]:
                gain = value(package, [*chosen, i]) - value(package, chosen)
                if gain / int(package.visible.cost[i]) > best[0]:
                    best = (gain / int(package.visible.cost[i]), i)
        if best[1] is None:
            return sorted(chosen)
        chosen.append(best[1])


@settings(max_examples=150)
@given(st.data())
def test_upper_greedy_is_the_written_rule(data):
    package = data.draw(packages(max_groups=1, max_units=4))
    stored = store_package(package, data.draw(stores(package, max_groups=5)), words)
    budget = data.draw(st.integers(0, 16))
    assert pruned("upper_greedy", stored, budget) == plain_greedy(stored, budget)


UNITS = [Unit("a", 1.0), Unit("b", 1.0)]
PACKAGE = build("s", "p", "d", None, [Candidate("c", "g", "fact", 3, 5)], UNITS, {("c", "a"): 0.5}, [])


def stored_of(*memories, coverage=None):
    return store_package(PACKAGE, Labelled(Store("s", "mem0", None, memories), coverage or {}), words)


def memory(name, cost, position, **more):
    return Memory(name, "w " * cost, position, more.pop("group", name), **more)


def chosen_ids(name, stored, budget):
    return [stored.memories[i].memory_id for i in pruned(name, stored, budget)]


def test_recency_native_order_and_salience():
    stored = stored_of(
        memory("old", 1, 0, native_order=2, salience=0.5),
        memory("mid", 3, 1, native_order=0, salience=1.0),
        memory("new", 2, 2, salience=0.0),
    )
    assert chosen_ids("recency", stored, 3) == ["old", "new"] and chosen_ids("recency", stored, 2) == ["new"]
    assert chosen_ids("native_order", stored, 4) == ["old", "mid"]
    assert chosen_ids("native_order", stored, 6) == ["old", "mid"]
    assert chosen_ids("salience", stored, 3) == ["old"] and chosen_ids("salience", stored, 9) == ["old", "mid"]
    assert chosen_ids("salience_order", stored, 3) == ["mid"]
    assert chosen_ids("salience_order", stored, 9) == ["old", "mid"]
    assert chosen_ids("full_store", stored, 5) == [] and len(chosen_ids("full_store", stored, 6)) == 3
    for rule in ("native_order", "salience", "salience_order"):
        with pytest.raises(InputError, match=rule):
            RULES[rule](stored_of(memory("m", 1, 0)), None, 1)
    assert set(CALLED) == set(RULES)
    assert all(rule(stored_of(), scale(stored_of().package), 5) == [] for rule in RULES.values())


@pytest.mark.parametrize(
    ("rule", "order"),
    [
        ("recency", ["y", "x", "w", "b", "a"]),
        ("native_order", ["a", "b", "w", "x", "y"]),
        ("salience", ["a", "w", "b", "x", "y"]),
        ("salience_order", ["a", "w", "b", "x", "y"]),
    ],
)
def test_ties_of_the_rules(rule, order):
    """All ranks, saliences and times are equal: store order decides, in `salience` and `salience_order` cost and id."""
    one = {"native_order": 0, "salience": 0.5}
    stored = stored_of(
        memory("a", 1, 0, **one),
        memory("b", 2, 1, **one),
        memory("w", 1, 2, **one),
        memory("x", 2, 3, **one),
        memory("y", 2, 4, **one),
    )
    kept = [set(chosen_ids(rule, stored, budget)) for budget in range(9)]
    cost = {m.memory_id: len(m.text.split()) for m in stored.memories}
    expected = []
    for budget in range(9):
        left = budget
        expected.append(set())
        for i in order:
            if cost[i] <= left:
                expected[-1].add(i)
                left -= cost[i]
    assert kept == expected


@pytest.mark.parametrize("rule", ["recency", "native_order", "salience", "salience_order"])
def test_ties_in_a_group_go_to_lower_cost_then_id(rule):
    one = {"native_order": 0, "salience": 0.5, "group": "g"}
    rows = [memory("c", 2, 0, **one), memory("b", 1, 1, **one), memory("a", 1, 2, **one)]
    assert chosen_ids(rule, stored_of(*rows), 9) == ["a"]
    assert chosen_ids(rule, stored_of(*rows[:2]), 9) == ["b"]


def test_views_of_a_memory_are_not_kept_together():
    views = [replace(memory("m", cost, 0), view=view) for view, cost in (("full", 3), ("metadata", 1))]
    coverage = {("m", "full"): {"a": 1.0}, ("m", "metadata"): {"b": 0.5}}
    stored = stored_of(*views, coverage=coverage)
    assert len(stored.package.visible.group_ids) == 1
    assert opt(stored.package, 9) == 1 < value(stored.package, [0, 1])
    both = union(PACKAGE, [Labelled(Store("s", "amem", None, tuple(views)), coverage)], words)
    assert both.visible.group_ids == ("g", "store:s:m") and opt(both, 9) == 1


def test_greedy_is_no_upper_bound():
    coverage = {("small", ""): {"a": 0.5}, ("big", ""): {"a": 1.0, "b": 0.5}}
    stored = stored_of(memory("small", 1, 0), memory("big", 4, 1), coverage=coverage)
    assert chosen_ids("upper_greedy", stored, 4) == ["small"]
    assert chosen_ids("upper_exact", stored, 4) == ["big"]


def test_equal_density_goes_to_the_first_in_the_store():
    coverage = {("z", ""): {"a": 1.0}, ("y", ""): {"a": 1.0}}
    stored = stored_of(memory("z", 2, 0), memory("y", 2, 1), coverage=coverage)
    assert chosen_ids("upper_greedy", stored, 9) == ["z"]


def test_names_and_units_that_do_not_fit():
    store = Labelled(Store("s", "mem0", None, (memory("m", 1, 0),)), {("m", ""): {"x": 1.0}})
    with pytest.raises(InputError, match="memory m names unit 'x'"):
        union(PACKAGE, [store], words)
    plain = Labelled(store.store)
    with pytest.raises(InputError, match="one of its own"):
        union(PACKAGE, [plain, plain], words)
    with pytest.raises(InputError, match="without a colon"):
        union(PACKAGE, [Labelled(replace(store.store, name="a:b"))], words)
    taken = build("s", "p", "d", None, [Candidate("c", "store:s:m", "fact", 3, 5)], UNITS, {}, [])
    with pytest.raises(InputError, match="rename the store"):
        union(taken, [plain], words)
    assert union(PACKAGE, [plain], words).visible.time_index.tolist() == [5, 6]


def test_a_memory_of_which_a_part_stands_elsewhere_costs_what_it_measures():
    part = Memory("a", "content: [9 words that stand elsewhere]", 0, "a", size=TextSize(10, 60, 61))
    visible = union(PACKAGE, [Labelled(Store("s", "amem", None, (part, memory("b", 2, 1))))], words).visible
    found = dict(zip(visible.candidate_ids, zip(visible.text, visible.size, visible.cost, strict=True), strict=True))
    assert found["store:s::a"] == (None, TextSize(10, 60, 61), 10)
    assert found["store:s::b"][1:] == (None, 2)


def test_losses_of_different_stores_are_refused():
    with pytest.raises(ValueError, match="not of one store"):
        losses(Fraction(1), Fraction(1), Fraction(0), Fraction(1))
