import builtins
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim import tokens
from sim.errors import InputError
from sim.tokens import BYTES, DEFAULT, TOKENIZERS, tokenizer


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("a", 1),
        ("abcd", 1),
        ("abcde", 2),
        ("é", 1),
        ("日本", 2),
        ("🎉", 1),
        ("a" * 401, 101),
    ],
)
def test_bytes_are_counted_in_quarters_rounded_up(text, count):
    assert tokenizer(BYTES).count(text) == count


# Published by the vocabularies' own library for these names.
@pytest.mark.parametrize(
    ("name", "text", "count"),
    [("o200k", "hello world", 2), ("cl100k", "hello world", 2), ("o200k", "", 0)],
)
def test_a_vocabulary_counts_what_is_known_of_it(name, text, count):
    assert tokenizer(name).count(text) == count


def test_what_looks_like_a_special_token_is_ordinary_text():
    assert tokenizer("o200k").count("<|endoftext|>") > 1


@pytest.mark.parametrize("name", TOKENIZERS)
@settings(deadline=None)
@given(text=st.text(alphabet=st.characters(), max_size=40))
def test_any_text_has_a_count_lone_surrogates_too(name, text):
    count = tokenizer(name).count(text)
    assert 0 <= count <= 4 * max(1, len(text))
    assert (count == 0) == (text == "")


@pytest.mark.parametrize("name", TOKENIZERS)
def test_a_lone_surrogate_counts_as_its_replacement(name):
    assert tokenizer(name).count("a\ud800b") == tokenizer(name).count("a?b")


@pytest.mark.parametrize("name", TOKENIZERS)
def test_a_tokenizer_says_its_name_and_is_loaded_once(name):
    assert tokenizer(name).name == name
    assert tokenizer(name) is tokenizer(name)


def test_the_default_is_a_real_tokenizer():
    assert tokenizer().name == DEFAULT != BYTES


def test_an_unknown_name_is_refused_with_the_nearest():
    with pytest.raises(InputError, match=r"unknown tokenizer 'o200'.*'o200k'"):
        tokenizer("o200")


@pytest.fixture
def without_encoder(monkeypatch):
    real = builtins.__import__

    def fake(name, *args, **kwargs):
        if name == "splintr":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", fake)
    tokens._load.cache_clear()
    yield
    tokens._load.cache_clear()


def test_without_its_encoder_the_default_is_bytes_and_says_so(without_encoder):
    assert tokenizer().name == BYTES


def test_without_its_encoder_a_vocabulary_that_is_asked_for_is_refused(without_encoder):
    with pytest.raises(InputError, match="splintr-rs"):
        tokenizer("cl100k")


def test_the_encoder_is_not_loaded_before_it_is_used():
    code = "import sys, sim.tokens; sys.exit('splintr' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


PUBLISHED = {
    "cl100k": {
        "hello world": [15339, 1917],
        "tiktoken is great!": [83, 1609, 5963, 374, 2294, 0],
        "antidisestablishmentarianism": [519, 85342, 34500, 479, 8997, 2191],
        "2 + 2 = 4": [17, 489, 220, 17, 284, 220, 19],
        "お誕生日おめでとう": [33334, 45918, 243, 21990, 9080, 33334, 62004, 16556, 78699],
    },
    "o200k": {
        "hello world": [24912, 2375],
        "antidisestablishmentarianism": [493, 129901, 376, 160388, 21203, 2367],
        "2 + 2 = 4": [17, 659, 220, 17, 314, 220, 19],
        "お誕生日おめでとう": [8930, 9697, 243, 128225, 8930, 17693, 4344, 48669],
    },
}
"""Ids that the vocabularies' publisher prints in its guide to counting tokens, and its readme."""


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_ids_are_the_published_ones(name):
    for text, ids in PUBLISHED[name].items():
        assert tokenizer(name).encode(text) == ids
        assert tokenizer(name).count(text) == len(ids)


ODD = "aZ09 \t\n\r'’sS/._-+=(){}\\\"<|ßéœЖяあア々的国，。！（）\u0301\u200d\u3099\u2028🎉ⅷ²ǅʼ"
"""Both cases, digits, ends of words, marks, and what looks like a letter or a digit and is not."""


@pytest.mark.parametrize("name", PUBLISHED)
@settings(deadline=None, max_examples=400)
@given(text=st.text(alphabet=ODD, max_size=30))
def test_wherever_a_text_may_be_cut_its_tokens_stay_the_same(name, text):
    encode = tokenizer(name).encode
    for found in tokens._BOUNDARY.finditer(text):
        assert encode(text[: found.end()]) + encode(text[found.end() :]) == encode(text)


@pytest.mark.parametrize(
    ("text", "cuts"),
    [
        ("ab cd", [2]),
        ("it's", []),
        ('{"a":12}', [3, 7]),
        ("x1y", [1, 2]),
        ("a\nb", [1, 2]),
        ("  \n  b", []),
        ("国，国", [1]),
        ("e\u0301x", []),
        ("zzzz====  ", [4]),
    ],
)
def test_a_text_may_be_cut_where_a_word_ends(text, cuts):
    assert [found.end() for found in tokens._BOUNDARY.finditer(text)] == cuts


LINES = ["word word", "  indented", "", "9 items", "=====", "日本語", "a.b(c)/", " "]


@pytest.mark.parametrize("end", ["\n", " ", "", '","'])
@pytest.mark.parametrize("name", PUBLISHED)
@given(lines=st.lists(st.sampled_from(LINES), min_size=1, max_size=60))
def test_a_long_text_is_counted_in_pieces_without_a_difference(name, end, lines):
    text = end.join(lines)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sim.tokens._PIECE", 400)
        assert tokenizer(name).count(text) == len(tokenizer(name).encode(text))


@pytest.mark.parametrize("text", ["z" * 1000, "=" * 1000, " " * 1000, "国" * 1000, "7" * 1000])
def test_a_run_without_a_word_end_is_cut_all_the_same(text, monkeypatch):
    monkeypatch.setattr("sim.tokens._PIECE", 100)
    assert [len(piece) for piece in tokens._pieces(text)] == [100] * 10
    whole = len(tokenizer("o200k").encode(text))
    assert abs(tokenizer("o200k").count(text) - whole) <= 2 * 9


def test_no_piece_is_longer_than_twice_the_length_of_one(monkeypatch):
    monkeypatch.setattr("sim.tokens._PIECE", 10)
    text = "z" * 25 + " word" * 9 + "=" * 40 + "a1" * 30
    pieces = list(tokens._pieces(text))
    assert "".join(pieces) == text
    assert all(1 <= len(piece) <= 20 for piece in pieces)
