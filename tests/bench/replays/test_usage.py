"""Recorded usage against simulated requests, by hand."""

from types import SimpleNamespace

import pytest

from bench.replays.usage import cost, fit, totals
from sim.prices import CacheRules, Price, Speed

PRICE = Price("test", 2.0, 2.5, 0.2, 10.0, CacheRules("auto"), Speed(5e3, 5e4, 0.5, 80.0))


def recorded(*rows):
    return SimpleNamespace(recorded={turn: row for turn, row in enumerate(rows, 1) if row})


def test_the_sums_are_of_the_calls_that_have_usage():
    script = recorded(
        {"input_tokens": 100, "cached_tokens": 60}, {"output_tokens": 5}, {"input_tokens": 50}
    )
    assert totals(script) == {"calls": 2, "input_tokens": 150, "cached_tokens": 60}
    assert totals(recorded()) == {"calls": 0}


def test_a_recorded_prompt_is_priced_by_its_parts():
    script = recorded({"input_tokens": 1000, "cached_tokens": 600, "written_tokens": 300})
    assert cost(script, PRICE) == pytest.approx((600 * 0.2 + 300 * 2.5 + 100 * 2.0) / 1e6)
    assert cost(recorded({"output_tokens": 7}), PRICE) is None


def test_counts_that_exceed_the_prompt_are_no_more_than_it():
    script = recorded({"input_tokens": 100, "cached_tokens": 600, "written_tokens": 300})
    assert cost(script, PRICE) == pytest.approx(100 * 0.2 / 1e6)


def line(sizes, offset=5000.0, factor=1.25):
    return recorded(*({"input_tokens": round(offset + factor * size)} for size in sizes))


def test_an_exact_line_is_found():
    sizes = [400, 800, 2000, 4000, 8000, 12000, 20000, 40000]
    sent = {turn: 1000 + size for turn, size in enumerate(sizes, 1)}
    found = fit(line(sizes), sent, 1000, [])
    assert found["offset"] == pytest.approx(5000.0)
    assert found["factor"] == pytest.approx(1.25)
    assert (found["fitted"], found["held_out"], found["later"]) == (4, 4, 0)
    assert found["median_error"] == pytest.approx(0.0)
    assert found["max_error"] == pytest.approx(0.0)


def test_the_second_half_is_held_out():
    sizes = [400, 800, 1200, 1600, 2000, 2400]
    script = line(sizes)
    script.recorded[6]["input_tokens"] = 16000
    sent = dict(enumerate(sizes, 1))
    found = fit(script, sent, 0, [])
    assert found["offset"] == pytest.approx(5000.0)
    assert found["max_error"] == pytest.approx((16000 - 8000) / 16000)
    assert found["median_error"] == pytest.approx(0.0)


def test_calls_behind_a_compaction_are_counted_apart():
    sizes = [400, 800, 1200, 1600, 2000, 2400, 300, 600]
    script = line(sizes)
    script.recorded[8]["input_tokens"] = 10000
    found = fit(script, dict(enumerate(sizes, 1)), 0, [7])
    assert (found["fitted"], found["held_out"], found["later"]) == (3, 3, 2)
    assert found["later_error"] == pytest.approx((0 + (10000 - 5750) / 10000) / 2)


def test_too_few_calls_are_not_fitted():
    assert fit(line([400, 800, 1200, 1600, 2000]), dict(enumerate(range(5), 1)), 0, []) is None


def test_prompts_of_one_size_give_the_offset():
    sizes = [400] * 6
    found = fit(line(sizes), dict(enumerate(sizes, 1)), 0, [])
    assert (found["factor"], found["offset"]) == (1.0, 5100.0)
