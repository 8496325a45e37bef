"""Documentation of the configuration, made from its models: the key tables and the JSON schema."""

from __future__ import annotations

import json
from typing import Any

from .config import (
    Bootstrap,
    Config,
    CostModel,
    CoveragePackageSuite,
    Illustration,
    LocomoSuite,
    LongMemEvalSuite,
    NaturalSuite,
    PoolEntry,
    Robustness,
    SaturationEntry,
    Section,
    StoreEntry,
    Suite,
    SyntheticSuite,
    WriterEntry,
)
from .errors import InputError

BEGIN = "<!-- keys: begin (made by `make docs` from scripts/memaudit/config.py) -->"
END = "<!-- keys: end -->"

# Heading, model, and the model whose keys it shares and need not repeat.
_TABLES: tuple[tuple[str, type[Section], type[Section] | None], ...] = (
    ("Top level", Config, None),
    ("Every suite", Suite, None),
    ("Suites of source `synthetic`, besides", SyntheticSuite, Suite),
    ("Every natural suite (all sources but `synthetic`), besides", NaturalSuite, Suite),
    ("Suites of source `longmemeval`, besides", LongMemEvalSuite, NaturalSuite),
    ("Suites of source `locomo`, besides", LocomoSuite, NaturalSuite),
    ("Suites of source `coverage_package`, besides", CoveragePackageSuite, NaturalSuite),
    ("`robustness`", Robustness, None),
    ("An entry of `stores`", StoreEntry, None),
    ("An entry of `writers`", WriterEntry, None),
    ("An entry of `cost_models`", CostModel, None),
    ("An entry of `pools`", PoolEntry, None),
    ("An entry of `saturations`", SaturationEntry, None),
    ("`bootstrap`", Bootstrap, None),
    ("`illustration`", Illustration, None),
)


def schema_text() -> str:
    """config/schema.json: the JSON schema of a configuration, for editors."""
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **Config.model_json_schema()}
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def key_tables() -> str:
    """Every key with type, default and meaning, as Markdown tables."""
    return "\n".join(_table(*table) for table in _TABLES)


def with_key_tables(readme: str) -> str:
    """`readme` with the part between the markers replaced; InputError where a marker is missing."""
    head, begin, rest = readme.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not begin or not end:
        raise InputError(f"config/README.md: the lines {BEGIN!r} and {END!r} must stand in it, in this order")
    return f"{head}{BEGIN}\n\n{key_tables()}\n{END}{tail}"


def _table(heading: str, model: type[Section], shared: type[Section] | None) -> str:
    schema = model.model_json_schema()
    skip = shared.model_fields if shared else {}
    rows = [
        f"| `{key}` | {_type(field, schema)} | {_default(key, field, schema)} | {_meaning(field)} |"
        for key, field in schema["properties"].items()
        if key not in skip
    ]
    head = [f"### {heading}", "", "| key | type | default | meaning |", "|---|---|---|---|"]
    return "\n".join([*head, *rows, ""])


def _default(key: str, field: dict[str, Any], schema: dict[str, Any]) -> str:
    if key in schema.get("required", ()):
        return "required"
    default = field.get("default")
    return "none" if default is None else f"`{json.dumps(default)}`"


def _meaning(field: dict[str, Any]) -> str:
    return field["description"].replace("|", "\\|")


def _type(field: dict[str, Any], schema: dict[str, Any]) -> str:
    """A JSON schema type in words."""
    if "$ref" in field:
        return _type(schema["$defs"][field["$ref"].rpartition("/")[2]], schema)
    if "anyOf" in field or "oneOf" in field:
        options = [_type(option, schema) for option in field.get("anyOf") or field["oneOf"]]
        return " or ".join(dict.fromkeys(o for o in options if o != "null"))
    if "const" in field:
        return f"`{field['const']}`"
    if "enum" in field:
        return " or ".join(f"`{value}`" for value in field["enum"])
    if field.get("type") == "array":
        items = _type(field["items"], schema)
        return f"list of ({items})" if " " in items else f"list of {items}"
    words = {"integer": "whole number", "object": "mapping", "string": "text"}
    return words.get(field["type"], field["type"]) + _range(field)


def _range(field: dict[str, Any]) -> str:
    least, above, most = (field.get(k) for k in ("minimum", "exclusiveMinimum", "maximum"))
    limits = [f">= {least}" if least is not None else "", f"> {above}" if above is not None else ""]
    limits.append(f"<= {most}" if most is not None else "")
    limits = [limit for limit in limits if limit]
    return f" {', '.join(limits)}" if limits else ""
