"""Puts a family's script together: arrivals, their copies and tags, facts, calls with results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from scenarios.families.draws import Rows
from scenarios.tool_logs import ToolLogs
from sim.script import Arrival, Attempt, Stimulus, Structure
from sim.segments import Fact, Kind
from sim.streams import uniform

__all__ = ["Builder", "kept_share"]

_ROUND = 99
_WRITTEN_BY_MODEL = frozenset({Kind.ASSISTANT, Kind.DIFF, Kind.NOTE, Kind.TOOL_CALL})


class Builder:
    """The script under way, and everything drawn per segment.

    Whether a segment has a copy and whether its surrogate can carry a tag hang on its id alone,
    so that a larger share only adds segments to those of a smaller one. A call and its result
    share the second draw: they become one surrogate. *logs* are real results to draw from.
    """

    def __init__(
        self,
        scenario: str,
        settings: Mapping[str, Any],
        seed: int,
        logs: ToolLogs | None = None,
    ) -> None:
        self.settings = settings
        self.seed = seed
        self.logs = logs
        self.turns: int = settings["turns"]
        self.stimuli: list[Stimulus] = []
        self.attempts: list[Attempt] = []
        self.attempts_cut = False
        """Whether a longer run would have more attempts."""
        self.output_tokens: dict[int, int] = {}
        """What the model wrote for a turn: its message, calls, diff and note."""
        self._scenario = scenario
        self._copies = {kind: float(settings[f"copies.{kind}"]) for kind in Kind}
        self._weights = {kind: float(settings[f"relevance.{kind}"]) for kind in Kind}
        self._taggable = float(settings["surrogate.taggable"])
        self._facts: int = settings["facts.count"]

    def rows(self, stream: str, width: int) -> Rows:
        """Return the draws of a stream, *width* a row."""
        return Rows(self.seed, self._scenario, stream, width)

    def put(self, *stimuli: Stimulus) -> None:
        """Add stimuli that every policy meets."""
        self.stimuli.extend(stimuli)
        for stimulus in stimuli:
            if isinstance(stimulus, Arrival) and stimulus.kind in _WRITTEN_BY_MODEL:
                self.wrote(stimulus.turn, stimulus.tokens)

    def wrote(self, turn: int, tokens: int) -> None:
        """Count *tokens* as written by the model for *turn*."""
        self.output_tokens[turn] = self.output_tokens.get(turn, 0) + tokens

    def arrival(
        self, turn: int, id: str, kind: Kind, tokens: int, score: float, **more: Any
    ) -> Arrival:
        """Return an arrival; its score is weighted by ``relevance.KIND``."""
        weight = self._weights[kind]
        return Arrival(
            turn,
            id,
            kind,
            tokens,
            score if weight == 1.0 else round(score * weight, 3),
            copy=self._share("copy", self._copies[kind], id),
            taggable=self._share("taggable", self._taggable, more.get("pair") or id),
            **more,
        )

    def _share(self, stream: str, share: float, id: str) -> bool:
        if share <= 0.0 or share >= 1.0:
            return share >= 1.0
        return uniform(self.seed, stream, id) < share

    def pair(
        self,
        turn: int,
        name: str,
        kind: Kind,
        tokens: int,
        score: float,
        *,
        call_tokens: int,
        tool: str,
        **more: Any,
    ) -> tuple[Arrival, Arrival]:
        """Return a call to *tool* and its result, which is called ``tTURN.NAME``."""
        id = f"t{turn}.{name}"
        said = self.settings["score.message"]
        call = self.arrival(
            turn, f"{id}.call", Kind.TOOL_CALL, call_tokens, said, tool=tool, pair=id
        )
        return call, self.arrival(turn, id, kind, tokens, score, tool=tool, pair=id, **more)

    def stated(
        self, result: str, tokens: int, limit: int, structure: Structure | None = None
    ) -> tuple[Fact, ...]:
        """Return what a *result* of so many tokens states, and where.

        Over the *limit* of its tool a reduction loses what stands between its head and its tail,
        or with a *structure* all but :func:`kept_share` of it.
        """
        facts = self.facts(result)
        if tokens <= limit:
            return facts
        head = limit // 2
        placed = []
        for fact in facts:
            at = int(uniform(self.seed, "place", fact.key) * tokens)
            if structure is None:
                survives = at < head or at >= tokens - (limit - head)
            else:
                drawn = uniform(self.seed, "reduction", fact.key, 0)
                survives = drawn < kept_share(limit, structure)
            placed.append(replace(fact, at=at, reducible=survives))
        return tuple(placed)

    def facts(self, subject: str, version: int = 0) -> tuple[Fact, ...]:
        """Return what *version* of *subject* states.

        A value is a round number below 10,000; its prior is another one.
        """
        draw = uniform(self.seed, "value", subject, version)
        place, step = divmod(int(draw * _ROUND * (_ROUND - 1)), _ROUND - 1)
        facts = []
        for number in range(self._facts):
            key = f"{subject}:f{number + 1}"
            value = 100 * (1 + (place + number) % _ROUND)
            prior = 100 * (1 + (place + number + 1 + step) % _ROUND)
            facts.append(Fact(key, str(value), str(prior)))
        return tuple(facts)


def kept_share(limit: int, structure: Structure) -> float:
    """Return the share of a result's facts that a reduction by *structure* to *limit* keeps.

    The first entry of a group says what the others repeat, so what is lost are the groups that
    find no room.
    """
    room = max(0, limit - structure.notice_tokens) // structure.entry_tokens
    return min(1.0, room / structure.groups)
