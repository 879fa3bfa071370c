"""Which complaints are meant: by row, by name, or as a scenario file of one's own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from bench.complaints.beyond import BEYOND
from bench.loading import load
from scenarios import catalogue, complaints
from sim.errors import InputError, unknown

if TYPE_CHECKING:
    from scenarios.scenario import Scenario

__all__ = ["choose"]


def choose(wanted: Iterable[str] = ()) -> list[Scenario]:
    """Return the scenarios of the complaints *wanted*, of all that ship if there are none.

    Each is the number of a row, the name of a scenario, with or without ``complaints/`` in front,
    or the path of a scenario file with a ``[complaint]`` table. Raises InputError with a sentence
    for what is none of them.
    """
    ours = {name: load(name) for name in catalogue.complaint_names()}
    found = {s.name: s for text in wanted for s in _meant(text, ours)}
    return list((found or ours).values())


def _meant(text: str, ours: dict[str, Scenario]) -> Iterator[Scenario]:
    if text.endswith(".toml"):
        yield _own(text)
        return
    name = f"{complaints.FOLDER}/{text.removeprefix(complaints.FOLDER + '/')}"
    if name in ours:
        yield ours[name]
        return
    of_row = [s for s in ours.values() if s.complaint and str(s.complaint.row) == text]
    yield from of_row
    if not of_row:
        raise InputError(_none_such(text, ours.values()))


def _own(file: str) -> Scenario:
    scenario = load(file)
    if scenario.complaint is None:
        raise InputError("it has no [complaint] table", file=Path(file))
    return scenario


def _none_such(text: str, ours: Iterable[Scenario]) -> str:
    beyond = next((each for each in BEYOND if str(each.row) == text), None)
    if beyond is not None:
        return f"row {text} has no scenario: {beyond.why}"
    rows = sorted({s.complaint.row for s in ours if s.complaint})
    return unknown("complaint", text, [*map(str, rows), *complaints.FILES])
