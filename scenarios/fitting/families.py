"""What each family is fitted in beside what all have: its tools, their results and its files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from scenarios.fitting.distributions import lags, quantile, sizes
from scenarios.fitting.measure import Figures
from scenarios.fitting.parts import Note, length
from scenarios.fitting.setting import Part, Setting, figure
from scenarios.fitting.summary import Tools

__all__ = ["FITTED", "Fitted", "choose"]

_SMALLEST_LIMIT = 40
_RARELY = 1_000_000
_MOST_NAMES = 6
_RESULT = "Tokens of a result of"


def choose(figures: Figures) -> str:
    """Return the family that suits: the one with files wherever a file was read or written."""
    return "coding-agent" if figures.reads or figures.writes else "support-agent"


@dataclass(frozen=True, slots=True)
class _Tool:
    """A tool of a family: the groups it stands for, and whether it declares a limit."""

    name: str
    groups: tuple[str, ...]
    limited: bool = False


def _sizes(figures: Figures, tool: _Tool) -> list[int]:
    return [tokens for group in tool.groups for tokens in figures.sizes[group]]


def _calls(figures: Figures, tool: _Tool) -> int:
    return len(_sizes(figures, tool)) + (figures.repeats if "read" in tool.groups else 0)


def _named(figures: Figures, tool: _Tool) -> str:
    """Name the recorded tools that *tool* stands for, with the calls of each."""
    counts: Counter[str] = Counter()
    for group in tool.groups:
        counts.update(figures.tools[group])
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    names = [f"{name} {count}" for name, count in ordered[:_MOST_NAMES]]
    if len(ordered) > _MOST_NAMES:
        names.append(f"{len(ordered) - _MOST_NAMES} more")
    return ", ".join(names)


def _mix(figures: Figures, tools: Sequence[_Tool]) -> Iterator[Part]:
    """Yield how often each of *tools* is called; at least one must be."""
    weights = {tool.name: _calls(figures, tool) for tool in tools}
    why = "Calls of each tool: " + "; ".join(
        f"{tool.name} for {_named(figures, tool)}" for tool in tools if _sizes(figures, tool)
    )
    if not any(weights.values()):
        why = f"No tool was called; the one call of the first turn is of {tools[0].name}"
        weights[tools[0].name] = 1
    if figures.repeats:
        why += f"; {figures.repeats} reads more brought again what an earlier one had"
    yield Part(f"{why}.", tuple(Setting(f"mix.{name}", n) for name, n in weights.items()))


def _results(figures: Figures, tools: Sequence[_Tool]) -> Iterator[Part]:
    """Yield the sizes of what each of *tools* returns, and a limit that cuts none of them."""
    for tool in tools:
        tokens = _sizes(figures, tool)
        if tokens:
            part = sizes(tool.name, tokens, f"{_RESULT} {tool.name}")
        elif tool is tools[0] and not any(_sizes(figures, other) for other in tools):
            part = _one_token(tool.name, "It brings next to nothing.")
        else:
            continue
        yield part
        if tool.limited:
            limit = max(_SMALLEST_LIMIT, max(tokens, default=1))
            yield Part(
                "The largest of them: results are as the recorded tools cut them.",
                (Setting(f"{tool.name}.limit", limit),),
            )


def _one_token(name: str, why: str) -> Part:
    return Part(why, tuple(Setting(f"{name}.{key}", 1) for key in ("median", "p90", "cap")))


# -- coding-agent -----------------------------------------------------------------------------

_CODING = (
    _Tool("bash", ("run",), limited=True),
    _Tool("read", ("read",)),
    _Tool("grep", ("search",), limited=True),
    _Tool("edit", ("edit",)),
)


def _coding(figures: Figures, missed: Note) -> Iterator[Part]:
    yield from _mix(figures, _CODING)
    yield from _results(figures, _CODING)
    if figures.changes:
        yield sizes("change", figures.changes, "Tokens of a call that writes a file")
    reads = figures.sizes["read"]
    again = len(figures.reread_lags)
    if figures.reads:
        yield Part(
            f"Reads of a path that had been read: {again} of {figures.reads}, "
            f"{figures.repeats} of which brought the same text.",
            (Setting("reads.again", float(f"{again / figures.reads:.4g}")),),
        )
        yield from _again(figures, missed)
    yield Part(
        "A recording ranks no files; the family puts at least one into the first turn, and it is "
        "as long as a read.",
        (Setting("files.count", 1),),
    )
    if reads:
        yield sizes("files", reads, "Its tokens, those of a read")
    else:
        yield _one_token("files", "No read was recorded.")
    yield Part(
        "A recording says of no attempt what it needed: there are none (one turn in a million).",
        (Setting("attempts.spacing", _RARELY), Setting("attempts.max", 0)),
    )
    edits = len(figures.sizes["edit"])
    if figures.writes != edits:
        missed(f"{figures.writes} files were written in {edits} calls; here each writes one.")
    if figures.blind_writes:
        missed(
            f"{figures.blind_writes} of {figures.writes} writes were of a path not read before; "
            "here only what was read is written."
        )


def _again(figures: Figures, missed: Note) -> Iterator[Part]:
    """Yield how far back a path is read again."""
    found = figures.reread_lags
    if not found:
        return
    missed("A file that is read again is read whole, in one size, and an edit keeps that size.")
    pareto = lags(found, length(figures), len(found), range(1, 2))
    if pareto is None:
        missed("reads.alpha: too few reads of a path that had been read, as in returns.alpha.")
        return
    yield Part(
        f"Turns since the path was last read: n = {len(found)}, median "
        f"{figure(quantile(found, 0.5))}, p90 {figure(quantile(found, 0.9))}, largest "
        f"{max(found)}; Pareto lags by least Kolmogorov-Smirnov distance ({pareto.distance:.2f}). "
        "How far back a path is written follows it, too.",
        (Setting("reads.alpha", pareto.power),),
    )


# -- support-agent ----------------------------------------------------------------------------

_DESK = (
    _Tool("lookup", ("run", "search", "edit"), limited=True),
    _Tool("page", ("read",)),
    _Tool("dump", (), limited=True),
)


def _support(figures: Figures, missed: Note) -> Iterator[Part]:
    yield from _mix(figures, _DESK)
    yield from _results(figures, _DESK)
    yield Part(
        "A recording does not mark constraints, acts that need them, or summaries.",
        (
            Setting("constraint.rate", 0.0),
            Setting("acts.rate", 0.0),
            Setting("summary.every", 0.0),
        ),
    )
    missed("case.turns: questions touch no other segment, so that it changes nothing.")
    _no_files(figures, missed)


# -- doc-analysis -----------------------------------------------------------------------------

_READER = (_Tool("read", ("read",)), _Tool("search", ("search", "run", "edit"), limited=True))


def _doc(figures: Figures, missed: Note) -> Iterator[Part]:
    found, pages = (_calls(figures, tool) for tool in reversed(_READER))
    why = "; ".join(f"{t.name} for {_named(figures, t)}" for t in _READER if _sizes(figures, t))
    share = found / (found + pages) if found + pages else 0.0
    yield Part(
        f"Calls that bring no page: {found} of {found + pages} ({why or 'none was made'}).",
        (Setting("search.share", float(f"{share:.4g}")),),
    )
    yield from _results(figures, _READER)
    yield Part("A recording marks no notes.", (Setting("notes.share", 0.0),))
    missed("document.pages: questions touch no other segment, so that it changes nothing.")
    _no_files(figures, missed)


def _no_files(figures: Figures, missed: Note) -> None:
    """Say what of the files a family without versions leaves out."""
    again = len(figures.reread_lags)
    if again:
        missed(f"{again} of {figures.reads} reads were of a path read before; here none is.")
    if figures.writes:
        missed(f"{figures.writes} files were written; here none is.")


@dataclass(frozen=True, slots=True)
class Fitted:
    """A family that can be fitted: its tools, and what yields the settings of its own."""

    tools: tuple[_Tool, ...]
    parts: Callable[[Figures, Note], Iterator[Part]]

    @property
    def groups(self) -> Tools:
        """The groups of results that each of its tools stands for."""
        return {tool.name: tool.groups for tool in self.tools if tool.groups}


FITTED: Mapping[str, Fitted] = {
    "coding-agent": Fitted(_CODING, _coding),
    "doc-analysis": Fitted(_READER, _doc),
    "support-agent": Fitted(_DESK, _support),
}
"""The families that can be fitted, by name."""
