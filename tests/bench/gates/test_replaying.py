"""Recorded calls through the prefix cache: by hand, and against a second, naive reckoning."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.gates.calls import HOUR, MINUTES_5, Call, Thread
from bench.gates.replaying import MINIMUM, STATIC, Outcome, predict, replay, tally


def calls(*rows: tuple[int, float | None]) -> list[Call]:
    """Return calls of (tokens, gap); the answers begin when the gaps say."""
    made, time = [], 100.0
    for tokens, gap in rows:
        time += gap or 0.0
        made.append(Call(tokens, 0, gap, time))
    return made


@pytest.mark.parametrize(
    ("rows", "life", "read"),
    [
        pytest.param([(30_000, None), (31_000, 10.0)], 300.0, [0, 30_000], id="continues"),
        pytest.param([(30_000, None), (30_000, 10.0)], 300.0, [0, 30_000], id="the same again"),
        pytest.param([(30_000, None), (29_999, 10.0)], 300.0, [0, 18_000], id="shrinks"),
        pytest.param([(30_000, None), (31_000, 300.0)], 300.0, [0, 0], id="dead at its life"),
        pytest.param([(30_000, None), (31_000, 299.9)], 300.0, [0, 30_000], id="just alive"),
        pytest.param([(30_000, None), (31_000, 3_599.0)], HOUR, [0, 30_000], id="an hour"),
        pytest.param(
            [(30_000, None), (31_000, 200.0), (32_000, 200.0)],
            300.0,
            [0, 30_000, 31_000],
            id="renewed",
        ),
        pytest.param(
            [(30_000, None), (20_000, 10.0), (31_000, 10.0)],
            300.0,
            [0, 18_000, 20_000],
            id="what came before a shrink is gone",
        ),
        pytest.param(
            [(30_000, None), (9_000, 10.0), (9_500, 10.0)],
            300.0,
            [0, 0, 9_000],
            id="a shrink below the static prefix leaves nothing",
        ),
        pytest.param(
            [(10_000, None), (30_000, 10.0), (20_000, 10.0)],
            300.0,
            [0, 10_000, 10_000],
            id="the static prefix is no longer than the first prompt",
        ),
        pytest.param(
            [(1_000, None), (1_020, 1.0), (1_100, 1.0), (1_200, 1.0)],
            300.0,
            [0, 0, 0, 1_100],
            id="below the minimum nothing is cached",
        ),
    ],
)
def test_by_hand(rows: list[tuple[int, float | None]], life: float, read: list[int]) -> None:
    assert predict(calls(*rows), life) == read
    assert predict(calls(*rows), life, starts=True) == read


def test_without_a_static_prefix_a_shrink_leaves_nothing() -> None:
    assert predict(calls((30_000, None), (20_000, 1.0), (21_000, 1.0)), 300.0, static=0) == [
        0,
        0,
        20_000,
    ]


def naive(made: list[Call], life: float, static: int) -> list[int]:
    """Say what is read from a list of every stored prefix, piece by piece."""
    stored: dict[tuple[tuple[object, int], ...], float] = {}
    pieces: list[tuple[object, int]] = []
    found, now = [], 0.0
    for number, call in enumerate(made):
        now += call.gap or 0.0
        size = sum(tokens for _, tokens in pieces)
        if call.tokens < size:
            keeps = bool(static) and pieces[0][1] <= call.tokens
            pieces = pieces[:1] if keeps else []
        if not pieces and static:
            pieces = [("static", min(static, call.tokens))]
        rest = call.tokens - sum(tokens for _, tokens in pieces)
        if rest:
            pieces.append((number, rest))
        heads = [tuple(pieces[:length]) for length in range(1, len(pieces) + 1)]
        live = [head for head in heads if stored.get(head, now) > now]
        read = max(live, key=len, default=())
        found.append(sum(tokens for _, tokens in read))
        for head in {read, tuple(pieces), tuple(pieces[: 1 if static else 0])}:
            if head and sum(tokens for _, tokens in head) >= MINIMUM:
                stored[head] = now + life
    return found


@settings(max_examples=300, deadline=None)
@given(
    rows=st.lists(
        st.tuples(
            st.one_of(st.integers(1, 40_000), st.sampled_from([1_023, 1_024, 17_999, 18_000])),
            st.sampled_from([0.0, 1.0, 299.0, 300.0, 301.0, 3_600.0]),
        ),
        min_size=1,
        max_size=12,
    ),
    life=st.sampled_from([60.0, MINUTES_5, HOUR]),
    static=st.sampled_from([0, 2_000, STATIC]),
)
def test_a_naive_reckoning_agrees(rows: list[tuple[int, float]], life: float, static: int) -> None:
    made = calls(*rows)
    assert predict(made, life, static) == naive(made, life, static)


def test_threads_share_nothing_and_keep_their_lives() -> None:
    rows = calls((30_000, None), (31_000, 1_000.0))
    threads = [Thread("a", MINUTES_5, tuple(rows)), Thread("b", HOUR, tuple(rows))]
    assert [outcome.predicted for outcome in replay(threads)] == [0, 0, 0, 30_000]
    assert [outcome.predicted for outcome in replay(threads, HOUR)] == [0, 30_000, 0, 30_000]


def test_a_tally_by_hand() -> None:
    found = tally(
        [
            Outcome(Call(1_000, 900, None, 0.0), 800),
            Outcome(Call(1_000, 100, 1.0, 0.0), 200),
            Outcome(Call(2_000, 0, 1.0, 0.0), 0),
        ]
    )
    assert (found.calls, found.tokens, found.error, found.wrong) == (3, 4_000, 200, 1)
    assert found.recorded_hit == 25.0
    assert found.predicted_hit == 25.0
    assert found.difference == 0.0
    assert found.absolute_error == 5.0
    assert found.wrong_flags == pytest.approx(100 / 3)


def test_a_tally_of_nothing_has_no_rates() -> None:
    found = tally([])
    assert (found.recorded_hit, found.difference, found.wrong_flags) == (None, None, None)
