"""The synthetic generators against hand-written tables, replayed draws, and published figures.

Tables are lines "experience variant representation cost [~confidence] unit=coverage ...", written out from
the published definitions and not from the generators.
"""

from __future__ import annotations

from functools import cache
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memaudit.errors import InputError
from memaudit.objective import scale
from memaudit.pools import BUILT_IN as POOLS
from memaudit.synthetic import DISTRIBUTIONS, TEXTS_OURS, generate, package_ids

STRESS = (
    "base",
    "update_chain",
    "temporal_interval",
    "density_trap",
    "scope_shift",
    "summary_tradeoff",
    "redundancy_heavy",
    "abstention_hard",
)
AUDIT = STRESS[:3]
PUBLISHED = (*STRESS, "density_trap_v2", "scope_shift_v2")
RANDOMIZED = ("update_chain_randomized", "temporal_interval_randomized")
SEEDS = (0, 7)


@cache
def suite(distribution: str, seeds: int = 500):
    return [generate("s", distribution, seed) for seed in range(seeds)]


# ---- exact structure


def listed(table: str) -> dict[str, tuple]:
    """{"experience variant": (representation, cost, confidence, coverage)} of a table."""
    rows = {}
    for line in table.strip().splitlines():
        experience, variant, representation, cost, *cells = line.split()
        confidence = float(cells.pop(0)[1:]) if cells[0].startswith("~") else 1.0
        coverage = {u: float(a) for u, a in (cell.split("=") for cell in cells)}
        rows[f"{experience} {variant}"] = (representation, int(cost), confidence, coverage)
    return rows


def assert_package(package, prefix, joiner, table, units):
    """The package's candidates, order in time, units (name -> (weight, role)) and queries are these."""
    expected = listed(table)
    v = package.visible
    experiences = list(dict.fromkeys(key.split()[0] for key in expected))
    assert v.group_ids == tuple(prefix + e for e in experiences)
    found = {}
    for i, candidate_id in enumerate(v.candidate_ids):
        group = v.group_ids[v.group_of[i]]
        assert candidate_id.startswith(group + joiner)
        key = f"{group.removeprefix(prefix)} {candidate_id.removeprefix(group + joiner)}"
        coverage = {u.removeprefix(prefix): a for u, a in package.coverage_row(i).items()}
        found[key] = (v.representation_type[i], int(v.cost[i]), float(v.confidence[i]), coverage)
        assert v.time_index[i] == experiences.index(key.split()[0])
    assert found == expected
    assert {u.unit_id.removeprefix(prefix): (u.weight, u.role) for u in package.units} == units
    assert all(u.unit_id.startswith(prefix) and u.kind for u in package.units)
    assert {q.query_id: q.required for q in package.queries} == {"q:" + u.unit_id: (u.unit_id,) for u in package.units}


def stress_rng(seed: int, salt: int) -> Random:
    return Random((seed + 1) * 1000003 + salt)


@pytest.mark.parametrize("seed", SEEDS)
def test_base(seed):
    rng = Random(seed)
    table, units = "", {}
    for i in range(3):
        fact, context = f"fact:{seed}:{i}", f"context:{seed}:{i // 2}"
        units |= {fact: (rng.choice([1.0, 1.2, 1.4]), ""), context: (0.35, "")}
        raw = 5 + rng.randint(0, 1)
        table += f"""
            s{seed}_fact_{i} raw_span raw_span {raw} {fact}=1 {context}=.4
            s{seed}_fact_{i} atomic_fact atomic_fact 2 {fact}=1
            s{seed}_fact_{i} summary summary 3 {fact}=.7 {context}=.5""".rstrip()
    for i in range(2):
        old, new, gone = (
            f"stale:pref:{seed}:{i}:old",
            f"current:pref:{seed}:{i}:new",
            f"invalid:pref:{seed}:{i}:old_after_update",
        )
        units[old] = (0.15, "stale")
        units[new] = ((2.0, 2.25, 2.5)[rng.randint(0, 2)], "current")
        units[gone] = ((2.0, 2.25, 2.5)[rng.randint(0, 2)], "invalidation")
        table += f"""
            s{seed}_pref_{i}_old raw_span raw_span 4 {old}=1
            s{seed}_pref_{i}_old atomic_fact atomic_fact 2 {old}=1
            s{seed}_pref_{i}_old summary summary 3 {old}=.75
            s{seed}_pref_{i}_update raw_span raw_span 6 {new}=1 {gone}=.45 {old}=.2
            s{seed}_pref_{i}_update atomic_fact atomic_fact 2 {new}=1
            s{seed}_pref_{i}_update tombstone tombstone 1 {gone}=1
            s{seed}_pref_{i}_update compound_update compound_update 3 {new}=1 {gone}=1
            s{seed}_pref_{i}_update summary summary 4 {new}=.75 {gone}=.75 {old}=.1""".rstrip()
    package = generate("s", "base", seed)
    assert (package.package_id, package.distribution, package.seed) == (
        f"synthetic_seed_{seed}",
        "base",
        seed,
    )
    assert_package(package, "", "_", table, units)


