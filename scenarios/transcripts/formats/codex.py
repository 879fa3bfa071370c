"""Codex rollout JSONL: one line a record, ``{"timestamp", "type", "payload"}``.

``response_item`` records are what prompts are made of, ``event_msg`` what the screen showed. A
model call has no id: it is what the model wrote in one piece, and a ``token_count`` with a new
total stands for each call, ahead of its items or behind them by version. Where the tokens of a
thought are counted, they are its size: the thought itself is encrypted, and its summary is in no
prompt.

The output of a shell command is recorded as JSON in a string; the model gets it as text with the
exit code and the wall time in front. Searches that ran on the model's server leave no result.
A ``compacted`` record replaces the history by what it holds, or in older versions by its summary
and the user's last messages, 20,000 tokens of them at four bytes each.

Rollouts before September 2025 have the items bare, one a line. Source of the shapes and of the
rules: the protocol and the rollout recorder of the Codex command line.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from scenarios.transcripts.clock import stamp
from scenarios.transcripts.content import (
    arguments_of,
    compact,
    text_and_images,
    unknown_kind,
    whole,
)
from scenarios.transcripts.events import (
    Compaction,
    ContextWindow,
    Event,
    Message,
    ToolCall,
    ToolResult,
)
from scenarios.transcripts.findings import Findings, counted, shown
from scenarios.transcripts.formats.codex_calls import Calls
from scenarios.transcripts.formats.format import Format, Seen, Thread, objects
from scenarios.transcripts.formats.sessions import Record, sessions
from scenarios.transcripts.models import model_of
from scenarios.transcripts.recording import Recording
from sim.segments import Kind

__all__ = ["FORMAT"]

_RECORDS = frozenset({"compacted", "event_msg", "response_item", "session_meta", "turn_context"})
_CALLS = frozenset({"custom_tool_call", "function_call", "local_shell_call", "tool_search_call"})
_RESULTS = frozenset({"custom_tool_call_output", "function_call_output", "tool_search_output"})
_HOSTED = frozenset({"image_generation_call", "web_search_call"})
_SUMMARIES = frozenset({"compaction", "compaction_summary", "context_compaction"})
_ITEMS = _CALLS | _RESULTS | _HOSTED | _SUMMARIES | {"ghost_snapshot", "message", "reasoning"}
_BY_MODEL = _CALLS | _HOSTED | {"reasoning"}
_ROLES = {"user": Kind.USER, "developer": Kind.SYSTEM, "system": Kind.SYSTEM}
_INJECTED = re.compile(
    r"\s*(?:<(?:[a-z]+_)*(?:aborted|command|context|instructions|mode|notification|personality|"
    r"prompt|skill|spec|switch|update)\b|<permissions |# AGENTS\.md instructions)",
    re.IGNORECASE,
)
"""How a message of the user's begins that the harness wrote."""
_FAILED = re.compile(
    r"\s*(?:apply_patch verification failed|failed to parse function arguments|"
    r"exec_command failed|(?:Process exited with code|Exit code:) -?[1-9])",
    re.IGNORECASE,
)
_KEPT_BYTES = 4 * 20_000
_KINDS = 30
"""Kinds of records named one by one."""
_TIMES = ("timestamp",)


