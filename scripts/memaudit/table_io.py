"""Reading and writing the Parquet tables between stages: checked against their schema, written atomically."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from .errors import InputError
from .schemas import SCHEMA_VERSION, TABLES

_META = b"memaudit"


@contextmanager
def atomic_path(path: str | os.PathLike) -> Iterator[Path]:
    """Yield a temporary path beside `path`; renamed onto it on success, removed on failure."""
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    # One name a target: what a killed job leaves is overwritten by the next try, not piled up.
    temporary = target.with_name(f".{target.name}.partial")
    try:
        yield temporary
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_text(path: str | os.PathLike, text: str) -> None:
    """Write UTF-8 text with Unix line ends, atomically."""
    with atomic_path(path) as temporary:
        temporary.write_bytes(text.encode("utf-8"))


def to_table(name: str, columns: Mapping[str, Iterable] | pa.Table) -> pa.Table:
    """The columns (a mapping, an Arrow table or a DataFrame) in the schema of table `name`, sorted by its key.

    No columns at all are a table without rows; missing optional columns become null. Raises InputError on
    unknown or missing columns, nulls in a required column, or a repeated key.
    """
    spec = TABLES[name]
    if isinstance(columns, pa.Table):
        columns = {c: columns.column(c) for c in columns.column_names}
    columns = dict(columns.items())  # of a DataFrame too
    if not columns:
        return spec.schema.empty_table()
    unknown = sorted(set(columns) - set(spec.schema.names))
    missing = [f.name for f in spec.schema if not f.nullable and f.name not in columns]
    if unknown or missing:
        raise InputError(f"table {name}: unknown columns {unknown}, missing columns {missing}")
    length = len(next(iter(columns.values())))
    arrays = []
    for field in spec.schema:
        values = columns.get(field.name)
        if values is None:
            arrays.append(pa.nulls(length, field.type))
        elif isinstance(values, pa.ChunkedArray | pa.Array):
            arrays.append(values.cast(field.type))
        else:
            arrays.append(pa.array(values, field.type, from_pandas=True))
    table = pa.table(arrays, schema=spec.schema)
    for field in spec.schema:
        if not field.nullable and table.column(field.name).null_count:
            raise InputError(f"table {name}: column {field.name} has nulls and must have none")
    order = pc.sort_indices(table, [(column, "ascending") for column in spec.key])
    table = table.take(order)
    _refuse_repeated_key(name, table, spec.key)
    return table


def _refuse_repeated_key(name: str, table: pa.Table, key: tuple[str, ...]) -> None:
    """The table is sorted by `key`: neighbours with equal keys are repeats."""
    if len(table) < 2:
        return
    same = None
    for column in key:
        values = table.column(column).combine_chunks()
        here, before = values[1:], values[:-1]
        equal = pc.or_(pc.fill_null(pc.equal(here, before), False), pc.and_(pc.is_null(here), pc.is_null(before)))
        same = equal if same is None else pc.and_(same, equal)
    hit = pc.index(same, True).as_py()
    if hit >= 0:
        row = {c: table.column(c)[hit].as_py() for c in key}
        raise InputError(f"table {name}: key {row} stands twice")


def write_table(
    path: str | os.PathLike,
    name: str,
    columns: Mapping[str, Iterable] | pa.Table,
    metadata: Mapping[str, str] | None = None,
) -> None:
    """Write table `name` to `path` (Parquet, zstd), checked, sorted and atomic.

    `metadata` may carry the stage's input hash and code hash; never a time, host or the whole config.
    """
    table = to_table(name, columns)
    meta = {"table": name, "schema_version": SCHEMA_VERSION, **(metadata or {})}
    table = table.replace_schema_metadata({_META: json.dumps(meta, sort_keys=True).encode()})
    with atomic_path(path) as temporary:
        pq.write_table(table, temporary, compression="zstd")


def concat(tables: Iterable[pa.Table]) -> pa.Table:
    """Tables of one schema, one after the other, without their metadata."""
    return pa.concat_tables([t.replace_schema_metadata(None) for t in tables])


def read_table(path: str | os.PathLike, name: str, columns: list[str] | None = None) -> pa.Table:
    """Read table `name`; InputError names the file and the fix if it is not that table in this version."""
    fix = f"delete {path} and run snakemake again"
    try:
        table = pq.read_table(path, columns=columns, partitioning=None)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; run snakemake to make it") from None
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{path}: not a readable Parquet file ({_first_line(error)}); {fix}") from error
    meta = read_metadata(table.schema)
    if meta.get("table") != name or meta.get("schema_version") != SCHEMA_VERSION:
        found = f"table {meta.get('table')!r}, schema version {meta.get('schema_version')!r}"
        raise InputError(f"{path}: expected table {name!r}, schema version {SCHEMA_VERSION!r}, found {found}; {fix}")
    expected = TABLES[name].schema
    if columns is not None:
        expected = pa.schema([expected.field(c) for c in columns])
    if not table.schema.remove_metadata().equals(expected):
        raise InputError(f"{path}: columns differ from the schema of {name!r}; {fix}")
    return table


def read_all(name: str, files: Iterable[str | os.PathLike]) -> pa.Table:
    """Rows of table `name` in all files; no files are a table without rows."""
    files = list(files)
    return concat(read_table(f, name) for f in files) if files else TABLES[name].schema.empty_table()


def expect(table: pa.Table, path: str | os.PathLike, **constants) -> pa.Table:
    """The table, if each named column holds only that value; InputError: the file belongs elsewhere."""
    for column, value in constants.items():
        found = pc.unique(table[column]).to_pylist()
        if found not in ([], [value]):
            other = next(x for x in found if x != value)
            raise InputError(
                f"{path}: {column} is {other!r} where {value!r} belongs: the file is of another place; "
                f"delete {path} and run snakemake again"
            )
    return table


def read_metadata(schema: pa.Schema) -> dict[str, str]:
    """What `write_table` stored beside the schema; empty for a foreign file."""
    raw = (schema.metadata or {}).get(_META)
    return json.loads(raw) if raw else {}


def _first_line(error: BaseException) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__


def write_csv(path: str | os.PathLike, table: pa.Table) -> None:
    """Write a table as CSV (UTF-8, header, shortest exact floats), atomically."""
    write_text(path, table.to_pandas().to_csv(index=False, lineterminator="\n"))
