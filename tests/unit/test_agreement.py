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
from memaudit.analysis import relabel
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


def rows(source, values, number="1", stated="cell", line=None):
    return [
        {"package_id": p.split("::")[0], "candidate_id": p, "unit_id": u, "source": source, "pass": number, "value": v,
         "stated": stated, "line": line}
        for (p, u), v in values.items()
    ]  # fmt: skip


def own_rows(*packages, source="package"):
    return [
        row
        for p in packages
        for (_, c, u), v in ag.package_source([p]).values.items()
        for row in rows(source, {(c, u): v}, stated="row")
    ]


def frame_rows(*lists):
    return pd.DataFrame([row for part in lists for row in part])


def matrix(*cells, packages=(A, B)):
    """A coverage matrix, rows (candidate, unit, value, annotators), as the packages it makes and their labels."""
    labels, coverage, passes = [], {p.package_id: {} for p in packages}, {}
    for line, (c, u, value, names) in enumerate(cells, start=1):
        of = coverage[c.split("::")[0]]
        of[c, u] = max(value, of.get((c, u), 0.0))
        for name in names:
            number = passes[c, u, name] = passes.get((c, u, name), 0) + 1
            labels += rows(name, {(c, u): value}, str(number), "row", line)
    made = [
        relabel.override(package(p.package_id, {}), {cell: v for cell, v in coverage[p.package_id].items() if v})
        for p in packages
    ]
    return made, pd.DataFrame(labels)


def audit_of(*cells):
    """Agreement of every pair of a coverage matrix by (first, agreed with, second)."""
    made, labels = matrix(*cells)
    sources = ag.sources_of(made, labels)
    table = ag.agreement("s", *ag.frame_of(made, sources), sources, resamples=5)
    return {(r.first, r.agreed_with, r.second): r for r in table.itertuples()}


C0, C1, C2, C3 = ((f"a::c{n}", f"a::u{n % 3}") for n in range(4))


def test_sources_from_labels():
    marks = {("a::c0", "a::u0"): 0.5, ("a::c3", "a::u0"): 0.0}
    labels = frame_rows(
        own_rows(A, B), rows("judge", marks), rows("judge", {("b::c0", "b::u0"): 0.5}, "2"), rows("anna", marks)
    )
    sources = {s.name: s for s in ag.sources_of([A, B], labels)}
    assert list(sources) == ["package", "anna", "judge", "judge, pass 2"]
    assert sources["package"].whole == {"a", "b"}
    assert not any(sources[name].whole for name in list(sources)[1:])  # stated cell by cell
    assert sources["judge, pass 2"].again_of == "judge"
    frame = ag.draw_frame([A, B])
    assert not np.isnan(sources["package"].on(frame)).any()


def test_rows_of_a_matrix_label_whole_packages_and_no_others():
    made, labels = matrix((*C0, 1.0, ["anna"]), (*C1, 1.0, ["ben"]), ("b::c0", "b::u0", 1.0, ["ben"]))
    _, anna, ben = ag.sources_of(made, labels)
    frame, kind = ag.frame_of(made, [anna, ben])
    assert (anna.whole, ben.whole, kind) == ({"a"}, {"a", "b"}, ag.DRAWN)
    in_b = (frame["package_id"] == "b").to_numpy()
    assert np.isnan(anna.on(frame)[in_b]).all() and np.nansum(anna.on(frame)) == 1.0
    assert not np.isnan(ben.on(frame)).any()


def test_a_zero_row_changes_no_others_labels():
    # Absent pairs are 0 whether anybody wrote a zero down or not.
    cells = [(*C0, 1.0, ["anna"]), (*C1, 1.0, ["anna"]), (*C0, 0.5, ["ben"])]
    without = audit_of(*cells)["anna", "", "ben"]
    for name in ("anna", "ben"):
        with_zero = audit_of(*cells, (*C3, 0.0, [name]))["anna", "", "ben"]
        assert (with_zero.cells, with_zero.kappa) == (without.cells, without.kappa)


