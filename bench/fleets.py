"""Fleets: several agents of one scenario on one server, run as one cell."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bench.cells import blamed, make_policy, not_applicable, price_of, values_of, writer_of
from bench.turns import turns_of
from sim.errors import InputError, PolicyError

if TYPE_CHECKING:
    from bench.turns import Turns
    from scenarios.scenario import Scenario
    from sim.fleet import FleetRun
    from sim.records import Record
    from sim.script import Script

__all__ = ["Fleet", "fleet_of", "fleet_outcome", "one_agent", "scripts_of"]


@dataclass(frozen=True, slots=True)
class Fleet:
    """What a fleet leaves: the metrics of all, those of each agent, and how busy the server was.

    *records* are the event records of each agent. Where the policy is not applicable, the metrics
    say so and all else is empty.
    """

    metrics: dict[str, Any]
    agents: list[dict[str, Any]] = field(default_factory=list)
    records: list[list[Record]] = field(default_factory=list)
    server: Mapping[str, Any] = field(default_factory=dict)


def scripts_of(scenario: Scenario, seed: int) -> list[Script]:
    """Return the script of each agent of *scenario* for *seed*; raises InputError as it does."""
    return [scenario.script(seed, agent) for agent in range(scenario.agents)]


def one_agent(scenarios: Iterable[Scenario], command: str) -> None:
    """Raise InputError if a scenario has several agents, which *command* does not run."""
    for scenario in scenarios:
        if scenario.agents > 1:
            raise InputError(
                f"{command} runs one agent, and {scenario.name!r} has {scenario.agents:,} agents"
            )


def fleet_of(scripts: Sequence[Script], policy: str, strict: bool = False) -> Fleet:
    """Run each of *scripts* under a *policy* of its own, on one server, and keep every record.

    Raises InputError for an unknown policy and, with *strict*, PolicyError for the first bug.
    """
    reason = not_applicable(scripts[0], make_policy(policy))
    if reason is not None:
        return Fleet(values_of({"status": "not-applicable", "reason": reason}))
    run = _simulate(scripts, policy, strict, [s.digest() for s in scripts], keep=True)
    each = [values_of(metrics) for metrics in run.agents]
    return Fleet(values_of(run.metrics), each, run.records, run.server.figures())


def fleet_outcome(
    scripts: Sequence[Script],
    policy: str,
    strict: bool,
    digests: Sequence[str],
    turns: bool = False,
) -> tuple[dict[str, Any], str | None, Turns | None]:
    """Return the metrics of a fleet, the hash of what it met, and with *turns* each agent's turns.

    The last two are None if it came to nothing. *digests* are the scripts' own. With *strict*, a
    policy bug of one agent fails the fleet.
    """
    reason = not_applicable(scripts[0], make_policy(policy))
    if reason is not None:
        return values_of({"status": "not-applicable", "reason": reason}), None, None
    try:
        run = _simulate(scripts, policy, strict, digests, keep=turns)
    except PolicyError as error:
        reason = f"{error.rule}: {error}"
        return values_of({"status": "failed", "reason": reason, "policy_bugs": 1}), None, None
    met = hashlib.blake2b(" ".join(digests).encode(), digest_size=16).hexdigest()
    return values_of(run.metrics), met, _turns(run.records) if turns else None


def _turns(records: Sequence[Sequence[Record]]) -> Turns:
    """Return the turns of all agents, one agent after the other."""
    each = [turns_of(mine, agent) for agent, mine in enumerate(records)]
    return {name: [value for found in each for value in found[name]] for name in each[0]}


def _simulate(
    scripts: Sequence[Script], spec: str, strict: bool, digests: Sequence[str], *, keep: bool
) -> FleetRun:
    from sim.fleet import run_fleet

    policies = [make_policy(spec) for _ in scripts]
    settings = scripts[0].settings
    price, writer = price_of(settings), writer_of(settings)
    with blamed(scripts[0], policies[0]):
        return run_fleet(
            scripts, policies, price, strict=strict, digests=digests, keep=keep, writer=writer
        )
