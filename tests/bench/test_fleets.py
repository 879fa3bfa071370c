"""Fleets as cells: one row for all agents; a command runs several or says that it cannot."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bench.api import compare
from bench.break_even import workload
from bench.cells import make_policy, price_of, run_one
from bench.cli import main
from bench.fleets import fleet_of, one_agent, scripts_of
from bench.runs import Plan, execute
from bench.selection import select_policies
from scenarios.catalogue import load
from sim.engine import run
from sim.errors import EvictbenchError, InputError
from sim.metrics import NAMES

BAD = """
from sim.actions import Evict

class CutsSystem:
    label = "cuts-system"
    declares = needs = frozenset()
    def before_call(self, view):
        yield Evict("system", "x")

class Breaks:
    label = "breaks"
    declares = needs = frozenset()
    def before_call(self, view):
        raise ZeroDivisionError("no")
"""

SMALL = {"turns": "12", "price": "vllm"}
THREE = {**SMALL, "agents": "3"}


def plan(settings: dict[str, str], *policies: str, seeds: int = 1, **fields: Any) -> Plan:
    chosen = select_policies(policies or ("tiered",))
    return Plan([load("coding-agent", settings)], chosen, seeds, **fields)


def test_one_row_for_all_agents() -> None:
    (row,) = execute(plan(THREE)).rows
    fleet = fleet_of(scripts_of(load("coding-agent", THREE), 0), "tiered")
    assert {name: row[name] for name in fleet.metrics} == fleet.metrics
    assert (row["scenario"], row["policy"], row["seed"]) == ("coding-agent", "tiered", 0)
    assert row["calls"] == sum(agent["calls"] for agent in fleet.agents) == len(fleet.agents) * 12
    assert row["queue_seconds"] > 0
    assert row["peak_tokens"] == max(agent["peak_tokens"] for agent in fleet.agents)


def test_one_agent_is_the_run_it_always_was() -> None:
    assert execute(plan({**SMALL, "agents": "1"})).rows == execute(plan(SMALL)).rows
    metrics, _ = run_one(load("coding-agent", SMALL).script(0), "tiered")
    (row,) = execute(plan(SMALL)).rows
    assert {name: row[name] for name in metrics} == metrics
    assert metrics["queue_seconds"] == 0


def test_the_first_agent_has_the_script_of_an_agent_alone() -> None:
    three, one = load("coding-agent", THREE), load("coding-agent", SMALL)
    first, *others = scripts_of(three, 5)
    assert first == one.script(5)
    assert [script.replicate for script in others] == [1, 2]
    assert len({script.digest() for script in (first, *others)}) == 3


def test_under_a_providers_rule_nobody_waits_and_heads_are_shared() -> None:
    provider = {**THREE, "price": "claude-sonnet-5"}
    scenario = load("coding-agent", provider)
    scripts = scripts_of(scenario, 0)
    fleet = fleet_of(scripts, "no-op")
    price = price_of(scenario.settings)
    alone = [run(script, make_policy("no-op"), price).metrics for script in scripts]
    assert fleet.metrics["queue_seconds"] == 0
    # The first to call writes the head; the other two read it, and write it no more.
    head = next(s.tokens for s in scripts[0].stimuli if s.id == "system")
    saved = [
        one["written_tokens"] - each["written_tokens"]
        for one, each in zip(alone, fleet.agents, strict=True)
    ]
    assert sorted(saved) == [0, head, head]
    assert fleet.metrics["calls"] == sum(metrics["calls"] for metrics in alone)


@pytest.mark.parametrize("jobs", [2, 3])
def test_rows_are_the_same_for_any_number_of_jobs(jobs: int) -> None:
    several = plan(THREE, "tiered", "no-op", seeds=2)
    assert execute(several, jobs).rows == execute(several).rows


def test_prices_are_compared_on_the_same_scripts() -> None:
    found = execute(plan(THREE, prices=("claude-sonnet-5", "vllm")))
    assert found.stopped is None
    assert [row["price"] for row in found.rows] == ["claude-sonnet-5", "vllm"]
    assert [row["queue_seconds"] > 0 for row in found.rows] == [False, True]


def test_a_policy_that_lacks_something_is_not_applicable() -> None:
    scenario = load("doc-analysis", THREE)
    (row,) = execute(Plan([scenario], select_policies(["naive-trim"]))).rows
    assert (row["status"], row["calls"]) == ("not-applicable", None)
    fleet = fleet_of(scripts_of(scenario, 0), "naive-trim")
    assert (fleet.metrics["status"], fleet.agents, fleet.records) == ("not-applicable", [], [])


def test_a_bug_under_strict_fails_the_fleet(tmp_path: Path) -> None:
    file = tmp_path / "bad.py"
    file.write_text(BAD)
    (row,) = execute(plan(THREE, f"{file}:CutsSystem", strict=True)).rows
    assert (row["status"], row["policy_bugs"], row["calls"]) == ("failed", 1, None)
    assert row["reason"].startswith("pin removed: ")
    (row,) = execute(plan(THREE, f"{file}:CutsSystem")).rows
    assert (row["status"], row["policy_bugs"], row["calls"]) == ("completed", 36, 36)


def test_a_policy_that_breaks_is_named_with_its_cell(tmp_path: Path) -> None:
    file = tmp_path / "bad.py"
    file.write_text(BAD)
    stopped = execute(plan(THREE, f"{file}:Breaks")).stopped
    assert isinstance(stopped, EvictbenchError)
    assert "on coding-agent, seed 0, raised ZeroDivisionError at bad.py:" in str(stopped)


@pytest.mark.parametrize("count", ["0", "10001", "1.5", "many"])
def test_how_many_there_can_be(count: str) -> None:
    with pytest.raises(InputError, match="agents must be a whole number from 1 to 10,000"):
        load("coding-agent", {"agents": count})


def test_a_story_is_one_agents() -> None:
    assert load("stale-file", {"agents": "1"}).agents == 1
    with pytest.raises(InputError, match="agents of 'stale-file' must be 1, not 8"):
        load("stale-file", {"agents": "8"})
    with pytest.raises(ValueError, match="no replicate 1"):
        load("stale-file").script(0, 1)


def test_where_all_scenarios_are_meant_stories_keep_one_agent() -> None:
    found = compare(None, ["no-op"], seeds=1, settings={"agents": "2", "turns": "3"})
    assert "agents is not a setting of the stories" in found.manifest["notes"]
    turns = {row["scenario"]: row["turns"] for row in found.rows}
    assert (turns["doc-analysis"], turns["coding-agent"]) == (6, 6)


def test_commands_for_one_agent_say_so() -> None:
    with pytest.raises(InputError, match="break-even runs one agent, and 'coding-agent' has 3"):
        workload(["coding-agent"], ["tiered"], settings=THREE)
    one_agent([load("coding-agent", SMALL)], "anything")


# The command `run`.


Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run_command(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs `evictbench run` in this process: exit code, standard output, standard error."""

    def told(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main(["run", *map(str, arguments)])
        streams = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return ended.value.code, streams.out, streams.err

    return told


COMMAND = ("coding-agent", "-p", "tiered", "--price", "vllm", "--set", "turns=8", "--set")


def test_run_as_json(run_command: Run, tmp_path: Path) -> None:
    log = tmp_path / "events.jsonl"
    done = run_command(*COMMAND, "agents=2", "--events", log, "--format", "json")
    document = json.loads(done[1])
    assert list(document) == ["metrics", "agents", "server", "events", "costs"]
    assert [agent["agent"] for agent in document["agents"]] == [0, 1]
    assert set(document["agents"][0]) == {"agent", *NAMES, "status", "reason"}
    assert document["server"]["requests"] == document["metrics"]["calls"] == 16
    assert {event["agent"] for event in document["events"]} == {0, 1}
    assert [json.loads(line) for line in log.read_text().splitlines()] == document["events"]
    costs = document["costs"]["by_cause"]
    spent = sum(line["tokens"] for line in costs if line["cause"] != "output")
    assert spent == document["metrics"]["input_tokens"]
    assert [each["turn"] for each in document["costs"]["by_turn"]] == list(range(1, 9))


def test_run_of_one_has_no_agent_in_it(run_command: Run) -> None:
    document = json.loads(run_command(*COMMAND, "agents=1", "--format", "json")[1])
    assert list(document) == ["metrics", "events", "costs"]
    assert all("agent" not in event for event in document["events"])


def test_run_as_tables(run_command: Run) -> None:
    code, output, _ = run_command(*COMMAND, "agents=2", "--set", "budget=90000")
    assert code == 0
    assert "the server that 2 agents shared" in output
    assert "utilisation" in output
    headers = output.split("passes:")[1].split("\n")[1].split()
    assert headers[:2] == ["agent", "turn"]
    assert "agents shared" not in run_command(*COMMAND, "agents=1")[1]


def test_a_script_file_is_one_agents(run_command: Run, tmp_path: Path) -> None:
    file = tmp_path / "script.json"
    code, _, error = run_command(*COMMAND, "agents=2", "--write-script", file)
    assert code == 2
    assert "--write-script runs one agent" in error
    assert not file.exists()
