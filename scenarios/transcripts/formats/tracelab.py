"""TraceLab traces: the rounds of many coding sessions, JSONL, and its expanded raw examples.

A *round* is one model call: ``input_tokens_total``, of it ``prefix_tokens`` from the cache,
``output_tokens``, ``reasoning_output_tokens``; ``timing_events[]`` in order, what came in
(``user_message``, ``tool_result``) before what the model wrote (``reasoning``, ``text``,
``tool_call``); ``tools[]`` with the input, where the trace has not been sanitized, and sizes. Texts
are measured in characters, not held. What came in is as large as the prompt grew beyond the answer
before it, what the model wrote as large as its output, each shared out by characters; where the
record gives no such figure, or the prompt shrank, a token is taken as four characters. Rounds of a
session follow each other by ``round_index``.

A raw example is a session of Claude Code or Codex, each record under a line of its own,
``===== record 0001 =====``; it is read as what it is.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from scenarios.transcripts.clock import stamp
from scenarios.transcripts.content import tokens_of, unknown_kind, whole
from scenarios.transcripts.events import Compaction, Event, Message, ToolCall, ToolResult, Usage
from scenarios.transcripts.findings import Findings, counted
from scenarios.transcripts.formats import claude_code, codex
from scenarios.transcripts.formats.format import Format, Seen, Thread, objects
from scenarios.transcripts.formats.separated import Separated, is_separated
from scenarios.transcripts.models import model_of
from scenarios.transcripts.recording import Recording
from sim.segments import Kind

__all__ = ["FORMAT"]

_CHARACTERS = 4
_INPUTS = ("user_message", "tool_result")
_OUTPUTS = ("reasoning", "text", "tool_call")
_BOOKS = ("usage_report",)
_DROP, _NEAR, _REBOUND, _STEPS = 64_000, 0.75, 0.75, 3
"""TraceLab's own definition of a compaction: the prompt falls by that many tokens, from that share
of the session's largest, and does not come back to that share of it within so many rounds."""
_NAME = 60
_RAW = (claude_code.FORMAT, codex.FORMAT)


def _is_round(record: Any) -> bool:
    return (
        isinstance(record, dict)
        and isinstance(record.get("timing_events"), list)
        and "input_tokens_total" in record
        and ("round_id" in record or "round_index" in record)
    )


