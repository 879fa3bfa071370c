"""Rewriting: what is admissible, what it costs, where the surrogate stands, what it keeps."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from sim.actions import Admit, Evict, Reread, Restore, Reveal, Rewrite
from sim.errors import (
    CompressThenSpend,
    GrowthWithoutCopy,
    InadmissibleAction,
    PinRemoved,
    PolicyError,
    UntaggedRewrite,
)
from sim.script import Query, Script, Write
from sim.segments import Fact, Kind
from tests.sim.build import (
    MARKED,
    UNCACHED,
    acting,
    come,
    outcomes,
    pair,
    play,
    script,
    told,
    window,
)

KEEP = {"surrogate.keep": 1.0}


def rewrite(*names: str, tokens: int = 3, tagged: bool = True, **more: Any) -> Rewrite:
    return Rewrite(names, tokens, tagged, "x", **more)


# -- what is booked ------------------------------------------------------------------------


def test_a_rewrite_records_tokens_before_and_after() -> None:
    it = script(come(1, "a", 30), come(1, "b", 20), come(1, "c", 10))
    result = play(it, acting({1: [rewrite("c", "a", tokens=7)]}))
    record = told(result, "rewrite")[0]
    assert (record["sources"], record["before"], record["after"]) == (("a", "c"), 40, 7)
    assert (record["tagged"], record["reason"], record["by"]) == (True, "x", "pass")
    assert window(result) == ("s1", "b")  # where the first of them stood
    figures = result.metrics
    assert (figures["rewrites"], figures["evictions"], figures["edit_turns"]) == (1, 0, 1)
    assert (figures["rewritten_tokens"], figures["surrogate_tokens"]) == (40, 7)
    assert figures["resident_tokens"] == 27


def test_attribution_survives_the_surrogates_own_removal() -> None:
    it = script(come(1, "a", 30, copy=True), turns=2)
    result = play(it, acting({1: [rewrite("a")], 2: [Evict("s1", "y")]}))
    assert (result.metrics["rewritten_tokens"], result.metrics["evicted_copy_tokens"]) == (30, 3)
    assert result.ledger.why("a") == (
        ("a", "admitted", 1, "whole"),
        ("a", "rewritten", 1, "s1", True),
        ("s1", "evicted", 2, "copy", "y"),
    )


def test_a_surrogate_takes_no_id_that_the_script_has() -> None:
    it = script(come(1, "a", 30), come(2, "s1", 5), turns=2)
    assert window(play(it, acting({1: [rewrite("a")]}))) == ("s2", "s1")


# -- what is admissible --------------------------------------------------------------------

LONG = script(
    come(1, "a", 30), come(1, "copied", 30, copy=True), come(1, "odd", 30, taggable=False)
)


@pytest.mark.parametrize(
    ("action", "error", "declares"),
    [
        (rewrite("a", tagged=False), UntaggedRewrite, "untagged"),
        (rewrite("odd"), UntaggedRewrite, "untagged"),
        (rewrite("a", "odd"), UntaggedRewrite, "untagged"),
        (rewrite("a", tokens=31), GrowthWithoutCopy, "grows"),
        (rewrite("a", tokens=30), GrowthWithoutCopy, "grows"),  # it must shrink
        (rewrite("a", "copied", tokens=60), GrowthWithoutCopy, "grows"),
    ],
)
def test_a_rule_is_broken_by_declaration_or_not_at_all(
    action: Rewrite, error: type[PolicyError], declares: str
) -> None:
    with pytest.raises(error, match=r"idle, turn 1: the rewrite of \w+ \("):
        play(LONG, acting({1: [action]}))
    refused = play(LONG, acting({1: [action]}), strict=False)
    assert window(refused) == ("a", "copied", "odd")
    assert [r["rule"] for r in told(refused, "bug")] == [error.rule]
    assert (refused.metrics["policy_bugs"], refused.metrics["rewrites"]) == (1, 0)
    assert refused.metrics["maintenance_cost_usd"] == 0
    applied = play(LONG, acting({1: [action]}, declares=[declares]))
    assert [r["rule"] for r in told(applied, "breach")] == [error.rule]
    assert (applied.metrics["breaches"], applied.metrics["rewrites"]) == (1, 1)


def test_growth_is_admissible_where_a_copy_exists() -> None:
    result = play(LONG, acting({1: [rewrite("copied", tokens=90)]}))
    assert (result.metrics["breaches"], result.metrics["resident_tokens"]) == (0, 150)


@pytest.mark.parametrize(
    ("kind", "copy", "spends"),
    [
        (Kind.FILE, False, True),
        (Kind.FILE, True, False),
        (Kind.TOOL_RESULT, False, True),
        (Kind.TOOL_RESULT, True, False),
        (Kind.USER, False, False),
        (Kind.ASSISTANT, False, False),
    ],
)
def test_compress_then_spend(kind: Kind, copy: bool, spends: bool) -> None:
    """A rewrite in a turn that admitted something without a copy; messages do not count."""
    it = script(come(1, "a", 30, kind=Kind.NOTE), come(2, "new", 9, kind=kind, copy=copy), turns=3)
    if spends:
        with pytest.raises(CompressThenSpend):
            play(it, acting({2: [rewrite("a")]}))
        applied = play(it, acting({2: [rewrite("a")]}, declares=["spends"]))
        assert [r["rule"] for r in told(applied, "breach")] == ["compress-then-spend"]
    else:
        assert play(it, acting({2: [rewrite("a")]})).metrics["rewrites"] == 1
    assert play(it, acting({2: [rewrite("a", line=True)]})).metrics["rewrites"] == 1
    assert play(it, acting({3: [rewrite("a")]})).metrics["rewrites"] == 1


def test_a_pinned_source_or_its_mate_is_not_rewritten() -> None:
    it = script(come(1, "p", 30, pinned=True), *pair(1, "r", 30, pinned=True))
    for action in (rewrite("p"), rewrite("r"), rewrite("r.call", tokens=1), rewrite("r.call", "r")):
        with pytest.raises(PinRemoved):
            play(it, acting({1: [action]}, declares=["spends", "grows"]))
    done = play(it, acting({1: [rewrite("p")]}, declares=["ignores_pins", "spends"]))
    assert [r["rule"] for r in told(done, "breach")] == ["pin removed", "compress-then-spend"]


def test_a_breach_counts_only_if_the_action_is_applied() -> None:
    """Untagged is declared, growth is not: nothing is applied, so nothing is breached."""
    action = rewrite("a", tokens=40, tagged=False)
    result = play(LONG, acting({1: [action]}, declares=["untagged"]), strict=False)
    assert (result.metrics["breaches"], result.metrics["policy_bugs"]) == (0, 1)
    assert told(result, "bug")[0]["rule"] == "growth without a copy"


def test_a_surrogate_of_several_takes_a_call_and_its_result_together() -> None:
    it = script(*pair(1, "r", 30), come(1, "b", 5), turns=2)
    with pytest.raises(InadmissibleAction, match=r"would leave r\.call alone"):
        play(it, acting({2: [rewrite("r", "b")]}))
    whole = play(it, acting({2: [rewrite("r", "r.call", "b")]}))
    assert window(whole) == ("s1",)


def test_the_surrogate_of_a_result_still_belongs_to_its_call() -> None:
    it = script(*pair(1, "r", 30), come(1, "b", 5), turns=3)
    result = play(it, acting({2: [rewrite("r")], 3: [Evict("r.call", "x")]}))
    assert told(result, "call")[1]["tokens"] == 9
    assert window(result) == ("b",)


# -- what it keeps -------------------------------------------------------------------------


def kept(keep: float, number: int) -> float:
    facts = [come(1, f"a{n}", 30, facts=(f"k{n}",)) for n in range(number)]
    it = script(*facts, settings={"surrogate.keep": keep})
    result = play(it, acting({1: [rewrite(f"a{n}") for n in range(number)]}))
    return sum(len(r["kept"]) for r in told(result, "rewrite")) / number


def test_each_fact_is_kept_with_its_probability() -> None:
    assert kept(0.0, 50) == 0.0
    assert kept(1.0, 50) == 1.0
    assert kept(0.5, 800) == pytest.approx(0.5, abs=0.07)


def test_a_second_rewrite_keeps_of_what_the_first_one_kept() -> None:
    arrivals = [come(1, f"a{n}", 30, facts=(f"k{n}",)) for n in range(800)]
    it = script(*arrivals, turns=2, settings={"surrogate.keep": 0.5})
    first = [rewrite(f"a{n}", tokens=20) for n in range(800)]
    second = [rewrite(f"s{n}") for n in range(1, 801)]
    records = told(play(it, acting({1: first, 2: second})), "rewrite")
    before = [set(r["kept"]) for r in records[:800]]
    after = [set(r["kept"]) for r in records[800:]]
    assert all(b >= a for b, a in zip(before, after, strict=True))
    assert sum(map(len, after)) / 800 == pytest.approx(0.25, abs=0.06)


def test_what_a_reduction_lost_no_surrogate_keeps() -> None:
    facts = (Fact("in", "v"), Fact("out", "v", reducible=False))
    it = script(come(1, "a", 30, facts=facts), settings=KEEP)
    policy = acting({1: [rewrite("a")]}, on_arrival=lambda v, s: [Admit(20, "reduced")])
    assert told(play(it, policy), "rewrite")[0]["kept"] == ("in",)


def test_what_is_kept_does_not_depend_on_who_else_is_rewritten() -> None:
    """The draw belongs to the fact of the source, not to the order of use."""
    arrivals = [come(1, f"a{n}", 30, facts=(f"k{n}",)) for n in range(40)]
    it = script(*arrivals, settings={"surrogate.keep": 0.5})

    def kept_by(names: list[str]) -> dict[str, tuple[str, ...]]:
        records = told(play(it, acting({1: [rewrite(n) for n in names]})), "rewrite")
        return {r["sources"][0]: r["kept"] for r in records}

    everyone = kept_by([f"a{n}" for n in range(40)])
    few = kept_by(["a7", "a3", "a31"])
    assert few == {name: everyone[name] for name in few}


def test_a_surrogate_keeps_the_version_it_was_made_from() -> None:
    it = script(
        come(1, "f", 30, kind=Kind.FILE, path="a.py", facts=("k",), copy=True, score=0.1),
        Query(2, "q", "k", 0.1, ("f",)),
        Write(2, "a.py"),
        Query(3, "r", "k", 0.1, ("f",)),
        settings=KEEP,
    )
    result = play(it, acting({1: [rewrite("f")]}))
    assert outcomes(result) == [("stale", "stale"), ("stale", "stale")]
    early = script(*(s for s in it.stimuli if s.turn != 2), settings=KEEP, turns=3)
    assert outcomes(play(early, acting({1: [rewrite("f")]}))) == [("correct", "kept")]


# -- what it costs -------------------------------------------------------------------------


def test_a_span_is_a_call_of_its_own_with_the_span_as_input() -> None:
    """30 in at 10 and 3 out at 50 dollars a million: 450 millionths; the call itself apart."""
    it = script(come(1, "a", 30), come(1, "b", 20), output_tokens={1: 100})
    result = play(it, acting({1: [rewrite("a")]}))
    record = told(result, "maintain")[0]
    assert (record["input"], record["read"], record["output"]) == (30, 0, 3)
    figures = result.metrics
    assert figures["maintenance_cost_usd"] == pytest.approx(450e-6, rel=1e-12)
    assert figures["prefill_cost_usd"] == pytest.approx(230e-6, rel=1e-12)
    assert figures["total_cost_usd"] == pytest.approx((450 + 230 + 5_000) * 1e-6, rel=1e-12)
    assert (figures["calls"], figures["input_tokens"], figures["output_tokens"]) == (1, 23, 103)


def test_a_whole_summary_reads_the_cached_prefix() -> None:
    """100 tokens are cached at turn 1; the request of turn 2 is 140, of which 40 are written."""
    it = script(
        come(1, "sys", 40, kind=Kind.SYSTEM, pinned=True), come(1, "a", 60), come(2, "b", 40)
    )
    whole = acting({2: [rewrite("a", "b", tokens=5, whole=True)]})
    result = play(it, whole, MARKED)
    record = told(result, "maintain")[0]
    assert (record["input"], record["read"], record["output"]) == (140, 100, 5)
    expected = (100 * 0.2 + 40 * 2.5 + 5 * 10) * 1e-6
    assert record["usd"] == pytest.approx(expected, rel=1e-12)
    assert told(result, "call")[1]["read"] == 40  # then only the system is left of it
    assert result.metrics["peak_tokens"] == 100  # the request for the summary is none of the calls
    span = play(it, acting({2: [rewrite("a", "b", tokens=5)]}), MARKED)
    assert told(span, "maintain")[0]["usd"] == pytest.approx((100 * 2 + 5 * 10) * 1e-6, rel=1e-12)


def test_rewriting_takes_time_side_by_side() -> None:
    """The longer of two spans: 0.5 + 1,000 / 1,000 + 50 / 50 = 2.5 s before the call."""
    free = {"clock.turn_seconds": 0.0, "clock.extra_call_seconds": 0.0}
    it = script(come(1, "a", 1_000), come(1, "b", 500), settings=free, output_tokens={1: 50})
    result = play(it, acting({1: [rewrite("a", tokens=50), rewrite("b", tokens=50)]}))
    assert told(result, "call")[0]["time"] == pytest.approx(2.5)
    assert result.metrics["total_seconds"] == pytest.approx(2.5 + 0.5 + 0.1 + 1.0)
    fixed = script(*it.stimuli, output_tokens={1: 50})
    assert play(fixed, acting({1: [rewrite("a")]})).metrics["total_seconds"] == 20.0


def test_a_line_made_at_the_door_takes_time_too() -> None:
    free = {"clock.turn_seconds": 0.0, "clock.extra_call_seconds": 0.0}
    it = script(come(1, "a", 1_000), come(2, "b", 5), settings=free, output_tokens={1: 0, 2: 0})
    line = [rewrite("a", tokens=50, line=True)]
    policy = acting({}, on_arrival=lambda v, s: line if s.id == "b" else [])
    first, second = told(play(it, policy), "call")
    assert second["time"] - first["time"] == pytest.approx(1.5 + 2.5)


def test_a_cliff_holds_for_the_summary_too() -> None:
    price = replace(UNCACHED, cliff_tokens=50, cliff_input=2.0, cliff_output=1.5)
    it = script(come(1, "a", 60))
    result = play(it, acting({1: [rewrite("a", whole=True)]}), price)
    assert told(result, "maintain")[0]["usd"] == pytest.approx((60 * 20 + 3 * 75) * 1e-6)


# -- invented text -------------------------------------------------------------------------


def restoring(it: Script, *actions: Any, **more: Any) -> Any:
    first = rewrite("a", tagged=False)
    return play(it, acting({1: [first], 2: actions}, declares=["untagged"]), **more)


def test_a_restoration_is_booked_fabricated_and_is_no_rewrite() -> None:
    it = script(come(1, "a", 30, facts=("k",)), come(1, "b", 5), turns=2)
    result = restoring(it, Restore("s1", "k", 40))
    assert window(result) == ("s2", "b")
    figures = result.metrics
    assert (figures["fabricated_tokens"], figures["surrogate_tokens"]) == (40, 3)
    assert (figures["rewritten_tokens"], figures["rewrites"]) == (33, 1)
    assert figures["edit_turns"] == 1


@pytest.mark.parametrize(
    ("keep", "outcome"), [(1.0, ("confabulated", "invented")), (0.0, ("abstained", "tagged"))]
)
def test_what_invented_text_becomes_stays_invented(keep: float, outcome: tuple[str, str]) -> None:
    """Asked for k, the source lost it: the text is made up, then rewritten, kept or lost again."""
    it = script(
        come(1, "a", 30, facts=("k",)),
        Query(4, "q", "k", 0.1, ("a",)),
        settings={"surrogate.keep": keep},
    )
    policy = acting(
        {
            1: [rewrite("a", tagged=False)],
            2: [Restore("s1", "k", 40)],
            3: [rewrite("s2", tokens=5)],
        },
        declares=["untagged"],
    )
    assert outcomes(play(it, policy)) == [outcome]


def test_invented_text_that_leaves_has_no_copy() -> None:
    it = script(come(1, "a", 30, facts=("k",), copy=True), turns=2)
    result = restoring(it, Restore("s1", "k", 40), Evict("s2", "x"))
    assert result.metrics["evicted_dispensable_tokens"] == 40
    assert result.ledger.why("a")[-2:] == (
        ("s1", "restored", 2, "s2"),
        ("s2", "evicted", 2, "dispensable", "x"),
    )


def test_only_a_surrogate_can_be_restored_and_only_by_who_declares_it() -> None:
    it = script(come(1, "a", 30, facts=("k",)), come(1, "b", 5), turns=2)
    for action in (Restore("b", "k", 40), Restore("ghost", "k", 40), Restore("s1", "k", 0)):
        with pytest.raises(InadmissibleAction):
            restoring(it, action)
    with pytest.raises(UntaggedRewrite, match="invented text"):
        play(it, acting({1: [rewrite("a")], 2: [Restore("s1", "k", 40)]}))


def test_a_thousand_summaries_of_summaries() -> None:
    """Each turn's pass folds the summary before it into the next; the first fact is asked last."""
    turns = 1_200
    it = script(
        come(1, "x0", 30, facts=("k",)),
        *(come(t, f"x{t}", 30) for t in range(2, turns + 1)),
        Query(turns, "q", "k", 0.9, ("x0",)),
        settings=KEEP,
    )
    todo = {
        t: [rewrite("x0" if t == 2 else f"s{t - 2}", f"x{t}", tokens=10)]
        for t in range(2, turns + 1)
    }
    result = play(it, acting(todo))
    assert outcomes(result) == [("correct", "kept")]
    assert len(result.ledger.why("x0")) == turns
    gone = acting({**todo, turns: [*todo[turns], Evict(f"s{turns - 1}", "x")]})
    assert outcomes(play(it, gone)) == [("abstained", "gone")]