def test_base_texts():
    package = generate("s", "base", 0)
    texts = dict(zip(package.visible.candidate_ids, package.visible.text, strict=True))
    assert texts["s0_fact_1_raw_span"] == "raw fact:0:1"
    assert texts["s0_fact_1_atomic_fact"] == "FACT fact:0:1"
    assert texts["s0_fact_1_summary"] == "summary fact:0:1"
    assert texts["s0_pref_1_old_raw_span"] == "raw old preference 1"
    assert texts["s0_pref_1_old_atomic_fact"] == "FACT old preference 1"
    assert texts["s0_pref_1_old_summary"] == "summary old preference 1"
    assert texts["s0_pref_0_update_raw_span"] == "raw correction 0"
    assert texts["s0_pref_0_update_atomic_fact"] == "FACT current preference 0"
    assert texts["s0_pref_0_update_tombstone"] == "TOMBSTONE old preference 0"
    assert texts["s0_pref_0_update_compound_update"] == "UPDATE old to current preference 0"
    assert texts["s0_pref_0_update_summary"] == "summary correction 0"


@pytest.mark.parametrize("seed", SEEDS)
def test_update_chain(seed):
    table = """
        version_0 raw_old raw_span 4 version:0=1
        version_0 fact_old atomic_fact 2 version:0=1
        version_0 summary_old summary 3 version:0=.7
        update_1 raw_correction raw_span 5 version:1=1 invalidates:version:0=.35 version:0=.15
        update_1 current_only atomic_fact 2 version:1=1
        update_1 invalidate_only tombstone 1 invalidates:version:0=1
        update_1 compound compound_update 3 version:1=.95 invalidates:version:0=1
        update_1 summary_update summary 3 version:1=.65 invalidates:version:0=.65
        update_2 raw_correction raw_span 5 version:2=1 invalidates:version:1=.35 version:1=.15
        update_2 current_only atomic_fact 2 version:2=1
        update_2 invalidate_only tombstone 1 invalidates:version:1=1
        update_2 compound compound_update 3 version:2=.95 invalidates:version:1=1
        update_2 summary_update summary 3 version:2=.65 invalidates:version:1=.65
        update_3 raw_correction raw_span 5 version:3=1 invalidates:version:2=.35 version:2=.15
        update_3 current_only atomic_fact 2 version:3=1
        update_3 invalidate_only tombstone 1 invalidates:version:2=1
        update_3 compound compound_update 3 version:3=.95 invalidates:version:2=1
        update_3 summary_update summary 3 version:3=.65 invalidates:version:2=.65
    """
    units = {f"version:{k}": (0.1, "stale") for k in range(3)} | {"version:3": (2.3, "current")}
    units |= {f"invalidates:version:{k}": (1.85, "invalidation") for k in range(3)}
    package = generate("s", "update_chain", seed)
    assert package.package_id == f"update_chain_s{seed}"
    assert_package(package, f"update_chain_s{seed}:", ":", table, units)
    texts = dict(zip(package.visible.candidate_ids, package.visible.text, strict=True))
    p = f"update_chain_s{seed}:"
    assert texts[p + "version_0:raw_old"] == "raw original preference before any correction"
    assert texts[p + "version_0:summary_old"] == "summary of original preference"
    assert texts[p + "update_2:raw_correction"] == "raw correction from version 1 to 2"
    assert texts[p + "update_2:current_only"] == "FACT current version 2"
    assert texts[p + "update_2:invalidate_only"] == "TOMBSTONE version 1"
    assert texts[p + "update_2:compound"] == "UPDATE version 1 to 2"
    assert texts[p + "update_2:summary_update"] == "summary correction to version 2"


