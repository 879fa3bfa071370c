"""pytest in its modes, on small logs written by hand: what is one failure and what is told."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.reducers.formats.pytest import REDUCER
from policies.reducers.log import Log
from policies.reducers.reduction import Output, reduce
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


def test_same_place_and_type_is_one_failure():
    assert names(RUN) == [(TOTAL, SUM), (EMPTY,)]
    assert read(RUN).found().counts == {"failed": 3, "passed": 1, "warnings": 2}


def test_what_is_told_of_a_failure():
    assert laid(RUN).splitlines() == [
        f"{TOTAL}: TypeError: add() takes no list (shop/cart.py:31) (+1 more)",
        "    and more",
        "  at tests/test_cart.py:9: assert total([1, 2]) == 4",
        "  at shop/cart.py:31: return add(prices)",
        f"  also: {SUM}",
        f"{EMPTY}: AssertionError: assert 'a - b' == 'x' (tests/test_cart.py:20)",
        "      - x",
        "      + a - b",
        "  at tests/test_cart.py:20: assert name == 'x'",
        f"[left out: {RUN.count(chr(10)) - 13} lines of passed tests, source, frames and output; "
        "narrow the call to see more]",
        "--- other output of the run ---",
        "platform linux -- Python 3.12.4, pytest-8.3.4, pluggy-1.5.0",
        "rootdir: /srv/shop",
        "collected 4 items",
        centred("3 failed, 1 passed, 2 warnings in 0.12s"),
    ]


def test_another_type_at_the_same_place_is_another_failure():
    other = LONG_B.replace("TypeError", "ValueError")
    summary = SUMMARY.replace("test_sum - TypeError", "test_sum - ValueError")
    assert names(HEAD + FAILURES + LONG_A + other + LONG_C + summary + END) == [
        (TOTAL,),
        (SUM,),
        (EMPTY,),
    ]


def test_little_room_keeps_every_name_and_then_counts():
    many = [f"tests/test_cart.py::test_{number}" for number in range(40)]
    text = lines(
        centred("test session starts"),
        centred("short test summary info"),
        *(f"FAILED {name} - AssertionError: {'long ' * 90}" for name in many),
        centred("40 failed in 1.00s"),
    )
    form = read(text)
    for limit in (20_000, 4_000, 1_500, 1_100):
        result = form.lay(Room(limit, tokenizer()))
        assert tokenizer().count(result.text) <= limit
        assert all(name in result.text for name in many)
        assert not result.dropped
    result = form.lay(Room(300, tokenizer()))
    shown = [name for name in many if f"{name}\n" in result.text]
    assert shown == many[: len(shown)]
    assert 0 < len(shown) < 40
    assert result.dropped == {"failures": 40 - len(shown), "distinct failures": 40 - len(shown)}
    assert f"{40 - len(shown)} distinct failures not shown" in result.text
    assert result.text.endswith(centred("40 failed in 1.00s"))


def test_the_seed_case_of_no_room_at_all():
    result = read(RUN).lay(Room(40, tokenizer()))
    assert tokenizer().count(result.text) <= 40
    assert result.dropped == {"failures": 3, "distinct failures": 2}


def test_without_titles_in_the_summary_the_title_is_the_name():
    old = HEAD.replace("8.3.4", "3.6.4") + FAILURES + LONG_A + LONG_B + LONG_C
    old += lines(centred("3 failed, 1 passed in 0.12 seconds"))
    assert [known[0] for known in read(old).found().failures] == [
        "TestCart.test_total",
        "test_empty[a - b]",
    ]
    assert read(old).found().counts == {"failed": 3, "passed": 1}


def test_no_traceback_leaves_the_ids():
    bare = HEAD + SUMMARY + END
    assert names(bare) == [(TOTAL,), (SUM,), (EMPTY,)]
    assert "add() takes no list" in laid(bare)


def test_short_style():
    text = HEAD + FAILURES
    for title, line in (("TestCart.test_total", 9), ("TestCart.test_sum", 14)):
        text += lines(
            centred(title, "_"),
            f"tests/test_cart.py:{line}: in {title.split('.')[1]}",
            "    assert total([1, 2]) == 4",
            "           ^^^^^^^^^^^^^",
            "shop/cart.py:31: in total",
            "    return add(prices)",
            "E   TypeError: add() takes no list",
        )
    text += "\n".join(SUMMARY.splitlines()[:3]) + "\n" + lines(centred("2 failed in 1.2s"))
    assert names(text) == [(TOTAL, SUM)]
    assert "at shop/cart.py:31 in total: return add(prices)" in laid(text)


def test_native_style():
    text = HEAD + FAILURES
    for title, line in (("TestCart.test_total", 9), ("TestCart.test_sum", 14)):
        text += lines(
            centred(title, "_"),
            "[gw1] linux -- Python 3.12.4 /srv/venv/bin/python",
            "Traceback (most recent call last):",
            f'  File "/srv/shop/tests/test_cart.py", line {line}, in test',
            "    assert total([1, 2]) == 4",
            '  File "/srv/shop/shop/cart.py", line 31, in total',
            "    return add(prices)",
            "TypeError: add() takes no list",
        )
    text += "\n".join(SUMMARY.splitlines()[:3]) + "\n" + lines(centred("2 failed in 1.2s"))
    assert names(text) == [(TOTAL, SUM)]
    assert "/srv/shop/shop/cart.py:31" in laid(text)


def test_line_style_pairs_lines_with_ids():
    text = (
        HEAD
        + FAILURES
        + lines(
            "/srv/shop/shop/cart.py:31: TypeError: add() takes no list",
            "/srv/shop/shop/cart.py:31: TypeError: add() takes no list",
            "/srv/shop/tests/test_cart.py:20: AssertionError: assert 'a - b' == 'x'",
        )
    )
    assert names(text + SUMMARY + END) == [(TOTAL, SUM), (EMPTY,)]
    assert names(text + END)[0] == ("/srv/shop/shop/cart.py:31",)
    missing = text.replace("/srv/shop/shop/cart.py:31: TypeError: add() takes no list\n", "", 1)
    assert (EMPTY,) in names(missing + SUMMARY + END)


def test_both_ways_to_print_a_path_are_one_place():
    text = (
        HEAD
        + FAILURES
        + LONG_A
        + lines(
            centred("TestCart.test_sum", "_"),
            "Traceback (most recent call last):",
            '  File "/srv/shop/shop/cart.py", line 31, in total',
            "    return add(prices)",
            "TypeError: add() takes no list",
        )
    )
    text += "\n".join(SUMMARY.splitlines()[:3]) + "\n" + lines(centred("2 failed in 1.2s"))
    assert names(text) == [(TOTAL, SUM)]


def test_workers_and_verbose_lines():
    text = lines(
        centred("test session starts"),
        "rootdir: /srv/shop",
        "2 workers [2 items]",
        "",
        f"{TOTAL} ",
        f"[gw0] [ 50%] FAILED {TOTAL} ",
        f"[gw1] [100%] PASSED {SUM} ",
        "",
        centred("1 failed, 1 passed in 1.00s"),
    )
    assert names(text) == [(TOTAL,)]
    plain = lines(
        centred("test session starts"),
        f"{TOTAL} FAILED                        [ 50%]",
        f"{SUM} PASSED                          [ 75%]",
        "tests/test_db.py::test_open ERROR     [100%]",
        centred("1 failed, 1 passed, 1 error in 1.00s"),
    )
    assert names(plain) == [(TOTAL,), ("tests/test_db.py::test_open",)]


def test_errors_of_collection_and_of_fixtures():
    text = lines(
        centred("test session starts"),
        "collected 3 items / 2 errors",
        "",
        centred("ERRORS"),
        centred("ERROR collecting tests/test_a.py", "_"),
        "ImportError while importing test module '/srv/shop/tests/test_a.py'.",
        "Hint: make sure your test modules/packages have valid Python names.",
        "Traceback:",
        "/usr/lib/python3.12/importlib/__init__.py:90: in import_module",
        "    return _bootstrap._gcd_import(name[level:], package, level)",
        "tests/test_a.py:3: in <module>",
        "    import nowhere",
        "E   ModuleNotFoundError: No module named 'nowhere'",
        centred("ERROR at setup of TestDb.test_open", "_"),
        "file /srv/shop/tests/test_db.py, line 5",
        "  def test_open(db):",
        "E       fixture 'db' not found",
        ">       available fixtures: cache, capfd",
        "",
        "/srv/shop/tests/test_db.py:5",
        centred("short test summary info"),
        "ERROR tests/test_a.py",
        "ERROR tests/test_db.py::TestDb::test_open",
        centred("Interrupted: 2 errors during collection", "!"),
        centred("2 errors in 0.40s"),
    )
    assert names(text) == [("tests/test_a.py",), ("tests/test_db.py::TestDb::test_open",)]
    shown = laid(text)
    assert "ModuleNotFoundError: No module named 'nowhere' (tests/test_a.py:3)" in shown
    assert "fixture 'db' not found" in shown
    assert centred("Interrupted: 2 errors during collection", "!") in shown


def test_one_broken_file_is_one_failure_of_all_that_import_it():
    text = HEAD + lines(centred("ERRORS"))
    for name in ("a", "b"):
        text += lines(
            centred(f"ERROR collecting tests/test_{name}.py", "_"),
            f"tests/test_{name}.py:3: in <module>",
            "    import shop.cart",
            'E     File "/srv/shop/shop/cart.py", line 7',
            "E       def total(:",
            "E                 ^",
            "E   SyntaxError: invalid syntax",
        )
    text += lines(
        centred("short test summary info"),
        "ERROR tests/test_a.py - tests/test_a.py:3: in <module>",
        "ERROR tests/test_b.py",
        centred("2 errors in 0.1s"),
    )
    assert names(text) == [("tests/test_a.py", "tests/test_b.py")]
    assert "SyntaxError: invalid syntax (/srv/shop/shop/cart.py:7)" in laid(text)


def test_an_error_and_a_failure_of_one_test_are_two():
    text = HEAD + lines(
        centred("ERRORS"),
        centred("ERROR at teardown of test_x", "_"),
        "tests/conftest.py:4: in db",
        "    raise RuntimeError",
        "E   RuntimeError",
        centred("FAILURES"),
        centred("test_x", "_"),
        "tests/test_x.py:8: in test_x",
        "    assert 0",
        "E   assert 0",
        centred("short test summary info"),
        "FAILED tests/test_x.py::test_x - assert 0",
        "ERROR tests/test_x.py::test_x - RuntimeError",
        centred("1 failed, 1 error in 0.1s"),
    )
    assert names(text) == [("tests/test_x.py::test_x",)] * 2
    assert "AssertionError: assert 0 (tests/test_x.py:8)" in laid(text)


def test_of_a_chain_the_last_exception_counts():
    text = (
        HEAD
        + FAILURES
        + LONG_A.removesuffix("shop/cart.py:31: TypeError\n")
        + lines(
            "shop/cart.py:31: TypeError",
            "",
            "The above exception was the direct cause of the following exception:",
            "",
            "    def test_total(self):",
            ">       raise CartError from error",
            "E       shop.errors.CartError: wrapped",
            "",
            "tests/test_cart.py:12: CartError",
            centred("1 failed in 0.1s"),
        )
    )
    told = laid(text).splitlines()
    at = next(number for number, line in enumerate(told) if "shop.errors.CartError" in line)
    assert "shop.errors.CartError: wrapped (tests/test_cart.py:12)" in told[at]
    assert told[at + 1 : at + 3] == [
        "  caused by TypeError: add() takes no list (shop/cart.py:31)",
        "  at tests/test_cart.py:12: raise CartError from error",
    ]
    short = laid(text, 75)
    assert "; caused by TypeError: add() takes no list" in short
    assert "  at " not in short


def test_all_links_of_a_chain_are_told_the_first_cause_first():
    during = "During handling of the above exception, another exception occurred:"
    direct = "The above exception was the direct cause of the following exception:"
    links = [("KeyError: 'a'", 3), ("ValueError: bad", 7), ("RuntimeError: all", 9)]
    said = [
        lines(
            f"shop/cart.py:{line}: in f",
            "    call()",
            f"E   {raised}",
        )
        for raised, line in links
    ]
    text = (
        HEAD
        + FAILURES
        + lines(centred("test_total", "_"))
        + said[0]
        + lines("", during, "")
        + said[1]
        + lines("", direct, "")
        + said[2]
        + lines(centred("1 failed in 0.1s"))
    )
    assert laid(text).splitlines()[:4] == [
        "test_total: RuntimeError: all (shop/cart.py:9)",
        "  while handling KeyError: 'a' (shop/cart.py:3)",
        "  caused by ValueError: bad (shop/cart.py:7)",
        "  at shop/cart.py:9 in f: call()",
    ]
    assert len(read(text).found().failures) == 1


def test_subtests_are_failures_of_their_own_names():
    text = HEAD + FAILURES
    for number in (1, 2):
        text += lines(
            centred(f"TestCart.test_each [price] (i={number})", "_"),
            "tests/test_cart.py:40: in test_each",
            "    self.assertEqual(price, 0)",
            f"E   AssertionError: {number} != 0",
        )
    text += lines(
        centred("short test summary info"),
        "SUBFAILED[price] (i=1) tests/test_cart.py::TestCart::test_each - AssertionError: 1 != 0",
        "SUBFAILED[price] (i=2) tests/test_cart.py::TestCart::test_each - AssertionError: 2 != 0",
        centred("2 failed, 1 passed, 3 subtests passed in 0.1s"),
    )
    assert names(text) == [
        tuple(f"tests/test_cart.py::TestCart::test_each [price] (i={i})" for i in (1, 2))
    ]
    assert read(text).found().counts["subtests passed"] == 3


def test_a_failure_without_traceback_says_what_it_says():
    text = (
        HEAD
        + FAILURES
        + lines(centred("test_slow", "_"), "took too long", centred("1 failed in 9.1s"))
    )
    assert laid(text).startswith("test_slow: took too long\n")


def test_a_doctest_tells_what_it_expected():
    text = (
        HEAD
        + FAILURES
        + lines(
            centred("[doctest] shop.cart.total", "_"),
            "004 ",
            "005     >>> total([1])",
            "Expected:",
            "    2",
            "Got:",
            "    1",
            "",
            "/srv/shop/shop/cart.py:5: DocTestFailure",
            centred("short test summary info"),
            "FAILED shop/cart.py::shop.cart.total",
            centred("1 failed in 0.1s"),
        )
    )
    shown = laid(text)
    assert shown.startswith("shop/cart.py::shop.cart.total: DocTestFailure (/srv/shop/shop/cart")
    for part in (">>> total([1])", "Expected:", "Got:"):
        assert part in shown


def test_what_hypothesis_found_is_told():
    text = (
        HEAD
        + FAILURES
        + lines(
            centred("test_sorted", "_"),
            "tests/test_p.py:8: in test_sorted",
            "    assert xs == sorted(xs)",
            "E   assert [1, 0] == [0, 1]",
            centred("Hypothesis", "-"),
            "Falsifying example: test_sorted(xs=[1, 0])",
            centred("1 failed in 0.1s"),
        )
    )
    assert "Falsifying example: test_sorted(xs=[1, 0])" in laid(text)


def test_an_internal_error_is_told():
    text = HEAD + lines(
        "INTERNALERROR> Traceback (most recent call last):",
        'INTERNALERROR>   File "/srv/plugin.py", line 3, in hook',
        "INTERNALERROR> RuntimeError: plugin broke",
        centred("no tests ran in 0.10s"),
    )
    assert "INTERNALERROR: RuntimeError: plugin broke" in laid(text)


def test_a_green_run_is_its_verdict():
    text = HEAD.replace("FF.F", "....") + lines(centred("4 passed in 0.12s"))
    assert read(text).found().failures == ()
    assert laid(text).splitlines()[-1] == centred("4 passed in 0.12s")


COVERAGE = lines(
    "Name            Stmts   Miss  Cover   Missing",
    "---------------------------------------------",
    *(f"shop/part{number}.py     100     {number}    {100 - number}%   7-9" for number in range(9)),
    "TOTAL             900     36    96%",
)
REQUIRED = "FAIL Required test coverage of 99% not reached. Total coverage: 96.00%"


@pytest.mark.parametrize(
    "title",
    [
        centred("coverage: platform linux, python 3.12.4-final-0", "-"),
        centred("tests coverage"),
    ],
)
@pytest.mark.parametrize("failing", [True, False])
def test_a_coverage_table_is_told_and_what_it_requires_stays(title, failing):
    failures = FAILURES + LONG_C if failing else ""
    summary = lines(*SUMMARY.splitlines()[:1], SUMMARY.splitlines()[3]) if failing else ""
    verdict = centred("1 failed, 3 passed in 0.12s" if failing else "4 passed in 0.12s")
    text = HEAD + failures + lines(title) + COVERAGE + lines(REQUIRED) + summary + lines(verdict)
    told = laid(text).splitlines()
    assert set(COVERAGE.splitlines()) <= set(told)
    assert told[-2:] == [REQUIRED, verdict]
    assert laid(text, 90).splitlines()[-2:] == [REQUIRED, verdict]
    assert len(read(text).found().failures) == int(failing)
    assert "KeyError" not in laid(text)


def test_required_coverage_without_a_table_below_captured_output():
    text = HEAD + FAILURES + LONG_C + lines(REQUIRED, centred("1 failed in 0.12s"))
    assert laid(text).splitlines()[-2] == REQUIRED


def test_an_error_of_a_plugin_stays_and_one_that_a_test_printed_does_not():
    error = "ERROR: Coverage failure: total of 80 is less than fail-under=90"
    printed = LONG_C.replace("Traceback (most", "ERROR: printed by the test\nTraceback (most")
    text = HEAD + lines(error) + FAILURES + printed + lines(centred("1 failed in 0.12s"))
    assert laid(text).splitlines()[-2] == error
    assert "printed by the test" not in laid(text)
    many = HEAD + lines(*(f"ERROR: number {n}" for n in range(40)), centred("4 passed in 0.12s"))
    assert laid(many, 90).splitlines()[-4:-1] == [f"ERROR: number {n}" for n in (37, 38, 39)]


def test_such_a_line_alone_is_no_session():
    assert list(REDUCER.find(Log.of(lines("ERROR: no such file", REQUIRED, "1 failed")))) == []


def test_what_tests_print_durations_warnings_and_passes_are_told():
    text = HEAD.replace("FF.F", "....") + lines(
        "tests/test_cart.py .RESULT 12 ms",
        ".",
        "tests/test_cart.py::test_a PASSED                              [ 50%]",
        "[gw0] [ 75%] PASSED tests/test_cart.py::test_b ",
        "tests/test_cart.py::test_c SKIPPED (no disk)                   [100%]",
        "tests/test_cart.py::test_d SKIPPED                             [100%]",
        "tests/test_cart.py::test_e ",
        "printed by e",
        "PASSED",
        centred("warnings summary"),
        "tests/test_cart.py::test_a",
        "  /srv/shop/cart.py:4: DeprecationWarning: old",
        centred("PASSES"),
        centred("test_b", "_"),
        centred("Captured stdout call", "-"),
        "said by b",
        centred("slowest durations"),
        "1.20s call     tests/test_cart.py::test_a",
        centred("short test summary info"),
        "PASSED tests/test_cart.py::test_a",
        "SKIPPED [1] tests/test_cart.py:7: no disk",
        centred("3 passed, 1 skipped in 0.12s"),
    )
    told = laid(text).splitlines()
    for line in (
        "collected 4 items",
        "tests/test_cart.py .RESULT 12 ms",
        "tests/test_cart.py::test_c SKIPPED (no disk)                   [100%]",
        "printed by e",
        "  /srv/shop/cart.py:4: DeprecationWarning: old",
        "said by b",
        "1.20s call     tests/test_cart.py::test_a",
        "SKIPPED [1] tests/test_cart.py:7: no disk",
    ):
        assert line in told
    assert not any("PASSED" in line or "test_d" in line for line in told)
    assert "session starts" not in laid(text)
    assert "short test summary" not in laid(text)
    assert told[0].startswith("[left out: 12 lines of passed tests, progress and output;")


@pytest.mark.parametrize("limit", [40, 60, 80, 100, 150, 300, 1_000])
def test_other_lines_take_no_room_of_a_failure_and_are_counted(limit):
    printed = lines(*(f"printed {number} {'word ' * (number % 7)}" for number in range(300)))
    form = read(HEAD + printed + FAILURES + LONG_A + LONG_B + LONG_C + SUMMARY + END)
    room = Room(limit, tokenizer())
    told, plain = form.lay(room), read(RUN).lay(room)
    assert tokenizer().count(told.text) <= limit
    for name in (TOTAL, SUM, EMPTY):
        assert name in told.text or name not in plain.text
    assert "left out" in told.text
    if "other output" in told.text:
        whole = (HEAD + printed + RUN.removeprefix(HEAD)).splitlines()
        shown = [line for line in told.text.splitlines() if not line.startswith(("[", "---"))]
        assert told.dropped["lines"] == len(whole) - len(shown)


def test_a_message_of_several_lines_in_the_summary_is_the_failures():
    text = HEAD + lines(
        centred("short test summary info"),
        "FAILED tests/test_cart.py::test_a - AssertionError: assert 1 == 2",
        "  where 1 is one",
        "SKIPPED [1] tests/test_cart.py:7: no disk",
        centred("1 failed, 1 skipped in 0.12s"),
    )
    assert "where 1 is one" not in laid(text)
    assert "no disk" in laid(text)


def test_windows_utf_16_and_colour():
    text = RUN.replace("shop/cart.py:31", r"C:\work\shop\cart.py:31").replace(
        "FAILED ", "\x1b[31mFAILED\x1b[0m "
    )
    raw = "\ufeff".encode("utf-16-le") + text.replace("\n", "\r\n").encode("utf-16-le")
    output = Output(raw)
    assert output.tool == "pytest"
    assert len(output.found().failures) == 2
    assert r"C:\work\shop\cart.py:31" in output.laid(Room(250, tokenizer())).text


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(1, 6), min_size=1, max_size=12), st.booleans())
def test_distinct_failures_are_the_distinct_places(places, summary):
    """Each test fails at the line drawn for it: a set of lines says how many failures there are."""
    text = HEAD + FAILURES
    for number, place in enumerate(places):
        text += lines(
            centred(f"test_{number}", "_"),
            f"tests/test_x.py:{100 + number}: in test_{number}",
            "    run()",
            f"shop/run.py:{place}: in run",
            "    raise ValueError",
            "E   ValueError",
        )
    if summary:
        text += lines(centred("short test summary info"))
        for number in range(len(places)):
            text += lines(f"FAILED tests/test_x.py::test_{number} - ValueError")
    text += lines(centred(f"{len(places)} failed in 0.1s"))
    found = read(text).found()
    assert len(found.failures) == len(set(places))
    ids = [f"tests/test_x.py::test_{n}" if summary else f"test_{n}" for n in range(len(places))]
    assert sorted(name for known in found.failures for name in known if name in ids) == sorted(ids)
    assert found.counts == {"failed": len(places)}


def test_reduce_recognises_it_inside_a_log():
    before = "".join(f"step {number} of the checkout\n" for number in range(30))
    result = reduce(before + RUN + "exit code 1\n", 400)
    assert result.tool == "pytest"
    assert TOTAL in result.text
    assert EMPTY in result.text
    assert re.search(r"3 failed, 1 passed, 2 warnings in 0.12s", result.text)


def test_of_other_lines_those_that_tell_an_error_come_first():
    printed = [f"printed {'word ' * (number % 7)}{number}" for number in range(300)]
    printed[150] = "OSError: the disk is full"
    text = HEAD.replace("FF.F", "....") + lines(*printed, centred("4 passed in 0.12s"))
    assert printed[150] in laid(text, 300)
