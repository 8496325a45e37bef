"""Rule manifest: what ran, on what, and how long it took."""

from job import log_to
from memaudit.manifest_io import write_manifest

log_to(snakemake.log)
params = snakemake.params
write_manifest(
    snakemake.output[0],
    config=params.config,
    inputs=params.sources,
    made=snakemake.input,
    code=params.code,
    benchmarks=params.benchmarks,
)
