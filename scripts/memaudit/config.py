"""The configuration: its models, and all that is wrong with one told at once.

`parse_config` turns the raw mapping of a YAML file into a `Config`, or raises one InputError with a line for
every problem: key path, what is wrong, the nearest known key or name, the fix. It reads no file: duplicate
YAML keys and files that must exist are the matter of `config_io`, and what YAML reads otherwise than it looks
of `config_yaml`. The models' field descriptions are also
the documentation (`config_docs`).
"""

from __future__ import annotations

import datetime
import difflib
import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    PlainSerializer,
    PlainValidator,
    Tag,
    ValidationError,
    ValidationInfo,
    WithJsonSchema,
    WrapValidator,
    field_validator,
)
from pydantic_core import PydanticCustomError

from . import costs
from .config_yaml import Unread
from .errors import InputError, key_path, nearest, shown
from .objective import BUILT_IN as SATURATIONS
from .objective import MAX_DENOMINATOR, Saturation, piecewise_linear
from .package import KNOWN_TYPES
from .pools import BUILT_IN as POOLS
from .pools import Pool

SOLVERS = ("cp_sat", "highs", "cbc", "scip")
COST_MODELS = (costs.DECLARED, *costs.BUILT_IN)
SAFE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
FILE_RULE = re.compile(r"(?P<path>.+\.py):(?P<function>[A-Za-z_]\w*)")
# Upper bounds. Costs, seeds and search nodes are 64-bit integers in tables and kernels, budgets leave room for
# sums; the others keep a slip of the pen from filling memory or the disk.
MAX_UNITS = 2**31 - 1
# Bytes of an exported store's file, unless its configuration says more (stores/model.py).
MAX_PARSED = 48 << 20
MAX_SEED = 2**63 - 1
MAX_SEEDS = 10_000_000
MAX_KEPT = 64
MAX_RATE = 10**9
MAX_ENTRIES = 10_000
MAX_SHARD = 1_000_000
MAX_RESAMPLES = 1_000_000
MAX_NODES = 10**15
MAX_CHECK_SECONDS = 86_400
MAX_SAMPLE = 10_000
MAX_NAME = 100
MAX_FOLDER = 1000
# Values and levels of a rule's parameters.
MAX_VALUES = 10_000
MAX_LEVELS = 20
# The pruning rules of exported stores (stores/pruning.py), and what their memories may cost besides a cost model.
PRUNING_RULES = ("recency", "native_order", "salience", "salience_order", "upper_exact", "upper_greedy", "full_store")
SAME, PAPER = "same", "paper"
# Between a suite and its stores in the name of a union; no suite's or store's own name holds it.
JOIN = "+"
JOINT, ALONE = "joint", "alone"
# Names so ending are of stores that a scripted model wrote.
SCRIPTED = "-scripted"
_EXPONENT = re.compile(r"([-+]?[0-9]+)(\.[0-9]*)?[eE]([-+]?)([0-9]{1,3})")
# Concave functions people ask for by name; no finite list of lines equals them.
CURVED = ("log", "log1p", "log2", "sqrt", "exp", "tanh", "power", "curved", "hill", "sigmoid", "arctan")


@dataclass(frozen=True)
class Known:
    """The names that keys may refer to; the validation context of every model here."""

    rules: Collection[str]
    distributions: Collection[str]
    suites: Collection[str]
    synthetic: Collection[str]
    stores: Collection[str]
    writers: Collection[str]
    pools: Collection[str]
    cost_models: Collection[str]
    saturations: Collection[str]
    longmemeval: bool
    locomo: bool


class Setting(NamedTuple):
    """How a suite's costs are counted, how many memories a group may hold, how units saturate."""

    cost_model: str
    k: int
    saturation: str


class Union(NamedTuple):
    """Packages of a suite joined with exported stores. `alone`: the one store without the packages' candidates."""

    suite: str
    stores: tuple[str, ...]
    alone: bool = False


def base_suite(name: str) -> str:
    """The suite that a union is of; a suite itself."""
    return name.partition(JOIN)[0]


# ---- validators: each raises PydanticCustomError("memaudit", message)


def _problem(message: str) -> PydanticCustomError:
    return PydanticCustomError("memaudit", "{message}", {"message": message})


def _refuse_unknown(kind: str, name: str, names: Iterable[str], fix: str = "") -> None:
    if name not in names:
        raise _problem(f"unknown {kind} {shown(name)}; {nearest(name, names)}{fix}")


def _reference(kind: str, attribute: str, fix: str = "") -> AfterValidator:
    """A name that must be one of the context's `attribute`."""

    def check(name: str, info: ValidationInfo) -> str:
        _refuse_unknown(kind, name, getattr(info.context, attribute), fix)
        return name

    return AfterValidator(check)


def _saturation_name(name: str, info: ValidationInfo) -> str:
    if name not in info.context.saturations and name.lower() in CURVED:
        raise _problem(
            f"{name!r} is curved, and optima are proven in exact integers: give breakpoints of a "
            f"piecewise-linear h under the top-level key `saturations`, and name it here"
        )
    fix = "; others go under the top-level key `saturations`"
    _refuse_unknown("saturation", name, info.context.saturations, fix)
    return name


def _solver(name: str) -> str:
    _refuse_unknown("solver", name, SOLVERS)
    return name


def _not_empty(values: Any) -> Any:
    if not values:
        raise _problem("is empty; give at least one entry")
    return values


def _path(text: str) -> str:
    if "{" in text or "}" in text:
        raise _problem(f"{shown(text)} holds a brace, which snakemake takes for a wildcard; rename the file or folder")
    if not text.isprintable():
        raise _problem(f"{shown(text)} holds a line break or another control character; rename the file or folder")
    return text


def _folder(text: str) -> str:
    if len(text) > MAX_FOLDER or any(len(part.encode()) > 255 for part in _path(text).split("/")):
        raise _problem(f"{shown(text)} is too long for a folder ({len(text)} characters); give a shorter one")
    return text


def _memory_cost(name: str, info: ValidationInfo) -> str:
    if name == costs.DECLARED:
        raise _problem(f"memories declare no cost; write {SAME}, {PAPER} or a cost model of texts, such as words")
    names = (SAME, PAPER, *info.context.cost_models)
    _refuse_unknown("cost model", name, names, "; others go under the top-level key `cost_models`")
    return name


def _pruning_rule(name: str) -> str:
    _refuse_unknown("pruning rule", name, PRUNING_RULES)
    return name


def _store_name(name: str) -> str:
    if name == JOINT:
        raise _problem(f"{name} is what the union of all compared stores is called; choose another name")
    return name


def _representation_type(name: str) -> str:
    """Other types than the known ones may come with natural packages; a near miss is a slip."""
    near = difflib.get_close_matches(name[:MAX_NAME].lower(), KNOWN_TYPES, n=1, cutoff=0.8)
    if name not in KNOWN_TYPES and near:
        raise _problem(f"unknown representation type {shown(name)}; nearest known: {near[0]!r}")
    return name


