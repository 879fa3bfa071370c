"""The summariser: what it is given, what it keeps, and what it invents."""

from __future__ import annotations

import math
from typing import Any

import pytest

from sim.keeping import Kept, drafts, keep, rounds, stated
from sim.segments import Fact, Kind, Segment
from sim.settings import Settings
from sim.summariser import (
    Drafting,
    Summariser,
    by_ratio,
    by_rounds,
    given,
    keep_probability,
)
from tests.sim.build import segment
from tests.support.scripts import BASE_SETTINGS


def settings(**flat: Any) -> Settings:
    """Return settings; ``summariser_fail`` stands for ``summariser.fail``."""
    return Settings.from_flat(
        {**BASE_SETTINGS, **{name.replace("_", ".", 1): value for name, value in flat.items()}}
    )


def source(name: str, tokens: int = 100, *facts: str, **fields: Any) -> Segment:
    """Return a whole segment that states *facts*, each at its front."""
    told = tuple(Fact(key, f"{key}!", f"{key}?") for key in facts)
    fields = {"raw_tokens": tokens, "facts": told, **fields}
    return segment(name, tokens, **fields)


def stand_in(name: str, *sources: Segment, kept: tuple[str, ...] = (), **fields: Any) -> Segment:
    """Return a surrogate of *sources* that kept these facts."""
    return segment(name, 10, sources=sources, kept=frozenset(kept), **fields)


# -- how much it keeps ---------------------------------------------------------------------


def test_by_ratio_goes_through_what_was_measured() -> None:
    """All at 1 and below, 17 % at 182 times, a straight line in the logarithm between."""
    assert by_ratio(0.5) == by_ratio(1.0) == 1.0
    assert by_ratio(182.0) == pytest.approx(0.17)
    # half way in the logarithm: half of the 83 % that are lost
    assert by_ratio(math.sqrt(182.0)) == pytest.approx(1.0 - 0.83 / 2)
    # 1 - 0.83 · ln 10 / ln 182 = 1 - 0.83 · 2.302585 / 5.204007
    assert by_ratio(10.0) == pytest.approx(0.63275, abs=1e-5)


def test_by_ratio_ends_at_nothing() -> None:
    """The line reaches 0 at 182 ** (1 / 0.83) = 528.5 times."""
    assert by_ratio(528.0) > 0.0
    assert by_ratio(529.0) == by_ratio(10_000.0) == 0.0


def test_by_rounds_keeps_a_tenth_after_five() -> None:
    assert by_rounds(1) == 0.53
    assert by_rounds(2) == by_rounds(9) == 0.66
    assert math.prod(by_rounds(n) for n in range(1, 6)) == pytest.approx(0.10, abs=0.005)


@pytest.mark.parametrize(
    ("rule", "p"), [("keep", 0.3), ("ratio", pytest.approx(0.17)), ("rounds", 0.66)]
)
def test_the_scenario_says_what_decides(rule: str, p: Any) -> None:
    said = settings(surrogate_keep=0.3, summariser_retention=rule)
    assert keep_probability(said, 182.0, 2) == p


# -- rounds --------------------------------------------------------------------------------


def test_a_round_is_a_draft_of_the_model_and_a_stub_is_none() -> None:
    a = source("a")
    stub = stand_in("s1", a, stub=True)
    first = stand_in("s2", stub)
    second = stand_in("s3", first, source("b"))
    assert [drafts(s) for s in (a, stub, first, second)] == [0, 0, 1, 2]
    # draws are told apart by every stand-in on the way
    assert [rounds(s) for s in (a, stub, first, second)] == [
        ("a", 1),
        ("a", 2),
        ("a", 3),
        ("a", 4),
    ]


# -- what it is given ----------------------------------------------------------------------

TASK = source("task", 5, kind=Kind.TASK)
OLD = source("old", 40)
ASK = source("ask", 10, kind=Kind.USER)
MID = source("mid", 60)
NEW = source("new", 30)
EVERY = (TASK, OLD, ASK, MID, NEW)


def shown(room: int = 1_000, sources: tuple[Segment, ...] = EVERY, **limits: Any) -> Any:
    return {s.id: n for s, n in given(Summariser(**limits), sources, room).items()}


def test_without_limits_it_is_given_everything_in_order() -> None:
    whole = {"task": 5, "old": 40, "ask": 10, "mid": 60, "new": 30}
    assert shown() == whole
    assert list(shown()) == list(whole)


