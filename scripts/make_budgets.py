"""Rule budgets: what each budget of a suite comes to, per cost model."""

from pathlib import Path

from job import log_to
from memaudit.budgets import budget_rows, mean_total_cost
from memaudit.package_io import read_packages
from memaudit.solve.stage import recost
from memaudit.stage_io import stage_metadata
from memaudit.table_io import concat, to_table, write_table

log_to(snakemake.log)
packages = read_packages(Path(snakemake.input[0]).parent)
tables = [
    to_table(
        "budgets",
        budget_rows(
            snakemake.wildcards.suite, name, snakemake.params.specs, mean_total_cost(recost(packages, name, parameters))
        ),
    )
    for name, parameters in snakemake.params.cost_models.items()
]
write_table(snakemake.output[0], "budgets", concat(tables), stage_metadata(snakemake.input, snakemake.params))