def _plain(parameters: dict[str, Any]) -> dict[str, Any]:
    """Refuses what a job's parameters, which travel as JSON, cannot hold: dates, .inf, endless nesting."""
    todo: list[tuple[tuple, Any]] = [((), parameters)]
    for taken in range(MAX_VALUES + 1):
        if not todo:
            return parameters
        path, value = todo.pop()
        if taken == MAX_VALUES or len(path) > MAX_LEVELS:
            raise _problem(
                f"more than {MAX_VALUES} values or {MAX_LEVELS} levels; keep them in a file that the rule reads"
            )
        if isinstance(value, dict):
            wrong = [key for key in value if not isinstance(key, str)]
            if wrong:
                raise _problem(f"the key {shown(wrong[0])} is {_kind(wrong[0])}; write it in quotes")
            todo += [((*path, key), child) for key, child in value.items()]
        elif isinstance(value, list):
            todo += [((*path, i), child) for i, child in enumerate(value)]
        elif isinstance(value, float) and not math.isfinite(value):
            raise _problem(f"{key_path(path)}: {value!r} is not finite; give a finite number")
        elif not isinstance(value, bool | int | float | str | None):
            raise _problem(f"{key_path(path)}: {shown(value)} is {_kind(value)}; give numbers, text, lists or mappings")
    return parameters


def _safe_name(name: str) -> str:
    if len(name) > MAX_NAME:
        raise _problem(f"the name {shown(name)} has {len(name)} characters; give at most {MAX_NAME}")
    if not SAFE_NAME.fullmatch(name):
        raise _problem(
            f"the name {shown(name)} becomes part of file names; use letters, digits, '_', '.' and '-', "
            f"and begin with a letter, digit or '_'"
        )
    return name


def _whole(value: Any, least: int, most: int, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise _problem(f"{shown(value)} is {_kind(value)}; {what} is a whole number")
    if value < least:
        raise _problem(f"{shown(value)} is below {least}; {what} is at least {least}")
    if value > most:
        raise _problem(f"{shown(value)} is above {most}; {what} is at most {most}")
    return value


@dataclass(frozen=True)
class Budget:
    """A budget as written: `value` is absolute cost units (int) or a fraction of the mean total cost (float).

    Source: protocol, "Budgets": 1 is absolute, 1.0 the whole. `spec` is its one spelling in tables.
    """

    value: int | float

    @property
    def is_fraction(self) -> bool:
        return isinstance(self.value, float)

    @property
    def spec(self) -> str:
        return repr(self.value)

    def __str__(self) -> str:
        return self.spec

    def __eq__(self, other: object) -> bool:
        # 1 == 1.0 in Python, but they are two budgets.
        return isinstance(other, Budget) and self.spec == other.spec

    def __hash__(self) -> int:
        return hash(self.spec)


def parse_budget(value: Any) -> Budget:
    """A Budget from a YAML number; raises (as a pydantic error) on anything that is not one."""
    rule = "write a whole number >= 1 (absolute) or a fraction such as 0.05 (above 0, at most 1.0)"
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _problem(f"{shown(value)} is {_kind(value)}, not a budget; {rule}")
    if isinstance(value, float) and not math.isfinite(value):
        raise _problem(f"{value!r} is not finite; {rule}")
    if isinstance(value, float) and value > 1:
        raise _problem(f"{value!r} is a fraction above 1; {rule}")
    if value <= 0:
        raise _problem(f"{shown(value)} is not positive; {rule}")
    if value > MAX_UNITS:
        raise _problem(f"{shown(value)} is above {MAX_UNITS}; give at most {MAX_UNITS} cost units, or a fraction")
    return Budget(value)


ALL_BUDGETS = "all"


def _declared(value: Any, parse: Callable[[Any], list[Budget]]) -> list[Budget]:
    """A list of budgets; none for `all`, which declares no single one."""
    if value == ALL_BUDGETS:
        return []
    if isinstance(value, list) and ALL_BUDGETS in value:
        raise _problem("`all` stands alone; to have every budget beside declared ones, add the key `curve: true`")
    return _not_empty(parse(value))


def _parse_seeds(value: Any) -> tuple[int, ...]:
    """A count n (seeds 0..n-1) or an explicit list."""
    if not isinstance(value, list):
        return tuple(range(_whole(value, 1, MAX_SEEDS, "the number of seeds")))
    if not value:
        raise _problem("no seed; give a number of seeds of at least 1, or a list of seeds")
    _whole(len(value), 1, MAX_SEEDS, "the number of seeds")
    return tuple(_whole(seed, 0, MAX_SEED, "a seed") for seed in value)


def _seeds_as_written(seeds: tuple[int, ...]) -> int | list[int]:
    return len(seeds) if seeds == tuple(range(len(seeds))) else list(seeds)


def _parse_writers(value: Any, info: ValidationInfo) -> list[str] | Literal["all"]:
    if value == "all":
        return value
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise _problem(f"{shown(value)} is {_kind(value)}; write `all`, or a list of names")
    unknown = [name for name in value if name not in info.context.writers]
    if unknown:
        hints = "; ".join(f"unknown writer {shown(n)} ({nearest(n, info.context.writers)})" for n in unknown)
        raise _problem(f"{hints}; writers are defined under the top-level key `writers`")
    return value


def _parse_files(value: Any) -> list[str]:
    """One path or a list of paths; none is an empty list."""
    several = [] if value is None else value if isinstance(value, list) else [value]
    wrong = [path for path in several if not isinstance(path, str) or not path]
    if wrong or value == []:
        raise _problem(f"{shown(value)} names no file; write a path, or a list of paths")
    return [_path(path) for path in several]


def _parse_rule(rule: str, info: ValidationInfo) -> str:
    if not FILE_RULE.fullmatch(rule):
        fix = "; or write path/to/file.py:function for a rule of your own"
        _refuse_unknown("writer rule", rule, info.context.rules, fix)
    return rule


def _rate(value: Any) -> int | float:
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        raise _problem(f"{shown(value)} is {_kind(value)}; expected a number >= 0")
    if value < 0:
        raise _problem(f"{shown(value)} is negative; costs never fall as a memory grows, give a number >= 0")
    if value > MAX_RATE:
        raise _problem(f"{shown(value)} is above {MAX_RATE}; give at most {MAX_RATE}")
    return value


_WORDS = {
    bool: "true/false",
    int: "a whole number",
    float: "a decimal number",
    str: "text",
    list: "a list",
    type(None): "empty",
    datetime.date: "a date (in quotes it is text)",
    datetime.datetime: "a date (in quotes it is text)",
    bytes: "binary data",
    set: "a set",
    tuple: "a pair",
}


def _kind(value: Any) -> str:
    if isinstance(value, Mapping):
        return "a mapping of keys"
    if isinstance(value, Unread):
        return value.why
    if isinstance(value, str) and (match := _EXPONENT.fullmatch(value)):
        # Text in YAML 1.1, which wants both the point and the sign.
        digits, decimals, sign, exponent = match.groups()
        whole = f"{int(float(value))} or " if 1 <= float(value) < 10**15 and float(value).is_integer() else ""
        return f"text (for the number write {whole}{digits}{decimals or '.0'}e{sign or '+'}{exponent})"
    return _WORDS.get(type(value), type(value).__name__)


# ---- field types

Name = Annotated[str, AfterValidator(_safe_name)]
Distribution = Annotated[str, _reference("distribution", "distributions")]
CostModelName = Annotated[
    str, _reference("cost model", "cost_models", "; others go under the top-level key `cost_models`")
]
PoolName = Annotated[str, _reference("pool", "pools", "; others go under the top-level key `pools`")]
SaturationName = Annotated[str, AfterValidator(_saturation_name)]
SolverName = Annotated[str, AfterValidator(_solver), WithJsonSchema({"enum": list(SOLVERS)})]
SuiteName = Annotated[str, _reference("suite", "suites")]
StoreName = Annotated[str, _reference("store", "stores")]
MemoryCost = Annotated[str, AfterValidator(_memory_cost)]
PruningRule = Annotated[str, AfterValidator(_pruning_rule), WithJsonSchema({"enum": list(PRUNING_RULES)})]
WriterName = Annotated[str, _reference("writer", "writers")]
NoiseRate = Annotated[float, Field(gt=0, le=1)]
NotEmpty = AfterValidator(_not_empty)
PathText = Annotated[str, AfterValidator(_path)]
RepresentationType = Annotated[str, AfterValidator(_representation_type)]

_BUDGET_SCHEMA = {
    "anyOf": [
        {"type": "integer", "minimum": 1, "maximum": MAX_UNITS},
        {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
    ]
}
BudgetValue = Annotated[
    Budget,
    PlainValidator(parse_budget),
    PlainSerializer(lambda b: b.value),
    WithJsonSchema(_BUDGET_SCHEMA),
]
Budgets = Annotated[
    list[BudgetValue],
    WrapValidator(_declared),
    PlainSerializer(lambda budgets: [b.value for b in budgets] or ALL_BUDGETS),
    WithJsonSchema({"anyOf": [{"const": ALL_BUDGETS}, {"type": "array", "items": _BUDGET_SCHEMA, "minItems": 1}]}),
]
Seeds = Annotated[
    tuple[int, ...],
    PlainValidator(_parse_seeds),
    PlainSerializer(_seeds_as_written),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "integer", "minimum": 1, "maximum": MAX_SEEDS},
                {
                    "type": "array",
                    "items": {"type": "integer", "minimum": 0, "maximum": MAX_SEED},
                    "minItems": 1,
                    "maxItems": MAX_SEEDS,
                },
            ]
        }
    ),
]
WriterNames = Annotated[
    list[str] | Literal["all"],
    PlainValidator(_parse_writers),
    WithJsonSchema({"anyOf": [{"const": "all"}, {"type": "array", "items": {"type": "string"}}]}),
]
FileNames = Annotated[
    list[str],
    PlainValidator(_parse_files),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string"},
                {"type": "array", "items": {"type": "string"}, "minItems": 1},
                {"type": "null"},
            ]
        }
    ),
]
Rate = Annotated[
    int | float, PlainValidator(_rate), WithJsonSchema({"type": "number", "minimum": 0, "maximum": MAX_RATE})
]
Kept = Annotated[
    int,
    PlainValidator(lambda v: _whole(v, 1, MAX_KEPT, "k (memories kept of a group)")),
    WithJsonSchema({"type": "integer", "minimum": 1, "maximum": MAX_KEPT}),
]
Coordinate = Annotated[float, Field(ge=0, le=MAX_RATE, allow_inf_nan=False)]
Point = Annotated[list[Coordinate], Field(min_length=2, max_length=2)]


