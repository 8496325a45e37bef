"""An OpenAI-compatible server on loopback that answers with what was written for a prompt beforehand.

    python replay.py ANSWERS [--drafts DRAFTS --prompts FOLDER] [--embedder MODEL_FOLDER] [--port N]

ANSWERS: JSON lines {"prompt_sha256", "step", "answer"}. `prompt_sha256` is of the request's messages as JSON (keys
sorted, no spaces, UTF-8), so that the store holds no prompt; `answer` is the assistant's message {"content"} or
{"content", "tool_calls": [{"name", "arguments"}]}; `step` says to whom it was an answer, for people.

A prompt that is not in ANSWERS gets status 404: a system that asks something else than it did when the answers were
written stops, instead of getting an answer to another question. How the answers came about: with --drafts the next
answer of the step at hand (set by POST /step) is taken from DRAFTS, {step: [answer, ...]}, and added to ANSWERS; where
there is none, the prompt is written to FOLDER for the author to read. Neither drafts nor prompts are kept.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

MODEL = "scripted"


def prompt_sha256(messages: list[dict[str, Any]]) -> str:
    text = json.dumps(messages, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


class Answers:
    """The answers by prompt; `drafts` and `prompts` as the module says."""

    def __init__(self, file: Path, drafts: Path | None = None, prompts: Path | None = None) -> None:
        self._file, self._prompts = file, prompts
        lines = file.read_text("utf-8").splitlines() if file.exists() else []
        self._rows = {row["prompt_sha256"]: row for row in map(json.loads, lines)}
        self._drafts = json.loads(drafts.read_text("utf-8")) if drafts else {}
        self._recording = drafts is not None
        self.missing: list[str] = []
        self.start("")

    def start(self, step: str) -> None:
        """From now on prompts belong to this step: an example and the number of its session, say. `answered` counts
        its prompts, `missing` those of all steps that had no answer."""
        self._step, self.answered = step, 0

    @property
    def step(self) -> str:
        return f"{self._step}/{self.answered}"

    def answer(self, messages: list[dict[str, Any]], request: dict[str, Any]) -> dict[str, Any] | None:
        digest = prompt_sha256(messages)
        if digest not in self._rows and self._recording:
            self._record(digest, request)
        row = self._rows.get(digest)
        if row is None:
            self.missing.append(f"prompt {digest} ({self.step})")
            return None
        self.answered += 1
        return row["answer"]

    def _record(self, digest: str, request: dict[str, Any]) -> None:
        drafts = self._drafts.get(self._step, [])
        if self.answered >= len(drafts):
            self._prompts.mkdir(parents=True, exist_ok=True)
            text = json.dumps({"step": self.step, **request}, ensure_ascii=False, indent=1)
            (self._prompts / f"{self.step.replace('/', '_')}.json").write_text(text, "utf-8")
            return
        row = {"prompt_sha256": digest, "step": self.step, "answer": drafts[self.answered]}
        self._rows[digest] = row
        with self._file.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(row, ensure_ascii=False) + "\n")


def completion(answer: dict[str, Any], digest: str) -> dict[str, Any]:
    """The answer as a chat completion; ids are made of the prompt's hash, so that they repeat."""
    calls = [
        {
            "id": f"call_{digest[:20]}_{n}",
            "type": "function",
            "function": {"name": call["name"], "arguments": json.dumps(call["arguments"], ensure_ascii=False)},
        }
        for n, call in enumerate(answer.get("tool_calls", []))
    ]
    message = {"role": "assistant", "content": answer.get("content"), **({"tool_calls": calls} if calls else {})}
    return {
        "id": f"chatcmpl-{digest[:24]}",
        "object": "chat.completion",
        "created": 0,
        "model": MODEL,
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }


class Server(ThreadingHTTPServer):
    """Serves `answers` (and embeddings by `embed`, texts -> vectors) on loopback; port 0 takes a free one."""

    def __init__(self, answers: Answers, embed: Any = None, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.answers, self.embed = answers, embed

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def start_thread(self) -> Server:
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        if self.path.endswith("/models"):
            return self._reply(200, {"object": "list", "data": [{"id": MODEL, "object": "model", "created": 0}]})
        return self._reply(404, {"error": {"message": f"nothing at {self.path}"}})

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path.endswith("/step"):
            self.server.answers.start(request["step"])
            return self._reply(200, {})
        if self.path.endswith("/embeddings") and self.server.embed:
            texts = [request["input"]] if isinstance(request["input"], str) else request["input"]
            data = [{"object": "embedding", "index": n, "embedding": v} for n, v in enumerate(self.server.embed(texts))]
            usage = {"prompt_tokens": 1, "total_tokens": 1}
            return self._reply(200, {"object": "list", "data": data, "model": MODEL, "usage": usage})
        if not self.path.endswith("/chat/completions"):
            return self._reply(404, {"error": {"message": f"nothing at {self.path}"}})
        digest = prompt_sha256(request["messages"])
        answer = self.server.answers.answer(request["messages"], request)
        if answer is None:
            message = f"no answer to {self.server.answers.missing[-1]}"
            return self._reply(404, {"error": {"message": message}})
        return self._reply(200, completion(answer, digest))

    def _reply(self, status: int, content: dict[str, Any]) -> None:
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


def embedder(folder: str) -> Any:
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(folder, device="cpu")
    return lambda texts: model.encode(texts).tolist()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("answers", type=Path)
    parser.add_argument("--drafts", type=Path)
    parser.add_argument("--prompts", type=Path)
    parser.add_argument("--embedder")
    parser.add_argument("--port", type=int, default=0)
    arguments = parser.parse_args()
    answers = Answers(arguments.answers, arguments.drafts, arguments.prompts)
    server = Server(answers, embedder(arguments.embedder) if arguments.embedder else None, arguments.port)
    print(server.url, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
