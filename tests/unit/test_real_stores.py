"""The exports of real systems with a scripted model that ship, their answers, and the tools that made them."""

import importlib.util
import json
import os
import re
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from memaudit.errors import InputError
from memaudit.natural.conversations_io import load_examples
from memaudit.package import size_of
from memaudit.stores.ingest_io import read_stores
from memaudit.stores.model import IngestOptions

REPOSITORY = Path(__file__).parents[2]
STORES = REPOSITORY / "data" / "natural100" / "stores"
TOOLS = REPOSITORY / "tools" / "real_systems"
SHARED = Path(os.environ.get("MEMAUDIT_SHARED_DATA", REPOSITORY.parent / "shared" / "data")) / "longmemeval"
SLICES = SHARED / "s_support_slices_ku_tr.json"
SYSTEMS = ("mem0", "amem", "letta")
needs_source = pytest.mark.skipif(
    not SLICES.is_file(), reason="no LongMemEval here; MEMAUDIT_SHARED_DATA names the folder that holds it"
)


def tool(name):
    spec = importlib.util.spec_from_file_location(f"real_systems_{name}", TOOLS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


prepare, publish, replay = map(tool, ("prepare", "publish", "replay"))


@pytest.fixture(scope="module")
def examples():
    return load_examples(SLICES)


def answers(system):
    lines = (TOOLS / "answers" / f"{system}.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


@pytest.mark.parametrize("system", SYSTEMS)
def test_each_system_has_the_examples_drawn(system):
    assert {file.stem for file in (STORES / f"{system}-scripted").iterdir()} == set(prepare.drawn_examples())


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_export_is_read_whole(system):
    for one in read_stores(STORES / f"{system}-scripted", IngestOptions(strict=False)):
        assert one.report.system == system
        assert len(one.store.memories) >= 2
        assert not one.report.partial
        dated = one.store.memories if system != "letta" else [m for m in one.store.memories if m.view == "archival"]
        assert all(memory.time for memory in dated)
        assert set(one.report.skipped) <= {"history: ADD", "no text"}


def test_notes_ship_without_their_text_and_have_its_size():
    for one in read_stores(STORES / "amem-scripted"):
        assert one.report.kept == one.report.read == len(one.store.memories)
        for memory in one.store.memories:
            assert re.match(r"content: \[\d+ words that stand elsewhere\]\ncontext: ", memory.text)
            assert memory.size.words > len(memory.text.split())


@pytest.mark.parametrize("system", SYSTEMS)
def test_answers_hold_no_prompt_and_answer_one_each(system):
    rows = answers(system)
    assert all(set(row) == {"prompt_sha256", "step", "answer"} for row in rows)
    assert all(re.fullmatch("[0-9a-f]{64}", row["prompt_sha256"]) for row in rows)
    assert len({row["prompt_sha256"] for row in rows}) == len(rows)
    assert {row["step"].split("/")[0] for row in rows} <= set(prepare.drawn_examples())


def test_what_mem0_holds_is_what_it_was_answered():
    said = {m["text"] for row in answers("mem0") for m in json.loads(row["answer"]["content"])["memory"]}
    held = {m.text for one in read_stores(STORES / "mem0-scripted") for m in one.store.memories}
    assert held == said


def test_what_letta_archives_is_what_it_was_told_to():
    calls = [call for row in answers("letta") for call in row["answer"].get("tool_calls", ())]
    said = {call["arguments"]["content"] for call in calls if call["name"] == "archival_memory_insert"}
    held = {
        m.text
        for one in read_stores(STORES / "letta-scripted", IngestOptions(view="archival"))
        for m in one.store.memories
    }
    assert held == said


@needs_source
@pytest.mark.parametrize("system", SYSTEMS)
def test_no_text_of_the_dataset_ships(system, examples):
    by_id = {example.question_id: example for example in examples}
    for file in (STORES / f"{system}-scripted").iterdir():
        publish.refuse_dataset_text(json.loads(file.read_text("utf-8")), by_id[file.stem])
    for row in answers(system):
        content = [row["answer"].get("content") or "", row["answer"].get("tool_calls", [])]
        publish.refuse_dataset_text(content, by_id[row["step"].split("/")[0]])


@needs_source
def test_notes_are_filled_in(examples, tmp_path):
    publish.fill(STORES / "amem-scripted", examples, tmp_path)
    by_id = {example.question_id: example for example in examples}
    for one in read_stores(tmp_path, IngestOptions(view="both")):
        assert one.report.kept == one.report.read
        assert not one.report.skipped
        assert all(memory.time for memory in one.store.memories)
        notes = json.loads((tmp_path / f"{one.store.instance_id}.json").read_text("utf-8"))
        (shipped,) = read_stores(STORES / "amem-scripted" / f"{one.store.instance_id}.json", IngestOptions(view="both"))
        for full, as_shipped in zip(one.store.memories, shipped.store.memories, strict=True):
            assert size_of(full.text) == as_shipped.whole_size
            assert (as_shipped.size is None) == (full.view == "metadata") == (full.text == as_shipped.text)
        said = [t.content for s in by_id[one.store.instance_id].sessions for t in s.turns if t.role == "user"]
        assert sorted("\n".join(note["content"] for note in notes).split("\n")) == sorted("\n".join(said).split("\n"))


@needs_source
def test_a_note_with_other_counts_is_refused(examples, tmp_path):
    source = next((STORES / "amem-scripted").iterdir())
    notes = json.loads(source.read_text("utf-8"))
    notes[0]["content_from"]["n_words"] += 1
    (tmp_path / source.name).write_text(json.dumps(notes))
    with pytest.raises(InputError, match="other counts"):
        publish.fill(tmp_path, examples, tmp_path / "out")


@needs_source
def test_a_run_of_the_dataset_is_refused(examples):
    words = examples[0].sessions[0].turns[0].content.split()
    publish.refuse_dataset_text([" ".join(words[:8])], examples[0])
    with pytest.raises(InputError, match="words of the dataset"):
        publish.refuse_dataset_text({"a": [" ".join(words[:9]).upper()]}, examples[0])


@pytest.fixture
def server(tmp_path):
    file = tmp_path / "answers.jsonl"
    known = replay.prompt_sha256([{"role": "user", "content": "known"}])
    answer = {"content": None, "tool_calls": [{"name": "keep", "arguments": {"text": "a"}}]}
    file.write_text(json.dumps({"prompt_sha256": known, "step": "q/0/0", "answer": answer}) + "\n")
    running = replay.Server(replay.Answers(file)).start_thread()
    yield running
    running.shutdown()
    running.server_close()


def asked(server, content):
    body = json.dumps({"model": "any", "messages": [{"content": content, "role": "user"}]}).encode()
    request = urllib.request.Request(f"{server.url}/chat/completions", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as response:
        return json.load(response)


def test_the_server_answers_what_it_knows(server):
    first, second = asked(server, "known"), asked(server, "known")
    assert first == second
    choice = first["choices"][0]
    assert choice["finish_reason"] == "tool_calls"
    assert choice["message"]["tool_calls"][0]["function"] == {"name": "keep", "arguments": '{"text": "a"}'}


def test_the_server_has_no_answer_to_another_prompt(server):
    server.answers.start("q/1")
    with pytest.raises(urllib.error.HTTPError, match="404"):
        asked(server, "unknown")
    assert [missing.split()[-1] for missing in server.answers.missing] == ["(q/1/0)"]
    assert server.answers.answered == 0
