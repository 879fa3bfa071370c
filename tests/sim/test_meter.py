"""The meter: a prompt that follows the window costs what a whole new one would."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.meter import Meter
from sim.prefix_cache import Usage, make_cache
from sim.prices import CacheRules, Price
from sim.segments import Kind, Segment, State
from sim.window import Window
from tests.sim.build import MARKED, SPEED, UNCACHED, segment

RULES = (
    CacheRules("breakpoints", minimum=20, ttl=60.0, lookback=3),
    CacheRules("auto", minimum=16, step=8, ttl=60.0),
    CacheRules("blocks", step=8, capacity=20),
    CacheRules("none"),
)


def priced(rules: CacheRules) -> Price:
    return replace(UNCACHED, rules=rules)


_any = st.integers(0, 30)
_step = st.one_of(
    st.tuples(st.just("append"), st.sampled_from([Kind.SYSTEM, Kind.NOTE, Kind.TOOL_RESULT])),
    st.tuples(st.just("append"), st.just(Kind.NOTE)),
    st.tuples(st.just("remove"), _any),
    st.tuples(st.just("resize"), _any),
    st.tuples(st.just("replace"), _any),
    st.tuples(st.just("marks"), st.lists(st.integers(1, 12), max_size=5)),
    st.tuples(st.just("request"), st.sampled_from([0.0, 1.0, 59.0, 61.0])),
)


@given(st.sampled_from(RULES), st.lists(_step, max_size=40))
@settings(max_examples=300, deadline=None)
def test_following_the_window_is_as_good_as_sending_it_anew(
    rules: CacheRules, steps: list[Any]
) -> None:
    window, log, now = Window(), dict[str, Segment](), 0.0
    meter = Meter(window, priced(rules), ())
    twin = make_cache(rules)
    for what, *values in [*steps, ("request", 1.0), ("request", 1.0)]:
        if what == "request":
            now += values[0]
            prompt = twin.prompt()
            for it in window:
                prompt.append(it.id, it.version, it.tokens, it.kind)
            marks = naive_marks(window, meter.breakpoints)
            assert meter.request(now, log).usage == twin.call(prompt, now, marks)
        elif what == "marks":
            meter.breakpoints = tuple(f"n{n}" for n in values[0])
        elif what == "append":
            put(window, log, values[0])
        elif window.segments:
            edit(window, log, what, window.segments[values[0] % len(window)])


def put(window: Window, log: dict[str, Segment], kind: Kind) -> None:
    it = segment(f"n{len(log) + 1}", 5 + len(log) % 7, kind=kind, seq=len(log))
    it.state = State.RESIDENT
    log[it.id] = it
    window.append(it)


def edit(window: Window, log: dict[str, Segment], what: str, it: Segment) -> None:
    if what == "resize":
        it.version += 1
        window.resize(it, 3 + it.tokens % 5, "refresh")
        return
    it.state = State.EVICTED
    if what == "remove":
        window.remove(it, "eviction")
        return
    new = segment(f"n{len(log) + 1}", 2, seq=len(log), state=State.RESIDENT)
    log[new.id] = new
    window.replace(it, new, "rewrite")


def naive_marks(window: Window, names: tuple[str, ...]) -> list[int] | None:
    """Up to four breakpoints after resident segments; the end has one while there is one left."""
    if not names:
        return None
    marks = [at for at, it in enumerate(window, start=1) if it.id in names][:4]
    if len(marks) < 4 and len(window) and len(window) not in marks:
        marks.append(len(window))
    return marks


def filled(sizes: dict[str, int], price: Price = MARKED, marks: tuple[str, ...] = ()) -> Any:
    window, log = Window(), {}
    for number, (name, tokens) in enumerate(sizes.items()):
        kind = Kind.SYSTEM if name == "sys" else Kind.NOTE
        it = segment(name, tokens, kind=kind, seq=number, state=State.RESIDENT)
        log[name] = it
        window.append(it)
    meter = Meter(window, price, marks)
    return lambda now: meter.request(now, log).usage, window, log, meter


def test_a_cut_is_read_up_to_the_last_mark_in_front_of_it() -> None:
    """System 40, front 380, cut 320, behind 570: marked after the front, 420 are read."""
    request, window, log, _ = filled({"sys": 40, "a": 380, "b": 320, "c": 570}, marks=("a",))
    assert request(0.0)[:4] == (1_310, 0, 1_310, 0)
    window.remove(log["b"], "eviction")
    log["b"].state = State.EVICTED
    assert request(10.0)[:4] == (990, 420, 570, 0)


def test_with_the_default_marks_only_the_system_is_found() -> None:
    request, window, log, _ = filled({"sys": 40, "a": 380, "b": 320, "c": 570})
    request(0.0)
    window.remove(log["a"], "eviction")
    assert request(10.0)[:4] == (930, 40, 890, 0)
    assert request(20.0)[:4] == (930, 930, 0, 0)
    assert request(20.0 + 300.0)[:4] == (930, 0, 930, 0)


def test_a_policy_may_place_four() -> None:
    """Four marks of its own leave none for the end: what is behind the fourth is plain."""
    sizes = dict.fromkeys("abcdef", 10)
    request, *_ = filled(sizes, marks=("a", "b", "c", "d"))
    assert request(0.0)[:4] == (60, 0, 40, 20)
    assert request(1.0)[:4] == (60, 40, 0, 20)


def test_nothing_in_the_window_costs_nothing() -> None:
    for marks in ((), ("a",)):
        request, window, log, _ = filled({"a": 10}, marks=marks)
        window.remove(log["a"], "eviction")
        log["a"].state = State.EVICTED
        assert request(0.0)[:4] == (0, 0, 0, 0)


def test_money_and_time() -> None:
    """1,000 read, 200 written, 50 plain at MARKED: 200 + 500 + 100 millionths of a dollar."""
    meter = Meter(Window(), MARKED, ())
    usage = Usage(1_250, 1_000, 200, 50)
    assert meter.input_usd(usage) == pytest.approx(800e-6, rel=1e-12)
    assert meter.output_usd(70, 1_250) == pytest.approx(700e-6, rel=1e-12)
    assert meter.prefill_seconds(usage) == pytest.approx(250 / 1_000 + 1_000 / 10_000 + 0.5)
    assert meter.decode_seconds(70) == pytest.approx(1.4)


def test_over_a_cliff_the_whole_request_is_dearer() -> None:
    price = replace(MARKED, cliff_tokens=1_000, cliff_input=2.0, cliff_output=1.5)
    meter = Meter(Window(), price, ())
    assert meter.input_usd(Usage(1_000, 0, 0, 1_000)) == pytest.approx(2_000e-6)
    assert meter.input_usd(Usage(1_001, 1_001, 0, 0)) == pytest.approx(2 * 200.2e-6)
    assert meter.output_usd(10, 1_001) == pytest.approx(150e-6)
    assert SPEED.prefill_seconds(0, 0) == 0.5
