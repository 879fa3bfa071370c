"""What a policy may ask for. The engine checks each action, applies it and books it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sim.summariser import Summariser

__all__ = [
    "Action",
    "Admit",
    "Breakpoints",
    "Evict",
    "Grant",
    "Recall",
    "Refresh",
    "Refuse",
    "RehydrationBlocked",
    "Reread",
    "Restore",
    "Reveal",
    "Rewrite",
]


@dataclass(frozen=True, slots=True)
class Evict:
    """Take a segment out, and its call or result with it."""

    segment: str
    reason: str


@dataclass(frozen=True, slots=True)
class Rewrite:
    """Replace segments by one surrogate, which stands where the first of them stood.

    *tokens* is the whole surrogate with its tag. *line* marks a superseded attempt or result
    turned into a line, *whole* a summary of the whole transcript, asked for at the end of the
    current request. With *stub* no model is asked: the harness puts a fixed text there itself; of
    *preview*, tokens from the front and from the end of a single source that are part of the stub,
    it leaves the words, and so the facts, as they were; a preview of nothing, (0, 0), keeps no
    fact, of any number of sources. A *summariser* says how the model is asked otherwise; *tokens*
    is then what it would write. With *last* the surrogate stands where the last of the sources
    stood. With *saves* the harness keeps the sources where they can be fetched again: they have an
    external copy from then on.
    """

    sources: tuple[str, ...]
    tokens: int
    tagged: bool
    reason: str
    line: bool = False
    whole: bool = False
    stub: bool = False
    preview: tuple[int, int] | None = None
    summariser: Summariser | None = None
    last: bool = False
    saves: bool = False


@dataclass(frozen=True, slots=True)
class Reveal:
    """Show again, where a stub stands, what the harness hid behind it: its log has the text still.

    What was edited for one request alone comes back with the next one that is not edited.
    """

    stub: str


@dataclass(frozen=True, slots=True)
class Reread:
    """Bring an absent segment back from its copy of the harness's own accord, to the end.

    It is a fetch that no model asked for: the newest content of a file, or of what was saved.
    """

    segment: str


@dataclass(frozen=True, slots=True)
class Refresh:
    """Replace a stale copy by the current version, in place."""

    segment: str


@dataclass(frozen=True, slots=True)
class Recall:
    """Bring back an absent segment that this turn asked for, from its copy, after the answers.

    What never entered comes to the door again. Asked for is what a query or an operator touches,
    and what states the key of a query.
    """

    segment: str


@dataclass(frozen=True, slots=True)
class Restore:
    """Replace a surrogate by detail that the model makes up."""

    surrogate: str
    key: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Breakpoints:
    """Put cache breakpoints after these segments (at most 4), until put otherwise.

    With fewer than 4, the end of the request keeps its own. The first *long* of them ask for the
    longer life, where the provider sells one.
    """

    after: tuple[str, ...]
    long: int = 0


@dataclass(frozen=True, slots=True)
class Admit:
    """Let an arrival in at *tokens*, after the *displaced* segments have left.

    *how* is one of ``sim.reduction.FORMS``; with something displaced it is one two-sided decision.
    *score* and *floor* are the saliences that were compared, if any were. *page* is how many tokens
    one read of the file brings that holds the rest; None: what its tool's limit allows.
    """

    tokens: int
    how: str = "whole"
    displaced: tuple[str, ...] = ()
    score: float | None = None
    floor: float | None = None
    page: int | None = None


@dataclass(frozen=True, slots=True)
class Refuse:
    """Keep an arrival out: it is booked never-admitted.

    *reason* is ``oversize``, ``pinned`` or ``margin``; *tokens* its size at the door, after
    any reduction.
    """

    reason: str
    tokens: int
    displaced: tuple[str, ...] = ()
    score: float | None = None
    floor: float | None = None


@dataclass(frozen=True, slots=True)
class Grant:
    """Let an absent segment be fetched, after the *displaced* segments have left.

    *how* is ``slack`` or ``swap`` for a gated policy and None for one that has no gate.
    """

    how: str | None = None
    displaced: tuple[str, ...] = ()
    score: float | None = None
    floor: float | None = None


@dataclass(frozen=True, slots=True)
class RehydrationBlocked:
    """The typed refusal that goes to the planner instead of an absent segment.

    *reason* is ``oversize`` (larger than the budget less system and task), ``pinned`` (all
    unpinned segments together free too little) or ``margin``.
    """

    segment: str
    reason: str
    score: float
    floor: float | None
    displaced: tuple[str, ...] = ()


Action = Evict | Rewrite | Reveal | Refresh | Recall | Reread | Restore | Breakpoints
