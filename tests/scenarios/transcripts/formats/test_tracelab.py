import json
import re
from collections import Counter
from pathlib import Path

import pytest

from scenarios.transcripts.formats import recognise
from sim.errors import InputError
from sim.script import Compaction, Write
from sim.segments import Kind
from tests.scenarios.transcripts.made import arrivals, at, by_turn, load, load_all, waits, writes

EXAMPLES = Path(__file__).parents[5] / "shared" / "data" / "transcripts" / "tracelab_examples"


def said(seconds, characters):
    return {"event_type": "user_message", "timestamp": at(seconds), "content_chars": characters}


def came(seconds, id, characters, **more):
    event = {"event_type": "tool_result", "timestamp": at(seconds), "tool_call_id": id}
    return {**event, "result_chars": characters, **more}


def thought(seconds, characters=0):
    return {"event_type": "reasoning", "timestamp": at(seconds), "content_chars": characters}


def wrote(seconds, characters):
    return {"event_type": "text", "timestamp": at(seconds), "content_chars": characters}


def called(seconds, id, name="Bash"):
    event = {"event_type": "tool_call", "timestamp": at(seconds), "tool_call_id": id}
    return {**event, "tool_name": name}


def tool(id, characters=0, **more):
    return {"tool_call_id": id, "input_chars": characters, **more}


def a_round(number, prompt, answer, *events, tools=(), session="s", **more):
    return {
        "session_id": session,
        "round_index": number,
        "round_id": f"{session} {number}",
        "input_tokens_total": prompt,
        "output_tokens": answer,
        "timing_events": list(events),
        "tools": list(tools),
        **more,
    }


def write(tmp_path, *records):
    path = tmp_path / "rounds.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def sizes(script):
    return [(a.id, a.turn, a.tokens) for a in arrivals(script).values()]


def test_what_came_is_as_large_as_the_prompt_grew_and_what_was_written_as_the_output(tmp_path):
    path = write(
        tmp_path,
        a_round(
            0,
            1000,
            100,
            said(0, 40),
            thought(4),
            wrote(5, 60),
            called(6, "a"),
            called(7, "b"),
            tools=[tool("a", 36), tool("b", 16)],
            reasoning_output_tokens=40,
        ),
        a_round(1, 1500, 7, came(9, "b", 300), came(16, "a", 100), wrote(20, 9)),
        a_round(2, 1520, 5, said(80, 20), wrote(81, 9)),
    )
    scenario, warnings, notes = load(path)
    assert warnings == []
    script = scenario.script(0)
    # Written: 60 for 60 characters of text, 4 + 36 and 4 + 16 of calls: 30, 20 and 10 tokens.
    # Come in: 1500 - 1000 - 100 = 400 for 300 and 100 characters; 1520 - 1500 - 7 = 13.
    assert sizes(script) == [
        ("unrecorded", 1, 990),
        ("task", 1, 10),
        ("thinking-1", 2, 40),
        ("assistant-1", 2, 30),
        ("call-1", 2, 20),
        ("call-2", 2, 10),
        ("result-2", 2, 300),
        ("result-1", 2, 100),
        ("assistant-2", 3, 7),
        ("user-1", 3, 13),
    ]
    found = arrivals(script)
    assert (found["result-1"].time, found["result-2"].time) == (10.0, 2.0)
    assert waits(script) == {3: 60.0}
    assert script.output_tokens == {1: 100, 2: 7, 3: 5}
    assert any("sizes without text" in note for note in notes)


def test_without_the_reasonings_size_the_rest_of_the_output_is_it(tmp_path):
    path = write(
        tmp_path,
        a_round(0, 50, 100, said(0, 8), thought(1), wrote(2, 80)),
        a_round(1, 150, 10, said(3, 8), wrote(4, 8)),
    )
    script = load(path)[0].script(0)
    assert [s for s in sizes(script) if s[1] == 2] == [
        ("thinking-1", 2, 80),
        ("assistant-1", 2, 20),
        ("user-1", 2, 2),
    ]


def test_where_the_prompt_shrinks_four_characters_are_a_token(tmp_path):
    path = write(
        tmp_path,
        a_round(0, 500, 100, said(0, 8), wrote(1, 80)),
        a_round(1, 450, 10, said(3, 9), wrote(4, 8)),
    )
    assert arrivals(load(path)[0].script(0))["user-1"].tokens == 3


def test_growth_that_no_event_stands_for_is_a_message_of_the_harness(tmp_path):
    path = write(
        tmp_path,
        a_round(0, 500, 100, said(0, 8), wrote(1, 80)),
        a_round(1, 650, 10, wrote(4, 8)),
    )
    scenario, _, notes = load(path)
    assert arrivals(scenario.script(0))["user-1"].tokens == 50
    assert any("1 call holds 50 tokens" in note for note in notes)


