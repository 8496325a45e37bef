"""Reading LoCoMo conversations from files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..errors import InputError
from .locomo import Conversation, parse_conversations
from .rows_io import MAX_BYTES, read_rows


def load_conversations(paths: str | Path | Sequence[str | Path], *, max_bytes: int = MAX_BYTES) -> list[Conversation]:
    """The conversations of a file or folder, or of several, in file order (forms and errors: `read_rows`).

    Raises InputError naming the file, and the conversation or the position in the file, also on a row that is
    not of the form, and on a sample_id that stands twice (also across files).
    """
    conversations = parse_conversations(read_rows(paths, "conversations", max_bytes=max_bytes))
    if not conversations:
        named = paths if isinstance(paths, str | Path) else ", ".join(map(str, paths))
        raise InputError(f"{named}: holds no conversation; name a file with at least one")
    return conversations
