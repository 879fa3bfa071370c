"""The model calls of a Codex rollout: which items are one call's, and which usage is whose."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from scenarios.transcripts.content import tokens_of, whole
from scenarios.transcripts.events import Event, Message, ToolCall, Usage
from scenarios.transcripts.findings import Findings
from sim.segments import Kind

__all__ = ["Calls"]

_SUMS = ("input_tokens", "output_tokens", "total_tokens")

_Counted = tuple[Usage, int | None]
"""The usage of a call, and how much of it went into thoughts."""


class Calls:
    """Tells the model calls of a session apart, and gives each its usage.

    Where usage stands behind the items of its call, a call ends with what comes in next. Where it
    stands ahead of them, a call begins with it, as one may be recorded in pieces between the
    results of its tools. What a call wrote is held until something comes in, so that its usage is
    known by then and its thoughts get their size.
    """

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self.lost = 0
        """Calls that were counted and left nothing."""
        self.last_prompt: int | None = None
        self._sums: list[int | None] = []
        self._name = ""
        self._used: _Counted | None = None
        """The usage of the current call."""
        self._settled = True
        """It was yielded, with what the call had written."""
        self._coming: _Counted | None = None
        """The usage of a call that is still to begin."""
        self._ahead = False
        """Usage stands ahead of its call, as far as is known by now."""
        self._ended = self._heard = True
        """Something came in since the model last wrote; it was a message."""
        self._held: list[Message | ToolCall] = []

    def wrote(self, place: int, time: float | None) -> tuple[str, float | None]:
        """Return the name of the call that writes the item at *place*, and when it was written."""
        opens = self._heard or self._coming is not None if self._ahead else self._ended
        if opens or not self._name:
            self._name, self._settled = f"call {place}", False
            self.lost += self._coming is not None and not self._ahead
            self._used = self._coming if self._ahead else None
            self._coming = None
        self._ended = self._heard = False
        used = None if self._used is None else self._used[0].time
        return self._name, time if time is None or used is None else min(time, used)

    def hold(self, event: Message | ToolCall) -> Iterator[Event]:
        """Take in what the current call wrote."""
        if self._settled:
            yield event
        else:
            self._held.append(event)

    def count(self, info: dict[str, Any], place: int, time: float | None) -> Iterator[Event]:
        """Take in a token count; one that repeats the total of the last is none."""
        last, total = info.get("last_token_usage"), info.get("total_token_usage")
        last = last if isinstance(last, dict) else {}
        total = total if isinstance(total, dict) else last
        sums = [whole(total.get(key)) for key in _SUMS]
        prompt = tokens_of(last, "input_tokens", place, self._findings)
        if not prompt or sums == self._sums:
            return
        self._sums, self.last_prompt = sums, prompt
        cached, written, thought = (
            tokens_of(last, f"{name}_tokens", place, self._findings)
            for name in ("cached_input", "output", "reasoning_output")
        )
        used = Usage(place, time, self._name, prompt, cached, None, written)
        counted = (used, thought)
        if not self._settled and (not self._ended or (not self._ahead and self._used is None)):
            self.lost += self._used is not None
            self._ahead, self._used = False, counted
            yield from self.flush()
            return
        self.lost += self._coming is not None
        self._ahead, self._coming = self._ended, counted

    def ended(self, message: bool = True) -> Iterator[Event]:
        """Say that something came in, a *message* or a result."""
        yield from self.flush()
        self._ended = True
        self._heard = self._heard or message

    def compacted(self) -> Iterator[Event]:
        """Say that the history was replaced: the call that was counted last wrote the summary."""
        yield from self.ended()
        self._coming = None

    def flush(self) -> Iterator[Event]:
        """Yield what was held, with the usage of its call if that is known."""
        if self._used is None or self._settled:
            yield from self._held
            self._held = []
            return
        self._settled = True
        used, thought = self._used
        held, self._held = self._held, []
        yield from held if thought is None else _sized(held, thought)
        yield replace(used, call=self._name)

    def finish(self) -> Iterator[Event]:
        """Yield what is still held."""
        yield from self.flush()
        self.lost += self._coming is not None


def _sized(written: list[Message | ToolCall], thought: int) -> Iterator[Event]:
    """Yield what a call wrote; its thoughts share the *thought* tokens that were counted."""
    hidden = [e.hidden_bytes for e in written if isinstance(e, Message) and e.kind is Kind.THINKING]
    shares = _shares(thought, [1 + size for size in hidden])
    for event in written:
        if isinstance(event, Message) and event.kind is Kind.THINKING:
            yield replace(event, hidden_bytes=0, tokens=next(shares))
        else:
            yield event


def _shares(tokens: int, weights: list[int]) -> Iterator[int]:
    """Yield *tokens* shared out by *weights*, in whole numbers."""
    before = done = 0
    for weight in weights:
        before += weight
        share = tokens * before // sum(weights) - done
        done += share
        yield share
