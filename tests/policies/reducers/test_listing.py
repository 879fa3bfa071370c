"""Listings: directories with their number of entries, and the first of them."""

import pytest

from policies.reducers.formats.listing import REDUCER
from policies.reducers.log import Log, Span
from policies.reducers.reduction import Output, reduce

LONG = """\
total 24
drwxr-xr-x  2 root root 4096 Jan  1 10:00 bin
-rw-r--r--  1 root root  120 Jan  1 10:00 a file.txt
lrwxrwxrwx. 1 root root    7 Jan  1 10:00 link -> bin/run
-rwxr-xr-x@ 1 root root   12 Jan  1  2025 run
"""
RECURSIVE = """\
src:
a.py
lib

src/lib:
b.py
c d.py

src/lib/empty:

src/web:
index.html
"""
FOUND = "".join(f"./src/pkg{n % 3}/file{n}.py\n" for n in range(9))
DRAWN = """\
.
├── README.md
├── src
│   ├── a.py
│   └── lib
│       └── b.py
└── web
    └── index.html

3 directories, 4 files
"""


@pytest.mark.parametrize(
    ("text", "folders", "paths"),
    [(LONG, 1, 4), (RECURSIVE, 4, 5), (FOUND, 3, 9), (DRAWN, 4, 7)],
)
def test_every_kind_of_listing(text, folders, paths):
    log = Log.of(text)
    assert list(REDUCER.find(log)) == [Span(0, len(log))]
    assert REDUCER.read(log).found().counts == {"folders": folders, "paths": paths}
    assert REDUCER.read(log).found().files == ()
    assert Output(text).tool == "listing"


def without_tokens(result):
    return {noun: count for noun, count in result.dropped.items() if noun != "tokens"}


def test_entries_stand_in_their_directory():
    assert dict(REDUCER.read(Log.of(DRAWN)).entries) == {
        ".": ["README.md", "src", "web"],
        "./src": ["a.py", "lib"],
        "./src/lib": ["b.py"],
        "./web": ["index.html"],
    }
    assert dict(REDUCER.read(Log.of(RECURSIVE)).entries) == {
        "src": ["a.py", "lib"],
        "src/lib": ["b.py", "c d.py"],
        "src/lib/empty": [],
        "src/web": ["index.html"],
    }
    assert REDUCER.read(Log.of(DRAWN)).verdict == "3 directories, 4 files"


def test_every_directory_is_named_and_what_is_left_out_is_counted():
    text = "".join(f"src/pkg{n}/module_{m}.py\n" for n in range(12) for m in range(100))
    result = reduce(text, 1_000)
    assert result.tool == "listing"
    for n in range(12):
        assert f"src/pkg{n}: 100 entries" in result.text
    shown = sum(line.startswith("  module_") for line in result.text.splitlines())
    assert shown > 48
    assert without_tokens(result) == {"paths": 1_200 - shown}


def test_deep_directories_are_summed_up_where_there_are_too_many():
    text = "".join(f"src/area{n % 5}/deep{n}/a.py\n" for n in range(1_000))
    result = reduce(text, 400)
    assert "src/area0: 200 entries" in result.text
    assert "  deep0/a.py" in result.text
    assert result.tokens_after <= 400


@pytest.mark.parametrize(
    "text",
    [
        "and/or\neither/or\nyes/no\n",
        "".join(f"https://x.example/{n}\n" for n in range(20)),
        "".join(f"src/a{n}.py: something\n" for n in range(20)),
        "".join(f"step {n}/20 done\n" for n in range(20)),
        "jobs:\n  build:\n    runs-on: x\n\nother:\n  a: b\n",
        "Steps:\nfirst\n\nThen:\nsecond\n",
        "+ a/b\n" * 20,
    ],
)
def test_what_only_looks_like_a_listing_is_not_claimed(text):
    assert list(REDUCER.find(Log.of(text))) == []


def test_a_listing_among_other_lines_is_found():
    assert list(REDUCER.find(Log.of(f"$ find\n{FOUND}done.\n$ ls -l\n{LONG}$\n"))) == [
        Span(1, 10),
        Span(12, 17),
    ]


def test_one_folder_stands_once_however_its_path_ends():
    deep = "".join(f"/srv/app/pkg{n}/inner/module_{m}.py\n" for n in range(40) for m in range(8))
    text = "".join(f"/srv/app/file_{n}.py\n" for n in range(9)) + deep
    for limit in (100, 200, 400):
        heads = [
            line.split(":")[0] for line in reduce(text, limit).text.split("\n") if ": " in line
        ]
        assert len({head.rstrip("/") for head in heads}) == len(heads), heads


def test_a_long_folder_fills_a_small_room():
    rows = "".join(f"-rwxr-xr-x 1 root root {n * 37} Jan 14 2023 program-{n}\n" for n in range(900))
    result = reduce(rows, 400)
    assert result.tool == "listing"
    assert result.tokens_after > 300
