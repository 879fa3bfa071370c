"""Codex rollouts: which items are one call's, which usage is whose, what the model got to see."""

import json
from pathlib import Path
from typing import Any

import pytest

from scenarios.transcripts.formats import recognise
from sim.script import Compaction
from tests.scenarios.transcripts.made import (
    arrivals,
    at,
    by_turn,
    load,
    load_all,
    queries,
    session_of,
    waits,
    writes,
)

SHARED = Path(__file__).parents[5] / "shared/data/transcripts/codex_rollout"


class Rollout:
    """The lines of a rollout under way, one a second unless told otherwise."""

    def __init__(self, **meta: Any) -> None:
        self.lines: list[str] = []
        self.put("session_meta", {"id": "019a-1", "timestamp": at(0), "cwd": "/r", **meta}, 0)

    def put(self, kind: str, payload: Any, seconds: float) -> "Rollout":
        record = {"timestamp": at(seconds), "type": kind, "payload": payload}
        self.lines.append(json.dumps(record))
        return self

    def item(self, kind: str, seconds: float, **fields: Any) -> "Rollout":
        return self.put("response_item", {"type": kind, **fields}, seconds)

    def user(self, text: str, seconds: float, role: str = "user") -> "Rollout":
        content = [{"type": "input_text", "text": text}]
        return self.item("message", seconds, role=role, content=content)

    def says(self, text: str, seconds: float) -> "Rollout":
        content = [{"type": "output_text", "text": text}]
        return self.item("message", seconds, role="assistant", content=content)

    def thinks(self, seconds: float, data: str | None, summary: str = "**hm**") -> "Rollout":
        parts = [{"type": "summary_text", "text": summary}]
        return self.item("reasoning", seconds, summary=parts, encrypted_content=data)

    def calls(self, id: str, seconds: float, name: str = "shell", **arguments: Any) -> "Rollout":
        text = json.dumps(arguments)
        return self.item("function_call", seconds, name=name, arguments=text, call_id=id)

    def returns(self, id: str, output: Any, seconds: float) -> "Rollout":
        return self.item("function_call_output", seconds, call_id=id, output=output)

    def event(self, kind: str, seconds: float, **fields: Any) -> "Rollout":
        return self.put("event_msg", {"type": kind, **fields}, seconds)

    def count(self, seconds: float, total: int, **last: int) -> "Rollout":
        info = {
            "total_token_usage": {"input_tokens": total, "total_tokens": total},
            "last_token_usage": last,
            "model_context_window": 9000,
        }
        return self.event("token_count", seconds, info=info)

    def write(self, path: Path) -> Path:
        path.write_text("\n".join(self.lines) + "\n")
        return path


def ran(output: str, code: int = 0) -> str:
    """Return what a shell tool leaves in the record."""
    return json.dumps({"output": output, "metadata": {"exit_code": code, "duration_seconds": 0.1}})


def used(prompt: int, cached: int, written: int, thought: int = 0) -> dict[str, int]:
    return {
        "input_tokens": prompt,
        "cached_input_tokens": cached,
        "output_tokens": written,
        "reasoning_output_tokens": thought,
    }


def ahead() -> Rollout:
    """Two calls whose usage stands ahead of their items and is repeated behind them."""
    rollout = Rollout().user("<environment_context>\n</environment_context>", 1)
    rollout.user("please list the files", 2).event("user_message", 2, message="please")
    rollout.count(4, 50, **used(50, 0, 12, 6)).thinks(9, "x" * 400)
    rollout.calls("a", 9, command=["bash", "-lc", "ls"]).returns("a", ran("notes.txt"), 9)
    rollout.count(9.5, 50, **used(50, 0, 12, 6))
    return rollout.count(11, 130, **used(80, 48, 5)).says("There is one file.", 12)


def behind() -> Rollout:
    """Two calls whose usage stands behind their items, the first of two parallel tool calls."""
    rollout = Rollout().user("please list the files", 1).thinks(3, "x" * 400)
    rollout.calls("a", 3, "shell_command", command="ls").calls("b", 3, command=["date"])
    rollout.count(4, 50, **used(50, 0, 12, 6))
    rollout.returns("b", ran("Monday"), 6).returns("a", ran("no", 2), 7)
    return rollout.says("There is one file.", 9).count(9, 130, **used(80, 48, 5))


