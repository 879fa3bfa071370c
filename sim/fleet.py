"""A fleet: several agents on one model server, each an engine of its own, in one environment."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import merge
from typing import TYPE_CHECKING, Any

import simpy

from sim.engine import Engine
from sim.errors import AuditError, InputError
from sim.metrics import METRICS
from sim.records import to_dict
from sim.server import Server

if TYPE_CHECKING:
    from sim.policy import Policy
    from sim.prices import Price
    from sim.records import Record
    from sim.script import Script

__all__ = ["FleetRun", "combined", "events", "run_fleet"]

_LARGEST = frozenset({"peak_tokens", "peak_demand_tokens", "peak_share", "total_seconds"})
_LEAST = frozenset({"first_confabulation_turn"})
_RATES = {
    "confabulation_rate": ("confabulated", "queries"),
    "mean_tokens": ("input_tokens", "calls"),
    "cache_hit_rate": ("cached_tokens", "input_tokens"),
}


@dataclass(frozen=True, slots=True)
class FleetRun:
    """What a fleet left: the metrics of each agent and of all, and what its server has served.

    *records* are the event records of each agent, empty where they were not asked for.
    """

    agents: list[dict[str, Any]]
    metrics: dict[str, Any]
    records: list[list[Record]]
    server: Server


def run_fleet(
    scripts: Sequence[Script],
    policies: Sequence[Policy],
    price: Price,
    *,
    strict: bool = False,
    digests: Sequence[str] | None = None,
    keep: bool = False,
    writer: Price | None = None,
) -> FleetRun:
    """Run each of *scripts* under the policy of its place, on one server at *price*, from time 0.

    Agents are numbered from 0, in that order; two of one time act in the order in which they came
    to it. Each run is checked as an agent's alone is. *digests* are those of the scripts where the
    caller has them, *keep* keeps the event records, *writer* is the price of another model that
    writes the summaries. Raises ValueError unless there are as many policies as scripts and at
    least one, and whatever `sim.engine.run` raises, for the agent that meets it first.
    """
    if not scripts or len(scripts) != len(policies):
        raise ValueError(f"{len(scripts)} scripts cannot run under {len(policies)} policies")
    fleet = _Fleet(Server(simpy.Environment(0.0), price), strict, keep, writer)
    known = [s.digest() for s in scripts] if digests is None else digests
    for script, policy, digest in zip(scripts, policies, known, strict=True):
        fleet.add(script, policy, digest)
    fleet.play()
    agents = [fleet.metrics[agent] for agent in range(len(scripts))]
    kept = [fleet.records[agent] for agent in range(len(scripts))] if keep else []
    return FleetRun(agents, combined(agents), kept, fleet.server)


class _Fleet:
    """The agents on one server; each is measured and let go as soon as it ends."""

    def __init__(self, server: Server, strict: bool, keep: bool, writer: Price | None) -> None:
        self.server = server
        self._writer = writer
        self.metrics: dict[int, dict[str, Any]] = {}
        self.records: dict[int, list[Record]] = {}
        self._strict = strict
        self._keep = keep
        self._running = 0
        self._over = server.env.event()
        """The last agent has ended, or one has met an error."""
        self._error: Exception | None = None

    def add(self, script: Script, policy: Policy, digest: str) -> None:
        """Let another agent begin at the start."""
        number = self._running
        client = self.server.client(number)
        try:
            price, writer = self.server.price, self._writer
            engine = Engine(script, policy, price, self._strict, digest, client, writer)
        except InputError as error:
            raise InputError(f"agent {number}: {error}") from None
        self._running += 1
        self.server.env.process(self._agent(number, engine))

    def play(self) -> None:
        """Play all of them to their ends, or to the first error, which is raised."""
        self.server.env.run(until=self._over)
        if self._error is not None:
            raise self._error

    def _agent(self, number: int, engine: Engine) -> Generator[simpy.Event, Any, None]:
        yield from engine.play()
        try:
            self._measure(number, engine)
        except Exception as error:
            # SimPy would raise a copy, made from its arguments alone, without its place.
            self._error = self._error or error
        self._running -= 1
        if (self._error is not None or not self._running) and not self._over.triggered:
            self._over.succeed()

    def _measure(self, number: int, engine: Engine) -> None:
        try:
            run = engine.end()
        except AuditError as error:
            raise AuditError(f"agent {number}: {error}") from error
        self.metrics[number] = run.metrics
        if self._keep:
            self.records[number] = run.records


def combined(agents: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the metrics of a fleet from those of its *agents*.

    Counts, tokens, dollars and seconds are sums; peaks and the length of the run are the largest;
    rates are made anew from the sums; the first confabulation is the earliest turn of all. It has
    failed if any has. What is None for an agent is left out of peaks and turns; of a sum, it makes
    the whole None. Raises ValueError if there are no agents.
    """
    if not agents:
        raise ValueError("a fleet has at least one agent")
    found: dict[str, Any] = {"status": _status(agents), "reason": _reason(agents)}
    for name in (metric.name for metric in METRICS):
        values = [agent[name] for agent in agents]
        known = [value for value in values if value is not None]
        if name in _LARGEST:
            found[name] = max(known, default=None)
        elif name in _LEAST:
            found[name] = min(known, default=None)
        elif name not in _RATES:
            found[name] = sum(known) if len(known) == len(values) else None
        else:
            found[name] = None
    for name, (part, whole) in _RATES.items():
        if found[whole]:
            found[name] = found[part] / found[whole]
    return found


def events(records: Iterable[Sequence[Record]]) -> Iterator[dict[str, Any]]:
    """Yield the records of all agents as dicts with the number of their *agent*, by time.

    Of one time, those of the agent with the lowest number come first.
    """
    told = (
        [(record[1], agent, record) for record in of_agent]
        for agent, of_agent in enumerate(records)
    )
    for _, agent, record in merge(*told, key=lambda each: each[:2]):
        kind, *rest = to_dict(record).items()
        yield dict([kind, ("agent", agent), *rest])


def _status(agents: Sequence[Mapping[str, Any]]) -> str:
    return "failed" if any(agent["status"] == "failed" for agent in agents) else "completed"


def _reason(agents: Sequence[Mapping[str, Any]]) -> str:
    """Return how many have failed and what the first of them says, nothing if none has."""
    failed = [number for number, agent in enumerate(agents) if agent["status"] == "failed"]
    if not failed:
        return ""
    first = agents[failed[0]]["reason"]
    return f"{len(failed)} of {len(agents)} agents failed; agent {failed[0]}: {first}"
