"""A YAML file as plain values, and what stands in it that is not what it looks like.

YAML keeps the last of two equal keys, reads 010 as 8 and 1:30 as 90, and lets an anchor hold itself. Keys that
stand twice are listed with their lines; a scalar or anchor that cannot be taken at its word becomes an `Unread`,
which no key accepts, so that it is told with its key path among all other problems.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from .errors import InputError, key_path

# Python refuses integers of more than 4300 digits; no key here needs more than 19.
MAX_DIGITS = 100
_PLAIN = re.compile(
    r"[-+]?(0|[1-9][0-9]*)|[-+]?([0-9]+\.[0-9]*|\.[0-9]+)([eE][-+][0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)"
)


@dataclass(frozen=True)
class Unread:
    """A value that was not taken: `text` as it is written, `why` completes "it is ..."."""

    text: str
    why: str

    def __repr__(self) -> str:
        cut = self.text if len(self.text) <= 40 else f"{self.text[:20]}..."
        return cut if cut.isprintable() else ascii(cut)


def read_yaml(path: Path) -> tuple[Any, list[str]]:
    """The file's content and a line for each repeated key; InputError where it is no YAML text at all."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; copy config/config.yaml and edit the copy") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: not readable as UTF-8 text ({error})") from error
    loader = None
    try:
        loader = _Loader(text)
        node = loader.get_single_node()
        if node is None:
            return None, []
        repeated = list(_repeated_keys(node, (), set()))
        _cut_loops(node, set(), set())
        return loader.construct_document(node), repeated
    except yaml.YAMLError as error:
        raise InputError(f"{path}: not valid YAML: {_one_line(error)}") from error
    except RecursionError:
        raise InputError(
            f"{path}: lists or mappings nested too deeply to be read; a configuration has few levels"
        ) from None
    finally:
        if loader is not None:
            loader.dispose()


def _one_line(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    if mark is None:
        return str(error).replace("\n", " ")
    return f"{error.problem} at line {mark.line + 1}, column {mark.column + 1}"


class _Loader(yaml.SafeLoader):
    """yaml.SafeLoader with an Unread for a scalar that is not what it looks like."""


def _number(construct: Callable[[Any, yaml.Node], Any]) -> Callable[[Any, yaml.Node], Any]:
    def checked(loader: _Loader, node: yaml.Node) -> Any:
        text = loader.construct_scalar(node)
        if len(text) > MAX_DIGITS:
            return Unread(text, f"a number of {len(text)} characters, more than any key takes")
        value = _readable(construct)(loader, node)
        if isinstance(value, Unread) or _PLAIN.fullmatch(text):
            return value
        return Unread(text, f"{value!r} as YAML reads it (write plain decimal digits, or text in quotes)")

    return checked


def _readable(construct: Callable[[Any, yaml.Node], Any]) -> Callable[[Any, yaml.Node], Any]:
    """For a scalar of the right form without a meaning: 2020-99-99, !!int x, !!bool maybe."""

    def checked(loader: _Loader, node: yaml.Node) -> Any:
        try:
            return construct(loader, node)
        except (ValueError, AttributeError, LookupError, OverflowError):
            return Unread(str(node.value), "nothing that YAML can read (correct it, or write it in quotes)")

    return checked


def _text(loader: _Loader, node: yaml.Node) -> Any:
    text = loader.construct_scalar(node)
    if any("\ud800" <= character <= "\udfff" for character in text):
        return Unread(text, "text with half of a surrogate pair (write the character itself)")
    return text


_Loader.add_constructor("tag:yaml.org,2002:str", _text)
for _kind in ("int", "float"):
    _tag = f"tag:yaml.org,2002:{_kind}"
    _Loader.add_constructor(_tag, _number(yaml.SafeLoader.yaml_constructors[_tag]))
for _kind in ("bool", "timestamp"):
    _tag = f"tag:yaml.org,2002:{_kind}"
    _Loader.add_constructor(_tag, _readable(yaml.SafeLoader.yaml_constructors[_tag]))
_Loader.add_constructor(
    "!unread", lambda loader, node: Unread(node.value, "an anchor that holds itself (write it out)")
)


def _repeated_keys(node: yaml.Node, path: tuple[str | int, ...], seen: set[int]) -> Iterable[str]:
    """YAML keeps the last of two equal keys and says nothing. A node with several aliases is looked at once."""
    if id(node) in seen:
        return
    seen.add(id(node))
    if isinstance(node, yaml.SequenceNode):
        for i, child in enumerate(node.value):
            yield from _repeated_keys(child, (*path, i), seen)
    if not isinstance(node, yaml.MappingNode):
        return
    first: dict[str, int] = {}
    for key, child in node.value:
        if not isinstance(key, yaml.ScalarNode):
            continue  # a list as a key, which constructing refuses
        name, line = key.value, key.start_mark.line + 1
        if name in first:
            where = key_path((*path, name))
            yield f"{where}: stands twice, in lines {first[name]} and {line}; remove or rename one"
        first.setdefault(name, line)
        yield from _repeated_keys(child, (*path, name), seen)


def _cut_loops(node: yaml.Node, above: set[int], seen: set[int]) -> None:
    """Put an Unread in place of each alias of a node inside that node."""
    if id(node) in seen or isinstance(node, yaml.ScalarNode):
        return
    above.add(id(node))

    def cut(child: yaml.Node) -> yaml.Node:
        if id(child) in above:
            return yaml.ScalarNode("!unread", "*alias")
        _cut_loops(child, above, seen)
        return child

    if isinstance(node, yaml.MappingNode):
        node.value = [(cut(key), cut(child)) for key, child in node.value]
    else:
        node.value = [cut(child) for child in node.value]
    above.remove(id(node))
    seen.add(id(node))
