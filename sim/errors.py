"""Every exception evictbench raises on purpose.

EvictbenchError
├── InputError                 the input was wrong; one sentence, file and line; exit code 2
├── PolicyError                an action that its policy did not declare it would take
│   ├── UntaggedRewrite        a surrogate without source, ``lossy`` flag and way back
│   ├── GrowthWithoutCopy      a surrogate no shorter than a source that has no copy
│   ├── CompressThenSpend      a rewrite in a turn that admitted something without a copy
│   ├── PinRemoved             a pinned segment was to leave
│   ├── UnexplainedTruncation  the backstop cut what no action accounts for
│   ├── UnexplainedAbsence     a segment is gone and the ledger cannot say why
│   └── InadmissibleAction     the action names something it cannot be applied to
└── AuditError                 the second reckoning, from the records alone, disagrees
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

__all__ = [
    "AuditError",
    "CompressThenSpend",
    "EvictbenchError",
    "GrowthWithoutCopy",
    "InadmissibleAction",
    "InputError",
    "PinRemoved",
    "PolicyError",
    "UnexplainedAbsence",
    "UnexplainedTruncation",
    "UntaggedRewrite",
    "nearest",
    "unknown",
]


class EvictbenchError(Exception):
    """Base of everything evictbench raises on purpose."""


class InputError(EvictbenchError):
    """What the user gave cannot be used; the message is one plain sentence.

    *file* and *line* (from 1), where known, stand in front of it.
    """

    def __init__(self, message: str, *, file: object = None, line: int | None = None) -> None:
        self.message = message
        self.file = None if file is None else str(file)
        self.line = line
        super().__init__(message)

    def __str__(self) -> str:
        if self.file is None:
            return self.message
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{place}: {self.message}"

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild_input_error, (self.message, self.file, self.line)


def _rebuild_input_error(message: str, file: str | None, line: int | None) -> InputError:
    return InputError(message, file=file, line=line)


class PolicyError(EvictbenchError):
    """A policy asked for an action that breaks a rule it did not declare it would break."""

    rule = "inadmissible"


class UntaggedRewrite(PolicyError):
    """A rewrite would leave a surrogate that does not say what it stands for."""

    rule = "untagged rewrite"


class GrowthWithoutCopy(PolicyError):
    """A rewrite would not shrink a source that has no external copy."""

    rule = "growth without a copy"


class CompressThenSpend(PolicyError):
    """A rewrite would free tokens in a turn that admitted something without a copy."""

    rule = "compress-then-spend"


class PinRemoved(PolicyError):
    """A pinned segment would leave the window."""

    rule = "pin removed"


class UnexplainedTruncation(PolicyError):
    """The backstop cut a segment that no action of the policy accounts for."""

    rule = "unexplained truncation"


class UnexplainedAbsence(PolicyError):
    """A segment is absent and the ledger has no entry that says why."""

    rule = "unexplained absence"


class InadmissibleAction(PolicyError):
    """An action names a segment it cannot be applied to."""

    rule = "inadmissible action"


class AuditError(EvictbenchError):
    """The recount from the event records alone disagrees with the engine."""


def nearest(name: str, valid: Iterable[str]) -> str | None:
    """Return the valid name closest to *name*, or None if none is close."""
    matches = get_close_matches(name, list(valid), n=1, cutoff=0.5)
    return matches[0] if matches else None


def unknown(what: str, name: str, valid: Iterable[str]) -> str:
    """Return the sentence that says *name* is no known *what*, with the nearest valid name."""
    names = list(valid)
    close = nearest(name, names)
    hint = f"did you mean {close!r}?" if close else f"known: {', '.join(sorted(names))}"
    return f"unknown {what} {name!r}; {hint}"
