"""A user's own price book, laid over the one that comes with evictbench."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from math import inf
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.cells import price_of
from bench.cli import main
from bench.price_fields import OVERRIDES, READ_BY, ROW_FIELDS, BadField, check_value
from bench.prices import get_price, load_book, read_book
from sim.errors import InputError

Write = Callable[[str], Path]
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def put(text: str) -> Path:
        file = tmp_path / "mine.toml"
        file.write_text(text, encoding="utf-8")
        return file

    return put


@pytest.fixture
def evictbench(capsys: pytest.CaptureFixture[str]) -> Run:
    def run(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return int(ended.value.code or 0), out, err

    return run


SOURCE = 'source = "contract 7"\ndate = "2026-11-30"\n'


def test_a_known_name_replaces_only_what_is_given(write: Write) -> None:
    file = write(f'[prices."claude-sonnet-5"]\ninput = 1.5\nwrite = 1.9\n{SOURCE}')
    price, before = load_book(file)["claude-sonnet-5"], get_price("claude-sonnet-5")
    assert (price.input, price.write) == (1.5, 1.9)
    source = f"contract 7; {before.source}"
    assert replace(price, input=2.0, write=2.5, source=before.source) == before
    assert set(price.source.split("; ")) == set(source.split("; "))
    others = {name: row for name, row in load_book(file).items() if name != "claude-sonnet-5"}
    assert others == {n: row for n, row in load_book().items() if n != "claude-sonnet-5"}


def test_what_is_replaced_is_from_the_user(write: Write) -> None:
    file = write(f'[prices."gpt-5.5"]\nttl = 300\nread = 0.4\n{SOURCE}')
    row = read_book(file).prices["gpt-5.5"]
    assert row.price.assumed == ("speed",)  # ttl was assumed, and no longer is
    assert (row.origins["ttl"].source, row.origins["ttl"].date) == ("contract 7", "2026-11-30")
    assert row.origins["minimum"] == read_book().prices["gpt-5.5"].origins["minimum"]
    assert (row.file, read_book(file).unsourced) == (file, ())


def test_a_row_without_origin_is_assumed_and_noted(write: Write) -> None:
    file = write(
        '[prices."gpt-5.5"]\nread = 0.4\n\n[prices."gpt-4.1"]\nread = 0.4\nassumed = ["read"]\n'
    )
    book = read_book(file)
    assert book.prices["gpt-5.5"].price.assumed == ("read", "speed", "ttl")
    assert book.prices["gpt-4.1"].price.assumed == ("read", "speed", "ttl")
    assert book.unsourced == ("gpt-5.5",)


def test_like_another_row(write: Write) -> None:
    file = write(
        f'[prices.gateway]\nlike = "claude-sonnet-5"\nread = 0.3\n{SOURCE}'
        '[prices.cheap]\nlike = "gateway"\ninput = 1.0\nassumed = ["input"]\n'
    )
    book = read_book(file).prices
    sonnet, gateway, cheap = book["claude-sonnet-5"], book["gateway"], book["cheap"]
    assert gateway.price.rules == sonnet.price.rules
    assert (gateway.price.read, gateway.price.input) == (0.3, 2.0)
    assert (cheap.price.read, cheap.price.input) == (0.3, 1.0)
    assert cheap.price.assumed == ("input", "speed")
    assert cheap.origins["read"].row == "gateway"
    assert cheap.origins["output"].row == "claude-sonnet-5"
    assert cheap.price.name == "cheap"


def test_a_known_name_may_be_like_another(write: Write) -> None:
    file = write(f'[prices."gpt-4.1"]\nlike = "gpt-5.5"\ninput = 4.0\n{SOURCE}')
    price = load_book(file)["gpt-4.1"]
    assert (price.input, price.output, price.cliff_tokens) == (4.0, 30.0, 272_000)


def test_words_for_no_limit(write: Write) -> None:
    file = write(
        '[prices."claude-sonnet-5"]\nlookback = "unlimited"\nmatched = 3\nlong_ttl = "none"\n'
        f'long_write = "none"\nttl = "unlimited"\n{SOURCE}'
        f'[prices."gpt-5.5"]\ncliff_tokens = "none"\n{SOURCE}'
        f'[prices.vllm]\nslots = "unlimited"\ncapacity = "unlimited"\n{SOURCE}'
    )
    book = load_book(file)
    rules = book["claude-sonnet-5"].rules
    assert (rules.lookback, rules.matched, rules.long_ttl, rules.ttl) == (None, 3, None, inf)
    assert book["claude-sonnet-5"].long_write is None
    assert not book["gpt-5.5"].over_cliff(10**9)
    assert (book["vllm"].slots, book["vllm"].rules.capacity) == (None, None)


def test_a_date_without_quotation_marks(write: Write) -> None:
    file = write("[prices.'gpt-5.5']\nread = 0.4\nsource = 'me'\ndate = 2026-11-30\n")
    assert read_book(file).prices["gpt-5.5"].origins["read"].date == "2026-11-30"
    file = write("[prices.'gpt-5.5']\nread = 0.4\nsource = 'me'\ndate = 2026-11-30T10:00:00\n")
    with pytest.raises(InputError, match="date must be a text"):
        load_book(file)


def test_a_long_chain_is_a_fault_and_no_crash(write: Write) -> None:
    rows = (f"[prices.r{n}]\nlike = 'r{n + 1}'\n" for n in range(3_000))
    with pytest.raises(InputError, match="more than 100 rows are like each other"):
        load_book(write("".join(rows) + "[prices.r3000]\nlike = 'gpt-5.5'\n"))


def test_speeds_of_ones_own(write: Write) -> None:
    file = write(
        f'[speeds."calibration A3"]\noverhead = 0.7\n{SOURCE}'
        f'[speeds.box]\nlike = "lmsys h100 node"\ndecode_rate = 30\n{SOURCE}'
        f'[prices.vllm]\nspeed = "box"\n{SOURCE}'
    )
    book = load_book(file)
    assert book["gpt-5.5"].speed.overhead == 0.7  # every row that has this speed
    assert (book["vllm"].speed.decode_rate, book["vllm"].speed.prefill_rate) == (30, 50_300)
    assert "speed" not in book["vllm"].assumed
    assert read_book(file).speeds["box"].origins["decode_rate"].source == "contract 7"
    assert load_book()["gpt-5.5"].speed.overhead == 0.5


def test_sources_by_name(write: Write) -> None:
    file = write(
        '[sources.page]\nname = "our wiki"\ndate = "2026-10-01"\ngives = ["read"]\n'
        '[prices."gpt-5.5"]\nread = 0.4\nwrite = 6.0\nsources = ["page", "litellm"]\n'
    )
    row = read_book(file).prices["gpt-5.5"]
    assert row.origins["read"].source == "our wiki"
    assert row.origins["write"].source.startswith("litellm")


# -- Faults ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ('[prices.a]\nlike = "claude-sonet-5"\n', 2, "did you mean 'claude-sonnet-5'"),
        ('[prices.a]\nlike = "a"\n', 2, "like goes in a circle: a, a"),
        ('[prices.a]\nlike = ["b"]\n', 2, "like must be a text"),
        ("[prices.a]\ninput = 1\n", 1, "output, read, rule, write missing"),
        ('[prices."gpt-5.5"]\nread = 1\nsource = "me"\n', 1, "date missing"),
        ('[prices."gpt-5.5"]\nread = 1\ndate = "2026-12-02"\n', 1, "source missing"),
        ('[prices."gpt-5.5"]\nread = 1\nsources = ["litelm"]\n', 3, "did you mean 'litellm'"),
        ('[prices."gpt-5.5"]\nassumed = ["long_ttl"]\n', 2, "the row has no 'long_ttl'"),
        ('[prices."gpt-5.5"]\nassumed = "read"\n', 2, "assumed must be a list of names"),
        ('[prices.vllm]\nevict = "lfuu"\n', 2, "unknown evict 'lfuu'; did you mean 'lfu'?"),
        ('[prices."gpt-5.5"]\nrule = "blocks"\n', 1, "capacity missing for the rule 'blocks'"),
        ('[prices."gpt-5.5"]\nlookback = "all"\n', 2, 'a whole number or "unlimited"'),
        ('[prices."gpt-5.5"]\nmarks = "tail"\n', 2, "unknown marks 'tail'"),
        ('[prices."gpt-5.5"]\nrenews = 1\n', 2, "renews must be true or false"),
        ('[prices."gpt-5.5"]\nlong_ttl = 900\n', 1, "long_write and long_ttl go together"),
        ('[prices."gpt-5.5"]\nspeed = "calibration A4"\n', 2, "did you mean 'calibration A3'"),
        ("[speeds.fast]\noverhead = 1\n", 1, "cached_rate, decode_rate, prefill_rate missing"),
        ("[sources.a]\nname = 'x'\n[prices.'gpt-5.5']\nread = 1\n", 1, "date, gives missing"),
        ("prices = 3\n", 1, r"'prices' must hold tables, \[prices.NAME\]"),
        ("[prices]\na = 3\n", 1, "'prices' must hold tables"),
        ("[price.a]\nread = 1\n", 1, "unknown table 'price'; did you mean 'prices'"),
        ("[prices.a\n", 1, "not valid TOML"),
        ("# nothing\n", None, "it holds neither prices nor speeds"),
    ],
)
def test_one_fault(write: Write, text: str, line: int | None, says: str) -> None:
    file = write(text)
    with pytest.raises(InputError, match=says) as caught:
        load_book(file)
    error = caught.value
    assert "\n" not in str(error)
    assert (error.file, error.line) == (str(file), line)


def test_all_faults_at_once(write: Write) -> None:
    file = write(
        '[prices."gpt-5.5"]\nraed = 1\nwrite = -1\n[prices.a]\nlike = "b"\n'
        '[prices.b]\nlike = "a"\n[speeds.x]\nspeed = 3\n'
    )
    with pytest.raises(InputError) as caught:
        load_book(file)
    lines = str(caught.value).splitlines()
    assert all(line.startswith(f"{file}:") for line in lines)
    said = str(caught.value)
    assert f"{file}:2: prices 'gpt-5.5': unknown field 'raed'; did you mean 'read'?" in said
    assert f"{file}:3: prices 'gpt-5.5': write cannot be negative, but is -1" in said
    assert "like goes in a circle: a, b, a" in said
    assert "speeds 'x': unknown field 'speed'" in said


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=4,
    )
)
def test_no_value_is_taken_in_silence_or_breaks(value: object) -> None:
    for field in sorted(OVERRIDES | {"assumed", "date", "like", "speed"}):
        try:
            check_value(field, value)
        except BadField as error:
            assert field in str(error) or "unknown" in str(error)


@given(
    st.text(alphabet=st.sampled_from('[]"=.,#\n prices speeds read input 0123456789'), max_size=60)
)
def test_texts_that_are_no_book(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    file = tmp_path_factory.getbasetemp() / "fuzz.toml"
    file.write_text(text, encoding="utf-8")
    os.utime(file, ns=(hash(text) % 10**15, hash(text) % 10**15))
    try:
        load_book(file)
    except InputError as error:
        assert str(file) in str(error)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "latin.toml").write_bytes(b"# \xe9\n")
    (tmp_path / "deep.toml").write_text("a = " + "[" * 5_000)
    for name in ("none.toml", "latin.toml", "deep.toml", ".", "nul\0.toml", "~nobody/x.toml"):
        with pytest.raises(InputError):
            load_book(tmp_path / name if name[0] != "~" else name)


# -- Where it is used ------------------------------------------------------------------------


def test_settings_name_the_book(write: Write) -> None:
    file = write(f"[prices.mine]\nlike = 'gpt-5.5'\nread = 0.25\n{SOURCE}")
    settings = {"price": "mine", "prices": str(file), "cache.ttl": 60.0, "cache.long": 0}
    price = price_of(settings)
    assert (price.read, price.rules.ttl) == (0.25, 60)
    with pytest.raises(InputError, match="unknown price 'mine'"):
        price_of({"price": "mine"})


def test_a_book_that_changes_is_read_again(write: Write) -> None:
    text = f"[prices.mine]\nlike = 'gpt-5.5'\nread = 0.25\n{SOURCE}"
    settings = {"price": "mine", "prices": str(write(text))}
    assert price_of(settings).read == 0.25
    write(text.replace("0.25", "0.125"))
    assert price_of(settings).read == 0.125


def test_a_setting_may_unset_nothing_but_override_all() -> None:
    price = get_price("gpt-6.1-sol", {"renews": False, "matched": 4, "marks": "head"})
    assert (price.rules.renews, price.rules.matched, price.rules.marks) == (False, 4, "head")
    assert get_price("vllm").rules.evict == "lru"
    assert price_of({"price": "vllm", "cache.evict": "length-aware"}).rules.evict == "length-aware"
    settings = {"price": "gpt-6.1-sol", "cache.renews": False, "cache.lookback": 5}
    assert (price_of(settings).rules.renews, price_of(settings).rules.lookback) == (False, 5)


def test_run_takes_a_book_from_its_settings(write: Write, evictbench: Run) -> None:
    file = write(
        f"[prices.'claude-sonnet-5']\ninput = 0\nwrite = 0\nread = 0\noutput = 0\n{SOURCE}"
    )
    run = ("run", "rate-limit-table", "-p", "slack-swap-refuse", "--format", "json")
    code, out, _ = evictbench(*run, "--set", f"prices={file}")
    assert (code, json.loads(out)["metrics"]["total_cost_usd"]) == (0, 0)
    assert json.loads(evictbench(*run)[1])["metrics"]["total_cost_usd"] > 0
    code, out, err = evictbench(*run, "--set", f"prices={file}x")
    assert (code, out) == (2, "")
    assert f"{file}x: cannot read it" in err


def test_list_shows_it(write: Write, evictbench: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write("[prices.mine]\nlike = 'gpt-5.5'\nread = 0.25\n")
    code, out, err = evictbench("list", "prices", "--prices", file)
    assert code == 0
    assert "mine" in out
    assert err == (
        f"evictbench: {file} gives no source for all of mine: what has none counts as assumed\n"
    )
    monkeypatch.setenv("EVICTBENCH_PRICES", str(file))
    code, out, err = evictbench("list", "prices", "--format", "json")
    (mine,) = [row for row in json.loads(out)["prices"] if row["name"] == "mine"]
    assert (code, mine["read"], mine["book"]) == (0, 0.25, "mine.toml")
    assert mine["sources"]["read"] == {"assumed": True, "row": "mine"}
    assert "EVICTBENCH_PRICES" in err
    other = write("[prices.other]\nlike = 'gpt-5.5'\n").rename(file.with_name("other.toml"))
    code, out, err = evictbench("list", "prices", "--prices", other, "--format", "csv")
    assert "\nother," in out
    assert "\nmine," not in out
    assert "EVICTBENCH_PRICES" not in err


def test_the_option_goes_with_prices_only(
    write: Write, evictbench: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write("[prices.mine]\nlike = 'gpt-5.5'\n")
    code, out, err = evictbench("list", "policies", "--prices", file)
    assert (code, out) == (2, "")
    assert "--prices goes with prices and speeds, not policies" in err
    monkeypatch.setenv("EVICTBENCH_PRICES", str(file))
    assert evictbench("list", "policies")[0] == 0


def test_list_with_a_broken_book(write: Write, evictbench: Run) -> None:
    file = write("[prices.'gpt-5.5']\nraed = 1\nwrite = -1\n")
    code, out, err = evictbench("list", "prices", "--prices", file)
    assert (code, out) == (2, "")
    assert err.splitlines() == [
        f"evictbench: {file}:2: prices 'gpt-5.5': unknown field 'raed'; did you mean 'read'?",
        f"evictbench: {file}:3: prices 'gpt-5.5': write cannot be negative, but is -1",
    ]


def test_fields_that_a_rule_reads_are_fields() -> None:
    assert all(set(names) <= ROW_FIELDS for names in READ_BY.values())


@pytest.mark.parametrize("value", ["1" + 400 * "0", "-1" + 400 * "0", "-1e400", "-nan"])
def test_no_number_is_too_large_to_be_refused(write: Write, value: str) -> None:
    for field in ("input", "minimum", "ttl"):
        with pytest.raises(InputError, match=f"{field} must be a .* number") as error:
            read_book(write(f'[prices.mine]\nlike = "gpt-5.5"\n{field} = {value}\n'))
        assert error.value.line == 3


def test_a_speed_is_fast_enough_for_seconds_to_be_a_number(write: Write) -> None:
    slow = '[speeds.slow]\nlike = "calibration A3"\nprefill_rate = {}\n'
    assert read_book(write(slow.format("1e-6"))).speeds["slow"].speed.prefill_rate == 1e-6
    for rate in ("9.9e-7", "5e-324"):
        with pytest.raises(InputError, match=r"prefill_rate must be at least 0\.000001"):
            read_book(write(slow.format(rate)))


@pytest.mark.parametrize("name", ['""', '"  "', r'"two\nlines"', r'"\u001b[31mred"'])
@pytest.mark.parametrize("kind", ["prices", "speeds"])
def test_a_row_has_a_name_that_can_be_typed(write: Write, kind: str, name: str) -> None:
    like = {"prices": "gpt-5.5", "speeds": "calibration A3"}[kind]
    with pytest.raises(InputError, match=f"a name in '{kind}' must be a line of printable text"):
        read_book(write(f'[{kind}.{name}]\nlike = "{like}"\n'))


def test_one_price_is_one_price(evictbench: Run) -> None:
    words = ("run", "three-tools", "-p", "tiered", "--price", "gpt-5.5", "--price")
    code, out, err = evictbench(*words, "gpt-4.1")
    assert (code, out) == (2, "") and "--price" in err and "it takes one name here" in err
    assert evictbench(*words, "gpt-5.5")[0] == 0


def test_the_book_of_a_scenario_file_stands_beside_it(
    tmp_path: Path, evictbench: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    beside, elsewhere = tmp_path / "beside", tmp_path / "elsewhere"
    for folder, read in ((beside, 0.25), (elsewhere, 0.75)):
        folder.mkdir()
        book = f'[prices.ours]\nlike = "gpt-5.5"\nread = {read}\n{SOURCE}'
        (folder / "ours.toml").write_text(book, encoding="utf-8")
    (beside / "mine.toml").write_text(
        'settings = { turns = 1, budget = 9_000, price = "ours", prices = "ours.toml" }\n'
        '[[segment]]\nturn = 1\nid = "task"\nkind = "task"\ntokens = 2_000\n',
        encoding="utf-8",
    )
    monkeypatch.chdir(elsewhere)
    words = ("break-even", "../beside/mine.toml", "-p", "no-op", "--format", "json")
    # (5 − 0.25) / 0.25, and (5 − 0.75) / 0.75 from the command line's own folder.
    for more, ratio in (((), 19.0), (("--set", "prices=ours.toml"), 17 / 3)):
        code, out, _ = evictbench(*words, *more)
        assert code == 0
        assert json.loads(out)["summary"][0]["ratio"] == pytest.approx(ratio, abs=1e-6)


@pytest.mark.parametrize("name", ["doc-analysis", "coding-agent", "support-agent", "trace"])
def test_a_book_of_ones_own_holds_in_families_and_pinned_scenarios(name, tmp_path):
    from bench.api import compare

    book = tmp_path / "mine.toml"
    book.write_text(
        "[prices.claude-sonnet-5]\ninput = 4.0\nwrite = 5.0\nread = 0.4\noutput = 20.0\n"
        'source = "ours"\ndate = "2026-12-01"\n'
    )
    once, twice = (
        compare(
            [name],
            ["no-op"],
            seeds=1,
            settings={"turns": 8} if name != "trace" else {},
            price="claude-sonnet-5",
            prices=prices,
        ).rows[0]["total_cost_usd"]
        for prices in (None, book)
    )
    assert twice == pytest.approx(2 * once, rel=1e-12)
