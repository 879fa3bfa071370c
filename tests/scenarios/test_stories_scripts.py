"""What the stories say, against hand calculations: sizes, sums, saliences, times and needs."""

from itertools import accumulate

import pytest

from scenarios import catalogue, stories
from sim.reduction import least_tokens
from sim.script import Act, Arrival, Operator, Query, Script, Wait, WorldRefresh, Write


def reduced(arrival):
    """Return the size to which *arrival* is reduced, None if it is within its tool's limit."""
    limit = arrival.max_result_tokens
    return None if limit is None or arrival.tokens <= limit else least_tokens(arrival)


def script(name: str, **settings) -> Script:
    return catalogue.load(name, settings).script(0)


def arrivals(story: Script, branch: str = "") -> dict[str, Arrival]:
    """Every arrival by id; those of the guarded attempts as *branch* says, or left out."""
    guarded = [s for a in story.attempts for s in getattr(a, branch, ())] if branch else []
    return {s.id: s for s in (*story.stimuli, *guarded) if isinstance(s, Arrival)}


def of(story: Script, kind: type) -> list:
    return [s for s in story.stimuli if isinstance(s, kind)]


def total(segments) -> int:
    return sum(segment.tokens for segment in segments)


def by_turn(story: Script, branch: str = "") -> list[int]:
    """What has arrived by the end of each turn, if nothing ever leaves."""
    found = arrivals(story, branch).values()
    turns = range(1, story.settings["turns"] + 1)
    return list(accumulate(total(s for s in found if s.turn == turn) for turn in turns))


def salience(segment: Arrival, turn: int) -> float:
    return segment.score * 0.85 ** (turn - segment.turn)


def pins(story: Script) -> set[str]:
    return {name for name, segment in arrivals(story).items() if segment.pinned}


@pytest.mark.parametrize("name", stories.NAMES)
class TestEveryStory:
    def test_the_clock_and_the_surrogates(self, name):
        settings = catalogue.load(name).settings
        assert settings["clock.turn_seconds"] == 20
        assert settings["clock.extra_call_seconds"] == 5
        assert settings["surrogate.keep"] == 0
        assert settings["salience.decay"] == 0.85
        assert settings["rehydrate.threshold"] == 0.6
        assert settings["rewrite.below"] == 0.25

    def test_system_and_task_are_pinned_and_come_first(self, name):
        found = arrivals(script(name))
        first = [s for s in found.values() if s.kind in ("system", "task")]
        if name == "growing-surrogate":
            assert not first
            return
        assert [s.kind for s in first] == ["system", "task"]
        assert list(found.values())[:2] == first
        assert all(s.pinned and s.turn == 1 for s in first)

    def test_it_has_two_flips_or_more_and_each_changes_the_script(self, name):
        scenario = catalogue.load(name)
        assert len(scenario.flips) >= 2
        plain = scenario.script(0)
        for patch in (*scenario.flips, *scenario.variants):
            changed = script(f"{name}/{patch}")
            assert changed.settings != plain.settings or (
                (changed.stimuli, changed.attempts) != (plain.stimuli, plain.attempts)
            )

    def test_the_seed_changes_nothing(self, name):
        scenario = catalogue.load(name)
        assert scenario.script(0).stimuli == scenario.script(1).stimuli
        assert scenario.script(0).attempts == scenario.script(1).attempts


