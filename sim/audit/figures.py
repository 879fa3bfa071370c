"""The metrics of a run as the second reckoning has them."""

from __future__ import annotations

from sim.audit.dealings import OUTCOMES
from sim.audit.state import State

__all__ = ["figures"]

_COUNTS = (
    "acts",
    "violations",
    "attempts",
    "calls",
    "queries",
    "evictions",
    "rewrites",
    "refreshes",
    "fetches",
    "pages",
    "rehydrated_slack",
    "rehydrated_swap",
    "edit_turns",
    "reversals",
    "breaches",
    "pins_lost",
    "turns",
    "passes",
    "pings",
)
"""Metrics that go by the name of their counter."""

_CAUSES = (
    "read",
    "append",
    "rehydration",
    "refresh",
    "rewrite",
    "compaction",
    "eviction",
    "truncation",
    "change",
    "expiry",
    "rule",
    "storage",
)


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def figures(s: State) -> dict[str, float | int | str | None]:
    """Return every metric by its name; a rate or peak of nothing is None."""
    counts, costs = s.counts, s.costs
    return {
        **{outcome: s.outcomes[outcome] for outcome in OUTCOMES},
        **{name: counts[name] for name in _COUNTS},
        **s.books.totals(),
        "confabulation_rate": _ratio(s.outcomes["confabulated"], counts["queries"]),
        "first_confabulation_turn": s.first_confabulation_turn,
        "repeated_attempts": counts["repeated"],
        "rehydrated_refused": counts["rehydrated_blocked"],
        "policy_bugs": counts["bugs"],
        "missed_tokens": counts["missed"],
        "peak_tokens": s.peak_tokens,
        "peak_demand_tokens": s.peak_demand_tokens,
        "mean_tokens": _ratio(costs.input_tokens, counts["calls"]),
        "peak_share": None if s.peak_tokens is None else _ratio(s.peak_tokens, s.budget),
        "input_tokens": costs.input_tokens,
        "cached_tokens": costs.cached_tokens,
        "written_tokens": costs.written_tokens,
        "plain_tokens": costs.plain_tokens,
        "output_tokens": costs.output_tokens,
        "prefill_cost_usd": costs.prefill_usd,
        "maintenance_cost_usd": costs.maintenance_usd,
        "total_cost_usd": costs.prefill_usd + costs.output_usd + costs.maintenance_usd,
        **{
            f"{cause.replace('-', '_')}_cost_usd": costs.by_cause.get(cause, 0.0)
            for cause in _CAUSES
        },
        "prefill_seconds": costs.prefill_seconds,
        "queue_seconds": costs.queue_seconds,
        "total_seconds": s.seconds,
        "cache_hit_rate": _ratio(costs.cached_tokens, costs.input_tokens),
        "status": s.status,
        "reason": s.reason,
    }