def test_usage_ahead_of_its_call(tmp_path):
    script, warnings, _ = load(ahead().write(tmp_path / "s"))
    assert warnings == []
    made = script.script(0)
    assert by_turn(made) == {
        1: ["unrecorded", "user-1", "task"],
        2: ["thinking-1", "call-1", "result-1"],
    }
    assert made.recorded == {
        1: {"input_tokens": 50, "cached_tokens": 0, "output_tokens": 12},
        2: {"input_tokens": 80, "cached_tokens": 48, "output_tokens": 5},
    }
    found = arrivals(made)
    assert found["thinking-1"].tokens == 6
    # The result came at 9 s, the call was complete when it was counted, at 4 s.
    assert found["result-1"].time == 5.0
    # "Exit code: 0", "Wall time: 0.1 seconds", "Output:", "notes.txt", three line feeds: 54 bytes.
    assert found["result-1"].tokens == 14
    # The task is 21 bytes, the environment 44: 50 less 6 and 11 is left for what is not recorded.
    assert found["task"].tokens == 6
    assert found["unrecorded"].tokens == 50 - 6 - 11


def test_usage_behind_its_call(tmp_path):
    scenario, warnings, _ = load(behind().write(tmp_path / "s"))
    assert warnings == []
    made = scenario.script(0)
    turns = by_turn(made)
    assert turns[2] == ["thinking-1", "call-1", "call-2", "result-2", "result-1"]
    assert [made.recorded[turn]["input_tokens"] for turn in (1, 2)] == [50, 80]
    found = arrivals(made)
    assert found["thinking-1"].tokens == 6
    assert (found["result-2"].time, found["result-1"].time) == (3.0, 4.0)


def test_tool_calls_recorded_each_with_its_result_are_of_one_call(tmp_path):
    rollout = Rollout().user("go", 1).count(2, 50, **used(50, 0, 12))
    rollout.calls("a", 3, command=["ls"]).returns("a", ran("x"), 3)
    rollout.calls("b", 3, command=["pwd"]).returns("b", ran("y"), 3)
    rollout.count(4, 130, **used(80, 48, 5)).says("done", 5).user("again", 30)
    rollout.count(31, 250, **used(120, 48, 5)).says("done again", 32)
    session, _ = session_of(rollout.write(tmp_path / "s"))
    assert session.turns == 3
    assert [session.recorded[turn]["input_tokens"] for turn in (1, 2, 3)] == [50, 80, 120]


def test_a_call_that_left_nothing_takes_no_others_usage(tmp_path):
    rollout = Rollout().user("go", 1).count(2, 40, **used(40, 0, 1))
    rollout.calls("a", 3, command=["ls"]).count(4, 90, **used(50, 0, 12)).returns("a", "x", 5)
    rollout.says("done", 6).count(7, 170, **used(80, 48, 5))
    session, findings = session_of(rollout.write(tmp_path / "s"))
    assert [session.recorded[turn]["input_tokens"] for turn in (1, 2)] == [50, 80]
    assert findings.notes[0] == "1 model call counted that left nothing in the record, left out"


def test_without_counts_a_call_ends_with_what_comes_in(tmp_path):
    rollout = Rollout().user("go", 1).calls("a", 2, command=["ls"]).returns("a", "x", 3)
    rollout.calls("b", 4, command=["ls"]).returns("b", "x", 5).says("done", 6)
    scenario, warnings, _ = load(rollout.write(tmp_path / "s"))
    assert (scenario.script(0).settings["turns"], warnings) == (3, [])
    assert scenario.script(0).recorded == {}


def test_an_encrypted_thought_without_count_is_as_long_as_its_bytes(tmp_path):
    rollout = Rollout().user("go", 1).thinks(2, "x" * 400).says("a", 2).user("on", 3).says("b", 4)
    session, _ = session_of(rollout.write(tmp_path / "s"))
    (thought,) = [d for d in session.arrivals if d.id == "thinking-1"]
    assert thought.tokens == 400 * 3 // 4 // 4


def test_a_thought_in_the_clear_is_its_text(tmp_path):
    rollout = Rollout().user("go", 1)
    rollout.item("reasoning", 2, summary=[], content=[{"type": "reasoning_text", "text": "12345"}])
    rollout.says("a", 2).user("on", 3).says("b", 4)
    session, _ = session_of(rollout.write(tmp_path / "s"))
    (thought,) = [d for d in session.arrivals if d.id == "thinking-1"]
    assert thought.tokens == 2


