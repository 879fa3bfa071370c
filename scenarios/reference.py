"""The reference file in memory: every key with default and limits, and how settings are settled."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from scenarios.keys import Key
from sim.errors import InputError, unknown
from sim.segments import Kind

__all__ = [
    "FILE",
    "check",
    "conflicts",
    "defaults",
    "every_key",
    "families",
    "generators",
    "keys",
    "parse",
    "read_overrides",
    "section",
    "settle",
    "sift",
]

FILE = Path(__file__).with_name("reference.toml")
"""The one commented file with every key of every scenario."""

_PRESETS = "reader"
_TAGGED = ("reader.fetch_tagged", "reader.abstain_tagged", "reader.invent_tagged")
_SETTINGS = ("common", "reader", "story")
_TABLES = ("file", "stimuli", "segment", "fact", "structure", "write", "refresh", "query")
_MORE_TABLES = ("act", "operator", "wait", "keep-alive", "change", "compaction", "complaint")
_ATTEMPTS = ("attempt", "branch", "needs", "flip")
_TOOLS = ("tool", "tools-file", "called", "loop")
_PLAIN = ("tool-loop",)
_NO_FAMILY = frozenset((*_SETTINGS, *_TABLES, *_MORE_TABLES, *_ATTEMPTS, *_TOOLS))


@cache
def _tables() -> Mapping[str, Any]:
    return tomllib.loads(FILE.read_text(encoding="utf-8"))


def _expanded(entries: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, entry in entries.items():
        if name.endswith(".KIND"):
            for kind in Kind:
                yield name.removesuffix("KIND") + kind, entry
        else:
            yield name, entry


@cache
def section(name: str) -> Mapping[str, Key]:
    """Return the keys that a section of the reference file documents, in its order."""
    entries = _expanded(_tables()[name])
    return MappingProxyType({key: Key.read(key, entry) for key, entry in entries})


@cache
def families() -> tuple[str, ...]:
    """Return the names of the families that ship as scenarios, in the order of the file."""
    return tuple(name for name in generators() if name not in _PLAIN)


@cache
def generators() -> tuple[str, ...]:
    """Return the names of all families that have a section, in the order of the file.

    Those that :func:`families` leaves out are only there for files and for pinned scenarios.
    """
    return tuple(name for name in _tables() if name not in _NO_FAMILY)


@cache
def keys(layer: str | None = None) -> Mapping[str, Key]:
    """Return the keys that settings may hold: the common ones, and those of *layer*.

    *layer* is the name of a family, or ``story`` for a file that holds its own stimuli; its
    entries take the place of common keys of the same name.
    """
    own = {} if layer is None else section(layer)
    return MappingProxyType({**section("common"), **own})


@cache
def every_key() -> Mapping[str, Key]:
    """Return the common keys and those of every family."""
    known = dict(section("common"))
    for family in generators():
        for name, key in section(family).items():
            known.setdefault(name, key)
    return MappingProxyType(known)


def defaults(layer: str | None = None) -> dict[str, Any]:
    """Return the default settings, flat and dotted, of what *layer* names (see :func:`keys`).

    Keys that are unset where they are not given (`cache.*`), and `turns` and `budget` where the
    layer has none, are absent.
    """
    given = {name: k.default for name, k in keys(layer).items() if k.default is not None}
    return settle({}, given)


def parse(key: str, text: str, layer: str | None = None) -> Any:
    """Return the value that *text*, as in ``--set key=text``, gives to *key*.

    Without a *layer* the keys of every family are known, too. Raises InputError for an unknown
    key, with the nearest valid one, and for a value it cannot hold.
    """
    known = every_key() if layer is None else keys(layer)
    if key not in known:
        raise InputError(unknown("key", key, known))
    try:
        return known[key].parse(text)
    except ValueError as error:
        raise InputError(str(error)) from None


def check(
    flat: Mapping[str, Any], where: object = None, layer: str | None = None
) -> dict[str, Any]:
    """Return the settings in *flat*, typed; they need not be complete.

    Raises one InputError that names every unknown key and every value that is out of its range,
    each in a sentence of its own with *where* in front.
    """
    return _checked(flat, where, layer, text=False)


def read_overrides(given: Mapping[str, Any], layer: str | None = None) -> dict[str, Any]:
    """Return the settings in *given*, whose values may also be text, typed.

    Raises one InputError with a sentence for each unknown key and each value that will not do.
    """
    return _checked(given, None, layer, text=True)


def _checked(
    flat: Mapping[str, Any], where: object, layer: str | None, *, text: bool
) -> dict[str, Any]:
    known = every_key() if layer is None else keys(layer)
    typed, wrong = sift(flat, known, text=text)
    faults = [*wrong.values(), *conflicts(typed)]
    if len(faults) == 1:
        raise InputError(faults[0], file=where)
    if faults:
        raise InputError("\n".join(f if where is None else f"{where}: {f}" for f in faults))
    return typed


def sift(
    flat: Mapping[str, Any], known: Mapping[str, Key], *, text: bool = False
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return what of *flat* is good, typed, and for every other key what is wrong with it.

    With *text*, values may be the text that a command line gives.
    """
    typed: dict[str, Any] = {}
    wrong: dict[str, str] = {}
    for name, value in flat.items():
        if name not in known:
            wrong[name] = unknown("key", name, known)
            continue
        key = known[name]
        try:
            typed[name] = key.parse(value) if text and isinstance(value, str) else key.check(value)
        except ValueError as error:
            wrong[name] = str(error)
    return typed, wrong


