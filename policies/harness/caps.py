"""The caps of the field: the most of a tool result that each harness lets into its context.

Source of every figure: the project's notes on the harnesses, section 2, most of them read in the
source of the version that the policy of the same name states. A kB is 1,024 bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from policies.parts.capping import Cap

__all__ = ["CAPS"]

_MIDDLE = "head-tail"

CAPS: Mapping[str, tuple[Cap, ...]] = MappingProxyType(
    {
        "claude-code": (
            Cap(_MIDDLE, characters=30_000, of="commands"),
            Cap("pointer", tokens=25_000, of="others"),
        ),
        "cline": (Cap(_MIDDLE, characters=8_000),),
        "cline-classic": (Cap(_MIDDLE, lines=500),),
        "codex": (Cap(_MIDDLE, tokens=10_000),),
        "codex-older": (Cap(_MIDDLE, characters=10_240, lines=256),),
        "deepagents": (Cap("head-tail-saved", characters=80_000, leaves=10),),
        "gemini-cli": (Cap("head-tail-20-saved", characters=40_000, remaining=4.0),),
        "goose": (Cap("pointer", characters=200_000),),
        "letta": (Cap("head", characters=50_000),),
        "letta-06": (Cap("head", characters=6_000),),
        "opencode": (Cap("head-saved", characters=51_200, lines=2_000),),
        "openhands": (Cap(_MIDDLE, characters=30_000),),
        "openhands-sdk": (Cap(_MIDDLE, characters=50_000),),
        "pi": (
            Cap("tail", characters=51_200, lines=2_000, of="commands"),
            Cap("head", characters=51_200, lines=2_000),
        ),
        "roo": (
            Cap("head-tail-saved", characters=10_240, of="commands"),
            Cap("head", lines=2_000, of="reads"),
        ),
        "swe-agent": (Cap("head", characters=100_000),),
    }
)
"""The caps of each harness, by its name, of which the first that is for a result counts."""
