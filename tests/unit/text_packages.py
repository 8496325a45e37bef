"""Random packages with realistic types, texts, times and confidences, for the writers that read text."""

from __future__ import annotations

import random

from hypothesis import strategies as st

from memaudit.package import Candidate, Package, Unit, build

TYPES = (
    "raw",
    "raw_span",
    "atomic_fact",
    "fact",
    "summary",
    "graph_edge",
    "skill",
    "interval_fact",
    "abstention",
    "uncertainty",
    "tombstone",
    "compound_update",
    "compound_evidence",
    "episode_note",
)
# Words that fire cues, salience and anchors beside words that fire nothing; few, so that texts overlap.
WORDS = (
    "current",
    "correction",
    "superseded",
    "invalidates",
    "invalid",
    "not",
    "now",
    "preference",
    "scope:travel",
    "scope:home",
    "key:value",
    "updated",
    "update",
    "travel",
    "conference",
    "start",
    "end",
    "duration",
    "hint",
    "beautifully",
    "no longer",
    "source detail",
    "without the full",
    "insufficient evidence",
    "complete",
    "été",
    "under_score",
    "Lisbon",
    "moved",
    "the",
    "user",
    "x",
    "tool-use",
    "outcome",
    "bridge",
    "evidence",
    "garden",
)


def text_package(seed: int, *, estimates: bool = False, package_seed: int | None = None) -> Package:
    """A package of 0-6 groups of 1-4 candidates; ids whose string order is not their number order, ties in
    cost, time and text, texts that repeat across groups, some texts missing."""
    rng = random.Random(seed)
    shared = [_text(rng) for _ in range(4)]
    units = [Unit(f"u{i}", rng.choice((0.0, 0.5, 1.0, 2.5))) for i in range(rng.randint(0, 4))]
    candidates, coverage = [], {}
    numbers = rng.sample(range(40), 40)
    max_cost = rng.choice((4, 12, 60))
    last_time = rng.choice((0, 3))
    for g in range(rng.randint(0, 6)):
        for _ in range(rng.randint(1, 4)):
            candidate_id = f"c{numbers.pop()}"
            candidates.append(
                Candidate(
                    candidate_id,
                    f"g{g}",
                    rng.choice(TYPES),
                    rng.randint(1, max_cost),
                    rng.randint(0, last_time),
                    rng.choice((None, "", *shared, _text(rng), _text(rng), _text(rng))),
                    rng.choice((0.0, 0.3, 1.0, 1.0, 1.25, 2.0)),
                    rng.choice((None, None, 0.0, -1.0, 0.4, 2.5)) if estimates else None,
                    rng.choice((None, {}, {"u0": 0.5}, {"u0": 0.5, "x": 1.5})) if estimates else None,
                )
            )
            coverage |= {(candidate_id, u.unit_id): rng.choice((0.0, 0.25, 1.0)) for u in units}
    return build("test", f"p{seed}", "random", package_seed, candidates, units, coverage, [])


def _text(rng: random.Random) -> str:
    return " ".join(rng.choices(WORDS, k=rng.randint(0, 7)))


def text_packages(*, estimates: bool = False) -> st.SearchStrategy[Package]:
    """Packages of `text_package`."""
    return st.integers(0, 10**9).map(lambda seed: text_package(seed, estimates=estimates))


def budgets_of(package: Package) -> list[int]:
    """0, tight, half and ample."""
    total = package.total_cost
    return [0, 1, total // 5, total // 2, total]
