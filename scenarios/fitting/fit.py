"""A scenario file fitted to recorded sessions: its settings, and the text with their reasons."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace

from scenarios.fitting.families import FITTED, choose
from scenarios.fitting.measure import Figures, measure, pooled
from scenarios.fitting.need import held, roomy
from scenarios.fitting.parts import common, length
from scenarios.fitting.setting import Part, Setting, figure
from scenarios.fitting.summary import comparison
from scenarios.generated import load_family
from sim.errors import InputError, unknown

__all__ = ["SEEDS", "Fit", "fit"]

SEEDS = 30
"""The fewest seeds of the fitted scenario that the file compares with what was recorded."""

_WIDTH = 100
_FEWEST = 2
_TURNS = 3000
"""Turns below which more seeds are made, so that chance is told from what does not follow."""
_MOST_NAMES = 8


@dataclass(frozen=True, slots=True)
class Fit:
    """A family with settings, what they were fitted to, and what they miss."""

    family: str
    recorded: Figures
    parts: tuple[Part, ...]
    missed: tuple[str, ...]

    @property
    def settings(self) -> dict[str, int | float | str]:
        """The fitted settings by key."""
        return {setting.key: setting.value for part in self.parts for setting in part.settings}

    @property
    def seeds(self) -> int:
        """Seeds of the fitted scenario that its file says something of."""
        return max(SEEDS, _TURNS // length(self.recorded))

    def with_room(self) -> Fit:
        """Return it with a budget of which is said who has room in it."""
        scenario = load_family(self.family, self.settings)
        holds = [held(scenario.script(seed)) for seed in range(self.seeds)]
        parts = (
            roomy(part, holds) if part.settings[0].key == "budget" else part for part in self.parts
        )
        return replace(self, parts=tuple(parts))

    def made(self, seeds: int = SEEDS) -> Figures:
        """Return the figures of the scripts that the first *seeds* seeds make."""
        scenario = load_family(self.family, self.settings)
        return pooled(measure(scenario.script(seed)) for seed in range(seeds))

    def document(self, names: Sequence[str]) -> str:
        """Return the scenario file as TOML; *names* say which sessions it was fitted to."""
        calls = sum(self.recorded.turns)
        of = _printable(names[0]) if len(names) == 1 else f"{len(names)} recorded sessions"
        lines = [
            f"about = {_text(f'fitted to {of}, {calls:,} calls of the model')}",
            f"family = {_text(self.family)}",
            "",
            *_comment(
                f"Fitted by `evictbench new --from` to: {_listed(names)}. "
                "Sizes are tokens, times seconds. What is not named here has the family's default; "
                "NAME.cap is the largest recorded."
            ),
            "[settings]",
        ]
        for part in self.parts:
            lines += ["", *_comment(part.why), *map(_line, part.settings)]
        lines += ["", *_comment("What could not be fitted:"), *self._missed()]
        lines += ["", *self._compared(self.seeds)]
        return "\n".join(lines) + "\n"

    def _missed(self) -> list[str]:
        return [line for sentence in self.missed for line in _comment(f"- {sentence}", "  ")]

    def _compared(self, seeds: int) -> list[str]:
        """Return the table of what was recorded and what this file makes of it."""
        rows = comparison(self.recorded, self.made(seeds), FITTED[self.family].groups)
        width = max(len(name) for name, *_ in rows)
        lines = _comment(
            f"What was recorded and what the first {seeds} seeds of this file make; * where they "
            "are more than a quarter apart, which the family cannot follow, or chance:"
        )
        lines.append(f"#   {'':{width}} {'recorded':>10} {'made':>10}")
        for name, one, other, far in rows:
            shown = "-" if one is None else figure(one)
            lines.append(
                f"#   {name:{width}} {shown:>10} {figure(other):>10}{' *' if far else ''}".rstrip()
            )
        return lines


def fit(recorded: Figures, family: str | None = None) -> Fit:
    """Return *family*, or the one that suits, fitted to the figures of recorded sessions.

    Raises InputError for a family that cannot be fitted, and where there is too little to fit.
    """
    if family is not None and family not in FITTED:
        raise InputError(unknown("family", family, FITTED))
    if recorded.later < _FEWEST:
        calls = sum(recorded.turns)
        raise InputError(
            f"{calls} model {'call is' if calls == 1 else 'calls are'} too few to fit anything to: "
            f"at least {_FEWEST} must come behind the first of a session"
        )
    chosen = family or choose(recorded)
    missed: list[str] = []
    parts = (*common(recorded, missed.append), *FITTED[chosen].parts(recorded, missed.append))
    missed += _left(recorded)
    return Fit(chosen, recorded, parts, tuple(missed)).with_room()


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


def _left(recorded: Figures) -> list[str]:
    """Return what of the record no family has a place for."""
    left = [
        f"{tokens:,} tokens {what}: the family has no key for them, left out."
        for what, tokens in sorted(recorded.left.items())
    ]
    if recorded.compactions:
        times = "once" if recorded.compactions == 1 else f"{recorded.compactions} times"
        left.append(f"The recording's own harness compacted {times}; that is a policy's to do.")
    left.append(
        "The order of things: sizes, tools and waits come in runs in a recording and are drawn "
        "independently here."
    )
    return left


def _comment(text: str, hang: str = "") -> list[str]:
    return textwrap.wrap(
        _printable(text),
        _WIDTH,
        initial_indent="# ",
        subsequent_indent=f"# {hang}",
        break_on_hyphens=False,
    )


def _printable(text: str) -> str:
    """Return *text* fit for a comment: what a recording may call its tools is anything."""
    return "".join(c if c.isprintable() else "\ufffd" for c in text)


def _text(text: str) -> str:
    escaped = _printable(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _line(setting: Setting) -> str:
    value = setting.value
    if isinstance(value, str):
        return f"{setting.key} = {_text(value)}"
    return f"{setting.key} = {value:_}" if isinstance(value, int) else f"{setting.key} = {value!r}"
