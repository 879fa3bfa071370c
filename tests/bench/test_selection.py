from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import pytest

from bench.selection import (
    select_baseline,
    select_policies,
    select_scenarios,
    sorted_scenarios,
    with_price,
)
from policies import registry
from scenarios import catalogue
from sim.errors import InputError


def test_all_there_is() -> None:
    assert [s.name for s in select_scenarios(None, {})[0]] == catalogue.names()
    assert select_policies(None) == registry.names()


def test_the_order_asked_for_does_not_count() -> None:
    wanted = ["no-op", "tiered:arrival=off", "naive-trim", "tiered"]
    found = {tuple(select_policies(order)) for order in permutations(wanted)}
    assert found == {("naive-trim", "tiered", "tiered:arrival=off", "no-op")}
    names = ["doc-analysis", "the-door", "stale-file"]
    found = {tuple(s.name for s in select_scenarios(order, {})[0]) for order in permutations(names)}
    assert found == {("stale-file", "the-door", "doc-analysis")}


def test_what_is_asked_for_twice_comes_once() -> None:
    assert select_policies(["no-op", "no-op"]) == ["no-op"]
    assert select_policies(["tag-or-drop:tag=off", "tag-or-drop:tag=off"]) == [
        "tag-or-drop:tag=off"
    ]
    assert [s.name for s in select_scenarios(["stale-file", "stale-file"], {})[0]] == ["stale-file"]


def test_labels_make_the_same_policy_again() -> None:
    for label in select_policies(["tiered:arrival=off,pins=last", "no-op"]):
        assert registry.make(label).label == label


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
    (remark,) = remarks
    assert remark.startswith("turns is not a setting of signature-change")
    assert "doc-analysis" not in remark


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
