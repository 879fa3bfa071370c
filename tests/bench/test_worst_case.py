"""The worst case of a script, and the arithmetic over it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.ceiling import LEAST, Ceiling, Remedy, Step, capped, give_up
from bench.worst_case import of_script, of_tools, stages, undeclared
from scenarios import catalogue, reference
from scenarios.tools import Tool
from sim.errors import InputError
from sim.script import (
    Act,
    Arrival,
    Attempt,
    Query,
    Script,
    Stimulus,
    Structure,
    Wait,
    WorldRefresh,
    Write,
)
from sim.segments import Kind
from tests.support.scripts import scripts

BASE = reference.settle(reference.defaults("story"), {"turns": 9, "budget": 10_000})


def script(*stimuli: Stimulus, attempts: Any = (), **more: Any) -> Script:
    changed = {key: more.pop(key) for key in ("turns", "budget") if key in more}
    return Script("test", 0, {**BASE, **changed}, stimuli, tuple(attempts), **more)


def result(turn: int, name: str, tokens: int, limit: int | None = 100, **more: Any) -> Arrival:
    more = {"tool": "t", **more}
    return Arrival(turn, name, Kind.TOOL_RESULT, tokens, 1.0, max_result_tokens=limit, **more)


def note(turn: int, name: str, tokens: int, **more: Any) -> Arrival:
    return Arrival(turn, name, more.pop("kind", Kind.ASSISTANT), tokens, 1.0, **more)


def sizes(worst: Script) -> list[tuple[int, str, int]]:
    return [(s.turn, s.id, s.tokens) for s in worst.stimuli if isinstance(s, Arrival)]


def seed_loop(budget: int = 24_000) -> Script:
    loop = {"budget": 200_000, "attempts": 4, "fill": 70_000, "material": 8_500}
    return of_tools("seed", [Tool("typecheck", budget)], loop)


class TestOfAScript:
    def test_every_result_has_its_budget_whatever_came(self) -> None:
        worst = of_script(
            script(
                result(1, "small", 3),
                result(1, "large", 900, 70, structure=Structure(9, 3, 20, 5), pages=True),
                note(1, "file", 30, kind=Kind.FILE, tool="t", max_result_tokens=60),
                note(1, "call", 4, kind=Kind.TOOL_CALL, tool="t"),
                note(2, "shot", 1, kind=Kind.IMAGE, tool="t", max_result_tokens=50),
            )
        )
        assert sizes(worst) == [
            (1, "small", 100),
            (1, "large", 70),
            (1, "file", 60),
            (1, "call", 4),
            (2, "shot", 1_600),
        ]
        large = worst.stimuli[1]
        assert isinstance(large, Arrival)
        assert (large.structure, large.pages, large.reduced_tokens) == (None, False, None)
        assert "roles" in worst.capabilities

    def test_the_larger_branch_comes_and_fails(self) -> None:
        attempts = [
            Attempt(1, 2, ("f",), (), (result(2, "a", 1), note(2, "b", 9)), (result(2, "a", 9),)),
            Attempt(2, 3, ("f",), (), (note(3, "ok", 50),), (note(3, "failed", 50),)),
        ]
        worst = of_script(script(note(2, "both", 7), attempts=attempts))
        assert sizes(worst) == [(2, "both", 7), (2, "a", 100), (2, "b", 9), (3, "failed", 50)]
        assert worst.attempts == (Attempt(1, 2), Attempt(2, 3))

    def test_what_brings_nothing_is_left_out(self) -> None:
        worst = of_script(
            script(
                note(1, "a", 5),
                Query(1, "q", "k", 0.5, ("a",)),
                Act(1, "act", ("a",)),
                Wait(2, 3.0),
                Write(2, "p"),
            )
        )
        assert [type(s) for s in worst.stimuli] == [Arrival, Wait, Write]

    def test_nothing_comes_after_the_last_turn_or_attempt(self) -> None:
        given = script(note(1, "a", 5), note(3, "b", 5), note(5, "c", 5), turns=4)
        assert [name for _, name, _ in sizes(of_script(given))] == ["a", "b"]
        tried = replace(given, attempts=(Attempt(1, 1),))
        assert [name for _, name, _ in sizes(of_script(tried))] == ["a"]
        cut = replace(tried, attempts_cut=True)
        assert [name for _, name, _ in sizes(of_script(cut))] == ["a", "b"]

    def test_undeclared_tools_by_name(self) -> None:
        attempts = [Attempt(1, 1, ("f",), (), (), (result(1, "x", 5, None, tool="later"),))]
        given = script(
            result(1, "a", 5),
            result(1, "b", 5, None, tool="lint"),
            result(1, "c", 5, None, tool=None),
            note(1, "d", 5, kind=Kind.FILE, tool="read"),
            note(1, "e", 5, kind=Kind.FILE),
            note(1, "f", 5, kind=Kind.TOOL_CALL, tool="edit"),
            attempts=attempts,
        )
        assert undeclared(given) == ["c", "later", "lint", "read"]

    def test_more_attempts_repeat_the_last_one(self) -> None:
        tried = script(
            note(1, "head", 8, pinned=True),
            note(1, "say", 3, attempt=1),
            note(4, "say-2", 4, attempt=2, pair="p"),
            Write(4, "x", attempt=2),
            attempts=[Attempt(1, 1), Attempt(2, 4)],
        )
        worst = of_script(tried, attempts=4)
        assert sizes(worst)[2:] == [(4, "say-2", 4), (5, "say-2+1", 4), (6, "say-2+2", 4)]
        assert worst.attempts[2:] == (Attempt(3, 5), Attempt(4, 6))
        assert worst.settings["turns"] == 6
        assert [s.turn for s in worst.stimuli if isinstance(s, Write)] == [4, 5, 6]
        last = worst.stimuli[-2]
        assert isinstance(last, Arrival)
        assert (last.attempt, last.pair) == (4, "p+2")
        fewer = of_script(tried, attempts=1)
        assert sizes(fewer) == [(1, "head", 8), (1, "say", 3)]
        assert (fewer.attempts, fewer.settings["turns"]) == ((Attempt(1, 1),), 1)

    def test_the_first_attempt_can_be_repeated_without_the_fill(self) -> None:
        tried = script(note(1, "head", 8), note(1, "say", 3, attempt=1), attempts=[Attempt(1, 1)])
        assert sizes(of_script(tried, attempts=2)) == [
            (1, "head", 8),
            (1, "say", 3),
            (2, "say+1", 3),
        ]

    def test_without_attempts_turns_take_their_place(self) -> None:
        plain = script(note(1, "a", 5), note(3, "b", 6), note(7, "c", 7))
        assert sizes(of_script(plain, attempts=1)) == [(1, "a", 5), (3, "b", 6)]
        assert sizes(of_script(plain, attempts=3))[2:] == [(7, "c", 7), (8, "c+1", 7)]
        with pytest.raises(InputError, match="no attempt and no turn after the first"):
            of_script(script(note(1, "a", 5)), attempts=2)

    def test_another_fill_keeps_the_pins(self) -> None:
        given = script(
            note(1, "old", 50),
            note(1, "task", 8, pinned=True),
            result(1, "fill", 9),
            note(2, "fill'", 1),
        )
        assert sizes(of_script(given, fill=30)) == [
            (1, "task", 8),
            (1, "fill''", 22),
            (2, "fill'", 1),
        ]
        assert sizes(of_script(given, fill=8)) == [(1, "task", 8), (2, "fill'", 1)]
        with pytest.raises(InputError, match="a fill of 7 tokens is less than the 8 pinned"):
            of_script(given, fill=7)

    def test_other_material_keeps_the_results(self) -> None:
        given = script(
            note(1, "head", 8, kind=Kind.FILE, path="p"),
            note(2, "say", 50, attempt=1),
            result(2, "r", 9, attempt=1),
            Write(2, "p", 90),
            attempts=[Attempt(1, 2)],
        )
        worst = of_script(given, material=30)
        assert sizes(worst) == [(1, "head", 8), (2, "material-1", 30), (2, "r", 100)]
        assert Ceiling.of(worst).total == 138
        assert Ceiling.of(of_script(given, material=0)).total == 108


class TestStages:
    def test_what_is_written_longer_makes_every_copy_grow_once(self) -> None:
        worst = script(
            note(1, "a", 10, kind=Kind.FILE, path="p"),
            note(2, "b", 30, kind=Kind.FILE, path="p"),
            note(2, "c", 5),
            Write(2, "p", 25),
            Write(3, "p", 20),
            Write(3, "q", 90),
            Write(4, "p", 31),
            Write(5, "p"),
            WorldRefresh(5, "c", 9),
            WorldRefresh(5, "nobody", 99),
            WorldRefresh(6, "a", 33),
        )
        fill, found = stages(worst)
        assert [a.id for a in fill] == ["a"]
        assert [(s.name, [a.id for a in s.arrivals], s.growth) for s in found] == [
            ("turn 2", ["b", "c"], 15),
            ("turn 4", [], 7),
            ("turn 5", [], 4),
            ("turn 6", [], 4),
        ]

    def test_the_fill_is_what_the_first_turn_brings_outside_its_attempt(self) -> None:
        worst = script(
            note(1, "a", 1),
            note(1, "b", 2, attempt=1),
            note(2, "c", 3, attempt=1),
            note(3, "d", 4),
            attempts=[Attempt(1, 1), Attempt(2, 3)],
        )
        fill, found = stages(worst)
        assert [a.id for a in fill] == ["a"]
        assert [(s.name, [a.id for a in s.arrivals]) for s in found] == [
            ("attempt 1", ["b"]),
            ("turn 2", ["c"]),
            ("attempt 2", ["d"]),
        ]
        fill, found = stages(replace(worst, attempts=()))
        assert [a.id for a in fill] == ["a", "b"]


class TestCeiling:
    def test_the_seeds_arithmetic(self) -> None:
        fits = Ceiling.of(seed_loop())
        assert fits.running == [70_000, 102_500, 135_000, 167_500, 200_000]
        assert (fits.over, fits.breaks_at, fits.remedies()) == (0, None, [])
        assert give_up(seed_loop()).given_up == ()

    def test_one_token_more(self) -> None:
        worst = seed_loop(24_001)
        over = Ceiling.of(worst)
        assert over.running == [70_000, 102_501, 135_002, 167_503, 200_004]
        assert over.over == 4
        assert over.breaks_at == Step("attempt 4", 4, (("typecheck", 24_001),), 8_500, True)
        assert over.remedies() == [
            Remedy("tool", 24_001, 24_000, "typecheck"),
            Remedy("fill", 70_000, 69_996),
            Remedy("material", 8_500, 8_499),
            Remedy("attempts", 4, 3),
            Remedy("budget", 200_000, 200_004),
        ]

    def test_what_tiered_gives_up_for_it(self) -> None:
        # On the last turn the smallest one that frees 4 tokens: the words of attempt 3, for a line
        # of 12. 200,004 - 8,500 + 12 = 191,516.
        surrender = give_up(seed_loop(24_001))
        (given,) = surrender.given_up
        assert (given.step, given.how, given.segments) == ("attempt 4", "line", ("material-3",))
        assert (given.before, given.after, given.reason) == (8_500, 12, "superseded")
        assert (surrender.peak, surrender.ended) == (191_516, "")

    def test_superseded_results_go_before_the_fill_and_the_fill_before_pins(self) -> None:
        loop = {"budget": 1_000, "attempts": 3, "fill": 500, "material": 100}
        surrender = give_up(of_tools("x", [Tool("a", 300), Tool("b", 200)], loop))
        # Attempt 1 demands 1,100: nothing is superseded, its results are pinned as the newest, the
        # fill goes: 600. Attempt 2 demands 1,200: last position first, on no last turn, b-1
        # (200 -> 12) leaves 1,012 and a-1 (300 -> 12) 724. Attempt 3 demands 1,324, the last turn:
        # the words of attempt 2 free 88, b-2 188, a-2 288, and 324 are over; so the largest, a-2,
        # then the smallest that frees the other 36: the words of attempt 1, 88. 948 are left.
        assert [(g.step, g.how, g.segments) for g in surrender.given_up] == [
            ("attempt 1", "evicted", ("fill",)),
            ("attempt 2", "line", ("b-1",)),
            ("attempt 2", "line", ("a-1",)),
            ("attempt 3", "line", ("a-2",)),
            ("attempt 3", "line", ("material-2",)),
        ]
        assert surrender.peak == 948

    def test_pins_that_do_not_fit_end_it(self) -> None:
        loop = {"budget": 1_000, "attempts": 2, "fill": 500, "material": 0}
        surrender = give_up(of_tools("x", [Tool("a", 1_001)], loop))
        assert surrender.at == "attempt 1"
        assert "a-1 1001" in surrender.ended

    def test_the_tools_are_sorted_by_what_they_carry(self) -> None:
        loop = {"budget": 9_000, "attempts": 2, "fill": 0, "material": 0}
        tools = [Tool("a", 100), Tool("c", 60, calls=2), Tool("b", 100), Tool("no", 900, calls=0)]
        found = Ceiling.of(of_tools("x", tools, loop))
        assert found.tools == {"c": [60] * 4, "a": [100] * 2, "b": [100] * 2}
        assert [name for name, _ in found.steps[0].results] == ["a", "c", "c", "b"]
        assert found.total == 640

    def test_what_cannot_be_lowered_far_enough(self) -> None:
        loop = {"budget": 160, "attempts": 2, "fill": 90, "material": 20}
        over = Ceiling.of(of_tools("x", [Tool("a", 60), Tool("b", 41)], loop))  # 90 + 2 x 121
        assert over.remedies() == [
            Remedy("tool", 60, None, "a"),
            Remedy("tool", 41, None, "b"),
            Remedy("fill", 90, None),
            Remedy("material", 20, None),
            Remedy("attempts", 2, None),
            Remedy("budget", 160, 332),
        ]

    def test_pins_bound_the_fill_and_turns_are_counted_without_attempts(self) -> None:
        given = script(
            note(1, "task", 80, pinned=True),
            note(1, "rest", 20),
            note(2, "a", 10),
            note(4, "b", 30),
            budget=115,
        )
        over = Ceiling.of(given)
        assert over.breaks_at is not None
        assert over.breaks_at.name == "turn 4"
        assert over.remedies() == [
            Remedy("fill", 100, None),
            Remedy("material", 30, 7),
            Remedy("turns", 2, 1),
            Remedy("budget", 115, 140),
        ]

    def test_a_fill_that_does_not_fit(self) -> None:
        over = Ceiling.of(script(note(1, "a", 20), note(2, "b", 1), budget=19))
        assert over.breaks_at == over.fill
        assert Remedy("turns", 1, None) in over.remedies()

    def test_the_story(self) -> None:
        story = catalogue.load("signature-change").script(0)
        assert undeclared(story) == []
        found = Ceiling.of(of_script(story))
        # 70,000; + 2,000 + 6,000 + 20,000 + 24,000 + 9,000 + 24,000; + 2,000 + 6,000 + 9,000
        # + 24,000; then twice 1,000 + 6,000 + 24,000.
        assert found.running == [70_000, 155_000, 196_000, 227_000, 258_000]
        assert found.pinned == 5_000


@given(st.lists(st.integers(1, 30), min_size=1, max_size=6), st.integers(-5, 60))
def test_a_cap_is_the_largest_that_is_allowed(sizes: list[int], allowed: int) -> None:
    allowed = min(allowed, sum(sizes) - 1)
    caps = [cap for cap in range(31) if sum(min(size, cap) for size in sizes) <= allowed]
    assert capped(sizes, allowed) == (max(caps) if caps else None)


@given(
    st.lists(st.tuples(st.integers(40, 90), st.integers(0, 3)), min_size=1, max_size=3),
    st.integers(1, 4),
    st.integers(0, 200),
    st.integers(0, 60),
    st.integers(1, 900),
)
def test_each_remedy_is_just_enough(
    tools: list[tuple[int, int]], attempts: int, fill: int, material: int, budget: int
) -> None:
    declared = [Tool(f"t{i}", limit, calls=calls) for i, (limit, calls) in enumerate(tools)]
    loop = {"budget": budget, "attempts": attempts, "fill": fill, "material": material}

    def fits(tools: list[Tool], **changed: int) -> bool:
        now = {**loop, **changed}
        calls = sum(tool.calls * (tool.max_result_tokens or 0) for tool in tools)
        return now["fill"] + now["attempts"] * (calls + now["material"]) <= now["budget"]

    found = Ceiling.of(of_tools("x", declared, loop))
    assert (found.over == 0) == fits(declared)
    for remedy in found.remedies():
        if remedy.tool is not None:

            def lowered(to: int, name: str = remedy.tool) -> list[Tool]:
                return [replace(t, max_result_tokens=to) if t.name == name else t for t in declared]

            if remedy.to is None:
                assert not fits(lowered(LEAST))
            else:
                assert fits(lowered(remedy.to))
                assert not fits(lowered(remedy.to + 1))
        elif remedy.to is None:
            assert not fits(declared, **{remedy.what: 1 if remedy.what == "attempts" else 0})
        else:
            more = -1 if remedy.what == "budget" else 1
            assert fits(declared, **{remedy.what: remedy.to})
            assert not fits(declared, **{remedy.what: remedy.to + more})


@given(scripts())
@settings(max_examples=60, deadline=None)
def test_a_real_run_with_room_never_exceeds_it_and_reaches_it_without_writes(given: Script) -> None:
    def limited(stimulus: Stimulus) -> Stimulus:
        if isinstance(stimulus, Arrival) and stimulus.kind is Kind.TOOL_RESULT:
            return replace(stimulus, max_result_tokens=stimulus.max_result_tokens or 100)
        return stimulus

    attempts = tuple(
        replace(a, ok=tuple(map(limited, a.ok)), failed=tuple(map(limited, a.failed)))
        for a in given.attempts
    )
    given = replace(
        given,
        stimuli=tuple(map(limited, given.stimuli)),
        attempts=attempts,
        settings={**given.settings, "budget": 10**9, "price": "claude-sonnet-5"},
    )
    assert undeclared(given) == []
    worst = of_script(given)
    total = Ceiling.of(worst).total
    for policy in ("tiered", "no-op"):
        surrender = give_up(worst, policy)
        assert surrender.given_up == ()
        assert surrender.peak is not None
        assert surrender.peak <= total
        if not any(isinstance(s, (Write, WorldRefresh)) for s in worst.stimuli):
            assert surrender.peak == total
