"""What a results folder must hold: by its manifest, or, without one, by the tables of budgets and the files."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from .costs import DECLARED
from .curves import Sample

# Seconds for one solve where nothing else is said, as the configuration has it.
LIMIT = 60
_STANDARD = "standard"
# Between a suite and its exported stores in the name of a union.
JOIN = "+"
_IN_FILE = re.compile(r".+\.py:[A-Za-z_]\w*")
# Definitions of the built-in names, written down a second time.
BUILT_IN = {
    "pools": {
        "full": {"include": None, "exclude": []},
        "no_validity": {"include": None, "exclude": ["tombstone", "compound_update"]},
        "generic": {"include": ["raw", "raw_span", "atomic_fact", "fact", "summary"], "exclude": []},
        "summary": {"include": ["summary"], "exclude": []},
        "atomic_fact": {"include": ["atomic_fact"], "exclude": []},
    },
    "saturations": {name: name for name in ("cap1", "linear")},
    "cost_models": {name: name for name in ("declared", "words", "byte_overhead", "chars", "bytes", "approx_tokens")},
}


class Setting(NamedTuple):
    """How costs are counted, how many of a group may be held, how units saturate."""

    cost_model: str
    k: int
    saturation: str

    @property
    def folder(self) -> str:
        return f"{self.cost_model}/k{self.k}.{self.saturation}"


class Point(NamedTuple):
    """A setting and an absolute budget."""

    setting: Setting
    budget: int


@dataclass(frozen=True)
class CurvePlan:
    """That there are curves. `max_budget`: spelling of where they end, None: total costs; `sample`: what is solved
    again."""

    max_budget: str | None
    sample: Sample


@dataclass(frozen=True)
class SuitePlan:
    """What one suite must hold. None: not known (there is no manifest), whatever is there is taken for it.

    `specs`: declared budgets as spelt; `bundles`: solve bundle -> its pools; `writers`: name -> (score bundle, its
    entry in the configuration); `packages`: (distributions, seeds) of a synthetic suite; `curve`: False where there is
    none; `limit`: of the checks; `base`: of a union the suite whose packages and budgets it has.
    """

    settings: tuple[Setting, ...]
    specs: tuple[str, ...]
    bundles: Mapping[str, tuple[str, ...]] | None = None
    writers: Mapping[str, tuple[str, Mapping[str, Any]]] | None = None
    shards: int | None = None
    solvers: tuple[str, ...] | None = None
    packages: tuple[tuple[str, ...], tuple[int, ...]] | None = None
    curve: CurvePlan | Literal[False] | None = None
    limit: float = LIMIT
    base: str | None = None

    def holds(self, setting: Setting, bundle: str, shard: int, bundles: Collection[str] | None) -> bool:
        """Whether a file of `setting` is one of the plan's; `bundles`: those that there are (None: any)."""
        named = bundles is None or bundle in bundles
        return setting in self.settings and named and (self.shards is None or shard < self.shards)


@dataclass(frozen=True)
class StorePlan:
    """What a run makes of one exported store.

    memory_costs: cost model of the suite -> what memories cost under it; own_cost: name of that under `declared`, ""
    where there is no such setting; rules: None: all that the store has what they need for; labels: who says what it
    covers; bootstrap: resamples and seed; compared: stores of its joint union, empty where it is in no comparison.
    """

    name: str
    suite: str
    memory_costs: Mapping[str, str | Mapping[str, float]]
    own_cost: str
    rules: tuple[str, ...] | None
    skip_empty: bool
    labels: str
    demonstration: bool
    bootstrap: tuple[int, int]
    compared: tuple[str, ...]

    def cost_name(self, cost_model: str) -> str:
        """What memories cost under a cost model of the suite, by name."""
        return self.own_cost if cost_model == DECLARED else cost_model

    @property
    def union(self) -> str:
        return f"{self.suite}{JOIN}{self.name}"


def stores_of_manifest(config: Mapping[str, Any]) -> dict[str, StorePlan]:
    """The plan of every store of a manifest's `config`, by name; errors as `plans_of_manifest`."""
    known = definitions_of_manifest(config)["cost_models"]
    bootstrap = (config["bootstrap"]["resamples"], config["bootstrap"]["seed"])
    made = {}
    for name, entry in config.get("stores", {}).items():
        suite = config["suites"][entry["suite"]]
        own = {"same": "", "paper": "words"}.get(entry["cost_model"], entry["cost_model"])
        compared = tuple(suite.get("compare_stores", ()))
        rules = entry["rules"]
        made[name] = StorePlan(
            name=name,
            suite=entry["suite"],
            # Under `declared` a union's memories have a cost in the tables even where no setting reads it.
            memory_costs={model: known[model] for model in suite["cost_models"]} | {DECLARED: known[own or "words"]},
            own_cost=own,
            rules=None if rules is None else tuple(rules),
            skip_empty=entry["skip_empty"],
            labels=entry["judge"] or "labels",
            demonstration=entry["demonstration"],
            bootstrap=bootstrap,
            compared=compared if name in compared else (),
        )
    return made


