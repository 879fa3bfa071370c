"""unittest, Django's runner and nose, on small logs written by hand."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.reducers.formats.unittest import REDUCER
from policies.reducers.log import Log, Span
from policies.reducers.reduction import reduce
from policies.reducers.room import Room
from sim.tokens import tokenizer

DOUBLE, SINGLE = "=" * 70, "-" * 70


def block(word, test, *frames, raised="ValueError: no", about=()):
    below = [
        line
        for place in frames
        for line in (
            f'  File "{place.rpartition(":")[0]}", line {place.rpartition(":")[2]}, in f',
            "    call()",
        )
    ]
    head = [DOUBLE, f"{word}: {test}", *about, SINGLE]
    trace = ["Traceback (most recent call last):", *below, raised] if frames else [raised]
    return "\n".join([*head, *trace, ""]) + "\n"


def end(ran, verdict):
    return f"{SINGLE}\nRan {ran} tests in 0.012s\n\n{verdict}\n"


CASE = "/usr/lib/python3.12/unittest/case.py:885"
TOTAL = "test_total (shop.tests.CartTest.test_total)"
SUM = "test_sum (shop.tests.CartTest.test_sum)"
OPEN = "test_open (shop.tests.DbTest)"
RUN = (
    "F.E.E\n"
    + block("ERROR", TOTAL, "/srv/shop/tests.py:9", "/srv/shop/cart.py:31")
    + block("ERROR", SUM, "/srv/shop/tests.py:14", "/srv/shop/cart.py:31")
    + block("FAIL", OPEN, "/srv/shop/tests.py:30", CASE, raised="AssertionError: 1 != 2")
    + end(5, "FAILED (failures=1, errors=2)")
)


def read(text):
    return REDUCER.read(Log.of(text))


def spans(text):
    return list(REDUCER.find(Log.of(text)))


def test_same_place_and_type_is_one_failure():
    found = read(RUN).found()
    assert found.failures == ((TOTAL, SUM), (OPEN,))
    assert found.counts == {"tests": 5, "failed": 1, "errors": 2}
    assert spans(RUN) == [Span(0, len(RUN.splitlines()))]


def test_what_is_told():
    text = read(RUN).lay(Room(1_000, tokenizer())).text
    assert text.splitlines()[:4] == [
        f"{TOTAL}: ValueError: no (/srv/shop/cart.py:31) (+1 more)",
        "  at /srv/shop/tests.py:9 in f: call()",
        "  at /srv/shop/cart.py:31 in f: call()",
        f"  also: {SUM}",
    ]
    assert f"{OPEN}: AssertionError: 1 != 2 (/srv/shop/tests.py:30)" in text
    assert text.endswith("Ran 5 tests in 0.012s\nFAILED (failures=1, errors=2)")


def test_the_first_cause_of_a_chain_is_told():
    cause = (
        f"{DOUBLE}\nERROR: {TOTAL}\n{SINGLE}\nTraceback (most recent call last):\n"
        "  File \"/srv/shop/cart.py\", line 31, in f\n    call()\nKeyError: 'price'\n\n"
        "The above exception was the direct cause of the following exception:\n\n"
        'Traceback (most recent call last):\n  File "/srv/shop/tests.py", line 9, in f\n'
        "    call()\nValueError: no\n\n"
    )
    text = "E\n" + cause + end(1, "FAILED (errors=1)")
    assert read(text).lay(Room(500, tokenizer())).text.splitlines()[:3] == [
        f"{TOTAL}: ValueError: no (/srv/shop/tests.py:9)",
        "  caused by KeyError: 'price' (/srv/shop/cart.py:31)",
        "  at /srv/shop/tests.py:9 in f: call()",
    ]


def test_what_tests_print_is_told_in_the_room_that_is_left():
    text = (
        f"{TOTAL} ... ok\nconnected to the shop\n{SUM} ... skipped 'no disk'\n"
        f"test_long (shop.tests.CartTest.test_long)\nIt takes long. ... ok\n{OPEN} ... FAIL\n\n"
        + block("FAIL", OPEN, "/srv/shop/tests.py:30", raised="AssertionError: 1 != 2")
        + end(4, "FAILED (failures=1, skipped=1)")
    )
    told = read(text).lay(Room(600, tokenizer())).text.splitlines()
    at = told.index("--- other output of the run ---")
    assert told[at + 1 :] == [
        "connected to the shop",
        f"{SUM} ... skipped 'no disk'",
        "Ran 4 tests in 0.012s",
        "FAILED (failures=1, skipped=1)",
    ]


def test_frames_of_the_library_do_not_make_failures_one():
    text = (
        block("FAIL", TOTAL, "/srv/shop/tests.py:9", CASE, raised="AssertionError: a")
        + block("FAIL", SUM, "/srv/shop/tests.py:14", CASE, raised="AssertionError: a")
        + end(2, "FAILED (failures=2)")
    )
    assert read(text).found().failures == ((TOTAL,), (SUM,))


def test_verbose_lines_belong_to_the_run():
    text = (
        "Creating test database for alias 'default'...\n"
        "test_ok (shop.tests.CartTest) ... ok\n"
        "test_skip (shop.tests.CartTest) ... skipped 'no browser'\n"
        "test_told (shop.tests.CartTest)\nA line that says what it does ... ok\n"
        "test_total (shop.tests.CartTest) ... ERROR\n\n"
        + block("ERROR", "test_total (shop.tests.CartTest)", "/srv/shop/cart.py:31")
        + end(4, "FAILED (errors=1, skipped=1)")
        + "Destroying test database for alias 'default'...\n"
    )
    lines = text.splitlines()
    assert spans(text) == [Span(1, len(lines) - 1)]
    assert read(text).found().counts == {"tests": 4, "errors": 1, "skipped": 1}


def test_a_docstring_may_be_the_first_line_of_the_run():
    text = "start\ntest_told (shop.tests.CartTest)\nSays what it does ... ok\n" + end(1, "OK")
    assert spans(text) == [Span(1, len(text.splitlines()))]


def test_subtests_count_each_and_share_their_name():
    text = "".join(
        block("FAIL", f"{OPEN} [price] (i={i})", "/srv/shop/tests.py:8", CASE,
              raised=f"AssertionError: {i} != 0\n- {i}\n+ 0\n")
        for i in (1, 2, 3)
    ) + end(1, "FAILED (failures=3)")  # fmt: skip
    (names,) = read(text).found().failures
    assert OPEN in names
    assert {f"{OPEN} [price] (i={i})" for i in (1, 2, 3)} <= set(names)
    told = read(text).lay(Room(1_000, tokenizer())).text
    assert "(+2 more)" in told
    assert "    - 1\n    + 0\n" in told


def test_lines_about_a_test_stand_above_its_rule():
    text = block("ERROR", TOTAL, "/srv/shop/cart.py:31", about=("Says.", "More.")) + end(
        1, "FAILED (errors=1)"
    )
    assert read(text).found().failures == ((TOTAL,),)


def test_captured_output_is_no_traceback():
    text = (
        block("ERROR", TOTAL, "/srv/shop/cart.py:31")
        + "\nStdout:\nTraceback (most recent call last):\n"
        + '  File "/srv/shop/other.py", line 1, in g\nKeyError: 1\n\n'
        + end(1, "FAILED (errors=1)")
    )
    told = read(text).lay(Room(1_000, tokenizer())).text
    assert told.startswith(f"{TOTAL}: ValueError: no (/srv/shop/cart.py:31)\n")


def test_a_module_that_cannot_be_imported():
    text = block(
        "ERROR", "shop.tests (unittest.loader._FailedTest.shop.tests)",
        "/usr/lib/python3.12/unittest/loader.py:137", "/srv/shop/tests.py:3",
        raised="ModuleNotFoundError: No module named 'nowhere'",
    )  # fmt: skip
    text = text.replace("Traceback", "ImportError: Failed to import test module\nTraceback")
    told = read(text + end(1, "FAILED (errors=1)")).lay(Room(400, tokenizer())).text
    assert "No module named 'nowhere' (/srv/shop/tests.py:3)" in told


def test_unexpected_success():
    text = f"{DOUBLE}\nUNEXPECTED SUCCESS: {TOTAL}\n" + end(1, "FAILED (unexpected successes=1)")
    assert read("u\n" + text).found().failures == ((TOTAL,),)
    assert read("u\n" + text).found().counts == {"tests": 1, "xpassed": 1}


@pytest.mark.parametrize(
    ("verdict", "counts"),
    [
        ("OK", {"tests": 3}),
        ("OK (skipped=2)", {"tests": 3, "skipped": 2}),
        ("OK (expected failures=1)", {"tests": 3, "xfailed": 1}),
        ("FAILED (SKIP=1, errors=2)", {"tests": 3, "skipped": 1, "errors": 2}),
    ],
)
def test_last_lines(verdict, counts):
    text = "...\n" + end(3, verdict)
    assert read(text).found().counts == counts
    assert spans(text) == [Span(0, 5)]
    assert read(text).lay(Room(100, tokenizer())).text.endswith(verdict)


def test_two_runs_count_apart():
    text = RUN + "next\n" + RUN
    assert [span.start for span in spans(text)] == [0, len(RUN.splitlines()) + 1]
    assert len(read(text).found().failures) == 4
    assert read(text).found().counts == {"tests": 10, "failed": 2, "errors": 4}


def test_a_log_that_is_cut():
    cut = RUN[: RUN.index(SINGLE + "\nRan")]
    assert len(read(cut).found().failures) == 2
    assert read(cut).found().counts == {"failed": 1, "errors": 2}
    running = "test_a (m.C) ... ok\ntest_b (m.C) ... FAIL\n"
    assert read(running).found().failures == (("test_b (m.C)",),)


def test_nose_names():
    text = (
        "shop.tests.test_total ... ERROR\nshop.tests.test_sum ... ok\n\n"
        + block("ERROR", "shop.tests.test_total", "/srv/shop/cart.py:31")
        + end(2, "FAILED (errors=1)")
    )
    assert spans(text)[0].start == 0
    assert read(text).found().failures == (("shop.tests.test_total",),)


def test_within_a_log_and_under_budget():
    result = reduce("installing\n" * 40 + RUN * 3, 300)
    assert result.tool == "unittest"
    assert result.tokens_after <= 300
    for name in (TOTAL, OPEN):
        assert name in result.text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "OK\n",
        "FAILED (errors=1)\n",
        "ERROR: no such option\nFAIL: x\n",
        "test cart::total ... ok\ntest cart::sum ... ok\n",
        "test src/lib.rs - total (line 3) ... ok\n",
        "  Applying sites.0001_initial... OK\n",
        "Ran 12 tests across 3 files. [1.2s]\n",
        "configuring ... ok\nbuilding ... ok\n",
    ],
)
def test_what_is_not_ours(text):
    assert spans(text) == []
    assert read(text) is None


PIECES = [*RUN.splitlines(keepends=True), RUN, "test_a (m.C) ... ok\n", f"{DOUBLE}\n"]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=30), max_size=30))
def test_any_order_of_lines_can_be_read_and_fits(parts):
    log = Log.of("".join(parts))
    stop = 0
    for span in REDUCER.find(log):
        assert stop <= span.start < span.stop <= len(log)
        stop = span.stop
    form = REDUCER.read(log)
    if form is not None:
        form.found()
        assert tokenizer().count(form.lay(Room(40, tokenizer())).text) <= 40


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 4), st.sampled_from(["KeyError", "OSError"])), min_size=1))
def test_distinct_failures_are_the_distinct_places_and_types(drawn):
    text = "".join(
        block("ERROR", f"test_{number} (m.C)", f"/srv/m.py:{100 + number}", f"/srv/run.py:{place}",
              raised=f"{kind}: {number}")
        for number, (place, kind) in enumerate(drawn)
    ) + end(len(drawn), f"FAILED (errors={len(drawn)})")  # fmt: skip
    found = read(text).found()
    assert len(found.failures) == len(set(drawn))
    assert sum(len(names) for names in found.failures) == len(drawn)
    assert found.counts["errors"] == len(drawn)
