"""Files of exported stores, read once and in pieces: JSON, JSON lines (both plain or gzipped), CSV, Parquet, Markdown.

Nothing here trusts a file. Sizes are limited before they cost memory, embeddings are emptied on the way
(`json_slim`), and a line that cannot be read is a counted fault of its own where lines are independent.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ..errors import InputError, shown
from ..files_io import opened
from ..natural import strict_json
from .ingest import COLUMNS_NOT_READ, Document
from .json_slim import Dropped, slim
from .model import MAX_PARSED
from .refused import refused_bytes

JSON, LINES, TEXT = (".json", ".af"), (".jsonl", ".ndjson"), (".md", ".markdown")
SUFFIXES = (*JSON, *LINES, *TEXT, ".csv", ".parquet")
# One row (a JSON line, a CSV field): far more than a memory, far less than what hurts.
MAX_ROW = 16 << 20
# Of the file (unzipped), embeddings included.
MAX_FILE = 8 << 30
_CHUNK = 1 << 20
_BATCH_ROWS = 1024


def kind_of(name: str) -> str | None:
    """The suffix of `SUFFIXES` that a file name has, .gz left out; None where it has none."""
    plain = name.lower().removesuffix(".gz")
    return next((suffix for suffix in SUFFIXES if plain.endswith(suffix)), None)


def stem_of(name: str) -> str:
    """A file name of a known kind without its suffixes."""
    kind = kind_of(name) or ""
    return name[: len(name) - len(kind) - len(".gz") * name.lower().endswith(".gz")]


def read_document(path: str | Path, columns: Collection[str] = (), max_bytes: int = MAX_PARSED) -> Document:
    """The file, parsed. `columns`: those of a CSV or Parquet file that are read, others are noted.

    Raises InputError naming the file (and the line or column) on one that is missing, of no known kind, refused
    (`refused`), too large, or not valid where a fault cannot be kept to one line.
    """
    path = Path(path)
    head = b"".join(_chunks(path, 16, limit=16))
    reason = refused_bytes(head, path.name)
    if reason:
        raise InputError(f"{path}: {reason}")
    kind = kind_of(path.name)
    if kind is None:
        raise InputError(f"{path}: the name must end in {', '.join(SUFFIXES)} (or .gz); rename it after what it holds")
    if kind == ".parquet":
        return _parquet(path, columns, max_bytes)
    if kind == ".csv":
        return _csv(path, columns, max_bytes)
    if kind in LINES:
        return _json_lines(path, max_bytes)
    dropped = Dropped()
    chunks = _chunks(path)
    data = b"".join(_limited(path, chunks if kind in TEXT else slim(chunks, dropped), max_bytes))
    text = _decoded(data, str(path))
    if kind in TEXT:
        return Document(text, str(path), is_text=True, is_empty=not text.strip())
    return Document(_json(text, str(path)), str(path), notes=_notes(dropped))


def _chunks(path: Path, size: int = _CHUNK, limit: int = -1) -> Iterator[bytes]:
    """The file's bytes, unzipped, at most `limit` of them (-1: all); InputError names the file and the fix."""
    read = 0
    with opened(path) as file:
        while (limit < 0 or read < limit) and (chunk := file.read(size)):
            read += len(chunk)
            if read > MAX_FILE:
                raise InputError(f"{path}: more than {MAX_FILE} bytes; export it without embeddings, or split it")
            yield chunk


def _limited(path: Path, chunks: Iterator[bytes], most: int) -> Iterator[bytes]:
    """The chunks, at most `most` bytes of them."""
    size = 0
    for chunk in chunks:
        size += len(chunk)
        _refuse_size(path, size, most)
        yield chunk


def _refuse_size(path: Path, size: int, most: int) -> None:
    if size > most:
        raise InputError(
            f"{path}: more than {most} bytes without embeddings; split it into a folder of one file an example, "
            f"or raise the limit (--max-bytes; of a store in a configuration: max_bytes; parsed JSON takes up to "
            f"thirty times its size in memory)"
        )


