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
from bench.verdict import CRITERIA, places

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
        """Yield the summary of each setting, with the setting and its values in front.

        The differences of all settings are one family of tests.
        """
        from sim.metrics import METRICS

        front = [SETTING, *self._front(COLUMNS)]
        yield from summary_lines(self.rows, METRICS, self.baseline, front)

    @cached_property
    def lines(self) -> list[dict[str, Any]]:
        """A line for each setting, price, policy and metric; see `bench.summary`."""
        return list(self.summary_lines())

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
        """The best policies of each setting: by the goal, else by the ranking of a comparison.

        They share the first place if there are several; none is best where no policy meets the
        goal, or completed a run. Without a goal, one policy leaves nothing to choose from, and
        settings of one seed nothing to rank by: they are left out.
        """
        policies = list(dict.fromkeys(row["policy"] for row in self.rows))
        if self.goal is None and len(policies) < 2:
            return {}
        choose = self._first if self.goal is None else self._winning
        found = {
            number: choose(rows)
            for number, rows in self.by_setting.items()
            if self.goal is not None or len({row["seed"] for row in rows}) > 1
        }
        return {n: [p for p in policies if p in best] for n, best in found.items()}

    def _first(self, rows: Sequence[Mapping[str, Any]]) -> list[str]:
        from sim.metrics import METRICS

        decisive = [metric for metric in METRICS if metric.name in CRITERIA]
        ranked = places(rows, list(summary_lines(rows, decisive, self.baseline)))
        ended = {row["policy"] for row in rows if row["status"] == "completed"}
        return [policy for policy, at in ranked.items() if at.place == 1 and policy in ended]

    def _winning(self, rows: Sequence[Mapping[str, Any]]) -> list[str]:
        from bench.winner import winners

        assert self.goal is not None
        (found,) = winners(rows, self.goal)
        return [] if found["winner"] is None else [found["winner"], *found["alike"]]

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