class _Session:
    """Reads the records of one session."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._calls = Calls(findings)
        self._window: int | None = None
        self._task: str | None = None
        self._users: list[str] = []
        """What the user wrote, the first message apart: a compaction keeps the last of it."""
        self._first: list[Event] | None = []
        """What leads up to the first call: its system prompt may stand behind it."""
        self._system = False
        self._cwd: str | None = None
        self._left: Counter[str] = Counter()
        self._hosted: Counter[str] = Counter()
        self._rolled_back = 0
        self._shells: set[str] = set()

    def take(self, place: int, record: Any) -> Iterator[Event]:
        """Yield the events of one record; those before the first call, system prompt first."""
        for event in self._take(place, record):
            if self._first is None:
                yield event
            elif _opens(event):
                yield from self._opening()
                yield event
            else:
                self._first.append(event)

    def finish(self) -> Iterator[Event]:
        """Yield what was held back, and say what the session holds besides."""
        rest = list(self._calls.finish())
        yield from self._opening()
        yield from rest
        self._notes()

    def _opening(self) -> Iterator[Event]:
        first, self._first = self._first or [], None
        yield from sorted(first, key=_rank)

    def _take(self, place: int, record: Any) -> Iterator[Event]:
        if not isinstance(record, dict):
            self._findings.breaks("a record that is not an object", place)
            return
        kind, payload = record.get("type"), record.get("payload")
        if kind is None and _is_old_header(record):
            yield from self._meta(record, place)
            return
        if kind is None and "record_type" in record:
            self._left[shown(record["record_type"]).strip("'")] += 1
            return
        if isinstance(kind, str) and kind in _ITEMS and payload is None:
            kind, payload = "response_item", record
        if not isinstance(kind, str) or kind not in _RECORDS:
            self._findings.breaks(unknown_kind(kind, "record"), place)
            return
        if not isinstance(payload, dict):
            self._findings.breaks(f"a record of type {kind!r} without payload", place)
            return
        time = stamp(record, _TIMES, place, self._findings)
        match kind:
            case "session_meta":
                yield from self._meta(payload, place)
            case "turn_context":
                yield from self._instructions(payload.get("base_instructions"), place)
                self._cwd = _folder(payload) or self._cwd
                yield from model_of(payload, place, time)
                self._left[kind] += 1
            case "event_msg":
                yield from self._event(payload, place, time)
            case "compacted":
                yield from self._compacted(payload, place, time)
            case _:
                yield from self._item(payload, place, time)

    # -- books -----------------------------------------------------------------------------

    def _meta(self, payload: dict[str, Any], place: int) -> Iterator[Event]:
        self._left["session_meta"] += 1
        self._cwd = _folder(payload) or self._cwd
        tools = payload.get("dynamic_tools")
        if isinstance(tools, list) and tools and self._first is not None:
            yield Message(place, None, Kind.TOOLS, compact(tools))
        yield from self._instructions(payload.get("base_instructions"), place)

    def _instructions(self, given: Any, place: int) -> Iterator[Event]:
        """Yield the system prompt, which later records repeat."""
        text = given.get("text") if isinstance(given, dict) else given
        if isinstance(text, str) and text and not self._system and self._first is not None:
            self._system = True
            yield Message(place, None, Kind.SYSTEM, text)

    def _event(self, payload: dict[str, Any], place: int, time: float | None) -> Iterator[Event]:
        kind = payload.get("type")
        if not isinstance(kind, str):
            self._findings.breaks(unknown_kind(kind, "screen event"), place)
            return
        self._left[shown(kind).strip("'")] += 1
        info = payload.get("info")
        info = info if isinstance(info, dict) else {}
        window = whole(info.get("model_context_window", payload.get("model_context_window")))
        if window and window != self._window:
            self._window = window
            yield ContextWindow(place, time, window)
        if kind == "token_count" and info:
            yield from self._calls.count(info, place, time)
        elif kind == "thread_rolled_back":
            self._rolled_back += whole(payload.get("num_turns")) or 1

    def _compacted(
        self, payload: dict[str, Any], place: int, time: float | None
    ) -> Iterator[Event]:
        yield from self._calls.compacted()
        history = payload.get("replacement_history")
        texts, hidden = self._users, 0
        if isinstance(history, list):
            texts, hidden = self._replacement(history, place)
        elif isinstance(payload.get("message"), str):
            texts = [*texts, payload["message"]]
        else:
            self._findings.breaks("a compaction without a summary", place, "taken to leave none")
        text = "\n".join(filter(None, texts))
        tokens = (len(text.encode("utf-8", "replace")) + hidden + 3) // 4 if hidden else None
        yield Compaction(place, time, "unknown", before=self._calls.last_prompt)
        if text or hidden:
            yield Message(place, time, Kind.USER, text, injected=True, summary=True, tokens=tokens)

    def _replacement(self, history: list[Any], place: int) -> tuple[list[str], int]:
        """Return the texts that a history was replaced by, and the bytes of encrypted ones."""
        texts, hidden = [], 0
        for item in history:
            item = item if isinstance(item, dict) else {}
            kind, role = item.get("type"), item.get("role")
            if kind == "message" and role in ("user", "assistant"):
                text, _ = text_and_images(item.get("content"), place, self._findings)
                if text != self._task:
                    texts.append(text)
            elif isinstance(data := item.get("encrypted_content"), str):
                hidden += len(data) * 3 // 4
            elif kind not in ("message", "ghost_snapshot"):
                self._findings.breaks(unknown_kind(kind, "replaced item"), place)
        return texts, hidden

    # -- items -----------------------------------------------------------------------------

    def _item(self, item: dict[str, Any], place: int, time: float | None) -> Iterator[Event]:
        kind = item.get("type")
        if not isinstance(kind, str) or kind not in _ITEMS:
            self._findings.breaks(unknown_kind(kind, "response item"), place)
        elif _is_written(item):
            call, time = self._calls.wrote(place, time)
            for event in self._written(kind, item, place, time, call):
                yield from self._calls.hold(event)
        elif kind == "message":
            yield from self._calls.ended()
            yield from self._heard(item, place, time)
        elif kind in _RESULTS:
            yield from self._calls.ended(message=False)
            yield from self._result(kind, item, place, time)
        else:
            self._left[kind] += 1

    def _heard(self, item: dict[str, Any], place: int, time: float | None) -> Iterator[Event]:
        role = item.get("role")
        kind = _ROLES.get(role) if isinstance(role, str) else None
        if kind is None:
            self._findings.breaks(f"a message of the unknown role {shown(role)}", place)
            return
        text, images = text_and_images(item.get("content"), place, self._findings)
        injected = kind is Kind.USER and _INJECTED.match(text) is not None
        if kind is Kind.USER and not injected:
            self._keep(text)
        if text or images:
            yield Message(place, time, kind, text, images, injected=injected)

    def _keep(self, text: str) -> None:
        """Remember what the user wrote, as far as a compaction would keep it."""
        if self._task is None:
            self._task = text
            return
        self._users.append(text[-_KEPT_BYTES:])
        while sum(len(t.encode("utf-8", "replace")) for t in self._users) > _KEPT_BYTES:
            self._users.pop(0)

    def _written(
        self, kind: str, item: dict[str, Any], place: int, time: float | None, call: str
    ) -> Iterator[Message | ToolCall]:
        if kind == "message":
            text, images = text_and_images(item.get("content"), place, self._findings)
            if images:
                self._findings.breaks("an image in what the model wrote", place)
            if text:
                yield Message(place, time, Kind.ASSISTANT, text, 0, call)
        elif kind == "reasoning":
            yield self._thought(item, place, time, call)
        elif kind in _HOSTED:
            self._hosted[kind] += 1
            asked = item.get("action") or item.get("revised_prompt")
            if asked:
                text = asked if isinstance(asked, str) else compact(asked)
                yield Message(place, time, Kind.ASSISTANT, text, 0, call)
        else:
            yield from self._called(kind, item, place, time, call)

    def _thought(self, item: dict[str, Any], place: int, time: float | None, call: str) -> Message:
        """Return a thought: its text if that is recorded, else its length and its summary."""
        data = item.get("encrypted_content")
        text = "\n".join(_texts(item.get("content"))) or "\n".join(_texts(item.get("summary")))
        hidden = len(data) * 3 // 4 if isinstance(data, str) else 0
        return Message(place, time, Kind.THINKING, "" if hidden else text, 0, call, hidden)

    def _called(
        self, kind: str, item: dict[str, Any], place: int, time: float | None, call: str
    ) -> Iterator[ToolCall]:
        identity = item.get("call_id")
        identity = item.get("id") if identity is None else identity
        name, arguments = item.get("name"), item.get("arguments")
        if kind == "local_shell_call":
            name, arguments = "local_shell", item.get("action")
        elif kind == "tool_search_call":
            name = "tool_search"
        elif kind == "custom_tool_call":
            arguments = item.get("input")
        if not isinstance(identity, str) or not isinstance(name, str):
            self._findings.breaks("a tool call without id or name", place)
            return
        if kind == "function_call" and isinstance(arguments, str):
            arguments = arguments_of(arguments, place, self._findings)
        yield ToolCall(place, time, identity, name, arguments, call, cwd=self._cwd)

    def _result(
        self, kind: str, item: dict[str, Any], place: int, time: float | None
    ) -> Iterator[Event]:
        identity, output = item.get("call_id"), item.get("output")
        if not isinstance(identity, str):
            self._findings.breaks("a tool result that names no call", place)
            return
        failed = False
        if kind == "tool_search_output":
            output = compact(item.get("tools"))
        elif isinstance(output, dict):
            failed = output.get("success") is False
            output = output.get("content_items") or output.get("content")
        if isinstance(output, str):
            text, failed_too = _unwrapped(output)
            failed, images = failed or failed_too, 0
        else:
            text, images = text_and_images(output, place, self._findings)
        yield ToolResult(place, time, identity, text, images, failed)

    def _notes(self) -> None:
        note = self._findings.note
        if self._hosted:
            kinds = ", ".join(f"{n} {kind}" for kind, n in sorted(self._hosted.items()))
            note(f"what ran on the model's server left no result in the record: {kinds}")
        if self._calls.lost:
            count = counted(self._calls.lost, "model call", "model calls")
            note(f"{count} counted that left nothing in the record, left out")
        if self._rolled_back:
            count = counted(self._rolled_back, "turn", "turns")
            note(f"{count} of the user's taken back: the replay goes on with what they held")
        if self._left:
            left = sorted(self._left.items())
            books = ", ".join(f"{n} {kind}" for kind, n in left[:_KINDS])
            if len(left) > _KINDS:
                books += f", {sum(n for _, n in left[_KINDS:])} of {len(left) - _KINDS} more kinds"
            note(f"records that are no part of a prompt: {books}")


def _is_written(item: dict[str, Any]) -> bool:
    """Whether the model wrote an item."""
    kind = item.get("type")
    if kind == "message":
        return item.get("role") == "assistant"
    return isinstance(kind, str) and kind in _BY_MODEL


def _opens(event: Event) -> bool:
    """Whether an event is of a model call."""
    return getattr(event, "call", None) is not None


def _rank(event: Event) -> int:
    """Order what leads up to the first call: tools, system prompt, the rest as it came."""
    kind = event.kind if isinstance(event, Message) else None
    return {Kind.TOOLS: 0, Kind.SYSTEM: 1}.get(kind, 2) if kind is not None else 2


def _folder(payload: dict[str, Any]) -> str | None:
    cwd = payload.get("cwd")
    return cwd if isinstance(cwd, str) else None


def _texts(parts: Any) -> Iterator[str]:
    for part in parts if isinstance(parts, list) else ():
        if isinstance(part, dict) and isinstance(part.get("text"), str):
            yield part["text"]


def _decoded(text: str) -> Any:
    """Return the JSON value of *text*, or the text where it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _unwrapped(text: str) -> tuple[str, bool]:
    """Return the output of a tool as the model got it, and whether the tool failed."""
    if text.startswith('{"output"'):
        data = _decoded(text)
        about = data.get("metadata") if isinstance(data, dict) else None
        if isinstance(about, dict) and isinstance(data.get("output"), str):
            code, seconds = about.get("exit_code"), about.get("duration_seconds")
            if isinstance(code, int):
                head = f"Exit code: {code}\nWall time: {seconds} seconds\nOutput:\n"
                return head + data["output"], code != 0
    return text, _FAILED.match(text) is not None


