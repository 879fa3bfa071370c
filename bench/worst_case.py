"""The worst case of a loop, as a script: every result at its declared budget, no attempt succeeds.

What is asked, what the agent does and what an operator wants add nothing by themselves; only what
comes, what is written and how long it takes is kept. Sizes are whole tokens.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sim.errors import InputError
from sim.reduction import raw_tokens
from sim.script import Arrival, Attempt, Script, Stimulus, Wait, WorldRefresh, Write
from sim.segments import Kind

if TYPE_CHECKING:
    from scenarios.tools import Tool

__all__ = [
    "Stage",
    "called",
    "declare",
    "is_result",
    "of_script",
    "of_tools",
    "stages",
    "tool_of",
    "undeclared",
]

_RESULTS = frozenset({Kind.TOOL_RESULT, Kind.FILE, Kind.DIFF, Kind.NOTE})
"""Kinds that can be what a tool returned; an image has no text that could be limited."""

_SMALLER: Mapping[str, Any] = {
    "structure": None,
    "reduced_tokens": None,
    "delta_tokens": None,
    "pages": False,
}
"""What of a result says how it gets smaller: at its budget, nothing does."""


@dataclass(slots=True)
class Stage:
    """A turn that brings something: of an *attempt*, by number, or None.

    *growth* is by how much it makes grow what had come before, by writing it.
    """

    turn: int
    attempt: int | None
    arrivals: list[Arrival]
    growth: int = 0

    @property
    def name(self) -> str:
        """What it is called: the attempt, or else the turn."""
        return f"turn {self.turn}" if self.attempt is None else f"attempt {self.attempt}"


def is_result(arrival: Arrival) -> bool:
    """Return whether *arrival* is what a tool returned."""
    if arrival.kind is Kind.TOOL_RESULT:
        return True
    return arrival.tool is not None and arrival.kind in _RESULTS


def tool_of(result: Arrival) -> str:
    """Return the tool of a result, or the result's own id where it has none."""
    return result.tool or result.id


def undeclared(script: Script) -> list[str]:
    """Return the names of the tools that declare no budget for a result of theirs, sorted."""
    return sorted({tool_of(s) for s in _results(script) if s.max_result_tokens is None})


def called(script: Script) -> list[str]:
    """Return the names of all tools of which a result comes, in either branch, sorted."""
    return sorted({tool_of(s) for s in _results(script)})


def declare(script: Script, tools: Mapping[str, Tool]) -> Script:
    """Return *script* with the budgets of *tools*, by name, in the place of those it declares."""

    def laid(stimuli: Iterable[Stimulus]) -> tuple[Stimulus, ...]:
        return tuple(_with_budget(s, tools) if isinstance(s, Arrival) else s for s in stimuli)

    attempts = (replace(a, ok=laid(a.ok), failed=laid(a.failed)) for a in script.attempts)
    return replace(script, stimuli=laid(script.stimuli), attempts=tuple(attempts))


def _with_budget(arrival: Arrival, tools: Mapping[str, Tool]) -> Arrival:
    tool = tools.get(tool_of(arrival)) if is_result(arrival) else None
    if tool is None:
        return arrival
    return replace(arrival, max_result_tokens=tool.max_result_tokens, pages=tool.pages)


def _results(script: Script) -> Iterator[Arrival]:
    guarded = (s for attempt in script.attempts for s in (*attempt.ok, *attempt.failed))
    return (s for s in (*script.stimuli, *guarded) if isinstance(s, Arrival) and is_result(s))


def of_script(
    script: Script,
    *,
    attempts: int | None = None,
    fill: int | None = None,
    material: int | None = None,
) -> Script:
    """Return the worst case of *script*, whose results all have a budget.

    Of two branches the larger one comes. *attempts* is how many there are (without attempts: how
    many turns bring something after the first), the last one coming again and again if the script
    has fewer; *fill* is what stands in the place of all that the first turn brings outside its
    attempt, and *material* in that of all that a later one does beside results. Raises InputError
    where there is less of either than it takes.
    """
    last = script.settings["turns"]
    if script.attempts and not script.attempts_cut:
        last = min(last, max(attempt.turn for attempt in script.attempts))
    stimuli = [s for s in _stimuli(script) if s.turn <= last]
    bare = tuple(Attempt(a.number, a.turn) for a in script.attempts if a.turn <= last)
    settings = dict(script.settings)
    worst = replace(
        script,
        stimuli=tuple(sorted(stimuli, key=lambda s: s.turn)),
        attempts=bare,
        capabilities=script.capabilities | {"roles"},
    )
    if attempts is not None:
        worst = _repeated(worst, attempts)
        settings["turns"] = max((s.turn for s in worst.stimuli), default=1)
    if fill is not None:
        worst = _with_fill(worst, fill)
    if material is not None:
        worst = _with_material(worst, material)
    return replace(worst, settings=settings)


