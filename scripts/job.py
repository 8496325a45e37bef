"""What every rule script starts with."""

import sys
import traceback


def log_to(log) -> None:
    """Send all output of a script to its Snakemake log file; an error also goes to the terminal, in one line."""
    terminal = sys.stderr
    file = open(log[0], "w", buffering=1, encoding="utf-8")  # noqa: SIM115 (open until the script ends)
    sys.stdout = sys.stderr = file

    def tell(kind, error, trace):
        traceback.print_exception(kind, error, trace, file=file)
        name = "" if kind.__module__.startswith("memaudit") else f"{kind.__name__}: "
        print(f"error: {name}{error}\n  (log: {log[0]})", file=terminal, flush=True)

    sys.excepthook = tell
