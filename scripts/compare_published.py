"""Rule published_comparison: every published figure beside the one produced."""

from pathlib import Path

import pandas as pd

from job import log_to
from memaudit.analysis.published import compare
from memaudit.analysis.published_natural import natural_values
from memaudit.present.tables import published_document
from memaudit.present.tables_io import to_markdown
from memaudit.stage_io import stage_metadata
from memaudit.table_io import concat, read_table, write_csv, write_table, write_text

log_to(snakemake.log)
parquet, csv, markdown = snakemake.output
suites = {}
for file in snakemake.input.natural:  # .../analysis/{suite}/{name}.parquet
    suites.setdefault(Path(file).parent.name, {})[Path(file).stem] = read_table(file, Path(file).stem).to_pandas()
values, note = natural_values(suites)
rows = compare(
    pd.read_csv(snakemake.input.published),
    read_table(snakemake.input.summary, "summary").to_pandas(),
    concat(read_table(f, "audit") for f in snakemake.input.audit).to_pandas(),
    values,
)
columns = {name: rows[name].astype(object).where(rows[name].notna(), None).tolist() for name in rows}
write_table(parquet, "published_comparison", columns, stage_metadata(snakemake.input, snakemake.params))
write_csv(csv, read_table(parquet, "published_comparison"))
write_text(markdown, to_markdown(published_document(rows, note)))
print(rows["status"].str.split().str[0].value_counts().to_string())
