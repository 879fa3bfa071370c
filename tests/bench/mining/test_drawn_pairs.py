"""Pairs of recorded sessions, how they are drawn and how they are shown."""

from collections import Counter
from hashlib import blake2b

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.mining import Pair, draw, pairs_in, passages
from bench.mining.pairs import Thread, threads_in
from scenarios.transcripts.events import ToolResult
from sim.errors import InputError
from tests.scenarios.transcripts.made import Lines, use

PAIRS = [Pair(f"f{n % 7}.jsonl", n, n // 2, "code", f"value_{n}", 3) for n in range(300)]


def session(folder, name="one.jsonl", value="req_77ab1"):
    """Write a session with one pair: line 4, the second call after that of line 2, asks line 3."""
    lines = Lines().user("go", 0)
    lines.model("m1", 1, use("a", command="cat log")).result("a", f"line\n{value} was slow\nend", 2)
    lines.model("m2", 3, use("b", command="ls")).result("b", "nothing", 4)
    lines.model("m3", 5, use("c", "Grep", pattern=f"{value}.*", path="."))
    return lines.write(folder / name)


def found(*paths):
    return [(thread, pair) for thread in threads_in(paths) for pair in pairs_in(thread)]


def test_a_pair_says_where_mention_and_source_stand(tmp_path):
    (tmp_path / "deep").mkdir()
    session(tmp_path / "deep")
    ((_, pair),) = found(tmp_path)
    assert pair == Pair("deep/one.jsonl", 6, 3, "pattern", "req_77ab1", 2)
    assert pair.hash == blake2b(b"req_77ab1", digest_size=8).hexdigest()


def test_a_file_that_is_given_goes_by_its_name(tmp_path):
    ((_, pair),) = found(session(tmp_path))
    assert pair.file == "one.jsonl"


def test_what_is_no_recording_is_passed_over_unless_it_is_given(tmp_path):
    session(tmp_path)
    other = tmp_path / "notes.txt"
    other.write_text("nothing", encoding="utf-8")
    said = []
    assert len(list(threads_in([tmp_path], said.append))) == 1
    assert [str(other) in each for each in said] == [True]
    with pytest.raises(InputError):
        list(threads_in([other]))


@given(st.permutations(PAIRS[:40]), st.integers(0, 5), st.integers(1, 60))
def test_the_order_of_files_does_not_matter(pairs, seed, number):
    sample = draw(pairs, seed, number)
    assert sample == draw(PAIRS[:40], seed, number) == sorted(sample)
    assert len(sample) == min(number, 40)


def test_a_smaller_sample_is_part_of_a_larger_one_and_seeds_differ():
    assert set(draw(PAIRS, 1, 30)) < set(draw(PAIRS, 1, 31))
    assert draw(PAIRS, 1, 30) != draw(PAIRS, 2, 30)


def test_other_pairs_only_push_pairs_out():
    before, after = set(draw(PAIRS[:200], 3, 50)), set(draw(PAIRS, 3, 50))
    assert after - before <= set(PAIRS[200:])


def test_every_pair_is_drawn_as_often_as_any_other():
    # 400 samples of 15 of 300: 20 times each, with a standard deviation of 4.4
    times = Counter(pair for seed in range(400) for pair in draw(PAIRS, seed, 15))
    assert len(times) == 300
    assert max(times.values()) <= 20 + 5 * 4.4


def test_an_empty_sample_is_refused():
    with pytest.raises(ValueError, match="at least one pair, not 0"):
        draw(PAIRS, 0, 0)


def test_a_pair_is_shown_with_both_passages_and_all_between(tmp_path):
    ((thread, pair),) = found(session(tmp_path))
    shown = list(passages(pair, thread))
    assert shown == [
        "one.jsonl: pattern, 2 calls back: 'req_77ab1'",
        "    3: result: line⏎req_77ab1 was slow⏎end",
        "    6: call of Grep: pattern: req_77ab1.*⏎path: .",
        "  source at 3, result:",
        "    | line",
        "    | req_77ab1 was slow",
        "    | end",
        "  mention at 6, call of Grep:",
        "    | pattern: req_77ab1.*",
        "    | path: .",
    ]


def test_a_long_list_of_texts_is_cut_in_the_middle(tmp_path):
    ((thread, pair),) = found(session(tmp_path))
    result = next(event for event in thread.events if isinstance(event, ToolResult))
    long = Thread(thread.file, thread.session, [result] * 30 + list(thread.events))
    brief = list(passages(pair, long))[1:12]
    assert [line.split(":")[0].strip() for line in brief] == [*"33333", "(22 more)", *"33336"]


def test_control_characters_do_not_reach_the_terminal(tmp_path):
    value = '"never \x1b[31mred\x07 alarm\u202e"'
    ((thread, pair),) = found(session(tmp_path, value=value))
    shown = "\n".join(passages(pair, thread))
    assert all(c.isprintable() or c == "\n" for c in shown)
    assert "alarm" in shown
