"""What produced a result: a hash of the code a stage uses, and the manifest of a run."""

from __future__ import annotations

import ast
import hashlib
import pkgutil
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

from .errors import InputError

LIBRARY = "memaudit"


def code_hash(modules: Iterable[str]) -> str:
    """sha256 (64 hex digits) over the sources of `modules` and of all library modules they import in turn.

    A module is a dotted name ("memaudit.solve.bnb") or the path of a .py file outside the library (a rule
    script, a user's writer, with the files of its folder that it imports). Imports are read from the syntax
    tree, those inside functions too. A package's __init__ counts only where it is imported itself: those of the
    library's packages define nothing that a module below them uses. Raises InputError for a module that does
    not exist.
    """
    sources: dict[str, bytes] = {}
    waiting = sorted(set(modules))
    while waiting:
        name = waiting.pop()
        if name not in sources:
            sources[name], imported = _read(name)
            waiting.extend(imported)
    digest = hashlib.sha256()
    for name in sorted(sources, key=_label):
        digest.update(_label(name).encode() + b"\0" + hashlib.sha256(sources[name]).digest())
    return digest.hexdigest()


def _label(name: str) -> str:
    """A file's hash must not depend on the folder it was cloned to."""
    return Path(name).name if name.endswith(".py") else name


def _read(name: str) -> tuple[bytes, tuple[str, ...]]:
    """A module's source and the library modules it imports."""
    if name.endswith(".py"):
        try:
            source = Path(name).read_bytes()
        except OSError as error:
            fix = "name a module or an existing .py file"
            raise InputError(f"code hash: {name} cannot be read ({error.strerror}); {fix}") from error
        return source, tuple(sorted(_imports(source, name, package="") | _neighbours(source, name)))
    return _library_module(name)


def _neighbours(source: bytes, path: str) -> set[str]:
    """The .py files of the same folder that a file outside the library imports."""
    names = set()
    for node in ast.walk(ast.parse(source, filename=path)):
        if isinstance(node, ast.Import):
            names.update(alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            names.add(node.module.split(".")[0])
    files = (Path(path).parent / f"{name}.py" for name in names)
    return {str(file) for file in files if file.is_file()}


@cache
def _library_module(name: str) -> tuple[bytes, tuple[str, ...]]:
    source, is_package = _source(name)
    if source is None:
        raise InputError(f"code hash: there is no module {name}; name a module of {LIBRARY} or a .py file")
    package = name if is_package else name.rpartition(".")[0]
    return source, tuple(sorted(_imports(source, name, package)))


def _source(name: str) -> tuple[bytes | None, bool]:
    """(source, is a package) of a dotted library name; (None, False) where there is no such module."""
    head, *rest = name.split(".")
    if head == LIBRARY:
        stem = "/".join(rest)
        for path, is_package in ((f"{stem}.py", False), (str(PurePosixPath(stem) / "__init__.py"), True)):
            if path == ".py":
                continue
            try:
                source = pkgutil.get_data(LIBRARY, path)
            except OSError:
                continue
            if source is not None:
                return source, is_package
    return None, False


def _imports(source: bytes, name: str, package: str) -> set[str]:
    """Library modules that `source` imports; `package` is what its relative imports start from."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source, filename=name)):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names if alias.name.split(".")[0] == LIBRARY)
        elif isinstance(node, ast.ImportFrom):
            base = _base(node, package)
            if base.split(".")[0] == LIBRARY:
                found.update(_imported(base, [alias.name for alias in node.names]))
    return found


def _base(node: ast.ImportFrom, package: str) -> str:
    """The absolute name of what stands after `from`."""
    if not node.level:
        return node.module or ""
    parts = package.split(".")
    parent = ".".join(parts[: len(parts) - node.level + 1])
    return f"{parent}.{node.module}" if node.module else parent


def _imported(base: str, names: Iterable[str]) -> set[str]:
    """`from base import name` imports base.name where that is a module, else base."""
    return {f"{base}.{name}" if _source(f"{base}.{name}")[0] is not None else base for name in names}


def manifest(
    *,
    versions: Mapping[str, str],
    commit: str | None,
    config: Mapping[str, Any],
    inputs: Mapping[str, str],
    files: Mapping[str, str],
    code: Mapping[str, str],
    host: Mapping[str, Any],
    seconds: Mapping[str, float],
) -> dict[str, Any]:
    """What ran, for results/manifest.json: the one place of times and hosts beside the benchmark files.

    versions: of python and the dependencies; commit: None outside a git checkout; inputs: file -> sha256; files: place
    below the results folder -> sha256 of what the run made; code: stage -> `code_hash`; host: see `manifest_io.host`;
    seconds: job -> wall time.
    """
    return {
        "versions": dict(sorted(versions.items())),
        "commit": commit,
        "config": dict(config),
        "inputs": dict(sorted(inputs.items())),
        "files": dict(sorted(files.items())),
        "code": dict(sorted(code.items())),
        "host": dict(host),
        "seconds": dict(sorted(seconds.items())),
        "seconds_total": sum(seconds.values()),
    }
