"""Mooncake serving traces, JSONL: one request a line, sizes in tokens and block hashes, no text.

A line holds ``timestamp`` (milliseconds since the trace began), ``input_length``,
``output_length`` and ``hash_ids``, one id for each block of the prompt, 512 tokens in the published
traces, the last one filled or not. Traces made for load generators may bear a ``session_id``, and
``delay``, milliseconds since the request before, instead of ``timestamp``. The first request of a
session is one user message as long as its prompt; each later one is a user message of what is
neither in the prompt before nor in its answer. Which requests are one session: :class:`_Chains`.
The record does not say when an answer was complete, so the whole time between two requests is the
wait before the second.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator
from typing import Any

from scenarios.transcripts.content import whole
from scenarios.transcripts.events import Event, Message, Usage
from scenarios.transcripts.findings import Findings, counted
from scenarios.transcripts.formats.format import Format, Seen, Thread, objects
from scenarios.transcripts.recording import Recording
from sim.segments import Kind

__all__ = ["BLOCK", "FORMAT"]

BLOCK = 512
"""Tokens of a block in the published traces."""

_NAME = 60
"""Characters of a session's id that its name keeps."""
_NONE = -1


class _Chains:
    """Tells which session a request goes on with by the blocks of its prompt, in linear time.

    The *end* of a request is the last block of its prompt that is surely full: of n ids the n-th if
    n · 512 is the length of the prompt, else the one before. Of the ends in a new prompt, all
    blocks up to there being the same, the furthest counts: the request continues the session whose
    last request it is the end of, if its prompt is longer than that request's prompt and answer
    together. An end that a request meets and does not continue is given up for good: what several
    prompts begin with, a system prompt or a document, tells no session from another. So a prompt
    without a full block of its own, one that is sent again, and one whose history was cut or
    rewritten begin a session, and only the first of two branches is a continuation.
    """

    def __init__(self) -> None:
        self._ends: dict[int, int] = {}
        """A digest of the blocks up to an end → its session, -1 once it is given up."""
        self._total: array[int] = array("q")
        """The tokens of each session's last prompt and its answer."""

    def join(self, blocks: list[int], prompt: int, answer: int) -> int:
        """Return the number of the session that a request is of; a new one is the next number."""
        full = len(blocks) if len(blocks) * BLOCK == prompt else len(blocks) - 1
        met: list[int] = []
        digest = 0
        for block in blocks[: max(full, 0)]:
            digest = hash((digest, block))
            if digest in self._ends:
                met.append(digest)
        session = self._ends[met[-1]] if met else _NONE
        if session != _NONE and prompt <= self._total[session]:
            session = _NONE
        again = bool(met) and met[-1] == digest and session == _NONE
        for end in met:
            self._ends[end] = _NONE
        if session == _NONE:
            session = self.begin()
        if full > 0 and not again:
            self._ends[digest] = session
        self._total[session] = prompt + answer
        return session

    def begin(self) -> int:
        """Return the number of a new session."""
        self._total.append(0)
        return len(self._total) - 1


