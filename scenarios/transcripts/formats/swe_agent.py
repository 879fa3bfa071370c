"""SWE-agent trajectories: one JSON document with ``trajectory``, ``history`` and ``info``.

A row of the trajectory is a model call. What it was sent stands in its ``query`` (``messages`` in
some versions), else in the history, of which the agent's own messages were sent. Calls are function
calls, or commands in the text. A row that the history lacks is an attempt that was asked again. An
action has a duration, nothing has a time of day; tokens are recorded for the whole session only.
A run of several attempts holds a trajectory each.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from scenarios.transcripts.content import arguments_of, compact, text_and_images, whole
from scenarios.transcripts.events import Event, Message, ToolCall, ToolResult
from scenarios.transcripts.findings import Findings, counted
from scenarios.transcripts.formats.format import Format, Seen, Thread
from scenarios.transcripts.formats.pairing import distinct
from scenarios.transcripts.formats.swe_agent_files import arguments_with_path, failed
from scenarios.transcripts.formats.swe_agent_steps import Step, agents, is_demo, plain, steps
from scenarios.transcripts.recording import Recording
from sim.segments import Kind

__all__ = ["FORMAT", "is_swe_agent", "read"]

_ROLES = frozenset({"assistant", "developer", "function", "system", "tool", "user"})
_READ = frozenset({"attempts", "history", "trajectory"})


def _is_row(row: Any) -> bool:
    return isinstance(row, dict) and {"action", "observation", "response"} <= row.keys()


def _is_message(message: Any) -> bool:
    return (
        isinstance(message, dict)
        and isinstance(message.get("role"), str)
        and ("agent" in message or "message_type" in message)
    )


def _holds(document: Any) -> bool:
    if not isinstance(document, dict):
        return False
    rows, history = document.get("trajectory"), document.get("history")
    return (isinstance(rows, list) and any(map(_is_row, rows))) or (
        isinstance(history, list) and any(map(_is_message, history))
    )


def is_swe_agent(document: Any) -> bool:
    """Whether a JSON document is a trajectory, or a run of several attempts."""
    if _holds(document):
        return True
    attempts = document.get("attempts") if isinstance(document, dict) else None
    return isinstance(attempts, list) and any(map(_holds, attempts))


def read(found: list[Step], tail: list[dict[str, Any]], findings: Findings) -> Iterator[Event]:
    """Yield the events of the steps of one agent, and of what its history holds behind them."""
    return distinct(_read(found, tail, findings), findings)


def _read(found: list[Step], tail: list[dict[str, Any]], findings: Findings) -> Iterator[Event]:
    walk = _Walk(any(step.seconds is not None for step in found), findings)
    for place, step in enumerate(found, 1):
        yield from walk.came(step, place)
        yield from walk.answered(step, place)
    yield from walk.left(tail, len(found))
    walk.notes()


class _Walk:
    """Goes along the steps and knows what the prompt holds."""

    def __init__(self, timed: bool, findings: Findings) -> None:
        self._findings = findings
        self._clock = 0.0 if timed else None
        self._last: Step | None = None
        self._waiting: list[str] = []
        self._done: set[str] = set()
        self._returned: float | None = None
        self._window: list[tuple[str, str]] = []
        """Role and text of each message of the last prompt, and the answer to it."""
        self._changed: set[int] = set()
        self._taken_back = 0
        self._unwritten = 0
        self._names: dict[str, str] = {}
        """The tool of each call of the last step."""

    def came(self, step: Step, place: int) -> Iterator[Event]:
        """Yield what came in before a step."""
        new = step.before if step.sent is None else self._new(step.sent)
        yield from self._messages(new, place)
        yield from self._unanswered(place)

    def left(self, tail: list[dict[str, Any]], place: int) -> Iterator[Event]:
        """Yield what came in behind the last step."""
        yield from self._messages(tail, place)
        yield from self._unanswered(place)

    def _new(self, sent: list[Any]) -> list[Any]:
        """Return the messages of a prompt that the one before did not hold.

        The harness may shorten what came in, but not what the model wrote: from an answer that is
        another one on, the messages are others, and those before were taken back but for what
        stands there again.
        """
        at = 0
        for (role, text), message in zip(self._window, sent, strict=False):
            if not isinstance(message, dict) or message.get("role") != role:
                break
            now = plain(message.get("content"))
            if now != text:
                if role == "assistant":
                    break
                self._changed.add(at)
            at += 1
        gone = Counter(self._window[at:])
        del self._window[at:]
        new = [message for message in sent[at:] if not self._known(message, gone)]
        self._taken_back += sum(gone.values())
        return new

    def _known(self, message: Any, gone: Counter[tuple[str, str]]) -> bool:
        """Whether a message had come before, and stands in another place now."""
        if not isinstance(message, dict) or not isinstance(role := message.get("role"), str):
            return False
        each = (role, plain(message.get("content")))
        ids = _ids(message)
        if gone[each] > 0:
            gone[each] -= 1
        elif ids and self._done.issuperset(ids) and not set(ids) & set(self._waiting):
            self._changed.add(len(self._window))
        else:
            return False
        self._window.append(each)
        return True

    def _messages(self, messages: list[Any], place: int) -> Iterator[Event]:
        for message in messages:
            if not isinstance(message, dict):
                self._findings.breaks("a message that is not an object", place)
                continue
            role = message.get("role")
            if not isinstance(role, str) or role not in _ROLES:
                self._findings.breaks("a message without a known role", place)
                continue
            self._window.append((role, plain(message.get("content"))))
            yield from self._message(role, message, place)

    def _message(self, role: str, message: dict[str, Any], place: int) -> Iterator[Event]:
        text, images = text_and_images(message.get("content"), place, self._findings)
        demo = is_demo(message)
        if role in ("system", "developer"):
            yield Message(place, None, Kind.SYSTEM, text, images)
        elif role == "assistant":
            if calls := message.get("tool_calls"):
                text += "\n" + compact(calls)
            yield Message(place, None, Kind.ASSISTANT, text, injected=True)
        elif demo or not (self._waiting or role != "user"):
            injected = demo or self._last is not None
            yield Message(place, None, Kind.USER, text, images, injected=injected)
        else:
            yield from self._results(_ids(message) or self._waiting[:1], text, images, place)

    def _results(self, ids: list[str], text: str, images: int, place: int) -> Iterator[Event]:
        """Yield the result of a call; one that answers several stands with the first."""
        if not ids:
            self._findings.breaks("a tool result that names no call", place)
        for number, identity in enumerate(ids):
            if identity in self._waiting:
                self._waiting.remove(identity)
            self._done.add(identity)
            name = self._names.get(identity, "")
            said = "" if number else text
            bad = failed(name, said)
            yield ToolResult(place, self._returned, identity, said, 0 if number else images, bad)

    def _unanswered(self, place: int) -> Iterator[Event]:
        """Yield the bare observation of a step, whose result no prompt holds."""
        if self._waiting and self._last is not None and self._last.observation is not None:
            yield from self._results(self._waiting[:], self._last.observation, 0, place)

    def answered(self, step: Step, place: int) -> Iterator[Event]:
        """Yield what the model wrote at a step."""
        call, time = f"step {place}", self._clock
        self._last, self._waiting = step, []
        self._names = {}
        self._window.append(("assistant", step.response))
        yield from self._thoughts(step, place, time, call)
        calls = list(self._calls(step, place))
        text, as_text = step.response, not calls
        if not calls and step.action.strip():
            text, written = _carved(text, step.action.strip())
            name, _, rest = step.action.strip().partition(" ")
            name, line, more = name.partition("\n")
            rest = more + (" " if line and rest else "") + rest if line else rest
            calls = [(f"action {place}", name, rest)]
            self._unwritten += not written
        yield Message(place, time, Kind.ASSISTANT, text, 0, call)
        for identity, name, arguments in calls:
            self._names[identity] = name
            self._waiting.append(identity)
            arguments = arguments_with_path(name, arguments, step.result, step.directory)
            last = step.observation is None and step.follows is None
            yield ToolCall(place, time, identity, name, arguments, call, last, as_text=as_text)
        if self._clock is not None:
            self._clock += step.seconds or 0.0
        self._returned = self._clock

    def _thoughts(self, step: Step, place: int, time: float | None, call: str) -> Iterator[Event]:
        blocks = step.message.get("thinking_blocks")
        for block in blocks if isinstance(blocks, list) else ():
            thought = block.get("thinking") if isinstance(block, dict) else None
            if isinstance(thought, str) and thought:
                yield Message(place, time, Kind.THINKING, thought, 0, call)

    def _calls(self, step: Step, place: int) -> Iterator[tuple[str, str, Any]]:
        """Yield id, name and arguments of each function call of a step."""
        found = step.message.get("tool_calls")
        for each in found if isinstance(found, list) else ():
            called = each.get("function") if isinstance(each, dict) else None
            name = called.get("name") if isinstance(called, dict) else None
            if not isinstance(called, dict) or not isinstance(name, str):
                self._findings.breaks("a tool call without id or name", place)
                continue
            arguments, identity = called.get("arguments"), each.get("id")
            arguments = arguments_of(arguments, place, self._findings)
            yield identity if isinstance(identity, str) else f"call {place}", name, arguments

    def notes(self) -> None:
        """Say what the harness did with the history."""
        if self._changed:
            count = counted(len(self._changed), "message", "messages")
            self._findings.note(f"{count} that the harness shortened in later prompts")
        if self._taken_back:
            count = counted(self._taken_back, "message", "messages")
            self._findings.note(f"{count} of failed attempts that later prompts do not hold")
        if self._unwritten:
            count = counted(self._unwritten, "call", "calls")
            self._findings.note(f"{count} without arguments as written, taken as the action says")


def _ids(message: dict[str, Any]) -> list[str]:
    ids = message.get("tool_call_ids")
    ids = ids if isinstance(ids, list) else [message.get("tool_call_id")]
    return [identity for identity in ids if isinstance(identity, str)]


def _carved(text: str, action: str) -> tuple[str, bool]:
    """Return an answer without its action, which is a call of its own, and whether it held it."""
    at = text.rfind(action)
    return (text, False) if at < 0 else (text[:at] + text[at + len(action) :], True)


def _threads(recording: Recording, findings: Findings) -> Iterator[Thread]:
    document = recording.document()
    attempts = document.get("attempts")
    if isinstance(attempts, list) and any(map(_holds, attempts)):
        for number, attempt in enumerate(attempts, 1):
            if _holds(attempt):
                yield from _agents(attempt, f"attempt-{number}", findings)
            else:
                findings.breaks(f"attempt {number} holds no trajectory", None)
        return
    yield from _agents(document, "", findings)


def _agents(document: dict[str, Any], name: str, findings: Findings) -> Iterator[Thread]:
    """Yield the thread of the agent, then those of others that its history holds."""
    rows, history = (
        value if isinstance(value := document.get(key), list) else []
        for key in ("trajectory", "history")
    )
    for number, agent in enumerate(agents(history) or [""]):
        found, tail = steps([] if number else rows, history, agent, findings)
        events = read(found, tail, findings)
        part = f"agent-{number + 1}" if number else ""
        whole_name = "/".join(filter(None, (name, part)))
        yield Thread(events if number else _noted(events, document, findings), whole_name)


def _noted(
    events: Iterator[Event], document: dict[str, Any], findings: Findings
) -> Iterator[Event]:
    """Yield the events of a trajectory, and say what else the document holds."""
    yield from events
    info = document.get("info")
    info = info if isinstance(info, dict) else {}
    stats = info.get("model_stats")
    if isinstance(stats, dict):
        sent, received, calls = (
            whole(stats.get(key)) for key in ("tokens_sent", "tokens_received", "api_calls")
        )
        if sent:
            findings.note(
                f"the record gives tokens of the whole session only: {sent:,} sent and "
                f"{received or 0:,} received" + (f" in {calls:,} calls" if calls else "")
            )
    others = [key for key in document if key not in _READ and key != "info"]
    others += [f"info.{key}" for key in info if key != "model_stats"]
    if others:
        names = ", ".join(re.sub(r"[^\w.-]", "?", key[:40]) for key in others[:12])
        findings.note(f"fields that are no part of a prompt: {names}")


def _fits(seen: Seen) -> bool:
    return seen.head.lstrip().startswith("{") and is_swe_agent(seen.document)


FORMAT = Format(
    "swe-agent",
    "SWE-agent trajectory (.traj), JSON",
    _fits,
    _threads,
    unit="step",
)
