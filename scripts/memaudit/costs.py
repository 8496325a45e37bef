"""Cost models: the storage cost of a serialized memory in whole units (protocol, "Cost models")."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction

from .errors import InputError
from .package import TextSize, size_of

BUILT_IN: dict[str, Callable[[TextSize], int]] = {
    "words": lambda size: max(1, size.words),
    "byte_overhead": lambda size: max(1, 8 + math.ceil(size.bytes / 24)),
    "chars": lambda size: max(1, size.chars),
    "bytes": lambda size: max(1, size.bytes),
    "approx_tokens": lambda size: max(1, math.ceil(size.chars / 4)),
}
DECLARED = "declared"


def linear(parameters: Mapping[str, float]) -> Callable[[TextSize], int]:
    """Cost = per_record + per_word*words + per_char*chars + per_byte*bytes, rounded up, at least `min`.

    Exact in the decimals as written (0.1 a word over 10 words is 1, never 2).
    """
    rate = {name: Fraction(Decimal(str(value))) for name, value in parameters.items()}

    def cost(size: TextSize) -> int:
        total = (
            rate.get("per_record", Fraction(0))
            + rate.get("per_word", Fraction(0)) * size.words
            + rate.get("per_char", Fraction(0)) * size.chars
            + rate.get("per_byte", Fraction(0)) * size.bytes
        )
        return max(math.ceil(total), math.ceil(rate.get("min", Fraction(1))))

    return cost


def cost_of_texts(
    name: str,
    texts: Sequence[str | None],
    sizes: Sequence[TextSize | None],
    parameters: Mapping[str, float] | None,
    where: str,
) -> list[int]:
    """Costs of `texts` under cost model `name` (a built-in name, or linear `parameters`); of a text that is
    absent by its size.

    Raises InputError naming `where` when text and size are missing or a cost is not positive.
    """
    model = linear(parameters) if parameters is not None else BUILT_IN[name]
    costs = []
    for text, size in zip(texts, sizes, strict=True):
        if text is None and size is None:
            raise InputError(
                f"{where}: cost model {name!r} measures texts, and a candidate has neither text nor size; "
                f"use cost model 'declared' or supply the texts"
            )
        costs.append(model(size if text is None else size_of(text)))
    if costs and min(costs) < 1:
        raise InputError(f"{where}: cost model {name!r} gives a cost below 1; raise per_record or set min: 1")
    return costs
