"""Where numba keeps compiled kernels: set before numba is first imported (by memaudit/__init__).

One folder per (python, numba, llvmlite, processor), so that interpreters and machines which share a checkout
never meet in one. In it, a folder per module and state of its sources (kernel_locator.py): an edited kernel is
compiled anew, so are the kernels of the modules that import it, and no others.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import sys
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

_LIBRARY = Path(__file__).resolve().parent
_LOCATOR = "memaudit.kernel_locator.KernelLocator"
_NUMBAS_OWN = "UserProvidedCacheLocator,InTreeCacheLocator,UserWideCacheLocator,IPythonCacheLocator,ZipCacheLocator"
_KERNEL = re.compile(r"^\s*@njit\b", re.MULTILINE)
_IMPORT = re.compile(r"^\s*from (\.+)([\w.]*) import (\([^)]*\)|.*)$", re.MULTILINE)


def use_kernel_cache() -> None:
    """Set NUMBA_CACHE_DIR to this environment's folder, and how kernels are placed in it; what is already set stays."""
    if "NUMBA_CACHE_DIR" not in os.environ:
        os.environ["NUMBA_CACHE_DIR"] = str(_base() / "numba" / cache_key())
    locators = os.environ.setdefault("NUMBA_CACHE_LOCATOR_CLASSES", f"{_LOCATOR},{_NUMBAS_OWN}")
    if _LOCATOR not in locators:
        os.environ["NUMBA_CACHE_LOCATOR_CLASSES"] = f"{_LOCATOR},{locators}"


def cache_key() -> str:
    """16 hex digits; equal where compiled kernels of equal sources are interchangeable."""
    digest = hashlib.sha256()
    for part in (sys.version, _version("numba"), _version("llvmlite"), _processor()):
        digest.update(part.encode() + b"\0")
    return digest.hexdigest()[:16]


def in_library(source: Path) -> bool:
    return source.resolve().is_relative_to(_LIBRARY)


def sources_digest(module: Path) -> str:
    """16 hex digits of all that kernels of a module are compiled from: its source and, in turn, those of the
    library's modules with kernels that it imports."""
    return _digest(_kernel_sources(module))


def all_sources_digest() -> str:
    """16 hex digits of the sources of every kernel of the library."""
    return _digest(p for p in _LIBRARY.rglob("*.py") if _has_kernels(p))


def _digest(sources: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for source in sorted(sources):
        digest.update(source.relative_to(_LIBRARY).as_posix().encode() + b"\0" + source.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def _kernel_sources(module: Path) -> set[Path]:
    found: set[Path] = set()
    waiting = [module.resolve()]
    while waiting:
        source = waiting.pop()
        found.add(source)
        waiting += [p for p in _imported(source) if p not in found and _has_kernels(p)]
    return found


def _has_kernels(source: Path) -> bool:
    return _KERNEL.search(source.read_text(encoding="utf-8")) is not None


def _imported(source: Path) -> list[Path]:
    """The files of the relative imports of a source: `from .a.b import c` is a/b.py, or a/b/c.py."""
    files = []
    for dots, module, names in _IMPORT.findall(source.read_text(encoding="utf-8")):
        folder = source.parents[len(dots) - 1].joinpath(*filter(None, module.split(".")))
        files += [folder.with_suffix(".py")] if module else []
        files += [folder / f"{name}.py" for name in re.findall(r"\w+", names)]
    return [f for f in files if f.is_file()]


def _base() -> Path:
    """The checkout's .cache where the library runs from a writable checkout, else the user's cache folder."""
    checkout = _LIBRARY.parent.parent
    if (checkout / "pyproject.toml").is_file() and os.access(checkout, os.W_OK):
        return checkout / ".cache"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "memaudit"


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        # Importing it will fail with a clear error of its own; without it nothing is compiled.
        return "absent"


def _processor() -> str:
    """The processor's name: machine code for one need not run on another."""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.is_file():
        for line in cpuinfo.read_text(errors="replace").splitlines():
            if line.startswith(("model name", "CPU part")):
                return line.partition(":")[2].strip()
    return f"{platform.machine()} {platform.system()}"
