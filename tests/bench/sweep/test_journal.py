"""The journal: what is whole is kept, what is torn is not, and nothing is mixed."""

from __future__ import annotations

import signal

import pytest

from bench.results.names import JOURNAL
from bench.sweep.done import Done, pack, unpack
from bench.sweep.journal import Journal
from bench.sweep.store import KeptTurns
from sim.errors import InputError

HEADER = {"fingerprint": {"the code": "a"}, "manifest": {"seeds": 2}}
ROWS = {n: [{"policy": "p", "cost": 0.1 + n, "tokens": n, "reason": None}] for n in range(5)}


@pytest.fixture
def folder(tmp_path):
    with Journal.begin(tmp_path, HEADER) as journal:
        for number, rows in ROWS.items():
            journal.keep(Done(number, rows, met=f"{number}"))
    return tmp_path


def resumed(folder):
    warnings = []
    journal = Journal.resume(folder, warnings.append)
    return journal, warnings


def test_what_was_kept_is_there_again(folder):
    journal, warnings = resumed(folder)
    with journal:
        assert journal.header == HEADER and journal.finished == ROWS and not warnings
        assert journal.met == {n: f"{n}" for n in ROWS}


def test_cut_short_anywhere_it_is_whole_up_to_there_and_goes_on(folder):
    whole = (folder / JOURNAL).read_bytes()
    ends = [at for at, byte in enumerate(whole, 1) if byte == ord("\n")]
    for size in range(len(whole) + 1):
        (folder / JOURNAL).write_bytes(whole[:size])
        journal, warnings = resumed(folder)
        kept = sum(end <= size for end in ends)
        if kept == 0:
            assert journal is None and not (folder / JOURNAL).exists()
            continue
        with journal:
            assert journal.finished == {n: ROWS[n] for n in range(kept - 1)} and not warnings
            for number in range(kept - 1, len(ROWS)):
                journal.keep(Done(number, ROWS[number], met=f"{number}"))
        assert (folder / JOURNAL).read_bytes() == whole


def test_a_line_that_comes_twice_is_one(folder):
    lines = (folder / JOURNAL).read_bytes().splitlines(keepends=True)
    (folder / JOURNAL).write_bytes(b"".join([*lines, lines[2], lines[3]]))
    journal, warnings = resumed(folder)
    with journal:
        assert journal.finished == ROWS and not warnings


def test_a_damaged_line_is_named_and_its_task_is_missing(folder):
    lines = (folder / JOURNAL).read_bytes().splitlines(keepends=True)
    lines[3] = lines[3].replace(b"2.1", b"9.9")
    (folder / JOURNAL).write_bytes(b"".join(lines))
    journal, warnings = resumed(folder)
    with journal:
        assert journal.finished == {n: rows for n, rows in ROWS.items() if n != 2}
    (told,) = warnings
    assert "line 4" in told


@pytest.mark.parametrize("other", [Done(1, ROWS[4], met="1"), Done(1, ROWS[1], met="4")])
def test_two_results_of_one_task_are_refused(folder, other):
    with Journal.resume(folder) as journal:
        journal.keep(other)
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


FOREIGN = [
    b"a\nb\n",
    b"00000000 {}\n00000000 {}\n",
    b'{"x": 1}\n{}\n',
    b"notes\n",
    b"notes",
    b"0123abcd\n",
    b'0123abcd {"evictbench":1',
]


@pytest.mark.parametrize("text", FOREIGN)
def test_what_is_no_journal_is_left_alone(tmp_path, text):
    (tmp_path / JOURNAL).write_bytes(text)
    with pytest.raises(InputError, match="not the journal of a sweep"):
        Journal.resume(tmp_path)
    assert (tmp_path / JOURNAL).read_bytes() == text


def test_one_of_a_later_version_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("bench.sweep.journal.VERSION", 2)
    Journal.begin(tmp_path, HEADER).__exit__(None, None, None)
    monkeypatch.undo()
    with pytest.raises(InputError, match="version 2"):
        Journal.resume(tmp_path)


TURNS = {"turn": [1, 2, 3], "usd": [0.1, 1 / 3, None], "branch": ["", "ok", "é"]}


