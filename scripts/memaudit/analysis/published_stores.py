"""The published values of exported stores, out of the stores of the suite that is declared as the paper's package.

A store is believed by its format, the paper's written_stores, and told by its name: mem0 and letta as a whole, amem
by its views (read with view `both`: in one union, as in the paper). The paper prices packages as declared and
memories by words; under `words` and `byte_overhead` both sides cost the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pandas as pd

from ..stores.labelled import LABELS

FORMAT = "written_stores"
DISTRIBUTION = "natural87"
# (store, view) -> the paper's name of it.
SYSTEMS = {
    ("mem0", ""): "mem0",
    ("letta", ""): "letta",
    ("amem", "metadata"): "amem_metadata",
    ("amem", "full"): "amem_full",
}
# Rules that the paper calls otherwise.
_RULES = {"native_order": "native"}
_MIXED = ("declared", "words")
_SAME = ("words", "byte_overhead")
# In Letta's sensitivity row the paper merged the labels of all scopes (a note in published.csv); no store here does.
_MERGED = ("letta",)


def store_values(frames: Mapping[str, pd.DataFrame]) -> Iterator[tuple]:
    """(item, distribution, budget, method, metric, produced) of the frames store_summary and store_anatomy.

    Rows with an optimum that is not proven, stores that lack an example, stores that a judge labelled, and
    demonstrations give none.
    """
    formats = frames["store_anatomy"].query("what == 'format'").groupby("store")["name"].agg(set)
    for r in frames["store_summary"].itertuples():
        system = SYSTEMS.get((r.store, r.view))
        whole = r.union_unproven_n == r.package_unproven_n == r.without_n == 0 and not r.demonstration
        whole = whole and r.labels == LABELS
        if system is None or formats.get(r.store) != {FORMAT} or (r.k, r.saturation) != (1, "cap1") or not whole:
            continue
        method = f"{system}:{_RULES.get(r.rule, r.rule)}"
        if (r.cost_model, r.memory_cost) == _MIXED:
            yield "fig:systems", DISTRIBUTION, r.budget, method, "mean_union_ratio", r.union_ratio
            for metric, value in (
                ("mean_value", r.mean_value),
                ("mean_ratio", r.package_ratio),
                ("mean_union_ratio", r.union_ratio),
            ):
                yield "tab:external-denominators", DISTRIBUTION, r.budget, method, metric, value
        elif r.cost_model in _SAME and system not in _MERGED:
            named = f"{method}@{r.cost_model}"
            yield "tab:sensitivity-systems", DISTRIBUTION, r.budget, named, "mean_ratio", r.package_ratio
