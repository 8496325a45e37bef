"""Rule sensitivity: a natural suite's optima under other k, costs and pools."""

from job import log_to
from memaudit.analysis.sensitivity import sensitivity
from memaudit.stage_io import stage_metadata
from memaudit.table_io import read_all, read_table, write_table

log_to(snakemake.log)
given, params, suite = snakemake.input, snakemake.params, snakemake.wildcards.suite
solutions = read_all("solutions", given.solutions).to_pandas()
budgets = read_table(given.budgets, "budgets").to_pandas()
# Of specs that come to one absolute budget under the reference costs the first stands for all; under others each of
# these specs may come to an amount that is solved under another's name.
first = budgets[(budgets["cost_model"] == params.cost_models[0]) & (budgets["budget_spec"] == budgets["merged_into"])]
specs = budgets[budgets["budget_spec"].isin(first["budget_spec"])][["cost_model", "budget", "budget_spec"]]
solutions = solutions.drop(columns="budget_spec").merge(specs, on=["cost_model", "budget"])
rows = sensitivity(suite, solutions, params.cost_models, **params.bootstrap)
write_table(snakemake.output[0], "sensitivity", rows, stage_metadata(given, params))