def test_a_stub_is_put_there_without_a_model() -> None:
    """Nobody is asked, so nothing is paid: the surrogate stands where its source stood."""
    it = script(come(1, "a", 60), come(1, "b", 5))
    stub = Rewrite(("a",), 4, True, "old", stub=True)
    result = play(it, acting({1: [stub]}))
    assert told(result, "maintain") == []
    assert [r["asked"] for r in told(result, "rewrite")] == [False]
    assert result.metrics["maintenance_cost_usd"] == 0.0
    assert result.metrics["rewritten_tokens"] == 60


def test_a_reveal_puts_back_what_a_stub_hides() -> None:
    it = script(come(1, "a", 60), come(1, "b", 5), turns=2)
    stub = Rewrite(("a",), 4, True, "old", stub=True)
    result = play(it, acting({1: [stub], 2: [Reveal("s1")]}))
    assert window(result) == ("a", "b")
    assert [(r["before"], r["after"]) for r in told(result, "reveal")] == [(4, 60)]


def test_a_reveal_of_what_was_read_again_is_refused() -> None:
    """It would be there twice: the stub stays, and the policy has a bug."""
    it = script(come(1, "a", 60, copy=True), come(1, "b", 5), turns=2)
    stub = Rewrite(("a",), 4, True, "old", stub=True)
    acts = {1: [stub, Reread("a")], 2: [Reveal("s1")]}
    with pytest.raises(InadmissibleAction, match="s1, whose text is there"):
        play(it, acting(acts))
    refused = play(it, acting(acts), strict=False)
    assert window(refused) == ("s1", "b", "a")
    assert [r["rule"] for r in told(refused, "bug")] == [InadmissibleAction.rule]