def test_update_chain_length_is_clamped():
    groups = {u: len(generate("s", "update_chain", 0, 3, u).visible.group_ids) for u in (0, 1, 2, 3, 9)}
    assert groups == {0: 3, 1: 3, 2: 4, 3: 5, 9: 5}


@pytest.mark.parametrize("seed", SEEDS)
def test_temporal_interval(seed):
    table, units = "", {}
    for i in range(5):
        n = f"interval:{i}"
        units |= {f"{n}:label": (0.9, "current"), f"{n}:start": (0.75, "current")}
        units |= {f"{n}:end": (0.85, "current"), f"{n}:duration": (0.55, "")}
        table += f"""
            interval_{i} label_fact atomic_fact 2 {n}:label=1
            interval_{i} endpoint_fact interval_fact 3 {n}:start=1 {n}:end=1 {n}:duration=.7
            interval_{i} coarse_summary summary 2 {n}:label=.85 {n}:start=.35 {n}:end=.35
            interval_{i} raw_interval raw_span 5 {n}:label=1 {n}:start=1 {n}:end=1 {n}:duration=1""".rstrip()
    for i in range(2):
        old, new, gone = (
            f"open_interval:{i}:old",
            f"closed_interval:{i}:new_end",
            f"invalid_open_interval:{i}",
        )
        units |= {old: (0.1, "stale"), new: (1.4, "current"), gone: (1.6, "invalidation")}
        table += f"""
            closure_{i} raw_closure raw_span 5 {new}=1 {gone}=.45 {old}=.15
            closure_{i} closed_fact atomic_fact 2 {new}=1
            closure_{i} invalidate_open tombstone 1 {gone}=1
            closure_{i} compound_closure compound_update 3 {new}=1 {gone}=1
            closure_{i} closure_summary summary 3 {new}=.7 {gone}=.7""".rstrip()
    package = generate("s", "temporal_interval", seed)
    assert_package(package, f"temporal_interval_s{seed}:", ":", table, units)
    p = package.package_id
    texts = dict(zip(package.visible.candidate_ids, package.visible.text, strict=True))
    assert {c.removeprefix(p): t for c, t in texts.items() if "_1:" in c} == {
        ":interval_1:label_fact": "FACT interval 1 happened",
        ":interval_1:endpoint_fact": "FACT interval 1 start and end",
        ":interval_1:coarse_summary": "coarse temporal summary 1",
        ":interval_1:raw_interval": "raw interval evidence 1",
        ":closure_1:raw_closure": "raw closure for interval 1",
        ":closure_1:closed_fact": "FACT interval 1 closed",
        ":closure_1:invalidate_open": "TOMBSTONE open interval 1",
        ":closure_1:compound_closure": "UPDATE open interval 1 to closed",
        ":closure_1:closure_summary": "summary closure for interval 1",
    }


@pytest.mark.parametrize("seed", SEEDS)
def test_density_trap(seed):
    rng = stress_rng(seed, 11)
    table, units = "", {"shared_lure": (2.2, "")}
    for i in range(5):
        units[f"specific:{i}"] = ((1.45, 1.6, 1.75)[rng.randrange(3)], "")
        units[f"context:{i // 2}"] = (0.3, "")
        table += f"""
            memory_{i} cheap_lure atomic_fact 1 ~.82 shared_lure=.55 specific:{i}=.05
            memory_{i} specific_fact atomic_fact 2 specific:{i}=1
            memory_{i} context_summary summary 3 specific:{i}=.7 shared_lure=.25 context:{i // 2}=.35
            memory_{i} raw_detail raw_span 4 specific:{i}=1 context:{i // 2}=.6 shared_lure=.15""".rstrip()
    assert_package(generate("s", "density_trap", seed), f"density_trap_s{seed}:", ":", table, units)


