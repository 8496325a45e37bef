"""Ratios under other labels and under label noise, against slow recomputation."""

from __future__ import annotations

from fractions import Fraction

import natural_cases as cases
import numpy as np
import pandas as pd
import pytest
from scipy.stats import kendalltau, spearmanr

from memaudit.analysis import label_ratios as lr
from memaudit.analysis import robustness as rb
from memaudit.analysis.relabel import dense_coverage, kept_of, override, reworth, with_coverage
from memaudit.errors import InputError
from memaudit.objective import CAP1
from memaudit.solve import choose
from memaudit.table_io import to_table

EXACT = {"saturation": CAP1, "k": 1, "node_limit": 10**6}


@pytest.fixture
def kept():
    return kept_of(cases.TALK, *cases.scored(cases.TALK))


def slow_value(package, chosen):
    """F by fractions."""
    z = [Fraction(0)] * len(package.units)
    for i in chosen:
        for unit_id, value in package.coverage_row(i).items():
            z[package.unit_index[unit_id]] += Fraction(str(value))
    return sum(Fraction(str(u.weight)) * min(1, x) for u, x in zip(package.units, z, strict=True))


def slow_opt(package, budget, k=1):
    """OPT by trying every selection."""
    cost, group = package.visible.cost.tolist(), package.visible.group_of.tolist()
    best = Fraction(0)
    for mask in range(2 ** len(package)):
        chosen = [i for i in range(len(package)) if mask >> i & 1]
        groups = [group[i] for i in chosen]
        if sum(cost[i] for i in chosen) <= budget and all(groups.count(g) <= k for g in groups):
            best = max(best, slow_value(package, chosen))
    return best


def test_coverage_as_an_array_and_back():
    for p in cases.TALK:
        assert with_coverage(p, dense_coverage(p)).content_hash == p.content_hash


def test_override_sets_and_removes_cells_and_knows_them():
    p = cases.TALK[0]
    changed = override(p, {("p1::c0", "p1::u0"): 0.0, ("p1::c2", "p1::u1"): 1.0, ("p1::c5", "p1::u3"): 1.0})
    assert changed.coverage_row(p.visible.candidate_ids.index("p1::c0")) == {}
    assert changed.coverage_row(p.visible.candidate_ids.index("p1::c2")) == {"p1::u1": 1.0}
    assert changed.coverage_row(p.visible.candidate_ids.index("p1::c5")) == {"p1::u3": 1.0}
    assert changed.visible is p.visible and p.coverage_row(0) == {"p1::u0": 1.0}
    with pytest.raises(InputError, match=r"no cell \(p1::c9, p1::u0\)"):
        override(p, {("p1::c9", "p1::u0"): 1.0})


def test_the_same_labels_give_the_scores_ratios(kept):
    new = reworth(list(reversed(cases.TALK)), kept, **EXACT)
    scores, _ = cases.scored(cases.TALK)
    both = scores.merge(new, on=["package_id", "budget", "writer"], suffixes=("", "_new"))
    assert len(both) == len(scores) == 3 * 2 * 2
    assert (both["value_int"] == both["value_int_new"]).all() and (both["opt_int"] == both["opt_int_new"]).all()
    zero = both["opt"] == 0
    assert zero.sum() == 4 and both["new_ratio"][zero].isna().all()
    assert (both["new_ratio"] == both["ratio"])[~zero].all()


def test_values_and_optima_of_other_labels_by_hand(kept):
    labels = {"p1": {("p1::c0", "p1::u0"): 0.0}, "p2": {("p2::c4", "p2::u2"): 1.0}}
    pairs = lr.under_labels(cases.TALK, kept, labels, **EXACT)
    changed = {p.package_id: override(p, labels.get(p.package_id, {})) for p in cases.TALK}
    for row in pairs.itertuples():
        p = changed[row.package_id]
        rule = {"oracle_gvt": cases.first_facts, "recency_raw": cases.last_raw}[row.writer]
        opt = slow_opt(p, row.budget)
        if opt:
            assert row.new_ratio == pytest.approx(float(slow_value(p, rule(p, row.budget)) / opt), abs=1e-15)
        else:
            assert np.isnan(row.new_ratio)


