"""slack, swap and refuse against a slow second implementation."""

from hypothesis import given, settings
from hypothesis import strategies as st

from policies.registry import make
from sim.actions import Grant
from sim.segments import Fact, Kind, Segment
from tests.policies.playing import view_of

KINDS = [Kind.SYSTEM, Kind.TASK, Kind.NOTE, Kind.FILE, Kind.USER, Kind.SUMMARY]
SCORES = [0.05, 0.2, 0.2, 0.45, 0.7, 0.95]

residents = st.lists(
    st.tuples(
        st.sampled_from(KINDS),
        st.integers(1, 60),
        st.sampled_from(SCORES),
        st.booleans(),
        st.booleans(),
    ),
    max_size=10,
)


def decide(view, segments, incoming, tokens, comparison, margin):
    """What section 4 of the design says, word by word."""
    score = view.salience(incoming)
    head = sum(s.tokens for s in segments if s.kind in (Kind.SYSTEM, Kind.TASK))
    if tokens > view.budget - head:
        return "oversize", [], None
    need = sum(s.tokens for s in segments) + tokens - view.budget
    if need <= 0:
        return "slack", [], None
    unpinned = [s for s in segments if not s.pinned and not (s.kind is Kind.SUMMARY and s.facts)]
    unpinned.sort(key=lambda s: (round(view.salience(s), 12), s.seq))
    run = []
    while need > 0:
        if not unpinned:
            return "pinned", [s.id for s in run], None
        run.append(unpinned.pop(0))
        need -= run[-1].tokens
    floor = {"min": min, "max": max, "sum": sum}[comparison](view.salience(s) for s in run)
    return ("swap" if score > floor + margin else "margin"), [s.id for s in run], floor


@given(
    residents,
    st.integers(1, 120),
    st.sampled_from(SCORES),
    st.integers(60, 260),
    st.sampled_from(["min", "max", "sum"]),
    st.sampled_from([0.0, 0.13]),
)
@settings(max_examples=200)
def test_the_gate(rows, tokens, score, budget, comparison, margin):
    fact = (Fact("k", "v", "w"),)
    segments = [
        Segment(
            f"s{i}",
            kind,
            size,
            1,
            i,
            score=s,
            scored_at=5,
            pinned=pinned,
            facts=fact if covers else (),
        )
        for i, (kind, size, s, pinned, covers) in enumerate(rows)
    ]
    view, _ = view_of(*segments, budget=budget)
    incoming = Segment("in", Kind.FILE, tokens, 1, 99, score=score, scored_at=5, facts=fact)
    policy = make(f"slack-swap-refuse:comparison={comparison},margin={margin}")
    policy.start(view)
    decision = policy.on_rehydrate(view, incoming)
    how, displaced, floor = decide(view, segments, incoming, tokens, comparison, margin)
    assert list(decision.displaced) == displaced
    if isinstance(decision, Grant):
        assert decision.how == how
    else:
        assert (decision.segment, decision.reason, decision.score) == ("in", how, score)
    if floor is not None:
        assert abs(decision.floor - floor) < 1e-12
