"""The distance to the best possible, over the runs of a comparison."""

from __future__ import annotations

import json

import pytest

from bench import api
from bench.beside.bound import BOUND, MEASURE
from bench.cli import main


def row(policy, missed, bound, scenario="s"):
    return {
        "scenario": scenario,
        "price": "p",
        "policy": policy,
        "missed_tokens": missed,
        BOUND: bound,
    }


def test_the_distance_is_what_is_missed_less_the_bound():
    rows = [row("a", 30, 10), row("a", 50, 10), row("b", 10, 10), row("b", None, None)]
    first, second = MEASURE.lines(rows)
    assert (first["n"], first["missed"], first["bound"], first["above"]) == (2, 40, 10, 30)
    assert (first["times"], first["reached"]) == (4.0, 0)
    assert 20 <= first["ci_low"] <= 30 <= first["ci_high"] <= 40
    assert (second["n"], second["above"], second["times"], second["reached"]) == (1, 0, 1.0, 1)


def test_a_bound_of_nothing_is_no_ratio():
    (line,) = MEASURE.lines([row("a", 30, 0)])
    assert (line["bound"], line["times"], line["above"]) == (0, None, 30)


def test_no_run_is_below_its_bound_and_nothing_else_changes():
    policies = ["clairvoyant", "tiered", "sliding-window"]
    settings = {"budget": 40_000, "turns": 60}
    found = api.compare(["doc-analysis"], policies, seeds=3, settings=settings, beside=["bound"])
    assert all(r["missed_tokens"] >= r[BOUND] for r in found.rows)
    assert {line["policy"] for line in found.beside["bound"]} == set(policies)
    assert found.columns[-1] == BOUND
    plain = api.compare(["doc-analysis"], policies, seeds=3, settings=settings)
    assert plain.beside == {} and BOUND not in plain.columns
    assert [{k: v for k, v in r.items() if k != BOUND} for r in found.rows] == plain.rows


@pytest.mark.parametrize("form", ["json", "table"])
def test_the_command_shows_it(form, capsys):
    words = ["doc-analysis", "-p", "tiered", "--seeds", "2", "--jobs", "1", "--bound"]
    with pytest.raises(SystemExit) as left:
        main(["compare", *words, "--set", "turns=30", "--set", "budget=20000", "--format", form])
    assert left.value.code == 0
    out = capsys.readouterr().out
    if form == "json":
        (line,) = json.loads(out)["bound"]
        assert line["n"] == 2 and line["missed"] >= line["bound"]
    else:
        assert "distance to the best possible" in out
