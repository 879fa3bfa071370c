"""A comparison: the rows of its runs, and what follows from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from bench.beside import registry as besides
from bench.runs import columns
from sim.errors import EvictbenchError

if TYPE_CHECKING:
    import pandas as pd

    from bench.again import Repeats
    from bench.charts.picture import Plots
    from bench.goals import Goal
    from bench.tables.parts import Table
    from bench.turns import Turns
    from scenarios.scenario import Scenario

__all__ = ["Comparison"]


@dataclass(frozen=True)
class Comparison:
    """What was compared: *rows*, one a run; their summary, as *lines*; and the *manifest*.

    Differences are taken to *baseline*, None for what the summary chooses. *stopped* is what ended
    it before its end, if anything did; the rows are then those finished. *pareto* says that the
    front was asked for, *goal* by what a winner was.
    """

    rows: list[dict[str, Any]]
    baseline: str | None
    manifest: dict[str, Any]
    stopped: KeyboardInterrupt | EvictbenchError | None = None
    pareto: bool = False
    turns: Sequence[Turns | None] = ()
    """The turns of each row's run, where they were asked for; see `bench.turns`."""
    goal: Goal | None = None
    scenarios: Sequence[Scenario] = field(default=(), compare=False, repr=False)
    """The scenarios themselves, where they are at hand; else the manifest says how to load them."""

    @cached_property
    def repeats(self) -> Repeats:
        """Its runs, made again with their event records when they are asked for."""
        from bench.again import Repeats

        return Repeats(self)

    @property
    def plot(self) -> Plots:
        """Its charts, each as a method; see `bench.charts`."""
        from bench.charts.picture import Plots

        return Plots(self)

    @cached_property
    def lines(self) -> list[dict[str, Any]]:
        """A line for each scenario, price, policy and metric; see `bench.summary`."""
        from bench.summary import summarise
        from sim.metrics import METRICS

        return summarise(self.rows, METRICS, self.baseline)

    @property
    def columns(self) -> list[str]:
        """Names of a row's values, in the order of every output."""
        return [*columns(), *besides.columns(self.beside)]

    @cached_property
    def beside(self) -> dict[str, list[dict[str, Any]]]:
        """What was asked for beside the metrics, by name; see `bench.beside`."""
        found = {name: each.lines(self.rows) for name, each in besides.measures().items()}
        return {name: lines for name, lines in found.items() if lines}

    @cached_property
    def leaders(self) -> list[dict[str, Any]]:
        """The best policy of some metrics, with those that cannot be told from it."""
        from bench.leaders import leaders

        return leaders(self.rows)

    @cached_property
    def front(self) -> list[dict[str, Any]]:
        """The Pareto front where it was asked for; see `bench.front`."""
        from bench.front import fronts

        return fronts(self.rows) if self.pareto else []

    @cached_property
    def winners(self) -> list[dict[str, Any]]:
        """Who wins each scenario and price, where a goal was given; see `bench.winner`."""
        from bench.winner import winners

        return [] if self.goal is None else winners(self.rows, self.goal)

    @property
    def frame(self) -> pd.DataFrame:
        """The rows as a data frame, one row a run."""
        import pandas as pd

        return pd.DataFrame(self.rows, columns=self.columns)

    def summary(self, metric: str | None = None) -> pd.DataFrame:
        """Return the :attr:`lines` as a data frame, or those of one *metric* alone.

        Raises InputError, with the nearest name, for an unknown metric.
        """
        import pandas as pd

        from bench.goals import metric_named

        name = None if metric is None else metric_named(metric).name
        lines = [line for line in self.lines if name in (None, line["metric"])]
        return pd.DataFrame(lines, columns=list(self.lines[0]) if self.lines else None)

    @property
    def advice(self) -> list[dict[str, Any]]:
        """What follows for each scenario, in words with their figures; see `bench.advice`."""
        from bench.advice import advise

        scenarios = self.manifest.get("scenarios", {})
        books = {
            name: {row["name"]: row for row in facts.get("prices", ())}
            for name, facts in scenarios.items()
        }
        return advise(self.rows, books)

    def tables(self, wide: bool) -> list[Table]:
        """Return the tables for a person; *wide* spells out what is else shortened."""
        from bench.tables.comparison import comparison_tables

        *tables, notes = comparison_tables(self, wide)
        more = (*self.winner_tables(wide), *self.front_tables(wide), *self.beside_tables(wide))
        return [*tables, *more, notes]

    def winner_tables(self, wide: bool) -> list[Table]:
        """Return the tables of who wins, none where no goal was given."""
        from bench.tables.winner import winner_tables

        return [] if self.goal is None else winner_tables(self.winners, self.goal, wide)

    def front_tables(self, wide: bool) -> list[Table]:
        """Return the tables of the Pareto front, none where it was not asked for."""
        from bench.tables.front import front_tables

        return front_tables(self.front, wide) if self.pareto else []

    def beside_tables(self, wide: bool) -> list[Table]:
        """Return the tables of what was asked for beside the metrics."""
        known = besides.measures()
        return [t for name, lines in self.beside.items() for t in known[name].tables(lines, wide)]

    def document(self) -> dict[str, Any]:
        """Return the parts of the JSON document, each a list, a table or an iterator."""
        from bench.summary import summary_lines
        from sim.metrics import METRICS

        return {
            "rows": self.rows,
            "summary": summary_lines(self.rows, METRICS, self.baseline),
            **self.beside,
            "leaders": self.leaders,
            **({"front": self.front} if self.pareto else {}),
            **({} if self.goal is None else {"winners": self.winners}),
            "advice": self.advice,
            "manifest": self.manifest,
        }
