"""Traces against the rules of the Trace Event Format, and against the records they show."""

import json
from collections import Counter, defaultdict

import pytest

from bench.cells import run_one
from bench.export.resident import Resident
from bench.export.trace import TRACKS, trace
from bench.fleets import fleet_of, scripts_of
from bench.loading import load
from bench.output import json_document
from policies import registry
from scenarios import catalogue
from sim.fleet import events as fleet_events
from sim.records import to_dicts
from sim.script import Arrival, Query, Script, Wait
from sim.segments import Fact, Kind

NEEDED = {
    "X": {"ts", "dur"},
    "i": {"ts", "s"},
    "C": {"ts", "args"},
    "b": {"ts", "cat", "id"},
    "e": {"ts", "cat", "id"},
    "s": {"ts", "cat", "id"},
    "f": {"ts", "cat", "id", "bp"},
    "M": {"args"},
}


def played(script, policy):
    _, records = run_one(script, policy, False)
    return list(to_dicts(records or ()))


def written(events, scripts):
    """Return the trace as a reader of its file has it."""
    return json.loads(json_document(trace(events, scripts)))


def check(document):
    """Check every rule of the format that the events must follow."""
    events = document["traceEvents"]
    under_way, flows, slices = {}, {}, defaultdict(list)
    clocked = [e["ts"] for e in events if "ts" in e]
    assert clocked == sorted(clocked)
    for event in events:
        assert event["ph"] == "M" or event["cat"], event
        assert event["name"] and NEEDED[event["ph"]] <= event.keys(), event
        assert type(event["pid"]) is int and event["pid"] >= 1
        assert type(event["tid"]) is int and event["tid"] >= 0
        for name in ("ts", "dur"):
            assert name not in event or (type(event[name]) is int and event[name] >= 0)
        which = (event.get("cat"), event.get("id"))
        match event["ph"]:
            case "X":
                slices[event["pid"], event["tid"]].append(event)
            case "C":
                assert event["args"] and all(type(v) is int for v in event["args"].values())
            case "b":
                assert which not in under_way
                under_way[which] = event
            case "e":
                begin = under_way.pop(which)
                assert begin["name"] == event["name"] and begin["ts"] < event["ts"]
            case "s":
                flows[which] = event
            case "f":
                assert flows.pop(which)["ts"] < event["ts"]
            case "i":
                assert event["s"] == "t"
    assert not under_way and not flows
    for track in slices.values():
        nested(track)


def nested(track):
    """Of two slices of one track, one holds the other or they do not overlap."""
    open_until = []
    for event in track:
        while open_until and open_until[-1] <= event["ts"]:
            open_until.pop()
        end = event["ts"] + event["dur"]
        assert not open_until or end <= open_until[-1], event
        open_until.append(end)


def of(document, ph, name=None):
    return [e for e in document["traceEvents"] if e["ph"] == ph and name in (None, e["name"])]


@pytest.mark.parametrize("name", catalogue.names())
@pytest.mark.parametrize("policy", ["naive-rewrite", "tiered", "compaction", "naive-trim"])
def test_every_scenario_gives_a_valid_trace(name, policy):
    script = load(name).script(0)
    events = played(script, policy)
    if not events:
        return
    document = written(events, [script])
    check(document)
    calls = [e for e in events if e["type"] == "call"]
    shown = [e for e in of(document, "X") if e["name"].startswith("call of turn")]
    assert [e["args"]["tokens"] for e in shown] == [e["tokens"] for e in calls]
    window = of(document, "C", "window tokens")
    assert [sum(e["args"].values()) for e in window] == [e["tokens"] for e in calls]
    billed = of(document, "C", "input tokens")
    assert [sum(e["args"].values()) for e in billed] == [e["tokens"] for e in calls]
    instants = Counter(e["name"].split(" ")[0].rstrip(":") for e in of(document, "i"))
    for kind in ("evict", "rewrite", "fetch", "truncate", "refresh", "restore", "pass"):
        assert instants[kind] == sum(e["type"] == kind for e in events), kind
    for outcome in ("correct", "confabulated", "stale", "abstained", "deferred"):
        assert instants[outcome] == sum(e.get("outcome") == outcome for e in events)


@pytest.mark.parametrize("policy", registry.names())
def test_every_policy_gives_a_valid_trace(policy):
    script = load("coding-agent", {"turns": 30}).script(1)
    events = played(script, policy)
    if events:
        check(written(events, [script]))


def test_several_agents_are_processes_that_queue():
    scripts = scripts_of(load("coding-agent", {"agents": 3, "price": "vllm", "turns": 12}), 0)
    fleet = fleet_of(scripts, "tiered", False)
    document = written(fleet_events(fleet.records), scripts)
    check(document)
    assert {e["pid"] for e in document["traceEvents"]} == {1, 2, 3}
    assert of(document, "X", "queue")
    names = [e["args"]["name"] for e in of(document, "M", "process_name")]
    assert names[2].startswith("agent 2: tiered on coding-agent")


