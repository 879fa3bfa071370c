"""Diffs: every file with its counts, hunks as room allows."""

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from policies.reducers.formats.diff import REDUCER
from policies.reducers.log import Log, Span
from policies.reducers.reduction import Output, reduce
from policies.reducers.room import Room
from sim.tokens import tokenizer

GIT = """\
diff --git a/shop/cart.py b/shop/cart.py
index 1111111..2222222 100644
--- a/shop/cart.py
+++ b/shop/cart.py
@@ -1,3 +1,4 @@ class Cart:
 one
-two
+two!
+three
 four
@@ -20 +21 @@
-old
+new
diff --git a/docs/old name.md b/docs/new name.md
similarity index 100%
rename from docs/old name.md
rename to docs/new name.md
diff --git a/logo.png b/logo.png
new file mode 100644
index 0000000..3333333
Binary files /dev/null and b/logo.png differ
diff --git a/gone.txt b/gone.txt
deleted file mode 100644
index 4444444..0000000
--- a/gone.txt
+++ /dev/null
@@ -1,2 +0,0 @@
-a
-b
\\ No newline at end of file
diff --git a/run.sh b/run.sh
old mode 100644
new mode 100755
"""


def read(text):
    return REDUCER.read(Log.of(text))


def spans(text):
    return list(REDUCER.find(Log.of(text)))


def without_tokens(result):
    return {noun: count for noun, count in result.dropped.items() if noun != "tokens"}


def test_every_kind_of_change_is_a_file_with_its_counts():
    form = read(GIT)
    found = form.found()
    assert found.counts == {"files": 5, "added": 3, "removed": 4, "hunks": 3}
    assert found.files == (
        "b/shop/cart.py", "docs/new name.md", "b/logo.png", "a/gone.txt", "b/run.sh"
    )  # fmt: skip
    titles = [group.title for group in form.groups]
    assert titles == [
        "b/shop/cart.py +3 −2, 2 hunks",
        "docs/new name.md (renamed from docs/old name.md) +0 −0",
        "b/logo.png (new, binary) +0 −0",
        "a/gone.txt (deleted) +0 −2",
        "b/run.sh (mode changed) +0 −0",
    ]


def test_all_of_it_is_one_span_and_the_lines_around_are_not_in_it():
    text = f"$ git diff\n{GIT}\n$ echo done\ndone\n"
    lines = len(GIT.splitlines())
    assert spans(text) == [Span(1, 1 + lines)]


def test_a_patch_has_its_mail_header_and_its_end():
    text = (
        "From 0123456789abcdef0123456789abcdef01234567 Mon Sep 17 00:00:00 2001\n"
        "From: A <a@b.example>\nSubject: [PATCH] Count the lines\n\n---\n x | 2 +-\n"
        " 1 file changed, 1 insertion(+), 1 deletion(-)\n\n"
        "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n-- \n2.40.0\n"
    )
    assert spans(text) == [Span(0, 16)]
    form = read(text)
    assert form.found().counts["removed"] == 1
    assert "Subject: [PATCH] Count the lines" in form.head


def test_commits_of_a_history_are_one_span():
    commit = "commit {}\nAuthor: A <a@b>\n\n    words\n\n"
    change = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"
    text = commit.format("a" * 40) + change + "\n" + commit.format("b" * 40) + change
    assert spans(text) == [Span(0, 23)]
    assert read(text).found().counts == {"files": 1, "added": 2, "removed": 2, "hunks": 2}


