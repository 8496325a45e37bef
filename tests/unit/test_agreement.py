"""Agreement of label sources: statistics against scikit-learn and krippendorff, the audit frame by hand."""

from __future__ import annotations

from random import Random

import krippendorff
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from memaudit.analysis import agreement as ag
from memaudit.errors import InputError
from memaudit.package import Candidate, Package, Query, Unit, build
from memaudit.schemas import TABLES
from memaudit.table_io import to_table

LABELS = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=2, max_size=40)
VALUES = st.lists(st.tuples(st.sampled_from(ag.LEVELS), st.sampled_from(ag.LEVELS)), min_size=2, max_size=40)


def varied(a, b):
    return len({*a, *b}) > 1


@given(LABELS)
def test_kappa_is_that_of_scikit_learn(pairs):
    a, b = map(list, zip(*pairs, strict=True))
    if varied(a, b):
        assert ag.cohen_kappa(a, b) == pytest.approx(cohen_kappa_score(a, b), abs=1e-12)
        weights = [1 + (7 * i) % 5 for i in range(len(a))]
        expected = cohen_kappa_score(a, b, sample_weight=weights)
        assert ag.cohen_kappa(a, b, weights) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("a", "b", "kappa"), [([1, 1], [1, 1], 1.0), ([0, 0], [0, 0], 1.0), ([0, 0], [1, 1], 0.0), ([0, 1], [1, 0], -1.0)]
)
def test_kappa_of_constant_labels(a, b, kappa):
    assert ag.cohen_kappa(a, b) == kappa


def test_weights_count_cells():
    a, b, weights = [1, 1, 0, 0], [1, 0, 0, 0], [1, 1, 5, 5]
    repeated = [np.repeat(x, weights) for x in (a, b)]
    assert ag.cohen_kappa(a, b, weights) == pytest.approx(ag.cohen_kappa(*repeated), abs=1e-12)
    assert ag.raw_agreement(a, b) == 0.75
    assert ag.raw_agreement(a, b, weights) == pytest.approx(11 / 12)


@given(VALUES)
def test_alpha_is_that_of_krippendorff(pairs):
    a, b = map(list, zip(*pairs, strict=True))
    if varied(a, b):
        expected = krippendorff.alpha([a, b], level_of_measurement="ordinal", value_domain=list(ag.LEVELS))
        assert ag.ordinal_alpha(a, b) == pytest.approx(expected, abs=1e-12)
    else:
        assert ag.ordinal_alpha(a, b) == 1.0


def test_alpha_of_a_worked_example():
    # Krippendorff (2011), example B, "Binary data, two observers": alpha = 0.095 in any metric.
    a = [0, 1, 0, 0, 0, 0, 0, 0, 1, 0]
    b = [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]
    assert ag.ordinal_alpha(a, b) == pytest.approx(0.095, abs=5e-4)


def test_values_become_labels_and_levels():
    values = [0.0, 0.3, 0.5, 0.75, 1.0]
    assert ag.binary(values).tolist() == [0, 0, 1, 1, 1]
    assert ag.level(values).tolist() == [0.0, 0.0, 0.5, 0.5, 1.0]


def test_kappa_interval_resamples_whole_packages():
    rng = np.random.default_rng(3)
    clusters = np.repeat([f"p{i}" for i in range(8)], 6)
    a = rng.integers(0, 2, 48)
    b = np.where(rng.random(48) < 0.8, a, 1 - a)
    low, high = ag.kappa_interval(a, b, clusters, resamples=200, seed=4)
    index = np.random.Generator(np.random.PCG64(4)).integers(0, 8, size=(200, 8))
    cells = {i: np.flatnonzero(clusters == f"p{i}") for i in range(8)}
    slow = [
        cohen_kappa_score(a[rows], b[rows]) for draw in index for rows in [np.concatenate([cells[i] for i in draw])]
    ]
    assert (low, high) == pytest.approx(tuple(np.percentile(slow, [2.5, 97.5])), abs=1e-12)
    order = rng.permutation(48)
    assert ag.kappa_interval(a[order], b[order], clusters[order], 200, 4) == (low, high)


def test_no_cells_and_different_lengths_are_errors():
    for a, b in (([], []), ([1], [1, 0])):
        with pytest.raises(InputError, match="at least one cell"):
            ag.cohen_kappa(a, b)


