"""Cost models: the storage cost of a serialized memory in whole units (protocol, "Cost models")."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction

from .errors import InputError

BUILT_IN: dict[str, Callable[[str], int]] = {
    "words": lambda text: max(1, len(text.split())),
    "byte_overhead": lambda text: max(1, 8 + math.ceil(len(text.encode("utf-8")) / 24)),
    "chars": lambda text: max(1, len(text)),
    "bytes": lambda text: max(1, len(text.encode("utf-8"))),
    "approx_tokens": lambda text: max(1, math.ceil(len(text) / 4)),
}
DECLARED = "declared"


def linear(parameters: Mapping[str, float]) -> Callable[[str], int]:
    """Cost = per_record + per_word*words + per_char*chars + per_byte*bytes, rounded up, at least `min`.

    Exact in the decimals as written (0.1 a word over 10 words is 1, never 2).
    """
    rate = {name: Fraction(Decimal(str(value))) for name, value in parameters.items()}

    def cost(text: str) -> int:
        total = (
            rate.get("per_record", Fraction(0))
            + rate.get("per_word", Fraction(0)) * len(text.split())
            + rate.get("per_char", Fraction(0)) * len(text)
            + rate.get("per_byte", Fraction(0)) * len(text.encode("utf-8"))
        )
        return max(math.ceil(total), math.ceil(rate.get("min", Fraction(1))))

    return cost


def cost_of_texts(
    name: str, texts: Sequence[str | None], parameters: Mapping[str, float] | None, where: str
) -> list[int]:
    """Costs of `texts` under cost model `name` (a built-in name, or linear `parameters`).

    Raises InputError naming `where` when a text is missing or a cost is not positive.
    """
    model = linear(parameters) if parameters is not None else BUILT_IN[name]
    costs = []
    for text in texts:
        if text is None:
            raise InputError(
                f"{where}: cost model {name!r} measures texts, and a candidate has none; "
                f"use cost model 'declared' or supply the texts"
            )
        costs.append(model(text))
    if costs and min(costs) < 1:
        raise InputError(f"{where}: cost model {name!r} gives a cost below 1; raise per_record or set min: 1")
    return costs
