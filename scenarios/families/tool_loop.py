"""tool-loop: one call after the other, in sizes that are given; the pinned scenarios use it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from scenarios.families.builder import Builder
from scenarios.families.common import Family
from scenarios.families.sizes import Lognormal
from scenarios.families.talk import SYSTEM, TASK
from sim.script import Arrival, Change, Query, Wait
from sim.segments import Kind
from sim.streams import uniform

__all__ = ["FAMILY"]

_TOOL = "tool"


class _Loop:
    """Plays the steps of a loop in which each call of the model makes one call to a tool.

    An *item* is what several steps are about, an issue: its text comes with the result of its
    first call, its image with that of its last.
    """

    def __init__(self, builder: Builder) -> None:
        settings = builder.settings
        self._builder = builder
        self._scale = float(settings["tokens.scale"])
        self._words = _lognormal(settings, "words")
        self._result = _lognormal(settings, "result")
        self._latency = Lognormal.of(settings, "latency")
        self._said = settings["score.message"]
        self._sizes = builder.rows("step", 3)
        self._pauses = builder.rows("pause", 1)

    def turn(self, turn: int) -> None:
        """Put everything that *turn* brings."""
        self._around(turn)
        if turn == 1:
            for id, kind in ((SYSTEM, Kind.SYSTEM), (TASK, Kind.TASK)):
                tokens = self._scaled(self._builder.settings[f"{id}.tokens"])
                self._builder.put(self._builder.arrival(1, id, kind, tokens, 1.0, pinned=True))
            return
        words, size, latency = self._sizes[turn]
        arguments = self._say(turn, self._words.tokens(words))
        calls = self._builder.settings["item.calls"]
        at = (turn - 2) % calls + 1
        self._item(turn, first=at == 1, last=at == calls)
        last = self._builder.settings["item.last"] if at == calls else 0
        tokens = self._scaled(last or self._result.tokens(size))
        self._call(turn, arguments, tokens, self._latency.seconds(latency))

    def _around(self, turn: int) -> None:
        """Put a pause before *turn*, and what changes in the requests."""
        settings = self._builder.settings
        if turn > 1 and self._pauses[turn][0] < settings["pause.share"]:
            self._builder.put(Wait(turn, settings["pause.seconds"]))
        if turn == settings["change.turn"]:
            self._builder.put(Change(turn, settings["change.what"], "changed"))

    def _say(self, turn: int, words: int) -> int:
        """Put what the model wrote before its call; return the length of the call's arguments."""
        settings = self._builder.settings
        words = self._scaled(words)
        arguments = max(1, round(words * settings["words.arguments"]))
        thinking = min(words - arguments, round(words * settings["words.thinking"]))
        said = words - arguments - thinking
        for name, kind, tokens in (
            ("thinking", Kind.THINKING, thinking),
            ("say", Kind.ASSISTANT, said),
        ):
            if tokens:
                id = f"t{turn}.{name}"
                self._builder.put(self._builder.arrival(turn, id, kind, tokens, self._said))
        self._builder.wrote(turn, thinking)
        return arguments

    def _item(self, turn: int, *, first: bool, last: bool) -> None:
        """Put the text and the image of an item; the harness adds them to a result."""
        settings = self._builder.settings
        if first and settings["item.text"]:
            tokens = self._scaled(settings["item.text"])
            self._builder.put(
                self._builder.arrival(turn, f"t{turn}.text", Kind.USER, tokens, self._said)
            )
        if last and settings["item.image"]:
            tokens = settings["image_tokens"]
            self._builder.put(
                self._builder.arrival(turn, f"t{turn}.image", Kind.IMAGE, tokens, self._said)
            )

    def _call(self, turn: int, arguments: int, tokens: int, seconds: float) -> None:
        """Put a call and its result, and the questions that come back to the result."""
        id = f"t{turn}.result"
        call, result = self._builder.pair(
            turn,
            "result",
            Kind.TOOL_RESULT,
            tokens,
            self._said,
            call_tokens=arguments,
            tool=_TOOL,
            time=seconds,
            facts=self._builder.facts(id),
        )
        self._builder.put(call, result)

    def _scaled(self, tokens: int) -> int:
        return max(1, round(tokens * self._scale))


class _Again:
    """Comes back to some results: each is asked for every few turns for a while.

    A question costs nothing while its result can be read, so that of what was removed a share is
    asked for again soon after it went, whenever that was.
    """

    def __init__(self, builder: Builder) -> None:
        settings = builder.settings
        self._builder = builder
        self._share = float(settings["again.share"])
        self._every: int = settings["again.every"]
        self._turns: int = settings["again.turns"]
        self._due: dict[int, list[Arrival]] = {}

    def ask(self, turn: int) -> None:
        """Put the questions of *turn*."""
        for number, result in enumerate(self._due.pop(turn, ()), 1):
            self._builder.put(
                Query(
                    turn,
                    f"t{turn}.again{number}",
                    result.facts[0].key,
                    self._builder.settings["again.relevance"],
                    (result.id,),
                )
            )

    def plan(self, turn: int) -> None:
        """Plan the questions about the result of *turn*."""
        if self._share <= 0.0 or turn == 1:
            return
        result = self._builder.stimuli[-1]
        assert isinstance(result, Arrival)
        seed = self._builder.seed
        if uniform(seed, "again", result.id) >= self._share:
            return
        first = turn + 1 + int(uniform(seed, "again.phase", result.id) * self._every)
        for due in range(first, turn + 1 + self._turns, self._every):
            self._due.setdefault(due, []).append(result)


def _lognormal(settings: Mapping[str, Any], name: str) -> Lognormal:
    median = settings[f"{name}.median"]
    return Lognormal(math.log(median), settings[f"{name}.sigma"], settings[f"{name}.cap"])


def _fill(builder: Builder) -> None:
    loop, again = _Loop(builder), _Again(builder)
    room = builder.settings["budget"] if builder.settings["length.full"] else None
    for turn in range(1, builder.turns + 1):
        before = len(builder.stimuli)
        loop.turn(turn)
        if room is not None:
            came = (s for s in builder.stimuli[before:] if isinstance(s, Arrival))
            room -= sum(arrival.tokens for arrival in came)
            if room < 0 and turn > 1:
                del builder.stimuli[before:]
                del builder.output_tokens[turn]
                builder.turns = turn - 1
                return
        again.plan(turn)
        again.ask(turn)


def _settle(settings: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Return *settings* with the length drawn for *seed*, and images counted like all the rest."""
    turns = settings["turns"]
    median = settings.get("length.median")
    if median is not None:
        length = Lognormal(math.log(median), settings["length.sigma"], turns)
        turns = min(turns, length.tokens(uniform(seed, "length")))
    image = max(1, round(settings["image_tokens"] * settings["tokens.scale"]))
    return {**settings, "turns": turns, "image_tokens": image}


FAMILY = Family(
    name="tool-loop",
    summary="one tool call after the other, in sizes that are given, with pauses and changes",
    capabilities=frozenset({"facts", "roles"}),
    fill=_fill,
    settle=_settle,
)
