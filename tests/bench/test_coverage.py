from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from bench.coverage import DISTRIBUTIONS, coverage, main, stopped


@pytest.mark.parametrize("name", ["normal", "exponential"])
def test_an_interval_of_a_hundred_values_holds_the_mean_as_often_as_it_says(name: str) -> None:
    assert 0.925 <= coverage(name, 100, 2_000).interval <= 0.96


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_the_mean_that_is_looked_for_is_the_mean(name: str) -> None:
    """Within four standard errors of 200,000 draws; the largest s.d., lognormal, is 2.2."""
    drawn = DISTRIBUTIONS[name]
    values = drawn.draw(np.random.default_rng(1), 200_000)
    assert values.mean() == pytest.approx(drawn.mean, abs=4 * 2.2 / 200_000**0.5)


def test_the_limit_holds_what_an_interval_of_nothing_does_not() -> None:
    """Of samples of 20, 0.95^20 = 36 % have no event: their interval is 0 alone, their limit 14 %
    holds 5 %. Four standard errors of 1,000 are 6 points."""
    found = coverage("event", 20, 1_000)
    assert found.with_limit - found.interval == pytest.approx(0.95**20, abs=0.06)


def test_a_normal_sample_stops_where_it_should_and_its_interval_still_holds() -> None:
    """A normal mean is known to 0.25 with (1.96 ÷ 0.25)² = 61 values: at the look at 68, as a rule,
    or at the one before."""
    found = stopped("normal", 0.25, 1_000)
    assert found.seeds in (45, 68)
    assert 0.90 <= found.interval <= 0.97


def test_the_command_writes_the_table(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    places = "".join(f"<!-- figures: {n} -->\n<!-- end -->\n" for n in ("coverage", "stopping"))
    page.write_text(f"before\n{places}after\n")
    done = CliRunner().invoke(main, ["--repetitions", "20", "--page", str(page)])
    assert done.exit_code == 0
    text = page.read_text()
    assert text.startswith("before\n") and text.endswith("after\n")
    assert "| samples of | n = 20, % | n = 30, % | n = 100, % |" in text
    assert "| samples of | half-width | seeds at the stop, median | held, % |" in text
    assert "20 repetitions each; the standard error is 4.9 points at 95 %." in text
