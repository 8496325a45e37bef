"""Rule summary: the summaries of all suites in one table, as Parquet and CSV."""

from job import log_to
from memaudit.stage_io import stage_metadata
from memaudit.table_io import concat, read_table, write_csv, write_table

log_to(snakemake.log)
table = concat(read_table(f, "summary") for f in snakemake.input)
write_table(snakemake.output.parquet, "summary", table, stage_metadata(snakemake.input, snakemake.params))
write_csv(snakemake.output.csv, read_table(snakemake.output.parquet, "summary"))
