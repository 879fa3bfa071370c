"""`evictbench list prices` and `list speeds`: what they show of the book."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable

import pytest

from bench.cli import main
from bench.prices import read_book
from bench.tables.prices import price_tables, speed_tables

Run = Callable[..., str]


@pytest.fixture
def shown(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    def run(*arguments: str, columns: int = 80) -> str:
        monkeypatch.setenv("COLUMNS", str(columns))
        with pytest.raises(SystemExit) as ended:
            main(["list", *arguments])
        out, err = capsys.readouterr()
        assert (ended.value.code, err) == (0, "")
        return out

    return run


def headers(text: str) -> str:
    return " ".join(line for line in text.splitlines() if line.startswith("price "))


def cells(text: str, name: str) -> list[str]:
    (line,) = [line for line in text.splitlines() if line.split()[:1] == [name]]
    return line.split()


@pytest.mark.parametrize("what", ["prices", "speeds"])
@pytest.mark.parametrize("columns", [80, 100, 160])
def test_no_row_is_broken(shown: Run, what: str, columns: int) -> None:
    out = shown(what, columns=columns)
    assert max(map(len, out.splitlines())) <= columns
    book = read_book()
    names = book.prices if what == "prices" else book.speeds
    for name in names:
        (line,) = [x for x in out.splitlines() if x.startswith((f"{name} ", f"{name}* "))][:1]
        assert any(c.isdigit() for c in line.removeprefix(name))


def test_a_row_of_each_sort(shown: Run) -> None:
    out = shown("prices", columns=74)  # with room for the columns that matter most, and no more
    # input, write, read, output, R, minimum, life, cliff
    sonnet = ["2", "2.5", "0.2", "10", "11.5", "1,024", "5m+1h", "–"]
    assert cells(out, "claude-sonnet-5")[1:] == sonnet
    hour = ["10", "20", "0.25", "50", "79", "512", "1h", "–"]
    assert cells(out, "claude-fable-5.1-1h")[1:] == hour
    assert cells(out, "gpt-5.5")[1:] == ["5", "5", "0.5", "30", "9", "1,024", "10m*", ">272k"]
    assert cells(out, "gpt-6.1-sol")[1:] == ["2", "2.5", "0.1", "10", "24", "1,024", "30m", ">272k"]
    assert cells(out, "grok-4.7")[1:] == ["2", "2", "0.5", "6", "3", "128*", "10m*", "≥200k"]
    glm = ["1.4", "1.4*", "0.26", "4.4", "4.38*", "1,024*", "10m*", "–"]
    assert cells(out, "glm-5.3*")[1:] == glm
    assert cells(out, "deepseek-v4-pro")[-3:] == ["64*", "2h*", "–"]
    assert cells(out, "vllm")[1:] == ["0*", "0*", "0*", "0*", "–*", "16", "65,536*", "lru", "1*"]
    assert cells(out, "llama.cpp")[-3:] == ["no", "end*", "–"]


def test_a_wide_terminal_shows_more(shown: Run) -> None:
    narrow, wide = shown("prices", columns=74), shown("prices", columns=150)
    for header in ("look-back", "renewed", "above it", "long write", "storage", "edits"):
        assert f" {header} " in f"{headers(wide)} "
        assert f" {header} " not in f"{headers(narrow)} "
    assert "4.5*" in cells(wide, "gemini-3.1-pro-explicit")
    assert cells(wide, "claude-opus-5.5")[-2:] == ["may", "refuse"]
    assert "×2/×1.5" in cells(wide, "gpt-5.5")


def test_each_rule_says_what_it_is(shown: Run) -> None:
    out = shown("prices", "--format", "md")
    for rule in ("auto", "blocks", "breakpoints", "none"):
        assert f"### {rule}: " in out
    assert "| claude-sonnet-5 | 2 | 2.5 | 0.2 | 10 | 11.5 | 1,024 | 5m+1h |" in out
    assert "assumed, no source gives it" in out


def test_json_has_every_field_and_its_origin(shown: Run) -> None:
    rows = {row["name"]: row for row in json.loads(shown("prices", "--format", "json"))["prices"]}
    gpt = rows["gpt-5.5"]
    assert (gpt["R"], gpt["write"], gpt["ttl"], gpt["speed"]) == (9, 5, 600, "calibration A3")
    assert (gpt["assumed"], gpt["book"]) == (["speed", "ttl"], "prices.toml")
    assert gpt["sources"]["ttl"] == {"assumed": True, "row": "gpt-5.5"}
    minimum = gpt["sources"]["minimum"]
    assert minimum["source"].startswith("openai-cookbook")
    assert minimum["date"] == "2026-12-02"
    offpeak = rows["deepseek-v4-pro-offpeak"]["sources"]
    assert (offpeak["input"]["row"], offpeak["ttl"]["row"]) == (
        "deepseek-v4-pro-offpeak",
        "deepseek-v4-pro",
    )
    for row in rows.values():
        assert sorted(f for f, o in row["sources"].items() if o.get("assumed")) == row["assumed"]
    assert rows["vllm"]["R"] is None


def test_csv_is_flat(shown: Run) -> None:
    rows = list(csv.DictReader(io.StringIO(shown("prices", "--format", "csv"))))
    assert [row["name"] for row in rows] == list(read_book().prices)
    assert "sources" not in rows[0]
    (glm,) = [row for row in rows if row["name"] == "glm-5.3"]
    assert glm["assumed"] == "minimum renews rule speed step ttl write"
    assert None not in glm


# 1,000 tokens are 0.11 s at 9,091 a second, and a hit leaves up to 4,767 of them uncached.
def test_speeds(shown: Run) -> None:
    out = shown("speeds", columns=70)
    times = ["0.61", "0.61", "1.60", "1.10", "11.50", "2.40", "74"]
    assert cells(out, "calibration")[2:] == times
    assert cells(out, "lmsys")[-1] == "74*"
    rows = json.loads(shown("speeds", "--format", "json"))["speeds"]
    assert rows[0]["first_token_100000"] == pytest.approx(11.5)
    assert rows[0]["first_token_100000_hit"] == pytest.approx(2.4, abs=0.01)
    assert rows[0]["sources"]["decode_rate"]["source"].startswith("TraceLab")
    assert rows[0]["assumed"] == []
    first = next(csv.DictReader(io.StringIO(shown("speeds", "--format", "csv"))))
    assert (first["name"], first["first_token_10000"]) == ("calibration A3", "1.6")


def test_tables_have_as_many_cells_as_columns() -> None:
    book = read_book()
    for width in (20, 80, 100, None):
        for table in [*price_tables(book, width), *speed_tables(book, width)]:
            assert all(len(line.cells) == len(table.columns) for line in table.rows)
