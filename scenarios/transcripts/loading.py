"""Recorded sessions as scenarios."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any

from scenarios import reference
from scenarios.scenario import Scenario, pins_over_budget
from scenarios.scripts import load_script
from scenarios.transcripts.assemble import add_unrecorded, assemble, suggest_budget
from scenarios.transcripts.declared import Declared
from scenarios.transcripts.findings import Findings, folded, shown, told
from scenarios.transcripts.formats import get_format
from scenarios.transcripts.models import row_of
from scenarios.transcripts.relevance import Relevance, read_relevance
from scenarios.transcripts.session import Session
from scenarios.transcripts.sources import SCRIPT, Source, find, read
from sim.errors import InputError, unknown
from sim.script import Script
from sim.segments import Kind
from sim.tokens import tokenizer as load_tokenizer

__all__ = ["Reading", "load", "scenarios_in", "scenarios_of"]


@dataclass(frozen=True, slots=True)
class Reading:
    """How recorded sessions are made scenarios.

    *given* are settings by dotted key, checked; *tokenizer* is one of ``sim.tokens.TOKENIZERS``.
    Results of tools that are *declared* are reduced to their budgets. Under *strict*, what breaks
    the pattern of a recording raises InputError.
    """

    given: Mapping[str, Any]
    strict: bool = False
    relevance: Relevance = field(default_factory=Relevance)
    tokenizer: str | None = None
    declared: Declared | None = None
    rows: Mapping[str, str] | None = None
    """The rows of a price book (:func:`scenarios.transcripts.models.by_name`), by which a session
    is priced that names its model. None: whoever reads it says the price, or asks for none."""

    @classmethod
    def of(
        cls,
        budget: int | None = None,
        settings: Mapping[str, object] | None = None,
        relevance_file: str | PathLike[str] | None = None,
        **more: Any,
    ) -> Reading:
        """Return the reading for what a user gives; raises InputError where that is wrong."""
        load_tokenizer(more.get("tokenizer"))
        given = _overrides(settings or {}, budget)
        scores = Relevance() if relevance_file is None else read_relevance(Path(relevance_file))
        return cls(given, relevance=scores, **more)


def load(
    paths: Sequence[str | PathLike[str]],
    budget: int | None = None,
    settings: Mapping[str, object] | None = None,
    strict: bool = False,
    on_warning: Callable[[str], object] = lambda warning: None,
    relevance_file: str | PathLike[str] | None = None,
    *,
    on_note: Callable[[str], object] | None = None,
    tokenizer: str | None = None,
    declared: Declared | None = None,
) -> list[Scenario]:
    """Return a scenario of kind ``replay`` for each session recorded in *paths*, by path.

    *budget* is in tokens; without one the record suggests it, and a note says what it is.
    *settings* are overrides by dotted key, text or typed. What breaks the pattern of a recording
    is skipped and named to *on_warning*, with place and count; under *strict* it raises InputError.
    Notes, which are facts and no faults, go to *on_note*, or with the warnings if that is None.
    *tokenizer* is one of ``sim.tokens.TOKENIZERS``. Results of tools that are *declared* are
    reduced to their budgets.
    """
    reading = Reading.of(
        budget, settings, relevance_file, strict=strict, tokenizer=tokenizer, declared=declared
    )
    return list(scenarios_in(paths, reading, on_warning, on_note or on_warning))


def scenarios_in(
    paths: Sequence[str | PathLike[str]],
    reading: Reading,
    on_warning: Callable[[str], object],
    on_note: Callable[[str], object],
) -> Iterator[Scenario]:
    """Yield a scenario for each session recorded in *paths*, one at a time, by path.

    Notes come last; what they say of several sessions is in one line. Raises InputError as
    :func:`load` does.
    """
    notes: list[str] = []
    for source in find(paths, reading.strict, on_warning):
        yield from scenarios_of(source, reading, on_warning, notes.append)
    for note in folded(notes):
        on_note(note)


def scenarios_of(
    source: Source,
    reading: Reading,
    on_warning: Callable[[str], object] = lambda warning: None,
    on_note: Callable[[str], object] | None = None,
) -> Iterator[Scenario]:
    """Yield a scenario for each session of *source*, one at a time.

    A file that was only met in a directory and holds no session is passed over with a warning;
    for one that was given, or under ``strict``, that raises InputError. The script of a session is
    taken as it stands, with the settings of *reading* over its own.
    """
    if source.format == SCRIPT:
        yield from _of_script(source, reading, on_warning)
        return
    findings = Findings(source.place, strict=reading.strict, unit=get_format(source.format).unit)
    counter = load_tokenizer(reading.tokenizer)
    try:
        for name, session in read(source, counter, findings, reading.declared):
            yield _scenario(name, source, session, reading, findings)
            findings.report(on_warning, on_note or on_warning, name)
            findings.restart()
    except InputError as error:
        if source.given or reading.strict:
            raise
        on_warning(f"{told(error)} (passed over)")
    findings.report(on_warning, on_note or on_warning, source.name)


def _of_script(
    source: Source, reading: Reading, on_warning: Callable[[str], object]
) -> Iterator[Scenario]:
    try:
        scenario = load_script(source.place, reading.given)
        if "recording" not in scenario.script(0).capabilities:
            raise InputError(
                "it is the script of no recorded session; `evictbench compare` takes it",
                file=source.place,
            )
        if reading.declared is not None:
            raise InputError("a script has the budgets of its tools already", file=source.place)
    except InputError as error:
        if source.given or reading.strict:
            raise
        on_warning(f"{told(error)} (passed over)")
    else:
        yield replace(scenario, name=source.name, kind="replay")


def _overrides(settings: Mapping[str, object], budget: int | None) -> dict[str, Any]:
    given = reference.read_overrides(settings)
    known = reference.keys()
    if "turns" in given:
        raise InputError("turns of a recorded session cannot be set: it has as many as it has")
    for name in given:
        if name not in known:
            raise InputError(unknown("key of a recorded session", name, known))
    if budget is not None:
        given.update(reference.check({"budget": budget}))
    return given


def _scenario(
    name: str, source: Source, session: Session, reading: Reading, findings: Findings
) -> Scenario:
    declared, given = reading.declared, reading.given
    unknown_tools = None if declared is None else declared.unused(session.arrivals)
    if unknown_tools is not None:
        findings.breaks(unknown_tools, None, "no result is reduced")
    for unused in reading.relevance.unused(session.arrivals):
        findings.breaks(unused, None, "ignored")
    settings = reference.settle(reference.defaults(), given)
    conflicts = list(reference.conflicts(settings))
    if conflicts:
        raise InputError("\n".join(conflicts))
    settings["turns"] = session.turns
    if reading.rows is not None and "price" not in given:
        settings["price"] = _price(session, settings["price"], reading.rows, findings)
    image_tokens = settings["image_tokens"]
    _note_unrecorded(session, image_tokens, findings)
    if "budget" not in given:
        settings["budget"], why = suggest_budget(session, image_tokens)
        findings.note(f"budget {settings['budget']:,} tokens: {why} (--budget sets another)")
    script = assemble(name, session, settings, reading.relevance)
    fault = pins_over_budget(script.stimuli, settings["budget"])
    if fault is not None:
        raise InputError(fault, file=source.place)
    about = f"a recorded session ({source.format}), {session.turns} model calls"
    tools = {} if declared is None else declared.tools
    return Scenario(name, "replay", settings, _Replay(script), about=about, tools=tools)


def _price(session: Session, default: str, rows: Mapping[str, str], findings: Findings) -> str:
    """Return the row that a session is priced by: that of the model of most of its calls."""
    if not session.models:
        return default
    ((model, _), *others) = session.models.most_common()
    more = f" (most calls; {len(others)} more made others)" if others else ""
    row = row_of(model, rows)
    if row is None:
        findings.note(
            f"recorded with {shown(model)}{more}, which is no row of the price book: priced as "
            f"{default} (--price sets another, `evictbench list prices` has the names)"
        )
    else:
        findings.note(f"recorded with {shown(model)}{more}: priced as {row} (--price sets another)")
    return row or default


def _note_unrecorded(session: Session, image_tokens: int, findings: Findings) -> None:
    system = any(draft.kind is Kind.SYSTEM for draft in session.first())
    tokens = add_unrecorded(session, image_tokens)
    if tokens:
        what = "the tools" if system else "system prompt and tools"
        findings.note(
            f"{what} are not recorded; they are taken as {tokens:,} tokens, what the recorded "
            "prompt of the first call exceeds its messages by"
        )
    elif tokens == 0:
        findings.note(
            "system prompt and tools are not recorded, and the recorded prompt of the first call "
            "leaves no room for them; they count as nothing"
            if session.recorded.get(1, {}).get("input_tokens")
            else "system prompt and tools are not recorded, nor what the first call's prompt came "
            "to; they count as nothing"
        )


class _Replay:
    """Gives the one script of a session whatever the seed; a class, so that it can be pickled."""

    def __init__(self, script: Script) -> None:
        self._script = script

    def __call__(self, seed: int) -> Script:
        return self._script if seed == self._script.seed else replace(self._script, seed=seed)
