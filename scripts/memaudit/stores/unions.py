"""The packages of a union suite: a suite's packages with the memories of one store, of several, or a store alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from ..costs import BUILT_IN, linear
from ..errors import InputError
from ..package import Package, TextSize
from .union import Labelled, store_package, union

Cost = Callable[[TextSize], int]


def cost_function(definition: str | Mapping[str, float]) -> Cost:
    """The cost model of a text: a built-in's name, or linear parameters (costs.py)."""
    return BUILT_IN[definition] if isinstance(definition, str) else linear(definition)


def union_suite(
    name: str,
    packages: Sequence[Package],
    stores: Sequence[Mapping[str, Labelled]],
    costs: Sequence[Cost],
    alone: bool = False,
) -> list[Package]:
    """The packages that each of `stores` (package id -> store) has a store for, joined with them, as suite `name`.

    `costs`: what the memories of each store cost, as the declared cost of their candidates. `alone`: the memories
    of the one store, without the packages' candidates. Raises InputError where no example has all stores.
    """
    shared = [p for p in packages if all(p.package_id in own for own in stores)]
    if not shared:
        raise InputError(f"{name}: no example of the suite has a store in each of its exports; compare others")
    out = []
    for package in shared:
        joined = package
        for own, cost in zip(stores, costs, strict=True):
            labelled = own[package.package_id]
            joined = store_package(package, labelled, cost).package if alone else union(joined, [labelled], cost)
        out.append(replace(joined, suite=name))
    return out
