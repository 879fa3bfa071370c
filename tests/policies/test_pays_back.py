"""pays-back: decisions worked by hand, and a slow second implementation over random windows.

The price of the hand-worked cases is 0.2 for a token read and 2.5 for one written, R = 11.5; with
the usual refetch of 0.25 a token gone saves 0.2·L − 0.625 and one behind a cut costs 2.3.
"""

from dataclasses import replace
from math import log

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from policies.registry import make
from sim.engine import run
from sim.errors import InputError
from sim.prices import CacheRules
from sim.script import Arrival, Wait
from sim.segments import Kind
from tests.policies.playing import PRICE, Played, script_of

AUTO = replace(PRICE, rules=CacheRules("auto", ttl=300.0))
TURNS = 20


def head(tokens=100):
    return Arrival(1, "sys", Kind.SYSTEM, tokens, 1.0, pinned=True)


def note(name, tokens, score=0.2, turn=1, **more):
    return Arrival(turn, name, Kind.NOTE, tokens, score, **more)


def at(options, *stimuli, price=AUTO, turns=TURNS, budget=100_000, decay=1.0):
    """Return what was evicted in which turn, in order."""
    spec = f"pays-back:{options}" if options else "pays-back"
    script = script_of(*stimuli, turns=turns, budget=budget, salience__decay=decay)
    told = Played(run(script, make(spec), price, strict=True))
    return [(row["turn"], row["segment"], row["reason"]) for row in told.rows("evict")]


def first(options, *stimuli, **more):
    found = at(options, *stimuli, **more)
    return found[0][0] if found else None


# -- when it pays ------------------------------------------------------------------------------

SIMPLE = (head(), note("old", 1_000), note("tail", 100, 1.0))
"""b = 1,000 with S = 100: the cut costs 230; old has been due since turn 1 and is 200 a call."""


@pytest.mark.parametrize(
    ("options", "turn"),
    [
        # Turn t has t − 1 calls behind it: 1,000·(0.2·(t − 1) − 0.625) > 230 from t − 1 = 5 on.
        ("", 6),
        # 200·(t − 1) > 230 from t − 1 = 2 on, and so has 200·(t − 1) been paid.
        ("refetch=0", 3),
        ("refetch=0,patience=0", 3),
        # Twice the cut, 460, has been paid at t − 1 = 3; ten times, 2,300, at 12.
        ("refetch=0,patience=2", 4),
        ("patience=10", 13),
        # 20 turns: L = 19 at turn 2 already, but only 200 have been paid by then.
        ("horizon=known", 3),
        ("horizon=known,patience=0", 2),
        # Ten calls in all: L = 8 at turn 3, 1,000·0.975 > 230.
        ("horizon=10", 3),
        # Five calls: L = 3 at turn 3, and 0.6 is less than the refetch; it gets no better.
        ("horizon=5", None),
        ("refetch=10", None),
        ("economy=off", None),
    ],
)
def test_the_turn_in_which_it_pays(options, turn):
    assert first(options, *SIMPLE) == turn


def test_what_no_call_has_had_stays():
    """Nothing stands behind it and it is below the limit; it is weighed from the next turn on."""
    late = (head(), note("a", 500, 1.0), note("late", 300, turn=9))
    assert first("refetch=0", *late) == 10
    assert first("refetch=0,batch=off", *late) == 10


def test_it_takes_time_to_fall_below_the_limit():
    """0.5·0.85^k is 0.25 at k = 4.27. At turn 7 old is 1.73 turns below: 200·1.73 = 347 > 230."""
    stimuli = (head(), note("old", 1_000, 0.5), note("tail", 100, 1.0))
    assert 4 < log(0.5) / log(0.85) < 5
    assert first("refetch=0,patience=0", *stimuli, decay=0.85) == 6
    assert first("refetch=0", *stimuli, decay=0.85) == 7


def test_uncached_a_cut_costs_nothing():
    """r = w: what is due goes at once, 1,000·(2 − 0.25·2) > 0."""
    price = replace(PRICE, write=2.0, read=2.0, rules=CacheRules("none"))
    assert at("", *SIMPLE, price=price) == [(2, "old", "pays back")]