def test_an_unproven_optimum_gives_no_ratio(kept, monkeypatch):
    monkeypatch.setattr(choose, "ROUNDS", ())
    monkeypatch.setattr(choose, "QUICK_LOOKS", 0)
    new = reworth(cases.TALK, kept, saturation=CAP1, k=1, node_limit=1)
    assert not new["proven"].all() and new["new_ratio"][~new["proven"]].isna().all()


def test_a_memory_that_no_package_has_is_told():
    scores, selections = cases.scored(cases.TALK)
    selections.loc[0, "candidate_id"] = "ghost"
    with pytest.raises(InputError, match="candidate ghost"):
        kept_of(cases.TALK, scores, selections)


# ---- ratio MAD


def pairs_of(**ratios):
    """Writer -> list of (ratio, new ratio), one a package, at budget 4."""
    return pd.DataFrame([
        {"package_id": f"p{i}", "budget": 4, "budget_spec": "4", "writer": w, "ratio": a, "new_ratio": b}
        for w, values in ratios.items()
        for i, (a, b) in enumerate(values)
    ])  # fmt: skip


def test_mad_ranking_and_spearman():
    pairs = pairs_of(
        oracle_gvt=[(1.0, 0.9), (0.8, 0.9)],
        estimated_gvt=[(0.5, 0.5), (0.5, np.nan)],
        amem_graph=[(0.4, 0.6), (0.4, 0.6)],
        recency_raw=[(0.0, 1.0), (0.0, 1.0)],  # not among the writers of the audit
    )
    table = lr.label_ratios("talk", "anna = ben", lr.AGREED, cases.SETTING, pairs)
    to_table("label_ratios", {c: table[c].astype(object).where(table[c].notna(), None).tolist() for c in table})
    pooled, at = table.to_dict("records")
    assert pd.isna(pooled["budget"]) and at["budget"] == 4
    assert (pooled["rows"], pooled["dropped"], pooled["packages"], pooled["writers"]) == (5, 1, 2, 3)
    assert pooled["ratio_mad"] == pytest.approx((0.1 + 0.1 + 0 + 0.2 + 0.2) / 5)
    assert not pooled["ranking_preserved"]
    assert pooled["spearman"] == pytest.approx(spearmanr([0.9, 0.5, 0.4], [0.9, 0.5, 0.6]).statistic)


def test_the_same_order_is_preserved_and_ties_must_stay_ties():
    assert lr.same_ranking([0.1, 0.5, 0.5], [0.3, 0.7, 0.7])
    assert not lr.same_ranking([0.1, 0.5, 0.5], [0.3, 0.7, 0.8])
    one = lr.label_ratios("talk", "x", lr.SUITE, cases.SETTING, pairs_of(oracle_gvt=[(1.0, 0.5)]))
    assert one["ranking_preserved"].all() and one["spearman"].isna().all()
    none = lr.label_ratios("talk", "x", lr.SUITE, cases.SETTING, pairs_of(oracle_gvt=[(1.0, np.nan)]))
    assert none["ratio_mad"].isna().all() and none["dropped"].tolist() == [1, 1]


def test_two_suites_are_compared_on_what_they_share():
    ours, _ = cases.scored(cases.TALK)
    theirs, _ = cases.scored([cases.package("p1", {(1, 0): 1.0, (0, 1): 1.0}, suite="other")], budgets=(4, 8))
    pairs = lr.under_other_suite("talk", ours, "other", theirs)
    assert pairs[["package_id", "budget", "writer"]].values.tolist() == [
        ["p1", 4, "oracle_gvt"], ["p1", 4, "recency_raw"]
    ]  # fmt: skip
    assert pairs["new_ratio"].tolist() == [1.0, 0.0]
    with pytest.raises(InputError, match="suites talk and other share no package"):
        lr.under_other_suite("talk", ours[ours["budget"] == 6], "other", theirs)


