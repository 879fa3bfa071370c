"""Pings that keep the cached prefix alive: put beside every wait of a workload."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sim.script import KeepAlive, Stimulus, Wait

__all__ = ["KEY", "with_pings"]

KEY = "keep_alive.seconds"
"""The common key that says how often; 0: never."""


def with_pings(stimuli: Iterable[Stimulus], settings: Mapping[str, Any]) -> tuple[Stimulus, ...]:
    """Return *stimuli* with a ping every ``keep_alive.seconds`` in each turn that has a wait.

    It stands behind the first wait of its turn. A turn that has a ping of its own keeps that one.
    """
    every = tuple(stimuli)
    seconds = settings[KEY]
    if not seconds:
        return every
    done = {s.turn for s in every if isinstance(s, KeepAlive)}
    out: list[Stimulus] = []
    for stimulus in every:
        out.append(stimulus)
        if isinstance(stimulus, Wait) and stimulus.turn not in done:
            done.add(stimulus.turn)
            out.append(KeepAlive(stimulus.turn, seconds))
    return tuple(out)
