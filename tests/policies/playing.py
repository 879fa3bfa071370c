"""Plays small scripts and builds views for the tests of policies."""

from policies.adversaries import SETTINGS
from sim.prices import CacheRules, Price, Speed
from sim.records import to_dict
from sim.roles import Roles
from sim.salience import Decay
from sim.script import Script
from sim.segments import Kind, Segment, State
from sim.settings import Settings
from sim.store import Store
from sim.view import View
from sim.window import Window

PRICE = Price("test", 2.0, 2.5, 0.2, 10.0, CacheRules("auto"), Speed(5e3, 5e4, 0.5, 80.0))


class Played:
    """A script as one policy lived through it."""

    def __init__(self, result):
        self.metrics = result.metrics
        self.ledger = result.ledger
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


def script_of(*stimuli, turns=None, attempts=(), **settings):
    changed = {key.replace("__", "."): value for key, value in settings.items()}
    last = max((s.turn for s in stimuli), default=1)
    flat = {**SETTINGS, **changed, "turns": turns or last}
    offered = frozenset({"facts", "ranks", "roles"})
    return Script("test", 0, flat, tuple(stimuli), tuple(attempts), offered)


def view_of(*segments, turn=5, **changed):
    window, roles, log = Window(), Roles(), {}
    flat = {**SETTINGS, **{k.replace("__", "."): v for k, v in changed.items()}, "turns": 50}
    view = View(Settings.from_flat(flat), window, Store(), roles, Decay(0.85), log)
    view.turn = turn
    for segment in sorted(segments, key=lambda s: s.seq):
        log[segment.id] = segment
        roles.arrive(segment)
        segment.state = State.RESIDENT
        window.append(segment)
    for segment in segments:
        window.hold(segment)
        window.touch(segment)
    return view, window


def seg(name, seq, tokens=10, score=0.5, kind=Kind.NOTE, **more):
    return Segment(name, kind, tokens, 1, seq, score=score, **more)
