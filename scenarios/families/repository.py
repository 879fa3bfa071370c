"""The files a coding agent works on: what it has seen of them, and which version stands."""

from __future__ import annotations

from scenarios.families.builder import Builder
from scenarios.families.past import Item, Past
from scenarios.families.sizes import Lognormal, pareto_lag
from sim.script import Arrival, Write
from sim.segments import Fact, Kind

__all__ = ["Repository"]


class Repository:
    """Paths with size and version. A file is read whole, and a write keeps its size (as in S3)."""

    def __init__(self, builder: Builder) -> None:
        settings = builder.settings
        self._builder = builder
        self._alpha: float = settings.get("reads.alpha", settings["returns.alpha"])
        self._seen = Past()
        self._tokens: dict[str, int] = {}
        self._versions: dict[str, int] = {}

    def ranked(self) -> list[Arrival]:
        """Return the files that retrieval puts into turn 1, best rank first."""
        settings = self._builder.settings
        sizes = Lognormal.of(settings, "files")
        draws = self._builder.rows("file", 1)
        files = []
        for rank in range(1, settings["files.count"] + 1):
            path = f"src/rank{rank}.py"
            self._tokens[path] = sizes.tokens(draws[rank][0])
            files.append(
                self._builder.arrival(
                    1,
                    f"file{rank}",
                    Kind.FILE,
                    self._tokens[path],
                    1.0,
                    path=path,
                    rank=rank,
                    facts=self.facts(path),
                )
            )
        return files

    def create(self, path: str, tokens: int) -> None:
        """Make a file that has not been seen before known."""
        self._tokens[path] = tokens

    def see(self, item: Item) -> None:
        """Remember that the file ``item.subject`` has been read in the turn under way."""
        self._seen.add(item)

    def close(self) -> None:
        """End the turn under way."""
        self._seen.close()

    def pick(self, turn: int, lag: float, which: float, minimum: int = 1) -> str:
        """Return a path seen a Pareto lag of at least *minimum* turns before, or in the first."""
        seen_in = max(1, turn - pareto_lag(minimum, self._alpha, lag))
        index = self._seen.at(seen_in, which)
        assert index is not None
        return self._seen.items[index].subject

    def tokens(self, path: str) -> int:
        """Return the size of a file."""
        return self._tokens[path]

    def facts(self, path: str) -> tuple[Fact, ...]:
        """Return what the current version of a file states."""
        return self._builder.facts(path, self._versions.get(path, 0))

    def write(self, turn: int, path: str, attempt: int | None = None) -> Write:
        """Make a new version of a file: the same keys with other values."""
        self._versions[path] = self._versions.get(path, 0) + 1
        return Write(turn, path, facts=self.facts(path), attempt=attempt)
