"""What the proxy judge says of a memory and a unit, a second time by its definition: one pair after the other.

docs/stores.md, "Coverage without labels", with the parameters that ship. What a text says (words, numbers, dates,
denials) is read by `stores.judge_text`, of which there is no second writing; features, scores and rules are.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..errors import InputError
from ..stores.judge_text import Reading, read

FAR, LOW, NEAR, HALF, FULL = ROWS = ("0 far", "0 low", "0 near", "0.5", "1")
# What a cell of each row covers.
COVERS = {FAR: 0.0, LOW: 0.0, NEAR: 0.0, HALF: 0.5, FULL: 1.0}
_DENIED_RECALL, _DENIED_SHARE = 0.5, 0.75
_RARE_TEXTS = 3
_GRID = 64
# Two ways to add up one score may differ in the last digits: so near to a threshold either side is right.
_SLACK = 1e-9


class Proxy:
    """The judge of `parameters` (those of proxy.json) over one example's units, given as texts."""

    def __init__(self, parameters: Mapping[str, Any], units: Sequence[str]):
        self._parameters = parameters
        self._documents = parameters["vocabulary"]["documents"]
        self._texts_with = parameters["vocabulary"]["counts"]
        self._idf: dict[str, float] = {}
        self._units = [read(text) for text in units]
        self._of_word: dict[str, set[int]] = defaultdict(set)
        self._of_number: dict[str, set[int]] = defaultdict(set)
        for j, unit in enumerate(self._units):
            for word in unit.words:
                self._of_word[word].add(j)
            for number in unit.numbers:
                self._of_number[number.value].add(j)

    def cells(self, text: str) -> Iterator[tuple[int, frozenset[str]]]:
        """(unit, what its row may be): one row of ROWS, two next to a threshold. Units that are not named are far."""
        memory = read(text)
        near = [self._of_word[w] for w in memory.words if w in self._of_word]
        near += [self._of_number[n.value] for n in memory.numbers if n.value in self._of_number]
        for j in sorted(set().union(*near)):
            yield j, self._rows(memory, self._units[j])

    def _weight(self, words: frozenset[str]) -> float:
        """Summed idf, on a grid on which sums are exact."""
        for word in words:
            if word not in self._idf:
                value = math.log((1 + self._documents) / (1 + self._texts_with.get(word, 0))) + 1
                self._idf[word] = round(value * _GRID) / _GRID
        return sum(self._idf[word] for word in words)

    def _rare(self, words: frozenset[str]) -> int:
        return sum(self._texts_with.get(word, 0) <= _RARE_TEXTS for word in words)

    def _rows(self, memory: Reading, unit: Reading) -> frozenset[str]:
        both = memory.words & unit.words
        got, most = self._weight(both), self._weight(unit.words)
        recall = got / most if unit.words else 1.0
        values, things = {n.value for n in memory.numbers}, {n.of for n in memory.numbers if n.of}
        missing = [n for n in unit.numbers if n.value not in values]
        stated, contradicted = len(unit.numbers) - len(missing), any(n.of in things for n in missing)
        dated = sum(any(day.states(own) for day in memory.dates) for own in unit.dates)
        agreed = [own for own in unit.dates if any(day.agrees(own) for day in memory.dates)]
        misdated = sum(any(day.differs(own) for day in memory.dates) for own in unit.dates if own not in agreed)
        dates = max(1, len(unit.dates))
        features = {
            "recall": recall,
            "shared": math.sqrt(got),
            "names": self._rare(both) / max(1, self._rare(unit.words)),
            "number_stated": min(1, stated),
            "number_missing": -len(missing) / max(1, len(unit.numbers)),
            "number_contradicted": -1 if contradicted else 0,
            "date_stated": dated / dates,
            "date_missing": -(len(unit.dates) - dated) / dates,
            "date_contradicted": -misdated / dates,
            "memory_length": -math.log1p(len(memory.words)),
        }
        opposed = self._weight((memory.denied & unit.words) ^ (memory.words & unit.denied))
        whole = recall == 1 and not missing and dated == len(unit.dates) and not opposed
        denied = opposed > 0 and recall >= _DENIED_RECALL and opposed >= _DENIED_SHARE * got
        partial = bool(missing) or (bool(unit.dates) and not agreed)
        return frozenset(self._row(features, whole, denied, partial, slack) for slack in (-_SLACK, _SLACK))

    def _row(self, features: Mapping[str, float], whole: bool, denied: bool, partial: bool, slack: float) -> str:
        known = self._parameters
        first, second = (self._score(known[name], features) + slack for name in ("any", "full"))
        if not denied and (whole or first >= known["any"]["threshold"]):
            return FULL if whole or (second >= known["full"]["threshold"] and not partial) else HALF
        return FAR if first < known["far"] else LOW if first < known["low"] else NEAR

    @staticmethod
    def _score(score: Mapping[str, Any], features: Mapping[str, float]) -> float:
        return score["intercept"] + sum(c * features[name] for name, c in score["coefficients"].items())


def refuse_without_text(units: Mapping[str, str | None], where: str) -> None:
    """InputError where a unit (id -> text) has nothing to judge by."""
    without = [unit_id for unit_id, text in units.items() if not (text or "").strip()]
    if without:
        raise InputError(f"{where}: unit {without[0]} has no text, and a judge is said to have read it")


def judge_table(content: Mapping[str, Any], name: str) -> Iterator[dict[str, Any]]:
    """Rows of table `store_judge`, without the store: the provenance in proxy.json (`content`) of the judge `name`."""
    known = content["provenance"]

    def row(what: str, value: float, label: str = "", judged: str = "") -> dict[str, Any]:
        own = {"judge": name, "kind": "proxy", "what": what, "label": label}
        return own | {"judged": judged, "value": float(value)}

    for what in ("kappa", "kappa_all_cells"):
        ends = zip(("", "_low", "_high"), (known[what], *known[f"{what}_interval"]), strict=True)
        yield from (row(what + end, value) for end, value in ends)
    numbers = ("test_examples", "test_cells", "train_examples", "train_cells", "memories_per_example")
    yield from (row(what, known[what]) for what in numbers)
    for what in ("confusion", "confusion_all_cells"):
        for label, cells in known[what].items():
            yield from (row(what, n, label, judged) for judged, n in cells.items())
    for judged, shares in known["true_given_judged"].items():
        labels = zip(("0", "0.5", "1"), shares, strict=True)
        yield from (row("true_given_judged", share, label, judged) for label, share in labels)
