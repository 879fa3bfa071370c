"""Turns a stream of events into a session: turns, pairs, kinds, latencies, writes and queries."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from scenarios.transcripts import mining
from scenarios.transcripts.content import compact
from scenarios.transcripts.declared import Budgets, Declared
from scenarios.transcripts.events import (
    Compaction,
    ContextWindow,
    Edited,
    Event,
    Message,
    Model,
    ToolCall,
    ToolResult,
    Usage,
)
from scenarios.transcripts.findings import Findings, counted
from scenarios.transcripts.reads import Read, Reads
from scenarios.transcripts.session import (
    Asked,
    Compacted,
    Draft,
    Fetched,
    Place,
    Session,
    Written,
    clean,
)
from scenarios.transcripts.shell_tools import located, printed
from scenarios.transcripts.tools import Touch, touch
from scenarios.transcripts.values import argument_values, values
from sim.segments import Kind
from sim.tokens import Tokenizer

__all__ = ["FRAME", "LONGEST", "Builder"]

_PINNED = frozenset({Kind.TOOLS, Kind.SYSTEM, Kind.TASK})
_NAMES = {Kind.TOOL_CALL: "call", Kind.TOOL_RESULT: "result"}

FRAME = 50
"""Tokens that a provider puts around a call and its result: tags, names of parameters, ids, roles.