# ---- models


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, validate_default=True)


class Suite(Section):
    """What every suite has, whatever its packages come from."""

    budgets: Budgets = Field(
        description="Budgets: a whole number is absolute cost units, a decimal in (0, 1] a fraction of the "
        "suite's mean total cost (1 is absolute, 1.0 the whole). `all`: OPT at every budget and nothing else; no "
        "writer is scored."
    )
    about: Annotated[str, Field(max_length=300)] = Field(
        "", description="A sentence on what the packages are; it stands with every table and figure of the suite."
    )
    curve: bool = Field(
        False, description="Also give OPT at every budget (always so with `budgets: all`): table `curves`, a figure."
    )
    max_budget: BudgetValue | None = Field(
        None,
        description="Where these curves end, written like a budget; default: each at its package's total cost, from "
        "which on nothing changes.",
    )
    cost_models: Annotated[list[CostModelName], NotEmpty] = Field(
        [costs.DECLARED], description=f"Names of cost models: {', '.join(COST_MODELS)}, or configured ones."
    )
    k: Annotated[list[Kept], NotEmpty] = Field([1], description="How many candidates of a group a store may hold.")
    saturations: Annotated[list[SaturationName], NotEmpty] = Field(
        ["cap1"], description=f"Names of saturations: {', '.join(SATURATIONS)}, or configured ones."
    )
    pools: list[PoolName] = Field(
        ["full"],
        description=f"Pools to solve besides `full` and those the exact writers need: "
        f"{', '.join(POOLS)}, or configured ones.",
    )
    writers: WriterNames = Field("all", description="Writers to score: `all`, or a list of names (may be empty).")
    solvers: Annotated[list[SolverName], NotEmpty] = Field(
        ["cp_sat"], description=f"Independent solvers that check every optimum: {', '.join(SOLVERS)}."
    )
    check_limit: Annotated[float, Field(gt=0, le=MAX_CHECK_SECONDS)] = Field(
        60,
        description="Seconds after which an independent solver stops (never our own search: see `node_limit`); the "
        "optimum then stays `optimal`, not `cross_checked`. cp_sat counts them deterministically (and stops for good "
        "after ten times as many of the clock); the others have only those of the clock, ten times as many.",
    )
    check_sample: Annotated[int, Field(ge=0, le=MAX_SAMPLE)] = Field(
        2,
        description="How many jumps of each curve, besides its end, are solved again by the independent solvers, each "
        "at its budget and at one unit less.",
    )
    check_seed: Annotated[int, Field(ge=0, le=MAX_SEED)] = Field(0, description="Seed of the draw of these jumps.")
    quantize: Annotated[int, Field(ge=1, le=MAX_DENOMINATOR)] | None = Field(
        None,
        description="Round weights and coverage to multiples of 1/quantize first; for numbers that have more "
        "decimals than exact integers can hold.",
    )
    node_limit: Annotated[int, Field(ge=1, le=MAX_NODES)] = Field(
        20_000_000,
        description="Effort of one solve in search nodes, counted and never timed, so that results do not depend on "
        "the machine; a minute or two at the default. A solve that neither closes within it nor has its whole curve in "
        "reach is a `limit`: its best value and a proven bound, no ratio.",
    )

    @field_validator("max_budget")
    @classmethod
    def _of_a_curve(cls, value: Budget | None, info: ValidationInfo) -> Budget | None:
        if value is not None and not info.data.get("curve", True) and info.data.get("budgets"):
            raise _problem("the suite has no curve that it could end; add `curve: true`, or remove it")
        return value

    @field_validator("writers")
    @classmethod
    def _at_declared_budgets(cls, value: list[str] | str, info: ValidationInfo) -> list[str] | str:
        if info.data.get("budgets") == [] and value not in ("all", []):
            raise _problem(
                "writers are scored at declared budgets, and `budgets: all` declares none; list budgets and add "
                "`curve: true`, or remove the writers"
            )
        return value

    @property
    def has_curve(self) -> bool:
        """Whether OPT is given at every budget."""
        return self.curve or not self.budgets


