"""What a policy knows of sizes is what it acts on: its own count, not the provider's."""

from __future__ import annotations

import pytest

from policies.parts.units import counted, shortest_run, size
from sim.script import Arrival
from sim.segments import Kind
from tests.policies.playing import seg, view_of


def notes(count, tokens=60):
    """So many notes of these tokens, one a turn."""
    return [Arrival(turn, f"n{turn}", Kind.NOTE, tokens, 1.0) for turn in range(1, count + 1)]


def test_a_unit_is_as_long_as_it_is_and_counts_as_it_is_counted():
    view, _ = view_of(seg("a", 0, 31), count__by="estimate", estimate__note=0.5)
    assert (size(view.window), counted(view, view.window)) == (31, 15)


def test_a_run_is_as_short_as_the_count_allows():
    """100 are needed: two notes of 60 as they are, four where each counts as 30."""
    segments = [seg(name, at, 60) for at, name in enumerate("abcde")]
    for by, ids in (("exact", "ab"), ("estimate", "abcd")):
        view, window = view_of(*segments, count__by=by, estimate__note=0.5)
        assert "".join(s.id for s in shortest_run(view, list(window), 100)) == ids


@pytest.mark.parametrize(
    ("ratio", "evicted", "cut"),
    [
        # three notes of 60 fit in a budget of 200, the fourth displaces one
        (1.0, 1, []),
        # four count as 120: nothing is done, and the provider cuts the oldest
        (0.5, 0, ["n1"]),
        # two count as 240, which is over: one note at a time
        (2.0, 3, []),
    ],
)
@pytest.mark.parametrize(
    "policy", ["sliding-window", "tiered", "tag-or-drop:relevance=off,rewrite=off"]
)
def test_a_budget_is_kept_by_the_policys_own_count(play, policy, ratio, evicted, cut):
    known = {"count__by": "estimate", "estimate__note": ratio}
    played = play(policy, *notes(4), budget=200, **known)
    assert len(played.evicted()) == evicted
    assert played.truncated() == cut


def test_a_summary_is_made_when_the_count_is_over_and_of_what_is_there(play):
    """Three notes count as 225 of 200; the summary is 5 % of their 180 tokens."""
    known = {"count__by": "estimate", "estimate__note": 1.25}
    played = play("compaction", *notes(3), budget=200, **known)
    assert played.rewritten() == [("n1", "n2", "n3", 9)]


def test_a_gate_weighs_what_comes_by_the_same_count(play):
    """A note of 60 in a budget of 100 counts as 120: it is larger than the window."""
    known = {"count__by": "estimate", "estimate__note": 2.0}
    played = play("slack-swap-refuse", *notes(1), budget=100, **known)
    assert [row["reason"] for row in played.rows("refuse")] == ["oversize"]


def test_masking_clears_by_the_count_of_what_can_go(play):
    """Two old results of 40 count as 20 each: 40 are no 60, and with a third they are."""
    results = [
        arrival
        for turn in range(1, 5)
        for arrival in (
            Arrival(turn, f"c{turn}", Kind.TOOL_CALL, 1, 1.0, pair=f"p{turn}"),
            Arrival(turn, f"r{turn}", Kind.TOOL_RESULT, 40, 1.0, pair=f"p{turn}", copy=True),
        )
    ]
    known = {"count__by": "estimate", "estimate__tool_result": 0.5, "budget": 1_000}
    spec = "context-editing:keep=1,trigger=1,at_least=60,stub=5"
    assert play(spec, *results[:6], **known).rewritten() == []
    assert play(spec, *results, **known).rewritten() == [("r1", 5), ("r2", 5), ("r3", 5)]