def test_the_window_is_the_budget(tmp_path):
    _, _, notes = load(ahead().write(tmp_path / "s"), budget=None)
    assert any("budget 9,000 tokens: the recorded context window" in note for note in notes)


def test_base_instructions_are_the_system_prompt_and_come_first(tmp_path):
    rollout = Rollout(dynamic_tools=[{"name": "t"}]).user("be brief", 1, "developer")
    rollout.user("go", 1).put("turn_context", {"base_instructions": "You are a coder."}, 2)
    rollout.put("turn_context", {"base_instructions": "You are a coder."}, 2).says("hi", 3)
    made = load(rollout.write(tmp_path / "s"))[0].script(0)
    assert by_turn(made) == {1: ["tools", "system", "system-2", "task"]}
    assert all(stimulus.pinned for stimulus in arrivals(made).values())
    rollout = Rollout(base_instructions={"text": "You are a coder."}).user("go", 1).says("hi", 3)
    assert by_turn(load(rollout.write(tmp_path / "t"))[0].script(0)) == {1: ["system", "task"]}


@pytest.mark.parametrize(
    ("text", "task"),
    [
        ("<environment_context>x</environment_context>", False),
        ("<user_instructions>\nx", False),
        ("# AGENTS.md instructions for /r\n<INSTRUCTIONS>", False),
        ("<turn_aborted>\nx</turn_aborted>", False),
        ("<permissions instructions>x", False),
        ("<image name=[Image #1]>\n</image>\nlook at it", True),
        ("<div> is not closed", True),
        ("# Context from my IDE setup:", True),
    ],
)
def test_who_wrote_a_message_of_the_users(tmp_path, text, task):
    session, _ = session_of(
        Rollout().user(text, 1).user("go", 2).says("x", 3).write(tmp_path / "s")
    )
    ids = [draft.id for draft in session.arrivals]
    assert ids == (["task", "user-1"] if task else ["user-1", "task"])
    assert session.arrivals[0].injected is not task


PATCH = "*** Begin Patch\n*** Add File: a.txt\n+one\n+two\n*** Update File: b.txt\n@@\n-x\n+y\n"


@pytest.mark.parametrize(
    "call",
    [
        {"type": "custom_tool_call", "name": "apply_patch", "input": PATCH},
        {"type": "function_call", "name": "apply_patch", "arguments": json.dumps({"input": PATCH})},
        {
            "type": "function_call",
            "name": "shell",
            "arguments": json.dumps(
                {"command": ["bash", "-lc", f"apply_patch <<'EOF'\n{PATCH}*** End Patch\nEOF"]}
            ),
        },
        {
            "type": "local_shell_call",
            "action": {
                "type": "exec",
                "command": ["sh", "-c", f"cd /r && apply_patch << E\n{PATCH}"],
            },
        },
    ],
)
@pytest.mark.parametrize("code", [0, 1])
def test_a_patch_writes_its_files(tmp_path, call, code):
    rollout = (
        Rollout().user("go", 1).item(**{"kind": call["type"], "seconds": 2, **call}, call_id="a")
    )
    kind = (
        "custom_tool_call_output" if call["type"].startswith("custom") else "function_call_output"
    )
    rollout.item(kind, 3, call_id="a", output=ran("Success.", code)).says("done", 4)
    made = load(rollout.write(tmp_path / "s"))[0].script(0)
    paths = [write.path for write in writes(made)]
    # the session's folder is /r
    assert paths == ([] if code else ["/r/a.txt", "/r/b.txt"])
    assert ("diff-1" in arrivals(made)) == (code == 0)
    if not code:
        assert writes(made)[0].tokens == 2


@pytest.mark.parametrize(
    ("output", "bytes_", "image"),
    [
        ("plain", 5, False),
        ({"content": "plain", "success": False}, 5, False),
        (
            [{"type": "input_text", "text": "plain"}, {"type": "input_image", "image_url": "x"}],
            5,
            True,
        ),
        ({"content_items": [{"type": "input_text", "text": "plain"}]}, 5, False),
        ('{"output": 3}', 13, False),
        ('{"output": "x", "metadata": {}}', 31, False),
        (ran("x"), 46, False),
    ],
)
def test_shapes_of_a_result(tmp_path, output, bytes_, image):
    rollout = Rollout().user("go", 1).calls("a", 2, "f").returns("a", output, 3).says("x", 4)
    scenario, warnings, _ = load(rollout.write(tmp_path / "s"))
    found = arrivals(scenario.script(0))
    assert warnings == []
    assert found["result-1"].tokens == (bytes_ + 3) // 4
    assert ("result-1.image-1" in found) is image


