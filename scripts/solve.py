"""Rule solve: exact optima of a shard of packages at every declared budget, and their curves."""

import json
from pathlib import Path

from job import log_to
from memaudit.budgets import absolute, amounts, mean_total_cost
from memaudit.package_io import read_packages
from memaudit.problem import read_problem
from memaudit.solve.stage import in_shard, recost, solve_packages
from memaudit.stage_io import stage_metadata
from memaudit.table_io import write_table

log_to(snakemake.log)
w, params = snakemake.wildcards, snakemake.params
problem = read_problem(params.problem)


def recosted(files):
    return recost(read_packages(Path(files[0]).parent), w.cost_model, problem.cost_parameters[w.cost_model])


packages = recosted(snakemake.input.packages)
# A union's budgets are those of the suite that it is of.
base = snakemake.input.get("base")
mean = mean_total_cost(recosted(base) if base else packages)
shard = [p for p in packages if in_shard(p, int(w.shard), params.shards)]
ends = None
if params.curve:
    end = params.curve["max_budget"]
    ends = [p.total_cost if end is None else absolute(end, mean) for p in shard]
solved = solve_packages(
    shard,
    list(problem.pools.values()),
    cost_model=w.cost_model,
    k=int(w.k),
    saturation=problem.saturations[w.saturation],
    budgets=amounts(params.budgets, mean),
    node_limit=params.node_limit,
    ends=ends,
)
metadata = {**stage_metadata(snakemake.input, params), "problem": json.dumps(params.problem, sort_keys=True)}
write_table(snakemake.output.solutions, "solutions", solved.solutions, metadata)
write_table(snakemake.output.selections, "solution_selections", solved.selections, metadata)
write_table(snakemake.output.curves, "curves", solved.curves, metadata)
