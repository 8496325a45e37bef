"""Synthetic packages: the published generators, bit for bit, and our randomized variants.

`generate(suite, distribution, seed)` is a pure function; the distributions are those of `DISTRIBUTIONS`.
"""

from . import randomized, small, stress  # noqa: F401  (importing them fills DISTRIBUTIONS)
from .registry import DISTRIBUTIONS, Distribution, check_parameters, generate, package_ids

# Distributions whose candidate texts are this project's own, and so the figures of writers that read text.
TEXTS_OURS: frozenset[str] = frozenset(d.name for d in DISTRIBUTIONS.values() if d.texts_ours)

__all__ = ["DISTRIBUTIONS", "TEXTS_OURS", "Distribution", "check_parameters", "generate", "package_ids"]
