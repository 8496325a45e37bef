"""The writers by rule name, and what each class of rule is given to see.

A rule is one function, registered by `@rule(name, sees=...)`:

- sees="metadata": f(visible: VisiblePackage, budget: int, **parameters) -> positions. It is handed no
  coverage, unit, weight or query, so it cannot use them.
- sees="coverage": f(package: Package, instance: Instance, budget: int, **parameters) -> positions
  (calibration writers; `instance` holds the same coverage and weights as exact integers).
- sees="solution": the exact optimum, read from the solutions of its pool; no function runs.

Positions are indexes into the package's candidates. Feasibility is checked afterwards by `run`.
"""

from __future__ import annotations

import copy
import importlib.util
import operator
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError
from ..objective import Instance, Saturation
from ..package import Package

SEES = ("metadata", "coverage", "solution")


@dataclass(frozen=True)
class Rule:
    """A registered rule.

    `fit`, where given, makes parameters from training packages: fit(training: list[Package], *, saturation,
    **parameters) -> dict merged into the parameters; F is to be taken under `saturation`. `learns` says, of a
    writer's parameters, whether it is fitted at all (a rule from a file with a `fit` always is). `reads_text`:
    the rule's choice depends on candidate texts. `foreign`: from a user's file. `check` raises InputError on
    configured parameters of a wrong value, with a line `key: problem` for each.
    """

    name: str
    sees: str
    function: Callable | None
    fit: Callable | None = None
    learns: Callable[[Mapping[str, Any]], bool] = lambda parameters: True
    reads_text: bool = False
    foreign: bool = False
    check: Callable[[Mapping[str, Any]], None] | None = None


@dataclass(frozen=True)
class Writer:
    """A rule under a name of its own, on a pool, with parameters. `is_proxy`: a local stand-in for a
    published system, shown as such everywhere."""

    name: str
    rule: Rule
    pool: str = "full"
    parameters: Mapping[str, Any] = field(default_factory=dict)
    is_proxy: bool = False

    @property
    def learns(self) -> bool:
        """Whether it is fitted on the even seeds, and so scored on the odd ones only."""
        return self.rule.fit is not None and self.rule.learns(self.parameters)


RULES: dict[str, Rule] = {}


def rule(name: str, *, sees: str, **more):
    """Register the decorated function as rule `name`; `more`: fit, learns, reads_text, check of the Rule."""

    def register(function):
        if name in RULES or sees not in SEES:
            raise ValueError(f"rule {name!r}: name taken or sees={sees!r} not one of {SEES}")
        RULES[name] = Rule(name, sees, function, **more)
        return function

    return register


RULES["opt"] = Rule("opt", "solution", None)


def rule_from_file(spec: str, sees: str = "metadata") -> Rule:
    """The function named by `path/to/file.py:function` as a rule; InputError if there is none.

    The file may import modules of its own folder.
    """
    path, _, name = spec.rpartition(":")
    if not path.endswith(".py") or not Path(path).is_file():
        raise InputError(f"writer rule {spec!r}: no such file; write path/to/file.py:function")
    folder = str(Path(path).resolve().parent)
    if folder not in sys.path:
        sys.path.append(folder)
    module_spec = importlib.util.spec_from_file_location(f"memaudit_user_{Path(path).stem}", path)
    module = importlib.util.module_from_spec(module_spec)
    sys.modules[module_spec.name] = module  # where a dataclass in the file looks its annotations up
    try:
        module_spec.loader.exec_module(module)
    except Exception as error:
        raise InputError(f"writer rule {spec!r}: {path} cannot be loaded: {_told(error)}") from error
    function = getattr(module, name, None)
    if not callable(function):
        raise InputError(f"writer rule {spec!r}: {path} has no function {name!r}")
    return Rule(spec, sees, function, getattr(module, "fit", None), reads_text=True, foreign=True)


def _told(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


def check_feasible(package: Package, selection: Iterable[int], budget: int, who: str, k: int = 1) -> list[int]:
    """The selection, sorted; InputError when it is no collection of whole numbers, repeats or invents a position,
    passes the budget, or holds more than k candidates of a group."""
    where = f"writer {who} on package {package.package_id} of suite {package.suite} at budget {budget}"
    chosen = sorted(_positions(selection, where))
    if len(set(chosen)) < len(chosen) or (chosen and not 0 <= chosen[0] <= chosen[-1] < len(package)):
        raise InputError(f"{where}: selection {chosen} repeats or invents a candidate position")
    cost = int(package.visible.cost[chosen].sum())
    if cost > budget:
        raise InputError(f"{where}: selection costs {cost}")
    groups = package.visible.group_of[chosen].tolist()
    crowded = next((g for g in groups if groups.count(g) > k), None)
    if crowded is not None:
        raise InputError(f"{where}: more than {k} candidates of group {package.visible.group_ids[crowded]}")
    return chosen


def _positions(selection: Iterable[int], where: str) -> list[int]:
    """Whole numbers only: a mask, an id or 0.9 is not a position."""
    if isinstance(selection, np.ndarray) and selection.dtype.kind in "iu":
        return selection.tolist()
    fix = "return candidate positions, a list of whole numbers"
    if selection is None or isinstance(selection, str | bytes | Mapping) or not isinstance(selection, Iterable):
        raise InputError(f"{where}: it returned {selection!r}; {fix}")
    chosen = []
    for i in selection:
        if isinstance(i, bool | np.bool_) or not hasattr(i, "__index__"):
            raise InputError(f"{where}: it returned {i!r} among the positions; {fix}")
        chosen.append(operator.index(i))
    return chosen


def run(writer: Writer, package: Package, instance: Instance, budget: int, parameters: Mapping[str, Any]) -> list[int]:
    """Positions that `writer` keeps of `package` (already restricted to the writer's pool) under `budget`.

    `parameters` are the writer's own plus what its fit made. A rule that sees metadata gets only that; a rule
    from a user's file gets a copy, so that what it changes in place changes no score. Raises InputError on an
    infeasible selection, and with the writer, package and budget named on an exception in a user's rule.
    """
    if writer.rule.sees == "solution":
        raise ValueError(f"writer {writer.name} is read from solutions, not run")
    shown = (package.visible,) if writer.rule.sees == "metadata" else (package, instance)
    if not writer.rule.foreign:
        return check_feasible(package, writer.rule.function(*shown, budget, **parameters), budget, writer.name)
    try:
        selection = writer.rule.function(*copy.deepcopy(shown), budget, **parameters)
    except (Exception, SystemExit) as error:
        raise InputError(
            f"writer {writer.name} ({writer.rule.name}) on package {package.package_id} of suite {package.suite} at "
            f"budget {budget}: {_told(error)}"
        ) from error
    return check_feasible(package, selection, budget, writer.name)


def fitted(writer: Writer, training: list[Package], saturation: Saturation) -> dict[str, Any]:
    """The writer's parameters and what its fit makes of the training packages, F under `saturation`.

    Raises InputError when the fit returns no dict, and with the writer named on an exception in a user's fit.
    """
    try:
        more = writer.rule.fit(training, saturation=saturation, **writer.parameters)
    except InputError:
        raise
    except (Exception, SystemExit) as error:
        if not writer.rule.foreign:
            raise
        raise InputError(f"writer {writer.name} ({writer.rule.name}): its fit failed: {_told(error)}") from error
    if not isinstance(more, Mapping):
        raise InputError(f"writer {writer.name}: its fit returned {more!r}; return a dict of parameters")
    return {**writer.parameters, **more}
