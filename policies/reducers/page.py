"""The text of an HTML page, parsed by lxml's event interface: no tree, no scripts, no styles."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Page", "TooDeepError", "read_page"]

_DEEPEST = 250
"""Levels of nesting that are read: browsers stop at 512, and time grows with the depth."""
_CHUNK = 1 << 16
_MAIN = 0.25
"""Share of the text that the main part must hold for all outside of it to count as around it."""
_SPACE = re.compile(r"\s++")
_OUT = frozenset(("script", "style", "template", "svg", "math", "iframe", "object", "noframes"))
_AROUND = frozenset(("nav", "footer", "aside"))
_VOID = frozenset(
    "area base br col embed hr img input link meta param source track wbr basefont frame".split()  # noqa: SIM905
)
_BLOCK = frozenset(
    "address article aside blockquote body br caption center dd details dialog div dl dt fieldset "  # noqa: SIM905
    "figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr html legend li main menu nav ol "
    "option p pre section select summary table tbody textarea tfoot thead title tr ul".split()
)


class TooDeepError(Exception):
    """A page is nested deeper than is read."""


@dataclass(slots=True)
class Page:
    """What a page says.

    *lines* are its text, of which *headings* are the numbers of headings, from 0. *around* are
    the lines of navigation and the like, and where a part is marked as the main one, all outside
    of it; *headed* of them are headings. *links* counts addresses, *hidden* the characters of
    scripts and styles.
    """

    title: str = ""
    lines: list[str] = field(default_factory=list)
    headings: list[int] = field(default_factory=list)
    around: list[str] = field(default_factory=list)
    headed: int = 0
    links: int = 0
    hidden: int = 0


class _Reader:
    """The target of the parser's events."""

    def __init__(self) -> None:
        self.page = Page()
        self._open: list[str] = []
        self._out = self._around = self._pre = 0
        self._line: list[str] = []
        self._heading = 0
        self._main = 0
        self._inside: list[bool] = []
        """For each line of the text whether it stands in the main part."""

    def start(self, tag: str, attributes: Any) -> None:
        """An element begins."""
        if tag not in _VOID:
            if len(self._open) >= _DEEPEST:
                raise TooDeepError
            self._open.append(tag)
        if tag in _BLOCK:
            self._end_line()
        self._out += tag in _OUT
        self._around += tag in _AROUND
        self._pre += tag == "pre"
        self._main += tag == "main"
        if tag == "a" and attributes.get("href"):
            self.page.links += 1
        elif tag == "img" and attributes.get("alt") and not self._out:
            self._line.append(f"[image: {attributes['alt']}]")
        elif tag == "li":
            self._line.append("- ")
        elif tag in ("td", "th") and self._line:
            self._line.append(" | ")
        elif len(tag) == 2 and tag[0] == "h" and tag[1] in "123456":
            self._heading = int(tag[1])

    def end(self, tag: str) -> None:
        """An element ends, and all that are open in it."""
        if tag in _VOID or tag not in self._open:
            return
        if tag in _BLOCK:
            self._end_line()
        while self._open:
            last = self._open.pop()
            self._out -= last in _OUT
            self._around -= last in _AROUND
            self._pre -= last == "pre"
            self._main -= last == "main"
            if last == tag:
                break

    def data(self, text: str) -> None:
        """Text stands between tags."""
        if self._out:
            self.page.hidden += len(text)
        elif self._open and self._open[-1] == "title":
            self.page.title += text
        elif self._pre and "\n" in text:
            first, *others = text.split("\n")
            self._line.append(first)
            for other in others:
                self._end_line()
                self._line.append(other)
        else:
            self._line.append(text)

    def comment(self, text: str) -> None:
        """A comment is no text."""
        self.page.hidden += len(text)

    def pi(self, target: str, data: str | None = None) -> None:
        """A processing instruction is no text."""

    def close(self) -> Page:
        """Return what was read."""
        self._end_line()
        self._keep_main()
        self.page.title = _SPACE.sub(" ", self.page.title).strip()
        return self.page

    def _keep_main(self) -> None:
        """Count what stands outside the main part, if there is one, as around it."""
        page = self.page
        kept = [at for at, main in enumerate(self._inside) if main]
        outside = [at for at, main in enumerate(self._inside) if not main]
        self._inside = []
        size = sum(len(page.lines[at]) for at in kept)
        if not kept or size < _MAIN * sum(map(len, page.lines)):
            return
        headings = set(page.headings)
        page.around += [page.lines[at] for at in outside]
        page.headings = [number for number, at in enumerate(kept) if at in headings]
        page.headed = len(headings) - len(page.headings)
        page.lines = [page.lines[at] for at in kept]

    def _end_line(self) -> None:
        if not self._line:
            self._heading = 0
            return
        text = "".join(self._line)
        text = text.rstrip() if self._pre else _SPACE.sub(" ", text).strip()
        self._line = []
        if not text or text == "-":
            return
        if self._around:
            self.page.around.append(text)
            self._heading = 0
            return
        self._inside.append(self._main > 0)
        if self._heading:
            self.page.headings.append(len(self.page.lines))
            self.page.lines.append(f"{'#' * self._heading} {text}")
        else:
            self.page.lines.append(text)
        self._heading = 0


def read_page(text: str) -> Page:
    """Return what the page *text* says, however broken.

    Raises TooDeepError if elements are nested too deep.
    """
    from lxml import etree

    reader = _Reader()
    parser = etree.HTMLParser(
        target=reader, encoding="utf-8", huge_tree=True, recover=True, no_network=True
    )
    raw = text.encode("utf-8", "replace")
    try:
        for at in range(0, len(raw), _CHUNK):
            parser.feed(raw[at : at + _CHUNK])
        parser.close()
    except etree.LxmlError:
        pass
    return reader.close()
