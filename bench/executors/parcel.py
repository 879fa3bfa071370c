"""A parcel: work that a worker elsewhere can carry out, and what it looks at before it does."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from bench.kit import Kit
from sim.errors import EvictbenchError

__all__ = ["Parcel"]


class Parcel:
    """Work that is carried out where it is unpickled: what comes out is what *fn* returned.

    So nothing on the way, a scheduler say, needs to have evictbench. Whoever opens one must have
    the *kit*, which is looked at once for each *run*; EvictbenchError says what is lacking.
    """

    def __init__(self, run: str, kit: Kit, fn: Callable[..., Any], *args: Any) -> None:
        self._work = run, kit, fn, args

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return _carry_out, self._work


def _carry_out(run: str, kit: Kit, fn: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    from policies.supplied import supplied

    _look_at(run, kit)
    with supplied(dict(kit.sources)):
        return fn(*args)


@lru_cache(maxsize=8)
def _look_at(run: str, kit: Kit) -> None:
    lacking = kit.lacking()
    if lacking is not None:
        from distributed import get_worker

        raise EvictbenchError(f"worker {get_worker().address}, which came later, {lacking}")
