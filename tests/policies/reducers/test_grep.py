"""Search results: the first match of each file, then further ones."""

import pytest

from policies.reducers.formats.grep import REDUCER
from policies.reducers.log import Log, Span
from policies.reducers.reduction import Output, reduce
from policies.reducers.room import Room
from sim.tokens import tokenizer

NUMBERED = """\
src/a.py:3:def total(cart):
src/a.py:19:    return total(cart)
src/b.py:7:from a import total
web/c.ts:1:// total
web/c.ts:40:total: number;
"""
CONTEXT = """\
src/my-app/a.py-2-import x
src/my-app/a.py:3:def total(cart):
src/my-app/a.py-4-    return 0
--
src/my-app/a.py-18-
src/my-app/a.py:19:    total(1)
--
src/b-2-c.py-6-
src/b-2-c.py:7:from a import total
src/b-2-c.py:8:total()
"""
HEADED = """\
src/a.py
3:def total(cart):
19:    return total(cart)

web/c.ts
39-interface Cart {
40:  total: number;
41-}
--
90:  total = 1;
"""
BARE = """\
src/a.py:def total(cart):
src/a.py:    return total(cart)
./web/c.ts:// total
./web/c.ts:total: number;
./web/d.ts:total
Binary file web/logo.png matches
"""


def read(text):
    return REDUCER.read(Log.of(text))


@pytest.mark.parametrize(
    ("text", "matches", "files", "first"),
    [
        (NUMBERED, 5, ("src/a.py", "src/b.py", "web/c.ts"), "src/a.py:3:def total(cart):"),
        (CONTEXT, 4, ("src/my-app/a.py", "src/b-2-c.py"), "src/my-app/a.py:3:def total(cart):"),
        (HEADED, 4, ("src/a.py", "web/c.ts"), "src/a.py\n3:def total(cart):"),
        (
            BARE,
            6,
            ("src/a.py", "./web/c.ts", "./web/d.ts", "web/logo.png"),
            "src/a.py:def total(cart):",
        ),
    ],
)
def test_every_mode_of_searching(text, matches, files, first):
    assert list(REDUCER.find(Log.of(text))) == [Span(0, len(text.splitlines()))]
    form = read(text)
    assert form.found().files == files
    assert form.found().counts == {"matches": matches, "files": len(files)}
    assert form.groups[0].title == first
    assert Output(text).tool == "grep"


def without_tokens(result):
    return {noun: count for noun, count in result.dropped.items() if noun != "tokens"}


def test_every_line_of_context_is_shown_where_there_is_room():
    laid = read(CONTEXT).lay(Room(1_000, tokenizer()))
    shown = set(laid.text.splitlines())
    assert {line for line in CONTEXT.splitlines() if line != "--"} <= shown
    assert not laid.dropped


def test_the_first_match_of_every_file_comes_before_the_second_of_any():
    text = "".join(
        f"pkg/mod{file}.py:{line}:    value = compute_{line}(something_{file})\n"
        for file in range(40)
        for line in range(1, 21)
    )
    result = reduce(text, 2_000)
    assert result.tool == "grep"
    for file in range(40):
        assert f"pkg/mod{file}.py:1:    value" in result.text
    shown = sum(":    value" in line for line in result.text.splitlines())
    assert without_tokens(result) == {"matches": 800 - shown}
    assert "of 20 matches left out]" in result.text


def test_files_that_do_not_fit_are_counted():
    text = "".join(f"pkg/module_number_{n}.py:{n}:x = {n}\n" for n in range(1, 401))
    result = reduce(text, 500)
    shown = result.text.count("pkg/module_number_")
    assert 0 < shown < 400
    assert without_tokens(result) == {"files": 400 - shown, "matches": 400 - shown}
    assert f"[left out: {400 - shown} files with {400 - shown} matches; narrow" in result.text


@pytest.mark.parametrize(
    "text",
    [
        "10:32:01 start\n10:32:02 more\n10:32:03 end\n10:32:04 x\n",
        "2026-01-02 10:11:12,345 INFO a\n2026-01-02 10:11:13,345 INFO b\n" * 3,
        "src/a.py:3: error: no  [misc]\nsrc/a.py:9: error: no  [misc]\nb.py:1: error: x\n",
        "a.c:3:5: warning: unused\na.c:4:5: warning: unused\na.c:5:5: note: here\n",
        "a.py:1:1: F401 unused\na.py:2:1: E501 long\nb.py:3:80: E501 long\n",
        "a/b.py:3: in f\na/b.py:4: in g\na/b.py:9: ValueError\n",
        "tests/test_a.py::test_b PASSED\n" * 8,
        "lib/a.py:3: DeprecationWarning: old\n  import x\n" * 5,
        "src/a.py:1:x\n  a line between\n" * 5,
        "https://x.example:80: a\nhttps://x.example:81: b\nhttps://x.example:82: c\n",
        "key: 1\nother: 2\nmore: 3\nlast: 4\nfive: 5\n",
        "src/a.py:3:one match is no search\n",
    ],
)
def test_what_only_looks_like_matches_is_not_claimed(text):
    assert list(REDUCER.find(Log.of(text))) == []


def test_matches_within_other_lines_are_found():
    text = f"$ grep -rn total .\n{NUMBERED}$ echo\nnothing\n"
    assert list(REDUCER.find(Log.of(text))) == [Span(1, 6)]


def test_lines_around_matches_are_counted_where_they_are_not_shown():
    text = "--\n".join(
        f"src/f{n}.py-{n + 9}-def before_{n}():\nsrc/f{n}.py:{n + 10}:    match_{n}()\n"
        f"src/f{n}.py-{n + 11}-    after_{n}\n"
        for n in range(40)
    )
    result = reduce(text + "--\n", 200)
    assert result.tool == "grep" and len(Output(text + "--\n").sections) == 1
    shown = result.text.count(":    match_")
    assert result.text.count("[2 lines around left out]") == shown > 2
    assert f"{40 - shown} files with {40 - shown} matches and {80 - 2 * shown} lines" in result.text
    assert result.dropped["lines around"] == 80


def test_counts_of_matches_are_added_up():
    text = "".join(f"pkg/module_{n}.py:{n % 3}\n" for n in range(60))
    assert Output(text).found().counts == {"matches": 60, "files": 40}
    result = reduce(text, 120)
    shown = [line for line in result.text.split("\n") if line.startswith("pkg/")]
    left = 60 - sum(int(line.rpartition(":")[2]) for line in shown)
    assert f"{40 - len(shown)} files with {left} matches; narrow" in result.text
    assert result.text.endswith("[20 files without a match left out]")
