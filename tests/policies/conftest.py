import pytest

from policies.adversaries import SETTINGS
from policies.registry import make
from sim.engine import run
from sim.prices import CacheRules, Price, Speed
from sim.records import to_dict
from sim.script import Script

PRICE = Price("test", 2.0, 2.5, 0.2, 10.0, CacheRules("auto"), Speed(5e3, 5e4, 0.5, 80.0))


class Played:
    """A script as one policy lived through it."""

    def __init__(self, result, strict):
        self.metrics = result.metrics
        self.ledger = result.ledger
        self.strict = strict
        self.records = [to_dict(record) for record in result.records]

    def __getitem__(self, metric):
        return self.metrics[metric]

    def rows(self, kind, turn=None):
        return [
            row
            for row in self.records
            if row["type"] == kind and (turn is None or row["turn"] == turn)
        ]

    @property
    def window(self):
        return list(self.rows("end")[0]["window"])

    def evicted(self, turn=None):
        return [(row["segment"], row["reason"]) for row in self.rows("evict", turn)]

    def rewritten(self, turn=None):
        return [(*row["sources"], row["after"]) for row in self.rows("rewrite", turn)]

    def truncated(self):
        return [row["segment"] for row in self.rows("truncate")]

    def breaches(self):
        return [row["rule"] for row in self.rows("breach")]

    def sent(self, turn):
        return next(row["tokens"] for row in self.rows("call", turn) if not row["extra"])


def _script(*stimuli, turns=None, attempts=(), **settings):
    changed = {key.replace("__", "."): value for key, value in settings.items()}
    last = max((s.turn for s in stimuli), default=1)
    flat = {**SETTINGS, **changed, "turns": turns or last}
    offered = frozenset({"facts", "ranks", "roles"})
    return Script("test", 0, flat, tuple(stimuli), tuple(attempts), offered)


@pytest.fixture
def play():
    """Run stimuli under a policy, by its spec or as an object; strict unless told otherwise."""

    def play(policy, *stimuli, strict=True, **settings):
        chosen = make(policy) if isinstance(policy, str) else policy
        return Played(run(_script(*stimuli, **settings), chosen, PRICE, strict=strict), strict)

    return play
