"""JUnit XML: dialects, several documents, broken and hostile ones."""

# ruff: noqa: E501 (the documents have long lines)

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.reducers.formats.junit import REDUCER
from policies.reducers.junit import documents
from policies.reducers.log import Log, Span
from policies.reducers.reduction import Output
from policies.reducers.room import Room
from sim.tokens import tokenizer

MAVEN = """\
<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="shop.CartTest" tests="4" failures="2" errors="1" skipped="1" time="0.2">
  <properties><property name="a" value="b"/></properties>
  <testcase name="adds" classname="shop.CartTest" time="0.1">
    <failure message="expected:&lt;30&gt; but was:&lt;20&gt;" type="java.lang.AssertionError"><![CDATA[java.lang.AssertionError: expected:<30> but was:<20>
\tat org.junit.Assert.fail(Assert.java:88)
\tat shop.CartTest.check(CartTest.java:14)
\tat shop.CartTest.adds(CartTest.java:21)
]]></failure>
    <system-out>two lines
of output</system-out>
  </testcase>
  <testcase name="rounds" classname="shop.CartTest" time="0.1">
    <failure message="expected:&lt;3&gt; but was:&lt;2&gt;" type="java.lang.AssertionError">java.lang.AssertionError: expected:&lt;3&gt; but was:&lt;2&gt;
\tat shop.CartTest.check(CartTest.java:14)
\tat shop.CartTest.rounds(CartTest.java:30)
</failure>
  </testcase>
  <testcase name="opens" classname="shop.CartTest">
    <error message="no key" type="java.lang.IllegalStateException">java.lang.IllegalStateException: no key
\tat shop.Till.open(Till.java:5)
Caused by: java.io.IOException: gone
\tat shop.Keys.read(Keys.java:9)
\t... 1 more
</error>
  </testcase>
  <testcase name="later" classname="shop.CartTest"><skipped/></testcase>
</testsuite>
"""
PYTEST = """\
<?xml version="1.0" encoding="utf-8"?><testsuites name="pytest tests"><testsuite name="pytest" errors="0" failures="1" skipped="0" tests="2" time="0.1"><testcase classname="tests.test_cart" name="test_adds[1-2]" time="0.001"><failure message="AssertionError: assert 3 == 2">def test_adds(a, b):
&gt;       assert total(a, b) == 2
E       assert 3 == 2

tests/test_cart.py:9: AssertionError</failure></testcase><testcase classname="tests.test_cart" name="test_ok" time="0.001" /></testsuite></testsuites>
"""
JEST = """\
<testsuites name="jest tests" tests="2" failures="1" errors="0" time="1.2">
  <testsuite name="cart" errors="0" failures="1" skipped="0" tests="2">
    <testcase classname="cart adds" name="cart adds" time="0.01">
      <failure>Error: expect(received).toBe(expected)
    at Object.toBe (/srv/cart.test.js:12:3)
    at run (/srv/node_modules/jest-circus/run.js:4:1)</failure>
    </testcase>
    <testcase classname="cart ok" name="cart ok"/>
  </testsuite>
</testsuites>
"""


def form(text):
    return REDUCER.read(Log.of(text))


def found(text):
    return form(text).found()


def laid(text, limit=4000):
    return form(text).lay(Room(limit, tokenizer())).text


def test_the_dialect_of_maven():
    assert found(MAVEN).counts == {"tests": 4, "failed": 2, "errors": 1, "skipped": 1}
    assert found(MAVEN).failures == (
        ("shop.CartTest.adds", "shop.CartTest.rounds", "adds", "rounds"),
        ("shop.CartTest.opens", "opens"),
    )
    lines = laid(MAVEN).splitlines()
    assert lines[0] == (
        "shop.CartTest.adds: java.lang.AssertionError: expected:<30> but was:<20>"
        " (CartTest.java:14) (+1 more)"
    )
    assert "shop.CartTest.opens: java.io.IOException: gone (Keys.java:9)" in lines
    assert "    the cause of: java.lang.IllegalStateException: no key" in lines
    assert lines[-1] == "4 tests, 2 failures, 1 errors, 1 skipped in 1 suite"


def test_the_dialect_of_pytest():
    assert found(PYTEST).failures == (("tests.test_cart.test_adds[1-2]", "test_adds[1-2]"),)
    assert "AssertionError: assert 3 == 2 (tests/test_cart.py:9)" in laid(PYTEST)


def test_the_dialect_of_jest():
    assert found(JEST).failures == (("cart adds",),)
    assert "Error: expect(received).toBe(expected) (/srv/cart.test.js:12)" in laid(JEST)
    assert "in 1 suite" in laid(JEST)


@pytest.mark.parametrize(
    "case",
    [
        '<testcase name="a" classname="C"><failure/></testcase>',
        '<testcase name="a" classname="C"><failure message="" type=""></failure></testcase>',
        "<testcase name='a' classname='C'><failure message='no&#10;way'/></testcase>",
        '<n:testcase xmlns:n="urn:x" name="a" classname="C"><n:failure>no</n:failure></n:testcase>',
        '<testcase name="C.a" classname="C"><error>no</error></testcase>',
        '<testcase name="a" class="C"><error type="E">no</error><system-err>x</system-err></testcase>',
    ],
)
def test_a_failure_with_little_to_say(case):
    text = f'<testsuite name="s" tests="1">\n{case}\n</testsuite>\n'
    assert found(text).failures[0][0] == "C.a"
    assert sum(found(text).counts[noun] for noun in ("failed", "errors")) == 1
    assert "C.a" in laid(text, 100)