def test_relabelled_means_are_paired_and_have_an_interval():
    pairs = pairs_of(oracle_gvt=[(1.0, 0.5), (0.5, 0.25), (0.7, np.nan)], other=[(np.nan, 1.0)])
    table = lr.relabelled("talk", "anna = ben", lr.AGREED, cases.SETTING, pairs, resamples=50)
    to_table("relabelled", table.to_dict("list"))
    row = table.set_index("writer").loc["oracle_gvt"]
    assert (row["n"], row["dropped"], row["mean_own"], row["mean_ratio"]) == (2, 1, 0.75, 0.375)
    assert row["ci_low"] <= 0.375 <= row["ci_high"]
    assert table.set_index("writer").loc["other", "n"] == 0


# ---- label noise


def noise(**changes):
    return rb.Noise(**({"rates": [0.3], "draws": 4} | changes))


def test_flips_of_every_cell_touch_only_units_that_count():
    p = cases.TALK[1]
    before, after = dense_coverage(p), dense_coverage(rb.flipped(p, noise(flips=rb.ALL), 1.0, 0))
    counting = p.weight > 0
    assert (after[:, counting] == np.where(before[:, counting] >= 0.5, 0.0, 1.0)).all()
    assert (after[:, ~counting] == before[:, ~counting]).all()


def test_balanced_flips_keep_the_number_of_positive_cells():
    p = cases.TALK[0]
    for draw in range(20):
        changed = dense_coverage(rb.flipped(p, noise(), 0.5, draw))
        assert (changed >= 0.5).sum() == (dense_coverage(p) >= 0.5).sum()


def test_flips_depend_on_seed_draw_and_package_alone_and_grow_with_the_rate():
    p = cases.TALK[0]

    def moved(rate, draw=0, **changes):
        changed = dense_coverage(rb.flipped(p, noise(**changes), rate, draw)) != dense_coverage(p)
        return set(map(tuple, np.argwhere(changed).tolist()))

    for flips in (rb.BALANCED, rb.ALL):
        assert moved(0.4, flips=flips) == moved(0.4, flips=flips, rates=[0.4, 0.9], draws=9)
        assert moved(0.2, flips=flips) <= moved(0.5, flips=flips) <= moved(0.8, flips=flips)
        assert len({frozenset(moved(0.5, draw, flips=flips)) for draw in range(9)}) > 1
        assert len({frozenset(moved(0.5, 0, flips=flips, seed=s)) for s in range(9)}) > 1
    share = np.mean([len(moved(0.25, d, flips=rb.ALL)) / 18 for d in range(400)])
    assert share == pytest.approx(0.25, abs=0.02)


