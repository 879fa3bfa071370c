"""The adapter: a policy that turns the history of an agent under way into the request to send."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from live.dialects import Dialect, dialect_of
from live.explaining import told
from live.growth import Growth, Led
from live.history import History, plain
from live.homes import Homes
from live.layout import Layout, Room
from live.texts import Count
from live.wording import Read, Summarise, Wording
from scenarios import reference
from scenarios.transcripts.findings import shown
from sim.engine import lacking
from sim.errors import InputError, unknown
from sim.stepping import Stepped
from sim.tokens import Tokenizer, tokenizer

if TYPE_CHECKING:
    from sim.policy import Policy

__all__ = ["Agent", "adapt"]

_ENDLESS = 1_000_000_000
"""Turns of a history of which nobody has said how long it gets."""


class _Given:
    """Counts tokens by a function of the caller's."""

    name = "given"

    def __init__(self, count: Count) -> None:
        self.count = count


def adapt(
    policy: str | Policy,
    *,
    budget: int,
    format: str | None = None,
    system: Any = None,
    tools: Any = None,
    settings: Mapping[str, object] | None = None,
    overhead: int = 0,
    summarise: Summarise | None = None,
    read: Read | None = None,
    count: Count | None = None,
) -> Agent:
    """Return an agent that keeps a live history within *budget* tokens under *policy*.

    *policy* is a spec, as after ``-p``, or a fresh policy object. *format* is ``anthropic`` or
    ``openai``; without it the messages tell. *system* and *tools* are what is sent beside the
    messages: they count, and are not changed. *settings* are common keys by dotted name, the price
    among them; ``turns`` says how many calls there will be, where that is known. *overhead* counts
    the tokens of a request that neither messages nor tools show. *summarise* writes summaries,
    *read* runs a read again by tool and arguments, *count* counts tokens (by default as replays
    do).
    Raises InputError for what is unknown or out of range, and for a policy that needs to know what
    a history under way does not tell.
    """
    from policies.registry import make

    made = make(policy) if isinstance(policy, str) else policy
    counter: Tokenizer = tokenizer() if count is None else _Given(count)
    if isinstance(overhead, bool) or not isinstance(overhead, int) or overhead < 0:
        raise InputError(f"overhead is a whole number of tokens from 0, not {shown(overhead)}")
    engine = _engine(made, _settings(budget, settings or {}))
    beside = plain(system), plain(tools)
    return Agent(engine, counter, format, beside, overhead, summarise, read)


def _settings(budget: int, settings: Mapping[str, object]) -> dict[str, Any]:
    known = reference.keys()
    given = reference.read_overrides({**settings, "budget": budget})
    for name in given:
        if name not in known:
            raise InputError(unknown("key of a live history", name, known))
    settled = reference.settle(reference.defaults(), {"turns": _ENDLESS, **given})
    conflicts = list(reference.conflicts(settled))
    if conflicts:
        raise InputError("\n".join(conflicts))
    return settled


def _engine(policy: Policy, settings: dict[str, Any]) -> Stepped:
    """Return the engine of a live history.

    Raises InputError for what is no policy, and for one that needs what no live history tells.
    """
    from bench.cells import price_of

    if not callable(getattr(policy, "before_call", None)):
        raise InputError(f"{shown(type(policy).__name__)} is no policy: it has no before_call")
    engine = Stepped(settings, policy, price_of(settings))
    needs = {*lacking(engine.script, policy), *({"future"} & set(policy.needs))}
    if needs:
        raise InputError(
            f"policy {policy.label} needs {', '.join(sorted(needs))}, which a history under way "
            "does not offer"
        )
    return engine


