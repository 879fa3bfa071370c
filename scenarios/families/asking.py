"""The questions: about what was just read, and back to old topics after a heavy-tailed lag."""

from __future__ import annotations

from scenarios.families.builder import Builder
from scenarios.families.past import Item, Past
from scenarios.families.sizes import count, pareto_lag, spread
from sim.script import Query

__all__ = ["MOST", "Asking"]

MOST = 4
"""The most questions of one sort in one turn."""

_DRAWS = 5


class Asking:
    """Asks, at the end of each turn, what the model needs to know in it.

    A fresh question touches one segment of this turn or of the turn before, so that nothing is
    re-scored that has gone. A return goes back a Pareto lag of turns, touches topic mates, and is
    left out where it would go back behind the first turn.
    """

    def __init__(self, builder: Builder, past: Past) -> None:
        self._builder = builder
        self._past = past
        self._settings = builder.settings
        self._fresh = builder.rows("fresh", 1 + MOST * _DRAWS)
        self._returns = builder.rows("returns", 1 + MOST * _DRAWS)

    def ask(self, turn: int) -> None:
        """Put the questions of *turn*, whose arrivals are all in the past's book."""
        settings = self._settings
        number = 0
        draws = self._fresh[turn]
        for at in range(1, 1 + _DRAWS * count(settings["fresh.rate"], draws[0]), _DRAWS):
            item = self._past.recent(draws[at])
            if item is not None:
                number += 1
                self._put(turn, number, self._past.latest(item), draws[at + 1], draws[at + 2])
        draws = self._returns[turn]
        for at in range(1, 1 + _DRAWS * count(settings["returns.rate"], draws[0]), _DRAWS):
            lag = pareto_lag(settings["returns.min_lag"], settings["returns.alpha"], draws[at + 3])
            index = self._past.at(turn - lag, draws[at])
            if index is not None:
                number += 1
                item = self._past.latest(self._past.items[index])
                mates = self._past.mates(index, settings["returns.mates"])
                self._put(turn, number, item, draws[at + 1], draws[at + 2], mates)

    def _put(
        self,
        turn: int,
        number: int,
        item: Item,
        which: float,
        relevance: float,
        mates: list[Item] | None = None,
    ) -> None:
        touches = dict.fromkeys([item.id, *(self._past.latest(m).id for m in mates or ())])
        low, high = self._settings["query.low"], self._settings["query.high"]
        self._builder.put(
            Query(
                turn,
                f"t{turn}.q{number}",
                item.keys[int(which * len(item.keys))],
                spread(low, high, relevance),
                tuple(touches),
            )
        )
