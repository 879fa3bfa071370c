"""JSON: the outline keeps the shape and is JSON itself, above a notice of what is missing."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.reducers.documents import documents
from policies.reducers.formats.json_document import REDUCER
from policies.reducers.log import Log, Span
from policies.reducers.reduction import Output, reduce
from policies.reducers.room import Room
from sim.tokens import tokenizer


def laid(value, limit, indent=2):
    return REDUCER.read(Log.of(json.dumps(value, indent=indent))).lay(Room(limit, tokenizer()))


def body(text):
    """The text without the lines in brackets that are no JSON: those that begin with a word."""
    lines = text.split("\n")
    words = ("[left out", "[white", "[severities", "[the document")
    return json.loads("\n".join(line for line in lines if not line.startswith(words)))


def test_white_space_goes_first():
    value = {"name": "x", "list": [1, 2, 3], "deep": {"a": [{"b": None}, {"b": True}]}}
    result = laid(value, 60)
    assert body(result.text) == value
    assert result.text.endswith("[white space left out]")
    assert not result.dropped


def test_numbers_and_repeated_keys_stay_as_they_are_written():
    text = '{"a": 1.50, "a": 1e400, "b": -0, "c": 12345678901234567890123, "d": NaN}'
    form = REDUCER.read(Log.of(text))
    assert form.lay(Room(1_000, tokenizer())).text == text


def test_long_arrays_keep_their_first_elements_and_long_strings_their_start():
    value = {"rows": [{"id": n, "text": "word " * 200} for n in range(500)], "total": 500}
    result = laid(value, 800)
    shown = body(result.text)
    assert list(shown) == ["rows", "total"] and shown["total"] == 500
    rows = [row for row in shown["rows"] if isinstance(row, dict)]
    assert [row["id"] for row in rows] == list(range(len(rows)))
    assert len(rows) > 5
    assert shown["rows"][-1] == f"… {500 - len(rows)} more items"
    assert all(row["text"].startswith("word word") for row in rows)
    assert "characters]" in rows[0]["text"]
    assert result.dropped["items"] == 500 - len(rows)
    assert f"[left out: {result.dropped['characters']:,} characters" in result.text


def test_the_room_is_used():
    value = {"rows": [{"id": n, "name": f"row number {n}"} for n in range(2_000)]}
    assert 900 < tokenizer().count(laid(value, 1_000).text) <= 1_000
    assert 900 < tokenizer().count(laid(["ab cd " * 20_000] * 3, 1_000).text) <= 1_000


def test_findings_are_counted_by_severity():
    value = {"found": [{"severity": "High", "id": n} for n in range(300)] + [{"severity": "Low"}]}
    assert Output(json.dumps(value)).found().counts == {"high": 300, "low": 1}
    assert laid(value, 200).text.startswith("[severities in all: high 300, low 1]")


def test_lines_of_json_are_cut_each_and_errors_kept():
    rows = [{"level": "info", "n": n, "message": f"step {n} of many went well"} for n in range(900)]
    rows[431] = {"level": "error", "n": 431, "message": "connection lost"}
    text = "\n".join(json.dumps(row) for row in rows)
    result = reduce(text, 600)
    assert result.tool == "json"
    assert Output(text).found().counts == {"documents": 900, "info": 899, "error": 1}
    assert "connection lost" in result.text
    assert '"n": 0' in result.text
    assert "left out" in result.text and "900 JSON documents" in result.text


@pytest.mark.parametrize("cut", [300, 5_000, 20_001, 33_333])
def test_a_document_that_is_cut_off_is_read_as_far_as_it_goes(cut):
    whole = json.dumps({"rows": [{"id": n, "s": "a, b] }"} for n in range(2_000)]}, indent=1)
    text = whole[:cut]
    found = list(documents(Log.of(text)))
    if cut < 1_000:
        assert not found
        return
    assert [document.cut for document in found] == [True]
    result = REDUCER.read(Log.of(text)).lay(Room(400, tokenizer()))
    assert "[the document is cut off at its end]" in result.text
    assert body(result.text)["rows"][0] == {"id": 0, "s": "a, b] }"}


def test_documents_within_other_lines():
    value = json.dumps({"key": list(range(30))}, indent=1)
    lines = len(value.splitlines())
    text = f"$ curl x\n{value}\n[INFO] not JSON\n[1/2] nor this\n{{no}}\n"
    assert list(REDUCER.find(Log.of(text))) == [Span(1, 1 + lines)]
    assert list(REDUCER.find(Log.of("[INFO] a\n[2026-01-01] b\n[1] c\n{d}\n" * 5))) == []
    assert list(REDUCER.find(Log.of('ok\n{"a": 1}\nend\n'))) == []


def test_it_is_not_nested_too_deep_to_be_shown_or_refused():
    deep = "[" * 300 + "]" * 300
    assert "left out" in REDUCER.read(Log.of(deep)).lay(Room(100, tokenizer())).text
    assert REDUCER.read(Log.of("[" * 200_000)) is None
    assert reduce("[" * 200_000, 100).tokens_after <= 100


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=60),
    lambda inner: (
        st.lists(inner, max_size=12) | st.dictionaries(st.text(max_size=8), inner, max_size=12)
    ),
    max_leaves=120,
)


@given(
    st.lists(values, min_size=1) | st.dictionaries(st.text(), values, min_size=1),
    st.integers(60, 600),
)
@settings(deadline=None, max_examples=80)
def test_an_outline_is_json_and_says_what_is_missing(value, limit):
    result = laid(value, limit)
    assert tokenizer().count(result.text) <= limit
    if not result.text.startswith("[JSON of"):
        shown = body(result.text)
        assert type(shown) in (type(value), str)
        if not result.dropped:
            assert shown == value
    assert bool(result.dropped) == (
        "left out: " in result.text
        or "lines left out;" in result.text
        or "line left out;" in result.text
    )
