"""Which run is explained where no policy is named: the first in which there is something to say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bench.explain.cases import case_of
from bench.explain.findings import is_wrong
from bench.explain.rebuilt import named

if TYPE_CHECKING:
    from bench.explain.explanations import Case
    from scenarios.scenario import Scenario
    from sim.records import Record

__all__ = ["Question", "chosen"]

_CHANGES = frozenset({"evict", "rewrite", "truncate", "refresh", "refuse", "restore", "reveal"})
"""Records of what was done to a segment, or about it at the door."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of a run: a ``query``, a ``segment`` or a ``turn``, by name or number."""

    what: str
    about: str | int

    def known(self, case: Case) -> bool:
        """Whether the run knows what is asked about."""
        return any(self._names(record) for record in case.records)

    def telling(self, case: Case) -> bool:
        """Whether there is something to explain.

        That is a wrong answer, a segment that was changed, removed or refused, or a turn in which
        one was.
        """
        return any(self._tells(record) for record in case.records)

    def _names(self, record: Record) -> bool:
        if self.what == "turn":
            return bool(record[2] == self.about)
        if self.what == "query":
            return record[0] in ("answer", "act") and record[3] == self.about
        return self.about in _segments(record)

    def _tells(self, record: Record) -> bool:
        if self.what == "query":
            return self._names(record) and is_wrong(record)
        return record[0] in _CHANGES and self._names(record)


_FIRST = {
    "query": "the first policy under which the answer is wrong",
    "segment": "the first policy that does not leave it as it came",
    "turn": "the first policy that removes, refuses or refreshes something in it",
}

_NONE = {
    "query": "is the answer wrong",
    "segment": "does it not stay as it came",
    "turn": "is anything removed, refused or refreshed in it",
}


def _segments(record: Record) -> Sequence[str]:
    values = named(record)
    names = [values[name] for name in ("segment", "surrogate") if values.get(name)]
    return [*names, *values.get("sources", ())]


def chosen(
    scenario: Scenario,
    policies: Sequence[str],
    seed: int,
    question: Question,
    say: Callable[[str], object],
) -> Case:
    """Return the first run of *scenario* under *policies* in which *question* finds something.

    Without one the first that knows what it asks about, else the first of all. Which it is, is told
    to *say*.
    """
    first: Case | None = None
    known: Case | None = None
    for policy in policies:
        case = case_of(scenario, policy, seed)
        first = first or case
        if question.telling(case):
            say(f"{scenario.name} under {policy}, {_FIRST[question.what]}; -p names another")
            return case
        if known is None and question.known(case):
            known = case
    assert first is not None
    if known is None:
        return first
    none = f"under none of {len(policies)} policies {_NONE[question.what]}"
    say(f"{scenario.name} under {known.policy}; {none}")
    return known
