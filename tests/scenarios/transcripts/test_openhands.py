"""OpenHands completion logs: a series of documents, each the prompt and answer of one call."""

import json

import pytest

from scenarios import transcripts
from scenarios.transcripts.formats import openhands_completions as openhands
from sim.errors import InputError
from sim.tokens import BYTES
from tests.scenarios.transcripts.made import arrivals, by_turn, load, queries, waits


def called(id, name="execute_bash", **arguments):
    return {
        "id": id,
        "type": "function",
        "function": {"name": name, "arguments": json.dumps(arguments)},
    }


HISTORY = [
    {"role": "system", "content": [{"type": "text", "text": "be good", "cache_control": {}}]},
    {"role": "user", "content": [{"type": "text", "text": "fix it"}]},
    {
        "role": "assistant",
        "content": [{"type": "text", "text": "a"}],
        "tool_calls": [called("a", command="ls")],
    },
    {
        "role": "tool",
        "tool_call_id": "a",
        "name": "execute_bash",
        "content": [{"type": "text", "text": "x"}],
    },
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [called("b", "str_replace_editor", command="view", path="/w/a.py")],
    },
    {"role": "tool", "tool_call_id": "b", "name": "str_replace_editor", "content": "1\tpass"},
]
ANSWERS = [
    {"role": "assistant", "content": "a", "tool_calls": [called("a", command="ls")]},
    {
        "role": "assistant",
        "content": "",
        "tool_calls": [called("b", "str_replace_editor", command="view", path="/w/a.py")],
    },
    {"role": "assistant", "content": "done", "tool_calls": [called("c", "finish")]},
]


def document(calls, time, task="fix it", usage=None):
    history = json.loads(json.dumps(HISTORY[: 2 * calls]))
    history[1]["content"][0]["text"] = task
    if calls > 1:
        history[-1]["cache_control"] = {"type": "ephemeral"}
    return {
        "messages": history,
        "kwargs": {"tools": [{"type": "function"}]},
        "response": {
            "choices": [{"message": ANSWERS[calls - 1]}],
            "usage": usage or {"prompt_tokens": 100 * calls, "completion_tokens": calls},
        },
        "timestamp": time,
    }


def put(path, data):
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


@pytest.fixture
def series(tmp_path):
    folder = tmp_path / "run-7"
    cached = {
        "prompt_tokens": 200,
        "completion_tokens": 9,
        "prompt_tokens_details": {"cached_tokens": 90},
        "cache_creation_input_tokens": 110,
        "cache_read_input_tokens": 90,
    }
    put(folder / "z.json", document(1, 1_700_000_000.0))
    put(folder / "m.json", document(2, 1_700_000_007.5, usage=cached))
    put(folder / "a.json", document(3, 1_700_000_400.0))
    return folder


def test_a_series_is_one_session_in_the_order_of_its_times(series):
    scenario, warnings, notes = load(series)
    script = scenario.script(0)
    assert (warnings, notes) == ([], [])
    assert scenario.name == "run-7"
    assert by_turn(script) == {
        1: ["tools", "system", "task"],
        2: ["assistant-1", "call-1", "result-1"],
        3: ["call-2", "file-2"],
    }
    assert {n: a.time for n, a in arrivals(script).items() if a.time} == {
        "result-1": 7.5,
        "file-2": 392.5,
    }
    assert waits(script) == {}
    assert script.recorded == {
        1: {"input_tokens": 100, "output_tokens": 1},
        2: {"input_tokens": 200, "cached_tokens": 90, "written_tokens": 110, "output_tokens": 9},
        3: {"input_tokens": 300, "output_tokens": 3},
    }
    assert arrivals(script)["file-2"].path == "/w/a.py"


def test_the_files_of_a_series_given_one_by_one_are_one_session(series):
    scenario, *_ = load(series)
    (same,) = transcripts.load(sorted(series.iterdir()), budget=1_000_000, tokenizer=BYTES)
    assert same.script(0) == scenario.script(0)


def test_the_last_call_alone_holds_the_session_but_no_times(series):
    scenario, warnings, _ = load(series / "a.json")
    script = scenario.script(0)
    assert warnings == []
    assert by_turn(script) == by_turn(load(series)[0].script(0))
    assert script.recorded == {3: {"input_tokens": 300, "output_tokens": 3}}
    assert not any(a.time for a in arrivals(script).values())


def test_a_run_ends_where_the_messages_shrink(series):
    put(series / "zz.json", document(1, 1_700_009_000.0))
    put(series / "zzz.json", document(2, 1_700_009_005.0))
    found = transcripts.load([series], budget=10_000, tokenizer=BYTES)
    assert [(s.name, s.settings["turns"]) for s in found] == [("run-7", 3), ("run-7-2", 2)]


def test_last_calls_of_several_tasks_are_sessions_of_their_own(tmp_path):
    put(tmp_path / "logs" / "one.json", document(2, 1.0, task="first task"))
    put(tmp_path / "logs" / "two.json", document(3, 2.0, task="second task"))
    found = transcripts.load([tmp_path / "logs"], budget=10_000, tokenizer=BYTES)
    assert [(s.name, s.settings["turns"]) for s in found] == [("one", 2), ("two", 3)]


def test_the_call_with_which_a_log_ends_needs_no_result(series):
    load(series, strict=True)


def test_an_answer_that_is_none_is_named(series):
    broken = document(3, 1_700_000_400.0)
    broken["response"]["choices"] = []
    put(series / "a.json", broken)
    _, warnings, _ = load(series)
    assert warnings == [f"{series}: message 7: a response without a message (skipped)"]
    with pytest.raises(InputError, match="message 7: a response without a message"):
        load(series, strict=True)


@pytest.mark.parametrize("time", ["soon", [], -4, 1e300, True])
def test_a_time_that_is_none_is_named(tmp_path, time):
    path = put(tmp_path / "one.json", document(2, time))
    _, warnings, _ = load(path)
    assert warnings == [f"{path}: message 4: a time that cannot be read (skipped)"]


def test_cache_marks_do_not_tell_messages_apart(tmp_path):
    one, two = (openhands.outline(tmp_path / n, document(c, 1.0)) for n, c in (("a", 2), ("b", 3)))
    assert two.continues(one)
    assert not one.continues(two)
    other = openhands.outline(tmp_path / "c", document(3, 1.0, task="another"))
    assert not other.continues(one)


def test_the_final_answer_can_ask(tmp_path):
    data = document(3, 1.0)
    data["messages"][3]["content"] = "see report_2291.txt"
    data["response"]["choices"][0]["message"]["content"] = "It is in report_2291.txt."
    script = load(put(tmp_path / "a.json", data))[0].script(0)
    assert [(q.turn, q.key, q.touches) for q in queries(script)] == [
        (3, "report_2291.txt", ("result-1",))
    ]


def test_a_message_that_changes_later_stays_as_it_came(series):
    data = document(3, 1_700_000_400.0)
    data["messages"][5]["content"] = "masked"
    put(series / "a.json", data)
    put(series / "zz.json", document(3, 1_700_000_500.0))
    scenario, warnings, notes = load(series)
    assert warnings == []
    assert arrivals(scenario.script(0))["file-2"].tokens == 2
    assert notes == [f"{series}: messages that a later call shows changed stay as they came: 1"]
