"""Stack traces of the JVM in plain logs: causes, loggers, libraries."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.reducers import java_stack
from policies.reducers.formats.java_trace import REDUCER
from policies.reducers.log import Log, Span
from policies.reducers.reduction import Output
from policies.reducers.room import Room
from sim.tokens import tokenizer

CAUSED = """\
Exception in thread "main" shop.ShopException: cannot open
\tat shop.Shop.open(Shop.java:31)
\tat shop.Main.main(Main.java:9)
Caused by: java.io.IOException: no key
\tat java.base/java.io.FileInputStream.open0(Native Method)
\tat java.base/java.io.FileInputStream.open(FileInputStream.java:213)
\tat shop.Keys.load(Keys.java:77)
\t... 2 more
"""
LOGGED = """\
12:00:01 ERROR [http-1] s.Web - failed
shop.web.WebError: many
words
\tat shop.web.Web.get(Web.kt:5) ~[shop.jar:1.0]
\tat org.springframework.web.Servlet.service(Servlet.java:1) ~[spring.jar:6]
"""


def form(text):
    return REDUCER.read(Log.of(text))


def found(text):
    return form(text).found()


def laid(text, limit=4000):
    return form(text).lay(Room(limit, tokenizer())).text


def spans(text):
    return list(REDUCER.find(Log.of(text)))


def test_the_last_cause_counts_and_what_wrapped_it_is_told():
    text = "start\n" + CAUSED + "end\n"
    assert spans(text) == [Span(1, 9)]
    assert found(text).failures == (("shop.Keys.load(Keys.java:77)",),)
    lines = laid(text).splitlines()
    assert lines[:2] == [
        "java.io.IOException: no key (shop.Keys.load(Keys.java:77))",
        "    the cause of: shop.ShopException: cannot open",
    ]
    assert "  at Keys.java:77 in shop.Keys.load" in lines
    assert Output(text).tool == "java-trace"


def test_a_logged_trace_with_archives_and_a_message_of_two_lines():
    assert spans(LOGGED) == [Span(1, 5)]
    assert found(LOGGED).failures == (("shop.web.Web.get(Web.kt:5)",),)
    lines = laid(LOGGED).splitlines()
    assert lines[:2] == ["shop.web.WebError: many (shop.web.Web.get(Web.kt:5))", "    words"]


def test_repeats_count_once_and_one_file_name_in_two_packages_twice():
    other = LOGGED.replace("shop.web.Web.", "shop.old.Web.")
    text = LOGGED * 3 + other
    assert found(text).counts == {"exceptions": 4}
    assert len(found(text).failures) == 2
    assert "(+2 more)" in laid(text)


@pytest.mark.parametrize("before", ["web-1  | ", "[ERROR] "])
def test_something_may_stand_before_each_line(before):
    text = "".join(before + line + "\n" for line in CAUSED.splitlines())
    assert found(text).failures == found(CAUSED).failures
    assert spans(text) == [Span(0, 8)]


@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("shop.Main.main", True),
        ("app//shop.Main.main", True),
        ("java.base/java.lang.Thread.run", False),
        ("org.junit.Assert.fail", False),
        ("kotlin.Result.getOrThrow", False),
        ("javaland.Main.main", True),
    ],
)
def test_what_is_in_the_project(name, own):
    assert java_stack.in_project(name, "A.java") is own
    assert not java_stack.in_project(name, "Native Method")


@pytest.mark.parametrize(
    "text",
    [
        "    at total (/srv/app/cart.js:12:9)\n",
        "look at shop.Main(Main.java:9)\n",
        "   at Shop.Main(String[] a) in C:\\shop\\Main.cs:line 3\n",
        "src/Main.java:9: error: ';' expected\n",
        "",
    ],
)
def test_what_others_print_is_not_claimed(text):
    assert spans(text) == []
    assert form(text) is None


@given(st.lists(st.sampled_from([*(CAUSED + LOGGED).splitlines(), "x", ""]), max_size=40))
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
