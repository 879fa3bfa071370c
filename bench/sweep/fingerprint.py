"""The fingerprint of a sweep: everything that its rows depend on, so that no two are mixed."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.code_digest import code_digest, code_files

if TYPE_CHECKING:
    from bench.sweep.plan import Plan

__all__ = ["changes", "fingerprint", "folded"]

CODE = "the code"
"""Name of the hashes of the source files in a fingerprint."""

_SHOWN = 3
_HASH = r"[0-9a-f]{16,}"


def fingerprint(plan: Plan, source: str) -> dict[str, Any]:
    """Return what the rows of *plan* depend on, by name, in JSON's own types.

    The code file by file, the libraries that count, the policies with a hash of those that are no
    part of evictbench, the scenario as it comes out (settings at every point, price rows, and the
    scripts of the first seed at the first and the last point), the axes, seeds and the rest of
    the command. *source* is the scenario as the user names it: a file is hashed, too.
    """
    from bench.manifest import LIBRARIES, versions

    made = versions()
    return {
        "the version": made["evictbench"],
        "the code": dict(code_files()),
        "the libraries": {name: made["libraries"][name] for name in LIBRARIES},
        "the name of the scenario": plan.scenario,
        "--vary": [_axis(plan, number) for number in range(len(plan.axes))],
        "--design": plan.design,
        "the number of settings": len(plan.settings),
        "--seeds": plan.seeds,
        "the policies": list(plan.policies),
        "--strict": plan.strict,
        "--turns": plan.turns,
        "what is measured beside the metrics": list(plan.beside),
        f"the scenario {plan.scenario}": _workload(plan, source),
        **{f"the policy {label}": _policy(plan, label) for label in plan.policies},
    }


def folded(mark: Mapping[str, Any]) -> dict[str, Any]:
    """Return *mark* with one hash for all of the code, as it stands in finished results."""
    return {**mark, CODE: code_digest(mark[CODE])}


def changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Return in words what differs between two fingerprints, the most general first.

    Either may be folded.
    """
    if not isinstance(before.get(CODE), dict) and isinstance(now.get(CODE), dict):
        now = folded(now)
    found = []
    for name in dict.fromkeys([*before, *now]):
        if before.get(name) == now.get(name):
            continue
        was, is_now = before.get(name), now.get(name)
        if isinstance(was, dict) and isinstance(is_now, dict):
            found.append(f"{name} ({_named(was, is_now)})")
        elif _short(was) and _short(is_now):
            found.append(f"{name} ({was} then, {is_now} now)")
        else:
            found.append(name)
    return found


def _short(value: object) -> bool:
    """Whether *value* says something to a person: no list, and no hash."""
    return isinstance(value, int) or (isinstance(value, str) and not re.fullmatch(_HASH, value))


def _named(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    names = [n for n in dict.fromkeys([*before, *now]) if before.get(n) != now.get(n)]
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _axis(plan: Plan, number: int) -> list[Any]:
    axis = plan.axes[number]
    return [axis.key, list(axis.values), axis.low, axis.high, axis.count, axis.log]


def _policy(plan: Plan, label: str) -> str:
    """Return a hash of how a policy is made at each setting, and of its code if it is not ours."""
    from policies import registry

    made = hashlib.sha256()
    for setting in plan.settings:
        made.update(setting.policies[label].encode())
    spec = plan.settings[0].policies[label]
    if spec.partition(":")[0] not in registry.names():
        import inspect

        file = inspect.getsourcefile(type(registry.make(spec)))
        made.update(b"" if file is None else Path(file).read_bytes())
    return made.hexdigest()[:16]


def _workload(plan: Plan, source: str) -> str:
    made = hashlib.sha256()
    for part in _parts(plan, source):
        made.update(part)
    return made.hexdigest()[:16]


def _parts(plan: Plan, source: str) -> Iterator[bytes]:
    from bench.manifest import describe_scenario
    from scenarios.scenario import PinsOverBudget

    path = Path(source)
    if path.is_file():
        yield path.read_bytes()
    for setting in plan.settings:
        described = describe_scenario(setting.scenario, range(plan.seeds))
        described["settings"].pop("prices", None)  # the rows say what the book said
        yield json.dumps(described, sort_keys=True, default=str).encode()
    for setting in (plan.settings[0], plan.settings[-1]):
        try:
            yield setting.scenario.script(0).digest().encode()
        except PinsOverBudget as error:
            yield str(error).encode()
