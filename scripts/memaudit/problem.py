"""Definitions of pools, saturations and cost models as they travel in job parameters and file metadata."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .objective import BUILT_IN as SATURATIONS
from .objective import Saturation, piecewise_linear
from .pools import Pool


@dataclass(frozen=True)
class Problem:
    """Named definitions. `cost_parameters`: linear parameters, or None where the name is built in."""

    pools: Mapping[str, Pool]
    saturations: Mapping[str, Saturation]
    cost_parameters: Mapping[str, Mapping[str, float] | None]


def read_problem(part: Mapping[str, Any]) -> Problem:
    """The objects of a `Config.problem_part`."""
    return Problem(
        {name: read_pool(name, entry) for name, entry in part["pools"].items()},
        {name: read_saturation(name, entry) for name, entry in part["saturations"].items()},
        {name: None if isinstance(entry, str) else entry for name, entry in part["cost_models"].items()},
    )


def read_pool(name: str, entry: Mapping[str, Any]) -> Pool:
    """The pool of a `Config.pool_part`."""
    include = entry["include"]
    return Pool(name, None if include is None else tuple(include), tuple(entry["exclude"]))


def read_saturation(name: str, entry: str | list[list[float]]) -> Saturation:
    """The saturation of a `Config.saturation_part`: a built-in's name, or breakpoints."""
    return SATURATIONS[entry] if isinstance(entry, str) else piecewise_linear(name, entry)
