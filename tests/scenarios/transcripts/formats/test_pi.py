"""pi sessions: the list of the first version, the tree since, compactions, and calls broken off."""

import json
from pathlib import Path
from typing import Any

import pytest

from sim.script import Compaction
from tests.scenarios.transcripts.made import (
    arrivals,
    at,
    by_turn,
    load,
    load_all,
    session_of,
    waits,
    writes,
)

SHARED = Path(__file__).parents[5] / "shared/data/transcripts/pi_jsonl"


class Entries:
    """The entries of a session under way; a tree unless it is of version 1."""

    def __init__(self, version: int = 3, id: str = "s-1") -> None:
        self.lines: list[str] = []
        self.version = version
        self.parent: str | None = None
        header = {"type": "session", "id": id, "timestamp": at(0), "cwd": "/r"}
        self.lines.append(json.dumps({**header, "version": version} if version > 1 else header))

    def put(self, kind: str, seconds: float, **fields: Any) -> "Entries":
        record: dict[str, Any] = {"type": kind, "timestamp": at(seconds)}
        if self.version > 1:
            name = f"e{len(self.lines)}"
            record |= {"id": name, "parentId": self.parent}
            self.parent = name
        self.lines.append(json.dumps({**record, **fields}))
        return self

    def says(self, role: str, content: Any, seconds: float, **fields: Any) -> "Entries":
        return self.put("message", seconds, message={"role": role, "content": content, **fields})

    def user(self, text: str, seconds: float) -> "Entries":
        return self.says("user", [{"type": "text", "text": text}], seconds)

    def model(self, seconds: float, *blocks: Any, **fields: Any) -> "Entries":
        return self.says("assistant", list(blocks), seconds, **fields)

    def result(self, id: str, text: str, seconds: float, **fields: Any) -> "Entries":
        content = [{"type": "text", "text": text}]
        return self.says("toolResult", content, seconds, toolCallId=id, **fields)

    def write(self, path: Path) -> Path:
        path.write_text("\n".join(self.lines) + "\n")
        return path


def use(id: str, name: str = "bash", **arguments: Any) -> dict[str, Any]:
    return {"type": "toolCall", "id": id, "name": name, "arguments": arguments}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def used(plain: int, read: int, written: int, out: int) -> dict[str, int]:
    return {"input": plain, "cacheRead": read, "cacheWrite": written, "output": out}


def short(version: int = 3) -> Entries:
    entries = Entries(version).user("please list the files", 1)
    entries.put("model_change", 1, provider="x", modelId="m")
    thought = {"type": "thinking", "thinking": "hmm?"}
    entries.model(3, thought, use("a"), use("b", "read", path="/r/n"), usage=used(7, 30, 3, 4))
    entries.result("b", "text of n", 4).result("a", "notes.txt", 6, isError=True)
    return entries.model(8, text("one file"), usage=used(2, 40, 9, 5))


@pytest.mark.parametrize("version", [1, 2, 3])
def test_calls_results_and_usage(tmp_path, version):
    scenario, warnings, notes = load(short(version).write(tmp_path / "s"))
    assert warnings == []
    assert any(note.endswith("no part of a prompt: 1 model_change") for note in notes)
    made = scenario.script(0)
    assert by_turn(made) == {
        1: ["unrecorded", "task"],
        2: ["thinking-1", "call-1", "call-2", "file-2", "result-1"],
    }
    assert made.recorded == {
        1: {"input_tokens": 40, "cached_tokens": 30, "written_tokens": 3, "output_tokens": 4},
        2: {"input_tokens": 51, "cached_tokens": 40, "written_tokens": 9, "output_tokens": 5},
    }
    found = arrivals(made)
    # 40 tokens less the 21 bytes of the task.
    assert (found["unrecorded"].tokens, found["task"].tokens) == (34, 6)
    assert (found["file-2"].time, found["result-1"].time) == (1.0, 3.0)
    assert (found["file-2"].path, found["file-2"].tokens) == ("/r/n", 3)


def test_a_write_a_wait_and_an_image(tmp_path):
    entries = Entries().user("go", 1)
    entries.model(2, use("a", "write", path="/r/n", content="12345"), use("b", "edit", path="/r/m"))
    entries.result("a", "ok", 3).result("b", "ok", 3).model(4, text("done"))
    image = {"type": "image", "data": "AAAA", "mimeType": "image/png"}
    entries.says("user", [text("look"), image], 64).model(65, text("seen"))
    made = load(entries.write(tmp_path / "s"))[0].script(0)
    assert [(w.turn, w.path, w.tokens) for w in writes(made)] == [(2, "/r/n", 2), (2, "/r/m", None)]
    assert waits(made) == {3: 60.0}
    assert by_turn(made)[3] == ["assistant-1", "user-1", "user-1.image-1"]


