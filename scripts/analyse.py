"""Rule analyse: the statistics of one suite from its scores, selections, solutions and checks."""

from pathlib import Path

import pyarrow as pa

from job import log_to
from memaudit.analysis import summary
from memaudit.stage_io import stage_metadata
from memaudit.table_io import concat, read_table, write_table

log_to(snakemake.log)
params, suite = snakemake.params, snakemake.wildcards.suite


def all_rows(name, files):
    """Rows of every file, one spec per absolute budget (protocol: duplicates after conversion are merged)."""
    budgets = read_table(snakemake.input.budgets, "budgets").to_pandas()
    merged = budgets[budgets["budget_spec"] != budgets["merged_into"]]
    doubled = set(zip(merged["cost_model"], merged["budget_spec"], strict=True))
    # .../{cost_model}/k{k}.{saturation}/{spec}/{file}
    keep = [f for f in files if (Path(f).parts[-4], Path(f).parts[-2]) not in doubled]
    return concat(read_table(f, name) for f in keep)


bootstrap = dict(params.bootstrap)
packages = read_table(snakemake.input.packages, "packages")
solutions = all_rows("solutions", snakemake.input.solutions)
checks = all_rows("checks", snakemake.input.checks)
frames = {
    "status_counts": summary.status_counts(solutions, checks),
    "audit": summary.audit_table(solutions, checks),
}
if snakemake.input.scores:
    scores = all_rows("scores", snakemake.input.scores)
    selections = all_rows("selections", snakemake.input.selections)
    notes = summary.text_notes({suite: params.texts_ours}, params.text_writers)
    frames["summary"] = summary.summarise(scores, notes=notes, **bootstrap)
    frames["paired"] = summary.paired(scores, params.references, **bootstrap)
    frames["decomposition"] = summary.decomposition(scores)
    frames["representation_mix"] = summary.representation_mix(selections, scores)
    frames["learned"] = summary.learned_comparison(scores, packages, params.learned, notes=notes, **bootstrap)
metadata = stage_metadata(snakemake.input, params)
for path in snakemake.output:
    name = Path(path).stem
    frame = frames.get(name)
    columns = {} if frame is None else {c: pa.array(frame[c], from_pandas=True) for c in frame}
    write_table(path, name, columns, metadata)
