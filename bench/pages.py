"""Pages whose figures a command writes in: each stands between two comments that name it."""

from __future__ import annotations

import re
from collections.abc import Mapping

from sim.errors import InputError

__all__ = ["put_figures"]

_PLACE = re.compile(
    r"(?P<head><!-- figures: (?P<name>[\w-]+)[^>]*-->\n)(?P<body>.*?)(?P<foot><!-- end -->)",
    re.DOTALL,
)


def put_figures(page: str, figures: Mapping[str, str]) -> str:
    """Return *page* with each of *figures* in its place; what is not among them stays.

    Raises InputError for a figure that has no place in the page.
    """
    places = [match["name"] for match in _PLACE.finditer(page)]
    for name in figures:
        if places.count(name) != 1:
            raise InputError(f"the page has {places.count(name)} places for the figure {name!r}")

    def put(match: re.Match[str]) -> str:
        text = figures.get(match["name"])
        body = match["body"] if text is None else f"\n{text.strip()}\n\n"
        return f"{match['head']}{body}{match['foot']}"

    return _PLACE.sub(put, page)