def test_where_nothing_is_paid_nothing_pays():
    price = replace(PRICE, input=0.0, write=0.0, read=0.0)
    assert at("", *SIMPLE, price=price) == []


# -- a cold cache ------------------------------------------------------------------------------

DEEP = (head(), note("old", 1_000), note("tail", 1_000, 1.0))
"""S = 1,000: 200·(t − 1) > 2,300 from t − 1 = 12 on."""


def test_a_cold_cache_is_used_at_once():
    assert first("refetch=0", *DEEP) == 13
    assert first("refetch=0", *DEEP, Wait(4, 301.0)) == 4
    assert first("refetch=0", *DEEP, Wait(4, 200.0)) == 13


def test_only_when_cold():
    assert first("refetch=0,when=cold", *DEEP, Wait(15, 301.0)) == 15
    assert first("refetch=0,when=cold", *DEEP) is None
    assert first("refetch=0", *DEEP, Wait(15, 301.0)) == 13


# -- batches -----------------------------------------------------------------------------------


def test_the_batch_that_gains_most():
    """sys, a 500, x 2,000, b 300, y 100. At turn 20 L = 19 and 0.2·19 = 3.8 is saved.

    b alone: 300·3.8 − 100·2.3 = 910. With a: 800·3.8 − 2,100·2.3 = −1,790. So a stays; and b has
    gone when 300·0.2·(t − 1) > 230, at t − 1 = 4.
    """
    stimuli = (head(), note("a", 500), note("x", 2_000, 1.0), note("b", 300), note("y", 100, 1.0))
    assert at("refetch=0", *stimuli) == [(5, "b", "pays back")]


def test_together_the_prefix_is_broken_once():
    """sys, a 300, b 300, y 200: together 600·0.2·n > 460 at n = 4, alone b needs n = 8.

    With b gone, a costs nothing more. From the front one by one, a is weighed first, with b behind
    it, 480 < 500·2.3; then b goes, and in the next turn a: 540 > 460. So y is read anew twice.
    """
    stimuli = (head(), note("a", 300), note("b", 300), note("y", 200, 1.0))
    assert at("refetch=0", *stimuli) == [(5, "b", "pays back"), (5, "a", "pays back")]
    alone = at("refetch=0,batch=off", *stimuli)
    assert alone == [(9, "b", "pays back"), (9, "a", "pays back")]
    twice = at("refetch=0,batch=off,order=first", *stimuli)
    assert twice == [(9, "b", "pays back"), (10, "a", "pays back")]


def test_a_batch_from_the_front_is_all_that_is_due():
    stimuli = (head(), note("a", 300), note("b", 300), note("y", 200, 1.0))
    found = at("refetch=0,order=first", *stimuli)
    assert found == [(5, "a", "pays back"), (5, "b", "pays back")]


def test_a_call_and_its_result_are_one(play):
    """The result counts, 0.2 < 0.25, and the call goes with it: b = 1,000 again."""
    pair = {"pair": "p", "tool": "t"}
    stimuli = (
        head(),
        Arrival(1, "call", Kind.TOOL_CALL, 400, 0.9, **pair),
        Arrival(1, "result", Kind.TOOL_RESULT, 600, 0.2, **pair),
        note("tail", 100, 1.0),
    )
    assert {name for turn, name, _ in at("", *stimuli) if turn == 6} == {"call", "result"}
    other = (replace(stimuli[1], score=0.1), replace(stimuli[2], score=0.9))
    assert at("", head(), *other, note("tail", 100, 1.0)) == []


def test_pins_and_surrogates_stay():
    pinned = (head(), note("old", 1_000, pinned=True), note("tail", 100, 1.0))
    assert at("", *pinned) == []


# -- forced by the budget ----------------------------------------------------------------------

FULL = (
    head(),
    note("x", 300),
    note("y", 300),
    note("z", 100, 1.0),
    note("new", 300, 1.0, turn=2),
)
"""1,100 at turn 2; with L = 1 a token gone is worth −0.425."""


