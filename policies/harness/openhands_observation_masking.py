"""openhands-observation-masking: every step, results older than the newest events are masked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from policies.harness.caps import CAPS
from policies.harness.editing import Clearing
from policies.options import Options, whole
from policies.parts.capping import CAP, capping
from policies.parts.clearing import is_result
from policies.parts.history import is_event
from policies.parts.stubs import Newest, Unstubbed, stub

if TYPE_CHECKING:
    from sim.actions import Rewrite
    from sim.view import View

__all__ = ["OpenhandsObservationMasking"]


class OpenhandsObservationMasking(Clearing):
    """Masks each result that is not among the newest events, at every step.

    The limit counts events of every kind. An event is a segment other than the tool list. 100 is
    the default of the configuration, 5 that of the class. Source: OpenHands V0,
    memory/condenser/impl and core/config/condenser_config.py at 156d0686 (read in source).
    """

    name = "openhands-observation-masking"
    summary = "every step, masks the results that are not among the newest 100 events"
    source = "OpenHands V0, ObservationMaskingCondenser"
    version = "OpenHands 156d0686, read in source"
    options = (
        CAP,
        whole("attention_window", "newest events whose results stay", "events", 100, 0),
        whole("stub", "what is put in the place of each", "tokens", 2, 1),
    )

    def compose(self, options: Options) -> Iterable[Any]:
        """Return the cap and the condenser."""
        yield from capping(options, CAPS["openhands"])
        yield _Condenser(options["attention_window"], options["stub"])


class _Condenser:
    def __init__(self, keep: int, tokens: int) -> None:
        self._keep = keep
        self._stub = tokens
        self._events = Newest(is_event)
        self._old = Unstubbed(is_result, tokens)

    def start(self, view: View) -> None:
        self._events.start(view)
        self._old.start(view)

    def before_call(self, view: View) -> Iterator[Rewrite]:
        for result in self._old.in_front_of(view, self._events.begin(self._keep)):
            yield stub(result, self._stub, "masked")
