"""Rule label_agreement: label sources of a natural suite against each other, cell by cell."""

from pathlib import Path

import pandas as pd

from job import log_to
from memaudit.analysis.agreement import agreement, disagreements, frames_of
from memaudit.labels_io import read_sources
from memaudit.package_io import read_packages
from memaudit.stage_io import stage_metadata
from memaudit.table_io import write_table

log_to(snakemake.log)
given, params, suite = snakemake.input, snakemake.params, snakemake.wildcards.suite
packages = read_packages(Path(given.packages[0]).parent)
sources = read_sources(packages, given.labels, given.audit, [Path(f).parent for f in given.others], params.grid)
frames = frames_of(packages, sources)
tables = {
    "agreement": [agreement(suite, *frame, **params.bootstrap) for frame in frames],
    "disagreements": [disagreements(suite, *frame) for frame in frames],
}
metadata = stage_metadata(given, params)
for path in snakemake.output:
    name = Path(path).stem
    write_table(path, name, pd.concat(tables[name]) if frames else {}, metadata)
cells = ", ".join(f"{len(frame)} cells {kind}" for frame, kind, _ in frames)
print(f"label sources: {', '.join(s.name for s in sources)}; {cells}")
