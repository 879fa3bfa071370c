"""Queries mined from a recording: a later mention of a value that first came in a tool result.

A value counts if it first came in a tool result, stands in at most three of them, and in no earlier
user or system text. The asked source is the latest result in the model's sight that holds it; the
call that fetched that result lies at least two model calls back, for what has just come in needs no
memory. Nothing is asked where something else explains the mention better:

- the model has written the value before, and has that in its sight: it repeats its own words,
  whichever end of a path it wrote, or the path of a package with a name in it (``path.Name``);
- another result holds more of what the mention says: it was taken from there.

One model call asks each source once. Whatever else holds the value, the other results and what the
model itself wrote before, can answer as well.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

__all__ = ["Asked", "Miner"]

_MOST_SOURCES = 3

_NAMED = re.compile(r"([^.]+)\.(?=[A-Z])")

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
        self._gone = 0
        """Texts before this one are out of the recorded model's sight."""
        self._back: set[int] = set()
        """Texts that came again since."""

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
        self._back.add(text)

    def forget(self, before: int) -> None:
        """Take in that the recorded model no longer has the texts numbered below *before*."""
        self._gone = max(self._gone, before)
        self._back.clear()

    def heard(self, found: Iterable[str]) -> None:
        """Take in the values of a user or system text: the model need not look for them."""
        self._sources.update(dict.fromkeys(found))

    def wrote(self, found: Iterable[str], turn: int) -> Asked:
        """Take in the values of what model call *turn* wrote; return what they ask.

        A value never seen before is the model's own from now on.
        """
        number = len(self._turns)
        self._turns.append(turn + 1)
        given = set(found)
        holders: dict[str, list[int]] = {}
        echoes: dict[str, list[int]] = {}
        for value in given:
            held = self._sources.setdefault(value, None)
            if held is None and value != _folder_and_name(value):
                continue
            own = self._echoes.setdefault(value, [])
            echoes[value] = [n for n in own if self._turns[n] <= turn]
            own.append(number)
            if held is not None:
                results = held if isinstance(held, tuple) else (held,)
                holders[value] = [n for n in results if self._turns[n] <= turn]
        for stem in {stem for value in given if (stem := _stem(value))} - given:
            self._echoes.setdefault(stem, []).append(number)
        return self._asked(holders, echoes, turn)

    def _asked(
        self, holders: dict[str, list[int]], echoes: dict[str, list[int]], turn: int
    ) -> Asked:
        """Return what a text asks, by the results and the model's own texts before it."""
        shared = Counter(n for results in holders.values() for n in results if self._in_sight(n))
        asked: Asked = {}
        for value, results in holders.items():
            seen = [n for n in results if n in shared]
            own = (*echoes[value], *echoes.get(_folder_and_name(value) or value, ()))
            if not seen or any(map(self._in_sight, own)):
                continue
            source = max(seen, key=lambda n: (self._turns[n], n))
            fresh = self._turns[source] >= turn
            if not fresh and shared[source] == max(shared[n] for n in seen):
                asked.setdefault(source, {})[value] = (*results, *echoes[value])
        return asked

    def _in_sight(self, text: int) -> bool:
        return text >= self._gone or text in self._back


def _folder_and_name(path: str) -> str | None:
    """Return the last two parts of a path, by which it is known however it is given."""
    *_, folder, name = ["", "", *path.split("/")]
    return f"{folder}/{name}" if folder and " " not in path else None


def _stem(value: str) -> str | None:
    """Return the path in ``path.Name``, where a name that begins with a capital is no ending."""
    folder, slash, name = value.rpartition("/")
    found = _NAMED.match(name) if slash else None
    return f"{folder}/{found[1]}" if found is not None and " " not in value else None
