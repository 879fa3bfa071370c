"""Where which policy wins, what leads, and what moves a figure: all by hand."""

from __future__ import annotations

import pytest

from bench.sweep.effects import effects
from bench.sweep.leads import leads, led
from bench.sweep.winners import changes, winning
from bench.tables.map import map_notes

POINTS = [{"x": x, "y": y} for x in (1, 2, 3) for y in ("a", "b")]
BEST = {0: ["p"], 1: ["p"], 2: ["p"], 3: ["q"], 4: ["q"], 5: ["p", "q"]}


def test_a_winner_has_its_settings_and_their_span():
    found = winning(BEST, POINTS)
    assert found == [
        {"winner": "p", "settings": 3, "share": 0.5, "x": [1, 2], "y": ["a", "b"]},
        {"winner": "q", "settings": 2, "share": 2 / 6, "x": [2, 3], "y": ["b", "a"]},
        {"winner": "p = q", "settings": 1, "share": 1 / 6, "x": [3, 3], "y": ["b"]},
    ]


def test_changes_are_between_neighbours_alone():
    """Along x: a p p q, b p q p=q; along y: 1 p p, 2 p q, 3 q p=q."""
    found = {tuple(line.values()) for line in changes(BEST, POINTS)}
    assert found == {
        ("x", 2, 3, "p", "q", 1, 2),
        ("x", 1, 2, "p", "q", 1, 2),
        ("x", 2, 3, "q", "p = q", 1, 2),
        ("y", "a", "b", "p", "q", 1, 3),
        ("y", "a", "b", "q", "p = q", 1, 3),
    }


def test_no_winner_is_a_change_too():
    (line,) = changes({0: ["p"], 1: []}, POINTS[:2])
    assert (line["before"], line["after"]) == ("p", None)
    assert [each["settings"] for each in winning({0: ["p"], 1: []}, POINTS)] == [1]


def run(setting, policy, slack, swap, refused):
    ways = {"rehydrated_slack": slack, "rehydrated_swap": swap, "rehydrated_refused": refused}
    return {"setting": setting, "policy": policy, **ways}


def test_what_leads_is_most_over_all_runs_and_alone():
    rows = [
        *(run(0, "gate", 3, 0, 1), run(0, "gate", 0, 1, 1)),
        *(run(1, "gate", 1, 5, 0), run(2, "gate", 2, 0, 2), run(3, "gate", 0, 0, 0)),
        *(run(0, "none", None, None, None), run(0, "never", 0, 0, 0)),
    ]
    ways = {0: "slack", 1: "swap", 2: "none", 3: "none"}
    assert led(rows) == {(number, "gate"): way for number, way in ways.items()}
    assert leads(rows) == [
        {"policy": "gate", "settings": 4, "slack": 1, "swap": 1, "refuse": 0, "none": 2}
    ]


def figures(values, keys):
    """Rows of one policy at settings numbered as they come, with the cost of each seed."""
    return [
        {"policy": "p", "status": "completed", "setting": n, "seed": s, **dict(point), "cost": cost}
        for n, (point, costs) in enumerate(zip(keys, values, strict=True))
        for s, cost in enumerate(costs)
    ]


def test_an_effect_is_its_share_of_the_variance_of_the_means():
    """Means 1, 3, 5, 7 of x = 0, 0, 1, 1: 16 of 20 goes with x; less chance, 1 − 4/20·3/2."""
    keys = [{"x": 0, "y": 0}, {"x": 0, "y": 1}, {"x": 1, "y": 0}, {"x": 1, "y": 1}]
    rows = figures([(0, 2), (2, 4), (4, 6), (6, 8)], keys)
    x, y = effects(rows, ["x", "y"], ["cost"])
    assert x["share"] == pytest.approx(0.7)
    assert (x["first"], x["last"], x["change"], x["ci_low"], x["ci_high"], x["n"]) == (
        *(2, 6, 4),
        *(4, 4, 2),
    )
    assert y["share"] == 0.0, "4 of 20, which two groups of four explain by chance"
    assert (y["from"], y["to"], y["change"]) == (0, 1, 2)


def test_one_mean_everywhere_has_no_share_and_failed_runs_count_nowhere():
    rows = figures([(1, 3), (2, 2)], [{"x": 0}, {"x": 1}])
    assert effects(rows, ["x"], ["cost"])[0]["share"] is None
    rows.append({**rows[0], "status": "failed", "cost": 99, "seed": 2})
    assert effects(rows, ["x"], ["cost"])[0]["first"] == 2


def test_many_values_are_told_in_eighths():
    """Sixteen values of one setting each: the first eighth is 0 and 1, the last 14 and 15."""
    rows = figures([(n,) for n in range(16)], [{"x": n} for n in range(16)])
    (line,) = effects(rows, ["x"], ["cost"])
    assert (line["from"], line["to"], line["first"], line["last"]) == ([0, 1], [14, 15], 0.5, 14.5)


def test_a_map_has_a_letter_for_each_setting():
    says = {0: "slack", 1: "swap", 2: "slack", 3: "none", 4: "swap", 5: "swap"}
    assert map_notes(says, POINTS, {"none": "·"}) == (
        "x ↓   y → a … b",
        *("1  SW", "2  S·", "3  WW"),
        "S slack, W swap, · none",
    )
    assert map_notes(says, [{"x": 1}, {"x": 2}], {}) == ()
    assert map_notes({0: "a"}, POINTS[:3], {}) == ()
