"""Reading a configuration file, with the checks that need the file system or the registries."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from .config import ALL_BUDGETS, FILE_RULE, Config, StoreEntry, parse_config
from .config_yaml import Unread, read_yaml
from .errors import InputError, count_of, key_path, shown
from .files_io import kind_of_entry

# How many parameters of a rule are not configurable, by what it sees (writers.registry).
_POSITIONAL = {"metadata": 2, "coverage": 3, "solution": 0}


def load_config(path: str | Path, overrides: Mapping[str, Any] | None = None) -> Config:
    """The configuration in the YAML file `path`; `overrides` are top-level keys given on the command line.

    Raises one InputError with a line for every problem: what `parse_config` finds, keys that stand twice
    (with their lines), missing or wrong files, parameters that a writer rule or distribution does not take, an
    illustrated package that its suite does not make.
    Relative paths are relative to the working directory.
    """
    from .synthetic import DISTRIBUTIONS
    from .writers.registry import RULES

    _register_rules()
    raw, repeated = read_yaml(Path(path))
    if isinstance(raw, dict):
        raw.update(overrides or {})
    problems = [*repeated, *_missing_files(raw), *_wrong_published(raw), *_wrong_rules(raw, RULES), *_wrong_stores(raw)]
    problems += [*_wrong_parameters(raw, DISTRIBUTIONS), *_wrong_illustration(raw, DISTRIBUTIONS)]
    config = parse_config(raw, str(path), RULES, DISTRIBUTIONS, problems)
    unlearnable = list(_unlearnable(config, RULES))
    if unlearnable:
        told = f"{path}: writers of {count_of(len(unlearnable), 'suite')} cannot be trained"
        raise InputError("\n  ".join([told, *unlearnable]))
    return config


# Bytes of an export that is read before the run, so that a wrong one is told before any job.
_READ_EARLY = 1 << 20


def check_stores(config: Config) -> None:
    """InputError, with a line a store, where a small export cannot be read, is of none of its suite's questions or of
    other memories than its salience file, lacks what a pruning rule needs in all of its stores, or where its coverage
    rows are wrong or name a unit that the package does not have; with a line a suite where compared stores, all of
    small exports, have no example in common.

    Which questions they are is known of some suites only without building them (`coverage_package`), and which of them
    count of none; a job checks every store.
    """
    from .stores.ingest_io import store_files

    problems: list[str] = []
    examples: dict[str, set[str]] = {}
    for name, entry in config.stores.items():
        try:
            files = [*store_files(entry.path), *entry.parts.values(), *_salience_files(entry), *_coverage_files(entry)]
            if sum(Path(file).stat().st_size for file in files) <= _READ_EARLY:
                examples[name] = _check_store(config, name, entry)
        except InputError as error:
            problems.append(str(error))
    if problems:
        raise InputError("\n  ".join([f"{count_of(len(problems), 'store')} cannot be used", *problems]))
    apart = list(_nothing_in_common(config, examples))
    if apart:
        raise InputError("\n  ".join(["stores cannot be compared", *apart]))


def _nothing_in_common(config: Config, examples: Mapping[str, set[str]]) -> Iterable[str]:
    """A line for every suite whose compared stores have no example in common, as far as `examples` (store -> ids of the
    examples that it has a store for) has all of them."""
    for suite, entry in config.suites.items():
        named = getattr(entry, "compare_stores", ())
        if not named or not all(examples.get(name) for name in named):
            continue
        if not set.intersection(*(examples[name] for name in named)):
            held = "; ".join(f"{name} has {_first_of(examples[name])}" for name in named)
            yield (
                f"suites.{suite}.compare_stores: no example has a store in each of {', '.join(named)} ({held}); export "
                f"the same questions of each, or compare others"
            )


def _first_of(ids: set[str]) -> str:
    first = sorted(ids)[:3]
    return ", ".join(map(repr, first)) + (f" and {len(ids) - len(first)} more" if len(ids) > len(first) else "")


def _salience_files(entry: StoreEntry) -> list[str]:
    """The one salience file, named or beside the export, or none."""
    from .stores.ingest_io import SALIENCE, label_file_beside

    file = entry.salience or label_file_beside(entry.path, SALIENCE)
    return [] if file is None else [str(file)]


def _coverage_files(entry: StoreEntry) -> list[str]:
    """The one file of coverage rows, named or beside the export; none where a judge says what memories cover."""
    from .stores.ingest_io import COVERAGE, label_file_beside

    file = None if entry.judge else entry.coverage or label_file_beside(entry.path, COVERAGE)
    return [] if file is None else [str(file)]


def _check_store(config: Config, name: str, entry: StoreEntry) -> set[str]:
    """The ids of the examples that the store is of; none where it does not say so and its suite may know."""
    from .natural.coverage_package_io import query_ids
    from .stores.ingest import match
    from .stores.ingest_io import read_labels, read_stores
    from .stores.labels import refuse_salience_of_another_store
    from .stores.model import IngestOptions

    suite, salience = config.suites[entry.suite], _salience_files(entry)
    part = {k: v for k, v in config.store_part(name).items() if k not in ("judge", "parts")}
    found = read_stores(entry.path, IngestOptions(name=name, **part), entry.parts, beside=False)
    stores = [one.store for one in found]
    examples = query_ids(suite.package) if suite.source == "coverage_package" else None
    if examples is not None:
        matched = match(stores, examples, f"stores.{name}").stores
        stores = list(matched.values())
        if salience:
            refuse_salience_of_another_store(name, matched, read_labels(salience[0]), entry.view)
    for file in _coverage_files(entry):
        _check_coverage_rows(read_labels(file), suite, examples)
    _refuse_rules_without_ranks(name, entry, [m for store in stores for m in store.memories], bool(salience))
    ids = {store.instance_id for store in stores}
    return set() if None in ids else ids


def _check_coverage_rows(given: Any, suite: Any, examples: Sequence[str] | None) -> None:
    """InputError on a row that is not in the form of coverage, and, where the suite's examples and so its units are
    known, on one of an example that names another unit."""
    from .natural.coverage_package_io import unit_ids
    from .stores.labels import check_coverage, refuse_unknown_units

    for instance_id in sorted(given.rows):
        check_coverage(given, instance_id)
    if examples is not None:
        refuse_unknown_units(given, unit_ids(suite.package), examples)


def _refuse_rules_without_ranks(name: str, entry: StoreEntry, memories: Sequence[Any], rated: bool) -> None:
    """InputError where a rule orders by what no memory has; `rated`: a file gives salience."""
    from .analysis.store_scores import NEEDS

    there = {field for field in NEEDS.values() if any(getattr(m, field) is not None for m in memories)}
    there |= {"salience"} if rated else set()
    lacking = [rule for rule in entry.rules or () if rule in NEEDS and NEEDS[rule] not in there]
    if memories and lacking:
        rule, field = lacking[0], NEEDS[lacking[0]]
        raise InputError(
            f"stores.{name}.rules: {rule}: no memory of the export has a {field}; export it (salience: or in a file of "
            f"its own), or leave the rule out"
        )


def _unlearnable(config: Config, rules: Mapping[str, Any]) -> Iterable[str]:
    """Suites whose writers learn, yet without seeds of both parities (even ones train, odd ones are scored)."""
    for name, suite in config.suites.items():
        if {seed % 2 for seed in getattr(suite, "seeds", ())} == {0, 1}:
            continue
        for writer in config.suite_writers(name):
            entry = config.writers[writer]
            rule = rules.get(entry.rule)
            learns = _file_fits(entry.rule) if rule is None else rule.fit is not None and rule.learns(entry.parameters)
            if learns:
                yield (
                    f"suites.{name}: writer {writer} learns from even seeds and is scored on odd ones, and the suite "
                    f"has not both; add seeds, or list the suite's writers without it"
                )


def _file_fits(rule: str) -> bool:
    """Whether the file of a rule defines `fit`; it is read but not run."""
    path = FILE_RULE.fullmatch(rule)["path"]
    return any(isinstance(n, ast.FunctionDef) and n.name == "fit" for n in ast.parse(Path(path).read_bytes()).body)


def _register_rules() -> None:
    from .writers import rules  # noqa: F401


# ---- what the file refers to; a raw value of a wrong type is parse_config's to tell


def _missing_files(raw: Any) -> Iterable[str]:
    named = [(key, _get(raw, key)) for key in ("published", "longmemeval", "locomo")]
    for name, suite in _items(_get(raw, "suites")):
        keys = ("file", "package", "conversations", "audit", "downstream")
        named += [(key_path(("suites", name, key)), _get(suite, key)) for key in keys]
    for name, store in _items(_get(raw, "stores")):
        named += [(key_path(("stores", name, key)), _get(store, key)) for key in ("path", "coverage", "salience")]
        named += [(key_path(("stores", name, "parts", key)), path) for key, path in _items(_get(store, "parts"))]
    for key, value in named:
        for path in value if isinstance(value, list) else [value]:
            if not isinstance(path, str) or not path:
                continue
            if not _exists(Path(path)):
                yield f"{key}: there is no {shown(path)}; give a path that exists, relative to where you run"
            elif key != "published" and not (Path(path).is_file() or Path(path).is_dir()):  # that one: _wrong_published
                yield f"{key}: {shown(path)} is {kind_of_entry(Path(path))}; give a file, or a folder of files"
    results = _get(raw, "results")
    if isinstance(results, str) and _exists(Path(results)) and not Path(results).is_dir():
        yield f"results: {shown(results)} is a file; give the name of a folder"


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # a name that no file can have, or a folder that may not be entered
        return False


def _wrong_stores(raw: Any) -> Iterable[str]:
    """Formats, views, parts and columns that there are not, and stores that nobody labels."""
    from .stores.adapters import ADAPTERS
    from .stores.generic import check_columns
    from .stores.ingest_io import COVERAGE, label_file_beside
    from .stores.registry import named

    for name, store in _items(_get(raw, "stores")):
        where = key_path(("stores", name))
        wanted, view, columns = (_get(store, key) for key in ("format", "view", "columns"))
        try:
            adapter = named(wanted) if isinstance(wanted, str) else None
            if adapter is not None and isinstance(view, str):
                adapter.view(view)
            if isinstance(columns, dict):
                check_columns(columns)
        except InputError as error:
            yield f"{where}: {error}"
        taken = {part for a in ADAPTERS.values() for part in a.parts}
        wrong = [key for key, _ in _items(_get(store, "parts")) if key not in taken]
        if wrong:
            yield f"{where}.parts: there is no part {shown(wrong[0])}; known: {', '.join(sorted(taken))}"
        yield from _wrong_labels(where, store, label_file_beside, COVERAGE)


def _wrong_labels(where: str, store: Any, label_file_beside: Callable, name: str) -> Iterable[str]:
    """A line where neither labels nor a judge say what memories cover, or both do (`coverage` beside `judge` is
    config.py's to tell)."""
    path, coverage, judge = (_get(store, key) for key in ("path", "coverage", "judge"))
    if coverage is not None or not isinstance(path, str) or not _exists(Path(path)):
        return
    beside = label_file_beside(path, name)
    if judge is None and beside is None:
        yield f"{where}: nobody says what its memories cover; give `coverage`, or write judge: proxy (docs/stores.md)"
    if judge is not None and beside is not None:
        yield f"{where}.judge: coverage is labelled already, in {beside}; remove `judge`, or that file"


def _wrong_published(raw: Any) -> Iterable[str]:
    """A line where there is something by the name, but no CSV with the columns that the comparison reads."""
    import pandas as pd

    from .analysis.published import COLUMNS

    value = _get(raw, "published")
    if not isinstance(value, str) or not value or not _exists(Path(value)):
        return
    fix = "give a CSV as config/published.csv"
    if not Path(value).is_file():
        yield f"published: {shown(value)} is a folder or device; {fix}"
        return
    try:
        header = pd.read_csv(value, nrows=0).columns
    except Exception as error:  # whatever a wrong file makes pandas raise
        yield f"published: {shown(value)} cannot be read ({shown(str(error))}); {fix}"
        return
    missing = [name for name in COLUMNS if name not in header]
    if missing:
        yield f"published: {shown(value)} has no column {', '.join(missing)}; {fix}"


def _wrong_rules(raw: Any, rules: Mapping[str, Any]) -> Iterable[str]:
    """Functions that are not there, and parameters that a rule does not take."""
    for name, entry in _items(_get(raw, "writers")):
        rule, given = _get(entry, "rule"), [key for key, _ in _items(_get(entry, "parameters"))]
        match = FILE_RULE.fullmatch(rule) if isinstance(rule, str) else None
        if match:
            sees = "coverage" if _get(entry, "sees") == "coverage" else "metadata"
            try:
                takes = _takes_from_file(Path(match["path"]), match["function"], _POSITIONAL[sees])
            except InputError as error:
                yield f"{key_path(('writers', name, 'rule'))}: {error}"
                continue
        elif isinstance(rule, str) and rule in rules and rules[rule].function is not None:
            takes = _takes(rules[rule])
        else:
            continue
        wrong = [key for key in given if takes is not None and key not in takes]
        if wrong:
            refused, known = ", ".join(map(str, wrong)), ", ".join(takes) or "none"
            yield f"{key_path(('writers', name, 'parameters'))}: {rule} does not take {refused}; it takes: {known}"
        if not match and rules[rule].check is not None:
            yield from _refused(rules[rule].check, ("writers", name, "parameters"), _get(entry, "parameters"))


def _refused(check: Any, where: tuple[str, ...], parameters: Any) -> Iterable[str]:
    """What a rule says of the values of its parameters, where they are a mapping."""
    read = {key: value for key, value in _items(parameters) if not isinstance(value, Unread)}  # others are told
    try:
        check(read)
    except InputError as error:
        yield from (f"{key_path(where)}.{line}" for line in str(error).splitlines())


def _takes(rule: Any) -> list[str] | None:
    """Names of the parameters a registered rule may be given; None: any."""
    parameters = list(inspect.signature(rule.function).parameters.values())
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return None
    return [p.name for p in parameters[_POSITIONAL[rule.sees] :]]


def _takes_from_file(path: Path, function: str, positional: int) -> list[str] | None:
    """The same for a function in a file, which is read but not run."""
    if not _exists(path) or not path.is_file():
        raise InputError(f"there is no file {shown(str(path))}; give a path that exists, relative to where you run")
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise InputError(f"{path} is no readable Python file ({error})") from error
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    if function not in functions:
        found = ", ".join(functions) or "none"
        raise InputError(f"{path} defines no function {function!r}; its functions: {found}")
    arguments = functions[function].args
    if arguments.kwarg:
        return None
    plain = [a.arg for a in (*arguments.posonlyargs, *arguments.args)]
    return plain[positional:] + [a.arg for a in arguments.kwonlyargs]


def _wrong_parameters(raw: Any, distributions: Mapping[str, Any]) -> Iterable[str]:
    from .synthetic import check_parameters

    for suite, entry in _items(_get(raw, "suites")):
        for name, given in _items(_get(entry, "parameters")):
            if name not in distributions or not isinstance(given, Mapping):
                continue
            if not all(isinstance(key, str) for key in given):
                continue
            try:
                check_parameters(name, given)
            except InputError as error:
                yield from (f"{key_path(('suites', suite))}.{line}" for line in str(error).splitlines())


def _wrong_illustration(raw: Any, distributions: Mapping[str, Any]) -> Iterable[str]:
    """A line where the suite that is drawn declares no budget, or is synthetic and does not make the package."""
    from .synthetic import package_ids

    drawn = _get(raw, "illustration")
    suite, wanted = _get(drawn, "suite"), _get(drawn, "package_id")
    if not isinstance(suite, str) or not isinstance(wanted, str):
        return
    entry = _get(_get(raw, "suites"), suite)
    if _get(entry, "budgets") == ALL_BUDGETS:
        yield f"illustration.suite: what OPT keeps at declared budgets is drawn, and suite {suite} declares none"
    names, seeds = _get(entry, "distributions"), _get(entry, "seeds")
    seeds = range(seeds) if type(seeds) is int else seeds
    if _get(entry, "source") != "synthetic" or not isinstance(names, list) or not isinstance(seeds, list | range):
        return
    names = [name for name in names if isinstance(name, str) and name in distributions]
    if not names or not seeds:
        return
    digits = re.search("[0-9]{1,19}$", wanted)
    seed = [int(digits[0])] if digits and int(digits[0]) in seeds else []
    if not any(wanted in package_ids(name, seed) for name in names):
        made = ", ".join(package_ids(name, [seeds[0]])[0] for name in names)
        yield (
            f"illustration.package_id: suite {suite} makes no package {shown(wanted)}; give an id such as {made}, "
            f"with a seed of the suite"
        )


def _get(section: Any, key: str) -> Any:
    return section.get(key) if isinstance(section, Mapping) else None


def _items(section: Any) -> Iterable[tuple[Any, Any]]:
    return section.items() if isinstance(section, Mapping) else ()