def test_two_annotators_who_agree_are_two_sources():
    both = [(*cell, value, [name]) for cell, value in ((C0, 1.0), (C1, 0.0), (C2, 1.0)) for name in ("anna", "ben")]
    found = audit_of(*both)
    assert list(found) == [("anna", "", "ben")]
    assert (found["anna", "", "ben"].kappa, found["anna", "", "ben"].second_positive) == (1.0, 2)


def test_annotators_who_cover_other_cells_disagree():
    found = audit_of((*C0, 1.0, ["anna"]), (*C1, 1.0, ["anna"]), (*C0, 1.0, ["ben"]), (*C2, 1.0, ["ben"]))
    pair = found["anna", "", "ben"]
    assert list(found) == [("anna", "", "ben")]  # the coverage is the two together: no third source
    assert (pair.first_positive, pair.second_positive) == (2, 2)
    assert pair.raw_agreement == (pair.cells - 2) / pair.cells


def test_the_coverage_is_a_sources_own_by_its_values_not_by_its_cells():
    made, labels = matrix(*((*c, v, [name]) for c in (C0, C1) for name, v in (("anna", 0.25), ("ben", 1.0))))
    ben, anna = ag.sources_of(made, labels)
    assert (ben.name, anna.name) == ("ben", "anna") and set(anna.values.values()) == {0.25}
    pair = audit_of(*((*c, v, [name]) for c in (C0, C1) for name, v in (("anna", 0.25), ("ben", 1.0))))
    assert pair["ben", "", "anna"].second_positive == 0 and pair["ben", "", "anna"].kappa == 0


def test_names_on_the_same_rows_are_one_source():
    made, labels = matrix((*C0, 1.0, ["anna", "ben"]), (*C1, 0.5, ["ben", "anna"]))
    assert [s.name for s in ag.sources_of(made, labels)] == ["anna + ben"]
    # One row alone, and they are two.
    made, labels = matrix((*C0, 1.0, ["anna", "ben"]), (*C1, 0.5, ["anna"]))
    assert [s.name for s in ag.sources_of(made, labels)] == ["anna", "ben"]


def test_rows_that_name_nobody_are_not_the_coverage_where_others_have_part_in_it():
    made, labels = matrix((*C0, 1.0, ["package"]), (*C1, 1.0, ["anna"]))
    assert [s.name for s in ag.sources_of(made, labels)] == ["package", "anna", "unnamed rows"]
    assert list(audit_of((*C0, 1.0, ["package"]), (*C1, 1.0, ["anna"]))) == [("anna", "", "unnamed rows")]


def test_a_source_is_compared_with_people_though_it_is_made_of_others():
    made, labels = matrix((*C0, 1.0, ["anna"]), (*C1, 1.0, ["ben"]))
    human = ag.Source("human", {("a", *C0): 0.0, ("a", *C1): 1.0})
    sources = ag.sources_of(made, labels, [human])
    assert [s.name for s in sources] == ["package", "anna", "ben", "human"]
    frame, kind = ag.frame_of(made, sources)
    assert (kind, len(frame)) == (ag.LABELLED, 2)
    pairs = [(c.first, c.agreed_with, c.second) for c in ag.comparisons(frame, sources)]
    assert ("package", "", "human") in pairs and not [p for p in pairs if {"package", "anna"} <= set(p)]


def test_labels_given_again_are_compared_with_the_first_only_and_make_no_frame():
    cells = [(*C0, 0.5, ["anna"]), (*C1, 0.5, ["anna"]), (*C0, 0.0, ["anna"]), (*C2, 1.0, ["ben"])]
    made, labels = matrix(*cells)
    sources = ag.sources_of(made, labels)
    assert [s.name for s in sources] == ["package", "anna", "anna, pass 2", "ben"]
    assert ag.frame_of(made, sources)[1] == ag.DRAWN
    found = audit_of(*cells)
    assert list(found) == [("anna", "", "anna, pass 2"), ("anna", "", "ben")]
    again = found["anna", "", "anna, pass 2"]
    assert (again.cells, again.first_positive, again.second_positive) == (1, 1, 0)


