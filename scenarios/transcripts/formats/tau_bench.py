"""τ-bench runs: a JSON list of ``{"task_id", "trial", "reward", "info", "traj"}``, each a session.

``traj`` holds chat messages in OpenAI's shape, the system prompt first; the tools, times and tokens
are not recorded. The results of its successor τ²-bench, ``{"simulations": [{"messages"}]}``, have
the time and usage of each message; what the simulated user's own tools do is no part of the agent's
prompt. A few-shot file, JSONL with ``messages_display``, shows each dialogue as text without its
tool calls.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from scenarios.transcripts.clock import stamp
from scenarios.transcripts.content import compact, tokens_of, whole
from scenarios.transcripts.events import Event, Message, ToolCall, ToolResult, Usage
from scenarios.transcripts.findings import Findings, counted
from scenarios.transcripts.formats.format import Format, Seen, Thread, objects
from scenarios.transcripts.formats.openai import chat, message_events, usage
from scenarios.transcripts.formats.pairing import distinct
from scenarios.transcripts.recording import Recording
from sim.segments import Kind

__all__ = ["FORMAT", "is_run", "read", "read_display"]

_DISPLAY = "messages_display"
_LINE = re.compile(r"^(system|user|assistant|tool): ", re.MULTILINE)
_NOTHING = "None"
"""What a display has in the place of a message that only calls a tool."""
_TIMES = ("timestamp",)
_USER = "user"


def is_run(record: Any) -> bool:
    """Whether a JSON value is one run of the benchmark."""
    return (
        isinstance(record, dict)
        and isinstance(record.get("traj"), list)
        and ("task_id" in record or "reward" in record)
    )


def _is_simulation(record: Any) -> bool:
    return (
        isinstance(record, dict)
        and isinstance(record.get("messages"), list)
        and "task_id" in record
    )


def _simulations(document: Any) -> list[Any] | None:
    """Return the simulations of a τ²-bench result file, None if it is none."""
    found = document.get("simulations") if isinstance(document, dict) else None
    return found if isinstance(found, list) and any(map(_is_simulation, found)) else None


def read(messages: list[Any], findings: Findings) -> Iterator[Event]:
    """Yield the events of a run; each assistant message is a model call."""
    return distinct(_read(messages, findings), findings)


def _read(messages: list[Any], findings: Findings) -> Iterator[Event]:
    for place, message in chat(messages, findings):
        time = stamp(message, _TIMES, place, findings)
        call = f"call {place}" if message["role"] == "assistant" else None
        yield from message_events(message, place, time, call, findings)
        if call is not None and isinstance(message.get("usage"), dict):
            yield usage(message["usage"], place, time, call, findings)


def _read_simulation(messages: list[Any], findings: Findings) -> Iterator[Event]:
    """Yield the events of a τ²-bench simulation as its agent had them."""
    aside = 0
    flat = list(_flat(messages))
    for place, message in enumerate(flat, 1):
        if not isinstance(message, dict):
            findings.breaks("a message that is not an object", place)
        elif _is_users(message):
            aside += 1
        else:
            yield from _turn(message, place, findings)
    if aside:
        count = counted(aside, "message", "messages")
        findings.note(f"{count} of the simulated user's own tools, no part of the agent's prompt")


def _flat(messages: list[Any]) -> Iterator[Any]:
    """Yield each message; those of several tools may stand in one."""
    for message in messages:
        inner = message.get("tool_messages") if isinstance(message, dict) else None
        if isinstance(inner, list):
            yield from inner
        else:
            yield message


def _is_users(message: Mapping[str, Any]) -> bool:
    """Whether a message is between the simulated user and a tool of its own."""
    if message.get("role") == "tool":
        return message.get("requestor") == _USER
    return message.get("role") == _USER and bool(message.get("tool_calls"))


def _turn(message: dict[str, Any], place: int, findings: Findings) -> Iterator[Event]:
    time = stamp(message, _TIMES, place, findings)
    if message.get("role") == "tool" and "tool_call_id" not in message:
        message = {**message, "tool_call_id": message.get("id")}
    for _, each in chat([_chat_shape(message)], findings):
        call = f"call {place}" if each["role"] == "assistant" else None
        for event in message_events(each, place, time, call, findings):
            if isinstance(event, ToolResult) and message.get("error") is True:
                event = ToolResult(place, time, event.id, event.text, event.images, True)
            yield event
        if call is not None and isinstance(data := message.get("usage"), dict):
            prompt, answer = (
                tokens_of(data, f"{what}_tokens", place, findings)
                for what in ("prompt", "completion")
            )
            yield Usage(place, time, call, prompt or None, output_tokens=answer)


def _chat_shape(message: dict[str, Any]) -> dict[str, Any]:
    """Return a τ²-bench message in OpenAI's shape: there a call's name stands in a ``function``."""
    calls = message.get("tool_calls")
    if not isinstance(calls, list):
        return message
    shaped = [
        {"id": call.get("id"), "function": call}
        if isinstance(call, dict) and "function" not in call
        else call
        for call in calls
    ]
    return {**message, "tool_calls": shaped}


def read_display(text: str, place: int, findings: Findings) -> Iterator[Event]:
    """Yield the events of a dialogue shown as text, whose tool calls are not recorded.

    Each result is taken as that of a call of one token by the model's message before it.
    """
    marks = list(_LINE.finditer(text))
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    if not marks or text[: marks[0].start()].strip():
        findings.breaks("text that names no speaker", place)
    call, lost = "", 0
    for number, (mark, end) in enumerate(zip(marks, ends, strict=False), 1):
        said = text[mark.end() : end].removesuffix("\n")
        match mark[1]:
            case "assistant":
                call = f"line {place}, message {number}"
                said = "" if said == _NOTHING else said
                yield Message(place, None, Kind.ASSISTANT, said, 0, call)
            case "tool":
                if not call:
                    findings.breaks("a tool result that names no call", place)
                    continue
                lost += 1
                name = f"line {place}, result {number}"
                yield ToolCall(place, None, name, "tool", {}, call, tokens=1)
                yield ToolResult(place, None, name, said)
            case role:
                kind = Kind.SYSTEM if role == "system" else Kind.USER
                yield Message(place, None, kind, said)
    if lost:
        calls = counted(lost, "tool call", "tool calls")
        findings.note(f"{calls} whose name and arguments are not recorded, taken as one token each")


def _names(records: Iterable[Any]) -> Iterator[str]:
    """Yield a name for each run, no two alike."""
    used: set[str] = set()
    for record in records:
        task, trial = (_short(record.get(key)) for key in ("task_id", "trial"))
        name = first = f"task-{task}" + (f"-trial-{trial}" if trial else "")
        number = 1
        while name in used:
            number += 1
            name = f"{first}-{number}"
        used.add(name)
        yield name


def _short(value: Any) -> str:
    """Return a value as a part of a name, empty if there is none."""
    if value is None or isinstance(value, (dict, list)):
        return ""
    return re.sub(r"[^\w.-]+", "-", str(value)).strip("-")[:24]


def _runs(
    records: list[Any], key: str, findings: Findings
) -> Iterator[tuple[dict[str, Any], list[Any]]]:
    for number, record in enumerate(records, 1):
        messages = record.get(key) if isinstance(record, dict) else None
        if isinstance(record, dict) and isinstance(messages, list):
            yield record, messages
        else:
            findings.breaks(f"run {number} has no messages", None)


def _threads(recording: Recording, findings: Findings) -> Iterator[Thread]:
    if any(isinstance(r, dict) and _DISPLAY in r for r in recording.sample()):
        yield from _displays(recording, findings)
        return
    document = recording.document()
    simulations = _simulations(document)
    key, records = "traj", document if isinstance(document, list) else [document]
    if simulations is not None:
        key, records = "messages", simulations
    runs = list(_runs(records, key, findings))
    names = _names(record for record, _ in runs)
    for (record, messages), name in zip(runs, names, strict=True):
        events = read if simulations is None else _read_simulation
        yield Thread(_noted(record, events(messages, findings), findings), name)


def _noted(record: dict[str, Any], events: Iterator[Event], findings: Findings) -> Iterator[Event]:
    """Yield the events of a run, and say what else is recorded of it."""
    yield from events
    parts = [f"reward {record['reward']}"] if whole(record.get("reward")) is not None else []
    if isinstance(reward := record.get("reward"), float):
        parts = [f"reward {reward:g}"]
    if record.get("info"):
        parts.append(f"info of {len(compact(record['info'])):,} characters")
    if parts:
        findings.note(f"the run's own book is no part of a prompt: {', '.join(parts)}")


def _displays(recording: Recording, findings: Findings) -> Iterator[Thread]:
    """Yield a thread for each line of a few-shot file."""
    for place, record in recording.records(findings):
        text = record.get(_DISPLAY) if isinstance(record, dict) else None
        if isinstance(text, str):
            yield Thread(read_display(text, place, findings), f"dialogue-{place}")
        else:
            findings.breaks("a record that shows no dialogue", place)


def _fits(seen: Seen) -> bool:
    if any(isinstance(record.get(_DISPLAY), str) for record in objects(seen)):
        return True
    if not seen.head.lstrip().startswith(("[", "{")):
        return False
    document = seen.document
    runs = document if isinstance(document, list) else [document]
    return any(map(is_run, runs)) or _simulations(document) is not None


FORMAT = Format(
    "tau-bench",
    "τ-bench runs, JSON: a list of them, each a session; τ²-bench results; few-shot dialogues",
    _fits,
    _threads,
    unit="message",
    usage="input and output, in τ²-bench results",
)