_SOURCE = "Where the packages come from: `synthetic`, `longmemeval`, `locomo` or `coverage_package`."


class SyntheticSuite(Suite):
    """Packages made by generators."""

    source: Literal["synthetic"] = Field(description=_SOURCE)
    distributions: Annotated[list[Distribution], NotEmpty] = Field(description="Names of distributions.")
    seeds: Seeds = Field(description="A number n (seeds 0 to n-1), or a list of seeds.")
    normal_count: Annotated[int, Field(ge=0, le=MAX_ENTRIES)] = Field(
        3, description="Plain facts per package (see the generators)."
    )
    update_count: Annotated[int, Field(ge=0, le=MAX_ENTRIES)] = Field(
        2, description="Updates per package (see the generators)."
    )
    parameters: dict[Distribution, dict[str, Any]] = Field(
        {}, description="Parameters of randomized distributions: `{distribution: {parameter: value}}`."
    )

    @field_validator("update_count")
    @classmethod
    def _some_entry(cls, value: int, info: ValidationInfo) -> int:
        if value == 0 and info.data.get("normal_count") == 0:
            raise _problem("normal_count and update_count are both 0, which makes empty packages; raise one")
        return value

    @field_validator("parameters")
    @classmethod
    def _of_own_distributions(cls, value: dict, info: ValidationInfo) -> dict:
        used = info.data.get("distributions")
        other = sorted(set(value) - set(used)) if used is not None else []
        if other:
            raise _problem(f"{', '.join(other)} is not among the suite's distributions; add or remove it")
        return value


class Robustness(Section):
    """Label noise: coverage cells flipped at random, values and optima anew (analysis.robustness)."""

    rates: Annotated[list[NoiseRate], NotEmpty] = Field(
        [0.05, 0.1, 0.2], description="Shares of cells whose label is flipped, each above 0 and at most 1."
    )
    draws: Annotated[int, Field(ge=1)] = Field(5, description="Noisy copies of the suite at each rate.")
    seed: Annotated[int, Field(ge=0)] = Field(0, description="Seed of the flips.")
    flips: Literal["balanced", "all"] = Field(
        "balanced",
        description="`balanced`: of each package's positive cells the share is lost, and as many zero cells become "
        "full coverage; `all`: every cell is flipped with that probability.",
    )
    node_limit: Annotated[int, Field(ge=1, le=MAX_NODES)] = Field(
        1_000_000,
        description="As a suite's `node_limit`, for an optimum under noise: one not proven within it is left out.",
    )


class NaturalSuite(Suite):
    """What suites of conversations have besides, whatever their source."""

    audit: PathText | None = Field(
        None,
        description="Folder of a cell audit (annotation_cells.csv and one {name}_labels.csv a labeller), whose "
        "labels are compared with the suite's own.",
    )
    compare_with: list[SuiteName] = Field(
        [],
        description="Natural suites over the same candidates and units, labelled by others, to compare with. Ratios "
        "are compared where both have the same package, writer and absolute budget; a fraction comes to the same only "
        "where the mean total costs do.",
    )
    robustness: Robustness | None = Field(
        Robustness(), description="Ranking of the writers under label noise, see below; null: none."
    )
    downstream: PathText | None = Field(
        None,
        description="Answers of downstream systems (CSV or Parquet: query_id, system, correct; optional budget, "
        "cost_model, k, saturation: without a budget an answer counts at each, without a setting in the first).",
    )
    downstream_systems: dict[str, WriterName] = Field(
        {}, description="`{system: writer}` where a system of `downstream` is not named like its writer."
    )
    paper_package: bool = Field(
        False,
        description="The suite is a package of the paper's own release: compared with the published natural values "
        "where its counts are the paper's.",
    )
    compare_stores: list[StoreName] = Field(
        [],
        description="Exported stores of this suite (top-level key `stores`), two or more, that also get a joint union: "
        "one denominator with the memories of all of them, over the examples that each has a store for.",
    )


class LongMemEvalSuite(NaturalSuite):
    """One package per question of LongMemEval-form files."""

    source: Literal["longmemeval"] = Field(description=_SOURCE)
    file: FileNames = Field(
        None,
        description="The conversations: .json, .jsonl, either gzipped, or a folder, or a list of several; "
        "default: the top-level key `longmemeval`.",
    )
    route: Literal["marked", "updates"] = Field(
        "marked",
        description="`marked`: every marked turn is a unit of weight 1; `updates`: of a knowledge update, the turns "
        "of the last marked session are current, those before are stale (weight 0), and that each of these no "
        "longer holds is a unit of its own.",
    )
    question_types: Annotated[list[str], NotEmpty] | None = Field(
        None, description="Take only questions of these types; default: all."
    )
    limit: Annotated[int, Field(ge=1)] | None = Field(
        None, description="Take this many questions, drawn by `seed`; default: all."
    )
    seed: Annotated[int, Field(ge=0)] = Field(0, description="Seed of the draws of questions and distractors.")
    distractors: Annotated[int, Field(ge=0)] = Field(
        0, description="Sessions besides the answer sessions, drawn for each question; 0: the support slice."
    )
    word_limit: Annotated[int, Field(ge=1)] | None = Field(
        None, description="Words of a session that are read (1800 in the paper); default: all."
    )
    strict: bool = Field(
        False, description="Let every warning of the build (what is odd in the conversations) be an error."
    )

    @field_validator("file")
    @classmethod
    def _given_somewhere(cls, value: list[str], info: ValidationInfo) -> list[str]:
        if not value and not info.context.longmemeval:
            raise _problem("no conversations named; set it here, or run `make natural LONGMEMEVAL=<file>`")
        return value


class LocomoSuite(NaturalSuite):
    """One package per conversation of LoCoMo-form files."""

    source: Literal["locomo"] = Field(description=_SOURCE)
    file: FileNames = Field(
        None,
        description="The conversations: .json, .jsonl, either gzipped, or a folder, or a list of several; "
        "default: the top-level key `locomo`.",
    )
    grid: Annotated[int, Field(ge=1, le=1000)] = Field(
        20, description="Coverage by observations and summaries is rounded down to multiples of 1/grid."
    )
    observation_floor: Annotated[float, Field(ge=0, le=1)] = Field(
        0.0, description="An observation that keeps a smaller share of a cited turn's content words covers none of it."
    )
    summary_floor: Annotated[float, Field(ge=0, le=1)] = Field(
        0.25, description="The same for a session's summary, which shares words with any turn by chance."
    )
    adversarial: Literal["abstention", "evidence"] = Field(
        "abstention",
        description="`abstention`: an adversarial question requires nothing and adds no weight; `evidence`: it "
        "requires the turn that its premise twists.",
    )
    strict: bool = Field(
        False, description="Let every warning of the build (what is odd in the conversations) be an error."
    )

    @field_validator("file")
    @classmethod
    def _given_somewhere(cls, value: list[str], info: ValidationInfo) -> list[str]:
        if not value and not info.context.locomo:
            raise _problem("no conversations named; set it here, or run `make locomo LOCOMO=<file>`")
        return value


