"""The form of a checker's findings: words for all, then words and places, then a count."""

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from policies.reducers.build import Diagnostic
from policies.reducers.diagnostics import checked
from policies.reducers.room import Room
from policies.reducers.survival import survival
from sim.tokens import tokenizer


def form(files, each=3, words=30):
    return checked(
        "checker",
        [
            Diagnostic(0, f"src/f{n}.py", f"src/f{n}.py:{k + 1}: error: " + "word " * words)
            for n in range(files)
            for k in range(each)
        ],
        verdict="the last word",
    )


def room(limit):
    return Room(limit, tokenizer())


def test_all_first_errors_where_they_fit():
    laid = form(5).lay(room(2000))
    assert laid.dropped == {"errors": 10}
    assert laid.text.count("word word") and "src/f4.py:1: error:" in laid.text
    assert "named by place" not in laid.text


def test_places_stand_for_words_where_only_they_fit():
    whole = form(40)
    laid = whole.lay(room(900))
    assert survival(whole.found(), laid.text).files == 40
    assert "src/f39.py:1 (+2 more)" in laid.text
    assert re.search(r"the words of \d+ errors in \d+ files named by place", laid.text)
    assert laid.text.endswith("the last word")
    in_words = laid.text.count(": error:")
    assert laid.dropped == {"errors": 120 - in_words}


def test_what_does_not_fit_at_all_is_counted():
    whole = form(500)
    laid = whole.lay(room(900))
    kept = survival(whole.found(), laid.text).files
    assert laid.dropped["files"] == 500 - kept
    assert f"{3 * (500 - kept):,} errors in {500 - kept:,} files not shown" in laid.text
    assert laid.text.count(": error:") > 1, "some words are kept"


def test_a_file_with_an_error_comes_before_one_with_warnings_alone():
    text = checked(
        "checker",
        [
            Diagnostic(0, "a.py", "a.py:1: odd", error=False),
            Diagnostic(1, "b.py", "b.py:1: odd", error=False),
            Diagnostic(2, "b.py", "b.py:9: bad"),
        ],
    ).lay(room(400))
    assert text.text.splitlines()[:2] == ["b.py:9: bad (+1 more)", "a.py:1: odd"]
    assert text.dropped == {"problems": 1}


@given(
    files=st.integers(0, 60),
    each=st.integers(1, 4),
    words=st.integers(0, 300),
    limit=st.integers(40, 1500),
)
@settings(max_examples=80, deadline=None)
def test_it_fits_and_what_is_missing_is_the_difference(files, each, words, limit):
    whole = form(files, each, words)
    laid = whole.lay(room(limit))
    assert room(limit).count(laid.text) <= limit
    kept = survival(whole.found(), laid.text).files
    assert laid.dropped.get("files", 0) == files - kept
    if laid.dropped:
        assert "left out" in laid.text
