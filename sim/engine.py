"""The engine: plays one script under one policy, turn by turn, as a SimPy process."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import simpy

from sim.answers import Answers
from sim.attribution import Cause, own
from sim.audit import audit
from sim.backstop import truncate
from sim.door import Door
from sim.errors import AuditError, InputError
from sim.forecast import Forecast
from sim.harness import Harness
from sim.ledger import Ledger
from sim.meter import Meter
from sim.metrics import measure
from sim.prefix_cache import Usage
from sim.reader import Reader
from sim.reduction import raw_tokens
from sim.script import Arrival, Attempt, Script, Stimulus, Turn, WorldRefresh
from sim.segments import stand_ins
from sim.settings import Settings
from sim.world import World

if TYPE_CHECKING:
    from sim.meter import Sent
    from sim.policy import Policy
    from sim.prices import Price
    from sim.records import Record
    from sim.server import Client

__all__ = ["Engine", "Failed", "Run", "lacking", "run"]

_PING_OUTPUT = 1
"""Tokens that the answer to a ping has: the least there can be."""


@dataclass(frozen=True, slots=True)
class Run:
    """What a run left: its records, the metrics measured from them, and the ledger."""

    records: list[Record]
    metrics: dict[str, Any]
    digest: str
    ledger: Ledger


class Failed(Exception):
    """The run cannot go on; the message is the reason."""


def lacking(script: Script, policy: Policy) -> list[str]:
    """Return the capabilities that *policy* needs and *script* does not offer.

    Every script offers its ``future``, and ``edits`` unless its history is append-only.
    """
    offered = script.capabilities | {"future"}
    if script.settings["history"] == "editable":
        offered |= {"edits"}
    return sorted(frozenset(policy.needs) - offered)


def run(
    script: Script,
    policy: Policy,
    price: Price,
    *,
    strict: bool = False,
    digest: str | None = None,
    writer: Price | None = None,
) -> Run:
    """Run *script* under *policy* at *price*, check it by a second reckoning and measure it.

    *writer* is the price of another model, where one writes the summaries. *digest* is
    ``script.digest()`` where the caller has it already. Raises InputError if the pins of turn 1
    exceed the budget, PolicyError with *strict* on an undeclared inadmissible action, AuditError
    if the recount from the records disagrees.
    """
    known = script.digest() if digest is None else digest
    engine = Engine(script, policy, price, strict, known, writer=writer)
    engine.env.process(engine.play())
    engine.env.run()
    return engine.end()


def _agree(world: World, recount: Any) -> None:
    books = world.ledger.books.as_dict()
    books["resident"] = world.window.tokens
    for name, tokens in books.items():
        if recount.books.get(f"{name}_tokens") != tokens:
            raise AuditError(
                f"the recount finds {recount.books.get(f'{name}_tokens')} {name} tokens, "
                f"the ledger {tokens}"
            )
    for segment in world.log.values():
        if not segment.resident and recount.why(segment.id) != world.ledger.why(segment.id):
            raise AuditError(f"the recount explains the absence of {segment.id} differently")


class Engine:
    """One agent in a SimPy environment: *script* under *policy* at *price*.

    Its life is the process :meth:`play`; :meth:`end` checks and measures what it left. Agents that
    share a server share its environment, and each sends its requests through a *client* of its own;
    without one, the agent is alone and nothing is queued for. Where the length of a turn is fixed,
    a request takes no time and does not queue either. Raises InputError if the pins of turn 1
    exceed the budget.
    """

    def __init__(
        self,
        script: Script,
        policy: Policy,
        price: Price,
        strict: bool,
        digest: str,
        client: Client | None = None,
        writer: Price | None = None,
    ) -> None:
        settings = Settings.from_flat(script.settings)
        self.script = script
        self.policy = policy
        self.settings = settings
        self.digest = digest
        self.world = World(settings, policy, script.draws, _names(script), strict)
        self.world.meter = _meter(self.world, price, client)
        self.world.writer = writer
        self.world.view.cache = Forecast(self.world)
        self.world.view.future = script if "future" in policy.needs else None
        self.harness = Harness(self.world)
        self.door = Door(self.world, self.harness)
        self.reader = Reader(settings, self.world.store, self.world.carriers, script.draws)
        self.answers = Answers(self.world, self.harness, self.door, self.reader)
        self.world.view.wants = self.answers.wants
        self.env = simpy.Environment(0.0) if client is None else client.env
        self._client = None if settings.clock_turn_seconds else client
        self._turns = script.turns()
        self._attempts = {a.turn: a for a in script.attempts}
        self._last_attempt = 0 if script.attempts_cut else max(self._attempts, default=0)
        self._status, self._reason = "completed", ""
        self._error: Exception | None = None
        self._ended = 0.0
        self._last: Attempt | None = None
        self._check_pins()
        self.world.record(
            "run",
            script.scenario,
            policy.label,
            script.seed,
            settings.budget,
            price.name,
            (price.input, price.write, price.read, price.output),
            tuple(sorted(policy.declares)),
            digest,
        )

    def _check_pins(self) -> None:
        first = self._turns.get(1, Turn()).arrivals
        image = self.settings.image_tokens
        pins = {a.id: raw_tokens(a, image) for a in first if a.pinned}
        total = sum(pins.values())
        if total > self.settings.budget:
            names = ", ".join(f"{name} {tokens}" for name, tokens in pins.items())
            raise InputError(
                f"the pins of turn 1 need {total} tokens and the budget is "
                f"{self.settings.budget} ({names})"
            )

    def play(self) -> Generator[simpy.Event, Any, None]:
        """Play every turn; what goes wrong is raised by :meth:`end`."""
        try:
            self._start()
            yield from self._play()
        except Exception as error:
            # SimPy would raise a copy, made from its arguments alone, without its place.
            self._error = error
        self._ended = self.env.now

    def _start(self) -> None:
        start = getattr(self.policy, "start", None)
        if start is not None:
            start(self.world.view)
        self.answers.start()

    def end(self) -> Run:
        """Record the end, check the run by a second reckoning and measure it.

        Raises what the process met: PolicyError with strict on an undeclared inadmissible action;
        AuditError if the recount disagrees.
        """
        if self._error is not None:
            raise self._error
        world = self.world
        world.meter.close()
        world.tick(self._ended)
        window = tuple(s.id for s in world.window)
        world.record("end", self._status, self._reason, window, self._ended)
        recount = audit(world.records)
        metrics = measure(world.records)
        _agree(world, recount)
        return Run(world.records, metrics, self.digest, world.ledger)

    def _play(self) -> Generator[simpy.Event, Any, None]:
        try:
            for number in range(1, self.settings.turns + 1):
                attempt = self._attempts.get(number)
                branch = yield from self._turn(number, attempt)
                if branch == "ok":
                    return
                if number == self._last_attempt:
                    raise Failed("attempts exhausted")
        except Failed as failure:
            self._status, self._reason = "failed", str(failure)

    def _turn(self, number: int, attempt: Attempt | None) -> Generator[simpy.Event, Any, str]:
        turn, branch = self._begin(number, self._turns.get(number, Turn()), attempt)
        yield from self._lead_up(turn)
        yield from self._call(turn, extra=False)
        yield from self._follow_up(turn)
        return branch

    def _begin(self, number: int, turn: Turn, attempt: Attempt | None = None) -> tuple[Turn, str]:
        """Begin a turn; return what it meets, and the branch of its attempt, if it has one."""
        world = self.world
        view = world.view
        view.turn, view.spent, view.quiescent = number, False, True
        world.freed = 0
        world.tick(self.env.now)
        branch = ""
        if attempt is not None:
            turn, branch = self._guard(turn, attempt)
        else:
            world.record("turn", None, "", ())
        view.compaction = turn.compaction
        return turn, branch

    def _lead_up(self, turn: Turn) -> Generator[simpy.Event, Any, None]:
        """Play what comes before the call of a turn: wait, changes, arrivals, writes, the pass."""
        world = self.world
        if turn.wait:
            yield from self._wait(turn)
            self._hook("on_idle", turn.wait)
        for change in turn.changes:
            world.meter.change(change.what, change.value)
            world.record("change", change.what, change.value)
        yield from self._arrivals(turn.arrivals)
        self._writes(turn)
        self._demand()
        self._pass()

    def _follow_up(self, turn: Turn) -> Generator[simpy.Event, Any, None]:
        """Play what comes of the answer: what is asked for, further calls, the end of the turn."""
        came = self.answers.answer(turn)
        while came:
            self._pass()
            yield from self._call(turn, extra=True)
            came = self.answers.read_on()
        self.answers.settle()
        self._hook("after_turn")
        if self.settings.clock_turn_seconds:
            yield self.env.timeout(self.settings.clock_turn_seconds)

    def _wait(self, turn: Turn) -> Generator[simpy.Event, Any, None]:
        """Let the wait before a turn pass, with a ping each time the last one is old enough."""
        world, end = self.world, self.env.now + turn.wait
        while turn.keep_alive and self.env.now + turn.keep_alive < end:
            yield self.env.timeout(turn.keep_alive)
            world.tick(self.env.now)
            if world.meter.requests:
                self._ping()
        yield self.env.timeout(end - self.env.now)
        world.tick(self.env.now)

    def _ping(self) -> None:
        meter = self.world.meter
        usage, causes, *_ = meter.ping(self.env.now)
        output_usd = meter.output_usd(_PING_OUTPUT, usage.tokens)
        self.world.record(
            "ping",
            usage.tokens,
            usage.read,
            usage.written,
            usage.plain,
            _PING_OUTPUT,
            meter.input_usd(usage) + output_usd,
            own(causes, "keep-alive", output_usd),
        )

    # -- before the pass -------------------------------------------------------------------

    def _guard(self, turn: Turn, attempt: Attempt) -> tuple[Turn, str]:
        world = self.world
        missing = [key for key in attempt.facts if not self.reader.meets(key)]
        missing += [path for path in attempt.paths if not self._current(path)]
        branch = ("failed" if missing else "ok") if attempt.guarded else "script"
        world.record("turn", attempt.number, branch, tuple(missing))
        repeated = self._last is not None and not self._traced(self._last.number)
        world.record("attempt", attempt.number, branch, repeated)
        self._last = attempt
        self.door.roles_changed(*world.roles.begin(attempt.number))
        stimuli: tuple[Stimulus, ...] = attempt.ok if branch == "ok" else attempt.failed
        return turn.joined(stimuli), branch

    def _current(self, path: str) -> bool:
        store = self.world.store
        return any(store.current(s) for s in self.world.window.copies(path))

    def _traced(self, attempt: int) -> bool:
        """Whether words, diff or line of a failed attempt are resident."""
        return any(
            s.resident or next(iter(stand_ins(s)), None) is not None
            for s in self.world.roles.words(attempt)
        )

    def _arrivals(self, arrivals: list[Arrival]) -> Generator[simpy.Event, Any, None]:
        """Deliver what comes, each after its own latency; equal times in script order."""
        start = self.env.now
        for arrival in sorted(arrivals, key=lambda a: a.time):
            wait = start + arrival.time - self.env.now
            if wait > 0:
                yield self.env.timeout(wait)
                self.world.tick(self.env.now)
            self.door.decide(self.door.arrive(arrival))

    def _writes(self, turn: Turn) -> None:
        world = self.world
        for write in turn.writes:
            if isinstance(write, WorldRefresh):
                self._refresh(write)
                continue
            world.store.write(write.path, write.tokens, write.facts)
            world.roles.write(write.path)
            self._written(write.path)
            self.door.roles_changed((), (write.path,))
            self._hook("on_write", write.path)

    def _written(self, path: str) -> None:
        world = self.world
        stale = tuple(s.id for s in world.view.stale(path))
        world.record("write", path, world.store.version(path), stale)

    def _refresh(self, refresh: WorldRefresh) -> None:
        world = self.world
        segment = world.log.get(refresh.segment)
        if segment is None:
            return
        world.store.change(segment, refresh.tokens)
        if segment.path is not None:
            self._written(segment.path)
        if segment.resident:
            self.harness.replace_content(segment, refresh.tokens, "world")
        else:
            segment.version += segment.path is None
            world.record("refresh", segment.id, 0, 0, segment.version, "world")
        if segment.path is not None:
            self._hook("on_write", segment.path)

    # -- the pass --------------------------------------------------------------------------

    def _demand(self) -> None:
        world = self.world
        world.record("demand", world.window.tokens + world.freed, world.window.held_tokens)

    def _pass(self) -> None:
        world = self.world
        self._only_pins()
        self.harness.obey(self.policy.before_call(world.view), "pass")
        if world.window.tokens > self.settings.budget:
            world.view.refused = True
            self._hook("on_overflow")
            world.view.refused = False
        if world.window.tokens > self.settings.budget:
            self._only_pins()
            self._overflow()

    def _overflow(self) -> None:
        """Cut the request that the policy left over the budget, or fail the run for it."""
        if self.settings.overflow == "truncate":
            truncate(self.world)
            return
        raise Failed(
            f"the request has {self.world.window.tokens} tokens and the budget is "
            f"{self.settings.budget}"
        )

    def _only_pins(self) -> None:
        """Fail the run if what is pinned does not fit."""
        world = self.world
        window = world.window
        if "ignores_pins" in world.declares or window.held_tokens <= self.settings.budget:
            return
        names = ", ".join(f"{s.id} {s.tokens}" for s in window if s.held)
        raise Failed(
            f"the pinned segments need {window.held_tokens} tokens and the budget is "
            f"{self.settings.budget} ({names})"
        )

    def _hook(self, name: str, *arguments: object) -> None:
        hook = getattr(self.policy, name, None)
        if hook is not None:
            self.harness.obey(hook(self.world.view, *arguments), name)

    # -- the call --------------------------------------------------------------------------

    def _call(self, turn: Turn, extra: bool) -> Generator[simpy.Event, Any, None]:
        yield from self._before_call(extra)
        output = self._output_tokens()
        send = partial(self._send, turn, output, extra, self.env.now)
        if self._client is not None:
            yield from self._client.serve(send, output)
            self.world.tick(self.env.now)
        else:
            yield from self._until_answered(send(), output)

    def _before_call(self, extra: bool) -> Generator[simpy.Event, Any, None]:
        """Let the time pass that comes before a call."""
        world, settings = self.world, self.settings
        if settings.clock_turn_seconds:
            if extra:
                yield self.env.timeout(settings.clock_extra_call_seconds)
        elif world.rewriting_seconds:
            yield self.env.timeout(world.rewriting_seconds)
        world.rewriting_seconds = 0.0

    def _output_tokens(self) -> int:
        """Return the length of this turn's answer."""
        turn, common = self.world.view.turn, self.settings.call_output_tokens
        return self.script.output_tokens.get(turn, common)

    def _until_answered(self, usage: Usage, output: int) -> Generator[simpy.Event, Any, None]:
        """Let the time pass that a model of its own takes for the answer."""
        if not self.settings.clock_turn_seconds:
            meter = self.world.meter
            seconds = meter.prefill_seconds(usage) + meter.decode_seconds(output)
            yield self.env.timeout(seconds)
        self.world.tick(self.env.now)

    def _send(self, turn: Turn, output: int, extra: bool, asked: float) -> Usage:
        """Send the request that the agent has *asked* for at that time, and note what it met."""
        sent = self._request(asked, extra)
        self._sent(turn, sent, output, extra)
        return sent.usage

    def _request(self, asked: float, extra: bool) -> Sent:
        """Send the window; *extra* says that the turn has sent one before."""
        world = self.world
        world.tick(self.env.now)
        if world.now > asked:
            world.record("queue", world.now - asked)
        return world.request()

    def _sent(self, turn: Turn, sent: Sent, output: int, extra: bool) -> None:
        """Note what was sent, what came back for it, and what it met."""
        self._record_call(sent.usage, output, extra, sent.causes)
        if not extra:
            self.answers.at_call(turn)

    def _record_call(
        self, usage: Usage, output: int, extra: bool, causes: tuple[Cause, ...]
    ) -> None:
        meter = self.world.meter
        self.world.calls += 1
        self.world.record(
            "call",
            usage.tokens,
            usage.read,
            usage.written,
            usage.plain,
            output,
            meter.input_usd(usage),
            meter.output_usd(output, usage.tokens),
            meter.prefill_seconds(usage),
            meter.decode_seconds(output),
            extra,
            causes,
        )


def _meter(world: World, price: Price, client: Client | None) -> Meter:
    settings = world.settings
    marks = settings.cache_breakpoints, settings.cache_long
    if client is None:
        return Meter(world.window, price, *marks)
    return Meter(world.window, price, *marks, client.cache, client.agent, client.call)


def _names(script: Script) -> frozenset[str]:
    stimuli = [*script.stimuli, *(s for a in script.attempts for s in (*a.ok, *a.failed))]
    return frozenset(s.id for s in stimuli if isinstance(s, Arrival))