def settings_of(name="threshold-drift", **more):
    return {**load(name).settings, **more}


def test_a_script_worked_by_hand():
    """A wait of 30 s, two tools of 2 and 5 s at once, then a call of a turn of 20 s."""
    settings = settings_of(turns=2, budget=10_000)
    about = {"tool": "search", "kind": Kind.TOOL_RESULT}
    stimuli = (
        Arrival(1, "system", Kind.SYSTEM, 1000, 1.0, pinned=True),
        Arrival(1, "task", Kind.TASK, 200, 1.0, pinned=True),
        Wait(2, 30.0),
        Arrival(2, "slow", tokens=300, score=1.0, time=5.0, facts=(Fact("k", "v"),), **about),
        Arrival(2, "quick", tokens=400, score=1.0, time=2.0, **about),
        Query(2, "q1", "k", 0.9, ("slow",)),
    )
    script = Script("by hand", 0, settings, stimuli)
    document = written(played(script, "no-op"), [script])
    check(document)
    turns = [(e["name"], e["ts"], e["dur"]) for e in of(document, "X") if e["tid"] == 1]
    assert turns == [("turn 1", 0, 20_000_000), ("turn 2", 20_000_000, 55_000_000)]
    (wait,) = of(document, "X", "wait")
    assert (wait["tid"], wait["ts"], wait["dur"]) == (2, 20_000_000, 30_000_000)
    begins = {e["name"]: e["ts"] for e in of(document, "b")}
    ends = {e["name"]: e["ts"] for e in of(document, "e")}
    assert begins == {"quick": 50_000_000, "slow": 50_000_000}
    assert ends == {"quick": 52_000_000, "slow": 55_000_000}
    counters = of(document, "C", "window tokens")
    assert [(e["ts"], e["args"]) for e in counters] == [
        (0, {"system": 1000, "task": 200, "tool_result": 0}),
        (55_000_000, {"system": 1000, "task": 200, "tool_result": 700}),
    ]
    assert [e["name"] for e in of(document, "i")] == ["correct: q1"]


def test_a_lost_detail_leads_from_its_rewrite_to_the_wrong_answer():
    """threshold-drift: rewritten before the call of turn 11, asked for in turn 49."""
    script = load("threshold-drift").script(0)
    events = played(script, "naive-rewrite")
    document = written(events, [script])
    (start,), (end,) = of(document, "s"), of(document, "f")
    assert (start["ts"], end["ts"]) == (10 * 20_000_000, 48 * 20_000_000)
    assert start["name"].startswith("confabulated: ")
    assert start["tid"] == end["tid"] == TRACKS["calls"]
    correct = written(played(script, "tag-or-drop"), [script])
    assert not of(correct, "s")


def test_a_call_longer_than_its_turn_ends_where_the_next_begins():
    settings = settings_of(turns=2, **{"clock.turn_seconds": 0.001})
    script = Script("brief", 0, settings, (Arrival(1, "task", Kind.TASK, 50_000, 1.0),))
    document = written(played(script, "no-op"), [script])
    check(document)
    first = of(document, "X", "call of turn 1")[0]
    assert (first["ts"], first["dur"]) == (0, 1000)
    assert first["args"]["prefill_seconds"] > 0.001


def test_the_same_run_gives_the_same_bytes():
    script = load("coding-agent", {"turns": 12}).script(3)
    events = played(script, "disciplined")
    one = json_document(trace(events, [script]))
    assert one == json_document(trace(iter(events), [script]))


def test_control_characters_stand_escaped_in_the_file():
    settings = settings_of(turns=1)
    name = "a\x1b[2J\x9b\u202e\x00\ud800"
    script = Script(name, 0, settings, (Arrival(1, name, Kind.TASK, 5, 1.0),))
    text = json_document(trace(played(script, "no-op"), [script]))
    assert text.isascii() and text.replace("\n", "").isprintable()


def test_the_window_is_followed_through_every_record():
    found = Resident()
    for event in (
        {"type": "arrive", "segment": "a", "kind": "file"},
        {"type": "admit", "segment": "a", "tokens": 100},
        {"type": "arrive", "segment": "b", "kind": "note"},
        {"type": "admit", "segment": "b", "tokens": 30},
        {"type": "refresh", "segment": "a", "after": 120},
        {"type": "rewrite", "sources": ["a"], "surrogate": "s1", "after": 12},
        {"type": "refresh", "segment": "a", "after": 0},
        {"type": "restore", "surrogate": "s1", "segment": "s2", "after": 40},
        {"type": "truncate", "segment": "b", "tokens": 30},
        {"type": "fetch", "segment": "a", "tokens": 110},
    ):
        found.take(event)
    assert +found.tokens == {"file": 110, "invented": 40}
