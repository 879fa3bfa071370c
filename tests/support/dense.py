"""Long scripts from a seed: what Hypothesis seldom draws, runs in which everything happens often.

They do not shrink; a failure is narrowed down by hand from its seed.
"""

from __future__ import annotations

import random
from typing import Any

from sim.script import Script
from sim.segments import Kind
from tests.support.scripts import HARNESS, LOOSE_KINDS, PATHS, TOOLS, build

__all__ = ["dense"]

_OPTIONS: dict[str, tuple[Any, ...]] = {
    "salience.decay": (1.0, 0.85, 0.85, 0.5, 0.1),
    "rehydrate.threshold": (0.0, 0.3, 0.6, 0.95),
    "rehydrate.margin": (0.0, 0.1, 1.0),
    "rehydrate.comparison": ("min", "max", "sum"),
    "slack.trigger": (0.5, 1.0, 2.0),
    "slack.occupancy": ("tokens", "mass"),
    "rewrite.below": (0.0, 0.25, 0.6, 1.0),
    "surrogate.tokens": (1, 5, 12, 30),
    "surrogate.tag_tokens": (1, 8),
    "surrogate.keep": (0.0, 0.5, 1.0),
    "line_tokens": (1, 12, 20),
    "restore_tokens": (1, 60),
    "compaction.at": (0.5, 1.0),
    "compaction.share": (0.01, 0.05, 0.5),
    "clock.turn_seconds": (0.0,),
    "clock.extra_call_seconds": (0.0,),
    "reader": ((0.4, 0.75, 0.1, 0.15), (0.0, 0.0, 1.0, 0.0), (1, 0, 0, 1)),
    "reader.distraction": (0.1, 1.0),
    "reader.refetch": ("always",),
}


class _Drafts:
    """Draws drafts as ``tests.support.scripts`` builds them."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def some(self, shares: dict[str, tuple[float, Any]]) -> dict[str, Any]:
        return {name: value() for name, (share, value) in shares.items() if self.chance(share)}

    def tokens(self) -> int:
        draw = self.random.randint
        return self.random.choice((draw(1, 60), draw(20, 150), draw(1, 400)))

    def names(self) -> tuple[str, ...]:
        return tuple(self.random.sample(PATHS, self.random.randint(0, 2)))

    def numbers(self, least: int) -> list[int]:
        return [self.random.randint(0, 200) for _ in range(self.random.randint(least, 2))]

    def segment(self) -> tuple[Any, ...]:
        pick, draw = self.random.choice, self.random.randint
        more = self.some(
            {
                "pinned": (0.12, lambda: True),
                "standing": (0.2, lambda: True),
                "taggable": (0.2, lambda: False),
                "path": (0.6, lambda: pick(PATHS)),
                "rank": (0.5, lambda: draw(1, 9)),
                "fact": (0.1, lambda: pick((None, False))),
                "surrogate_tokens": (0.1, lambda: draw(1, 300)),
                "time": (0.3, lambda: pick((0.0, 1.0, 2.5))),
                "names": (0.3, self.names),
            }
        )
        kind = pick((*LOOSE_KINDS, Kind.FILE, Kind.FILE, Kind.FILE))
        score = pick((1.0, 0.9, 0.7, 0.5, 0.4, 0.3, 0.2, 0.1, 0.0, self.random.random()))
        return ("segment", kind, self.tokens(), score, {"copy": self.chance(0.4), **more})

    def result(self) -> tuple[Any, ...]:
        pick, draw = self.random.choice, self.random.randint
        more = self.some(
            {
                "pinned": (0.1, lambda: True),
                "fact": (0.1, lambda: pick((None, False))),
                "time": (0.4, lambda: pick((0.0, 0.5, 3.0))),
                "max_result_tokens": (0.3, lambda: draw(1, 200)),
                "at": (0.3, lambda: draw(0, 400)),
                "pages": (0.2, lambda: True),
                "reduced_tokens": (0.2, lambda: draw(1, 200)),
                "delta_tokens": (0.3, lambda: draw(1, 60)),
                "structure": (0.4, lambda: (draw(1, 9), draw(1, 9), draw(1, 40), draw(1, 20))),
                "names": (0.4, self.names),
            }
        )
        score = pick((1.0, 0.9, 0.5, 0.3, 0.1, self.random.random()))
        return ("result", pick(TOOLS), self.tokens(), score, {"copy": self.chance(0.4), **more})

    def query(self) -> tuple[Any, ...]:
        relevance = self.random.choice((1.0, 0.9, 0.7, 0.65, 0.5, 0.3, 0.0, self.random.random()))
        return ("query", self.random.randint(0, 200), relevance, self.numbers(0))

    def draft(self) -> tuple[Any, ...]:
        pick, draw = self.random.choice, self.random.randint
        what = self.random.choices(
            ("segment", "result", "query", "write", "act", "operator", "world", "wait"),
            (30, 20, 25, 6, 6, 5, 4, 4),
        )[0]
        match what:
            case "segment":
                return self.segment()
            case "result":
                return self.result()
            case "query":
                return self.query()
            case "write":
                facts = pick((None, None, None, (), ("new",)))
                return ("write", pick(PATHS), pick((None, draw(1, 200))), facts)
            case "act":
                return ("act", self.numbers(1))
            case "operator":
                return ("operator", draw(0, 200))
            case "world":
                return ("world", draw(0, 200), draw(1, 200))
            case _:
                return ("wait", pick((1.0, 400.0)))

    def drafts(self, most: int) -> list[tuple[Any, ...]]:
        return [self.draft() for _ in range(self.random.randint(0, most))]

    def attempt(self) -> dict[str, Any]:
        needs = self.some(
            {
                "facts": (0.7, lambda: self.numbers(1)),
                "paths": (0.4, lambda: self.random.sample(PATHS, self.random.randint(1, 2))),
            }
        )
        branches = {"ok": self.drafts(2), "failed": self.drafts(3)}
        return {"guarded": self.chance(0.5), **needs, **branches}


def dense(seed: int, *, strict: bool = False, harness: bool = False) -> Script:
    """Return the script of *seed*, 3 to 30 turns; *strict* leaves nothing to the reader's draws.

    With *harness*, sizes may be counted otherwise than they are, and summaries may fail or invent.
    """
    drafts = _Drafts(seed)
    draw = drafts.random.randint
    turns = [
        (drafts.drafts(6), drafts.attempt() if drafts.chance(0.25) else None)
        for _ in range(draw(3, 30))
    ]
    budget = drafts.random.choice((draw(120, 500), draw(300, 1_500), draw(800, 3_000)))
    chosen = {
        key: drafts.random.choice(values)
        for key, values in _OPTIONS.items()
        if drafts.chance(0.25) and not (strict and key.startswith("reader"))
    }
    replicate = draw(0, 3)
    if harness:
        chosen.update(
            (key, drafts.random.choice(values))
            for key, values in HARNESS.items()
            if drafts.chance(0.5)
        )
    return build({"budget": budget, **chosen}, turns, replicate)
