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
_LINE_START = re.compile(r"\n(?=[0-9A-Za-z])")
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

    Both vocabularies split a text into words before they pair bytes, and no word goes on from a
    line end to an ASCII letter or digit.
    """
    start = 0
    while len(text) - start > _PIECE:
        cut = _LINE_START.search(text, start + _PIECE)
        if cut is None:
            break
        yield text[start : cut.end()]
        start = cut.end()
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
