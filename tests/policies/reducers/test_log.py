"""Plain logs: repeats folded, then both ends and what is wrong between them."""

import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.reducers.folding import fold, shape
from policies.reducers.log import Log
from policies.reducers.plain import ERRORS, Plain, lines_with
from policies.reducers.reduction import reduce
from policies.reducers.room import Room
from sim.tokens import tokenizer


def lay(text, limit):
    laid = Plain(Log.of(text)).lay(Room(limit, tokenizer()))
    assert tokenizer().count(laid.text) <= limit
    return laid


def test_lines_that_differ_in_numbers_times_and_hashes_have_one_shape():
    for one, other in (
        ("12:30:01 got 3 of 17", "09:00:59 got 12 of 17"),
        ("layer 3f2a91bc: Pull complete", "layer 00ffab12: Pull complete"),
        ("at 0x7f00 free", "at 0x1a2b3c free"),
        ("[====>     ] 10%", "[=======>  ] 20%"),
        ("1,234.5 MB/s", "9.1 MB/s"),
        (
            "id 123e4567-e89b-12d3-a456-426614174000 ok",
            "id 00000000-0000-0000-0000-000000000001 ok",
        ),
    ):
        assert shape(one) == shape(other)
    for one, other in (("a bad day", "a fad day"), ("deadbeef", "feedface"), ("item a", "item b")):
        assert shape(one) != shape(other)


def test_lines_alike_are_folded_up_to_the_last_and_errors_only_if_they_are_equal():
    log = Log(["a 1", "a 2", "b", "c 1", "c 2", "c 3", "c 4", "d", "d"])
    assert fold(log) == [0, 1, 2, 3, 6, 7, 8, 9]
    assert fold(Log(["e", "e", "e", "x 1", "x 2", "x 3"])) == [0, 3, 4, 5, 6]
    assert fold(Log([f"c {n * 7}" for n in range(50)])) == [0, 49, 50]
    log = Log([f"c {n * 7}" for n in range(50)])
    assert fold(log, frozenset({20})) == [0, 19, 20, 21, 49, 50]
    assert fold(Log([])) == [0]
    same = Log(["error 5"] * 4)
    assert fold(same, frozenset(range(4))) == [0, 4]


def test_a_rare_value_of_a_number_that_takes_few_is_kept():
    lines = [f"GET /item/{n} 200 12ms" for n in range(400)]
    lines[250] = "GET /item/9 500 9000ms"
    assert fold(Log(lines)) == [0, 250, 251, 399, 400]
    for limit in (80, 200, 1_000):
        assert lines[250] in lay("\n".join(lines), limit).text


@given(st.lists(st.sampled_from(["a 1", "a 2", "b", "", "c 0x1", "日 1", "日 2"]), max_size=40))
def test_folds_hold_lines_of_one_shape_and_runs_end_with_their_last(lines):
    starts = fold(Log(lines))
    assert starts[-1] == len(lines) and starts == sorted(set(starts))
    for start, stop in pairwise(starts):
        inside = lines[start:stop]
        assert len({shape(line) for line in inside}) == 1
        assert len(inside) != 2
        last = stop == len(lines) or shape(lines[stop]) != shape(lines[start])
        assert len(inside) == 1 or not last or len(set(inside)) == 1


def test_repeated_lines_are_shown_once_with_their_number_and_both_ends():
    text = "start\n" + "".join(f"downloading chunk {n} of 400\n" for n in range(400)) + "end\n"
    laid = lay(text, 100)
    shown = [int(n) for n in re.findall(r"^downloading chunk (\d+) of", laid.text, re.M)]
    gone, first, last = map(int, re.search(
        r"^\[(\d+) lines like it left out \((\d+)–(\d+)\)\]$", laid.text, re.M
    ).groups())  # fmt: skip
    assert shown == [*range(first - 2), *range(last - 1, 400)]
    assert len(shown) > 4 and shown[-1] == 399
    assert gone == last - first + 1 == 400 - len(shown)
    assert laid.text.startswith("start\n") and laid.text.endswith("\nend")
    assert laid.dropped == {"lines": gone}


def test_lines_that_repeat_to_the_letter_are_not_unfolded():
    text = "start\n" + "waiting for the server\n" * 400 + "end"
    assert lay(text, 300).text == (
        "start\nwaiting for the server\n[399 lines like it left out (3–401)]\nend"
    )


def test_room_that_is_left_is_used_for_folded_lines():
    text = "\n".join(f"step {n} loss {1 / (n + 1):.5f}" for n in range(2_000))
    for limit in (100, 500, 3_000):
        laid = lay(text, limit)
        assert "step 0 loss" in laid.text and "step 1999 loss" in laid.text
        assert tokenizer().count(laid.text) > 0.7 * limit


def noise(count, seed=0):
    words = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa"]
    return [" ".join(words[(n * 7 + k * (n + seed)) % 10] for k in range(8)) for n in range(count)]


