from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from pathlib import Path

import pytest

from bench.selection import (
    select_baseline,
    select_policies,
    select_scenarios,
    sorted_scenarios,
    with_price,
)
from policies import harness, registry
from scenarios import catalogue
from sim.errors import InputError


def test_all_there_is() -> None:
    assert [s.name for s in select_scenarios(None, {})[0]] == catalogue.names()
    assert list(select_policies(["all"])) == registry.names()
    assert list(select_policies(["own", "field"])) == registry.names()
    assert list(select_policies(["own"])) == registry.names("own")
    assert list(select_policies(["field"])) == [each.name for each in harness.found()]
    assert list(select_policies(["no-op", "all"])) == registry.names()
    assert list(select_policies(None)) == registry.names()[:8]


def test_the_order_asked_for_does_not_count() -> None:
    wanted = ["no-op", "tiered:arrival=off", "naive-trim", "tiered"]
    found = {tuple(select_policies(order)) for order in permutations(wanted)}
    assert found == {("naive-trim", "tiered", "tiered:arrival=off", "no-op")}
    names = ["doc-analysis", "the-door", "stale-file"]
    found = {tuple(s.name for s in select_scenarios(order, {})[0]) for order in permutations(names)}
    assert found == {("stale-file", "the-door", "doc-analysis")}


def test_what_is_asked_for_twice_comes_once() -> None:
    assert list(select_policies(["no-op", "no-op"])) == ["no-op"]
    one_policy = ["slack-swap-refuse:margin=0.2", "slack-swap-refuse:rehydrate.margin=0.20"]
    assert len(select_policies(one_policy)) == 1
    assert [s.name for s in select_scenarios(["stale-file", "stale-file"], {})[0]] == ["stale-file"]


def test_labels_make_the_same_policy_again() -> None:
    for label in select_policies(["tiered:arrival=off,pins=last", "no-op"]):
        assert registry.make(label).label == label


def test_a_policy_with_a_label_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(
        "class Mine:\n    label = 'ours'\n    def before_call(self, view):\n        return ()\n"
        "class Other(Mine):\n    pass\n"
    )
    mine, other = f"{path}:Mine", f"{path}:Other"
    assert select_policies([mine, "no-op", mine]) == {"no-op": "no-op", "ours": mine}
    with pytest.raises(InputError, match="two policies are called 'ours'"):
        select_policies([mine, other])


def test_two_scenarios_of_one_name_are_bad_input() -> None:
    one = catalogue.load("stale-file")
    other = replace(one, settings={**one.settings, "budget": 49_000})
    with pytest.raises(InputError, match="two scenarios are called 'stale-file'"):
        sorted_scenarios([one, other])


def test_a_setting_is_laid_over_all_that_have_it_and_the_others_are_named() -> None:
    found, remarks = select_scenarios(None, {"turns": "11", "salience.decay": "0.5"})
    for scenario in found:
        assert scenario.settings["salience.decay"] == 0.5
        assert (scenario.settings["turns"] == 11) == (scenario.kind == "family")
    assert remarks == ["turns is not a setting of the stories"]


def test_a_setting_that_none_has_is_bad_input() -> None:
    with pytest.raises(InputError, match=r"salience\.decay"):
        select_scenarios(None, {"salience.decy": "0.5"})
    with pytest.raises(InputError, match=r"salience\.decay must be"):
        select_scenarios(None, {"salience.decay": "nan"})


def test_a_setting_must_be_one_of_every_scenario_asked_for() -> None:
    with pytest.raises(InputError, match="turns of 'stale-file' cannot be set"):
        select_scenarios(["doc-analysis", "stale-file"], {"turns": "11"})


def test_baseline() -> None:
    policies = ["tiered", "no-op"]
    assert select_baseline(None, policies) is None
    assert select_baseline("tiered", policies) == "tiered"
    with pytest.raises(InputError, match="baseline must be compared too"):
        select_baseline("compaction", policies)


def test_one_price() -> None:
    assert with_price({"a": 1}, None) == {"a": 1}
    assert with_price({}, "vllm") == {"price": "vllm"}
    assert with_price({"price": "vllm"}, "vllm") == {"price": "vllm"}
    with pytest.raises(InputError, match="two prices"):
        with_price({"price": "vllm"}, "uncached")
