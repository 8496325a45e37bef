"""Published values of exported stores, out of invented frames under the paper's names."""

import pytest
from test_published_natural import PUBLISHED, construction, frame

from memaudit.analysis.published import compare
from memaudit.analysis.published_natural import natural_values
from memaudit.analysis.published_stores import store_values
from memaudit.schemas import AUDIT, STORE_ANATOMY, STORE_SUMMARY, SUMMARY

ROW = {
    "store": "mem0", "view": "", "rule": "salience", "cost_model": "declared", "memory_cost": "words", "k": 1,
    "saturation": "cap1", "budget": 100, "without_n": 0, "union_unproven_n": 0, "package_unproven_n": 0,
    "labels": "labels", "demonstration": False, "mean_value": 0.655, "package_ratio": 0.489, "union_ratio": 0.427,
}  # fmt: skip


def frames(*rows, form="written_stores"):
    stores = sorted({row["store"] for row in rows})
    anatomy = [{"store": s, "what": "format", "name": form, "value": 1.0} for s in stores]
    return {"store_summary": frame(STORE_SUMMARY.schema, *rows), "store_anatomy": frame(STORE_ANATOMY.schema, *anatomy)}


def values(*rows, **more):
    return {(item, method, metric): value for item, _, _, method, metric, value in store_values(frames(*rows, **more))}


def test_values_go_to_the_items_of_the_paper():
    assert values(ROW) == {
        ("fig:systems", "mem0:salience", "mean_union_ratio"): 0.427,
        ("tab:external-denominators", "mem0:salience", "mean_value"): 0.655,
        ("tab:external-denominators", "mem0:salience", "mean_ratio"): 0.489,
        ("tab:external-denominators", "mem0:salience", "mean_union_ratio"): 0.427,
    }
    other = ROW | {"cost_model": "byte_overhead", "memory_cost": "byte_overhead", "package_ratio": 0.442}
    assert values(other) == {("tab:sensitivity-systems", "mem0:salience@byte_overhead", "mean_ratio"): 0.442}
    amem = ROW | {"store": "amem", "view": "full", "rule": "native_order"}
    assert ("fig:systems", "amem_full:native", "mean_union_ratio") in values(amem)


@pytest.mark.parametrize(
    "change",
    [
        {"store": "mine"}, {"k": 2}, {"saturation": "linear"}, {"memory_cost": "bytes"}, {"without_n": 1},
        {"union_unproven_n": 1}, {"demonstration": True}, {"store": "letta", "cost_model": "words"},
    ],
    ids=str,
)  # fmt: skip
def test_other_stores_and_settings_give_none(change):
    assert values(ROW | change) == {}


def test_other_formats_give_none():
    assert values(ROW, form="mem0") == {}


def test_the_comparison_takes_them_for_the_paper_s_package():
    given = {"construction": construction(87, disputed=13), "summary": frame(SUMMARY.schema), **frames(ROW)}
    natural, note = natural_values({"paper": given})
    assert note == ""
    compared = compare(PUBLISHED, frame(SUMMARY.schema), frame(AUDIT.schema), natural)
    mem0 = compared[compared["method"].eq("mem0:salience") & compared["budget"].eq(100)]
    assert set(mem0["status"]) == {"reproduced"} and len(mem0) == 3
    others = compared[compared["method"].str.startswith("letta")]
    assert others["status"].str.contains("needs .* Letta export", regex=True).all()
