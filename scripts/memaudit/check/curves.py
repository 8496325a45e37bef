"""Value-budget curves judged: their rows hang together, and OPT is proved again at a sample of budgets.

The sample of a curve is its end, which a cut curve would miss, and of some jumps, drawn by a seed and the problem, the
budget of the jump and the one below, where the value must be the previous one. Declared budgets are left to the check
of the solutions, which the curve must agree with.

A row of table `curve_checks` has the status "optimal" where the independent solver proved the curve's value, "limit"
where it stopped before and nothing contradicts the curve, else "mismatch".
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from ..schemas import CURVE_CHECKS, CURVES
from ..table_io import to_table
from .certify import CLAIMS_OPTIMUM, MismatchError, Problems
from .identity import instance_hash
from .model import Answer, Scaled
from .prover import Prover

PROVEN, LIMIT, MISMATCH = "optimal", "limit", "mismatch"
_PROBLEM = ("package_id", "cost_model", "pool", "k", "saturation")
# Columns that all rows of a curve share.
_CONSTANT = ("suite", *_PROBLEM, "distribution", "scale", "status", "max_budget")


@dataclass(frozen=True)
class Sample:
    """How many jumps of a curve are drawn, by which seed."""

    jumps: int
    seed: int


@dataclass(frozen=True, eq=False)
class CurveRows:
    """The rows of one package's curve in their order: what the first says of all, and the columns that change."""

    head: Mapping[str, Any]
    budgets: np.ndarray
    values: np.ndarray
    shown: np.ndarray
    constant: bool

    @property
    def proven(self) -> bool:
        return self.head["status"] == PROVEN

    @property
    def key(self) -> tuple[str, str]:
        return self.head["pool"], self.head["package_id"]

    def at(self, budget: int) -> Fraction:
        """The curve's value at a budget within it."""
        j = int(np.searchsorted(self.budgets, budget, side="right")) - 1
        return Fraction(int(self.values[j]), self.head["scale"])

    def same(self, other: CurveRows) -> bool:
        """Whether both say the same of all budgets."""
        return (
            np.array_equal(self.budgets, other.budgets)
            and np.array_equal(self.values, other.values)
            and all(self.head[c] == other.head[c] for c in ("scale", "status", "max_budget"))
        )


def curves_of(table: pa.Table) -> list[CurveRows]:
    """The curves of a table `curves`, by its neighbouring rows of one package and problem."""
    if not len(table):
        return []
    codes = [table.column(c).combine_chunks().dictionary_encode().indices.to_numpy() for c in _PROBLEM]
    starts = np.flatnonzero(np.any([np.diff(c) != 0 for c in codes], axis=0)) + 1
    columns = {c: table.column(c).to_numpy() for c in ("budget", "value_int", "value")}
    held = [table.column(c).combine_chunks().dictionary_encode().indices.to_numpy() for c in _CONSTANT]
    made = []
    for a, b in pairwise([0, *starts.tolist(), len(table)]):
        head = {c: table.column(c)[a].as_py() for c in CURVES.schema.names}
        constant = all(bool((codes[a:b] == codes[a]).all()) for codes in held)
        made.append(CurveRows(head, *(columns[c][a:b] for c in columns), constant))
    return made


def curve_faults(
    curves: Sequence[CurveRows], solutions: Iterable[Mapping[str, Any]], problems: Problems
) -> Iterator[str]:
    """A line for each curve that does not hold together, differs from that of an equal problem, or from a solution
    at a declared budget (rows of table `solutions` of the same packages and setting)."""
    sound = []
    for curve in curves:
        faults = list(_row_faults(curve))
        yield from (f"{_name(curve)}: {fault}" for fault in faults)
        if not faults:
            sound.append(curve)
    for same in _by_content(sound, problems).values():
        for curve in same[1:]:
            if not curve.same(same[0]):
                yield f"{_name(curve)}: it differs from {_name(same[0])}, which is the same problem"
    proven = {curve.key: curve for curve in sound if curve.proven}
    for row in solutions:
        curve = proven.get((row["pool"], row["package_id"]))
        if curve is None or row["scale"] < 1 or row["budget"] > curve.head["max_budget"]:
            continue
        value, on_curve = Fraction(row["value_int"], row["scale"]), curve.at(row["budget"])
        bad = value != on_curve if row["status"] in CLAIMS_OPTIMUM else value > on_curve
        if bad:
            yield f"{_name(curve)}: at budget {row['budget']} it is {on_curve}, and solutions say {value}"


