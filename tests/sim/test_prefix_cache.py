"""Prefix caches against a second, naive implementation and cases by hand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.prefix_cache import PrefixCache, Prompt, Usage, make_cache
from sim.prices import MARKS, CacheRules

Segment = tuple[str, int, int, str]

AUTO = CacheRules("auto", minimum=1024, step=128, ttl=600.0)
MARKED = CacheRules("breakpoints", minimum=1024, ttl=300.0, lookback=20)
BLOCKS = CacheRules("blocks", step=16, capacity=12)


def edit(prompt: Prompt, old: list[Segment], new: list[Segment]) -> None:
    same = 0
    while same < min(len(old), len(new)) and old[same] == new[same]:
        same += 1
    prompt.truncate(same)
    for segment in new[same:]:
        prompt.append(*segment)


def prompt_of(cache: PrefixCache, *segments: tuple[str, int, str]) -> Prompt:
    prompt = cache.prompt()
    for key, tokens, kind in segments:
        prompt.append(key, 0, tokens, kind)
    return prompt


# The naive implementation: lists of whole requests, nothing shared, nothing dropped.


def shared_tokens(left: list[Segment], right: list[Segment]) -> int:
    total = 0
    for one, other in zip(left, right, strict=False):
        if one[:3] != other[:3]:
            break
        total += one[2]
    return total


class NaiveAuto:
    def __init__(self, rules: CacheRules) -> None:
        self.rules = rules
        self.stored: list[list[Any]] = []  # request, expiry

    def floored(self, tokens: int) -> int:
        whole = tokens // self.rules.step * self.rules.step
        return whole if whole >= self.rules.minimum else 0

    def hit(self, request: list[Segment], now: float) -> tuple[int, list[Any] | None]:
        best, found = 0, None
        for entry in self.stored:
            if entry[1] > now:
                read = self.floored(shared_tokens(entry[0], request))
                if read > best:
                    best, found = read, entry
        return best, found

    def lookup(self, request: list[Segment], now: float, marks: list[int] | None) -> int:
        return self.hit(request, now)[0]

    def kept(self, request: list[Segment], marks: list[int] | None) -> int:
        return self.floored(sum(segment[2] for segment in request))

    def call(self, request: list[Segment], now: float, marks: list[int] | None) -> Usage:
        read, found = self.hit(request, now)
        if found and self.rules.renews:
            found[1] = now + self.rules.ttl
        tokens = sum(segment[2] for segment in request)
        stored = self.floored(tokens)
        if stored:
            self.stored.append([request, now + self.rules.ttl])
        written = max(0, stored - read)
        return Usage(tokens, read, written, tokens - read - written)


class NaiveBreakpoints:
    def __init__(self, rules: CacheRules) -> None:
        self.rules = rules
        self.stored: list[list[Any]] = []  # prefix, life, expiry; the last renewed is the last

    def prefix(self, request: list[Segment], length: int) -> Any:
        return tuple(segment[:3] for segment in request[:length])

    def places(self, request: list[Segment], marks: list[int] | None) -> list[int]:
        if marks is not None:
            return sorted(marks)
        heads = [i + 1 for i, segment in enumerate(request) if segment[3] in ("tools", "system")]
        end = len(request) if self.rules.marks == "head-end" else 0
        return sorted(length for length in {*heads[-1:], end} if length)

    def reach(self, request: list[Segment], mark: int) -> list[int]:
        if self.rules.lookback is None:
            return list(range(mark + 1))
        ends = [0]  # where each position of the request up to the mark ends
        for i, segment in enumerate(request[:mark]):
            kind = segment[3]
            if i and kind == request[i - 1][3] and kind in ("tool_call", "tool_result"):
                ends[-1] = i + 1
            else:
                ends.append(i + 1)
        return ends[-1 - self.rules.lookback :]

    def hit(self, request: list[Segment], now: float, marks: list[int] | None) -> int:
        live = [entry[0] for entry in self.stored if entry[2] > now]
        if self.rules.matched is not None:
            live = live[-self.rules.matched :]
        reached = [end for mark in self.places(request, marks) for end in self.reach(request, mark)]
        return max([0, *(end for end in reached if self.prefix(request, end) in live)])

    def lookup(self, request: list[Segment], now: float, marks: list[int] | None) -> int:
        return sum(s[2] for s in request[: self.hit(request, now, marks)])

    def kept(self, request: list[Segment], marks: list[int] | None) -> int:
        sizes = [sum(s[2] for s in request[:mark]) for mark in self.places(request, marks)]
        return max([0, *(size for size in sizes if size >= self.rules.minimum)])

    def touch(self, prefix: Any, now: float, life: float) -> bool:
        """Renew the live entry of a prefix, or store one; return whether it was stored."""
        for entry in self.stored:
            if entry[0] == prefix and entry[2] > now:
                if self.rules.renews:
                    self.stored.remove(entry)
                    self.stored.append([prefix, entry[1], now + entry[1]])
                return False
        self.stored.append([prefix, life, now + life])
        return True

    def call(
        self, request: list[Segment], now: float, marks: list[int] | None, long: int = 0
    ) -> Usage:
        length = self.hit(request, now, marks)
        read = sum(segment[2] for segment in request[:length])
        if length:
            assert not self.touch(self.prefix(request, length), now, 0)
        places = self.places(request, marks)
        sizes = [sum(segment[2] for segment in request[:mark]) for mark in places]
        written = sizes[-1] - read if sizes and sizes[-1] >= self.rules.minimum else 0
        written_long = stored = 0
        for number, (mark, size) in enumerate(zip(places, sizes, strict=True)):
            if size < self.rules.minimum:
                continue
            life = self.rules.ttl
            if number < long:
                assert self.rules.long_ttl is not None
                life = self.rules.long_ttl
                if size > read:
                    written_long = size - read
            if self.touch(self.prefix(request, mark), now, life):
                stored += size
        tokens = sum(segment[2] for segment in request)
        return Usage(tokens, read, written, tokens - read - written, written_long, stored)


class NaiveBlocks:
    """Takes blocks one by one from a free queue and gives them back one by one, tail first."""

    def __init__(self, rules: CacheRules) -> None:
        self.step = rules.step
        self.capacity = rules.capacity or 0
        self.free: list[Any] = []

    def chain(self, request: list[Segment]) -> list[Any]:
        tokens = [(i, *s[:3], n) for i, s in enumerate(request) for n in range(s[2])]
        ends = range(self.step, len(tokens) + 1, self.step)
        return [tuple(tokens[:end]) for end in ends]

    def lookup(self, request: list[Segment], now: float, marks: list[int] | None) -> int:
        chain, present = self.chain(request), 0
        while present < len(chain) and chain[present] in self.free:
            present += 1
        tokens = sum(segment[2] for segment in request)
        return min(present, max(0, tokens - 1) // self.step) * self.step

    def call(self, request: list[Segment], now: float, marks: list[int] | None) -> Usage:
        read = self.lookup(request, now, marks)
        used = [block for block in self.chain(request) if block in self.free]
        self.free = [block for block in self.free if block not in used]
        for block in self.chain(request)[len(used) :]:
            if len(self.free) + len(used) == self.capacity:
                if not self.free:
                    break
                self.free.pop(0)
            used.append(block)
        self.free += reversed(used)
        tokens = sum(segment[2] for segment in request)
        return Usage(tokens, read, 0, tokens - read)


NAIVE = {"auto": NaiveAuto, "breakpoints": NaiveBreakpoints, "blocks": NaiveBlocks}
KINDS = ("system", "user", "tool_call", "tool_result")
SEGMENTS = st.tuples(
    st.sampled_from("ab"), st.just(0), st.sampled_from([1, 3, 8]), st.sampled_from(KINDS)
)
RULES = st.one_of(
    st.builds(
        CacheRules,
        st.just("auto"),
        st.integers(0, 12),
        st.integers(1, 6),
        st.sampled_from([3, 9]),
        renews=st.booleans(),
    ),
    st.builds(
        CacheRules,
        st.just("breakpoints"),
        st.integers(0, 12),
        ttl=st.sampled_from([3, 9]),
        lookback=st.none() | st.integers(0, 4),
        long_ttl=st.sampled_from([None, 9, 14]),
        renews=st.booleans(),
        matched=st.none() | st.integers(1, 4),
        marks=st.sampled_from(MARKS),
    ),
    st.builds(CacheRules, st.just("blocks"), step=st.integers(1, 5), capacity=st.integers(1, 30)),
)
EDITS = ("append", "append", "cut", "remove", "insert", "refresh", "return", "resend", "resend")


def changed(
    data: st.DataObject, old: list[Segment], removed: list[Segment], requests: list[list[Segment]]
) -> list[Segment]:
    what = data.draw(st.sampled_from(EDITS))
    if what == "resend" and requests:
        return data.draw(st.sampled_from(requests))
    at = data.draw(st.integers(0, len(old)))
    if what == "cut":
        return old[:at]
    if what == "return" and removed:
        return [*old[:at], data.draw(st.sampled_from(removed)), *old[at:]]
    if what == "insert":
        return [*old[:at], data.draw(SEGMENTS), *old[at:]]
    if what in ("remove", "refresh") and at < len(old):
        removed.append(old[at])
        key, version, tokens, kind = old[at]
        new = [(key, version + 1, tokens, kind)] if what == "refresh" else []
        return [*old[:at], *new, *old[at + 1 :]]
    return old + data.draw(st.lists(SEGMENTS, min_size=1, max_size=4))


@settings(max_examples=200, deadline=None)
@given(RULES, st.data())
def test_agrees_with_the_naive_implementation(rules: CacheRules, data: st.DataObject) -> None:
    cache, naive = make_cache(rules), NAIVE[rules.rule](rules)
    prompts = [cache.prompt() for _ in range(3)]
    windows: list[list[Segment]] = [[], [], []]
    removed: list[Segment] = []
    requests: list[list[Segment]] = []
    now = 0.0
    for _ in range(data.draw(st.integers(1, 25))):
        agent = data.draw(st.sampled_from([0, 0, 1, 2]))
        old = windows[agent]
        new = windows[agent] = changed(data, old, removed, requests)
        edit(prompts[agent], old, new)
        if data.draw(st.integers(0, 4)) == 0:
            continue
        now += data.draw(st.sampled_from([0, 1, 1, 2, 3, 9]))
        marks = None
        if new and data.draw(st.booleans()):
            marks = data.draw(st.lists(st.integers(1, len(new)), max_size=4))
        later = now + data.draw(st.integers(0, 4))
        assert cache.lookup(prompts[agent], later, marks) == naive.lookup(new, later, marks)
        assert cache.lookup(prompts[agent], now, marks) == naive.lookup(new, now, marks)
        if rules.rule != "blocks":
            assert cache.kept(prompts[agent], marks) == naive.kept(new, marks)
        if rules.long_ttl is None:
            assert cache.call(prompts[agent], now, marks) == naive.call(new, now, marks)
        else:
            most = len(naive.places(new, marks))
            assert cache.long_marks(prompts[agent], marks) == most
            long = data.draw(st.integers(0, most))
            usage = cache.call(prompts[agent], now, marks, long)
            assert usage == naive.call(new, now, marks, long)
        requests.append(new)


# Cases by hand. Those of longer lives, renewals and distance have a file of their own.


def test_the_kind_is_no_part_of_the_content() -> None:
    cache = make_cache(AUTO)
    cache.call(prompt_of(cache, ("a", 2048, "file")), 0.0)
    assert cache.lookup(prompt_of(cache, ("a", 2048, "user")), 1.0) == 2048


def test_entries_that_share_equally_many_steps_count_as_equally_long() -> None:
    cache = make_cache(AUTO)
    first = prompt_of(cache, ("a", 1280, "system"), ("x", 3000, "user"))
    cache.call(first, 0.0)
    cache.call(prompt_of(cache, ("a", 1280, "system"), ("b", 20, "user"), ("y", 3000, "user")), 1.0)
    # 1,300 shared with the second, 1,280 with the first: ten steps each, so the first is renewed.
    other = prompt_of(cache, ("a", 1280, "system"), ("b", 20, "user"), ("z", 3000, "user"))
    assert cache.call(other, 550.0).read == 1280
    assert cache.lookup(first, 650.0) == 4224


def test_a_short_entry_that_is_older_is_renewed_before_a_long_one() -> None:
    cache = make_cache(AUTO)
    cache.call(prompt_of(cache, ("a", 1280, "system")), 0.0)
    longer = prompt_of(cache, ("a", 1280, "system"), ("b", 1280, "user"))
    cache.call(longer, 1.0)
    other = prompt_of(cache, ("a", 1280, "system"), ("c", 1280, "user"))
    assert cache.call(other, 500.0).read == 1280
    assert cache.lookup(longer, 600.0) == 2560
    assert cache.lookup(longer, 601.0) == 1280


def test_an_entry_found_by_looking_back_is_renewed() -> None:
    cache = make_cache(MARKED)
    cache.call(prompt_of(cache, ("a", 2000, "user")), 0.0)
    cache.call(prompt_of(cache, ("a", 2000, "user"), ("b", 10, "user")), 299.0)
    other = prompt_of(cache, ("a", 2000, "user"), ("c", 10, "user"))
    assert cache.lookup(other, 598.0) == 2000
    assert cache.lookup(other, 599.0) == 0


def test_blocks_used_again_outlast_those_that_were_not() -> None:
    cache = make_cache(CacheRules("blocks", step=16, capacity=4))
    one, two, three = (prompt_of(cache, (key, 33, "user")) for key in "abc")
    for now, prompt in enumerate((one, two, one, three)):
        cache.call(prompt, float(now))
    assert [cache.lookup(prompt, 9.0) for prompt in (one, two, three)] == [32, 0, 32]


def test_removed_content_that_comes_back_in_order_is_found() -> None:
    cache = make_cache(AUTO)
    parts = [(f"part-{i}", 1280, "file") for i in range(4)]
    prompt = prompt_of(cache, *parts)
    cache.call(prompt, 0.0)
    prompt.truncate(1)
    assert cache.call(prompt, 1.0) == Usage(1280, 1280, 0, 0)
    for key, tokens, kind in parts[1:3]:
        prompt.append(key, 0, tokens, kind)
    assert cache.call(prompt, 2.0) == Usage(3840, 3840, 0, 0)


def test_agents_share_a_prefix() -> None:
    for rules, read in ((AUTO, 1408), (MARKED, 1500), (CacheRules("blocks", step=16), 1488)):
        cache = make_cache(rules)
        one = prompt_of(cache, ("system", 1500, "system"), ("one", 900, "user"))
        two = prompt_of(cache, ("system", 1500, "system"), ("two", 900, "user"))
        assert cache.call(one, 0.0).read == 0
        assert cache.call(two, 1.0).read == read


def test_breakpoints_of_ones_own() -> None:
    cache = make_cache(MARKED)
    prompt = prompt_of(cache, ("s", 1000, "system"), ("a", 500, "file"), ("b", 700, "file"))
    # The prefix of 1,000 is below the minimum, what lies behind the last breakpoint is plain.
    assert cache.call(prompt, 0.0, [1, 2]) == Usage(2200, 0, 1500, 700, stored=1500)
    assert cache.call(prompt, 1.0, [1]) == Usage(2200, 0, 0, 2200)
    assert cache.call(prompt, 2.0, []) == Usage(2200, 0, 0, 2200)
    assert cache.call(prompt, 3.0, [3, 3]) == Usage(2200, 1500, 700, 0, stored=2200)


def test_an_entry_inside_a_run_is_found_by_a_breakpoint_on_it() -> None:
    cache = make_cache(MARKED)
    calls = [(f"call-{i}", 100, "tool_call") for i in range(3)]
    cache.call(prompt_of(cache, ("u", 1500, "user"), *calls[:2]), 0.0, [3])
    grown = prompt_of(cache, ("u", 1500, "user"), *calls)
    assert cache.lookup(grown, 1.0) == 0
    assert cache.lookup(grown, 1.0, [3, 4]) == 1700


@pytest.mark.parametrize(
    "marks",
    [[1, 2, 3, 4, 5], [1, 1, 1, 1, 1], [0], [-1], [6], [True], [1.0], ["1"], [None], "1", 1],
)
def test_breakpoints_that_cannot_be(marks: list[int]) -> None:
    cache = make_cache(MARKED)
    prompt = prompt_of(cache, *((f"part-{i}", 2000, "user") for i in range(5)))
    for send in (cache.call, cache.lookup):
        with pytest.raises(ValueError, match="breakpoint"):
            send(prompt, 0.0, marks)
    for ask in (cache.kept, cache.long_marks):
        with pytest.raises(ValueError, match="breakpoint"):
            ask(prompt, marks)
    assert cache.lookup(prompt, 0.0) == 0


def test_a_request_over_capacity_leaves_room_for_nothing_else() -> None:
    cache = make_cache(BLOCKS)
    small, large = prompt_of(cache, ("s", 64, "user")), prompt_of(cache, ("l", 320, "user"))
    cache.call(small, 0.0)
    cache.call(large, 1.0)
    assert cache.lookup(large, 2.0) == 192
    assert cache.lookup(small, 2.0) == 0


def test_nothing_is_cached_under_none() -> None:
    cache = make_cache(CacheRules("none"))
    prompt = prompt_of(cache, ("a", 9000, "system"))
    for now in (0.0, 1.0):
        assert cache.call(prompt, now) == Usage(9000, 0, 0, 9000)
    assert cache.lookup(prompt, 2.0) == cache.kept(prompt) == 0


@pytest.mark.parametrize("rules", [AUTO, MARKED, BLOCKS])
def test_what_cannot_be(rules: CacheRules) -> None:
    cache = make_cache(rules)
    prompt = cache.prompt()
    assert cache.call(prompt, 5.0) == Usage(0, 0, 0, 0)
    with pytest.raises(ValueError, match=r"cannot follow one at 5\.0 s"):
        cache.call(prompt, 4.0)
    for now in (float("nan"), float("inf"), 10**400, True, "6", None, 6j):
        for send in (cache.call, cache.lookup):
            with pytest.raises(ValueError, match="finite number of seconds"):
                send(prompt, now)
    with pytest.raises(ValueError, match="another cache"):
        make_cache(rules).call(prompt, 6.0)
    with pytest.raises(ValueError, match="-1 tokens"):
        prompt.append("a", 0, -1, "user")
    with pytest.raises(ValueError, match="cannot cut 0 segments to 1"):
        prompt.truncate(1)


LONG = CacheRules("breakpoints", minimum=1024, ttl=300.0, long_ttl=3600.0)


@pytest.mark.parametrize("rules", [AUTO, MARKED, LONG, BLOCKS])
def test_memory_stays_bounded(rules: CacheRules) -> None:
    cache = make_cache(rules)
    prompt = prompt_of(cache, ("system", 2000, "system"))
    for turn in range(3000):
        prompt.truncate(min(len(prompt), turn % 40))
        prompt.append(f"turn-{turn}", 0, 50, "user")
        cache.call(prompt, 20.0 * turn)
        passing = prompt_of(cache, (f"agent-{turn}", 1500, "user"), ("end", 7, "user"))
        cache.call(passing, 20.0 * turn, long=int(rules is LONG and not turn % 10))
        passing.close()
        assert len(cache.tree) < 1000
    prompt.close()
    cache.call(prompt, 1e9)
    assert len(cache.tree) <= (0 if rules is not BLOCKS else 12)


class Counted(list[Any]):
    """A list that counts what is taken from it."""

    taken = 0

    def __getitem__(self, place: Any) -> Any:
        found = super().__getitem__(place)
        self.taken += len(found) if isinstance(place, slice) else 1
        return found

    def __iter__(self) -> Iterator[Any]:
        self.taken += len(self)
        return super().__iter__()


@pytest.mark.parametrize(
    "rules",
    [
        AUTO,
        MARKED,
        CacheRules("breakpoints", ttl=300.0, lookback=None),
        CacheRules("breakpoints", ttl=300.0, lookback=10**6),
        CacheRules("breakpoints", ttl=300.0, lookback=20, matched=80),
        CacheRules("blocks", step=16, capacity=10**7),
    ],
)
def test_a_call_does_not_scan_the_prompt(rules: CacheRules) -> None:
    cache = make_cache(rules)
    prompt = prompt_of(cache, *((f"{i}", 40, "user") for i in range(50_000)))
    cache.call(prompt, 0.0)
    prompt.path = Counted(prompt.path)
    for turn in range(40):
        prompt.append(f"turn-{turn}", 0, 40, "user")
        prompt.path.taken = 0
        cache.lookup(prompt, 20.0 * turn)
        cache.call(prompt, 20.0 * turn)
        # At most 15 live entries, at most 17 halvings of the prompt for each, twice.
        assert prompt.path.taken < 2 * 16 * 20