class TestSignatureChange:
    def test_the_fill(self):
        found = arrivals(script("signature-change"))
        fill = [s for s in found.values() if s.attempt is None]
        assert total(fill) == 70_000
        assert [(s.rank, s.tokens) for s in fill if s.rank] == [
            (1, 9_000),
            (2, 8_500),
            (3, 8_000),
            (4, 7_500),
            (5, 8_800),
            (6, 8_000),
            (7, 7_700),
            (8, 7_500),
        ]
        assert {s.turn for s in fill} == {1}
        assert [f.key for f in found["rank-5"].facts] == ["signature"]

    def test_the_attempts_that_fail_by_script(self):
        found = arrivals(script("signature-change")).values()
        assert [(s.tool or s.kind, s.tokens) for s in found if s.attempt == 1] == [
            ("assistant", 2_000),
            ("read", 20_000),
            ("diff", 6_000),
            ("typecheck", 22_000),
            ("lint", 9_000),
            ("tests", 24_000),
        ]
        assert [(s.tool or s.kind, s.tokens) for s in found if s.attempt == 2] == [
            ("assistant", 2_000),
            ("diff", 6_000),
            ("lint", 9_000),
            ("typecheck", 61_204),
        ]

    def test_the_sums(self):
        story = script("signature-change")
        # 70,000 + 83,000; + 17,000 + 61,204
        assert by_turn(story)[:2] == [153_000, 231_204]
        assert by_turn(story)[1] - 61_204 == 170_000
        assert by_turn(story, "ok")[2] == 238_244
        # 231,204 - 31,000 would not do: ranks 8, 7, 6 and 5 go
        assert 231_204 - (7_500 + 7_700 + 8_000) > 200_000
        assert 231_204 - (7_500 + 7_700 + 8_000 + 8_800) == 199_204
        failed = [s for s in story.attempts[2].failed if isinstance(s, Arrival)]
        assert 199_204 + total(failed) == 267_408
        assert (
            179_408 + total(s for s in story.attempts[3].failed if s.type == "arrival") == 247_612
        )

    def test_the_big_type_check_is_reduced_to_16_800(self):
        story = script("signature-change")
        big = arrivals(story)["typecheck-2"]
        # 118 first errors of 142 and a notice of 44
        assert reduced(big) == 118 * 142 + 44 == 16_800
        assert big.tokens - 16_800 == 44_404
        assert reduced(arrivals(story)["typecheck-1"]) is None
        again = arrivals(story, "failed")["typecheck-3"]
        assert (again.tokens, reduced(again)) == (61_204, 16_800)
        fine = arrivals(story, "ok")["typecheck-3"]
        assert (fine.tokens, reduced(fine)) == (40, None)

    def test_the_diagnostics_name_ranks_6_to_8(self):
        found = arrivals(script("signature-change"))
        paths = tuple(found[f"rank-{rank}"].path for rank in (6, 7, 8))
        assert found["typecheck-1"].names == found["typecheck-2"].names == paths

    def test_needs_writes_and_act(self):
        story = script("signature-change")
        path = arrivals(story)["rank-6"].path
        assert [(a.number, a.turn, a.facts, a.paths) for a in story.attempts] == [
            (1, 1, (), ()),
            (2, 2, (), ()),
            (3, 3, ("signature",), ()),
            (4, 4, ("signature",), ()),
        ]
        assert [(s.turn, s.path, s.tokens) for s in of(story, Write)] == [
            (1, path, None),
            (2, path, None),
        ]
        for attempt in story.attempts[2:]:
            for branch in (attempt.ok, attempt.failed):
                assert [s.path for s in branch if isinstance(s, Write)] == [path]
                assert [s.tokens for s in branch if isinstance(s, Arrival)][:2] == [1_000, 6_000]
        for branch in (story.attempts[2].ok, story.attempts[2].failed):
            assert [s.requires for s in branch if isinstance(s, Act)] == [("task",)]

    def test_flips(self):
        assert script("signature-change/budget-240000").settings["budget"] == 240_000
        unlimited = script("signature-change/no-limit")
        assert reduced(arrivals(unlimited)["typecheck-2"]) is None
        # two superseded results and the words and diff of attempt 1 become three lines of 12
        lines = 231_204 - (9_000 + 22_000 + 2_000 + 6_000) + 3 * 12
        assert lines == 192_240
        assert lines + 1_000 + 6_000 + 40 == 199_280


