"""The published schema against the events of stories and families, by a validator of its own."""

import json

import jsonschema
import pytest

from bench.cells import run_one
from bench.export.schema import FILE, schema, schema_text
from bench.export.values import COMMON, OWN, TYPES
from bench.fleets import fleet_of, scripts_of
from bench.loading import load
from bench.output import json_lines
from policies import registry
from scenarios import catalogue
from sim.fleet import events
from sim.records import FIELDS, to_dicts

VALIDATOR = jsonschema.Draft202012Validator(schema())
BY_TYPE = {
    kind: jsonschema.Draft202012Validator(part, registry=VALIDATOR._registry)
    for kind, part in schema()["$defs"].items()
}


def lines_of(name, policy, **overrides):
    script = load(name, overrides).script(0)
    _, records = run_one(script, policy, False)
    return [json.loads(line) for line in json_lines(to_dicts(records or ()))]


def check(found):
    for line in found:
        BY_TYPE[line["type"]].validate(line)


def test_the_file_that_ships_is_the_schema():
    assert FILE.read_text(encoding="utf-8") == schema_text()
    jsonschema.Draft202012Validator.check_schema(json.loads(schema_text()))


def test_every_record_type_and_value_is_described_once():
    assert set(TYPES) == set(FIELDS)
    named = {(kind, name) for kind, names in FIELDS.items() for name in names}
    assert set(OWN) <= named
    assert set(COMMON) <= {name for kind, name in named - set(OWN)}
    for part in schema()["$defs"].values():
        assert all("description" in p or "const" in p for p in part["properties"].values())


@pytest.mark.parametrize("name", catalogue.names())
@pytest.mark.parametrize("policy", ["naive-rewrite", "disciplined", "compaction", "no-op"])
def test_events_of_every_scenario_are_valid(name, policy):
    found = lines_of(name, policy)
    assert not found or [found[0]["type"], found[-1]["type"]] == ["run", "end"]
    check(found)


@pytest.mark.parametrize("policy", registry.names())
def test_events_under_every_policy_are_valid(policy):
    check(lines_of("coding-agent", policy))
    check(lines_of("rate-limit-table", policy))


@pytest.mark.parametrize(
    ("name", "policy", "overrides", "kind"),
    [
        ("support-agent", "no-op", {"keep_alive.seconds": 30}, "ping"),
        ("last-of-forty", "tiered:arrival=page", {}, "page"),
    ],
)
def test_rare_records_are_valid(name, policy, overrides, kind):
    found = lines_of(name, policy, **overrides)
    assert kind in {line["type"] for line in found}
    check(found)


def test_a_change_of_tools_is_valid():
    line = {"type": "change", "time": 1.5, "turn": 2, "what": "tools", "value": "with-search"}
    VALIDATOR.validate(line)


def test_events_of_several_agents_are_valid_and_say_whose_they_are():
    scripts = scripts_of(load("coding-agent", {"agents": 3, "price": "vllm", "turns": 12}), 0)
    fleet = fleet_of(scripts, "tiered", False)
    found = [json.loads(line) for line in json_lines(events(fleet.records))]
    assert {line["agent"] for line in found} == {0, 1, 2}
    assert "queue" in {line["type"] for line in found}
    check(found)


def test_what_is_no_record_is_refused():
    good = next(line for line in lines_of("stale-file", "tiered") if line["type"] == "call")
    VALIDATOR.validate(good)
    wrong = [
        {**good, "type": "calls"},
        {**good, "more": 1},
        {**good, "tokens": 1.5},
        {**good, "tokens": -1},
        {**good, "turn": "1"},
        {**good, "causes": [["append", 1]]},
        {**good, "causes": [["magic", 1, 0.5]]},
        {name: value for name, value in good.items() if name != "usd"},
    ]
    for line in wrong:
        assert not VALIDATOR.is_valid(line), line
