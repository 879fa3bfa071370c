"""Qwen Code sessions: parts, pairs without ids, what was taken back, compressions, sub-agents."""

import json
from pathlib import Path
from typing import Any

import pytest

from scenarios.transcripts.formats import recognise
from sim.errors import InputError
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

SHARED = Path(__file__).parents[5] / "shared/data/transcripts/qwen_code_jsonl"


class Records:
    """The records of a session under way."""

    def __init__(self, id: str = "s-1") -> None:
        self.lines: list[str] = []
        self.id = id
        self.parent: str | None = None

    def put(self, kind: str, seconds: float, **fields: Any) -> "Records":
        name = f"u{len(self.lines)}"
        record = {"uuid": name, "parentUuid": self.parent, "sessionId": self.id, "type": kind}
        self.lines.append(json.dumps({**record, "timestamp": at(seconds), **fields}))
        self.parent = name
        return self

    def user(self, text: str, seconds: float, **fields: Any) -> "Records":
        return self.put("user", seconds, message=content("user", {"text": text}), **fields)

    def model(self, seconds: float, *parts: Any, **fields: Any) -> "Records":
        return self.put("assistant", seconds, message=content("model", *parts), **fields)

    def result(self, name: str, response: Any, seconds: float, **fields: Any) -> "Records":
        part = {"functionResponse": {"name": name, "response": response, **fields}}
        return self.put("tool_result", seconds, message=content("user", part))

    def write(self, path: Path) -> Path:
        path.write_text("\n".join(self.lines) + "\n")
        return path


def content(role: str, *parts: Any) -> dict[str, Any]:
    return {"role": role, "parts": list(parts)}


def use(name: str, **more: Any) -> dict[str, Any]:
    return {"functionCall": {"name": name, **more}}


def used(prompt: int, cached: int, **more: int) -> dict[str, int]:
    return {"promptTokenCount": prompt, "cachedContentTokenCount": cached, **more}


def short() -> Records:
    records = Records().user("please list the files", 1)
    records.put("system", 1, subtype="ui_telemetry", systemPayload={})
    thought = {"text": "hmm?", "thought": True}
    calls = [use("ls", id="a", args={}), use("read_file", id="b", args={"file_path": "/r/n"})]
    count = used(40, 30, candidatesTokenCount=9, thoughtsTokenCount=2)
    records.model(3, thought, *calls, usageMetadata=count, contextWindowSize=9000)
    records.result("read_file", {"output": "text of n"}, 4, id="b")
    records.result("ls", {"error": "no such"}, 6, id="a")
    return records.model(8, {"text": "one file"}, usageMetadata=used(51, 40, totalTokenCount=56))


def test_calls_results_and_usage(tmp_path):
    path = short().write(tmp_path / "s")
    assert recognise(path).format.name == "qwen-code"
    scenario, warnings, notes = load(path, budget=None)
    assert warnings == []
    assert any("9,000 tokens: the recorded context window" in note for note in notes)
    assert any("no part of a prompt: 1 ui_telemetry" in note for note in notes)
    made = scenario.script(0)
    assert by_turn(made) == {
        1: ["unrecorded", "task"],
        2: ["thinking-1", "call-1", "call-2", "file-2", "result-1"],
    }
    assert made.recorded == {
        1: {"input_tokens": 40, "cached_tokens": 30, "output_tokens": 11},
        2: {"input_tokens": 51, "cached_tokens": 40, "output_tokens": 5},
    }
    found = arrivals(made)
    # 40 tokens less the 21 bytes of the task.
    assert (found["unrecorded"].tokens, found["task"].tokens) == (34, 6)
    assert (found["file-2"].time, found["result-1"].time) == (1.0, 3.0)
    assert (found["file-2"].tokens, found["result-1"].tokens) == (3, 2)


def test_calls_without_ids_pair_by_name_and_order(tmp_path):
    records = Records().user("go", 1).model(2, use("f", args=1), use("g", args=2), use("f", args=3))
    records.result("g", {"output": "1234"}, 3).result("f", {"output": "12345"}, 4)
    records.result("f", {"output": "123456789"}, 5).model(6, {"text": "done"})
    scenario, warnings, _ = load(records.write(tmp_path / "s"))
    assert warnings == []
    found = arrivals(scenario.script(0))
    assert [found[f"result-{n}"].tokens for n in (1, 2, 3)] == [2, 1, 3]


