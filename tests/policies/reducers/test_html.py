"""HTML pages: title, headings and text; scripts, styles and addresses out."""

import pytest

from policies.reducers.formats.html import REDUCER
from policies.reducers.log import Log, Span
from policies.reducers.page import TooDeepError, read_page
from policies.reducers.reduction import Output, reduce

PAGE = """\
<!DOCTYPE html>
<html lang="en"><head><title>The  Shop &amp;
 Co</title><style>p { color: red }</style>
<script>var a = "<p>no</p>";</script></head>
<body><nav><a href="/x">Home</a></nav>
<h1>Orders</h1>
<p>Two <b>bold</b> words,
   and a <a href="https://x.example/long/address">link</a>.</p>
<ul><li>first<li>second</ul>
<table><tr><th>name</th><th>price</th></tr><tr><td>tea</td><td>3 €</td></tr></table>
<pre>
def f():
    return 1
</pre>
<img src="a.png" alt="a cup"><!-- hidden -->
<h2>Returns</h2>text&nbsp;here<br>next
<footer>Imprint</footer>
</body></html>
"""


def test_what_a_page_says():
    page = read_page(PAGE)
    assert page.title == "The Shop & Co"
    assert page.lines == [
        "# Orders",
        "Two bold words, and a link.",
        "- first",
        "- second",
        "name | price",
        "tea | 3 €",
        "def f():",
        "    return 1",
        "[image: a cup]",
        "## Returns",
        "text here",
        "next",
    ]
    assert [page.lines[at] for at in page.headings] == ["# Orders", "## Returns"]
    assert page.around == ["Home", "Imprint"]
    assert page.links == 2


def test_a_page_becomes_its_text_with_a_notice():
    page = PAGE.replace("<p>Two", "<script>" + "x = 1;\n" * 500 + "</script><p>Two")
    result = reduce(page, 400)
    assert result.tool == "html"
    assert result.text.startswith("The Shop & Co\n# Orders\nTwo bold words")
    assert "x = 1" not in result.text and "color" not in result.text
    assert "2 link addresses, 2 lines around it; narrow the call" in result.text
    assert Output(page).found().counts == {"headings": 2, "links": 2}


def test_what_does_not_fit_keeps_its_headings_and_marks_its_gaps():
    sections = "".join(
        f"<h2>Section {n}</h2>" + f"<p>{'Words of it go on and on. ' * 20}</p>" * 4
        for n in range(9)
    )
    result = reduce(f"<html><body>{sections}</body></html>", 900)
    assert all(f"## Section {n}" in result.text for n in range(9))
    assert "[gap: " in result.text
    assert result.tokens_after <= 900


def test_a_page_within_the_output_of_a_test_is_not_claimed():
    text = "line of a test\n" * 400 + PAGE + "line of a test\n" * 400
    assert list(REDUCER.find(Log.of(text))) == []
    assert list(REDUCER.find(Log.of("$ curl x\n" + PAGE))) == [Span(1, 1 + len(PAGE.splitlines()))]


@pytest.mark.parametrize(
    "text",
    [
        "<html>",
        "<html><body><p>never closed <b>at all",
        "<html><body>" + "</x>" * 50 + "text",
        "<html><body>a < b && c > d</body></html>",
        "<html><script>never closed",
        "<html><!-- never closed <p>x",
        '<?xml version="1.0" encoding="latin-1"?>\n<html><body>é</body></html>',
        '<!DOCTYPE html [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><html><body>&b;</body></html>',
        "<html><body>" + "&#9999999999; &#0; &unknown; " * 3 + "</body></html>",
    ],
)
def test_broken_pages_are_read_as_far_as_they_go(text):
    page = read_page(text)
    assert "aaaa" not in "".join(page.lines)
    assert reduce(text * 3, 40).tokens_after <= 40


def test_pages_nested_too_deep_are_cut_like_lines():
    deep = "<html><body>\n" + "<div>\n" * 400 + "inside"
    with pytest.raises(TooDeepError):
        read_page(deep)
    result = reduce(deep, 100)
    assert result.text.startswith("<html><body>")
    assert "left out" in result.text


def test_what_stands_outside_the_main_part_is_counted_and_not_shown():
    page = (
        "<html><body><div><h2>Keyboard shortcuts</h2><p>Press S to search</p></div>"
        "<ul><li>Rust theme</li></ul><main><h1>Guide</h1>"
        + "".join(f"<p>Step {n} is long enough to be read.</p>" for n in range(40))
        + "</main><p>Imprint</p></body></html>"
    )
    result = reduce(page, 150)
    assert result.text.startswith("# Guide\nStep 0 is")
    assert "Keyboard" not in result.text and "theme" not in result.text
    assert result.dropped["lines around it"] == 4
    assert Output(page).found().counts["headings"] == 2


def test_a_main_part_that_says_little_hides_nothing():
    page = "<html><body><main>x</main>" + "<p>All the text is here.</p>" * 200 + "</body></html>"
    assert "All the text" in reduce(page, 100).text
