"""Rules figures: the registered figures of one suite."""

from functools import partial
from pathlib import Path

from job import log_to
from memaudit.present.figures_io import write_figure
from memaudit.present.frames_io import read_illustration, results_of
from memaudit.run_info import read_info

log_to(snakemake.log)
params = snakemake.params
drawn = None
if params.package_id:
    drawn = partial(
        read_illustration,
        params.package_id,
        Path(snakemake.input.package[0]).parent,
        snakemake.input.solutions,
        snakemake.input.selections,
    )
results = results_of(read_info(params.info), params.results, drawn)
for name, suite in params.wanted:
    for path in write_figure(results, name, suite, params.results):
        print(path)
