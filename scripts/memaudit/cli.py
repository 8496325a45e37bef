"""The command `memaudit`: one subcommand a line of `COMMANDS`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence

from .check.verify_io import verify_main
from .errors import InputError
from .natural.coverage_package_io import check_main
from .stores.ingest_io import ingest_main

READER_GONE = 141  # what a shell gives a program that a closed pipe ended

# name -> (help, function of the remaining arguments that returns the exit status)
COMMANDS: dict[str, tuple[str, Callable[[Sequence[str]], int]]] = {
    "check-package": ("check a coverage package: ids, ranges, quotes, leaked questions", check_main),
    "ingest": ("read an exported memory store: what is kept, skipped, odd", ingest_main),
    "verify": ("check that a finished results folder is whole, in its places and right", verify_main),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run a subcommand; 2 on bad input, READER_GONE where nobody reads its output any more (`| head`), else its own
    exit status."""
    commands = "\n".join(f"  {name:<15}{text}" for name, (text, _) in COMMANDS.items())
    parser = argparse.ArgumentParser(
        prog="memaudit",
        description="MEMAUDIT: exact evaluation of budgeted memory writing.",
        epilog=f"commands:\n{commands}\n\nmemaudit COMMAND --help explains one.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("command", choices=COMMANDS, metavar="COMMAND")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, metavar="...")
    args = parser.parse_args(argv)
    try:
        status = COMMANDS[args.command][1](args.arguments)
        sys.stdout.flush()
        return status
    except InputError as error:
        print(f"memaudit {args.command}: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # else the interpreter's last flush fails too
        return READER_GONE


if __name__ == "__main__":
    sys.exit(main())
