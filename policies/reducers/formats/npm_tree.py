"""npm ls: what is missing or does not fit, then the packages at the top, and how many below."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from policies.reducers.build import Diagnostic, build
from policies.reducers.compilers import clusters, lines_with
from policies.reducers.form import Form
from policies.reducers.log import Log, Span

__all__ = ["REDUCER", "NpmTree"]

_BRANCH = re.compile(
    r"(?:(?:[│|] |  ){0,60})(?:[├└]─[─┬] |[+`]-[-+] )(?:UNMET (?:OPTIONAL |PEER )?DEPENDENCY "
    r"|extraneous )?(?P<name>(?:@[\w.-]++/)?[\w.-]++@\S++)"
)
_ROOT = re.compile(r"(?:@?[\w./-]++@\S++ )?(?:[/~]|[A-Za-z]:\\)\S*|@?[\w./-]++@\S++ \S")
_WRONG = re.compile(r"\bUNMET (?:PEER )?DEPENDENCY\b|\binvalid\b|\bextraneous\b|\bmissing\b")
_MARKS = ("├── ", "├─┬ ", "└── ", "└─┬ ", "+-- ", "`-- ")
_LEAST = 2


class NpmTree:
    """A dependency tree of npm ls, pnpm ls or yarn list, drawn with boxes or in ASCII."""

    name = "npm-ls"
    about = "what is missing or invalid, the packages at the top, how many there are below"
    kind = "listing"
    rank = 55
    hints = _MARKS

    def find(self, log: Log) -> Iterator[Span]:
        """Yield the trees with their root above."""
        own = [n for n in lines_with(log, _MARKS) if _BRANCH.match(log.lines[n])]
        for group in clusters(own, 1):
            if len(group) >= _LEAST:
                first = group[0]
                above = first and _ROOT.match(log.lines[first - 1])
                yield Span(first - 1 if above else first, group[-1] + 1)

    def read(self, log: Log) -> Form | None:
        """Return the problems, then the direct dependencies with what each brings."""
        lines = log.lines
        own = [n for n in lines_with(log, _MARKS) if _BRANCH.match(lines[n])]
        if not own:
            return None
        names = {match["name"] for n in own if (match := _BRANCH.match(lines[n]))}
        wrong = [n for n in own if _WRONG.search(lines[n])]
        found = [Diagnostic(n, "", lines[n].strip("│|├└─┬+-` ")) for n in wrong]
        form = build(
            self.name,
            log,
            [*found, *_top(lines, own, set(wrong))],
            head=lines[own[0] - 1] if own[0] else "",
            verdict=f"{len(names):,} packages in {len(own):,} lines",
            nouns=("package", "package"),
            by="key",
        )
        counts = {"packages": len(names)}
        form.errors.counts = {**counts, "problems": len(wrong)} if wrong else counts
        return form


def _top(lines: Sequence[str], own: Sequence[int], wrong: set[int]) -> Iterator[Diagnostic]:
    """Yield the packages at the top of the tree that are not *wrong*, and how many each brings."""
    top = [n for n in own if lines[n][:1] in "├└+`"]
    for number, following in zip(top, [*top[1:], own[-1] + 1], strict=True):
        if number in wrong:
            continue
        below = following - number - 1
        text = lines[number].strip("├└─┬+-` ")
        yield Diagnostic(number, "", f"{text} ({below:,} below)" if below else text)


REDUCER = NpmTree()
