"""What the runners share: their command line, a clock that stands at the session's date, ids that repeat."""

from __future__ import annotations

import argparse
import json
import random
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest import mock

import time_machine


def arguments(description: str, *, url: bool = False) -> argparse.Namespace:
    """`url`: the replay server runs by itself and is named by --url; else the runner starts it and needs --answers."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("input", type=Path, help="what prepare.py wrote")
    parser.add_argument("out", type=Path, help="folder for the exports, as the system gives them")
    parser.add_argument("--examples", type=int, default=30, help="the first so many")
    if url:
        parser.add_argument("--url", required=True, help="the replay server")
        parser.add_argument("--recording", action="store_true", help="go on where an answer is missing")
    else:
        parser.add_argument("--answers", type=Path, required=True, help="see replay.py")
        parser.add_argument("--drafts", type=Path, help="write answers: see replay.py")
        parser.add_argument("--prompts", type=Path, help="write answers: see replay.py")
    return parser.parse_args()


def examples(options: argparse.Namespace) -> list[dict[str, Any]]:
    return json.loads(options.input.read_text("utf-8"))[: options.examples]


@contextmanager
def clock_at(iso: str, seconds: int = 0) -> Iterator[None]:
    """The clock stands at this time (read as UTC): the system writes when the session took place.

    The monotonic clock goes on, for timeouts.
    """
    moment = datetime.fromisoformat(iso).replace(tzinfo=UTC).timestamp() + seconds
    with time_machine.travel(moment, tick=False):
        yield


@contextmanager
def ids_of(name: str) -> Iterator[None]:
    """`uuid.uuid4` draws from a generator seeded by `name`; nothing else of the ids changes."""
    generator = random.Random(name)
    with mock.patch.object(uuid, "uuid4", lambda: uuid.UUID(int=generator.getrandbits(128), version=4)):
        yield


def write_export(options: argparse.Namespace, example: str, content: Any) -> None:
    options.out.mkdir(parents=True, exist_ok=True)
    target = options.out / f"{example}.json"
    target.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", "utf-8")
