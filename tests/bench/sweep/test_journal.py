"""The journal: what is whole is kept, what is torn is not, and nothing is mixed."""

from __future__ import annotations

import pytest

from bench.sweep.done import Done
from bench.sweep.journal import NAME, Journal
from sim.errors import InputError

HEADER = {"fingerprint": {"the code": "a"}, "manifest": {"seeds": 2}}
ROWS = {n: [{"policy": "p", "cost": 0.1 + n, "tokens": n, "reason": None}] for n in range(5)}


@pytest.fixture
def folder(tmp_path):
    with Journal.begin(tmp_path, HEADER) as journal:
        for number, rows in ROWS.items():
            journal.keep(Done(number, rows))
    return tmp_path


def resumed(folder):
    warnings = []
    journal = Journal.resume(folder, warnings.append)
    return journal, warnings


def test_what_was_kept_is_there_again(folder):
    journal, warnings = resumed(folder)
    with journal:
        assert journal.header == HEADER and journal.finished == ROWS and not warnings


def test_cut_short_anywhere_it_is_whole_up_to_there_and_goes_on(folder):
    whole = (folder / NAME).read_bytes()
    ends = [at for at, byte in enumerate(whole, 1) if byte == ord("\n")]
    for size in range(len(whole) + 1):
        (folder / NAME).write_bytes(whole[:size])
        journal, warnings = resumed(folder)
        kept = sum(end <= size for end in ends)
        if kept == 0:
            assert journal is None and not (folder / NAME).exists()
            continue
        with journal:
            assert journal.finished == {n: ROWS[n] for n in range(kept - 1)} and not warnings
            for number in range(kept - 1, len(ROWS)):
                journal.keep(Done(number, ROWS[number]))
        assert (folder / NAME).read_bytes() == whole


def test_a_line_that_comes_twice_is_one(folder):
    lines = (folder / NAME).read_bytes().splitlines(keepends=True)
    (folder / NAME).write_bytes(b"".join([*lines, lines[2], lines[3]]))
    journal, warnings = resumed(folder)
    with journal:
        assert journal.finished == ROWS and not warnings


def test_a_damaged_line_is_named_and_its_task_is_missing(folder):
    lines = (folder / NAME).read_bytes().splitlines(keepends=True)
    lines[3] = lines[3].replace(b"2.1", b"9.9")
    (folder / NAME).write_bytes(b"".join(lines))
    journal, warnings = resumed(folder)
    with journal:
        assert journal.finished == {n: rows for n, rows in ROWS.items() if n != 2}
    (told,) = warnings
    assert "line 4" in told


def test_two_results_of_one_task_are_refused(folder):
    with Journal.resume(folder) as journal:
        journal.keep(Done(1, ROWS[4]))
    with pytest.raises(InputError, match="other results"):
        Journal.resume(folder)


def test_a_journal_is_begun_once_and_written_by_one(folder):
    with pytest.raises(InputError, match="--resume"):
        Journal.begin(folder, HEADER)
    with (
        Journal.resume(folder),
        pytest.raises(InputError, match="another sweep is at work"),
    ):
        Journal.resume(folder)


@pytest.mark.parametrize("text", [b"a\nb\n", b"00000000 {}\n00000000 {}\n", b'{"x": 1}\n{}\n'])
def test_what_is_no_journal_is_left_alone(tmp_path, text):
    (tmp_path / NAME).write_bytes(text)
    with pytest.raises(InputError, match="not the journal of a sweep"):
        Journal.resume(tmp_path)
    assert (tmp_path / NAME).read_bytes() == text


def test_one_of_a_later_version_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("bench.sweep.journal.VERSION", 2)
    Journal.begin(tmp_path, HEADER).__exit__(None, None, None)
    monkeypatch.undo()
    with pytest.raises(InputError, match="version 2"):
        Journal.resume(tmp_path)


def test_there_may_be_none(tmp_path):
    assert Journal.resume(tmp_path) is None
