"""Tracebacks of Python in plain logs: chains, groups, prefixes, repeats."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.reducers.formats.python_trace import REDUCER
from policies.reducers.log import Log, Span
from policies.reducers.reduction import Output, reduce
from policies.reducers.room import Room
from sim.tokens import tokenizer

PLAIN = """\
Traceback (most recent call last):
  File "/srv/shop/run.py", line 4, in <module>
    main()
  File "/srv/shop/cart.py", line 31, in total
    return mean(prices)
           ^^^^^^^^^^^^
  File "/usr/lib/python3.12/statistics.py", line 486, in mean
    raise StatisticsError("no data")
statistics.StatisticsError: no data
"""
CAUSE = """\
Traceback (most recent call last):
  File "/srv/shop/run.py", line 9, in <module>
    raise ShopError("closed") from error
shop.ShopError: closed
"""
DIRECT = "\nThe above exception was the direct cause of the following exception:\n\n"
DURING = "\nDuring handling of the above exception, another exception occurred:\n\n"
GROUP = """\
  + Exception Group Traceback (most recent call last):
  |   File "/srv/shop/all.py", line 4, in <module>
  |     raise ExceptionGroup("two", errors)
  | ExceptionGroup: two (2 sub-exceptions)
  +-+---------------- 1 ----------------
    | Traceback (most recent call last):
    |   File "/srv/shop/one.py", line 1, in f
    |     raise ValueError("a")
    | ValueError: a
    +---------------- 2 ----------------
    | TypeError: b
    +------------------------------------
"""
SYNTAX = """\
  File "/srv/shop/bad.py", line 7
    def f(:
          ^
SyntaxError: invalid syntax
"""
FAULT = """\
Fatal Python error: Segmentation fault

Current thread 0x00007f31 (most recent call first):
  File "/srv/shop/native.py", line 5 in call
  File "/srv/shop/main.py", line 9 in main
"""


def form(text):
    return REDUCER.read(Log.of(text))


def found(text):
    return form(text).found()


def laid(text, limit=4000):
    return form(text).lay(Room(limit, tokenizer())).text


def spans(text):
    return list(REDUCER.find(Log.of(text)))


def test_a_traceback_in_a_log_is_what_was_raised_and_where():
    text = "12:00 start\n" + PLAIN + "12:01 go on\n"
    assert spans(text) == [Span(1, 10)]
    assert found(text).failures == (('File "/srv/shop/cart.py", line 31',),)
    assert found(text).counts == {"tracebacks": 1}
    assert laid(text).splitlines()[:1] == [
        'statistics.StatisticsError: no data (File "/srv/shop/cart.py", line 31)'
    ]
    assert "  at /srv/shop/cart.py:31 in total: return mean(prices)" in laid(text)
    output = Output(text)
    assert output.tool == "python-trace"
    assert [section.plain for section in output.sections] == [True, False, True]


@pytest.mark.parametrize("said", [DIRECT, DURING])
def test_a_chain_is_one_traceback_of_which_the_last_counts(said):
    text = PLAIN + said + CAUSE + "next\n"
    assert spans(text) == [Span(0, 16)]
    assert found(text).counts == {"tracebacks": 1}
    assert found(text).failures == (('File "/srv/shop/run.py", line 9',),)
    how = "caused by" if said == DIRECT else "while handling"
    first = f"{how} statistics.StatisticsError: no data"
    told = laid(text).splitlines()
    assert told[0].endswith(f"; {first}")
    assert told[1] == f"  {first} (/srv/shop/cart.py:31)"
    assert told[2].startswith("  at ")


def test_little_room_keeps_the_first_cause_of_a_chain():
    text = PLAIN + DIRECT + CAUSE
    whole = tokenizer().count(text)
    assert "StatisticsError: no data" in reduce(text, min(100, whole - 1)).text


def test_groups_one_below_the_other_are_each_their_own():
    group = (
        "  + Exception Group Traceback (most recent call last):\n"
        '  |   File "/srv/jobs{n}.py", line 5, in run\n'
        "  |     raise ExceptionGroup('jobs', failed)\n"
        "  | ExceptionGroup: jobs (1 sub-exception)\n"
        "  +-+---------------- 1 ----------------\n"
        "    | ValueError: {n}\n"
        "    +------------------------------------\n"
    )
    text = group.format(n=1) + group.format(n=2)
    assert found(text).counts == {"tracebacks": 2}
    assert "with ValueError: 1" in laid(text)
    assert "with ValueError: 2" in laid(text)


def test_repeated_tracebacks_count_once_with_their_number():
    text = (PLAIN + "12:00 again\n") * 3 + CAUSE
    assert found(text).counts == {"tracebacks": 4}
    assert len(found(text).failures) == 2
    assert "(+2 more)" in laid(text)
    assert Output(text).found().failures == found(text).failures


def test_another_type_at_the_same_place_is_another_failure():
    text = PLAIN + "x\n" + PLAIN.replace("statistics.StatisticsError: no", "TypeError: no")
    assert len(found(text).failures) == 2


def test_a_group_is_one_exception_and_ends_with_its_frame():
    text = GROUP + SYNTAX
    assert spans(text) == [Span(0, 12), Span(12, 16)]
    assert "ExceptionGroup: two (2 sub-exceptions)" in laid(text)
    assert 'SyntaxError: invalid syntax (File "/srv/shop/bad.py", line 7)' in laid(text)


def test_a_fatal_error_of_the_interpreter():
    assert spans("a\n" + FAULT + "b\n") == [Span(1, 6)]
    assert laid(FAULT).startswith(
        'Fatal Python error: Segmentation fault (File "/srv/shop/native.py", line 5)'
    )


@pytest.mark.parametrize(
    "before", ["web-1  | ", "2024-05-01T10:00:00.123Z ", "[gw0] ", "Jun 01 10:00:00 host app[7]: "]
)
def test_something_may_stand_before_each_line(before):
    text = "".join(before + line + "\n" for line in (PLAIN + DURING + CAUSE).splitlines())
    assert found(text).failures == (('File "/srv/shop/run.py", line 9',),)
    assert spans(before + "x\n" + text + before + "y\n") == [Span(1, 17)]


def test_a_loggers_words_may_stand_before_the_header():
    text = "ERROR job 7 failed: " + PLAIN
    assert found(text).failures == found(PLAIN).failures
    assert spans(text) == [Span(0, 9)]


def test_a_message_goes_on_with_indented_lines_and_no_further():
    text = PLAIN.rstrip() + "\n  of any kind\n\n  else\nnext\n"
    assert spans(text) == [Span(0, 10)]
    assert "of any kind" in laid(text)


@pytest.mark.parametrize(
    "text",
    [
        "no Traceback (most recent call last): here\n",
        "Traceback (most recent call last):\n",
        "SyntaxError: Unexpected token\n",
        'see File "a.py", line 3\nSyntaxError: x\n',
        "Thread (most recent call first):\n",
        "",
    ],
)
def test_words_alone_are_no_traceback(text):
    assert spans(text) == []
    assert form(text) is None


@given(
    st.lists(
        st.sampled_from([*(PLAIN + DURING + GROUP + SYNTAX + FAULT).splitlines(), "x", " y"]),
        max_size=40,
    )
)
def test_any_order_of_its_lines_can_be_read(lines):
    log = Log.of("\n".join(lines))
    stop = 0
    for span in REDUCER.find(log):
        assert stop <= span.start < span.stop <= len(log)
        stop = span.stop
    read = REDUCER.read(log)
    if read is not None:
        for limit in (40, 100, 1000):
            assert tokenizer().count(read.lay(Room(limit, tokenizer())).text) <= limit
