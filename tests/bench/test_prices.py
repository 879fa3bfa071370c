"""The price book, and what one cut costs at its prices."""

from __future__ import annotations

import tomllib
from math import inf, nan
from pathlib import Path

import pytest

from bench.price_files import BookFile
from bench.price_reader import read_layer
from bench.prices import BOOK, get_price, load_book, read_book
from sim.errors import InputError
from sim.prefix_cache import Usage, make_cache
from sim.prices import Price

# input, write, read, output; rule, minimum, ttl. From calibration A2 and A1; the minima of Gemini
# and the rules and lives of DeepSeek, Grok and Kimi from the pages that the book names.
PUBLISHED = {
    "claude-fable-5.1": (10, 12.5, 0.25, 50, "breakpoints", 512, 300),
    "claude-opus-5.5": (4, 5, 0.20, 20, "breakpoints", 512, 300),
    "claude-sonnet-5": (2, 2.5, 0.20, 10, "breakpoints", 1024, 300),
    "claude-haiku-4.5": (1, 1.25, 0.10, 5, "breakpoints", 4096, 300),
    "gpt-5.5": (5, 5, 0.50, 30, "auto", 1024, 600),
    "gpt-5.6-sol": (4, 5, 0.40, 20, "breakpoints", 1024, 1800),
    "gpt-6.1-sol": (2, 2.5, 0.10, 10, "breakpoints", 1024, 1800),
    "gpt-4.1": (2, 2, 0.50, 8, "auto", 1024, 600),
    "gemini-3.1-pro": (2, 2, 0.20, 12, "auto", 4096, 600),
    "gemini-4-argon": (2, 2, 0.10, 10, "auto", 4096, 600),
    "deepseek-v4-pro": (1.32, 1.32, 0.044, 3.96, "breakpoints", 64, 7200),
    "deepseek-v4-flash": (0.30, 0.30, 0.006, 1.20, "breakpoints", 64, 7200),
    "grok-4.7": (2, 2, 0.50, 6, "auto", 128, 600),
    "glm-5.3": (1.4, 1.4, 0.26, 4.4, "auto", 1024, 600),
    "kimi-k3": (3, 3, 0.30, 15, "auto", 256, 300),
}

