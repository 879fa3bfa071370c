"""The lines of a run that nothing explains, against a naive way to find them."""

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from policies.reducers.aside import aside
from policies.reducers.log import Log, Span

IDLE = re.compile(r"^(?:(?:\.++|ok)(?:\n|\Z))++", re.MULTILINE)
SPANS = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 5)), max_size=4)


def test_blank_ends_of_a_part_go_and_the_numbers_stay():
    log = Log.of("\na\n\nb\n\n....\n\nc\nd\n")
    found = aside(log, [Span(0, 9)], [Span(8, 9)], IDLE)
    assert found.lines == ["a", "", "b", "c"]
    assert [found.number(line) for line in range(4)] == [2, 3, 4, 8]


def test_nothing_is_left_of_a_run_that_is_all_told():
    assert len(aside(Log.of("...\nok"), [Span(0, 2)], [], IDLE)) == 0
    assert len(aside(Log.of(""), [], [], IDLE)) == 0


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(["", "a", "...", "ok", "okay"]), max_size=12), SPANS, SPANS)
def test_every_line_that_says_something_is_there_once(lines, runs, told):
    log = Log(lines)
    count = len(lines)

    def spans(pairs):
        return [Span(min(at, count), min(at + size, count)) for at, size in pairs]

    def inside(line, pairs):
        return any(span.start <= line < span.stop for span in spans(pairs))

    expected = [
        number + 1
        for number, line in enumerate(lines)
        if line in ("a", "okay") and inside(number, runs) and not inside(number, told)
    ]
    found = aside(log, spans(runs), spans(told), IDLE)
    kept = [found.number(at) for at, line in enumerate(found.lines) if line.strip()]
    assert kept == expected


def test_of_very_many_places_the_longest_are_left_out():
    lines = [line for number in range(6_000) for line in ("...", f"said {number}")] + ["ok"] * 9
    found = aside(Log(lines), [Span(0, len(lines))], [], IDLE)
    assert [line for line in found.lines if line.startswith("said")] == lines[1:12_000:2]
    assert "ok" not in found.lines
    assert found.lines.count("...") == 2_001
