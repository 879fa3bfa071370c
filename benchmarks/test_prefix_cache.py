"""Time of a call that finds its hit, by the size of the window: it may grow with the logarithm."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from sim.prefix_cache import PrefixCache, Prompt, make_cache
from sim.prices import CacheRules

SIZES = (100, 1_000, 10_000, 100_000)
"""Resident segments."""
TOKENS = 32
"""Of each segment: two blocks."""
STEP = 16
LIFE = 300.0
TAIL = 50
"""Segments at the end in the middle of which the second edit cuts."""
AGENT = 200
"""Segments of each other agent on the server."""
CALLS = 200
GOAL = 5.0
RULES = {
    "auto": CacheRules("auto", minimum=1024, step=128, ttl=LIFE),
    "breakpoints": CacheRules("breakpoints", minimum=1024, ttl=LIFE, long_ttl=3600.0),
    "breakpoints, any distance": CacheRules(
        "breakpoints", minimum=1024, ttl=LIFE, lookback=None, matched=80
    ),
    "blocks": CacheRules("blocks", step=STEP),
}

Key = tuple[str, str, int]
"""Rule, edit, live entries (under `blocks`: agents on the server)."""


class Agent:
    """A window that is edited a little and sent, again and again."""

    def __init__(self, cache: PrefixCache, size: int, wait: float) -> None:
        self.cache, self.wait = cache, wait
        self.now, self.made = 0.0, 0
        self.marks: list[int] | None = None
        self.prompt = cache.prompt()
        self.keys: list[str] = []
        fill(self.prompt, "tools", 1, "tools")
        self.keys.append("tools 0")
        for _ in range(size - 1):
            self.append()
        self.send()

    def append(self) -> None:
        """Add a segment that was never there."""
        self.made += 1
        self.put(f"own {self.made}")

    def put(self, key: str) -> None:
        self.keys.append(key)
        self.prompt.append(key, 0, TOKENS, "user")

    def cut(self) -> None:
        """Take out the segment in the middle of the tail; what lies behind it moves up.

        A breakpoint before it keeps what lies in front: without one the whole would be lost.
        """
        place = len(self.keys) - TAIL // 2
        self.marks = [1, place, len(self.keys)]
        moved = self.keys[place + 1 :]
        del self.keys[place:]
        self.prompt.truncate(place)
        for key in moved:
            self.put(key)
        self.append()

    def send(self) -> int:
        """Send the window and return how many of its tokens were read."""
        self.now += self.wait
        return self.cache.call(self.prompt, self.now, self.marks).read


def fill(prompt: Prompt, name: str, count: int, kind: str) -> None:
    """Append so many segments of the same name and kind."""
    for number in range(count):
        prompt.append(f"{name} {number}", 0, TOKENS, kind)


def served(rules: CacheRules, size: int, agents: int) -> Agent:
    """Return an agent on a server that is full of the blocks of other agents, if there are any."""
    others = (agents - 1) * AGENT * TOKENS // STEP
    if others:
        own = size * TOKENS // STEP
        rules = CacheRules("blocks", step=STEP, capacity=own + others)
    cache = make_cache(rules)
    for number in range(agents - 1):
        prompt = cache.prompt()
        fill(prompt, f"agent {number}", AGENT, "user")
        cache.call(prompt, 0.0)
    return Agent(cache, size, 1.0)


@pytest.fixture(scope="module")
def table(request: pytest.FixtureRequest) -> Iterator[dict[Key, dict[int, float]]]:
    """Collect the median seconds by size, and print them with the ratio of the ends."""
    medians: dict[Key, dict[int, float]] = {}
    yield medians
    lines = [f"{'microseconds, at segments':44}" + "".join(f"{size:>10,}" for size in SIZES)]
    for (rule, edit, entries), row in medians.items():
        cells = "".join(f"{1e6 * row[size]:>10.1f}" if size in row else " " * 10 for size in SIZES)
        ratio = row[SIZES[-1]] / row[SIZES[0]] if row.keys() >= {SIZES[0], SIZES[-1]} else 0.0
        verdict = f"   ratio {ratio:4.1f}" + (f"  over {GOAL:g}" if ratio > GOAL else "")
        lines.append(f"{rule}, {edit}, {entries}".ljust(44) + cells + verdict)
    capture = request.config.pluginmanager.getplugin("capturemanager")
    if medians and capture:
        with capture.global_and_fixture_disabled():
            print("\n\nThe end of the label: live entries, under blocks agents.", *lines, sep="\n")


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("entries", [1, 50])
@pytest.mark.parametrize("edit", ["append", "cut"])
@pytest.mark.parametrize("rule", RULES)
def test_call(benchmark, table, rule: str, edit: str, entries: int, size: int) -> None:
    rules = RULES[rule]
    if rule == "blocks":
        agent = served(rules, size, entries)
        stored = TOKENS // STEP * (1 if edit == "append" else TAIL // 2)
    else:
        agent = Agent(make_cache(rules), size, 0.98 * LIFE / entries)
        stored = 1
    change: Callable[[], None] = agent.append if edit == "append" else agent.cut

    def turn() -> int:
        change()
        return agent.send()

    benchmark.group = f"{rule}, {edit}, {entries}"
    read = benchmark.pedantic(turn, rounds=CALLS, warmup_rounds=60)
    assert read >= (size - TAIL) * TOKENS
    if benchmark.stats is not None:
        table.setdefault((rule, edit, entries), {})[size] = benchmark.stats["median"] / stored
