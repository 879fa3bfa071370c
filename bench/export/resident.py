"""What is in the window by kind, followed through the event records of one agent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from sim.segments import Kind

__all__ = ["INVENTED", "SORTS", "SURROGATE", "Resident"]

SURROGATE, INVENTED = "surrogate", "invented"
SORTS = (*(str(kind) for kind in Kind), SURROGATE, INVENTED)
"""What tokens of the window can be: a kind of segment, a stand-in for some, or made up."""


class Resident:
    """Tokens of the window by :data:`SORTS`; :meth:`take` each record in turn."""

    def __init__(self) -> None:
        self.tokens: Counter[str] = Counter()
        self._sorts: dict[str, str] = {}
        """What each segment is, resident or not."""
        self._sizes: dict[str, int] = {}
        """Tokens of each that is resident."""

    def take(self, event: Mapping[str, Any]) -> None:
        """Follow what *event*, a record as a dict, does to the window."""
        match event["type"]:
            case "arrive":
                self._sorts[event["segment"]] = event["kind"]
            case "admit" | "fetch":
                self._enter(event["segment"], event["tokens"])
            case "evict" | "truncate":
                self._leave(event["segment"])
            case "refresh" if event["segment"] in self._sizes:
                self._leave(event["segment"])
                self._enter(event["segment"], event["after"])
            case "rewrite":
                for source in event["sources"]:
                    self._leave(source)
                self._sorts[event["surrogate"]] = SURROGATE
                self._enter(event["surrogate"], event["after"])
            case "reveal":
                self._leave(event["stub"])
                self._enter(event["segment"], event["after"])
            case "restore":
                self._leave(event["surrogate"])
                self._sorts[event["segment"]] = INVENTED
                self._enter(event["segment"], event["after"])

    def _enter(self, segment: str, tokens: int) -> None:
        self._sizes[segment] = tokens
        self.tokens[self._sorts[segment]] += tokens

    def _leave(self, segment: str) -> None:
        self.tokens[self._sorts[segment]] -= self._sizes.pop(segment)
