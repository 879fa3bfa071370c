"""The summariser: the model that writes a summary, what it is given, what it keeps and invents.

What a harness decides stands in :class:`Summariser`, which an action carries; what the model does
with it stands in the scenario's settings ``summariser.*``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sim.keeping import Fate, drafts, rounds
from sim.segments import Kind
from sim.streams import uniform

if TYPE_CHECKING:
    from sim.keeping import Said
    from sim.segments import Segment
    from sim.settings import Settings

__all__ = [
    "FIRST_ROUND",
    "FOLD",
    "KEPT_AT_FOLD",
    "LATER_ROUND",
    "RETENTIONS",
    "Drafting",
    "Summariser",
    "by_ratio",
    "by_rounds",
    "given",
    "keep_probability",
]

_HEARD = (Kind.TASK, Kind.USER)
_RESULTS = (Kind.FILE, Kind.TOOL_RESULT)

FOLD = 182.0
"""Compression, input over output, at which :data:`KEPT_AT_FOLD` was measured."""

KEPT_AT_FOLD = 0.17
"""Share of injected constraints that a summary keeps at :data:`FOLD`: COMPINT (2608.11242), a third
party's note; mean of several compactors at 100,000 tokens."""

FIRST_ROUND = 0.53
"""Share of rules that one round of compaction keeps: 2608.22752, a third party's note."""

LATER_ROUND = 0.66
"""What each further round keeps of what is left: derived from the same study, in which five rounds
kept 10 %: 0.53 x 0.66 ** 4."""

RETENTIONS = ("keep", "ratio", "rounds")
"""What decides whether a fact survives a summary: ``surrogate.keep`` alone, how much shorter the
summary is than what was given, or how often the fact has been summarised."""


_LEAST = {
    "prompt": 0,
    "input_cap": 0,
    "item_cap": 1,
    "clip": 1,
    "window": 1,
    "tries": 1,
    "calls": 1,
}


@dataclass(frozen=True, slots=True)
class Summariser:
    """How a harness asks for a summary. Sizes are whole tokens; None is no limit.

    With *cached* it asks at the end of the current request, which reads the cached prefix and is
    given everything that is resident; else it is a request of its own, with the sources alone. A
    cached request that is over its window becomes one of its own, where it drops what is too much.
    Raises ValueError for a size or a number below what there can be.
    """

    cached: bool = False
    prompt: int = 0
    """Instructions on top of what is to be summarised."""
    input_cap: int | None = None
    """The most of the sources that it is given; what is over it is left out, oldest first."""
    item_cap: int | None = None
    """The most of each source that it is given, from its front."""
    result_cap: int | None = None
    """The most of each result of a tool that it is given, from its front."""
    clip: int | None = None
    """The most that it writes; the rest of a longer summary is cut off."""
    window: int | None = None
    """The most that a request to it may hold, its output included."""
    drops: bool = False
    """Whether what does not fit its window is left out, oldest first; else it refuses."""
    tries: int = 1
    """How often it is asked before the harness gives up."""
    calls: int = 1
    """Requests that one summary takes: a second one may verify the first."""
    from_user: bool = False
    """Whether what it is given begins with words of the user; without any it is given nothing."""

    def __post_init__(self) -> None:
        for name, least in _LEAST.items():
            value = getattr(self, name)
            if value is not None and value < least:
                raise ValueError(f"{name} of a summariser must be at least {least}, not {value}")

    def written(self, tokens: int) -> int:
        """Return how much of a summary of *tokens* is left after the clip."""
        return tokens if self.clip is None else min(tokens, self.clip)


def by_ratio(ratio: float) -> float:
    """Return the probability that one round keeps a fact at *ratio* of input to output.

    Log-linear, from 1 at a ratio of 1 through :data:`KEPT_AT_FOLD` at :data:`FOLD`; 0 from where
    the line ends, a ratio of about 529.
    """
    if ratio <= 1.0:
        return 1.0
    return max(0.0, 1.0 - (1.0 - KEPT_AT_FOLD) * math.log(ratio) / math.log(FOLD))


def by_rounds(round_: int) -> float:
    """Return the probability that round *round_*, from 1, keeps a fact that came so far."""
    return FIRST_ROUND if round_ <= 1 else LATER_ROUND


def keep_probability(settings: Settings, ratio: float, round_: int) -> float:
    """Return the probability that a summary keeps a fact it is given, by the scenario's rule."""
    match settings.summariser_retention:
        case "ratio":
            return by_ratio(ratio)
        case "rounds":
            return by_rounds(round_)
    return settings.surrogate_keep


def given(summariser: Summariser, sources: Sequence[Segment], room: int) -> dict[Segment, int]:
    """Return how much of each of *sources*, oldest first, it is given, in tokens from its front.

    *room* is what a request to it may hold of them. What does not fit is left out whole, the oldest
    first; with ``from_user``, then, what stands in front of the first word of the user.
    """
    left = room if summariser.input_cap is None else min(room, summariser.input_cap)
    shown: dict[Segment, int] = {}
    for source in reversed(sources):
        size = _shown(summariser, source)
        if size > left:
            break
        shown[source] = size
        left -= size
    chosen = list(reversed(shown.items()))
    if summariser.from_user:
        heard = (at for at, (source, _) in enumerate(chosen) if source.kind in _HEARD)
        chosen = chosen[next(heard, len(chosen)) :]
    return dict(chosen)


def _shown(summariser: Summariser, source: Segment) -> int:
    """Return how much of *source* it would be given, were there room for all."""
    result = source.pair is not None and source.kind in _RESULTS
    caps = summariser.item_cap, summariser.result_cap if result else None
    return min([source.tokens, *(cap for cap in caps if cap is not None)])


@dataclass(frozen=True, slots=True)
class Drafting:
    """Keeps what a summary of the model keeps: with some probability what it was given.

    *shown* is how much of each source it was given, in tokens from the front, and *ratio* the
    length of all that over the length of the summary. What is not kept, given or not, is stated
    wrong with the probability ``summariser.fabricate``. What was invented before is invented still,
    unless the summary states it from another source as it is.
    """

    settings: Settings
    seed: int
    shown: Mapping[Segment, int]
    ratio: float
    settles: bool = True

    def seen(self, source: Segment, said: Said) -> bool:
        """Whether that place of *source* was given."""
        return said.place < self.shown.get(source, 0)

    def fate(self, source: Segment, said: Said) -> Fate:
        """Return what the draws of this fact make of it."""
        root, round_ = rounds(source)
        event = root, said.draw, round_
        p = 0.0
        if self.seen(source, said):
            p = keep_probability(self.settings, self.ratio, 1 + drafts(source))
        if p >= 1.0 or uniform(self.seed, "surrogate.keep", *event) < p:
            return Fate.INVENTED if said.key in source.made_up else Fate.TOLD
        if uniform(self.seed, "summariser.fabricate", *event) < self.settings.summariser_fabricate:
            return Fate.INVENTED
        return Fate.DROPPED