class CoveragePackageSuite(NaturalSuite):
    """One package per query of a folder in the coverage-package layout."""

    source: Literal["coverage_package"] = Field(description=_SOURCE)
    package: Annotated[PathText, NotEmpty] = Field(description="The folder in the coverage-package layout.")
    conversations: PathText | None = Field(
        None,
        description="LongMemEval-form conversations that the folder's pointers are filled in from; default: "
        "texts that stand as pointers stay absent.",
    )
    weights: Literal["required", "uniform"] = Field(
        "required",
        description="`required`: a unit's own weight, at least 1 where the query requires it; `uniform`: every "
        "evidence unit counts 1 (no question known).",
    )
    paper_defaults: bool = Field(False, description="Let a missing or zero cost count as 1 (listed as a warning).")
    own: bool = Field(
        False, description="The folder was built here: quotes and ids across files must hold (errors, not warnings)."
    )
    strict: bool = Field(False, description="Let every warning of the structural check be an error.")


def _source(raw: Any) -> str:
    source = raw.get("source") if isinstance(raw, Mapping) else getattr(raw, "source", None)
    # Anything unknown is judged as synthetic, whose `source` then names all.
    return source if isinstance(source, str) and source in SOURCES else "synthetic"


AnySuite = Annotated[
    Annotated[SyntheticSuite, Tag("synthetic")]
    | Annotated[LongMemEvalSuite, Tag("longmemeval")]
    | Annotated[LocomoSuite, Tag("locomo")]
    | Annotated[CoveragePackageSuite, Tag("coverage_package")],
    Discriminator(_source),
]
SOURCES = {
    "synthetic": SyntheticSuite,
    "longmemeval": LongMemEvalSuite,
    "locomo": LocomoSuite,
    "coverage_package": CoveragePackageSuite,
}


class CostModel(Section):
    """A linear cost of a memory's text, rounded up to whole units."""

    per_record: Rate = Field(0, description="Units per memory.")
    per_word: Rate = Field(0, description="Units per whitespace-separated word.")
    per_char: Rate = Field(0, description="Units per character.")
    per_byte: Rate = Field(0, description="Units per UTF-8 byte.")
    min: Annotated[int, Field(ge=1, le=MAX_UNITS)] = Field(
        1, description="Least cost of a memory, a whole number >= 1."
    )

    def rates(self) -> dict[str, int | float]:
        """As `costs.linear` takes them."""
        return {key: getattr(self, key) for key in ("per_record", "per_word", "per_char", "per_byte", "min")}


def _has_cost(entry: CostModel) -> CostModel:
    rates = (entry.per_record, entry.per_word, entry.per_char, entry.per_byte)
    if not any(rates) and "min" not in entry.model_fields_set:
        raise _problem("no positive cost; set per_record, per_word, per_char or per_byte above 0")
    return entry


LinearCost = Annotated[CostModel, AfterValidator(_has_cost)]


class PoolEntry(Section):
    """The representation types an optimum or a writer may choose from."""

    include: Annotated[list[RepresentationType], NotEmpty] | None = Field(
        None, description="Only these representation types; default: all."
    )
    exclude: list[RepresentationType] = Field([], description="Without these representation types.")


class SaturationEntry(Section):
    """A concave piecewise-linear h."""

    breakpoints: list[Point] = Field(
        description="`[[z, h], ...]` from [0, 0] on: z increasing, h nondecreasing and concave; flat after the last."
    )

    @field_validator("breakpoints")
    @classmethod
    def _concave(cls, value: list[list[float]]) -> list[list[float]]:
        try:
            piecewise_linear("", value)
        except InputError as error:
            raise _problem(str(error).removeprefix("saturation : ")) from error
        return value


class WriterEntry(Section):
    """A rule under a name of its own."""

    rule: Annotated[str, AfterValidator(_parse_rule)] = Field(
        description="A rule of ours, or `path/to/file.py:function`, relative to where snakemake runs."
    )
    pool: PoolName = Field("full", description="The pool it chooses from.")
    parameters: Annotated[dict[str, Any], AfterValidator(_plain)] = Field(
        {}, description="Keyword arguments of the rule."
    )
    sees: Literal["metadata", "coverage"] | None = Field(
        None,
        description="For a rule from a file only: `metadata` (default; no coverage, units or queries) or `coverage`.",
    )

    @field_validator("parameters")
    @classmethod
    def _opt_takes_none(cls, value: dict, info: ValidationInfo) -> dict:
        if value and info.data.get("rule") == "opt":
            raise _problem("rule opt takes no parameters; remove them")
        return value

    @field_validator("sees")
    @classmethod
    def _only_own_rules(cls, value: str | None, info: ValidationInfo) -> str | None:
        rule = info.data.get("rule")
        if value is not None and rule is not None and not FILE_RULE.fullmatch(rule):
            raise _problem(f"rule {rule} has its own; remove this key")
        return value

    @property
    def in_file(self) -> bool:
        """Whether the rule is a function in the user's own file."""
        return FILE_RULE.fullmatch(self.rule) is not None


class StoreEntry(Section):
    """A memory store that a system exported: scored under the union of its memories and a suite's packages."""

    suite: SuiteName = Field(description="The natural suite whose examples the store is of.")
    path: Annotated[PathText, NotEmpty] = Field(description="The export: a file, or a folder of one file an example.")
    format: str | None = Field(None, description="Its format (docs/stores.md); default: guessed from the keys.")
    view: str | None = Field(None, description="Which rendering of the memories is read; default: the format's first.")
    parts: dict[str, PathText] = Field(
        {}, description="Further files of an export in one file: `{history: file}`, `blocks` or `archival`."
    )
    instance_id: str | None = Field(None, description="The example that a file with one store is of.")
    instance_key: str | None = Field(None, description="Dotted key of a row that holds its example's id.")
    time_key: str | None = Field(None, description="Dotted key of a row that holds its time.")
    columns: dict[str, str] = Field(
        {}, description="`{role: dotted key}` of rows of any origin (format `generic`); salience in [0, 1]."
    )
    coverage: PathText | None = Field(
        None,
        description="Labels of what the memories cover (JSON lines as coverage_scoring_calls.jsonl); default: such a "
        "file beside the export.",
    )
    judge: Literal["proxy"] | None = Field(
        None,
        description="Instead of labels: who judges coverage. `proxy`: the deterministic proxy, no model "
        "(docs/stores.md); all that rests on it says so, and how sure its verdicts are.",
    )
    salience: PathText | None = Field(
        None,
        description="Salience of the memories, in [0, 1] (JSON lines as salience_scoring_calls.jsonl); default: such a "
        "file beside the export, else what the export holds.",
    )
    cost_model: MemoryCost = Field(
        SAME,
        description="What memories cost. `same`: the suite's cost models on both sides, `declared` (which only "
        "packages have) left out. `paper`: under `declared` they cost `words` (the paper's mixed setting), under "
        "every other cost model the same. Another cost model: that one under `declared`.",
    )
    rules: Annotated[list[PruningRule], NotEmpty] | None = Field(
        None,
        description=f"Pruning rules: {', '.join(PRUNING_RULES)}; default: all that the export has what they need for. "
        "upper_exact is always there.",
    )
    tombstones: bool = Field(True, description="Keep what the store held once as memories of type tombstone.")
    strict: bool = Field(False, description="Let a partial export, or any warning of reading it, be an error.")
    max_bytes: Annotated[int, Field(ge=1, le=MAX_UNITS)] = Field(
        MAX_PARSED,
        description="Bytes of each file that are read, embeddings left out; parsed they take up to thirty times as "
        "much memory.",
    )
    skip_empty: bool = Field(
        False, description="Leave examples with an empty store out of all means (the paper's Mem0 and Letta rows do)."
    )
    demonstration: bool = Field(
        False,
        description="The store shows the method and not a system (a scripted model wrote it): captions say so, and it "
        "is compared with no other.",
    )

    @field_validator("suite")
    @classmethod
    def _of_a_natural_suite(cls, value: str, info: ValidationInfo) -> str:
        if value in info.context.synthetic:
            raise _problem(f"{value} is synthetic, and no system was given its experiences; name a natural suite")
        return value

    @field_validator("judge")
    @classmethod
    def _one_source(cls, value: str | None, info: ValidationInfo) -> str | None:
        if value is not None and info.data.get("coverage") is not None:
            raise _problem("coverage is labelled already; keep `coverage` or `judge`")
        return value

    @property
    def memory_cost(self) -> str | None:
        """The cost model of memories under the suite's `declared` costs; None: no such setting."""
        return {SAME: None, PAPER: "words"}.get(self.cost_model, self.cost_model)


