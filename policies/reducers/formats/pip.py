"""pip building packages: the first error, the package it stopped, and what was built."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from policies.reducers.build import Diagnostic, build, last_words
from policies.reducers.compilers import clusters, diagnostics, lines_with, listed, noted
from policies.reducers.form import Form
from policies.reducers.log import Log, Span

__all__ = ["REDUCER", "Pip"]

_SIGNS = (
    "Running command ", "subprocess-exited-with-error", "Failed building wheel for ",
    "Building wheel for ", "failed-wheel-build-for-install", "No matching distribution found for ",
    "ResolutionImpossible", "metadata-generation-failed", "pip's dependency resolver",
)  # fmt: skip
_OWN = (
    *_SIGNS, "Collecting ", "Downloading ", "Requirement already satisfied: ", "Using cached ",
    "Installing collected packages: ", "Successfully ", "Building wheels for collected packages",
    "Obtaining file:", "Processing ", "Installing build dependencies", "Preparing ", "Looking in ",
    "Getting requirements to build", "Stored in directory: ", "Created wheel for ", "ERROR: ",
    "Using pip ", "running build", "running bdist_wheel", "running egg_info", "error: command ",
    "Failed to build ", "Attempting uninstall: ", "Building editable for ", "running install",
    "adding '", "writing ", "copying ", "creating ",
)  # fmt: skip
_LINE = re.compile(
    r"(?:Std\. Error: +)? {0,16}(?:Running command "
    r"(?:pip |Building |Getting |Preparing |Checking |Installing |python|git |/)"
    r"|(?:error|ERROR|WARNING|note|hint): |× |Collecting \S"
    r"|(?:Downloading|Using cached) \S|Requirement already satisfied: |Installing (?:collected"
    r"|build"
    r"|backend) |Successfully (?:built|installed|uninstalled) |Building (?:wheels? for"
    r"|editable for) "
    r"|Obtaining file:|Processing [./\w]|Preparing (?:editable )?metadata|Looking in (?:indexes"
    r"|links): "
    r"|Getting requirements to build|Stored in directory: |Created wheel for |Using pip \d"
    r"|running (?:build|bdist|egg|dist|install)\w*$|Failed to build |Attempting uninstall: "
    r"|(?:adding '|(?:writing|copying|creating) \S))"
)
_STRONG = re.compile(
    r"(?:Std\. Error: +)? {0,16}(?:Running command |Building wheel for |(?:error|ERROR|× )[^\n]*"
    r"|subprocess-exited)"
)
_ERROR = re.compile(r"\s*+(?P<text>(?:error|ERROR): (?P<what>.*))")
_TARGET = re.compile(
    r"\s*+(?:ERROR: +)?(?:× )?(?:Failed building (?:wheel|editable) for \S++"
    r"|Building (?:wheel|editable) for \S++[^\n]* did not run successfully"
    r"|Building (?:wheel|editable) for \S++ [^\n]*finished with status 'error'"
    r"|Getting requirements to build \w++ did not run successfully"
    r"|Preparing metadata [^\n]* did not run successfully)"
)
_CLOSING = re.compile(
    r"(?:subprocess-exited-with-error|metadata-generation-failed|failed-wheel-build-for-install"
    r"|legacy-install-failure|Failed building wheel for |Failed to build "
    r"|Could not build wheels for"
    r"|Failed building editable for |Exception:$)"
)
_VERDICT = re.compile(
    r"(?:Successfully (?:built|installed) |Failed to build |ERROR: (?:Failed to build"
    r"|Could not build "
    r"wheels|Cannot install|No matching distribution)|error: (?:metadata-generation-failed"
    r"|failed-wheel-build-for-install|legacy-install-failure))"
)
_RAISED = re.compile(
    r"\s*+(?P<text>(?:[a-z_]\w*+\.)*+[A-Z]\w*+(?:(?<=Error)|(?<=Exception)|(?<=Exit)"
    r"|(?<=Interrupt))"
    r"(?::.*)?)$"
)
_WARNING = re.compile(r"\s*+(?:WARNING|warning|DEPRECATION): ")
_GAP = 150
_BELOW = 12


class Pip:
    """pip's wheel, install and editable builds, verbose or not, with setuptools and compilers."""

    name = "pip"
    about = "the first error and the package it stopped, warnings counted, what was built"
    kind = "build"
    rank = 60
    hints = _SIGNS

    def find(self, log: Log) -> Iterator[Span]:
        """Yield the builds; an installation without any build or error is a plain log."""
        own = [n for n in lines_with(log, _OWN) if _LINE.match(log.lines[n])]
        signs = {n for n in lines_with(log, _SIGNS) if _LINE.match(log.lines[n])}
        if not signs:
            return
        for group in clusters(sorted({*own, *listed(log), *noted(log)}), _GAP):
            if not signs.isdisjoint(group):
                yield Span(group[0], _stop(log.lines, group[-1]))

    def read(self, log: Log) -> Form | None:
        """Return the errors by file; warnings are only counted."""
        lines = log.lines
        own = [n for n in lines_with(log, _OWN) if _LINE.match(lines[n])]
        if not own:
            return None
        compiled = [d for d in diagnostics(log) if d.file or d.error]
        compiled = [d for d in compiled if not d.text.startswith(("error: ", "ERROR: "))]
        errors = [d for d in compiled if d.error] or list(_raised(log))
        errors = errors or list(_said(log))
        warnings = [d for d in compiled if not d.error]
        taken = {d.line for d in warnings}
        warnings += [
            Diagnostic(n, "", lines[n].strip(), False)
            for n in lines_with(log, ("WARNING: ", "warning: ", "DEPRECATION: "))
            if n not in taken and _WARNING.match(lines[n])
        ]
        targets = [n for n in lines_with(log, ("uild", "etadata ")) if _TARGET.match(lines[n])]
        said = list(lines_with(log, ("Successfully ", "ailed", "ERROR: ", "error: ")))
        verdict = [lines[n] for n in said if _VERDICT.match(lines[n])]
        first = errors[0].line if errors else 0
        near = [n for n in targets if n >= first] or targets[-1:]
        return build(
            self.name,
            log,
            [*errors, *warnings],
            head=lines[near[0]].strip() if errors and near else "",
            verdict=last_words(verdict or ([lines[own[-1]]] if own else [])),
            quiet=True,
        )


