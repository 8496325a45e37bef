"""Frames of exported stores for tests of tables and figures: an invented store, scored, under several names."""

from __future__ import annotations

import pandas as pd
from store_cases import PACKAGE, STORE, score, words

from memaudit.analysis.store_summary import Declared, anatomy, diagnosis, most_lost, summarise
from memaudit.present.results import Setting, StoreInfo
from memaudit.schemas import STORE_TABLES

NONE = pd.DataFrame(columns=["what", "name", "count", "detail"])
STORES = (StoreInfo("zeta"), StoreInfo("alpha-scripted", demonstration=True), StoreInfo("judged", judge="proxy"))


def frames(
    suite: str,
    stores: tuple[StoreInfo, ...] = STORES,
    settings: tuple[Setting, ...] = (Setting("words"),),
    budgets: tuple[int, ...] = (8, 4),
) -> dict[str, pd.DataFrame]:
    """Every frame of STORE_TABLES, the same numbers in each setting; under declared costs memories cost words."""
    made = score(PACKAGE, STORE, budgets)
    parts = {name: [] for name in STORE_TABLES}
    for store in stores:
        declared = Declared("words", labels=store.judge or "labels", demonstration=store.demonstration)
        for setting in settings:
            own = {"store": store.name, "suite": suite, "cost_model": setting.cost_model, "k": setting.k}
            scores, losses, lost = (f.assign(**own) for f in (made.scores, made.losses, made.lost))
            parts["store_summary"].append(summarise(scores, declared, 2, resamples=10))
            parts["store_diagnosis"].append(diagnosis(losses, scores, declared))
            parts["store_most_lost"].append(most_lost(lost, ["recency"]))
        costs = {setting.cost_model: words for setting in settings}
        of_costs = dict.fromkeys(costs, budgets)
        parts["store_anatomy"].append(anatomy(suite, store.name, {"q": STORE}, NONE, costs, of_costs, {"q": []}))
    return {name: pd.concat(own, ignore_index=True) for name, own in parts.items()}
