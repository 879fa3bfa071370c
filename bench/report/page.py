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
    from markupsafe import Markup

    from bench.report.report import Contents

__all__ = ["page"]

_ASSETS = files("bench.report") / "assets"


def page(contents: Contents) -> str:
    """Return *contents* as an HTML document."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=PackageLoader("bench.report", "assets"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["coded"] = _coded
    script = _asset("page.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return environment.get_template("page.html").render(
        contents=contents,
        style=Markup(_asset("page.css")),
        script=Markup(script),
        digest=digest,
        data=Markup(_data(contents.windows)),
        markup=Markup,
    )


def _coded(text: str) -> Markup:
    """Return *text* escaped, with what stands between backticks as code."""
    from markupsafe import Markup, escape

    parts = text.split("`")
    if len(parts) % 2 == 0:
        return escape(text)
    tags = (Markup("<code>{}</code>") if at % 2 else Markup("{}") for at in range(len(parts)))
    return Markup("").join(tag.format(part) for tag, part in zip(tags, parts, strict=True))


def _asset(name: str) -> str:
    return (_ASSETS / name).read_text(encoding="utf-8")


def _data(value: Any) -> str:
    """Return *value* as JSON that no text in it can end the element of."""
    text = json.dumps(plain(value), ensure_ascii=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text
