"""Runs made again: a row of a comparison as the run that it came from, with its event records.

A run is made from what the comparison or its manifest says, and compared with its row: what is
shown of it is what was measured, or an InputError says where the two differ.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sim.errors import InputError, PolicyError, unknown

if TYPE_CHECKING:
    from bench.api import Comparison
    from scenarios.scenario import Scenario
    from sim.records import Record
    from sim.script import Script

__all__ = ["Again", "Repeats"]

Row = Mapping[str, Any]

_CLOSE = 1e-8
"""Relative difference up to which a value is the same: files hold nine digits of it."""


@dataclass(frozen=True, slots=True)
class Again:
    """A run made again: its *script*, its *row* in the comparison, and its event *records*.

    Of several agents on one server they are those of the first; *agents* says how many there were.
    """

    script: Script
    row: Row
    records: list[Record]
    agents: int = 1

    @property
    def scenario(self) -> str:
        """Name of its scenario."""
        return str(self.row["scenario"])

    @property
    def policy(self) -> str:
        """Label of its policy."""
        return str(self.row["policy"])

    @property
    def title(self) -> str:
        """What tells it from the other runs, for a caption."""
        more = f", agent 0 of {self.agents}" if self.agents > 1 else ""
        return f"{self.policy} on {self.scenario}, seed {self.row['seed']}{more}"


@dataclass(frozen=True, slots=True)
class _AtPrice:
    """Makes the scripts of *scenario* with another *price*."""

    scenario: Scenario
    price: str

    def __call__(self, seed: int, replicate: int = 0) -> Script:
        script = self.scenario.script(seed, replicate)
        return replace(script, settings={**script.settings, "price": self.price})


class Repeats:
    """Makes the runs of *comparison* again; each of them, and each scenario, once."""

    def __init__(self, comparison: Comparison) -> None:
        self._comparison = comparison
        self._manifest = comparison.manifest
        self._scenarios = {scenario.name: scenario for scenario in comparison.scenarios}
        self._runs: dict[tuple[str, str, str, int], Again] = {}

    def run(self, scenario: str, policy: str, seed: int = 0, price: str | None = None) -> Again:
        """Return the run of *scenario* under *policy*, a label, on *seed*, made again.

        Without *price*, it is at the first of those that the scenario was run at. Raises InputError
        for a run that is not in the comparison, that came to nothing, or that comes out otherwise
        than its row, and where nothing says how to load the scenario.
        """
        row = self.row(scenario, policy, seed, price)
        key = scenario, policy, row["price"], seed
        if key not in self._runs:
            self._runs[key] = self._again(row)
        return self._runs[key]

    def row(self, scenario: str, policy: str, seed: int = 0, price: str | None = None) -> Row:
        """Return the row of a run; InputError, with the nearest name, if there is none."""
        if "vary" in self._manifest:
            raise InputError(
                "a sweep has many runs of one name; `evictbench compare` one of its settings "
                "to look into a run"
            )
        rows: Iterable[Row] = self._comparison.rows
        wanted = {"scenario": scenario, "policy": policy, "price": price, "seed": seed}
        for name, value in wanted.items():
            if value is None:
                continue
            known = list(dict.fromkeys(row[name] for row in rows))
            if value not in known:
                where = f" of {scenario!r}" if name != "scenario" else ""
                if name == "seed":
                    raise InputError(f"there is no seed {seed}{where}, but {_spans(known)}")
                raise InputError(f"{unknown(name, str(value), known)}{where}")
            rows = [row for row in rows if row[name] == value]
        return next(iter(rows))

    def scenario(self, name: str) -> Scenario:
        """Return the scenario called *name*, loaded as the comparison loaded it."""
        if name not in self._scenarios:
            if "recordings" in self._manifest:
                self._scenarios |= self._recorded
            else:
                self._scenarios[name] = self._loaded(name)
        if name not in self._scenarios:
            raise InputError(f"{name!r} is in none of the recordings any more")
        return self._scenarios[name]

    def at(self, name: str, price: str) -> Scenario:
        """Return the scenario called *name* with *price*, a row of the price book, as its own."""
        scenario = self.scenario(name)
        settings = {**scenario.settings, "price": price}
        return replace(scenario, settings=settings, make=_AtPrice(scenario, price))

    def _loaded(self, name: str) -> Scenario:
        from bench.loading import load

        source = self._manifest["scenarios"][name].get("source")
        if source is None:
            raise InputError(
                f"nothing says how {name!r} is loaded: it was made in Python, or by an older "
                "version of evictbench; make the results anew"
            )
        return load(source["name"], source["settings"])

    @cached_property
    def _recorded(self) -> dict[str, Scenario]:
        """The sessions of a replay by name, read again."""
        from bench.loading import load_tools
        from bench.selection import price_rows
        from scenarios.transcripts.loading import Reading, scenarios_in

        told, settings = self._manifest["recordings"], self._manifest["settings"]
        tools, tokenizer = told["tools"], told["tokenizer"]
        reading = Reading.of(
            told["budget"],
            settings,
            told["relevance"],
            strict=self._manifest["strict"],
            tokenizer=tokenizer,
            declared=None if tools is None else load_tools(Path(tools), tokenizer),
            rows=None if told["priced"] else price_rows(settings),
        )

        def nothing(said: str) -> None:
            """Take what was said when it was read first."""

        found: dict[str, Scenario] = {}
        for scenario in scenarios_in(told["files"], reading, nothing, nothing):
            found.setdefault(scenario.name, scenario)
        return found

    def _again(self, row: Row) -> Again:
        from bench.cells import run_one
        from bench.fleets import fleet_of, scripts_of

        if row["status"] == "not-applicable":
            raise InputError(f"{row['policy']} cannot run {row['scenario']!r}: {row['reason']}")
        spec = self._manifest.get("specs", {}).get(row["policy"], row["policy"])
        strict, seed = bool(self._manifest.get("strict")), row["seed"]
        scenario = self.at(row["scenario"], row["price"])
        scripts = scripts_of(scenario, seed)
        where = f"{row['policy']} on {row['scenario']}, seed {seed}"
        try:
            if scenario.agents > 1:
                fleet = fleet_of(scripts, spec, strict)
                values, records = fleet.metrics, fleet.records[0] if fleet.records else []
            else:
                values, records = run_one(scripts[0], spec, strict)
        except PolicyError as error:
            raise InputError(f"{where}, failed: {error.rule}: {error}") from None
        different = _difference(row, values)
        if different is not None:
            raise InputError(
                f"{where}, comes out otherwise than in the results: {different}. What it is made "
                "of has changed since; make the results anew"
            )
        return Again(scripts[0], row, records, scenario.agents)


def _difference(row: Row, values: Mapping[str, Any]) -> str | None:
    """Return the first value that a run has otherwise than its *row*, None if there is none."""
    for name, value in values.items():
        before = row.get(name)
        if name == "reason" or before == value or name not in row:
            continue
        if not _alike(before, value):
            return f"{name} was {_shown(before)} and is {_shown(value)}"
    return None


def _alike(before: object, value: object) -> bool:
    if not (isinstance(before, int | float) and isinstance(value, int | float)):
        return False
    return math.isclose(before, value, rel_tol=_CLOSE, abs_tol=1e-12)


def _shown(value: object) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, float):
        return f"{value:.9g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _spans(seeds: Sequence[int]) -> str:
    low, high = min(seeds), max(seeds)
    return f"seed {low} alone" if low == high else f"seeds {low} to {high}"
