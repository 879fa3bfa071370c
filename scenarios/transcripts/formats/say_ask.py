"""What Cline and Roo Code showed their user: ``say`` and ``ask`` messages, and what they tell.

``api_req_started`` begins a model call; its text is JSON that bears what came to the model, and
its usage once the call is over. Newer versions leave the first out: then of the results only what
was shown is known. What the model wrote follows: ``say`` text and reasoning, and an ``ask`` for
each tool. A message that was streamed is repeated under one ``ts``, and the last one counts.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from scenarios.transcripts.clock import stamp
from scenarios.transcripts.content import tokens_of
from scenarios.transcripts.events import (
    Compaction,
    Event,
    Message,
    ToolCall,
    ToolResult,
    Usage,
)
from scenarios.transcripts.findings import Findings, counted, shown
from scenarios.transcripts.formats.xml_calls import Came, came, failed
from sim.segments import Kind

__all__ = ["events", "is_shown"]

_NAMES = {
    "appliedDiff": "apply_diff",
    "codebaseSearch": "codebase_search",
    "editedExistingFile": "replace_in_file",
    "fetchInstructions": "fetch_instructions",
    "finishTask": "attempt_completion",
    "insertContent": "insert_content",
    "listCodeDefinitionNames": "list_code_definition_names",
    "listFilesRecursive": "list_files",
    "listFilesTopLevel": "list_files",
    "newFileCreated": "write_to_file",
    "newTask": "new_task",
    "readFile": "read_file",
    "searchAndReplace": "search_and_replace",
    "searchFiles": "search_files",
    "switchMode": "switch_mode",
    "updateTodoList": "update_todo_list",
}
_WHOLE = "newFileCreated"
_SHOWN_ONLY = (
    "isOutsideWorkspace",
    "isProtected",
    "reason",
    "tool",
    "operationIsLocatedInWorkspace",
)
_FILES = frozenset(
    {"apply_diff", "insert_content", "read_file", "replace_in_file", "write_to_file"}
)
_LOADING = "Loading..."
_ASKS = {
    "browser_action_launch": ("browser_action", "url"),
    "command": ("execute_command", "command"),
    "followup": ("ask_followup_question", "question"),
    "plan_mode_respond": ("plan_mode_respond", "response"),
}
_RESULTS = ("command_output", "mcp_server_response", "browser_action_result")


def is_shown(record: Any) -> bool:
    """Whether *record* is such a message."""
    if not isinstance(record, dict) or "ts" not in record:
        return False
    kind = record.get("type")
    return kind in ("say", "ask") and isinstance(record.get(kind), str)


def events(messages: Iterable[tuple[int, Any]], findings: Findings) -> Iterator[Event]:
    """Yield the events of numbered messages."""
    reader = _Reader(findings)
    for place, message in _settled(messages, findings):
        yield from reader.take(place, message)
    yield from reader.finish()


def _settled(
    messages: Iterable[tuple[int, Any]], findings: Findings
) -> list[tuple[int, dict[str, Any]]]:
    """Return each message once, as it was last, where it first stood."""
    found: dict[Any, tuple[int, dict[str, Any]]] = {}
    streamed = 0
    for place, message in messages:
        if not is_shown(message):
            findings.breaks("a message that is neither said nor asked", place)
            continue
        kind = message["type"]
        ts = message["ts"]
        key = (kind, message[kind], ts if isinstance(ts, int | float | str) else place)
        if key in found:
            streamed += 1
            place = found[key][0]
        found[key] = (place, message)
    if streamed:
        findings.note(f"{counted(streamed, 'message', 'messages')} streamed or repeated, told once")
    return list(found.values())


@dataclass(slots=True)
class _Pending:
    """A tool that was asked for and waits for its result; *shown* is what the user saw of that."""

    place: int
    time: float | None
    name: str
    arguments: Any
    shown: list[str] = field(default_factory=list)


class _Reader:
    """Makes events of the settled messages of one task."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._call = ""
        self._requests = False
        """The calls bear what came to the model."""
        self._pending: list[_Pending] = []
        self._shown: list[Message] = []
        """What the user said since the last call, in case the next one does not bear it."""
        self._tools = 0
        self._missing = 0
        self._left: Counter[str] = Counter()

    def take(self, place: int, message: dict[str, Any]) -> Iterator[Event]:
        """Yield the events of one message."""
        time = stamp(message, ("ts",), place, self._findings)
        kind, what = message["type"], message[message["type"]]
        text = message.get("text")
        text = text if isinstance(text, str) else ""
        if kind == "ask":
            self._ask(place, time, what, text)
        elif what == "api_req_started":
            yield from self._request(place, time, text)
        elif what in ("text", "task", "user_feedback", "reasoning"):
            yield from self._say(place, time, what, text)
        elif what == "completion_result":
            self._await(place, time, "attempt_completion", {"result": text})
        elif what in _RESULTS and self._pending:
            self._pending[-1].shown.append(text)
        elif what == "condense_context":
            yield from self._condensed(place, time, message.get("contextCondense"))
        else:
            self._left[what] += 1

    def _say(self, place: int, time: float | None, what: str, text: str) -> Iterator[Event]:
        if not text:
            return
        if what == "reasoning" and self._call:
            yield Message(place, time, Kind.THINKING, text, 0, self._call)
        elif what == "text" and self._call:
            yield Message(place, time, Kind.ASSISTANT, text, 0, self._call)
        else:
            self._shown.append(Message(place, time, Kind.USER, text))

    def _ask(self, place: int, time: float | None, what: str, text: str) -> None:
        if what in _ASKS:
            name, key = _ASKS[what]
            self._await(place, time, name, {key: text} if text else {})
        elif what == "tool":
            self._await(place, time, *self._tool(place, text))
        elif what == "use_mcp_server":
            data = _object(text)
            called = data.get("toolName")
            name = called if isinstance(called, str) and called else "use_mcp_tool"
            self._await(place, time, name, data.get("arguments", data))
        elif what == "command_output" and self._pending:
            self._pending[-1].shown.append(text)
        else:
            self._left[f"ask {what}"] += 1

    def _tool(self, place: int, text: str) -> tuple[str, Any, str]:
        """Return a tool's name, what is told of its arguments, and of its result."""
        data = _object(text)
        told = data.get("tool")
        if not isinstance(told, str) or not told:
            self._findings.breaks("a tool that is asked for without a name", place, "called tool")
            told = "tool"
        seen = data.get("content")
        found = {k: v for k, v in data.items() if k not in _SHOWN_ONLY and v not in (None, "")}
        if told != _WHOLE:
            found.pop("content", None)
        batch = found.pop("batchFiles", None)
        if isinstance(batch, list):
            found["paths"] = [f.get("path") for f in batch if isinstance(f, dict)]
        result = seen if isinstance(seen, str) and told not in (_WHOLE, "readFile") else ""
        return _NAMES.get(told, told), found, result

    def _await(
        self, place: int, time: float | None, name: str, arguments: Any, result: str = ""
    ) -> None:
        if self._call:
            pending = _Pending(place, time, name, arguments, [result] if result else [])
            self._pending.append(pending)
        else:
            self._left[f"{name} before the first call"] += 1

    # -- calls -------------------------------------------------------------------------------

    def _request(self, place: int, time: float | None, text: str) -> Iterator[Event]:
        """Yield what came to the model since the last call, and the usage of this one."""
        data = _object(text)
        request = data.get("request")
        if isinstance(request, str) and (told := request.rstrip().removesuffix(_LOADING).rstrip()):
            self._requests = True
            yield from self._came(place, time, told)
        else:
            yield from self._unanswered(place, time)
            yield from self._shown
        self._shown = []
        self._call = f"call {place}"
        yield self._usage(place, time, data)

    def _came(self, place: int, time: float | None, text: str) -> Iterator[Event]:
        names = [pending.name for pending in self._pending]
        parts = came([text], names)
        for part in parts:
            if part.kind == "result" and self._call:
                pending = self._pending.pop(0) if self._pending else None
                yield from self._answered(place, time, part, pending)
        yield from self._unanswered(place, time)
        for part in parts:
            if part.kind == "user" or (part.kind == "result" and not self._call):
                yield Message(place, time, Kind.USER, part.text)
            elif part.kind == "details":
                yield Message(place, time, Kind.USER, part.text, injected=True)

    def _answered(
        self, place: int, time: float | None, part: Came, pending: _Pending | None
    ) -> Iterator[Event]:
        """Yield a result with its call; one that was not shown is known by the result's header."""
        if pending is None:
            key = "path" if part.tool in _FILES else "input"
            pending = _Pending(
                place, None, part.tool, {key: part.argument} if part.argument else {}
            )
        self._tools += 1
        identity = f"tool {self._tools}"
        arguments = pending.arguments
        if part.tool in _FILES and isinstance(arguments, dict) and "paths" not in arguments:
            arguments = {"path": part.argument, **arguments} if part.argument else arguments
        yield ToolCall(
            pending.place, pending.time, identity, part.tool, arguments, self._call, as_text=True
        )
        yield ToolResult(place, time, identity, part.text, failed=failed(part.text))

    def _unanswered(self, place: int, time: float | None) -> Iterator[Event]:
        """Yield the calls whose results are not told, with what was shown of them."""
        for pending in self._pending:
            self._tools += 1
            identity = f"tool {self._tools}"
            text = "\n".join(t for t in pending.shown if t)
            self._missing += not text
            yield ToolCall(
                pending.place, pending.time, identity, pending.name, pending.arguments, self._call
            )
            yield ToolResult(place, time, identity, text)
        self._pending = []

    def _usage(self, place: int, time: float | None, data: dict[str, Any]) -> Usage:
        """Return a usage; ``tokensIn`` leaves out what the cache held, but by one protocol."""
        plain, read, written = (
            tokens_of(data, k, place, self._findings)
            for k in ("tokensIn", "cacheReads", "cacheWrites")
        )
        prompt = plain
        if plain is not None and data.get("apiProtocol") != "openai":
            prompt = plain + (read or 0) + (written or 0)
        output = tokens_of(data, "tokensOut", place, self._findings)
        return Usage(place, time, self._call, prompt or None, read, written, output)

    def _condensed(self, place: int, time: float | None, data: Any) -> Iterator[Event]:
        data = data if isinstance(data, dict) else {}
        summary = data.get("summary")
        if not self._call:
            self._left["condense_context"] += 1
            return
        before = tokens_of(data, "prevContextTokens", place, self._findings)
        yield Compaction(place, time, "auto", before=before)
        if isinstance(summary, str) and summary:
            yield Message(place, time, Kind.USER, summary, injected=True, summary=True)

    def finish(self) -> Iterator[Event]:
        """Yield the calls that the record ends with, and say what it does not hold."""
        for pending in self._pending:
            self._tools += 1
            identity, name = f"tool {self._tools}", pending.name
            yield ToolCall(
                pending.place,
                pending.time,
                identity,
                name,
                pending.arguments,
                self._call,
                last=not pending.shown,
            )
            if pending.shown:
                text = "\n".join(pending.shown)
                yield ToolResult(pending.place, pending.time, identity, text)
        note = self._findings.note
        if self._missing:
            count = counted(self._missing, "tool call", "tool calls")
            note(f"{count} whose result is not told: it counts as one token")
        if self._left:
            kinds = ", ".join(f"{n} {shown(kind)}" for kind, n in sorted(self._left.items()))
            note(f"messages that are no part of a prompt: {kinds}")


def _object(text: str) -> dict[str, Any]:
    """Return the JSON object that *text* is, an empty one if it is none."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}
