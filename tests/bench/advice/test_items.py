"""Sentences and figures from rows made by hand; constant differences have exact intervals."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from bench.advice import KINDS, advise
from tests.bench.rows import row

Rows = list[dict[str, Any]]
BASE = (0.0, 1.0, 2.0, 3.0)
"""What every run costs more by seed: differences of two policies are the same on every seed."""


def runs(
    policy: str, costs: Mapping[str, float], seeds: Sequence[float] = BASE, **values: Any
) -> Rows:
    more = {"confabulation_rate": 0.0, **values}
    return [
        row(policy, seed, price=price, total_cost_usd=cost + base, **more)
        for price, cost in costs.items()
        for seed, base in enumerate(seeds)
    ]


def said(rows: Rows, **books: Any) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for item in advise(rows, **books):
        found.setdefault(item["kind"], []).append(item["sentence"])
    return found


def test_one_policy_is_the_best_everywhere() -> None:
    made = [*runs("a", {"x": 1.0, "y": 5.0}), *runs("b", {"x": 2.0, "y": 9.0})]
    assert said(made) == {
        "ship": ["Ship a at every price; no policy that completes as many runs costs less."]
    }


def test_a_flip_with_both_sides_and_the_seeds() -> None:
    made = [*runs("a", {"x": 1.0, "y": 5.0}), *runs("b", {"x": 1.5, "y": 3.0})]
    assert said(made) == {
        "ship": ["Ship a at x; b at y; no policy that completes as many runs costs less."],
        "flip": ["a is cheaper than b at x by $0.500, dearer at y by $2.00 (4 seeds)."],
    }
    flip = advise(made)[1]
    assert flip["scenario"] == "made-up"
    assert (flip["policies"], flip["prices"]) == (["a", "b"], ["x", "y"])
    assert flip["figures"] == {
        "differences": [
            {"price": "x", "mean": -0.5, "ci_low": -0.5, "ci_high": -0.5, "n": 4, "parts": None},
            {"price": "y", "mean": 2.0, "ci_low": 2.0, "ci_high": 2.0, "n": 4, "parts": None},
        ],
        "turns": None,
    }


def test_three_prices_one_of_them_even() -> None:
    made = [*runs("a", {"x": 1.0, "y": 5.0, "z": 4.0}), *runs("b", {"x": 1.5, "y": 3.0})]
    even = [4.0 + more + base for more, base in zip((1, -1, 1, -1), BASE, strict=True)]
    made += runs("b", {"z": 0.0}, even)
    found = said(made)
    assert found["flip"] == [
        "a is cheaper than b at x by $0.500, dearer at y by $2.00, not told apart at z (4 seeds)."
    ]
    assert found["ship"] == [
        "Ship a at x; b at y; a or b at z; no policy that completes as many runs costs less."
    ]


def test_no_longer_told_apart_is_weaker_than_a_flip() -> None:
    noise = [5.0, 8.0, 7.0, 10.0]
    made = [*runs("a", {"x": 1.0, "y": 6.0}), *runs("b", {"x": 1.5}), *runs("b", {"y": 0.0}, noise)]
    found = said(made)
    assert "flip" not in found
    assert found["fade"] == [
        "a is cheaper than b at x by $0.500; at y they are no longer told apart (4 seeds)."
    ]


def test_an_interval_stands_with_its_difference() -> None:
    made = [*runs("a", {"x": 1.0}), *runs("b", {"x": 0.0}, [2.0, 4.0, 4.0, 6.0])]
    made += [*runs("a", {"y": 9.0}), *runs("b", {"y": 1.0})]
    (sentence,) = said(made)["flip"]
    assert sentence == (
        "a is cheaper than b at x by $1.50 [1.00, 2.00], dearer at y by $8.00 (4 seeds)."
    )


def test_a_cheaper_policy_that_makes_things_up_is_no_advice() -> None:
    made = [
        *runs("honest", {"x": 4.0, "y": 5.0}),
        *runs("inventive", {"x": 3.0, "y": 6.0}, confabulation_rate=0.065),
    ]
    found = said(made)
    assert found["ship"] == [
        "Ship honest at every price. inventive costs less than honest at x by $1.00 (4 seeds), "
        "but makes up 6.5 % of its answers."
    ]
    assert found["cheapest"] == [
        "By cost alone (4 seeds): inventive at x ($4.50); honest at y ($6.50)."
    ]
    ship = advise(made)[0]["figures"]
    assert ship["choice"] == [
        {"price": "x", "policies": ["honest"]},
        {"price": "y", "policies": ["honest"]},
    ]
    (cheaper,) = ship["cheaper"]
    assert cheaper == {
        "price": "x",
        "policy": "inventive",
        "than": "honest",
        "mean": -1.0,
        "ci_low": -1.0,
        "ci_high": -1.0,
        "n": 4,
        "criterion": "confabulation_rate",
        "value": 0.065,
        "attempted": 4,
    }


def test_a_worse_one_that_is_not_told_apart_in_cost_does_not_cost_less() -> None:
    made = [*runs("good", {"x": 4.0}), *runs("bad", {"x": 0.0}, [4.5, 3.5, 6.5, 5.5], violations=1)]
    assert said(made) == {
        "ship": ["Ship good at x."],
        "cheapest": ["By cost alone (4 seeds): bad and good, not told apart, at x (from $5.00)."],
    }


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"violations": 1}, "has 1 violation a run"),
        ({"violations": 2.5}, "has 2.5 violations a run"),
        ({"policy_bugs": 3}, "has 3 policy bugs a run"),
    ],
)
def test_what_is_wrong_with_a_cheaper_one(values: dict[str, Any], says: str) -> None:
    made = [*runs("good", {"x": 4.0}), *runs("bad", {"x": 3.0}, **values)]
    assert said(made)["ship"] == [
        f"Ship good at x. bad costs less than good at x by $1.00 (4 seeds), but {says}."
    ]


def test_one_that_dies_early_is_not_the_cheapest() -> None:
    quits = [
        row("quits", seed, price="x", total_cost_usd=0.1 + base, status=status)
        for (seed, base), status in zip(
            enumerate(BASE), ["completed", "completed", "failed", "failed"], strict=True
        )
    ]
    noisy = [dict(each, seed=seed + 4) for seed, each in enumerate(quits)]
    noisy = [dict(each, status="failed") for each in noisy]
    made = [*runs("stays", {"x": 4.0}, (*BASE, *BASE)), *quits, *noisy]
    assert said(made) == {
        "ship": [
            "Ship stays at x; no policy that completes as many runs costs less. quits costs less "
            "than stays at x by $3.90 (on the 2 seeds both completed), but completes 2 of 8 runs."
        ]
    }


def test_those_that_complete_fewer_runs_are_not_among_the_cheapest() -> None:
    dead = [
        row(
            "quits",
            seed,
            price="x",
            total_cost_usd=0.1,
            status="completed" if seed < 2 else "failed",
        )
        for seed in range(8)
    ]
    eight = (*BASE, *BASE)
    made = [
        *runs("honest", {"x": 4.0}, eight),
        *runs("inventive", {"x": 3.0}, eight, confabulation_rate=0.5),
        *dead,
    ]
    assert said(made)["cheapest"] == [
        "By cost alone (8 seeds, of those that complete as many runs): inventive at x ($4.50)."
    ]


def test_the_best_is_not_without_fault() -> None:
    made = [
        *runs("a", {"x": 1.0}, violations=2, confabulation_rate=0.1),
        *runs("b", {"x": 1.0}, violations=2, confabulation_rate=0.1),
    ]
    assert said(made)["ship"] == [
        "Ship a or b at x; no policy that completes as many runs costs less. Not without fault: "
        "a and b (makes up 10.0 % of its answers and has 2 violations a run)."
    ]


def test_of_tied_policies_the_faultless_one_stands_in_front() -> None:
    some = [0.0, 0.0, 1.0, 0.0]
    faulty = runs("a", {"x": 1.0})
    for each, violations in zip(faulty, some, strict=True):
        each["violations"] = violations
    found = advise([*faulty, *runs("b", {"x": 1.0})])
    assert found[0]["policies"] == ["b", "a"]


def test_none_completes() -> None:
    made = runs("a", {"x": 1.0, "y": 1.0}, status="failed")
    assert said(made) == {
        "ship": ["No policy completes a run here, so none is to be shipped for its cost."]
    }


def test_a_price_at_which_none_completes_is_not_every_price() -> None:
    made = [*runs("a", {"x": 1.0}), *runs("a", {"y": 1.0}, status="failed")]
    assert said(made)["ship"] == ["Ship a at x; no policy that completes as many runs costs less."]


def test_many_that_are_tied_are_counted() -> None:
    made = [each for name in "abcde" for each in runs(name, {"x": 1.0})]
    assert said(made)["ship"] == [
        "Ship a, b or 3 more at x; no policy that completes as many runs costs less."
    ]


def test_tied_cheapest_ones() -> None:
    made = [
        *runs("good", {"x": 4.0}),
        *runs("a", {"x": 1.0}, violations=1),
        *runs("b", {"x": 1.0}, violations=1),
    ]
    assert said(made)["cheapest"] == [
        "By cost alone (4 seeds): a and b, not told apart, at x (from $2.50)."
    ]


def test_single_runs_have_an_order_and_claim_no_more() -> None:
    made = [
        *runs("a", {"x": 1.0, "y": 5.0}, (0.0,)),
        *runs("b", {"x": 1.5, "y": 3.0}, (0.0,)),
        *runs("c", {"x": 1.0, "y": 8.0}, (0.0,)),
    ]
    found = said(made)
    assert set(found) == {"ship", "order"}
    assert found["ship"] == [
        "First on the one run of each: a or c at x; b at y; no policy that completes as many runs "
        "costs less."
    ]
    assert found["order"] == [
        "a is cheaper than b at x by $0.500, dearer at y by $2.00 (one run each).",
        "c is cheaper than b at x by $0.500, dearer at y by $5.00 (one run each).",
    ]
    gap = next(item for item in advise(made) if item["kind"] == "order")["figures"]["differences"]
    assert [(each["ci_low"], each["ci_high"], each["n"]) for each in gap] == [(None, None, 1)] * 2


@pytest.mark.parametrize("seeds", [(0.0,), BASE])
def test_one_price_has_no_pairs(seeds: tuple[float, ...]) -> None:
    made = [
        *runs("a", {"x": 4.0}, seeds),
        *runs("b", {"x": 1.0}, seeds, violations=1),
        *runs("c", {"x": 2.0}, seeds),
    ]
    assert set(said(made)) == {"ship", "cheapest"}


def test_what_is_not_applicable_is_not_mentioned() -> None:
    away = [
        row("away", seed, price=price, status="not-applicable")
        for price in ("x", "y")
        for seed in range(4)
    ]
    made = [*runs("a", {"x": 1.0, "y": 5.0}), *runs("b", {"x": 1.5, "y": 3.0})]
    assert advise([*away, *made]) == advise(made)
    assert advise(away) == []


def test_scenarios_do_not_mix() -> None:
    made = [*runs("a", {"x": 1.0, "y": 5.0}), *runs("b", {"x": 1.5, "y": 3.0})]
    other = [{**each, "scenario": "other"} for each in made]
    found = advise([*made, *other])
    assert [item["scenario"] for item in found] == ["made-up"] * 2 + ["other"] * 2
    assert found[2]["sentence"] == found[0]["sentence"]


def test_flips_of_the_best_come_first_then_the_clearest() -> None:
    made = [
        *runs("best", {"x": 1.0, "y": 1.0}),
        *runs("a", {"x": 4.0, "y": 4.3}),
        *runs("b", {"x": 4.1, "y": 4.2}),
        *runs("c", {"x": 6.0, "y": 9.0}),
        *runs("d", {"x": 8.0, "y": 7.0}),
    ]
    flips = [item["policies"] for item in advise(made) if item["kind"] == "flip"]
    assert flips == [["c", "d"], ["a", "b"]]
    made += runs("second", {"x": 0.99, "y": 1.01})
    flips = [item["policies"] for item in advise(made) if item["kind"] == "flip"]
    assert flips == [["second", "best"], ["c", "d"], ["a", "b"]]


BOOK = {
    "x": {"input": 1.0, "write": 1.0, "read": 0.1, "output": 4.0},
    "y": {"input": 1.0, "write": 1.0, "read": 0.5, "output": 4.0},
    "z": {"input": 1.0, "write": 1.0, "read": 0.1, "output": 40.0},
}


def priced(policy: str, prices: str, reads: float, plain: float, output: float = 0.0) -> Rows:
    made = []
    for price in prices:
        book = BOOK[price]
        prefill = reads * book["read"] + plain
        cost = {price: prefill + output * book["output"]}
        tokens = {"cached_tokens": reads * 1e6, "plain_tokens": plain * 1e6}
        tokens["output_tokens"] = output * 1e6
        made += runs(policy, cost, (0.0, 0.0), prefill_cost_usd=prefill, **tokens)
    return made


def test_the_ratio_at_which_the_order_turns() -> None:
    """8r + 2 against 2r + 3: the same at r = 1/6, R = 5."""
    made = [*priced("reads", "xy", 8.0, 2.0), *priced("computes", "xy", 2.0, 3.0)]
    found = advise(made, {"made-up": BOOK})
    (flip,) = [item for item in found if item["kind"] == "flip"]
    assert flip["sentence"] == (
        "reads is cheaper than computes at x by $0.400, dearer at y by $2.00 (2 seeds). With the "
        "tokens counted at x (R = 9) the order turns at R = 5: below, computes is the cheaper one "
        "(y: R = 1)."
    )
    turns = flip["figures"]["turns"]
    assert (turns["tokens_at"], turns["towards"]) == ("x", "y")
    assert [turns[name] for name in ("ratio", "ratio_low", "ratio_high")] == pytest.approx(
        [5.0] * 3
    )


def test_what_decides_where_the_ratio_does_not() -> None:
    made = [*priced("talks", "xz", 8.0, 2.0, 0.02), *priced("listens", "xz", 2.0, 3.0)]
    (flip,) = [item for item in advise(made, {"made-up": BOOK}) if item["kind"] == "flip"]
    assert flip["sentence"] == (
        "talks is cheaper than listens at x by $0.320, dearer at z by $0.400 (2 seeds). What "
        "decides for talks: input that is computed, $1.00 less at x; output, $0.800 more at z."
    )
    assert flip["figures"]["differences"][1]["parts"] == pytest.approx(
        {"reads": 0.6, "computed": -1.0, "output": 0.8, "maintenance": 0.0}
    )


def test_without_the_rows_of_the_book_the_flip_stands_alone() -> None:
    made = [*priced("reads", "xy", 8.0, 2.0), *priced("computes", "xy", 2.0, 3.0)]
    (sentence,) = said(made)["flip"]
    assert sentence.endswith("(2 seeds).")


def test_every_item_is_plain_data() -> None:
    made = [
        *runs("a", {"x": 1.0, "y": 5.0}),
        *runs("b", {"x": 1.5, "y": 3.0}, violations=1),
        *runs("c", {"x": 1.2, "y": 9.0}),
    ]
    for item in json.loads(json.dumps(advise(made), allow_nan=False)):
        assert list(item) == ["scenario", "kind", "policies", "prices", "sentence", "figures"]
        assert item["kind"] in KINDS
        assert item["sentence"].endswith(".")
