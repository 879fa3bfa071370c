"""The turns of a sweep: those of its runs, and the same bytes however it is stopped."""

from __future__ import annotations

import pandas as pd
import pytest

from bench import api
from bench.cli import main
from bench.results import load, save
from bench.results.names import JOURNAL
from sim.errors import InputError

SMALL = {"turns": 25, "budget": 20_000}
VARY = ["salience.decay=0.5:0.9:2", "tiered:arrival=on,off"]
POLICIES = ["tiered", "slack-swap-refuse"]


def small(out=None, **more):
    given = {"seeds": 2, "settings": SMALL, "turns": True, **more}
    return api.sweep("doc-analysis", POLICIES, VARY, out=out, **given)


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def stopped(folder, after, **more):
    """Begin the small sweep in *folder*, and stop it when *after* runs are done."""

    def report(done, planned):
        if done >= after:
            raise KeyboardInterrupt

    found = small(folder, report=report, partial=True, **more)
    assert isinstance(found.stopped, KeyboardInterrupt)


def test_the_turns_are_those_that_compare_makes_at_the_setting(tmp_path):
    policies = ["tiered", "no-op"]
    found = api.sweep(
        "doc-analysis",
        policies,
        ["salience.decay=0.5:0.9:2", "price=claude-sonnet-5,gpt-4.1"],
        seeds=2,
        settings=SMALL,
        turns=True,
        out=tmp_path / "sweep",
    )
    swept = pd.read_parquet(tmp_path / "sweep" / "turns.parquet")
    assert not swept.duplicated(["setting", "policy", "seed", "turn"]).any()
    assert len(swept) == 2 * 2 * 2 * 2 * SMALL["turns"]
    for number, point in enumerate(found.points):
        settings = {**SMALL, **point}
        alone = api.compare(["doc-analysis"], policies, seeds=2, settings=settings, turns=True)
        save(alone, tmp_path / f"alone-{number}")
        wanted = pd.read_parquet(tmp_path / f"alone-{number}" / "turns.parquet")
        mine = swept[swept["setting"] == number].reset_index(drop=True)
        assert all(set(mine[key]) == {value} for key, value in point.items())
        pd.testing.assert_frame_equal(mine[wanted.columns], wanted)


def test_without_a_folder_the_turns_are_in_the_answer():
    found = small()
    (point, *_) = found.points
    settings = {**SMALL, "salience.decay": point["salience.decay"]}
    specs = ["tiered:arrival=on", "slack-swap-refuse"]
    alone = api.compare(["doc-analysis"], specs, seeds=2, settings=settings, turns=True)
    assert len(found.turns) == len(found.rows) == 16
    assert by_run(found.rows[:4], found.turns[:4]) == by_run(alone.rows, alone.turns)


def by_run(rows, turns):
    """*turns* by policy, whose label may have options behind it, and seed."""
    cells = [(row["policy"].partition(":")[0], row["seed"]) for row in rows]
    return dict(zip(cells, turns, strict=True))


def test_stopped_and_resumed_the_bytes_are_the_same(tmp_path):
    small(tmp_path / "whole", jobs=2)
    stopped(tmp_path / "halves", 6)
    assert JOURNAL in files(tmp_path / "halves")
    torn = tmp_path / "halves" / ".turns.parquet.x1y2"
    torn.write_bytes(b"PAR1")
    small(tmp_path / "halves", resume=True)
    assert not torn.exists()
    assert files(tmp_path / "halves") == files(tmp_path / "whole")
    names = {"runs.parquet", "turns.parquet", "summary.parquet", "schema.json", "manifest.json"}
    assert set(files(tmp_path / "whole")) == names


def test_rows_are_the_same_with_and_without_turns(tmp_path):
    small(tmp_path / "with")
    small(tmp_path / "without", turns=False)
    for name in ("runs.parquet", "summary.parquet"):
        assert files(tmp_path / "with")[name] == files(tmp_path / "without")[name]
    assert "turns.parquet" not in files(tmp_path / "without")


@pytest.mark.parametrize("begun", [True, False])
def test_another_choice_is_refused_by_name(tmp_path, begun):
    stopped(tmp_path, 4, turns=begun)
    kept = files(tmp_path)
    says = rf"cannot go on.*: --turns \({begun} then, {not begun} now\)$"
    with pytest.raises(InputError, match=says):
        small(tmp_path, turns=not begun, resume=True)
    assert files(tmp_path) == kept
    small(tmp_path, turns=begun, resume=True)
    with pytest.raises(InputError, match=says):
        small(tmp_path, turns=not begun, resume=True)


def test_a_run_that_came_to_nothing_has_no_turns(tmp_path):
    vary = ["budget=1000,20000"]
    found = api.sweep("doc-analysis", ["tiered"], vary, seeds=2, turns=True, out=tmp_path)
    turns = pd.read_parquet(tmp_path / "turns.parquet")
    low, high = found.by_setting.values()
    assert {row["status"] for row in low} == {"failed"}
    assert set(turns["setting"]) == {1} and set(turns["budget"]) == {20_000}
    assert len(turns) == sum(row["turns"] for row in high)


def test_the_command_needs_a_folder_for_them(tmp_path, capsys):
    words = ["sweep", "doc-analysis", "-p", "tiered", "--vary", "turns=5,6", "--seeds", "1"]
    with pytest.raises(SystemExit) as left:
        main([*words, "--turns"])
    assert left.value.code == 2 and "--turns needs --out" in capsys.readouterr().err
    with pytest.raises(SystemExit) as left:
        main([*words, "--turns", "--jobs", "1", "--out", str(tmp_path)])
    assert left.value.code == 0
    assert load(tmp_path).table("turns")[-1]["turn"] == 6
