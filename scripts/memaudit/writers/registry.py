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

import importlib.util
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..objective import Instance
from ..package import Package

SEES = ("metadata", "coverage", "solution")


@dataclass(frozen=True)
class Rule:
    """A registered rule.

    `fit`, where given, makes parameters from training packages: fit(training: list[Package], *, saturation,
    **parameters) -> dict merged into the parameters; F is to be taken under `saturation`. `learns` says, of a
    writer's parameters, whether it is fitted at all (a rule from a file with a `fit` always is). `reads_text`:
    the rule's choice depends on candidate texts.
    """

    name: str
    sees: str
    function: Callable | None
    fit: Callable | None = None
    learns: Callable[[Mapping[str, Any]], bool] = lambda parameters: True
    reads_text: bool = False


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
    """Register the decorated function as rule `name`; `more`: fit, learns, reads_text of the Rule."""

    def register(function):
        if name in RULES or sees not in SEES:
            raise ValueError(f"rule {name!r}: name taken or sees={sees!r} not one of {SEES}")
        RULES[name] = Rule(name, sees, function, **more)
        return function

    return register


RULES["opt"] = Rule("opt", "solution", None)


def rule_from_file(spec: str, sees: str = "metadata") -> Rule:
    """The function named by `path/to/file.py:function` as a rule; InputError if there is none."""
    path, _, name = spec.rpartition(":")
    if not path.endswith(".py") or not Path(path).is_file():
        raise InputError(f"writer rule {spec!r}: no such file; write path/to/file.py:function")
    module_spec = importlib.util.spec_from_file_location(f"memaudit_user_{Path(path).stem}", path)
    module = importlib.util.module_from_spec(module_spec)
    sys.modules[module_spec.name] = module  # where a dataclass in the file looks its annotations up
    module_spec.loader.exec_module(module)
    function = getattr(module, name, None)
    if not callable(function):
        raise InputError(f"writer rule {spec!r}: {path} has no function {name!r}")
    return Rule(spec, sees, function, getattr(module, "fit", None), reads_text=True)


def check_feasible(package: Package, selection: Sequence[int], budget: int, who: str, k: int = 1) -> list[int]:
    """The selection, sorted; InputError when it repeats or invents a position, passes the budget, or holds
    more than k candidates of a group."""
    where = f"writer {who} on package {package.package_id} of suite {package.suite} at budget {budget}"
    chosen = sorted(int(i) for i in selection)
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


def run(writer: Writer, package: Package, instance: Instance, budget: int, parameters: Mapping[str, Any]) -> list[int]:
    """Positions that `writer` keeps of `package` (already restricted to the writer's pool) under `budget`.

    `parameters` are the writer's own plus what its fit made. A rule that sees metadata gets only that.
    """
    if writer.rule.sees == "metadata":
        selection = writer.rule.function(package.visible, budget, **parameters)
    elif writer.rule.sees == "coverage":
        selection = writer.rule.function(package, instance, budget, **parameters)
    else:
        raise ValueError(f"writer {writer.name} is read from solutions, not run")
    return check_feasible(package, selection, budget, writer.name)
