"""cargo with ``--message-format json``: the first error of each file and its crate."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from policies.reducers.build import Diagnostic, build
from policies.reducers.compilers import clusters, lines_with
from policies.reducers.form import Form
from policies.reducers.log import Log, Span

__all__ = ["REDUCER", "CargoJson"]

_REASONS = (
    '"reason":"compiler-message"',
    '"reason":"compiler-artifact"',
    '"reason":"build-script-executed"',
    '"reason":"build-finished"',
)
_SUMMARY = (" emitted", "aborting due to ")
_LONGEST = 2_000_000
"""Characters of a message beyond which it is only counted."""


class CargoJson:
    """The messages that the Cargo book lists under "External tools: JSON messages"."""

    name = "cargo-json"
    about = "the first error of each file and its crate, warnings counted"
    kind = "build"
    rank = 92
    hints = _REASONS

    def find(self, log: Log) -> Iterator[Span]:
        """Yield the runs of messages."""
        numbers = [n for n in lines_with(log, _REASONS) if log.lines[n].lstrip().startswith("{")]
        for group in clusters(numbers, 2):
            yield Span(group[0], group[-1] + 1)

    def read(self, log: Log) -> Form | None:
        """Return the errors by the file of their primary span."""
        found, target, verdict = [], "", ""
        for number in lines_with(log, (_REASONS[0], _REASONS[3])):
            message = _loaded(log.lines[number])
            if message.get("reason") == "build-finished":
                verdict = log.lines[number].strip()
                continue
            each = _diagnostic(message, number)
            if each is None:
                continue
            found.append(each)
            if each.error and not target:
                target = _target(message)
        if not found and not verdict and not lines_with(log, _REASONS):
            return None
        return build(self.name, log, found, head=target, verdict=verdict)


def _loaded(line: str) -> dict[str, Any]:
    if len(line) > _LONGEST:
        return {}
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return message if isinstance(message, dict) else {}


def _diagnostic(message: dict[str, Any], number: int) -> Diagnostic | None:
    body = message.get("message")
    if not isinstance(body, dict):
        return None
    level, text = str(body.get("level")), str(body.get("message"))
    if not level.startswith(("error", "warning")) or any(part in text for part in _SUMMARY):
        return None
    spans = body.get("spans")
    spans = [each for each in spans if isinstance(each, dict)] if isinstance(spans, list) else []
    span = next((each for each in spans if each.get("is_primary")), spans[0] if spans else {})
    file = str(span.get("file_name") or "")
    place = f"{file}:{span.get('line_start')}:{span.get('column_start')}" if file else ""
    code = body.get("code")
    name = f"[{code.get('code')}]" if isinstance(code, dict) else ""
    said = f"{level}{name}: {text}" + (f" --> {place}" if place else "")
    rendered = str(body.get("rendered") or "").splitlines()[2:14]
    return Diagnostic(
        number, file, " ".join(said.split()), level.startswith("error"), "\n".join(rendered), place
    )


def _target(message: dict[str, Any]) -> str:
    """Return the crate and the target of *message*."""
    target = message.get("target")
    name = target.get("name") if isinstance(target, dict) else ""
    kind = target.get("kind") if isinstance(target, dict) else ""
    kinds = ", ".join(map(str, kind)) if isinstance(kind, list) else ""
    return f"{message.get('package_id')}: target {name} ({kinds})"


REDUCER = CargoJson()
