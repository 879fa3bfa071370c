"""Keeping: what stands for others states what the rule says, whenever it is asked."""

from __future__ import annotations

import math

from sim.keeping import ByChance, ByPlace, Fate, Kept, Unwritten, keep
from sim.learning import learn
from sim.segments import Fact, Segment
from sim.settings import Settings
from sim.streams import uniform
from sim.world import World
from tests.sim.build import Idle, segment
from tests.support.scripts import BASE_SETTINGS


def source(name: str, *facts: Fact, tokens: int = 100) -> Segment:
    return segment(name, tokens, raw_tokens=tokens, facts=facts)


def at(place: int) -> Fact:
    return Fact(f"at {place}", at=place)


def test_by_place_keeps_both_ends() -> None:
    """Of 100 tokens the first 20 and those from 90 on: 19 and 90 are in, 20 and 89 are not."""
    a = source("a", *(at(n) for n in (0, 19, 20, 89, 90, 99)))
    kept = keep(ByPlace(20, 90), [a])
    assert kept == Kept(frozenset({"at 0", "at 19", "at 90", "at 99"}))


def test_by_place_of_nothing_keeps_nothing() -> None:
    assert keep(ByPlace(0, 100), [source("a", at(0), at(99))]) == Kept()


def test_by_chance_is_the_draw_by_name() -> None:
    """Of root, key and round: of 1,000 facts at 0.3, each kept exactly where its draw is below."""
    facts = tuple(Fact(f"k{n}") for n in range(1_000))
    kept = keep(ByChance(7, 0.3), [source("a", *facts)]).kept
    draws = {f.key: uniform(7, "surrogate.keep", "a", f.key, 1) for f in facts}
    assert kept == {key for key, draw in draws.items() if draw < 0.3}
    assert abs(len(kept) - 300) < 4 * math.sqrt(1_000 * 0.3 * 0.7)


def test_what_nobody_wrote_keeps_nothing_and_has_seen_nothing() -> None:
    kept = keep(Unwritten(), [source("a", Fact("k"))])
    assert kept == Kept(unseen=frozenset({"k"}))


def test_what_was_made_up_stays_made_up_where_nothing_settles_it() -> None:
    a = source("a", Fact("k"))
    lie = segment("s", 5, sources=(source("b"),), kept=frozenset({"k"}), made_up=frozenset({"k"}))
    assert keep(ByChance(0, 1.0), [a, lie]) == Kept(frozenset({"k"}), frozenset({"k"}))


# -- learning late -------------------------------------------------------------------------


def world() -> World:
    return World(Settings.from_flat(BASE_SETTINGS), Idle(), 0, frozenset(), strict=False)


def stand_in(name: str, rule: object, *sources: Segment) -> Segment:
    """Return a surrogate of *sources* under *rule*, as they are known now."""
    facts = keep(rule, sources)  # type: ignore[arg-type]
    made = segment(name, 5, sources=sources, keeping=rule, kept=facts.kept, made_up=facts.made_up)
    for each in sources:
        each.surrogates.append(made)
    return made


def test_a_fact_that_shows_late_is_kept_as_if_it_had_been_known() -> None:
    """By chance at 0.5 and in a second round: of 200 facts the same as where all came first."""
    facts = tuple(Fact(f"k{n}") for n in range(200))
    early, late = source("a", *facts), source("a")
    rule = ByChance(3, 0.5)
    twice = [stand_in("t", rule, stand_in("s", rule, each)) for each in (early, late)]
    assert not twice[1].kept
    for fact in reversed(facts):
        learn(world(), late, fact)
    assert twice[0].kept == twice[1].kept
    assert 20 < len(twice[0].kept) < 80


def test_a_preview_learns_what_stands_in_it() -> None:
    a = source("a")
    made = stand_in("s", ByPlace(10, 95), a)
    for place in (5, 50, 97):
        learn(world(), a, at(place))
    assert made.kept == {"at 5", "at 97"}


def test_a_source_that_tells_it_settles_what_another_had_invented() -> None:
    class Settling:
        settles = True

        def fate(self, source: Segment, said: object) -> object:
            return Fate.INVENTED if source.id == "a" else Fate.TOLD

        def seen(self, source: Segment, said: object) -> bool:
            return True

    a, b = source("a"), source("b")
    made = stand_in("s", Settling(), a, b)
    learn(world(), a, Fact("k"))
    assert (made.kept, made.made_up) == ({"k"}, {"k"})
    learn(world(), b, Fact("k"))
    assert (made.kept, made.made_up) == ({"k"}, set())


def test_invented_text_says_what_its_surrogate_said() -> None:
    a = source("a")
    made = stand_in("s", ByChance(0, 1.0), a)
    invented = segment("i", 5, sources=(made,), invented=True, kept=frozenset({"x"}))
    made.surrogates.append(invented)
    learn(world(), a, Fact("k"))
    assert invented.kept == {"x", "k"}


def test_the_page_on_which_it_stands_learns_it() -> None:
    a = source("a", tokens=250)
    a.page_size = 100
    pages = [segment(f"a.p{n}", 100, page_of=a, number=n, raw_tokens=100) for n in (1, 2)]
    a.pages.extend(pages)
    learn(world(), a, at(150))
    assert [[f.key for f in page.facts] for page in pages] == [[], ["at 150"]]
