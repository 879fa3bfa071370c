"""A build as it enters: the first error and its target, each file's first, and the last word."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from policies.reducers.findings import Findings, Item, plural
from policies.reducers.form import Found, Laid
from policies.reducers.tight import Tight

if TYPE_CHECKING:
    from policies.reducers.log import Log
    from policies.reducers.room import Room

__all__ = ["Build", "Diagnostic", "build", "distinct", "last_words"]

_WORDS = 6
"""How many of several last words are kept."""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """An error or a warning of a build.

    *line* is the number of its line in the log, from 0; *file* the path as printed, empty where
    none is named; *where* what stands between the file and the message; *detail* the lines below.
    """

    line: int
    file: str
    text: str
    error: bool = True
    detail: str = ""
    where: str = ""


@dataclass(frozen=True, slots=True)
class Build:
    """What a build reported: *errors* (its warnings where there is no error) and failed *tests*.

    *warnings* were counted and are not among the items; *lines* is the length of the output.
    """

    errors: Findings
    tests: Findings | None
    warnings: int
    lines: int

    def found(self) -> Found:
        """Return the files with an error, the distinct test failures and the counts."""
        files = dict.fromkeys(item.file for item in self.errors.items if item.file)
        failures = self.tests.found().failures if self.tests else ()
        return Found(tuple(files), failures, dict(self.errors.counts))

    def lay(self, room: Room) -> Laid:
        """Return the target, the errors, the failed tests, what is left out, and the last word.

        Where that would pass over a file or a failure, or cut its own notice, the layout for a
        small room is taken if it names more.
        """
        laid = self._usual(room)
        parts = [part for part in (self.errors, self.tests) if part is not None]
        hidden = sum(laid.dropped.get(kind, 0) for kind in map(_kind, parts))
        whole = self._note(room) in laid.text
        if whole and not hidden:
            return laid
        tight = Tight(parts, self.errors.verdict, self.warnings, self.lines).lay(room)
        if whole and sum(tight.dropped.get(kind, 0) for kind in map(_kind, parts)) >= hidden:
            return laid
        return Laid(tight.text, self._dropped(tight))

    def _usual(self, room: Room) -> Laid:
        verdict = "\n".join(part for part in (self._note(room), self._last_word()) if part)
        if self.tests is None:
            laid = replace(self.errors, verdict=verdict).lay(room)
            return Laid(laid.text, self._dropped(laid))
        tests = replace(self.tests, verdict=verdict)
        if not self.errors.items and not self.errors.head:
            laid = tests.lay(room)
            return Laid(laid.text, self._dropped(laid))
        errors = replace(self.errors, verdict="")
        first = errors.lay(room.of(max(1, room.limit // 2)))
        second = tests.lay(room.of(max(1, room.limit - room.count(first.text) - 2)))
        return Laid(f"{first.text}\n{second.text}", self._dropped(first, second))

    def _last_word(self) -> str:
        """Return the tool's last word without what the target or the first error is already."""
        lines, said = self.errors.verdict.split("\n"), [item.text for item in self.errors.items[:1]]
        return "\n".join(line for line in lines if line not in [*said, *self._heads()])

    def _heads(self) -> list[str]:
        """Return the lines of the target, also without the number of targets behind it."""
        heads = self.errors.head.split("\n")
        return [*heads, *(head.rpartition(" (+")[0] for head in heads)]

    def _note(self, room: Room) -> str:
        noun = "line" if self.lines == 1 else "lines"
        shown = plural(self.errors.noun, 2) if self.errors.items else "failures"
        if not self.errors.items and self.tests is None:
            shown = ""
        parts = [f"[left out of {self.lines:,} {noun}: all but"]
        parts.append(f" the {shown} above and the last word" if shown else " the last word")
        if self.warnings:
            parts.append(f", also {self.warnings:,} {plural('warning', self.warnings)}")
        return "".join([*parts, f"; {room.ask}]"])

    def _dropped(self, *all_laid: Laid) -> dict[str, int]:
        dropped: dict[str, int] = {}
        shown = 0
        for laid in all_laid:
            shown += laid.text.count("\n") + 1
            for noun, count in laid.dropped.items():
                dropped[noun] = dropped.get(noun, 0) + count
        if self.warnings:
            dropped["warnings"] = dropped.get("warnings", 0) + self.warnings
        dropped["lines"] = max(1, self.lines - shown)
        return dropped


def _kind(part: Findings) -> str:
    """Return under which noun a layout of *part* says how many of its groups it does not show."""
    return "files" if part.by == "file" else f"distinct {plural(part.noun, 2)}"


def build(
    tool: str,
    log: Log,
    diagnostics: Iterable[Diagnostic],
    *,
    head: str = "",
    verdict: str = "",
    tests: Sequence[Item] = (),
    failed: int | None = None,
    nouns: tuple[str, str] = ("error", "warning"),
    by: str = "file",
    quiet: bool = False,
) -> Build:
    """Return the form of a build that reported *diagnostics* and *tests*.

    Without an error or a failed test the warnings are what is shown, unless *quiet*: then they
    are only counted. *failed* is the tool's own number of failed tests where it counts them
    otherwise than by items. *nouns* are what one error and one warning are called.
    """
    known = list(diagnostics)
    errors = [each for each in known if each.error]
    warnings = [each for each in known if not each.error]
    shown = errors if errors or tests or quiet else warnings
    counts = {}
    for noun, some in zip(nouns, (errors, warnings), strict=True):
        if some:
            counts[plural(noun, 2)] = len(some)
    files = {each.file for each in shown if each.file}
    if files:
        counts["files"] = len(files)
    if tests:
        counts["failed"] = sum(item.count for item in tests) if failed is None else failed
    findings = Findings(
        tool,
        _items(shown, by),
        by=by,
        noun=nouns[0] if shown is errors else nouns[1],
        head=head,
        verdict=verdict,
        counts=counts,
    )
    failures = Findings(tool, tests, by="key", noun="failure") if tests else None
    return Build(findings, failures, len(warnings) if shown is errors else 0, len(log))


def _items(diagnostics: Sequence[Diagnostic], by: str) -> list[Item]:
    """Return the items; those that name no file are one, with the others' texts below."""
    if by != "file":
        return [Item(d.text, d.file, key=d.text, detail=d.detail) for d in diagnostics]
    nameless = [d for d in diagnostics if not d.file]
    items = []
    for each in diagnostics:
        if each.file:
            items.append(Item(each.text, each.file, detail=each.detail))
        elif each is nameless[0]:
            texts = dict.fromkeys(d.text for d in nameless[1:] if d.text != each.text)
            below = [each.detail, *list(texts)[:20]]
            detail = "\n".join(part for part in below if part)
            items.append(Item(each.text, detail=detail, count=len(nameless)))
    return items


def distinct(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Return *diagnostics* without those that a summary printed a second time."""
    seen: dict[tuple[str, str, str, bool], Diagnostic] = {}
    for each in diagnostics:
        message = " ".join(each.text[each.text.find(each.where) :].split())
        seen.setdefault((each.file, each.where, message, each.error), each)
    return list(seen.values())


def last_words(lines: Iterable[str]) -> str:
    """Return *lines*, each once, the last few of them where there are many."""
    words = list(dict.fromkeys(line.strip() for line in lines))
    return "\n".join(words[-_WORDS:])
