"""The messages: system and task, what the model says each turn, what the user says at times."""

from __future__ import annotations

import math

from scenarios.families.builder import Builder
from scenarios.families.sizes import Lognormal
from sim.script import Arrival, Change, Wait
from sim.segments import Kind

__all__ = ["CHANGED", "SYSTEM", "TASK", "Talk"]

SYSTEM = "system"
TASK = "task"
CHANGED = "changed"
"""The value that what changes has from then on."""


class Talk:
    """Opens each turn: the first with the pinned system and task, the others with a message.

    A turn that the user starts comes after a wait, and some of the others after a pause. Those are
    drawn on their own, so that a larger share of pauses only adds turns to those of a smaller one.
    """

    def __init__(self, builder: Builder) -> None:
        settings = builder.settings
        median = max(1, settings["call.output_tokens"])
        self._message = Lognormal(
            math.log(median), settings["message.sigma"], settings["message.cap"]
        )
        self._spoken = float(settings["message.share"])
        self._user = Lognormal.of(settings, "user")
        self._wait = Lognormal.of(settings, "wait")
        self._share = float(settings["user.share"])
        self._pauses = float(settings["pause.share"])
        self._pause = settings["pause.seconds"]
        self._change: tuple[int, str] = (settings["change.turn"], settings["change.what"])
        self._score = settings["score.message"]
        self._builder = builder
        self._sizes = builder.rows("message", 1)
        self._speaks = builder.rows("speaks", 1)
        self._users = builder.rows("user", 2)
        self._waits = builder.rows("wait", 1)
        self._paused = builder.rows("pause", 1)

    def begin(self) -> None:
        """Put the system prompt and the task, which no policy may remove, into turn 1."""
        for id, kind in ((SYSTEM, Kind.SYSTEM), (TASK, Kind.TASK)):
            tokens = self._builder.settings[f"{id}.tokens"]
            self._builder.put(self._builder.arrival(1, id, kind, tokens, 1.0, pinned=True))

    def by_user(self, turn: int) -> bool:
        """Whether the user starts *turn*; the task has started the first."""
        return turn > 1 and self._users[turn][0] < self._share

    def open(self, turn: int, by_user: bool) -> None:
        """Put what passes before *turn*: the user's wait or a pause, and a change if it is due."""
        if by_user:
            self._builder.put(Wait(turn, self._wait.seconds(self._waits[turn][0])))
        elif turn > 1 and self._paused[turn][0] < self._pauses:
            self._builder.put(Wait(turn, self._pause))
        due, what = self._change
        if turn == due:
            self._builder.put(Change(turn, what, CHANGED))

    def say(self, turn: int) -> None:
        """Put what the model said in the turn before, if it did; before the first it did not."""
        if turn > 1 and (self._spoken >= 1.0 or self._speaks[turn][0] < self._spoken):
            tokens = self._message.tokens(self._sizes[turn][0])
            self._builder.put(
                self._builder.arrival(turn, f"t{turn}.say", Kind.ASSISTANT, tokens, self._score)
            )

    def user(self, turn: int) -> Arrival:
        """Return the user's message of *turn*."""
        tokens = self._user.tokens(self._users[turn][1])
        return self._builder.arrival(turn, f"t{turn}.user", Kind.USER, tokens, self._score)
