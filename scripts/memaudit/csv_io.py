"""CSV files that people made, read strictly: nothing is guessed, filled in or left out."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from .errors import InputError

MAX_BYTES = 1 << 30


def read_csv(path: str | Path, needed: Sequence[str] = ()) -> list[tuple[int, dict[str, str]]]:
    """(last line of the row, column -> text as written) of each row of a CSV file in UTF-8, blank lines left out.

    Commas part fields; a byte order mark is dropped. Raises InputError naming the file (and the line) where it cannot
    be read, has no row, lacks a `needed` column or has one twice, and on a row of more or fewer fields than the header.
    """
    text = _text(path)
    # A field may be as long as the file, which is bounded; the module's own bound is one for all its users.
    csv.field_size_limit(max(csv.field_size_limit(), len(text)))
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    rows: list[tuple[int, dict[str, str]]] = []
    header: list[str] | None = None
    try:
        for fields in reader:
            if not fields:
                continue
            if header is None:
                header = _checked(fields, needed, path)
            elif len(fields) != len(header):
                raise InputError(
                    f"{path}, line {reader.line_num}: {len(fields)} fields where the header has {len(header)}; "
                    f"put text that holds commas into quotes"
                )
            else:
                rows.append((reader.line_num, dict(zip(header, fields, strict=True))))
    except csv.Error as error:
        raise InputError(f"{path}, line {reader.line_num}: not readable as CSV ({error}); save it as such") from error
    if not rows:
        raise InputError(f"{path}: holds no row{'' if header else ' and no header'}; fill it in, or remove it")
    return rows


def _text(path: str | Path) -> str:
    try:
        with open(path, "rb") as file:
            data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise InputError(f"{path}: more than {MAX_BYTES} bytes; leave out the columns that are not needed")
        return data.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not readable as CSV in UTF-8 ({error}); save it as such") from error


def _checked(header: list[str], needed: Sequence[str], path: str | Path) -> list[str]:
    twice = [name for name in dict.fromkeys(header) if header.count(name) > 1]
    if twice:
        raise InputError(f"{path}: column {twice[0]!r} stands twice in the header; keep one")
    missing = [name for name in needed if name not in header]
    if missing:
        raise InputError(f"{path}: no column {', '.join(missing)}; needs {', '.join(needed)}, separated by commas")
    return header
