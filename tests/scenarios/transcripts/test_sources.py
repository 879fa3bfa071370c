"""From paths to sessions: what is searched, what is passed over, and under what name."""

import json
import os

import pytest

from scenarios import transcripts
from scenarios.transcripts.recording import Recording
from scenarios.transcripts.sources import find, recorded_format
from sim.errors import InputError
from tests.scenarios.transcripts.made import short

PLAIN = [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}]


def found(*paths, strict=False):
    """Return names and whether they were given themselves, and what was warned of."""
    warned = []
    sources = find([str(path) for path in paths], strict, warned.append)
    return [(source.name, source.given) for source in sources], warned


def test_a_file_that_several_paths_lead_to_is_one_session(tmp_path):
    one = short().write(tmp_path / "a.jsonl")
    (tmp_path / "b.jsonl").symlink_to("a.jsonl")
    (tmp_path / "c.jsonl").hardlink_to(one)
    sessions, warned = found(tmp_path)
    assert sessions == [("a", False)]
    same = f"{tmp_path}/b.jsonl is the same file as {tmp_path}/a.jsonl, which is read once"
    assert warned == [f"{same}; 1 more path to files read already"]
    other = f"{tmp_path}/../{tmp_path.name}/a.jsonl"
    assert found(one, other) == (
        [("a", True)],
        [f"{other} is the same file as {one}, which is read once"],
    )
    assert found(one, one, tmp_path / "." / "a.jsonl") == ([("a", True)], [])
    assert found(tmp_path / "b.jsonl", tmp_path)[0] == [("b", True)]
    assert found(tmp_path, one)[0] == [("a", True)]
    scenarios = transcripts.load([tmp_path], 1000)
    assert [scenario.name for scenario in scenarios] == ["a"]


def test_the_same_content_in_two_files_is_two_sessions(tmp_path):
    for name in ("a.jsonl", "b.jsonl"):
        short().write(tmp_path / name)
    assert found(tmp_path) == ([("a", False), ("b", False)], [])


@pytest.mark.parametrize("pattern", ["", "*", "**/*", "**"])
def test_a_pattern_passes_over_what_a_folder_does(tmp_path, pattern):
    short().write(tmp_path / "a.jsonl")
    (tmp_path / "dangling.jsonl").symlink_to("nothing")
    (tmp_path / "loop.jsonl").symlink_to("loop.jsonl")
    os.mkfifo(tmp_path / "pipe.jsonl")
    sessions, warned = found(f"{tmp_path}/{pattern}")
    assert sessions == [("a", False)]
    assert warned == [
        f"{tmp_path}/dangling.jsonl: it is a link to no file (passed over)",
        f"{tmp_path}/loop.jsonl: it is a link to no file (passed over)",
        f"{tmp_path}/pipe.jsonl: it is no regular file (passed over)",
    ]
    with pytest.raises(InputError, match="dangling"):
        found(f"{tmp_path}/{pattern}", strict=True)


def test_a_pattern_that_goes_round_says_each_thing_once(tmp_path):
    (tmp_path / "sub").mkdir()
    short().write(tmp_path / "z.jsonl")
    (tmp_path / "dangling.jsonl").symlink_to("nothing")
    (tmp_path / "sub" / "loop").symlink_to("..")
    sessions, warned = found(f"{tmp_path}/**/*.jsonl")
    assert sessions == [("z", False)]
    assert len(warned) == 2 and "dangling" in warned[0]
    assert f"is the same file as {tmp_path}/z.jsonl" in warned[1]
    assert found(tmp_path)[0] == [("z", False)]


def test_a_pattern_without_a_match_says_so(tmp_path):
    short().write(tmp_path / "a.jsonl")
    with pytest.raises(InputError) as raised:
        found(tmp_path / "a.jsonl", f"{tmp_path}/*.json")
    assert str(raised.value) == f"{tmp_path}/*.json: no file matches it"


def test_a_file_whose_name_looks_like_a_pattern_is_that_file(tmp_path):
    short().write(tmp_path / "a[1].jsonl")
    assert found(tmp_path / "a[1].jsonl") == ([("a[1]", True)], [])


@pytest.mark.parametrize("others", [[], ["a.jsonl"]])
def test_an_empty_path_is_not_the_current_folder(tmp_path, monkeypatch, others):
    monkeypatch.chdir(tmp_path)
    short().write(tmp_path / "a.jsonl")
    with pytest.raises(InputError, match="a path is empty and names no file"):
        found(*others, "")
    with pytest.raises(InputError, match="a path is empty and names no file"):
        transcripts.load([*others, ""])
    assert found(".")[0] == [("a", False)]