@pytest.mark.parametrize(
    ("cap", "names"),
    [
        (29, []),
        (30, ["new"]),
        (89, ["new"]),
        (90, ["mid", "new"]),
        (99, ["mid", "new"]),
        (100, ["ask", "mid", "new"]),
        # `old` does not fit; `task`, which would, is older still
        (135, ["ask", "mid", "new"]),
        (145, ["task", "old", "ask", "mid", "new"]),
    ],
)
def test_over_the_input_cap_the_oldest_are_left_out_whole(cap: int, names: list[str]) -> None:
    assert list(shown(input_cap=cap)) == names
    assert list(shown(room=cap)) == names


def test_of_each_source_only_the_front_is_given() -> None:
    assert shown(item_cap=20) == {"task": 5, "old": 20, "ask": 10, "mid": 20, "new": 20}
    assert shown(item_cap=20, input_cap=40) == {"mid": 20, "new": 20}


def test_what_it_is_given_can_have_to_begin_with_the_user() -> None:
    """Of task, old, ask, mid, new: the front that fits, less what is in front of the user."""
    assert list(shown(from_user=True)) == ["task", "old", "ask", "mid", "new"]
    assert list(shown(from_user=True, input_cap=105)) == ["ask", "mid", "new"]
    assert shown(from_user=True, input_cap=95) == {}
    assert shown(sources=(OLD, MID), from_user=True) == {}
    assert list(shown(sources=(OLD, ASK, MID), from_user=True)) == ["ask", "mid"]


def test_a_clip_cuts_what_it_writes() -> None:
    assert Summariser(clip=50).written(80) == 50
    assert Summariser(clip=50).written(20) == 20
    assert Summariser().written(80) == 80


@pytest.mark.parametrize(
    ("field", "value", "least"),
    [
        *(("prompt", -1, 0), ("input_cap", -1, 0), ("item_cap", 0, 1), ("clip", 0, 1)),
        *(("window", 0, 1), ("tries", 0, 1), ("calls", 0, 1)),
    ],
)
def test_a_limit_that_cannot_be_is_refused(field: str, value: int, least: int) -> None:
    says = f"{field} of a summariser must be at least {least}, not {value}"
    with pytest.raises(ValueError, match=says):
        Summariser(**{field: value})
    assert getattr(Summariser(**{field: least}), field) == least


# -- where facts stand ---------------------------------------------------------------------


def places(text: Segment) -> dict[str, int]:
    return {key: place for key, place, _ in stated(text)}


@pytest.mark.parametrize(
    ("form", "tokens", "found"),
    [
        # of 1,000: facts at 0, 99, 500, 950 and 999
        ("whole", 1_000, {"a": 0, "b": 99, "c": 500, "d": 950, "e": 999}),
        # 100 of the front and 100 of the end: 950 is the 50th of the second hundred
        ("head-tail", 200, {"a": 0, "b": 99, "d": 150, "e": 199}),
        ("head-tail-20", 200, {"a": 0, "d": 150, "e": 199}),
        ("head", 200, {"a": 0, "b": 99}),
        ("tail", 200, {"d": 150, "e": 199}),
        ("page", 200, {"a": 0, "b": 99}),
        # by structure: in proportion
        ("reduced", 100, {"a": 0, "b": 9, "c": 50, "d": 95, "e": 99}),
    ],
)
def test_a_fact_stands_where_the_form_leaves_it(
    form: str, tokens: int, found: dict[str, int]
) -> None:
    at = {"a": 0, "b": 99, "c": 500, "d": 950, "e": 999}
    facts = tuple(Fact(key, at=place) for key, place in at.items())
    lost = frozenset(at) - frozenset(found)
    text = segment("r", tokens, raw_tokens=1_000, form=form, facts=facts, lost=lost)
    assert places(text) == found


def test_a_surrogate_states_what_it_kept_at_its_front() -> None:
    a = source("a", 50, "k", "l", "m")
    assert places(stand_in("s1", a, kept=("l", "k"))) == {"k": 0, "l": 0}


# -- what it says --------------------------------------------------------------------------


def said(sources: list[Segment], given_: dict[Segment, int] | None = None, **flat: Any) -> Kept:
    """Return what a summary of 10 tokens states, of what it is given, by default everything."""
    text = {s: s.tokens for s in sources} if given_ is None else given_
    return keep(Drafting(settings(**flat), 0, text, sum(text.values()) / 10), sources)


def test_what_is_given_is_kept_and_what_is_not_is_not() -> None:
    a, b = source("a", 100, "k"), source("b", 100, "l")
    assert said([a, b], surrogate_keep=1.0) == ({"k", "l"}, set(), set())
    assert said([a, b], {b: 100}, surrogate_keep=1.0) == ({"l"}, set(), {"k"})
    assert said([a, b], surrogate_keep=0.0) == (set(), set(), set())


