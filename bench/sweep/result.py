"""What a sweep found: its rows, and what follows from them over the settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from bench.api import Comparison
from bench.summary import COLUMNS, summary_lines
from bench.sweep.effects import effects
from bench.sweep.leads import leads
from bench.sweep.plan import SETTING
from bench.sweep.winners import changes, winning
from bench.verdict import places

if TYPE_CHECKING:
    from bench.tables.parts import Table

__all__ = ["Sweep"]


@dataclass(frozen=True)
class Sweep(Comparison):
    """A comparison at many settings: `points` has the values of the varied keys, one a setting."""

    points: Sequence[Mapping[str, Any]] = field(default_factory=list)

    @property
    def keys(self) -> list[str]:
        """The varied keys."""
        return list(self.points[0])

    @property
    def columns(self) -> list[str]:
        """Names of a row's values: the varied keys, those of every run, the setting's number."""
        own = super().columns
        at = own.index("price") + 1
        return [*self._front(own), *own[:at], SETTING, *own[at:]]

    def _front(self, own: Sequence[str]) -> list[str]:
        """Return the varied keys that are not among a row's *own* names, as the price is."""
        return [key for key in self.keys if key not in own]

    @cached_property
    def by_setting(self) -> dict[int, list[dict[str, Any]]]:
        """The rows of each setting, by its number."""
        found: dict[int, list[dict[str, Any]]] = {}
        for row in self.rows:
            found.setdefault(row[SETTING], []).append(row)
        return found

    def summary_lines(self) -> Iterator[dict[str, Any]]:
        """Yield the summary of each setting, with the setting and its values in front."""
        from sim.metrics import METRICS

        for number, rows in self.by_setting.items():
            for line in summary_lines(rows, METRICS, self.baseline):
                yield {SETTING: number, **self.points[number], **line}

    @cached_property
    def summary(self) -> list[dict[str, Any]]:
        """A line for each setting, price, policy and metric; see `bench.summary`."""
        return list(self.summary_lines())

    @property
    def summary_columns(self) -> list[str]:
        """Names of the values of a line of the summary."""
        return [*self._front(COLUMNS), *COLUMNS, SETTING]

    @cached_property
    def effects(self) -> list[dict[str, Any]]:
        """What each key does to each policy; see `bench.sweep.effects`."""
        return effects(self.rows, self.keys)

    @cached_property
    def leads(self) -> list[dict[str, Any]]:
        """In how many settings slack, swap and refusal lead; see `bench.sweep.leads`."""
        return leads(self.rows)

    @cached_property
    def best(self) -> dict[int, list[str]]:
        """The policies in the first place at each setting, by the ranking of every comparison.

        Empty where there is nothing to rank: one policy, or one seed.
        """
        from sim.metrics import METRICS

        if len({row["policy"] for row in self.rows}) < 2:
            return {}
        found = {}
        for number, rows in self.by_setting.items():
            lines = list(summary_lines(rows, METRICS, self.baseline))
            ranked = places(rows, lines)
            found[number] = [policy for policy, place in ranked.items() if place.place == 1]
        return found if any(found.values()) else {}

    @property
    def winners(self) -> list[dict[str, Any]]:
        """In how many settings each policy is first, and between which values."""
        return winning(self.best, self.points) if self.best else []

    @property
    def changes(self) -> list[dict[str, Any]]:
        """Between which neighbouring settings the winner changes; see `bench.sweep.winners`."""
        return changes(self.best, self.points) if self.best else []

    def tables(self, wide: bool) -> list[Table]:
        """Return the tables for a person; *wide* spells out what is else shortened."""
        from bench.tables.sweep import sweep_tables

        return sweep_tables(self, wide)

    def document(self) -> dict[str, Any]:
        """Return the parts of the JSON document, each a list, a table or an iterator."""
        return {
            "rows": self.rows,
            "summary": self.summary_lines(),
            **self.beside,
            "effects": self.effects,
            "leads": self.leads,
            "winners": self.winners,
            "changes": self.changes,
            "manifest": self.manifest,
        }