def _decoded(data: bytes, where: str, encoding: str = "utf-8-sig") -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise InputError(f"{where}: not UTF-8 at byte {error.start}; save it as UTF-8") from error


def _json(text: str, where: str) -> Any:
    try:
        return strict_json.loads(text)
    except json.JSONDecodeError as error:
        hint = "one object a line belongs in a .jsonl file" if error.msg == "Extra data" else "is it cut off?"
        raise InputError(
            f"{where}: invalid JSON at line {error.lineno}, column {error.colno}: {error.msg}; {hint}"
        ) from error
    except strict_json.TooDeep as error:
        raise InputError(f"{where}: JSON {error}; no memory export is so") from error
    except ValueError as error:
        raise InputError(f"{where}: JSON that cannot be read: {error}; correct the file") from error


def _notes(dropped: Dropped) -> dict[str, int]:
    if not dropped.arrays:
        return {}
    return {"numeric arrays (embeddings) left out": dropped.arrays, "bytes of them": dropped.bytes}


# ---- lines


def _lines(chunks: Iterator[bytes]) -> Iterator[tuple[int, bytes | None]]:
    """(number from 1, line); None for one of more than `MAX_ROW` bytes. Only \\n ends a line."""
    number, pieces, size = 1, [], 0
    for chunk in chunks:
        *whole, rest = chunk.split(b"\n")
        for piece in whole:
            size += len(piece)
            yield number, b"".join([*pieces, piece]) if size <= MAX_ROW else None
            number, pieces, size = number + 1, [], 0
        size += len(rest)
        pieces = [*pieces, rest] if size <= MAX_ROW else []
    if size:
        yield number, b"".join(pieces) if size <= MAX_ROW else None


@dataclass
class _Lines:
    """What JSON lines hold. values: of all lines; faults: (reason, detail) of each line that cannot be read; crowded:
    lines of several values; is_empty: nothing but blanks; is_cut: whether a line ends within a value; torn: whether the
    next one is no value either: a document that was written over several lines."""

    values: list[Any] = field(default_factory=list)
    faults: list[tuple[str, str]] = field(default_factory=list)
    crowded: int = 0
    is_empty: bool = True
    is_cut: bool = False
    torn: bool = False


def _json_lines(path: Path, max_bytes: int) -> Document:
    dropped = Dropped()
    data = b"".join(_limited(path, slim(_chunks(path), dropped), max_bytes)).removeprefix(b"\xef\xbb\xbf")
    read = _read_lines(data)
    if read.is_cut:
        read = _read_across_lines(path, data, read)
    if read.faults and not read.values:
        reason, detail = read.faults[0]
        raise InputError(f"{path}: no line could be read ({reason}: {detail}); write one JSON object a line")
    notes = {"lines that hold several values": read.crowded} if read.crowded else {}
    notes |= _notes(dropped)
    return Document(read.values, str(path), tuple(read.faults), notes, is_lines=True, is_empty=read.is_empty)


def _read_lines(data: bytes) -> _Lines:
    read, ends_within = _Lines(), False
    for number, line in _lines(iter([data])):
        if line is None:
            read.faults.append(("line too long", f"line {number} has more than {MAX_ROW} bytes"))
            read.is_empty = False
        elif line.strip():
            found, fault = _values(line)
            read.values += found
            read.crowded += len(found) > 1
            read.is_empty = False
            if fault is not None:
                read.faults.append(_fault_of_line(number, line, fault))
            read.torn |= ends_within and isinstance(fault, json.JSONDecodeError)
            ends_within = isinstance(fault, json.JSONDecodeError) and fault.pos >= len(fault.doc.rstrip())
            read.is_cut |= ends_within
    return read


