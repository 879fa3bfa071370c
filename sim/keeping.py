"""Keeping: which facts of its sources the text states that stands for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple, Protocol

from sim.reduction import text_place
from sim.segments import originals
from sim.streams import uniform

if TYPE_CHECKING:
    from sim.segments import Fact, Segment

__all__ = [
    "ByChance",
    "ByPlace",
    "Fate",
    "Keeping",
    "Kept",
    "Said",
    "Unwritten",
    "drafts",
    "keep",
    "rounds",
    "said",
    "stated",
]


class Fate(Enum):
    """What becomes of a fact of a source in the text that stands for it."""

    TOLD = "told"
    INVENTED = "invented"
    """It is stated, and as nobody ever said it."""
    DROPPED = "dropped"


class Said(NamedTuple):
    """A fact as a text states it."""

    key: str
    place: int
    """Tokens in front of it in the text."""
    draw: str
    """The name by which it is drawn whether it is kept."""


class Kept(NamedTuple):
    """The facts of a surrogate by key: what it states, and what of that is invented.

    *unseen* are those that its sources state and that its writer was given from none of them.
    """

    kept: frozenset[str] = frozenset()
    made_up: frozenset[str] = frozenset()
    unseen: frozenset[str] = frozenset()


class Keeping(Protocol):
    """The rule by which a surrogate came to state what it states.

    It draws by name alone, so it says the same of a fact whenever it is asked.
    """

    @property
    def settles(self) -> bool:
        """Whether what one source tells as it is overrules what another has invented.

        Else what any of them had made up, and is kept, counts as made up.
        """

    def fate(self, source: Segment, said: Said) -> Fate:
        """Return what becomes of what a *source* of the surrogate says."""

    def seen(self, source: Segment, said: Said) -> bool:
        """Whether the writer of the surrogate was given what *source* says there."""


@dataclass(frozen=True, slots=True)
class ByChance:
    """Keeps each fact with the probability *share*: ``surrogate.keep``."""

    seed: int
    share: float
    settles: bool = False

    def fate(self, source: Segment, said: Said) -> Fate:
        """Return what the draw of this fact, by the run's *seed*, makes of it."""
        if self.share < 1.0:
            root, round_ = rounds(source)
            if uniform(self.seed, "surrogate.keep", root, said.draw, round_) >= self.share:
                return Fate.DROPPED
        return Fate.TOLD

    def seen(self, source: Segment, said: Said) -> bool:
        """Whether it was given: all of it was."""
        return True


@dataclass(frozen=True, slots=True)
class ByPlace:
    """Keeps what stands in the first *head* tokens of a text, or from its token *tail* on."""

    head: int
    tail: int
    settles: bool = False

    def fate(self, source: Segment, said: Said) -> Fate:
        """Return whether it is in what is left of the text."""
        shown = said.place < self.head or said.place >= self.tail
        return Fate.TOLD if shown else Fate.DROPPED

    def seen(self, source: Segment, said: Said) -> bool:
        """Whether it was given: all of it was."""
        return True


@dataclass(frozen=True, slots=True)
class Unwritten:
    """Keeps nothing, since nothing was given to anyone who could write it."""

    settles: bool = False

    def fate(self, source: Segment, said: Said) -> Fate:
        """Return that it is dropped."""
        return Fate.DROPPED

    def seen(self, source: Segment, said: Said) -> bool:
        """Whether it was given: nothing was."""
        return False


def keep(keeping: Keeping, sources: Iterable[Segment]) -> Kept:
    """Return what a surrogate of *sources* states under the rule *keeping*."""
    found: dict[Fate, set[str]] = {fate: set() for fate in Fate}
    seen: set[str] = set()
    known: set[str] = set()
    before: set[str] = set()
    for source in sources:
        before |= source.made_up
        for each in stated(source):
            known.add(each.key)
            if keeping.seen(source, each):
                seen.add(each.key)
            found[keeping.fate(source, each)].add(each.key)
    told, invented = found[Fate.TOLD], found[Fate.INVENTED]
    kept = told | invented
    made_up = invented - told if keeping.settles else before & kept
    return Kept(frozenset(kept), frozenset(made_up), frozenset(known - seen))


def stated(source: Segment) -> Iterator[Said]:
    """Yield each fact that the text of *source* states; a surrogate states everything in front."""
    if source.sources:
        draws = {f.key: f.draw for s in originals((source,)) for f in s.facts if f.draw}
        yield from (Said(key, 0, draws.get(key) or key) for key in sorted(source.kept))
        return
    facts = {fact.key: fact for fact in source.facts if fact.key not in source.lost}
    yield from (said(source, facts[key]) for key in sorted(facts))


def said(source: Segment, fact: Fact) -> Said:
    """Return how *source*, which came from outside and states *fact*, says it."""
    return Said(fact.key, text_place(source, fact), fact.draw or fact.key)


def rounds(source: Segment) -> tuple[str, int]:
    """Return the first original of *source*, and how many stand-ins lie behind its next one."""
    round_, root = 1, source
    while root.sources:
        round_, root = round_ + 1, root.sources[0]
    return root.id, round_


def drafts(source: Segment) -> int:
    """Return how often a model has written anew what *source* stands for; stubs are no drafts."""
    count, at = 0, source
    while at.sources:
        count, at = count + (not at.stub), at.sources[0]
    return count
