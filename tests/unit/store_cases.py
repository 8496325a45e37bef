"""An invented package and store, and their scoring, for tests of exported stores."""

from memaudit.analysis.store_scores import Solved, case, score_store
from memaudit.costs import BUILT_IN
from memaudit.objective import CAP1, scale
from memaudit.package import Candidate, Unit, build
from memaudit.stores.judge import FULL, Judged
from memaudit.stores.judge_io import judge_named
from memaudit.stores.model import Memory, Store
from memaudit.stores.pruning import best_subset
from memaudit.stores.union import Labelled, store_package, union

words = BUILT_IN["words"]
CONSTANTS = {"suite": "talks", "store": "s", "cost_model": "words", "k": 1, "saturation": "cap1"}


def solve(package, budget):
    instance = scale(package)
    found = best_subset(instance, budget)
    ids = sorted(package.visible.candidate_ids[i] for i in found.selection)  # as a table has them
    return {package.package_id: (found.value_int, found.scale, found.status)}, {package.package_id: ids}


def solved(package, store, budget, joint=None):
    both, alone = union(package, [store], words), store_package(package, store, words).package
    (union_opt, kept), (store_opt, store_kept) = solve(both, budget), solve(alone, budget)
    return Solved(solve(package, budget)[0], union_opt, store_opt, joint, kept, store_kept)


def score(package, store, budgets, rules=("recency", "upper_exact"), **more):
    cases = [case(union(package, [store], words), package, store, words)]
    at = {b: solved(package, store, b, **more) for b in budgets}
    return score_store(cases, rules, at, CONSTANTS, {b: str(b) for b in budgets}, CAP1)


def memory(name, text, position=0, **more):
    return Memory(name, text, position, name, **more)


UNITS = (Unit("new", 1.0, "current"), Unit("gone", 0.5, "invalidation", text="no longer red"), Unit("tea", 1.0))
PACKAGE = build(
    "talks", "q", "d", None,
    [Candidate("c", "g", "tombstone", 2, 0, "not red"), Candidate("d", "h", "fact", 3, 1, "tea at four")],
    UNITS, {("c", "gone"): 1.0, ("d", "tea"): 1.0}, [],
)  # fmt: skip
STORE = Labelled(
    Store("s", "mem0", "q", (memory("m1", "it is blue", 0), memory("m2", "nothing of use here", 1))),
    {("m1", ""): {"new": 1.0}},
)


def judged_case(judge=None):
    """STORE's case, and its labels as a judge's word (the proxy's, unless given)."""
    one = case(union(PACKAGE, [STORE], words), PACKAGE, STORE, words)
    unit = one.union.unit_index["new"]
    return one, {"q": Judged(STORE.coverage, {(0, unit): FULL}, judge or judge_named("proxy"))}
