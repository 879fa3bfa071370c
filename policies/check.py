"""The conformance checker: runs any policy through adversarial scripts and says what it breaks.

    python -m policies.check SPEC…

Exit code 0 if nothing is broken, 1 if something is, 2 if a SPEC is wrong. Warnings alone are 0.
"""

from __future__ import annotations

import hashlib
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from traceback import extract_tb
from typing import TYPE_CHECKING, Any

from policies.adversaries import CAPABILITIES, adversaries
from policies.registry import make
from policies.watching import Raised, Watched
from sim.engine import run
from sim.errors import AuditError, InputError, UnexplainedTruncation, unknown
from sim.policy import DECLARABLE
from sim.prices import CacheRules, Price, Speed

if TYPE_CHECKING:
    from sim.policy import Policy
    from sim.script import Script

__all__ = ["Finding", "check", "main"]

_PRICE = Price("check", 3.0, 3.75, 0.3, 15.0, CacheRules("auto"), Speed(5e3, 5e4, 0.3, 80.0))


@dataclass(frozen=True, slots=True)
class Finding:
    """One part of the contract that a policy breaks, in a plain sentence.

    *warning*: it is allowed, but hardly meant.
    """

    rule: str
    says: str
    warning: bool = False

    def __str__(self) -> str:
        return f"{'warning' if self.warning else 'breaks'} [{self.rule}] {self.says}"


def check(factory: Callable[[], Policy]) -> list[Finding]:
    """Return what the policies that *factory* makes break, one finding for each rule and place.

    *factory* makes a fresh policy at each call. Raises what *factory* raises.
    """
    findings: dict[tuple[str, str], Finding] = {}

    def report(rule: str, says: str, warning: bool = False) -> None:
        findings.setdefault((rule, says), Finding(rule, says, warning))

    policy = factory()
    if factory() is policy:
        report("fresh", "the same instance serves two runs")
    if not _has_shape(policy, report):
        return list(findings.values())
    scripts = list(adversaries())
    random.seed(1)
    first = {script.scenario: _play(script, factory(), report) for script in scripts}
    random.seed(2)
    for script in reversed(scripts):
        if _play(script, factory(), lambda *_: None) != first[script.scenario]:
            report("reproducible", f"two runs of {script.scenario} differ")
    return _thinned(findings.values())


def _has_shape(policy: Any, report: Callable[..., None]) -> bool:
    """Check what a policy must have; return whether it can be run."""
    if not isinstance(getattr(policy, "label", None), str):
        report("shape", "label is not a text")
    for name in ("declares", "needs"):
        if not isinstance(getattr(policy, name, None), frozenset):
            report("shape", f"{name} is not a frozenset")
            return False
    for rule in sorted(policy.declares - DECLARABLE):
        report("shape", unknown("rule in declares", rule, DECLARABLE))
    for name in sorted(policy.needs - CAPABILITIES):
        report("needs", f"it needs {name!r}, which no script here offers", True)
    if not callable(getattr(policy, "before_call", None)):
        report("shape", "it has no before_call")
        return False
    return isinstance(getattr(policy, "label", None), str)


def _play(script: Script, policy: Policy, report: Callable[..., None]) -> list[Any] | str:
    """Run *script* and report what goes wrong; return what happened, for comparison."""
    place = f"in {script.scenario}"
    watched = Watched(policy, lambda rule, says: report(rule, f"{says} ({place})"))
    try:
        records = run(script, watched, _PRICE).records  # type: ignore[arg-type]
    except Raised as raised:
        error: BaseException = raised
        while isinstance(error, Raised) and error.__cause__ is not None:
            error = error.__cause__
        line = extract_tb(error.__traceback__)[-1].lineno
        says = f"{raised.hook} raises {type(error).__name__}: {error} (line {line}, {place})"
        report("raises", says)
        return says
    except AuditError as error:
        report("books", f"the books do not balance: {error} ({place})")
        return str(error)
    for rule, says in _bugs(records):
        backstop = rule == UnexplainedTruncation.rule
        report("backstop" if backstop else rule, f"{says} ({place})", backstop)
    return records


def _bugs(records: Iterable[Any]) -> Iterator[tuple[str, str]]:
    """Yield undeclared inadmissible actions, and cuts that a policy could have forestalled."""
    for kind, _, turn, *values in records:
        if kind == "bug":
            rule, _, _, says = values
            yield rule, f"turn {turn}: {says}"


def _thinned(findings: Iterable[Finding], most: int = 3) -> list[Finding]:
    """Return at most *most* findings of each rule, and how many more there are."""
    by_rule: dict[tuple[str, bool], list[Finding]] = {}
    for finding in findings:
        by_rule.setdefault((finding.rule, finding.warning), []).append(finding)
    thinned: list[Finding] = []
    for (rule, warning), found in by_rule.items():
        thinned.extend(found[:most])
        if len(found) > most:
            thinned.append(Finding(rule, f"and {len(found) - most} more like these", warning))
    return thinned


def _digest(spec: str) -> str:
    """Return the hash of everything that happens under *spec*."""
    whole = hashlib.blake2b(digest_size=16)
    for script in adversaries():
        whole.update(repr(_play(script, make(spec), lambda *_: None)).encode())
    return whole.hexdigest()


def _elsewhere(spec: str, hash_seed: int) -> str:
    """Return the hash that a fresh process with another hash seed computes."""
    environment = {**os.environ, "PYTHONHASHSEED": str(hash_seed)}
    command = [sys.executable, "-m", "policies.check", "--digest", spec]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    return done.stdout.strip()


def main(arguments: list[str] | None = None) -> int:
    """Check each policy named on the command line; return the exit code."""
    specs = sys.argv[1:] if arguments is None else arguments
    if specs[:1] == ["--digest"] and len(specs) == 2:
        print(_digest(specs[1]))
        return 0
    if not specs or specs[0] in ("-h", "--help"):
        print(__doc__)
        return 0 if specs else 2
    broken = False
    for spec in specs:
        try:
            make(spec)
        except InputError as error:
            print(f"policies.check: {error}", file=sys.stderr)
            return 2
        found = check(lambda spec=spec: make(spec))  # type: ignore[misc]
        if _elsewhere(spec, 1) != _elsewhere(spec, 2):
            found.append(Finding("reproducible", "two runs with different hash seeds differ"))
        print(f"{spec}: {'nothing found' if not found else ''}".rstrip())
        for finding in found:
            print(f"  {finding}")
        broken = broken or any(not finding.warning for finding in found)
    return int(broken)


if __name__ == "__main__":
    raise SystemExit(main())
