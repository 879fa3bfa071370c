from __future__ import annotations

import random
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from bench.cells import price_of, run_one
from bench.executors import InProcess
from bench.runs import Finished, Plan, execute
from bench.selection import select_policies
from scenarios.catalogue import load
from scenarios.scenario import Scenario
from sim.errors import EvictbenchError, InputError
from sim.metrics import NAMES
from sim.script import Script, Wait

FAMILY = {"turns": "12"}
POLICIES = select_policies(["tiered", "no-op", "naive-trim"])


def small_plan(seeds: int = 3, *policies: str) -> Plan:
    chosen = select_policies(policies) if policies else POLICIES
    return Plan([load("stale-file"), load("doc-analysis", FAMILY)], chosen, seeds)


def test_rows_come_in_the_order_of_the_plan_with_every_column() -> None:
    found = execute(small_plan())
    assert found.stopped is None
    assert found.planned == len(found.rows) == 3 * (1 + 3)
    assert [(r["scenario"], r["policy"], r["seed"]) for r in found.rows] == [
        *(("stale-file", policy, 0) for policy in ("naive-trim", "tiered", "no-op")),
        *(
            ("doc-analysis", policy, seed)
            for policy in ("naive-trim", "tiered", "no-op")
            for seed in range(3)
        ),
    ]
    columns = ["scenario", "policy", "seed", "price", *NAMES, "status", "reason"]
    assert all(list(row) == columns for row in found.rows)


@pytest.mark.parametrize("jobs", [2, 3])
def test_rows_are_the_same_for_any_number_of_jobs(jobs: int) -> None:
    assert execute(small_plan(), jobs).rows == execute(small_plan()).rows


def test_rows_of_a_policy_do_not_depend_on_the_others() -> None:
    alone = execute(small_plan(3, "tiered")).rows
    assert alone == [row for row in execute(small_plan()).rows if row["policy"] == "tiered"]


def test_rows_of_a_seed_do_not_depend_on_the_number_of_seeds() -> None:
    few = execute(small_plan(seeds=1)).rows
    assert few == [row for row in execute(small_plan()).rows if row["seed"] == 0]


def test_any_executor_will_do() -> None:
    class Borrowed(Executor):
        def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
            return InProcess().submit(fn, *args, **kwargs)

    assert execute(small_plan(), 2, Borrowed()).rows == execute(small_plan()).rows


def test_every_run_is_reported() -> None:
    told: list[int] = []
    execute(small_plan(), on_finished=told.append)
    assert sum(told) == small_plan().cells == 12


def test_a_policy_that_lacks_something_is_not_applicable_with_nulls() -> None:
    plan = Plan([load("rate-limit-table")], select_policies(["naive-trim", "no-op"]))
    first, second = execute(plan).rows
    assert (first["policy"], first["status"]) == ("naive-trim", "not-applicable")
    assert "ranks" in first["reason"]
    assert {first[name] for name in NAMES} == {None}
    assert second["status"] == "completed"
    metrics, records = run_one(load("rate-limit-table").script(0), "naive-trim")
    assert (metrics["status"], metrics["queries"], records) == ("not-applicable", None, [])


class Interrupting(InProcess):
    """Is interrupted at its second task."""

    def __init__(self, error: BaseException) -> None:
        self.error = error
        self.tasks = 0

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        self.tasks += 1
        if self.tasks > 2:
            raise self.error
        return super().submit(fn, *args, **kwargs)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), EvictbenchError("broken")])
def test_what_was_finished_is_kept(error: BaseException) -> None:
    found = execute(small_plan(seeds=9), 1, Interrupting(error))
    assert found.stopped is error
    assert 0 < len(found.rows) < found.planned
    whole = execute(small_plan(seeds=9)).rows
    assert found.rows == [row for row in whole if row in found.rows]


def stop(plan: Plan) -> Finished:
    found = execute(plan)
    assert found.stopped is not None
    return found


def test_pins_over_the_budget_are_bad_input() -> None:
    scenario = load("doc-analysis", FAMILY)

    def shrunk(seed: int) -> Script:
        script = scenario.script(seed)
        return replace(script, settings={**script.settings, "budget": 1})

    tight = Scenario("tight", "family", scenario.settings, shrunk, seeded=True)
    stopped = stop(Plan([tight], {"no-op": "no-op"})).stopped
    assert isinstance(stopped, InputError)
    assert "pinned" in str(stopped)


def unstable_script(base: Scenario, state: random.Random, seed: int) -> Script:
    script = base.script(seed)
    return replace(script, stimuli=(*script.stimuli, Wait(1, state.random())))


def test_a_comparison_stops_if_two_policies_did_not_meet_the_same() -> None:
    """A script that comes out otherwise each time, with few enough seeds that policies are split
    between tasks."""
    base = load("doc-analysis", FAMILY)
    make = partial(unstable_script, base, random.Random(0))
    unstable = Scenario("unstable", "family", base.settings, make, seeded=True)
    found = stop(Plan([unstable], POLICIES))
    assert type(found.stopped) is EvictbenchError
    assert "unstable, seed 0: tiered and no-op did not meet the same" in str(found.stopped)


BAD = """
class Raises:
    def before_call(self, view):
        raise ZeroDivisionError("by hand")

class CutsPins:
    def before_call(self, view):
        from sim.actions import Evict
        if view.turn == 2:
            yield Evict("task", "why not")
"""


@pytest.fixture
def bad(tmp_path: Path) -> str:
    path = tmp_path / "bad.py"
    path.write_text(BAD)
    return str(path)


def test_a_policy_that_raises_is_named_with_its_line(bad: str) -> None:
    stopped = stop(Plan([load("stale-file")], select_policies([f"{bad}:Raises"]))).stopped
    assert isinstance(stopped, EvictbenchError)
    assert "Raises on stale-file, seed 0" in str(stopped)
    assert "ZeroDivisionError at bad.py:4: by hand" in str(stopped)


def test_under_strict_a_policy_bug_fails_its_run_alone(bad: str) -> None:
    policies = select_policies([f"{bad}:CutsPins", "tiered"])
    found = execute(Plan([load("stale-file")], policies, strict=True))
    assert found.stopped is None
    good, broken = found.rows
    assert good["status"] == "completed"
    assert (broken["status"], broken["policy_bugs"]) == ("failed", 1)
    assert broken["reason"].startswith("pin removed: ")
    assert broken["queries"] is None
    tolerant = execute(Plan([load("stale-file")], policies)).rows[1]
    assert tolerant["policy_bugs"] >= 1
    assert tolerant["status"] == "completed"


def test_a_price_is_that_of_the_settings_with_the_cache_laid_over_it() -> None:
    assert price_of({"price": "claude-sonnet-5"}).input == 2.0
    changed = price_of({"price": "claude-sonnet-5", "cache.ttl": 60.0, "cache.breakpoints": ()})
    assert changed.rules.ttl == 60.0
    with pytest.raises(InputError, match="claude-sonnet-5"):
        price_of({"price": "claud-sonnet-5"})