def test_a_value_in_the_output_of_a_command_is_asked_for(tmp_path):
    rollout = Rollout().user("go", 1).calls("a", 2, command=["ls"])
    rollout.returns("a", ran('path\n"load_balancer_config.py"\n'), 3)
    rollout.calls("b", 4, command=["date"]).returns("b", ran("Monday"), 5)
    rollout.calls("c", 6, command=["cat", "load_balancer_config.py"]).returns("c", ran("x"), 7)
    rollout.says("done", 8)
    made = load(rollout.write(tmp_path / "s"))[0].script(0)
    assert [(q.turn, q.key) for q in queries(made)] == [(3, "load_balancer_config.py")]


def test_a_search_on_the_server_is_named(tmp_path):
    rollout = Rollout().user("go", 1)
    rollout.item("web_search_call", 2, action={"type": "search", "query": "rust"}).says("x", 3)
    rollout.user("on", 4).says("y", 5)
    session, findings = session_of(rollout.write(tmp_path / "s"))
    assert session.turns == 2
    assert "what ran on the model's server left no result in the record: 1 web_search_call" in (
        findings.notes
    )
    assert [d.id for d in session.arrivals] == ["task", "assistant-1", "assistant-2", "user-1"]


def test_a_compaction_keeps_the_users_last_messages(tmp_path):
    rollout = Rollout().user("the task", 1).says("a", 2).user("also this", 3).says("b", 4)
    rollout.count(4, 50, **used(50, 0, 12)).count(5, 120, **used(70, 0, 12))
    rollout.put("compacted", {"message": "a summary"}, 6).user("go on", 7).says("c", 8)
    rollout.count(8, 160, **used(40, 0, 12))
    session, findings = session_of(rollout.write(tmp_path / "s"))
    (compacted,) = session.compactions
    # "also this", a line feed and "a summary" are 19 bytes.
    assert (compacted.turn, compacted.tokens, compacted.before) == (2, 5, 70)
    assert session.recorded[3]["input_tokens"] == 40
    assert not any("left nothing" in note for note in findings.notes)
    made = load(tmp_path / "s")[0].script(0)
    (boundary,) = [s for s in made.stimuli if isinstance(s, Compaction)]
    assert (boundary.turn, boundary.kept) == (3, ("user-2",))


def test_a_compaction_that_says_what_it_left(tmp_path):
    history = [
        {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "D"}]},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "task"}]},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "1234"}]},
        {"type": "compaction", "encrypted_content": "x" * 80},
        {"type": "ghost_snapshot"},
        {"type": "riddle"},
    ]
    rollout = Rollout().user("task", 1).says("a", 2)
    rollout.put("compacted", {"message": "", "replacement_history": history}, 3)
    rollout.user("go on", 4).says("b", 5)
    session, findings = session_of(rollout.write(tmp_path / "s"))
    assert session.compactions[0].tokens == (4 + 60) // 4
    (warning,) = findings.warnings()
    assert "a replaced item of the unknown type 'riddle'" in warning


def test_turns_taken_back_are_named(tmp_path):
    rollout = Rollout().user("go", 1).says("a", 2).event("thread_rolled_back", 3, num_turns=2)
    _, findings = session_of(rollout.user("on", 4).says("b", 5).write(tmp_path / "s"))
    assert "2 turns of the user's taken back: the replay goes on with what they held" in (
        findings.notes
    )


def test_a_wait_for_the_user(tmp_path):
    rollout = Rollout().user("go", 1).says("a", 2).user("on", 100).says("b", 105)
    assert waits(load(rollout.write(tmp_path / "s"))[0].script(0)) == {2: 98.0}


def test_items_that_stand_bare(tmp_path):
    text = [{"type": "input_text", "text": "go"}]
    records = [
        {"id": "u-1", "timestamp": at(0), "instructions": None},
        {"record_type": "state"},
        {"type": "message", "role": "user", "content": text},
        {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "a"},
        {"type": "function_call_output", "call_id": "a", "output": "x"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "y"}]},
    ]
    path = tmp_path / "s"
    path.write_text("\n".join(map(json.dumps, records)))
    assert recognise(path).format.name == "codex"
    scenario, warnings, _ = load(path)
    assert warnings == []
    assert by_turn(scenario.script(0)) == {1: ["task"], 2: ["call-1", "result-1"]}


