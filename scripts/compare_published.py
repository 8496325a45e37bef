"""Rule published_comparison: every published figure beside the one produced."""

import pandas as pd

from job import log_to
from memaudit.analysis.published import compare
from memaudit.present.tables import published_document
from memaudit.present.tables_io import to_markdown
from memaudit.stage_io import stage_metadata
from memaudit.table_io import concat, read_table, write_csv, write_table, write_text

log_to(snakemake.log)
parquet, csv, markdown = snakemake.output
rows = compare(
    pd.read_csv(snakemake.input.published),
    read_table(snakemake.input.summary, "summary").to_pandas(),
    concat(read_table(f, "audit") for f in snakemake.input.audit).to_pandas(),
)
columns = {name: rows[name].astype(object).where(rows[name].notna(), None).tolist() for name in rows}
write_table(parquet, "published_comparison", columns, stage_metadata(snakemake.input, snakemake.params))
write_csv(csv, read_table(parquet, "published_comparison"))
write_text(markdown, to_markdown(published_document(rows)))
print(rows["status"].str.split().str[0].value_counts().to_string())
