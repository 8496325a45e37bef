"""Reading a configuration file, with the checks that need the file system or the registries."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from .config import FILE_RULE, Config, parse_config
from .errors import InputError

# How many parameters of a rule are not configurable, by what it sees (writers.registry).
_POSITIONAL = {"metadata": 2, "coverage": 3, "solution": 0}


def load_config(path: str | Path, overrides: Mapping[str, Any] | None = None) -> Config:
    """The configuration in the YAML file `path`; `overrides` are top-level keys given on the command line.

    Raises one InputError with a line for every problem: what `parse_config` finds, keys that stand twice
    (with their lines), missing files, parameters that a writer rule or distribution does not take.
    Relative paths are relative to the working directory.
    """
    from .synthetic import DISTRIBUTIONS
    from .writers.registry import RULES

    _register_rules()
    raw, repeated = _read_yaml(Path(path))
    if isinstance(raw, dict):
        raw.update(overrides or {})
    problems = [*repeated, *_missing_files(raw), *_wrong_rules(raw, RULES)]
    problems += _wrong_parameters(raw, DISTRIBUTIONS)
    return parse_config(raw, str(path), RULES, DISTRIBUTIONS, problems)


def _register_rules() -> None:
    from .writers import rules  # noqa: F401


# ---- YAML with every key once


def _read_yaml(path: Path) -> tuple[Any, list[str]]:
    """The file's content and a line for each repeated key."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; copy config/config.yaml and edit the copy") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not readable as UTF-8 text ({error})") from error
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        return yaml.safe_load(text), list(_repeated_keys(node, ()))
    except yaml.YAMLError as error:
        raise InputError(f"{path}: not valid YAML: {_one_line(error)}") from error


def _one_line(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    if mark is None:
        return str(error).replace("\n", " ")
    return f"{error.problem} at line {mark.line + 1}, column {mark.column + 1}"


def _repeated_keys(node: yaml.Node | None, path: tuple[str, ...]) -> Iterable[str]:
    """YAML keeps the last of two equal keys and says nothing."""
    if isinstance(node, yaml.SequenceNode):
        for child in node.value:
            yield from _repeated_keys(child, path)
    if not isinstance(node, yaml.MappingNode):
        return
    first: dict[str, int] = {}
    for key, child in node.value:
        name, line = str(key.value), key.start_mark.line + 1
        if name in first:
            where = ".".join((*path, name))
            yield f"{where}: stands twice, in lines {first[name]} and {line}; remove or rename one"
        first.setdefault(name, line)
        yield from _repeated_keys(child, (*path, name))


# ---- what the file refers to; a raw value of a wrong type is parse_config's to tell


def _missing_files(raw: Any) -> Iterable[str]:
    named = [(key, _get(raw, key)) for key in ("published", "longmemeval", "locomo")]
    for name, suite in _items(_get(raw, "suites")):
        keys = ("file", "package", "conversations", "audit", "downstream")
        named += [(f"suites.{name}.{key}", _get(suite, key)) for key in keys]
    for key, value in named:
        for path in value if isinstance(value, list) else [value]:
            if isinstance(path, str) and path and not Path(path).exists():
                yield f"{key}: there is no {path}; give a path that exists, relative to where you run"


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
                yield f"writers.{name}.rule: {error}"
                continue
        elif isinstance(rule, str) and rule in rules and rules[rule].function is not None:
            takes = _takes(rules[rule])
        else:
            continue
        wrong = [key for key in given if takes is not None and key not in takes]
        if wrong:
            refused, known = ", ".join(map(str, wrong)), ", ".join(takes) or "none"
            yield f"writers.{name}.parameters: {rule} does not take {refused}; it takes: {known}"


def _takes(rule: Any) -> list[str] | None:
    """Names of the parameters a registered rule may be given; None: any."""
    parameters = list(inspect.signature(rule.function).parameters.values())
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return None
    return [p.name for p in parameters[_POSITIONAL[rule.sees] :]]


def _takes_from_file(path: Path, function: str, positional: int) -> list[str] | None:
    """The same for a function in a file, which is read but not run."""
    if not path.is_file():
        raise InputError(f"there is no file {path}; give a path that exists, relative to where you run")
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except (OSError, SyntaxError, UnicodeDecodeError) as error:
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
            try:
                check_parameters(name, given)
            except InputError as error:
                yield from (f"suites.{suite}.{line}" for line in str(error).splitlines())


def _get(section: Any, key: str) -> Any:
    return section.get(key) if isinstance(section, Mapping) else None


def _items(section: Any) -> Iterable[tuple[Any, Any]]:
    return section.items() if isinstance(section, Mapping) else ()
