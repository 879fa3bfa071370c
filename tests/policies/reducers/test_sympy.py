"""SymPy's own runner, on small logs written by hand."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.reducers.formats.sympy import REDUCER
from policies.reducers.log import Log, Span
from policies.reducers.room import Room
from sim.tokens import tokenizer

RULE = "_" * 80
HEAD = (
    f"{'=' * 29} test process starts {'=' * 30}\n"
    "executable:         /usr/bin/python3  (3.12.4-final-0) [CPython]\n\n"
    "sympy/core/tests/test_shop.py[4] \ntest_total E\ntest_sum E\ntest_open F\n"
    "test_ok ok                                             [FAIL]\n\n"
)


def block(test, *frames, raised):
    below = "".join(f'  File "{f}", line {line}, in f\n    call()\n' for f, line in frames)
    return f"{RULE}\n___________ {test} ____________\n{below}{raised}\n"


TOTAL, SUM, OPEN = (f"sympy/core/tests/test_shop.py:test_{n}" for n in ("total", "sum", "open"))
VERDICT = "tests finished: 1 passed, 1 failed, 2 exceptions, in 1.61 seconds"
RUN = (
    HEAD
    + block(TOTAL, ("/srv/sympy/core/tests/test_shop.py", 9), ("/srv/sympy/core/add.py", 31),
            ("/usr/lib/python3.12/collections/__init__.py", 62), raised="TypeError: no")
    + block(SUM, ("/srv/sympy/core/tests/test_shop.py", 14), ("/srv/sympy/core/add.py", 31),
            raised="TypeError: no")
    + block(OPEN, ("/srv/sympy/core/tests/test_shop.py", 20), raised="AssertionError\n")
    + f"\n============ {VERDICT} ============\nDO *NOT* COMMIT!\n"
)  # fmt: skip


def read(text):
    return REDUCER.read(Log.of(text))


def test_same_place_and_type_is_one_failure():
    found = read(RUN).found()
    assert found.failures == ((TOTAL, SUM), (OPEN,))
    assert found.counts == {"passed": 1, "failed": 1, "errors": 2}


def test_the_run_ends_with_its_warning_not_to_commit():
    text = f"before\n{RUN}after\n"
    assert list(REDUCER.find(Log.of(text))) == [Span(1, 1 + len(RUN.splitlines()))]


def test_a_verdict_of_two_lines_and_other_counts():
    text = RUN.replace(
        f"============ {VERDICT} ============",
        " tests finished: 98 passed, 2 failed, 3 skipped, 2 expected to fail, \n"
        "1 expected to fail but passed, 6 exceptions, \nin 1.61 seconds ",
    )
    assert read(text).found().counts["passed"] == 98
    wrapped = RUN.replace(
        f"============ {VERDICT} ============",
        " tests finished: 98 passed, 1 failed, 2 expected to fail, 6 exceptions, \n"
        "in 1.61 seconds ",
    )
    assert read(wrapped).found().counts == {"passed": 98, "failed": 1, "xfailed": 2, "errors": 6}
    assert read(wrapped).lay(Room(900, tokenizer())).text.endswith("6 exceptions, in 1.61 seconds")


def test_what_is_told():
    text = read(RUN).lay(Room(1_000, tokenizer())).text
    assert text.startswith(f"{TOTAL}: TypeError: no (/srv/sympy/core/add.py:31) (+1 more)\n")
    assert f"{OPEN}: AssertionError (/srv/sympy/core/tests/test_shop.py:20)\n" in text
    assert text.endswith(VERDICT)


def test_what_else_the_run_printed_is_told():
    text = RUN.replace("test_open F", "test_open F\ncache is cold\n")
    told = read(text).lay(Room(1_000, tokenizer())).text.splitlines()
    at = told.index("--- other output of the run ---")
    assert [line for line in told[at + 1 :] if line.strip()] == [
        "executable:         /usr/bin/python3  (3.12.4-final-0) [CPython]",
        "cache is cold",
        VERDICT,
    ]


def test_doctests_are_told_by_their_example():
    text = (
        f"{'=' * 30} doctests start {'=' * 30}\n"
        + block("sympy.core.shop.total", ("/srv/sympy/core/shop.py", 7),
                raised="Failed example:\n    total(2)\nExpected:\n    4\nGot:\n    5")
        + "=== tests finished: 3 passed, 1 failed, in 0.10 seconds ===\nDO *NOT* COMMIT!\n"
    )  # fmt: skip
    assert read(text).found().failures == (("sympy.core.shop.total",),)
    assert "Got:" in read(text).lay(Room(500, tokenizer())).text


def test_a_green_run_and_a_cut_one():
    green = HEAD + "=== tests finished: 4 passed, in 0.10 seconds ===\n"
    assert read(green).found().counts == {"passed": 4}
    cut = RUN[: RUN.index("\n============ tests")]
    assert read(cut).found().counts == {"failed": 3}
    assert len(read(cut).found().failures) == 2


@pytest.mark.parametrize(
    "text", ["", "DO *NOT* COMMIT!\n", f"{RULE}\n___ a ___\n", "tests finished\n"]
)
def test_what_is_not_ours(text):
    assert list(REDUCER.find(Log.of(text))) == []
    assert read(text) is None


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from(RUN.splitlines(keepends=True)) | st.text(max_size=20), max_size=30))
def test_any_order_of_lines_can_be_read_and_fits(parts):
    log = Log.of("".join(parts))
    stop = 0
    for span in REDUCER.find(log):
        assert stop <= span.start < span.stop <= len(log)
        stop = span.stop
    form = REDUCER.read(log)
    if form is not None:
        assert tokenizer().count(form.lay(Room(40, tokenizer())).text) <= 40
