"""The raw exports of the real systems as they ship, without dataset text; and back.

    python publish.py pack SYSTEM RAW FILE OUT     exports of SYSTEM (mem0, amem, letta) in RAW -> OUT
    python publish.py fill STORE FILE OUT          shipped exports in STORE, texts filled in -> OUT

FILE: LongMemEval-S support slices. The `content` of A-Mem's notes is text of the dataset: it ships as "", and beside it
stands `content_from`, {"joined": [pointer, ...], "by": "\\n", "n_words", "n_chars", "n_bytes"}, with pointers as in
memaudit.natural.pointers; `memaudit ingest` passes over such notes, with a count, until they are filled in.
`pack` refuses any other text that has a run of more than 8 words of the example's sessions. What else it changes, since
it differs from run to run: Letta's embedding vectors and their server's address are left out, tags are sorted, and
updated_at, which the database's own clock sets, becomes created_at.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from memaudit.errors import InputError  # noqa: E402
from memaudit.natural.conversations import Example, Session  # noqa: E402
from memaudit.natural.conversations_io import load_examples  # noqa: E402
from memaudit.natural.coverage_rows import Pointer  # noqa: E402
from memaudit.natural.pointers import Sessions, counts_of, pointer_row  # noqa: E402
from memaudit.table_io import write_text  # noqa: E402

LONGEST_RUN = 8
BY = "\n"
POINTED = "content_from"
_WORD = re.compile(r"[\w']+")


def packed_mem0(export: dict[str, Any], example: Example) -> dict[str, Any]:
    return export


def packed_amem(export: list[dict[str, Any]], example: Example) -> list[dict[str, Any]]:
    return [{**note, "content": "", POINTED: pointed(note["content"], example)} for note in export]


def packed_letta(export: dict[str, Any], example: Example) -> dict[str, Any]:
    def packed(passage: dict[str, Any]) -> dict[str, Any]:
        config = {**passage["embedding_config"], "embedding_endpoint": None}
        return {
            **passage,
            "embedding": None,
            "embedding_config": config,
            "tags": sorted(passage["tags"]),
            "updated_at": passage["created_at"],
        }

    return {**export, "archival": [packed(passage) for passage in export["archival"]]}


PACKERS = {"mem0": packed_mem0, "amem": packed_amem, "letta": packed_letta}


def pointed(text: str, example: Example) -> dict[str, Any]:
    """A text that joins turns of one session, as pointers to them."""
    for session in example.sessions:
        turns = list(turns_of(text, session))
        if turns and BY.join(session.turns[n].content for n in turns) == text:
            joined = [pointer_row(session, turns=[n, n + 1], roles=False) for n in turns]
            return {"joined": joined, "by": BY, **counts_of(text)}
    raise InputError(f"{example.question_id}: a note's content is no run of the user's turns; prepare the same FILE")


def turns_of(text: str, session: Session) -> Iterator[int]:
    """Positions of the user's turns that `text` starts with, one after the other."""
    for n, turn in enumerate(session.turns):
        if turn.role == "user" and not turn.is_blank and text.startswith(turn.content):
            yield n
            text = text[len(turn.content) :].removeprefix(BY)


def refuse_dataset_text(content: Any, example: Example) -> None:
    """InputError where a text shares a run of more than LONGEST_RUN words with a turn of the example."""
    size = LONGEST_RUN + 1
    known = {run for session in example.sessions for turn in session.turns for run in runs(turn.content, size)}
    for text in texts(content):
        for run in runs(text, size):
            if run in known:
                raise InputError(f"{example.question_id}: words of the dataset: {' '.join(run)!r}; say it otherwise")


def runs(text: str, size: int) -> Iterator[tuple[str, ...]]:
    words = _WORD.findall(text.lower())
    return (tuple(words[n : n + size]) for n in range(len(words) - size + 1))


def texts(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    elif isinstance(content, dict):
        for value in content.values():
            yield from texts(value)
    elif isinstance(content, list):
        for value in content:
            yield from texts(value)


def pack(system: str, raw: Path, examples: Iterable[Example], out: Path) -> None:
    by_id = {example.question_id: example for example in examples}
    for file in sorted(raw.glob("*.json")):
        example = by_id[file.stem]
        content = PACKERS[system](json.loads(file.read_text("utf-8")), example)
        refuse_dataset_text(content, example)
        write_json(out / file.name, content)


def fill(store: Path, examples: Iterable[Example], out: Path) -> None:
    sessions = Sessions(examples)
    for file in sorted(store.glob("*.json")):
        content = json.loads(file.read_text("utf-8"))
        if isinstance(content, list):
            content = [filled(note, sessions) for note in content]
        write_json(out / file.name, content)


def filled(note: dict[str, Any], sessions: Sessions) -> dict[str, Any]:
    """The note with its content in place of `content_from`; InputError where a pointer or a count is wrong."""
    source = note[POINTED]
    text = source["by"].join(sessions.text(pointer_of(row)) for row in source["joined"])
    if counts_of(text) != {key: source[key] for key in ("n_words", "n_chars", "n_bytes")}:
        raise InputError(f"note {note['id']}: its text has other counts than it says; give the FILE it was made from")
    return {key: value for key, value in {**note, "content": text}.items() if key != POINTED}


def pointer_of(row: dict[str, Any]) -> Pointer:
    start, end = row["turns"]
    return Pointer(row["session_id"], row["sha256"], "turns", start, end, roles=row["roles"])


def write_json(file: Path, content: Any) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    write_text(file, json.dumps(content, ensure_ascii=False, indent=1) + "\n")


def main() -> None:
    match sys.argv[1:]:
        case ["pack", system, raw, file, out] if system in PACKERS:
            pack(system, Path(raw), load_examples(file), Path(out))
        case ["fill", store, file, out]:
            fill(Path(store), load_examples(file), Path(out))
        case _:
            raise SystemExit(__doc__)


if __name__ == "__main__":
    try:
        main()
    except InputError as error:
        raise SystemExit(f"error: {error}") from error
