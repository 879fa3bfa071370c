"""Anthropic and OpenAI message JSON, worked by hand. Sizes are bytes/4, rounded up."""

import json

import pytest

from scenarios.transcripts.builder import FRAME
from sim.errors import InputError
from sim.segments import Kind
from tests.scenarios.transcripts.made import (
    arrivals,
    by_turn,
    load,
    queries,
    text,
    use,
    waits,
    writes,
)

ANTHROPIC = {
    "system": [text("s" * 16)],
    "tools": [{"name": "Read", "input_schema": {}}],
    "messages": [
        {"role": "user", "content": "x" * 12},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm"},
                text("reading"),
                use("a", "read_file", path="src/./deep.py"),
                use("b", "write_file", path="src/new.py", content="c" * 33),
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "b", "content": "ok"},
                {"type": "tool_result", "tool_use_id": "a", "content": [text("def deep_seek():")]},
                text("please hurry"),
            ],
        },
        {
            "role": "assistant",
            "content": "all done",
            "usage": {
                "input_tokens": 9,
                "cache_read_input_tokens": 60,
                "cache_creation_input_tokens": 1,
                "output_tokens": 2,
            },
        },
    ],
}

OPENAI = {
    "tools": [{"type": "function", "function": {"name": "sh"}}],
    "messages": [
        {"role": "developer", "content": "s" * 16},
        {"role": "user", "content": [{"type": "text", "text": "x" * 12}]},
        {
            "role": "assistant",
            "content": None,
            "reasoning_content": "hm",
            "tool_calls": [
                {"id": "a", "function": {"name": "sh", "arguments": '{"c": "caf\\u00e9_01"}'}},
                {"id": "b", "function": {"name": "sh", "arguments": '"json"'}},
            ],
        },
        {"role": "tool", "tool_call_id": "a", "content": "hello"},
        {"role": "tool", "tool_call_id": "b", "content": [{"type": "text", "text": "bye"}]},
        {"role": "assistant", "content": "all done", "usage": {"prompt_tokens": 70}},
    ],
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "session.json"


def put(path, document):
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def test_anthropic_messages(path):
    scenario, warnings, notes = load(put(path, ANTHROPIC))
    script = scenario.script(0)
    assert (warnings, notes) == ([], [])
    assert by_turn(script) == {
        1: ["tools", "system", "task"],
        2: ["thinking-1", "assistant-1", "call-1", "call-2", "diff-2", "file-1", "user-1"],
    }
    found = arrivals(script)
    assert [n for n, a in found.items() if a.pinned] == ["tools", "system", "task"]
    assert (found["system"].tokens, found["task"].tokens) == (4, 3)
    assert found["file-1"].path == "src/deep.py"
    # the whole new text: 33 bytes
    assert [(w.turn, w.path, w.tokens) for w in writes(script)] == [(2, "src/new.py", 9)]
    assert script.recorded == {
        2: {"input_tokens": 70, "cached_tokens": 60, "written_tokens": 1, "output_tokens": 2}
    }


def test_a_bare_list_of_anthropic_messages(path):
    script = load(put(path, ANTHROPIC["messages"]))[0].script(0)
    assert by_turn(script)[1] == ["task"]
    assert len(by_turn(script)[2]) == 7


def test_tools_that_run_on_the_server_pair_within_the_message(path):
    search = {"type": "web_search_tool_result", "tool_use_id": "w", "content": [{"title": "t"}]}
    called = {"type": "server_tool_use", "id": "w", "name": "web_search", "input": {"query": "q"}}
    messages = [
        {"role": "user", "content": "x"},
        {"role": "assistant", "content": [called, search, text("found")]},
        {"role": "user", "content": "thanks"},
        {"role": "assistant", "content": "ok"},
    ]
    scenario, warnings, _ = load(put(path, messages))
    assert warnings == []
    assert by_turn(scenario.script(0))[2] == ["call-1", "assistant-1", "result-1", "user-1"]


def test_a_document_given_as_text_is_text_and_any_other_is_named(path):
    written = {"type": "document", "source": {"type": "text", "data": "d" * 20}}
    coded = {"type": "document", "source": {"type": "base64", "data": "AAAA"}}
    messages = [
        {"role": "user", "content": [written, coded]},
        {"role": "assistant", "content": "ok"},
    ]
    scenario, warnings, _ = load(put(path, messages))
    assert arrivals(scenario.script(0))["task"].tokens == 5
    assert warnings == [
        f"{path}: message 1: a content part of the unknown type 'document' (skipped)"
    ]


def test_openai_messages(path):
    scenario, warnings, notes = load(put(path, OPENAI))
    script = scenario.script(0)
    assert (warnings, notes) == ([], [])
    assert by_turn(script) == {
        1: ["tools", "system", "task"],
        2: ["thinking-1", "call-1", "call-2", "result-1", "result-2"],
    }
    found = arrivals(script)
    # "sh" 1; {"c": "café_01"} has 17 bytes decoded, 5 tokens; json 1
    assert (found["call-1"].tokens, found["call-2"].tokens) == (6 + FRAME, 2 + FRAME)
    assert script.recorded == {2: {"input_tokens": 70}}


@pytest.mark.parametrize(
    ("arguments", "said", "tokens"),
    [
        # {"c": 1} as it stands has 8 bytes, 2 tokens; cut off, its 7 are two as well
        ('{"c": 1}', [], 2),
        ('{"c": 1', ["tool arguments that are no JSON (kept as a text)"], 2),
        ("not json", ["tool arguments that are no JSON (kept as a text)"], 2),
        (" ", [], 1),
        ({"c": 1}, [], 2),
    ],
)
def test_arguments_that_are_no_json_are_named_and_kept(path, arguments, said, tokens):
    messages = [
        {"role": "user", "content": "x"},
        {
            "role": "assistant",
            "tool_calls": [{"id": "a", "function": {"name": "sh", "arguments": arguments}}],
        },
        {"role": "tool", "tool_call_id": "a", "content": "hello"},
        {"role": "assistant", "content": "ok"},
    ]
    scenario, warnings, _ = load(put(path, messages))
    assert warnings == [f"{path}: message 2: {each}" for each in said]
    assert arrivals(scenario.script(0))["call-1"].tokens == 1 + tokens + FRAME


def test_function_calls_without_ids_pair_by_order(path):
    call = {"role": "assistant", "function_call": {"name": "f", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "x"},
        call,
        {"role": "function", "name": "f", "content": "one"},
        call,
        {"role": "function", "name": "f", "content": "two"},
        {"role": "assistant", "content": "ok"},
    ]
    scenario, warnings, _ = load(put(path, messages))
    assert warnings == []
    assert by_turn(scenario.script(0)) == {
        1: ["task"],
        2: ["call-1", "result-1"],
        3: ["call-2", "result-2"],
    }


def test_times_of_messages_become_waits_and_latencies(path):
    calls = OPENAI["messages"][2]["tool_calls"][:1]
    messages = [
        {"role": "user", "content": "x", "timestamp": 1_700_000_000},
        {"role": "assistant", "tool_calls": calls, "timestamp": 1_700_000_010},
        {"role": "tool", "tool_call_id": "a", "content": "y", "timestamp": 1_700_000_014_500},
        {"role": "assistant", "content": "ok", "timestamp": "2023-11-14T22:13:40Z"},
        {"role": "user", "content": "z", "timestamp": "2023-11-14T22:14:40"},
        {"role": "assistant", "content": "ok"},
    ]
    script = load(put(path, messages))[0].script(0)
    assert arrivals(script)["result-1"].time == 4.5
    assert waits(script) == {3: 60.0}


def test_escapes_are_decoded_before_values_are_compared(path):
    arguments = json.dumps({"path": "données/été_2024.csv"})
    calls = [{"id": "c", "function": {"name": "open", "arguments": arguments}}]
    listing = r'["donn\u00e9es/\u00e9t\u00e9_2024.csv"]'
    messages = [
        {"role": "user", "content": "x"},
        {"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "ls"}}]},
        {"role": "tool", "tool_call_id": "a", "content": listing},
        {"role": "assistant", "content": "listed"},
        {"role": "user", "content": "go on"},
        {"role": "assistant", "tool_calls": calls},
    ]
    (query,) = queries(load(put(path, messages))[0].script(0))
    assert (query.turn, query.key, query.touches) == (3, "données/été_2024.csv", ("result-1",))


BREAKS = {
    "a message of the unknown role 'narrator'": {"role": "narrator", "content": "x"},
    "a message of the unknown role '7'": {"role": 7, "content": "x"},
    "a message that is not an object": "x",
    "a result whose call is missing": {"role": "tool", "tool_call_id": "zz", "content": "x"},
    "a tool result that names no call": {"role": "tool", "content": "x"},
    "a second result for one call": {"role": "tool", "tool_call_id": "a", "content": "x"},
    "a call that was never answered": {
        "role": "assistant",
        "tool_calls": [{"id": "q", "function": {"name": "f"}}],
    },
    "a tool call whose id was used before": {
        "role": "assistant",
        "tool_calls": [{"id": "a", "function": {"name": "f"}}],
    },
    "a tool call without id or name": {"role": "assistant", "tool_calls": [7]},
    "an image in what the model wrote": {
        "role": "assistant",
        "content": [{"type": "image_url", "image_url": {"url": "x"}}],
    },
    "tool calls that are no list": {"role": "assistant", "tool_calls": 7},
    "a content part of the unknown type 'video'": {"role": "user", "content": [{"type": "video"}]},
    "a content part of the type 'text' without a text": {
        "role": "user",
        "content": [{"type": "text", "text": ["x"]}],
    },
    "content that is neither text nor a list": {"role": "user", "content": 7},
    "a time that cannot be read": {"role": "user", "content": "x", "timestamp": "soon"},
}


@pytest.mark.parametrize("what", BREAKS)
def test_what_breaks_the_pattern_is_named_with_its_message(path, what):
    messages = [*OPENAI["messages"][:5], BREAKS[what], *OPENAI["messages"][5:]]
    scenario, warnings, _ = load(put(path, messages))
    assert warnings == [f"{path}: message 6: {what} (skipped)"]
    assert {"task", "call-1", "result-2"} <= set(arrivals(scenario.script(0)))
    with pytest.raises(InputError) as raised:
        load(path, strict=True)
    assert str(raised.value) == f"{path}: message 6: {what}"


def test_a_message_of_neither_side_is_named_in_anthropic_json(path):
    messages = [*ANTHROPIC["messages"], {"role": "tool", "content": "x"}, 7]
    _, warnings, _ = load(put(path, messages))
    assert warnings == [
        f"{path}: message 5: a message that is neither the user's nor the assistant's "
        "(2 of them, this is the first; skipped)"
    ]


def test_messages_without_marks_read_alike(path):
    plain = [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}]
    listed = load(put(path, plain))[0]
    assert listed.about.startswith("a recorded session (openai)")
    wrapped = load(put(path, {"system": "s", "messages": plain}))[0]
    assert wrapped.about.startswith("a recorded session (anthropic)")
    assert arrivals(wrapped.script(0))["system"].kind is Kind.SYSTEM
