"""Options of a policy: the switch of each rule, and settings overridden for that policy alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sim.errors import InputError, unknown
from sim.settings import KEYS

if TYPE_CHECKING:
    from sim.view import View

__all__ = [
    "SETTINGS",
    "Option",
    "Options",
    "Value",
    "choice",
    "number",
    "setting",
    "split",
    "switch",
    "whole",
    "words",
]

Value = Callable[["View"], Any]
"""A number or word that may depend on the scenario: called with the view, it says what holds."""

Parse = Callable[[str], Any]


@dataclass(frozen=True, slots=True)
class Option:
    """One option of a policy.

    *default* is the canonical text of what holds when it is not given, None for a setting, which
    then comes from the scenario. *takes* says what may be given.
    """

    name: str
    meaning: str
    takes: str
    parse: Parse
    default: str | None = None
    alias: str | None = None


def switch(name: str, meaning: str, *, off: bool = False) -> Option:
    """Return the option that switches a rule ``on`` or ``off``; *meaning* says what on does."""
    return choice(name, meaning, "off" if off else "on", "off", "on")


def choice(name: str, meaning: str, default: str, *words: str) -> Option:
    """Return an option that takes one of *words*, the *default* among them."""

    def parse(text: str) -> str:
        if text not in words:
            raise ValueError(unknown("value", text, words))
        return text

    return Option(name, meaning, "|".join(words), parse, default)


def number(name: str, meaning: str, default: float, low: float, high: float = math.inf) -> Option:
    """Return an option that takes a number from *low* to *high*."""
    takes, parse = _number(low, high)
    return Option(name, meaning, takes, parse, _written(default))


def whole(name: str, meaning: str, unit: str, default: int, least: int) -> Option:
    """Return an option that takes a whole number of *unit* of at least *least*."""

    def parse(text: str) -> int:
        if not (text.isascii() and text.isdigit() and int(text) >= least):
            raise ValueError(f"{text!r} is not a whole number of {unit} of at least {least}")
        return int(text)

    return Option(name, meaning, f"whole {unit}, at least {least}", parse, str(default))


def words(name: str, meaning: str, *default: str) -> Option:
    """Return an option that takes words joined by ``+``, or ``none``; they come as a tuple."""

    def parse(text: str) -> Words:
        given = [] if text == "none" else text.split("+")
        if not all(given):
            raise ValueError(f"{text!r} is not a list of words joined by +")
        return Words(sorted(set(given)))

    return Option(name, meaning, "words joined by +, or none", parse, str(Words(sorted(default))))


class Words(tuple[str, ...]):
    """Words as an option gives them, in one canonical spelling."""

    __slots__ = ()

    def __str__(self) -> str:
        return "+".join(self) or "none"


def setting(key: str) -> Option:
    """Return the option that overrides the common key *key* for one policy alone."""
    meaning, takes, parse, alias = SETTINGS[key]
    return Option(key, meaning, takes, parse, None, alias)


def _number(low: float, high: float = math.inf, *, above: bool = False) -> tuple[str, Parse]:
    bounds = f"above {low:g}" if above else f"at least {low:g}"
    if high < math.inf:
        bounds += f" and at most {high:g}"

    def parse(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        fits = value > low if above else value >= low
        if not (math.isfinite(value) and fits and value <= high):
            raise ValueError(f"{text!r} is not a number {bounds}")
        return value

    return f"a number {bounds}", parse


def _tokens(least: int) -> tuple[str, Parse]:
    def parse(text: str) -> int:
        digits = text.strip()
        if not (digits.isascii() and digits.isdigit() and int(digits) >= least):
            raise ValueError(f"{text!r} is not a whole number of tokens of at least {least}")
        return int(digits)

    return f"whole tokens, at least {least}", parse


def _words(*words: str) -> tuple[str, Parse]:
    option = choice("", "", words[0], *words)
    return option.takes, option.parse


SETTINGS: Mapping[str, tuple[str, str, Parse, str | None]] = {
    "rewrite.below": ("salience below which the relevance pass acts", *_number(0.0), None),
    "surrogate.tokens": ("text a rewrite leaves, without its tag", *_tokens(1), None),
    "surrogate.tag_tokens": ("tag of a surrogate", *_tokens(0), None),
    "line_tokens": ("line that stands for superseded material, with its tag", *_tokens(1), None),
    "restore_tokens": ("text made up in the place of a surrogate", *_tokens(1), None),
    "rehydrate.margin": ("lead over the displaced set that a swap needs", *_number(0.0), "margin"),
    "rehydrate.comparison": (
        "what of the displaced set's salience the incoming is compared with",
        *_words("min", "max", "sum"),
        "comparison",
    ),
    "slack.trigger": (
        "occupancy that is full: a share of the budget, or a salience sum under mass",
        *_number(0.0, above=True),
        "trigger",
    ),
    "slack.occupancy": ("what fills the window", *_words("tokens", "mass"), "occupancy"),
    "compaction.at": (
        "share of the budget above which it compacts",
        *_number(0.0, above=True),
        "at",
    ),
    "compaction.share": (
        "size of the summary as a share of what it stands for",
        *_number(0.0, 1.0, above=True),
        "share",
    ),
}
"""Common keys that a policy may override: meaning, what they take, parser, short name."""

_FIELDS = {key: field for field, key in KEYS.items()}


def split(text: str, policy: str) -> dict[str, str]:
    """Return the options written ``name=value,name=value`` for *policy*; raises InputError."""
    given: dict[str, str] = {}
    for item in text.split(","):
        name, equals, value = (part.strip() for part in item.partition("="))
        if not name or not equals or not value:
            raise InputError(f"policy {policy}: {item.strip()!r} is not an option NAME=VALUE")
        if name in given:
            raise InputError(f"policy {policy}: option {name!r} is given twice")
        given[name] = value
    return given


class Options:
    """What a policy was asked to do: every option it has, given or left at its default."""

    def __init__(self, policy: str, known: Sequence[Option], given: Mapping[str, str]) -> None:
        """Read *given*; raises InputError for an option or value that *policy* does not know."""
        names = {option.name: option for option in known}
        names |= {option.alias: option for option in known if option.alias}
        self._values: dict[str, Any] = {
            option.name: None if option.default is None else option.parse(option.default)
            for option in known
        }
        self._given: dict[str, str] = {}
        for name, text in given.items():
            option = names.get(name)
            if option is None:
                raise InputError(f"policy {policy}: {unknown('option', name, sorted(names))}")
            if option.name in self._given:
                raise InputError(f"policy {policy}: option {option.name!r} is given twice")
            try:
                self._values[option.name] = option.parse(text)
            except ValueError as error:
                raise InputError(f"policy {policy}: option {option.name!r}: {error}") from None
            self._given[option.name] = _written(self._values[option.name])
        differing = (
            f"{option.name}={self._given[option.name]}"
            for option in known
            if self._given.get(option.name, option.default) != option.default
        )
        written = ",".join(differing)
        self.label = f"{policy}:{written}" if written else policy
        """Name and options that differ from the defaults, in one canonical spelling."""

    def __getitem__(self, name: str) -> Any:
        """Return the value of a rule's option."""
        return self._values[name]

    def on(self, name: str) -> bool:
        """Whether the rule *name* is switched on."""
        return bool(self._values[name] != "off")

    def value(self, key: str) -> Value:
        """Return the setting *key*: this policy's own value, or else the scenario's."""
        own = self._values[key]
        if own is not None:
            return lambda view: own
        field = _FIELDS[key]
        return lambda view: getattr(view.settings, field)


def _written(value: Any) -> str:
    return f"{value:.9g}" if isinstance(value, float) else str(value)