def test_sanitized_or_not_cached_written_and_paths_are_read(tmp_path):
    path = write(
        tmp_path,
        a_round(
            0,
            50,
            10,
            said(0, 8),
            called(1, "a", "Write"),
            called(1, "b", "exec_command"),
            called(1, "c"),
            tools=[
                tool("a", 30, input={"file_path": "/r/a.py", "content": "x" * 40}),
                tool("b", 20, input='{"cmd": "pwd"}'),
                tool("c", 20),
            ],
            prefix_tokens=30,
            claude_cache_creation_input_tokens=15,
        ),
        a_round(
            1, 90, 10, came(2, "a", 8), came(2, "b", 8, is_error=True), came(2, "c", 8), wrote(3, 8)
        ),
    )
    script = load(path)[0].script(0)
    assert script.recorded[1] == {
        "input_tokens": 50,
        "cached_tokens": 30,
        "written_tokens": 15,
        "output_tokens": 10,
    }
    assert writes(script) == [Write(2, "/r/a.py", 10)]
    assert Counter(a.kind for a in arrivals(script).values())[Kind.DIFF] == 1


def test_sessions_may_be_mixed_and_rounds_out_of_order(tmp_path):
    path = write(
        tmp_path,
        a_round(1, 90, 10, said(5, 8), wrote(6, 8), session="one"),
        a_round(0, 40, 10, said(0, 8), wrote(1, 8), session="two"),
        a_round(0, 50, 10, said(0, 8), wrote(1, 8), session="one"),
        a_round(0, 50, 10, said(0, 8), wrote(1, 8), session="one"),
    )
    scenarios, warnings, _ = load_all(path)
    assert [(s.name, s.settings["turns"]) for s in scenarios] == [
        ("rounds/one", 2),
        ("rounds/two", 1),
    ]
    assert arrivals(scenarios[0].script(0))["user-1"].tokens == 30
    assert warnings == [f"{path}:4: a round that was recorded before (skipped)"]


@pytest.mark.parametrize(
    ("prompts", "before"),
    [
        ([20_000, 150_000, 30_000, 40_000], [3]),
        ([20_000, 150_000, 30_000], []),  # nothing follows
        ([20_000, 150_000, 30_000, 140_000], []),  # it comes back
        ([20_000, 150_000, 90_000, 95_000], []),  # 60,000 less
        ([250_000, 255_000, 150_000, 151_000, 80_000, 81_000], [3]),  # 151,000 < .75 · 255,000
    ],
)
def test_a_compaction_is_a_fall_from_near_the_top_that_lasts(tmp_path, prompts, before):
    rounds = [
        a_round(n, prompt, 10, said(n, 400), wrote(n + 0.5, 8)) for n, prompt in enumerate(prompts)
    ]
    script = load(write(tmp_path, *rounds), budget=10**6)[0].script(0)
    found = [s for s in script.stimuli if isinstance(s, Compaction)]
    assert [c.turn for c in found] == before
    for compaction in found:
        # What is left: the prompt less what is not recorded and the 400 characters that came in.
        unrecorded = prompts[0] - 100
        left = prompts[compaction.turn - 1] - unrecorded - 100
        assert compaction.tokens == max(1, left)
        assert compaction.trigger == "user"


def test_the_last_rounds_calls_need_no_result(tmp_path):
    path = write(
        tmp_path,
        a_round(
            0,
            50,
            9,
            said(0, 8),
            called(1, "a"),
            called(1, "b"),
            tools=[tool("a", 4, result_chars=40, result_at=at(3)), tool("b", 4)],
        ),
    )
    _, warnings, notes = load(path, strict=True)
    assert warnings == []
    assert any("1 message or result after the last model call" in note for note in notes)


@pytest.mark.parametrize(
    ("event", "what"),
    [
        ({"event_type": "tool_call"}, "a tool call without id or name"),
        ({"event_type": "tool_result"}, "a tool result that names no call"),
        (came(3, "z", 4), "a result whose call is missing"),
        ({"event_type": "dream"}, "a timing event of the unknown type 'dream'"),
        ({}, "a timing event without a type"),
        (7, "a timing event without a type"),
        ({"event_type": ["text"]}, "a timing event of the unknown type '['text']'"),
        ({"event_type": "text", "timestamp": "noon"}, "a time that cannot be read"),
    ],
)
def test_what_breaks_the_pattern_is_named(tmp_path, event, what):
    path = write(
        tmp_path,
        a_round(0, 50, 9, said(0, 8), wrote(1, 8)),
        a_round(1, 90, 9, said(2, 8), event, wrote(3, 8)),
        7,
    )
    _, warnings, _ = load(path)
    assert warnings[0].startswith(f"{path}:2: {what}")
    assert len(warnings) == 2
    assert warnings[1].startswith(f"{path.stem}:3: a record that is no round")


