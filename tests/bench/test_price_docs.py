"""What docs/prices.md shows: its book, its commands, its tables of fields."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from bench.cli import main
from bench.price_fields import ORIGIN_FIELDS, READ_BY, ROW_FIELDS, RULE_NEEDS, SPEED_FIELDS
from bench.prices import read_book

PAGE = (Path(__file__).parents[2] / "docs" / "prices.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^(?:\$|   ) evictbench (.+)$", PAGE, re.M)
BOOKS = re.findall(r"```toml\n(.*?)```", PAGE, re.S)


@pytest.fixture(autouse=True)
def _beside_the_book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my-prices.toml").write_text(BOOKS[0], encoding="utf-8")
    monkeypatch.chdir(tmp_path)


def test_the_page_shows_commands_and_a_book() -> None:
    assert len(COMMANDS) == 7
    assert len(BOOKS) == 1


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_works(command: str) -> None:
    arguments = shlex.split(command)
    if arguments[0] == "compare":
        arguments += ["--seeds", "1", "--jobs", "1", "--set", "turns=20", "-p", "no-op"]
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 0


def test_the_book_means_what_the_page_says() -> None:
    book = read_book("my-prices.toml")
    rows, without = book.prices, read_book().prices
    assert book.unsourced == ()
    sonnet, gateway, server = rows["claude-sonnet-5"], rows["gateway"], rows["our-server"]
    assert (sonnet.price.input, sonnet.price.write, sonnet.price.read) == (1.6, 2.0, 0.2)
    assert (gateway.price.read, gateway.price.rules.ttl) == (0.6, 300)
    assert gateway.price.assumed == ("speed", "ttl")
    assert gateway.origins["read"].source == "our gateway's price list"
    assert gateway.origins["input"] == without["gpt-5.5"].origins["input"]
    assert gateway.origins["input"].row == "gpt-5.5"
    assert (server.price.rules.capacity, server.price.speed.decode_rate) == (20_000, 45)


def fields_of(heading: str) -> set[str]:
    section = PAGE.split(f"## {heading}")[1].split("\n## ")[0].split("\n| rule |")[0]
    first = re.findall(r"^\| (`[^|]*) \|", section, re.M)
    return {name for cell in first for name in re.findall(r"`(\w+)`", cell)}


def test_every_field_is_in_a_table() -> None:
    assert fields_of("Fields of [prices.NAME]") == ROW_FIELDS | ORIGIN_FIELDS
    assert fields_of("Fields of [speeds.NAME] and [sources.NAME]") == SPEED_FIELDS


def test_which_rule_reads_which() -> None:
    rows = re.findall(r"^\| `(\w+)` \| [^|]* \|([^|]*)\|([^|]*)\|$", PAGE, re.M)
    found = {rule: (needs.split(), more.split()) for rule, needs, more in rows if rule in READ_BY}
    for rule, (needs, more) in found.items():
        assert {name.strip("`") for name in needs} == set(RULE_NEEDS[rule])
        assert {name.strip("`") for name in needs + more} == set(READ_BY[rule])
    assert found.keys() == READ_BY.keys()
