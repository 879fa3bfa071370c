"""Leads: which way of bringing a segment back a gated policy takes most, setting by setting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bench.sweep.plan import SETTING

__all__ = ["NONE", "WAYS", "leads", "led"]

WAYS: Mapping[str, str] = {
    "slack": "rehydrated_slack",
    "swap": "rehydrated_swap",
    "refuse": "rehydrated_refused",
}
"""What a gate can say to a segment that is to come back, and the metric that counts it."""

NONE = "none"
"""Stands for settings in which nothing is to come back, or no way leads alone."""


def led(rows: Sequence[Mapping[str, Any]]) -> dict[tuple[int, str], str]:
    """Return by setting and policy the way that was taken most over the runs, or :data:`NONE`.

    Policies that never took one in any setting, as those without a gate, are left out.
    """
    sums: dict[tuple[int, str], dict[str, int]] = {}
    for row in rows:
        if row[WAYS["slack"]] is not None:
            mine = sums.setdefault((row[SETTING], row["policy"]), dict.fromkeys(WAYS, 0))
            for way, metric in WAYS.items():
                mine[way] += row[metric]
    gated = {policy for (_, policy), mine in sums.items() if any(mine.values())}
    found = {}
    for at, mine in sums.items():
        if at[1] not in gated:
            continue
        most = max(mine.values())
        leaders = [way for way, count in mine.items() if count == most]
        found[at] = leaders[0] if len(leaders) == 1 else NONE
    return found


def leads(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return a line for each policy with a gate: in how many settings each way leads."""
    counts: dict[str, dict[str, int]] = {}
    for (_, policy), way in led(rows).items():
        mine = counts.setdefault(policy, dict.fromkeys([*WAYS, NONE], 0))
        mine[way] += 1
    return [
        {"policy": policy, "settings": sum(mine.values()), **mine}
        for policy, mine in counts.items()
    ]
