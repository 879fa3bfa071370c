"""Lives side by side, renewals, distance and what is kept: cases by hand, and calls that fail."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.prefix_cache import PrefixCache, Prompt, Usage, make_cache
from sim.prices import CacheRules

LONG = CacheRules("breakpoints", minimum=1024, ttl=300.0, lookback=20, long_ttl=3600.0)
FAR = CacheRules("breakpoints", minimum=1024, ttl=1800.0, lookback=None)
LATEST = CacheRules("breakpoints", minimum=1024, ttl=1800.0, lookback=None, matched=2)
NAMED = CacheRules("breakpoints", minimum=1024, ttl=3600.0, renews=False, marks="head")
FIXED = CacheRules("breakpoints", minimum=1024, ttl=300.0, renews=False, long_ttl=3600.0)

Part = tuple[str, int, str]
SYSTEM = ("s", 2000, "system")
USER = ("u", 500, "user")


def prompt_of(cache: PrefixCache, *segments: Part) -> Prompt:
    prompt = cache.prompt()
    for key, tokens, kind in segments:
        prompt.append(key, 0, tokens, kind)
    return prompt


# Two lives.


def test_the_head_outlives_the_end() -> None:
    cache = make_cache(LONG)
    prompt = prompt_of(cache, SYSTEM, USER)
    assert cache.long_marks(prompt) == 2
    # Head and end are stored, 2,000 and 2,500 tokens; the head alone for the longer life.
    assert cache.call(prompt, 0.0, long=1) == Usage(2500, 0, 2500, 0, 2000, 4500)
    assert [cache.lookup(prompt, now) for now in (299.9, 300.0)] == [2500, 2000]
    # The end is stored anew, the head renewed by its own life though no mark asks for it now.
    assert cache.call(prompt, 300.0) == Usage(2500, 2000, 500, 0, 0, 2500)
    assert [cache.lookup(prompt, now) for now in (599.9, 600.0)] == [2500, 2000]
    assert [cache.lookup(prompt, now) for now in (3899.9, 3900.0)] == [2000, 0]


def test_a_longer_life_is_asked_for_by_all_marks() -> None:
    cache = make_cache(LONG)
    prompt = prompt_of(cache, SYSTEM, USER)
    assert cache.call(prompt, 0.0, long=2) == Usage(2500, 0, 2500, 0, 2500, 4500)
    assert [cache.lookup(prompt, now) for now in (3599.9, 3600.0)] == [2500, 0]


def test_a_live_short_entry_is_not_lengthened() -> None:
    cache = make_cache(LONG)
    prompt = prompt_of(cache, SYSTEM, USER)
    cache.call(prompt, 0.0)
    assert cache.call(prompt, 10.0, long=2) == Usage(2500, 2500, 0, 0)
    assert [cache.lookup(prompt, now) for now in (309.9, 310.0)] == [2500, 0]
    # Only when it has ended is it stored for the longer life.
    assert cache.call(prompt, 310.0, long=1) == Usage(2500, 0, 2500, 0, 2000, 4500)
    assert [cache.lookup(prompt, now) for now in (3909.9, 3910.0)] == [2000, 0]


def test_what_was_read_is_not_written_for_the_longer_life() -> None:
    cache = make_cache(LONG)
    prompt = prompt_of(cache, SYSTEM)
    cache.call(prompt, 0.0, long=1)
    prompt.append("u", 0, 500, "user")
    assert cache.call(prompt, 1.0, long=1) == Usage(2500, 2000, 500, 0, 0, 2500)
    prompt.append("v", 0, 300, "user")
    assert cache.call(prompt, 2.0, [2, 3], long=2) == Usage(2800, 2500, 300, 0, 300, 2800)


def test_a_long_mark_below_the_minimum_does_nothing() -> None:
    cache = make_cache(LONG)
    prompt = prompt_of(cache, ("s", 1000, "system"), ("u", 1500, "user"))
    assert cache.call(prompt, 0.0, long=1) == Usage(2500, 0, 2500, 0, 0, 2500)
    assert [cache.lookup(prompt, now) for now in (299.9, 300.0)] == [2500, 0]


def test_the_first_marks_of_the_request_live_longer() -> None:
    cache = make_cache(LONG)
    parts = [(f"p{i}", 2000, "file") for i in range(4)]
    prompt = prompt_of(cache, *parts)
    assert cache.long_marks(prompt, [4, 1, 2]) == 3
    # 2,000 and 4,000 for the longer life, 8,000 for the other.
    assert cache.call(prompt, 0.0, [4, 1, 2], 2) == Usage(8000, 0, 8000, 0, 4000, 14000)
    assert cache.lookup(prompt, 1000.0, [4]) == 4000
    # What lies behind the last mark is plain.
    assert cache.call(prompt, 1000.0, [1, 3], 1) == Usage(8000, 4000, 2000, 2000, 0, 6000)


def test_each_life_ends_in_its_own_order() -> None:
    cache = make_cache(LONG)
    first, second = (prompt_of(cache, (key, 2000, "user")) for key in "ab")
    cache.call(first, 0.0, long=1)
    cache.call(second, 1.0)
    third = prompt_of(cache, ("c", 2000, "user"))
    cache.call(third, 400.0)
    assert [cache.lookup(p, 400.0) for p in (first, second, third)] == [2000, 0, 2000]
    # The short entry of the second is gone for good, so nothing is left of it but its prompt.
    second.close()
    assert len(cache.tree) == 2


# Renewals.


def test_nothing_prolongs_an_entry_that_is_not_renewed() -> None:
    cache = make_cache(NAMED)
    prompt = prompt_of(cache, SYSTEM, USER)
    assert cache.call(prompt, 0.0) == Usage(2500, 0, 2000, 500, 0, 2000)
    for now in (1.0, 3599.9):
        assert cache.call(prompt, now) == Usage(2500, 2000, 0, 500)
    assert cache.lookup(prompt, 3600.0) == 0
    assert cache.call(prompt, 3600.0) == Usage(2500, 0, 2000, 500, 0, 2000)
    assert [cache.lookup(prompt, now) for now in (7199.9, 7200.0)] == [2000, 0]


def test_two_lives_without_renewals() -> None:
    cache = make_cache(FIXED)
    prompt = prompt_of(cache, SYSTEM, USER)
    cache.call(prompt, 0.0, long=1)
    cache.call(prompt, 299.0, long=2)
    assert [cache.lookup(prompt, now) for now in (299.9, 300.0)] == [2500, 2000]
    # The end comes back for the longer life, the head keeps its end at 3,600 s.
    assert cache.call(prompt, 300.0, long=2) == Usage(2500, 2000, 500, 0, 500, 2500)
    assert cache.lookup(prompt, 3600.0) == 2500
    assert cache.lookup(prompt, 3600.0, [1]) == 0


def test_auto_without_renewals() -> None:
    for renews, read in ((True, 2560), (False, 1280)):
        cache = make_cache(CacheRules("auto", minimum=1024, step=128, ttl=600.0, renews=renews))
        first = prompt_of(cache, ("a", 1280, "system"), ("b", 1280, "user"))
        cache.call(first, 0.0)
        other = prompt_of(cache, ("a", 1280, "system"), ("c", 1280, "user"))
        assert cache.call(other, 500.0) == Usage(2560, 1280, 1280, 0)
        assert cache.lookup(first, 600.0) == read


def test_auto_stores_every_request_whatever_it_reads() -> None:
    cache = make_cache(CacheRules("auto", minimum=1024, step=128, ttl=600.0, renews=False))
    prompt = prompt_of(cache, ("a", 1300, "user"))
    assert cache.call(prompt, 0.0) == Usage(1300, 0, 1280, 20)
    assert cache.call(prompt, 400.0) == Usage(1300, 1280, 0, 20)
    assert [cache.lookup(prompt, now) for now in (999.9, 1000.0)] == [1280, 0]


# Distance.


def test_any_distance() -> None:
    for rules, read in ((FAR, 2000), (LONG, 0)):
        cache = make_cache(rules)
        cache.call(prompt_of(cache, ("u", 2000, "user")), 0.0)
        far = [(f"{i}", 10, "user") for i in range(21)]
        assert cache.lookup(prompt_of(cache, ("u", 2000, "user"), *far[:20]), 1.0) == 2000
        assert cache.lookup(prompt_of(cache, ("u", 2000, "user"), *far), 1.0) == read


def test_any_distance_finds_what_ends_inside_a_run() -> None:
    for rules, read in ((FAR, 2100), (LONG, 0)):
        cache = make_cache(rules)
        calls = [(f"call-{i}", 100, "tool_call") for i in range(2)]
        cache.call(prompt_of(cache, ("u", 2000, "user"), calls[0]), 0.0)
        assert cache.lookup(prompt_of(cache, ("u", 2000, "user"), *calls), 1.0) == read


def test_no_distance_reaches_behind_the_last_mark() -> None:
    cache = make_cache(FAR)
    prompt = prompt_of(cache, *((key, 2000, "user") for key in "abc"))
    assert cache.call(prompt, 0.0, [1, 3]) == Usage(6000, 0, 6000, 0, 0, 8000)
    assert cache.lookup(prompt, 1.0, [2]) == 2000
    assert cache.lookup(prompt, 1.0, []) == 0
    assert cache.call(prompt, 1.0, [2]) == Usage(6000, 2000, 2000, 2000, 0, 4000)


@pytest.mark.parametrize("others", [0, 40])
def test_a_look_back_with_few_or_many_entries_at_hand(others: int) -> None:
    """Few entries are compared one by one, among many the positions are gone through."""
    cache = make_cache(LONG)
    for i in range(others):
        cache.call(prompt_of(cache, (f"other-{i}", 2000, "user")), 0.0)
    run = [(f"call-{i}", 10, "tool_call") for i in range(30)]
    prompt = prompt_of(cache, ("u", 2000, "user"), *run, ("v", 10, "user"))
    cache.call(prompt, 0.0, [1, 16])
    # From the end: the user turn, the run as one position, so the first entry is two away.
    assert cache.lookup(prompt, 1.0) == 2000
    assert cache.lookup(prompt, 1.0, [16, 32]) == 2150
    assert cache.lookup(prompt, 1.0, [17]) == 2000


def test_only_the_latest_entries_are_compared() -> None:
    cache = make_cache(LATEST)
    first, second, third = (prompt_of(cache, (key, 2000, "user")) for key in "abc")
    for now, prompt in enumerate((first, second)):
        cache.call(prompt, float(now))
    # Renewed, the first is one of the latest two again; the second then makes way.
    assert cache.call(first, 2.0) == Usage(2000, 2000, 0, 0)
    cache.call(third, 3.0)
    assert [cache.lookup(p, 4.0) for p in (first, second, third)] == [2000, 0, 2000]
    # Not compared, it is computed and billed as written, but it is there: nothing is stored anew.
    assert cache.call(second, 4.0) == Usage(2000, 0, 2000, 0)
    assert [cache.lookup(p, 5.0) for p in (first, second, third)] == [0, 2000, 2000]


def test_what_has_ended_is_not_among_the_latest() -> None:
    cache = make_cache(
        CacheRules("breakpoints", minimum=1024, ttl=300.0, long_ttl=3600.0, matched=1)
    )
    lasting, passing = (prompt_of(cache, (key, 2000, "user")) for key in "ab")
    cache.call(lasting, 0.0, long=1)
    cache.call(passing, 1.0)
    assert [cache.lookup(lasting, now) for now in (300.9, 301.0)] == [0, 2000]


# Default marks.


def test_a_mark_at_the_head_alone() -> None:
    cache = make_cache(NAMED)
    tools = prompt_of(cache, ("t", 900, "tools"), ("s", 1100, "system"), USER)
    assert (cache.kept(tools), cache.long_marks(tools)) == (2000, 0)
    assert cache.call(tools, 0.0) == Usage(2500, 0, 2000, 500, 0, 2000)
    # No head, no mark.
    bare = prompt_of(cache, ("v", 900, "user"), ("w", 1100, "user"), USER)
    assert cache.kept(bare) == 0
    assert cache.call(bare, 1.0) == Usage(2500, 0, 0, 2500)
    # Marks of one's own stand where they are put.
    assert cache.call(bare, 2.0, [3]) == Usage(2500, 0, 2500, 0, 0, 2500)


# What the same request would read.


@pytest.mark.parametrize(("tokens", "kept"), [(1023, 0), (1024, 1024), (1151, 1024), (1152, 1152)])
def test_kept_in_whole_steps(tokens: int, kept: int) -> None:
    cache = make_cache(CacheRules("auto", minimum=1024, step=128, ttl=600.0))
    prompt = prompt_of(cache, ("a", tokens, "user"))
    assert cache.kept(prompt) == kept
    cache.call(prompt, 0.0)
    assert cache.lookup(prompt, 0.0) == kept


def test_kept_up_to_the_last_mark() -> None:
    cache = make_cache(LONG)
    prompt = prompt_of(cache, ("a", 1000, "system"), ("b", 24, "user"), ("c", 5000, "user"))
    assert [cache.kept(prompt, marks) for marks in (None, [1], [1, 2], [3], [])] == [
        6024,
        0,
        1024,
        6024,
        0,
    ]
    assert cache.kept(cache.prompt()) == 0
    assert cache.lookup(prompt, 0.0) == 0


# What cannot be.


@pytest.mark.parametrize(
    ("rules", "long", "message"),
    [
        (LONG, 3, "long is 3, but the request has 2 breakpoints that can ask for the longer life"),
        (LONG, -1, "long must be a whole number from 0 on, not -1"),
        (LONG, True, "long must be a whole number from 0 on, not True"),
        (LONG, 1.0, r"long must be a whole number from 0 on, not 1\.0"),
        (LONG, None, "long must be a whole number from 0 on, not None"),
        (FAR, 1, "no breakpoint can ask for a longer life, as there is but one"),
        (CacheRules("auto"), 1, "no breakpoint can ask for a longer life"),
        (CacheRules("auto", ttl=1, long_ttl=2), 1, "long is 1, but the request has 0 breakpoints"),
        (CacheRules("none"), 1, "no breakpoint can ask for a longer life"),
        (CacheRules("none"), "1", "long must be a whole number from 0 on, not '1'"),
    ],
)
def test_longer_lives_that_cannot_be(rules: CacheRules, long: Any, message: str) -> None:
    cache = make_cache(rules)
    prompt = prompt_of(cache, SYSTEM, USER)
    with pytest.raises(ValueError, match=message):
        cache.call(prompt, 0.0, long=long)
    # Nothing has happened, the clock included.
    assert cache.lookup(prompt, -1.0) == 0


JUNK = st.sampled_from(
    [None, True, "", "1", -1, 0, 1, 2, 3, 5, 10**400, 0.5, -0.0, float("nan"), float("inf"), 1j,
     (), [1], [2, 1], [1, 1], [0], [9], [[1]], [None], {}, {1: 2}, object(), b"\1"]
)  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(st.sampled_from([LONG, FAR, FIXED, NAMED, CacheRules("auto")]), st.lists(JUNK, max_size=60))
def test_junk_raises_plain_value_errors(rules: CacheRules, junk: list[Any]) -> None:
    cache = make_cache(rules)
    prompt = prompt_of(cache, SYSTEM, USER)
    cache.call(prompt, 0.0)
    values = iter(junk)
    sends = (
        lambda *given: cache.call(prompt, *given[:3]),
        lambda *given: cache.lookup(prompt, *given[:2]),
        lambda *given: cache.kept(prompt, given[0]),
        lambda *given: cache.call(given[0], 0.0),
        lambda *given: cache.kept(given[0]),
        lambda *given: prompt.append(*given),
        lambda *given: prompt.truncate(given[0]),
    )
    for send in sends * 2:
        before = state(cache, prompt)
        try:
            usage = send(*[next(values, 1) for _ in range(4)])
        except ValueError as error:
            assert "\n" not in str(error)
            assert state(cache, prompt) == before
            continue
        if isinstance(usage, Usage):
            assert usage.tokens == usage.read + usage.written + usage.plain
            assert 0 <= usage.written_long <= usage.written


def state(cache: PrefixCache, prompt: Prompt) -> tuple[object, ...]:
    """Return what a call that fails must leave alone."""
    start = next(now for now in (-9.0, 0.0, 0.5, 1.0, 2.0, 3.0, 5.0) if follows(cache, prompt, now))
    reads = [cache.lookup(prompt, start + wait) for wait in (0.0, 299.0, 300.0, 1800.0, 3599.0)]
    return start, reads, len(prompt), prompt.tokens, prompt.head, len(cache.tree)


def follows(cache: PrefixCache, prompt: Prompt, now: float) -> bool:
    try:
        cache.lookup(prompt, now)
    except ValueError:
        return False
    return True
