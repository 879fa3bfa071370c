"""The engine itself as oracle: what its own reader could say after each record of a run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sim.engine import Engine
from sim.prices import CacheRules, Price, Speed
from sim.reader import Reader
from sim.segments import State

__all__ = ["PRICE", "Live", "play"]

PRICE = Price(
    "hand", 2.0, 2.5, 0.2, 10.0, CacheRules("auto", 1, 1, 300.0), Speed(1e3, 1e4, 0.5, 100.0)
)
DRAWS = (0.0, 0.3, 0.5, 0.8, 0.9, 1.0 - 1e-12)
"""One in each stretch between the shares that the random scripts give their readers."""


class Drawn(Reader):
    """A reader that draws what it is told to."""

    __slots__ = ("value",)

    def draw(self, query: str) -> float:
        return self.value


@dataclass
class Live:
    """After each record: window as (id, tokens, salience), and of each key what is possible."""

    records: list[Any]
    windows: list[list[tuple[str, int, float]]] = field(default_factory=list)
    possible: list[dict[str, str]] = field(default_factory=list)
    """``correct`` whatever is drawn, ``asks`` for some draw, ``never``."""
    metrics: dict[str, Any] = field(default_factory=dict)


def play(script: Any, policy: Any, keys: Any, every: bool = True) -> Live:
    engine = Engine(script, policy, PRICE, False, script.digest())
    world = engine.world
    live = Live(world.records)
    reader = Drawn(engine.settings, world.store, world.carriers, script.draws)

    def look() -> None:
        live.windows.append([(s.id, s.tokens, world.view.salience(s)) for s in world.window])
        live.possible.append({key: _possible(world, reader, key) for key in keys})

    original = world.record

    def record(kind: str, *values: Any) -> None:
        original(kind, *values)
        if every:
            look()

    look()
    world.record = record
    engine.env.process(engine.play())
    engine.env.run()
    live.metrics = engine.end().metrics
    return live


def _possible(world: Any, reader: Drawn, key: str) -> str:
    found = set()
    for value in DRAWS:
        reader.value = value
        found.add(_outcome(world, reader.read("q", key), key))
    if found == {"correct"}:
        return "correct"
    return "asks" if found & {"correct", "asks"} else "never"


def _outcome(world: Any, reading: Any, key: str) -> str:
    if reading.outcome in ("correct", "page"):
        return "correct" if reading.outcome == "correct" else "asks"
    if reading.outcome != "fetch":
        return "never"
    wanted = reading.wanted
    if wanted.state is State.NEVER_ADMITTED:
        facts = world.store.fetched_facts(wanted)
    elif key in wanted.lost:
        return "never"
    else:
        facts = world.store.fetched_facts(wanted)
    return "asks" if any(fact.key == key for fact in facts) else "never"
