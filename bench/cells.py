"""A cell: one script under one policy, and the values that its row gets."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sim.errors import AuditError, EvictbenchError, PolicyError

if TYPE_CHECKING:
    from sim.engine import Run
    from sim.policy import Policy
    from sim.prices import Price
    from sim.records import Record
    from sim.script import Script

__all__ = [
    "CELL",
    "blamed",
    "columns",
    "make_policy",
    "not_applicable",
    "outcome",
    "price_of",
    "run_one",
    "values_of",
    "writer_of",
]

_REQUEST_KEYS = frozenset({"cache.breakpoints", "cache.long"})
"""Keys that say where a request puts its breakpoints, and nothing of the price row."""

CELL = ("scenario", "policy", "seed")
"""What a row is the run of."""


def columns() -> list[str]:
    """Return the names of a row's values, in the order of every output."""
    from sim.metrics import NAMES

    return [*CELL, *NAMES, "status", "reason"]


def make_policy(spec: str) -> Policy:
    """Return a fresh policy for one run; raises InputError where *spec* is wrong."""
    from policies.registry import make

    return make(spec)


def run_one(
    script: Script, policy: str, strict: bool = False
) -> tuple[dict[str, Any], list[Record]]:
    """Return the metrics and the event records of *script* under *policy*.

    Where the policy is not applicable, the metrics say so and are None, and nothing happened.
    Raises InputError for an unknown policy and, with *strict*, PolicyError for its first bug.
    """
    made = make_policy(policy)
    reason = not_applicable(script, made)
    if reason is not None:
        return values_of({"status": "not-applicable", "reason": reason}), []
    run = _simulate(script, made, strict, script.digest())
    return values_of(run.metrics), run.records


Observe = Callable[["list[Record]"], Any]
"""What is kept of the records of a run; it can be pickled."""


def outcome(
    script: Script, policy: Policy, strict: bool, digest: str, observe: Observe | None = None
) -> tuple[dict[str, Any], str | None, Any]:
    """Return a run's metrics, the hash of what it met, and what *observe* makes of its records.

    The last two are None if it came to nothing. *digest* is the script's own. With *strict*, a
    policy bug fails the run, and it alone.
    """
    reason = not_applicable(script, policy)
    if reason is not None:
        return values_of({"status": "not-applicable", "reason": reason}), None, None
    try:
        run = _simulate(script, policy, strict, digest)
    except PolicyError as error:
        reason = f"{error.rule}: {error}"
        return values_of({"status": "failed", "reason": reason, "policy_bugs": 1}), None, None
    return values_of(run.metrics), run.digest, None if observe is None else observe(run.records)


def price_of(settings: Mapping[str, Any]) -> Price:
    """Return the price that the flat *settings* of a scenario name, ``cache.*`` laid over it.

    `prices` in them is the user's own price book, if there is one.
    """
    overrides = tuple(
        (key.removeprefix("cache."), value)
        for key, value in sorted(settings.items())
        if key.startswith("cache.") and key not in _REQUEST_KEYS and value is not None
    )
    return _price(settings["price"], overrides, _stamp(settings))


def writer_of(settings: Mapping[str, Any]) -> Price | None:
    """Return the price of the model that writes the summaries, None if it is the agent's own."""
    name = settings.get("summariser.price")
    return None if name is None else _price(name, (), _stamp(settings))


def _stamp(settings: Mapping[str, Any]) -> tuple[Path, int, int] | None:
    from bench.prices import file_stamp

    book = settings.get("prices")
    return None if book is None else file_stamp(book)


@lru_cache(maxsize=64)
def _price(
    name: str, overrides: tuple[tuple[str, Any], ...], stamp: tuple[Path, int, int] | None
) -> Price:
    from bench.prices import get_price

    return get_price(name, dict(overrides), None if stamp is None else stamp[0])


def values_of(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return every metric, then status and reason; None where *found* has nothing for it."""
    return {name: found.get(name) for name in columns() if name not in CELL}


def not_applicable(script: Script, policy: Policy) -> str | None:
    """Return why *policy* cannot run *script*, None if it can."""
    from sim.engine import lacking

    missing = lacking(script, policy)
    if missing == ["edits"]:
        return "the policy edits the history, which may only be appended to or compacted"
    return f"the scenario does not offer {' and '.join(missing)}" if missing else None


def _simulate(script: Script, policy: Policy, strict: bool, digest: str) -> Run:
    from sim.engine import run

    with blamed(script, policy):
        price, writer = price_of(script.settings), writer_of(script.settings)
        return run(script, policy, price, strict=strict, digest=digest, writer=writer)


@contextmanager
def blamed(script: Script, policy: Policy) -> Iterator[None]:
    """Name the cell in what a run raises that is no fault of the user's.

    An AuditError gets it in front; whatever is none of ours becomes an EvictbenchError that says
    where in the code it was raised.
    """
    where = f"{policy.label} on {script.scenario}, seed {script.seed}"
    try:
        yield
    except AuditError as error:
        raise AuditError(f"{where}: {error}") from error
    except EvictbenchError:
        raise
    except Exception as error:
        cause: BaseException = error
        while cause.__cause__ is not None:
            cause = cause.__cause__
        frame = traceback.extract_tb(cause.__traceback__)[-1]
        place = f"{Path(frame.filename).name}:{frame.lineno}"
        raise EvictbenchError(
            f"{where}, raised {type(cause).__name__} at {place}: {cause}"
        ) from error
