"""Reducers of tool results: by the structure of each format, within a budget of tokens."""

from __future__ import annotations

from policies.reducers.reduction import Output, Reduced, reduce

__all__ = ["Output", "Reduced", "reduce"]