They stand in no text of a recording, and belong to the call here. No provider publishes them for
its current models. The figure is the one, of 0, 10, … 100, with which the first halves of 21
recorded runs of five harnesses lie closest to a line each (mean relative root-mean-square 0.9 %,
against 1.4 % without); single harnesses want between 20 (OpenHands) and 150 (Claude Code).
"""

LONGEST = 365 * 24 * 3600.0
"""Seconds between two times of a recording above which one of them is wrong."""


@dataclass(slots=True, eq=False)
class _Call:
    """A tool call that waits for its result."""

    event: ToolCall
    draft: Draft
    number: int
    answered: bool = False
    late: bool = False
    """The model went on before the result came."""
    fetches: bool = False
    """It brings what an earlier read had brought."""


class Builder:
    """Takes events one by one; :meth:`finish` returns the session.

    A tool call enters together with its result, so a result that is late brings its call with it.
    The results of tools that are *declared* are reduced to their budgets.
    """

    def __init__(
        self, tokenizer: Tokenizer, findings: Findings, declared: Declared | None = None
    ) -> None:
        self._tokenizer = tokenizer
        self._budgets = Budgets(declared, tokenizer)
        self._findings = findings
        self._session = Session(tokenizer.name)
        self._miner = mining.Miner()
        self._reads = Reads()
        self._texts: list[Draft] = []
        """What the miner was given, in its order."""
        self._counts: Counter[str] = Counter()
        self._calls: dict[str, _Call | None] = {}
        """Every tool call by the record's id; None once it is answered."""
        self._model_calls: set[str] = set()
        self._model_call = self._model = ""
        self._said_at: float | None = None
        """When the model last wrote something."""
        self._output: list[Draft | _Call] = []
        self._late: list[Draft] = []
        self._incoming: list[Draft] = []
        self._asked: dict[int, dict[str, tuple[Draft, tuple[int, ...]]]] = {}
        """Source → value → what mentions it first, and every text in which it could be read."""

    def take(self, event: Event) -> None:
        """Take in the next event."""
        match event:
            case Message(call=None):
                self._heard(event)
            case Message():
                self._said(event)
            case ToolCall():
                self._called(event)
            case ToolResult():
                self._returned(event)
            case Usage():
                self._used(event)
            case Compaction():
                self._compacted(event)
            case ContextWindow():
                self._session.window = event.tokens
            case Model():
                self._model = clean(event.name)
            case Edited():
                self._write(Touch(located(event.path, None), False))

    # -- what comes in ---------------------------------------------------------------------

    def _compacted(self, event: Compaction) -> None:
        compacted = Compacted(
            self._session.turns,
            clean(event.trigger),
            event.place,
            event.tokens,
            event.before,
            event.kept_from,
        )
        self._session.compactions.append(compacted)
        since = event.place if event.kept_from is None else event.kept_from
        kept = (n for n, draft in enumerate(self._texts) if draft.place >= since)
        self._miner.forget(next(kept, len(self._texts)))

    def _summarised(self, event: Message) -> bool:
        """Take in the text that a compaction left, if one waits for it."""
        compactions = self._session.compactions
        if not compactions or compactions[-1].tokens is not None:
            return False
        if compactions[-1].turn != self._session.turns:
            return False
        compactions[-1].tokens = self._size(event.text, event.tokens)
        return True

    def _heard(self, event: Message) -> None:
        if event.summary and self._summarised(event):
            return
        self._miner.heard(values(event.text))
        kind = event.kind
        if kind is Kind.USER and not event.injected:
            kind = Kind.USER if self._counts["task"] else Kind.TASK
        injected = event.injected
        draft = Draft(self._name(kind), kind, 1, event.time, injected=injected, place=event.place)
        draft.part = event.part
        draft.pinned = kind is Kind.TASK
        if event.text or event.tokens or not event.images:
            draft.tokens = self._size(event.text, event.tokens)
            self._incoming.append(draft)
        self._images(draft, event.images)

    def _name(self, kind: Kind) -> str:
        self._counts[kind] += 1
        number = self._counts[kind]
        alone = kind in _PINNED and number == 1
        return str(kind) if alone else f"{kind}-{number}"

    def _images(self, of: Draft, images: int) -> None:
        for number in range(1, images + 1):
            name = f"{of.id}.image-{number}"
            self._incoming.append(replace(of, id=name, kind=Kind.IMAGE, tokens=1, keys={}))

    def _returned(self, event: ToolResult) -> None:
        call = self._calls.get(event.id)
        if call is None:
            again = event.id in self._calls
            what = "a second result for one call" if again else "a result whose call is missing"
            self._findings.breaks(what, event.place)
            return
        self._calls[event.id] = None
        call.answered = True
        if call.late:
            self._late.append(call.draft)
        called = call.event
        touched = touch(called.name, called.arguments, event.text, event.failed, called.cwd)
        if touched is not None and not touched.reads:
            self._write(touched)
        if touched is not None and touched.reads and not call.late:
            before = self._reads.again(touched.path, printed(event.text))
            if before is not None and not event.images and event.tokens is None:
                self._fetched(call, before, event)
                return
        self._enter(call, event, touched)

    def _fetched(self, call: _Call, read: Read, event: ToolResult) -> None:
        """Take in a call that brought what *read* had brought: whether anything comes in for it
        depends on whether that is still there."""
        turn = self._session.turns + 1
        call.answered = call.fetches = True
        draft = read.draft
        end = Place(draft.tokens - 1, False)
        draft.keys[draft.text_key] = None if draft.reduced_tokens is None else end
        fetched = Fetched(turn, draft, call.draft, event.place, event.part)
        self._session.fetched.append(fetched)
        self._miner.again(read.text, turn)

    def _write(self, touched: Touch) -> None:
        size = None if touched.content is None else self._size(touched.content)
        turn = self._session.turns + 1
        for path, tokens in ((touched.path, size), *((path, None) for path in touched.also)):
            self._session.writes.append(Written(turn, clean(path), tokens))
            self._reads.written(path)

    def _enter(self, call: _Call, event: ToolResult, touched: Touch | None) -> None:
        turn = self._session.turns + 1
        kind, path = Kind.TOOL_RESULT, None
        if touched is not None and not touched.aside:
            kind = Kind.FILE if touched.reads else Kind.DIFF
            path = clean(touched.path) if touched.reads else None
        draft = Draft(
            id=f"{_NAMES.get(kind, kind)}-{call.number}",
            kind=kind,
            tokens=1,
            time=self._since(event.time, call.event.time, event.place),
            path=path,
            tool=call.draft.tool,
            pair=call.draft.pair,
            place=event.place,
            part=event.part,
        )
        if event.text or event.tokens or not event.images:
            draft.tokens = self._size(event.text, event.tokens)
            self._incoming.append(draft)
            if touched is not None and touched.reads and event.text:
                read = Read(draft, len(self._texts))
                self._reads.entered(touched.path, printed(event.text), read)
            self._texts.append(draft)
            self._miner.result(values(event.text), turn)
        self._images(draft, event.images)
        self._budgets.take(draft, event.text)

    # -- what the model writes -------------------------------------------------------------

    def _said(self, event: Message) -> None:
        assert event.call is not None
        self._open(event.call, event.place, event.time)
        size = (event.hidden_bytes + 3) // 4
        if event.text or event.tokens:
            size += self._size(event.text, event.tokens)
        if not size:
            return
        draft = Draft(self._name(event.kind), event.kind, size, place=event.place)
        draft.part = event.part
        self._output.append(draft)
        self._wrote(draft, values(event.text), size, asks=event.kind is Kind.ASSISTANT)

    def _called(self, event: ToolCall) -> None:
        self._open(event.call, event.place, event.time)
        if event.id in self._calls:
            self._findings.breaks("a tool call whose id was used before", event.place)
            return
        arguments = event.arguments
        text = arguments if isinstance(arguments, str) else compact(arguments)
        size = event.tokens or self._size(event.name) + self._size(text)
        frame = 0 if event.tokens or event.as_text else FRAME
        self._counts["call"] += 1
        number = self._counts["call"]
        name = f"call-{number}"
        draft = Draft(
            name,
            Kind.TOOL_CALL,
            size + frame,
            tool=clean(event.name),
            pair=name,
            place=event.place,
            part=event.part,
        )
        call = _Call(event, draft, number)
        self._calls[event.id] = call
        self._output.append(call)
        self._wrote(draft, argument_values(arguments), size, asks=True)

    def _used(self, event: Usage) -> None:
        if event.call in self._model_calls and event.call != self._model_call:
            return
        self._open(event.call, event.place, event.time)
        row = self._session.recorded.setdefault(self._session.turns, {})
        for name in ("input_tokens", "cached_tokens", "written_tokens", "output_tokens"):
            tokens = getattr(event, name)
            if tokens is not None:
                row[name] = max(tokens, row.get(name, 0))

    def _wrote(self, draft: Draft, found: set[str], size: int, asks: bool) -> None:
        """Count the tokens that the model wrote, and take in what it *asks* by what it mentions."""
        turn = self._session.turns
        self._session.output_tokens[turn] += size
        self._texts.append(draft)
        for source, held in self._miner.wrote(found, turn).items():
            if asks:
                asked = self._asked.setdefault(source, {})
                for value, texts in held.items():
                    asked.setdefault(value, (draft, texts))

    # -- turns -----------------------------------------------------------------------------

    def _open(self, model_call: str, place: int, time: float | None) -> None:
        """Begin another model call, unless *model_call* is the current one."""
        if model_call != self._model_call:
            if model_call in self._model_calls:
                self._findings.breaks(
                    "a part of a model call that stands behind the next call",
                    place,
                    "taken as the later call's",
                )
            else:
                self._close()
                self._begin(model_call)
        if time is not None and (self._said_at is None or time > self._said_at):
            self._said_at = time

    def _begin(self, model_call: str) -> None:
        session = self._session
        session.turns += 1
        session.output_tokens[session.turns] = 0
        self._model_calls.add(model_call)
        self._model_call = model_call
        if self._model:
            session.models[self._model] += 1
        self._settle_times(session.turns)
        self._budgets.settle(self._incoming)
        if session.turns == 1:
            for draft in self._incoming:
                draft.pinned = draft.kind in _PINNED
        arrivals = [*self._late, *self._settle_output(), *self._incoming]
        for draft in arrivals:
            draft.turn = session.turns
        session.arrivals.extend(arrivals)
        self._late, self._incoming, self._said_at = [], [], None

    def _settle_output(self) -> list[Draft]:
        """Return what the last call wrote, but for tool calls that are not answered yet."""
        drafts = []
        for written in self._output:
            if not isinstance(written, _Call):
                drafts.append(written)
            elif written.fetches:
                continue
            elif written.answered:
                drafts.append(written.draft)
            else:
                written.late = True
        self._output = []
        return drafts

    def _settle_task(self) -> None:
        """Take for the task, where no user's message is recorded, the first one in their name."""
        first = (d for d in self._session.first() if d.kind is Kind.USER)
        if not self._counts["task"] and (task := next(first, None)) is not None:
            task.kind, task.id, task.pinned = Kind.TASK, self._name(Kind.TASK), True

    def _settle_times(self, turn: int) -> None:
        """Make the turn's times latencies, and what the user alone took the wait before it."""
        base = self._said_at
        messages = [d for d in self._incoming if d.pair is None]
        waited = max((self._since(d.time, base, d.place) for d in messages), default=0.0)
        if len(messages) == len(self._incoming):
            if waited:
                self._session.waits[turn] = waited
            for draft in messages:
                draft.time = 0.0
            return
        latest = 0.0
        for draft in self._incoming:
            if draft.pair is None:
                draft.time = max(latest, self._since(draft.time, base, draft.place))
            latest = max(latest, draft.time or 0.0)

    def _close(self) -> None:
        """Settle what the current call asked."""
        turn = self._session.turns
        for source, held in sorted(self._asked.items()):
            key = max(held, key=lambda value: (len(value), value))
            mention, texts = held[key]
            for text in texts:
                draft = self._texts[text]
                draft.keys[clean(key)] = self._budgets.place(draft, key)
            source_draft, holders = self._texts[source], tuple(self._texts[n] for n in texts)
            asked = Asked(turn, clean(key), source_draft, mention, holders)
            self._session.asked.append(asked)
        self._asked = {}

    def begin(self, call: str, place: int) -> Session:
        """Begin model call *call* before what it writes is known, and return the session so far.

        What has come belongs to its turn, as if the next event were of that call. It is for a
        history that is still under way: nothing that only the end shows is in the session.
        """
        self._open(call, place, None)
        return self._session

    def finish(self) -> Session:
        """Return the session; a call that was never answered is named."""
        self._close()
        self._settle_task()
        for call in self._calls.values():
            if call is not None and not call.event.last:
                self._findings.breaks("a call that was never answered", call.event.place)
        if self._session.compactions:
            count = counted(len(self._session.compactions), "compaction", "compactions")
            self._findings.note(
                f"{count} of the recording's own: the policy 'recorded' makes them, others need not"
            )
        if self._session.fetched:
            count = counted(len(self._session.fetched), "read brings", "reads bring")
            self._findings.note(f"{count} again what an earlier one had brought: a fetch")
        if self._incoming and self._session.turns:
            count = counted(len(self._incoming), "message or result", "messages and results")
            self._findings.note(f"{count} after the last model call: no request holds them")
        turns = self._session.turns
        self._session.fetched = [f for f in self._session.fetched if f.turn <= turns]
        self._session.writes = [w for w in self._session.writes if w.turn <= turns]
        return self._session

    def _since(self, time: float | None, before: float | None, place: int) -> float:
        """Return the seconds from *before* to *time*, 0 where they are not known."""
        if time is None or before is None:
            return 0.0
        if time - before > LONGEST:
            what = "a time more than a year after the one before it"
            self._findings.breaks(what, place, "the time between is taken as not known")
            return 0.0
        return round(max(0.0, time - before), 3)

    def _size(self, text: str, tokens: int | None = None) -> int:
        return max(1, self._tokenizer.count(text) if tokens is None else tokens)
