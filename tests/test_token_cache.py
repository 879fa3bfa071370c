"""The prefix caches against ``tests.oracle.token_cache``, call by call over random sequences."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.prefix_cache import Prompt, Usage, make_cache
from sim.prices import CacheRules, Price, Speed
from tests.oracle.token_cache import Bill, Segment, dollars, make

GOLDEN = Path(__file__).resolve().parents[2] / "shared" / "golden" / "prefix_cache.json"
SEQUENCES = 3_200
"""Random sequences for each rule."""
CHUNKS = 4
SPEED = Speed(prefill_rate=1.0, cached_rate=1.0, overhead=0.0, decode_rate=1.0)
KINDS = ("user", "system", "tools", "tool_call", "tool_call", "tool_result", "tool_result", "file")
SIZES = (1, 0, 2, 3, 4, 5, 6, 11)
EDITS = (
    "append", "append", "append", "append", "cut", "remove", "refresh", "resize", "rewrite",
    "insert", "return", "resend", "other's", "nothing", "nothing",
)  # fmt: skip

Pick = Callable[[Sequence[Any]], Any]
"""Returns one of the options; the first is the simplest."""


class Call(NamedTuple):
    """One request of one agent; *fresh* makes its prompt anew instead of editing the old one."""

    agent: int
    fresh: bool
    request: list[Segment]
    now: int
    marks: list[int] | None
    long: int
    later: int
    """Seconds after *now* at which it is looked up besides."""


# The sequences.


def rules_for(rule: str, pick: Pick) -> CacheRules:
    minimum = pick((0, 1, 4, 9))
    ttl = pick((3, 3, 7, 7, inf))
    renews = pick((True, True, False))
    if rule == "auto":
        return CacheRules(rule, minimum, pick((1, 2, 3, 5)), ttl, renews=renews)
    if rule == "breakpoints":
        return CacheRules(
            rule,
            minimum,
            ttl=ttl,
            lookback=pick((20, None, 0, 1, 2, 3)),
            long_ttl=None if ttl == inf else pick((None, ttl, 12, 12, inf)),
            renews=renews,
            matched=pick((None, None, 1, 2, 3)),
            marks=pick(("head-end", "head-end", "head")),
        )
    if rule == "blocks":
        capacity = pick((None, 1, 2, 3, 5, 8, 13, 21))
        return CacheRules(rule, step=pick((1, 2, 3, 5)), capacity=capacity)
    return CacheRules(rule)


def price_for(rules: CacheRules, pick: Pick) -> Price:
    return Price(
        "p",
        input=2.0,
        write=pick((2.5, 2.0)),
        read=0.2,
        output=10.0,
        rules=rules,
        speed=SPEED,
        cliff_tokens=pick((None, 0, 10, 20)),
        cliff_input=2.0,
        cliff_inclusive=pick((False, True)),
        long_write=None if rules.long_ttl is None else 4.0,
        storage=0.0 if rules.ttl == inf or rules.long_ttl is not None else pick((0.0, 4.5)),
    )


def segment(pick: Pick) -> Segment:
    return pick("abcdef"), pick((0, 0, 1)), pick(SIZES), pick(KINDS)


def edited(
    pick: Pick, old: list[Segment], windows: list[list[Segment]], sent: list[list[Segment]]
) -> list[Segment]:
    """Return the window after one edit."""
    what = pick(EDITS)
    at = pick(range(len(old) + 1))
    front, back = old[:at], old[at:]
    if what == "append":
        return [*old, *(segment(pick) for _ in range(pick((1, 2, 3))))]
    if what == "cut":
        return front
    if what == "insert":
        return [*front, segment(pick), *back]
    if what == "return" and sent:
        return [*front, *pick(sent)[:2], *back]
    if what == "resend" and sent:
        return pick(sent)
    if what == "other's":
        return [*pick(windows)[: pick(range(9))], *back[:2]]
    if not back or what == "nothing":
        return old
    key, version, tokens, kind = back[0]
    if what == "remove":
        return front + back[pick((1, 2)) :]
    if what == "refresh":
        return [*front, (key, version + 1, tokens, kind), *back[1:]]
    if what == "resize":
        return [*front, (key, version, tokens + 1, kind), *back[1:]]
    return [*front, ("short", 0, pick((1, 0, 2)), "summary"), *back[pick((1, 2, 3)) :]]


def wait(pick: Pick, rules: CacheRules, now: int, starts: list[int]) -> int:
    """Return the next start: at once, soon, or about when an earlier request's entries end."""
    if pick((True, False)):
        return now + pick((1, 0, 2))
    life = pick([life for life in (rules.ttl, rules.long_ttl) if life not in (None, inf)] or [5])
    return max(now, int(pick(starts or [0]) + life + pick((0, -1, 1))))