@pytest.mark.parametrize("seed", SEEDS)
def test_scope_shift(seed):
    rng = stress_rng(seed, 23)
    table, units = "", {"pref:generic": (0.35, "")}
    for scope in ("home", "work", "travel", "medical"):
        units[f"pref:{scope}"] = ((1.6, 1.8, 2.0)[rng.randrange(3)], "current")
        units[f"context:{scope}"] = (0.55, "")
        table += f"""
            scope_{scope} scoped_fact atomic_fact 2 pref:{scope}=1
            scope_{scope} generic_summary summary 2 ~.7 pref:generic=.8 pref:{scope}=.35
            scope_{scope} scoped_summary summary 3 pref:{scope}=.75 context:{scope}=.8
            scope_{scope} raw_scope raw_span 5 pref:{scope}=1 context:{scope}=1 pref:generic=.2""".rstrip()
    table += "\ncross_scope_review broad_review summary 4"
    table += " pref:home=.42 pref:work=.42 pref:travel=.42 pref:medical=.42"
    table += " context:home=.35 context:work=.35 context:travel=.35 context:medical=.35"
    assert_package(generate("s", "scope_shift", seed), f"scope_shift_s{seed}:", ":", table, units)


@pytest.mark.parametrize("seed", SEEDS)
def test_summary_tradeoff(seed):
    rng = stress_rng(seed, 37)
    table, units = "", {}
    for i in range(5):
        units[f"primary:{i}"] = ((1.35, 1.5, 1.65)[rng.randrange(3)], "")
        units[f"secondary:{i}"] = ((1.0, 1.1)[rng.randrange(2)], "")
        units[f"context:{i}"] = (0.35, "")
        a, b, c = f"primary:{i}", f"secondary:{i}", f"context:{i}"
        table += f"""
            episode_{i} primary_fact atomic_fact 2 {a}=1
            episode_{i} secondary_fact atomic_fact 2 {b}=1
            episode_{i} compressed_summary summary 2 {a}=.45 {b}=.45 {c}=.25
            episode_{i} balanced_summary summary 3 {a}=.72 {b}=.72 {c}=.45
            episode_{i} raw_episode raw_span 5 {a}=1 {b}=1 {c}=.85""".rstrip()
    assert_package(generate("s", "summary_tradeoff", seed), f"summary_tradeoff_s{seed}:", ":", table, units)


@pytest.mark.parametrize("seed", SEEDS)
def test_redundancy_heavy(seed):
    rng = stress_rng(seed, 41)
    table, units = "", {"core": (2.4, "")}
    for i in range(5):
        units |= {f"tail:{i}": ((1.0, 1.15, 1.3)[rng.randrange(3)], ""), f"local:{i // 2}": (0.3, "")}
        table += f"""
            redundant_{i} core_fact atomic_fact 2 core=.85
            redundant_{i} tail_fact atomic_fact 2 tail:{i}=1
            redundant_{i} core_tail_summary summary 3 core=.6 tail:{i}=.8 local:{i // 2}=.25
            redundant_{i} raw_redundant raw_span 4 core=1 tail:{i}=1 local:{i // 2}=.4""".rstrip()
    assert_package(generate("s", "redundancy_heavy", seed), f"redundancy_heavy_s{seed}:", ":", table, units)


