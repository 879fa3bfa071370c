"""What each rule of a policy is worth: the arms, the figures by hand, and the command."""

from __future__ import annotations

import json

import pytest

from bench import api
from bench.ablation import MEASURED, ablation, worth
from bench.cli import main
from sim.errors import InputError


def row(policy, seed, made_up, peak, status="completed"):
    return {
        "scenario": "s",
        "price": "p",
        "policy": policy,
        "seed": seed,
        "status": status,
        "confabulation_rate": made_up,
        "violations": 0,
        "peak_tokens": peak,
        "total_cost_usd": peak / 1000,
    }


def test_each_rule_is_off_once_and_alone_once():
    made = ablation("compaction")
    assert made.whole == "compaction"
    assert made.bare == "compaction:compact=off"
    # Of one rule, off is the bare policy and alone the whole one.
    assert [(arm.rule, arm.alone, arm.without, arm.with_it) for arm in made.arms] == [
        ("compact", False, "compaction:compact=off", "compaction"),
        ("compact", True, "compaction:compact=off", "compaction"),
    ]
    assert set(made.policies) == {"compaction", "compaction:compact=off"}


def test_options_given_stay_and_what_is_off_is_no_rule():
    made = ablation("tag-or-drop:tag=off,rewrite.below=0.3")
    assert {arm.rule for arm in made.arms} == {
        *("relevance", "rewrite", "shrink", "defer", "budget", "evict")
    }
    assert all("tag=off" in label and "rewrite.below=0.3" in label for label in made.policies)
    alone = next(arm for arm in made.arms if arm.alone and arm.rule == "evict")
    assert "evict=off" not in alone.with_it and "budget=off" in alone.with_it


def test_worth_is_what_is_spared():
    made = ablation("compaction")
    off, on = made.bare, made.whole
    rows = [
        *(row(off, 0, 0.5, 900), row(on, 0, 0.1, 500)),
        *(row(off, 1, 0.3, 700), row(on, 1, None, 600)),
        *(row(off, 2, 0.2, 800, "failed"), row(on, 2, 0.2, 100)),
    ]
    lines = {line["metric"]: line for line in worth(made, rows) if not line["alone"]}
    assert set(lines) == set(MEASURED)
    # Seed 1 has no rate on one side; seed 2 did not complete on one.
    assert (lines["confabulation_rate"]["n"], lines["peak_tokens"]["n"]) == (2, 2)
    assert lines["confabulation_rate"]["worth"] == pytest.approx((0.4 + 0.0) / 2)
    assert lines["peak_tokens"]["worth"] == pytest.approx((400 + 100) / 2)
    assert (lines["peak_tokens"]["without"], lines["peak_tokens"]["with"]) == (800, 550)
    told = lines["peak_tokens"]
    assert (told["runs"], told["completed_without"], told["completed_with"]) == (3, 2, 3)


def test_the_arms_agree_with_a_comparison():
    made = ablation("tag-or-drop")
    found = api.compare(
        ["doc-analysis"], list(made.policies.values()), seeds=2, settings={"turns": 40}
    )
    assert {r["policy"] for r in found.rows} == set(made.policies)
    lines = worth(made, found.rows)
    assert len(lines) == len(made.arms) * len(MEASURED)
    rows = {(r["policy"], r["seed"]): r for r in found.rows}
    for line in lines:
        arm = next(a for a in made.arms if (a.rule, a.alone) == (line["rule"], line["alone"]))
        if line["metric"] == "violations":
            each = [
                rows[arm.without, s]["violations"] - rows[arm.with_it, s]["violations"]
                for s in (0, 1)
            ]
            assert line["worth"] == pytest.approx(sum(each) / 2)


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("no-op", "no rule that can be switched off"),
        ("tierd", "tiered"),
        ("tiered:lins=off", "lines"),
        ("mine.py:Mine", "mine.py"),
    ],
)
def test_what_cannot_be_ablated_is_named(spec, says):
    with pytest.raises(InputError, match=says):
        ablation(spec)


@pytest.mark.parametrize("form", ["table", "json", "csv", "md"])
def test_the_command(form, capsys):
    words = ["ablate", "doc-analysis", "-p", "tag-or-drop", "--seeds", "2", "--jobs", "1"]
    with pytest.raises(SystemExit) as left:
        main([*words, "--set", "turns=30", "--format", form])
    assert left.value.code == 0
    out = capsys.readouterr().out
    if form == "json":
        assert {line["rule"] for line in json.loads(out)["worth"]} >= {"tag", "evict"}
    elif form == "csv":
        assert out.startswith("scenario,price,rule,alone,")
    else:
        assert "each rule off" in out and "each rule on alone" in out
