"""The objective F in exact integers: saturations, scaling, and F of a selection.

F(X) = sum_r w_r * h_r(sum_{u in X} a_ur)   (protocol, "Package"). A concave piecewise-linear h is the
minimum of its lines, h(z) = min_s (slope_s * z + intercept_s), so F is integer arithmetic once coverage,
weights, slopes and intercepts share a scale.
"""

from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

import numpy as np

from .errors import InputError
from .package import Package

MAX_DENOMINATOR = 10**6
INT_LIMIT = 2**62


@dataclass(frozen=True)
class Saturation:
    """A concave, nondecreasing h with h(0) = 0, as lines (slope, intercept); h is their minimum."""

    name: str
    lines: tuple[tuple[Fraction, Fraction], ...]

    def __call__(self, z: Fraction) -> Fraction:
        return min(slope * z + intercept for slope, intercept in self.lines)


CAP1 = Saturation("cap1", ((Fraction(1), Fraction(0)), (Fraction(0), Fraction(1))))
LINEAR = Saturation("linear", ((Fraction(1), Fraction(0)),))
BUILT_IN = {"cap1": CAP1, "linear": LINEAR}


def piecewise_linear(name: str, breakpoints: Sequence[Sequence[float]]) -> Saturation:
    """h through breakpoints [[z, h], ...] from [0, 0] on, flat after the last.

    Raises InputError when they do not start at [0, 0], z does not increase, or h is not concave and
    nondecreasing, or is 0 everywhere.
    """
    where = f"saturation {name}"
    points = [(exact(z, where), exact(h, where)) for z, h in breakpoints]
    if len(points) < 2 or points[0] != (0, 0):
        raise InputError(f"{where}: breakpoints must start at [0, 0] and have at least one more")
    lines = []
    for (z0, h0), (z1, h1) in itertools.pairwise(points):
        if z1 <= z0:
            raise InputError(f"{where}: z must increase; {float(z1)} does not follow {float(z0)}")
        slope = (h1 - h0) / (z1 - z0)
        if slope < 0 or (lines and slope > lines[-1][0]):
            raise InputError(
                f"{where}: the slope {float(slope)} from z = {float(z0)} on is negative or larger than the one "
                f"before; h must be nondecreasing and concave"
            )
        lines.append((slope, h0 - slope * z0))
    if points[-1][1] == 0:
        raise InputError(f"{where}: h is 0 everywhere, so nothing would have value; the last h must be above 0")
    lines.append((Fraction(0), points[-1][1]))
    return Saturation(name, tuple(dict.fromkeys(lines)))


@lru_cache(maxsize=1 << 16)
def _fraction(number: float) -> Fraction:
    return Fraction(Decimal(repr(float(number))))


def exact(number: float, where: str) -> Fraction:
    """The shortest decimal of a float as a fraction; InputError where it has more than six decimals' worth."""
    fraction = _fraction(number)
    if fraction.denominator > MAX_DENOMINATOR:
        raise InputError(
            f"{where}: {number!r} cannot be held exactly (denominator above {MAX_DENOMINATOR}); "
            f"round it, or set `quantize` for the suite"
        )
    return fraction


def quantize(number: float, grid: int) -> float:
    """The nearest multiple of 1/grid (half to even)."""
    return float(Fraction(round(_fraction(number) * grid), grid)) if grid else number


@dataclass(frozen=True, eq=False)
class Instance:
    """A package under one saturation in exact integers, as the solver takes it.

    All int64: `group_start` (groups + 1), `cost` (candidates), row-sparse coverage `cov_ptr`, `cov_unit`,
    `cov`; `weight` (units); h as lines `slope`, `intercept`. F = F_int / scale with
    F_int = sum_r weight_r * min_s(slope_s * z_r + intercept_s), z_r the summed integer coverage;
    max_int is F_int of all candidates together, below 2^62.
    """

    group_start: np.ndarray
    cost: np.ndarray
    cov_ptr: np.ndarray
    cov_unit: np.ndarray
    cov: np.ndarray
    weight: np.ndarray
    slope: np.ndarray
    intercept: np.ndarray
    scale: int
    max_int: int

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        return (
            self.group_start,
            self.cost,
            self.cov_ptr,
            self.cov_unit,
            self.cov,
            self.weight,
            self.slope,
            self.intercept,
        )

    @property
    def hash(self) -> str:
        """Hash of the arrays and scale: equal hashes have equal solutions, position by position."""
        digest = hashlib.sha256(str(self.scale).encode())
        for array in self.arrays:
            digest.update(b"|" + array.tobytes())
        return digest.hexdigest()[:16]

    def value_int(self, selection: Iterable[int]) -> int:
        """F_int of a selection (candidate positions), in Python integers."""
        z = [0] * len(self.weight)
        for i in selection:
            for r in range(self.cov_ptr[i], self.cov_ptr[i + 1]):
                z[self.cov_unit[r]] += int(self.cov[r])
        lines = list(zip(self.slope.tolist(), self.intercept.tolist(), strict=True))
        return sum(
            w * min(slope * zr + intercept for slope, intercept in lines)
            for w, zr in zip(self.weight.tolist(), z, strict=True)
        )


def scale(package: Package, saturation: Saturation = CAP1) -> Instance:
    """The package in exact integers.

    Raises InputError naming the package and the unit or candidate of a lossy number, and when the largest
    possible F_int does not fit 62 bits.
    """
    where = f"package {package.package_id} of suite {package.suite}"
    weights = [exact(u.weight, f"{where}, unit {u.unit_id}, weight") for u in package.units]
    cells: list[Fraction] = []
    for i, candidate_id in enumerate(package.visible.candidate_ids):
        span = slice(package.cov_ptr[i], package.cov_ptr[i + 1])
        cells += [exact(a, f"{where}, candidate {candidate_id}, coverage") for a in package.cov_value[span].tolist()]
    weight_scale = math.lcm(1, *{w.denominator for w in weights})
    cell_scale = math.lcm(1, *{a.denominator for a in cells})
    lines = [(slope / cell_scale, intercept) for slope, intercept in saturation.lines]
    h_scale = math.lcm(*(x.denominator for line in lines for x in line))
    weight = [int(w * weight_scale) for w in weights]
    slope = [int(s * h_scale) for s, _ in lines]
    intercept = [int(t * h_scale) for _, t in lines]
    cov = [int(a * cell_scale) for a in cells]
    max_int = _max_int(where, package, weight, cov, slope, intercept)

    def int64(values) -> np.ndarray:
        return np.array(values, dtype=np.int64)

    return Instance(
        package.visible.group_start,
        package.visible.cost,
        package.cov_ptr,
        package.cov_unit,
        int64(cov),
        int64(weight),
        int64(slope),
        int64(intercept),
        weight_scale * h_scale,
        max_int,
    )


def _max_int(where, package, weight, cov, slope, intercept) -> int:
    """F_int of all candidates together; InputError where it, or a line of h, does not fit 62 bits."""
    most = [0] * len(weight)
    for unit, a in zip(package.cov_unit.tolist(), cov, strict=True):
        most[unit] += a
    total = sum(
        w * min(s * z + t for s, t in zip(slope, intercept, strict=True)) for w, z in zip(weight, most, strict=True)
    )
    largest_line = max([s * z + t for z in most for s, t in zip(slope, intercept, strict=True)], default=0)
    if max(total, largest_line) >= INT_LIMIT:
        raise InputError(
            f"{where}: weights and coverages need {max(total, largest_line).bit_length()} bits as exact integers, "
            f"above 62; use fewer decimals or set `quantize` for the suite"
        )
    return total