def test_over_budget_it_takes_what_loses_least():
    """y: −127.5 − 230 = −357.5; with x −255 − 230 = −485."""
    assert at("", *FULL, turns=2, budget=1_000) == [(2, "y", "pays back")]


def test_from_the_front_the_same_cut_takes_both():
    """x: −127.5 − 400·2.3 = −1,047.5; with y −255 − 100·2.3 = −485."""
    found = at("order=first", *FULL, turns=2, budget=1_000)
    assert found == [(2, "x", "pays back"), (2, "y", "pays back")]


def test_exactly_full_is_not_over():
    assert at("", *FULL, turns=2, budget=1_100) == []


@pytest.mark.parametrize("options", ["", "when=cold", "patience=1000000", "batch=off"])
def test_what_is_needed_goes_whatever_was_waited_for(options):
    assert at(options, *FULL, turns=2, budget=1_000) == [(2, "y", "pays back")]


def test_what_still_does_not_fit_leaves_by_salience():
    """650 over: all that is due frees 600, and new, 0.9, is less salient than z."""
    stimuli = (*FULL[:4], note("new", 650, 0.9, turn=2))
    found = at("", *stimuli, turns=2, budget=800)
    assert found == [(2, "y", "pays back"), (2, "x", "pays back"), (2, "new", "budget")]


# -- a slow second implementation --------------------------------------------------------------


class Watched:
    """pays-back with each decision made once more, from the whole window."""

    label = "watched"
    declares = frozenset()
    needs = frozenset()

    def __init__(self, spec, waits, rules):
        self.policy = make(spec)
        self.waits, self.rules = waits, rules
        self.last, self.calls, self.checked = [], 0, 0

    def start(self, view):
        self.policy.start(view)

    def on_arrival(self, view, segment):
        return self.policy.on_arrival(view, segment)

    def before_call(self, view):
        options = self.options(view)
        taken = []
        for action in self.policy.before_call(view):
            if action.reason == "pays back":
                taken.append(action.segment)
            yield action
        self.check(options, taken)

    def after_turn(self, view):
        self.last = [(s.id, s.version, s.tokens) for s in view.window]
        self.calls += 1

    def options(self, view):
        """Return (names, b, S, waited) of each batch, and what the window is over."""
        window = list(view.window)
        cached = {}
        if view.turn not in self.waits:
            for old, segment in zip(self.last, window, strict=False):
                if old != (segment.id, segment.version, segment.tokens):
                    break
                cached[segment.id] = segment.tokens
        units = self.units(view, window)
        found = []
        for count in range(1, len(units) + 1):
            going = {s.id for _, unit, _ in units[:count] for s in unit}
            front = min(place for place, s in enumerate(window) if s.id in going)
            behind = [s for s in window[front:] if s.id not in going]
            found.append(
                (
                    [unit for _, unit, _ in units[:count]],
                    sum(s.tokens for s in window if s.id in going),
                    sum(cached.get(s.id, 0) for s in behind),
                    sum(turns * sum(s.tokens for s in unit) for _, unit, turns in units[:count]),
                )
            )
        return found, view.over

    def units(self, view, window):
        """Return (place, unit, turns below the limit) of all that is due, in order."""
        found = {}
        for segment in window:
            unit = [s for s in window if s is segment or (s.pair and s.pair == segment.pair)]
            counts = [s for s in unit if s.kind is not Kind.TOOL_CALL or len(unit) == 1] or unit
            low = [s for s in unit if view.salience(s) < 0.25]
            new = view.over <= 0 and any(s.admitted_turn == view.turn for s in unit)
            if new or any(s.held for s in unit) or not set(counts) <= set(low):
                continue
            if segment in low:
                places = [p for p, s in enumerate(window) if s in low and s in unit]
                name = min(s.id for s in unit)
                pick = max if self.rules["last"] else min
                found[name] = (pick(places), unit, min(self.below(view, s) for s in counts))
        return sorted(found.values(), key=lambda row: row[0], reverse=self.rules["last"])

    def below(self, view, segment):
        since = segment.scored_at
        if segment.score >= 0.25:
            since += log(0.25 / segment.score) / log(0.85)
        return view.turn - since

    def check(self, options, taken):
        """What was taken is allowed, and no other batch is better."""
        batches, over = options
        saved = 0.2 * max(1, self.calls) - self.rules["refetch"] * 2.5
        gains = [b * saved - s * 2.3 for _, b, s, _ in batches]
        slack = [w * 0.2 - self.rules["patience"] * s * 2.3 for _, _, s, w in batches]
        if over > 0:
            fits = [b >= over for _, b, _, _ in batches]
            allowed = fits if any(fits) else [i == len(fits) - 1 for i in range(len(fits))]
        else:
            allowed = [g > 1e-9 and room > 1e-9 for g, room in zip(gains, slack, strict=True)]
        best = max((g for g, ok in zip(gains, allowed, strict=True) if ok), default=0.0)
        if not taken:
            assert not any(allowed)
            return
        names = [{s.id for s in unit} for unit in batches[len(taken) - 1][0]]
        assert all(name in unit for name, unit in zip(taken, names, strict=True))
        place = len(taken) - 1
        assert gains[place] >= best - 1e-6
        if over > 0:
            assert allowed[place]
        else:
            assert gains[place] > -1e-9 and slack[place] > -1e-6
        self.checked += 1


