"""What is to be compared, in canonical order, whatever order it was asked for in."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from os import PathLike, fspath
from typing import TYPE_CHECKING

from sim.errors import InputError, unknown

if TYPE_CHECKING:
    from scenarios.scenario import Scenario

__all__ = [
    "GROUPS",
    "REPLAYED",
    "price_rows",
    "select_baseline",
    "select_policies",
    "select_prices",
    "select_scenarios",
    "sorted_scenarios",
    "with_book",
    "with_price",
]

_NOT_OF_STORIES = frozenset({"agents", "turns"})
"""Common keys that only what a family makes can have: a story is one workload of its own length."""

GROUPS = {"all": ("own", "field"), "own": ("own",), "field": ("field",)}
"""What stands for several policies: every one that ships, the project's own, the field's own."""


def select_scenarios(
    wanted: Iterable[str | Scenario] | None, settings: Mapping[str, object]
) -> tuple[list[Scenario], list[str]]:
    """Return the scenarios named in *wanted*, or all, with *settings* laid over, and remarks.

    A setting must be one of every scenario that was asked for by name. Where all are meant, it is
    laid over those that have it, and a remark names the others. Raises InputError.
    """
    from bench.loading import load
    from scenarios import catalogue

    if wanted is not None:
        wanted = list(wanted)
        names = dict.fromkeys(item for item in wanted if isinstance(item, str))
        made = [item for item in wanted if not isinstance(item, str)]
        return sorted_scenarios([*(load(name, settings) for name in names), *made]), []
    plain = [load(name) for name in catalogue.names()]
    takes = {scenario.name: _taken(scenario, settings) for scenario in plain}
    remarks = []
    for key in settings:
        left = [name for name, taken in takes.items() if key not in taken]
        if len(left) == len(plain):
            load(plain[-1].name, {key: settings[key]})
        elif left:
            stories = [scenario.name for scenario in plain if scenario.kind == "story"]
            whose = "the stories" if left == stories else ", ".join(left)
            remarks.append(f"{key} is not a setting of {whose}")
    return sorted_scenarios(load(name, taken) for name, taken in takes.items()), remarks


def _taken(scenario: Scenario, settings: Mapping[str, object]) -> dict[str, object]:
    """Return the part of *settings* that a story or a family has keys for."""
    from scenarios import reference

    story = scenario.kind == "story"
    known = reference.keys("story" if story else scenario.name)
    return {
        key: value
        for key, value in settings.items()
        if key in known and not (story and key in _NOT_OF_STORIES)
    }


def sorted_scenarios(scenarios: Iterable[Scenario]) -> list[Scenario]:
    """Return *scenarios* in the order of the catalogue, those not in it behind, by name.

    Raises InputError if two have one name.
    """
    from scenarios import catalogue

    known = catalogue.names()
    found: dict[str, Scenario] = {}
    for scenario in scenarios:
        if found.setdefault(scenario.name, scenario) is not scenario:
            raise InputError(f"two scenarios are called {scenario.name!r}; rename one")
    return sorted(found.values(), key=lambda s: (_place(s.name.split("/")[0], known), s.name))


REPLAYED = (
    "sliding-window",
    "naive-rewrite",
    "tag-or-drop",
    "slack-swap-refuse",
    "tiered",
    "disciplined",
    "pays-back",
    "lease",
    "compaction",
)
"""Policies of a replay that names none: a recording has no retrieval ranks, and costs count."""


def select_policies(wanted: Iterable[str] | None) -> dict[str, str]:
    """Return the policies in *wanted*, in registry order: label to spec.

    A name of :data:`GROUPS` stands for those of the groups; None for the first eight. Raises
    InputError for an unknown policy, option or part, and if two policies have one label.
    """
    from policies import registry

    known = registry.names()
    found: dict[str, str] = {}
    specs = registry.seed_names() if wanted is None else _spelt_out(wanted)
    for spec in specs:
        label = registry.make(spec).label
        ours = label.split(":")[0] in known
        if found.setdefault(label, label if ours else spec) not in (label, spec):
            raise InputError(f"two policies are called {label!r}; give each a label of its own")
    order = sorted(found, key=lambda label: (_place(label.split(":")[0], known), label))
    return {label: found[label] for label in order}


def _spelt_out(wanted: Iterable[str]) -> Iterator[str]:
    from policies import registry

    for spec in wanted:
        for group in GROUPS.get(spec, ()):
            yield from registry.names(group)
        if spec not in GROUPS:
            yield spec


def select_baseline(wanted: str | None, policies: Collection[str]) -> str | None:
    """Return the label of the policy that differences are taken to; None leaves it to the summary.

    Raises InputError if *wanted* is none of *policies*.
    """
    if wanted is None:
        return None
    from policies import registry

    label = registry.make(wanted).label
    if label not in policies:
        raise InputError(f"the baseline must be compared too: {unknown('policy', label, policies)}")
    return label


def select_prices(
    wanted: str | Iterable[str] | None, settings: Mapping[str, object]
) -> tuple[str, ...]:
    """Return the prices in *wanted*, each once, in the order of the price book.

    Names that are in no book stand behind, for the scenario to refuse. Nothing wanted is nothing
    chosen: each scenario then has its own. Raises InputError if *settings* name a price and another
    one is wanted, and for a price book in them that cannot be read.
    """
    if wanted is None:
        return ()
    names = list(dict.fromkeys([wanted] if isinstance(wanted, str) else wanted))
    for name in names:
        with_price(settings, name)
    if len(names) < 2:
        return tuple(names)
    from bench.prices import load_book

    book = settings.get("prices")
    known = list(load_book(None if book is None else str(book)))
    return tuple(sorted(names, key=lambda name: (_place(name, known), name)))


def price_rows(settings: Mapping[str, object]) -> dict[str, str]:
    """Return the rows of the price book in *settings* by the names that recordings give models."""
    from bench.prices import load_book
    from scenarios.transcripts.models import by_name

    book = settings.get("prices")
    return by_name(load_book(None if book is None else str(book)))


def with_book(
    settings: Mapping[str, object], prices: str | PathLike[str] | None
) -> dict[str, object]:
    """Return *settings* with a price book, a file, among them; raises InputError if it has two."""
    if prices is None:
        return dict(settings)
    path = fspath(prices)
    if settings.get("prices", path) != path:
        raise InputError(f"two price books were given: {settings['prices']!r} and {path!r}")
    return {**settings, "prices": path}


def with_price(settings: Mapping[str, object], price: str | None) -> dict[str, object]:
    """Return *settings* with the name of a *price* among them; raises InputError if it has two."""
    if price is None:
        return dict(settings)
    if settings.get("price", price) != price:
        raise InputError(f"two prices were given: {settings['price']!r} and {price!r}")
    return {**settings, "price": price}


def _place(name: str, known: Sequence[str]) -> int:
    return known.index(name) if name in known else len(known)
