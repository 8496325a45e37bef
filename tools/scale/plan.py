"""What is measured: jobs in order, and which of them need no measuring given the records so far."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

OURS, CURVE, PLAIN = "memaudit", "memaudit_curve", "plain_python"
MIPS = ("highs", "cbc", "scip")
OTHERS = (*MIPS, "cp_sat", PLAIN)
ONE_BUDGET = (OURS, *OTHERS)
ALL = (OURS, CURVE, *OTHERS)


class Part(NamedTuple):
    """Instances: every size of a family at every fraction of its total cost. `limits`: seconds, besides the plan's
    own; `efforts`: shares of this solver's limits; `seeds`: the first so many of the plan's."""

    family: str
    sizes: tuple[int, ...]
    fractions: tuple[float, ...]
    solvers: tuple[str, ...]
    limits: tuple[float | None, ...] = (None,)
    efforts: tuple[float, ...] = (1.0,)
    seeds: int | None = None


class Plan(NamedTuple):
    """`limit`: seconds a solve. `hours`: of the whole run, records of earlier runs that it takes up included."""

    parts: tuple[Part, ...]
    seeds: int
    limit: float
    hours: float


class Job(NamedTuple):
    """One solve: an instance, a solver, the seconds it is given and, for ours, the share of its own limits."""

    family: str
    size: int
    fraction: float
    seed: int
    solver: str
    limit: float
    effort: float

    @property
    def name(self) -> str:
        """A file name of its own."""
        parts = [self.family, self.size, f"{self.fraction:g}", self.seed, self.solver, f"{self.limit:g}"]
        return "-".join(map(str, parts)) + f"-{self.effort:g}"


# The small suite is a batch of packages at the paper's budgets; its fraction says nothing.
SMALL_BUDGETS = (1, 2, 4, 8, 16)
_GROWTH_BUDGETS = (0.01, 0.02, 0.05, 0.2, 0.5)
# Rising, and before the whole effort: once one overran the limit, no larger one is asked for.
EFFORTS = (1 / 256, 1 / 64, 1 / 16, 1 / 4, 1 / 2)

FULL = Plan(
    (
        Part("small", (100,), (0.0,), ONE_BUDGET),
        Part("natural_like", (0, 10, 20, 40, 60), (0.10,), ALL),
        Part("corpus", (87,), (0.05, 0.10), ALL),
        Part("wide", (2, 4, 8, 16, 32), (0.10,), (OURS, CURVE)),
        Part("rich", (1, 2, 4, 8, 16), (0.10,), (OURS, CURVE)),
        Part("chains", (2000,), _GROWTH_BUDGETS, (OURS, CURVE)),
        Part("chains", (10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000), (0.10,), ALL),
        Part("path", (10, 50, 200, 1000, 10000), (0.10,), ALL),
        Part("shared_corpus", (100, 500, 3500), (0.05, 0.10), ALL),
        Part("dense", (60, 100, 200), (0.10,), (OURS,), efforts=EFFORTS),
        Part("dense", (200,), (0.05,), (OURS,), efforts=EFFORTS),
        Part("dense", (30, 60, 100, 200), (0.05, 0.10), ONE_BUDGET),
        Part("dense", (200,), (0.10,), MIPS, limits=(20.0, 5.0), seeds=1),
    ),
    seeds=3,
    limit=60.0,
    hours=2.0,
)
QUICK = Plan(
    (
        Part("small", (40,), (0.0,), ONE_BUDGET),
        Part("natural_like", (0, 60), (0.10,), ALL),
        Part("corpus", (87,), (0.10,), ALL),
        Part("wide", (2, 8, 32), (0.10,), (OURS, CURVE)),
        Part("rich", (1, 4, 16), (0.10,), (OURS, CURVE)),
        Part("chains", (2000,), _GROWTH_BUDGETS, (OURS, CURVE)),
        Part("chains", (10, 20, 50, 200, 2000, 10000), (0.10,), ALL),
        Part("path", (50, 1000, 10000), (0.10,), ALL),
        Part("shared_corpus", (500, 3500), (0.10,), ALL),
        Part("dense", (30, 60), (0.10,), (OURS,), efforts=EFFORTS),
        Part("dense", (200,), (0.05,), (OURS,), efforts=EFFORTS),
        Part("dense", (30,), (0.10,), ONE_BUDGET),
        Part("dense", (200,), (0.05,), ONE_BUDGET),
        Part("dense", (60,), (0.10,), ONE_BUDGET),
        Part("dense", (60,), (0.10,), MIPS, limits=(5.0, 2.0), seeds=1),
    ),
    seeds=2,
    limit=10.0,
    hours=0.25,
)
PLANS = {"full": FULL, "quick": QUICK}


def jobs(plan: Plan) -> Iterator[Job]:
    """Every solve of the plan. All families at one seed first, so that a run that is stopped early has seen each; the
    other seeds of the dense family, most of whose solves take their whole limit, last."""
    yield from _jobs(plan, plan.parts, range(1))
    for costly in (False, True):
        yield from _jobs(plan, [p for p in plan.parts if (p.family == "dense") == costly], range(1, plan.seeds))


def _jobs(plan: Plan, parts: Iterable[Part], seeds: Iterable[int]) -> Iterator[Job]:
    for seed in seeds:
        for part in (p for p in parts if p.seeds is None or seed < p.seeds):
            for size in part.sizes:
                for fraction in part.fractions:
                    for limit in part.limits:
                        for solver in part.solvers:
                            for effort in part.efforts:
                                yield Job(part.family, size, fraction, seed, solver, limit or plan.limit, effort)


def families(plan: Plan) -> tuple[str, ...]:
    return tuple(dict.fromkeys(part.family for part in plan.parts))


def main_job(job: Job, plan: Plan) -> bool:
    """Whether it has the plan's own limit and the whole effort: what ratios are made of."""
    return job.limit == plan.limit and job.effort == 1.0


def needless(job: Job, records: Mapping[Job, Mapping[str, Any]], plan: Plan) -> str | None:
    """Why a job need not be measured, given the records of others; None where it must be.

    `answered`: with a longer limit it was proven in less time than this one gives; or with the whole effort, in time.
    `skipped`: less effort overran the limit; or the solver left a size up to this one unproven, at this or an earlier
    seed; but on the dense family, where their gaps are compared, not of ours and the MIP solvers.
    """
    less = (job._replace(effort=effort) for effort in EFFORTS if effort < job.effort)
    if job.solver == OURS and any(_overran(records.get(other), job.limit) for other in less):
        return "skipped"
    if not main_job(job, plan):
        whole = records.get(job._replace(limit=plan.limit, effort=1.0))
        return "answered" if whole and whole["status"] == "optimal" and whole["seconds"] <= job.limit else None
    if job.family == "dense" and job.solver in (OURS, *MIPS):
        return None
    others = (job._replace(size=size, seed=seed) for size in _up_to(job, plan) for seed in range(job.seed + 1))
    return "skipped" if any(_unproven(records, other) for other in others) else None


def _unproven(records: Mapping[Job, Mapping[str, Any]], job: Job) -> bool:
    return job in records and records[job]["status"] != "optimal"


def _overran(record: Mapping[str, Any] | None, limit: float) -> bool:
    return record is not None and (record["status"] == "killed" or record["seconds"] > limit)


def _up_to(job: Job, plan: Plan) -> set[int]:
    return {size for part in plan.parts if part.family == job.family for size in part.sizes if size <= job.size}
