"""pylint: its formats by hand, with repeated code, reports and the rating."""

import pytest

from policies.reducers.formats.pylint import REDUCER
from policies.reducers.log import Log, Span
from policies.reducers.reduction import Output
from policies.reducers.room import Room
from sim.tokens import tokenizer

TEXT = """\
************* Module shop.cart
shop/cart.py:1:0: C0114: Missing module docstring (missing-module-docstring)
shop/cart.py:9:4: E1101: Instance of 'Cart' has no 'taxes' member (no-member)
shop/cart.py:12:0: W0611: Unused import os (unused-import)
************* Module shop.order
shop/order.py:3:0: R0903: Too few public methods (1/2) (too-few-public-methods)
shop/order.py:1:0: R0801: Similar lines in 2 files
==shop.cart:[3:9]
==shop.order:[5:11]
import os
import sys

def pay(amount):
    return amount (duplicate-code)

------------------------------------------------------------------
Your code has been rated at 7.50/10 (previous run: 7.00/10, +0.50)
"""

REPORT = """\
************* Module shop.cart
shop/cart.py:1:0: C0114: Missing module docstring (missing-module-docstring)


Report
======
20 statements analysed.

Statistics by type
------------------

+---------+-------+
|type     |number |
+=========+=======+
|module   |1      |
+---------+-------+



-----------------------------------
Your code has been rated at 9.50/10
"""

OLD = """\
************* Module shop.cart
C:  1, 0: Missing module docstring (missing-docstring)
E: 12,15: Undefined variable 'tax' (undefined-variable)
************* Module shop.order
W0611:  3: Unused import os
"""


def find(text):
    return list(REDUCER.find(Log.of(text)))


def found(text):
    return REDUCER.read(Log.of(text)).found()


def laid(text, limit=4000):
    return REDUCER.read(Log.of(text)).lay(Room(limit, tokenizer())).text


def test_messages_by_sort_and_the_first_error_before_earlier_conventions():
    assert found(TEXT).files == ("shop/cart.py", "shop/order.py")
    assert found(TEXT).counts == {
        "messages": 5,
        "errors": 1,
        "warnings": 1,
        "refactors": 2,
        "conventions": 1,
        "files": 2,
    }
    text = laid(TEXT)
    assert text.startswith("shop/cart.py:9:4: E1101:")
    assert text.endswith("rated at 7.50/10 (previous run: 7.00/10, +0.50)")


def test_repeated_code_and_report_tables_are_in_the_run():
    assert find(TEXT) == [Span(0, len(TEXT.splitlines()))]
    assert find(REPORT) == [Span(0, len(REPORT.splitlines()))]
    no_rating = "\n".join(TEXT.splitlines()[:14]) + "\nafter\n"
    assert find(no_rating) == [Span(0, 14)]


def test_old_text_has_the_module_in_place_of_a_path():
    assert found(OLD).files == ("shop.cart", "shop.order")
    assert found(OLD).counts["errors"] == 1 and found(OLD).counts["messages"] == 3
    assert "shop.cart: E: 12,15: Undefined variable 'tax'" in laid(OLD)


@pytest.mark.parametrize(
    ("line", "file", "errors"),
    [
        ("a/b.py:9: [E1101(no-member), Cart.pay] Instance has no member", "a/b.py", 1),
        ("a/b.py:9: [(unused-import), ] Unused import", "a/b.py", 0),
        ("a\\b.py(9): [F0401(import-error)Cart.pay] Unable to import", "a\\b.py", 1),
        ("::error file=a/b.py,line=9,endline=9,col=4,title=E1101::No member", "a/b.py", 1),
        ("::notice file=a/b.py,line=9,endline=,col=4,title=C0301::Too long", "a/b.py", 0),
        ("C:\\w\\b.py:9:4: E1101: No member (no-member)", "C:\\w\\b.py", 1),
    ],
)
def test_one_line_of_each_format(line, file, errors):
    assert find(line) == [Span(0, 1)]
    assert found(line).files == (file,)
    assert found(line).counts.get("errors", 0) + found(line).counts.get("fatals", 0) == errors


def test_colours_are_nothing_and_a_clean_run_keeps_its_rating():
    coloured = (
        "\x1b[7;33m************* Module a\x1b[0m\na.py:1:0: C0114: \x1b[1mMissing\x1b[0m (x)\n"
    )
    assert Output(coloured).tool == "pylint"
    clean = "\n--------------------------\nYour code has been rated at 10.00/10\n"
    assert find(clean) == [Span(1, 3)]
    assert found(clean).counts == {"messages": 0, "files": 0}


@pytest.mark.parametrize(
    "text",
    [
        "app/main.py:7: [F401] 'os' imported but unused\n",
        "app/main.py:7:1: E401 multiple imports\n",
        "E: Unable to locate package foo\n",
        "log.c:4:2: E1234 is a code of ours\n",
        "W: GPG error: http://example.org stable\n",
    ],
)
def test_lines_of_others_are_not_claimed(text):
    assert find(text) == []
