"""Opening the files that a user names."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from .errors import InputError


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """The file, for reading bytes, unzipped where its name ends in .gz.

    InputError names it and the fix where it cannot be read, is no whole gzip file, or is a pipe, device, socket or
    folder: opening such a thing may wait for ever, or never end.
    """
    try:
        refuse_irregular(path)
        with gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb") as file:
            yield file
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(f"{path}: not a whole gzip file ({error}); fetch or pack it again") from error
    except OSError as error:
        raise InputError(f"{path}: not readable ({error.strerror}); check name and permissions") from error


def refuse_irregular(path: Path) -> None:
    """InputError on what has the name and is no regular file; what is not there at all is for the opening to tell."""
    if (path.exists() or path.is_symlink()) and not path.is_file():
        raise InputError(f"{path}: is no regular file but {kind_of_entry(path)}; save its content as a file")


def kind_of_entry(path: Path) -> str:
    """What stands under a name of no regular file, in words."""
    if not path.exists():
        return "a link that leads nowhere"
    if path.is_dir():
        return "a folder"
    if path.is_fifo():
        return "a pipe"
    return "a socket" if path.is_socket() else "a device"
