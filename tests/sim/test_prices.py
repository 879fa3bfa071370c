"""Prices, speeds and cache rules as values."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace
from math import inf, nan

import pytest

from sim.prefix_cache import Usage
from sim.prices import CacheRules, Price, Speed

SPEED = Speed(prefill_rate=10_000, cached_rate=50_000, overhead=0.5, decode_rate=80)
PRICE = Price("model", 2.0, 2.5, 0.2, 10.0, CacheRules("none"), SPEED)
USAGE = Usage(tokens=1_000_000, read=600_000, written=300_000, plain=100_000)


def test_input_is_billed_by_what_became_of_it() -> None:
    # 0.6 × 0.20 + 0.3 × 2.50 + 0.1 × 2.00
    assert PRICE.input_cost(USAGE) == pytest.approx(1.07, abs=1e-12)


def test_output_is_billed_per_million() -> None:
    assert PRICE.output_cost(3_000, 1) == pytest.approx(0.03, abs=1e-12)


@pytest.mark.parametrize(
    ("inclusive", "limit", "over"),
    [
        (False, 1_000_001, False),
        (False, 1_000_000, False),
        (False, 999_999, True),
        (True, 1_000_001, False),
        (True, 1_000_000, True),
        (True, 999_999, True),
    ],
)
def test_above_a_cliff_the_whole_request_costs_more(
    inclusive: bool, limit: int, over: bool
) -> None:
    price = replace(
        PRICE, cliff_tokens=limit, cliff_input=2.0, cliff_output=1.5, cliff_inclusive=inclusive
    )
    assert price.over_cliff(USAGE.tokens) is over
    assert price.input_cost(USAGE) == pytest.approx(2.14 if over else 1.07, abs=1e-12)
    assert price.output_cost(3_000, USAGE.tokens) == pytest.approx(
        0.045 if over else 0.03, abs=1e-12
    )


def test_the_longer_life_is_billed_at_its_own_price() -> None:
    rules = CacheRules("breakpoints", ttl=300.0, long_ttl=3600.0)
    price = replace(PRICE, rules=rules, long_write=4.0)
    # as above, and 0.1 of what was written at 4.00 in place of 2.50
    assert price.input_cost(USAGE._replace(written_long=100_000)) == pytest.approx(1.22, abs=1e-12)
    assert price.input_cost(USAGE) == pytest.approx(1.07, abs=1e-12)


def test_storage_is_billed_for_the_whole_life_and_knows_no_cliff() -> None:
    stored = USAGE._replace(stored=500_000)
    hour = replace(PRICE, rules=CacheRules("breakpoints", ttl=3600.0), storage=4.5)
    assert hour.input_cost(stored) == pytest.approx(1.07 + 2.25, abs=1e-12)
    half = replace(hour, rules=CacheRules("breakpoints", ttl=1800.0))
    assert half.storage_cost(stored) == pytest.approx(1.125, abs=1e-12)
    above = replace(hour, cliff_tokens=1, cliff_input=2.0)
    assert above.input_cost(stored) == pytest.approx(2 * 1.07 + 2.25, abs=1e-12)
    assert hour.storage_cost(USAGE) == 0.0


def test_what_a_token_read_again_costs_more() -> None:
    assert PRICE.ratio == pytest.approx((2.5 - 0.2) / 0.2, abs=1e-12)
    assert replace(PRICE, read=0.0).ratio is None
    assert replace(PRICE, write=0.2).ratio == 0.0


# 4,000 ÷ 10,000 + 96,000 ÷ 50,000 + 0.5 = 2.82; a prompt below 4,000 tokens gains nothing
@pytest.mark.parametrize(
    ("tokens", "hit", "seconds"),
    [
        (100_000, False, 10.5),
        (100_000, True, 2.82),
        (3_000, False, 0.8),
        (3_000, True, 0.8),
        (0, True, 0.5),
    ],
)
def test_time_to_first_token(tokens: int, hit: bool, seconds: float) -> None:
    speed = replace(SPEED, hit_uncached=4_000)
    assert speed.first_token_seconds(tokens, hit) == pytest.approx(seconds, abs=1e-12)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"long_write": 4.0}, "long_write and long_ttl go together"),
        ({"rules": CacheRules("auto", ttl=1.0, long_ttl=2.0)}, "long_write and long_ttl"),
        ({"storage": 1.0}, "storage is billed for a life that ends"),
        (
            {
                "storage": 1.0,
                "long_write": 4.0,
                "rules": CacheRules("breakpoints", ttl=300.0, long_ttl=600.0),
            },
            "storage is billed for one life",
        ),
        ({"storage": -1.0}, "storage must be"),
        ({"slots": 0}, "slots must be at least 1"),
    ],
)
def test_prices_that_do_not_go_together(values: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(PRICE, **values)


def test_no_cliff_at_any_size() -> None:
    assert not PRICE.over_cliff(10**12)


def test_prefill_and_decode_seconds() -> None:
    # 20,000 ÷ 10,000 + 100,000 ÷ 50,000 + 0.5
    assert SPEED.prefill_seconds(20_000, 100_000) == pytest.approx(4.5, abs=1e-12)
    assert SPEED.prefill_seconds(0, 0) == 0.5
    assert SPEED.decode_seconds(200) == pytest.approx(2.5, abs=1e-12)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"rule": "automatic"}, "automatic"),
        ({"minimum": -1}, "minimum must be at least 0, not -1"),
        ({"step": 0}, "step must be at least 1, not 0"),
        ({"ttl": 0.0}, "ttl must be above 0"),
        ({"ttl": nan}, "ttl must be above 0"),
        ({"lookback": -1}, "lookback must be at least 0"),
        ({"capacity": 0}, "capacity must be at least 1"),
        ({"matched": 0}, "matched must be at least 1"),
        ({"marks": "tail"}, "marks must be one of head-end, head, not 'tail'"),
        ({"ttl": 300.0, "long_ttl": 299.0}, "long_ttl must be at least ttl"),
        ({"ttl": 300.0, "long_ttl": nan}, "long_ttl must be at least ttl"),
    ],
)
def test_rules_out_of_range(values: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        CacheRules(**{"rule": "auto", **values})


@pytest.mark.parametrize("field", ["prefill_rate", "cached_rate", "decode_rate"])
@pytest.mark.parametrize("value", [0.0, -1.0, nan])
def test_rates_are_above_zero(field: str, value: float) -> None:
    with pytest.raises(ValueError, match=field):
        replace(SPEED, **{field: value})


@pytest.mark.parametrize(
    "field", ["input", "write", "read", "output", "cliff_input", "cliff_output"]
)
@pytest.mark.parametrize("value", [-0.1, nan, inf])
def test_prices_are_finite_and_not_negative(field: str, value: float) -> None:
    with pytest.raises(ValueError, match=field):
        replace(PRICE, **{field: value})


def test_other_numbers_out_of_range() -> None:
    with pytest.raises(ValueError, match="overhead"):
        replace(SPEED, overhead=-0.5)
    with pytest.raises(ValueError, match="cliff_tokens"):
        replace(PRICE, cliff_tokens=-1)
    with pytest.raises(ValueError, match="hit_uncached"):
        replace(SPEED, hit_uncached=-1)


def test_rows_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        PRICE.input = 1.0  # type: ignore[misc]
