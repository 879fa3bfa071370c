"""Parameters of a comparison, and how to make it again: tables from its manifest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bench.tables.parts import Column, Line, Table, tokens

if TYPE_CHECKING:
    from bench.api import Comparison

__all__ = ["made_by", "policies_table", "prices_table", "scenarios_table", "settings_tables"]

_FIELDS = (
    ("input", "input"),
    ("write", "written"),
    ("read", "read"),
    ("output", "output"),
)
"""Fields of a price row in US dollars per million tokens, with their headers."""


_BESIDE = 4
"""Scenarios whose settings stand side by side."""


def policies_table(found: Comparison) -> Table:
    """Return what each policy does, with the options it was given and those it has else."""
    specs = found.manifest.get("specs", {})
    names = list(dict.fromkeys(row["policy"] for row in found.rows))
    lines = tuple(Line((name, *_policy(specs.get(name, name)))) for name in names)
    columns = (Column("policy", name=True), Column("rule"), Column("options"), Column("source"))
    return Table("Policies", columns, lines)


def _policy(spec: str) -> tuple[str, str, str]:
    """Return the rule, the options and the source of the policy of *spec*."""
    from policies import registry
    from policies.options import split

    head = registry.head(spec)
    if head not in registry.names():
        return "a policy of your own", spec.removeprefix(head).lstrip(":"), head
    rest = spec.partition(":")[2]
    given = split(rest, head) if rest else {}
    others = {
        option.name: option.default
        for option in registry.options(head)
        if option.default is not None and not {option.name, option.alias} & given.keys()
    }
    options = ", ".join(f"{name}={value}" for name, value in {**given, **others}.items())
    field = registry.group(head) == "field"
    source = f"{registry.source(head)} {registry.version(head)}".strip() if field else ""
    return registry.describe(head), options, source


def scenarios_table(found: Comparison) -> Table:
    """Return the scenarios with their sizes, and what was laid over them."""
    columns = (
        Column("scenario", name=True),
        Column("kind"),
        Column("seeds", True),
        Column("turns", True),
        Column("budget, tokens", True),
        Column("price"),
        Column("tokens counted"),
        Column("changed with --set"),
    )
    lines = []
    for name, facts in found.manifest["scenarios"].items():
        settings = facts["settings"]
        laid = (facts.get("source") or {}).get("settings", found.manifest["settings"])
        lines.append(
            Line(
                (
                    name,
                    facts["kind"],
                    str(facts["seeds"]),
                    str(settings.get("turns", "–")),
                    tokens(settings["budget"]) if "budget" in settings else "–",
                    ", ".join(row["name"] for row in facts["prices"]),
                    {"script": "as declared", None: "–"}.get(
                        facts.get("tokens_from"), str(facts.get("tokens_from"))
                    ),
                    ", ".join(f"{key}={_value(value)}" for key, value in laid.items()) or "–",
                )
            )
        )
    return Table("Scenarios", columns, tuple(lines))


def settings_tables(found: Comparison, names: Sequence[str]) -> Iterator[Table]:
    """Yield every key with its value in each of the scenarios *names*, four side by side."""
    every = {name: found.manifest["scenarios"][name]["settings"] for name in names}
    for start in range(0, len(names), _BESIDE):
        some = names[start : start + _BESIDE]
        keys = sorted({key for name in some for key in every[name]})
        lines = tuple(
            Line((key, *(_value(every[name].get(key, "–")) for name in some))) for key in keys
        )
        columns = (Column("key", name=True), *(Column(name, True) for name in some))
        yield Table(f"Every setting of {', '.join(some)}", columns, lines)


def prices_table(found: Comparison) -> Table:
    """Return the price rows, in US dollars per million tokens, with their cache rules."""
    rows: dict[str, Mapping[str, Any]] = {}
    for facts in found.manifest["scenarios"].values():
        for row in facts["prices"]:
            rows.setdefault(row["name"], row)
    columns = (
        Column("price", name=True),
        *(Column(f"{header}, $/M", True) for _, header in _FIELDS),
        Column("cache rule"),
        Column("from, tokens", True),
        Column("life, s", True),
        Column("source"),
        Column("date"),
        Column("assumed"),
    )
    lines = tuple(
        Line(
            (
                name,
                *(_value(row[field]) for field, _ in _FIELDS),
                str(row["rules"]["rule"]),
                _value(row["rules"]["minimum"]),
                _value(row["rules"]["ttl"]),
                str(row["source"] or "–"),
                str(row["date"] or "–"),
                ", ".join(row["assumed"]) or "nothing",
            )
        )
        for name, row in rows.items()
    )
    notes = ("A scenario can override fields of its price: cache.* among its settings.",)
    return Table("Prices", columns, lines, notes)


def made_by(found: Comparison) -> Table:
    """Return the versions, the machine and when it was made, as names and values."""
    manifest = found.manifest
    machine, effort = manifest["machine"], manifest["effort"]
    facts = {
        "evictbench": manifest["evictbench"],
        "commit": manifest["git_commit"] or "none: no checkout",
        "Python": manifest["python"],
        **{name: version for name, version in manifest["libraries"].items() if version},
        "machine": f"{machine['system']}, {machine['architecture']}",
        "begun": effort.get("started", "–"),
        "runs": f"{manifest['finished']:,} of {manifest['planned']:,}"
        if "planned" in manifest
        else f"{len(found.rows):,}",
    }
    lines = tuple(Line((name, str(value))) for name, value in facts.items())
    return Table("Made by", (Column("what"), Column("which")), lines)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.9g}"
    if isinstance(value, list | tuple):
        return " ".join(map(str, value)) or "none"
    return "–" if value is None else str(value)