# ---- frames and sources


def package(package_id: str, coverage: dict, candidates: int = 4, units: int = 3, suite: str = "s") -> Package:
    """Candidates c0.. of types fact and summary, units u0.. of which the last has weight 0."""
    members = [
        Candidate(f"{package_id}::c{i}", f"g{i // 2}", ("fact", "summary")[i % 2], 1 + i, i, f"text {i}")
        for i in range(candidates)
    ]
    parts = [Unit(f"{package_id}::u{i}", float(i < units - 1), "current") for i in range(units)]
    cells = {(f"{package_id}::c{c}", f"{package_id}::u{u}"): v for (c, u), v in coverage.items()}
    query = Query(package_id, tuple(u.unit_id for u in parts if u.weight), "kind", "question?", "answer")
    return build(suite, package_id, "kind", None, members, parts, cells, [query])


A = package("a", {(0, 0): 1.0, (1, 1): 0.5, (2, 2): 0.4})
B = package("b", {(0, 0): 1.0, (1, 0): 1.0, (3, 2): 1.0})


def test_the_drawn_frame():
    frame = ag.draw_frame([B, A])
    assert frame["package_id"].is_monotonic_increasing
    positive = frame[frame["stratum"] == ag.POSITIVE]
    assert len(positive) == 2 + 3  # .4 is a zero cell, and a unit of weight 0 counts too
    assert (positive["weight"] == 1).all()
    # One generator over both packages: 10 and 9 zero cells, 2 of each.
    random = Random(20260503)
    cells = {
        p.package_id: sorted(
            (c, u)
            for c in p.visible.candidate_ids
            for u in p.unit_index
            if p.coverage_row(p.visible.candidate_ids.index(c)).get(u, 0) < 0.5
        )
        for p in (A, B)
    }
    for p, n in (("a", 10), ("b", 9)):
        assert len(cells[p]) == n
        sample = sorted(random.sample(cells[p], 2))
        drawn = frame[(frame["package_id"] == p) & (frame["stratum"] == ag.ZERO)]
        assert list(drawn[["candidate_id", "unit_id"]].itertuples(index=False, name=None)) == sample
        assert (drawn["weight"] == n / 2).all()
    assert frame["weight"].sum() == 24  # the frame stands for every cell


def test_at_least_one_zero_cell_and_none_of_none():
    one = package("a", {(0, 0): 1.0}, candidates=1, units=2)
    full = package("b", {(0, 0): 1.0, (0, 1): 1.0}, candidates=1, units=2)
    frame = ag.draw_frame([one, full])
    assert frame["stratum"].tolist() == [ag.POSITIVE, ag.ZERO, ag.POSITIVE, ag.POSITIVE]
    assert ag.draw_frame([]).empty


def rows(source, values, number="1"):
    return [
        {"package_id": p.split("::")[0], "candidate_id": p, "unit_id": u, "source": source, "pass": number, "value": v}
        for (p, u), v in values.items()
    ]


def own_rows(*packages, source="package"):
    return [
        row
        for p in packages
        for (_, c, u), v in ag.package_source([p]).values.items()
        for row in rows(source, {(c, u): v})
    ]


def frame_rows(*lists):
    return pd.DataFrame([row for part in lists for row in part])


def test_sources_from_labels():
    marks = {("a::c0", "a::u0"): 0.5, ("a::c3", "a::u0"): 0.0}
    labels = frame_rows(
        own_rows(A, B), rows("judge", marks), rows("judge", {("b::c0", "b::u0"): 0.5}, "2"), rows("anna", marks)
    )
    sources = {s.name: s for s in ag.sources_of([A, B], labels)}
    assert list(sources) == ["package", "anna", "judge, pass 1", "judge, pass 2"]
    assert sources["package"].whole == {"a", "b"}
    assert not any(sources[name].whole for name in list(sources)[1:])  # zeros are rows: what has none is unlabelled
    frame = ag.draw_frame([A, B])
    assert not np.isnan(sources["package"].on(frame)).any()


