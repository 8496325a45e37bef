"""Rule check: the same optima, and a sample of the curves, by an independent solver; a mismatch stops the run."""

from pathlib import Path

from job import log_to
from memaudit.check.certify import Problems, check_solutions, define, raise_on_mismatch
from memaudit.check.curves import Sample, check_curves, curve_faults, curves_of, mismatches, raise_on_faults, sampler
from memaudit.check.prover import Prover
from memaudit.check.rows import read_rows
from memaudit.stage_io import stage_metadata
from memaudit.table_io import expect, read_table, write_table

log_to(snakemake.log)
w, given, params = snakemake.wildcards, snakemake.input, snakemake.params
tables = {Path(f).stem: read_table(f, Path(f).stem) for f in given.packages}
point = {"suite": w.suite, "cost_model": w.cost_model, "k": int(w.k), "saturation": w.saturation}
solutions, selections, curves = (
    expect(read_table(given[kind], name), given[kind], **point)
    for kind, name in (("solutions", "solutions"), ("selections", "solution_selections"), ("curves", "curves"))
)
curves = curves_of(curves)
ids = {*solutions["package_id"].to_pylist(), *(curve.head["package_id"] for curve in curves)}
problems = Problems(read_rows(tables, ids), define(**params.problem))
solved = {}
checks = check_solutions(
    solutions, selections, {}, w.solver, **params.problem, limit=params.limit, solved=solved, problems=problems
)
raise_on_mismatch(checks)
raise_on_faults(curve_faults(curves, solutions.to_pylist(), problems))
draw = sampler(set(solutions["budget"].to_pylist()), Sample(**params.sample))
curve_checks = check_curves(curves, problems, Prover(w.solver, params.limit, solved), draw)
raise_on_faults(mismatches(curve_checks))
metadata = stage_metadata(given, params)
write_table(snakemake.output.checks, "checks", checks, metadata)
write_table(snakemake.output.curves, "curve_checks", curve_checks, metadata)
print(f"{len(checks)} distinct optima and {len(curve_checks)} points of curves checked by {w.solver}")
