from __future__ import annotations

import io
import sys

import pytest

from bench.progress import shown


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_nothing_is_drawn_where_nobody_watches(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with shown("comparing") as report:
        report(0, 10)
        report(10, 10)
    assert capsys.readouterr() == ("", "")


def test_a_terminal_sees_how_much_is_done_on_standard_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    with shown("comparing") as report:
        report(3, 10)
    assert "comparing" in screen.getvalue()
    assert "3/10" in screen.getvalue()
    assert capsys.readouterr().out == ""
