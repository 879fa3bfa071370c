"""Reversals over the runs of a comparison, and the command that shows them."""

import json

import pytest

from bench import api
from bench.beside.bound import BOUND
from bench.beside.reversals import MEASURE, REVERSALS
from bench.cli import main


def row(policy, missed, *counts):
    found = dict(zip(REVERSALS, counts, strict=True)) if counts else dict.fromkeys(REVERSALS)
    return {"scenario": "s", "price": "p", "policy": policy, "missed_tokens": missed, **found}


def test_shares_are_of_all_runs_together():
    """3 of 4 needs, 6 of 16 pairs; the runs' own shares of pairs are 0.25 and 0.5."""
    (line,) = MEASURE.lines([row("a", 30, 1, 1, 8, 2), row("a", 50, 3, 2, 8, 4), row("a", None)])
    assert (line["n"], line["missed"], line["needs"]) == (2, 40, 2)
    assert (line["overtaken"], line["reversed"]) == (0.75, 0.375)
    assert 0.25 <= line["ci_low"] <= 0.375 <= line["ci_high"] <= 0.5


def test_no_need_is_no_share():
    (line,) = MEASURE.lines([row("a", 0, 0, 0, 0, 0)])
    assert line["needs"] == 0
    assert [line[name] for name in ("overtaken", "reversed", "ci_low", "ci_high")] == [None] * 4


def test_the_rows_have_them_where_asked_for_and_nothing_else_changes():
    policies, settings = ["tag-or-drop", "no-op"], {"budget": 20_000, "turns": 40}
    both = api.compare(
        ["doc-analysis"], policies, seeds=2, settings=settings, beside=["reversals", "bound"]
    )
    assert both.columns[-5:] == [BOUND, *REVERSALS]
    assert {line["policy"] for line in both.beside["reversals"]} == set(policies)
    assert all(r["gone_needs"] >= r["overtaken_needs"] >= 0 for r in both.rows)
    assert all(r["ranked_pairs"] >= r["reversed_pairs"] >= r["overtaken_needs"] for r in both.rows)
    plain = api.compare(["doc-analysis"], policies, seeds=2, settings=settings)
    assert plain.beside == {}
    names = {BOUND, *REVERSALS}
    assert [{k: v for k, v in r.items() if k not in names} for r in both.rows] == plain.rows


@pytest.mark.parametrize("form", ["json", "table"])
def test_the_command_shows_it(form, capsys):
    words = ["doc-analysis", "-p", "tag-or-drop", "--seeds", "2", "--jobs", "1", "--reversals"]
    with pytest.raises(SystemExit) as left:
        main(["compare", *words, "--set", "turns=40", "--set", "budget=9000", "--format", form])
    assert left.value.code == 0
    out = capsys.readouterr().out
    if form == "json":
        (line,) = json.loads(out)["reversals"]
        assert line["n"] == 2 and line["needs"] > 0 and 0 <= line["reversed"] <= 1
    else:
        assert "salience reversed between leaving and need" in out