def test_a_repeated_row_takes_no_coverage_its_name():
    made, labels = matrix((*C0, 1.0, ["package"]), (*C1, 1.0, ["package"]), (*C0, 0.5, ["package"]))
    sources = ag.sources_of(made, labels)
    assert [(s.name, s.again_of) for s in sources] == [("package", ""), ("unnamed rows, pass 2", "package")]
    assert list(audit_of((*C0, 1.0, ["package"]), (*C0, 0.5, ["package"]))) == [("package", "", "unnamed rows, pass 2")]


def test_the_own_labels_are_found_though_values_were_rounded():
    rounded = package("a", {(0, 0): 0.5, (1, 1): 1.0})
    values = {("a::c0", "a::u0"): 0.4, ("a::c1", "a::u1"): 0.9, ("a::c2", "a::u1"): 0.1}
    labels = frame_rows(rows("model", values, stated="row"))
    assert [s.name for s in ag.sources_of([rounded], labels, grid=2)] == ["model"]
    assert [s.name for s in ag.sources_of([rounded], labels)] == ["package", "model"]
    # Others are rounded like it.
    judge = rows("judge", {("a::c0", "a::u0"): 0.4, ("a::c3", "a::u0"): 0.2})
    sources = ag.sources_of([rounded], pd.concat([labels, pd.DataFrame(judge)]), grid=2)
    assert list(sources[1].values.values()) == [0.5, 0.0]


@pytest.mark.parametrize(
    ("external", "message"),
    [
        ([ag.Source("judge", {}, where="audit/judge_labels.csv")],
         "the suite's labels and audit/judge_labels.csv: two sources of labels are named 'judge'"),
        ([ag.Source("package", {}, where="x.csv")], "the suite's labels and x.csv: two .* named 'package'"),
        ([ag.Source(" ", {}, where="audit/_labels.csv")], "audit/_labels.csv: a source of labels has no name"),
    ],
)  # fmt: skip
def test_names_of_sources_are_told_apart(external, message):
    labels = frame_rows(own_rows(A), rows("judge", {("a::c0", "a::u0"): 0.5}))
    with pytest.raises(InputError, match=message):
        ag.sources_of([A], labels, external)


def test_labels_stated_cell_by_cell_beside_the_coverage():
    # A packages's own labeller A, and a second one B on an audit frame, as rows that state both.
    own = ag.package_source([A, B]).values
    first = {(c, u): v for (_, c, u), v in own.items()} | {("a::c3", "a::u0"): 0.0}
    second = {("a::c0", "a::u0"): 0.5, ("a::c3", "a::u0"): 0.0, ("b::c0", "b::u0"): 0.0}
    sources = ag.sources_of([A, B], frame_rows(rows("A", first), rows("B", second)))
    assert [(s.name, s.whole) for s in sources] == [("A", {"a", "b"}), ("B", set())]
    frame, kind = ag.frame_of([A, B], sources)
    assert kind == ag.LABELLED and len(frame) == 3
    assert sources[1].on(frame).tolist() == [0.5, 0.0, 0.0]


def drawn_on_anna(corrected=()):
    """Anna's 2 positive and 2 of her 10 zero cells of a package, ben's labels of these; ben's and `corrected` count."""
    cells = {C0: (1.0, 1.0), C1: (1.0, 0.0), C2: (0.0, 1.0), C3: (0.0, 0.0)}
    coverage = {cell: ben for cell, (_, ben) in cells.items() if ben} | dict(corrected)
    made = [relabel.override(package("a", {}), coverage)]
    labels = frame_rows(
        rows("ben", {cell: ben for cell, (_, ben) in cells.items()}),
        rows("anna", {cell: anna for cell, (anna, _) in cells.items()}),
        rows("package", {cell: v for cell, v in dict(corrected).items() if cell not in cells}, stated="row"),
    )
    return made, ag.sources_of(made, labels)


