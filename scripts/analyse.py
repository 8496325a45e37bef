"""Rule analyse: the statistics of one suite from its scores, selections, solutions and checks."""

from pathlib import Path

from job import log_to
from memaudit.analysis import curves, summary
from memaudit.stage_io import stage_metadata
from memaudit.table_io import read_all, read_table, write_table

log_to(snakemake.log)
params, suite = snakemake.params, snakemake.wildcards.suite
bootstrap = dict(params.bootstrap)
packages = read_table(snakemake.input.packages, "packages")
solutions = read_all("solutions", snakemake.input.solutions)
checks = read_all("checks", snakemake.input.checks)
opt = read_all("curves", snakemake.input.curves)
frames = {
    "mean_curves": curves.mean_curves(opt, solutions),
    "curve_counts": curves.curve_counts(opt, read_all("curve_checks", snakemake.input.curve_checks), params.solvers),
    "status_counts": summary.status_counts(solutions, checks),
    "audit": summary.audit_table(solutions, checks),
}
if snakemake.input.scores:
    scores = read_all("scores", snakemake.input.scores)
    selections = read_all("selections", snakemake.input.selections)
    notes = summary.text_notes({suite: params.texts_ours}, params.text_writers)
    frames["summary"] = summary.summarise(scores, notes=notes, **bootstrap)
    frames["paired"] = summary.paired(scores, params.references, **bootstrap)
    frames["decomposition"] = summary.decomposition(scores)
    frames["representation_mix"] = summary.representation_mix(selections, scores)
    frames["learned"] = summary.learned_comparison(scores, packages, params.learned, notes=notes, **bootstrap)
metadata = stage_metadata(snakemake.input, params)
for path in snakemake.output:
    name = Path(path).stem
    write_table(path, name, frames.get(name, {}), metadata)
