"""A complaint: a failure that users of a harness reported, and how a scenario shows it."""

from __future__ import annotations

from dataclasses import dataclass

from scenarios import reference
from scenarios.documents import Faults
from scenarios.items import Item, read_item
from sim.errors import unknown
from sim.metrics import NAMES

__all__ = ["Complaint", "read_complaint"]


@dataclass(frozen=True, slots=True)
class Complaint:
    """What a scenario file says of the failure that it tells of, under ``[complaint]``.

    The failure is there where *measure*, a metric, is above the number *above*; with *against*,
    what a run has more of it than the same scenario under that policy.
    """

    row: int
    """Number in the list of complaints; several scenarios may have one."""
    threads: tuple[str, ...]
    """Where it was reported, as ``PROJECT#NUMBER``."""
    fails: str
    """What went wrong, in one line."""
    policy: str
    """The policy it was reported for, with its options."""
    measure: str
    above: float = 0.0
    against: str | None = None


def read_complaint(item: Item | None, faults: Faults) -> Complaint | None:
    """Return the complaint that a file's table tells of, None if it has none or a wrong one.

    What is wrong with it goes to *faults*. Policies are named only: who runs it knows them.
    """
    values = None if item is None else read_item(item, reference.section("complaint"), faults)
    if item is None or values is None:
        return None
    if values["measure"] not in NAMES:
        faults.add(f"complaint: {unknown('metric', values['measure'], NAMES)}", item.at("measure"))
    return Complaint(**values)