@pytest.mark.parametrize("seed", SEEDS)
def test_abstention_hard(seed):
    rng = stress_rng(seed, 53)
    table, units = "", {}
    for i in range(5):
        if i % 2 == 0:
            units[f"abstain:{i}"] = ((2.0, 2.15, 2.3)[rng.randrange(3)], "current")
            units |= {f"conflict:{i}": (0.9, "current"), f"unsupported_answer:{i}": (0.05, "stale")}
            table += f"""
            question_{i} overconfident_fact atomic_fact 2 ~.42 unsupported_answer:{i}=1
            question_{i} abstain_marker abstention 1 abstain:{i}=1
            question_{i} conflict_marker uncertainty 2 abstain:{i}=.8 conflict:{i}=1
            question_{i} raw_conflict raw_span 4 abstain:{i}=.9 conflict:{i}=1 unsupported_answer:{i}=.1
            question_{i} ambiguous_summary summary 3 abstain:{i}=.65 conflict:{i}=.7""".rstrip()
        else:
            units[f"answer:{i}"] = ((1.75, 1.9)[rng.randrange(2)], "current")
            units |= {f"evidence:{i}": (0.55, ""), f"unneeded_abstain:{i}": (0.2, "")}
            table += f"""
            question_{i} answer_fact atomic_fact 2 answer:{i}=1
            question_{i} unneeded_abstain abstention 1 ~.5 unneeded_abstain:{i}=1
            question_{i} evidence_summary summary 3 answer:{i}=.75 evidence:{i}=.8
            question_{i} raw_answer raw_span 4 answer:{i}=1 evidence:{i}=1""".rstrip()
    assert_package(generate("s", "abstention_hard", seed), f"abstention_hard_s{seed}:", ":", table, units)


@pytest.mark.parametrize("seed", SEEDS)
def test_density_trap_v2(seed):
    rng = stress_rng(seed, 101)
    topics = ["meal", "hotel", "flight", "calendar", "budget", "client"]
    rng.shuffle(topics)
    table, units = "", {}
    for i in range(4):
        a, b, c, d, e = (f"q{i}:{n}" for n in ("intent", "constraint", "outcome", "compound_bridge", "source_detail"))
        units |= {
            a: (1.05, "current"),
            b: (1.0, "current"),
            c: (0.95, "current"),
            d: (0.65, ""),
            e: (0.45, ""),
        }
        table += f"""
            future_query_{i} cheap_hint atomic_fact 1 ~.74 {a}=1 {b}=.12
            future_query_{i} complete_summary summary 3 {a}=1 {b}=1 {c}=1
            future_query_{i} compound_case compound_evidence 4 {a}=1 {b}=1 {c}=1 {d}=1
            future_query_{i} raw_complete raw_span 5 {a}=1 {b}=1 {c}=1 {d}=1 {e}=1""".rstrip()
    package = generate("s", "density_trap_v2", seed)
    assert_package(package, f"density_trap_v2_s{seed}:", ":", table, units)
    assert [t for t in topics[:4] for _ in range(4)] == [
        next(t for t in topics if t in text.split()) for text in package.visible.text
    ]


def test_density_trap_v2_costs_follow_the_units():
    costs = {u: sorted(set(generate("s", "density_trap_v2", 0, 1, u).visible.cost.tolist())) for u in (0, 1, 2, 3, 8)}
    assert costs == {0: [1, 3, 4, 5], 1: [1, 3, 4, 5], 2: [1, 3, 4, 5], 3: [1, 4, 5, 6], 8: [1, 4, 5, 6]}