def test_labels_without_zeros_list_only_what_is_covered():
    labels = frame_rows(own_rows(A, B), rows("judge", {("b::c0", "b::u0"): 0.5}))
    judge = ag.sources_of([A, B], labels)[1]
    frame, kind = ag.frame_of([A, B], [judge])
    second = judge.on(frame)
    assert judge.whole == {"b"} and kind == ag.DRAWN
    assert np.isnan(second[frame["package_id"] == "a"]).all() and np.nansum(second) == 0.5


def test_the_same_labels_under_another_name_are_no_second_source():
    labels = frame_rows(own_rows(A, source="anna"), own_rows(A, source="ben"), own_rows(A)[:1])
    assert [s.name for s in ag.sources_of([A], labels)] == ["anna"]


def test_coverage_made_by_several_is_no_source_beside_them():
    # The coverage is the larger of two labels.
    one = own_rows(A, source="anna")[1:] + rows("anna", {("a::c0", "a::u0"): 0.5, ("a::c3", "a::u0"): 0.0})
    two = own_rows(B, source="ben") + rows("ben", {("a::c0", "a::u0"): 1.0, ("a::c1", "a::u1"): 0.0})
    labels = frame_rows(one, two)
    assert [s.name for s in ag.sources_of([A, B], labels)] == ["anna", "ben"]
    human = ag.Source("human", {("a", "a::c0", "a::u0"): 0.0})
    assert [s.name for s in ag.sources_of([A, B], labels, [human])] == ["package", "anna", "ben", "human"]


def test_the_own_labels_are_found_though_values_were_rounded():
    labels = frame_rows(own_rows(A, source="model"))
    labels["value"] += 0.001
    assert [s.name for s in ag.sources_of([A], labels)] == ["model"]


def test_cells_labelled_one_by_one_make_the_frame():
    marks = {("a::c0", "a::u0"): 1.0, ("a::c3", "a::u0"): 1.0, ("a::c3", "a::u1"): 0.0}
    sources = ag.sources_of([A, B], frame_rows(own_rows(A, B), rows("anna", marks)))
    frame, kind = ag.frame_of([A, B], sources)
    assert kind == ag.LABELLED
    assert frame[["candidate_id", "unit_id"]].values.tolist() == [list(cell) for cell in marks]
    assert frame["weight"].tolist() == [2.0, 5.0, 5.0]
    assert ag.frame_of([A], sources[:1])[1] == ag.DRAWN
    with pytest.raises(InputError, match=r"1 cells that no package has.*a::c9"):
        ag.frame_of([A, B], [*sources, ag.Source("x", {("a", "a::c9", "a::u0"): 1.0})])


def test_agreement_of_pairs_and_of_agreed_labels_with_a_third():
    cells = {(f"a::c{c}", f"a::u{u}"): 0.0 for c in range(4) for u in range(3)}
    anna = cells | {("a::c0", "a::u0"): 1.0, ("a::c1", "a::u1"): 1.0}
    ben = cells | {("a::c0", "a::u0"): 1.0, ("a::c3", "a::u0"): 1.0}
    sources = ag.sources_of([A], frame_rows(own_rows(A), rows("anna", anna), rows("ben", ben)))
    frame, kind = ag.frame_of([A], sources)
    table = ag.agreement("s", frame, kind, sources, resamples=20)
    to_table("agreement", table.to_dict("list"))
    found = {(r.first, r.agreed_with, r.second): r for r in table.itertuples()}
    assert len(found) == 4
    pair = found["anna", "", "ben"]
    own, a, b = ag.binary(sources[0].on(frame)), ag.binary(sources[1].on(frame)), ag.binary(sources[2].on(frame))
    assert (pair.cells, pair.raw_agreement) == (12, 10 / 12)
    assert pair.kappa == pytest.approx(cohen_kappa_score(a, b)) and pair.kappa == pair.kappa_weighted
    third = found["anna", "ben", "package"]
    assert third.cells == 10 and third.raw_agreement == 1.0 and third.alpha == 1.0
    assert third.kappa == cohen_kappa_score(a[a == b], own[a == b])
    missed = ag.disagreements("s", frame, kind, sources)
    to_table("disagreements", missed.to_dict("list"))
    pick = missed[(missed["first"] == "anna") & (missed["second"] == "ben") & (missed["agreed_with"] == "")]
    assert pick.set_index("group")[["cells", "only_first", "only_second"]].T.to_dict("list") == {
        "fact": [6, 0, 0], "summary": [6, 1, 1], ag.POSITIVE: [2, 1, 0], ag.ZERO: [10, 0, 1],
    }  # fmt: skip


