"""Rule robustness: the ranking of writers under label noise, in a natural suite's first setting."""

from pathlib import Path

from job import log_to
from memaudit.analysis.relabel import kept_of
from memaudit.analysis.robustness import Noise, robustness
from memaudit.package_io import read_packages
from memaudit.problem import read_problem
from memaudit.solve.stage import recost
from memaudit.stage_io import stage_metadata
from memaudit.table_io import read_all, write_table

log_to(snakemake.log)
given, params, suite = snakemake.input, snakemake.params, snakemake.wildcards.suite
setting, problem = dict(params.setting), read_problem(params.problem)
packages = recost(
    read_packages(Path(given.packages[0]).parent), setting["cost_model"], problem.cost_parameters[setting["cost_model"]]
)
scores, selections = (read_all(n, given[n]).to_pandas() for n in ("scores", "selections"))
frames = robustness(
    packages,
    kept_of(packages, scores, selections),
    Noise(**params.noise),
    suite=suite,
    setting=setting,
    saturation=problem.saturations[setting["saturation"]],
    blind=params.blind,
)
metadata = stage_metadata(given, params)
for path, frame in zip(snakemake.output, frames, strict=True):
    write_table(path, Path(path).stem, frame, metadata)
