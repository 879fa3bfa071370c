"""Salience through time: of segments that left and were needed, and of what was kept instead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bench.charts.chart import Chart
from bench.charts.choice import Choice, chosen_run
from bench.charts.labels import stacked
from bench.charts.theme import Theme
from bench.charts.words import quantity, shortened
from sim.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from bench.again import Again
    from bench.api import Comparison
    from bench.explain.findings import Told
    from bench.explain.rebuilt import Item, Rebuilt

__all__ = ["CHART", "Line", "Reversal", "Salience"]

_LINES = 6
"""Segments that are shown at most."""

_NOTHING = 0.02
"""Salience from which a line is as good as at 0, and need not be followed."""

_PAIRS = 3
"""Reversals that are looked for, each with two of these segments."""


@dataclass(frozen=True, slots=True)
class Line:
    """The salience of a *segment* at the end of each of *turns*, and whether it was *resident*.

    *left*, *needed* and *back* are turns in which it left the window, was asked for and was not
    there, and came back.
    """

    segment: str
    kind: str
    turns: tuple[int, ...]
    values: tuple[float, ...]
    resident: tuple[bool, ...]
    left: tuple[int, ...]
    needed: tuple[int, ...]
    back: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Reversal:
    """That *segment*, which had left with less salience than *kept*, had more by *turn*."""

    segment: str
    kept: str
    turn: int


@dataclass(frozen=True, slots=True)
class Salience:
    """A run: the lines of some segments, and the reversals between them."""

    title: str
    threshold: float
    lines: tuple[Line, ...]
    reversals: tuple[Reversal, ...]


@dataclass(slots=True)
class _Seen:
    """What the first reading of a run finds out."""

    pairs: list[Reversal] = field(default_factory=list)
    needs: dict[str, int] = field(default_factory=dict)
    """Tokens that were missed, by segment that had left before."""
    scored: dict[str, int] = field(default_factory=dict)
    """How often a query re-scored each segment."""


def _gather(found: Comparison, choice: Choice) -> Salience:
    choice = chosen_run(found, choice)
    assert choice.scenario is not None
    assert choice.policy is not None
    return _of(found.repeats.run(choice.scenario, choice.policy, choice.seed, choice.price))


def _of(again: Again) -> Salience:
    from bench.explain.findings import tell

    told = tell(again.script, again.records)
    seen = _look(told)
    pairs = _apart(seen.pairs)
    ranked = [
        *(name for pair in pairs for name in (pair.segment, pair.kept)),
        *sorted(seen.needs, key=lambda name: (-seen.needs[name], name)),
        *sorted(seen.scored, key=lambda name: (-seen.scored[name], name)),
    ]
    chosen = list(dict.fromkeys(ranked))[:_LINES]
    if not chosen:
        raise InputError(f"{again.title}: nothing was needed after it left, and nothing re-scored")
    lines = _follow(told, chosen)
    shown = tuple(pair for pair in pairs if {pair.segment, pair.kept} <= set(chosen))
    threshold = float(again.script.settings["rehydrate.threshold"])
    return Salience(again.title, threshold, tuple(lines), shown)


def _look(told: Told) -> _Seen:
    """Return which segments left and were needed, with what was kept that then ranked below."""
    world, seen = told.rebuilt(), _Seen()
    above: dict[str, list[Item]] = {}
    """What ranked above a segment when it left, and was kept, the least salient first."""
    waiting: list[str] = []
    for index, record in enumerate(told.records):
        if record[0] in ("turn", "end"):
            seen.pairs += _reversed(world, waiting, above)
            waiting = []
        if record[0] == "missed" and record[3] in above:
            seen.needs[record[3]] = seen.needs.get(record[3], 0) + record[4]
            waiting.append(record[3])
        if record[0] == "score":
            seen.scored[record[3]] = seen.scored.get(record[3], 0) + 1
        for name in _leaving(record):
            item = world.items[name]
            s = world.salience(item)
            kept = [each for each in world.window if not each.pinned and each.original]
            ranked = [(world.salience(each), each.id, each) for each in kept if each is not item]
            above[name] = [each for value, _, each in sorted(ranked, key=_place) if value > s]
        world.apply(record, told.follower(index))
    return seen


def _place(ranked: tuple[float, str, Item]) -> tuple[float, str]:
    return ranked[0], ranked[1]


def _leaving(record: tuple[object, ...]) -> Sequence[str]:
    if record[0] in ("evict", "truncate"):
        return (str(record[3]),)
    return [str(name) for name in record[4]] if record[0] == "rewrite" else ()  # type: ignore[attr-defined]


def _reversed(
    world: Rebuilt, waiting: Sequence[str], above: Mapping[str, Sequence[Item]]
) -> list[Reversal]:
    """Return for each of the segments that are *waiting* one that was kept, and ranks below now."""
    found = []
    for name in dict.fromkeys(waiting):
        s = world.salience(world.items[name])
        for kept in reversed(above[name]):
            if world.salience(kept) < s:
                found.append(Reversal(name, kept.id, world.turn))
                break
    return found


def _apart(pairs: Sequence[Reversal]) -> list[Reversal]:
    """Return the first reversals that have no segment in common."""
    found: list[Reversal] = []
    used: set[str] = set()
    for pair in pairs:
        if not {pair.segment, pair.kept} & used:
            found.append(pair)
            used |= {pair.segment, pair.kept}
    return found[:_PAIRS]


def _follow(told: Told, chosen: Sequence[str]) -> list[Line]:
    """Return the lines of the segments *chosen*, sampled at the end of each turn."""
    world = told.rebuilt()
    samples: dict[str, list[tuple[int, float, bool]]] = {name: [] for name in chosen}
    marks: dict[str, dict[str, list[int]]] = {
        name: {"left": [], "needed": [], "back": []} for name in chosen
    }
    for index, record in enumerate(told.records):
        if record[0] in ("turn", "end") and world.turn:
            for name in chosen:
                item = world.items.get(name)
                if item is not None:
                    samples[name].append((world.turn, world.salience(item), item.resident))
        for name in _leaving(record):
            if name in marks:
                marks[name]["left"].append(record[2])
        if record[0] == "missed" and record[3] in marks:
            marks[record[3]]["needed"].append(record[2])
        if record[0] == "fetch" and record[3] in marks:
            marks[record[3]]["back"].append(record[2])
        world.apply(record, told.follower(index))
    return [
        Line(
            name,
            world.items[name].kind,
            turns=tuple(turn for turn, _, _ in mine),
            values=tuple(value for _, value, _ in mine),
            resident=tuple(there for _, _, there in mine),
            left=tuple(marks[name]["left"]),
            needed=tuple(marks[name]["needed"]),
            back=tuple(marks[name]["back"]),
        )
        for name, mine in samples.items()
        if mine
    ]


def _draw(data: Salience, figure: Figure, theme: Theme) -> None:
    axes = figure.subplots()
    axes.axhline(data.threshold, color=theme.faint, linewidth=1, linestyle="--")
    axes.annotate(
        f"threshold {data.threshold:g}",
        (0.0, data.threshold),
        xycoords=("axes fraction", "data"),
        xytext=(3, 3),
        textcoords="offset points",
        size="x-small",
        color=theme.faint,
    )
    for at, line in enumerate(data.lines):
        _line(axes, line, theme.colour(at), at + 1)
    for pair in data.reversals:
        value = _at(data, pair.segment, pair.turn)
        axes.plot([pair.turn], [value], "o", markersize=15, color=theme.ink, fillstyle="none")
        axes.annotate(
            f"above {shortened(pair.kept, 18)}",
            (pair.turn, value),
            xytext=(9, 8),
            textcoords="offset points",
            size="x-small",
            bbox={"boxstyle": "square,pad=0.1", "facecolor": theme.paper, "edgecolor": "none"},
        )
    low, high = 0.0, 1.06 * max(max(line.values) for line in data.lines) or 1.0
    ends = stacked([line.values[-1] for line in data.lines], 0.06 * high, low, high)
    for at, (line, end) in enumerate(zip(data.lines, ends, strict=True)):
        axes.annotate(
            f"{at + 1} {shortened(line.segment, 22)} ({line.kind.replace('_', ' ')})",
            (1.01, end),
            xycoords=("axes fraction", "data"),
            va="center",
            size="small",
            color=theme.colour(at),
        )
    axes.set_ylim(-0.02 * high, 1.06 * high)
    first, last = min(line.turns[0] for line in data.lines), _last(data)
    axes.set_xlim(first - 0.02 * (last - first) - 1, last + 0.02 * (last - first) + 1)
    axes.set_xlabel("turn")
    axes.set_ylabel("salience")
    axes.set_title(f"{data.title}: salience", size="large")
    _legend(figure, theme)


def _line(axes: Axes, line: Line, colour: str, number: int) -> None:
    """Draw a segment: solid while it is in the window, dotted while it is not."""
    nan = float("nan")
    there = [v if r else nan for v, r in zip(line.values, line.resident, strict=True)]
    axes.plot(line.turns, line.values, color=colour, linewidth=1.0, linestyle=":")
    axes.plot(line.turns, there, color=colour, linewidth=2.0)
    start = (line.turns[0], line.values[0])
    axes.annotate(
        str(number), start, xytext=(0, 3), textcoords="offset points", ha="center", size="x-small"
    )
    values = dict(zip(line.turns, line.values, strict=True))
    for turns, mark in ((line.left, "v"), (line.needed, "*"), (line.back, "^")):
        shown = [turn for turn in turns if turn in values]
        axes.plot(
            shown,
            [values[turn] for turn in shown],
            mark,
            color=colour,
            markersize=9 if mark == "*" else 6,
            fillstyle="none" if mark == "^" else "full",
        )


def _last(data: Salience) -> int:
    """Return the last turn in which something happens to a line, or it is above nothing."""
    ends = [turn for line in data.lines for turn in (*line.left, *line.needed, *line.back)]
    for line in data.lines:
        ends += [t for t, s in zip(line.turns, line.values, strict=True) if s > _NOTHING]
    return max(ends)


def _at(data: Salience, segment: str, turn: int) -> float:
    line = next(line for line in data.lines if line.segment == segment)
    return dict(zip(line.turns, line.values, strict=True)).get(turn, line.values[-1])


def _legend(figure: Figure, theme: Theme) -> None:
    from matplotlib.lines import Line2D

    def key(label: str, **more: object) -> Line2D:
        return Line2D([], [], color=theme.ink, label=label, **more)  # type: ignore[arg-type]

    handles = [
        key("in the window", linewidth=2.0),
        key("not in it", linewidth=1.0, linestyle=":"),
        key("left", marker="v", linestyle=""),
        key("asked for and not there", marker="*", linestyle="", markersize=9),
        key("came back", marker="^", linestyle="", fillstyle="none"),
        key("reversal", marker="o", linestyle="", markersize=10, fillstyle="none"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=6, columnspacing=1.2)


def _told(data: Salience) -> str:
    needs = sum(len(line.needed) for line in data.lines)
    each = "; ".join(
        f"{pair.segment} left below {pair.kept} and was above it in turn {pair.turn}"
        for pair in data.reversals
    )
    reversals = f"reversals: {each}" if each else "no order was reversed"
    names = ", ".join(line.segment for line in data.lines)
    times = "once" if needs == 1 else f"{quantity(needs, 'count')} times"
    missed = f"asked for and not there {times}" if needs else "there whenever they were asked for"
    return f"{data.title}: salience of {names}, which were {missed}; {reversals}."


CHART = Chart(
    name="salience",
    title="Salience through time",
    says="Salience of segments that left and were needed, and where their order was reversed.",
    of="run",
    gather=_gather,
    draw=_draw,
    told=_told,
    height=lambda data: 4.4,
)
