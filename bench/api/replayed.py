"""A replay: a comparison on recorded sessions, beside what the recording came to."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from bench.api.comparison import Comparison

if TYPE_CHECKING:
    from bench.tables.parts import Table

__all__ = ["Replay"]


@dataclass(frozen=True)
class Replay(Comparison):
    """A comparison on recorded sessions, with what the recording itself came to.

    *recorded* has, by session, what `bench.replays.reference` says; *what_if* a row for each
    session, price and policy, and *pooled* a line over the sessions, as `bench.replays.what_if`.
    """

    recorded: dict[str, dict[str, Any]] = field(default_factory=dict)
    what_if: list[dict[str, Any]] = field(default_factory=list)
    pooled: list[dict[str, Any]] = field(default_factory=list)

    @cached_property
    def front(self) -> list[dict[str, Any]]:
        """The Pareto front where it was asked for, over all sessions if there are several."""
        from bench.front import fronts, pooled_fronts

        if not self.pareto:
            return []
        several = len({row["scenario"] for row in self.rows}) > 1
        return (pooled_fronts if several else fronts)(self.rows)

    def tables(self, wide: bool) -> list[Table]:
        """Return the tables for a person; *wide* spells out what is else shortened."""
        from bench.tables.replay import replay_tables

        return replay_tables(self, wide)

    def document(self) -> dict[str, Any]:
        """Return the parts of the JSON document."""
        document = super().document()
        more = {"recorded": self.recorded, "what_if": self.what_if, "pooled": self.pooled}
        return {**document, **more}
