"""Rule check: the same optima by an independent solver; a mismatch stops the run."""

from pathlib import Path

from job import log_to
from memaudit.check.certify import check_solutions, raise_on_mismatch
from memaudit.stage_io import stage_metadata
from memaudit.table_io import expect, read_table, write_table

log_to(snakemake.log)
w, problem = snakemake.wildcards, snakemake.params.problem
tables = {Path(f).stem: read_table(f, Path(f).stem) for f in snakemake.input.packages}
point = {"suite": w.suite, "cost_model": w.cost_model, "k": int(w.k), "saturation": w.saturation}
solutions, selections = snakemake.input.solutions, snakemake.input.selections
checks = check_solutions(
    expect(read_table(solutions, "solutions"), solutions, **point, budget_spec=w.spec),
    expect(read_table(selections, "solution_selections"), selections, **point),
    tables,
    w.solver,
    problem["pools"],
    problem["saturations"],
    problem["cost_models"],
)
raise_on_mismatch(checks)
write_table(snakemake.output[0], "checks", checks, stage_metadata(snakemake.input, snakemake.params))
print(f"{len(checks)} distinct optima checked by {w.solver}")
