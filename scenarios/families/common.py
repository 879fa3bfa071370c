"""A family: a workload made by a generator, for any number of turns and any seed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from scenarios.families.builder import Builder
from scenarios.pings import with_pings
from scenarios.tool_logs import ToolLogs
from sim.script import Script
from sim.settings import KEYS, PER_KIND
from sim.streams import replicate_seed

__all__ = ["Family"]

_COMMON = frozenset(KEYS.values())
_COMMON_TABLES = PER_KIND | {"cache", "keep_alive", "price", "prices", "reader"}


def _as_they_are(settings: Mapping[str, Any], seed: int) -> Mapping[str, Any]:
    """Return *settings*, which hold for every seed."""
    return settings


@dataclass(frozen=True, slots=True)
class Family:
    """One family: its name, one line about it, what it offers to policies, and its generator.

    *fill* puts the stimuli of every turn into a :class:`Builder`; *settle* says what the settings
    are for a seed, where that decides one of them, such as the length. Defaults, ranges and
    sources of the keys it reads stand in the family's section of the reference file, and whoever
    calls :meth:`script` has checked them against it.
    """

    name: str
    summary: str
    capabilities: frozenset[str]
    fill: Callable[[Builder], None]
    settle: Callable[[Mapping[str, Any], int], Mapping[str, Any]] = _as_they_are

    def script(
        self,
        settings: Mapping[str, Any],
        seed: int,
        logs: ToolLogs | None = None,
        replicate: int = 0,
    ) -> Script:
        """Return the script of *seed* under the flat, dotted, complete *settings*.

        Equal arguments give equal scripts; more turns only add to the end. *logs* are real results
        that a family may draw from; each *replicate* of a seed has draws of its own. Raises
        KeyError with the name of a missing key.
        """
        drawn_by = replicate_seed(seed, replicate)
        settings = self.settle(settings, drawn_by)
        builder = Builder(self.name, settings, drawn_by, logs)
        self.fill(builder)
        return Script(
            scenario=self.name,
            seed=seed,
            settings={**_shared(settings), "turns": builder.turns},
            stimuli=with_pings(builder.stimuli, settings),
            attempts=tuple(builder.attempts),
            capabilities=self.capabilities,
            output_tokens=builder.output_tokens,
            tokens_from="script" if logs is None else logs.tokenizer,
            attempts_cut=builder.attempts_cut,
            replicate=replicate,
        )


def _shared(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of *settings* that every scenario has."""
    return {
        key: value
        for key, value in settings.items()
        if key in _COMMON or key.partition(".")[0] in _COMMON_TABLES
    }
