"""OpenHands events: the list of a session's events, or the runs of an evaluation, one a line.

A run of ``output.jsonl`` has its events in ``history``; old ones pair each action with its
observation. Both generations of events are read: actions and observations, and those that bear a
``kind``. An agent that is delegated to has a window, hence a thread, of its own. Where the model
was shown something else than the event holds, what it was shown counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from scenarios.transcripts.events import Event
from scenarios.transcripts.findings import Findings
from scenarios.transcripts.formats import openhands_v0, openhands_v1
from scenarios.transcripts.formats.format import Format, Seen, Thread, objects
from scenarios.transcripts.formats.openhands_v0 import Place
from scenarios.transcripts.formats.pairing import distinct
from scenarios.transcripts.recording import Recording

__all__ = ["FORMAT", "is_history", "is_run"]

_LISTS = ("history", "trajectory", "events", "items", "results")
"""Where a document may hold its events."""
_NAMES = ("instance_id", "id", "question_id", "conversation_id", "task_id")
_NAME = 60
_READ = frozenset({"history", "instruction", *_NAMES})


def _is_event(value: Any) -> bool:
    return openhands_v0.is_event(value) or openhands_v1.is_event(value)


def is_history(value: Any) -> bool:
    """Whether a JSON value is a list of events, or of an action and its observation each."""
    if not isinstance(value, list):
        return False
    first = [each for each in value[:20] if each is not None]
    return any(
        _is_event(each) or (isinstance(each, list) and bool(each) and all(map(_is_event, each)))
        for each in first
    )


def is_run(record: Any) -> bool:
    """Whether a JSON value is a run of an evaluation, with its history."""
    return isinstance(record, dict) and is_history(record.get("history"))


class _Lines(Findings):
    """Names the broken lines of a file whose places are events."""

    def __init__(self, findings: Findings) -> None:
        super().__init__(findings.file, strict=findings.strict)
        self._findings = findings

    def breaks(self, what: str, place: int | None, done: str = "skipped") -> None:
        self._findings.breaks(f"line {place}: {what}", None, done)


def _flat(history: list[Any], findings: Findings) -> list[Place]:
    """Return the events of a history with their numbers."""
    found: list[Place] = []
    number = 0
    for each in history:
        for event in each if isinstance(each, list) else [each]:
            number += 1
            if isinstance(event, dict):
                found.append((number, event))
            elif event is not None:
                findings.breaks("an event that is not an object", number)
    return found


def _of(history: list[Any], run: dict[str, Any], name: str, findings: Findings) -> Iterator[Thread]:
    """Yield the threads of one history."""
    events = _flat(history, findings)
    if any(map(openhands_v1.is_event, (event for _, event in events))):
        yield Thread(_noted(openhands_v1.read(events, findings), run, findings), name)
        return
    for agent, part in openhands_v0.threads(events):
        read = distinct(openhands_v0.read(part, findings, run, not agent), findings)
        whole_name = "/".join(filter(None, (name, agent)))
        yield Thread(read if agent else _noted(read, run, findings), whole_name)


def _noted(events: Iterator[Event], run: dict[str, Any], findings: Findings) -> Iterator[Event]:
    """Yield the events of a run, and say what else its line holds."""
    yield from events
    others = [key for key, value in run.items() if key not in _READ and value not in (None, "")]
    if others:
        names = ", ".join(re.sub(r"[^\w.-]", "?", key[:_NAME]) for key in others[:12])
        more = f" and {len(others) - 12} more" if len(others) > 12 else ""
        findings.note(f"fields of the run that are no part of a prompt: {names}{more}")


def _name(run: dict[str, Any]) -> str:
    """Return what a run calls itself, empty if nothing."""
    issue = run.get("issue")
    if isinstance(issue, dict):
        parts = [issue.get(key) for key in ("owner", "repo", "number")]
        value: Any = "-".join(str(p) for p in parts if isinstance(p, str | int))
    else:
        value = next((run[key] for key in _NAMES if isinstance(run.get(key), str | int)), "")
    return re.sub(r"[^\w.-]+", "-", str(value)).strip("-")[:_NAME]


def _runs(recording: Recording, findings: Findings) -> Iterator[Thread]:
    """Yield the threads of each line, one line held at a time."""
    used: set[str] = set()
    for place, record in recording.records(_Lines(findings)):
        if not isinstance(record, dict) or not isinstance(record.get("history"), list):
            findings.breaks(f"line {place}: a run without history", None)
            continue
        name = _name(record) or f"line-{place}"
        name = f"{name}-{place}" if name in used else name
        used.add(name)
        yield from _of(record["history"], record, name, findings)


def _history(document: Any) -> list[Any] | None:
    """Return the events of a document, None if it holds none."""
    if isinstance(document, dict):
        return next((document[key] for key in _LISTS if is_history(document.get(key))), None)
    return document if is_history(document) else None


def _lined(records: list[Any]) -> bool:
    return any(map(_is_event, records))


def _threads(recording: Recording, findings: Findings) -> Iterator[Thread]:
    sample = recording.sample()
    if any(map(is_run, sample)):
        yield from _runs(recording, findings)
    elif _lined(sample):
        records = [record for _, record in recording.records(_Lines(findings))]
        yield from _of(records, {}, "", findings)
    else:
        document = recording.document()
        run = document if isinstance(document, dict) else {}
        yield from _of(_history(document) or [], run, "", findings)


def _fits(seen: Seen) -> bool:
    found = objects(seen)
    if any(map(is_run, found)) or _lined(found):
        return True
    return seen.head.lstrip().startswith(("[", "{")) and _history(seen.document) is not None


FORMAT = Format(
    "openhands-events",
    "OpenHands events, JSON; the runs of an evaluation, JSONL",
    _fits,
    _threads,
    unit="event",
    usage="input, cached, written, output, where an event has the model's response",
)