def test_what_exists_and_is_no_file_is_not_said_to_be_missing(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reading, writing = os.pipe()
    try:
        for path in (pipe, "/dev/null", f"/dev/fd/{reading}"):
            with pytest.raises(InputError) as raised:
                found(path)
            assert str(raised.value) == f"{path}: it is no regular file; write it to one first"
    finally:
        os.close(reading)
        os.close(writing)
    with pytest.raises(InputError, match=r"^-: standard input is not read"):
        found("-")
    with pytest.raises(InputError, match="there is no such file"):
        found(tmp_path / "none.jsonl")


def test_a_stream_that_is_a_file_is_the_file(tmp_path):
    path = short().write(tmp_path / "a.jsonl")
    with open(path, "rb") as file:
        stream = f"/dev/fd/{file.fileno()}"
        if not os.path.exists(stream):
            pytest.skip("there is no /dev/fd")
        (source,) = find([stream], False, print)
    assert (source.name, source.files) == ("a", (path,))


class Broken:
    """A file that cannot be read beyond its first *good* bytes."""

    def __init__(self, file, good):
        self._file, self._left = file, good

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self._file.close()

    def __iter__(self):
        for line in self._file:
            self.spend(len(line))
            yield line

    def spend(self, count):
        self._left -= count
        if self._left < 0:
            raise OSError(5, "Input/output error")

    def read(self, count=-1):
        data = self._file.read(count)
        self.spend(len(data))
        return data

    def readline(self):
        line = self._file.readline()
        self.spend(len(line))
        return line

    def seek(self, offset):
        return self._file.seek(offset)


@pytest.fixture
def broken(monkeypatch):
    """Makes the reading of a file fail behind its first bytes, as on a bad disk."""

    def make(path, good):
        def opened(name, mode):
            file = open(name, mode)  # noqa: SIM115
            return Broken(file, good) if str(name) == str(path) else file

        monkeypatch.setattr("scenarios.transcripts.recording.open", opened, raising=False)

    return make


@pytest.mark.parametrize("good", [0, 3, 200, 800])
def test_a_file_that_cannot_be_read_to_its_end_is_named(tmp_path, broken, good):
    path = short().write(tmp_path / "m.jsonl")
    assert path.stat().st_size > 800
    for name in ("a.jsonl", "z.jsonl"):
        short().write(tmp_path / name)
    broken(path, good)
    warned = []
    scenarios = transcripts.load([tmp_path], 1000, on_warning=warned.append, on_note=print)
    assert [scenario.name for scenario in scenarios] == ["a", "z"]
    assert warned == [f"{path}: cannot read it: Input/output error (passed over)"]
    for given, strict in ((path, False), (tmp_path, True)):
        with pytest.raises(InputError) as raised:
            transcripts.load([given], 1000, strict=strict)
        assert str(raised.value) == f"{path}: cannot read it: Input/output error"


@pytest.mark.parametrize("read", ["head", "sample", "document", "holds", "records", "again"])
def test_every_way_to_read_a_file_says_why_it_cannot_be_read(tmp_path, broken, read):
    path = short().write(tmp_path / "m.jsonl")
    recording = Recording(path)
    assert recording.encoding == "utf-8"
    broken(path, 2)
    ways = {
        "holds": lambda: recording.holds(b"none of it"),
        "records": lambda: list(recording.records(None)),
        "again": lambda: list(recording.again([(1, 0)])),
    }
    with pytest.raises(InputError, match=r"m\.jsonl: cannot read it: Input/output error"):
        ways.get(read, getattr(recording, read))()


def test_a_consumers_own_error_is_not_the_files(tmp_path):
    path = short().write(tmp_path / "a.jsonl")
    with pytest.raises(OSError, match="mine"):
        for _ in Recording(path).records(None):
            raise OSError("mine")


def test_a_name_with_a_line_feed_makes_no_line_of_its_own(tmp_path):
    (tmp_path / "a\nevictbench: fine").write_text("x")
    short().write(tmp_path / "b\nc.jsonl")
    warned, noted = [], []
    (scenario,) = transcripts.load([tmp_path], on_warning=warned.append, on_note=noted.append)
    assert scenario.name.isprintable()
    assert len(warned) == 1 and warned[0].startswith(f"{tmp_path}/a\\nevictbench: fine:1: not a")
    assert noted and all(line.isprintable() for line in noted)


def test_notes_begin_with_the_file_then_with_the_session(tmp_path):
    path = short().write(tmp_path / "a.jsonl")
    noted = []
    transcripts.load([path], on_note=noted.append)
    assert len(noted) > 1
    assert [note.startswith(f"{path}: ") for note in noted] == [True] + [False] * (len(noted) - 1)
    assert all(note.startswith("a: ") for note in noted[1:])


def test_notes_of_many_sessions_are_one_line_each(tmp_path):
    for name in ("a.jsonl", "b.jsonl", "c.jsonl"):
        short().write(tmp_path / name)
    single, noted = [], []
    transcripts.load([tmp_path / "a.jsonl"], on_note=single.append)
    transcripts.load([tmp_path], on_note=noted.append)
    prefixes = [f"{tmp_path}/a.jsonl: ", *["a: "] * (len(single) - 1)]
    says = [note.removeprefix(prefix) for note, prefix in zip(single, prefixes, strict=True)]
    assert noted == [f"3 sessions (a, b, c): {text}" for text in says]


def test_why_there_is_no_call_does_not_name_the_file_again(tmp_path):
    path = tmp_path / "a.jsonl"
    lines = short().lines
    path.write_text("\n".join([lines[0], "{", lines[0]]) + "\n")
    with pytest.raises(InputError) as raised:
        transcripts.load([path])
    said = str(raised.value)
    assert said.startswith(f"{path}: there is no model call in it; line 2: ")
    assert said.count(str(path)) == 1


def test_the_format_of_a_recording_can_be_asked_for(tmp_path):
    session = short().write(tmp_path / "a.jsonl")
    messages, notes = tmp_path / "b.json", tmp_path / "c.txt"
    messages.write_text(json.dumps(PLAIN))
    notes.write_text("notes")
    script = tmp_path / "s.json"
    script.write_text('{"evictbench_script": 1}')
    files = session, messages, notes, script, tmp_path, tmp_path / "none"
    formats = [recorded_format(file) for file in files]
    assert formats == ["claude-code", "openai", None, None, None, None]