def test_a_write_a_failed_write_a_wait_and_an_image(tmp_path):
    arguments = {"file_path": "/r/n", "content": "12345"}
    records = Records().user("go", 1).model(2, use("write_file", id="a", args=arguments))
    records.result("write_file", {"output": "ok"}, 3, id="a")
    records.model(4, use("edit", id="b", args={"file_path": "/r/m"}))
    records.result("edit", {"error": "not found"}, 5, id="b").model(6, {"text": "done"})
    image = {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}
    records.put("user", 66, message=content("user", {"text": "look"}, image))
    made = load(records.model(67, {"text": "seen"}).write(tmp_path / "s"))[0].script(0)
    assert [(w.turn, w.path, w.tokens) for w in writes(made)] == [(2, "/r/n", 2)]
    assert waits(made) == {4: 60.0}
    assert by_turn(made)[4] == ["assistant-1", "user-1", "user-1.image-1"]


@pytest.mark.parametrize(
    ("fields", "injected"),
    [
        ({}, False),
        ({"provenance": "real_user"}, False),
        ({"provenance": "real_user", "subtype": "mid_turn_user_message"}, False),
        ({"provenance": "system"}, True),
        ({"provenance": ["real_user"]}, True),
        ({"subtype": "notification"}, True),
        ({"subtype": ["cron"]}, False),
    ],
)
def test_who_wrote_a_message_of_the_users(tmp_path, fields, injected):
    records = Records().user("first", 1, **fields).user("second", 2).model(3, {"text": "x"})
    session, _ = session_of(records.write(tmp_path / "s"))
    assert session.arrivals[0].injected is injected
    assert session.arrivals[0].id == ("user-1" if injected else "task")


def test_what_was_taken_back_is_left_out(tmp_path):
    records = Records().user("first", 1).model(2, {"text": "a"}).user("wrong", 3)
    records.model(4, {"text": "b"})
    records.parent = "u1"
    records.put("system", 5, subtype="rewind", systemPayload={"truncatedCount": 2})
    records.user("right", 6).model(7, {"text": "c"})
    scenario, warnings, notes = load(records.write(tmp_path / "s"))
    assert warnings == []
    assert any("2 records of what the user took back, left out" in note for note in notes)
    assert by_turn(scenario.script(0)) == {1: ["task"], 2: ["assistant-1", "user-1"]}


def test_a_compression_leaves_a_summary_and_the_last_messages(tmp_path):
    records = Records().user("first", 1).model(2, {"text": "a"}).user("second", 3)
    records.model(4, {"text": "hm", "thought": True}, {"text": "b"})
    history = [
        content("user", {"text": "12345678"}),
        content("model", {"text": "yes"}),
        content("user", {"text": "second"}),
        content("model", {"text": "b"}),
    ]
    payload = {"info": {"originalTokenCount": 900}, "compressedHistory": history}
    records.put("system", 5, subtype="chat_compression", systemPayload=payload)
    records.user("third", 6).model(7, {"text": "c"})
    session, findings = session_of(records.write(tmp_path / "s"))
    assert findings.warnings() == []
    (compacted,) = session.compactions
    # "12345678", a line feed and "yes" are 12 bytes.
    assert (compacted.turn, compacted.before, compacted.tokens) == (2, 900, 3)
    assert compacted.kept_from == 3
    made = load(tmp_path / "s")[0].script(0)
    (boundary,) = [s for s in made.stimuli if isinstance(s, Compaction)]
    assert set(boundary.kept) == {"thinking-1", "assistant-2", "user-1", "user-2"}