class TestEvictionCost:
    def test_the_cut(self):
        found = arrivals(script("eviction-cost"))
        names = list(found)
        front = names[: names.index("rank-4") + 1]
        assert total(found[name] for name in front) == 38_000
        assert total(found[f"rank-{rank}"] for rank in (5, 6, 7, 8)) == 32_000
        assert names[-2:] == ["tail", "new"]
        assert (found["tail"].tokens, found["new"].tokens) == (57_000, 600)
        assert script("eviction-cost").settings["cache.breakpoints"] == ("rank-4",)

    def test_one_pass_cuts_exactly_four(self):
        story = script("eviction-cost")
        assert by_turn(story) == [70_000, 70_000, 127_600]
        left = list(accumulate([-7_500, -7_700, -8_000, -8_800], initial=127_600))
        assert left == [127_600, 120_100, 112_400, 104_400, 95_600]
        assert left[-1] <= story.settings["budget"] < left[-2]

    def test_tokens_behind_the_cut(self):
        found = list(arrivals(script("eviction-cost/tail-cached")).values())[:-1]
        behind = {s.rank: total(found[n + 1 :]) for n, s in enumerate(found) if s.rank}
        assert [behind[rank] for rank in (5, 6, 7, 8)] == [80_200, 72_200, 64_500, 57_000]

    def test_what_it_is_compared_with(self):
        story = script("eviction-cost/already-cut")
        assert by_turn(story) == [38_000, 95_000, 95_600]

    def test_the_call_prices_at_one_breakpoint(self):
        # read 38,000 and write 57,600, against read 95,000 and write 600; Sonnet 5, Opus 5.5
        for read, written, ratio in ((0.2, 2.5, 7.395), (0.2, 5.0, 13.436), (0.5, 5.0, 6.079)):
            cut = 38_000 * read + 57_600 * written
            uncut = 95_000 * read + 600 * written
            assert cut / uncut == pytest.approx(ratio, abs=5e-4)

    def test_flips_and_variants(self):
        for name in ("eviction-cost/cold", "eviction-cost/already-cut/cold"):
            assert [(s.turn, s.seconds) for s in of(script(name), Wait)] == [(3, 400.0)]
        assert script("eviction-cost/equal-prices").settings["price"] == "uncached"
        assert script("eviction-cost/default-breakpoints").settings["cache.breakpoints"] == ()
        cached = script("eviction-cost/tail-cached")
        assert by_turn(cached) == [70_000, 127_000, cached.settings["budget"]]


