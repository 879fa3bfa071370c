"""When and by which command a comparison was begun, for its manifest."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Mapping
from concurrent.futures import Executor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

__all__ = ["Started", "command_line"]


def command_line(but: str | None = None) -> str:
    """Return the command line of this process, without the program's folder and the word *but*."""
    program = Path(sys.argv[0]).name
    start = ["python", "-m", "bench"] if program == "__main__.py" else [program]
    return shlex.join([*start, *(word for word in sys.argv[1:] if word != but)])


class Started:
    """When the work began, for its manifest."""

    def __init__(self) -> None:
        self._when, self._clock = datetime.now(UTC), time.monotonic()

    def manifest(
        self,
        described: Mapping[str, Mapping[str, Any]],
        policies: Mapping[str, str],
        settings: Mapping[str, object],
        strict: bool,
        jobs: int,
        executor: str | Executor | None,
    ) -> dict[str, Any]:
        """Return what the manifest of every comparison holds.

        *policies* are specs by label. What two equal comparisons may differ in stands under
        ``effort`` alone.
        """
        from bench.manifest import described_policies, versions

        named = "processes" if executor is None else executor
        prices = [row["name"] for facts in described.values() for row in facts["prices"]]
        return {
            **versions(),
            "scenarios": described,
            **described_policies(policies),
            "prices": list(dict.fromkeys(prices)),
            "settings": dict(settings),
            "strict": strict,
            "effort": {
                "command": command_line(),
                "started": self._when.isoformat(timespec="seconds"),
                "seconds": time.monotonic() - self._clock,
                "executor": named if isinstance(named, str) else type(named).__name__,
                "jobs": jobs,
            },
        }