def test_a_sub_agent_is_a_thread_of_its_own(tmp_path):
    records = short()
    side = {"isSidechain": True, "agentId": "explore-1"}
    bootstrap = {"kind": "fork", "history": [content("user", {"text": "12345678"})]}
    records.put("system", 9, subtype="agent_bootstrap", systemPayload=bootstrap, **side)
    records.model(10, {"text": "inside"}, **side)
    path = records.write(tmp_path / "s.jsonl")
    found, warnings, _ = load_all(path)
    assert warnings == []
    assert [s.name for s in found] == ["s", "s/agent-1"]
    assert by_turn(found[1].script(0)) == {1: ["task"]}
    path.write_text("\n".join(records.lines[-2:]))
    assert [s.name for s in load_all(path)[0]] == ["s"]


def test_several_sessions_in_one_file(tmp_path):
    second = short()
    lines = [line.replace('"s-1"', '"t-22222222222"') for line in second.lines]
    path = tmp_path / "both.jsonl"
    path.write_text("\n".join([*short().lines, *lines]))
    found, warnings, _ = load_all(path)
    assert [s.name for s in found] == ["both", "both/t2222222"]
    assert [s.script(0).settings["turns"] for s in found] == [2, 2]
    assert warnings == []


def test_records_that_share_a_uuid_are_one_message_unless_they_are_the_same(tmp_path):
    records = Records().user("go", 1).model(2, {"text": "a"})
    records.lines.append(records.lines[1].replace('"a"', '"b"'))
    records.lines.append(records.lines[-1])
    session, findings = session_of(
        records.user("on", 3).model(4, {"text": "c"}).write(tmp_path / "s")
    )
    assert session.turns == 2
    assert [d.id for d in session.arrivals if d.turn == 2] == [
        "assistant-1",
        "assistant-2",
        "user-1",
    ]
    assert "a record that stands there twice" in findings.warnings()[0]


@pytest.mark.parametrize(
    ("record", "what"),
    [
        ([1], "a record that is not an object"),
        ({"type": "riddle"}, "a record of the unknown type 'riddle'"),
        ({"type": ["user"]}, "a record of the unknown type"),
        ({"type": "user", "message": "x"}, "a record of type 'user' without parts"),
        ({"type": "user", "message": {"parts": [7]}}, "a content part that is not an object"),
        ({"type": "user", "message": {"parts": [{}]}}, "of unknown kind: empty"),
        ({"type": "user", "message": {"parts": [{"sound": 1}]}}, "of unknown kind: 'sound'"),
        ({"type": "assistant", "message": {"parts": [{"functionCall": {}}]}}, "without a name"),
        (
            {"type": "tool_result", "message": {"parts": [{"functionResponse": {}}]}},
            "a result whose call is missing",
        ),
        ({"type": "system", "subtype": "chat_compression"}, "without the history it left"),
    ],
)
def test_what_breaks_the_pattern_is_named(tmp_path, record, what):
    records = short()
    records.lines.insert(3, json.dumps(record))
    _, findings = session_of(records.write(tmp_path / "s"))
    assert what in findings.warnings()[0]
    assert ":4: " in findings.warnings()[0]


@pytest.mark.parametrize(
    ("name", "turns", "prompts", "window", "late"),
    [
        ("session-1", 3, [1200, 1300], 262_144, 1),
        ("session-basic", 3, [37_412, 100], 1_000_000, 0),
    ],
)
def test_the_real_sessions(name, turns, prompts, window, late):
    if not SHARED.exists():
        pytest.skip("the shared data are not here")
    path = SHARED / f"{name}.jsonl"
    records = [json.loads(line) for line in path.read_text().splitlines()]
    session, findings = session_of(path)
    assert session.turns == turns == sum(r["type"] == "assistant" for r in records)
    assert [row["input_tokens"] for row in session.recorded.values() if row] == prompts
    assert session.window == window
    calls = sum("functionCall" in p for r in records for p in r.get("message", {}).get("parts", []))
    assert sum(d.kind == "tool_call" for d in session.arrivals) == calls - late
    assert findings.warnings() == []


@pytest.mark.parametrize("name", ["session-system-only", "session-system-only__v2"])
def test_books_alone_are_no_session(name):
    if not SHARED.exists():
        pytest.skip("the shared data are not here")
    with pytest.raises(InputError, match="there is no model call in it"):
        load(SHARED / f"{name}.jsonl")
