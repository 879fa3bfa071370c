"""Advice: what the rows of a comparison say about cost, in words and figures."""

from bench.advice.items import KINDS, advise

__all__ = ["KINDS", "advise"]
