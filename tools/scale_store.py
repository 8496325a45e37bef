"""A package and an exported store of any size, invented and seeded, to measure how the store stage scales.

    python tools/scale_store.py FOLDER [--groups 400] [--memories 10000] [--embedding 384] [--across 0] [--seed 0]

writes into FOLDER a coverage package (`package/`), a Letta archival listing of one store (`store.json`, an embedding of
that length in each passage), its labels (`coverage.jsonl`, `salience.jsonl`) and a configuration (`config.yaml`) with
budgets of 1, 2, 5 and 10 % of the words of the store, and says how to run it. All texts are made of a list of words.
A memory covers units of one group; that share (`--across`) of them covers units of several, which is harder to solve.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "scripts"))

from memaudit.natural.coverage_rows import MANIFEST, TABLE_FILES  # noqa: E402
from memaudit.table_io import atomic_path, write_text  # noqa: E402

EXAMPLE = "long"
SHARES = (0.01, 0.02, 0.05, 0.10)
WORDS = (
    "kiln", "ferry", "ledger", "walnut", "harbour", "violin", "garden", "lantern", "meadow", "copper", "saddle",
    "orchard", "thimble", "granite", "willow", "compass", "teapot", "ribbon", "chimney", "pigeon", "velvet", "anchor",
)  # fmt: skip
# Type of a candidate -> words of its text, share of a unit that it covers, and how many of the group's units.
CANDIDATES = {
    "raw_span": (30, 60, 1.0, 3),
    "summary": (10, 20, 0.5, 3),
    "atomic_fact": (5, 9, 1.0, 1),
    "compound_update": (9, 15, 1.0, 2),
    "tombstone": (4, 7, 1.0, 1),
}
UNITS_OF_A_GROUP = 3
# A search of this many nodes over 12,000 candidates takes seconds.
NODE_LIMIT = 5_000
START = datetime(2025, 1, 1, tzinfo=UTC)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--groups", type=int, default=400)
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--embedding", type=int, default=384, help="numbers in the embedding of a passage")
    parser.add_argument("--across", type=float, default=0.0, help="share of memories about several groups")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    sizes = (arguments.groups, arguments.memories, arguments.embedding)
    words = write(arguments.folder, *sizes, arguments.across, arguments.seed)
    print(f"{arguments.memories} memories of {words} words, {arguments.groups} groups; measure with")
    print(f"  memaudit ingest {arguments.folder}/store.json")
    print(f"  snakemake --cores 2 --configfile {arguments.folder}/config.yaml --directory {arguments.folder}")


def write(folder: Path, groups: int, memories: int, embedding: int, across: float, seed: int) -> int:
    """Write all files; the words of the store."""
    rng = random.Random(seed)
    package = package_rows(rng, groups)
    for table, rows in package.items():
        write_lines(folder / "package" / TABLE_FILES[table], rows)
    write_text(folder / "package" / MANIFEST, json.dumps({"allowed_inputs": ["session text"], "forbidden_inputs": []}))
    passages = [(f"passage-{i:06d}", text(rng, 4, 20)) for i in range(memories)]
    with atomic_path(folder / "store.json") as path, path.open("w", encoding="utf-8") as file:
        file.writelines(listing(rng, passages, embedding))
    units = [unit["unit_id"] for unit in package["units"]]
    covered = edges(rng, passages, units, across)
    write_lines(folder / "coverage.jsonl", [{"instance_id": EXAMPLE, "coverage_edges": covered}])
    salience = {passage_id: round(rng.random(), 2) for passage_id, _ in passages}
    write_lines(folder / "salience.jsonl", [{"instance_id": EXAMPLE, "scores": salience}])
    words = sum(len(said.split()) for _, said in passages)
    write_text(folder / "config.yaml", yaml.safe_dump(config([round(share * words) for share in SHARES])))
    return words


def write_lines(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    write_text(path, "".join(json.dumps(row) + "\n" for row in rows))


def text(rng: random.Random, least: int, most: int) -> str:
    return " ".join(rng.choices(WORDS, k=rng.randint(least, most)))


def package_rows(rng: random.Random, groups: int) -> dict[str, list[dict[str, Any]]]:
    """Rows of a coverage package of one query, which requires a tenth of the units; the others have weights too."""
    rows: dict[str, list[dict[str, Any]]] = {"experiences": [], "units": [], "candidates": [], "coverage": []}
    for g in range(groups):
        session = f"{EXAMPLE}::s{g:04d}"
        said = text(rng, 60, 90)
        time = (START + timedelta(hours=6 * g)).isoformat()
        rows["experiences"].append({"experience_id": session, "session_id": session, "timestamp": time, "text": said})
        own = [f"{session}.u{u}" for u in range(UNITS_OF_A_GROUP)]
        rows["units"] += [
            {
                "unit_id": unit_id,
                "kind": "invalidation" if unit_id.endswith("u2") else "current_fact",
                "canonical_text": text(rng, 4, 8),
                "source_spans": [{"experience_id": session, "text": " ".join(said.split()[:4])}],
                "unit_weight": rng.choice((0.5, 1.0, 1.5, 2.0, 3.0)),
            }
            for unit_id in own
        ]
        for kind, (least, most, share, count) in CANDIDATES.items():
            candidate = {"candidate_id": f"{session}.{kind}", "experience_id": session, "representation_type": kind}
            serialized = text(rng, least, most)
            cost = len(serialized.split())
            rows["candidates"].append({**candidate, "serialized": serialized, "cost": cost, "confidence": 1.0})
            covered = own[-1:] if kind == "tombstone" else rng.sample(own, count)
            rows["coverage"] += [
                {"candidate_id": candidate["candidate_id"], "unit_id": unit_id, "coverage": share}
                for unit_id in covered
            ]
    required = [unit["unit_id"] for unit in rows["units"][::10]]
    query = {"query_id": EXAMPLE, "question": text(rng, 6, 9), "answer": "kiln", "category": "long"}
    return {"queries": [query | {"required_unit_ids": required, "answer_session_ids": []}], **rows}


def listing(rng: random.Random, passages: list[tuple[str, str]], embedding: int) -> Iterator[str]:
    """The pieces of a Letta archival listing."""
    for i, (passage_id, said) in enumerate(passages):
        time = (START + timedelta(minutes=13 * i)).isoformat()
        row = {"id": passage_id, "text": said, "created_at": time, "archive_id": "archive-1", "tags": []}
        yield ("[\n" if i == 0 else ",\n") + json.dumps(
            row | {"embedding": [rng.gauss(0, 1) for _ in range(embedding)]}
        )
    yield "\n]\n"


def edges(rng: random.Random, passages: list[tuple[str, str]], units: list[str], across: float) -> list[dict[str, Any]]:
    """What the passages cover: a third nothing, the others one to three units, in part or in full."""
    found = []
    for passage_id, _ in passages:
        first = UNITS_OF_A_GROUP * rng.randrange(len(units) // UNITS_OF_A_GROUP)
        own = units if rng.random() < across else units[first : first + UNITS_OF_A_GROUP]
        covered = rng.sample(own, rng.randint(1, UNITS_OF_A_GROUP)) if rng.random() < 2 / 3 else []
        found += [
            {"memory_id": passage_id, "unit_id": unit_id, "coverage": rng.choice((0.5, 1.0))} for unit_id in covered
        ]
    return found


def config(budgets: list[int]) -> dict[str, Any]:
    """One suite in words on both sides, its one store."""
    return {
        "suites": {
            "long": {
                "source": "coverage_package", "package": "package", "cost_models": ["words"], "budgets": budgets,
                "robustness": None, "node_limit": NODE_LIMIT,
            },
        },
        "stores": {
            "passages": {
                "suite": "long", "path": "store.json", "format": "letta", "view": "archival",
                "instance_id": EXAMPLE, "coverage": "coverage.jsonl", "salience": "salience.jsonl",
            },
        },
        "writers": {"opt": {"rule": "opt"}},
    }  # fmt: skip


if __name__ == "__main__":
    main()
