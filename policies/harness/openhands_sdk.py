"""openhands-sdk: past so many events or tokens, the middle becomes one summary event."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from policies.harness.caps import CAPS
from policies.harness.summarising import Summarising
from policies.options import Options, number, whole
from policies.parts.asking import FREE_TEXT, Asking
from policies.parts.capping import CAP, capping
from policies.parts.compacting import Compacting
from policies.parts.history import behind_pairs, in_history, is_event, newest
from sim.errors import InputError
from sim.summariser import Summariser

if TYPE_CHECKING:
    from sim.actions import Action
    from sim.segments import Segment
    from sim.view import View

__all__ = ["OpenhandsSdk"]


class OpenhandsSdk(Summarising):
    """Keeps the first events and a tail that makes half of ``max_size``, and summarises the rest.

    The cut moves to where it parts no call from its result. A condensation that would drop less
    than a tenth of the events is not made. Where the provider has refused the request, one that
    cannot be made, or that comes to nothing, is followed by a hard reset: everything behind the
    system prompt becomes the summary, each event shown to its share of the longest, a fifth less
    with each of 5 tries. The class's defaults are 240 events and the first 2; the default agent
    sets 80 and 4. Source: LLMSummarizingCondenser of the OpenHands SDK 1.58.2,
    openhands/sdk/context/condenser (read in source).
    """

    name = "openhands-sdk"
    summary = "past so many events, makes one summary of all but the first and a tail"
    source = "OpenHands SDK, LLMSummarizingCondenser"
    version = "OpenHands SDK 1.58.2, read in source"
    options = (
        CAP,
        whole("max_size", "events above which it condenses", "events", 240, 1),
        whole("max_tokens", "tokens above which it condenses; 0: none", "tokens", 0, 0),
        whole("keep_first", "first events that stay, the system prompt among them", "events", 2, 0),
        number("progress", "least share of the events that must go", 0.1, 0.0, 1.0),
        whole("resets", "tries of a hard reset; 0: there is none", "times", 5, 0),
        number("scale", "what each of them shows of an event, of what the last did", 0.8, 0.0, 1.0),
        *FREE_TEXT,
    )

    def compose(self, options: Options) -> Iterable[Any]:
        """Return the cap and the condenser; raises InputError where no tail would be left."""
        yield from capping(options, CAPS["openhands-sdk"])
        first, half = options["keep_first"], options["max_size"] // 2
        if first >= half - 1:
            raise InputError(
                f"policy {self.name}: keep_first {first} leaves no tail of the {half} events that "
                "are half of max_size"
            )
        yield _Condenser(Asking.of(options), options)


class _Condenser(Compacting):
    def __init__(self, asking: Asking, options: Options) -> None:
        super().__init__(asking, is_event)
        self._most: int = options["max_size"]
        self._tokens: int = options["max_tokens"]
        self._first: int = options["keep_first"]
        self._progress: float = options["progress"]
        self._resets: int = options["resets"]
        self._scale: float = options["scale"]

    def due(self, view: View) -> bool:
        return len(self.history) > self._most or bool(self._tokens and view.tokens > self._tokens)

    def chosen(self, view: View, history: Sequence[Segment]) -> Sequence[Segment]:
        tail = self._most // 2 - self._first - 1
        cut = max(min(self._first, len(history)), len(history) - tail)
        if self._tokens and view.tokens > self._tokens:
            sizes = [view.size(segment) for segment in history]
            head = sum(sizes[: self._first])
            cut = max(cut, newest(sizes, max(0, self._tokens // 2 - head)))
        cut = behind_pairs(view, history, cut)
        forgotten = history[self._first : cut]
        return forgotten if len(forgotten) >= self._progress * len(history) else ()

    def on_overflow(self, view: View) -> Iterator[Action]:
        came = yield from self.compact(view)
        if not came or view.over > 0:
            yield from self._reset(view)

    def _reset(self, view: View) -> Generator[Action, None, None]:
        everything = [segment for segment in self.history if in_history(segment)]
        longest = max((segment.tokens for segment in everything), default=1)
        caps = [max(1, int(longest * self._scale**n)) for n in range(self._resets)]
        tries = [Summariser(window=view.context_window, item_cap=cap) for cap in caps]
        yield from self.asking.ask(view, everything, *tries)
