"""The packages of a suite from its configured source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from .errors import InputError
from .natural.build import LABEL_SOURCE as HAS_ANSWER
from .natural.build import BuildOptions, BuildResult, build_packages
from .natural.conversations_io import load_examples
from .natural.coverage_package import CoverageOptions, build_coverage
from .natural.coverage_package_io import load_coverage_package, package_files
from .natural.locomo_build import LABEL_SOURCE as KEPT_WORDS
from .natural.locomo_build import LocomoOptions, build_locomo
from .natural.locomo_io import load_conversations
from .natural.rows_io import data_files
from .objective import quantize
from .package import Package
from .synthetic import generate

# Warnings that one exception shows.
_SHOWN = 20


def build_suite(suite: str, source: Mapping[str, Any], files: Sequence[str]) -> BuildResult:
    """Packages, unscored questions and warnings of a suite.

    `source`: the keys that decide the packages (`Config.source_definition`); `files`: what `source_files` gives.
    """
    made = _BUILDERS[source["source"]](suite, source, files)
    grid = source.get("quantize")
    return _on_grid(made, grid) if grid else made


def source_files(source: str, paths: Sequence[str]) -> list[str]:
    """What a job reads of a suite's `Config.source_paths`: a folder's files one by one, so that a changed, new
    or removed file is noticed."""
    if source == "coverage_package":
        return [*package_files(paths[0]), *(str(file) for file in data_files(paths[1:], "conversations"))]
    return [str(file) for file in data_files(paths, "conversations")]


def label_source(source: Mapping[str, Any]) -> str:
    """Who says what a candidate covers: the generator, the data set's own marks, a rule, the package's labels."""
    return {
        "synthetic": "generator",
        "longmemeval": HAS_ANSWER,
        "locomo": KEPT_WORDS,
        "coverage_package": "package",
    }[source["source"]]


def _longmemeval(suite: str, source: Mapping[str, Any], files: Sequence[str]) -> BuildResult:
    types = source["question_types"]
    options = {key: source[key] for key in ("limit", "seed", "distractors", "word_limit", "route")}
    chosen = BuildOptions(None if types is None else tuple(types), **options)
    return _strictly(source, build_packages(load_examples(files), suite, chosen))


def _locomo(suite: str, source: Mapping[str, Any], files: Sequence[str]) -> BuildResult:
    keys = ("grid", "observation_floor", "summary_floor", "adversarial")
    options = LocomoOptions(**{key: source[key] for key in keys})
    return _strictly(source, build_locomo(load_conversations(files), suite, options))


def _strictly(source: Mapping[str, Any], made: BuildResult) -> BuildResult:
    """What was built; in strict mode InputError where anything was odd."""
    if source["strict"] and made.warnings:
        lines = [f"{w['source_id']}: {w['kind']}: {w['detail']}" for w in made.warnings]
        more = [f"and {len(lines) - _SHOWN} more"] if len(lines) > _SHOWN else []
        head = f"{len(lines)} warnings, and the suite is strict; mend the conversations, or set strict: false"
        raise InputError("\n  ".join([head, *lines[:_SHOWN], *more]))
    return made


def _coverage_package(suite: str, source: Mapping[str, Any], files: Sequence[str]) -> BuildResult:
    keys = ("weights", "paper_defaults", "own", "strict", "quantize")
    options = CoverageOptions(**{key: source[key] for key in keys})
    folder = Path(files[0]).parent
    # `source_files`: the folder's own files come first.
    conversations = files[len(package_files(folder)) :]
    return build_coverage(load_coverage_package(folder, options, conversations or None), suite, options)


def _synthetic(suite: str, source: Mapping[str, Any], files: Sequence[str]) -> BuildResult:
    counts = {key: source[key] for key in ("normal_count", "update_count")}
    packages = [
        generate(suite, name, seed, **counts, **source["parameters"].get(name, {}))
        for name in source["distributions"]
        for seed in source["seeds"]
    ]
    return BuildResult(packages, [], [])


_BUILDERS = {
    "synthetic": _synthetic,
    "longmemeval": _longmemeval,
    "locomo": _locomo,
    "coverage_package": _coverage_package,
}


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
    return replace(made, packages=packages, warnings=warnings)


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
