"""What every rule script starts with."""

import sys


def log_to(log) -> None:
    """Send all output of a script to its Snakemake log file."""
    sys.stdout = sys.stderr = open(log[0], "w", buffering=1, encoding="utf-8")  # noqa: SIM115 (open until the script ends)
