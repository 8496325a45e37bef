"""Reading LongMemEval-form conversations from files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..errors import InputError
from .conversations import Example, parse_examples
from .rows_io import MAX_BYTES, read_rows


def load_examples(paths: str | Path | Sequence[str | Path], *, max_bytes: int = MAX_BYTES) -> list[Example]:
    """The examples of a file or folder, or of several, in file order (forms and errors: `read_rows`).

    Raises InputError naming the file, and the question or the position in the file, also on a row that is
    not of the form, and on a question id that stands twice (also across files).
    """
    examples = parse_examples(read_rows(paths, "questions", max_bytes=max_bytes))
    if not examples:
        named = paths if isinstance(paths, str | Path) else ", ".join(map(str, paths))
        raise InputError(f"{named}: holds no question; name a file with at least one")
    return examples
