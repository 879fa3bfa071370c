"""Two results compared: what is worse in the second, beyond what chance does.

Runs are paired by scenario, price, policy and seed. :func:`diff` says of every figure whether it is
worse, better, or no different from what chance would do to it.
"""

from __future__ import annotations

from bench.diff.difference import DEFAULT, LEVEL, Difference, chosen, diff

__all__ = ["DEFAULT", "LEVEL", "Difference", "chosen", "diff"]