@pytest.mark.parametrize("version", [1, 3])
def test_a_compaction_keeps_what_stands_from_an_entry_on(tmp_path, version):
    entries = Entries(version).user("first", 1).model(2, text("a")).user("second", 3)
    entries.model(4, text("b"))
    kept = {"firstKeptEntryIndex": 3} if version == 1 else {"firstKeptEntryId": "e3"}
    entries.put("compaction", 5, summary="12345678", tokensBefore=900, **kept)
    entries.user("third", 6).model(7, text("c"))
    session, findings = session_of(entries.write(tmp_path / "s"))
    assert findings.warnings() == []
    (compacted,) = session.compactions
    assert (compacted.turn, compacted.before, compacted.tokens) == (2, 900, 2)
    assert compacted.kept_from == 4
    made = load(tmp_path / "s")[0].script(0)
    (boundary,) = [s for s in made.stimuli if isinstance(s, Compaction)]
    assert boundary.kept == ("user-1", "assistant-2", "user-2")


@pytest.mark.parametrize("kept", [{"firstKeptEntryId": "no"}, {"firstKeptEntryIndex": 99}])
def test_a_compaction_that_keeps_from_nowhere_is_named(tmp_path, kept):
    entries = Entries().user("first", 1).model(2, text("a"))
    entries.put("compaction", 5, summary="s", **kept).user("third", 6).model(7, text("c"))
    session, findings = session_of(entries.write(tmp_path / "s"))
    assert session.compactions[0].kept_from is None
    assert "a compaction that keeps from an entry that is missing" in findings.warnings()[0]


def test_a_branch_that_was_given_up_is_left_out(tmp_path):
    entries = Entries().user("first", 1).model(2, text("a")).user("wrong", 3).model(4, text("b"))
    entries.parent = "e2"
    entries.put("branch_summary", 5, summary="it was wrong", fromId="e4")
    entries.user("right", 6).model(7, text("c"))
    scenario, warnings, notes = load(entries.write(tmp_path / "s"))
    assert warnings == []
    assert any("2 entries of branches that the session gave up, left out" in n for n in notes)
    made = scenario.script(0)
    assert by_turn(made) == {1: ["task"], 2: ["assistant-1", "user-1", "user-2"]}
    assert arrivals(made)["user-1"].tokens == 3


def test_a_parent_that_is_missing_gives_nothing_up(tmp_path):
    entries = Entries().user("first", 1).model(2, text("a"))
    entries.parent = "gone"
    session, _ = session_of(entries.user("on", 3).model(4, text("b")).write(tmp_path / "s"))
    assert session.turns == 2
    assert [d.id for d in session.arrivals] == ["task", "assistant-1", "user-1"]


def test_parents_in_a_circle_end(tmp_path):
    entries = Entries()
    entries.parent = "e2"
    entries.user("first", 1)
    entries.parent = "e1"
    session, _ = session_of(entries.model(2, text("a")).write(tmp_path / "s"))
    assert session.turns == 1


@pytest.mark.parametrize(("version", "second"), [(1, ["assistant-1", "user-1"]), (3, ["user-1"])])
def test_a_call_that_broke_off(tmp_path, version, second):
    entries = Entries(version).user("first", 1)
    entries.model(2, text("half"), use("a"), stopReason="aborted", usage=used(9, 0, 0, 1))
    entries.user("on", 3).model(4, stopReason="error", usage=used(0, 0, 0, 0))
    entries.model(5, text("b"), usage=used(12, 0, 0, 1))
    session, findings = session_of(entries.write(tmp_path / "s"))
    assert findings.warnings() == []
    assert session.turns == 2
    assert [d.id for d in session.arrivals if d.turn == 2] == second
    notes = "; ".join(findings.notes)
    assert "1 model call that broke off before anything was written or counted" in notes
    assert ("what was written by then is in no later prompt" in notes) is (version == 3)


