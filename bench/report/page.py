"""The page: what a report shows as one HTML file that needs nothing else, and asks for nothing.

Every text is escaped, whatever it is from; a policy of content security forbids all requests, and
every script but the one of the page.
"""

from __future__ import annotations

import base64
import hashlib
import json
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from bench.output import plain

if TYPE_CHECKING:
    from bench.report.report import Contents

__all__ = ["page"]

_ASSETS = files("bench.report") / "assets"


def page(contents: Contents) -> str:
    """Return *contents* as an HTML document."""
    from jinja2 import BaseLoader, Environment, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=BaseLoader(),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    script = _asset("page.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return environment.from_string(_asset("page.html")).render(
        contents=contents,
        style=Markup(_asset("page.css")),
        script=Markup(script),
        digest=digest,
        data=Markup(_data(contents.windows)),
        markup=Markup,
    )


def _asset(name: str) -> str:
    return (_ASSETS / name).read_text(encoding="utf-8")


def _data(value: Any) -> str:
    """Return *value* as JSON that no text in it can end the element of."""
    text = json.dumps(plain(value), ensure_ascii=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text