def _row_faults(curve: CurveRows) -> Iterator[str]:
    head, budgets, values = curve.head, curve.budgets, curve.values
    if not curve.constant:
        yield f"its rows differ in one of {', '.join(_CONSTANT)}"
    if head["status"] not in (PROVEN, LIMIT):
        yield f"status {head['status']!r} is none that a curve can have"
    if budgets[0] != 0 or values[0] != 0:
        yield f"it begins at budget {budgets[0]} with value_int {values[0]}, not at 0 with 0"
    if (np.diff(budgets) <= 0).any() or (np.diff(values) <= 0).any():
        yield "budget and value_int do not both rise from row to row"
    if budgets[-1] > head["max_budget"]:
        yield f"it jumps at budget {budgets[-1]}, past its max_budget {head['max_budget']}"
    if head["scale"] < 1 or (values / max(1, head["scale"]) != curve.shown).any():
        yield "value is not value_int / scale"
    if not curve.proven and len(budgets) > 1:
        yield "its status is 'limit', and it has more than the row of budget 0"


def _name(curve: CurveRows) -> str:
    return f"the curve of package {curve.head['package_id']}, pool {curve.head['pool']}"


def _by_content(curves: Iterable[CurveRows], problems: Problems) -> dict[tuple[Scaled, int], list[CurveRows]]:
    """Curves of equal problems and ends."""
    alike: dict[tuple[int, int], list[CurveRows]] = defaultdict(list)
    forms: dict[int, Scaled] = {}
    for curve in curves:
        form = problems.of(curve.head)[1]  # one object for equal forms
        forms[id(form)] = form
        alike[id(form), curve.head["max_budget"]].append(curve)
    return {(forms[i], end): same for (i, end), same in alike.items()}


def check_curves(
    curves: Sequence[CurveRows],
    problems: Problems,
    prover: Prover,
    draw: Callable[[CurveRows, str], Iterable[int]],
) -> pa.Table:
    """Rows of table `curve_checks`: each distinct proven curve solved again at the budgets that `draw` gives for it
    and the name of its problem. The curves are those that `curve_faults` says nothing of."""
    rows: list[dict[str, Any]] = []
    proven = sorted((c for c in curves if c.proven), key=lambda c: c.key)
    for (form, _), same in _by_content(proven, problems).items():
        curve = same[0]
        problem = problems.of(curve.head)[0]
        for budget in draw(curve, f"{instance_hash(form)}.k{form.k}.{curve.head['saturation']}"):
            answer = prover.prove(problem, form, budget)
            status = _status(curve.at(budget), answer)
            rows.append(
                {
                    **{c: curve.head[c] for c in ("suite", *_PROBLEM)},
                    "budget": budget,
                    "solver": prover.solver,
                    "status": status,
                    "value": "" if answer.value is None else str(answer.value),
                    "bound": "" if answer.bound is None else str(answer.bound),
                    "curve_value": str(curve.at(budget)),
                    "n_packages": len(same),
                    "equal": status == PROVEN,
                }
            )
    return to_table("curve_checks", {c: [row[c] for row in rows] for c in CURVE_CHECKS.schema.names} if rows else {})


def sampler(declared: Collection[int], sample: Sample) -> Callable[[CurveRows, str], list[int]]:
    """The budgets of a run's sample for `check_curves`; `declared`: those that are not drawn."""
    apart = np.fromiter(declared, np.int64, len(declared))

    def draw(curve: CurveRows, problem: str) -> list[int]:
        jumps = np.setdiff1d(curve.budgets[1:], apart)
        seed = hashlib.sha256(f"{sample.seed}|{problem}".encode()).digest()
        generator = np.random.Generator(np.random.PCG64(int.from_bytes(seed[:16])))
        chosen = generator.choice(jumps, min(sample.jumps, len(jumps)), replace=False)
        return sorted({curve.head["max_budget"], *chosen.tolist(), *(chosen - 1).tolist()})

    return draw


def _status(value: Fraction, proved: Answer) -> str:
    beaten = proved.value is not None and proved.value > value
    excluded = proved.bound is not None and proved.bound < value
    return MISMATCH if beaten or excluded else proved.status


def raise_on_faults(lines: Iterable[str]) -> None:
    """Raise MismatchError with the first line, and how many there are."""
    bad = list(lines)
    if bad:
        raise MismatchError(bad[0] + (f" ({len(bad)} such in all)" if len(bad) > 1 else ""))


def mismatches(checks: pa.Table) -> list[str]:
    """A line for each mismatch of a table `curve_checks`: the curve's claim, and what the solver says."""
    return [_describe(row) for row in checks.to_pylist() if row["status"] == MISMATCH]


def _describe(check: Mapping[str, Any]) -> str:
    return (
        f"suite {check['suite']}, package {check['package_id']}, budget {check['budget']}, pool {check['pool']}, "
        f"cost model {check['cost_model']}, k = {check['k']}, saturation {check['saturation']}: the curve says "
        f"{check['curve_value']}; {check['solver']} finds {check['value'] or 'nothing'} with bound "
        f"{check['bound'] or 'none'}"
    )
