"""Rules tables: the registered tables of one suite, or of the whole run."""

from job import log_to
from memaudit.present.frames_io import results_of
from memaudit.present.tables_io import write
from memaudit.run_info import read_info

log_to(snakemake.log)
results = results_of(read_info(snakemake.params.info), snakemake.params.results)
for name, suite in snakemake.params.wanted:
    for path in write(results, name, suite, snakemake.params.results):
        print(path)
