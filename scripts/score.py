"""Rule score: what each writer of a bundle keeps of a shard of packages at each budget, and its worth."""

from pathlib import Path

import pyarrow.compute as pc

from job import log_to
from memaudit.analysis.scores import Scorer
from memaudit.budgets import amounts, mean_total_cost
from memaudit.package_io import read_packages
from memaudit.pools import BUILT_IN as POOLS
from memaudit.problem import read_pool, read_problem
from memaudit.run_info import make_writer
from memaudit.solve.results import merged_status, optimum_of, selected_ids
from memaudit.solve.stage import in_shard, instances_of, recost
from memaudit.stage_io import stage_metadata
from memaudit.table_io import concat, expect, read_table, to_table, write_table
from memaudit.writers import rules  # noqa: F401  (registers them)
from memaudit.writers.stage import kept

log_to(snakemake.log)
w, params = snakemake.wildcards, snakemake.params
setting = read_problem(params.setting)
saturation = setting.saturations[w.saturation]
packages = recost(
    read_packages(Path(snakemake.input.packages[0]).parent), w.cost_model, setting.cost_parameters[w.cost_model]
)
budgets = amounts(params.budgets, mean_total_cost(packages))
shard = [p for p in packages if in_shard(p, int(w.shard), params.shards)]
point = {"suite": w.suite, "cost_model": w.cost_model, "k": int(w.k), "saturation": w.saturation}


def read(name, files):
    return concat(expect(read_table(f, name), f, **point) for f in files)


solutions = merged_status(read("solutions", snakemake.input.solutions), read("checks", snakemake.input.checks))
selected = read("solution_selections", snakemake.input.selections)
of_budget = {b: solutions.filter(pc.equal(solutions["budget"], b)) for b in budgets}
optima = {b: selected_ids(selected.filter(pc.equal(selected["budget"], b))) for b in budgets}
writers = [make_writer(name, part) for name, part in params.writers.items()]
pools = {part["pool"]: read_pool(part["pool"], part["pool_definition"]) for part in params.writers.values()}

scorers = {}
scores, selections = [], []
for writer, budget, scored, chosen in kept(
    writers, shard, packages, pools=pools, saturation=saturation, k=int(w.k), optima=optima
):
    key = len(scored)  # all packages, or those held out for learned writers
    if key not in scorers:
        scorers[key] = Scorer(scored, instances_of(scored, POOLS["full"], saturation))
    rows, memories = scorers[key].rows(
        chosen,
        writer=writer.name,
        pool=writer.pool,
        cost_model=w.cost_model,
        k=int(w.k),
        saturation=w.saturation,
        budget_spec=budgets[budget],
        budget=budget,
        opt=optimum_of(of_budget[budget], "full"),
    )
    scores.append(to_table("scores", rows))
    selections.append(to_table("selections", memories))
metadata = stage_metadata(snakemake.input, params)
write_table(snakemake.output.scores, "scores", concat(scores), metadata)
write_table(snakemake.output.selections, "selections", concat(selections), metadata)
print(f"{len(writers)} writers on {len(shard)} packages at {len(budgets)} budgets")
