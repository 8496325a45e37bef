"""Rule construction: how a natural suite was built, in counts."""

from pathlib import Path

from job import log_to
from memaudit.analysis.construction import construction
from memaudit.stage_io import stage_metadata
from memaudit.table_io import read_table, write_table

log_to(snakemake.log)
tables = {Path(f).stem: read_table(f, Path(f).stem).to_pandas() for f in snakemake.input}
counts = construction(snakemake.wildcards.suite, tables)
write_table(snakemake.output[0], "construction", counts, stage_metadata(snakemake.input, snakemake.params))