@pytest.mark.parametrize("seed", SEEDS)
def test_scope_shift_v2(seed):
    s = ("lodging", "meals", "seating", "transport")[stress_rng(seed, 211).randrange(4)]
    general, travel, conference = (
        f"{s}:pref:general",
        f"{s}:pref:travel_only",
        f"{s}:pref:conference_exception",
    )
    stale, current = f"{s}:stale:historical", f"{s}:current:conference_correction"
    gone = f"{s}:invalid:historical_after_correction"
    in_travel, in_conf, in_hist = (f"{s}:scope:{x}" for x in ("travel", "conference", "historical"))
    units = {
        general: (1.1, ""),
        travel: (1.2, "current"),
        conference: (1.5, "current"),
        stale: (0.2, "stale"),
        current: (2.0, "current"),
        gone: (3.0, "invalidation"),
        in_travel: (0.6, ""),
        in_conf: (0.8, ""),
        in_hist: (0.3, ""),
        f"{s}:context:routine_0": (0.25, ""),
    }
    table = f"""
        general_preference broad_fact atomic_fact 1 {general}=1
        general_preference scoped_general_summary summary 3 {general}=1 {in_travel}=.35 {in_conf}=.35
        travel_only_preference travel_hint atomic_fact 1 ~.76 {travel}=.88
        travel_only_preference travel_scoped_fact summary 2 {travel}=1 {in_travel}=1
        conference_exception conference_hint atomic_fact 1 ~.72 {conference}=.85
        conference_exception conference_scoped_exception summary 3 {conference}=1 {in_conf}=1
        historical_preference historical_broad_summary summary 1 ~.68 {general}=.55 {stale}=.5 {in_hist}=.25
        historical_preference historical_raw raw_span 3 {stale}=1 {in_hist}=1
        current_scoped_correction current_fact_only atomic_fact 2 {current}=1
        current_scoped_correction invalidate_historical tombstone 1 {gone}=1
        current_scoped_correction compound_scoped_update compound_update 3 {current}=1 {gone}=1 {in_conf}=1
        current_scoped_correction ambiguous_current_summary summary 3 {current}=.72 {in_conf}=.7
        routine_context_0 context_note summary 2 {s}:context:routine_0=1 {general}=.2
    """
    assert_package(generate("s", "scope_shift_v2", seed), f"scope_shift_v2_s{seed}:", ":", table, units)


# ---- whole suites


@pytest.mark.parametrize(
    ("distribution", "groups", "candidates", "units"),
    [
        ("base", 7, 25, 11),
        ("update_chain", 4, 18, 7),
        ("temporal_interval", 7, 30, 26),
        ("density_trap", 5, 20, 9),
        ("scope_shift", 5, 17, 9),
        ("summary_tradeoff", 5, 25, 15),
        ("redundancy_heavy", 5, 20, 9),
        ("abstention_hard", 5, 23, 15),
        ("density_trap_v2", 4, 16, 20),
        ("scope_shift_v2", 6, 13, 10),
    ],
)
def test_counts_hold_for_every_seed(distribution, groups, candidates, units):
    for package in (generate("s", distribution, seed) for seed in range(51)):
        assert (len(package.visible.group_ids), len(package), len(package.units)) == (
            groups,
            candidates,
            units,
        )
        assert all(package.visible.text)
        scale(package)


def test_every_published_distribution_is_there():
    assert set(DISTRIBUTIONS) == {*PUBLISHED, *RANDOMIZED}
    assert set(PUBLISHED) - TEXTS_OURS == set(AUDIT)


def mean_cost(packages) -> float:
    costs = [p.total_cost for p in packages]
    return sum(costs) / len(costs)


def test_mean_total_costs_give_the_published_budgets():
    base = mean_cost(suite("base"))
    stress = mean_cost([p for d in STRESS for p in suite(d)])
    audit = mean_cost([p for d in AUDIT for p in suite(d)[:100]])
    assert (round(base, 1), round(stress, 2), round(audit, 1)) == (81.5, 62.94, 73.5)
    assert [round(f * base) for f in (0.01, 0.02, 0.05, 0.10, 0.20)] == [1, 2, 4, 8, 16]
    assert [round(f * stress) for f in (0.02, 0.05, 0.10, 0.20)] == [1, 3, 6, 13]
    assert [round(f * audit) for f in (0.02, 0.05, 0.10, 0.20)] == [1, 4, 7, 15]


def test_distinct_contents():
    distinct = {d: {p.content_hash for p in suite(d)} for d in STRESS}
    assert len(distinct["update_chain"]) == len(distinct["temporal_interval"]) == 1
    # Every possible draw of scope_shift (3**4) turns up; of abstention_hard (3**3 * 2**2) all but one.
    assert (len(distinct["scope_shift"]), len(distinct["abstention_hard"])) == (81, 107)
    assert round(len(set().union(*distinct.values())), -2) == 1600


