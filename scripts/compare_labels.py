"""Rule label_agreement: label sources of a natural suite against each other, cell by cell."""

from pathlib import Path

from job import log_to
from memaudit.analysis.agreement import agreement, disagreements, frame_of
from memaudit.labels_io import read_sources
from memaudit.package_io import read_packages
from memaudit.stage_io import stage_metadata
from memaudit.table_io import write_table

log_to(snakemake.log)
given, params, suite = snakemake.input, snakemake.params, snakemake.wildcards.suite
packages = read_packages(Path(given.packages[0]).parent)
sources = read_sources(packages, given.labels, given.audit, [Path(f).parent for f in given.others], params.grid)
frame, kind = frame_of(packages, sources) if len(sources) > 1 else (None, "")
tables = {"agreement": {}, "disagreements": {}}
if frame is not None:
    tables["agreement"] = agreement(suite, frame, kind, sources, **params.bootstrap)
    tables["disagreements"] = disagreements(suite, frame, sources)
metadata = stage_metadata(given, params)
for path in snakemake.output:
    write_table(path, Path(path).stem, tables[Path(path).stem], metadata)
print(f"label sources: {', '.join(s.name for s in sources)}; {0 if frame is None else len(frame)} cells {kind}")