def test_diffs_of_other_tools():
    plain = (
        "diff -ru old/a.c new/a.c\n--- old/a.c\t2026-01-01\n+++ new/a.c\t2026-01-02\n"
        "@@ -1 +1 @@\n-a\n+b\n"
    )
    svn = (
        "Index: a.c\n"
        + "=" * 67
        + "\n--- a.c\t(revision 1)\n+++ a.c\t(working copy)\n@@ -1 +1 @@\n-a\n+b\n"
    )
    bare = "--- a.c\n+++ a.c\n@@ -1 +1 @@\n-a\n+b\n"
    merge = "diff --cc a.c\nindex 1,2..3\n--- a/a.c\n+++ b/a.c\n@@@ -1,1 -1,1 +1,2 @@@\n -a\n++b\n"
    for text, name in ((plain, "new/a.c"), (svn, "a.c"), (bare, "a.c"), (merge, "b/a.c")):
        assert spans(text) == [Span(0, len(text.splitlines()))]
        found = read(text).found()
        assert found.files == (name,)
        assert (found.counts["added"], found.counts["removed"]) == (1, 1)


def test_removed_lines_that_look_like_headers_are_lines():
    text = "--- a\n+++ b\n@@ -1,3 +1,3 @@\n--- x\n-@@ -1 +1 @@\n+++ y\n+diff --git a/q b/q\n z\n"
    found = read(text).found()
    assert found.files == ("b",)
    assert (found.counts["added"], found.counts["removed"]) == (2, 2)


def test_blank_context_a_line_broken_in_two_and_a_cut_end_are_read():
    text = "--- a\n+++ b\n@@ -1,5 +1,6 @@\n x\n\n+first ha\nlf of it\n+next\n-gone\n"
    found = read(text).found()
    assert (found.counts["added"], found.counts["removed"]) == (2, 1)
    assert spans(text) == [Span(0, 9)]


def test_what_only_looks_like_a_diff_is_none():
    for text in (
        "--- title ---\n+++ more +++\ntext\n",
        "@@ -1,2 +1,2 @@\n-a\n+b\n",
        "Index: of the book\n\ntext\n",
        "--- FAIL: TestX (0.00s)\n+++ ok\n",
    ):
        assert spans(text) == []


def big(files, lines):
    draw = random.Random(3)
    parts = []
    for file in range(files):
        parts.append(f"diff --git a/f{file}.py b/f{file}.py\n--- a/f{file}.py\n+++ b/f{file}.py\n")
        parts.append(f"@@ -0,0 +1,{lines} @@\n")
        parts += [f"+value_{n} = {draw.random()}\n" for n in range(lines)]
    return "".join(parts)


def test_all_files_are_named_and_each_cut_is_counted():
    text = big(30, 60)
    result = reduce(text, 2_000)
    assert result.tool == "diff"
    assert result.tokens_after <= 2_000
    assert result.text.startswith(
        "[30 files changed, +1,800 −0 in 30 hunks; header lines left out]"
    )
    for file in range(30):
        assert f"b/f{file}.py +60 −0" in result.text
    shown = sum(line.startswith(("+value", "@@")) for line in result.text.splitlines())
    assert without_tokens(result) == {"lines": 30 * 61 - shown}


def test_files_that_do_not_fit_are_counted():
    result = reduce(big(300, 5), 1_000)
    shown = sum(line.startswith("b/f") for line in result.text.splitlines())
    assert 0 < shown < 300
    assert without_tokens(result) == {"files": 300 - shown, "lines": 300 * 6}
    assert f"[left out: {300 - shown} files with {(300 - shown) * 6:,} lines; narrow" in result.text


@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6), st.integers(0, 3)), max_size=6),
    st.integers(40, 400),
)
@settings(deadline=None, max_examples=60)
def test_counts_agree_with_what_was_written(changes, limit):
    parts = []
    for number, (added, removed, context) in enumerate(changes):
        parts.append(f"diff --git a/f{number} b/f{number}\n--- a/f{number}\n+++ b/f{number}\n")
        parts.append(f"@@ -1,{removed + context} +1,{added + context} @@\n")
        parts.append("-x\n" * removed + " y\n" * context + "+z\n" * added)
    text = "".join(parts)
    output = Output(text)
    if changes:
        assert output.found().counts == {
            "files": len(changes),
            "added": sum(change[0] for change in changes),
            "removed": sum(change[1] for change in changes),
            "hunks": len(changes),
        }
        laid = read(text).lay(Room(limit, tokenizer()))
        assert tokenizer().count(laid.text) <= limit


