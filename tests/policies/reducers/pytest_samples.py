"""A run of pytest with three failures of two kinds, in parts, and how the tests read one."""

from policies.reducers.formats.pytest import REDUCER
from policies.reducers.log import Log
from policies.reducers.room import Room
from sim.tokens import tokenizer


def centred(title, fill="=", width=80):
    side = max((width - len(title) - 2) // (2 * len(fill)), 1)
    return f"{fill * side} {title} {fill * side}"


def lines(*parts):
    return "\n".join(parts) + "\n"


HEAD = lines(
    centred("test session starts"),
    "platform linux -- Python 3.12.4, pytest-8.3.4, pluggy-1.5.0",
    "rootdir: /srv/shop",
    "collected 4 items",
    "",
    "tests/test_cart.py FF.F                                                  [100%]",
    "",
)
LONG_A = lines(
    centred("TestCart.test_total", "_"),
    "",
    "self = <tests.test_cart.TestCart object at 0x1>",
    "",
    "    def test_total(self):",
    ">       assert total([1, 2]) == 4",
    "",
    "tests/test_cart.py:9: ",
    "_ " * 40,
    "",
    "    def total(prices):",
    ">       return add(prices)",
    "E       TypeError: add() takes no list",
    "E       and more",
    "",
    "shop/cart.py:31: TypeError",
)
LONG_B = LONG_A.replace("test_total", "test_sum").replace("test_cart.py:9", "test_cart.py:14")
LONG_C = lines(
    centred("test_empty[a - b]", "_"),
    "",
    "    def test_empty(name):",
    ">       assert name == 'x'",
    "E       AssertionError: assert 'a - b' == 'x'",
    "E         - x",
    "E         + a - b",
    "",
    "tests/test_cart.py:20: AssertionError",
    centred("Captured stdout call", "-"),
    "Traceback (most recent call last):",
    '  File "/srv/shop/other.py", line 99, in other',
    "KeyError: 'printed by the test'",
)
SUMMARY = lines(
    centred("short test summary info"),
    "FAILED tests/test_cart.py::TestCart::test_total - TypeError: add() takes no list",
    "FAILED tests/test_cart.py::TestCart::test_sum - TypeError: add() takes no list",
    "FAILED tests/test_cart.py::test_empty[a - b] - AssertionError: assert 'a - b' ...",
)
END = lines(centred("3 failed, 1 passed, 2 warnings in 0.12s"))
FAILURES = lines(centred("FAILURES"))
RUN = HEAD + FAILURES + LONG_A + LONG_B + LONG_C + SUMMARY + END

TOTAL = "tests/test_cart.py::TestCart::test_total"
SUM = "tests/test_cart.py::TestCart::test_sum"
EMPTY = "tests/test_cart.py::test_empty[a - b]"


def read(text):
    return REDUCER.read(Log.of(text))


def names(text):
    """Return the test ids of each distinct failure."""
    return [
        tuple(name for name in known_as if "::" in name or "/" in name) or known_as
        for known_as in read(text).found().failures
    ]


def laid(text, limit=2_000):
    return read(text).lay(Room(limit, tokenizer())).text
