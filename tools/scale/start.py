"""How long starting takes: the first solve in a new process, compiling every kernel, compiling after one edit."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from memaudit.table_io import write_text

ROOT = Path(__file__).resolve().parents[2]
REPEATS = 5
# Seconds since the process began (its own clock starts late: the caller's is passed), then of the solve alone.
_FIRST = """
import sys, time
begun = float(sys.argv[1])
from memaudit.objective import scale
from memaudit.solve.choose import solve_all
from memaudit.synthetic import generate
instance = scale(generate("start", "base", 0))
ready = time.time()
solve_all([instance], 8, 1, 10**6)
print(time.time() - begun, time.time() - ready)
"""
_COMPILE = "from memaudit.warm import warm; warm()"
EDITED = "solve/merge.py"


def measure(folder: Path) -> None:
    """Write FOLDER/start.json, unless it is there: seconds, and counts of compiled kernels."""
    path = folder / "start.json"
    if not path.exists():
        print("measuring the start: compiles every kernel in a folder of its own ...", flush=True)
        write_text(path, json.dumps(_measured(), indent=1) + "\n")


def _measured() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as scratch:
        library = Path(scratch) / "scripts"
        shutil.copytree(ROOT / "scripts", library, ignore=shutil.ignore_patterns("__pycache__"))
        cache = Path(scratch) / "cache"
        environment = {**os.environ, "PYTHONPATH": str(library), "NUMBA_CACHE_DIR": str(cache)}
        cold = _seconds(environment, _COMPILE)
        kernels = _kernels(cache)
        first = [_first(environment) for _ in range(REPEATS + 1)][1:]  # the first one writes bytecode
        with (library / "memaudit" / EDITED).open("a", encoding="utf-8") as source:
            source.write("\n# edited\n")
        edited = _seconds(environment, _COMPILE)
        return {
            "cold_compile": cold, "kernels": kernels, "edited": EDITED, "edited_compile": edited,
            "edited_kernels": _kernels(cache) - kernels,
            "first_process": [whole for whole, _ in first], "first_solve": [solve for _, solve in first],
        }  # fmt: skip


def _seconds(environment: dict[str, str], code: str) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], env=environment, check=True, stderr=subprocess.DEVNULL)
    return time.perf_counter() - start


def _first(environment: dict[str, str]) -> tuple[float, float]:
    command = [sys.executable, "-c", _FIRST, repr(time.time())]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    whole, solve = map(float, done.stdout.split())
    return whole, solve


def _kernels(cache: Path) -> int:
    """Compiled functions in a cache (an index file each)."""
    return len(list(cache.rglob("*.nbi")))
