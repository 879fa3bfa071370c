"""Roo Code logs: the messages it showed, each after its time, and the lines of its logger.

``[TIME] {"ts", "type", "say", "text"}`` is one message of a task, spread over lines; a line
``taskStarted -> ID`` begins a task. The logger's JSONL, a line for each user message, answer and
tool call, does not hold what the tools returned; the calls stand in the answers' text, too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from scenarios.transcripts.clock import stamp
from scenarios.transcripts.events import Event, Message, ToolCall, ToolResult
from scenarios.transcripts.findings import Findings, counted, shown
from scenarios.transcripts.formats import say_ask
from scenarios.transcripts.formats.format import Format, Seen, Thread, objects, only
from scenarios.transcripts.formats.sessions import sessions
from scenarios.transcripts.formats.xml_calls import Call, failed, with_path, written
from scenarios.transcripts.recording import Recording
from sim.segments import Kind

__all__ = ["FORMAT"]

_STAMPED = re.compile(r"\[\d{4}-\d\d-\d\dT[\d:.]+Z?\] (.*)", re.DOTALL)
_LOG = re.compile(r"^\[\d{4}-\d\d-\d\dT[\d:.]+Z?\] (?:\{|\w+ -> )", re.MULTILINE)
_NOTICE = re.compile(r"\w+ -> .*")
_NO_RESULT = "tool use recorded"
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
        kind = record.get("type") if isinstance(record, dict) else record
        if not isinstance(record, dict) or kind not in _TALK:
            findings.breaks(f"a line of the unknown type {shown(kind)}", place)
        else:
            yield from reader.take(place, record)
    yield from reader.finish()


@dataclass(slots=True, eq=False)
class _Opened:
    """A tool call, and the *result* that was logged with it, empty if none was."""

    place: int
    time: float | None
    call: Call
    result: str = ""


class _Logged:
    """Makes events of the logger's lines; a call is logged apart from the answer that writes it."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._call = ""
        self._open: list[_Opened] = []
        """Calls of the last answer."""
        self._apart: list[_Opened] = []
        """Calls that were logged and stand in no answer yet."""
        self._tools = 0
        self._missing = 0

    def take(self, place: int, record: dict[str, Any]) -> Iterator[Event]:
        """Yield the events of one line."""
        time = stamp(record, ("timestamp",), place, self._findings)
        if record["type"] == "tool_call":
            self._tool(place, time, record)
            return
        text = record.get("content")
        if not isinstance(text, str):
            self._findings.breaks(f"a line of type {record['type']!r} without content", place)
            return
        yield from self._settle()
        if record["type"] == "user_message":
            yield Message(place, time, Kind.USER, text)
        else:
            yield from self._answer(place, time, text, record.get("tool_calls"))

    def _tool(self, place: int, time: float | None, record: dict[str, Any]) -> None:
        name, given, result = (record.get(k) for k in ("tool_name", "parameters", "result"))
        if not isinstance(name, str):
            self._findings.breaks("a tool call without a name", place)
            return
        result = result if isinstance(result, str) and result != _NO_RESULT else ""
        if isinstance(given, str) and failed(given) and self._failed(name, given):
            return
        found = next((o for o in self._open if o.call.name == name and not o.result), None)
        if found is not None:
            found.result = result
            return
        call = Call(name, with_path(given if isinstance(given, dict) else {"input": given}))
        self._apart.append(_Opened(place, time, call, result))

    def _failed(self, name: str, error: str) -> bool:
        """Take in that the last call of *name* without a result failed; return if there is one.

        What went wrong is logged as a call of its own, with the error for parameters.
        """
        for opened in (*reversed(self._apart), *reversed(self._open)):
            if opened.call.name == name and not opened.result:
                opened.result = error
                return True
        return False

    def _answer(self, place: int, time: float | None, text: str, calls: Any) -> Iterator[Event]:
        self._call = f"call {place}"
        parts = written(text)
        said = "\n\n".join(part for part in parts if isinstance(part, str))
        yield Message(place, time, Kind.ASSISTANT, said, 0, self._call)
        for call in [p for p in parts if isinstance(p, Call)] or list(_native(calls)):
            mine = next((a for a in self._apart if a.call.name == call.name), None)
            if mine is not None:
                self._apart.remove(mine)
            self._open.append(_Opened(place, time, call, mine.result if mine else ""))

    def _settle(self, last: bool = False) -> Iterator[Event]:
        """Yield the last answer's calls; a result that was not logged is empty."""
        for opened in self._open:
            self._tools += 1
            identity, call = f"tool {self._tools}", opened.call
            unanswered = last and not opened.result
            yield ToolCall(
                opened.place,
                opened.time,
                identity,
                call.name,
                call.arguments,
                self._call,
                last=unanswered,
                as_text=True,
            )
            if not unanswered:
                self._missing += not opened.result
                failure = failed(opened.result)
                yield ToolResult(opened.place, None, identity, opened.result, failed=failure)
        self._open = []

    def finish(self) -> Iterator[Event]:
        """Yield what the record ends with, and say what it lacks."""
        yield from self._settle(last=True)
        note = self._findings.note
        if self._missing:
            count = counted(self._missing, "tool call", "tool calls")
            note(f"{count}: the record holds no result, each counts as one token")
        if self._apart:
            count = counted(len(self._apart), "tool call", "tool calls")
            note(f"{count} that no answer holds, left out")


def _native(calls: Any) -> Iterator[Call]:
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, dict) and isinstance(call.get("name"), str):
            given = call.get("input")
            yield Call(call["name"], with_path(given if isinstance(given, dict) else {}))


def _session(record: Any) -> str | None:
    session = record.get("session_id") if isinstance(record, dict) else None
    return session if isinstance(session, str) else None


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
        return (
            Thread(_logged(records, findings), name)
            for name, records in sessions(recording.records(findings), _session)
        )
    return only(say_ask.events(_stamped(recording, findings), findings))


FORMAT = Format(
    "roo",
    "Roo Code log, messages after their times, or JSONL",
    _fits,
    _threads,
    usage="input, cached, written, output, where a log has them",
)
