"""The MCP memory server's knowledge graph: entities with observations, and relations."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import Any

from ..errors import shown
from .builder import Builder
from .registry import adapter, not_its_form, row_keys


def _recognises(content: Any) -> bool:
    if isinstance(content, Mapping):
        return isinstance(content.get("entities"), list) and isinstance(content.get("relations"), list)
    keys = row_keys(content)
    return "type" in keys and bool({"entityType", "observations"} <= keys or {"from", "to", "relationType"} <= keys)


@adapter("mcp_memory", "mcp_memory", _recognises, texts="observations (a list, in rows of type entity)")
def read(content: Any, builder: Builder, parts: Mapping[str, Any]) -> None:
    """One memory an observation, its text as stored (the entity is in the details), and one a relation
    (`from relationType to`). No times: the order is the file's. Rows: observations, relations, bare entities."""
    for entry in _entries(content):
        if not isinstance(entry, Mapping):
            builder.count_row(entry)
            builder.saw_text(False)
            builder.skip("row is no object", shown(entry))
        elif entry.get("type") == "entity":
            _add_entity(entry, builder)
        elif entry.get("type") == "relation":
            _add_relation(entry, builder)
        else:
            builder.count_row(entry)
            builder.saw_text(False)
            builder.skip("neither entity nor relation", f"type {shown(entry.get('type'))}")


def _entries(content: Any) -> list[Any]:
    if isinstance(content, Mapping):
        lists = [(kind, content.get(key)) for kind, key in (("entity", "entities"), ("relation", "relations"))]
        if not all(isinstance(rows, list) for _, rows in lists):
            raise not_its_form("mcp_memory", "an object with the lists entities and relations, or JSON lines")
        typed = ([{"type": kind, **row} if isinstance(row, Mapping) else row for row in rows] for kind, rows in lists)
        return list(chain(*typed))
    if not isinstance(content, list):
        raise not_its_form("mcp_memory", "an object with the lists entities and relations, or JSON lines")
    return content


def _add_entity(entity: Mapping[str, Any], builder: Builder) -> None:
    observations = entity.get("observations")
    if not isinstance(observations, list) or not observations:
        builder.count_row(entity, "entity")
        builder.saw_text(isinstance(observations, list))
        builder.skip("entity without observations")
        return
    name = str(entity.get("name"))
    details = {"entity": name, "entity_type": str(entity.get("entityType"))}
    for number, text in enumerate(observations):
        builder.count_row(entity, "entity")
        builder.add(f"{name}/observation/{number}", text, details=details)


def _add_relation(relation: Mapping[str, Any], builder: Builder) -> None:
    builder.count_row(relation, "relation")
    ends = [relation.get(key) for key in ("from", "relationType", "to")]
    if not all(isinstance(end, str) and end.strip() for end in ends):
        builder.skip("relation without from, relationType or to", shown(ends))
        return
    builder.add("/".join(["relation", *ends]), " ".join(ends), details={"relation": ends[1]})