class Agent:
    """One live history under one policy; made by :func:`adapt`.

    The requests depend on the history alone: an agent that is given a whole history at once sends
    what one sends that has followed it from the start.
    """

    def __init__(
        self,
        engine: Stepped,
        counter: Tokenizer,
        format: str | None,
        beside: tuple[Any, Any],
        overhead: int,
        summarise: Summarise | None,
        read: Read | None,
    ) -> None:
        self._engine = engine
        self._counter = counter
        self._format = format
        self._beside = beside
        self._overhead = overhead
        self._given = summarise, read
        self._history = History()
        self._parts: _Parts | None = None
        if format is not None:
            self._parts = self._made()

    def request(self, messages: Sequence[Any]) -> list[Any]:
        """Return the messages to send for the whole history *messages*, which grows at its end.

        The same history again gives the same request. Raises InputError where the history is not
        the one before with more behind it, where it is no list of messages, or where the run fails:
        what is pinned does not fit.
        """
        new = self._history.take(messages)
        parts = self._parts = self._parts or self._made()
        if new:
            self._play(parts)
        request = parts.layout.request(self._engine.window, self._room(parts))
        return parts.messages(self._history, request)

    def _room(self, parts: _Parts) -> Room:
        view = self._engine.world.view
        headings = parts.wording.headings(self._engine.window)
        return Room(view.budget - view.tokens - headings, view.turn)

    @property
    def format(self) -> str | None:
        """The format of the history, None until it is known."""
        return None if self._parts is None else self._parts.dialect.name

    @property
    def window(self) -> list[tuple[str, int]]:
        """The segments of the last request by id, each with its tokens, in order."""
        return [(segment.id, segment.tokens) for segment in self._engine.window]

    @property
    def tokens(self) -> int:
        """The tokens of the last request as the policy counts them."""
        return self._engine.world.view.tokens

    @property
    def warnings(self) -> list[str]:
        """What in the history could not be read, a sentence each, with place and count."""
        return [] if self._parts is None else self._parts.growth.findings.warnings()

    def why(self, what: int | str) -> list[str]:
        """Say what became of a message, a call or a segment, a sentence for each thing that did.

        *what* is the number of a message in the history, from 0, the id of a tool call, or the id
        of a segment. Raises InputError if there is none.
        """
        parts = self._parts
        world = self._engine.world
        names = [] if parts is None else parts.homes.segments(what)
        if not names and what in world.log:
            names = [str(what)]
        if not names:
            raise InputError(f"nothing in the history is {shown(what)}")
        return [line for name in names for line in told(world.log[name], world.ledger)]

    def metrics(self) -> dict[str, Any]:
        """Return what the history has cost and saved so far, as a run's metrics.

        They are the simulator's books, at the price that the settings name: a call counts once its
        answer is in the history, and what was brought back counts the call that it would have cost.
        """
        return self._engine.metrics()

    def _made(self) -> _Parts:
        system, tools = self._beside
        dialect = dialect_of(self._format, self._history.plain, system, tools)
        return _Parts(dialect, self._engine, self._counter, dialect.head(system, tools), self)

    def _play(self, parts: _Parts) -> None:
        """Play what is new in the history, up to the call that it leads up to."""
        engine, world = self._engine, self._engine.world
        parts.homes.grow(self._history.plain)
        for step in parts.growth.steps(self._history.plain):
            seen = len(world.records)
            if isinstance(step, Led):
                engine.lead(step.turn)
                parts.homes.settle(step.drafts, step.fetched, world.log)
            else:
                engine.follow(step.queries, step.facts, step.output)
            for record in world.records[seen:]:
                parts.wording.met(record)
            if isinstance(step, Led):
                parts.layout.begin(self._room(parts))


class _Parts:
    """What is made once the format of a history is known."""

    def __init__(
        self,
        dialect: Dialect,
        engine: Stepped,
        counter: Tokenizer,
        head: Mapping[str, Any],
        agent: Agent,
    ) -> None:
        world = engine.world
        summarise, read = agent._given
        self.dialect = dialect
        self.homes = Homes(dialect)
        settings, overhead = engine.script.settings, agent._overhead
        self.growth = Growth(dialect.read, counter, settings, head, overhead)
        self.wording = Wording(dialect, self.homes, world.log, counter.count, summarise, read)
        self.layout = Layout(dialect, self.homes, self.wording, world.log, world.ledger)
        self.wording.render = lambda given: self.messages(
            agent._history, self.layout.extract(given)
        )

    def messages(self, history: History, request: Sequence[Any]) -> list[Any]:
        """Return the fragments of a request as messages."""
        return self.dialect.messages(history.messages, history.plain, request)
