from __future__ import annotations

import threading
from pathlib import Path

import pytest

from policies.registry import make
from policies.supplied import source_of, supplied
from sim.errors import InputError

POLICY = b"""
class Mine:
    def __init__(self, keep: int = 1):
        self.keep = keep

    def before_call(self, view):
        return ()
"""


def test_a_supplied_source_needs_no_file() -> None:
    with supplied({"gone/mine.py": POLICY}):
        policy = make("gone/mine.py:Mine:keep=3")
    assert policy.label == "gone/mine.py:Mine:keep=3"
    assert policy.keep == 3  # type: ignore[attr-defined]
    with pytest.raises(InputError, match="there is no such file"):
        make("gone/mine.py:Mine")


def test_it_wins_over_the_file_and_only_meanwhile(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_bytes(POLICY)
    with supplied({str(file): POLICY.replace(b"keep: int = 1", b"keep: int = 7")}):
        assert make(f"{file}:Mine").keep == 7  # type: ignore[attr-defined]
    assert make(f"{file}:Mine").keep == 1  # type: ignore[attr-defined]


def test_another_source_of_the_same_path_is_another_module() -> None:
    found = []
    for keep in (b"2", b"5"):
        with supplied({"mine.py": POLICY.replace(b"1", keep)}):
            found.append(make("mine.py:Mine").keep)  # type: ignore[attr-defined]
    assert found == [2, 5]


def test_another_thread_knows_nothing_of_it() -> None:
    seen = []
    with supplied({"mine.py": POLICY}):
        thread = threading.Thread(target=lambda: seen.append(source_of("mine.py")))
        thread.start()
        thread.join()
        assert source_of("mine.py") == POLICY
    assert seen == [None]
    assert source_of("mine.py") is None


@pytest.mark.parametrize(
    ("source", "says"),
    [
        (b"x = 1\nraise ZeroDivisionError('by hand')", "mine.py:2: .*ZeroDivisionError: by hand"),
        (b"x = 1\nclass :", "mine.py:2: it cannot be imported: invalid syntax"),
        (b"import no_such_neighbour", "mine.py:1: .*No module named 'no_such_neighbour'"),
    ],
)
def test_what_is_wrong_with_it_is_said_with_its_line(source: bytes, says: str) -> None:
    with supplied({"mine.py": source}), pytest.raises(InputError, match=says):
        make("mine.py:Mine")
