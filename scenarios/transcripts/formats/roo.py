"""Roo Code logs: the messages it showed, each after its time, and the lines of its logger.

``[TIME] {"ts", "type", "say", "text"}`` is one message of a task, spread over lines; a line
``taskStarted -> ID`` begins a task. The logger's JSONL, a line for each user message, answer and
tool call, does not hold what the tools returned; the calls stand in the answers' text, too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from scenarios.transcripts.clock import stamp
from scenarios.transcripts.events import Event, Message, ToolCall, ToolResult
from scenarios.transcripts.findings import Findings, counted, shown
from scenarios.transcripts.formats import say_ask
from scenarios.transcripts.formats.format import Format, Seen, Thread, objects, only
from scenarios.transcripts.formats.xml_calls import Call, with_path, written
from scenarios.transcripts.recording import Recording
from sim.segments import Kind

__all__ = ["FORMAT"]

_STAMPED = re.compile(r"\[\d{4}-\d\d-\d\dT[\d:.]+Z?\] (.*)", re.DOTALL)
_LOG = re.compile(r"^\[\d{4}-\d\d-\d\dT[\d:.]+Z?\] (?:\{|\w+ -> )", re.MULTILINE)
_NOTICE = re.compile(r"\w+ -> .*")
_TALK = ("user_message", "ai_response", "tool_call")


def _stamped(recording: Recording, findings: Findings) -> Iterator[tuple[int, Any]]:
    """Yield the JSON after each time, with the line it begins on."""
    held: list[str] = []
    begun = 0
    for place, line in recording.lines(findings):
        found = _STAMPED.fullmatch(line)
        if found is None:
            held.append(line)
            continue
        yield from _value(begun, held, findings)
        begun, held = place, [found[1]]
    yield from _value(begun, held, findings)


def _value(place: int, lines: list[str], findings: Findings) -> Iterator[tuple[int, Any]]:
    text = "\n".join(lines).strip()
    if not text or _NOTICE.fullmatch(text):
        return
    try:
        yield place, json.loads(text)
    except (ValueError, RecursionError):
        findings.breaks("a message that is not valid JSON", place or 1)


def _logged(records: Iterable[tuple[int, Any]], findings: Findings) -> Iterator[Event]:
    """Yield the events of a logger's lines: each answer is a model call."""
    reader = _Logged(findings)
    for place, record in records:
        if not isinstance(record, dict) or record.get("type") not in _TALK:
            what = record.get("type") if isinstance(record, dict) else record
            findings.breaks(f"a line of the unknown type {shown(what)}", place)
        else:
            yield from reader.take(place, record)
    reader.notes()


class _Logged:
    """Makes events of the logger's lines; a call is logged apart from the answer that writes it."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._call = ""
        self._open: list[tuple[int, float | None, Call, str]] = []
        """Calls whose results were due before the next answer."""
        self._apart: list[tuple[int, float | None, Call]] = []
        """Calls that were logged and stand in no answer yet."""
        self._tools = 0
        self._strays = 0

    def take(self, place: int, record: dict[str, Any]) -> Iterator[Event]:
        """Yield the events of one line."""
        time = stamp(record, ("timestamp",), place, self._findings)
        if record["type"] == "tool_call":
            self._logged_apart(place, time, record)
            return
        text = record.get("content")
        if not isinstance(text, str):
            self._findings.breaks(f"a line of type {record['type']!r} without content", place)
            return
        if record["type"] == "user_message":
            yield from self._results(place, time)
            yield Message(place, time, Kind.USER, text)
        else:
            yield from self._results(place, None)
            yield from self._answer(place, time, text, record.get("tool_calls"))

    def _logged_apart(self, place: int, time: float | None, record: dict[str, Any]) -> None:
        name, given = record.get("tool_name"), record.get("parameters")
        if not isinstance(name, str):
            self._findings.breaks("a tool call without a name", place)
            return
        call = Call(name, with_path(given if isinstance(given, dict) else {"input": given}))
        written_already = next((o for o in self._open if o[2].name == name), None)
        if written_already is None:
            self._apart.append((place, time, call))

    def _answer(self, place: int, time: float | None, text: str, calls: Any) -> Iterator[Event]:
        self._call = f"call {place}"
        parts = written(text)
        for part in parts:
            if isinstance(part, str):
                yield Message(place, time, Kind.ASSISTANT, part, 0, self._call)
        if not parts:
            yield Message(place, time, Kind.ASSISTANT, "", 0, self._call)
        found = [part for part in parts if isinstance(part, Call)] or list(_native(calls))
        for call in found:
            self._tools += 1
            identity = f"tool {self._tools}"
            self._open.append((place, time, call, identity))
            yield ToolCall(place, time, identity, call.name, call.arguments, self._call)
            mine = next((a for a in self._apart if a[2].name == call.name), None)
            if mine is not None:
                self._apart.remove(mine)

    def _results(self, place: int, time: float | None) -> Iterator[Event]:
        """Yield the results that are not in the record: calls whose answer ended before *place*."""
        for _, _, _, identity in self._open:
            yield ToolResult(place, time, identity, "")
        self._open = []
        self._strays += len(self._apart) if self._call else 0

    def notes(self) -> None:
        """Say what the record lacks."""
        if self._tools:
            count = counted(self._tools, "tool call", "tool calls")
            self._findings.note(f"{count}: the record holds no result, each counts as one token")
        if self._apart:
            count = counted(len(self._apart), "tool call", "tool calls")
            self._findings.note(f"{count} that no answer holds, left out")


def _native(calls: Any) -> Iterator[Call]:
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, dict) and isinstance(call.get("name"), str):
            given = call.get("input")
            yield Call(call["name"], with_path(given if isinstance(given, dict) else {}))


def _is_logged(seen: Seen) -> bool:
    found = objects(seen)
    return bool(found) and any(
        record.get("type") in _TALK and "session_id" in record and "timestamp" in record
        for record in found
    )


def _fits(seen: Seen) -> bool:
    head = seen.head.lstrip()
    if head.startswith("{"):
        return _is_logged(seen)
    return _LOG.match(head) is not None and '"ts"' in head


def _threads(recording: Recording, findings: Findings) -> Iterator[Thread]:
    if recording.head().lstrip().startswith("{"):
        return only(_logged(recording.records(findings), findings))
    return only(say_ask.events(_stamped(recording, findings), findings))


FORMAT = Format(
    "roo",
    "Roo Code log, messages after their times, or JSONL",
    _fits,
    _threads,
    usage="input, cached, written, output, where a log has them",
)