def sequence(rules: CacheRules, pick: Pick, calls: int) -> list[Call]:
    """Return the calls of up to three agents, as data."""
    windows: list[list[Segment]] = [[], [], []]
    sent: list[list[Segment]] = []
    starts: list[int] = []
    made: list[Call] = []
    now = 0
    for _ in range(calls):
        agent = pick((0, 0, 0, 1, 2))
        for _ in range(pick((1, 1, 2))):
            windows[agent] = edited(pick, windows[agent], windows, sent)[:14]
        request = windows[agent]
        now = wait(pick, rules, now, starts)
        marks, long = None, 0
        if rules.rule == "breakpoints":
            if request and pick((False, True)):
                marks = [pick(range(1, len(request) + 1)) for _ in range(pick((1, 2, 3, 4, 0)))]
            if rules.long_ttl is not None:
                most = len(marks) if marks is not None else default_marks(rules, request)
                long = pick(range(most + 1))
        made.append(
            Call(agent, pick((False,) * 9 + (True,)), request, now, marks, long, pick((1, 3, 9)))
        )
        starts.append(now)
        sent.append(request)
    return made


def default_marks(rules: CacheRules, request: list[Segment]) -> int:
    """Return how many breakpoints there are by default, two at one place counted once."""
    heads = [place for place, item in enumerate(request) if item[3] in ("tools", "system")]
    end = bool(request) and rules.marks != "head"
    return min(1, len(heads)) + (end and heads[-1:] != [len(request) - 1])


# The comparison.


def put(prompt: Prompt, old: list[Segment], new: list[Segment]) -> None:
    """Edit in place, from the first segment that differs."""
    same = 0
    while same < min(len(old), len(new)) and old[same] == new[same]:
        same += 1
    prompt.truncate(same)
    for item in new[same:]:
        prompt.append(*item)


def compare(rules: CacheRules, price: Price, calls: Sequence[Call]) -> None:
    """Send the calls to both and stop where they differ."""
    real, naive = make_cache(rules), make(rules)
    prompts = [real.prompt() for _ in range(3)]
    held: list[list[Segment]] = [[], [], []]
    for number, call in enumerate(calls):
        agent, fresh, request, now, marks, long, later = call
        if fresh:
            prompts[agent], held[agent] = real.prompt(), []
        prompt = prompts[agent]
        put(prompt, held[agent], request)
        held[agent] = request
        where = (rules, number, calls[: number + 1])
        for moment in (now + later, now):
            expected = naive.lookup(request, moment, marks)
            assert real.lookup(prompt, moment, marks) == expected, where
        kept = naive.kept(request, marks)
        assert real.kept(prompt, marks) == kept, where
        usage = real.call(prompt, now, marks, long) if long else real.call(prompt, now, marks)
        bill = naive.call(request, now, marks, long)
        assert tuple(usage) == bill, where
        assert usage.read == expected, where
        assert price.input_cost(usage) == pytest.approx(float(dollars(price, bill)), rel=1e-12)
        again = real.lookup(prompt, now, marks)
        assert again == naive.lookup(request, now, marks), where
        if rules.matched is None or rules.renews:
            assert again == kept, where


@pytest.mark.parametrize("chunk", range(CHUNKS))
@pytest.mark.parametrize("rule", ["auto", "breakpoints", "blocks"])
def test_random_sequences(rule: str, chunk: int) -> None:
    for number in range(chunk, SEQUENCES, CHUNKS):
        pick = random.Random(f"{rule} {number}").choice
        rules = rules_for(rule, pick)
        compare(rules, price_for(rules, pick), sequence(rules, pick, pick(range(2, 15))))


def test_random_sequences_without_a_cache() -> None:
    for number in range(100):
        pick = random.Random(f"none {number}").choice
        rules = rules_for("none", pick)
        compare(rules, price_for(rules, pick), sequence(rules, pick, 5))


