"""The registry: every policy by name, and how one is made from what a user writes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from importlib.metadata import entry_points
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from policies import foreign, harness
from policies.boundary_prune import BoundaryPrune
from policies.clairvoyant import Clairvoyant
from policies.compaction import Compaction
from policies.context_editing import ContextEditing
from policies.disciplined import Disciplined
from policies.hybrid import Hybrid
from policies.lease import Lease
from policies.masking import Masking
from policies.naive_rehydrate import NaiveRehydrate
from policies.naive_rewrite import NaiveRewrite
from policies.naive_trim import NaiveTrim
from policies.no_op import NoOp
from policies.options import Option, split
from policies.pays_back import PaysBack
from policies.policy import Composed
from policies.recorded import Recorded
from policies.rolling_summary import RollingSummary
from policies.slack_swap_refuse import SlackSwapRefuse
from policies.sliding_window import SlidingWindow
from policies.tag_or_drop import TagOrDrop
from policies.tiered import Tiered
from sim.errors import InputError, unknown

if TYPE_CHECKING:
    from sim.policy import Policy

__all__ = [
    "GROUP",
    "SPECS",
    "code",
    "describe",
    "group",
    "head",
    "installed",
    "make",
    "names",
    "options",
    "seed_names",
    "source",
    "version",
]

GROUP = "evictbench.policies"
"""Entry-point group under which installed packages register policy classes."""

_SEED = re.compile(r"S\d")

_OWN: tuple[type[Composed], ...] = (
    NaiveTrim,
    SlidingWindow,
    NaiveRewrite,
    NaiveRehydrate,
    TagOrDrop,
    SlackSwapRefuse,
    Tiered,
    Disciplined,
    PaysBack,
    Lease,
    Masking,
    ContextEditing,
    BoundaryPrune,
    RollingSummary,
    Hybrid,
    Compaction,
    Recorded,
    Clairvoyant,
    NoOp,
)

SPECS: Mapping[str, type[Composed]] = MappingProxyType(
    {policy.name: policy for policy in (*_OWN, *harness.found())}
)
"""Every policy of the project, in the order in which lists show them; the field's own are last."""


def names(of: str | None = None) -> list[str]:
    """Return the names of the policies that ship, in a fixed order.

    With *of*, those of one group: ``own``, the project's, or ``field``, the harnesses' that people
    run. Raises KeyError for another group.
    """
    if of is None:
        return list(SPECS)
    chosen = {"own": _OWN, "field": harness.found()}[of]
    return [policy.name for policy in chosen]


def group(name: str) -> str:
    """Return the group of the policy *name*; raises InputError if there is none."""
    return "field" if _spec(name) in harness.found() else "own"


def seed_names() -> list[str]:
    """Return the names of the policies whose source is one of the seeds."""
    return [name for name, policy in SPECS.items() if _SEED.match(policy.source)]


@cache
def installed() -> tuple[str, ...]:
    """Return the names that installed packages register, sorted."""
    return tuple(sorted({entry.name for entry in entry_points(group=GROUP)} - set(SPECS)))


def describe(name: str) -> str:
    """Return one line about the policy *name*; raises InputError if there is none."""
    return _spec(name).summary


def source(name: str) -> str:
    """Return where the policy *name* comes from; raises InputError if there is none."""
    return _spec(name).source


def version(name: str) -> str:
    """Return what version of its source *name* was read in, empty for what has none.

    Raises InputError if there is no such policy.
    """
    return _spec(name).version


def options(name: str) -> tuple[Option, ...]:
    """Return the options of the policy *name*; raises InputError if there is none."""
    return _spec(name).options


def make(spec: str) -> Policy:
    """Return a fresh policy for one run.

    *spec* is ``NAME[:opt=value,…]`` or ``path/to/file.py:ClassName[:opt=value,…]``. Raises
    InputError where a name, option, value, file or class is wrong.
    """
    if foreign.is_path(spec):
        path, name, rest = foreign.parse(spec)
        factory = foreign.from_file(path, name)
        return foreign.build(factory, head(spec), split(rest, name) if rest else {})
    name, colon, rest = (part.strip() for part in spec.partition(":"))
    if colon and not rest:
        raise InputError(f"policy {name}: no option follows the colon")
    given = split(rest, name) if rest else {}
    if name in SPECS:
        return SPECS[name](given)
    return foreign.build(_installed(name), name, given)


def head(spec: str) -> str:
    """Return what names the policy in *spec*: all but its options."""
    if foreign.is_path(spec):
        path, name, _ = foreign.parse(spec)
        return f"{path}:{name}"
    return spec.partition(":")[0].strip()


def code(spec: str) -> bytes:
    """Return the source file of a policy from outside the project; empty for one of its own.

    Raises InputError as :func:`make` does.
    """
    if foreign.is_path(spec):
        return foreign.read(foreign.parse(spec)[0])
    name = head(spec)
    return b"" if name in SPECS else foreign.code(_installed(name))


def _spec(name: str) -> type[Composed]:
    if name not in SPECS:
        raise InputError(unknown("policy", name, SPECS))
    return SPECS[name]


def _installed(name: str) -> Callable[..., Any]:
    found = [entry for entry in entry_points(group=GROUP) if entry.name == name]
    if not found:
        raise InputError(unknown("policy", name, [*SPECS, *installed()]))
    return foreign.from_entry_point(found[0])
