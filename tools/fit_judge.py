"""Fit the proxy judge of coverage on natural100's labels and write data/judge/proxy.json (`make judge`).

    python tools/fit_judge.py [FOLDER]

FOLDER: the adjudicated package with its texts filled in (`make natural-text`), so that raw spans are learned from too;
without it the label files, in which raw spans have no text and are left out. What ships is made without.
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?")
    arguments = parser.parse_args()
    try:
        cells = judge_fit.examples(tables(arguments.folder), labelled.A, labelled.B)
    except InputError as error:
        raise SystemExit(f"error: {error}") from error
    parameters = judge_fit.fit(cells)
    provenance = provenance_of(parameters, cells)
    write_proxy(SHIPPED, parameters, provenance)
    low, high = provenance["kappa_interval"]
    print(f"{SHIPPED.relative_to(ROOT)}: kappa {provenance['kappa']:.3f} ({low:.3f} to {high:.3f}) on the test split")


def tables(folder: str | None = None) -> Mapping[str, Iterable[Mapping[str, Any]]]:
    """Rows of the adjudicated package: from a folder, or from the labels, of the queries that pass b has labelled."""
    if folder is not None:
        return {
            name: [loads(line) for line in (Path(folder) / file).read_text("utf-8").split("\n") if line]
            for name, file in TABLE_FILES.items()
            if (Path(folder) / file).exists()
        }
    b = natural100.labels("b")
    judged = {row["query"] for row in b}
    a2 = [row for row in natural100.labels("a2") if row["query"] in judged]
    return labelled.package_tables(natural100.index(), natural100.labels("a1"), a2, b, by_b=True)


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


def cells_hash(cells: Iterable[judge_fit.Example]) -> str:
    """sha256 of the cells that were learned from and tested on, in order: example, texts, type, label, weight."""
    return hashlib.sha256("\n".join(repr(cell) for cell in cells).encode()).hexdigest()


if __name__ == "__main__":
    main()
