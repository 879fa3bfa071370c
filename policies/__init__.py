"""The eviction policies, the parts they are composed of, and the reducers of tool results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from live.agent import Agent
    from sim.policy import Policy

__all__ = ["adapt"]


def adapt(policy: str | Policy, *, budget: int, **more: Any) -> Agent:
    """Return an agent that keeps a live history within *budget* tokens under *policy*.

    The rest is as `live.adapt` takes it, which is what it calls: the adapter stands above the
    policies and is loaded by this call alone. Raises InputError as that does.
    """
    from live.agent import adapt

    return adapt(policy, budget=budget, **more)
