"""Rule categories: results of a natural suite by category of query."""

from job import log_to
from memaudit.analysis.queries import by_category
from memaudit.stage_io import stage_metadata
from memaudit.table_io import read_all, read_table, write_table

log_to(snakemake.log)
given, params = snakemake.input, snakemake.params
queries = read_table(given.queries, "query_scores").to_pandas()
rows = by_category(queries, read_all("scores", given.scores).to_pandas(), **params.bootstrap)
write_table(snakemake.output[0], "categories", rows, stage_metadata(given, params))