def test_a_fact_behind_the_item_cap_is_not_seen() -> None:
    a = segment("a", 100, raw_tokens=100, facts=(Fact("front", at=19), Fact("back", at=20)))
    assert said([a], {a: 20}, surrogate_keep=1.0) == ({"front"}, set(), {"back"})


def test_the_end_that_a_cut_left_is_seen_whole() -> None:
    """200 of 1,000 came in, both ends; what is at 990 of the whole is at 190 of what is there."""
    facts = (Fact("end", at=990),)
    a = segment("a", 200, raw_tokens=1_000, form="head-tail", facts=facts)
    assert said([a], surrogate_keep=1.0) == ({"end"}, set(), set())
    assert said([a], {a: 190}, surrogate_keep=1.0) == (set(), set(), {"end"})


def test_one_source_that_is_given_is_enough_to_be_seen() -> None:
    a, b = source("a", 100, "k"), source("b", 100, "k")
    assert said([a, b], {b: 100}, surrogate_keep=1.0) == ({"k"}, set(), set())


def test_what_is_not_kept_can_be_stated_wrong() -> None:
    a, b = source("a", 100, "k"), source("b", 100, "l")
    assert said([a, b], summariser_fabricate=1.0) == ({"k", "l"}, {"k", "l"}, set())
    wrong = said([a, b], {b: 100}, surrogate_keep=1.0, summariser_fabricate=1.0)
    assert wrong == ({"k", "l"}, {"k"}, {"k"})


def test_what_one_source_states_right_is_not_what_another_was_misread_for() -> None:
    a, b = source("a", 100, "k"), source("b", 100, "k")
    right = said([a, b], {b: 100}, surrogate_keep=1.0, summariser_fabricate=1.0)
    assert right == ({"k"}, set(), set())


def test_what_was_invented_is_invented_still_unless_a_source_says_it_as_it_is() -> None:
    a = source("a", 100, "k")
    lie = stand_in("s1", source("b", 100, "k"), kept=("k",), made_up=frozenset({"k"}))
    assert said([lie], surrogate_keep=1.0) == ({"k"}, {"k"}, set())
    assert said([lie, a], surrogate_keep=1.0) == ({"k"}, set(), set())
    # the one that says it as it is was not given
    assert said([a, lie], {lie: 10}, surrogate_keep=1.0) == ({"k"}, {"k"}, set())


def test_the_ratio_is_of_what_was_given_to_what_was_written() -> None:
    """1,820 tokens given for 10 of output are 182 times: 17 % of 4,000 facts, ± 4 of their errors.

    Of the same text only 10 tokens given: everything that stands there is kept.
    """
    keys = tuple(f"k{n}" for n in range(4_000))
    a = source("a", 1_820, *keys)
    kept = len(said([a], summariser_retention="ratio")[0])
    assert abs(kept - 680) < 4 * math.sqrt(4_000 * 0.17 * 0.83)
    assert len(said([a], {a: 10}, summariser_retention="ratio")[0]) == 4_000


def test_rounds_keep_what_the_study_kept() -> None:
    """Of 4,000 facts, one fact a segment: 53 % after one summary, 10 % after five."""
    texts = [source(f"a{n}", 100, f"k{n}") for n in range(4_000)]
    for round_ in range(1, 6):
        kept = [said([text], summariser_retention="rounds")[0] for text in texts]
        texts = [
            stand_in(f"s{round_}.{text.id}", text, kept=tuple(keys))
            for text, keys in zip(texts, kept, strict=True)
        ]
        left, share = sum(map(len, kept)), 0.53 * 0.66 ** (round_ - 1)
        assert abs(left - 4_000 * share) < 4 * math.sqrt(4_000 * share * (1 - share))


def test_fabrications_come_as_often_as_the_scenario_says() -> None:
    keys = tuple(f"k{n}" for n in range(4_000))
    summary = said([source("a", 100, *keys)], summariser_fabricate=0.061)
    assert summary.kept == summary.made_up
    assert abs(len(summary.made_up) - 244) < 4 * math.sqrt(4_000 * 0.061 * 0.939)


def test_the_same_fact_meets_the_same_draw_whatever_else_is_summarised() -> None:
    """Two policies that summarise one segment in other company keep the same of it."""
    texts = [source(f"a{n}", 100, f"k{n}") for n in range(200)]
    alone = set().union(*(said([text], surrogate_keep=0.5).kept for text in texts))
    assert said(texts, surrogate_keep=0.5).kept == alone
    assert 60 < len(alone) < 140
