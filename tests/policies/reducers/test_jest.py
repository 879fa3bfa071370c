"""Jest: files, tests, suites that cannot be run, the summary that repeats them."""

# ruff: noqa: E501 (the tool writes long lines)

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.reducers.formats.jest import REDUCER
from policies.reducers.log import Log, Span
from policies.reducers.reduction import Output
from policies.reducers.room import Room
from sim.tokens import tokenizer

SUMS = """\
  ● cart › sums

    expect(received).toBe(expected) // Object.is equality

    Expected: 30
    Received: 20

      11 |   cart.add(10)
    > 12 |   expect(cart.total()).toBe(30)
         |                        ^
      13 | })

      at Object.toBe (pkg/cart.test.js:12:24)
      at new Promise (<anonymous>)
      at runTest (node_modules/jest-circus/build/run.js:9:1)

"""
BROKEN = """\
FAIL pkg/broken.test.js
  ● Test suite failed to run

    Cannot find module './gone' from 'pkg/broken.test.js'

    > 1 | require('./gone')
        | ^

      at Resolver._throwModNotFoundError (node_modules/jest-resolve/build/resolver.js:4:1)
      at Object.require (pkg/broken.test.js:1:1)

"""
FIGURES = """\
Test Suites: 2 failed, 1 passed, 3 total
Tests:       1 failed, 1 skipped, 4 passed, 6 total
Snapshots:   0 total
Time:        6.1 s
Ran all test suites.
"""
CONSOLE = "PASS pkg/till.test.js\n  ● Console\n\n    console.log\n      hello\n\n      at log (pkg/till.js:4:11)\n\n"
RUN = "FAIL pkg/cart.test.js (5.2 s)\n" + SUMS + CONSOLE + BROKEN + FIGURES


def form(text):
    return REDUCER.read(Log.of(text))


def found(text):
    return form(text).found()


def laid(text, limit=4000):
    return form(text).lay(Room(limit, tokenizer())).text


def spans(text):
    return list(REDUCER.find(Log.of(text)))


def test_tests_and_broken_suites_are_failures_and_console_output_is_none():
    assert found(RUN).failures == (
        ("pkg/cart.test.js › cart › sums", "cart › sums"),
        ("pkg/broken.test.js › Test suite failed to run", "pkg/broken.test.js"),
    )
    assert found(RUN).counts == {"failed": 1, "passed": 4, "skipped": 1, "failed suites": 2}
    text = laid(RUN)
    assert "(pkg/cart.test.js:12)" in text
    assert "    Expected: 30\n    Received: 20" in text
    assert "  at pkg/cart.test.js:12 in Object.toBe: expect(cart.total()).toBe(30)" in text
    assert "Cannot find module './gone'" in text
    assert text.endswith("Time:        6.1 s")


def test_what_the_summary_repeats_counts_once():
    repeated = (
        "FAIL pkg/cart.test.js\n"
        + SUMS
        + CONSOLE
        + BROKEN
        + "Summary of all failing tests\nFAIL pkg/cart.test.js\n"
        + SUMS
        + BROKEN
        + FIGURES
    )
    assert found(repeated).failures == found(RUN).failures
    assert "(+1 more)" not in laid(repeated)


def test_one_place_that_fails_two_tests_is_one_failure():
    text = RUN.replace(SUMS, SUMS + SUMS.replace("cart › sums", "cart › sums again"))
    first = found(text).failures[0]
    assert first[:2] == ("pkg/cart.test.js › cart › sums", "pkg/cart.test.js › cart › sums again")
    assert "(+1 more)" in laid(text)


def test_the_span_is_the_run_and_a_new_file_begins_another():
    text = "> jest\n\n" + RUN + "\n\nnpm ERR! Test failed.\n\n> jest\n\n" + RUN
    assert len(spans(text)) == 2
    lines = Log.of(text).lines
    assert [lines[s.start] for s in spans(text)] == ["FAIL pkg/cart.test.js (5.2 s)"] * 2
    assert [lines[s.stop - 1] for s in spans(text)] == ["Ran all test suites."] * 2
    assert Output(text).found().counts["failed"] == 2


def test_with_colours_and_a_projects_name():
    text = RUN.replace("FAIL pkg", "\x1b[7m\x1b[31m FAIL \x1b[39m\x1b[27m \x1b[7m web \x1b[27m pkg")
    assert len(found(text).failures) == 2
    assert found(text).failures[0][1] == "cart › sums"


def test_a_verbose_run_without_details_is_told_from_its_marks():
    text = "FAIL a.test.ts\n  cart\n    ✓ adds (3 ms)\n    ✕ sums (4 ms)\n    ○ skipped later\n\n"
    text += "Test Suites: 1 failed, 1 total\nTests:       1 failed, 1 passed, 2 total\n"
    assert found(text).failures == (("sums",),)


def test_a_run_that_breaks_off_keeps_what_it_told():
    text = "PASS a.test.ts\nFAIL b.test.ts\n" + SUMS
    (span,) = spans(text)
    assert span.start == 0
    assert found(text).counts == {"failed": 1}


def test_a_passing_run_is_its_figures():
    text = "PASS a.test.ts\nPASS b.test.tsx (2 s)\n\nTest Suites: 2 passed, 2 total\nTests:       9 passed, 9 total\n"
    assert spans(text) == [Span(0, 5)]
    assert found(text).counts == {"passed": 9}


@pytest.mark.parametrize(
    "text",
    [
        " FAIL  src/a.test.ts > cart > sums\nError: no\n",
        "--- FAIL: TestX (0.00s)\nFAIL\nPASS\nok  \tx\t0.1s\n",
        "PASS: ServiceWorker.js\n",
        "Tests: 3\nTime: 4\n",
        "  ● active (running) since Mon\n",
        "",
    ],
)
def test_what_others_print_is_not_claimed(text):
    assert spans(text) == []
    assert form(text) is None


@given(
    st.lists(
        st.sampled_from([*RUN.splitlines(), "Summary of all failing tests", "  ● "]), max_size=40
    )
)
def test_any_order_of_its_lines_can_be_read(lines):
    log = Log.of("\n".join(lines))
    for span in REDUCER.find(log):
        assert 0 <= span.start < span.stop <= len(log)
    read = REDUCER.read(log)
    if read is not None:
        for limit in (40, 100, 1000):
            assert tokenizer().count(read.lay(Room(limit, tokenizer())).text) <= limit