def test_turns_stay_on_disk_and_are_there_again(folder):
    with Journal.resume(folder) as journal:
        journal.keep(Done(7, ROWS[0] * 2, [pack(TURNS), None]))
        journal.keep(Done(8, ROWS[1], [pack({**TURNS, "turn": [4]})]))
        begun = journal.turns(7)
    with Journal.resume(folder) as journal:
        assert journal.finished == {**ROWS, 7: ROWS[0] * 2, 8: ROWS[1]}
        assert begun == journal.turns(7) and begun[1] is None
        assert unpack(begun[0]) == TURNS
        kept = KeptTurns(journal, [(8, 0), (7, 1), (7, 0)])
        assert [each and each["turn"] for each in kept] == [[4], None, [1, 2, 3]]
        assert list(kept[1:]) == [None, TURNS] and len(kept) == 3


def test_turns_that_are_damaged_meanwhile_are_not_read(folder):
    with Journal.resume(folder) as journal:
        journal.keep(Done(7, ROWS[0], [pack(TURNS)]))
        data = bytearray((folder / JOURNAL).read_bytes())
        data[-9] ^= 1
        (folder / JOURNAL).write_bytes(data)
        with pytest.raises(InputError, match="of task 7 is damaged"):
            journal.turns(7)


def test_a_line_of_which_a_full_disk_took_a_part_is_not_kept(folder):
    """A limit to a file's size is as a disk is: a write up to it is cut short, and not refused."""
    resource = pytest.importorskip("resource")
    size = (folder / JOURNAL).stat().st_size
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    with Journal.resume(folder) as journal:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 9, before[1]))
        try:
            with pytest.raises(InputError, match="cannot write it"):
                journal.keep(Done(7, ROWS[0]))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert 7 not in journal.finished
    assert (folder / JOURNAL).stat().st_size == size + 9
    journal, warnings = resumed(folder)
    with journal:
        assert journal.finished == ROWS and not warnings


def test_there_may_be_none(tmp_path):
    assert Journal.resume(tmp_path) is None


def test_two_journals_in_one_file_are_refused(folder):
    whole = (folder / JOURNAL).read_bytes()
    (folder / JOURNAL).write_bytes(whole + whole)
    with pytest.raises(InputError, match=r"journal.jsonl:7: another journal begins here"):
        Journal.resume(folder)
    assert (folder / JOURNAL).read_bytes() == whole + whole


@pytest.fixture
def limit():
    """A function that lets no file grow beyond a size, as a full disk does; None: without end."""
    resource = pytest.importorskip("resource", reason="Windows has no limits of files")
    before, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    yield lambda size: resource.setrlimit(
        resource.RLIMIT_FSIZE, (before if size is None else size, most)
    )
    resource.setrlimit(resource.RLIMIT_FSIZE, (before, most))
    signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.parametrize("begun", [False, True])
def test_a_full_disk_is_told_and_what_stands_before_it_is_kept(folder, limit, begun):
    whole = (folder / JOURNAL).read_bytes()
    ends = [at for at, byte in enumerate(whole, 1) if byte == ord("\n")]
    kept = {n: ROWS[n] for n in range(2)}
    (folder / JOURNAL).unlink()
    if begun:
        (folder / JOURNAL).write_bytes(whole[: ends[1]])
    limit(ends[2] + 5)
    with Journal.resume(folder) if begun else Journal.begin(folder, HEADER) as journal:
        for number in range(len(journal.finished), 2):
            journal.keep(Done(number, ROWS[number], met=f"{number}"))
        for _ in range(2):
            with pytest.raises(InputError, match="cannot write it: File too large"):
                journal.keep(Done(2, ROWS[2], met="2"))
        assert journal.finished == kept
    assert (folder / JOURNAL).read_bytes() == whole[: ends[2] + 5]
    limit(None)
    again, warnings = resumed(folder)
    with again:
        assert again.finished == kept and not warnings


def test_a_disk_that_has_no_room_for_the_header_is_told(tmp_path, limit):
    limit(20)
    with pytest.raises(InputError, match="cannot write it"):
        Journal.begin(tmp_path, HEADER)
    limit(None)
    assert Journal.resume(tmp_path) is None and not (tmp_path / JOURNAL).exists()
