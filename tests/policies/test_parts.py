"""The parts against slow second implementations."""

from hypothesis import given, settings
from hypothesis import strategies as st

from policies.options import Options, setting
from policies.parts.lines import Superseded
from policies.parts.pins import superseded
from policies.parts.ranking import BySalience, unpinned
from policies.parts.tiers import thrifty
from policies.parts.units import shortest_run
from sim.orders import Order
from sim.segments import Kind, Segment
from tests.policies.playing import seg, view_of


@given(st.lists(st.integers(1, 60), max_size=12), st.integers(1, 200))
def test_thrifty_takes_the_smallest_that_suffices_else_the_largest(gains, need):
    left = list(enumerate(gains))
    expected = []
    wanted = need
    while left:
        enough = [row for row in left if row[1] >= wanted]
        if enough:
            taken = min(enough, key=lambda row: (row[1], row[0]))
        else:
            taken = max(left, key=lambda row: (row[1], -row[0]))
        left.remove(taken)
        expected.append(taken)
        wanted -= taken[1]
    got = [item for _, item in thrifty(list(enumerate(gains)), lambda row: row[1], need)]
    assert got == expected


salient = st.lists(
    st.tuples(
        st.integers(1, 40),
        st.sampled_from([0.0, 0.1, 0.5, 0.5, 0.9]),
        st.integers(1, 5),
        st.booleans(),
    ),
    max_size=12,
)


@given(salient, st.integers(-5, 200))
def test_the_shortest_run_of_the_lowest(rows, need):
    segments = [
        Segment(f"s{i}", Kind.NOTE, tokens, turn, i, score=score, scored_at=turn, pinned=pinned)
        for i, (tokens, score, turn, pinned) in enumerate(rows)
    ]
    view, _ = view_of(*segments)
    ranking = BySalience(unpinned)
    ranking.start(view)
    got = shortest_run(view, ranking.candidates(view, need), need)
    expected, freed = [], 0
    free = [s for s in segments if not s.pinned]
    for segment in sorted(free, key=lambda s: (round(view.salience(s), 12), s.seq)):
        if freed >= need:
            break
        expected.append(segment)
        freed += segment.tokens
    zero = [s.id for s in expected if s.score == 0.0]
    assert sorted(s.id for s in got if s.score == 0.0) == sorted(zero)
    assert [s.id for s in got if s.score > 0] == [s.id for s in expected if s.score > 0]


def test_one_of_a_pair_stands_for_both_and_frees_both():
    call = seg("call", 0, 5, 0.1, Kind.TOOL_CALL, pair="p")
    note = seg("note", 1, 10, 0.2)
    result = seg("result", 2, 30, 0.4, Kind.TOOL_RESULT, pair="p")
    view, _ = view_of(call, note, result)
    ranking = BySalience(unpinned)
    ranking.start(view)
    assert [s.id for s in ranking.candidates(view, 1)] == ["note", "result"]
    assert [s.id for s in shortest_run(view, ranking.candidates(view, 45), 45)] == [
        "note",
        "result",
    ]
    assert [s.id for s in shortest_run(view, [call, result, note], 36)] == ["call", "note"]


def test_a_pin_on_one_of_a_pair_holds_both():
    call = seg("call", 0, 5, 0.1, Kind.TOOL_CALL, pair="p")
    result = seg("result", 1, 30, 0.4, Kind.TOOL_RESULT, pair="p", pinned=True)
    view, _ = view_of(call, result)
    ranking = BySalience(unpinned)
    ranking.start(view)
    assert list(ranking.candidates(view, 1)) == []


words = st.lists(
    st.tuples(st.integers(1, 4), st.integers(1, 30), st.booleans()), min_size=1, max_size=14
)


@given(words, st.permutations(range(14)))
@settings(max_examples=60)
def test_superseded_units_come_last_front_first(rows, places):
    """Also where what was fetched again stands far behind its attempt."""
    segments = [
        Segment(f"w{i}", Kind.ASSISTANT, tokens, 1, places[i], attempt=attempt)
        if is_word
        else Segment(f"r{i}", Kind.TOOL_RESULT, tokens, 1, places[i], tool="t")
        for i, (attempt, tokens, is_word) in enumerate(rows)
    ]
    view, window = view_of(*segments)
    newest = max((s.attempt for s in segments if s.attempt), default=0)
    for segment in segments:
        if segment.attempt is not None:
            segment.superseded = segment.attempt < newest
            window.touch(segment)
    lines = Superseded(superseded, Options("x", (setting("line_tokens"),), {}).value("line_tokens"))
    lines.start(view)
    got = [[s.id for s in unit] for unit in lines.units(view)]
    groups = {}
    for segment in window:
        if segment.superseded:
            key = segment.attempt if segment.attempt is not None else segment.id
            groups.setdefault(key, []).append(segment)
    kept = [g for g in groups.values() if sum(s.tokens for s in g) > 12]
    kept.sort(key=lambda g: -min(s.slot for s in g))
    assert got == [[s.id for s in sorted(g, key=lambda s: s.slot)] for g in kept]


class Counting:
    """A view that counts the orders it is asked for."""

    def __init__(self):
        self.asked = 0

    def salience_order(self, member):
        self.asked += 1
        return Order(lambda segment: 0, member)


def test_orders_are_asked_for_once():
    view, ranking = Counting(), BySalience(unpinned)
    ranking.start(view)
    ranking.start(view)
    assert view.asked == 1
