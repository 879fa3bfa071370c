"""A script without its text: what a team may hand on of a session that it may not show.

Sizes, times, scores, kinds, pairs, pins, attempts and settings stay as they are. Every name that
can hold text becomes a keyed hash of it, the same one for the same text, so that pairs, versions,
touches and queries still match; what nothing reads is left out. The names of one redaction mean
nothing beside those of another one, whose key is another.
"""

from __future__ import annotations

import hmac
import re
import secrets
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from scenarios import reference
from sim.script import CHANGES, Attempt, Script, Stimulus
from sim.segments import Fact, Kind
from sim.tokens import TOKENIZERS

__all__ = ["COUNTED", "TRIGGERS", "Redaction", "redact", "redrawn"]

_LETTERS = "BCDFGHJKLMNPQRST"
"""Sixteen capitals for sixteen values of four bits: they spell no word and no hexadecimal number,
so that a hash does not look like a piece of some input by chance."""
_BYTES = 10
"""Length of a truncated hash: 80 bits, 20 letters."""

COUNTED = (*sorted(Kind), "call", "result", "query", "read", "value")
"""Words that with a number are the ids that the script of a recorded session gives: no text."""
_ALONE = (Kind.TOOLS, Kind.SYSTEM, Kind.TASK, "unrecorded")
_WORDS = "|".join(map(re.escape, COUNTED))
_COUNTED = re.compile(
    rf"(?:(?:{_WORDS})-[1-9][0-9]{{0,8}}|{'|'.join(_ALONE)})(?:\.image-[1-9][0-9]{{0,8}})?"
)

TRIGGERS = ("auto", "manual", "unknown")
"""What a recorded compaction is triggered by; anything else is hashed."""

_SORTS: Mapping[str, str] = {
    "id": "id",
    "pair": "id",
    "segment": "id",
    "touches": "id",
    "requires": "id",
    "kept": "id",
    "path": "path",
    "names": "path",
    "tool": "tool",
    "key": "key",
}
"""Field of a stimulus → what sort of name it holds."""

_PRICES = frozenset({"price", "summariser.price"})
"""Settings that name a row of the price book."""

_CAPABILITIES = frozenset({"facts", "ranks", "recording", "roles"})
_USAGE = ("input_tokens", "cached_tokens", "written_tokens", "output_tokens")


class Redaction:
    """Replaces names by hashes under a key that nothing but this object has.

    *key* is for tests alone; by default it is made of 32 random bytes.
    """

    def __init__(self, key: bytes | None = None) -> None:
        self._key = secrets.token_bytes(32) if key is None else key

    def name(self, sort: str, text: str) -> str:
        """Return what stands for *text*, a name of this *sort*; what is empty says nothing."""
        if not text or (sort == "id" and _COUNTED.fullmatch(text)):
            return text
        message = f"{sort}\x00{text}".encode("utf-8", "surrogatepass")
        digest = hmac.digest(self._key, message, "sha256")[:_BYTES]
        letters = "".join(_LETTERS[byte >> 4] + _LETTERS[byte & 15] for byte in digest)
        return f"{sort}-{letters}"

    def script(self, script: Script) -> Script:
        """Return *script* without its text."""
        return replace(
            script,
            scenario=self.name("name", script.scenario),
            settings=self._settings(script.settings),
            stimuli=tuple(self._stimulus(s) for s in script.stimuli),
            attempts=tuple(self._attempt(a) for a in script.attempts),
            capabilities=script.capabilities & _CAPABILITIES,
            recorded={
                turn: {name: row[name] for name in _USAGE if name in row}
                for turn, row in script.recorded.items()
            },
            tokens_from=script.tokens_from if script.tokens_from in TOKENIZERS else "script",
        )

    def _stimulus(self, stimulus: Stimulus) -> Stimulus:
        changes = {f.name: self._field(f.name, getattr(stimulus, f.name)) for f in fields(stimulus)}
        return replace(stimulus, **changes)

    def _field(self, name: str, value: Any) -> Any:
        if name == "facts" and value is not None:
            return tuple(self._fact(fact) for fact in value)
        if name == "value":
            return value if value == "default" else self.name("value", value)
        if name == "trigger":
            return value if value in TRIGGERS else self.name("name", value)
        if name == "what":
            return value if value in CHANGES else self.name("name", value)
        if name not in _SORTS or value is None:
            return value
        sort = _SORTS[name]
        if isinstance(value, tuple):
            return tuple(self.name(sort, each) for each in value)
        return self.name(sort, value)

    def _fact(self, fact: Fact) -> Fact:
        counted = _COUNTED.fullmatch(fact.draw)
        return replace(
            fact,
            key=self.name("key", fact.key),
            value=self.name("value", fact.value),
            prior=self.name("value", fact.prior),
            draw=fact.draw if counted else self.name("draw", fact.draw),
        )

    def _attempt(self, attempt: Attempt) -> Attempt:
        return replace(
            attempt,
            facts=tuple(self.name("key", key) for key in attempt.facts),
            paths=tuple(self.name("path", path) for path in attempt.paths),
            ok=tuple(self._stimulus(s) for s in attempt.ok),
            failed=tuple(self._stimulus(s) for s in attempt.failed),
        )

    def _settings(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Return *settings*; of their texts, those stay that the reference file lists, and a price.

        What names a file of the user's is left out.
        """
        known = reference.every_key()
        kept: dict[str, Any] = {}
        for name, value in settings.items():
            if name not in known:
                continue
            if isinstance(value, (tuple, list)):
                kept[name] = tuple(
                    self.name("id", each) if isinstance(each, str) else each for each in value
                )
            elif not isinstance(value, str) or value in known[name].choices or name in _PRICES:
                kept[name] = value
        return kept


def redact(script: Script) -> Script:
    """Return *script* without its text, under a key of its own that is not kept."""
    return Redaction().script(script)


def redrawn(script: Script) -> bool:
    """Whether a run of the redacted *script* draws otherwise than one of *script* itself.

    Draws are keyed by the ids of segments and queries and by what facts are drawn by. Those of a
    recorded session are counted, and stay; a name with text in it does not.
    """
    settings = script.settings
    shares = ("surrogate.keep", "summariser.fail", "summariser.fabricate")
    drawn = any(0.0 < settings[name] < 1.0 for name in shares)
    drawn = drawn or settings["summariser.retention"] != "keep"
    if settings["reader"] == "strict" and not settings["reader.distraction"] and not drawn:
        return False
    guarded = (s for a in script.attempts for s in (*a.ok, *a.failed))
    for stimulus in (*script.stimuli, *guarded):
        name = getattr(stimulus, "id", None)
        if name is not None and not _COUNTED.fullmatch(name):
            return True
        facts = getattr(stimulus, "facts", None) or ()
        if not all(_COUNTED.fullmatch(fact.draw) for fact in facts):
            return True
    return False