def test_several_sessions_in_one_file(tmp_path):
    first, second = ahead(), behind()
    second.lines[0] = second.lines[0].replace("019a-1", "019b-22222")
    path = tmp_path / "both.jsonl"
    path.write_text("\n".join([*first.lines, *second.lines, *first.lines]))
    found, warnings, _ = load_all(path)
    assert [s.name for s in found] == ["both", "both/019b2222", "both/019a1"]
    assert [s.script(0).settings["turns"] for s in found] == [2, 2, 2]
    assert warnings == []


def test_a_fork_is_one_session(tmp_path):
    rollout = ahead()
    header = rollout.lines[0].replace("019a-1", "019c-3")
    path = tmp_path / "fork.jsonl"
    path.write_text("\n".join([header, *rollout.lines]))
    assert len(load_all(path)[0]) == 1


@pytest.mark.parametrize(
    ("record", "what"),
    [
        ("[1]", "a record that is not an object"),
        ('{"type": "riddle"}', "a record of the unknown type 'riddle'"),
        ('{"type": ["x"]}', "a record of the unknown type"),
        ('{"type": "response_item"}', "a record of type 'response_item' without payload"),
        (
            '{"type": "response_item", "payload": {"type": "riddle"}}',
            "a response item of the unknown type",
        ),
        ('{"type": "event_msg", "payload": {}}', "a screen event without a type"),
        ('{"type": "compacted", "payload": {}}', "a compaction without a summary"),
        (
            '{"type": "response_item", "payload": {"type": "message", "role": "king"}}',
            "a message of the unknown role 'king'",
        ),
        (
            '{"type": "response_item", "payload": {"type": "function_call", "name": "f"}}',
            "a tool call without id or name",
        ),
        (
            '{"type": "response_item", "payload": {"type": "function_call_output"}}',
            "a tool result that names no call",
        ),
        ('{"type": "turn_context", "payload": {}, "timestamp": 7', "not valid JSON"),
        (
            '{"type": "event_msg", "payload": {"type": "x"}, "timestamp": "noon"}',
            "a time that cannot be read",
        ),
    ],
)
def test_what_breaks_the_pattern_is_named(tmp_path, record, what):
    rollout = ahead()
    rollout.lines.insert(4, record)
    session, findings = session_of(rollout.write(tmp_path / "s"))
    assert session.turns == 2
    (warning,) = findings.warnings()
    assert what in warning
    assert ":5: " in warning


def test_the_real_session():
    if not SHARED.exists():
        pytest.skip("the shared data are not here")
    (path,) = SHARED.glob("rollout-*.jsonl")
    records = [json.loads(line) for line in path.read_text().splitlines()]
    payloads = [record["payload"] for record in records]
    items = [p for r, p in zip(records, payloads, strict=True) if r["type"] == "response_item"]
    counts = [p["info"] for p in payloads if p.get("type") == "token_count" and p["info"]]
    totals = {
        info["total_token_usage"]["total_tokens"]: info["last_token_usage"] for info in counts
    }
    session, findings = session_of(path)
    assert findings.warnings() == []
    assert session.turns == len(totals) == 39
    assert [row["input_tokens"] for row in session.recorded.values()] == [
        last["input_tokens"] for last in totals.values()
    ]
    assert [row["cached_tokens"] for row in session.recorded.values()] == [
        last["cached_input_tokens"] for last in totals.values()
    ]
    assert sum(row["output_tokens"] for row in session.recorded.values()) == 22_305
    calls = [i for i in items if i["type"] == "function_call"]
    # The last call's result is in no request.
    assert sum(d.kind == "tool_call" for d in session.arrivals) == len(calls) - 1 == 38
    patches = [c for c in calls if "*** Begin Patch" in c["arguments"]]
    assert len(patches) == 2
    assert sum(d.kind == "diff" for d in session.arrivals) == 1
    assert session.window == 258_400


def test_a_rollout_of_a_header_alone_is_no_session(tmp_path):
    path = Rollout().write(tmp_path / "s")
    with pytest.raises(Exception, match="there is no model call in it"):
        load(path)
    real = SHARED / "example-session-metadata.jsonl"
    if real.exists():
        with pytest.raises(Exception, match="there is no model call in it"):
            load(real)