def test_head_errors_and_tail_are_kept_and_every_gap_is_marked():
    lines = noise(1_000)
    lines[300] = "ERROR: disk full on node seven"
    lines[301] = "ERROR: disk full on node seven"
    lines[600] = "warning: clock is skewed"
    lines[700] = "##[error]Process completed with exit code 1."
    text = "\n".join(lines)
    laid = lay(text, 400)
    assert laid.text.startswith(lines[0])
    assert laid.text.endswith(lines[-1])
    assert laid.text.count("disk full") == 1
    assert lines[600] in laid.text and lines[700] in laid.text
    gaps = re.findall(
        r"\[gap: [\d,]+ tokens in ([\d,]+) lines? \(([\d,]+)–([\d,]+)\) left out", laid.text
    )
    hidden = set()
    for count, first, last in ([int(x.replace(",", "")) for x in gap] for gap in gaps):
        assert count == last - first + 1
        hidden |= set(range(first, last + 1))
    shown = [line for line in laid.text.split("\n") if not line.startswith("[gap")]
    assert [lines[n] for n in range(1_000) if n + 1 not in hidden] == shown
    assert laid.dropped["lines"] == len(hidden)
    assert laid.text.count("narrow the call") == 1


def test_lines_about_errors_that_went_well_are_not_kept_as_errors():
    lines = noise(800)
    lines[400] = "✓ handles an error gracefully"
    lines[500] = "ErrorBoundary.tsx compiled"
    text = lay("\n".join(lines), 300).text
    assert "gracefully" not in text and "ErrorBoundary" not in text


def test_words_count_where_they_stand_alone():
    log = Log(["Error: a", "TypeError: b", "Errors", "ErrorPage", "no error", "+ run", "a + run"])
    assert lines_with(log, ("Error", "error")) == [0, 1, 2]
    assert lines_with(log, ("+ ",), start_only=True) == [5]


@pytest.mark.parametrize(
    "line",
    [
        "12 passed, 0 failed, exit code 0",
        "Failures: 0, Errors: 0, Skipped: 3",
        "ok=4 changed=0 failed=0",
        '{"errors": 0, "done": true}',
        "exited with exit code: 0.",
        "8\ttests/test_errors.py",
        "4\tlog/error",
        " src/pytest_failures.py | 12 ++--",
        "ii  libgpg-error-dev 1.46-1 amd64",
        "errors.d/old.conf",
        "non-fatal",
        "console.error(message)",
        "--error-exitcode=3",
        "0 errors, 0 warnings",
        "no errors",
    ],
)
def test_a_word_in_a_name_or_of_nothing_is_no_error(line):
    assert lines_with(Log([line]), ERRORS) == []


@pytest.mark.parametrize(
    "line",
    [
        "9 passed, 10 failed",
        "0 failed, 3 errors",
        "exit code 1",
        "exit code 127",
        "Errors: 10",
        "loss error: 0.5",
        "failed=2",
        "java.lang.RuntimeException: no",
        "OSError: [Errno 2]",
        "[ERROR] no disk",
        "status: BUILD_FAILED",
        "unpacking...failed",
        "(error) no",
        "level=error msg=x",
        "src/a.py:3: error: bad",
        "Permission denied.",
        "a\\nerror: b",
        "error.",
    ],
)
def test_an_error_word_of_its_own_is_one(line):
    assert lines_with(Log([line]), ERRORS) == [0]


def test_one_suite_that_failed_is_kept_among_those_that_did_not():
    lines = [f"suite {n}: 10 passed, 0 failed, exit code 0" for n in range(200)]
    lines[77] = "suite 77: 7 passed, 3 failed, exit code 1"
    for limit in (100, 150, 600):
        assert lines[77] in lay("\n".join(lines), limit).text


@pytest.mark.parametrize("limit", [40, 60, 100, 400])
def test_some_content_stands_beside_the_mark_in_little_room(limit):
    text = "\n".join("🦄" * 60 + str(n) for n in range(200))
    result = reduce(text, limit)
    assert "🦄" in result.text and "left out" in result.text
    assert result.tokens_after > limit // 2


def test_the_first_and_the_last_errors_are_kept_where_there_are_many():
    lines = noise(3_000)
    for n in range(100, 2_900, 10):
        lines[n] = f"error: {noise(1, n)[0]} in part {chr(97 + n // 10 % 26)}{chr(97 + n // 260)}"
    text = lay("\n".join(lines), 800).text
    assert lines[100] in text and lines[2_890] in text


def test_the_room_is_used():
    for limit in (200, 800, 3_000):
        laid = lay("\n".join(noise(4_000)), limit)
        assert tokenizer().count(laid.text) > 0.85 * limit


def test_one_long_line_is_cut_to_both_ends():
    result = reduce("word " * 100_000, 200)
    assert result.tool == "log"
    assert result.tokens_after > 150
    assert "in 1 line (1–1) left out" in result.text


@given(st.lists(st.text(alphabet="ab 1\té日", max_size=30), max_size=80), st.integers(40, 400))
@settings(deadline=None, max_examples=80)
def test_no_line_is_lost_in_silence(lines, limit):
    log = Log(lines)
    laid = Plain(log).lay(Room(limit, tokenizer()))
    assert tokenizer().count(laid.text) <= limit
    assert laid.text == log.text or "left out" in laid.text
