"""Rule packages: the tables of a suite, from its generators or its conversations."""

from collections import Counter
from pathlib import Path

from job import log_to
from memaudit.errors import InputError
from memaudit.package_io import package_tables, write_packages
from memaudit.stage_io import stage_metadata
from memaudit.suites_io import build_suite, label_source

log_to(snakemake.log)
suite, source = snakemake.wildcards.suite, snakemake.params.source
made = build_suite(suite, source, snakemake.input)
if not made.packages:
    reasons = ", ".join(f"{n} x {reason}" for reason, n in Counter(row["reason"] for row in made.unscored).items())
    raise InputError(f"suite {suite}: nothing in {', '.join(snakemake.input)} can be scored: {reasons}")
tables = package_tables(
    made.packages,
    suite=suite,
    label_source=label_source(source),
    labels=made.labels,
    primary=made.primary,
    statuses=made.statuses,
    unscored=made.unscored,
    warnings=made.warnings,
)
write_packages(Path(snakemake.output[0]).parent, tables, stage_metadata(snakemake.input, snakemake.params))
print(f"{len(made.packages)} packages, {len(made.unscored)} unscored, {len(made.warnings)} warnings")
