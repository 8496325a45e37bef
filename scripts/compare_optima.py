"""Rule sensitivity: a natural suite's optima under other k, costs and pools."""

from job import log_to
from memaudit.analysis.sensitivity import sensitivity
from memaudit.stage_io import stage_metadata
from memaudit.table_io import concat, read_table, write_table

log_to(snakemake.log)
given, params, suite = snakemake.input, snakemake.params, snakemake.wildcards.suite
solutions = concat(read_table(f, "solutions") for f in given.solutions).to_pandas()
# Of specs that come to one absolute budget under the reference costs the first stands for all.
budgets = read_table(given.budgets, "budgets").to_pandas()
first = budgets[(budgets["cost_model"] == params.cost_models[0]) & (budgets["budget_spec"] == budgets["merged_into"])]
solutions = solutions[solutions["budget_spec"].isin(first["budget_spec"])]
rows = sensitivity(suite, solutions, params.cost_models, **params.bootstrap)
write_table(snakemake.output[0], "sensitivity", rows, stage_metadata(given, params))