class _Requests:
    """The requests of a trace in the order of the record, held as bare numbers, by session."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._chains = _Chains()
        self._named: dict[str, int] = {}
        """The sessions that the record names."""
        self._places: array[int] = array("q")
        self._times: array[float] = array("d")
        """In seconds, not a number where the record has none."""
        self._prompts: array[int] = array("q")
        self._answers: array[int] = array("q")
        self._next: array[int] = array("q")
        self._first: array[int] = array("q")
        self._last: array[int] = array("q")

    def take(self, place: int, record: Any) -> None:
        """Take in one line."""
        if not isinstance(record, dict):
            self._findings.breaks("a record that is not an object", place)
            return
        prompt, answer = whole(record.get("input_length")), whole(record.get("output_length"))
        if not prompt or answer is None:
            self._findings.breaks("a request without input_length and output_length", place)
            return
        session = self._session(record, place, prompt, answer)
        time = self._time(record, place, session)
        number = len(self._places)
        if session == len(self._first):
            self._first.append(number)
            self._last.append(number)
        else:
            self._next[self._last[session]] = number
            self._last[session] = number
        self._places.append(place)
        self._times.append(time)
        self._prompts.append(prompt)
        self._answers.append(answer)
        self._next.append(_NONE)

    def _session(self, record: dict[str, Any], place: int, prompt: int, answer: int) -> int:
        name = record.get("session_id")
        if isinstance(name, str | int) and not isinstance(name, bool):
            name = str(name) if isinstance(name, str) or abs(name) < 1 << 63 else f"line {place}"
            if name not in self._named:
                self._named[name] = self._chains.begin()
            return self._named[name]
        blocks = record.get("hash_ids")
        if not isinstance(blocks, list) or any(type(block) is not int for block in blocks):
            self._findings.breaks(
                "hash_ids that are no list of whole numbers", place, "a session of its own"
            )
            return self._chains.begin()
        return self._chains.join(blocks, prompt, answer)

    def _time(self, record: dict[str, Any], place: int, session: int) -> float:
        """Return when a request came, in seconds; not a number where that is not recorded."""
        since = 0.0
        value = record.get("timestamp")
        if value is None and session < len(self._last):
            value, since = record.get("delay"), self._times[self._last[session]]
        if value is None:
            return 0.0 if session == len(self._last) else math.nan
        milliseconds = _number(value)
        if milliseconds is None:
            self._findings.breaks("a time that cannot be read", place)
            return math.nan
        return since + milliseconds / 1000.0

    def note(self) -> None:
        """Say what the trace holds."""
        if not self._places:
            return
        requests = counted(len(self._places), "request", "requests")
        sessions = counted(len(self._first), "session", "sessions")
        how = "as it names them" if self._named else "joined by the blocks of their prompts"
        self._findings.note(
            f"{requests} in {sessions}, {how}; sizes without text, so that nothing is asked for, "
            "and no tools"
        )

    def threads(self) -> Iterator[Thread]:
        """Yield the sessions in the order of their first requests."""
        names = {number: name for name, number in self._named.items()}
        used: set[str] = set()
        alone = len(self._first) == 1
        for session, number in enumerate(self._first):
            name = names.get(session, f"request-{self._places[number]}")[:_NAME]
            if name in used:
                name = f"{name}-{self._places[number]}"
            used.add(name)
            yield Thread(self._events(session), "" if alone else name)

    def _events(self, session: int) -> Iterator[Event]:
        known = 0
        number = self._first[session]
        while number != _NONE:
            place, prompt, answer = (
                self._places[number],
                self._prompts[number],
                self._answers[number],
            )
            time = None if math.isnan(self._times[number]) else self._times[number]
            call = f"line {place}"
            if prompt > known:
                yield Message(place, time, Kind.USER, "", tokens=prompt - known)
            else:
                self._findings.breaks(
                    "a prompt no longer than the one before and its answer", place, "nothing new"
                )
            yield Message(place, time, Kind.ASSISTANT, "", call=call, tokens=answer)
            yield Usage(place, time, call, prompt, output_tokens=answer)
            known = max(known, prompt) + answer
            number = self._next[number]


def _number(value: Any) -> float | None:
    """Return *value* as a finite float that is not negative, None if it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if 0.0 <= number < 1e15 else None


def _fits(seen: Seen) -> bool:
    return any(
        whole(record.get("input_length")) is not None
        and whole(record.get("output_length")) is not None
        and ("hash_ids" in record or "session_id" in record)
        and "chat_id" not in record
        for record in objects(seen)
    )


def _threads(recording: Recording, findings: Findings) -> Iterator[Thread]:
    requests = _Requests(findings)
    for place, record in recording.records(findings):
        requests.take(place, record)
    requests.note()
    yield from requests.threads()


FORMAT = Format(
    "mooncake",
    "Mooncake serving trace, JSONL: timestamp, input_length, output_length, hash_ids",
    _fits,
    _threads,
    usage="input, output",
)