class Bootstrap(Section):
    """The bootstrap interval of every mean."""

    resamples: Annotated[int, Field(ge=1, le=MAX_RESAMPLES)] = Field(1000, description="Number of resamples.")
    seed: Annotated[int, Field(ge=0, le=MAX_SEED)] = Field(0, description="Seed, the same for every row.")


class Illustration(Section):
    """The package that the illustration draws."""

    suite: SuiteName = Field(description="Its suite.")
    package_id: str = Field(description="Its id.")


class Config(Section):
    """A whole configuration file."""

    results: Annotated[str, NotEmpty, AfterValidator(_folder)] = Field(
        "results", description="Folder that everything produced goes to."
    )
    suites: Annotated[dict[Name, AnySuite], NotEmpty] = Field(description="`{name: suite}`, at least one.")
    stores: dict[Annotated[Name, AfterValidator(_store_name)], StoreEntry] = Field(
        {}, description="`{name: exported memory store}`, see docs/stores.md."
    )
    writers: dict[Name, WriterEntry] = Field({}, description="`{name: writer}`.")
    cost_models: dict[Name, LinearCost] = Field({}, description="`{name: cost model}`, none named like a built-in.")
    pools: dict[Name, PoolEntry] = Field({}, description="`{name: pool}`, none named like a built-in.")
    saturations: dict[Name, SaturationEntry] = Field(
        {}, description="`{name: saturation}`, none named like a built-in."
    )
    shard_size: Annotated[int, Field(ge=1, le=MAX_SHARD)] = Field(
        2000, description="Packages of a synthetic suite that one solve, check or score job takes."
    )
    bootstrap: Bootstrap = Field(Bootstrap(), description="See below.")
    published: PathText | None = Field(
        None, description="CSV of published figures to compare with; default: no comparison."
    )
    illustration: Illustration | None = Field(None, description="See below; default: chosen by the workflow.")
    longmemeval: PathText | None = Field(
        None, description="The conversations of every suite of source longmemeval that names none of its own."
    )
    locomo: PathText | None = Field(
        None, description="The conversations of every suite of source locomo that names none of its own."
    )

    # ---- what a workflow asks; `suite` is a name

    def suite_writers(self, suite: str) -> list[str]:
        """Names of the suite's writers, in the order of the file; none where it declares no budget."""
        wanted = self.suites[suite].writers
        if not self.suites[suite].budgets:
            return []
        return list(self.writers) if wanted == "all" else list(wanted)

    def exact_writers(self, suite: str) -> list[str]:
        """The suite's writers that are read from solutions (rule opt)."""
        return [name for name in self.suite_writers(suite) if self.writers[name].rule == "opt"]

    def solved_pools(self, suite: str) -> list[str]:
        """The pools whose optima the suite needs: full (the ratios' denominator), listed, exact writers'."""
        needed = [self.writers[name].pool for name in self.exact_writers(suite)]
        return list(dict.fromkeys(["full", *self.suites[suite].pools, *needed]))

    def settings(self, suite: str) -> list[Setting]:
        """Every (cost model, k, saturation) of the suite."""
        entry = self.suites[suite]
        return [Setting(c, k, s) for c in entry.cost_models for k in entry.k for s in entry.saturations]

    def suite_stores(self, suite: str) -> list[str]:
        """Names of the suite's exported stores, in the order of the file."""
        return [name for name, s in self.stores.items() if s.suite == suite]

    def unions(self) -> dict[str, Union]:
        """Name -> union, of every store the union and the store alone, of every comparison the joint union."""
        out: dict[str, Union] = {}
        for suite, entry in self.suites.items():
            for store in self.suite_stores(suite):
                out[f"{suite}{JOIN}{store}"] = Union(suite, (store,))
                out[f"{suite}{JOIN}{store}{JOIN}{ALONE}"] = Union(suite, (store,), alone=True)
            compared = getattr(entry, "compare_stores", ())
            if compared:
                out[f"{suite}{JOIN}{JOINT}"] = Union(suite, tuple(compared))
        return out

    def union_settings(self, union: Union) -> list[Setting]:
        """The suite's settings in which all of the union's memories have a cost."""
        mixed = all(self.stores[store].memory_cost is not None for store in union.stores)
        return [s for s in self.settings(union.suite) if mixed or s.cost_model != costs.DECLARED]

    def store_paths(self, name: str) -> list[str]:
        """The files and folders from outside that the store is read from, labels included."""
        entry = self.stores[name]
        return [path for path in (entry.path, *entry.parts.values(), entry.coverage, entry.salience) if path]

    def store_part(self, name: str) -> dict[str, Any]:
        """All that reading a store depends on, besides the content of its files."""
        keys = {"format", "view", "instance_id", "instance_key", "time_key", "columns", "tombstones", "strict"}
        keys |= {"max_bytes", "judge"}
        return {**self.stores[name].model_dump(mode="json", include=keys), "parts": sorted(self.stores[name].parts)}

    def memory_costs(self, union: Union) -> dict[str, Any]:
        """Store -> [name, definition] of its memories' cost model under `declared`; words where nothing needs one."""
        names = {store: self.stores[store].memory_cost or "words" for store in union.stores}
        return {store: [name, self.cost_model_part(name)] for store, name in names.items()}

    def budget_specs(self, suite: str) -> list[str]:
        """The declared budgets' one spelling each, as in tables."""
        return [budget.spec for budget in self.suites[suite].budgets]

    def curve_part(self, suite: str) -> dict[str, str | None] | None:
        """How far the suite's curves go: {"max_budget": spelling or None (the total cost)}; None: it has none."""
        entry = self.suites[suite]
        if not entry.has_curve:
            return None
        return {"max_budget": None if entry.max_budget is None else entry.max_budget.spec}

    def sample_part(self, suite: str) -> dict[str, int]:
        """Which jumps of a curve are solved again: how many, drawn by which seed."""
        entry = self.suites[suite]
        return {"jumps": entry.check_sample, "seed": entry.check_seed}

    def source_paths(self, suite: str) -> list[str]:
        """The files and folders from outside that the suite's packages are made of."""
        entry = self.suites[suite]
        if isinstance(entry, CoveragePackageSuite):
            return [entry.package, *([entry.conversations] if entry.conversations else [])]
        if isinstance(entry, SyntheticSuite):
            return []
        return entry.file or [getattr(self, entry.source)]

    def statistics_paths(self, suite: str) -> list[str]:
        """The files and folders from outside that the suite's statistics read besides."""
        entry = self.suites[suite]
        given = (entry.audit, entry.downstream) if isinstance(entry, NaturalSuite) else ()
        return [path for path in given if path]

    def shards(self, suite: str) -> int:
        """How many jobs share a setting; a natural suite's size is not known before."""
        entry = self.suites[suite]
        packages = len(entry.distributions) * len(entry.seeds) if isinstance(entry, SyntheticSuite) else 1
        return -(-packages // self.shard_size)

    def pool(self, name: str) -> Pool:
        if name in POOLS:
            return POOLS[name]
        entry = self.pools[name]
        return Pool(name, None if entry.include is None else tuple(entry.include), tuple(entry.exclude))

    def saturation(self, name: str) -> Saturation:
        if name in SATURATIONS:
            return SATURATIONS[name]
        return piecewise_linear(name, self.saturations[name].breakpoints)

    def cost_parameters(self, name: str) -> dict[str, int | float] | None:
        """The linear parameters of a configured cost model; None for a built-in one."""
        return self.cost_models[name].rates() if name in self.cost_models else None

    # ---- JSON-able parts, one a stage: a stage reruns when its part changes, and on nothing else

    def source_definition(self, suite: str) -> dict[str, Any]:
        """All that the suite's packages depend on, besides the code and the content of `source_paths`.

        Keys: source, quantize (int or None); for synthetic ones also distributions, seeds (a list),
        normal_count, update_count and parameters; for longmemeval and locomo also their own keys, but file;
        for coverage_package also weights, paper_defaults, own and strict.
        """
        entry = self.suites[suite]
        if isinstance(entry, LongMemEvalSuite | LocomoSuite):
            keys = {"quantize", *(type(entry).model_fields.keys() - NaturalSuite.model_fields.keys() - {"file"})}
            return entry.model_dump(mode="json", include=keys)
        if isinstance(entry, CoveragePackageSuite):
            keys = {"source", "quantize", "weights", "paper_defaults", "own", "strict"}
            return entry.model_dump(mode="json", include=keys)
        keys = {"source", "distributions", "normal_count", "update_count", "parameters", "quantize"}
        return {**entry.model_dump(mode="json", include=keys), "seeds": list(entry.seeds)}

    def pool_part(self, name: str) -> dict[str, list[str] | None]:
        """A pool's definition: {"include": types or None, "exclude": types}."""
        pool = self.pool(name)
        return {
            "include": None if pool.include is None else list(pool.include),
            "exclude": list(pool.exclude),
        }

    def saturation_part(self, name: str) -> str | list[list[float]]:
        """The definition of a saturation: a built-in's name, or breakpoints."""
        return name if name in SATURATIONS else self.saturations[name].breakpoints

    def cost_model_part(self, name: str) -> str | dict[str, int | float]:
        """The definition of a cost model: a built-in's name, or linear parameters."""
        return name if name in COST_MODELS else self.cost_models[name].rates()

    def problem_part(self, setting: Setting, solved: Iterable[str]) -> dict[str, Any]:
        """Definitions of one setting and its pools; travels in the metadata of a solutions file."""
        return {
            "pools": {name: self.pool_part(name) for name in solved},
            "saturations": {setting.saturation: self.saturation_part(setting.saturation)},
            "cost_models": {setting.cost_model: self.cost_model_part(setting.cost_model)},
        }

    def writer_part(self, name: str) -> dict[str, Any]:
        """All that a writer's choices depend on, besides packages, budget and code."""
        entry = self.writers[name]
        return {**entry.model_dump(mode="json"), "pool_definition": self.pool_part(entry.pool)}


# ---- parsing

# Where each model of a named entry stands: top-level key -> model of its entries.
ENTRIES: dict[str, type[Section]] = {
    "stores": StoreEntry,
    "writers": WriterEntry,
    "cost_models": CostModel,
    "pools": PoolEntry,
    "saturations": SaturationEntry,
}
SINGLE: dict[str, type[Section]] = {"bootstrap": Bootstrap, "illustration": Illustration}
# A mapping inside a suite.
INNER: dict[str, type[Section]] = {"robustness": Robustness}


def parse_config(
    raw: Any, source: str, rules: Collection[str], distributions: Collection[str], more: Iterable[str] = ()
) -> Config:
    """The configuration in the mapping `raw`, read from `source` (named in errors).

    `rules` and `distributions` are the known writer rules and synthetic distributions; `more` are problems
    found elsewhere (in the file system), to be told with the others. Raises one InputError with a line for
    every problem.
    """
    if not isinstance(raw, Mapping):
        raise InputError(f"{source}: is {_kind(raw)}; write a mapping of keys, see config/README.md")
    problems = [*_repeats(raw), *_taken(raw), *_not_comparable(raw), *_wrong_stores(raw), *more]
    try:
        config = Config.model_validate(dict(raw), context=_known(raw, rules, distributions))
    except ValidationError as error:
        problems = [_explain(dict(e)) for e in error.errors(include_url=False)] + problems
    if problems:
        count = f"{len(problems)} problem{'s' if len(problems) > 1 else ''}"
        raise InputError("\n  ".join([f"{source}: {count}; config/README.md explains every key", *problems]))
    return config


def _known(raw: Mapping, rules: Collection[str], distributions: Collection[str]) -> Known:
    def names(key: str, built_in: Iterable[str] = ()) -> tuple[str, ...]:
        section = raw.get(key)
        own = [n for n in section if isinstance(n, str)] if isinstance(section, Mapping) else []
        return (*built_in, *own)

    return Known(
        rules=tuple(rules),
        distributions=tuple(distributions),
        suites=names("suites"),
        synthetic=tuple(n for n, s in _items(raw.get("suites")) if dict(_items(s)).get("source") == "synthetic"),
        stores=names("stores"),
        writers=names("writers"),
        pools=names("pools", POOLS),
        cost_models=names("cost_models", COST_MODELS),
        saturations=names("saturations", SATURATIONS),
        longmemeval=bool(raw.get("longmemeval")),
        locomo=bool(raw.get("locomo")),
    )


def _repeats(raw: Mapping) -> Iterable[str]:
    """A line for every list that holds a value twice; 1 and 1.0 are two budgets, 0.1 and 0.10 are one."""
    lists = (
        ((section, entry, key), value)
        for section in ("suites", "pools")
        for entry, keys in _items(raw.get(section))
        for key, value in _items(keys)
        if isinstance(value, list)
    )
    for loc, value in lists:
        counted = Counter(repr(v) for v in value if v is None or isinstance(v, str | int | float))
        twice = [v if len(v) <= MAX_NAME else f"{v[:MAX_NAME]}..." for v, count in counted.items() if count > 1]
        if twice:
            yield f"{key_path(loc)}: {', '.join(twice)} stands twice; remove the repeat"


def _taken(raw: Mapping) -> Iterable[str]:
    """A line for every entry named like a built-in."""
    for section, built_in in (("cost_models", COST_MODELS), ("pools", POOLS), ("saturations", SATURATIONS)):
        for name, _ in _items(raw.get(section)):
            if name in built_in:
                yield f"{section}.{name}: {name} is built in; choose another name"


def _not_comparable(raw: Mapping) -> Iterable[str]:
    """A line for every suite that is compared with itself, with a synthetic one, or with one that lacks its first
    setting, the one that is compared."""
    suites = dict(_items(raw.get("suites")))
    for name, keys in suites.items():
        own = dict(_items(keys))
        named = own.get("compare_with")
        for i, other in enumerate(named if isinstance(named, list) else ()):
            where = f"suites.{name}.compare_with[{i}]"
            others = dict(_items(suites.get(other))) if isinstance(other, str) else {}
            if other == name:
                yield f"{where}: is the suite itself; name another, or remove it"
            elif others.get("source") == "synthetic":
                yield f"{where}: {other} is synthetic; name a natural suite, or remove it"
            elif others:
                yield from (f"{where}: {line}" for line in _lacks_first(name, own, other, others))


def _lacks_first(name: str, own: Mapping, other: str, others: Mapping) -> Iterable[str]:
    for key in ("cost_models", "k", "saturations"):
        default = Suite.model_fields[key].default
        first, there = own.get(key, default), others.get(key, default)
        if isinstance(first, list) and first and isinstance(there, list) and first[0] not in there:
            yield (
                f"the first setting of {name} is compared, and {other} has no {shown(first[0])} among its {key}; "
                f"add it there, or remove the comparison"
            )


def _wrong_stores(raw: Mapping) -> Iterable[str]:
    """A line for every store that has a cost in no setting, is of a suite without declared budgets, or is scripted and
    not said to be a demonstration, and for every comparison of fewer than two stores, of stores of another suite, or
    of demonstrations."""
    stores = {name: dict(_items(keys)) for name, keys in _items(raw.get("stores"))}
    suites = {name: dict(_items(keys)) for name, keys in _items(raw.get("suites"))}
    for name, own in stores.items():
        suite = suites.get(own.get("suite"), {}) if isinstance(own.get("suite"), str) else {}
        only_declared = suite.get("cost_models", [costs.DECLARED]) == [costs.DECLARED]
        natural = suite.get("source") in SOURCES and suite["source"] != "synthetic"
        if natural and only_declared and own.get("cost_model", SAME) == SAME:
            yield (
                f"stores.{name}.cost_model: suite {own['suite']} has declared costs only, and memories declare none; "
                f"add a cost model of texts to the suite (cost_models: [words]), or write cost_model: {PAPER}"
            )
        if natural and suite.get("budgets") == ALL_BUDGETS:
            yield (
                f"stores.{name}.suite: stores are scored at declared budgets, and suite {own['suite']} has `budgets: "
                f"all`, which declares none; list budgets there and add `curve: true`, or remove the store"
            )
        if isinstance(name, str) and name.endswith(SCRIPTED) and own.get("demonstration") is not True:
            yield f"stores.{name}.demonstration: a scripted store shows no system; write demonstration: true, or rename"
    for name, own in suites.items():
        named = own.get("compare_stores")
        if not isinstance(named, list) or not named:
            continue
        if len(named) < 2:
            yield f"suites.{name}.compare_stores: one store is compared with nothing; name two or more, or remove it"
        for i, store in enumerate(named):
            other = stores.get(store, {}) if isinstance(store, str) else {}
            if other and other.get("suite") != name:
                yield f"suites.{name}.compare_stores[{i}]: {store} is of suite {shown(other.get('suite'))}; remove it"
            if other.get("demonstration") is True:
                yield f"suites.{name}.compare_stores[{i}]: {store} is a demonstration and compared with none; remove it"


def _items(section: Any) -> Iterable[tuple[str, Any]]:
    return section.items() if isinstance(section, Mapping) else ()


_EXPECTED = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "string_type": "text",
    "list_type": "a list, in [ ]",
    "dict_type": "a mapping of keys",
    "model_type": "a mapping of keys",
    "model_attributes_type": "a mapping of keys",
    "too_long": "exactly two numbers, [z, h]",
    "too_short": "exactly two numbers, [z, h]",
}


