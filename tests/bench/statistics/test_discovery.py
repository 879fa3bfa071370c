from __future__ import annotations

import pytest

from bench.statistics.discovery import q_values


def test_by_hand() -> None:
    """p·m/rank for m = 4: 0.04, 0.04, 0.04, 0.5; none may be above one of a larger p."""
    assert q_values([0.03, 0.01, 0.5, 0.02]) == pytest.approx([0.04, 0.04, 0.5, 0.04])


def test_a_smaller_rank_has_no_larger_value() -> None:
    """0.02·3/1 = 0.06, 0.03·3/2 = 0.045: the first is worth as much as the second."""
    assert q_values([0.02, 0.03, 0.9]) == pytest.approx([0.045, 0.045, 0.9])


def test_one_alone_keeps_its_value_and_none_have_none() -> None:
    assert q_values([0.04]) == [0.04]
    assert q_values([]) == []