def _estimate(characters: int) -> int:
    return -(-characters // _CHARACTERS)


def _share(tokens: int, weights: list[int]) -> list[int]:
    """Return *tokens* in whole parts by *weights*, evenly if all are 0; the parts sum up to it."""
    weights = weights if any(weights) else [1] * len(weights)
    whole_weight, done, parts = sum(weights), 0, []
    before = 0
    for weight in weights:
        before += weight
        parts.append(tokens * before // whole_weight - done)
        done += parts[-1]
    return parts


def _characters(data: dict[str, Any], key: str) -> int:
    return whole(data.get(key)) or 0


def _compactions(prompts: list[int | None]) -> set[int]:
    """Return the positions of the rounds before which the session was compacted."""
    largest = max((p for p in prompts if p is not None), default=0)
    found = set()
    for number in range(1, len(prompts)):
        before, now = prompts[number - 1], prompts[number]
        if before is None or now is None or before - now < _DROP or before < _NEAR * largest:
            continue
        after = [p for p in prompts[number + 1 : number + 1 + _STEPS] if p is not None]
        if after and max(after) < _REBOUND * before:
            found.add(number)
    return found


class _Session:
    """Reads the rounds of one session."""

    def __init__(self, findings: Findings, compactions: set[int]) -> None:
        self._findings = findings
        self._compactions = compactions
        self._number = 0
        self._rounds: set[str] = set()
        self._tools: dict[str, dict[str, Any]] = {}
        """Calls whose results have not come, by id."""
        self._prompt: int | None = None
        self._answer = 0
        self._unrecorded = 0
        self._unnamed = [0, 0]
        self._books = 0
        self._place = 0

    def take(self, place: int, record: dict[str, Any], last: bool) -> Iterator[Event]:
        """Yield the events of a round; *last* if the session has no other."""
        number, self._number, self._place = self._number, self._number + 1, place
        identity = record.get("round_id")
        if isinstance(identity, str):
            if identity in self._rounds:
                self._findings.breaks("a round that was recorded before", place)
                return
            self._rounds.add(identity)
        events = self._events(record, place)
        prompt = tokens_of(record, "input_tokens_total", place, self._findings) or None
        inputs = [e for e in events if e["event_type"] in _INPUTS]
        sizes = [
            _characters(e, "content_chars" if e["event_type"] == "user_message" else "result_chars")
            for e in inputs
        ]
        guess = sum(map(_estimate, sizes))
        if number in self._compactions and prompt is not None and self._prompt is not None:
            yield self._compaction(place, inputs, prompt, guess)
            yield from self._came(inputs, place, sizes, None)
        else:
            yield from self._came(inputs, place, sizes, self._grown(prompt))
        if self._prompt is None and prompt is not None:
            self._unrecorded = max(0, prompt - guess)
        call = f"line {place}"
        yield from model_of(record, place)
        yield from self._wrote(events, record, place, call, last)
        written, cached, answer = (
            tokens_of(record, name, place, self._findings)
            for name in ("claude_cache_creation_input_tokens", "prefix_tokens", "output_tokens")
        )
        yield Usage(place, None, call, prompt, cached, written, answer)
        self._prompt, self._answer = prompt or self._prompt, answer or 0

    def _events(self, record: dict[str, Any], place: int) -> list[dict[str, Any]]:
        found = []
        events = record.get("timing_events")
        for event in events if isinstance(events, list) else []:
            kind = event.get("event_type") if isinstance(event, dict) else None
            if isinstance(kind, str) and kind in (*_INPUTS, *_OUTPUTS):
                found.append(event)
            elif kind in _BOOKS:
                self._books += 1
            else:
                self._findings.breaks(unknown_kind(kind, "timing event"), place)
        return found

    def _time(self, event: dict[str, Any], place: int) -> float | None:
        return stamp(event, ("timestamp",), place, self._findings)

    def _grown(self, prompt: int | None) -> int | None:
        """Return by what a prompt grew beyond the answer before it, None if it says nothing."""
        if prompt is None or self._prompt is None:
            return None
        grown = prompt - self._prompt - self._answer
        return grown if grown > 0 else None

    def _compaction(
        self, place: int, inputs: list[dict[str, Any]], prompt: int, guess: int
    ) -> Compaction:
        told = bool(inputs) and inputs[0]["event_type"] == "user_message"
        time = self._time(inputs[0], place) if inputs else None
        summary = max(1, prompt - self._unrecorded - guess)
        return Compaction(place, time, "user" if told else "auto", summary, self._prompt)

    def _came(
        self, inputs: list[dict[str, Any]], place: int, sizes: list[int], grown: int | None
    ) -> Iterator[Event]:
        """Yield what came in before the call, *grown* tokens if that is known."""
        if not inputs and grown is not None:
            self._unnamed[0] += 1
            self._unnamed[1] += grown
            yield Message(place, None, Kind.USER, "", injected=True, tokens=grown)
            return
        tokens = [_estimate(size) for size in sizes] if grown is None else _share(grown, sizes)
        for event, size in zip(inputs, tokens, strict=True):
            time = self._time(event, place)
            if event["event_type"] == "user_message":
                yield Message(place, time, Kind.USER, "", tokens=max(1, size))
                continue
            identity = event.get("tool_call_id")
            if not isinstance(identity, str):
                self._findings.breaks("a tool result that names no call", place)
                continue
            self._tools.pop(identity, None)
            failed = event.get("is_error") is True
            yield ToolResult(place, time, identity, "", failed=failed, tokens=max(1, size))

    def _wrote(
        self,
        events: list[dict[str, Any]],
        record: dict[str, Any],
        place: int,
        call: str,
        last: bool,
    ) -> Iterator[Event]:
        outputs = [e for e in events if e["event_type"] in _OUTPUTS]
        tools = self._called(record, place)
        for event, size in zip(outputs, self._sizes(outputs, tools, record), strict=True):
            time = self._time(event, place)
            kind = event["event_type"]
            if kind == "text":
                yield Message(place, time, Kind.ASSISTANT, "", call=call, tokens=size)
            elif kind == "reasoning":
                yield Message(place, time, Kind.THINKING, "", call=call, tokens=size)
            else:
                tool = tools.get(str(event.get("tool_call_id")), {})
                yield from self._call(event, tool, place, time, call, size, last)

    def _called(self, record: dict[str, Any], place: int) -> dict[str, dict[str, Any]]:
        """Return the round's tools by the ids of their calls."""
        tools = record.get("tools")
        if tools is not None and not isinstance(tools, list):
            self._findings.breaks("tools that are no list", place)
        found = {}
        for tool in tools if isinstance(tools, list) else []:
            if isinstance(tool, dict) and isinstance(tool.get("tool_call_id"), str):
                found[tool["tool_call_id"]] = tool
            else:
                self._findings.breaks("a tool that names no call", place)
        return found

    def _call(
        self,
        event: dict[str, Any],
        tool: dict[str, Any],
        place: int,
        time: float | None,
        call: str,
        size: int,
        last: bool,
    ) -> Iterator[Event]:
        identity, name = event.get("tool_call_id"), event.get("tool_name")
        if not isinstance(identity, str) or not isinstance(name, str):
            self._findings.breaks("a tool call without id or name", place)
            return
        arguments = tool.get("input")
        if isinstance(arguments, str):
            with suppress(ValueError, RecursionError):
                arguments = json.loads(arguments)
        self._tools[identity] = tool
        arguments = {} if arguments is None else arguments
        last = last and whole(tool.get("result_chars")) is None
        yield ToolCall(place, time, identity, name, arguments, call, last, max(1, size))

    def _sizes(
        self,
        outputs: list[dict[str, Any]],
        tools: dict[str, dict[str, Any]],
        record: dict[str, Any],
    ) -> list[int]:
        """Return the tokens of each thing that a call wrote."""
        characters = []
        for event in outputs:
            tool = tools.get(str(event.get("tool_call_id")), {})
            name = event.get("tool_name")
            size = _characters(event, "content_chars") + _characters(tool, "input_chars")
            characters.append(size + (len(name) if isinstance(name, str) else 0))
        answer = whole(record.get("output_tokens"))
        guess = [_estimate(size) for size in characters]
        if not answer:
            return guess
        thoughts = [i for i, event in enumerate(outputs) if event["event_type"] == "reasoning"]
        rest = [i for i in range(len(outputs)) if i not in thoughts]
        thought = whole(record.get("reasoning_output_tokens"))
        if not thoughts:
            thought = 0
        elif not rest:
            thought = answer
        elif thought is None:
            thought = max(0, answer - sum(guess[i] for i in rest))
        thought = min(thought, answer)
        sizes = [0] * len(outputs)
        for group, tokens in ((thoughts, thought), (rest, answer - thought)):
            parts = _share(tokens, [characters[i] for i in group]) if group else []
            for i, part in zip(group, parts, strict=True):
                sizes[i] = part
        return sizes

    def finish(self) -> Iterator[Event]:
        """Yield the results that came after the last round, and say what no event stands for."""
        for identity, tool in self._tools.items():
            size = whole(tool.get("result_chars"))
            if size is not None:
                time = stamp(tool, ("result_at",), self._place, self._findings)
                failed = tool.get("is_error") is True
                tokens = max(1, _estimate(size))
                yield ToolResult(self._place, time, identity, "", failed=failed, tokens=tokens)
        if self._books:
            self._findings.note(f"events that are no part of a prompt: {self._books} usage_report")
        rounds, tokens = self._unnamed
        if rounds:
            calls = counted(rounds, "call holds", "calls hold")
            self._findings.note(
                f"{calls} {tokens:,} tokens in all that no event of the record stands for; they "
                "are taken as messages of the harness"
            )


class _Survey:
    """Where the rounds of each session stand in a file: round, line, offset, prompt."""

    def __init__(self, recording: Recording, findings: Findings) -> None:
        self._recording = recording
        self._findings = findings
        self._sessions: dict[str, list[tuple[int, int, int, int | None]]] = {}
        for place, offset, record in recording.located(findings):
            if not _is_round(record):
                findings.breaks("a record that is no round", place)
                continue
            session = record.get("session_id")
            number = whole(record.get("round_index"))
            prompt = tokens_of(record, "input_tokens_total", place, self._findings) or None
            rounds = self._sessions.setdefault(session if isinstance(session, str) else "", [])
            rounds.append(
                (rounds[-1][0] if number is None and rounds else number or 0, place, offset, prompt)
            )

    def threads(self) -> Iterator[Thread]:
        """Yield the sessions in the order in which they begin."""
        used: set[str] = set()
        alone = len(self._sessions) == 1
        for number, (session, rounds) in enumerate(self._sessions.items(), 1):
            name = session[:_NAME] or "unnamed"
            name = f"{name}-{number}" if name in used else name
            used.add(name)
            rounds.sort(key=lambda each: each[:2])
            yield Thread(self._read(rounds), "" if alone else name)

    def _read(self, rounds: list[tuple[int, int, int, int | None]]) -> Iterator[Event]:
        found = _compactions([prompt for *_, prompt in rounds])
        session = _Session(self._findings, found)
        spots = [(place, offset) for _, place, offset, _ in rounds]
        for number, (place, record) in enumerate(self._recording.again(spots), 1):
            yield from session.take(place, record, number == len(spots))
        yield from session.finish()
        self._note(found)

    def _note(self, found: set[int]) -> None:
        self._findings.note(
            "sizes without text: nothing that a result brought can be asked for, nor whether a "
            "read brought the same again"
        )
        if found:
            falls = counted(len(found), "fall", "falls")
            self._findings.note(f"{falls} of the prompt taken as compactions, by TraceLab's rule")


def _raw(recording: Recording) -> tuple[Separated, Format | None]:
    """Return the records of an expanded example, and the format that they are of."""
    records = Separated(recording.path)
    seen = Seen(records)
    return records, next((format for format in _RAW if format.fits(seen)), None)


def _fits(seen: Seen) -> bool:
    if is_separated(seen.head):
        return True
    return any(_is_round(record) for record in objects(seen))


def _threads(recording: Recording, findings: Findings) -> Iterator[Thread]:
    if not is_separated(recording.head()):
        yield from _Survey(recording, findings).threads()
        return
    records, format = _raw(recording)
    if format is None:
        yield from _Survey(records, findings).threads()
    else:
        findings.note(f"its records are those of {format.name}")
        yield from format.threads(records, findings)


FORMAT = Format(
    "tracelab",
    "TraceLab rounds, JSONL, and its expanded examples of Claude Code and Codex sessions",
    _fits,
    _threads,
    usage="input, cached, written, output",
)
