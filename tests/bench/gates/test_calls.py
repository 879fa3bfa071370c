"""Reading a table of recorded calls."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bench.gates.calls import HOUR, MINUTES_5, Call, missed, read_calls, tier
from sim.errors import InputError

HEADER = "session,call,ts,model,input_tokens,cache_creation,cache_creation_1h,cache_read,gap_s"
GOOD = f"""{HEADER}
a,0,1000,m,10,90,90,900,
a,2,1010.5,m,0,100,0,1000,9.5
b,0,5,m,1,0,0,0,77
"""


def table(folder: Path, text: str | bytes) -> Path:
    file = folder / "calls.csv"
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return file


def test_a_table_is_read_session_by_session(tmp_path: Path) -> None:
    first, second = read_calls(table(tmp_path, GOOD))
    assert first.name == "a"
    assert first.calls == (Call(1000, 900, None, 1000.0), Call(1100, 1000, 9.5, 1010.5))
    assert first.life == MINUTES_5
    assert second.calls == (Call(1, 0, None, 5.0),)


def test_columns_may_stand_in_any_order_with_a_mark_before_them(tmp_path: Path) -> None:
    names = HEADER.split(",")
    rows = [line.split(",") for line in GOOD.splitlines()]
    turned = "\r\n".join(",".join(reversed(row)) for row in rows)
    assert names[0] == "session"
    straight = read_calls(table(tmp_path, GOOD))
    assert read_calls(table(tmp_path, b"\xef\xbb\xbf" + turned.encode())) == straight


@pytest.mark.parametrize(
    ("written", "long", "life"),
    [(0, 0, MINUTES_5), (100, 50, MINUTES_5), (100, 51, HOUR), (100, 100, HOUR)],
)
def test_the_life_is_what_most_was_written_for(written: int, long: int, life: float) -> None:
    assert tier(written, long) == life


def test_a_miss_is_less_than_a_fifth() -> None:
    assert missed(199, 1000)
    assert not missed(200, 1000)
    assert Call(1000, 0, None, 0.0).missed


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", 1, "the column 'session' is missing"),
        (GOOD.replace("cache_read", "cache_reads"), 1, "'cache_read' is missing; it has"),
        (GOOD.replace("model", "ts"), 1, "the column 'ts' stands there twice"),
        (f"{HEADER}\n", None, "there is no call in it"),
        (f"{HEADER}\na,0,1\n", 2, "only 3 values in the row"),
        (GOOD.replace("a,0,1000", "a,x,1000"), 2, "call must be a whole number"),
        (GOOD.replace(",900,", ",-900,"), 2, "cache_read must be a whole number"),
        (GOOD.replace(",900,", ",9_00,"), 2, "cache_read must be a whole number"),
        (GOOD.replace(",900,", ",٩٠٠,"), 2, "cache_read must be a whole number"),
        (GOOD.replace(",900,", f",{'9' * 5000},"), 2, "cache_read must be a whole number"),
        (GOOD.replace(",900,", ",900.0,"), 2, "cache_read must be a whole number"),
        (GOOD.replace("90,90,", "90,91,"), 2, "cache_creation_1h, 91, is more than"),
        (GOOD.replace(",1000,9.5", ",1000,-1"), 3, "gap_s must be a number of seconds"),
        (GOOD.replace(",1000,9.5", ",1000,nan"), 3, "gap_s must be a number of seconds"),
        (GOOD.replace(",1000,9.5", ",1000,inf"), 3, "gap_s must be a number of seconds"),
        (GOOD.replace(",1000,9.5", ",1000,soon"), 3, "gap_s must be a number of seconds"),
        (GOOD.replace(",1000,9.5", ",1000,"), 3, "gap_s is empty"),
        (GOOD.replace("a,2,", "a,0,"), 3, "call 0 cannot follow call 0"),
        (GOOD.replace("m,1,0,", "m,0,0,"), 4, "the prompt of a call cannot be empty"),
        (GOOD + "a,9,1,m,1,0,0,0,1\n", 5, "the calls of session 'a' do not stand together"),
        (GOOD.encode("utf-16"), None, "not UTF-8 text"),
        (b"\x89PNG\r\n\x1a\n\x00", None, "not UTF-8 text"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence_with_its_line(
    tmp_path: Path, text: str | bytes, line: int | None, words: str
) -> None:
    file = table(tmp_path, text)
    with pytest.raises(InputError) as raised:
        read_calls(file)
    message = str(raised.value)
    assert words in message
    assert message.startswith(str(file) if line is None else f"{file}:{line}: ")
    assert "\n" not in message
    assert len(message) < len(str(file)) + 200


def test_a_file_that_cannot_be_opened_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot read it"):
        read_calls(tmp_path / "absent.csv")
    with pytest.raises(InputError, match="cannot read it"):
        read_calls(tmp_path)


CELL = st.one_of(st.integers(-2, 10**20).map(str), st.text(max_size=4), st.sampled_from(["", '"']))


@settings(
    max_examples=200,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(rows=st.lists(st.lists(CELL, max_size=10), max_size=5), raw=st.binary(max_size=60))
def test_any_text_is_read_or_refused(tmp_path: Path, rows: list[list[str]], raw: bytes) -> None:
    text = "\n".join([HEADER, *(",".join(row) for row in rows)])
    for content in (text.encode("utf-8", "surrogatepass"), raw, HEADER.encode() + b"\n" + raw):
        try:
            threads = read_calls(table(tmp_path, content))
        except InputError:
            continue
        assert all(call.read <= call.tokens for thread in threads for call in thread.calls)