def test_robustness_against_a_slow_run(kept):
    plan = noise(rates=[0.2, 0.6], draws=3, flips=rb.ALL)
    ranking, writers = rb.robustness(cases.TALK, kept, plan, suite="talk", setting=cases.SETTING, saturation=CAP1)
    to_table("robustness", ranking.to_dict("list"))
    to_table("robustness_writers", writers.to_dict("list"))
    assert len(ranking) == 2 * 2 * 2 and len(writers) == 2 * 2 * 2
    rules = {"oracle_gvt": cases.first_facts, "recency_raw": cases.last_raw}
    for row in ranking[ranking["ranked"] == rb.ALL_WRITERS].itertuples():
        assert row.n + row.n_zero + row.n_unproven == row.packages == 3
        taus, changes = [], {w: [] for w in rules}
        for draw in range(3):
            clean, dirty = {w: [] for w in rules}, {w: [] for w in rules}
            for p in cases.TALK:
                q = rb.flipped(p, plan, row.rate, draw)
                opts = slow_opt(p, row.budget), slow_opt(q, row.budget)
                for w, rule in rules.items() if all(opts) else ():
                    chosen = rule(p, row.budget)
                    clean[w].append(float(slow_value(p, chosen) / opts[0]))
                    dirty[w].append(float(slow_value(q, chosen) / opts[1]))
                    changes[w].append(dirty[w][-1] - clean[w][-1])
            means = [[np.mean(side[w]) for w in sorted(rules)] for side in (clean, dirty)]
            if len({*means[0]}) == len({*means[1]}) == 2:
                taus.append(kendalltau(*means).statistic)
        assert row.kendall_tau == pytest.approx(np.mean(taus)) if taus else np.isnan(row.kendall_tau)
        assert row.n_zero >= 1 and row.n_unproven == 0  # p3 has OPT = 0 in every draw
        for w in rules:
            own = writers[(writers["rate"] == row.rate) & (writers["budget"] == row.budget) & (writers["writer"] == w)]
            assert own["mean_change"].iloc[0] == pytest.approx(np.mean(changes[w]))
            assert own["mean_absolute_change"].iloc[0] == pytest.approx(np.mean(np.abs(changes[w])))


def test_the_blind_ranking_leaves_out_what_cannot_turn():
    """An oracle above and writers that keep nothing below make every ranking look firm."""
    rules = {"opt": cases.first_facts, "recency_raw": cases.last_raw, "late": lambda p, budget: [4],
             "idle": lambda p, budget: [], "asleep": lambda p, budget: [] if budget < 6 else [0]}  # fmt: skip
    kept = kept_of(cases.TALK, *cases.scored(cases.TALK, writers=rules))
    table, _ = rb.robustness(
        cases.TALK, kept, noise(), suite="talk", setting=cases.SETTING, saturation=CAP1, blind=[*rules][1:]
    )
    counts = table.set_index(["budget", "ranked"])["writers"].to_dict()
    # last_raw keeps nothing at 4, where no raw span fits.
    assert counts == {(4, "all"): 5, (4, "blind"): 1, (6, "all"): 5, (6, "blind"): 3}
    assert np.isnan(table.set_index(["budget", "ranked"]).loc[(4, "blind"), "kendall_tau"])
    alone = kept_of(
        cases.TALK, *cases.scored(cases.TALK, (6,), {w: rules[w] for w in ("recency_raw", "late", "asleep")})
    )
    only, _ = rb.robustness(cases.TALK, alone, noise(), suite="talk", setting=cases.SETTING, saturation=CAP1)
    columns = ["kendall_tau", "tau_low", "tau_high", "reversed_pairs"]
    apart = table[(table["budget"] == 6) & (table["ranked"] == "blind")][columns].values.tolist()
    assert apart == only[only["ranked"] == "all"][columns].values.tolist()


def test_reversed_pairs():
    assert rb._reversed(np.array([0.1, 0.2, 0.3]), np.array([0.3, 0.2, 0.2])) == [2 / 3]
    assert rb._reversed(np.array([0.1, 0.1, 0.3]), np.array([0.2, 0.3, 0.4])) == [0.0]
    assert rb._reversed(np.array([0.1, 0.1]), np.array([0.2, 0.3])) == []


def test_nothing_positive_gives_no_ranking():
    kept = kept_of(cases.TALK[2:], *cases.scored(cases.TALK[2:]))
    ranking, writers = rb.robustness(
        cases.TALK[2:], kept, noise(rates=[0.05], flips=rb.BALANCED), suite="talk", setting=cases.SETTING,
        saturation=CAP1,
    )  # fmt: skip
    assert ranking["kendall_tau"].isna().all() and (ranking["n_zero"] == 1).all() and writers["mean_ratio"].isna().all()
    to_table("robustness", ranking.to_dict("list"))
