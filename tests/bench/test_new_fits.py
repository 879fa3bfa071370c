"""What is fitted is what it was made from: known distributions, and families as recordings."""

import math
from dataclasses import replace
from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios import reference
from scenarios.families import FAMILIES
from scenarios.families.sizes import Lognormal, pareto_lag
from scenarios.fitting.distributions import lags, quantile, seconds, sizes
from scenarios.fitting.fit import fit
from scenarios.fitting.measure import measure, pooled
from sim.script import Arrival, Query
from sim.segments import Kind
from sim.streams import generator, uniform


def values(part):
    return {setting.key.split(".")[1]: setting.value for setting in part.settings}


@pytest.mark.parametrize(
    ("share", "found"), [(0.0, 1), (0.5, 2.5), (0.9, 3.7), (1.0, 4), (1 / 3, 2)]
)
def test_a_quantile_by_hand(share, found):
    assert quantile([4, 1, 3, 2], share) == pytest.approx(found)


@given(st.lists(st.integers(1, 10**9), min_size=1, max_size=60))
def test_sizes_keep_their_order_and_range(tokens):
    found = values(sizes("x", tokens, "x"))
    assert 1 <= found["median"] <= found["p90"] <= found["cap"] == max(tokens)
    assert all(isinstance(value, int) for value in found.values())


@given(st.lists(st.floats(0.0, 1e6), min_size=1, max_size=60), st.sampled_from([None, 0.5, 300.0]))
def test_seconds_are_above_zero_and_finite(durations, bound):
    found = values(seconds("x", durations, "x", bound))
    assert all(0 < value < math.inf for value in found.values())
    assert found["median"] <= found["p90"]


def test_a_bound_gives_the_share_above_it():
    """Of ten, three are above 300, though the p90 alone would say otherwise."""
    durations = [10, 20, 30, 40, 50, 60, 70, 301, 302, 303]
    found = values(seconds("wait", durations, "waits", 300.0))
    law = NormalDist(
        math.log(found["median"]),
        math.log(found["p90"] / found["median"]) / NormalDist().inv_cdf(0.9),
    )
    assert 1 - law.cdf(math.log(300.0)) == pytest.approx(0.3, abs=0.001)


def test_a_bound_that_says_nothing_leaves_the_p90():
    none, half = [1.0, 2.0, 3.0], [1.0, 2.0, 400.0, 500.0]
    assert values(seconds("wait", none, "waits", 300.0))["p90"] == 2.8
    assert values(seconds("wait", half, "waits", 300.0))["p90"] == 470.0


@pytest.mark.parametrize(("nearest", "power"), [(2, 0.3), (2, 1.0), (3, 0.6)])
def test_lags_are_found_again(nearest, power):
    turns = 300
    draws = generator(1, "test", "lags").random(turns * 20).tolist()
    drawn = [
        (lag, at % turns + 1)
        for at, draw in enumerate(draws)
        if (lag := pareto_lag(nearest, power, draw)) < at % turns + 1
    ]
    kept = [lag for lag, _ in drawn]
    found = lags(kept, turns, len(kept) / 20, range(nearest, nearest + 1), 4.0)
    assert found.power == pytest.approx(power, rel=0.25)
    assert found.rate == pytest.approx(1.0, rel=0.2)
    assert found.distance < 0.05


def test_lags_that_do_not_differ_or_are_too_many_are_not_fitted():
    assert lags([5, 5, 5], 100, 3, range(2, 3)) is None
    assert lags([2, 3, 90], 100, 10_000, range(2, 3), 4.0) is None


# -- a family's own script as a recording ------------------------------------------------------

KNOWN = {
    "turns": 400,
    "user.share": 0.2,
    "message.share": 0.6,
    "message.sigma": 0.7,
    "message.cap": 100_000,
    "call.output_tokens": 120,
    "calls.mean": 1.6,
    "wait.median": 100.0,
    "wait.p90": 900.0,
    "wait.cap": 1e6,
    "latency.median": 2.0,
    "latency.p90": 20.0,
    "mix.read": 40,
    "mix.bash": 30,
    "mix.grep": 20,
    "mix.edit": 10,
    "read.median": 900,
    "read.p90": 3_000,
    "bash.median": 300,
    "bash.p90": 1_000,
    "grep.median": 100,
    "grep.p90": 400,
    "edit.median": 30,
    "edit.p90": 60,
    "change.median": 200,
    "change.p90": 500,
    "call.tokens": 35,
    "reads.again": 0.5,
    "reads.alpha": 0.6,
    "returns.rate": 0.8,
    "returns.alpha": 0.5,
    "files.count": 1,
    "files.median": 900,
    "files.p90": 3_000,
    "attempts.spacing": 1_000_000,
    "attempts.max": 0,
    "fresh.rate": 0.0,
    "returns.mates": 0,
    "system.tokens": 3_000,
    "task.tokens": 500,
    "budget": 90_000,
}
LOOSE = {"returns.alpha": 0.5, "reads.alpha": 0.5, "returns.rate": 0.35, "wait.p90": 0.35}
"""Latest copies are nearer than the lags that were drawn; the tail of waits is from few."""