def _explain(error: dict[str, Any]) -> str:
    """One line for one pydantic error."""
    loc = list(error["loc"])
    if len(loc) > 2 and loc[0] == "suites" and loc[2] in SOURCES:
        model = SOURCES[loc.pop(2)]  # pydantic puts the chosen source into the path
        model = INNER.get(loc[2], model) if len(loc) > 3 else model
    elif len(loc) > 2:
        model = ENTRIES.get(loc[0])
    else:
        model = Config
    if len(loc) == 2 and loc[0] in SINGLE:
        model = SINGLE[loc[0]]
    return f"{key_path(p for p in loc if p != '[key]')}: {_what(error, loc, model)}"


def _what(error: dict[str, Any], loc: list[str | int], model: type[Section] | None) -> str:
    kind, value, context = error["type"], error["input"], error.get("ctx", {})
    if kind == "memaudit":
        return context["message"]
    if kind in ("extra_forbidden", "invalid_key"):
        return _unknown_key(loc, model)
    if kind == "missing":
        return f"is missing; {model.model_fields[loc[-1]].description}"
    if kind == "literal_error" and loc[-1] == "source":
        return f"unknown source {shown(value)}; {nearest(value, SOURCES)}"
    if loc[-1] == "[key]":
        return f"the name {shown(value)} is {_kind(value)}; write it in quotes"
    if kind in _EXPECTED:
        return f"{shown(value)} is {_kind(value)}; expected {_EXPECTED[kind]}"
    if kind == "greater_than_equal":
        return f"{shown(value)} is below {_plainly(context['ge'])}; give at least {_plainly(context['ge'])}"
    if kind == "greater_than":
        return f"{shown(value)} is not above {_plainly(context['gt'])}; give more"
    if kind == "less_than_equal":
        return f"{shown(value)} is above {_plainly(context['le'])}; give at most {_plainly(context['le'])}"
    return f"{shown(value)}: {error['msg']}"


def _plainly(limit: int | float) -> int | float:
    """1000000000.0, as pydantic tells a number's limit, without the point."""
    return int(limit) if limit == int(limit) else limit


def _unknown_key(loc: list[str | int], model: type[Section]) -> str:
    key, keys = str(loc[-1]), model.model_fields
    if model is SaturationEntry:
        return "declined: give breakpoints: [[z, h], ...] of your function, so that optima stay exact"
    other = [name for name, suite in SOURCES.items() if key in suite.model_fields]
    if other and model in SOURCES.values():
        return f"is a key of source {' or '.join(other)} only; remove it or change the source"
    return f"unknown key; {nearest(key, keys)}"
