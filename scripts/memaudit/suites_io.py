"""The packages of a suite from its configured source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .natural.build import BuildResult, build_packages
from .natural.conversations_io import load_examples
from .objective import quantize
from .package import Package
from .synthetic import generate


def build_suite(suite: str, source: Mapping[str, Any], files: Sequence[str]) -> BuildResult:
    """Packages, unscored questions and warnings of a suite.

    `source`: the keys that decide the packages (`Config.source_definition`, without paths); `files`: the file or
    folder of conversations (longmemeval), else nothing.
    """
    made = (
        _synthetic(suite, source) if source["source"] == "synthetic" else build_packages(load_examples(files[0]), suite)
    )
    grid = source.get("quantize")
    return _on_grid(made, grid) if grid else made


def label_source(source: Mapping[str, Any]) -> str:
    """Who says what a candidate covers: the generator, or the data set's own marks."""
    return {"synthetic": "generator", "longmemeval": "has_answer"}[source["source"]]


def _synthetic(suite: str, source: Mapping[str, Any]) -> BuildResult:
    counts = {key: source[key] for key in ("normal_count", "update_count")}
    packages = [
        generate(suite, name, seed, **counts, **source["parameters"].get(name, {}))
        for name in source["distributions"]
        for seed in source["seeds"]
    ]
    return BuildResult(packages, [], [])


def _on_grid(made: BuildResult, grid: int) -> BuildResult:
    """Coverage and weights rounded to multiples of 1/grid; each changed package is recorded as a warning."""
    packages, warnings = [], list(made.warnings)
    for package in made.packages:
        cells, n_cells, moved_cells = _rounded(package.cov_value.tolist(), grid)
        weights, n_weights, moved_weights = _rounded([u.weight for u in package.units], grid)
        packages.append(_with_numbers(package, cells, weights))
        if n_cells or n_weights:
            detail = (
                f"to multiples of 1/{grid}: {n_cells} coverage values and {n_weights} weights changed, "
                f"by at most {max(moved_cells, moved_weights):.3g}"
            )
            warnings.append({"source_id": package.package_id, "kind": "quantized", "detail": detail})
    return BuildResult(packages, made.unscored, warnings)


def _rounded(numbers: Sequence[float], grid: int) -> tuple[list[float], int, float]:
    rounded = [quantize(x, grid) for x in numbers]
    moves = [abs(a - b) for a, b in zip(numbers, rounded, strict=True)]
    return rounded, sum(m > 0 for m in moves), max(moves, default=0.0)


def _with_numbers(package: Package, cells: Sequence[float], weights: Sequence[float]) -> Package:
    """The package with other coverage values (cells that became 0 go) and weights."""
    value = np.array(cells, dtype=np.float64)
    keep = value > 0
    owner = np.repeat(np.arange(len(package)), np.diff(package.cov_ptr))[keep]
    ptr = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=len(package)))]).astype(np.int64)
    units = tuple(replace(u, weight=w) for u, w in zip(package.units, weights, strict=True))
    return replace(package, units=units, cov_ptr=ptr, cov_unit=package.cov_unit[keep], cov_value=value[keep])