def of_tools(name: str, tools: Iterable[Tool], loop: Mapping[str, int]) -> Script:
    """Return the worst case of the numbers of a *loop* that calls *tools*, all with a budget.

    An attempt a turn: its material, then the results in the order of the tools. The fill is one
    file, since the numbers do not say what it is made of.
    """
    from scenarios import reference

    settings = reference.settle(
        reference.defaults("story"), {"turns": loop["attempts"], "budget": loop["budget"]}
    )
    stimuli: list[Stimulus] = []
    if loop["fill"]:
        stimuli.append(Arrival(1, "fill", Kind.FILE, loop["fill"], 1.0, copy=True))
    tools = list(tools)
    for number in range(1, loop["attempts"] + 1):
        if loop["material"]:
            stimuli.append(_material(number, f"material-{number}", loop["material"], number))
        stimuli.extend(_calls(number, tools))
    attempts = tuple(Attempt(number, number) for number in range(1, loop["attempts"] + 1))
    return Script(name, 0, settings, tuple(stimuli), attempts, frozenset({"roles"}))


def stages(script: Script) -> tuple[list[Arrival], list[Stage]]:
    """Return the first fill of a worst case, and the turns that bring something after it.

    The fill is what the first turn brings outside its attempt, if there is one.
    """
    attempts = {attempt.turn: attempt.number for attempt in script.attempts}
    found = {turn: Stage(turn, number, []) for turn, number in attempts.items()}
    fill: list[Arrival] = []
    growth = _growth(script)
    for stimulus in script.stimuli:
        turn = stimulus.turn
        if not isinstance(stimulus, Arrival):
            continue
        if turn == 1 and (stimulus.attempt is None or turn not in attempts):
            fill.append(stimulus)
        else:
            found.setdefault(turn, Stage(turn, None, [])).arrivals.append(stimulus)
    for turn, tokens in growth.items():
        found.setdefault(turn, Stage(turn, None, [])).growth += tokens
    return fill, [found[turn] for turn in sorted(found)]


def _stimuli(script: Script) -> Iterator[Stimulus]:
    image = script.settings["image_tokens"]

    def worst(stimuli: Iterable[Stimulus]) -> list[Stimulus]:
        kept = (s for s in stimuli if isinstance(s, (Arrival, Write, WorldRefresh, Wait)))
        return [_at_worst(s, image) if isinstance(s, Arrival) else s for s in kept]

    def size(stimuli: Iterable[Stimulus]) -> int:
        return sum(s.tokens for s in stimuli if isinstance(s, Arrival))

    yield from worst(script.stimuli)
    for attempt in script.attempts:
        yield from max(worst(attempt.failed), worst(attempt.ok), key=size)


def _at_worst(arrival: Arrival, image_tokens: int) -> Arrival:
    if is_result(arrival) and arrival.max_result_tokens is not None:
        return replace(arrival, tokens=arrival.max_result_tokens, **_SMALLER)
    return replace(arrival, tokens=raw_tokens(arrival, image_tokens))


def _growth(script: Script) -> dict[int, int]:
    """Return by turn what writes and refreshes add to the sizes of what had come."""
    sizes: dict[str, int] = {}
    paths: dict[str, list[str]] = {}
    path_of: dict[str, str] = {}
    growth: dict[int, int] = {}
    for stimulus in sorted(script.stimuli, key=lambda s: (s.turn, not isinstance(s, Arrival))):
        match stimulus:
            case Arrival(id=name, tokens=tokens, path=path):
                sizes[name] = tokens
                if path is not None:
                    paths.setdefault(path, []).append(name)
                    path_of[name] = path
                continue
            case Write(path=path, tokens=int(tokens)):
                grown = paths.get(path, [])
            case WorldRefresh(segment=name, tokens=tokens):
                grown = paths.get(path_of.get(name, ""), [name] if name in sizes else [])
            case _:
                continue
        for name in grown:
            if tokens > sizes[name]:
                growth[stimulus.turn] = growth.get(stimulus.turn, 0) + tokens - sizes[name]
                sizes[name] = tokens
    return growth


