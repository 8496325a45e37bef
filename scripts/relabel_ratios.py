"""Rule label_ratios: package ratios under labels of others than the suite's own."""

from pathlib import Path

import pandas as pd

from job import log_to
from memaudit.analysis.agreement import frame_of, label_sets
from memaudit.analysis.label_ratios import AGREED, SUITE, label_ratios, relabelled, under_labels, under_other_suite
from memaudit.analysis.relabel import kept_of
from memaudit.labels_io import read_sources
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
kept = kept_of(packages, scores, selections)
sources = read_sources(packages, given.labels, given.audit, grid=params.grid)
compared = []
if len(sources) > 1:
    for name, labels in label_sets(frame_of(packages, sources)[0], sources).items():
        saturation = problem.saturations[setting["saturation"]]
        exact = {"saturation": saturation, "k": setting["k"], "node_limit": params.node_limit}
        compared.append((name, AGREED, under_labels(packages, kept, labels, **exact)))
for name, files in params.others.items():
    other = read_all("scores", files).to_pandas()
    compared.append((f"suite {name}", SUITE, under_other_suite(suite, scores, name, other)))
tables = {
    "label_ratios": [label_ratios(suite, name, kind, setting, pairs) for name, kind, pairs in compared],
    "relabelled": [relabelled(suite, name, kind, setting, pairs, **params.bootstrap) for name, kind, pairs in compared],
}
metadata = stage_metadata(given, {k: v for k, v in params.items() if k != "others"})
for path in snakemake.output:
    frames = tables[Path(path).stem]
    write_table(path, Path(path).stem, pd.concat(frames) if frames else {}, metadata)