class _Sessions:
    """Tells where another session begins: a header with a new id behind a model call.

    Headers that follow one another are those of a session and of the one it was forked from.
    """

    def __init__(self) -> None:
        self._current: str | None = None
        self._talked = False

    def __call__(self, record: Any) -> str | None:
        """Return the session that a record begins, None if it goes on."""
        if not isinstance(record, dict):
            return None
        item = record.get("payload") if "payload" in record else record
        item = item if isinstance(item, dict) else {}
        if record.get("type") == "session_meta" or _is_old_header(record):
            name = item.get("id")
            if isinstance(name, str) and (self._current is None or self._talked):
                self._talked = self._talked and name == self._current
                self._current = name
                return name
        elif _is_written(item):
            self._talked = True
        return None


def _events(records: Iterator[Record], findings: Findings) -> Iterator[Event]:
    session = _Session(findings)
    for place, record in records:
        yield from session.take(place, record)
    yield from session.finish()


def _threads(recording: Recording, findings: Findings) -> Iterator[Thread]:
    for name, records in sessions(recording.records(findings), _Sessions()):
        yield Thread(_events(records, findings), name)


def _is_old_header(record: dict[str, Any]) -> bool:
    return "type" not in record and {"id", "timestamp", "instructions"} <= record.keys()


def _fits(seen: Seen) -> bool:
    found = objects(seen)
    return any(
        isinstance(record.get("payload"), dict)
        and isinstance(record.get("type"), str)
        and record["type"] in _RECORDS
        for record in found
    ) or (bool(found) and _is_old_header(found[0]))


FORMAT = Format(
    "codex",
    "Codex rollout, JSONL",
    _fits,
    _threads,
    usage="input, cached, output",
)
