"""The Python interface: the command line's words, for a notebook or a script.

from bench.api import compare

found = compare(["doc-analysis"], ["naive-rewrite", "tag-or-drop"], seeds=30)
found.frame.groupby("policy")["confabulation_rate"].mean()
"""

from __future__ import annotations

from bench.api.asked import SEEDS
from bench.api.comparing import compare
from bench.api.comparison import Comparison
from bench.api.loaded import load
from bench.api.replayed import Replay
from bench.api.replaying import replay
from bench.api.sweeping import sweep

__all__ = ["SEEDS", "Comparison", "Replay", "compare", "load", "replay", "sweep"]
