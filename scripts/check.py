"""Rule check: the same optima by an independent solver; a mismatch stops the run."""

from pathlib import Path

from job import log_to
from memaudit.check.certify import check_solutions, raise_on_mismatch
from memaudit.stage_io import stage_metadata
from memaudit.table_io import read_table, write_table

log_to(snakemake.log)
problem = snakemake.params.problem
tables = {Path(f).stem: read_table(f, Path(f).stem) for f in snakemake.input.packages}
checks = check_solutions(
    read_table(snakemake.input.solutions, "solutions"),
    read_table(snakemake.input.selections, "solution_selections"),
    tables,
    snakemake.wildcards.solver,
    problem["pools"],
    problem["saturations"],
    problem["cost_models"],
)
raise_on_mismatch(checks)
write_table(snakemake.output[0], "checks", checks, stage_metadata(snakemake.input, snakemake.params))
print(f"{len(checks)} distinct optima checked by {snakemake.wildcards.solver}")
