"""Fit the proxy judge of coverage on natural100's labels and write scripts/memaudit/stores/proxy.json, and its
quality into docs/stores.md (`make judge`).

    python tools/fit_judge.py [FOLDER]

FOLDER: the adjudicated package with its texts filled in (`make natural-text`), so that raw spans are learned from too;
without it data/natural100/adjudicated, in which raw spans have no text and are left out. What ships is made without.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "tools")]

import natural100  # noqa: E402

from memaudit.analysis import judge_fit  # noqa: E402
from memaudit.errors import InputError  # noqa: E402
from memaudit.natural import labelled  # noqa: E402
from memaudit.natural.coverage_rows import TABLE_FILES  # noqa: E402
from memaudit.natural.strict_json import loads  # noqa: E402
from memaudit.stores.judge import Parameters  # noqa: E402
from memaudit.stores.judge_io import SHIPPED, write_proxy  # noqa: E402
from memaudit.table_io import write_text  # noqa: E402

DOCS = ROOT / "docs" / "stores.md"
BEGIN, END = "<!-- quality of the judge -->", "<!-- end of the quality of the judge -->"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", default=natural100.DATA / "adjudicated")
    arguments = parser.parse_args()
    try:
        cells = judge_fit.examples(tables(arguments.folder), labelled.A, labelled.B)
    except InputError as error:
        raise SystemExit(f"error: {error}") from error
    parameters = judge_fit.fit(cells)
    provenance = provenance_of(parameters, cells)
    write_proxy(SHIPPED, parameters, provenance)
    before, _, rest = DOCS.read_text("utf-8").partition(BEGIN)
    write_text(DOCS, before + quality_text(provenance) + rest.partition(END)[2])
    print(f"{SHIPPED.relative_to(ROOT)}: {_kappa(provenance, 'kappa')} on the test split")


def tables(folder: str | Path = natural100.DATA / "adjudicated") -> Mapping[str, Iterable[Mapping[str, Any]]]:
    """Table -> rows of a coverage package."""
    return {
        name: [loads(line) for line in (Path(folder) / file).read_text("utf-8").split("\n") if line]
        for name, file in TABLE_FILES.items()
        if (Path(folder) / file).exists()
    }


def provenance_of(parameters: Parameters, cells: list[judge_fit.Example]) -> dict[str, Any]:
    """What is written beside the parameters: who fitted them, on what, and what they are worth."""
    return {
        "fitted_by": "tools/fit_judge.py",
        "labels": "natural100, adjudicated package: labels of pass B (a language model) on the audit frame; candidates "
        "without text (raw spans, unless filled in) left out",
        "cells_sha256": cells_hash(cells),
        "split": judge_fit.SPLIT,
        **judge_fit.quality(parameters, cells),
    }


def quality_text(provenance: Mapping[str, Any]) -> str:
    """The tables of quality in docs/stores.md, between their marks."""
    lines = [
        BEGIN,
        f"Test split: {provenance['test_examples']} examples, {provenance['test_cells']:,} cells; training split: "
        f"{provenance['train_examples']} and {provenance['train_cells']:,}.",
        f"Binary {_kappa(provenance, 'kappa')} where each cell of the audit frame counts once,",
        f"{_kappa(provenance, 'kappa_all_cells', '')} where each counts for as many as it stands for.",
        "Cells (in brackets: as many as they stand for):",
        "",
        "| label | judged 0 | judged 0.5 | judged 1 |",
        "|---|---|---|---|",
    ]
    for true, row in provenance["confusion"].items():
        all_cells = provenance["confusion_all_cells"][true]
        lines.append(f"| {true} | " + " | ".join(f"{row[j]:,.0f} ({all_cells[j]:,.0f})" for j in row) + " |")
    lines += ["", "| representation | cells | kappa | of all cells |", "|---|---|---|---|"]
    for kind, own in provenance["by_representation_type"].items():
        lines.append(f"| {kind} | {own['cells']} | {own['kappa']:.2f} | {own['kappa_all_cells']:.2f} |")
    lines += ["", "| judged | cells | label 0, share of all cells | label 0.5 | label 1 |", "|---|---|---|---|---|"]
    for row, shares in provenance["true_given_judged"].items():
        cells = provenance["judged_cells"][row]
        lines.append(f"| {row} | {cells} | " + " | ".join(f"{share:.3f}" for share in shares) + " |")
    return "\n".join([*lines, END])


def _kappa(provenance: Mapping[str, Any], key: str, name: str = "kappa ") -> str:
    low, high = provenance[f"{key}_interval"]
    return f"{name}{provenance[key]:.2f} ({low:.2f} to {high:.2f})"


def cells_hash(cells: Iterable[judge_fit.Example]) -> str:
    """sha256 of the cells that were learned from and tested on, in order: example, texts, type, label, weight."""
    return hashlib.sha256("\n".join(repr(cell) for cell in cells).encode()).hexdigest()


if __name__ == "__main__":
    main()