def test_three_whole_sources_are_each_compared_with_the_others_agreed_labels():
    sources = [ag.package_source([A], name) for name in "xyz"]
    table = ag.agreement("s", *ag.frame_of([A], sources), sources, resamples=5)
    assert table[["first", "agreed_with", "second"]].values.tolist() == [
        ["x", "", "y"], ["x", "", "z"], ["x", "y", "z"], ["x", "z", "y"], ["y", "", "z"], ["y", "z", "x"]
    ]  # fmt: skip


def test_agreed_labels_are_of_the_first_two_alone():
    anna = ag.Source("anna", {("a", "a::c0", "a::u0"): 1.0, ("a", "a::c1", "a::u1"): 0.0, ("a", "a::c2", "a::u0"): 0.0})
    ben = ag.Source("ben", {("a", "a::c0", "a::u0"): 1.0, ("a", "a::c1", "a::u1"): 1.0, ("a", "a::c2", "a::u0"): 0.0})
    frame, _ = ag.frame_of([A], [anna, ben])
    expected = {"a": {("a::c0", "a::u0"): 1.0, ("a::c2", "a::u0"): 0.0}}
    assert ag.agreed_labels(frame, anna, ben) == expected
    own = ag.package_source([A])
    assert ag.label_sets(frame, [own, anna, ben]) == {"anna = ben": expected}
    assert ag.label_sets(frame, [own, anna])["anna"]["a"]["a::c1", "a::u1"] == 0.0
    assert ag.label_sets(frame, [own]) == {}
    half = ag.Source("half", {("a", "a::c0", "a::u0"): 0.5})
    assert ag.label_sets(ag.frame_of([A], [own, half])[0], [own, half]) == {"half": {"a": {("a::c0", "a::u0"): 0.5}}}


def test_two_whole_sources_are_compared_on_the_drawn_frame_too():
    own, other = ag.package_source([A, B], "x"), ag.package_source([A, B], "suite y")
    judge = ag.Source("judge", {("a", "a::c0", "a::u0"): 1.0})
    labelled, drawn = ag.frames_of([A, B], [own, other, judge])
    assert (labelled[1], len(labelled[0]), len(labelled[2])) == (ag.LABELLED, 1, 3)
    assert drawn[1] == ag.DRAWN and drawn[2] == [own, other] and drawn[0].equals(ag.draw_frame([A, B]))
    table = pd.concat([ag.agreement("s", *f, resamples=5) for f in (labelled, drawn)])
    keys = to_table("agreement", table.to_dict("list")).to_pandas()[["first", "agreed_with", "second", "frame"]]
    assert ["x", "", "suite y", ag.DRAWN] in keys.values.tolist()
    assert ["x", "", "suite y", ag.LABELLED] in keys.values.tolist()
    # The same cells twice would say the same twice; one whole source has nobody to be compared with.
    cells = ag.draw_frame([A, B])[["package_id", "candidate_id", "unit_id"]].itertuples(index=False, name=None)
    everywhere = ag.Source("judge", dict.fromkeys(cells, 0.0))
    assert [kind for _, kind, _ in ag.frames_of([A, B], [own, other, everywhere])] == [ag.LABELLED]
    assert [kind for _, kind, _ in ag.frames_of([A, B], [own, judge])] == [ag.LABELLED]
    assert [kind for _, kind, _ in ag.frames_of([A, B], [own, other])] == [ag.DRAWN]
    assert ag.frames_of([A, B], [own]) == []


def test_one_source_gives_empty_tables():
    source = ag.package_source([A])
    frame = ag.draw_frame([A])
    for table in (ag.agreement("s", frame, ag.DRAWN, [source]), ag.disagreements("s", frame, ag.DRAWN, [source])):
        assert table.empty
    assert list(ag.agreement("s", frame, ag.DRAWN, [source]).columns) == TABLES["agreement"].schema.names


def test_another_suites_labels_are_cut_to_what_is_here():
    other = ag.package_source([B, package("c", {(0, 0): 1.0})], "other").restricted([A, B])
    assert other.whole == {"b"} and {p for p, *_ in other.values} == {"b"}
