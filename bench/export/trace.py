"""A run as a trace in the Trace Event Format, which Perfetto and Chrome's tracing page open.

The format: "Trace Event Format" (Chromium project). Used of it are complete events (``X``), nested
asynchronous ones (``b``, ``e``) for tools that run at once, instants (``i``), counters (``C``),
flows (``s``, ``f``) and metadata (``M``). Times are whole microseconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from bench.export.resident import SORTS, Resident
from sim.script import Wait

if TYPE_CHECKING:
    from sim.script import Script

__all__ = ["TRACKS", "trace"]

Event = dict[str, Any]

TRACKS = {
    "turns": 1,
    "waits and passes": 2,
    "calls": 3,
    "tools": 4,
    "window": 5,
    "answers": 6,
}
"""Name of each track of an agent, and the thread id it has."""

_CATEGORIES = {tid: name for name, tid in TRACKS.items()} | {0: "counters"}
"""The category (``cat``) of what is on each track, by which a viewer selects."""
_TURNS, _PASSES, _CALLS, _TOOLS, _WINDOW, _ANSWERS = TRACKS.values()

_MICRO = 1_000_000
_FRONT = ("type", "time", "turn", "agent")
_INSTANTS: Mapping[str, tuple[int, str]] = {
    "refuse": (_WINDOW, "segment"),
    "write": (_WINDOW, "path"),
    "refresh": (_WINDOW, "segment"),
    "evict": (_WINDOW, "segment"),
    "rewrite": (_WINDOW, "surrogate"),
    "restore": (_WINDOW, "surrogate"),
    "reveal": (_WINDOW, "segment"),
    "truncate": (_WINDOW, "segment"),
    "rehydrate": (_WINDOW, "segment"),
    "fetch": (_WINDOW, "segment"),
    "bug": (_WINDOW, "rule"),
    "breach": (_WINDOW, "rule"),
    "pass": (_PASSES, ""),
    "ping": (_PASSES, ""),
    "change": (_PASSES, "what"),
    "maintain": (_PASSES, "surrogate"),
    "summary": (_PASSES, "surrogate"),
    "wasted": (_PASSES, "why"),
    "missed": (_ANSWERS, "segment"),
    "operator": (_ANSWERS, "operator"),
}
"""Records that are shown as instants: their track, and the value behind the type in their name."""


def trace(events: Iterable[Mapping[str, Any]], scripts: Sequence[Script]) -> dict[str, Any]:
    """Return the trace of a run: of its event records, as dicts, and of the *scripts* it played.

    Of several agents each record says whose it is, and *scripts* are in their order; each agent is
    a process of the trace. A policy that is not applicable leaves no records, and so no events.
    """
    own: list[list[Mapping[str, Any]]] = [[] for _ in scripts]
    for event in events:
        own[event.get("agent", 0)].append(event)
    found: list[Event] = []
    for agent, script in enumerate(scripts if own[0] else ()):
        found += _Agent(agent, script, len(scripts) > 1).trace(own[agent])
    metadata = [event for event in found if event["ph"] == "M"]
    timed = [event for event in found if event["ph"] != "M"]
    timed.sort(key=lambda e: (e["ts"], e["pid"], e["tid"], -e.get("dur", 0)))
    return {
        "displayTimeUnit": "ms",
        "otherData": {
            "scenario": scripts[0].scenario,
            "seed": scripts[0].seed,
            **({name: own[0][0][name] for name in ("policy", "price")} if own[0] else {}),
        },
        "traceEvents": [*metadata, *timed],
    }


def _micros(seconds: float) -> int:
    return round(seconds * _MICRO)


class _Agent:
    """Makes the trace of one agent from its records."""

    def __init__(self, agent: int, script: Script, several: bool) -> None:
        self._pid = agent + 1
        self._name = f"agent {agent}" if several else "agent"
        self._waits = _waits(script)
        self._resident = Resident()
        self._sorts: set[str] = set()
        self._began = 0.0
        """When the turn's own arrivals begin to come, after its wait."""
        self._calls: dict[int, int] = {}
        """When the first call of each turn began, in microseconds."""
        self._rewritten: dict[str, int] = {}
        """The turn in which each surrogate, or what was invented for it, was made."""
        self._number = 0

    def trace(self, events: Sequence[Mapping[str, Any]]) -> list[Event]:
        """Return every event of the trace, in the order of the records."""
        out = [*self._metadata(events[0])]
        for event in events:
            self._resident.take(event)
            out += self._shown(event)
        out += self._turns(events)
        return [*self._clipped(out)]

    def _metadata(self, run: Mapping[str, Any]) -> Iterator[Event]:
        title = f"{self._name}: {run['policy']} on {run['scenario']}, seed {run['seed']}"
        yield self._meta("process_name", 0, name=title)
        yield self._meta("process_sort_index", 0, sort_index=self._pid)
        for name, tid in TRACKS.items():
            yield self._meta("thread_name", tid, name=name)
            yield self._meta("thread_sort_index", tid, sort_index=tid)

    def _meta(self, what: str, tid: int, **args: Any) -> Event:
        return {"ph": "M", "name": what, "pid": self._pid, "tid": tid, "args": args}

    def _event(self, ph: str, name: str, tid: int, ts: int, **more: Any) -> Event:
        on = {"cat": _CATEGORIES[tid], "pid": self._pid, "tid": tid, "ts": ts}
        return {"ph": ph, "name": name, **on, **more}

    def _slice(
        self, name: str, tid: int, start: int, end: int, args: Mapping[str, Any] | None = None
    ) -> Event:
        return self._event("X", name, tid, start, dur=end - start, args=dict(args or {}))

    def _instant(self, name: str, tid: int, event: Mapping[str, Any]) -> Event:
        return self._event("i", name, tid, _micros(event["time"]), s="t", args=_args(event))

    # -- records ---------------------------------------------------------------------------

    def _shown(self, event: Mapping[str, Any]) -> Iterator[Event]:
        kind = event["type"]
        if kind in _INSTANTS:
            tid, value = _INSTANTS[kind]
            yield self._instant(f"{kind} {event[value]}" if value else kind, tid, event)
        match kind:
            case "turn":
                yield from self._wait(event)
            case "arrive":
                yield from self._tool(event)
            case "queue":
                end = _micros(event["time"])
                start = _micros(event["time"] - event["seconds"])
                yield self._slice("queue", _CALLS, start, end, _args(event))
            case "call":
                yield from self._call(event)
            case "rewrite":
                self._rewritten[event["surrogate"]] = event["turn"]
            case "restore":
                made = self._rewritten.get(event["surrogate"], event["turn"])
                self._rewritten[event["segment"]] = made
            case "answer":
                yield self._instant(f"{event['outcome']}: {event['query']}", _ANSWERS, event)
                yield from self._flow(event)
            case "act":
                says = "violation" if event["missing"] else "act"
                yield self._instant(f"{says}: {event['act']}", _ANSWERS, event)

    def _wait(self, event: Mapping[str, Any]) -> Iterator[Event]:
        seconds = self._waits.get((event["turn"], ""), 0.0)
        if event["branch"]:
            seconds += self._waits.get((event["turn"], event["branch"]), 0.0)
        self._began = event["time"] + seconds
        if seconds:
            start, end = _micros(event["time"]), _micros(self._began)
            yield self._slice("wait", _PASSES, start, end, {"seconds": seconds})

    def _tool(self, event: Mapping[str, Any]) -> Iterator[Event]:
        """Show how long what came has been under way; of what came at once there is nothing."""
        start, end = _micros(self._began), _micros(event["time"])
        if end <= start:
            return
        self._number += 1
        which = {"cat": "tool", "id": f"{self._pid}.{self._number}"}
        yield self._event("b", event["segment"], _TOOLS, start, **which, args=_args(event))
        yield self._event("e", event["segment"], _TOOLS, end, **which)

    def _call(self, event: Mapping[str, Any]) -> Iterator[Event]:
        start = _micros(event["time"])
        prefilled = _micros(event["time"] + event["prefill_seconds"])
        end = _micros(event["time"] + event["prefill_seconds"] + event["decode_seconds"])
        self._calls.setdefault(event["turn"], start)
        name = f"call of turn {event['turn']}" + (", extra" if event["extra"] else "")
        yield self._slice(name, _CALLS, start, end, _args(event))
        yield self._slice("prefill", _CALLS, start, prefilled)
        yield self._slice("decode", _CALLS, prefilled, end)
        window = {sort: self._resident.tokens[sort] for sort in SORTS}
        self._sorts.update(sort for sort, tokens in window.items() if tokens)
        yield self._event("C", "window tokens", 0, start, args=window)
        billed = {"cached": event["read"], "written": event["written"], "plain": event["plain"]}
        yield self._event("C", "input tokens", 0, start, args=billed)

    def _flow(self, event: Mapping[str, Any]) -> Iterator[Event]:
        """Lead from the call before which a surrogate was made to that with its wrong answer."""
        made = self._rewritten.get(event["segment"] or "")
        if event["outcome"] == "correct" or made is None:
            return
        turn = event["turn"]
        if made not in self._calls or turn not in self._calls or made == turn:
            return
        self._number += 1
        which = {"cat": "lost", "id": f"{self._pid}.{self._number}"}
        name = f"{event['outcome']}: {event['query']}"
        yield self._event("s", name, _CALLS, self._calls[made], **which)
        yield self._event("f", name, _CALLS, self._calls[turn], **which, bp="e")

    # -- afterwards ------------------------------------------------------------------------

    def _turns(self, events: Sequence[Mapping[str, Any]]) -> Iterator[Event]:
        begins = [event for event in events if event["type"] == "turn"]
        ends = [*(event["time"] for event in begins[1:]), events[-1]["time"]]
        for event, end in zip(begins, ends, strict=True):
            start = _micros(event["time"])
            yield self._slice(f"turn {event['turn']}", _TURNS, start, _micros(end), _args(event))

    def _clipped(self, events: Iterable[Event]) -> Iterator[Event]:
        """Yield *events* so that calls do not overlap, with counters of what there ever was.

        Under a fixed length of turn a call can take longer than its turn: it is shown as ending
        where the next one begins, and its arguments have its seconds.
        """
        events = list(events)
        outer = sorted((e for e in events if _outer(e)), key=lambda e: e["ts"])
        limits = {id(one): other["ts"] for one, other in pairwise(outer)}
        limit = None
        for event in events:
            if event["ph"] == "X" and event["tid"] == _CALLS:
                if _outer(event):
                    limit = limits.get(id(event))
                event = _until(event, limit)
            elif event["ph"] == "C" and event["name"] == "window tokens":
                args = {sort: event["args"][sort] for sort in SORTS if sort in self._sorts}
                event = {**event, "args": args}
            yield event


def _outer(event: Event) -> bool:
    """Whether *event* is a call or a queue, and no part of one."""
    parts = ("prefill", "decode")
    return event["ph"] == "X" and event["tid"] == _CALLS and event["name"] not in parts


def _until(event: Event, limit: int | None) -> Event:
    if limit is None or event["ts"] + event["dur"] <= limit:
        return event
    start = min(event["ts"], limit)
    return {**event, "ts": start, "dur": limit - start}


def _args(event: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in event.items() if name not in _FRONT}


def _waits(script: Script) -> dict[tuple[int, str], float]:
    """Return the seconds of wait before each turn, by turn and by branch, empty for all."""
    found: dict[tuple[int, str], float] = {}
    for stimulus in script.stimuli:
        if isinstance(stimulus, Wait):
            key = stimulus.turn, ""
            found[key] = found.get(key, 0.0) + stimulus.seconds
    for attempt in script.attempts:
        for branch, stimuli in (("ok", attempt.ok), ("failed", attempt.failed)):
            seconds = sum(s.seconds for s in stimuli if isinstance(s, Wait))
            if seconds:
                found[attempt.turn, branch] = seconds
    return found