class TestRateLimitTable:
    def test_the_table(self):
        found = arrivals(script("rate-limit-table"))
        rows = {
            name: (s.tokens, s.turn, s.score)
            for name, s in found.items()
            if not name.startswith("message")
        }
        assert rows == {
            "system": (2_000, 1, 1.0),
            "task": (800, 1, 1.0),
            "table": (1_800, 2, 0.4),
            "constraint": (1_800, 3, 0.5),
            "summary": (300, 4, 0.6),
            "document-1": (6_500, 5, 0.9),
            "document-2": (6_500, 6, 0.9),
            "document-3": (6_500, 7, 0.9),
            "document-4": (5_700, 8, 0.9),
            "dump": (9_000, 12, 0.91),
        }
        messages = [s for name, s in found.items() if name.startswith("message")]
        assert [(s.tokens, s.turn, s.score) for s in messages] == [
            (120, turn, 0.5) for turn in range(13, 20)
        ]

    def test_saliences(self):
        found = arrivals(script("rate-limit-table"))
        at = {
            12: {"table": 0.0787, "constraint": 0.116, "summary": 0.163, "system": 0.167},
            19: {"constraint": 0.0371, "summary": 0.0524, "task": 0.0536, "dump": 0.2917},
        }
        for turn, expected in at.items():
            for name, value in expected.items():
                digits = 5e-4 if value > 0.1 else 5e-5
                assert salience(found[name], turn) == pytest.approx(value, abs=digits)
        documents = [salience(found[f"document-{n}"], 12) for n in (1, 4)]
        assert documents == pytest.approx([0.289, 0.470], abs=5e-4)
        documents = [salience(found[f"document-{n}"], 19) for n in (1, 4)]
        assert documents == pytest.approx([0.0925, 0.151], abs=5e-4)
        assert salience(found["message-13"], 19) == pytest.approx(0.19, abs=5e-3)

    def test_sums(self):
        sums = by_turn(script("rate-limit-table"))
        assert sums[10] == 31_900
        assert sums[11] == 40_900
        assert sums[11] - 1_800 == 39_100
        assert sums[18] - 1_800 == 39_940
        assert 39_940 + 1_800 - 40_000 == 1_740

    def test_pins_copy_and_facts(self):
        story = script("rate-limit-table")
        found = arrivals(story)
        documents = {f"document-{n}" for n in (1, 2, 3, 4)}
        assert pins(story) == {"system", "task", "constraint", "dump", *documents}
        assert found["table"].copy
        assert not found["dump"].copy
        assert (found["constraint"].kind, found["constraint"].standing) == ("user", True)
        assert found["summary"].kind == "summary"
        assert [s.id for s in found.values() if s.facts] == ["table", "summary"]
        # besides the summary, what is unpinned frees 840
        loose = {s for s in found.values() if not s.pinned} - {found["table"], found["summary"]}
        assert total(loose) == 840 < 1_740

    def test_query_and_act(self):
        story = script("rate-limit-table")
        assert [(s.turn, s.key, s.relevance, s.touches) for s in of(story, Query)] == [
            (19, "limits", 0.72, ("table",))
        ]
        assert [(s.turn, s.requires) for s in of(story, Act)] == [(20, ("constraint",))]

    def test_flips_and_variants(self):
        assert by_turn(script("rate-limit-table/small-dump"))[11] == 37_900
        assert script("rate-limit-table/high-threshold").settings["rehydrate.threshold"] == 0.75
        loose = script("rate-limit-table/documents-unpinned")
        assert pins(loose) == {"system", "task", "constraint", "dump"}
        note = script("rate-limit-table/note")
        assert by_turn(note)[10] == 31_900
        added = arrivals(note)["note"]
        assert (added.kind, added.tokens, added.turn, added.pinned) == ("note", 1_900, 5, False)
        assert salience(added, 19) == pytest.approx(0.0308, abs=5e-5)
        assert salience(added, 12) > salience(arrivals(note)["table"], 12)
        shrunk = script("rate-limit-table/shrunk")
        assert [(s.turn, s.segment, s.tokens) for s in of(shrunk, WorldRefresh)] == [
            (15, "document-4", 3_700)
        ]
        assert 39_940 - (5_700 - 3_700) == 37_940
        assert 37_940 + 1_800 == 39_740 < 40_000


class TestThresholdDrift:
    def test_a_turn(self):
        story = script("threshold-drift")
        assert [s.id for s in story.stimuli if s.turn == 2] == ["read-2", "span", "message-2"]
        assert [s.id for s in story.stimuli if s.turn == 49][:2] == ["read-49", "message-49"]
        found = arrivals(story)
        assert len({found[f"read-{n}"].path for n in range(1, 50)}) == 49
        for n in range(1, 50):
            read, message = found[f"read-{n}"], found[f"message-{n}"]
            assert (read.kind, read.tokens, read.copy, read.pinned) == ("file", 12_000, True, False)
            assert (message.tokens, message.pinned) == (100, True)

    def test_the_span(self):
        span = arrivals(script("threshold-drift"))["span"]
        assert (span.tokens, span.surrogate_tokens, span.copy) == (4, 2, True)
        assert [(f.key, f.value, f.prior) for f in span.facts] == [("timeout", "4500", "3000")]
        # .85^9: below the rewrite threshold at turn 11, and not before
        assert salience(span, 11) == pytest.approx(0.232, abs=5e-4)
        assert salience(span, 10) > 0.25 > salience(span, 11)

    def test_demands_at_turn_49(self):
        found = arrivals(script("threshold-drift"))
        fixed = found["system"].tokens + found["task"].tokens
        assert fixed == 2_000
        messages = 49 * 100
        # the reads of turns 40 to 49 are still whole, 39 have become lines
        assert fixed + 10 * 12_000 + 39 * 12 + 2 + messages == 127_370
        assert fixed + 10 * 12_000 + 39 * (12 + 8) + (2 + 8) + messages == 127_690
        assert script("threshold-drift").settings["budget"] == 128_000

    def test_the_query_and_the_flips(self):
        story = script("threshold-drift")
        assert [(s.turn, s.key, s.relevance, s.touches) for s in of(story, Query)] == [
            (49, "timeout", 0.9, ("span",))
        ]
        assert not of(script("threshold-drift/unasked"), Query)
        assert script("threshold-drift/kept").settings["surrogate.keep"] == 1


