"""The tables on labels that data/natural100/stores/README.md states (`tools/store_labels.py assemble`).

They say how far two passes read the same memories alike; rows by store are a property of the labels, in order of name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import natural100_figures as figures

from memaudit.analysis.agreement import LEVELS, cohen_kappa, kappa_interval, ordinal_alpha, raw_agreement
from memaudit.table_io import write_text


@dataclass(frozen=True)
class Cell:
    """What both passes say of a (memory, unit) on the frame. required: in the adjudicated package."""

    query: str
    store: str
    unit_kind: str
    required: bool
    a: float
    b: float


def blocks(cells: Sequence[Cell], index: Mapping[str, Mapping[str, Any]], stores: Sequence[str]) -> dict[str, str]:
    """Name -> table, of all blocks of the README. `index`: query -> its row in index.json."""
    return {
        "counts of labels": counts_table(cells, index, stores),
        "agreement": agreement_table(cells, index, stores),
        "confusion": confusion_table(cells),
    }


def write(file: Path, content: Mapping[str, str]) -> None:
    """Put each block between its marks."""
    text = file.read_text("utf-8")
    for name, block in content.items():
        text = figures.with_block(text, name, block)
    write_text(file, text)


def counts_table(cells: Sequence[Cell], index: Mapping[str, Mapping[str, Any]], stores: Sequence[str]) -> str:
    """How much was labelled, and not what the labels are: they would compare the stores."""
    memories = [store for entry in index.values() for store, _ in entry["memories"].values()]
    rows = []
    for name, chosen in {"all": stores, **{store: (store,) for store in stores}}.items():
        labelled = sum(c.store in chosen for c in cells)
        rows.append((name, f"{sum(map(memories.count, chosen)):,}", f"{labelled:,}"))
    return figures.table(("memories of", "memories", "cells labelled twice"), rows, numbers=True)


def agreement_table(cells: Sequence[Cell], index: Mapping[str, Any], stores: Sequence[str]) -> str:
    """Kappa of covered or not and, where both passes find a cell covered, of full or half; intervals by example."""
    rows = []
    for name, of_kind in _kinds(list(index), stores).items():
        own = [c for c in cells if of_kind(c)]
        halves = [c for c in own if c.a > 0 and c.b > 0]
        binary = [[v > 0 for v in values] for values in _two(own)]
        full = [[v == 1 for v in values] for values in _two(halves)]
        rows.append((
            name, f"{len(own):,}", _kappa(binary, own), f"{raw_agreement(*binary):.3f}",
            f"{ordinal_alpha(*_two(own)):.3f}", f"{len(halves):,}", _kappa(full, halves),
        ))  # fmt: skip
    head = ("cells", "number", "kappa, covered or not", "raw agreement", "ordinal alpha, 0 / 0.5 / 1",
            "covered by both", "kappa, full or half")  # fmt: skip
    return figures.table(head, rows)


def _kinds(queries: Sequence[str], stores: Sequence[str]) -> dict[str, Callable[[Cell], bool]]:
    batches = {f"labellers' batch {n // 10 + 1}": set(queries[n : n + 10]) for n in range(0, len(queries), 10)}
    return {
        "all": lambda c: True,
        **{name: (lambda c, own=own: c.query in own) for name, own in batches.items()},
        "required units": lambda c: c.required,
        **{f"memories of {store}": (lambda c, store=store: c.store == store) for store in stores},
        **{
            f"units: {kind}": (lambda c, kind=kind: c.unit_kind == kind)
            for kind in ("current_fact", "preference", "temporal_fact", "update")
        },
    }


def _kappa(labels: Sequence[Sequence[bool]], cells: Sequence[Cell]) -> str:
    low, high = kappa_interval(*labels, [c.query for c in cells])
    return f"{cohen_kappa(*labels):.3f} [{low:.3f}, {high:.3f}]"


def _two(cells: Iterable[Cell]) -> tuple[list[float], list[float]]:
    cells = list(cells)
    return [c.a for c in cells], [c.b for c in cells]


def confusion_table(cells: Sequence[Cell]) -> str:
    pairs = [(c.a, c.b) for c in cells]
    rows = [(f"a: {x:g}", *(f"{pairs.count((x, y)):,}" for y in LEVELS)) for x in LEVELS]
    return figures.table(("", *(f"b: {level:g}" for level in LEVELS)), rows)
