"""Whether stored budgets, checks, and names and statuses of solutions agree with what is computed again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import pyarrow as pa

from ..errors import InputError
from .certify import Problems
from .curves import CurveRows
from .identity import instance_hash
from .packages_io import Packages
from .places import named, row_name
from .plan import SuitePlan

# Columns of a check that follow from the solutions alone.
_CHECK_COLUMNS = (
    "suite",
    "package_id",
    "cost_model",
    "pool",
    "k",
    "saturation",
    "budget",
    "selected_value",
    "solution_value",
    "n_packages",
)


def budget_faults(
    table: pa.Table, plan: SuitePlan, ordered: bool, packages: Packages, cost_models: Mapping[str, Any]
) -> Iterator[str]:
    """Lines on table `budgets`. `ordered`: the plan's specs stand in the order of the configuration."""
    rows = {(row["cost_model"], row["budget_spec"]): row for row in table.to_pylist()}
    models = dict.fromkeys(setting.cost_model for setting in plan.settings)
    wanted = [(model, spec) for model in models for spec in plan.specs]
    for model, spec in wanted:
        if (model, spec) not in rows:
            yield f"no row for cost model {model}, budget_spec {spec}"
    for model, spec in rows.keys() - set(wanted):
        yield f"{named(rows[model, spec])}: the suite has no such cost model or budget"
    first: dict[tuple[str, int], str] = {}
    for model, spec in wanted:
        row, definition = rows.get((model, spec)), cost_models.get(model)
        if row is None or definition is None:
            continue
        amount = packages.budget(spec, definition)
        merged = first.setdefault((model, amount), spec)
        found = {
            "budget": amount,
            "mean_total_cost": float(packages.mean_total_cost(definition)),
            "fraction": None if spec.isdigit() else float(spec),
        }
        if ordered:
            found["merged_into"] = merged
        elif rows.get((model, row["merged_into"]), {}).get("budget") != amount:
            yield f"{named(row)}: merged_into is {row['merged_into']!r}, which has another budget"
        yield from _differences(row, found)


def spec_faults(table: pa.Table, amount: Callable[[str], int], declared: Mapping[int, str] | None) -> Iterator[str]:
    """Lines on budget_spec and budget of a table. `amount`: whole cost units of a spelling, InputError where it is
    none; `declared`: amount -> its spelling, None where the rows may have others."""
    pairs = list(zip(table.column("budget_spec").to_pylist(), table.column("budget").to_pylist(), strict=True))
    for spec, budget in dict.fromkeys(pairs):
        row = row_name(table, pairs.index((spec, budget)))
        try:
            expected = amount(spec)
        except InputError:
            yield f"{row}: budget_spec is {spec!r}, which is no budget"
            continue
        if budget != expected:
            yield f"{row}: budget is {budget}, by its packages {expected}"
        elif declared is not None and declared.get(budget) != spec:
            yield f"{row}: budget_spec is {spec!r}, declared is {declared.get(budget)!r}"


def end_faults(curves: Sequence[CurveRows], packages: Packages, ends: Callable[[str], int] | None) -> Iterator[str]:
    """Lines on where curves end and which distribution they are of. `ends`: package -> max_budget, None: not known."""
    for curve in curves:
        package_id = curve.head["package_id"]
        found: dict[str, Any] = {"distribution": packages.distribution.get(package_id)}
        if ends is not None and package_id in packages.rows:
            found["max_budget"] = ends(package_id)
        yield from _differences(curve.head, found)


def solution_faults(rows: Sequence[Mapping[str, Any]], problems: Problems, hashes: dict[int, str]) -> Iterator[str]:
    """Lines on names and statuses of rows of `solutions`. `hashes`: instance hashes by identity of the problem's
    integer form, kept between calls."""
    for row in rows:
        form = problems.of(row)[1]
        if id(form) not in hashes:
            hashes[id(form)] = instance_hash(form)
        digest = hashes[id(form)]
        found = {
            "instance_hash": digest,
            "solution_id": f"{digest}.k{row['k']}.{row['saturation']}.{row['budget']}",
        }
        yield from _differences(row, found)
        if row["status"] == "cross_checked":
            yield f"{named(row)}: status is 'cross_checked', which only checks and scores can say; 'optimal' belongs"
        if row["status"] == "limit" and row["value_int"] == row["bound_int"]:
            yield f"{named(row)}: status is 'limit', and the value equals its bound, which proves it: 'optimal'"
        if row["status"] == "limit" and row["canonical"]:
            yield f"{named(row)}: canonical is true of a selection that is not proven optimal (status 'limit')"