# (write − read) ÷ read, as published beside the prices
RATIOS = {
    "claude-fable-5.1": 49,
    "claude-opus-5.5": 24,
    "claude-sonnet-5": 11.5,
    "claude-haiku-4.5": 11.5,
    "gpt-5.5": 9,
    "gpt-5.6-sol": 11.5,
    "gpt-6.1-sol": 24,
    "gpt-4.1": 3,
    "gemini-3.1-pro": 9,
    "gemini-4-argon": 19,
    "deepseek-v4-pro": 29,
    "deepseek-v4-flash": 49,
    "grok-4.7": 3,
    "glm-5.3": 4.4,
    "kimi-k3": 9,
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_rows(name: str) -> None:
    price = load_book()[name]
    rules = price.rules
    row = (price.input, price.write, price.read, price.output, rules.rule, rules.minimum, rules.ttl)
    assert row == PUBLISHED[name]
    assert (price.write - price.read) / price.read == pytest.approx(RATIOS[name], abs=0.05)


def test_every_row_says_where_it_is_from() -> None:
    for name, price in load_book().items():
        assert price.name == name
        assert price.source
        assert price.date == "2026-12-02"
        assert list(price.assumed) == sorted(set(price.assumed))
        assert "speed" in price.assumed


def test_other_entries() -> None:
    vllm, uncached = get_price("vllm"), get_price("uncached")
    assert (vllm.rules.rule, vllm.rules.step, vllm.rules.capacity) == ("blocks", 16, 65_536)
    assert (vllm.input, vllm.write, vllm.read, vllm.output) == (0, 0, 0, 0)
    assert (uncached.rules.rule, uncached.input, uncached.output) == ("none", 2.0, 10.0)


@pytest.mark.parametrize("model", ["fable-5.1", "opus-5.5", "sonnet-5", "haiku-4.5"])
def test_an_hour_costs_twice_the_input_to_write(model: str) -> None:
    price = get_price(f"claude-{model}-1h")
    assert price.write == 2 * price.input
    assert price.rules.ttl == 3600
    short = get_price(f"claude-{model}")
    assert short.write == 1.25 * short.input
    assert (price.read, price.output) == (short.read, short.output)
    assert price.rules.minimum == short.rules.minimum


@pytest.mark.parametrize(
    ("name", "limit", "times_in", "times_out"),
    [
        ("gpt-5.5", 272_000, 2, 1.5),
        ("gpt-5.6-sol", 272_000, 2, 1.5),
        ("gpt-6.1-sol", 272_000, 2, 1.5),
        ("gemini-3.1-pro", 200_000, 2, 1.5),
        ("grok-4.7", 199_999, 2, 2),
    ],
)
def test_cliffs(name: str, limit: int, times_in: float, times_out: float) -> None:
    price = get_price(name)
    at, over = Usage(limit, 0, 0, limit), Usage(limit + 1, 0, 0, limit + 1)
    assert price.input_cost(at) == pytest.approx(limit * price.input / 1e6)
    assert price.input_cost(over) == pytest.approx((limit + 1) * price.input * times_in / 1e6)
    assert price.output_cost(100, limit) == pytest.approx(100 * price.output / 1e6)
    assert price.output_cost(100, limit + 1) == pytest.approx(100 * price.output * times_out / 1e6)


def test_the_rest_has_no_cliff() -> None:
    with_cliff = {name for name, price in load_book().items() if price.cliff_tokens is not None}
    gemini = {"gemini-3.1-pro", "gemini-3.1-pro-explicit"}
    assert with_cliff == {"gpt-5.5", "gpt-5.6-sol", "gpt-6.1-sol", "grok-4.7"} | gemini


# 1 h: 19, 39 and 79 are published for the three prices; write is twice the input price.
@pytest.mark.parametrize(
    ("name", "ratio"),
    [("claude-sonnet-5-1h", 19), ("claude-opus-5.5-1h", 39), ("claude-fable-5.1-1h", 79)],
)
def test_ratios_of_an_hour(name: str, ratio: float) -> None:
    assert get_price(name).ratio == pytest.approx(ratio)


@pytest.mark.parametrize("model", ["fable-5.1", "opus-5.5", "sonnet-5", "haiku-4.5"])
def test_both_lives_side_by_side(model: str) -> None:
    price, hour = get_price(f"claude-{model}"), get_price(f"claude-{model}-1h")
    assert (price.rules.ttl, price.rules.long_ttl) == (300, 3600)
    assert price.long_write == hour.write
    assert (hour.long_write, hour.rules.long_ttl) == (None, None)
    assert price.no_edit is hour.no_edit is (model in ("fable-5.1", "opus-5.5"))


def test_rules_of_other_providers() -> None:
    openai = get_price("gpt-6.1-sol").rules
    assert (openai.lookback, openai.matched, openai.marks) == (None, 80, "head-end")
    named, implicit = get_price("gemini-3.1-pro-explicit"), get_price("gemini-3.1-pro")
    rules = named.rules
    assert (rules.marks, rules.renews, rules.ttl, named.storage) == ("head", False, 3600, 4.5)
    assert "storage" in named.assumed
    assert (named.input, named.read, named.cliff_tokens) == (2, 0.2, implicit.cliff_tokens)
    assert implicit.storage == 0
    grok = get_price("grok-4.7")
    assert grok.over_cliff(200_000)
    assert not get_price("gemini-3.1-pro").over_cliff(200_000)
    sglang, llama = get_price("sglang"), get_price("llama.cpp")
    assert (sglang.rules.rule, sglang.rules.step, sglang.ratio) == ("blocks", 1, None)
    assert (llama.rules.rule, llama.rules.step, llama.rules.ttl) == ("auto", 1, inf)


@pytest.mark.parametrize("name", ["deepseek-v4-pro", "deepseek-v4-flash"])
def test_off_peak_costs_half(name: str) -> None:
    peak, off = get_price(name), get_price(f"{name}-offpeak")
    for field in ("input", "write", "read", "output"):
        assert getattr(off, field) == pytest.approx(getattr(peak, field) / 2)
    assert off.rules == peak.rules


def test_the_latency_preset_meets_its_published_pairs() -> None:
    speed = get_price("claude-sonnet-5").speed
    assert speed.prefill_seconds(100_000, 0) == pytest.approx(11.5, abs=1e-9)
    assert speed.prefill_seconds(10_000, 0) == pytest.approx(1.6, abs=1e-9)
    slope = speed.prefill_seconds(0, 100_000) - speed.prefill_seconds(0, 10_000)
    assert slope == pytest.approx(2.4 - 1.1, abs=1e-9)
    assert speed.decode_seconds(74) == 1.0


# 4,767 × 9.9/90,000 + (n − 4,767) × 1.3/90,000 + 0.5: 2.39996 s at 100,000 and 1.09996 at 10,000
@pytest.mark.parametrize(
    ("tokens", "hit", "seconds"),
    [
        (100_000, False, 11.5),
        (100_000, True, 2.4),
        (10_000, False, 1.6),
        (10_000, True, 1.1),
    ],
)
def test_time_to_first_token(tokens: int, hit: bool, seconds: float) -> None:
    speed = read_book().speeds["calibration A3"].speed
    assert speed.first_token_seconds(tokens, hit) == pytest.approx(seconds, abs=0.01)
    assert (round(speed.prefill_rate), round(speed.cached_rate)) == (9_091, 69_231)


def test_other_speeds() -> None:
    speeds = {name: row.speed for name, row in read_book().speeds.items()}
    # 73,700 × (1 − 0.563) = 32,206.9; 1.5 s at 12,000 and 2.9 s at 185,000 tokens
    assert speeds["deepseek h800 node"].prefill_rate == pytest.approx(73_700 * 0.437, abs=1)
    codex = speeds["codex trace"]
    assert codex.first_token_seconds(12_000, True) == pytest.approx(1.5, abs=0.001)
    assert codex.first_token_seconds(185_000, True) == pytest.approx(2.9, abs=0.001)
    assert speeds["lmsys h100 node"].prefill_rate == 50_300


# Where each field of the book that comes with evictbench is from.

SOURCES = BOOK.with_name("price_sources.toml")
RAW = {
    **tomllib.loads(BOOK.read_text(encoding="utf-8")),
    **tomllib.loads(SOURCES.read_text(encoding="utf-8")),
}
OF_ITSELF = {"assumed", "like", "note", "sources"}


@pytest.mark.parametrize("kind", ["prices", "speeds"])
def test_every_field_has_a_source_or_is_assumed(kind: str) -> None:
    for name, row in RAW[kind].items():
        gives = {field for s in row.get("sources", ()) for field in RAW["sources"][s]["gives"]}
        without = row.keys() - OF_ITSELF - gives - set(row.get("assumed", ()))
        assert not without, f"{kind} {name}: {without}"


def test_origins_are_complete() -> None:
    book = read_book()
    for row in [*book.prices.values(), *book.speeds.values()]:
        for origin in row.origins.values():
            assert origin.assumed or origin.date == "2026-12-02"
    for name, row in book.prices.items():
        rules = row.price.rules
        read = {"auto": "minimum step ttl renews", "breakpoints": "minimum ttl renews lookback"}
        needed = {"input", "write", "read", "output", "rule", "speed"}
        assert needed | set(read.get(rules.rule, "").split()) <= row.origins.keys(), name
        assert set(row.price.assumed) == {f for f, o in row.origins.items() if o.assumed}


def test_a_field_without_origin_makes_the_book_unreadable(tmp_path: Path) -> None:
    text = BOOK.read_text(encoding="utf-8")
    for old, new, says in [
        ('assumed = ["speed", "ttl"]', 'assumed = ["ttl"]', "speed is given by no source"),
        ("lookback = 20\n", "lookback = 20\nstorage = 1.0\n", "storage is given by no source"),
        ("renews = true\n", "", "renews missing"),
        ('sources = ["litellm", "anthropic-caching"]', "", "write is given by no source"),
        ('sources = ["sglang"]', 'source = "me"\ndate = "2026-12-02"', "source says too little"),
    ]:
        assert old in text
        file = tmp_path / "prices.toml"
        file.write_text(text.replace(old, new, 1), encoding="utf-8")
        with pytest.raises(InputError, match=says) as caught:
            read_layer(BookFile(file), read_layer(BookFile(SOURCES)), strict=True)
        assert caught.value.line or "\n" in str(caught.value)


# One cut: 38,000 tokens stay in front, 32,000 go, 57,000 lie behind, 600 are new.
FRONT = [("system", 4_000, "system"), ("task", 1_000, "task"), ("ranks-1-4", 33_000, "file")]
RANKS = [("rank-5", 8_800), ("rank-6", 8_000), ("rank-7", 7_700), ("rank-8", 7_500)]
GOING = [(name, tokens, "file") for name, tokens in RANKS]
BEHIND = [("attempt-1", 33_000, "tool_result"), ("attempt-2", 24_000, "tool_result")]
NEW = [("new", 600, "assistant")]


def usages(price: Price, *, default: bool = False, wait: float = 20.0) -> tuple[Usage, Usage]:
    """The call after the cut, and the same call after a request that already lacked it."""
    results = []
    for going in (GOING, []):
        cache = make_cache(price.rules)
        prompt = cache.prompt()
        for name, tokens, kind in [*FRONT, *going, *BEHIND]:
            prompt.append(name, 0, tokens, kind)
        cache.call(prompt, 0.0, None if default else [len(FRONT), len(prompt)])
        prompt.truncate(len(FRONT))
        for name, tokens, kind in BEHIND + NEW:
            prompt.append(name, 0, tokens, kind)
        results.append(cache.call(prompt, wait, None if default else [len(FRONT), len(prompt)]))
    return results[0], results[1]


def ratio(price: Price, *, default: bool = False, wait: float = 20.0) -> float:
    cut, lacking = usages(price, default=default, wait=wait)
    return price.input_cost(cut) / price.input_cost(lacking)


def extra_seconds(price: Price, *, default: bool = False) -> float:
    cut, lacking = usages(price, default=default)
    seconds = [
        price.speed.prefill_seconds(usage.tokens - usage.read, usage.read)
        for usage in (cut, lacking)
    ]
    return seconds[0] - seconds[1]


@pytest.mark.parametrize(
    ("name", "by_breakpoint", "by_prefix"),
    [
        ("claude-sonnet-5", 7.395, 7.405),
        ("gpt-5.5", 6.079, 6.076),
        ("claude-opus-5.5", 13.436, 13.454),
    ],
)
def test_what_one_cut_costs(name: str, by_breakpoint: float, by_prefix: float) -> None:
    marked = get_price(name, {"rule": "breakpoints"})
    assert ratio(marked) == pytest.approx(by_breakpoint, abs=5e-4)
    automatic = get_price(name, {"rule": "auto", "step": 128})
    assert ratio(automatic) == pytest.approx(by_prefix, abs=5e-4)


def test_with_default_breakpoints_only_the_system_is_found() -> None:
    price = get_price("claude-sonnet-5")
    assert usages(price, default=True)[0].read == 4_000
    assert ratio(price, default=True) == pytest.approx(11.210, abs=5e-4)
    assert extra_seconds(price, default=True) == pytest.approx(8.696, abs=5e-4)


def test_seconds_that_one_cut_costs() -> None:
    price = get_price("claude-sonnet-5")
    assert extra_seconds(price) == pytest.approx(5.447, abs=5e-4)
    half = get_price("claude-sonnet-5", {"prefill_rate": price.speed.prefill_rate / 2})
    assert extra_seconds(half) == pytest.approx(11.717, abs=5e-4)


def test_a_cold_cache_makes_a_cut_free() -> None:
    assert ratio(get_price("claude-sonnet-5"), wait=400.0) == 1.0


def test_equal_prices_make_a_cut_free() -> None:
    equal = get_price("claude-sonnet-5", {"read": 2.0, "write": 2.0})
    assert ratio(equal) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize(
    ("going", "behind"),
    [("rank-5", 80_200), ("rank-6", 72_200), ("rank-7", 64_500), ("rank-8", 57_000)],
)
def test_the_newest_file_costs_least_to_cut(going: str, behind: int) -> None:
    cache = make_cache(get_price("gpt-5.5", {"step": 1}).rules)
    prompt = cache.prompt()
    request = [*FRONT, *GOING, *BEHIND]
    for name, tokens, kind in request:
        prompt.append(name, 0, tokens, kind)
    cache.call(prompt, 0.0)
    place = [name for name, _, _ in request].index(going)
    prompt.truncate(place)
    for name, tokens, kind in request[place + 1 :]:
        prompt.append(name, 0, tokens, kind)
    usage = cache.call(prompt, 1.0)
    assert usage.tokens - usage.read == behind


# Names, overrides and files that cannot be used.


def test_an_unknown_name_gets_the_nearest() -> None:
    with pytest.raises(InputError, match=r"claude-sonet-5.*did you mean 'claude-sonnet-5'"):
        get_price("claude-sonet-5")


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"inptu": 1.0}, "unknown field 'inptu'; did you mean 'input'"),
        ({"source": "me"}, "unknown field 'source'"),
        ({"input": -1.0}, "input cannot be negative"),
        ({"input": nan}, "input must be a finite number"),
        ({"input": "2"}, "input must be a finite number"),
        ({"step": 1.5}, "step must be a whole number"),
        ({"step": 0}, "step must be at least 1"),
        ({"rule": "blockz"}, "did you mean 'blocks'"),
        ({"cliff_inclusive": 1}, "cliff_inclusive must be true or false"),
        ({"prefill_rate": 0}, "prefill_rate must be above 0"),
    ],
)
def test_bad_overrides(overrides: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        get_price("gpt-5.5", overrides)


def test_overrides_reach_price_rules_and_speed() -> None:
    price = get_price("gpt-5.5", {"read": 1, "ttl": 60, "overhead": 0.25})
    assert (price.read, price.rules.ttl, price.speed.overhead) == (1.0, 60.0, 0.25)
    assert get_price("gpt-5.5").read == 0.5


SPEED_TABLE = """[speeds.fast]
prefill_rate = 1.0
cached_rate = 1.0
overhead = 0.0
decode_rate = 1.0
source = "me"
date = "2026-12-02"
assumed = []
"""
PRICE_TABLE = """[prices."my.model"]
input = 1.0
write = 1.0
read = 0.1
output = 2.0
rule = "auto"
minimum = 0
step = 1
ttl = 10
speed = "fast"
source = "me"
date = "2026-12-02"
assumed = ["ttl"]
"""


def test_a_book_of_ones_own(tmp_path: Path) -> None:
    file = tmp_path / "prices.toml"
    file.write_text(SPEED_TABLE + PRICE_TABLE)
    price = load_book(file)["my.model"]
    assert (price.read, price.rules.ttl, price.assumed) == (0.1, 10.0, ("renews", "ttl"))
    assert load_book(file).keys() == load_book().keys() | {"my.model"}


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("read = 0.1", "read = -0.1", 12, "read cannot be negative"),
        ("read = 0.1", "read = nan", 12, "read must be a finite number"),
        ("read = 0.1", "raed = 0.1", 12, "unknown field 'raed'; did you mean 'read'"),
        ("read = 0.1", "read = true", 12, "read must be a finite number"),
        ("read = 0.1\n", "", 9, "read missing"),
        ("minimum = 0\n", "", 9, "minimum missing for the rule 'auto'"),
        ("ttl = 10", "ttl = 0", 17, "ttl must be above 0"),
        ('"auto"', '"atuo"', 14, "did you mean 'auto'"),
        ('speed = "fast"', 'speed = "fats"', 18, "did you mean 'fast'"),
        ('["ttl"]', '["tll"]', 21, "did you mean 'ttl'"),
        ("prefill_rate = 1.0", "prefill_rate = 0.0", 2, "prefill_rate must be above 0"),
        ("decode_rate = 1.0\n", "", 1, "decode_rate missing"),
        ('date = "2026-12-02"', 'date = "today"', 7, "date must be like 2026-12-02"),
        ('[prices."my.model"]', '[price."my.model"]', 9, "did you mean 'prices'"),
        ("input = 1.0", "input = ", 10, "not valid TOML"),
    ],
)
def test_bad_books(tmp_path: Path, old: str, new: str, line: int, message: str) -> None:
    text = SPEED_TABLE + PRICE_TABLE
    assert old in text
    file = tmp_path / "prices.toml"
    file.write_text(text.replace(old, new, 1))
    with pytest.raises(InputError, match=message) as caught:
        load_book(file)
    assert (caught.value.file, caught.value.line) == (str(file), line)
    assert "\n" not in str(caught.value)


def test_a_book_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot read it"):
        load_book(tmp_path / "none.toml")
    (tmp_path / "empty.toml").write_text("")
    with pytest.raises(InputError, match="holds neither prices nor speeds"):
        load_book(tmp_path / "empty.toml")


def test_the_book_is_in_its_place() -> None:
    assert BOOK.is_file()