arrivals = st.lists(
    st.tuples(
        st.integers(1, 9),
        st.integers(1, 400),
        st.sampled_from([0.1, 0.2, 0.24, 0.3, 0.5, 1.0]),
        st.sampled_from(["note", "note", "pair", "pin"]),
    ),
    min_size=1,
    max_size=14,
)


def stimuli_of(rows):
    came = [head(50)]
    for number, (turn, tokens, score, what) in enumerate(sorted(rows, key=lambda r: r[0])):
        if what == "pair":
            about = {"pair": f"p{number}", "tool": "t"}
            call = Arrival(turn, f"c{number}", Kind.TOOL_CALL, 7, 1.2 * score, **about)
            came += [call, Arrival(turn, f"r{number}", Kind.TOOL_RESULT, tokens, score, **about)]
        else:
            came.append(note(f"n{number}", tokens, score, turn, pinned=what == "pin"))
    return came


@settings(max_examples=150, deadline=None)
@given(
    arrivals,
    st.integers(200, 2_500),
    st.sets(st.integers(2, 16), max_size=3),
    st.sampled_from([0.0, 0.25, 0.6]),
    st.sampled_from([0.0, 0.5, 1.0, 3.0]),
    st.booleans(),
)
def test_every_batch_by_brute_force(rows, budget, waits, refetch, patience, last):
    came = stimuli_of(rows)
    assume(sum(a.tokens for a in came if a.pinned) <= budget)
    order = "last" if last else "first"
    spec = f"pays-back:refetch={refetch},patience={patience},order={order}"
    rules = {"refetch": refetch, "patience": patience, "last": last}
    watched = Watched(spec, waits, rules)
    script = script_of(*came, *(Wait(t, 301.0) for t in waits), turns=16, budget=budget)
    run(script, watched, AUTO, strict=True)
    assert watched.calls > 0


def test_the_brute_force_sees_decisions():
    rows = [(t, 100 + 30 * t, 0.2, "note") for t in range(1, 9)] + [(9, 60, 1.0, "note")]
    watched = Watched("pays-back", set(), {"refetch": 0.25, "patience": 1.0, "last": True})
    run(script_of(*stimuli_of(rows), turns=16, budget=700), watched, AUTO, strict=True)
    assert watched.checked > 2


# -- words -------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["0", "-1", "1.5", "knwon", "²"])
def test_a_wrong_horizon_is_named(word):
    with pytest.raises(InputError, match="horizon"):
        make(f"pays-back:horizon={word}")


def test_it_declares_nothing_and_needs_an_editable_history():
    policy = make("pays-back")
    assert policy.declares == frozenset()
    assert policy.needs == {"edits"}
