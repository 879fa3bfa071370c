"""Runs made again from a comparison, from a folder, and from recordings."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from bench.api import Comparison, Replay, compare, load, replay, sweep
from bench.cells import run_one
from bench.results import save
from bench.sweep.result import Sweep
from scenarios.catalogue import load as load_scenario
from sim.errors import InputError
from tests.scenarios.transcripts.made import short

POLICY = """
from policies.no_op import NoOp


class Mine(NoOp):
    name = "mine"
"""


@pytest.fixture(scope="module")
def found() -> Comparison:
    return compare(
        ["doc-analysis", "stale-file"],
        ["tiered", "no-op"],
        seeds=2,
        price=["claude-sonnet-5", "uncached"],
        pareto=True,
        require=["confabulation_rate<=0.5"],
        minimise="total_cost_usd",
    )


@pytest.fixture(scope="module")
def folder(found: Comparison, tmp_path_factory: pytest.TempPathFactory) -> Path:
    there = tmp_path_factory.mktemp("results")
    save(found, there)
    return there


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("price", ["claude-sonnet-5", "uncached"])
def test_a_run_made_again_is_the_run(folder: Path, seed: int, price: str) -> None:
    again = load(folder).repeats.run("doc-analysis", "tiered", seed, price)
    script = load_scenario("doc-analysis").script(seed)
    values, records = run_one(
        replace(script, settings={**script.settings, "price": price}), "tiered"
    )
    assert again.records == records
    assert again.row["total_cost_usd"] == pytest.approx(values["total_cost_usd"], rel=1e-8)
    assert again.title == f"tiered on doc-analysis, seed {seed}"


def test_a_folder_is_the_comparison_it_was_written_by(found: Comparison, folder: Path) -> None:
    again = load(folder)
    assert type(again) is Comparison
    assert (again.baseline, again.pareto, again.goal) == (found.baseline, True, found.goal)
    assert [line["winner"] for line in again.winners] == [line["winner"] for line in found.winners]
    assert [line["on_front"] for line in again.front] == [line["on_front"] for line in found.front]
    assert again.frame.shape == found.frame.shape
    assert again.manifest["asked"]["goal"] == {
        "require": ["confabulation_rate<=0.5"],
        "minimise": "total_cost_usd",
    }


def test_settings_and_prices_are_those_that_it_was_run_with(tmp_path: Path) -> None:
    made = compare(["doc-analysis"], ["tiered"], seeds=1, settings={"turns": 9, "budget": "9000"})
    save(made, tmp_path)
    script = load(tmp_path).repeats.run("doc-analysis", "tiered").script
    assert (script.settings["budget"], script.settings["turns"]) == (9000, 9)


def test_a_policy_in_a_file_is_made_by_its_spec(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(POLICY)
    made = compare(["stale-file"], [f"{file}:Mine", "no-op"])
    save(made, tmp_path / "out")
    assert made.manifest["specs"] == {"mine": f"{file}:Mine"}
    assert load(tmp_path / "out").repeats.run("stale-file", "mine").records


def test_sessions_are_read_again(tmp_path: Path) -> None:
    file = short().write(tmp_path / "session.jsonl")
    made = replay([file], ["tiered", "no-op"], budget=30_000)
    save(made, tmp_path / "out")
    again = load(tmp_path / "out")
    assert isinstance(again, Replay)
    (name,) = {row["scenario"] for row in again.rows}
    assert again.recorded.keys() == made.recorded.keys()
    assert again.repeats.run(name, "tiered").script.settings["budget"] == 30_000
    file.unlink()
    with pytest.raises(InputError):
        load(tmp_path / "out").repeats.run(name, "tiered")


def test_a_sweep_has_its_points_again(tmp_path: Path) -> None:
    made = sweep("doc-analysis", ["tiered"], ["turns=5,6"], seeds=2, minimise="total_cost_usd")
    save(made, tmp_path)
    again = load(tmp_path)
    assert isinstance(again, Sweep)
    assert (again.points, again.goal) == (made.points, made.goal)
    assert [line["key"] for line in again.effects] == [line["key"] for line in made.effects]
    with pytest.raises(InputError, match="a sweep has many runs"):
        again.repeats.run("doc-analysis", "tiered")


def test_several_agents_are_run_together(tmp_path: Path) -> None:
    made = compare(["doc-analysis"], ["tiered"], seeds=1, settings={"agents": 2, "turns": 8})
    again = made.repeats.run("doc-analysis", "tiered")
    assert again.title == "tiered on doc-analysis, seed 0, agent 0 of 2"
    assert again.records[0][0] == "run"


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (("doc-analysi", "tiered"), "unknown scenario 'doc-analysi'; did you mean 'doc-analysis'?"),
        (("doc-analysis", "tierd"), "unknown policy 'tierd'; did you mean 'tiered'?"),
        (("doc-analysis", "tiered", 0, "gpt-4.1"), "unknown price 'gpt-4.1'"),
        (("doc-analysis", "tiered", 7), "there is no seed 7 of 'doc-analysis', but seeds 0 to 1"),
        (("stale-file", "tiered", 1), "there is no seed 1 of 'stale-file', but seed 0 alone"),
    ],
)
def test_what_was_not_run(found: Comparison, asked: tuple[str, ...], says: str) -> None:
    with pytest.raises(InputError) as raised:
        found.repeats.run(*asked)  # type: ignore[arg-type]
    assert says in str(raised.value)


def test_a_run_that_comes_out_otherwise_is_not_shown(found: Comparison) -> None:
    rows = [{**row, "calls": row["calls"] + 1} for row in found.rows]
    with pytest.raises(InputError, match=r"calls was \S+ and is \S+\. What it is made of has"):
        replace(found, rows=rows).repeats.run("doc-analysis", "tiered")


def test_what_is_not_applicable_has_no_run() -> None:
    made = compare(["doc-analysis"], ["naive-trim", "tiered"], seeds=1, settings={"turns": 5})
    row = next(row for row in made.rows if row["policy"] == "naive-trim")
    assert row["status"] == "not-applicable"
    with pytest.raises(InputError, match="naive-trim cannot run 'doc-analysis'"):
        made.repeats.run("doc-analysis", "naive-trim")


def test_what_python_made_and_older_folders_say_so(found: Comparison, folder: Path) -> None:
    manifest = json.loads(json.dumps(load(folder).manifest))
    del manifest["scenarios"]["doc-analysis"]["source"]
    older = replace(load(folder), manifest=manifest)
    with pytest.raises(InputError, match="nothing says how 'doc-analysis' is loaded"):
        older.repeats.run("doc-analysis", "tiered")
    made = replace(load_scenario("doc-analysis"), source=None)
    assert compare([made], ["no-op"], seeds=1).repeats.run("doc-analysis", "no-op").records


def test_a_summary_is_a_frame_of_one_metric_or_of_all(found: Comparison) -> None:
    assert len(found.summary()) == len(found.lines)
    peaks = found.summary("peak_tokens")
    assert set(peaks["metric"]) == {"peak_tokens"}
    assert len(peaks) == 2 * 2 * 2
    with pytest.raises(InputError, match="did you mean 'peak_tokens'"):
        found.summary("peak_token")
