"""Frames of exported stores for tests of tables and figures: an invented store, scored, under several names."""

from __future__ import annotations

from dataclasses import asdict

import pandas as pd
from store_cases import PACKAGE, STORE, UNITS, judged_case, score, words

from memaudit.analysis.store_compared import compared, compared_ranges
from memaudit.analysis.store_summary import (
    Declared,
    anatomy,
    covered_units,
    diagnosis,
    first_to_change,
    most_lost,
    summarise,
)
from memaudit.analysis.store_verdicts import verdict_rows
from memaudit.objective import CAP1
from memaudit.present.results import Setting, StoreInfo
from memaudit.schemas import STORE_TABLES, TABLES
from memaudit.stores.judge_io import judge_named
from memaudit.stores.judge_record import judge_rows

NONE = pd.DataFrame(columns=["instance_id", "what", "name", "count", "detail"])
UNIT_ROWS = pd.DataFrame([{"package_id": "q", **asdict(unit)} for unit in UNITS])
STORES = (StoreInfo("zeta"), StoreInfo("alpha-scripted", demonstration=True), StoreInfo("judged", judge="proxy"))
COMPARED = ("zeta", "judged")


def frames(
    suite: str,
    stores: tuple[StoreInfo, ...] = STORES,
    settings: tuple[Setting, ...] = (Setting("words"),),
    budgets: tuple[int, ...] = (8, 4),
) -> dict[str, pd.DataFrame]:
    """Every frame of STORE_TABLES, the same numbers in each setting; under declared costs memories cost words."""
    made = score(PACKAGE, STORE, budgets)
    case, judged = judged_case()
    parts = {name: [] for name in STORE_TABLES}
    joint, described = {store.name: [] for store in stores}, {}
    for store in stores:
        declared = Declared("words", labels=store.judge or "labels", demonstration=store.demonstration)
        described[store.name] = declared
        for setting in settings:
            own = {"store": store.name, "suite": suite, "cost_model": setting.cost_model, "k": setting.k}
            scores, losses, lost = (f.assign(**own) for f in (made.scores, made.losses, made.lost))
            joint[store.name].append(scores.assign(joint_status="optimal", joint_ratio=scores["union_ratio"]))
            parts["store_summary"].append(summarise(scores, declared, 2, resamples=10))
            verdicts = None
            if store.judge:
                constants = own | {"saturation": setting.saturation}
                verdicts = verdict_rows(
                    [case], judged, losses, made.selections, constants, CAP1, k=1, draws=20
                ).verdicts
            parts["store_diagnosis"].append(diagnosis(losses, scores, declared, verdicts))
            parts["store_ranges"].append(first_to_change(parts["store_diagnosis"][-1], scores))
            parts["store_most_lost"].append(most_lost(lost.assign(labels=declared.labels), ["recency"]))
        costs = {setting.cost_model: words for setting in settings}
        of_costs = dict.fromkeys(costs, budgets)
        parts["store_anatomy"].append(
            anatomy(suite, store.name, {"q": STORE}, NONE, costs, of_costs, {"q": []}, declared.labels)
        )
        parts["store_units"].append(covered_units(suite, store.name, {"q": STORE}, UNIT_ROWS, declared))
        if store.judge:
            rows = pd.DataFrame(judge_rows(judge_named(store.judge)))
            parts["store_judges"].append(rows.assign(suite=suite, store=store.name))
    together = {name: pd.concat(joint[name]) for name in COMPARED if name in joint}
    parts["store_compared"].append(compared(together, {name: described[name] for name in together}, resamples=10))
    parts["store_compared_ranges"].append(compared_ranges(parts["store_compared"][0]))
    filled = {name: [part for part in own if len(part)] for name, own in parts.items()}
    return {
        name: pd.concat(own, ignore_index=True) if own else pd.DataFrame(columns=TABLES[name].schema.names)
        for name, own in filled.items()
    }
