"""Published results that no gate claims: what they say, how well it is known, and why not."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["UNCLAIMED", "Unclaimed"]

_BEHAVIOUR = "whether an agent solves a task by what it reads is behaviour, which is not simulated"
_GUIDE = "platform.claude.com, Optimizing for cost and intelligence"


class Unclaimed(NamedTuple):
    """A published result, its *grade* (of ``bench.gates.gate.GRADES``), and *why* it is no gate."""

    name: str
    published: str
    grade: str
    source: str
    why: str


UNCLAIMED = (
    Unclaimed(
        "context editing, triage",
        "short +74 %, long 0 %",
        "P",
        _GUIDE,
        "trigger, results kept and least amount cleared are not published, and turn the sign",
    ),
    Unclaimed(
        "absolute dollars and hit levels",
        "of every table",
        "P",
        "all of them",
        "compositions are fitted to a few figures; orders and crossings are what is claimed",
    ),
    Unclaimed(
        "keep-alive against 1-hour entries, Sonnet",
        "nothing measurable",
        "P",
        _GUIDE,
        "a model finds pings cheaper by a tenth at moderate shares of pauses",
    ),
    Unclaimed(
        "longer runs under summaries",
        "+18 % turns",
        "S",
        "arXiv 2508.21433, The Complexity Trap",
        "behaviour; an input of the gate masking-uncached",
    ),
    Unclaimed(
        "handing over, solved and tokens",
        "raw 52.5 %, 811k; notes 51.4, 602k; structured 50.8, 660k; repository 46.4, 1.63M",
        "S",
        "arXiv 2606.02875",
        _BEHAVIOUR,
    ),
    Unclaimed(
        "ACON on AppWorld, accuracy and peak",
        "48.2 %, 7.1k; none 47.6, 9.6k; AutoCompress 42.9, 7.6k; prompts 37.5, 7.1k",
        "S",
        "a third party's note, not verified",
        _BEHAVIOUR,
    ),
    Unclaimed(
        "trimmed tool output",
        "−38 % of tool tokens: cost +6.8 %; another tool: +48.4 %",
        "S",
        "arXiv 2607.12161",
        "2 to 7 % more calls cancel what it saves, and calls are behaviour",
    ),
    Unclaimed(
        "AgentDiet",
        "input −40 to −60 %, cost −21 to −36 %, solved −1 to +2 points",
        "S",
        "a third party's note",
        "a model chooses what goes; " + _BEHAVIOUR,
    ),
    Unclaimed(
        "MEM1 against full context",
        "exact match 1.97 and 0.567, at 3.7 times less memory",
        "X",
        "arXiv 2506.15841",
        "a model trained for it",
    ),
    Unclaimed(
        "OpenHands condenser",
        "54 against 53 % solved, cost a turn below 50 %",
        "S",
        "a third party's note",
        _BEHAVIOUR,
    ),
    Unclaimed(
        "Sonnet 4.5, editing and memory",
        "editing +29 %, with memory +39 %, −84 % of tokens over 100 turns",
        "S",
        "a third party's note",
        "the task is not published; " + _BEHAVIOUR,
    ),
    Unclaimed(
        "facts left after truncation to 15 %",
        "about 15 % of facts",
        "D",
        "arithmetic",
        "it holds by construction wherever whole segments go",
    ),
)
"""The results in the order in which they are shown."""
