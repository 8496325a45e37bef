"""Running the workflow in a folder of its own, from a test."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]

# Every stage on a few packages, in seconds.
TINY = {
    "suites": {
        "small": {
            "source": "synthetic",
            "distributions": ["base", "update_chain"],
            "seeds": 4,
            "budgets": [0.05, 8],
            "pools": ["full", "no_validity"],
        },
    },
    "writers": {
        "opt": {"rule": "opt"},
        "no_tombstone_opt": {"rule": "opt", "pool": "no_validity"},
        "oracle_gvt": {"rule": "gvt"},
        "recency_raw": {"rule": "recency_raw"},
        "estimated_gvt": {"rule": "estimated_gvt", "parameters": {"profile": "learned"}},
    },
    "bootstrap": {"resamples": 50},
}


def write_config(folder: Path, content: dict) -> None:
    (folder / "config.yaml").write_text(yaml.safe_dump(content, sort_keys=False))


def command(folder: Path, *arguments: str, cores: int = 2, root: Path = ROOT) -> list[str]:
    return [
        sys.executable, "-m", "snakemake", "--snakefile", str(root / "Snakefile"), "--directory", str(folder),
        "--workflow-profile", str(root / "profiles" / "default"), "--configfile", str(folder / "config.yaml"),
        "--cores", str(cores), *arguments,
    ]  # fmt: skip


def snakemake(folder: Path, *arguments: str, cores: int = 2, root: Path = ROOT) -> subprocess.CompletedProcess:
    """The finished process; its output (both streams) is in stdout."""
    return subprocess.run(
        command(folder, *arguments, cores=cores, root=root), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, cwd=folder, check=False,
    )  # fmt: skip


def run(folder: Path, *arguments: str, cores: int = 2, root: Path = ROOT) -> str:
    """Output of a run that must succeed."""
    done = snakemake(folder, *arguments, cores=cores, root=root)
    assert done.returncode == 0, done.stdout[-5000:]
    return done.stdout


def planned(folder: Path, *arguments: str, root: Path = ROOT) -> dict[str, int]:
    """Rule -> number of jobs that a dry run would start."""
    lines = run(folder, "-n", "--quiet", "rules", "host", "reason", *arguments, root=root).splitlines()
    start = next((i for i, line in enumerate(lines) if line.split()[:2] == ["job", "count"]), None)
    if start is None:
        return {}
    rows = (line.split() for line in lines[start + 2 :])
    return {
        row[0]: int(row[1]) for row in rows if len(row) == 2 and row[1].isdigit() and row[0] not in ("total", "all")
    }


def kill_when(folder: Path, pattern: str, *arguments: str) -> None:
    """Start a run, and kill it and all its jobs as soon as a file matches `pattern` below the folder."""
    process = subprocess.Popen(
        command(folder, *arguments), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder,
        start_new_session=True,
    )  # fmt: skip
    while process.poll() is None and not any(folder.glob(pattern)):
        time.sleep(0.02)
    assert process.poll() is None, "the run ended before it could be killed"
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def digests(folder: Path) -> dict[str, str]:
    """Hash of every result file; what holds times (manifest, benchmarks, logs) is left out."""
    results = folder / "results"
    return {
        path.relative_to(results).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(results.rglob("*"))
        if path.is_file() and path.relative_to(results).parts[0] not in ("manifest.json", "benchmarks", "logs")
    }
