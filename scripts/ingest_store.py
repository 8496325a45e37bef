"""Rule ingest_store: an exported memory store, read once, with what its memories cover."""

from pathlib import Path

from job import log_to
from memaudit.errors import InputError
from memaudit.stage_io import stage_metadata
from memaudit.stores.ingest_io import COVERAGE, SALIENCE, label_file_beside, read_labels, read_stores
from memaudit.stores.labelled import labelled_stores, refuse_strange_units
from memaudit.stores.model import IngestOptions
from memaudit.stores.tables_io import write_labelled
from memaudit.table_io import read_table

log_to(snakemake.log)
name, part, given = snakemake.wildcards.store, dict(snakemake.params.store), snakemake.input
paths = snakemake.params.paths
judge = part.pop("judge")
if judge is not None:
    raise InputError(f"store {name}: there is no judge {judge!r} of coverage yet; give label rows as `coverage`")
part.pop("parts")
found = read_stores(paths["path"], IngestOptions(name=name, **part), paths["parts"])
for one in found:
    print(one.report)
units = read_table(given.units, "units", ["package_id", "unit_id"]).to_pandas().groupby("package_id")["unit_id"]
package_ids = read_table(given.packages, "packages", ["package_id"])["package_id"].to_pylist()
coverage = paths["coverage"] or label_file_beside(paths["path"], COVERAGE)
salience = paths["salience"] or label_file_beside(paths["path"], SALIENCE)
labelled = labelled_stores(
    found,
    package_ids,
    read_labels(coverage),
    None if salience is None else read_labels(salience),
    name=name,
    view=part["view"],
)
refuse_strange_units(labelled, {i: units.get_group(i) for i in labelled.stores}, name)
write_labelled(Path(snakemake.output[0]).parent, labelled, stage_metadata(given, {**snakemake.params, "paths": None}))
print(f"{len(labelled.stores)} stores of {len(package_ids)} examples")
for note in labelled.notes:
    print(f"{note['instance_id'] or 'all'}: {note['count']} {note['name']}: {note['detail'] or ''}")
