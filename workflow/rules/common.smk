# Loads and validates the configuration, and says which files it asks for. No rule stands here.

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(workflow.basedir) / "scripts"))

from memaudit.warm import warm

warm()  # compiles what is not in the cache yet, with a message; jobs then only load it

from memaudit.config_io import check_stores, load_config
from memaudit.present.frames_io import NATURAL_FRAMES
from memaudit.present.wanted import figure_files, index_file, table_files, wanted_figures, wanted_tables
from memaudit.provenance import code_hash
from memaudit.suites_io import source_files
from memaudit.synthetic import TEXTS_OURS
from memaudit.run_info import STANDARD, info_part, make_writer, run_info, solve_bundles, writer_bundles

# --configfile replaces the default file (two files are never mixed); --config overrides top-level keys.
_files = workflow.config_settings.configfiles
CONFIG_FILE = str(_files[-1] if _files else Path(workflow.basedir) / "config" / "config.yaml")
if len(_files) > 1:
    raise WorkflowError("give one --configfile; two configurations are never mixed")
CONFIG = load_config(CONFIG_FILE, overrides=workflow.config_settings.config)
if workflow.is_main_process:
    check_stores(CONFIG)
INFO = run_info(CONFIG)
OUT = CONFIG.results
SUITES = list(CONFIG.suites)
if Path(OUT, "packages").exists() and not Path(".snakemake", "metadata").exists():
    raise WorkflowError(
        f"{OUT}/ was made by runs whose records (.snakemake/) are not here, so what has changed since cannot be told; "
        f"rename or delete {OUT}/ and run again"
    )
# Files from outside that the run reads, and the module whose code stands for each stage in the manifest.
SOURCE_FILES = sorted(
    {path for s in SUITES for path in CONFIG.source_paths(s)}
    | {path for s in SUITES for path in CONFIG.statistics_paths(s)}
    | {path for store in CONFIG.stores for path in CONFIG.store_paths(store)}
    | ({CONFIG.published} if CONFIG.published else set())
)
STAGES = {
    "packages": "memaudit.suites_io",
    "solve": "memaudit.solve.stage",
    "check": "memaudit.check.certify",
    "score": "memaudit.writers.rules",
    "stores": "memaudit.analysis.store_scores",
    "analyse": "memaudit.analysis.summary",
    "present": "memaudit.present.tables_io",
}


# Exported stores: name of a union -> which stores it joins with which suite's packages.
UNIONS = CONFIG.unions()


wildcard_constraints:
    # A name with a "+" is that of a union (stores.smk).
    suite="[^/+]+",
    store="[^/]+",
    cost_model="[^/]+",
    k=r"\d+",
    saturation="[^/]+",
    bundle="[^/]+",
    shard=r"\d+",
    solver="[a-z_]+",


SUITE_TABLES = ["packages", "candidates", "units", "queries", "requirements", "labels", "coverage", "unscored", "warnings"]
# The tables that a Package is read back from.
PACKAGE_TABLES = ["packages", "candidates", "units", "queries", "requirements", "coverage"]
# One optimisation setting of a suite; everything from solutions to scores lies below it, all budgets in one file.
SETTING = "{suite}/{cost_model}/k{k}.{saturation}"


def package_files(tables=PACKAGE_TABLES):
    return expand(OUT + "/packages/{{suite}}/{table}.parquet", table=tables)


def setting_of(wildcards):
    return next(
        s
        for s in CONFIG.settings(wildcards.suite)
        if (s.cost_model, str(s.k), s.saturation) == (wildcards.cost_model, wildcards.k, wildcards.saturation)
    )


def settings(suite):
    """Every setting of a suite, as the path below its stage."""
    return [SETTING.format(suite=suite, **s._asdict()) for s in CONFIG.settings(suite)]


def shards(suite):
    return list(range(CONFIG.shards(suite)))


def solution_files(suite, kind="solutions"):
    return [
        f"{OUT}/solutions/{setting}/{bundle}.{shard}.{kind}.parquet"
        for setting in settings(suite)
        for bundle in solve_bundles(CONFIG, suite)
        for shard in shards(suite)
    ]


def check_files(suite, kind=""):
    """Checks of the solutions; those of the curves are of kind "-curves"."""
    return [
        f"{OUT}/checks/{setting}/{bundle}.{shard}.{solver}{kind}.parquet"
        for setting in settings(suite)
        for bundle in solve_bundles(CONFIG, suite)
        for shard in shards(suite)
        for solver in CONFIG.suites[suite].solvers
    ]


def score_files(suite, kind="scores"):
    return [
        f"{OUT}/scores/{setting}/{bundle}.{shard}.{kind}.parquet"
        for setting in settings(suite)
        for bundle in writer_bundles(CONFIG, suite)
        for shard in shards(suite)
    ]


def first_setting(files, suite, of=None):
    """Those of `files` that belong to the first setting of the suite (or of suite `of`), the one that figures show."""
    s = CONFIG.settings(of or suite)[0]
    return [f for f in files if f"/{suite}/{s.cost_model}/k{s.k}.{s.saturation}/" in f]


def natural_files(suite, names=None):
    """The natural tables of a suite, and those of its stores: all it has, or those of `names` that it has."""
    having = [name for name in INFO.suite(suite).analyses if names is None or name in names]
    return [f"{OUT}/analysis/{suite}/{name}.parquet" for name in having]


def everything():
    return [f"{OUT}/manifest.json", *made()]


def made():
    """All that a run is asked for, and the manifest lists with hashes."""
    files = [f"{OUT}/summary.parquet", f"{OUT}/summary.csv"]
    for suite in SUITES:
        files += [f"{OUT}/packages/{suite}/{table}.parquet" for table in SUITE_TABLES]
        files += [f"{OUT}/budgets/{suite}.parquet", *natural_files(suite)]
        files += check_files(suite) + check_files(suite, "-curves")
        for kind in ("solutions", "selections", "curves"):
            files += solution_files(suite, kind)
        for kind in ("scores", "selections"):
            files += score_files(suite, kind)
    return files + store_results() + presented()
