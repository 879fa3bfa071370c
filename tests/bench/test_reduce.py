"""``evictbench reduce``: what it refuses, and the reducer that its page shows."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bench.cli import main
from policies.reducers import Output, reduce
from policies.reducers.registry import reducers
from policies.reducers.room import LEAST, Room
from sim.errors import InputError
from sim.tokens import tokenizer

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "reducers.md").read_text(encoding="utf-8")

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def reduced(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs the command in this process: exit code, standard output, standard error."""

    def run(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main(["reduce", *map(str, arguments)])
        streams = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return ended.value.code, streams.out, streams.err

    return run


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("",), "the name of a file to read is empty; - is standard input"),
        (("-", "--since", "-"), "FILE and --since cannot both be -: standard input can be read"),
        (("x",), "x: cannot be read: no such file"),
        ((ROOT / "README.md", "--since", ""), "the name of a file to read is empty; - is standard"),
        (("x", "--max-tokens", 39), "invalid value for '--max-tokens': 39 tokens are below the"),
        (("x", "--max-tokens", 0), "invalid value for '--max-tokens': 0 tokens are below the"),
        (("x", "--max-tokens", "2,000"), "invalid value for '--max-tokens': '2,000' is no whole"),
        (("x", "--max-tokens", "2k"), "invalid value for '--max-tokens': '2k' is no whole number "),
    ],
)
def test_what_is_refused(reduced: Run, arguments: tuple[object, ...], says: str) -> None:
    code, out, err = reduced(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith(f"evictbench: {says}")
    assert err.count("\n") == 1


def test_the_least_budget_and_groups_of_digits_are_taken(reduced: Run, tmp_path: Path) -> None:
    file = tmp_path / "a.log"
    file.write_text("one line\n")
    for limit in ("40", "2_000"):
        assert reduced(file, "--max-tokens", limit, "--format", "text") == (0, "one line\n\n", "")
    help_text = " ".join(reduced("--help")[1].split())
    assert f"at least {LEAST}." in help_text


@pytest.mark.parametrize("kind", [str, bytes, bytearray, memoryview])
def test_text_and_bytes_of_any_kind_are_reduced_alike(kind: Any) -> None:
    raw = "a line of its own\n" * 200
    given = raw if kind is str else kind(raw.encode())
    assert reduce(given, 50) == reduce(raw, 50)


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ((None, 100), TypeError, "a result must be text or bytes, not NoneType"),
        ((["a"], 100), TypeError, "a result must be text or bytes, not list"),
        (("a", "100"), TypeError, "max_result_tokens must be a whole number, not str"),
        (("a", 100.0), TypeError, "max_result_tokens must be a whole number, not float"),
        (("a", None), TypeError, "max_result_tokens must be a whole number, not NoneType"),
        (("a", 39), InputError, "max_result_tokens: a budget of 39 tokens is below"),
        (("a", 100, "mipy"), InputError, "unknown reducer 'mipy'; did you mean 'mypy'?"),
    ],
)
def test_what_python_is_refused(arguments: Any, error: type[Exception], says: str) -> None:
    with pytest.raises(error) as raised:
        reduce(*arguments)
    assert str(raised.value).startswith(says)


ALERTS = [
    f"[17000000{n:02}] SERVICE ALERT: web{n % 3};HTTP;{state};SOFT;{n};Connection refused"
    for n, state in enumerate(["CRITICAL", "WARNING", "CRITICAL"] * 6)
]


def test_the_reducer_of_the_page_is_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    code = re.search(r"```python\n(import re\n.*?)```", PAGE, re.S)
    assert code is not None
    found: dict[str, Any] = {}
    exec(code[1], found)
    mine = found["Nagios"]()
    known = {**reducers(), mine.name: mine}
    monkeypatch.setattr("policies.reducers.registry.reducers", lambda: known)
    # A recovery is no alert that counts; the two lines between two alerts are one span with them.
    lines = ["starting", *ALERTS[:9], "[1700000009] SERVICE ALERT: web0;HTTP;OK;HARD;1;ok"]
    output = Output("\n".join([*lines, *ALERTS[9:]]))
    assert output.tool == "nagios"
    assert output.found().failures == tuple((f"web{n};HTTP",) for n in range(3))
    room = Room(200, tokenizer())
    assert output.tokens(room) > room.limit
    text = output.laid(room).text
    assert [text.count(f"web{n};HTTP") for n in range(3)] == [1, 1, 1]
    assert text.count("(+5 more)") == 3