class TestStaleFile:
    def test_sums(self):
        story = script("stale-file")
        assert by_turn(story)[0] == 16_500
        # refreshed in place: attempt 2 is the last
        assert 16_500 + total(s for s in story.attempts[1].ok) == 17_840
        # left stale: attempt 2 fails, attempt 3 goes well
        stale = 16_500 + total(story.attempts[1].failed) + total(story.attempts[2].ok)
        assert stale == 25_260

    def test_the_write_and_the_needs(self):
        story = script("stale-file")
        assert [(s.turn, s.path, s.tokens) for s in of(story, Write)] == [
            (1, "billing/invoice.py", None)
        ]
        assert [a.paths for a in story.attempts] == [(), *[("billing/invoice.py",)] * 2]
        assert [(s.kind, s.tokens) for s in story.attempts[1].failed][2:] == [
            ("tool_result", 120),
            ("file", 6_000),
        ]
        assert story.attempts[1].failed[3].path == "billing/invoice.py"
        assert [s.rank for s in arrivals(story).values() if s.rank] == [1, 2]

    def test_flips(self):
        assert [s.path for s in of(script("stale-file/writes-tax"), Write)] == ["billing/tax.py"]
        needs = [a.paths for a in script("stale-file/needs-tax").attempts]
        assert needs == [(), ("billing/tax.py",), ("billing/tax.py",)]


class TestThreeTools:
    @staticmethod
    def finished(story: Script, attempt: int) -> list[tuple[str | None, int]]:
        results = [s for s in arrivals(story).values() if s.attempt == attempt and s.tool]
        return [(s.tool, s.tokens) for s in sorted(results, key=lambda s: s.time)]

    def test_the_order_in_which_they_finish(self):
        story = script("three-tools")
        started = [s.tool for s in arrivals(story).values() if s.attempt == 1 and s.tool]
        assert started == ["typecheck", "lint", "tests"]
        assert self.finished(story, 1) == [("lint", 3_000), ("tests", 5_000), ("typecheck", 6_000)]
        assert self.finished(story, 2) == [("tests", 5_000), ("typecheck", 6_000), ("lint", 3_000)]
        assert all(s.time < 20 for s in arrivals(story).values())

    def test_sums(self):
        story = script("three-tools")
        assert by_turn(story)[:2] == [18_000, 33_500]
        assert by_turn(story, "ok")[2] == 35_040
        assert 33_500 - 6_000 + 12 == 27_512
        assert 27_512 + total(story.attempts[2].ok) == 29_052

    def test_the_cause(self):
        story = script("three-tools")
        assert [s.id for s in arrivals(story).values() if s.facts] == ["typecheck-2"]
        assert [a.facts for a in story.attempts] == [(), (), ("cause",)]
        assert [s.tokens for s in story.attempts[2].failed] == [500, 1_000, 6_000]

    def test_flips(self):
        alone = script("three-tools/typecheck-alone")
        assert self.finished(alone, 2) == [("typecheck", 6_000)]
        assert by_turn(alone)[1] == 25_500 > alone.settings["budget"] == 22_000
        assert script("three-tools/budget-36000").settings["budget"] == 36_000


