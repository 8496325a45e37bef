"""What a judge is worth as rows of a table, and the judge as it was recorded: enough for a verdict (judge_verdict)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .judge import LEVELS, Source

# Numbers of the provenance with an interval, and without; tables: true label -> judged label -> number.
_WITH_INTERVAL = ("kappa", "kappa_all_cells")
_NUMBERS = ("test_examples", "test_cells", "train_examples", "train_cells", "memories_per_example")
_TABLES = ("confusion", "confusion_all_cells")
_GIVEN = "true_given_judged"


@dataclass(frozen=True)
class Recorded:
    """A judge as rows of table `store_judge` have it (`judge.Source`)."""

    name: str
    kind: str
    provenance: Mapping[str, Any]


def judge_rows(judge: Source) -> Iterator[dict[str, Any]]:
    """Rows of table `store_judge`, without the store: judge, kind, what, label, judged, value.

    kappa and kappa_all_cells have rows `..._low` and `..._high` too; label and judged are "" but in the tables
    (confusion: cells; true_given_judged: share of the cells of a row of `judge.ROWS` that have the label).
    """
    known = judge.provenance

    def row(what: str, value: float, label: str = "", judged: str = "") -> dict[str, Any]:
        own = {"judge": judge.name, "kind": judge.kind, "what": what}
        return {**own, "label": label, "judged": judged, "value": float(value)}

    for what in _WITH_INTERVAL:
        yield row(what, known[what])
        for end, value in zip(("low", "high"), known.get(f"{what}_interval", ()), strict=False):
            yield row(f"{what}_{end}", value)
    yield from (row(what, known[what]) for what in _NUMBERS if what in known)
    for what in _TABLES:
        for label, cells in known.get(what, {}).items():
            yield from (row(what, value, label, judged) for judged, value in cells.items())
    for judged, shares in known[_GIVEN].items():
        yield from (row(_GIVEN, share, f"{level:g}", judged) for level, share in zip(LEVELS, shares, strict=True))


def recorded(rows: Iterable[Mapping[str, Any]]) -> Recorded:
    """The judge of its rows (`judge_rows`): name, kind, and what a verdict needs of its provenance."""
    rows = list(rows)
    provenance: dict[str, Any] = {_GIVEN: {}}
    for row in rows:
        if row["what"] == _GIVEN:
            levels = provenance[_GIVEN].setdefault(row["judged"], [0.0] * len(LEVELS))
            levels[LEVELS.index(float(row["label"]))] = row["value"]
        elif not row["label"]:
            provenance[row["what"]] = row["value"]
    return Recorded(rows[0]["judge"], rows[0]["kind"], provenance)
