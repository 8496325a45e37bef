"""Rule union_packages: a suite's packages joined with exported stores, as the packages of a suite of their own."""

from pathlib import Path

from job import log_to
from memaudit.package_io import package_tables, read_packages, write_packages
from memaudit.stage_io import stage_metadata
from memaudit.stores.tables_io import read_labelled
from memaudit.stores.unions import cost_function, union_suite

log_to(snakemake.log)
name, params, given = snakemake.wildcards.suite, snakemake.params, snakemake.input
stores = list(params.costs)  # as the files of the stores are
labelled = [read_labelled(Path(file).parent) for file in given.stores]
costs = [cost_function(definition) for _, definition in params.costs.values()]
packages = union_suite(name, read_packages(Path(given.packages[0]).parent), labelled, costs, params.alone)
tables = package_tables(packages, suite=name, label_source="union")
folder = Path(snakemake.output[0]).parent
wanted = {Path(file).stem for file in snakemake.output}
write_packages(folder, {k: t for k, t in tables.items() if k in wanted}, stage_metadata(given, params))
print(f"{len(packages)} packages with the memories of {', '.join(stores)}")
