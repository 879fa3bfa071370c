"""Pings that keep the cached prefix alive: put beside every wait of a workload."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sim.errors import InputError
from sim.script import KeepAlive, Stimulus, Wait

__all__ = ["KEY", "MOST", "too_many", "with_pings"]

KEY = "keep_alive.seconds"
"""The common key that says how often; 0: never."""

MOST = 100_000
"""Pings of one wait: two months of one a minute."""


def with_pings(stimuli: Iterable[Stimulus], settings: Mapping[str, Any]) -> tuple[Stimulus, ...]:
    """Return *stimuli* with a ping every ``keep_alive.seconds`` in each turn that has a wait.

    It stands behind the first wait of its turn. A turn that has a ping of its own keeps that one.
    Raises InputError where one wait would have more than :data:`MOST` pings.
    """
    every = tuple(stimuli)
    seconds = settings[KEY]
    if not seconds:
        return every
    done = {s.turn for s in every if isinstance(s, KeepAlive)}
    own = [s for s in every if s.turn not in done]
    for _, message in too_many([KeepAlive(s.turn, seconds) for s in own], own):
        raise InputError(f"{KEY}: {message}")
    out: list[Stimulus] = []
    for stimulus in every:
        out.append(stimulus)
        if isinstance(stimulus, Wait) and stimulus.turn not in done:
            done.add(stimulus.turn)
            out.append(KeepAlive(stimulus.turn, seconds))
    return tuple(out)


def too_many(
    pings: Iterable[KeepAlive], stimuli: Iterable[Stimulus]
) -> Sequence[tuple[KeepAlive, str]]:
    """Return each of *pings* that the waits among *stimuli* would have sent too often, and why."""
    waits: dict[int, float] = {}
    for stimulus in stimuli:
        if isinstance(stimulus, Wait):
            waits[stimulus.turn] = waits.get(stimulus.turn, 0.0) + stimulus.seconds
    return [
        (
            ping,
            f"one every {ping.seconds:g} seconds is more than {MOST:,} pings in the wait of "
            f"{waits[ping.turn]:,.12g} seconds before turn {ping.turn}",
        )
        for ping in pings
        if waits.get(ping.turn, 0.0) > MOST * ping.seconds
    ]