def check_faults(stored: pa.Table, again: pa.Table, solver: str) -> Iterator[str]:
    """Lines on a stored table `checks` of `solver`; `again`: the same checks just made, by whatever solver."""
    rows: dict[str, list[dict]] = defaultdict(list)
    for row in stored.to_pylist():
        rows[row["solution_id"]].append(row)
    for made in again.to_pylist():
        same = rows.pop(made["solution_id"], [])
        if len(same) != 1:
            yield f"{len(same)} rows for solution_id {made['solution_id']} (package {made['package_id']}); one belongs"
        elif made["status"] != "mismatch":  # a mismatch is told on its own
            yield from _check_row(same[0], made, solver)
    for solution_id in rows:
        yield f"row solution_id {solution_id}: solutions have no such solution"


def _check_row(row: dict, made: dict, solver: str) -> Iterator[str]:
    found: dict[str, Any] = {column: made[column] for column in _CHECK_COLUMNS}
    found["solver"] = solver
    proved = row["status"] == "optimal"
    found["equal"] = proved
    if (made["status"] == "unclaimed") != (row["status"] == "unclaimed") or row["status"] == "mismatch":
        found["status"] = made["status"]
    elif proved:
        found |= {"value": made["solution_value"], "bound": made["solution_value"]}
    yield from _differences(row, found)
    if not proved:
        if row["status"] == "cross_checked":
            yield f"{named(row)}: status is 'cross_checked', which only checks and scores can say; 'optimal' belongs"
        yield from _contradiction(row, "solution_value")


def curve_check_faults(stored: pa.Table, again: pa.Table, solver: str) -> Iterator[str]:
    """Lines on a stored table `curve_checks` of `solver`; `again`: the same points just checked, by whatever solver."""
    key = ("package_id", "pool", "budget")
    rows: dict[tuple, list[dict]] = defaultdict(list)
    for row in stored.to_pylist():
        rows[tuple(row[c] for c in key)].append(row)
    for made in again.to_pylist():
        same = rows.pop(tuple(made[c] for c in key), [])
        if len(same) != 1:
            yield f"{len(same)} rows for package_id {made['package_id']}, pool {made['pool']}, budget {made['budget']}"
        elif made["status"] != "mismatch":  # a mismatch is told on its own
            yield from _curve_check_row(same[0], made, solver)
    for same in rows.values():
        yield f"{named(same[0])}: it is not of the curves' sample"


def _curve_check_row(row: dict, made: dict, solver: str) -> Iterator[str]:
    proved = row["status"] == "optimal"
    found = {c: made[c] for c in ("suite", "cost_model", "k", "saturation", "curve_value", "n_packages")}
    found |= {"solver": solver, "equal": proved}
    if proved:
        found |= {"value": made["curve_value"], "bound": made["curve_value"]}
    elif row["status"] != "limit":
        found["status"] = made["status"]
    yield from _differences(row, found)
    if not proved:
        yield from _contradiction(row, "curve_value")


def _contradiction(row: dict, claim: str) -> Iterator[str]:
    """A line where what an unfinished solver found speaks against the claim."""
    value, bound, claimed = (_fraction(row[c]) for c in ("value", "bound", claim))
    if row["status"] == "limit" and ((value or 0) > claimed or (bound is not None and bound < claimed)):
        yield f"{named(row)}: value {row['value']!r}, bound {row['bound']!r} contradict {row[claim]!r}"


def _fraction(text: str) -> Fraction | None:
    try:
        return Fraction(text) if text else None
    except (ValueError, ZeroDivisionError):
        raise InputError(f"{text!r} is not a fraction p/q") from None


def _differences(row: Mapping[str, Any], found: Mapping[str, Any]) -> Iterator[str]:
    for column, value in found.items():
        if row[column] != value:
            yield f"{named(row)}: {column} is {row[column]!r}, computed again {value!r}"


def definition_faults(own: Mapping[str, Any], known: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Lines on definitions in a file's metadata that are not those of the manifest or the built-in ones."""
    for part, definitions in known.items():
        for name, definition in own[part].items():
            if name in definitions and definition != definitions[name]:
                yield f"its metadata defines {part} {name} as {definition!r}; it is {definitions[name]!r}"
