"""The books: every token that came into the window or left it, under the one heading it has."""

from __future__ import annotations

from dataclasses import dataclass, fields

__all__ = ["Books"]


@dataclass(slots=True)
class Books:
    """Running totals in tokens.

    What came in less what left is what is resident; *never_admitted* stands apart, since it never
    was in the window.
    """

    admitted: int = 0
    surrogate: int = 0
    fabricated: int = 0
    refreshed_in: int = 0
    rehydrated: int = 0
    evicted_copy: int = 0
    evicted_dispensable: int = 0
    rewritten: int = 0
    refreshed_out: int = 0
    truncated: int = 0
    never_admitted: int = 0
    revealed: int = 0
    """Of the rehydrated, those that came back in the place of a stub: no book of its own."""

    def resident(self) -> int:
        """Return what the books say is resident: all that came in, less all that left."""
        came = (
            self.admitted + self.surrogate + self.fabricated + self.refreshed_in + self.rehydrated
        )
        left = (
            self.evicted_copy
            + self.evicted_dispensable
            + self.rewritten
            + self.refreshed_out
            + self.truncated
        )
        return came - left

    def left(self) -> int:
        """Return all that left, refreshes apart."""
        return self.evicted_copy + self.evicted_dispensable + self.rewritten + self.truncated

    def totals(self) -> dict[str, int]:
        """Return every book by the name of its metric, ``resident_tokens`` among them."""
        booked = (field.name for field in fields(self) if field.name != "revealed")
        totals = {f"{name}_tokens": getattr(self, name) for name in booked}
        return {**totals, "resident_tokens": self.resident()}
