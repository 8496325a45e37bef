"""Hypothesis strategies shared by the tests: random small packages of any structure, saturations, budgets."""

from __future__ import annotations

from hypothesis import strategies as st

from memaudit.objective import CAP1, LINEAR, Saturation, piecewise_linear
from memaudit.package import Candidate, Package, Query, Unit, build

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
    "other_type",
)
ROLES = ("current", "invalidation", "stale", "")
COVERAGES = (0.0, 0.25, 0.35, 0.5, 1.0)
WEIGHTS = (0.0, 0.5, 1.0, 1.25, 2.0, 3.0)
CONFIDENCES = (0.0, 0.3, 0.8, 1.0, 1.25, 2.0)
ESTIMATED_ROWS = (None, {}, {"u0": 0.5}, {"u0": 1.0, "x": 1.5})
WORDS = (
    "alpha",
    "current",
    "superseded",
    "the",
    "user",
    "moved",
    "to",
    "Lisbon",
    "no longer",
    "hint",
    "beautiful",
    "key:value",
    "été",
    "source detail",
    "x",
    "not",
    "under_score",
    "prefer",
)

# Shapes of h that tell cap, slope and kink apart: cap1, uncapped, and two with kinks inside and above 1.
PWL_HALF = piecewise_linear("half", [[0, 0], [0.5, 0.75], [1, 1]])
PWL_TWO = piecewise_linear("two", [[0, 0], [1, 1], [2, 1.5]])


def saturations() -> st.SearchStrategy[Saturation]:
    """One of cap1, linear and two piecewise-linear h."""
    return st.sampled_from((CAP1, LINEAR, PWL_HALF, PWL_TWO))


@st.composite
def packages(
    draw,
    *,
    max_groups: int = 4,
    max_per_group: int = 3,
    max_units: int = 5,
    max_cost: int = 8,
    types: tuple[str, ...] = TYPES,
    texts: bool = False,
    estimates: bool = False,
) -> Package:
    """A Package of any structure: zero or one group, no unit, duplicate units (equal coverage columns), zero
    weights and coverage, ties in cost, time and value, ids whose string order is not their number order.

    texts: give most candidates a text (else none has one); estimates: give some an estimated value or
    estimated coverage (else none).
    """
    n_units = draw(st.integers(0, max_units))
    units = [Unit(f"u{i}", draw(st.sampled_from(WEIGHTS)), draw(st.sampled_from(ROLES))) for i in range(n_units)]
    # A unit may repeat the column of the one before it.
    column_of = [draw(st.integers(max(0, i - 1), i)) for i in range(n_units)]
    sizes = draw(st.lists(st.integers(1, max_per_group), max_size=max_groups))
    # Numbers up to 19 put "c10" before "c2".
    numbers = iter(draw(st.permutations(range(1, sum(sizes) + 9))))
    candidates: list[Candidate] = []
    coverage: dict[tuple[str, str], float] = {}
    for g, size in enumerate(sizes):
        for _ in range(size):
            candidate_id = f"c{next(numbers)}"
            row = [draw(st.sampled_from(COVERAGES)) for _ in range(n_units)]
            coverage |= {(candidate_id, u.unit_id): row[column_of[i]] for i, u in enumerate(units)}
            candidates.append(
                Candidate(
                    candidate_id,
                    f"g{g}",
                    draw(st.sampled_from(types)),
                    draw(st.integers(1, max_cost)),
                    draw(st.integers(0, 3)),
                    draw(_texts()) if texts else None,
                    draw(st.sampled_from(CONFIDENCES)),
                    draw(st.sampled_from((None, 0.0, 0.4, 2.5))) if estimates else None,
                    draw(st.sampled_from(ESTIMATED_ROWS)) if estimates else None,
                )
            )
    ids = [u.unit_id for u in units]
    required = draw(st.lists(st.sampled_from(ids), unique=True)) if ids else []
    queries = [Query("q0", tuple(required))] if draw(st.booleans()) else []
    return build("test", "p", "random", None, draw(st.permutations(candidates)), units, coverage, queries)


def _texts() -> st.SearchStrategy[str | None]:
    words = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)
    return st.one_of(words, words, words, st.none())


def budgets(package: Package) -> st.SearchStrategy[int]:
    """Any budget worth asking of a package: 0, small, around the total cost, and huge."""
    return st.one_of(st.integers(0, package.total_cost + 2), st.sampled_from((0, 10**9)))
