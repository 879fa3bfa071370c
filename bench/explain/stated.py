"""What the script of a run says that its records leave out: values, and what a form leaves out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from sim.reduction import lost
from sim.script import Arrival, Stimulus, Write
from sim.segments import Segment

if TYPE_CHECKING:
    from sim.script import Script
    from sim.segments import Fact

__all__ = ["Stated"]

_STROKES = "/\\"
"""What parts the folders of a path, here or elsewhere."""


class Stated:
    """Facts by segment and by written version, from the script alone.

    A record names the keys that a segment carries when it arrives. Which of them a reduction left
    out, what a written version states, and the values themselves stand in the script.
    """

    def __init__(self, script: Script) -> None:
        self._arrivals = {a.id: a for a in _all(script) if isinstance(a, Arrival)}
        self._writes: dict[tuple[int, str, str], list[Write]] = {}
        for branch, stimulus in _branches(script):
            if isinstance(stimulus, Write):
                key = stimulus.turn, branch, stimulus.path
                self._writes.setdefault(key, []).append(stimulus)

    @cached_property
    def folder(self) -> str:
        """The deepest folder with more than half of all paths, absolute and with its last stroke.

        Empty if there is none below the root.
        """
        paths = {a.path for a in self._arrivals.values() if a.path}
        paths |= {path for _, _, path in self._writes}
        return _shared(paths)

    def short(self, path: str) -> str:
        """Return *path* for a sentence: from :attr:`folder` on, if it lies there."""
        return path.removeprefix(self.folder) or path

    def about(self, segment: str) -> dict[str, Any]:
        """Return what tells *segment* from others: its kind, and path and tool if it has any."""
        arrival = self._arrivals.get(segment)
        if arrival is None:
            return {"segment": segment, "kind": None, "path": None, "tool": None}
        return {
            "segment": segment,
            "kind": str(arrival.kind),
            "path": arrival.path,
            "tool": arrival.tool,
        }

    def facts(self, segment: str) -> tuple[Fact, ...]:
        """Return the facts that *segment* brings, none for what the script does not know."""
        arrival = self._arrivals.get(segment)
        return () if arrival is None else arrival.facts

    def tool(self, segment: str) -> str | None:
        """Return the tool whose result *segment* is, if it is one's."""
        arrival = self._arrivals.get(segment)
        return None if arrival is None else arrival.tool

    def exceeds(self, segment: str, tokens: int) -> bool:
        """Whether *tokens* of *segment* are more than its tool declares."""
        arrival = self._arrivals.get(segment)
        limit = None if arrival is None else arrival.max_result_tokens
        return limit is not None and tokens > limit

    def left_out(
        self, segment: str, form: str, tokens: int, before: Iterable[Fact] = ()
    ) -> frozenset[str]:
        """Return the keys of *segment* that it does not state, entered as *form* at *tokens*.

        *before* are the facts of the result of the same tool before it, for a ``delta``.
        """
        arrival = self._arrivals.get(segment)
        if arrival is None or form == "whole":
            return frozenset()
        made = _segment(arrival)
        if form == "delta":
            made.previous = Segment("", arrival.kind, 1, 1, 0, facts=tuple(before))
        return lost(made, form, tokens)

    def written(self, turn: int, branch: str, path: str, number: int) -> tuple[Fact, ...] | None:
        """Return what write *number*, from 0, of *path* in a turn states; None: as before."""
        writes = [*self._writes.get((turn, "", path), ())]
        writes += self._writes.get((turn, branch, path), ()) if branch in ("ok", "failed") else ()
        return writes[number].facts if number < len(writes) else None

    def values(self, key: str) -> Mapping[str, str]:
        """Return what each segment that brings the fact *key* says, in the order of the script."""
        return {
            name: fact.value
            for name, arrival in self._arrivals.items()
            for fact in arrival.facts
            if fact.key == key
        }


def _shared(paths: Collection[str]) -> str:
    counts = Counter(path[: at + 1] for path in paths for at, c in enumerate(path) if c in _STROKES)
    folders = [folder for folder, count in counts.items() if 2 * count > max(2, len(paths))]
    return max(filter(_below_a_root, folders), key=len, default="")


def _below_a_root(folder: str) -> bool:
    """Whether an absolute *folder* is more than ``/`` or a drive: without that a path is bare."""
    path = folder[2:] if folder[1:2] == ":" else folder
    return path[0] in _STROKES and path.strip(_STROKES) != ""


def _segment(arrival: Arrival) -> Segment:
    return Segment(
        arrival.id,
        arrival.kind,
        arrival.tokens,
        arrival.turn,
        0,
        raw_tokens=arrival.tokens,
        facts=arrival.facts,
        max_result_tokens=arrival.max_result_tokens,
        blind=arrival.structure is None and arrival.reduced_tokens is None,
    )


def _branches(script: Script) -> Iterator[tuple[str, Stimulus]]:
    for stimulus in script.stimuli:
        yield "", stimulus
    for attempt in script.attempts:
        for stimulus in attempt.ok:
            yield "ok", stimulus
        for stimulus in attempt.failed:
            yield "failed", stimulus


def _all(script: Script) -> Iterator[Stimulus]:
    return (stimulus for _, stimulus in _branches(script))