def as_recorded(script):
    """Return a family's script as a reader would make it: writes leave diffs."""
    edits = [
        replace(s, kind=Kind.DIFF)
        if isinstance(s, Arrival) and s.tool == "edit" and s.kind is Kind.TOOL_RESULT
        else s
        for s in script.stimuli
    ]
    return replace(script, stimuli=tuple(edits), capabilities=script.capabilities | {"recording"})


def test_what_a_family_was_made_with_is_found_again():
    given_ = reference.settle(
        reference.defaults("coding-agent"), reference.check(KNOWN, layer="coding-agent")
    )
    family = FAMILIES["coding-agent"]
    recorded = pooled(measure(as_recorded(family.script(given_, seed))) for seed in range(12))
    found = fit(recorded)
    assert found.family == "coding-agent"
    weights = sum(v for k, v in found.settings.items() if k.startswith("mix."))
    for key, value in KNOWN.items():
        if key.endswith((".cap", ".max", ".mates")):
            continue
        fitted = found.settings[key]
        if key.startswith("mix."):
            fitted *= 100 / weights
        near = 0.05 if key == "fresh.rate" else 0.01  # a path may have been read again just now
        assert fitted == pytest.approx(value, rel=LOOSE.get(key, 0.15), abs=near), key


@pytest.mark.parametrize("name", ["doc-analysis", "support-agent"])
def test_the_other_families_find_their_sizes_again(name):
    more = {"summary.every": 0.0} if name == "support-agent" else {}
    given_ = reference.settle(
        reference.defaults(name), {"facts.count": 3, "message.share": 0.5, **more}
    )
    family = FAMILIES[name]
    recorded = pooled(measure(as_recorded(family.script(given_, seed))) for seed in range(12))
    found = fit(recorded, name).settings
    page = "read" if name == "doc-analysis" else "page"
    keys = ("user.share", "message.share", f"{page}.median", f"{page}.p90", "user.median")
    for key in (*keys, "calls.mean", "call.tokens", "system.tokens", "facts.count"):
        assert found[key] == pytest.approx(given_[key], rel=0.15), key


# -- the two keys that a fit needs --------------------------------------------------------------


@pytest.mark.parametrize("name", FAMILIES)
def test_a_larger_share_of_messages_only_adds_some(name):
    base = reference.defaults(name)

    def script(**more):
        return FAMILIES[name].script({**base, "turns": 120, **more}, 3)

    def said(made):
        return {s.id: s for s in made.stimuli if isinstance(s, Arrival) and s.id.endswith(".say")}

    def others(made):
        return [s for s in made.stimuli if getattr(s, "id", "").endswith(".say") is False]

    full, half, fewer, none = (script(**{"message.share": share}) for share in (1.0, 0.5, 0.2, 0.0))
    attempts = {s.turn for s in full.stimuli if getattr(s, "attempt", None) is not None}
    assert said(fewer).items() <= said(half).items() <= said(full).items()
    assert {s.turn for s in said(none).values()} <= attempts
    assert others(none) == others(half) == others(full)
    share = (len(said(half)) - len(said(none))) / (len(said(full)) - len(said(none)))
    assert share == pytest.approx(0.5, abs=0.15)


def test_reads_go_back_by_their_own_power():
    base = {**reference.defaults("coding-agent"), "turns": 150, "attempts.spacing": 1_000_000}
    family = FAMILIES["coding-agent"]
    same = family.script({**base, "reads.alpha": base["returns.alpha"]}, 1)
    assert same.digest() == family.script(base, 1).digest()
    near = measure(family.script({**base, "reads.alpha": 3.0}, 1)).reread_lags
    far = measure(family.script({**base, "reads.alpha": 0.1}, 1)).reread_lags
    assert quantile(near, 0.5) < quantile(far, 0.5)
    lags_of = {
        alpha: [
            s.relevance
            for s in family.script({**base, "reads.alpha": alpha}, 1).stimuli
            if isinstance(s, Query)
        ]
        for alpha in (0.1, 3.0)
    }
    assert lags_of[0.1] == lags_of[3.0]


def test_the_yardstick_knows_a_lognormal():
    law = Lognormal.of({"x.median": 200, "x.p90": 900, "x.cap": 10**6}, "x")
    drawn = [law.tokens(uniform(1, "test", number)) for number in range(4000)]
    found = values(sizes("x", drawn, "x"))
    assert found["median"] == pytest.approx(200, rel=0.1)
    assert found["p90"] == pytest.approx(900, rel=0.1)
