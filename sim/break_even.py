"""Break-even: whether what a pass removed was worth breaking a cached prefix for."""

from __future__ import annotations

__all__ = ["pays_back"]


def pays_back(
    removed: float, behind: float, calls: float, read: float, write: float, refetch: float = 0.0
) -> bool:
    """Return whether a removal saves more than it costs: b·L·r > S·(w − r) + refetch.

    *removed* is b, the tokens that went; *behind* is S, the tokens behind the first cut that would
    have been read; *calls* is L, the calls to go, this one included; *read* and *write* are r and
    w, the prices of a token read and written, and *refetch* is what bringing things back cost, in
    the same unit. Price cliffs are left out. Source: the rewrite rule of calibration A2
    (FutureEnterprises/anatomy, method).
    """
    return removed * calls * read > behind * (write - read) + refetch
