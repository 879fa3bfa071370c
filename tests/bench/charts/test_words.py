from __future__ import annotations

import pytest

from bench.charts.labels import stacked
from bench.charts.words import quantity, shortened


@pytest.mark.parametrize(
    ("value", "unit", "signed", "text"),
    [
        (0.0, "share", False, "0 %"),
        (0.0678, "share", False, "6.78 %"),
        (127_370, "tokens", False, "127k"),
        (1_270_000, "tokens", False, "1.27M"),
        (950, "tokens", False, "950"),
        (-66_700, "tokens", True, "−66.7k"),
        (1.2, "USD", True, "+$1.2"),
        (0.00012, "USD", False, "$0.00012"),
        (12, "s", False, "12 s"),
        (0, "count", True, "0"),
    ],
)
def test_quantities(value: float, unit: str, signed: bool, text: str) -> None:
    assert quantity(value, unit, signed) == text


def test_long_names_keep_both_ends() -> None:
    assert shortened("tiered") == "tiered"
    text = shortened("openhands-llm-summarizing:max=100,keep=4", 20)
    assert (len(text), text[:9], text[-8:]) == (20, "openhands", "0,keep=4")


def test_labels_are_apart_and_in_order() -> None:
    assert stacked([0.0, 0.0, 1.0], 0.25, 0.0, 1.0) == [0.0, 0.25, 1.0]
    assert stacked([1.0, 1.0, 0.9], 0.25, 0.0, 1.0) == [0.75, 1.0, 0.5]
