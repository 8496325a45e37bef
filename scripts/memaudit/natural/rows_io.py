"""Rows of JSON from files: a JSON list, JSON lines, either gzipped, or folders of such files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..files_io import opened
from . import strict_json

SUFFIXES = (".json", ".jsonl", ".json.gz", ".jsonl.gz")
# LongMemEval-S is about 280 MB; parsed JSON takes several times its size in memory.
MAX_BYTES = 1 << 30


def read_rows(
    paths: str | Path | Sequence[str | Path], what: str, *, max_bytes: int = MAX_BYTES
) -> Iterator[tuple[str, Any]]:
    """Each row of the files with the place where it stands ("file: row 3"; rows and lines count from 1).

    `paths`: one path or several, in this order; of a folder all files with one of `SUFFIXES`, by name, other
    names left out. `what`: what a row is, in the plural, for messages. `max_bytes` limits each file
    after unzipping. Raises InputError naming the file, and the position in it, on a missing or too large
    file, on a folder or a broken link named like one, and on invalid UTF-8 or JSON.
    """
    for file in data_files(paths, what):
        yield from _rows(file, what, max_bytes)


def data_files(paths: str | Path | Sequence[str | Path], what: str) -> list[Path]:
    """The files that `read_rows` reads, in its order."""
    several = [paths] if isinstance(paths, str | Path) else paths
    return [file for path in several for file in _files(Path(path), what)]


def _files(path: Path, what: str) -> list[Path]:
    if path.is_dir():
        files = sorted(p for p in path.iterdir() if p.name.endswith(SUFFIXES))
        for file in files:
            if not file.is_file():
                raise InputError(f"{file}: is a folder or a link that leads nowhere; rename or remove it, or mend it")
        if not files:
            raise InputError(f"{path}: no file ends in {', '.join(SUFFIXES)}; name a file or another folder")
        return files
    if not path.exists():
        raise InputError(f"{path}: no such file; name a file of {what} or a folder of them")
    if not path.name.endswith(SUFFIXES):
        raise InputError(f"{path}: the name must end in {', '.join(SUFFIXES)}; rename it after what it holds")
    return [path]


def _rows(path: Path, what: str, max_bytes: int) -> Iterator[tuple[str, Any]]:
    data = _bytes(path, max_bytes)
    if path.name.removesuffix(".gz").endswith(".jsonl"):
        # Only \n ends a line: texts hold U+2028, VT, FF and other characters that str.splitlines breaks at.
        for number, line in enumerate(data.split(b"\n"), start=1):
            if line.strip():
                yield f"{path}: line {number}", _json(line, f"{path}: line {number}")
        return
    rows = _json(data, str(path))
    if not isinstance(rows, list):
        raise InputError(f"{path}: a .json file must hold one list of {what}; wrap the object in [ ]")
    for number, row in enumerate(rows, start=1):
        yield f"{path}: row {number}", row


def read_bytes(path: Path, most: int = -1) -> bytes:
    """At most `most` bytes (-1: all) of a file, as `files_io.opened` has them."""
    with opened(path) as file:
        return file.read(most)


def _bytes(path: Path, max_bytes: int) -> bytes:
    data = read_bytes(path, max_bytes + 1)
    if len(data) > max_bytes:
        raise InputError(
            f"{path}: more than {max_bytes} bytes (unzipped); cut it to the sessions that are needed, or "
            f"split it into a folder of smaller files"
        )
    return data


def _json(data: bytes, where: str) -> Any:
    try:
        return strict_json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise InputError(f"{where}: not UTF-8 at byte {error.start}; save it as UTF-8") from error
    except json.JSONDecodeError as error:
        hint = "one object a line belongs in a .jsonl file" if error.msg == "Extra data" else "is it cut off?"
        raise InputError(
            f"{where}: invalid JSON at line {error.lineno}, column {error.colno}, character {error.pos}: "
            f"{error.msg}; {hint}"
        ) from error
    except ValueError as error:
        raise InputError(f"{where}: JSON that cannot be read ({error}); correct the file") from error
