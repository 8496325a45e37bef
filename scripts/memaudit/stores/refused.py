"""Formats that are recognised and refused, each with what to export instead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .registry import row_keys

_MEM0 = "for Mem0 save get_all() as JSON, and its history as part history"
_ZIP, _HDF5 = b"PK\x03\x04", b"\x89HDF"


def refused_bytes(head: bytes, name: str) -> str | None:
    """Why a file that begins with `head` is not read, and what to export; None where nothing speaks against it."""
    lower = name.lower()
    if lower.endswith((".pkl", ".pickle", ".joblib", ".pt", ".pth")) or (head[:1] == b"\x80" and head[1:2] <= b"\x05"):
        return "a pickle can run code and is never opened; write the memories as JSON (for A-Mem: a list of note dicts)"
    if head.startswith(b"SQLite format 3\0"):
        return f"a database is not read; export its rows as JSON ({_MEM0}; for Chroma save the A-Mem notes)"
    if head.startswith(_ZIP) or lower.endswith((".npy", ".npz")) or head.startswith(_HDF5):
        return "an archive or array file is not read; export the memories as JSON"
    return None


def refused_json(content: Any) -> str | None:
    """Why a parsed file is not read, and what to export instead; None where nothing speaks against it."""
    if not isinstance(content, Mapping):
        return None
    if isinstance(content.get("core_memory"), list) and "messages" in content:
        return (
            "a Letta agent file of version 1 is not read; import it into a current server and export it again "
            "(version 2), or export its blocks and its archival listing as JSON"
        )
    if {"ids", "documents"} <= set(content) and "content" not in row_keys(content.get("metadatas")):
        return (
            "a Chroma dump is not read, as its documents are not the memories' texts; export from the memory system "
            "itself (A-Mem: a list of note dicts; Mem0: get_all()), or write rows with a text as JSON lines"
        )
    return None
