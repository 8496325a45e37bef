"""The hashes that name a package's content and an instance, computed a second time from the rows.

content_hash (table packages) stands for all that an optimum or a metric depends on but ids and texts;
instance_hash (table solutions) for the integers that the solver is given, whatever k and the budget.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from itertools import accumulate, groupby

import numpy as np

from .model import Scaled
from .rows import PackageRows, group_places

_SEPARATOR = b"|"
_LENGTH = 16


def content_hash(package: PackageRows) -> str:
    """Groups, costs, times, coverage and weights in the protocol's order, then types and roles."""
    place = group_places(package)
    rows = sorted(package.candidates, key=lambda row: (place[row.group_id], row.cost, row.candidate_id))
    sizes = [len(list(same)) for _, same in groupby(rows, key=lambda row: row.group_id)]
    cells = [sorted(row.coverage.items()) for row in rows]
    parts = [
        _integers(_starts(sizes)),
        _integers(row.cost for row in rows),
        _integers(row.time_index for row in rows),
        _integers(_starts(map(len, cells))),
        _integers(unit for row in cells for unit, _ in row),
        _floats(a for row in cells for _, a in row),
        _floats(package.weights),
    ]
    digest = hashlib.sha256(b"".join(part + _SEPARATOR for part in parts))
    digest.update("\x1f".join(row.representation_type for row in rows).encode())
    digest.update("\x1f".join(package.roles).encode())
    return digest.hexdigest()[:_LENGTH]


def instance_hash(form: Scaled) -> str:
    """The scale, then groups, costs, coverage, weights and the lines of h as integers."""
    parts = [
        str(form.scale).encode(),
        _integers(_starts(form.group_sizes)),
        _integers(form.costs),
        _integers(_starts(map(len, form.coverage))),
        _integers(unit for row in form.coverage for unit, _ in row),
        _integers(a for row in form.coverage for _, a in row),
        _integers(form.weights),
        _integers(slope for slope, _ in form.lines),
        _integers(intercept for _, intercept in form.lines),
    ]
    return hashlib.sha256(_SEPARATOR.join(parts)).hexdigest()[:_LENGTH]


def _starts(sizes: Iterable[int]) -> Iterable[int]:
    return accumulate(sizes, initial=0)


def _integers(numbers: Iterable[int]) -> bytes:
    return np.fromiter(numbers, dtype="<i8").tobytes()


def _floats(numbers) -> bytes:
    return np.fromiter(map(float, numbers), dtype="<f8").tobytes()
