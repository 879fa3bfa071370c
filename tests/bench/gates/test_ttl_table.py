"""The gate ttl-table against a reckoning from the sizes of the requests alone."""

import pytest

from bench.gates import ttl_table
from bench.gates.gate import INFERRED, Inputs
from bench.gates.ttl_table import GATE
from scenarios.pinned import load_pinned
from sim.script import Arrival
from sim.segments import Kind

READ, SHORT_LIFE, LONG_LIFE, OUTPUT = 0.25, 12.5, 20.0, 50.0
"""Fable 5.1, dollars a million tokens: read, written for 5 minutes or an hour, output."""


@pytest.fixture(scope="module")
def sizes():
    made = load_pinned("triage-short", {"tokens.scale": 1.3}).script(0)
    found = [0] * 40
    for arrival in made.stimuli:
        assert isinstance(arrival, Arrival)
        found[arrival.turn - 1] += 2_080 if arrival.kind is Kind.IMAGE else arrival.tokens
    assert found[0] == 5_200
    totals = [sum(found[: n + 1]) for n in range(40)]
    output = [made.output_tokens.get(turn, 180) for turn in range(1, 41)]
    return totals, output


def reckoned(sizes, write, paused=(), pings=0, outlived=False):
    """Dollars of a session: each request reads the one before it unless its entry has died."""
    totals, output = sizes
    usd, before = 0.0, 0
    for turn, total in enumerate(totals, 1):
        if turn in paused:
            usd += pings * (before * READ + OUTPUT)
            before = 0 if outlived else before
        usd += before * READ + (total - before) * write + output[turn - 1] * OUTPUT
        before = total
    return usd / 1e6


@pytest.fixture(scope="module")
def verdict():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ttl_table, "_SEEDS", 5)
        return GATE.run(Inputs())


def test_it_agrees(verdict):
    assert verdict.agrees is True
    assert len(verdict.criteria) == 5
    assert set(verdict.simulated) == set(GATE.published)


@pytest.mark.parametrize(
    ("name", "write", "pings", "outlived"),
    [
        ("5-min", SHORT_LIFE, 0, True),
        ("1-h", LONG_LIFE, 0, False),
        ("keep-alive", SHORT_LIFE, 1, False),
    ],
)
def test_none_and_all_paused_cost_what_the_sizes_say(verdict, sizes, name, write, pings, outlived):
    every = range(2, 41)
    none = reckoned(sizes, write)
    whole = reckoned(sizes, write, every, pings, outlived)
    assert verdict.simulated[f"{name}, 0 %"] == pytest.approx(none, rel=1e-9)
    assert verdict.simulated[f"{name}, 100 %"] == pytest.approx(whole, rel=1e-9)
    tenth = verdict.simulated[f"{name}, 10 %"]
    assert none * (1 - 1e-9) <= tenth <= none * (1 + 1e-9) + 0.3 * (whole - none)


def test_pauses_of_45_minutes_take_eleven_pings(verdict, sizes):
    every = range(2, 41)
    whole = reckoned(sizes, SHORT_LIFE, every, 11)
    assert verdict.context["keep-alive, 100 % of 45 min"] == pytest.approx(whole, rel=1e-9)
    assert verdict.context["1-h, 100 % of 45 min"] == verdict.simulated["1-h, 0 %"]
    assert verdict.context["5-min, 100 % of 45 min"] == verdict.simulated["5-min, 100 %"]


def test_the_crossover_is_where_the_two_lines_meet(verdict, sizes):
    none, whole = (
        reckoned(sizes, SHORT_LIFE, paused, outlived=True) for paused in ((), range(2, 41))
    )
    hour = reckoned(sizes, LONG_LIFE)
    crossover = 100 * (hour - none) / (whole - none)
    assert verdict.simulated["crossover, %"] == pytest.approx(crossover, rel=1e-6)


def test_the_bounds_are_those_of_the_page():
    assert (GATE.grade, GATE.setting, GATE.needs) == ("P", INFERRED, ())
    assert GATE.published["5-min, 100 %"] == 22.89


def test_a_crossover_out_of_bounds_does_not_agree(monkeypatch):
    """Half of the calls: the fewer there are, the larger the share."""
    monkeypatch.setattr(ttl_table, "_SEEDS", 2)
    monkeypatch.setattr(ttl_table, "_TOKENS", {"tokens.scale": 1.3, "turns": 20})
    verdict = GATE.run(Inputs())
    assert verdict.simulated["crossover, %"] > 4.0
    assert verdict.agrees is False


def test_it_reports_its_progress(monkeypatch):
    prices = {"5-min": 1.0, "1-h": 2.0, "keep-alive": 3.0}
    monkeypatch.setattr(ttl_table, "_costs", lambda *_: prices)
    monkeypatch.setattr(ttl_table, "_paused_once", lambda arm: iter([prices[arm] * 2]))
    seen = []
    GATE.run(Inputs(report=lambda *progress: seen.append(progress)))
    assert seen == [(n, 5) for n in range(6)]
