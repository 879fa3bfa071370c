"""HTML pages: title, headings and text, without scripts, styles and link addresses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from policies.reducers.form import Form, Found, Laid
from policies.reducers.log import Log, Span
from policies.reducers.page import Page, TooDeepError, read_page
from policies.reducers.plain import Plain

if TYPE_CHECKING:
    from policies.reducers.room import Room

__all__ = ["REDUCER", "Html"]

_OPEN = re.compile(r"^[ \t]*+<(?:!doctype[ \t]++html|html|head|body)\b", re.I | re.M)
_CLOSE = re.compile(r"</html>", re.I)
_ABOVE = 8
"""Lines above the first tag that may be an XML declaration or a comment of the page."""


class Html:
    """A page, as a browser or curl fetches it."""

    name = "html"
    kind = "data"
    about = "title, headings and text; scripts, styles and addresses left out and counted"
    rank = 88
    hints = ("<!DOCTYPE", "<!doctype", "<html", "<HTML", "<head>", "<body")

    def find(self, log: Log) -> Iterator[Span]:
        """Yield the page, if it is most of *log*: one inside another output belongs to that."""
        first = _OPEN.search(log.text)
        if first is None:
            return
        start = log.line_at(first.start())
        stop = len(log)
        for close in _CLOSE.finditer(log.text, first.start()):
            stop = log.line_at(close.start()) + 1
        for at in range(start - 1, max(-1, start - _ABOVE), -1):
            if log.lines[at].lstrip().startswith(("<?xml", "<!--", "<!")):
                start = at
        size = sum(len(line) for line in log.lines[start:stop])
        if 2 * size > len(log.text):
            yield Span(start, stop)

    def read(self, log: Log) -> Form | None:
        """Return the text of the page; as plain lines if it is nested too deep to be read."""
        if "<" not in log.text:
            return None
        try:
            page = read_page(log.text)
        except TooDeepError:
            return Plain(log)
        return _Text(log, page) if page.lines or page.title else None


@dataclass(slots=True)
class _Text:
    """What a page says, as lines."""

    log: Log
    page: Page

    def found(self) -> Found:
        """Return the number of headings and links."""
        headings = len(self.page.headings) + self.page.headed
        return Found(counts={"headings": headings, "links": self.page.links})

    def lay(self, room: Room) -> Laid:
        """Return title and text if they fit, else both ends and the headings between them."""
        page = self.page
        lines, headings, around = page.lines, page.headings, len(page.around)
        if not lines:
            lines, headings, around = page.around, [], 0
        if page.title:
            lines = [page.title, *lines]
            headings = [at + 1 for at in headings]
        notice = self._notice(around, room)
        inner = Plain(Log(lines), (headings,))
        laid = inner.lay(room.of(max(0, room.limit - room.count(notice) - 2)))
        dropped = dict(laid.dropped)
        for noun, count in (("links", page.links), ("lines around it", around)):
            if count:
                dropped[noun] = count
        return Laid(f"{laid.text}\n{notice}", dropped)

    def _notice(self, around: int, room: Room) -> str:
        noun = "line" if len(self.log) == 1 else "lines"
        parts = [f"markup, scripts and styles of {len(self.log):,} {noun}"]
        if self.page.links:
            parts.append(f"{self.page.links:,} link addresses")
        if around:
            parts.append(f"{around:,} lines around it")
        full = f"[HTML as text; left out: {', '.join(parts)}; {room.ask}]"
        return full if room.count(full) * 3 < room.limit else "[HTML as text, markup left out]"


REDUCER = Html()
