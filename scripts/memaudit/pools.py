"""Candidate pools: which representation types an optimum or writer may choose from."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from .package import VALIDITY_TYPES, Package


@dataclass(frozen=True)
class Pool:
    """Keeps the types in `include` (None: all) that are not in `exclude`."""

    name: str
    include: Collection[str] | None = None
    exclude: Collection[str] = ()

    def mask(self, types: Collection[str]) -> np.ndarray:
        """True for each candidate type the pool keeps."""
        return np.array(
            [(self.include is None or t in self.include) and t not in self.exclude for t in types], dtype=bool
        )

    def __call__(self, package: Package) -> Package:
        keep = self.mask(package.visible.representation_type)
        return package if keep.all() else package.restrict(keep)


# protocol.md "Optimum and ratios" (no_validity), writers.md (generic, single types).
BUILT_IN = {
    "full": Pool("full"),
    "no_validity": Pool("no_validity", exclude=VALIDITY_TYPES),
    "generic": Pool("generic", include=("raw", "raw_span", "atomic_fact", "fact", "summary")),
    "summary": Pool("summary", include=("summary",)),
    "atomic_fact": Pool("atomic_fact", include=("atomic_fact",)),
}
