"""The command line as a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

from memaudit.cli import READER_GONE

REPOSITORY = Path(__file__).parents[2]


def test_a_reader_that_goes_is_no_fault():
    """`memaudit check-package ... | head`: no traceback; the status is not one that a finished check gives."""
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "memaudit", "check-package", "data/natural100/adjudicated"]
    env = {**os.environ, "PYTHONPATH": str(REPOSITORY / "scripts")}
    with os.fdopen(write, "wb") as pipe:
        done = subprocess.run(command, cwd=REPOSITORY, stdout=pipe, stderr=subprocess.PIPE, text=True, env=env)
    assert (done.returncode, done.stderr) == (READER_GONE, "")
