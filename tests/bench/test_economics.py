"""The figures of docs/economics.md: their place in the page, and the arithmetic behind them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from bench import economics
from bench.economics import (
    BOOKS,
    FIGURES,
    PAGE,
    Outcome,
    cuts,
    known_end,
    main,
    paired,
)


def ran(usd: float, status: str = "completed", turns: int = 9, **more: Any) -> Outcome:
    return Outcome((status, turns), {"total_cost_usd": usd, **more})


# -- the page ----------------------------------------------------------------------------------


def test_every_figure_has_its_place_and_every_place_its_figure() -> None:
    page = PAGE.read_text(encoding="utf-8")
    places = re.findall(r"<!-- figures: ([\w-]+) -->\n(.*?)<!-- end -->", page, re.DOTALL)
    assert [name for name, _ in places] == list(FIGURES)
    assert all("|" in body for _, body in places)
    assert page.count("<!-- end -->") == len(places)


def test_the_command_writes_one_figure(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- figures: ranks -->\n<!-- end -->\nafter\n")
    done = CliRunner().invoke(main, ["--only", "ranks", "--page", str(page), "--jobs", "1"])
    assert done.exit_code == 0
    text = page.read_text()
    assert text.startswith("before\n") and text.endswith("after\n")
    assert "| rank-8 | 57,000 |" in text


# -- the order rule ----------------------------------------------------------------------------


def test_the_tokens_behind_the_story_s_cuts() -> None:
    """Behind rank 5 stand ranks 6 to 8 and the 57,000: 23,200 + 57,000, and so on to the last."""
    found = {name: behind for name, (behind, _) in cuts(BOOKS["claude-sonnet-5"]).items()}
    assert found == {"rank-5": 80_200, "rank-6": 72_200, "rank-7": 64_500, "rank-8": 57_000}


def test_what_a_cut_costs_where_any_prefix_is_found() -> None:
    """S·(w − r) less what is no longer read: 57,000·2.3 − 7,500·0.2, and 80,200·2.3 − 8,800·0.2."""
    found = cuts(BOOKS["claude-sonnet-5, rule auto"])
    assert found["rank-8"][1] * 1e6 == pytest.approx(57_000 * 2.3 - 7_500 * 0.2)
    assert found["rank-5"][1] * 1e6 == pytest.approx(80_200 * 2.3 - 8_800 * 0.2)


def test_what_a_cut_costs_where_only_breakpoints_are_found() -> None:
    """Only the 38,000 in front of rank 5 are found: 89,000 − b at 2.3 and b no longer at 0.2."""
    found = cuts(BOOKS["claude-sonnet-5"])
    assert found["rank-8"][1] * 1e6 == pytest.approx((89_000 - 7_500) * 2.3 - 7_500 * 0.2)
    assert found["rank-5"][1] * 1e6 == pytest.approx((89_000 - 8_800) * 2.3 - 8_800 * 0.2)


# -- pairs and fixed points --------------------------------------------------------------------


def test_only_runs_that_ended_alike_are_paired() -> None:
    mine = [ran(3.0), ran(5.0), ran(9.0, "failed"), ran(9.0, turns=4)]
    other = [ran(1.0), ran(1.0), ran(1.0), ran(1.0)]
    found = paired(mine, other, "total_cost_usd")
    assert (found.mean, found.n) == (3.0, 2)


def test_no_pair_no_difference() -> None:
    assert paired([ran(1.0)], [ran(1.0, "failed")], "total_cost_usd").mean is None


@pytest.mark.parametrize(
    ("calls", "made", "believed", "converged"),
    [
        ({10: 12, 12: 12}, 12, [10, 12], True),
        ({10: 10}, 10, [10], True),
        ({10: 11, 11: 10}, 10, [10, 11] * 4, False),
    ],
)
def test_the_run_that_knows_its_end(
    calls: dict[int, int], made: int, believed: list[int], converged: bool
) -> None:
    """Beliefs lead to calls; one that comes true is the end, and a circle is none."""
    asked: list[int] = []

    def play(horizon: int) -> Outcome:
        asked.append(horizon)
        return ran(1.0, calls=calls[horizon])

    found, sure = known_end(10, play)
    assert (found.values["calls"], asked, sure) == (made, believed, converged)
    assert economics.ROUNDS == 8


# -- small runs of the experiments -------------------------------------------------------------


def test_the_regret_of_a_short_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(economics, "FAMILIES", ("support-agent",))
    monkeypatch.setattr(economics, "PRICES", ("gpt-5.5",))
    (table,) = FIGURES["regret"](economics.Effort(2, 1))
    assert [line.cells[0] for line in table.rows] == [
        "support-agent, gpt-5.5, waits",
        "support-agent, gpt-5.5, patience=0",
    ]
    assert all(line.cells[-1].endswith("/2") for line in table.rows)


def test_what_the_money_goes_to_sums_to_the_whole() -> None:
    (table,) = FIGURES["causes"](economics.Effort(2, 1))
    *causes, whole = (line.cells for line in table.rows)
    for column in (1, 2, 3):
        parts = sum(float(cells[column]) for cells in causes)
        assert parts == pytest.approx(float(whole[column]), rel=0.01)