# ---- published optima, by plain enumeration


def best_value(package, budget: int) -> int:
    """The largest F (in hundredths of hundredths) within `budget`, by trying every feasible selection.

    Coverages and weights are read as hundredths here, apart from the library's own scaling.
    """
    v = package.visible
    weight = [round(100 * u.weight) for u in package.units]
    rows = [
        [(r, round(100 * a)) for r, a in zip(package.cov_unit[s:e].tolist(), package.cov_value[s:e], strict=True)]
        for s, e in zip(package.cov_ptr[:-1], package.cov_ptr[1:], strict=True)
    ]
    groups = [range(s, e) for s, e in zip(v.group_start[:-1], v.group_start[1:], strict=True)]
    costs = v.cost.tolist()

    def best(g: int, left: int, chosen: tuple[int, ...]) -> int:
        if g == len(groups):
            covered: dict[int, int] = {}
            for i in chosen:
                for r, a in rows[i]:
                    covered[r] = covered.get(r, 0) + a
            return sum(weight[r] * min(100, z) for r, z in covered.items())
        found = best(g + 1, left, chosen)
        for i in groups[g]:
            if costs[i] <= left:
                found = max(found, best(g + 1, left - costs[i], (*chosen, i)))
        return found

    return best(0, budget, ())


def no_validity_ratio(package, budget: int) -> float:
    return best_value(POOLS["no_validity"](package), budget) / best_value(package, budget)


@pytest.mark.parametrize(("distribution", "ratio"), [("update_chain", 0.513), ("temporal_interval", 0.700)])
def test_published_stress_ratio_without_validity_types(distribution, ratio):
    assert no_validity_ratio(generate("s", distribution, 3), 6) == pytest.approx(ratio, abs=0.0005 + 1e-9)


@pytest.mark.parametrize(("budget", "ratio", "decimals"), [(2, 0.52262, 5), (4, 0.65392, 5), (6, 0.650, 3)])
def test_published_base_ratio_without_validity_types(budget, ratio, decimals):
    ratios = [no_validity_ratio(package, budget) for package in suite("base")]
    assert sum(ratios) / len(ratios) == pytest.approx(ratio, abs=0.5 * 10**-decimals + 1e-9)


# ---- randomized variants

SPREADS = st.fixed_dictionaries(
    {
        "length_spread": st.integers(0, 10),
        "weight_spread": st.floats(0, 0.9),
        "cost_spread": st.integers(0, 10),
        "coverage_spread": st.floats(0, 0.5),
    }
)


def content(package):
    """Everything of a package but its own name, with each cell under its ids."""
    v = package.visible
    p = package.package_id
    cells = [(c.removeprefix(p), package.coverage_row(i)) for i, c in enumerate(v.candidate_ids)]
    return {
        "candidates": {
            c: (
                v.representation_type[i],
                int(v.cost[i]),
                {u.removeprefix(p): a for u, a in row.items()},
                v.text[i],
            )
            for i, (c, row) in enumerate(cells)
        },
        "units": {u.unit_id.removeprefix(p): (u.weight, u.role) for u in package.units},
    }


NO_SPREAD = {"length_spread": 0, "weight_spread": 0.0, "cost_spread": 0, "coverage_spread": 0.0}


@pytest.mark.parametrize("name", RANDOMIZED)
def test_without_spread_a_randomized_package_is_the_published_one(name):
    published = generate("s", name.removesuffix("_randomized"), 5)
    assert content(generate("s", name, 5, **NO_SPREAD)) == content(published)


