"""Make the checkout's library importable, and its command `memaudit` callable, where it runs.

Run by the Makefile with the environment's own python. It does what `pip install --no-deps -e .` would,
without a build back end, which the lock file need not hold then.
"""

import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main() -> None:
    if sys.prefix == sys.base_prefix:
        sys.exit("link_package: run it with the python of a virtual environment")
    link = Path(sysconfig.get_path("purelib")) / "memaudit.pth"
    link.write_text(f"{ROOT / 'scripts'}\n", encoding="utf-8")
    command = Path(sysconfig.get_path("scripts")) / "memaudit"
    command.write_text('#!/bin/sh\nexec "$(dirname "$0")/python" -m memaudit "$@"\n', encoding="utf-8")
    command.chmod(0o755)


if __name__ == "__main__":
    main()
