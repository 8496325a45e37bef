"""Rules tables: the registered tables of one suite, or of the whole run."""

from job import log_to
from memaudit.present.frames_io import results_of
from memaudit.present.tables_io import write, write_index
from memaudit.run_info import read_info

log_to(snakemake.log)
results = results_of(read_info(snakemake.params.info), snakemake.params.results)
for name, suite in snakemake.params.wanted:
    for path in write(results, name, suite, snakemake.params.results):
        print(path)
for suite in dict.fromkeys(suite for _, suite in snakemake.params.wanted if suite is not None):
    print(write_index([name for name, s in snakemake.params.wanted if s == suite], suite, snakemake.params.results))
