"""The fingerprint of a sweep: everything that its rows depend on, so that no two are mixed."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.code_digest import code_digest, code_files
from bench.stamps import stamp

if TYPE_CHECKING:
    from bench.sweep.plan import Plan

__all__ = ["changes", "fingerprint", "folded"]

CODE = "the code"
"""Name of the hashes of the source files in a fingerprint."""

_SHOWN = 3
_HASH = r"[0-9a-f]{16,}"


def fingerprint(plan: Plan, source: str, baseline: str | None = None) -> dict[str, Any]:
    """Return what the rows of *plan* depend on, by name, in JSON's own types.

    The code file by file, the libraries that count, the policies with a hash of those that are no
    part of evictbench, the scenario as it comes out (settings at every point, price rows, and the
    scripts of the first seed at the first and the last point), the axes, seeds and the rest of
    the command. *source* is the scenario as the user names it: a file is hashed, too, and so are
    the logs that it draws from. *baseline* is what the summary takes differences to.
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
        "--baseline": baseline or "none",
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

    specs = [setting.policies[label] for setting in plan.settings]
    return _hash([*(spec.encode() for spec in specs), registry.code(specs[0])])


def _workload(plan: Plan, source: str) -> dict[str, str]:
    """Return hashes of what a workload is made of, by the words that name it where it changed."""
    from bench.manifest import describe_scenario

    path = Path(source)
    described = [describe_scenario(setting.scenario, ()) for setting in plan.settings]
    logs = stamp(d["settings"]["tool_logs"] for d in described if d["settings"].get("tool_logs"))
    for each in described:
        each["settings"].pop("prices", None)  # the rows say what the book said
    found = {
        "its file": [path.read_bytes()] if path.is_file() else [],
        "its kind": [each["kind"].encode() for each in described],
        "its settings": [_json(each["settings"]) for each in described],
        "its prices": [_json(each["prices"]) for each in described],
        "its logs": [digest.encode() for _, digest in logs],
        "what its first seed meets": list(_met(plan)),
    }
    return {name: _hash(parts) for name, parts in found.items()}


def _met(plan: Plan) -> Iterator[bytes]:
    from scenarios.scenario import PinsOverBudget

    for setting in (plan.settings[0], plan.settings[-1]):
        try:
            yield setting.scenario.script(0).digest().encode()
        except PinsOverBudget as error:
            yield str(error).encode()


def _json(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, default=str).encode()


def _hash(parts: Iterable[bytes]) -> str:
    """Return a hash of *parts*, of which none runs into the next."""
    made = hashlib.sha256()
    for part in parts:
        made.update(b"%d:%b" % (len(part), part))
    return made.hexdigest()[:16]