def test_long_requests_looked_back_over() -> None:
    """Twenty positions, where requests are long enough for that to matter."""
    for number in range(60):
        pick = random.Random(f"long {number}").choice
        rules = CacheRules("breakpoints", 5, ttl=9, lookback=20, long_ttl=20)
        calls: list[Call] = []
        request: list[Segment] = []
        for now in range(6):
            request = request[: len(request) - pick((0, 0, 1, 7))]
            request = request + [
                (f"{now} {place}", 0, pick(SIZES), pick(KINDS))
                for place in range(pick((1, 17, 20, 21, 22, 30)))
            ]
            calls.append(Call(0, False, request, now, None, pick((0, 1)), 1))
        compare(rules, price_for(rules, pick), calls)


@pytest.mark.parametrize("rule", ["auto", "breakpoints", "blocks"])
@settings(max_examples=120, deadline=None)
@given(data=st.data())
def test_any_sequence(rule: str, data: st.DataObject) -> None:
    def pick(options: Sequence[Any]) -> Any:
        return data.draw(st.sampled_from(options))

    rules = rules_for(rule, pick)
    calls = sequence(rules, pick, data.draw(st.integers(1, 10)))
    compare(rules, price_for(rules, pick), calls)


# By hand: request, start, breakpoints, how many of them long; tokens, read, written, plain, the
# longer lived of the written, stored anew.