def separated(*records):
    parts = ["# an example\n\n"]
    for number, record in enumerate(records, 1):
        parts.append(f"===== record {number:04d} =====\n{json.dumps(record, indent=2)}\n\n")
    return "".join(parts)


def line(number, kind, content, **message):
    return {
        "type": kind,
        "uuid": f"u{number}",
        "timestamp": at(number),
        "message": {"role": kind, "content": content, **message},
    }


def test_records_under_a_line_of_their_own_are_read_as_what_they_are(tmp_path):
    path = tmp_path / "trace.json"
    records = [line(1, "user", "list"), line(2, "assistant", [], id="m"), {"type": "odd"}]
    path.write_text(separated(*records))
    scenario, warnings, notes = load(path)
    assert recognise(path).format.name == "tracelab"
    assert by_turn(scenario.script(0)) == {1: ["task"]}
    # The brace that the record begins with stands on the line before, and lines count from 1.
    at_line = path.read_text().splitlines().index('  "type": "odd"')
    assert warnings == [f"{path}:{at_line}: a record of the unknown type 'odd' (skipped)"]
    assert any("claude-code" in note for note in notes)


def test_rounds_may_be_expanded_too(tmp_path):
    path = tmp_path / "trace.json"
    first = a_round(0, 50, 9, said(0, 8), wrote(1, 8))
    path.write_text(separated(first, a_round(1, 90, 9, said(2, 8), wrote(3, 8))))
    scenario, warnings, _ = load(path)
    assert (scenario.settings["turns"], warnings) == (2, [])


def test_a_spoilt_expanded_record_is_named_and_skipped(tmp_path):
    path = tmp_path / "trace.json"
    text = separated(line(1, "user", "list"), line(2, "assistant", [], id="m"), {"type": "user"})
    path.write_text(text.replace('"type": "user"\n}', '"type": "us'))
    _, warnings, _ = load(path)
    assert [w.rpartition(": ")[2] for w in warnings] == ["a line that is not valid JSON (skipped)"]
    path.write_text("===== record 0001 =====\n{}\n")
    with pytest.raises(InputError, match="no model call"):
        load(path)


shared = pytest.mark.skipif(not EXAMPLES.is_dir(), reason="needs ../shared")


@shared
@pytest.mark.parametrize("name", ["derived__round_trace.jsonl", "sanitized__round_trace.jsonl"])
def test_the_round_traces(name):
    path = EXAMPLES / name
    rounds = [json.loads(text) for text in path.read_text().splitlines()]
    scenarios, warnings, _ = load_all(path, strict=True)
    assert warnings == []
    by_session: dict[str, list] = {}
    for each in rounds:
        by_session.setdefault(each["session_id"], []).append(each)
    assert (
        [s.settings["turns"] for s in scenarios] == [10, 9] == list(map(len, by_session.values()))
    )
    for scenario, own in zip(scenarios, by_session.values(), strict=True):
        script = scenario.script(0)
        recorded = [script.recorded[turn]["input_tokens"] for turn in range(1, len(own) + 1)]
        assert recorded == [each["input_tokens_total"] for each in own]
        found = arrivals(script).values()
        results = Counter(a.tool for a in found if a.kind in (Kind.TOOL_RESULT, Kind.DIFF))
        assert results == Counter(t["tool_name"] for each in own for t in each["tools"])
        assert list(script.output_tokens.values()) == [each["output_tokens"] for each in own]
    held = sum(a.tokens for a in arrivals(scenarios[0].script(0)).values())
    assert held == 48_305  # the prompt of the last Claude round, which never shrank


@shared
@pytest.mark.parametrize(("name", "calls"), [("claude", 10), ("codex", 9)])
def test_the_expanded_examples(name, calls):
    path = EXAMPLES / f"{name}__trace.json"
    scenario, _, _ = load(path)
    script = scenario.script(0)
    assert scenario.settings["turns"] == calls
    text = path.read_text()
    uses = re.findall(r'"type": "(?:tool_use|function_call)"', text)
    assert sum(a.kind is Kind.TOOL_CALL for a in arrivals(script).values()) == len(uses)
    rounds = (EXAMPLES / "derived__round_trace.jsonl").read_text().splitlines()
    own = [r for r in map(json.loads, rounds) if r["provider"] == name]
    recorded = [script.recorded[turn]["input_tokens"] for turn in range(1, calls + 1)]
    assert recorded == [each["input_tokens_total"] for each in own]
