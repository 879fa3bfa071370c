"""The rule that would have prevented a cause, and the policies and options that have it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bench.explain.causes import Cause

__all__ = ["RULES", "Remedy", "Rule", "remedies", "rule_of"]


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule by *name*, what it *says*, and who has it.

    *options* are switches of a policy, each with the value that puts the rule in force; *policies*
    are specs of policies that keep it. With *copies* the rule is the world's: the tool's results
    can be fetched again.
    """

    name: str
    says: str
    options: tuple[tuple[str, str], ...] = ()
    policies: tuple[str, ...] = ()
    copies: bool = False


RULES: Mapping[str, Rule] = MappingProxyType(
    {
        rule.name: rule
        for rule in (
            Rule(
                "tag",
                "a surrogate says what it stands for and how to fetch it, or the segment is "
                "dropped: a hole is fetched again, untagged text is filled in",
                (("tag", "on"),),
                ("tag-or-drop", "disciplined"),
            ),
            Rule(
                "drop",
                "evict what has a copy rather than rewrite it: whoever meets a hole asks, whoever "
                "meets a tag may not",
                (("rewrite", "off"),),
                ("tag-or-drop:rewrite=off",),
            ),
            Rule(
                "copy",
                "nothing leaves, in whole or in part, without an external copy it can come back "
                "from",
                copies=True,
            ),
            Rule(
                "tag and copy",
                "a surrogate says what it stands for, and there is a copy that it can be fetched "
                "from",
                (("tag", "on"),),
                ("tag-or-drop", "disciplined"),
                copies=True,
            ),
            Rule(
                "pin",
                "what an act requires is pinned, and no pass touches a pin",
                (
                    ("pins", "on"),
                    ("pin.head", "on"),
                    ("pin.standing", "on"),
                    ("pin.results", "on"),
                    ("pin.written", "on"),
                    ("pin.named", "on"),
                ),
                ("tiered", "disciplined"),
            ),
            Rule(
                "gate",
                "what comes back must find room or beat the unpinned segments it displaces; a pin "
                "is never displaced",
                (("gate", "on"),),
                ("slack-swap-refuse", "disciplined"),
            ),
            Rule(
                "shrink",
                "a rewrite that grows, of what has no copy, is not made",
                (("shrink", "on"),),
                ("tag-or-drop", "disciplined"),
            ),
            Rule(
                "never compress-then-spend",
                "no rewrite frees room in the turn that fills it with what has no copy",
                (("defer", "on"),),
                ("tag-or-drop", "disciplined"),
            ),
            Rule(
                "never leave it to the backstop",
                "the policy gives up what it chooses until the window fits, so that nothing is cut "
                "by position",
                (("tiers", "on"), ("evict", "on"), ("pass", "on")),
                ("tiered", "disciplined", "slack-swap-refuse"),
            ),
            Rule(
                "refresh in place",
                "a write makes copies stale; they are replaced where they stand before the next "
                "call",
                (("staleness", "on"),),
                ("tiered", "disciplined"),
            ),
            Rule(
                "reduce at arrival",
                "a result over the budget that its tool declares is reduced by its structure "
                "before it enters",
                (("arrival", "on"),),
                ("tiered", "disciplined"),
            ),
            Rule(
                "page at arrival",
                "of an oversized result the first page enters, with a cursor for the rest",
                (("arrival", "page"), ("arrival", "spill")),
                ("tiered:arrival=page",),
            ),
            Rule(
                "open door",
                "what arrives is let in whole, and room is made for it",
                (("door", "off"), ("arrival", "off")),
                ("tag-or-drop", "tiered"),
            ),
            Rule(
                "evict what is irrelevant",
                "a file that no longer matters leaves, and cannot distract",
                (("relevance", "on"),),
                ("tag-or-drop", "disciplined"),
            ),
            Rule("none", "no rule of a window helps: what was asked for had not come"),
        )
    }
)
"""Every rule by its name."""


def rule_of(cause: Cause, act: bool, grew: str = "", oversized: bool = False) -> Rule:
    """Return the rule that answers *cause*; *act*: of a violation.

    *grew* is the type of the record that last grew the window before a removal; *oversized* whether
    that let in a result that was over the budget of its tool, whole.
    """
    return RULES[_name(cause, act, grew, oversized)]


def _name(cause: Cause, act: bool, grew: str, oversized: bool) -> str:
    match cause.decision:
        case "never came" | "no longer stated":
            return "none"
        case "distracted":
            return "evict what is irrelevant"
        case "left to the reader":
            return "drop" if cause.reason == "a tagged surrogate" else "open door"
        case "left stale":
            return "refresh in place"
        case "cut at the door":
            return "page at arrival"
        case "kept out at the door":
            return "open door" if act or cause.copy else "copy"
        case "rewritten, untagged" | "made up":
            return "pin" if act else "tag"
        case "not given to the summariser" | "not kept by the summariser" if not cause.tagged:
            return "tag"
        case "rewritten, tagged":
            return "pin" if act else _without_copy(cause)
        case (
            "not given to the summariser"
            | "not kept by the summariser"
            | "made up by the summariser"
        ):
            return _without_copy(cause)
        case "evicted":
            if act:
                return "gate" if cause.pinned and grew == "fetch" else "pin"
            return _without_copy(cause)
    if "grew" in cause.reason:
        return "shrink"
    return "reduce at arrival" if oversized else "never leave it to the backstop"


def _without_copy(cause: Cause) -> str:
    if cause.copy:
        return "drop"
    return "never compress-then-spend" if "compress-then-spend" in cause.broke else "copy"


@dataclass(frozen=True, slots=True)
class Remedy:
    """A run in which a *rule* is kept: under *policy*, with copies of every segment of a *kind*."""

    rule: str
    policy: str
    option: str = ""
    """The option of the policy that has the rule, ``NAME=VALUE``; empty: the policy as it is."""
    kind: str = ""

    @property
    def change(self) -> str:
        """The setting of the scenario that differs, empty if none."""
        return f"copies.{self.kind}=1" if self.kind else ""


def remedies(rule: Rule, cause: Cause, policy: str) -> Iterator[Remedy]:
    """Yield the runs in which *rule* is kept: the same policy with the option first."""
    kind = cause.kind if rule.copies else ""
    if rule.copies and (cause.copy or not kind):
        return
    if rule.copies and not rule.policies:
        yield Remedy(rule.name, policy, kind=kind)
    for name, value in rule.options:
        spec = _with(policy, name, value)
        if spec is not None:
            yield Remedy(rule.name, spec, f"{name}={value}", kind)
    label = _label(policy)
    for spec in rule.policies:
        if _label(spec) != label:
            yield Remedy(rule.name, spec, spec.partition(":")[2], kind)


def _with(policy: str, option: str, value: str) -> str | None:
    """Return *policy* with *option*, None if it has none of that name, or has that value already.

    A policy from a file or a package is left alone.
    """
    from policies.options import split
    from policies.registry import SPECS, make
    from sim.errors import InputError

    name, _, rest = policy.partition(":")
    if name not in SPECS:
        return None
    given = {**(split(rest, name) if rest else {}), option: value}
    try:
        spec = make(name + ":" + ",".join(f"{key}={text}" for key, text in given.items())).label
    except InputError:
        return None
    return None if spec == _label(policy) else spec


def _label(policy: str) -> str:
    from policies.registry import make

    return make(policy).label
