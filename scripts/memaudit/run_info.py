"""What a configuration asks a run for: bundles of pools and writers that share a job, and what is shown.

A Python job costs most of a second to start, so the pools listed for a suite are solved together (bundle
`standard`), and its writers of built-in rules are scored together. A pool that only a writer asks for, and a
rule from a user's own file, is a bundle of its own: adding one reruns nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace

from .config import Config, NaturalSuite, SyntheticSuite
from .present import results as present
from .schemas import NATURAL_TABLES, STORE_TABLES
from .writers.registry import RULES, Writer, rule_from_file

STANDARD = "standard"


@dataclass(frozen=True)
class WriterBundle:
    """Writers that one job scores. `files`: the users' source files they come from."""

    writers: tuple[str, ...]
    exact_pools: tuple[str, ...]
    files: tuple[str, ...] = ()

    def solved(self, bundles: Mapping[str, list[str]]) -> list[str]:
        """The solve bundles the scores need: of the denominator (full) and of the exact writers' pools."""
        needed = {"full", *self.exact_pools}
        return [name for name, pools in bundles.items() if needed & set(pools)]


def solve_bundles(config: Config, suite: str) -> dict[str, list[str]]:
    """Bundle name -> pools solved in one job, covering every pool the suite needs."""
    listed = list(dict.fromkeys(["full", *config.suites[suite].pools]))
    others = [pool for pool in config.solved_pools(suite) if pool not in listed]
    return {STANDARD: listed, **{f"pool-{pool}": [pool] for pool in others}}


def writer_bundles(config: Config, suite: str) -> dict[str, WriterBundle]:
    """Bundle name -> writers scored in one job."""
    listed = set(solve_bundles(config, suite)[STANDARD])
    together: list[str] = []
    bundles: dict[str, WriterBundle] = {}
    for name in config.suite_writers(suite):
        entry = config.writers[name]
        pools = (entry.pool,) if entry.rule == "opt" else ()
        if entry.in_file:
            bundles[f"writer-{name}"] = WriterBundle((name,), pools, (entry.rule.rpartition(":")[0],))
        elif set(pools) - listed:
            bundles[f"writer-{name}"] = WriterBundle((name,), pools)
        else:
            together.append(name)
    exact = tuple(dict.fromkeys(config.writers[n].pool for n in together if config.writers[n].rule == "opt"))
    return {**({STANDARD: WriterBundle(tuple(together), exact)} if together else {}), **bundles}


def make_writer(name: str, part: Mapping) -> Writer:
    """The Writer of a `Config.writer_part`."""
    rule = RULES[part["rule"]] if part["rule"] in RULES else rule_from_file(part["rule"], part["sees"] or "metadata")
    return Writer(name, rule, part["pool"], part["parameters"], part["rule"] in present.PROXY_RULES)


def run_info(config: Config) -> present.RunInfo:
    """The run's shape as tables and figures are decided from."""
    suites = tuple(_suite_info(config, name) for name in config.suites)
    audit = next((s for s, suite in config.suites.items() if len(suite.solvers) > 1 and suite.budgets), None)
    return present.RunInfo(
        suites,
        illustration=None if config.illustration is None else config.illustration.suite,
        audit=audit,
        references=tuple(r for r in ("oracle_gvt", "estimated_gvt") if r in config.writers),
    )


def _suite_info(config: Config, name: str) -> present.SuiteInfo:
    suite = config.suites[name]
    synthetic = isinstance(suite, SyntheticSuite)
    return present.SuiteInfo(
        name,
        tuple(present.WriterInfo.of(make_writer(w, config.writer_part(w))) for w in config.suite_writers(name)),
        tuple(suite.distributions) if synthetic else (),
        len(suite.budgets),
        suite.source,
        suite.seeds if synthetic else (),
        tuple(present.Setting(*s) for s in config.settings(name)),
        (*natural_analyses(config, name), *store_analyses(config, name)),
        suite.has_curve,
        suite.about,
        tuple(
            present.StoreInfo(store, config.stores[store].demonstration, config.stores[store].judge)
            for store in config.suite_stores(name)
        ),
        compared_stores(config, name),
    )


def store_analyses(config: Config, suite: str) -> tuple[str, ...]:
    """The tables of exported stores (schemas.STORE_TABLES) that a suite has: all, or none without a store."""
    return STORE_TABLES if config.suite_stores(suite) else ()


def compared_stores(config: Config, suite: str) -> tuple[str, ...]:
    """The stores of the suite's joint union, as configured; none where the suite scores no store."""
    return tuple(getattr(config.suites[suite], "compare_stores", ()))


def natural_analyses(config: Config, suite: str) -> tuple[str, ...]:
    """The natural tables (schemas.NATURAL_TABLES) that a suite has; none where it is synthetic.

    construction: always; those of label sources where the configuration names others than the suite's own
    (audit, compare_with) or the source may bring several; sensitivity where something varies at declared budgets;
    those of writers where there are any.
    """
    entry = config.suites[suite]
    if not isinstance(entry, NaturalSuite):
        return ()
    scored = bool(config.suite_writers(suite))
    others = bool(entry.audit or entry.compare_with) or entry.source == "coverage_package"
    varied = len(entry.k) > 1 or len(entry.cost_models) > 1 or len(config.solved_pools(suite)) > 1
    wanted = {
        "construction": True,
        "agreement": others,
        "disagreements": others,
        "label_ratios": others and scored,
        "relabelled": others and scored,
        "sensitivity": varied and bool(entry.budgets),
        "robustness": entry.robustness is not None and scored,
        "robustness_writers": entry.robustness is not None and scored,
        "query_scores": scored,
        "categories": scored,
        "downstream": entry.downstream is not None and scored,
    }
    return tuple(name for name in NATURAL_TABLES if wanted[name])


def info_part(info: present.RunInfo, suite: str | None = None) -> dict:
    """JSON-able RunInfo for a job's parameters; of one suite only, where that is all the job shows."""
    if suite is not None:
        info = replace(info, suites=(info.suite(suite),), audit=None)
    return json.loads(json.dumps(asdict(info)))


def read_info(part: Mapping) -> present.RunInfo:
    """The RunInfo of an `info_part`."""
    suites = tuple(
        present.SuiteInfo(
            **{
                **suite,
                "writers": tuple(present.WriterInfo(**w) for w in suite["writers"]),
                "distributions": tuple(suite["distributions"]),
                "seeds": tuple(suite["seeds"]),
                "settings": tuple(present.Setting(**s) for s in suite["settings"]),
                "analyses": tuple(suite["analyses"]),
                "stores": tuple(present.StoreInfo(**s) for s in suite["stores"]),
                "compared": tuple(suite["compared"]),
            }
        )
        for suite in part["suites"]
    )
    return present.RunInfo(**{**part, "suites": suites, "references": tuple(part["references"])})
