"""Write what the real systems are fed, from LongMemEval-S support slices: `python prepare.py FILE OUT`.

OUT is a JSON list, an object an example: {"example", "sessions": [{"session_id", "date", "sha256", "turns":
[{"position", "text"}]}]}. Only sessions, with their dates, and of them only what the user said: no question, answer
or mark. The examples are `random.Random(0).sample(sorted ids of data/natural100/choice.json, 30)`, in the order drawn;
a run of n examples takes the first n. Sessions stand in order of date (ties: as in the source).
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from memaudit.errors import InputError  # noqa: E402
from memaudit.natural.conversations import Session  # noqa: E402
from memaudit.natural.conversations_io import load_examples  # noqa: E402
from memaudit.natural.pointers import session_text, sha256_of  # noqa: E402
from memaudit.table_io import write_text  # noqa: E402

CHOICE = ROOT / "data" / "natural100" / "choice.json"
SEED, COUNT = 0, 30


def drawn_examples() -> list[str]:
    """The ids of the examples, in the order drawn."""
    ids = json.loads(CHOICE.read_text("utf-8"))["question_ids"]
    return random.Random(SEED).sample(sorted(ids), COUNT)


def fed(session: Session) -> dict:
    said = ((n, turn) for n, turn in enumerate(session.turns) if turn.role == "user" and not turn.is_blank)
    return {
        "session_id": session.session_id,
        "date": session.date.isoformat(),
        "sha256": sha256_of(session_text(session)),
        "turns": [{"position": n, "text": turn.content} for n, turn in said],
    }


def main() -> None:
    source, out = sys.argv[1:]
    examples = {example.question_id: example for example in load_examples(source)}
    wanted = drawn_examples()
    missing = sorted(set(wanted) - set(examples))
    if missing:
        raise InputError(f"{source}: no example {', '.join(missing)}; give the LongMemEval-S support slices")
    rows = [
        {"example": name, "sessions": [fed(s) for s in sorted(examples[name].sessions, key=lambda s: s.date)]}
        for name in wanted
    ]
    Path(out).parent.mkdir(parents=True, exist_ok=True)
    write_text(out, json.dumps(rows, ensure_ascii=False, indent=1) + "\n")
    print(f"{out}: {len(rows)} examples, {sum(len(row['sessions']) for row in rows)} sessions")


if __name__ == "__main__":
    try:
        main()
    except InputError as error:
        raise SystemExit(f"error: {error}") from error
