"""Whatever a policy does with whatever history: the request is one that the provider accepts."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import policies
from policies.registry import names
from sim.errors import InputError
from sim.policy import DECLARABLE
from sim.tokens import tokenizer
from tests.live.made import ends, history
from tests.support.chaos import Chaos
from tests.support.requests import faults

APART = ("clairvoyant", "recorded", "naive-trim")
FORMATS = st.sampled_from(["anthropic", "openai"])
RELAXED = settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow], database=None
)


def requests(agent, messages):
    """Yield the requests of a history that is given call by call, until what is pinned is over."""
    with suppress(InputError):
        for end in ends(messages):
            before = json.dumps(messages[:end])
            yield agent.request(messages[:end])
            assert json.dumps(messages[:end]) == before


@RELAXED
@given(FORMATS, st.integers(0, 10_000), st.sampled_from([n for n in names() if n not in APART]),
       st.integers(600, 9_000), st.sampled_from([0.0, 0.5, 1.0]))  # fmt: skip
def test_of_every_policy(format, seed, policy, budget, copies):
    agent = policies.adapt(
        policy,
        budget=budget,
        format=format,
        settings={"copies.tool_result": copies, "copies.tool_call": copies, "reader": "measured"},
    )
    messages = history(format, seed)
    for request in requests(agent, messages):
        assert faults(format, request) == []


@RELAXED
@given(FORMATS, st.integers(0, 10_000), st.integers(0, 10_000), st.integers(600, 9_000))
def test_of_a_policy_that_does_anything(format, seed, chaos, budget):
    agent = policies.adapt(
        Chaos(chaos, DECLARABLE),
        budget=budget,
        format=format,
        settings={"copies.tool_result": 1.0, "copies.image": 1.0, "copies.thinking": 1.0},
    )
    for request in requests(agent, history(format, seed)):
        assert faults(format, request) == []


@RELAXED
@given(FORMATS, st.integers(0, 10_000), st.sampled_from(["tag-or-drop", "tiered", "hybrid"]))
def test_a_history_given_at_once_gives_the_same_request(format, seed, policy):
    messages = history(format, seed)
    one, other = (policies.adapt(policy, budget=5_000, format=format) for _ in range(2))
    done = list(requests(one, messages))
    if done:
        so_far = messages[: ends(messages)[len(done) - 1]]
        assert other.request(so_far) == done[-1] == other.request(so_far)


# The books count a frame of 50 tokens around each call, which is in no text, so that the few words
# that no book has find room; an image is in no text either. The calls that were made last stand
# whatever they brought, and the books have none for a file that is read again.
@RELAXED
@given(FORMATS, st.integers(0, 10_000), st.sampled_from([n for n in names() if n not in APART]),
       st.integers(3_000, 9_000))  # fmt: skip
def test_the_texts_of_a_request_are_within_its_budget(format, seed, policy, budget):
    count = tokenizer().count
    agent = policies.adapt(policy, budget=budget, format=format)
    for request in requests(agent, history(format, seed)):
        assert agent.tokens <= budget
        last = [m for m in request if m["role"] == "assistant"][-1:]
        made = sum(count(text) for text in texts(last))
        assert sum(count(text) for text in texts(request)) <= budget + made


def texts(value):
    """Yield the texts of messages: of blocks, results and arguments."""
    if isinstance(value, list):
        for each in value:
            yield from texts(each)
    elif isinstance(value, dict):
        for key, each in value.items():
            if key in ("text", "thinking", "reasoning_content", "arguments", "name"):
                yield each
            elif key == "input":
                yield json.dumps(each)
            elif key == "content" and isinstance(each, str):
                yield each
            else:
                yield from texts(each)


def use(*ids):
    return [{"type": "tool_use", "id": i, "name": "sh", "input": {}} for i in ids]


def results(*ids):
    return [{"type": "tool_result", "tool_use_id": i, "content": "ok"} for i in ids]


def said(role, *blocks):
    return {"role": role, "content": list(blocks)}


TEXT = {"type": "text", "text": "so"}


# The rules themselves: one right request, and each of them broken once.
@pytest.mark.parametrize(
    ("right", "messages"),
    [
        (True, [said("user", TEXT), said("assistant", *use("a")), said("user", *results("a"))]),
        (False, [said("assistant", TEXT), said("user", TEXT)]),
        (False, [said("user", TEXT), said("assistant", TEXT)]),
        (False, [said("user", TEXT), said("assistant", *use("a")), said("user", TEXT)]),
        (False, [said("user", TEXT), said("assistant", TEXT), said("user", *results("a"))]),
        (False, [said("user", TEXT), said("assistant", *use("a")),
                 said("user", TEXT, *results("a"))]),
        (False, [said("user", TEXT), said("assistant", *use("a", "b")),
                 said("user", *results("a"))]),
        (False, [said("user", {"type": "text", "text": " "})]),
        (False, []),
    ],
)  # fmt: skip
def test_the_rules_of_anthropic(right, messages):
    assert (faults("anthropic", messages) == []) is right


def call(*ids):
    calls = [{"id": i, "function": {"name": "sh", "arguments": "{}"}} for i in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def tool(id):
    return {"role": "tool", "tool_call_id": id, "content": "ok"}


@pytest.mark.parametrize(
    ("right", "messages"),
    [
        (True, [{"role": "user", "content": "so"}, call("a", "b"), tool("b"), tool("a")]),
        (False, [{"role": "user", "content": "so"}, call("a", "b"), tool("b")]),
        (False, [call("a"), {"role": "user", "content": "so"}, tool("a")]),
        (False, [{"role": "user", "content": "so"}, tool("a")]),
        (False, [{"role": "assistant", "content": "so", "tool_calls": []}]),
        (False, [{"role": "assistant", "content": None}]),
        (False, []),
    ],
)
def test_the_rules_of_openai(right, messages):
    assert (faults("openai", messages) == []) is right