def _said(log: Log) -> Iterator[Diagnostic]:
    """Yield what pip and setuptools call an error, the lines that only close a build last."""
    closing = []
    for number in lines_with(log, ("error: ", "ERROR: ")):
        match = _ERROR.match(log.lines[number])
        if not match:
            continue
        below = [line[:300] for line in log.lines[number + 1 : number + 1 + _BELOW]]
        each = Diagnostic(number, "", match["text"].strip(), detail="\n".join(_until_blank(below)))
        if _CLOSING.match(match["what"]):
            closing.append(each)
        else:
            yield each
    if closing and not any(
        (match := _ERROR.match(log.lines[n])) and not _CLOSING.match(match["what"])
        for n in lines_with(log, ("error: ", "ERROR: "))
    ):
        yield closing[0]


def _raised(log: Log) -> Iterator[Diagnostic]:
    """Yield the exceptions that ended a build step, each with its last frames."""
    for number in lines_with(log, ("Error", "Exception", "Exit")):
        line = log.lines[number]
        match = _RAISED.match(line)
        if not match:
            continue
        above = log.lines[max(0, number - 60) : number]
        starts = [n for n, each in enumerate(above) if each.strip().startswith("Traceback ")]
        if not starts:
            continue
        frames = [each for each in above[starts[-1] :] if each.strip()][-4:]
        detail = "\n".join(each[:300] for each in frames)
        yield Diagnostic(number, "", match["text"][:600], detail=detail)


def _until_blank(lines: Sequence[str]) -> list[str]:
    for number, line in enumerate(lines):
        if not line.strip() or _ERROR.match(line):
            return list(lines[:number])
    return list(lines)


def _stop(lines: Sequence[str], last: int) -> int:
    stop = last + 1
    while (
        stop < len(lines) and stop < last + 30 and lines[stop].startswith(("  ", "note:", "hint:"))
    ):
        stop += 1
    return stop


REDUCER = Pip()