def _read_across_lines(path: Path, data: bytes, lines: _Lines) -> _Lines:
    """A JSON document, or several, written over many lines; else the lines, or, where these are no rows, InputError."""
    try:
        return _Lines(list(strict_json.values(_decoded(data, str(path)))), is_empty=False)
    except json.JSONDecodeError as error:
        fault = f"invalid at line {error.lineno}, column {error.colno}: {error.msg}"
    except ValueError as error:
        fault = str(error)
    if not lines.torn:
        return lines
    raise InputError(
        f"{path}: no JSON lines, as values go over several lines, and as a JSON document {fault}; write one JSON "
        f"object a line, or mend the document and call it .json"
    )


def _values(line: bytes) -> tuple[list[Any], ValueError | None]:
    """The values of a line, one as it should be; of a damaged line, with its fault, the objects before the damage:
    other values may be pieces of a larger one."""
    found: list[Any] = []
    try:
        for value in strict_json.values(line.decode("utf-8")):
            found.append(value)
    except ValueError as error:
        return [value for value in found if isinstance(value, dict)], error
    return found, None


def _fault_of_line(number: int, line: bytes, fault: ValueError) -> tuple[str, str]:
    if isinstance(fault, strict_json.TooDeep):
        return "line nested too deeply", f"line {number}: {fault}"
    begins = shown(line[:60].decode("utf-8", "replace"))
    return "line that is no JSON", f"line {number} ({_short(fault)}); it begins {begins}"


def _short(error: Exception) -> str:
    return str(error)[:200]


# ---- tables


def _csv(path: Path, columns: Collection[str], max_bytes: int) -> Document:
    rows: list[dict[str, Any]] = []
    size = 0
    before = csv.field_size_limit(MAX_ROW)
    try:
        reader = csv.reader(_text_lines(path, max_bytes), strict=True)
        header = next((cells for cells in reader if "".join(cells).strip()), [])
        if len(set(header)) < len(header):
            raise InputError(f"{path}: line {reader.line_num}: a column name stands twice; rename one")
        read = [(i, name) for i, name in enumerate(header) if name in columns]
        for cells in reader:
            if len(cells) != len(header) and cells:
                raise InputError(f"{path}: line {reader.line_num}: {len(cells)} cells under {len(header)} columns")
            if cells:
                row = {name: cells[i] for i, name in read}
                size += sum(map(len, row.values()))
                _refuse_size(path, size, max_bytes)
                rows.append(row)
    except csv.Error as error:
        raise InputError(f"{path}: line {reader.line_num}: not valid CSV ({error}); correct it") from error
    finally:
        csv.field_size_limit(before)
    notes = _columns_note(header, columns)
    return Document(rows, str(path), notes=notes, keys=tuple(header), is_empty=not header)


def _text_lines(path: Path, max_bytes: int) -> Iterator[str]:
    blanks = 0
    for number, line in _lines(_chunks(path)):
        if line is None:
            raise InputError(f"{path}: line {number} has more than {MAX_ROW} bytes; split the file or drop columns")
        if not line.strip():
            blanks += len(line) + 1
            _refuse_size(path, blanks, max_bytes)
        yield _decoded(line, f"{path}: line {number}", "utf-8-sig" if number == 1 else "utf-8") + "\n"


def _parquet(path: Path, columns: Collection[str], max_bytes: int) -> Document:
    rows: list[dict[str, Any]] = []
    size = 0
    try:
        with pq.ParquetFile(path) as file:
            names = file.schema_arrow.names
            if len(set(names)) < len(names):
                raise InputError(f"{path}: a column name stands twice; rename one")
            read = [name for name in names if name in columns]
            for batch in file.iter_batches(_BATCH_ROWS, columns=read):
                size += batch.nbytes
                _refuse_size(path, size, max_bytes)
                rows += batch.to_pylist()
    except OverflowError as error:
        raise InputError(f"{path}: a time before year 1 or after 9999 ({_short(error)}); correct it") from error
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{path}: not a readable Parquet file ({_short(error)}); write it again") from error
    return Document(rows, str(path), notes=_columns_note(names, columns), keys=tuple(names))


def _columns_note(names: Collection[str], columns: Collection[str]) -> dict[str, int]:
    others = sum(name not in columns for name in names)
    return {COLUMNS_NOT_READ: others} if others else {}
