"""Recorded sessions, against counts that a few independent lines take from the same files."""

import json
from collections import Counter
from pathlib import Path

import pytest

from scenarios import transcripts
from sim.script import Arrival, Query, Write
from sim.segments import Kind

HERE = Path(__file__).resolve()
DATA = HERE.parents[4] / "shared" / "data" / "transcripts"
CLAUDE = ["3b_ff9e85c79b_0_full", "9f_d2fc39aa5f_0_full", "b6_f735fbac66_0_full"]
OPENHANDS = ["django__django-11299", "django__django-11133", "astropy__astropy-12907"]

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the recordings are not here")


def loaded(path, **more):
    warnings = []
    found = transcripts.load([path], on_warning=warnings.append, on_note=str, **more)
    assert warnings == []
    return found


def facts(script):
    """Count arrivals by kind, and check that every call stands with its results."""
    found = [s for s in script.stimuli if isinstance(s, Arrival)]
    calls = {a.pair for a in found if a.kind is Kind.TOOL_CALL}
    results = {a.pair for a in found if a.pair and a.kind is not Kind.TOOL_CALL}
    assert calls == results
    return Counter(a.kind for a in found), len(calls)


@pytest.mark.parametrize("name", CLAUDE)
def test_a_claude_code_session(name):
    path = DATA / "claude_code_jsonl" / f"{name}.jsonl"
    with path.open(encoding="utf-8", newline="\n") as file:
        lines = [json.loads(line) for line in file]
    usage, uses, results, errors = {}, {}, [], set()
    for line in lines:
        if line.get("isSidechain") or line["type"] not in ("user", "assistant"):
            continue
        message = line["message"]
        if line["type"] == "assistant" and message["model"] != "<synthetic>":
            usage[message["id"]] = message["usage"]
        for block in message["content"]:
            if isinstance(block, dict) and block["type"] == "tool_use":
                uses[block["id"]] = block["name"]
            elif isinstance(block, dict) and block["type"] == "tool_result":
                results.append(block["tool_use_id"])
                if block.get("is_error"):
                    errors.add(block["tool_use_id"])
    (scenario,) = loaded(path, strict=True)
    script = scenario.script(0)
    kinds, pairs = facts(script)
    assert scenario.settings["turns"] == len(usage)
    fetches = sum(isinstance(s, Query) and s.id.startswith("read-") for s in script.stimuli)
    assert kinds[Kind.TOOL_CALL] == pairs == len(uses) - fetches
    assert len(uses) == len(results)
    fine = Counter(tool for id, tool in uses.items() if id not in errors)
    assert kinds[Kind.FILE] == fine["Read"] - fetches
    assert kinds[Kind.DIFF] == fine["Edit"] + fine["Write"]
    assert sum(isinstance(s, Write) for s in script.stimuli) == kinds[Kind.DIFF]
    for ours, theirs in (
        ("cached_tokens", "cache_read_input_tokens"),
        ("written_tokens", "cache_creation_input_tokens"),
    ):
        assert sum(r[ours] for r in script.recorded.values()) == sum(
            u[theirs] for u in usage.values()
        )
    assert sum(r["input_tokens"] for r in script.recorded.values()) == sum(
        u["input_tokens"] + u["cache_read_input_tokens"] + u["cache_creation_input_tokens"]
        for u in usage.values()
    )


# Counted by hand in the file: lines with a tool_use, with Read, with Edit, and of the users own.
def test_a_session_counted_by_hand():
    path = DATA / "claude_code_jsonl" / "3b_ff9e85c79b_0_full.jsonl"
    script = loaded(path)[0].script(0)
    kinds, pairs = facts(script)
    assert (pairs, kinds[Kind.FILE], kinds[Kind.DIFF]) == (71, 18, 1)
    assert (kinds[Kind.TASK], kinds[Kind.USER]) == (1, 1)


@pytest.mark.parametrize("name", OPENHANDS)
def test_the_last_call_of_an_openhands_run(name):
    path = DATA / "openhands_llm_completions" / "last_call" / f"{name}.json"
    data = json.loads(path.read_text(encoding="utf-8"))
    roles = Counter(m["role"] for m in data["messages"])
    calls = sum(len(m.get("tool_calls") or []) for m in data["messages"])
    (scenario,) = loaded(path, strict=True)
    script = scenario.script(0)
    kinds, pairs = facts(script)
    assert scenario.settings["turns"] == roles["assistant"] + 1
    assert pairs == calls == roles["tool"]
    assert (kinds[Kind.SYSTEM], kinds[Kind.TASK]) == (1, 1)
    assert kinds[Kind.USER] == roles["user"] - 1
    prompt = data["response"]["usage"]["prompt_tokens"]
    assert script.recorded == {
        scenario.settings["turns"]: script.recorded[scenario.settings["turns"]]
    }
    assert script.recorded[scenario.settings["turns"]]["input_tokens"] == prompt


def test_an_openhands_series():
    folder = DATA / "openhands_llm_completions" / "per_call" / "django__django-10554"
    documents = [json.loads(p.read_text(encoding="utf-8")) for p in sorted(folder.iterdir())]
    sizes = [len(d["messages"]) for d in documents]
    restart = next(n for n in range(1, len(sizes)) if sizes[n] < sizes[n - 1])
    first, second = loaded(folder, strict=True)
    assert first.settings["turns"] == restart == 5
    assert second.settings["turns"] == len(documents) - restart == 35
    for scenario, part in ((first, documents[:restart]), (second, documents[restart:])):
        recorded = scenario.script(0).recorded
        assert len(recorded) == len(part)
        assert sum(r["input_tokens"] for r in recorded.values()) == sum(
            d["response"]["usage"]["prompt_tokens"] for d in part
        )
        last = sum(len(m.get("tool_calls") or []) for m in part[-1]["messages"])
        script = scenario.script(0)
        fetches = sum(isinstance(s, Query) and s.id.startswith("read-") for s in script.stimuli)
        assert facts(script)[1] == last - fetches


def test_every_recording_of_the_formats_is_read():
    for folder in ("claude_code_jsonl", "claude_code_jsonl_fixtures"):
        for path in sorted((DATA / folder).iterdir()):
            (scenario,) = transcripts.load([path])
            facts(scenario.script(0))
    broken = "last_call/astropy__astropy-13977.json"
    warnings = []
    folder = DATA / "openhands_llm_completions"
    found = transcripts.load([folder], on_warning=warnings.append, on_note=str)
    assert len(found) == len(list((folder / "last_call").iterdir())) - 1 + 3
    assert any(broken in warning and "Invalid" in warning for warning in warnings)
    for scenario in found:
        facts(scenario.script(0))