SYS, ASK, NEW = ("s", 0, 5, "system"), ("u", 0, 3, "user"), ("v", 0, 2, "user")
ONE, TWO = ("c", 0, 3, "tool_call"), ("d", 0, 4, "tool_call")
TWO_LIVES = CacheRules("breakpoints", ttl=10, long_ttl=30)
NO_RENEWAL = CacheRules("breakpoints", ttl=10, renews=False)
ANY_DISTANCE = CacheRules("breakpoints", ttl=10, lookback=None)
LATEST = CacheRules("breakpoints", ttl=10, matched=1)
HEAD = CacheRules("breakpoints", ttl=10, marks="head")
FIXED = CacheRules("auto", ttl=10, renews=False)
BY_HAND: dict[str, tuple[CacheRules, list[tuple[Any, ...]]]] = {
    "a long head outlives short ends": (
        TWO_LIVES,
        [
            ([SYS, ASK], 0, None, 1, (8, 0, 8, 0, 5, 13)),
            ([SYS, ASK, NEW], 9, None, 1, (10, 8, 2, 0, 0, 10)),
            ([SYS, NEW], 38, None, 1, (7, 5, 2, 0, 0, 7)),
            ([SYS, NEW], 68, None, 1, (7, 0, 7, 0, 5, 12)),
        ],
    ),
    "a live short entry is not made longer": (
        TWO_LIVES,
        [
            ([SYS, ASK], 0, [2], 0, (8, 0, 8, 0, 0, 8)),
            ([SYS, ASK], 5, [2], 1, (8, 8, 0, 0, 0, 0)),
            ([SYS, ASK], 15, [2], 1, (8, 0, 8, 0, 8, 8)),
            ([SYS, ASK], 44, [2], 0, (8, 8, 0, 0, 0, 0)),
            ([SYS, ASK], 73, [2], 0, (8, 8, 0, 0, 0, 0)),
        ],
    ),
    "without renewal it dies on its day": (
        NO_RENEWAL,
        [
            ([SYS], 0, None, 0, (5, 0, 5, 0, 0, 5)),
            ([SYS], 9, None, 0, (5, 5, 0, 0, 0, 0)),
            ([SYS], 10, None, 0, (5, 0, 5, 0, 0, 5)),
        ],
    ),
    "any distance finds the inside of a run": (
        ANY_DISTANCE,
        [
            ([ASK, ONE], 0, None, 0, (6, 0, 6, 0, 0, 6)),
            ([ASK, ONE, TWO], 1, None, 0, (10, 6, 4, 0, 0, 10)),
        ],
    ),
    "only the latest is compared, and one that is live is renewed": (
        LATEST,
        [
            ([ASK], 0, None, 0, (3, 0, 3, 0, 0, 3)),
            ([SYS], 1, None, 0, (5, 0, 5, 0, 0, 5)),
            ([ASK], 2, None, 0, (3, 0, 3, 0, 0, 0)),
            ([ASK], 11, None, 0, (3, 3, 0, 0, 0, 0)),
        ],
    ),
    "marks at the head alone": (
        HEAD,
        [
            ([SYS, ASK], 0, None, 0, (8, 0, 5, 3, 0, 5)),
            ([SYS, ASK], 1, None, 0, (8, 5, 0, 3, 0, 0)),
            ([ASK], 2, None, 0, (3, 0, 0, 3, 0, 0)),
        ],
    ),
    "auto without renewal": (
        FIXED,
        [
            ([SYS, ASK], 0, None, 0, (8, 0, 8, 0, 0, 0)),
            ([SYS], 9, None, 0, (5, 5, 0, 0, 0, 0)),
            ([SYS, ASK], 10, None, 0, (8, 5, 3, 0, 0, 0)),
        ],
    ),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_by_hand(name: str) -> None:
    rules, rows = BY_HAND[name]
    real, naive = make_cache(rules), make(rules)
    for request, now, marks, long, bill in rows:
        prompt = real.prompt()
        put(prompt, [], request)
        assert naive.call(request, now, marks, long) == bill
        assert tuple(real.call(prompt, now, marks, long)) == bill


@pytest.mark.parametrize(
    "changes, micro_usd",
    [
        ({}, 0.4 + 7.5 + 8 + 6),
        ({"cliff_tokens": 10}, 21.9),
        ({"cliff_tokens": 10, "cliff_inclusive": True}, 43.8),
        ({"cliff_tokens": 9}, 43.8),
    ],
)
def test_dollars_by_hand(changes: dict[str, Any], micro_usd: float) -> None:
    price = Price("p", 2.0, 2.5, 0.2, 9.0, TWO_LIVES, SPEED, cliff_input=2.0, long_write=4.0)
    price = replace(price, **changes)
    bill = Bill(10, 2, 5, 3, 2, 10)
    assert float(dollars(price, bill)) == pytest.approx(micro_usd / 1e6)
    assert price.input_cost(Usage(*bill)) == pytest.approx(micro_usd / 1e6)


def test_storage_by_hand() -> None:
    """Ten tokens for two hours at 4.50 a million and hour, outside the cliff's factor."""
    rules = CacheRules("breakpoints", ttl=7200)
    price = Price("p", 2.0, 2.0, 0.2, 9.0, rules, SPEED, storage=4.5, cliff_tokens=0)
    bill = Bill(10, 0, 10, 0, 0, 10)
    assert float(dollars(price, bill)) == pytest.approx((20 + 90) / 1e6)
    assert price.input_cost(Usage(*bill)) == pytest.approx((20 + 90) / 1e6)


def test_an_entry_without_end_costs_nothing_where_storage_is_free() -> None:
    price = Price("p", 2.0, 2.0, 0.2, 9.0, CacheRules("breakpoints"), SPEED)
    bill = Bill(10, 0, 10, 0, 0, 10)
    assert float(dollars(price, bill)) == pytest.approx(20 / 1e6)
    assert price.input_cost(Usage(*bill)) == pytest.approx(20 / 1e6)


# The naive one itself.


@pytest.mark.skipif(not GOLDEN.exists(), reason="the golden cases are not here")
def test_golden_cases() -> None:
    cases = json.loads(GOLDEN.read_text())["cases"]
    assert len(cases) >= 21
    for case in cases:
        rules = CacheRules(**case["rules"])
        price = Price(case["name"], output=0.0, rules=rules, speed=SPEED, **case["price"])
        cache = make(rules)
        common = case.get("breakpoints")
        for call, expected in zip(case["calls"], case["expect"], strict=True):
            marks = call.get("breakpoints", common)
            bill = cache.call([tuple(item) for item in call["request"]], call["at"], marks)
            named = bill._asdict()
            usd = float(dollars(price, bill))
            assert usd == pytest.approx(expected["usd"], abs=1e-9), case["name"]
            got = {name: named[name] for name in expected if name != "usd"}
            assert got == {n: v for n, v in expected.items() if n != "usd"}, case["name"]


def test_fields_are_those_of_the_real_bill() -> None:
    assert Bill._fields == Usage._fields