def _repeated(script: Script, wanted: int) -> Script:
    """Return *script* with *wanted* attempts, or turns that bring something after the first."""
    _, found = stages(script)
    if not found:
        raise InputError("there is no attempt and no turn after the first that could be repeated")
    turns = [s.turn for s in found if s.attempt is not None] or [s.turn for s in found]
    last = turns[min(wanted, len(turns)) - 1]
    stimuli = [s for s in script.stimuli if s.turn <= last]
    attempts = [a for a in script.attempts if a.turn <= last]
    model = [s for s in stimuli if s.turn == last and not _of_fill(s, bool(attempts))]
    for more in range(1, wanted - len(turns) + 1):
        stimuli.extend(_again(stimulus, more) for stimulus in model)
        if attempts:
            attempts.append(Attempt(attempts[-1].number + 1, last + more))
    return replace(script, stimuli=tuple(stimuli), attempts=tuple(attempts))


def _of_fill(stimulus: Stimulus, attempts: bool) -> bool:
    return (
        isinstance(stimulus, Arrival)
        and stimulus.turn == 1
        and (stimulus.attempt is None or not attempts)
    )


def _again(stimulus: Stimulus, more: int) -> Stimulus:
    turn = stimulus.turn + more
    if not isinstance(stimulus, Arrival):
        return replace(stimulus, turn=turn)
    return replace(
        stimulus,
        turn=turn,
        id=f"{stimulus.id}+{more}",
        pair=None if stimulus.pair is None else f"{stimulus.pair}+{more}",
        attempt=None if stimulus.attempt is None else stimulus.attempt + more,
        pinned=False,
    )


def _with_fill(script: Script, fill: int) -> Script:
    given, _ = stages(script)
    pinned = [arrival for arrival in given if arrival.pinned]
    rest = fill - sum(arrival.tokens for arrival in pinned)
    if rest < 0:
        raise InputError(
            f"a fill of {fill:,} tokens is less than the {fill - rest:,} pinned in the first turn"
        )
    gone = {arrival.id for arrival in given if not arrival.pinned}
    lump = [Arrival(1, _free("fill", script), Kind.FILE, rest, 1.0, copy=True)] if rest else []
    kept = [s for s in script.stimuli if not (isinstance(s, Arrival) and s.id in gone)]
    others = [s for s in kept if s not in pinned]
    return replace(script, stimuli=(*pinned, *lump, *others))


def _with_material(script: Script, material: int) -> Script:
    fill, found = stages(script)
    stimuli: list[Stimulus] = list(fill)
    for number, stage in enumerate(found, 1):
        name = _free(f"material-{number}", script)
        if material:
            stimuli.append(_material(stage.turn, name, material, stage.attempt))
        stimuli.extend(arrival for arrival in stage.arrivals if is_result(arrival))
    for stimulus in script.stimuli:
        if isinstance(stimulus, Write):
            stimuli.append(replace(stimulus, tokens=None))
        elif isinstance(stimulus, Wait):
            stimuli.append(stimulus)
    return replace(script, stimuli=tuple(sorted(stimuli, key=lambda s: s.turn)))


def _material(turn: int, name: str, tokens: int, attempt: int | None) -> Arrival:
    return Arrival(turn, name, Kind.ASSISTANT, tokens, 1.0, attempt=attempt)


def _calls(attempt: int, tools: Iterable[Tool]) -> Iterator[Arrival]:
    for tool in tools:
        limit = tool.max_result_tokens
        assert limit is not None
        for call in range(1, tool.calls + 1):
            name = f"{tool.name}-{attempt}" + (f".{call}" if tool.calls > 1 else "")
            yield Arrival(
                attempt,
                name,
                Kind.TOOL_RESULT,
                limit,
                1.0,
                tool=tool.name,
                attempt=attempt,
                max_result_tokens=limit,
            )


def _free(name: str, script: Script) -> str:
    taken = {s.id for s in script.stimuli if isinstance(s, Arrival)}
    while name in taken:
        name += "'"
    return name
