"""cargo, rustc and clippy: the first error of each file and its crate, and failed tests."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from policies.reducers.build import Diagnostic, build, last_words
from policies.reducers.compilers import clusters, lines_with
from policies.reducers.form import Form
from policies.reducers.libtest import failed_tests
from policies.reducers.log import Log, Span

__all__ = ["REDUCER", "Cargo"]

_HEAD = re.compile(r" ?(?P<level>error|warning)(?P<code>\[[A-Za-z]\w*+\])?: (?P<message>.*)")
_PLACE = re.compile(
    r" {0,12}(?:-->|:::) (?P<file>(?:[A-Za-z]:(?=[\\/]))?[^\n:]*+"
    r"(?:(?<=\.rs)|(?<=\.toml))):\d++:\d++"
)
_STATUS = re.compile(
    r" {2,12}(?:Compiling|Checking|Documenting|Fresh|Building|Downloading|Downloaded|Running"
    r"|Installing|Updating|Locking|Adding|Finished|Doc-tests|Blocking|Packaging|Verifying|Fixed"
    r"|Replacing|Installed|Uninstalled|Removed|Summary|Starting|Nextest|Cancelling|Fetch|Scraping"
    r"|Dirty|FAIL|PASS|SIGABRT|TIMEOUT|TRY \d++ \w++) "
    r"(?=\[|`|\w[\w-]*+ v\d|unittests |tests/|crates\.io|git repo|\d++ (?:pack|test)|waiting|dev "
    r"|release |test |run|\S++ (?:target|\(in )|\w++ index|[\w/.-]++ \(target)"
)
_MORE = re.compile(
    r" ?error: (?:could not compile `|aborting due to |test failed, to rerun|failed to "
    r"|no matching "
    r"package|could not find `|package `|process didn't exit successfully|the lock file"
    r"|build failed"
    r"|\d++ targets? failed|doctest failed|bench failed|no bin target|linking with `"
    r"|cannot find (?:derive )?macro|this file contains|test run failed|target )"
    r"|warning: `[\w-]++` \((?:lib|bin|test|build script|example|bench)|warning: spurious network"
    r"|warning: unused manifest key|For more information about (?:this|an) error, try `rustc"
    r"|Some errors have detailed explanations: E|test result: |running \d++ tests?$|thread '"
    r"|test \S++ \.\.\. |---- \S.* stdout ----$|failures:$"
)
_CLOSING = re.compile(
    r" ?error: (?:could not compile `|aborting due to |test failed, to rerun|\d++ targets? failed"
    r"|doctest failed|bench failed|build failed|test run failed)"
    r"|warning: `[\w-]++` \([^)\n]*+\) generated \d|warning: \d++ warnings? emitted"
    r"|warning: build failed, waiting"
)
_END = re.compile(
    r" ?error: (?:could not compile `|aborting due to |test failed|\d++ targets? failed|doctest fai"
    r"|build failed|test run failed)|test result: | {2,12}Finished | {2,12}Summary \["
)
_GENERIC = ("running ", "test result: ", "thread '", "test ", "failures:", "---- ")
_RESULT = re.compile(r"test result: \w++\. \d++ passed; (?P<failed>\d++) failed")
_ANCHORS = (
    "--> ", "error: ", "error[", "warning: ", "Compiling ", "Checking ", "Finished ", "Running ",
    "Updating ", "Download", "Locking ", "Doc-tests ", "Blocking waiting", "test result: ",
    "rustc --explain", "Some errors have detailed", " FAIL [", " Summary [", *_GENERIC[2:3],
    " ... ", "---- ", "failures:", "running ",
)  # fmt: skip
_GAP = 120
_BELOW = 14


class Cargo:
    """What cargo prints for people: build, check, clippy, test and nextest.

    The layout is rustc's ``--error-format=human``; test runs are libtest's.
    """

    name = "cargo"
    about = "the first error of each file and its crate, each failed test, warnings counted"
    kind = "build"
    rank = 60
    hints = (
        ".rs:", "error: could not compile", "   Compiling ", "    Checking ", "    Finished ",
        "    Updating ", "test result: ", "error: failed to ", "Cargo.toml", "    Blocking waiting",
    )  # fmt: skip

    def find(self, log: Log) -> Iterator[Span]:
        """Yield the runs, from the first status line or diagnostic to the last."""
        own = [n for n in lines_with(log, _ANCHORS) if _owns(log.lines, n)]
        for group in clusters(own, _GAP):
            if any(not log.lines[n].startswith(_GENERIC) for n in group):
                yield Span(group[0], _stop(log.lines, group[-1]))

    def read(self, log: Log) -> Form | None:
        """Return the errors by file, the failed tests by the place of the panic."""
        found = _diagnostics(log)
        tests = failed_tests(log)
        ends = list(lines_with(log, (*_GENERIC[1:2], "error: ", "Finished ", "Summary [")))
        said = [n for n in ends if _END.match(log.lines[n])]
        if (
            not found
            and not tests
            and not said
            and not any(_owns(log.lines, n) for n in lines_with(log, _ANCHORS))
        ):
            return None
        errors = [each for each in found if each.error]
        results = [_RESULT.match(log.lines[n]) for n in said]
        failed = sum(int(match["failed"][:9]) for match in results if match)
        return build(
            self.name,
            log,
            found,
            head=_crate(log, errors[0].line) if errors else "",
            verdict=_verdict(log, said),
            tests=tests,
            failed=failed or None,
        )


def _owns(lines: Sequence[str], number: int) -> bool:
    line = lines[number]
    if _STATUS.match(line) or _MORE.match(line):
        return True
    if _HEAD.match(line):
        return any(_PLACE.match(below) for below in lines[number + 1 : number + 3])
    return _PLACE.match(line) is not None


def _stop(lines: Sequence[str], last: int) -> int:
    """Return the line after what belongs to the diagnostic or the test at line *last*."""
    stop = last + 1
    while stop < len(lines) and stop - last < 60:
        line = lines[stop]
        if not line.strip():
            after = lines[stop + 1] if stop + 1 < len(lines) else ""
            if not after.startswith(("Caused by:", "    ", "  ", "note: ", "help: ", "For more")):
                break
        elif not (
            line[0].isspace()
            or line[0].isdigit()
            or line.startswith(
                ("Caused by:", "note: ", "help: ", "For more information", "...", "|", "=")
            )
        ):
            break
        stop += 1
    return stop


def _diagnostics(log: Log) -> list[Diagnostic]:
    found: list[Diagnostic] = []
    seen: set[tuple[str, bool]] = set()
    lines = log.lines
    for number in lines_with(log, ("error: ", "error[", "warning: ", "warning[")):
        match = _HEAD.match(lines[number])
        if not match or _CLOSING.match(lines[number]):
            continue
        error = match["level"] == "error"
        at, file, place = number, "", ""
        for at in range(number + 1, min(number + 4, len(lines))):
            where = _PLACE.match(lines[at])
            if where:
                file, place = where["file"], where[0].strip()
                break
            if _HEAD.match(lines[at]) or not lines[at].strip():
                break
        text = f"{lines[number].strip()} {place}".rstrip()
        detail = ""
        if (file, error) not in seen:
            seen.add((file, error))
            detail = _below(lines, at + 1 if place else number + 1)
        found.append(Diagnostic(number, file, text, error, detail, place))
    return found


def _below(lines: Sequence[str], start: int) -> str:
    """Return the excerpt, the notes or the causes from line *start* on."""
    below: list[str] = []
    for number in range(start, min(start + 2 * _BELOW, len(lines))):
        line = lines[number]
        if not line.strip():
            if number + 1 < len(lines) and lines[number + 1].startswith("Caused by:"):
                continue
            break
        if _HEAD.match(line) or _STATUS.match(line):
            break
        below.append(line[:300])
    return "\n".join(below[:_BELOW])


def _crate(log: Log, line: int) -> str:
    """Return the line that names the crate which the error at *line* kept from compiling."""
    numbers = lines_with(log, ("error: could not compile `", "Compiling ", "Checking "))
    after = [n for n in numbers if n > line and "could not compile" in log.lines[n]]
    before = [n for n in numbers if n < line and _STATUS.match(log.lines[n])]
    number = (after[:1] or before[-1:] or [-1])[0]
    return log.lines[number].strip() if number >= 0 else ""


def _verdict(log: Log, said: Sequence[int]) -> str:
    """Return the last words; results of tests that passed only where none failed."""
    lines = [log.lines[number] for number in said]
    bad = [line for line in lines if " ok. " not in line and "Finished " not in line]
    passed = [line for line in lines if " ok. " in line]
    return last_words(bad or passed or lines)


REDUCER = Cargo()
