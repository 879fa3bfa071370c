from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bench.results import is_file_or_new, prepare, write_text
from bench.results.atomic import remove_unfinished, replaced
from sim.errors import InputError

root = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere"
)


def test_what_cannot_be_written_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file.txt"
    path.write_text("old")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match=r"file\.txt: cannot write it: No space left on device"):
        write_text(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_is_a_file_is_bad_input(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("")
    with pytest.raises(InputError, match="cannot write there"):
        prepare(path)
    with pytest.raises(InputError, match="cannot write it"):
        write_text(tmp_path / "missing" / "file.txt", "x")


@root
def test_a_folder_that_is_read_only_is_bad_input(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(InputError, match="cannot write there"):
        prepare(tmp_path)


def test_a_link_stays_and_what_it_leads_to_is_replaced(tmp_path: Path) -> None:
    target, link = tmp_path / "target.json", tmp_path / "link.json"
    target.write_text("old")
    link.symlink_to("target.json")
    write_text(link, "new")
    assert link.is_symlink() and target.read_text() == "new" and not target.is_symlink()
    (tmp_path / "nothing").symlink_to("made.json")
    write_text(tmp_path / "nothing", "new")
    assert (tmp_path / "nothing").is_symlink()
    assert (tmp_path / "made.json").read_text() == "new"
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(InputError, match="loop: cannot write it"):
        write_text(tmp_path / "loop", "new")


@pytest.mark.parametrize("private", [False, True])
def test_a_pipe_is_written_through(tmp_path: Path, private: bool) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    mode = pipe.stat().st_mode
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_text(pipe, "line\n", private=private)
        assert os.read(reader, 100) == b"line\n"
    finally:
        os.close(reader)
    assert pipe.stat().st_mode == mode and list(tmp_path.iterdir()) == [pipe]


def test_a_device_is_written_through() -> None:
    ours, theirs = os.openpty()
    try:
        device = Path(os.ttyname(theirs))
        before = device.stat()
        write_text(device, "text", private=True)
        assert os.read(ours, 100) == b"text"
        after = device.stat()
        assert (after.st_ino, after.st_mode) == (before.st_ino, before.st_mode)
        assert not is_file_or_new(device)
    finally:
        os.close(ours)
        os.close(theirs)


def test_a_mode_is_kept_unless_the_file_is_private(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    path.chmod(0o640)
    write_text(path, "new")
    assert path.stat().st_mode & 0o777 == 0o640
    write_text(path, "new", private=True)
    assert path.stat().st_mode & 0o777 == 0o600


PRINTING = """
import sys
from pathlib import Path
from bench.results import is_file_or_new, write_text
print("before")
write_text(Path(sys.argv[1]), "between\\n")
print("after", is_file_or_new(Path(sys.argv[1])))
"""


@pytest.mark.skipif(not Path("/dev/stdout").exists(), reason="there is no /dev/stdout")
@pytest.mark.parametrize("to", ["pipe", "file"])
def test_what_goes_to_standard_output_stands_behind_what_was_printed(
    tmp_path: Path, to: str
) -> None:
    file = tmp_path / "out"
    command = [sys.executable, "-c", PRINTING, "/dev/stdout"]
    if to == "pipe":
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    else:
        with file.open("w") as opened:
            subprocess.run(command, stdout=opened, check=True)
        text = file.read_text()
    assert text == "before\nbetween\nafter False\n"


def test_only_what_would_make_or_replace_a_file_is_one(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to("file")
    (tmp_path / "dangling").symlink_to("nothing")
    os.mkfifo(tmp_path / "pipe")
    names = ["file", "link", "dangling", "new", "pipe", "."]
    assert [is_file_or_new(tmp_path / name) for name in names] == [True] * 4 + [False] * 2


def test_a_file_written_bit_by_bit_takes_the_place_of_the_old_one_at_the_end(
    tmp_path: Path,
) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    path.chmod(0o640)
    with replaced(path) as file:
        file.write(b"ne")
        assert path.read_text() == "old"
        file.write(b"w")
    assert path.read_text() == "new" and path.stat().st_mode & 0o777 == 0o640
    with pytest.raises(KeyboardInterrupt), replaced(path) as file:
        file.write(b"half")
        raise KeyboardInterrupt
    assert path.read_text() == "new" and list(tmp_path.iterdir()) == [path]


def test_what_a_killed_process_left_of_a_file_is_removed(tmp_path: Path) -> None:
    kept = [tmp_path / name for name in ("a[1].txt", "a1.txt.x", ".a1.txt.x")]
    left = tmp_path / ".a[1].txt.k3j"
    for path in (*kept, left):
        path.write_text("")
    remove_unfinished(tmp_path / "a[1].txt")
    assert sorted(tmp_path.iterdir()) == sorted(kept)
