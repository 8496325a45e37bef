"""Where numba keeps compiled kernels: set before numba is first imported (by memaudit/__init__).

One folder per (python, numba, llvmlite, processor, kernel sources), so that interpreters and machines which
share a checkout never meet in one, and an edited kernel is compiled anew even where another module inlined it
(numba itself looks only at the file that holds the outer function).
"""

from __future__ import annotations

import hashlib
import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

_LIBRARY = Path(__file__).parent


def use_kernel_cache() -> None:
    """Set NUMBA_CACHE_DIR to this environment's folder; a value that is already set stays."""
    if "NUMBA_CACHE_DIR" not in os.environ:
        os.environ["NUMBA_CACHE_DIR"] = str(_base() / "numba" / cache_key())


def cache_key() -> str:
    """16 hex digits; equal where compiled kernels are interchangeable."""
    digest = hashlib.sha256()
    for part in (sys.version, _version("numba"), _version("llvmlite"), _processor()):
        digest.update(part.encode() + b"\0")
    for source in sorted(_LIBRARY.rglob("*.py")):
        text = source.read_bytes()
        if b"njit" in text:
            digest.update(source.relative_to(_LIBRARY).as_posix().encode() + b"\0" + text + b"\0")
    return digest.hexdigest()[:16]


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