@pytest.mark.parametrize("state", ['status="notrun"', 'result="skipped"', 'status="disabled"'])
def test_a_state_of_a_test_case_that_did_not_run(state):
    text = f'<testsuite tests="1"><testcase name="a" {state}/></testsuite>'
    assert found(text).counts["skipped"] == 1


def test_a_flaky_test_did_pass():
    text = '<testsuite tests="1"><testcase name="a"><flakyFailure message="x">y</flakyFailure></testcase></testsuite>'
    assert found(text).failures == ()


def test_suites_within_suites_are_counted_once():
    inner = '<testsuite name="i" tests="1" failures="0"><testcase name="a"/></testsuite>'
    text = (
        f'<testsuites>\n<testsuite name="o" tests="1" failures="0">{inner}</testsuite></testsuites>'
    )
    assert found(text).counts["tests"] == 1
    assert "declare" not in laid(text)


def test_figures_that_do_not_add_up_are_said():
    text = MAVEN.replace('failures="2"', 'failures="5"')
    assert "[the suites declare 5 failures]" in laid(text)
    assert "declare" not in laid(MAVEN)


def test_several_documents_in_one_log_are_sections_of_their_own():
    log = "$ cat TEST-*.xml\n" + MAVEN + PYTEST + "between\n" + JEST + "exit 0\n"
    spans = list(REDUCER.find(Log.of(log)))
    whole = Log.of(log).lines
    assert [whole[span.start][:14] for span in spans] == [
        "<?xml version=",
        "<?xml version=",
        "<testsuites na",
    ]
    assert [whole[span.stop - 1][-13:] for span in spans] == [
        "</testsuite>",
        "</testsuites>",
        "</testsuites>",
    ]
    assert found(log).counts == {"tests": 8, "failed": 4, "errors": 1, "skipped": 1}
    assert Output(log).tool == "junit"


def test_a_document_that_is_cut_off_keeps_its_cases_and_says_so():
    text = MAVEN[: MAVEN.index('<testcase name="later"')]
    assert found(text).counts["tests"] == 3
    assert "[the XML is cut off: the test cases up to there count]" in laid(text)
    inside = MAVEN[: MAVEN.index("\tat shop.CartTest.rounds")]
    assert found(inside).counts["failed"] == 2


def test_a_document_whose_beginning_is_missing():
    text = MAVEN[MAVEN.index('  <testcase name="rounds"') :]
    (span,) = REDUCER.find(Log.of(text))
    assert span == Span(0, len(Log.of(text)))
    assert found(text).counts == {"tests": 3, "failed": 1, "errors": 1, "skipped": 1}


def test_a_break_in_the_middle_costs_no_other_test_case():
    text = MAVEN.replace("two lines", "a < b & c")
    assert found(text).failures == found(MAVEN).failures
    assert "[not well-formed XML at line 10: all readable test cases count]" in laid(text)
    assert list(REDUCER.find(Log.of(text))) == [Span(0, len(Log.of(text)))]


def test_no_entity_is_expanded_and_no_file_is_read():
    bomb = '<!DOCTYPE t [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;"><!ENTITY x SYSTEM "file:///etc/hostname">]>\n'
    text = MAVEN.replace("?>\n", "?>\n" + bomb, 1).replace(
        '<testcase name="later"',
        '<testcase name="bomb"><failure>&b;&x;</failure></testcase>\n<testcase name="later"',
    )
    assert found(text).counts["tests"] == 5
    assert "lol" not in laid(text)
    assert "not well-formed XML" in laid(text)


@pytest.mark.parametrize(
    "text",
    [
        "grep: a.py:3:<testsuite name='x' tests='1'>\n",
        "the element <testcase> holds a test\n",
        "<testsuite-x><testcase-y/></testsuite-x>\n",
        "<html><body>testsuite</body></html>",
        '+<testsuite name="s" tests="1"><testcase name="a"/></testsuite>',
        "<testsuite",
        "<testsuites>\n</testsuites>\n",
        "",
    ],
)
def test_what_is_no_report_is_not_claimed(text):
    assert list(REDUCER.find(Log.of(text))) == []
    assert form(text) is None


def test_a_report_in_one_line_and_odd_characters():
    text = '<testsuite tests="1"><testcase name="é日\ud800" classname="C"><failure>no \ufffe</failure></testcase></testsuite>'
    assert found(text).counts["failed"] == 1


@given(st.text(alphabet="<>/&;\"'= \n", max_size=60), st.integers(0, len(MAVEN)))
def test_damage_anywhere_never_fails(damage, at):
    text = MAVEN[:at] + damage + MAVEN[at:]
    log = Log.of(text)
    spans = list(REDUCER.find(log))
    assert all(0 <= span.start < span.stop <= len(log) for span in spans)
    read = REDUCER.read(log)
    if read is not None:
        assert tokenizer().count(read.lay(Room(200, tokenizer())).text) <= 200


@given(st.integers(0, len(MAVEN)))
def test_a_cut_loses_no_case_before_it(at):
    whole = MAVEN[:at]
    cases = [case for document in documents(whole) for case in document.cases]
    complete = whole.count("</testcase>")
    assert len(cases) >= complete
