"""``evictbench chart``: what it draws of a folder, what it prints, and what it refuses."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from bench.charts.registry import charts
from bench.cli import main

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def evictbench(capsys: pytest.CaptureFixture[str]) -> Run:
    def run(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        streams = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return ended.value.code, streams.out, streams.err

    return run


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results") / "small"
    asked = ["compare", "doc-analysis", "stale-file", "-p", "tiered", "-p", "naive-rewrite"]
    with pytest.raises(SystemExit) as ended:
        main([*asked, "--seeds", "2", "--bound", "--out", str(folder)])
    assert ended.value.code == 0
    return folder


def test_every_chart_is_drawn_that_there_is_something_to_show_of(
    evictbench: Run, results: Path
) -> None:
    code, out, err = evictbench("chart", results)
    assert code == 0
    files = [Path(line) for line in out.splitlines()]
    assert {file.parent for file in files} == {results / "charts"}
    mine = {name for name, chart in charts().items() if chart.of != "sweep"}
    drawn = {file.name.split("-")[0] for file in files}
    left_out = {
        line.split(" is not drawn: ")[0] for line in err.splitlines() if "not drawn" in line
    }
    assert drawn | left_out == mine and not drawn & left_out
    for file in files:
        head = file.read_bytes()[:24]
        assert head[:8] == b"\x89PNG\r\n\x1a\n"
        width, height = struct.unpack(">II", head[16:24])
        assert (width, height >= 200) == (1152, True)
    for name in drawn:
        assert f"{name}: " in err


def test_what_is_asked_for_is_drawn_as_it_is_asked_for(
    evictbench: Run, results: Path, tmp_path: Path
) -> None:
    code, out, err = evictbench(
        *("chart", results, "occupancy", "cause", "-p", "naive-rewrite", "--seed", 1),
        *("--theme", "dark", "--format", "svg", "--format", "png", "-o", tmp_path / "here"),
    )
    assert code == 0
    stems = (
        "occupancy-doc-analysis-claude-sonnet-5-naive-rewrite-1",
        "cause-doc-analysis-claude-sonnet-5-naive-rewrite",
    )
    assert out.splitlines() == [
        str(tmp_path / "here" / f"{stem}.{form}") for stem in stems for form in ("svg", "png")
    ]
    assert "#14181d" in (tmp_path / "here" / f"{stems[0]}.svg").read_text(encoding="utf-8")
    assert "naive-rewrite on doc-analysis, seed 1: the window peaks at" in err


def test_several_scenarios_have_a_picture_each(
    evictbench: Run, results: Path, tmp_path: Path
) -> None:
    asked = ("--scenario", "doc-analysis", "--scenario", "stale-file", "-o", tmp_path)
    code, out, _ = evictbench("chart", results, "cause", *asked)
    assert code == 0
    assert ["doc-analysis" in line for line in out.splitlines()] == [True, False]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (["occupanzy"], "occupancy"),
        (["cause", "--scenario", "doc-analyses"], "doc-analysis"),
        (["occupancy", "-p", "teired"], "tiered"),
        (["cause", "--price", "claude-sonnet-4"], "claude-sonnet-5"),
        (["occupancy", "--seed", "7"], "seeds 0 to 1"),
        (["map"], "map is of a sweep"),
        (["pareto", "--metric", "peak_token"], "peak_tokens"),
        (["pareto", "--theme", "drak"], "dark"),
        (["pareto", "--format", "gif"], "png"),
    ],
)
def test_what_cannot_be_drawn_is_one_sentence_and_leaves_nothing(
    evictbench: Run, results: Path, tmp_path: Path, asked: list[str], said: str
) -> None:
    there = tmp_path / "there"
    code, out, err = evictbench("chart", results, *asked, "-o", there)
    assert (code, out) == (2, "")
    assert said in err and "Traceback" not in err
    assert not there.exists()


def test_a_folder_that_is_none_is_one_sentence(evictbench: Run, tmp_path: Path) -> None:
    code, out, err = evictbench("chart", tmp_path / "nowhere")
    assert (code, out) == (2, "")
    assert "nowhere" in err and "Traceback" not in err


def test_the_charts_are_listed(evictbench: Run) -> None:
    code, out, err = evictbench("list", "charts", "--format", "json")
    assert (code, err) == (0, "")
    listed = json.loads(out)["charts"]
    assert [item["name"] for item in listed] == list(charts())
    assert all(item["about"] for item in listed)
    code, out, _ = evictbench("list", "charts")
    assert code == 0
    assert all(name in out for name in charts())