# None: ben made the coverage; one off the frame, or on it: nobody made it alone.
@pytest.mark.parametrize("corrected", [{}, {("a::c0", "a::u1"): 1.0}, {C3: 0.5}])
def test_the_stratum_of_a_labelled_cell_is_that_of_the_first_labeller(corrected):
    made, sources = drawn_on_anna(corrected)
    frame, kind = ag.frame_of(made, sources)
    assert kind == ag.LABELLED and len(frame) == 4
    assert frame["stratum"].tolist() == [ag.POSITIVE, ag.POSITIVE, ag.ZERO, ag.ZERO]
    assert frame["weight"].tolist() == [1.0, 1.0, 5.0, 5.0]
    pairs = {tuple(sorted((c.first, c.agreed_with, c.second))) for c in ag.comparisons(frame, sources)}
    assert pairs == {("", "anna", "ben")}  # the coverage was made of both
    (row,) = ag.agreement("s", frame, kind, sources, resamples=5).itertuples()
    anna, ben = np.repeat([1, 1, 0, 0], [1, 1, 5, 5]), np.repeat([1, 0, 1, 0], [1, 1, 5, 5])
    assert row.kappa_weighted == pytest.approx(cohen_kappa_score(anna, ben))
    table = ag.disagreements("s", frame, kind, sources)
    strata = table[table["by"] == "stratum"].set_index("group")
    assert (strata["only_first"] + strata["only_second"]).to_dict() == {ag.POSITIVE: 1, ag.ZERO: 1}


def test_the_stratum_is_the_coverages_where_the_first_labeller_has_nothing():
    marks = {("b::c0", "b::u0"): 1.0, ("b::c0", "b::u1"): 0.0}
    labels = frame_rows(rows("anna", {C0: 1.0}), rows("ben", {C0: 0.0} | marks))
    frame, _ = ag.frame_of([A, B], ag.sources_of([A, B], labels))
    assert frame["stratum"].tolist() == [ag.POSITIVE, ag.POSITIVE, ag.ZERO]
    assert frame["weight"].tolist() == [1.0, 3.0, 9.0]


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


@given(VALUES)
def test_levels_are_compared_on_the_cells_that_both_cover(pairs):
    a, b = (np.array(values) for values in zip(*pairs, strict=True))
    cells = pd.DataFrame({"package_id": [f"p{i % 3}" for i in range(len(a))]})
    exact = np.arange(len(a)) % 5 != 4
    found = ag._levels(ag.Comparison("x", "", "y", cells, a, b, exact), 20, 0)
    both = exact & (a > 0) & (b > 0)
    assert found["level_cells"] == both.sum()
    if len({*a[both], *b[both]}) < 2:
        assert all(np.isnan(found[f"level_{name}"]) for name in ("agreement", "kappa", "low", "high"))
    else:
        assert found["level_kappa"] == pytest.approx(cohen_kappa_score(a[both] == 1, b[both] == 1), abs=1e-12)
        assert found["level_agreement"] == (a == b)[both].mean()
        assert found["level_low"] <= found["level_high"]


def test_a_label_that_two_share_in_part_only_says_nothing_of_levels():
    cells = {("a", f"a::c{c}", "a::u0"): value for c, value in enumerate((1.0, 0.5, 0.5, 0.0))}
    anna, ben = ag.Source("anna", cells), ag.Source("ben", cells | {("a", "a::c1", "a::u0"): 1.0})
    third = ag.Source("carl", cells)
    frame = ag.draw_frame([package("a", {(0, 0): 1.0, (1, 0): 0.5, (2, 0): 0.5}, units=1)])
    table = ag.agreement("s", frame, ag.DRAWN, [anna, ben, third], resamples=5)
    found = table.set_index(["first", "agreed_with", "second"])
    assert found.loc[("anna", "", "ben"), "level_cells"] == 3
    assert found.loc[("anna", "", "ben"), "level_kappa"] == pytest.approx(cohen_kappa_score([1, 0, 0], [1, 1, 0]))
    # Of c1 anna says a half and ben a whole: they share "covered", no level.
    shared = found.loc[("anna", "ben", "carl")]
    assert (shared["cells"], shared["level_cells"], shared["level_kappa"]) == (4, 2, 1.0)


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
