"""The inventory of recordings, by hand."""

from __future__ import annotations

import pytest

from bench.recordings import BROKEN, NONE, SESSION, Entry, by_format, inventory, tsv
from tests.bench.replays.test_replays import session


def rows(entries):
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in by_format(entries)]


def test_each_file_has_a_kind(tmp_path):
    session(tmp_path / "a.jsonl")
    (tmp_path / "b.txt").write_text('{"x": 1}')
    (tmp_path / "c.json").write_text('{"messages": [')
    found = {entry.path: entry for entry in inventory(tmp_path)}
    assert {name: entry.kind for name, entry in found.items()} == {
        "a.jsonl": SESSION,
        "b.txt": NONE,
        "c.json": BROKEN,
    }
    assert (found["a.jsonl"].turns, found["a.jsonl"].with_usage) == (13, 1)
    assert tsv(found.values()).splitlines()[1] == "a.jsonl\tsession\tclaude-code\t1"


def test_the_reads_are_of_the_calls_that_record_them(tmp_path):
    session(tmp_path / "a.jsonl")
    (entry,) = inventory(tmp_path)
    assert [(prompt, read) for prompt, read, _ in entry.reads] == [
        (1000 + 400 * n, 995 + 400 * n) for n in range(12)
    ]
    # The first request, of 1,000 tokens, is shorter than the 1,024 that are cached at least.
    assert [entry.reads[0][2], entry.reads[1][2]] == [0.0, 0.0]
    assert all(0.0 < simulated < prompt for prompt, _, simulated in entry.reads[2:])


@pytest.mark.parametrize(
    ("reads", "says"),
    [
        ([], "none recorded"),
        ([(100, 0, 50.0)], "none recorded"),
        (
            [(100, 50, 80.0), (300, 250, 220.0)],
            "75.0 %, simulated 75.0 %; off by 15.0 % over 2 calls",
        ),
    ],
)
def test_what_is_said_of_the_reads(reads, says):
    entry = Entry("a", SESSION, "pi", sessions=1, reads=reads)
    assert rows([entry])[-1][-1] == says


def test_what_is_said_of_the_usage():
    entry = Entry("a", SESSION, "pi", sessions=3, with_usage=3)
    entry.errors = [(0.01, 0.02), (0.03, 0.09), (0.02, 0.03)]
    said = "3 fitted: 2.0 % in the median session, 3.0 % in the worst, 9.0 % in the worst call"
    assert rows([entry])[-1][-2] == said
    assert rows([Entry("a", SESSION, "pi", sessions=1)])[-1][-2] == "no usage"
