"""Where the order turns, on costs made of tokens and prices by hand.

``low`` reads 8 M tokens and computes 2 M a run; ``high`` reads 2 M and computes 3 M. With w = 1 and
a read at r they cost 8r + 2 and 2r + 3: the same at r = 1/6, that is R = (1 - 1/6) / (1/6) = 5.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bench.advice.pairs import Costs, Pair
from bench.advice.turning import explain, parts, ratio, turning
from tests.bench.rows import row

BOOK: dict[str, dict[str, float]] = {
    "cheap-reads": {"input": 1.0, "write": 1.0, "read": 0.1, "output": 4.0},
    "dear-reads": {"input": 1.0, "write": 1.0, "read": 0.5, "output": 4.0},
    "near": {"input": 1.0, "write": 1.0, "read": 0.16, "output": 4.0},
    "dear-output": {"input": 1.0, "write": 1.0, "read": 0.1, "output": 40.0},
    "free-reads": {"input": 1.0, "write": 1.0, "read": 0.0, "output": 4.0},
}
TOKENS = {"low": (8.0, 2.0), "high": (2.0, 3.0)}


def runs(
    policy: str,
    price: str,
    output: float = 0.0,
    maintenance: float = 0.0,
    noise: tuple[float, ...] = (0.0, 0.0, 0.0),
    extra: float = 0.0,
) -> list[dict[str, Any]]:
    """Runs that read and compute millions of tokens, with *noise* more computed by seed."""
    made = []
    for seed, more in enumerate(noise):
        reads, plain = TOKENS[policy][0], TOKENS[policy][1] + more
        book = BOOK[price]
        prefill = reads * book["read"] + plain * book["input"] + extra
        made.append(
            row(
                policy,
                seed,
                price=price,
                cached_tokens=reads * 1e6,
                plain_tokens=plain * 1e6,
                output_tokens=output * 1e6,
                prefill_cost_usd=prefill,
                maintenance_cost_usd=maintenance,
                total_cost_usd=prefill + maintenance + output * book["output"],
            )
        )
    return made


def both(*prices: str, low: dict[str, Any] | None = None) -> tuple[Costs, Pair]:
    made = [each for p in prices for each in [*runs("low", p, **(low or {})), *runs("high", p)]]
    costs = Costs(made)
    (pair,) = costs.pairs()
    return costs, pair if pair.first == "low" else pair.turned()


def test_ratio() -> None:
    assert ratio({"write": 2.5, "read": 0.25}) == 9.0
    assert ratio(BOOK["free-reads"]) is None


def test_the_order_turns_where_the_costs_are_the_same() -> None:
    costs, pair = both("cheap-reads", "dear-reads")
    assert pair.signs == {"cheap-reads": -1, "dear-reads": 1}
    found = turning(costs, pair, "cheap-reads", "dear-reads", BOOK)
    assert found is not None
    assert (found.price, found.below) == ("cheap-reads", True)
    assert (found.ratio, found.low, found.high) == pytest.approx((5.0, 5.0, 5.0), rel=1e-6)


def test_it_turns_at_the_same_place_seen_from_the_other_side() -> None:
    costs, pair = both("cheap-reads", "dear-reads")
    found = turning(costs, pair.turned(), "dear-reads", "cheap-reads", BOOK)
    assert found is not None
    assert found.ratio == pytest.approx(5.0, rel=1e-6)
    assert not found.below


def test_maintenance_of_unknown_make_up_gives_bounds_and_no_single_ratio() -> None:
    """0.1 of it without reads: 6r = 0.9, R = 17/3; all of it reads at r = 0.1: 7r = 1, R = 6."""
    costs, pair = both("cheap-reads", "dear-reads", low={"maintenance": 0.1})
    found = turning(costs, pair, "cheap-reads", "dear-reads", BOOK)
    assert found is not None
    assert found.ratio is None
    assert (found.low, found.high) == pytest.approx((17 / 3, 6.0), rel=1e-6)


def test_the_bounds_are_where_the_interval_touches_zero() -> None:
    noise = (-0.2, 0.1, 0.0, 0.1, -0.1, 0.15)
    made = [
        each
        for price in ("cheap-reads", "dear-reads")
        for each in [*runs("low", price, noise=noise), *runs("high", price, noise=(0.0,) * 6)]
    ]
    costs = Costs(made)
    (pair,) = costs.pairs()
    found = turning(costs, pair, "cheap-reads", "dear-reads", BOOK)
    assert found is not None and found.ratio is not None
    mean = sum(noise) / 6
    assert found.ratio == pytest.approx(1 / ((1 - mean) / 6) - 1, rel=1e-6)
    assert found.low < found.ratio < found.high
    gap = pair.apart["cheap-reads"]
    assert gap.low is not None and gap.high is not None
    for bound, at in ((gap.low, found.low), (gap.high, found.high)):
        away = bound - (8 * 0.1 + 2 - 2 * 0.1 - 3)
        assert 6 / (1 + at) - 1 + away == pytest.approx(0.0, abs=1e-6)


def test_nothing_is_claimed_if_the_other_ratio_is_within_the_bounds() -> None:
    costs, pair = both("cheap-reads", "near")
    assert pair.signs["near"] == -1
    assert turning(costs, pair, "cheap-reads", "near", BOOK) is None


def test_nothing_is_claimed_if_the_ratio_is_the_same() -> None:
    costs, pair = both("cheap-reads", "dear-output", low={"output": 0.02})
    assert pair.signs == {"cheap-reads": -1, "dear-output": 1}
    assert turning(costs, pair, "cheap-reads", "dear-output", BOOK) is None


@pytest.mark.parametrize("other", ["free-reads", "unknown"])
def test_nothing_is_claimed_without_a_ratio(other: str) -> None:
    costs, pair = both("cheap-reads", "dear-reads")
    assert turning(costs, pair, "cheap-reads", other, BOOK) is None


def test_a_bill_that_is_no_sum_of_tokens_times_prices_is_left_alone() -> None:
    costs, pair = both("cheap-reads", "dear-reads", low={"extra": 0.01})
    assert parts(costs, "cheap-reads", "low", BOOK["cheap-reads"]) is None
    assert turning(costs, pair, "cheap-reads", "dear-reads", BOOK) is None
    assert explain(costs, pair, "cheap-reads", BOOK) is None


def test_one_run_that_was_billed_otherwise_is_enough() -> None:
    made = runs("low", "cheap-reads")
    for name in ("prefill_cost_usd", "total_cost_usd"):
        made[1][name] += 0.01
    costs = Costs([*made, *runs("high", "cheap-reads")])
    assert parts(costs, "cheap-reads", "low", BOOK["cheap-reads"]) is None
    assert parts(costs, "cheap-reads", "high", BOOK["cheap-reads"]) is not None


def test_parts_add_up() -> None:
    costs, _ = both("cheap-reads", low={"output": 0.5, "maintenance": 0.25})
    found = parts(costs, "cheap-reads", "low", BOOK["cheap-reads"])
    assert found is not None
    assert {name: list(sample) for name, sample in found.items()} == {
        "reads": pytest.approx([0.8] * 3),
        "computed": pytest.approx([2.0] * 3),
        "output": pytest.approx([2.0] * 3),
        "maintenance": pytest.approx([0.25] * 3),
    }
    assert np.allclose(sum(found.values()), costs.samples["cheap-reads", "low"])


def test_a_difference_by_part() -> None:
    costs, pair = both("dear-output", low={"output": 0.5, "maintenance": 0.25})
    assert explain(costs, pair, "dear-output", BOOK) == pytest.approx(
        {"reads": 0.6, "computed": -1.0, "output": 20.0, "maintenance": 0.25}
    )


def test_without_the_book_nothing_is_known() -> None:
    costs, pair = both("cheap-reads", "dear-reads")
    assert turning(costs, pair, "cheap-reads", "dear-reads", {}) is None
    assert explain(costs, pair, "cheap-reads", {}) is None
