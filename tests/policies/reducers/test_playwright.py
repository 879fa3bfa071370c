"""Playwright: failures, retries, flaky tests, figures."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.reducers.formats.playwright import REDUCER
from policies.reducers.log import Log
from policies.reducers.room import Room
from sim.tokens import tokenizer

ERROR = """
    Error: expect(locator).toHaveText(expected) failed

    Expected string: "3"
    Received string: "2"

       4 |   await page.goto('/')
    >  5 |   await expect(page.locator('#total')).toHaveText('3')
         |                                        ^
       6 | })
        at check (/srv/tests/help.ts:5:40)
        at /srv/tests/cart.spec.ts:9:3

    Retry #1 ───────────────────────────────────────────────────

    Error: another
        at /srv/tests/cart.spec.ts:9:3

"""
RUN = (
    "Running 4 tests using 2 workers\n\n"
    "  1) [chromium] › tests/cart.spec.ts:3:5 › cart › sums ──────────\n" + ERROR
    + "  2) [firefox] › tests/cart.spec.ts:3:5 › cart › sums ──────────\n" + ERROR
    + "  3) [firefox] › tests/slow.spec.ts:1:1 › slow ─────────────────\n\n    Error: slow\n\n"
    + "  2 failed\n    [chromium] › tests/cart.spec.ts:3:5 › cart › sums ──────\n"
    + "    [firefox] › tests/cart.spec.ts:3:5 › cart › sums ───────\n"
    + "  1 flaky\n    [firefox] › tests/slow.spec.ts:1:1 › slow ──────\n  1 passed (4.2s)\n"
)  # fmt: skip


def form(text):
    return REDUCER.read(Log.of(text))


def found(text):
    return form(text).found()


def test_a_flaky_test_is_no_failure_and_one_place_is_one():
    assert found(RUN).failures == (
        (
            "[chromium] › tests/cart.spec.ts:3:5 › cart › sums",
            "[firefox] › tests/cart.spec.ts:3:5 › cart › sums",
        ),
    )
    assert found(RUN).counts == {"failed": 2, "flaky": 1, "passed": 1}
    text = form(RUN).lay(Room(2000, tokenizer())).text
    assert "  at /srv/tests/help.ts:5 in check: await expect(page.locator('#total'))" in text
    assert 'Expected string: "3"' in text
    assert "another" not in text
    assert text.endswith("2 failed\n1 flaky\n1 passed (4.2s)")


def test_the_span_ends_with_the_figures():
    text = "$ npx playwright test\n" + RUN + "\nServing HTML report\n"
    lines = Log.of(text).lines
    (span,) = REDUCER.find(Log.of(text))
    assert lines[span.start].startswith("Running 4 tests")
    assert lines[span.stop - 1] == "  1 passed (4.2s)"


def test_a_run_that_breaks_off():
    text = RUN[: RUN.index("  2 failed")]
    assert len(found(text).failures) == 2


@pytest.mark.parametrize("text", ["  3 passed\n", "  1) a › b\n", "    home › shop\n", ""])
def test_what_others_print_is_not_claimed(text):
    assert list(REDUCER.find(Log.of(text))) == []
    assert form(text) is None


@given(st.lists(st.sampled_from([*RUN.splitlines(), "x"]), max_size=40))
def test_any_order_of_its_lines_can_be_read(lines):
    log = Log.of("\n".join(lines))
    assert all(0 <= span.start < span.stop <= len(log) for span in REDUCER.find(log))
    read = REDUCER.read(log)
    if read is not None:
        assert tokenizer().count(read.lay(Room(100, tokenizer())).text) <= 100