def plans_of_manifest(config: Mapping[str, Any]) -> dict[str, SuitePlan]:
    """The plan of every suite of a manifest's `config`; KeyError, TypeError, ... where it is not one of ours."""
    plans = {name: _plan(config, suite) for name, suite in config["suites"].items()}
    unions = [one for suite in plans for one in _unions(config, suite, plans[suite])]
    return plans | dict(unions)


def base_of(suite: str) -> str | None:
    """The suite that a union is of, by its name; None of a suite itself."""
    base, joined, _ = suite.partition(JOIN)
    return base if joined else None


def _unions(config: Mapping[str, Any], suite: str, plan: SuitePlan) -> Iterator[tuple[str, SuitePlan]]:
    """(name, plan) of the unions of a suite with its exported stores: each store, each alone, and all compared."""
    stores = {name: entry for name, entry in config.get("stores", {}).items() if entry["suite"] == suite and plan.specs}
    compared = config["suites"][suite].get("compare_stores", ())
    joint = {f"{suite}{JOIN}joint": compared} if compared and plan.specs else {}
    single = {f"{suite}{JOIN}{name}{end}": [name] for name in stores for end in ("", f"{JOIN}alone")}
    for name, members in (single | joint).items():
        # Memories declare no cost: `same` leaves the suite's declared costs out.
        mixed = all(stores[member]["cost_model"] != "same" for member in members)
        settings = tuple(s for s in plan.settings if mixed or s.cost_model != DECLARED)
        yield (
            name,
            SuitePlan(
                settings, plan.specs, {_STANDARD: ("full",)}, {}, 1, plan.solvers, None, False, plan.limit, suite
            ),
        )


def _plan(config: Mapping[str, Any], suite: Mapping[str, Any]) -> SuitePlan:
    entries = config["writers"]
    budgets = [] if suite["budgets"] == "all" else suite["budgets"]
    names = list(entries) if suite["writers"] == "all" else suite["writers"]
    names = names if budgets else []
    listed = tuple(dict.fromkeys(["full", *suite["pools"]]))
    exact = [entries[name]["pool"] for name in names if entries[name]["rule"] == "opt"]
    others = dict.fromkeys(pool for pool in exact if pool not in listed)
    synthetic = suite["source"] == "synthetic"
    seeds = suite.get("seeds", ())
    seeds = tuple(range(seeds) if isinstance(seeds, int) else seeds)
    distributions = tuple(suite.get("distributions", ()))
    return SuitePlan(
        settings=tuple(
            Setting(c, k, s) for c in suite["cost_models"] for k in suite["k"] for s in suite["saturations"]
        ),
        specs=tuple(repr(budget) for budget in budgets),
        bundles={_STANDARD: listed, **{f"pool-{pool}": (pool,) for pool in others}},
        writers={name: (_bundle(name, entries[name], listed), entries[name]) for name in names},
        shards=-(-len(distributions) * len(seeds) // config["shard_size"]) if synthetic else 1,
        solvers=tuple(suite["solvers"]),
        packages=(distributions, seeds) if synthetic else None,
        curve=CurvePlan(
            None if suite["max_budget"] is None else repr(suite["max_budget"]),
            Sample(suite["check_sample"], suite["check_seed"]),
        )
        if suite["curve"] or not budgets
        else False,
        limit=suite["check_limit"],
    )


def _bundle(name: str, entry: Mapping[str, Any], listed: Collection[str]) -> str:
    """The bundle of score files that a writer is in."""
    alone = _IN_FILE.fullmatch(entry["rule"]) or (entry["rule"] == "opt" and entry["pool"] not in listed)
    return f"writer-{name}" if alone else _STANDARD


def definitions_of_manifest(config: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Name -> definition for each of pools, saturations and cost_models: built in, or of a manifest's `config`."""
    own = {
        "pools": config["pools"],
        "saturations": {name: entry["breakpoints"] for name, entry in config["saturations"].items()},
        "cost_models": config["cost_models"],
    }
    return {part: {**BUILT_IN[part], **own[part]} for part in BUILT_IN}