class TestOnlyPinsLeft:
    def test_the_pins(self):
        story = script("only-pins-left")
        assert pins(story) == {"system", "task", "specification", "constraint"}
        found = arrivals(story)
        early = total(s for s in found.values() if s.pinned and s.turn < 6)
        assert (early, early + found["constraint"].tokens) == (18_000, 21_000)
        assert (found["constraint"].kind, found["constraint"].standing) == ("user", True)
        assert found["specification"].turn == 2
        assert [(s.turn, s.tokens, s.score) for n, s in found.items() if "message" in n] == [
            (turn, 300, 0.5) for turn in range(1, 8)
        ]
        # nothing is over before the constraint comes
        assert by_turn(story)[4] == 19_500

    def test_the_act_and_the_flips(self):
        story = script("only-pins-left")
        assert [(s.turn, s.requires) for s in of(story, Act)] == [(7, ("task",))]
        assert script("only-pins-left/budget-21000").settings["budget"] == 21_000
        smaller = arrivals(script("only-pins-left/constraint-2000"))
        assert total(s for s in smaller.values() if s.pinned) == 20_000


class TestGrowingSurrogate:
    def test_sums(self):
        story = script("growing-surrogate")
        found = arrivals(story)
        assert list(found) == ["other", "span", "document"]
        assert by_turn(story) == [5_200, 8_200, 8_200]
        span = found["span"]
        assert 8_200 - span.tokens + span.surrogate_tokens == 8_900 > story.settings["budget"]
        assert salience(span, 2) > 0.25 > salience(span, 3)
        assert salience(span, 3) == pytest.approx(0.217, abs=5e-4)

    def test_what_they_are(self):
        found = arrivals(script("growing-surrogate"))
        assert {s.kind for s in found.values()} == {"tool_result"}
        assert not any(s.copy for s in found.values())
        assert [n for n, s in found.items() if s.pinned] == ["other", "document"]
        assert [(s.score, s.turn) for s in found.values()] == [(0.9, 1), (0.3, 1), (0.9, 2)]

    def test_flips(self):
        span = arrivals(script("growing-surrogate/surrogate-50"))["span"]
        assert span.surrogate_tokens == 50
        assert script("growing-surrogate/budget-9000").settings["budget"] == 9_000


class TestCompressThenSpend:
    def test_sums(self):
        story = script("compress-then-spend")
        assert by_turn(story)[4] == 21_500
        assert 21_500 - 6_000 == 15_500
        assert (15_500 + 12, 15_500 + 12 + 8) == (15_512, 15_520)
        found = arrivals(story)
        assert salience(found["a"], 5) == pytest.approx(0.470, abs=5e-4)
        assert salience(found["b"], 5) == pytest.approx(0.491, abs=5e-4)
        assert (found["read"].kind, found["read"].copy) == ("file", False)

    def test_flips(self):
        assert arrivals(script("compress-then-spend/copied"))["read"].copy
        low = script("compress-then-spend/low-a")
        a = arrivals(low)["a"]
        assert low.settings["budget"] == 30_000
        assert salience(a, 4) > 0.25 > salience(a, 5)
        assert salience(a, 5) == pytest.approx(0.235, abs=5e-4)


class TestTheDoor:
    def test_sums_and_saliences(self):
        story = script("the-door")
        assert by_turn(story)[3:5] == [39_000, 48_000]
        found = arrivals(story)
        first = found["document-1"]
        values = [salience(first, turn) for turn in (5, 6, 8)]
        assert values == pytest.approx([0.470, 0.399, 0.289], abs=5e-4)
        result = found["result"]
        assert (result.tokens, result.turn, result.score, result.copy) == (9_000, 5, 0.2, True)

    def test_who_asks(self):
        story = script("the-door")
        asked = [(s.turn, s.relevance, s.touches) for s in of(story, Query)]
        assert asked == [(6, 0.45, ("result",)), (8, 0.9, ("result",))]
        assert [(s.turn, s.segment) for s in of(story, Operator)] == [(7, "result")]

    def test_flips(self):
        assert script("the-door/budget-50000").settings["budget"] == 50_000
        assert not of(script("the-door/no-operator"), Operator)
