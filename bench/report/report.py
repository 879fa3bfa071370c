"""A report: what a page shows of a comparison, put together part by part."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bench.charts.choice import Choice, chosen_run
from bench.report import answer, parameters
from bench.report.limits import LIMITS
from bench.report.pictures import Drawings, Drawn
from bench.report.shown import Shown, shown
from bench.report.wrong import failed_table, wrong_answers
from sim.errors import InputError

if TYPE_CHECKING:
    from bench.again import Again
    from bench.api import Comparison
    from bench.progress import Report as Progress

__all__ = ["Asked", "Contents", "Example", "gather"]

Watch = Callable[[str], "AbstractContextManager[Progress]"]


def _unseen(what: str) -> AbstractContextManager[Progress]:
    """Show nothing of how far *what* has come."""
    return nullcontext(lambda done, planned: None)


@dataclass(frozen=True, slots=True)
class Asked:
    """What a report is asked for.

    *choice* is the scenario, price, policy and seed that are looked into; None of each leaves it to
    the comparison. *title* stands in the place of the question. *validation* is what
    ``evictbench validate`` told, None where a report goes without. *jobs* processes make runs
    again, and *watch* gives a report of progress for each kind of work.
    """

    choice: Choice = field(default_factory=Choice)
    title: str = ""
    validation: Mapping[str, Any] | None = None
    jobs: int = 1
    watch: Watch = _unseen


@dataclass(frozen=True, slots=True)
class Example:
    """A wrong answer, explained."""

    title: str
    tables: tuple[Shown, ...]


@dataclass(frozen=True, slots=True)
class Gallery:
    """Charts that belong together, under a *title*."""

    title: str
    drawn: tuple[Drawn, ...]


@dataclass(frozen=True, slots=True)
class Contents:
    """Everything a page shows, in its order; see `assets/page.html`."""

    question: str
    subtitle: str
    answers: tuple[answer.Answer, ...]
    tables: tuple[Shown, ...]
    galleries: tuple[Gallery, ...]
    run: Gallery | None
    windows: Mapping[str, Any] | None
    windows_title: str
    failed: tuple[Shown, ...]
    causes: tuple[Shown, ...]
    examples: tuple[Example, ...]
    gates: tuple[Shown, ...]
    limits: tuple[str, ...]
    parameters: tuple[Shown, ...]
    settings: tuple[Shown, ...]
    command: str
    made_by: Shown
    left_out: tuple[str, ...]


def gather(found: Comparison, asked: Asked) -> Contents:
    """Return what the page of *found* shows.

    Raises InputError, with the nearest name, for a scenario, price, policy or seed that was not
    run, and for a comparison without rows. What cannot be shown for want of something, such as a
    scenario that is not there any more, is left out, and said.
    """
    swept = "vary" in found.manifest
    if not found.rows:
        raise InputError("there is nothing to show: no run was finished")
    choice = asked.choice if swept else chosen_run(found, asked.choice)
    drawings = Drawings(found)
    left_out: list[str] = []
    galleries: list[Gallery] = []
    run: Gallery | None = None
    runs: list[Again] = []
    with asked.watch("drawing charts") as report:
        if swept:
            galleries.append(Gallery("The sweep", tuple(drawings.of("sweep", choice))))
        else:
            names = _drawn_scenarios(found, choice)
            for at, name in enumerate(names):
                report(at, len(names) + 1)
                mine = Choice(name, choice.price if name == choice.scenario else None)
                galleries.append(Gallery(name, tuple(drawings.of("scenario", mine))))
            report(len(names), len(names) + 1)
            title = f"{choice.policy} on {choice.scenario}, seed {choice.seed}"
            run = Gallery(title, tuple(drawings.of("run", choice)))
    if not swept:
        with asked.watch("making runs again") as report:
            runs, refused = _runs(found, choice, report)
            left_out += refused
    wrong = None
    if not swept:
        with asked.watch("explaining") as report:
            wrong = wrong_answers(found, choice.price, asked.jobs, report)
    failed = failed_table(found)
    left_out += drawings.left_out + list(wrong.left_out if wrong else ())
    return Contents(
        question=asked.title or answer.question(found),
        subtitle=answer.subtitle(found),
        answers=tuple(answer.answers(found)),
        tables=tuple(shown(table) for table in found.tables(wide=True)),
        galleries=tuple(gallery for gallery in galleries if gallery.drawn),
        run=run if run is not None and run.drawn else None,
        windows=_windows(runs, choice.policy),
        windows_title=f"{choice.scenario}, seed {choice.seed}",
        failed=() if failed is None else (shown(failed),),
        causes=tuple(shown(table) for table in wrong.tables) if wrong else (),
        examples=tuple(_example(each) for each in wrong.explained) if wrong else (),
        gates=_gates(asked.validation),
        limits=LIMITS,
        parameters=(
            shown(parameters.policies_table(found)),
            shown(parameters.scenarios_table(found)),
            shown(parameters.prices_table(found)),
        ),
        settings=tuple(
            shown(table)
            for table in parameters.settings_tables(found, _set_scenarios(found, choice))
        ),
        command=str(found.manifest["effort"].get("command", "")),
        made_by=shown(parameters.made_by(found), sortable=False),
        left_out=tuple(dict.fromkeys(left_out)),
    )


_MOST = 4
"""Scenarios that have charts of their own, besides the chosen one."""


def _drawn_scenarios(found: Comparison, choice: Choice) -> list[str]:
    """Return the scenarios whose charts are shown: the chosen one, and those of several seeds."""
    seeded = dict.fromkeys(row["scenario"] for row in found.rows if row["seed"])
    names = list(seeded) or list(dict.fromkeys(row["scenario"] for row in found.rows))
    assert choice.scenario is not None
    return list(dict.fromkeys([choice.scenario, *names[:_MOST]]))


def _set_scenarios(found: Comparison, choice: Choice) -> list[str]:
    """Return the scenarios of which every setting is shown."""
    if choice.scenario is None:
        return list(found.manifest["scenarios"])
    return _drawn_scenarios(found, choice)


def _runs(found: Comparison, choice: Choice, report: Progress) -> tuple[list[Again], list[str]]:
    """Return the runs of the chosen scenario and seed, of every policy, and why some are not."""
    assert choice.scenario is not None
    rows = [
        row
        for row in found.rows
        if (row["scenario"], row["price"], row["seed"])
        == (choice.scenario, choice.price, choice.seed)
    ]
    runs, refused = [], []
    for at, row in enumerate(rows):
        report(at, len(rows))
        try:
            again = found.repeats.run(choice.scenario, row["policy"], choice.seed, choice.price)
        except InputError as error:
            refused.append(str(error))
        else:
            runs.append(again)
    return runs, refused


def _windows(runs: list[Again], policy: str | None) -> Mapping[str, Any] | None:
    from bench.report.windows import windows

    return {"first": policy, **windows(runs)} if runs else None


def _example(explained: Any) -> Example:
    tables = tuple(shown(table, sortable=False) for table in explained.tables)
    return Example(explained.title, tables)


def _gates(validation: Mapping[str, Any] | None) -> tuple[Shown, ...]:
    from bench.report.validity import gate_tables

    return () if validation is None else tuple(_sorted(validation, gate_tables))


def _sorted(validation: Mapping[str, Any], tables: Any) -> Iterator[Shown]:
    first, *failed = tables(validation)
    yield shown(first)
    for table in failed:
        yield shown(table, sortable=False)