def test_what_the_user_ran(tmp_path):
    entries = Entries().user("first", 1)
    ran = {"role": "bashExecution", "command": "ls", "output": "x", "exitCode": 0}
    entries.put("message", 2, message=ran)
    entries.put("message", 2, message={**ran, "excludeFromContext": True})
    entries.put("custom_message", 2, content="from an extension", customType="x")
    session, findings = session_of(entries.model(4, text("b")).write(tmp_path / "s"))
    assert findings.notes[0] == "1 command that the user ran and kept from the model"
    # "Ran `ls`", the fence, "x", the fence and three line feeds: 18 bytes.
    assert [(d.id, d.tokens) for d in session.arrivals] == [
        ("task", 2),
        ("user-1", 5),
        ("user-2", 5),
    ]


def test_several_sessions_in_one_file(tmp_path):
    path = tmp_path / "both.jsonl"
    path.write_text("\n".join([*short().lines, *Entries(3, "b-2").lines, *short().lines[1:]]))
    found, warnings, _ = load_all(path)
    assert [s.name for s in found] == ["both", "both/b2"]
    assert [s.script(0).settings["turns"] for s in found] == [2, 2]
    assert warnings == []


@pytest.mark.parametrize(
    ("record", "what"),
    [
        ([1], "a record that is not an object"),
        ({"type": "riddle"}, "a session entry of the unknown type 'riddle'"),
        ({"type": {}}, "a session entry of the unknown type"),
        ({"type": "message"}, "a message that is no object"),
        ({"type": "message", "message": {"role": "king"}}, "of unknown role 'king'"),
        ({"type": "message", "message": {"role": ["user"]}}, "of unknown role"),
        ({"type": "message", "message": {"role": "toolResult"}}, "names no call"),
        ({"type": "message", "message": {"role": "bashExecution"}}, "without command or output"),
        ({"type": "message", "message": {"role": "assistant"}}, "without content"),
        (
            {
                "type": "message",
                "message": {"role": "assistant", "content": [{"type": "toolCall"}]},
            },
            "a tool call without id or name",
        ),
        (
            {"type": "message", "message": {"role": "assistant", "content": [7]}},
            "a content part without a type",
        ),
        ({"type": "branch_summary", "summary": 7}, "a summary that is no text"),
        ({"type": "label", "id": "e1"}, "an entry whose id was used before"),
        ({"type": "custom_message", "content": "x", "timestamp": "noon"}, "cannot be read"),
    ],
)
def test_what_breaks_the_pattern_is_named(tmp_path, record, what):
    entries = short()
    entries.lines.insert(4, json.dumps(record))
    _, findings = session_of(entries.write(tmp_path / "s"))
    assert what in findings.warnings()[0]
    assert ":5: " in findings.warnings()[0]


def real(name: str) -> Path:
    if not SHARED.exists():
        pytest.skip("the shared data are not here")
    return SHARED / name


def test_the_real_session():
    path = real("before-compaction.jsonl")
    records = [json.loads(line) for line in path.read_text().splitlines()]
    messages = [r["message"] for r in records if r["type"] == "message"]
    model = [m for m in messages if m["role"] == "assistant"]
    prompts = [
        sum(m["usage"][key] for key in ("input", "cacheRead", "cacheWrite"))
        for m in model
        if m["content"] or m["usage"]["input"]
    ]
    session, findings = session_of(path)
    assert len(model) == 484
    assert session.turns == len(prompts) == 471
    assert [row["input_tokens"] for row in session.recorded.values()] == prompts
    calls = [b for m in model for b in m["content"] if b["type"] == "toolCall"]
    answered = {m["toolCallId"] for m in messages if m["role"] == "toolResult"}
    # Four calls broke off with their message, one was cut short by a compaction.
    assert (len(calls), len(answered)) == (454, 448)
    assert sum(d.kind == "tool_call" for d in session.arrivals) + len(session.fetched) == 448
    assert [w.partition(":628: ")[2] for w in findings.warnings()] == [
        "a call that was never answered (skipped)"
    ]
    assert [(c.before, c.kept_from) for c in session.compactions] == [
        (175_004, 294),
        (185_014, 552),
    ]
    assert "13 model calls that broke off" in "; ".join(findings.notes)


@pytest.mark.parametrize(
    ("name", "turns", "compactions"),
    [("compaction", 2, 1), ("multi_compaction", 2, 2), ("real_world", 2, 1)],
)
def test_the_small_sessions(name, turns, compactions):
    session, findings = session_of(real(f"{name}.jsonl"))
    assert (session.turns, len(session.compactions)) == (turns, compactions)
    assert findings.warnings() == []
