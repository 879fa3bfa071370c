"""Token counting: one small interface over a real tokenizer, and a named stand-in for it.

The default is ``o200k``, the newest published vocabulary that the encoder ships complete, so that a
count needs no network. No provider publishes the tokenizer of its current models; a count from
another vocabulary is off by a factor that is much the same over a whole session.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Protocol

from sim.errors import InputError, unknown

__all__ = ["BYTES", "DEFAULT", "TOKENIZERS", "Tokenizer", "tokenizer"]

DEFAULT = "o200k"
BYTES = "bytes/4"
_PIECE = 1 << 18
"""Characters that are encoded at once, about."""
_LETTERS = "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u0400-\u0481\u3041-\u3096\u30a1-\u30fa"
_LETTERS += "\u4e00-\u9fa5\uac00-\ud7a3"
_OTHERS = (
    "\\x00-&(-/:-@\\[-`{-\x7f\u2000-\u2027\u3000-\u3002\u3008-\u3011\uff01-\uff0f\uff1a-\uff20"
)
"""Characters that neither go on with a word nor, as an apostrophe may, begin the end of one."""
_BOUNDARY = re.compile(
    rf"(?<=\n)(?=[0-9A-Za-z])|(?<=[0-9{_LETTERS}])(?=[{_OTHERS}])"
    rf"|(?<=[0-9])(?=[{_LETTERS}])|(?<=[{_LETTERS}])(?=[0-9])"
)
"""Where a word of both vocabularies ends, whatever stands before and behind."""
_VOCABULARIES = {"o200k": "o200k_base", "cl100k": "cl100k_base"}
TOKENIZERS = (*_VOCABULARIES, BYTES)
"""Names that :func:`tokenizer` knows."""


class Tokenizer(Protocol):
    """Counts tokens; *name* is what every output says the counts come from."""

    @property
    def name(self) -> str:
        """The tokenizer's name, one of :data:`TOKENIZERS`."""
        ...

    def count(self, text: str) -> int:
        """Return the number of tokens of *text*, 0 if it is empty."""
        ...


class _Bytes:
    """A quarter of the UTF-8 bytes, rounded up."""

    name = BYTES

    def count(self, text: str) -> int:
        return (len(text.encode("utf-8", "replace")) + 3) // 4


class _Vocabulary:
    """A byte-pair vocabulary; special tokens that a text spells out are ordinary text."""

    def __init__(self, name: str) -> None:
        import splintr

        self.name = name
        vocabulary = splintr.Tokenizer.from_pretrained(_VOCABULARIES[name])
        self._encode: Callable[[str], list[int]] = vocabulary.encode_ordinary

    def count(self, text: str) -> int:
        return sum(len(self.encode(piece)) for piece in _pieces(text))

    def encode(self, text: str) -> list[int]:
        """Return the ids of the tokens of *text*; a lone surrogate counts as its replacement."""
        try:
            return self._encode(text)
        except UnicodeEncodeError:
            return self._encode(text.encode("utf-8", "replace").decode("utf-8"))


def _pieces(text: str) -> Iterator[str]:
    """Yield *text* in pieces whose tokens are those of the whole, so that few are held at once.

    Both vocabularies split a text into words before they pair bytes. A cut is made where one ends:
    between a letter and a digit, before the space or the punctuation that follows either, at the
    start of a line. Where no word ends within the length of a piece, as in a run of one letter,
    the cut is made inside it, and the count can be off by a token or two.
    """
    start = 0
    while len(text) - start > _PIECE:
        found = _BOUNDARY.search(text, start + _PIECE, start + 2 * _PIECE)
        end = start + _PIECE if found is None else found.end()
        yield text[start:end]
        start = end
    yield text[start:] if start else text


@cache
def _load(name: str) -> Tokenizer:
    return _Bytes() if name == BYTES else _Vocabulary(name)


def tokenizer(name: str | None = None) -> Tokenizer:
    """Return the tokenizer called *name*, loaded at first use and then shared.

    Without a name: :data:`DEFAULT`, or ``bytes/4`` where its encoder is not installed. Raises
    InputError if *name* is unknown or its encoder is not installed.
    """
    if name is not None and name not in TOKENIZERS:
        raise InputError(unknown("tokenizer", name, TOKENIZERS))
    try:
        return _load(name or DEFAULT)
    except ImportError:
        if name is None:
            return _load(BYTES)
        raise InputError(
            f"the tokenizer {name!r} needs the package splintr-rs; {BYTES!r} needs nothing"
        ) from None
