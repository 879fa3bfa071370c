"""A session driven through the engine and through the adapter: the same requests, call by call."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import policies
from bench.cells import price_of
from policies import harness
from policies.registry import make, names
from scenarios.transcripts import load
from sim.engine import Engine, lacking
from sim.errors import InputError
from sim.script import Query, Script
from tests.live.made import DATA, TOOLS, claude_code, document, ends, history, openhands

RECORDED = ("astropy__astropy-14309", "django__django-10999")
SESSIONS = ("0e_053674f90a_0_full", "3b_ff9e85c79b_0_full")
SETTINGS = {"copies.tool_result": 0.5, "reader": "measured"}
APART = ("clairvoyant", "recorded")
"""Policies that need to know what comes, or what a recording's own harness did."""


ACTING = {
    "aider": "least=100",
    "anthropic-clear-tool-uses": "trigger=2000",
    "claude-code": "cap=off,reserve=600,buffer=300,file=500",
    "claude-code-microcompact": "cap=off,idle=1,keep=2",
    "cline-stale-reads": "batch=500",
    "deepagents": "argument=20",
    "gemini-cli": "results=400",
    "gemini-cli-masking": "protect=1000,batch=400,characters=20",
    "goose": "pairs=on",
    "langchain-clear-tool-uses": "trigger=2000",
    "langchain-summarization": "messages=20,keep=6",
    "openclaw": "ttl=1,keep=1,long=400,end=100,least=400",
    "opencode": "buffer=600,least=200",
    "opencode-prune": "protect=500,minimum=400",
    "openhands-amortized": "max_size=30",
    "openhands-browser-output": "tools=Bash",
    "openhands-llm-attention": "max_size=20",
    "openhands-llm-summarizing": "max_size=20",
    "openhands-observation-masking": "attention_window=4",
    "openhands-recent-events": "max_events=20",
    "openhands-sdk": "max_size=24",
    "pi": "reserve=1000,keep=800",
    "roo": "reserve=200",
}
"""At what limits the field's policies act on sessions of some thousand tokens; the rest do as
they are."""
CAN_LOSE = {
    "surrogate.keep": 0.5,
    "summariser.retention": "ratio",
    "summariser.fabricate": 0.2,
    "summariser.fail": 0.1,
}
OWN = ("rewrite", "evict", "refresh")


class Spied(Engine):
    """An engine that notes the window of the first request of each turn."""

    def __init__(self, script: Script, policy: str) -> None:
        super().__init__(script, make(policy), price_of(script.settings), False, "spied")
        self.requests: list[list[tuple[str, int]]] = []

    def _request(self, asked: float, extra: bool) -> Any:
        if not extra:
            self.requests.append([(s.id, s.tokens) for s in self.world.window])
        return super()._request(asked, extra)

    def played(self) -> list[list[tuple[str, int]]]:
        self.env.process(self.play())
        self.env.run()
        self.measured = self.end().metrics
        return self.requests


def script_of(
    tmp_path: Path, recording: dict[str, Any], share: float, settings: dict[str, Any] = SETTINGS
) -> Script:
    """Return the script that `replay` plays, with *share* of the budget that it suggests."""
    path = tmp_path / "session.json"
    path.write_text(json.dumps(recording), encoding="utf-8")
    (scenario,) = load([path], settings=settings)
    budget = round(share * scenario.settings["budget"])
    (scenario,) = load([path], budget, settings)
    return scenario.script(0)


def followed(
    script: Script,
    recording: dict[str, Any],
    format: str,
    policy: str,
    settings: dict[str, Any] = SETTINGS,
) -> list[Any]:
    """Return the windows of an adapter that is given the recording message by message."""
    messages = recording["messages"]
    turns, budget = script.settings["turns"], script.settings["budget"]
    agent = policies.adapt(
        policy,
        budget=budget,
        format=format,
        system=recording.get("system"),
        tools=recording.get("tools"),
        settings={**settings, "turns": turns},
    )
    found = []
    for end in ends(messages)[:turns]:
        try:
            agent.request(messages[:end])
        except InputError:
            break
        found.append(agent.window)
    return found


def the_same(tmp_path: Path, recording: dict[str, Any], format: str, share: float) -> None:
    script = script_of(tmp_path, recording, share)
    for policy in names():
        made = make(policy)
        if policy in APART or lacking(script, made):
            continue
        engine = Spied(script, policy)
        requests = engine.played()
        assert followed(script, recording, format, policy) == requests, policy


@pytest.mark.parametrize("format", ["anthropic", "openai"])
@pytest.mark.parametrize(("seed", "share"), [(1, 1.0), (2, 0.7), (3, 0.5)])
def test_of_a_session_made_here(tmp_path, format, seed, share):
    the_same(tmp_path, document(format, history(format, seed)), format, share)


# The field's policies at limits that they meet here, and surrogates that can lose and invent.
@pytest.mark.parametrize("policy", [each.name for each in harness.found()])
def test_of_the_field_s_policies(tmp_path, policy):
    acted = False
    settings = {**SETTINGS, **CAN_LOSE}
    spec = f"{policy}:{ACTING[policy]}" if policy in ACTING else policy
    for format, seed, share in (("anthropic", 1, 0.5), ("openai", 4, 0.7)):
        recording = document(format, history(format, seed))
        script = script_of(tmp_path, recording, share, settings)
        engine = Spied(script, spec)
        requests = engine.played()
        assert followed(script, recording, format, spec, settings) == requests
        acted |= any(record[0] in OWN for record in engine.world.records)
    assert acted or policy == "anthropic-compact"  # which never acts below 50,000 tokens


# What the test above is worth hangs on what the sessions hold.
@pytest.mark.parametrize("format", ["anthropic", "openai"])
def test_the_sessions_made_here_ask_and_read_again(tmp_path, format):
    script = script_of(tmp_path, document(format, history(format, 1)), 0.7)
    asked = {s.id.partition("-")[0] for s in script.stimuli if isinstance(s, Query)}
    assert asked == {"query", "read"}
    engine = Spied(script, "tag-or-drop")
    engine.played()
    kinds = {record[0] for record in engine.world.records}
    assert {"rewrite", "fetch", "write"} <= kinds


@pytest.mark.skipif(not DATA.exists(), reason="the recordings are not here")
@pytest.mark.parametrize("name", RECORDED)
def test_of_a_recorded_openai_session(tmp_path, name):
    the_same(tmp_path, openhands(name), "openai", 0.8)


@pytest.mark.skipif(not DATA.exists(), reason="the recordings are not here")
@pytest.mark.parametrize("name", SESSIONS)
def test_of_a_recorded_anthropic_session(tmp_path, name):
    the_same(tmp_path, claude_code(name), "anthropic", 0.8)


# The books are those of the run, but for the call whose answer is not in the history.
def test_the_metrics_are_the_run_s(tmp_path):
    recording = document("anthropic", history("anthropic", 1))
    script = script_of(tmp_path, recording, 0.7)
    engine = Spied(script, "tag-or-drop")
    engine.played()
    messages = recording["messages"]
    agent = policies.adapt(
        "tag-or-drop",
        budget=script.settings["budget"],
        system=recording["system"],
        tools=TOOLS["anthropic"],
        settings=SETTINGS,
    )
    agent.request([*messages, {"role": "user", "content": "Thank you."}])
    ours, theirs = agent.metrics(), engine.measured
    for name in ("calls", "input_tokens", "total_cost_usd", "queries", "correct", "deferred"):
        assert ours[name] == pytest.approx(theirs[name]), name
    assert theirs["queries"] > 0
