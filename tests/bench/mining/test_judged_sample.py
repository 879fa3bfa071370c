"""The judged sample: its table, its precision, and that it is the one that is drawn."""

import re
from pathlib import Path

import pytest

from bench.mining import Judged, Pair, draw, pairs_in, precision, read_table, table
from bench.mining.__main__ import lines, main
from bench.mining.pairs import threads_in
from sim.errors import InputError
from tests.scenarios.transcripts.made import Lines, use

ROOT = Path(__file__).resolve().parents[3]
DATA = ROOT.parent / "shared" / "data" / "transcripts"
SAMPLE = ROOT / "docs" / "mining_sample.tsv"
HEAD = "file\tmention\tsource\tkind\thash\tlabel\n"
SEED = 4


def rows(*labels, kind="code"):
    return [Judged("f", n, 1, kind, f"{n:016x}", label) for n, label in enumerate(labels)]


def test_the_page_shows_what_the_table_says():
    page = (ROOT / "docs" / "mining.md").read_text(encoding="utf-8")
    shown = list(lines(precision(read_table(SAMPLE))))
    assert "\n".join(shown) in page
    assert f"--seed {SEED} --pairs 100" in page
    right = sum(row.label == "right" for row in read_table(SAMPLE))
    assert re.search(rf"\n{right} are, with a 95 % interval", page)


def test_the_table_holds_a_hundred_pairs_and_no_text():
    judged = read_table(SAMPLE)
    assert len(judged) == len(set(judged)) == 100
    assert all(re.fullmatch("[0-9a-f]{16}", row.hash) for row in judged)
    assert table(judged) == SAMPLE.read_text(encoding="utf-8")


@pytest.mark.skipif(not DATA.is_dir(), reason="the recordings are not here")
def test_the_sample_that_is_drawn_is_the_one_that_was_judged():
    pairs = [pair for thread in threads_in([DATA]) for pair in pairs_in(thread)]
    drawn = {Judged.of(pair) for pair in draw(pairs, SEED, 100)}
    judged = {Judged(r.file, r.mention, r.source, r.kind, r.hash, "") for r in read_table(SAMPLE)}
    assert drawn == judged


def test_exact_intervals_against_their_closed_form():
    # of n all right: from the n-th root of 0.025 to 1; none right: the mirror image
    (kind, every) = precision(rows(*["right"] * 10))
    assert (kind.kind, every.kind, every.right, every.pairs) == ("code", "all", 10, 10)
    assert (every.low, every.high) == (pytest.approx(0.025**0.1), 1.0)
    (_, none) = precision(rows(*["wrong"] * 10))
    assert (none.low, none.high) == (0.0, pytest.approx(1 - 0.025**0.1))


def test_an_exact_interval_by_the_binomial_sums_that_define_it():
    from math import comb

    (_, share) = precision(rows(*["right"] * 24, *["wrong"] * 6))

    def at_least(k, n, p):
        return sum(comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(k, n + 1))

    assert at_least(24, 30, share.low) == pytest.approx(0.025, rel=1e-6)
    assert 1 - at_least(25, 30, share.high) == pytest.approx(0.025, rel=1e-6)


def test_kinds_come_in_their_order_and_all_of_them_last():
    mixed = [*rows("right", kind="prose"), *rows("wrong", kind="path")]
    assert [(p.kind, p.right, p.pairs) for p in precision(mixed)] == [
        ("path", 0, 1),
        ("prose", 1, 1),
        ("all", 1, 2),
    ]
    with pytest.raises(ValueError, match="no pair is judged"):
        precision([])


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "t.tsv:1: its head is not file mention"),
        ("file\tline\n", "t.tsv:1: its head is not"),
        (HEAD + "f\t1\n", "t.tsv:2: 2 fields, not 6"),
        (HEAD + "f\t1\tx\tcode\tab\tright\n", "t.tsv:2: a place is a whole number"),
        (HEAD + "f\t1\t2\tcoed\tab\tright\n", "did you mean 'code'"),
        (HEAD + "f\t1\t2\tcode\tab\trigth\n", "did you mean 'right'"),
        (HEAD + "f\t1\t2\tcode\tab\t\n", "t.tsv:2: "),
        (HEAD, "t.tsv: no pair is judged"),
    ],
)
def test_what_is_no_table_is_refused_by_line(tmp_path, capsys, content, says):
    file = tmp_path / "t.tsv"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(SystemExit) as ended:
        main(["--judged", str(file)])
    streams = capsys.readouterr()
    assert (ended.value.code, streams.out, streams.err.count("\n")) == (2, "", 1)
    assert says in streams.err


def test_a_table_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(InputError, match="cannot read it"):
        read_table(tmp_path / "none.tsv")


def test_the_command_draws_shows_and_writes(tmp_path, capsys):
    recording = Lines().user("go", 0)
    recording.model("m1", 1, use("a", command="cat log")).result("a", "req_77ab1", 2)
    recording.model("m2", 3, use("b", command="ls")).result("b", "nothing", 4)
    recording.model("m3", 5, use("c", command="grep req_77ab1 ."))
    recording.write(tmp_path / "one.jsonl")
    out = tmp_path / "sample.tsv"
    with pytest.raises(SystemExit) as ended:
        main([str(tmp_path / "one.jsonl"), "--tsv", str(out)])
    shown = capsys.readouterr().out
    assert ended.value.code == 0
    assert shown.startswith("1 of 1 pairs, seed 0\n\n[1] one.jsonl: command, 2 calls back")
    pair = Pair("one.jsonl", 6, 3, "command", "req_77ab1", 1)
    assert out.read_text(encoding="utf-8") == table([Judged.of(pair)])
    assert "req_77ab1" not in out.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "give the recordings"),
        (["none.jsonl"], "there is no such file"),
        (["--pairs", "0", "x"], "0 is not in the range"),
    ],
)
def test_wrong_use_is_one_sentence(capsys, arguments, says):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert says in capsys.readouterr().err


def test_a_session_that_asks_nothing_is_named(tmp_path, capsys):
    recording = Lines().user("go", 0).model("m1", 1, use("a", command="ls"))
    file = recording.write(tmp_path / "one.jsonl")
    with pytest.raises(SystemExit):
        main([str(file)])
    assert "nothing is asked in it" in capsys.readouterr().err
