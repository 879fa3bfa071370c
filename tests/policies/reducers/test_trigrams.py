"""A quick no is never wrong."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.reducers import trigrams
from policies.reducers.log import Log
from policies.reducers.trigrams import Trigrams


@given(st.text(max_size=80), st.integers(0, 80), st.integers(0, 80), st.integers(1, 20))
def test_whatever_is_in_the_text_may_be(text, start, length, piece):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trigrams, "_PIECE", piece)
        table = Trigrams(text)
    assert table.may_hold(text[start : start + length])


def test_what_has_another_run_of_three_is_not():
    table = Trigrams("FAILED tests/a.py")
    assert table.may_hold("FAILED tests/a.py")
    assert table.may_hold("sts/")
    assert table.may_hold("xy")
    assert not table.may_hold("PASSED")
    assert not table.may_hold("✓ tests")


def test_a_long_log_finds_the_same_strings_as_a_short_one(monkeypatch):
    lines = [f"line {n} says nothing" for n in range(50)] + ["npm ERR! code 1", "> Task :x FAILED"]
    hints = ("npm ERR! ", "npm WARN ", "> Task :", "[ERROR] ", "says", "error", "✗ ", "FAILED")
    short = Log(lines)
    expected = [short.has(hint) for hint in hints]
    monkeypatch.setattr("policies.reducers.log.LONG", 1)
    long = Log(lines)
    assert (
        [long.has(hint) for hint in hints]
        == expected
        == [True, False, True, False, True, False, False, True]
    )
    assert long.has(*hints)
