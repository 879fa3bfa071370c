"""Panics of Rust and Go in plain logs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.reducers.formats.panic import REDUCER
from policies.reducers.log import Log, Span
from policies.reducers.reduction import Output
from policies.reducers.room import Room
from sim.tokens import tokenizer

RUST = """\
thread 'main' panicked at /rustc/9fc6b431/library/core/src/option.rs:14:9:
called `Option::unwrap()` on a `None` value
stack backtrace:
   0: rust_begin_unwind
             at /rustc/9fc6b431/library/std/src/panicking.rs:645:5
   1: shop::till::add
             at ./src/till.rs:14:9
   2: shop::main
             at ./src/main.rs:3:5
note: Some details are omitted, run with `RUST_BACKTRACE=full` for a verbose backtrace.
"""
SHORT = """\
thread 'worker-1' panicked at src/till.rs:20:5:
no coins
left
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace
"""
OLD = "thread 'main' panicked at 'no coins', src/till.rs:20:5\n"
GO = """\
panic: runtime error: index out of range [5] with length 3

goroutine 1 [running]:
sort.Slice({0x1, 0x2})
\t/usr/local/go/src/sort/slice.go:26 +0x4c
main.total(...)
\t/srv/shop/main.go:12
main.main()
\t/srv/shop/main.go:7 +0x1d

goroutine 18 [select]:
shop.wait(0xc000)
\t/srv/shop/wait.go:3 +0x8
created by main.main in goroutine 1
\t/srv/shop/main.go:5 +0x2f
exit status 2
"""


def form(text):
    return REDUCER.read(Log.of(text))


def found(text):
    return form(text).found()


def laid(text):
    return form(text).lay(Room(2000, tokenizer())).text


@pytest.mark.parametrize(
    ("text", "where", "said"),
    [
        (RUST, "./src/till.rs:14", "called `Option::unwrap()` on a `None` value"),
        (SHORT, "src/till.rs:20", "no coins"),
        (OLD, "src/till.rs:20", "no coins"),
        (GO, "/srv/shop/main.go:12", "panic: runtime error: index out of range [5] with length 3"),
    ],
)
def test_a_panic_in_a_log(text, where, said):
    log = "start\n" + text + "end\n"
    assert list(REDUCER.find(Log.of(log))) == [Span(1, 1 + text.count("\n"))]
    assert found(log).failures == ((where,),)
    assert laid(log).startswith(f"{said} ({where})")
    assert Output(log).tool == "panic"


def test_repeats_count_once():
    text = (SHORT + "again\n") * 3 + GO
    assert found(text).counts == {"panics": 4}
    assert len(found(text).failures) == 2
    assert "(+2 more)" in laid(text)


@pytest.mark.parametrize(
    "text", ["panic: at the disco\n", "a.c:1:2: fatal error: x.h: No such file\n", "panicked\n", ""]
)
def test_words_alone_are_no_panic(text):
    assert list(REDUCER.find(Log.of(text))) == []
    assert form(text) is None


@given(st.lists(st.sampled_from([*(RUST + SHORT + OLD + GO).splitlines(), "x"]), max_size=40))
def test_any_order_of_its_lines_can_be_read(lines):
    log = Log.of("\n".join(lines))
    assert all(0 <= span.start < span.stop <= len(log) for span in REDUCER.find(log))
    read = REDUCER.read(log)
    if read is not None:
        assert tokenizer().count(read.lay(Room(100, tokenizer())).text) <= 100
