"""Rule analyse_stores: means, diagnosis, comparison, anatomy and lost units of a suite's exported stores."""

from pathlib import Path

import pandas as pd

from job import log_to
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
from memaudit.schemas import STORE_TABLES
from memaudit.stage_io import stage_metadata
from memaudit.stores.labelled import LABELS
from memaudit.stores.tables_io import read_labelled
from memaudit.stores.unions import cost_function
from memaudit.table_io import concat, read_all, read_table, to_table, write_table

log_to(snakemake.log)
given, params, suite = snakemake.input, snakemake.params, snakemake.wildcards.suite
packages = read_table(given.packages, "packages", ["package_id"])["package_id"].to_pylist()
units = read_table(given.units, "units").to_pandas()
invalid = units[units["role"] == "invalidation"].groupby("package_id")["unit_id"].apply(list)
invalidation = {i: invalid.get(i, []) for i in packages}
parts = {name: [] for name in STORE_TABLES}
all_scores, all_declared = {}, {}
for store, how in params.stores.items():
    scores, losses, lost = (
        read_all(f"store_{kind}", [f for f in given[kind] if f"/stores/{store}/" in f]).to_pandas()
        for kind in ("scores", "losses", "lost_units")
    )
    folder = Path(next(f for f in given.stores if Path(f).parent.name == store)).parent
    stores = read_labelled(folder)
    without = len(set(packages) - set(stores))
    declared = Declared(**{key: how[key] for key in ("memory_cost", "skip_empty", "labels", "demonstration")})
    costs = {name: cost_function(definition) for name, definition in how["costs"].items()}
    budgets = {name: part["budget"].tolist() for name, part in scores.groupby("cost_model")}
    ingest = read_table(folder / "ingest.parquet", "ingest").to_pandas()
    verdicts, judge = None, pd.DataFrame()
    if declared.labels != LABELS:
        own = [f for f in given.verdicts if f"/stores/{store}/" in f]
        verdicts = read_all("store_verdicts", own).to_pandas()
        judge = read_table(folder / "store_judge.parquet", "store_judge").to_pandas().assign(suite=suite)
    told = diagnosis(losses, scores, declared, verdicts, **params.bootstrap)
    frames = {
        "store_summary": summarise(scores, declared, without, **params.bootstrap),
        "store_diagnosis": told,
        "store_ranges": first_to_change(told, scores),
        "store_anatomy": anatomy(suite, store, stores, ingest, costs, budgets, invalidation, declared.labels),
        "store_most_lost": most_lost(lost, sorted(set(scores["rule"]))),
        "store_units": covered_units(suite, store, stores, units, declared),
        "store_judges": judge,
    }
    for name, frame in frames.items():
        parts[name].append(to_table(name, frame))
    all_scores[store], all_declared[store] = scores, declared
side_by_side = compared(all_scores, {store: all_declared[store] for store in params.compared}, **params.bootstrap)
parts["store_compared"].append(to_table("store_compared", side_by_side))
parts["store_compared_ranges"].append(to_table("store_compared_ranges", compared_ranges(side_by_side)))
metadata = stage_metadata(given, params)
for path in snakemake.output:
    name = Path(path).stem
    write_table(path, name, concat(parts[name]), metadata)
