"""Rules ingest_store, judge_store: an exported memory store, read once, with what its memories cover."""

from pathlib import Path

from job import log_to
from memaudit.analysis.store_scores import usable_rules
from memaudit.package_io import read_packages
from memaudit.stage_io import stage_metadata
from memaudit.stores.ingest_io import COVERAGE, SALIENCE, label_file_beside, read_labels, read_stores
from memaudit.stores.judge_io import judge_named
from memaudit.stores.labelled import judged_stores, labelled_stores, refuse_strange_units
from memaudit.stores.model import IngestOptions, lacking
from memaudit.stores.tables_io import write_labelled
from memaudit.table_io import read_table

log_to(snakemake.log)
name, part, given = snakemake.wildcards.store, dict(snakemake.params.store), snakemake.input
paths = snakemake.params.paths
judge = part.pop("judge")
part.pop("parts")
found = read_stores(paths["path"], IngestOptions(name=name, **part), paths["parts"], beside=False)
for one in found:
    print(one.report)
for line in lacking(one.report for one in found):
    print(line)
package_ids = read_table(given.packages, "packages", ["package_id"])["package_id"].to_pylist()
salience = paths["salience"] or label_file_beside(paths["path"], SALIENCE)
salience = None if salience is None else read_labels(salience)
how = {"name": name, "view": part["view"]}
if judge is None:
    coverage = read_labels(paths["coverage"] or label_file_beside(paths["path"], COVERAGE))
    labelled = labelled_stores(found, package_ids, coverage, salience, **how)
    units = read_table(given.units, "units", ["package_id", "unit_id"]).to_pandas().groupby("package_id")["unit_id"]
    refuse_strange_units(labelled, {i: units.get_group(i) for i in labelled.stores}, name)
else:
    packages = {p.package_id: p for p in read_packages(Path(given.packages).parent)}
    labelled = judged_stores(found, packages, judge_named(judge), salience, **how)
if snakemake.params.rules:  # told before anything is solved: what a rule orders by is not there
    usable_rules(list(labelled.stores.values()), snakemake.params.rules, f"store {name}")
own = {
    key: value for key, value in snakemake.params.items() if key not in ("paths", "rules")
}  # what the tables rest on
write_labelled(Path(snakemake.output[0]).parent, labelled, stage_metadata(given, {**own, "paths": None}))
print(f"{len(labelled.stores)} stores of {len(package_ids)} examples")
for note in labelled.notes:
    print(f"{note['instance_id'] or 'all'}: {note['count']} {note['name']}: {note['detail'] or ''}")