def settle(base: Mapping[str, Any], *layers: Mapping[str, Any]) -> dict[str, Any]:
    """Return *base* with each of *layers* laid over it in turn.

    A layer's `reader` sets the four probabilities of that preset; what the same layer says of one
    of them stands. Where it gives some of the three that make 1, the others share what is left.
    """
    flat = dict(base)
    for layer in layers:
        if "reader" in layer:
            preset = _tables()[_PRESETS][layer["reader"]]
            flat.update({f"reader.{name}": value for name, value in preset.items()})
        flat.update(layer)
        _share_rest(flat, [name for name in _TAGGED if name in layer])
    return flat


def conflicts(flat: Mapping[str, Any]) -> Iterator[str]:
    """Yield a sentence for each group of values in *flat* that do not go together."""
    tagged = [flat[name] for name in _TAGGED if name in flat]
    total = sum(tagged)
    if total > 1 + 1e-9 or (len(tagged) == len(_TAGGED) and total < 1 - 1e-9):
        yield f"{', '.join(_TAGGED)} must make 1, not {total:.9g}"
    if flat.get("slack.trigger", 0) > 1 and flat.get("slack.occupancy") == "tokens":
        yield (
            "slack.trigger must be at most 1, a share of the budget, where slack.occupancy is "
            f"tokens, not {flat['slack.trigger']:.9g}"
        )
    if len(flat.get("cache.breakpoints", ())) > 3:
        yield "cache.breakpoints must be at most three segments, besides the end of the request"
    if "turns" in flat and flat.get("change.turn", 0) > flat["turns"]:
        yield f"change.turn {flat['change.turn']:,} comes after the last of {flat['turns']:,} turns"


def _share_rest(flat: dict[str, Any], given: Iterable[str]) -> None:
    given = list(given)
    others = [name for name in _TAGGED if name not in given]
    if not given or not others:
        return
    rest = max(0.0, 1.0 - sum(flat[name] for name in given))
    weight = sum(flat[name] for name in others)
    for name in others:
        if weight > 0:
            flat[name] = rest * flat[name] / weight
        else:
            taker = "reader.abstain_tagged" if "reader.abstain_tagged" in others else others[0]
            flat[name] = rest if name == taker else 0.0
