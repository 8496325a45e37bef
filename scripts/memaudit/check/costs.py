"""Storage costs measured a second time, apart from the pipeline's cost models (protocol, "Cost models")."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..errors import InputError
from .model import decimal

DECLARED = "declared"
MEASURES = ("words", "byte_overhead", "chars", "bytes", "approx_tokens")
_RATES = ("per_record", "per_word", "per_char", "per_byte")


def measure(definition: str | Mapping[str, float], text: str | Sequence[int]) -> int:
    """Cost of a serialized memory in whole units: a name of `MEASURES`, or linear rates
    {per_record, per_word, per_char, per_byte, min (1)}, rounded up. InputError on anything else.

    `text`: the memory, or its words, characters and UTF-8 bytes where the text itself is absent."""
    sizes = (len(text.split()), len(text), len(text.encode())) if isinstance(text, str) else text
    counts = dict(zip(_RATES, (1, *sizes), strict=True))
    if not isinstance(definition, str):
        return _linear(definition, counts)
    if definition == "words":
        cost = counts["per_word"]
    elif definition == "byte_overhead":
        cost = 8 + (counts["per_byte"] + 23) // 24
    elif definition == "chars":
        cost = counts["per_char"]
    elif definition == "bytes":
        cost = counts["per_byte"]
    elif definition == "approx_tokens":
        cost = (counts["per_char"] + 3) // 4
    else:
        raise InputError(f"cost model {definition!r} is not one of {(DECLARED, *MEASURES)}")
    return max(1, cost)


def _linear(rates: Mapping[str, float], counts: Mapping[str, int]) -> int:
    unknown = sorted(set(rates) - {*_RATES, "min"})
    if unknown:
        raise InputError(f"cost model with keys {unknown}; it takes {_RATES} and min")
    total = sum(decimal(rates.get(rate, 0)) * counts[rate] for rate in _RATES)
    return max(_up(total), _up(decimal(rates.get("min", 1))))


def _up(number) -> int:
    return -((-number.numerator) // number.denominator)
