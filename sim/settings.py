"""The common keys of a run, typed. Defaults live in the scenarios' reference file, not here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any

__all__ = ["KEYS", "PER_KIND", "Settings"]


@dataclass(frozen=True, slots=True)
class Settings:
    """Every number a run depends on besides its stimuli and its prices.

    Tokens are whole tokens, times seconds, shares and probabilities between 0 and 1. Built from
    dotted keys by :meth:`from_flat`; the key ``a.b_c`` is the field ``a_b_c``.
    """

    turns: int
    budget: int
    output_reserve: int
    """Tokens of the context window that the budget leaves for the answer."""
    count_by: str
    """How a policy counts the window: ``exact``, by the last ``usage``, or by an ``estimate``."""
    line_characters: float
    salience_decay: float
    rehydrate_threshold: float
    rehydrate_margin: float
    rehydrate_comparison: str
    """What of the displaced set the incoming salience is compared with: min, max or sum."""
    slack_trigger: float
    """Share of the budget (occupancy ``tokens``) or a salience sum (``mass``) that is full."""
    slack_occupancy: str
    rewrite_below: float
    surrogate_tokens: int
    surrogate_tag_tokens: int
    surrogate_keep: float
    surrogate_taggable: float
    summariser_retention: str
    """What decides whether a summary keeps a fact: keep, ratio or rounds."""
    summariser_fabricate: float
    summariser_fail: float
    line_tokens: int
    restore_tokens: int
    image_tokens: int
    compaction_at: float
    compaction_share: float
    reader_invent_untagged: float
    reader_fetch_tagged: float
    reader_abstain_tagged: float
    reader_invent_tagged: float
    reader_distraction: float
    reader_refetch: str
    """``tag``: only a tagged surrogate leads to a fetch; ``always``: any source with a copy."""
    clock_turn_seconds: float
    """Length of a turn, or 0: a turn lasts as long as its arrivals, prefill and decode take."""
    clock_extra_call_seconds: float
    call_output_tokens: int
    cache_breakpoints: tuple[str, ...]
    """Segments after which a breakpoint stands besides the one at the end; empty: the default."""
    cache_long: int
    """How many breakpoints of a request, the first ones, ask for the longer life."""
    history: str
    """``editable``, or ``append-only``: a policy may append and compact, but not edit."""
    overflow: str
    """What comes of a request that the policy left over the budget: ``truncate`` or ``fail``."""
    copies: Mapping[str, float]
    relevance: Mapping[str, float]
    estimate: Mapping[str, float]
    """What a policy that counts by an estimate takes one token of a kind for."""
    characters: Mapping[str, float]
    """Characters that a token of a kind has."""

    @classmethod
    def from_flat(cls, flat: Mapping[str, Any]) -> Settings:
        """Build from dotted keys; raises KeyError with the name of a missing one."""
        values: dict[str, Any] = {}
        for field in fields(cls):
            if field.name in PER_KIND:
                prefix = field.name + "."
                values[field.name] = MappingProxyType(
                    {k[len(prefix) :]: v for k, v in flat.items() if k.startswith(prefix)}
                )
            else:
                values[field.name] = flat[KEYS[field.name]]
        values["cache_breakpoints"] = tuple(values["cache_breakpoints"])
        return cls(**values)


PER_KIND = frozenset({"characters", "copies", "estimate", "relevance"})
"""Fields that hold one value per segment kind, written ``copies.file`` and so on."""

_WHOLE = frozenset({"line_tokens", "restore_tokens", "image_tokens"})

KEYS: Mapping[str, str] = MappingProxyType(
    {
        f.name: f.name if f.name in _WHOLE else f.name.replace("_", ".", 1)
        for f in fields(Settings)
        if f.name not in PER_KIND
    }
)
"""Field name → dotted key, e.g. ``surrogate_tag_tokens`` → ``surrogate.tag_tokens``."""
