"""What survives: how much of what an output reports can still be found in a text."""

from __future__ import annotations

from dataclasses import dataclass

from policies.reducers.form import Found

__all__ = ["Survival", "stands", "survival"]


@dataclass(frozen=True, slots=True)
class Survival:
    """Files with an error and distinct failures: how many a text shows, of how many there are."""

    files: int
    of_files: int
    failures: int
    of_failures: int

    @property
    def share_of_files(self) -> float | None:
        """Share of the files with an error that the text names; None if there is none."""
        return self.files / self.of_files if self.of_files else None

    @property
    def share_of_failures(self) -> float | None:
        """Share of the distinct failures that the text names; None if there is none."""
        return self.failures / self.of_failures if self.of_failures else None


def survival(found: Found, text: str) -> Survival:
    """Return how much of *found* is in *text*: a name counts where it stands as a whole word.

    It is the same measure for every text, whoever made it: a file is kept if its path is there as
    printed, a failure if one of the names it goes by is.
    """
    files = sum(stands(name, text) for name in found.files)
    failures = sum(any(stands(name, text) for name in names) for names in found.failures)
    return Survival(files, len(found.files), failures, len(found.failures))


def stands(name: str, text: str) -> bool:
    """Whether *name* occurs in *text* and is not a part of a longer name there."""
    at = text.find(name)
    while at >= 0:
        stop = at + len(name)
        before = text[at - 1] if at else " "
        after = text[stop] if stop < len(text) else " "
        if not (_inside(before) or _inside(after)):
            return True
        at = text.find(name, at + 1)
    return False


def _inside(character: str) -> bool:
    return character.isalnum() or character in "_/\\-"
