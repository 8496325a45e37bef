"""A natural suite with every natural table, computed on random invented packages; labels are random too."""

from __future__ import annotations

from functools import cache

import natural_cases as cases
import numpy as np
import pandas as pd
import store_frames

from memaudit.analysis import agreement as ag
from memaudit.analysis import label_ratios as lr
from memaudit.analysis import robustness as rb
from memaudit.analysis.construction import construction
from memaudit.analysis.downstream import downstream, parse_answers
from memaudit.analysis.queries import by_category, query_scores
from memaudit.analysis.relabel import kept_of
from memaudit.analysis.sensitivity import sensitivity
from memaudit.objective import CAP1
from memaudit.package_io import package_tables
from memaudit.present.results import Setting, SuiteInfo, WriterInfo
from memaudit.schemas import NATURAL_TABLES, STORE_TABLES

NAME = "talk"
BUDGETS = (4, 6, 9)
PACKAGES = 24
CATEGORIES = ("knowledge-update", "temporal-reasoning", "single-session-preference")
RULES = {
    "oracle_gvt": cases.first_facts,
    "recency_raw": cases.last_raw,
    "mem0_extract": lambda p, budget: cases.first_facts(p, budget // 2),
    "estimated_gvt": lambda p, budget: [i for i in cases.first_facts(p, budget) if i > 0],
}


def suite() -> SuiteInfo:
    writers = tuple(
        WriterInfo(name, name, "full", "coverage" if name == "oracle_gvt" else "metadata") for name in RULES
    )
    settings = (Setting(), Setting("words"), Setting("declared", 2), Setting("words", 2))
    types = ("knowledge-update",)
    tables = (*NATURAL_TABLES, *STORE_TABLES)
    return SuiteInfo(
        NAME,
        writers,
        types,
        len(BUDGETS),
        "coverage_package",
        (),
        settings,
        tables,
        stores=store_frames.STORES,
        compared=store_frames.COMPARED,
    )


@cache
def packages():
    random = np.random.default_rng(5)
    made = []
    for i in range(PACKAGES):
        cells = {(c, u): 1.0 if random.random() < 0.7 else 0.5 for c in range(6) for u in range(4)}
        kept = {cell: value for cell, value in cells.items() if random.random() < 0.35}
        made.append(cases.package(f"q{i:02d}", kept, kind=CATEGORIES[i % 3]))
    return made


@cache
def frames() -> dict[str, pd.DataFrame]:
    """Every natural frame but query_scores."""
    own = packages()
    scores, selections = cases.scored(own, BUDGETS, RULES)
    sources = [ag.package_source(own, "gemini"), _labeller("human_a", 0.1, own), _labeller("human_b", 0.15, own)]
    frame, kind = ag.frame_of(own, sources)
    kept = kept_of(own, scores, selections)
    exact = {"saturation": CAP1, "k": 1, "node_limit": 10**5}
    pairs = {f"{a} = {b}": lr.under_labels(own, kept, labels, **exact)
             for (a, b), labels in {("human_a", "human_b"): ag.agreed_labels(frame, *sources[1:])}.items()}  # fmt: skip
    noise = rb.Noise([0.05, 0.1, 0.2], 4)
    blind = [name for name in RULES if name != "oracle_gvt"]
    noisy = rb.robustness(own, kept, noise, suite=NAME, setting=cases.SETTING, saturation=CAP1, blind=blind)
    queries = query_scores(own, scores, selections)
    tables = package_tables(
        own, suite=NAME, label_source="gemini",
        unscored=[{"source_id": "q99", "category": "knowledge-update", "reason": "no candidate"}],
        warnings=[{"source_id": "q01", "kind": "duplicate_pair", "detail": "kept the largest"}],
    )  # fmt: skip
    answers = pd.DataFrame([
        {"query_id": p.package_id, "system": system, "correct": int((i * 7 + len(system)) % 5 > 1)}
        for i, p in enumerate(own)
        for system in ("oracle_gvt", "another system")
    ])  # fmt: skip
    return {
        "construction": construction(NAME, {name: table.to_pandas() for name, table in tables.items()}),
        "agreement": ag.agreement(NAME, frame, kind, sources, resamples=50),
        "disagreements": ag.disagreements(NAME, frame, kind, sources),
        "label_ratios": pd.concat(lr.label_ratios(NAME, n, lr.AGREED, cases.SETTING, p) for n, p in pairs.items()),
        "relabelled": pd.concat(
            lr.relabelled(NAME, n, lr.AGREED, cases.SETTING, p, resamples=50) for n, p in pairs.items()
        ),
        "sensitivity": sensitivity(NAME, _solutions(own), ["declared", "words"], resamples=50),
        "robustness": noisy[0],
        "robustness_writers": noisy[1],
        "categories": by_category(queries, scores, resamples=50),
        "downstream": downstream(
            NAME,
            queries,
            parse_answers(answers, "a"),
            {"another system": "mem0_extract"},
            "answers.csv",
            setting=cases.SETTING,
            resamples=50,
        ),
    }


def _labeller(name: str, error: float, own) -> ag.Source:
    """Labels of the drawn frame, each wrong with probability `error`."""
    frame = ag.draw_frame(own)
    random = np.random.default_rng(len(name) + int(100 * error))
    right = ag.binary(ag.package_source(own).on(frame))
    labels = np.where(random.random(len(frame)) < error, 1 - right, right)
    cells = frame[["package_id", "candidate_id", "unit_id"]].itertuples(index=False, name=None)
    return ag.Source(name, dict(zip(cells, labels.astype(float).tolist(), strict=True)))


def _solutions(own) -> pd.DataFrame:
    parts = []
    for budget in BUDGETS:
        for k in (1, 2):
            parts.append(cases.solved(own, budget, pools=("full", "atomic_fact"), k=k))
            parts.append(cases.solved(own, budget + 1, k=k, cost_model="words", spec=str(budget)))
    return pd.concat(pd.DataFrame(part) for part in parts)
