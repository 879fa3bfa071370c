"""OpenHands events: both generations, alone or as the runs of an evaluation."""

import json
from collections import Counter
from pathlib import Path

import pytest

from scenarios.transcripts.formats import recognise
from sim.errors import InputError
from sim.script import Compaction
from sim.segments import Kind
from tests.scenarios.transcripts.made import (
    arrivals,
    by_turn,
    load,
    load_all,
    queries,
    waits,
    writes,
)

DATA = Path(__file__).resolve().parents[5] / "shared" / "data" / "transcripts"
EVENTS = DATA / "openhands_events"
here = pytest.mark.skipif(not DATA.is_dir(), reason="the recordings are not here")


def stamped(number, seconds, **event):
    return {"id": number, "timestamp": f"2026-02-01T10:00:{seconds:02}.000000", **event}


def model(response, content, calls, tokens=None):
    """What the model answered: *calls* are ids and names of tools with their arguments."""
    tool_calls = [
        {"id": id, "function": {"name": name, "arguments": json.dumps(arguments)}}
        for id, name, arguments in calls
    ]
    message = {"role": "assistant", "content": content, "tool_calls": tool_calls}
    found = {"id": response, "choices": [{"message": message}]}
    if tokens is not None:
        details = {"cached_tokens": tokens // 2}
        found["usage"] = {
            "prompt_tokens": tokens,
            "completion_tokens": 9,
            "prompt_tokens_details": details,
        }
    return found


def data(id, name, response):
    return {"tool_call_id": id, "function_name": name, "model_response": response}


def session():
    """Two tools called at once, an edit, a condensation, a finish."""
    two = model("r1", "both", [("a", "execute_bash", {"command": "ls"}), ("b", "think", {})], 100)
    edit = {"command": "create", "path": "/w/x", "file_text": "f" * 40}
    third = model("r2", "make", [("c", "str_replace_editor", edit)], 130)
    last = model("r3", "", [("d", "finish", {"message": "all done"})], 90)
    metadata = {
        "exit_code": 0,
        "prefix": "",
        "suffix": "\n[ok]",
        "working_dir": "/w",
        "py_interpreter_path": "",
    }
    tools = [{"type": "function", "function": {"name": "execute_bash"}}]
    return [
        stamped(0, 0, source="agent", action="system", args={"content": "s" * 20, "tools": tools}),
        stamped(1, 0, source="user", action="message", args={"content": "u" * 12}),
        stamped(2, 0, source="user", action="recall", args={"query": "u"}),
        stamped(
            3,
            0,
            source="environment",
            observation="recall",
            content="Added workspace context",
            extras={
                "repo_instructions": "",
                "runtime_hosts": {"http://h": 1},
                "microagent_knowledge": [{"name": "n", "trigger": "n", "content": "know"}],
            },
        ),
        stamped(
            4,
            1,
            source="agent",
            action="run",
            args={},
            tool_call_metadata=data("a", "execute_bash", two),
        ),
        stamped(
            5,
            1,
            source="agent",
            action="think",
            args={},
            tool_call_metadata=data("b", "think", two),
        ),
        stamped(
            6,
            4,
            observation="run",
            content="out",
            cause=4,
            extras={"metadata": metadata},
            tool_call_metadata=data("a", "execute_bash", two),
        ),
        stamped(
            7,
            5,
            observation="think",
            content="logged.",
            cause=5,
            tool_call_metadata=data("b", "think", two),
        ),
        stamped(
            8,
            9,
            source="agent",
            action="edit",
            args={},
            tool_call_metadata=data("c", "str_replace_editor", third),
        ),
        stamped(
            9,
            9,
            observation="edit",
            cause=8,
            content="a long difference that the model never saw",
            extras={"formatted_output_and_error": "made"},
            tool_call_metadata=data("c", "str_replace_editor", third),
        ),
        stamped(
            10,
            10,
            source="agent",
            action="condensation",
            args={"forgotten_event_ids": [4, 5, 6, 7], "summary": "gist"},
        ),
        stamped(
            11,
            12,
            source="agent",
            action="finish",
            args={},
            tool_call_metadata=data("d", "finish", last),
        ),
    ]


def write(path, value, lines=False):
    text = "\n".join(map(json.dumps, value)) if lines else json.dumps(value)
    path.write_text(text, encoding="utf-8")
    return path


def test_calls_results_and_usage_by_response(tmp_path):
    scenario, warnings, notes = load(write(tmp_path / "e.json", session()), strict=True)
    script = scenario.script(0)
    assert warnings == []
    assert by_turn(script) == {
        1: ["tools", "system", "task", "user-1"],
        2: ["assistant-1", "call-1", "call-2", "result-1", "result-2"],
        3: ["assistant-2", "call-3", "diff-3"],
    }
    found = arrivals(script)
    assert [found[id].tokens for id in ("system", "task", "user-1")] == [
        5,
        3,
        len("http://h\nknow") // 4 + 1,
    ]
    shown = "out\n[ok]\n[Current working directory: /w]\n[Command finished with exit code 0]"
    assert found["result-1"].tokens == -(-len(shown) // 4)
    assert found["diff-3"].tokens == 1
    assert (found["result-1"].time, found["result-2"].time) == (3.0, 4.0)
    assert [(w.turn, w.path, w.tokens) for w in writes(script)] == [(3, "/w/x", 10)]
    assert script.recorded == {
        1: {"input_tokens": 100, "cached_tokens": 50, "output_tokens": 9},
        2: {"input_tokens": 130, "cached_tokens": 65, "output_tokens": 9},
        3: {"input_tokens": 90, "cached_tokens": 45, "output_tokens": 9},
    }
    assert script.output_tokens[3] == 2
    (compaction,) = [s for s in script.stimuli if isinstance(s, Compaction)]
    assert (compaction.turn, compaction.tokens, compaction.trigger) == (3, 1, "auto")
    assert compaction.kept == ("assistant-2", "call-3", "diff-3")
    assert any("1 recall" in note for note in notes)


def test_a_run_of_an_evaluation_is_a_line_and_a_session(tmp_path):
    runs = [
        {"instance_id": "a/b 1", "history": session(), "metrics": {}, "error": None},
        {"instance_id": "a/b 1", "history": session()},
        {"issue": {"owner": "o", "repo": "r", "number": 5}, "history": session()},
        {"history": "none"},
    ]
    path = write(tmp_path / "output.jsonl", runs, lines=True)
    found, warnings, notes = load_all(path)
    assert [s.name for s in found] == ["output/a-b-1", "output/a-b-1-2", "output/o-r-5"]
    assert any("line 4: a run without history" in text for text in warnings)
    assert any("fields of the run that are no part of a prompt: metrics" in n for n in notes)
    with path.open("a", encoding="utf-8") as file:
        file.write('\n{"history": [')
    _, warnings, _ = load_all(path)
    assert any("line 5: a cut last line" in text for text in warnings)
    with pytest.raises(InputError, match="line 4: a run without history"):
        load_all(path, strict=True)


def test_old_pairs_whose_actions_stand_in_the_text(tmp_path):
    null = {"observation": "null", "content": "", "extras": {}, "message": ""}
    history = [
        [stamped(0, 0, source="user", action="message", args={"content": "u" * 8}), null],
        [
            stamped(
                3,
                2,
                source="agent",
                action="run_ipython",
                args={"code": "p" * 20, "thought": "t" * 16},
            ),
            stamped(
                4,
                5,
                source="agent",
                observation="run_ipython",
                content="r" * 28,
                cause=3,
                extras={},
            ),
        ],
        [stamped(5, 7, source="agent", action="message", args={"content": "m" * 12}), null],
        [stamped(7, 9, source="user", action="message", args={"content": "go on"}), null],
        [
            stamped(9, 11, source="agent", action="finish", args={"outputs": {}, "thought": "bye"}),
            null,
        ],
    ]
    scenario, warnings, notes = load(
        write(tmp_path / "o.jsonl", [{"id": "p", "history": history}], lines=True)
    )
    script = scenario.script(0)
    assert warnings == [] and scenario.name == "o/p"
    assert by_turn(script) == {
        1: ["task"],
        2: ["assistant-1", "call-1", "result-1"],
        3: ["assistant-2", "user-1"],
    }
    found = arrivals(script)
    assert [found[id].tokens for id in ("assistant-1", "result-1", "assistant-2")] == [4, 7, 3]
    assert found["call-1"].tokens == -(-len("run_ipython") // 4) + 5
    assert found["result-1"].time == 3.0
    assert waits(script) == {3: 2.0}
    assert any("4 null" in note for note in notes)


def test_arguments_beside_the_action_pair_by_order(tmp_path):
    history = [
        {"content": "u" * 8, "action": "message"},
        {"command": "ls", "thought": "t" * 8, "action": "run"},
        {"content": "one", "command": "ls", "observation": "run", "exit_code": 0},
        {"path": "/w/a", "thought": "", "action": "read", "start": 0, "end": -1},
        {"content": "two", "path": "/w/a", "observation": "read"},
        {"outputs": {}, "thought": "bye", "action": "finish"},
    ]
    runs = [{"history": history, "instruction": "not used"}]
    script = load(write(tmp_path / "o.jsonl", runs, lines=True), strict=True)[0].script(0)
    assert by_turn(script) == {
        1: ["task"],
        2: ["assistant-1", "call-1", "result-1"],
        3: ["call-2", "file-2"],
    }
    assert arrivals(script)["file-2"].path == "/w/a"


def test_a_history_without_a_user_begins_with_its_instruction(tmp_path):
    history = [
        {"command": "ls", "thought": "", "action": "run"},
        {"content": "x", "observation": "run"},
    ]
    runs = [{"history": history, "instruction": "i" * 16}]
    script = load(write(tmp_path / "o.jsonl", runs, lines=True), strict=True)[0].script(0)
    assert arrivals(script)["task"].tokens == 4


def test_usage_of_the_run_stands_in_and_results_are_cut_as_the_harness_does(tmp_path):
    response = model("r1", "x", [("a", "execute_bash", {"command": "ls"})])
    events = [
        stamped(0, 0, source="user", action="message", args={"content": "u"}),
        stamped(
            1,
            1,
            source="agent",
            action="run",
            args={},
            tool_call_metadata=data("a", "execute_bash", response),
        ),
        stamped(2, 2, observation="run", content="h" * 500 + "t" * 500, cause=1, extras={}),
        stamped(3, 3, source="agent", action="message", args={"content": "done"}),
    ]
    row = {
        "response_id": "r1",
        "prompt_tokens": 70,
        "completion_tokens": 5,
        "cache_read_tokens": 20,
        "cache_write_tokens": 10,
        "context_window": 5000,
    }
    run = {
        "history": events,
        "metrics": {"token_usages": [row, 5]},
        "metadata": {"llm_config": {"max_message_chars": 100}},
    }
    scenario, _, _ = load(write(tmp_path / "o.jsonl", [run], lines=True), strict=True, budget=None)
    script = scenario.script(0)
    assert script.recorded == {
        1: {"input_tokens": 70, "cached_tokens": 20, "written_tokens": 10, "output_tokens": 5}
    }
    assert scenario.settings["budget"] == 5000
    assert 25 < arrivals(script)["result-1"].tokens < 45


def test_an_agent_that_is_delegated_to_has_a_window_of_its_own(tmp_path):
    events = [
        stamped(0, 0, source="user", action="message", args={"content": "u"}),
        stamped(
            1,
            1,
            source="agent",
            action="delegate",
            args={"agent": "Browse", "inputs": {"task": "t"}},
        ),
        stamped(2, 1, source="user", action="message", args={"content": "TASK: t"}),
        stamped(3, 2, source="agent", action="browse", args={"url": "http://h"}),
        stamped(4, 3, source="agent", observation="browse", content="page", cause=3),
        stamped(5, 4, source="agent", action="finish", args={"outputs": {"content": "o"}}),
        stamped(6, 5, observation="delegate", content="o", cause=1, extras={"outputs": {}}),
        stamped(7, 6, source="agent", action="finish", args={"final_thought": "bye"}),
    ]
    found, warnings, _ = load_all(write(tmp_path / "e.json", events), strict=True)
    assert warnings == [] and [s.name for s in found] == ["e", "e/agent-1"]
    assert by_turn(found[0].script(0)) == {1: ["task"], 2: ["call-1", "result-1"]}
    assert by_turn(found[1].script(0)) == {1: ["task"], 2: ["call-1", "result-1"]}


def test_an_error_of_no_recorded_call_is_a_message(tmp_path):
    events = session()
    events.insert(10, stamped(20, 9, source="agent", observation="error", content="bad"))
    scenario, warnings, notes = load(write(tmp_path / "e.json", events), strict=True)
    assert "user-2" in by_turn(scenario.script(0))[3] and warnings == []
    assert any("1 observation of no recorded call" in note for note in notes)


def kind(name, number, seconds, **event):
    stamp = f"2026-02-01T10:00:{seconds:02}"
    return {"kind": name, "id": f"e{number}", "timestamp": stamp, "source": "agent", **event}


def block(text):
    return {"type": "text", "text": text}


def action(number, seconds, id, name, response, thought=(), **arguments):
    return kind(
        "ActionEvent",
        number,
        seconds,
        thought=list(thought),
        action={"kind": "Action", **arguments},
        tool_name=name,
        tool_call_id=id,
        tool_call={
            "id": id,
            "name": name,
            "arguments": json.dumps(arguments),
            "origin": "completion",
        },
        llm_response_id=response,
    )


def observed(number, seconds, id, text, **more):
    return kind(
        "ObservationEvent",
        number,
        seconds,
        source="environment",
        observation={"kind": "Observation", "content": [block(text)], **more},
        tool_call_id=id,
        tool_name="x",
    )


def second_generation():
    return [
        kind("SystemPromptEvent", 0, 0, system_prompt=block("s" * 20), tools=[{"t": 1}]),
        kind(
            "MessageEvent",
            1,
            0,
            source="user",
            llm_message={"role": "user", "content": [block("u" * 12)]},
            extended_content=[block("more")],
        ),
        kind("ConversationStateUpdateEvent", 2, 0, key="k", value=1),
        action(3, 1, "a", "terminal", "r1", [block("both")], command="ls"),
        action(4, 1, "b", "file_editor", "r1", command="view", path="/w/a"),
        observed(5, 3, "a", "o" * 16),
        observed(6, 4, "b", "f" * 24),
        action(7, 6, "c", "file_editor", "r2", command="create", path="/w/b", file_text="n" * 8),
        kind("AgentErrorEvent", 8, 7, error="no such tool", tool_name="x", tool_call_id="c"),
        kind("Condensation", 9, 8, forgotten_event_ids=["e3", "e4", "e5", "e6"], summary="gist"),
        kind("MessageEvent", 10, 9, llm_message={"role": "assistant", "content": [block("bye")]}),
    ]


@pytest.mark.parametrize("lines", [False, True])
def test_events_with_a_kind(tmp_path, lines):
    path = write(tmp_path / "e.json", second_generation(), lines=lines)
    scenario, warnings, notes = load(path, strict=True)
    script = scenario.script(0)
    assert warnings == []
    assert by_turn(script) == {
        1: ["tools", "system", "task", "user-1"],
        2: ["assistant-1", "call-1", "call-2", "result-1", "file-2"],
        3: ["call-3", "result-3"],
    }
    found = arrivals(script)
    assert [found[id].tokens for id in ("system", "task", "user-1")] == [5, 3, 1]
    assert (found["result-1"].tokens, found["file-2"].tokens) == (4, 6)
    assert found["file-2"].path == "/w/a" and writes(script) == []
    (compaction,) = [s for s in script.stimuli if isinstance(s, Compaction)]
    assert (compaction.turn, compaction.tokens) == (3, 1)
    assert compaction.kept == ("call-3", "result-3")
    assert any("1 ConversationStateUpdateEvent" in note for note in notes)


@pytest.mark.parametrize(
    ("event", "what"),
    [
        (5, "an event that is not an object"),
        ({"id": 90}, "an event that is neither action nor observation"),
        (stamped(91, 0, source="user", action="message", args={"content": 7}), "neither text nor"),
        ({"id": 92, "timestamp": "soon", "action": "null"}, "a time that cannot be read"),
    ],
)
def test_what_breaks_the_pattern_is_named(tmp_path, event, what):
    events = session()
    events.insert(2, event)
    path = write(tmp_path / "e.json", events)
    _, warnings, _ = load(path)
    assert any(what in text and "event 3" in text for text in warnings)
    with pytest.raises(InputError, match=what):
        load(path, strict=True)


@here
@pytest.mark.parametrize("name", ["basic.json", "basic_gui_mode.json", "output.jsonl"])
def test_published_events_with_usage(name):
    path = EVENTS / name
    text = path.read_text(encoding="utf-8")
    runs = (
        [json.loads(line)["history"] for line in text.splitlines()]
        if name.endswith("l")
        else [json.loads(text)]
    )
    found, warnings, _ = load_all(path, strict=True)
    assert warnings == [] and len(found) == len(runs)
    for scenario, events in zip(found, runs, strict=True):
        asked = [e for e in events if e.get("action") and e.get("tool_call_metadata")]
        responses = {
            e["tool_call_metadata"]["model_response"]["id"]: e["tool_call_metadata"][
                "model_response"
            ]
            for e in asked
        }
        spoken = sum(e.get("action") == "message" and e["source"] == "agent" for e in events)
        script = scenario.script(0)
        assert scenario.settings["turns"] == len(responses) + spoken
        assert len(script.recorded) == len(responses)
        assert sum(r["input_tokens"] for r in script.recorded.values()) == sum(
            r["usage"]["prompt_tokens"] for r in responses.values()
        )
        results = sum(bool(e.get("observation") and e.get("tool_call_metadata")) for e in events)
        if events[-1].get("observation"):
            results -= bool(events[-1].get("tool_call_metadata"))
        fetched = sum(q.id.startswith("read-") for q in queries(script))
        kinds = Counter(a.kind for a in arrivals(script).values())
        assert kinds[Kind.TOOL_CALL] == results - fetched


@here
@pytest.mark.parametrize(
    "start", ["reasoning_CodeActAgent", "resolver_output", "tAgent_gpt-4o-2024-05-13"]
)
def test_published_events_without_usage(start):
    (path,) = EVENTS.glob(f"{start}*")
    runs = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert recognise(path).format.name == "openhands-events"
    found, warnings, _ = load_all(path, strict=True)
    assert warnings == [] and len(found) == len(runs)
    for scenario, run in zip(found, runs, strict=True):
        flat = [e for each in run["history"] for e in (each if isinstance(each, list) else [each])]
        acted = [e for e in flat if e.get("action") and e["action"] not in ("message", "null")]
        said = [e for e in flat if e.get("action") == "message" and e.get("source") == "agent"]
        assert scenario.settings["turns"] == len(acted) + len(said)
        assert scenario.script(0).recorded == {}
