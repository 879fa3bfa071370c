"""The manifest: all that a reader needs to know of how rows came about, and to make them again."""

from __future__ import annotations

import os
import platform
import subprocess
import tomllib
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scenarios.scenario import Scenario

__all__ = [
    "describe_scenario",
    "described_policies",
    "git_commit",
    "library",
    "version",
    "versions",
]

ROOT = Path(__file__).resolve().parent.parent

LIBRARIES = ("numpy", "pyarrow", "simpy", "sortedcontainers", "splintr-rs")
"""Distributions that a row can depend on, and the one that writes it."""


def version() -> str:
    """Return the version of evictbench, installed or run from its checkout."""
    try:
        return metadata.version("evictbench")
    except metadata.PackageNotFoundError:
        project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
        return str(project["project"]["version"])


def versions() -> dict[str, Any]:
    """Return what made the rows: evictbench, its commit, Python, libraries that count, machine."""
    return {
        "evictbench": version(),
        "git_commit": git_commit(),
        "python": platform.python_version(),
        "libraries": {name: library(name) for name in LIBRARIES},
        "machine": {
            "system": platform.system(),
            "architecture": platform.machine(),
            "processors": os.cpu_count(),
        },
    }


def git_commit() -> str | None:
    """Return the commit of the checkout that this code stands in, None outside one.

    ``+changes`` follows where tracked files differ from it.
    """
    if not (ROOT / ".git").exists():
        return None
    commit = _git("rev-parse", "--verify", "--quiet", "HEAD")
    if not commit:
        return None
    return commit + ("+changes" if _git("status", "--porcelain", "--untracked-files=no") else "")


def describe_scenario(
    scenario: Scenario, seeds: Sequence[int], prices: Sequence[str] = ()
) -> dict[str, Any]:
    """Return what the manifest holds of one scenario: its kind, seeds, settings and price rows.

    *prices* are those that it is run at, by default its own; `price` is the row of the first, and
    so is the name in `settings`. `source` says by which name or path it is loaded again, and with
    what settings over its own; a recording and what Python made have none. `writer` is that of the
    model that writes the summaries, where it is another. Raises InputError, with the nearest name,
    for an unknown price.
    """
    from dataclasses import asdict

    from bench.cells import price_of, writer_of

    names = prices or (scenario.settings["price"],)
    rows = [asdict(price_of({**scenario.settings, "price": name})) for name in names]
    writer, source = writer_of(scenario.settings), scenario.source
    return {
        "kind": scenario.kind,
        **({} if source is None else {"source": asdict(source)}),
        "seeds": len(seeds),
        "settings": dict(sorted({**scenario.settings, "price": names[0]}.items())),
        "price": rows[0],
        "prices": rows,
        **({} if writer is None else {"writer": asdict(writer)}),
    }


def described_policies(policies: Mapping[str, str]) -> dict[str, Any]:
    """Return what the manifest holds of *policies*, specs by label: their labels, and ``specs``.

    A label that makes its policy is its own spec and has none there.
    """
    specs = {label: spec for label, spec in policies.items() if spec != label}
    return {"policies": list(policies), **({"specs": specs} if specs else {})}


def library(name: str) -> str | None:
    """Return the version of the distribution *name*, None if it is not installed."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _git(*arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ("git", "-C", str(ROOT), *arguments), capture_output=True, text=True, timeout=10
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
