"""Rule store_verdicts: how sure the largest loss of a store is whose coverage a judge said."""

from pathlib import Path

from job import log_to
from memaudit.analysis.store_scores import case
from memaudit.analysis.store_verdicts import verdict_rows
from memaudit.package_io import read_packages
from memaudit.problem import read_problem
from memaudit.solve.stage import recost
from memaudit.stage_io import stage_metadata
from memaudit.stores.tables_io import read_judged, read_labelled
from memaudit.stores.unions import cost_function
from memaudit.table_io import read_table, write_table

log_to(snakemake.log)
w, params, given = snakemake.wildcards, snakemake.params, snakemake.input
problem = read_problem(params.setting)
point = {"cost_model": w.cost_model, "k": int(w.k), "saturation": w.saturation}


def recosted(files):
    packages = read_packages(Path(files[0]).parent)
    return recost(packages, w.cost_model, problem.cost_parameters[w.cost_model])


folder = Path(given.stores[0]).parent
stores = read_labelled(folder)
judged = read_judged(folder, stores)
by_id, cost = {p.package_id: p for p in recosted(given.packages)}, cost_function(params.memory_cost)
cases = [case(u, by_id[u.package_id], stores[u.package_id], cost) for u in recosted(given.unions)]
cases = [c for c in cases if c.store.memories or not params.skip_empty]
losses, selections = (
    read_table(path, table).to_pandas()
    for path, table in ((given.losses, "store_losses"), (given.selections, "store_selections"))
)
made = verdict_rows(
    cases,
    judged,
    losses,
    selections,
    {"suite": params.suite, "store": w.store, **point},
    problem.saturations[w.saturation],
    k=point["k"],
    draws=params.draws,
    seed=params.seed,
)
metadata = stage_metadata(given, params)
write_table(snakemake.output.verdicts, "store_verdicts", made.verdicts, metadata)
write_table(snakemake.output.draws, "store_draws", made.draws, metadata)
print(f"{len(made.verdicts)} verdicts over {len(cases)} examples")
