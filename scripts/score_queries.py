"""Rule query_scores: what each writer keeps of what each query of a natural suite requires."""

from pathlib import Path

from job import log_to
from memaudit.analysis.queries import query_scores
from memaudit.package_io import read_packages
from memaudit.stage_io import stage_metadata
from memaudit.table_io import read_all, write_table

log_to(snakemake.log)
given = snakemake.input
scores, selections = (read_all(n, given[n]).to_pandas() for n in ("scores", "selections"))
rows = query_scores(read_packages(Path(given.packages[0]).parent), scores, selections)
write_table(snakemake.output[0], "query_scores", rows, stage_metadata(given, snakemake.params))
print(f"{len(rows)} rows")