LOOKS = (
    "a.py:1: error: Missing return statement  [return]",
    "===== 3 failed, 2 passed in 0.12s =====",
    "make: *** [Makefile:9: all] Error 1",
    "npm ERR! code ELIFECYCLE",
)


def added(path, lines):
    body = "".join(f"+{line}\n" for line in lines)
    return (
        f"diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n"
        f"@@ -0,0 +1,{len(lines)} @@\n{body}"
    )


def test_the_lines_of_a_hunk_are_the_files_whatever_they_look_like():
    fresh = added("cases.txt", [*LOOKS, *(f"b{n}.py:{n}: error: bad" for n in range(30))])
    context = (
        "diff --git a/log.txt b/log.txt\n--- a/log.txt\n+++ b/log.txt\n@@ -1,4 +1,5 @@\n"
        + "".join(f" {line}\n" for line in LOOKS)
        + "+end\n"
    )
    text = f"commit 0123abcd\n\n    a.py:3: error: mend it\n\n{fresh}{context}"
    output = Output(text)
    assert output.tool == "diff" and len(output.sections) == 1
    assert output.found().counts == {"files": 2, "added": 35, "removed": 0, "hunks": 2}


def test_a_checker_after_a_diff_keeps_its_lines():
    said = (
        "a.py:1: error: Missing return statement  [return]\n"
        "Found 1 error in 1 file (checked 2 source files)\n"
    )
    assert Output(added("cases.txt", LOOKS) + "\n" + said).tool == "diff+mypy"


def test_a_test_run_that_prints_a_diff_owns_it():
    text = (
        "===== test session starts =====\ncollected 1 item\n\nt.py F\n\n"
        "===== FAILURES =====\n____ test_a ____\n\n    def test_a():\n>       assert 0\n"
        "E       assert 0\n\nt.py:2: AssertionError\n---- Captured stdout call ----\n"
        + added("cases.txt", LOOKS)
        + "===== short test summary info =====\nFAILED t.py::test_a - assert 0\n"
        "===== 1 failed in 0.01s =====\n"
    )
    assert Output(text).tool == "pytest"


def test_changed_words_within_lines_are_counted():
    text = (
        "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1,5 +1,6 @@\n"
        "import os\n\ndef f(x):\n    return [-x-]{+x + 1+}\n{+    # never+}\nprint(f(1))\n"
        "diff --git a/b.py b/b.py\n--- a/b.py\n+++ b/b.py\n@@ -7,3 +7,2 @@ def g():\n"
        "    a = {+2+}\n[-    b = 3-]\n    return a\n"
    )
    output = Output(text)
    assert output.tool == "diff" and len(output.sections) == 1
    assert output.found().counts == {"files": 2, "added": 3, "removed": 2, "hunks": 2}


def test_brackets_in_code_are_no_changed_words():
    text = (
        "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n"
        " x = y[-1:z[-2]]\n-a = w[-i-]\n+a = w[-j-]\n"
    )
    assert Output(text).found().counts == {"files": 1, "added": 1, "removed": 1, "hunks": 1}


def test_in_little_room_the_files_come_before_the_message():
    text = (
        "commit 0123abcd\nAuthor: A Person <a@example.org>\n\n    A long subject of many words\n\n"
    )
    text += added("one.txt", ["line"] * 60) + added("two.txt", ["line"] * 60)
    result = reduce(text, 100)
    assert "one.txt (new) +60" in result.text and "two.txt (new) +60" in result.text
    assert "characters" not in result.text
    assert "[2 files changed, +120 −0 in 2 hunks; header lines left out]" in result.text


def test_in_the_least_room_a_file_stands_beside_the_mark():
    text = added("one.txt", ["a line of some length"] * 60) + added("two.txt", ["line"] * 60)
    result = reduce(text, 40)
    assert "b/one.txt" in result.text and "left out" in result.text