@pytest.mark.parametrize("name", RANDOMIZED)
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**9), update_count=st.integers(0, 6), spread=SPREADS)
def test_every_randomized_package_is_valid_and_near_the_published_one(name, seed, update_count, spread):
    package = generate("s", name, seed, 3, update_count, **spread)
    assert content(package) == content(generate("s", name, seed, 3, update_count, **spread))
    numbers = [*package.cov_value.tolist(), *package.weight.tolist()]
    assert all(x > 0 and round(x, 2) == x for x in numbers)
    assert package.cov_value.max() <= 1 and package.visible.cost.min() >= 1
    scale(package)
    # The largest published package lists nearly every candidate; those it lists are compared one by one.
    reference = content(generate("s", name.removesuffix("_randomized"), 0, 3, 6))
    found = content(package)
    for candidate, (kind, cost, row, text) in found["candidates"].items():
        if candidate not in reference["candidates"]:
            continue
        kind0, cost0, row0, text0 = reference["candidates"][candidate]
        assert (kind, text, set(row)) == (kind0, text0, set(row0))
        assert max(1, cost0 - spread["cost_spread"]) <= cost <= cost0 + spread["cost_spread"]
        assert all(abs(row[u] - row0[u]) <= spread["coverage_spread"] + 0.005 + 1e-9 for u in row)
    for unit, (weight, role) in found["units"].items():
        weight0, role0 = reference["units"].get(unit, (None, None))
        if role == role0:  # a version that is current here may be superseded in the longest chain
            assert abs(weight - weight0) <= spread["weight_spread"] * weight0 + 0.005 + 1e-9
    invalid = {u for u, (_, role) in found["units"].items() if role == "invalidation"}
    assert invalid == {u for u in found["units"] if u.startswith(":invalid")} != set()


def test_randomized_lengths_cover_their_range():
    chains = {len(p.visible.group_ids) - 1 for p in suite("update_chain_randomized", 100)}
    assert chains == {2, 3, 4}
    groups = [p.visible.group_ids for p in suite("temporal_interval_randomized", 100)]
    shapes = {(sum(":interval_" in g for g in ids), sum(":closure_" in g for g in ids)) for ids in groups}
    assert shapes == {(n, m) for n in (4, 5, 6) for m in (1, 2, 3)}


@pytest.mark.parametrize("name", RANDOMIZED)
def test_randomized_seeds_differ(name):
    assert len({p.content_hash for p in suite(name, 100)}) == 100


@pytest.mark.parametrize(
    ("key", "value", "allowed"),
    [
        ("length_spread", -1, "0 to 10"),
        ("length_spread", 1.5, "0 to 10"),
        ("weight_spread", 1.0, "0 to 0.9"),
        ("weight_spread", float("nan"), "0 to 0.9"),
        ("cost_spread", "two", "0 to 10"),
        ("cost_spread", True, "0 to 10"),
        ("coverage_spread", 0.6, "0 to 0.5"),
    ],
)
def test_bad_parameter_is_named_with_its_range(key, value, allowed):
    with pytest.raises(InputError, match=rf"parameters\.update_chain_randomized\.{key}: .*{allowed}"):
        generate("s", "update_chain_randomized", 0, **{key: value})


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_package_ids_without_the_packages(name):
    seeds = [0, 7, 2**63 - 1]
    assert package_ids(name, seeds) == [generate("s", name, seed).package_id for seed in seeds]


def test_all_bad_parameters_are_named_at_once():
    with pytest.raises(InputError) as error:
        generate("s", "temporal_interval_randomized", 0, weight_sprad=0.1, cost_spread=-2)
    assert "weight_sprad: unknown key" in str(error.value) and "cost_spread: -2" in str(error.value)


def test_bad_calls_are_refused():
    with pytest.raises(InputError, match="did you mean 'update_chain'"):
        generate("s", "update_chian", 0)
    with pytest.raises(InputError, match=r"parameters\.base: it takes no parameters; remove cost_spread"):
        generate("s", "base", 0, cost_spread=1)
    with pytest.raises(InputError, match="seed is -1"):
        generate("s", "base", -1)
    with pytest.raises(InputError, match=r"update_count is 1\.5"):
        generate("s", "base", 0, 3, 1.5)
    with pytest.raises(InputError, match="both 0"):
        generate("s", "base", 0, 0, 0)


@pytest.mark.parametrize("name", sorted(DISTRIBUTIONS))
def test_same_seed_same_package(name):
    assert content(generate("s", name, 11)) == content(generate("s", name, 11))
