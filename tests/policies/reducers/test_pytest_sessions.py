"""Sessions of pytest: where they begin and end, those inside of tests, and what is none."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.reducers.formats.pytest import REDUCER
from policies.reducers.log import Log, Span
from policies.reducers.pytest_marks import verdict_counts
from policies.reducers.pytest_sessions import node, sessions, title_of
from policies.reducers.room import Room
from sim.tokens import tokenizer
from tests.policies.reducers.pytest_samples import (
    EMPTY,
    END,
    FAILURES,
    HEAD,
    LONG_A,
    LONG_B,
    LONG_C,
    RUN,
    SUM,
    SUMMARY,
    TOTAL,
    centred,
    laid,
    lines,
    names,
    read,
)


def test_quiet_has_no_header_and_a_bare_verdict():
    quiet = lines(
        "checking out",
        "",
        "....F...                                                                 [ 50%]",
        "........                                                                 [100%]",
        centred("FAILURES"),
    )
    quiet += LONG_C + lines(
        centred("short test summary info"),
        f"FAILED {EMPTY} - AssertionError: asser...",
        "1 failed, 15 passed in 0.34s",
        "after",
    )
    assert list(REDUCER.find(Log.of(quiet))) == [Span(2, len(quiet.splitlines()) - 1)]
    assert names(quiet) == [(EMPTY,)]
    assert laid(quiet).endswith("\n1 failed, 15 passed in 0.34s")


INNER = RUN.replace("test_cart", "test_inner").replace("TestCart", "TestInner")
APART = INNER.replace("test_empty", "test_blank")


def captured(inner):
    return (
        HEAD
        + FAILURES
        + LONG_A
        + lines(centred("Captured stdout call", "-"))
        + inner
        + LONG_C
        + lines(centred("Captured stdout call", "-"))
        + inner
        + lines(centred("PASSES"), centred("test_other", "_"))
        + lines(centred("Captured stdout call", "-"))
        + inner
        + lines(
            centred("short test summary info"),
            "PASSED tests/test_cart.py::test_other",
            f"FAILED {TOTAL} - TypeError: add() takes no list",
            f"FAILED {EMPTY} - AssertionError: assert 'a - b' ...",
            centred("2 failed, 1 passed in 4.00s"),
        )
    )


@pytest.mark.parametrize(
    "inner",
    [
        INNER,
        INNER + INNER,
        HEAD + FAILURES + LONG_B + lines(centred("Captured stdout call", "-")) + INNER + END,
        APART.removesuffix(END),
        APART.removeprefix(HEAD.replace("test_cart", "test_inner")),
        HEAD,
        END,
    ],
    ids=["whole", "twice", "in itself", "no verdict", "no header", "header", "verdict"],
)
def test_a_session_that_a_test_runs_is_that_tests_own(inner):
    text = captured(inner)
    assert names(text) == [(TOTAL,), (EMPTY,)]
    assert read(text).found().counts == {"failed": 2, "passed": 1}
    assert list(REDUCER.find(Log.of(text))) == [Span(0, text.count("\n"))]


def test_two_sessions_count_apart():
    text = "$ tox\n" + RUN + "py312: exit 1\n" + RUN
    assert len(list(REDUCER.find(Log.of(text)))) == 2
    assert names(text) == [(TOTAL, SUM), (EMPTY,)] * 2
    assert read(text).found().counts == {"failed": 6, "passed": 2, "warnings": 4}
    assert laid(text).count("3 failed, 1 passed") == 2


def test_sessions_with_different_failures_and_captures():
    other = RUN.replace("test_cart.py", "test_pay.py").replace("TestCart", "TestPay")
    assert len(names(RUN + other)) == 4


def test_a_session_that_was_killed_ends_with_its_paragraph():
    text = HEAD.rstrip("\n").replace("[100%]", "[ 33%]") + "\n\nSegmentation fault\n" + RUN
    found = list(REDUCER.find(Log.of(text)))
    assert found[0].start == 0
    assert "Segmentation" in text.splitlines()[found[0].stop + 1]
    assert len(found) == 2


def test_a_log_cut_in_a_failure_keeps_what_there_is():
    text = HEAD + FAILURES + LONG_A + LONG_C
    assert len(read(text).found().failures) == 2
    assert read(text).found().counts == {"failed": 2}


def test_conftest_and_usage_errors():
    text = lines(
        "ImportError while loading conftest '/srv/shop/tests/conftest.py'.",
        "tests/conftest.py:1: in <module>",
        "    import nowhere",
        "E   ModuleNotFoundError: No module named 'nowhere'",
        "",
        "make: *** [test] Error 4",
    )
    assert list(REDUCER.find(Log.of(text))) == [Span(0, 4)]
    assert "ModuleNotFoundError: No module named 'nowhere' (tests/conftest.py:1)" in laid(text)
    usage = lines("ERROR: file or directory not found: tests/nope.py", "", "no tests ran in 0.00s")
    assert "file or directory not found: tests/nope.py" in laid(usage)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "15 passed\n",
        "5 passed (3.2s)\n",
        "ERROR: Could not find a version that satisfies the requirement nowhere\n",
        "ERROR app.py: cannot start\nFAILED to start\n",
        "=== Release notes ===\n____ x ____\n--- a ---\n",
        "=== FAILURES ===\n",
        "PASS src/cart.test.js\nFAIL src/pay.test.js\n",
        "test cart::total ... FAILED\n",
        "[  FAILED  ] Cart.Total\n",
        "Building [ 50%]\n- [1/5]\n",
    ],
)
def test_what_is_not_ours(text):
    assert list(REDUCER.find(Log.of(text))) == []
    assert read(text) is None


@pytest.mark.parametrize(
    ("rest", "expected"),
    [
        (" a.py::test_x - ValueError: a - b", ("a.py::test_x", "ValueError: a - b")),
        (" a.py::test_x", ("a.py::test_x", "")),
        (" a.py::test[a - b] - E: [x] - y", ("a.py::test[a - b]", "E: [x] - y")),
        (" a.py::test[a - b]", ("a.py::test[a - b]", "")),
        (" a.py::test_x - [1] != [2]", ("a.py::test_x", "[1] != [2]")),
        ("[m] (i=1) a.py::test_x - E", ("a.py::test_x [m] (i=1)", "E")),
        (" (i='a b') a.py::test_x - E", ("a.py::test_x (i='a b')", "E")),
    ],
)
def test_ids_and_messages_of_a_summary(rest, expected):
    assert node(rest) == expected


def test_titles():
    assert title_of("a/b.py::C::test_x[d::e]") == "C.test_x[d::e]"
    assert title_of("a/b.py") == "a/b.py"


@pytest.mark.parametrize(
    ("line", "counts"),
    [
        ("1 failed, 2 errors in 0.1s", {"failed": 1, "errors": 2}),
        ("1 error in 3.00 seconds", {"errors": 1}),
        ("no tests ran in 0.01s", {}),
        ("3 apples in 0.1s", None),
        ("2 rerun, 1 warning, 4 subtests passed in 1.0s",
         {"rerun": 2, "warnings": 1, "subtests passed": 4}),
    ],
)  # fmt: skip
def test_counts_of_a_verdict(line, counts):
    assert verdict_counts(line) == counts


PIECES = [HEAD, FAILURES, LONG_A, LONG_B, LONG_C, SUMMARY, END, *RUN.splitlines(keepends=True)]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=30), max_size=30))
def test_any_order_of_lines_can_be_read_and_fits(parts):
    text = "".join(parts)
    log = Log.of(text)
    stop = 0
    for span in REDUCER.find(log):
        assert stop <= span.start < span.stop <= len(log)
        stop = span.stop
    form = REDUCER.read(log)
    if form is not None:
        form.found()
        for limit in (40, 400):
            assert tokenizer().count(form.lay(Room(limit, tokenizer())).text) <= limit


def test_sessions_are_told_apart_by_lines():
    found = sessions(Log.of("a\n" + RUN + "b\n" + RUN))
    size = RUN.count("\n")
    assert [(s.start, s.stop) for s in found] == [(1, 1 + size), (2 + size, 2 + 2 * size)]
