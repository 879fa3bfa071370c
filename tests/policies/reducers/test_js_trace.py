"""Stacks of JavaScript in plain logs: frames of any form, rejections, excerpts, causes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.reducers import js_stack
from policies.reducers.formats.js_trace import REDUCER
from policies.reducers.log import Log, Span
from policies.reducers.reduction import Output
from policies.reducers.room import Room
from policies.reducers.tracebacks import Frame
from sim.tokens import tokenizer

UNCAUGHT = """\
/srv/shop/cart.js:12
  throw new CartError('no price')
  ^

CartError: no price
    at total (/srv/shop/cart.js:12:9)
    at /srv/shop/node_modules/express/lib/router.js:3:1
    at async Promise.all (index 0)
    at async run (file:///srv/shop/main.mjs:3:1) {
  code: 'E_CART',
  [cause]: Error: inner
      at /srv/shop/deep.js:1:2
}

Node.js v20.1.0
"""
WARNED = """\
(node:7) UnhandledPromiseRejectionWarning: TypeError [ERR_X]: no function
    at Object.<anonymous> (C:\\shop\\a.js:4:2)
    at Module._compile (node:internal/modules/cjs/loader:1256:14)
"""


def form(text):
    return REDUCER.read(Log.of(text))


def found(text):
    return form(text).found()


def laid(text, limit=4000):
    return form(text).lay(Room(limit, tokenizer())).text


def spans(text):
    return list(REDUCER.find(Log.of(text)))


def test_an_uncaught_error_with_its_excerpt_properties_and_cause():
    text = "start\n" + UNCAUGHT + "end\n"
    assert spans(text) == [Span(1, 16)]
    assert found(text).failures == (("/srv/shop/cart.js:12",),)
    assert found(text).counts == {"exceptions": 1}
    lines = laid(text).splitlines()
    assert lines[0] == "CartError: no price (/srv/shop/cart.js:12)"
    assert lines[1] == "    [cause]: Error: inner"
    assert "  at /srv/shop/cart.js:12 in total" in lines
    assert Output(text).tool == "js-trace"


def test_a_rejection_is_known_by_its_error():
    assert spans(WARNED) == [Span(0, 3)]
    assert laid(WARNED).startswith("TypeError [ERR_X]: no function (C:\\shop\\a.js:4)")


def test_repeats_count_once_and_another_type_or_line_does_not():
    other = WARNED.replace("TypeError", "RangeError")
    text = WARNED * 3 + other + WARNED.replace("a.js:4", "a.js:5")
    assert found(text).counts == {"exceptions": 5}
    assert len(found(text).failures) == 3
    assert "(+2 more)" in laid(text)


@pytest.mark.parametrize(
    ("what", "frame"),
    [
        ("total (/srv/a.js:12:9)", Frame("/srv/a.js", 12, "total")),
        ("async total (/srv/a.js:12:9)", Frame("/srv/a.js", 12, "total")),
        ("new Cart (src/a.ts:1:2)", Frame("src/a.ts", 1, "new Cart")),
        ("Cart.add [as push] (src/a.ts:1:2)", Frame("src/a.ts", 1, "Cart.add")),
        ("/srv/my shop/a.js:3:4", Frame("/srv/my shop/a.js", 3)),
        ("check src/a.ts:3:4", Frame("src/a.ts", 3, "check")),
        ("file:///srv/a.mjs:3:4", Frame("file:///srv/a.mjs", 3)),
        ("eval (eval at f (/srv/a.js:1:2), <anonymous>:1:5)", Frame("<anonymous>", 1, "eval")),
        ("f (C:\\shop\\a.js:3:4) {", Frame("C:\\shop\\a.js", 3, "f")),
        ("Promise.all (index 0)", None),
        ("new Promise (<anonymous>)", None),
        ("Array.map (native)", None),
        ("once", None),
        ("shop.Main.main(Main.java:9)", None),
    ],
)
def test_frames(what, frame):
    assert js_stack.frame_of(what) == frame


@pytest.mark.parametrize(
    ("path", "own"),
    [
        ("src/a.ts", True),
        ("/srv/node_modules/x/a.js", False),
        ("C:\\shop\\node_modules\\x\\a.js", False),
        ("node:internal/timers", False),
        ("internal/timers.js", False),
        ("timers.js", False),
        ("file:///srv/node_modules_of_mine/a.js", True),
    ],
)
def test_what_is_in_the_project(path, own):
    assert js_stack.in_project(path) is own


@pytest.mark.parametrize(
    "text",
    [
        "\tat shop.Main.main(Main.java:9)\n",
        "   at Shop.Main(String[] a) in C:\\shop\\Main.cs:line 3\n",
        "look at a.js:1:2\n",
        "    at noon\n",
        "",
    ],
)
def test_what_others_print_is_not_claimed(text):
    assert spans(text) == []
    assert form(text) is None


@given(st.lists(st.sampled_from([*(UNCAUGHT + WARNED).splitlines(), "x", ""]), max_size=40))
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
