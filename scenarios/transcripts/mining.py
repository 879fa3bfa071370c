"""Queries mined from a recording: a later mention of a value that first came in a tool result.

A value counts if it first came in a tool result, stands in at most three of them, and in no earlier
user or system text. The asked source is the latest result the model had seen that holds it; the
call that fetched that result lies at least two model calls back, for what has just come in needs no
memory. One model call asks each source once. Whatever else holds the value, the other results and
what the model itself wrote meanwhile, can answer as well.
"""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["Asked", "Miner"]

_MOST_SOURCES = 3

Asked = dict[int, dict[str, tuple[int, ...]]]
"""Source → each of its values that is mentioned → every text in which the model could read it."""


class Miner:
    """Indexes values by the texts that hold them; each text is looked at once.

    Texts, the results and what the model wrote, are numbered from 0 in the order in which they are
    given. A turn is a model call.
    """

    def __init__(self) -> None:
        self._turns: list[int] = []
        """When each text came into the window."""
        self._sources: dict[str, int | tuple[int, ...] | None] = {}
        """Value → the results that hold it; None: it asks for nothing."""
        self._echoes: dict[str, list[int]] = {}
        """Value → the model's own texts that hold it, if a result holds it, too."""

    def result(self, found: Iterable[str], turn: int) -> None:
        """Take in the values of a tool result that arrives in *turn*."""
        number = len(self._turns)
        self._turns.append(turn)
        for value in found:
            held = self._sources.get(value, ())
            if held is None:
                continue
            if held == ():
                self._sources[value] = number
                continue
            both = (*(held if isinstance(held, tuple) else (held,)), number)
            self._sources[value] = both if len(both) <= _MOST_SOURCES else None

    def again(self, text: int, turn: int) -> None:
        """Take in that *text* comes before the model once more in *turn*."""
        self._turns[text] = turn

    def heard(self, found: Iterable[str]) -> None:
        """Take in the values of a user or system text: the model need not look for them."""
        self._sources.update(dict.fromkeys(found))

    def wrote(self, found: Iterable[str], turn: int) -> Asked:
        """Take in the values of what model call *turn* wrote; return what they ask.

        A value never seen before is the model's own from now on.
        """
        number = len(self._turns)
        self._turns.append(turn + 1)
        asked: Asked = {}
        for value in found:
            held = self._sources.setdefault(value, None)
            if held is None:
                continue
            seen = [
                n for n in (held if isinstance(held, tuple) else (held,)) if self._seen(n, turn)
            ]
            echoes = self._echoes.setdefault(value, [])
            if seen and self._turns[source := seen[-1]] < turn:
                seen.extend(n for n in echoes if self._seen(n, turn))
                asked.setdefault(source, {})[value] = tuple(seen)
            echoes.append(number)
        return asked

    def _seen(self, number: int, turn: int) -> bool:
        return self._turns[number] <= turn
