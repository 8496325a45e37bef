"""The synthetic distributions by name, and `generate`: (distribution, seed) -> Package."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError

from ..errors import InputError, key_path, shown
from ..package import Package, Query, build
from .draft import Draft

STRESS_IDS = "{name}_s{seed}"


@dataclass(frozen=True)
class Distribution:
    """A registered distribution.

    `make(seed, normal_count, update_count)` gives a Draft; where `parameters` (a pydantic model with defaults
    for every field) is set, an instance of it is the fourth argument. `texts_ours`: the candidates' texts are
    this project's, because the published generator's are not known. `ids`: the package id of a seed.
    """

    name: str
    make: Callable[..., Draft]
    parameters: type[BaseModel] | None = None
    texts_ours: bool = False
    ids: str = STRESS_IDS


DISTRIBUTIONS: dict[str, Distribution] = {}


def distribution(name: str, **more: Any):
    """Register the decorated maker as distribution `name`; `more`: parameters, texts_ours, ids of the Distribution."""

    def register(make):
        if name in DISTRIBUTIONS:
            raise ValueError(f"distribution {name!r} is registered twice")
        DISTRIBUTIONS[name] = Distribution(name, make, **more)
        return make

    return register


def find(name: str) -> Distribution:
    """The distribution `name`; InputError with the nearest known name where there is none."""
    if name not in DISTRIBUTIONS:
        near = difflib.get_close_matches(name, DISTRIBUTIONS, n=1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise InputError(f"distribution {name!r} is unknown; {hint}known: {', '.join(sorted(DISTRIBUTIONS))}")
    return DISTRIBUTIONS[name]


def package_ids(distribution: str, seeds: Iterable[int]) -> list[str]:
    """The ids of the packages that `generate` makes for `seeds`, in their order, without making them."""
    known = find(distribution)
    return [known.ids.format(name=known.name, seed=seed) for seed in seeds]


def check_parameters(name: str, given: Mapping[str, Any]) -> BaseModel | None:
    """The validated parameter set of distribution `name` (None where it takes none).

    Raises InputError that lists every bad key with its allowed range.
    """
    model = find(name).parameters
    if model is None:
        if given:
            raise InputError(f"parameters.{name}: it takes no parameters; remove {', '.join(sorted(given))}")
        return None
    try:
        return model.model_validate(dict(given))
    except ValidationError as error:
        raise InputError("\n".join(_explain(name, model, e) for e in error.errors())) from error


def _explain(name: str, model: type[BaseModel], error: Mapping[str, Any]) -> str:
    key = str(error["loc"][0])
    where = key_path(("parameters", name, key))
    if key not in model.model_fields:
        return f"{where}: unknown key; {name} takes {', '.join(model.model_fields)}"
    return f"{where}: {shown(error['input'])} is not allowed; {model.model_fields[key].description}"


def generate(
    suite: str, distribution: str, seed: int, normal_count: int = 3, update_count: int = 2, **parameters: Any
) -> Package:
    """The package of `distribution` for `seed`, the same one on every machine.

    normal_count and update_count are whole numbers >= 0, not both 0 (plain facts and updates; all
    distributions but base clamp what they make of them). `parameters` go to the distribution's parameter set.
    Every unit of positive weight is the only requirement of one query. Raises InputError on an unknown
    distribution or parameter and on a number outside its range.
    """
    known = find(distribution)
    _check_counts(suite, seed, normal_count, update_count)
    checked = check_parameters(distribution, parameters)
    extra = () if checked is None else (checked,)
    draft = known.make(seed, normal_count, update_count, *extra)
    queries = [Query(f"q:{u.unit_id}", (u.unit_id,)) for u in draft.units if u.weight > 0]
    return build(suite, draft.package_id, distribution, seed, draft.candidates, draft.units, draft.coverage, queries)


def _check_counts(suite: str, seed: int, normal_count: int, update_count: int) -> None:
    for key, value in (("seed", seed), ("normal_count", normal_count), ("update_count", update_count)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise InputError(f"suite {suite}: {key} is {value!r}; give a whole number >= 0")
    if normal_count + update_count == 0:
        raise InputError(f"suite {suite}: normal_count and update_count are both 0; raise one of them")
