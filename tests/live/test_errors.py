"""What is no history, or asks for what there is not: one plain sentence each."""

from __future__ import annotations

import subprocess
import sys

import pytest

import policies
from sim.errors import InputError

TASK = {"role": "user", "content": "do it"}
ANSWER = {"role": "assistant", "content": "yes"}


def adapted(**more):
    return policies.adapt("tag-or-drop", **{"budget": 1_000, "format": "anthropic", **more})


def says(error):
    message = str(error.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize(
    ("messages", "sentence"),
    [
        ("do it", "a history is a list of messages, not 'str'"),
        (None, "a history is a list of messages, not 'NoneType'"),
        ([], "the history is empty: a request needs a message"),
        ([TASK, "yes"], "message 2 is no message: it has no role"),
        ([{"content": "x"}], "message 1 is no message: it has no role"),
        ([{"role": "user", "content": 7}], "message 1: its content is neither text nor a list"),
        (
            [{"role": "user", "content": ["x"]}],
            "message 1: a part of its content is no object",
        ),
        ([{"role": "user", "content": {1, 2}}], "a message holds 'set', which is no JSON value"),
        (
            [{"role": "assistant", "tool_calls": {}}],
            "message 1: its tool calls are no list",
        ),
    ],
)
def test_what_is_no_history(messages, sentence):
    with pytest.raises(InputError) as error:
        adapted().request(messages)
    assert says(error) == sentence


def test_a_message_nested_too_deeply():
    deep = {"role": "user", "content": "x"}
    for _ in range(100_000):
        deep = {"role": "user", "content": [deep]}
    with pytest.raises(InputError, match="message 1 is nested too deeply"):
        adapted().request([deep])


def test_a_history_only_grows():
    agent = adapted()
    agent.request([TASK])
    agent.request([TASK, ANSWER, TASK])
    with pytest.raises(InputError) as error:
        agent.request([TASK])
    assert says(error) == "the history has 1 messages and had 3; it only grows at its end"
    edited = {"role": "user", "content": "do that"}
    with pytest.raises(InputError) as error:
        agent.request([edited, ANSWER, TASK, ANSWER, TASK])
    assert says(error) == (
        "message 1 is another than in the last request; a history only grows at its end"
    )
    assert agent.request([TASK, ANSWER, TASK]) == [TASK, ANSWER, TASK]


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"format": "antropic"}, "unknown format 'antropic'; did you mean 'anthropic'?"),
        ({"budget": 0}, "budget"),
        ({"budget": "many"}, "budget"),
        (
            {"settings": {"salience.decoy": 0.5}},
            "unknown key 'salience.decoy'; did you mean 'salience.decay'?",
        ),
        ({"settings": {"price": "gpt-none"}}, "unknown price 'gpt-none'"),
        ({"overhead": -1}, "overhead is a whole number of tokens from 0, not '-1'"),
        (
            {"format": "openai", "system": "be good"},
            "this format has its system prompt among the messages, not beside them",
        ),
    ],
)
def test_what_cannot_be_asked_for(more, sentence):
    with pytest.raises(InputError) as error:
        adapted(**more)
    assert sentence in says(error)


@pytest.mark.parametrize(
    ("policy", "needs"),
    [("clairvoyant", "future"), ("recorded", "recording"), ("naive-trim", "ranks")],
)
def test_a_policy_that_needs_what_a_live_history_does_not_tell(policy, needs):
    with pytest.raises(InputError) as error:
        policies.adapt(policy, budget=1_000)
    assert says(error) == (
        f"policy {policy} needs {needs}, which a history under way does not offer"
    )


def test_what_is_no_policy():
    with pytest.raises(InputError, match="unknown policy 'tag-or-dorp'; did you mean"):
        policies.adapt("tag-or-dorp", budget=1_000)
    with pytest.raises(InputError, match="'object' is no policy: it has no before_call"):
        policies.adapt(object(), budget=1_000)


def test_the_format_must_show():
    agent = policies.adapt("no-op", budget=1_000)
    with pytest.raises(InputError, match="nothing in the messages tells their format"):
        agent.request([TASK])


@pytest.mark.parametrize(
    ("format", "beside", "messages"),
    [
        ("anthropic", {"system": "be good"}, [TASK]),
        ("anthropic", {"tools": [{"name": "sh", "input_schema": {}}]}, [TASK]),
        ("openai", {"tools": [{"type": "function", "function": {"name": "sh"}}]}, [TASK]),
        ("openai", {}, [{"role": "system", "content": "be good"}, TASK]),
        ("openai", {}, [TASK, {"role": "assistant", "content": None, "tool_calls": []}, TASK]),
        ("anthropic", {}, [{"role": "user", "content": [{"type": "tool_result"}]}, TASK]),
    ],
)
def test_the_format_shows(format, beside, messages):
    agent = policies.adapt("no-op", budget=1_000, **beside)
    assert agent.format is None
    agent.request(messages)
    assert agent.format == format


def test_what_is_pinned_must_fit():
    with pytest.raises(InputError, match="the pins of turn 1 need"):
        adapted(budget=1_000).request([{"role": "user", "content": "word " * 2_000}])


def test_nothing_that_is_not_there_can_be_explained():
    agent = adapted()
    for what in ("toolu_1", 0):
        with pytest.raises(InputError, match="nothing in the history is"):
            agent.why(what)


@pytest.mark.parametrize("name", ["summarise", "read"])
def test_what_the_caller_gives_must_return_a_text(name):
    from sim.actions import Refresh, Rewrite
    from tests.live.test_rendering import AGAIN, FILE, Scripted, read, run, use

    write = {"role": "assistant", "content": [use("w", "Write", file_path="/r/a.py", content="x")]}
    done = {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "w", "content": "ok"}],
    }
    plan = {
        3: [Refresh("file-1"), Rewrite(("task", "file-1", "call-1"), 9, True, "it", whole=True)]
    }
    wanted = plan[3][:1] if name == "read" else plan[3][1:]
    agent = policies.adapt(
        Scripted({3: wanted}), budget=10_000, format="anthropic", **{name: lambda *given: 7}
    )
    with pytest.raises(InputError, match=f"{name} returns a text"):
        run(agent, [AGAIN[0], *read("a", FILE), write, done])


# The command line starts at once, and so does what only names the policies.
def test_adapt_is_loaded_by_its_call_alone():
    code = (
        "import sys, policies; assert callable(policies.adapt); "
        "assert not {'live', 'bench', 'scenarios', 'sim'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
