"""The parts every reducer stands on: log, room, gap, findings, sections, survival, reduction."""

import re
from dataclasses import dataclass, replace

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from policies.reducers.findings import Findings, Item, plural
from policies.reducers.form import Found, Laid
from policies.reducers.gap import HeadTail
from policies.reducers.log import Log, Span, decode
from policies.reducers.reduction import FALLBACK, Output, reduce, reduced
from policies.reducers.registry import reducers
from policies.reducers.room import Room, clip
from policies.reducers.sections import Section, Sections, split
from policies.reducers.survival import survival
from sim.errors import InputError
from sim.tokens import tokenizer

TOKENS = tokenizer()
PLAIN = reducers()["log"]


def room(limit: int) -> Room:
    return Room(limit, TOKENS)


# Log


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"caf\xc3\xa9", "café"),
        (b"\xef\xbb\xbfa", "a"),
        (b"a\xffb", "a�b"),
        ("añb\n".encode("utf-16"), "añb\n"),
        (b"\xfe\xff" + "ab".encode("utf-16-be"), "ab"),
        ("no mark\r\n".encode("utf-16-le"), "no mark\r\n"),
        (b"\x00\x00", "\x00\x00"),
        (b"", ""),
    ],
)
def test_bytes_are_decoded(raw, text):
    assert decode(raw) == text


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", []),
        ("\n", [""]),
        ("a", ["a"]),
        ("a\n", ["a"]),
        ("a\n\n", ["a", ""]),
        ("a\r\nb\rc\n", ["a", "b", "c"]),
        ("\x1b[31;1mred\x1b[0m \x1b[2Kgone", ["red gone"]),
        ("\x1b]8;;https://x.example\x1b\\link\x1b]8;;\x1b\\.", ["link."]),
        ("\x1b]0;title\x07after", ["after"]),
        ("\x1b]not closed", ["not closed"]),
        ("\x1b(Bx\x1b=y\x1b", ["xy"]),
        ("a\x00b\x07c\td", ["abc\td"]),
        ("10%\r20%\r30%\n", ["10%", "20%", "30%"]),
    ],
)
def test_a_log_is_clean_lines(text, lines):
    assert Log.of(text).lines == lines


def test_the_clock_of_a_runner_is_taken_off_where_all_lines_have_it():
    stamp = "2025-03-04T05:06:07.1234567Z "
    log = Log.of("\ufeff" + "".join(f"{stamp}line {n}\n" for n in range(4)))
    assert log.lines == ["line 0", "line 1", "line 2", "line 3"]
    assert log.clock == 4
    named = Log.of(f"job\tstep one\t\ufeff{stamp}a\njob\tstep one\t{stamp}b\n")
    assert named.lines == ["a", "b"]


def test_the_clock_stays_where_few_lines_have_it():
    text = "2025-03-04T05:06:07.12Z first\n" + "plain\n" * 9
    assert Log.of(text).lines[0] == "2025-03-04T05:06:07.12Z first"
    assert Log.of(text).clock == 0


def test_marks_of_a_runner_and_of_docker_are_taken_off_what_a_tool_printed():
    log = Log.of(
        "##[error]src/a.ts(3,1): error TS1: no\n##[error]Process completed with exit code 2.\n"
        "#7 [2/3] RUN make\n#7 0.512 gcc a.c\n#7 DONE 1.2s\n#no 1.5 x\n"
    )
    assert log.lines == [
        "src/a.ts(3,1): error TS1: no",
        "##[error]Process completed with exit code 2.",
        "#7 [2/3] RUN make",
        "gcc a.c",
        "#7 DONE 1.2s",
        "#no 1.5 x",
    ]
    assert Log.of("#7 0.512 stays\n").lines == ["#7 0.512 stays"]


def test_the_names_of_tasks_are_taken_off_the_lines_of_a_task_runner():
    task = "".join(f"@shop/cart:test: line {n}\n" for n in range(6))
    text = f"• Running test in 2 packages\n{task}src/a.ts:12: stays\nweb:lint: rare\n"
    log = Log.of(text)
    assert log.lines[1:3] == ["line 0", "line 1"]
    assert log.lines[-2:] == ["src/a.ts:12: stays", "web:lint: rare"]
    assert Log.of(task).lines[0] == "@shop/cart:test: line 0"


def test_lines_keep_their_numbers_in_parts_and_joined_parts():
    log = Log([f"l{n}" for n in range(1, 11)])
    part = log.part(Span(3, 8))
    assert (part.lines[0], part.first, part.number(4)) == ("l4", 4, 8)
    joined = Log.joined([log.part(Span(0, 2)), part, log.part(Span(9, 10))])
    assert [f"l{joined.number(n)}" for n in range(len(joined))] == joined.lines
    inner = joined.part(Span(1, 8))
    assert [f"l{inner.number(n)}" for n in range(len(inner))] == inner.lines
    assert log.part(Span(-5, 99)).lines == log.lines
    assert Log.joined([]).lines == []


def test_runs_join_matches_that_are_near_and_leave_out_short_ones():
    log = Log(["x", "", "x", "", "", "x", "y", "x", "x", "x"])
    pattern = re.compile("^x$", re.M)
    assert list(log.runs(pattern, gap=1)) == [Span(0, 3), Span(5, 10)]
    assert list(log.runs(pattern, gap=1, least=3)) == [Span(5, 10)]
    assert list(log.runs(pattern)) == [Span(0, 1), Span(2, 3), Span(5, 6), Span(7, 10)]
    assert list(Log([]).runs(pattern)) == []


@given(st.text(alphabet="ab\n", max_size=40))
def test_the_line_of_a_character_is_the_newlines_before_it(text):
    log = Log.of(text)
    for at in range(len(log.text)):
        assert log.line_at(at) == log.text[:at].count("\n")


@given(
    st.text(alphabet="ab:. \n", max_size=30),
    st.lists(st.text(alphabet="ab:. ", min_size=1, max_size=4), max_size=5),
)
def test_has_is_in(text, strings):
    log = Log.of(text)
    assert log.has(*strings) == any(string in log.text for string in strings)
    for string in strings:
        assert log.has(string) == (string in log.text)


# Room


def test_a_room_counts_and_cuts_at_tokens():
    text = "one two three four five"
    assert room(40).longest(text, 3) == "one two three"
    assert room(40).longest(text, 2, end=True) == " four five"
    assert room(40).longest(text, 0) == ""
    assert room(40).longest(text, 99) == text
    assert room(40).fits(text)
    assert not room(4).fits(text)


def test_a_long_line_is_clipped_with_its_count():
    assert clip("a" * 1_000, 100) == f"{'a' * 75}[…900 characters…]{'a' * 25}"
    assert clip("a" * 100, 100) == "a" * 100


def test_a_budget_below_forty_is_bad_input():
    with pytest.raises(InputError, match=r"lint: a budget of 39 tokens is below the least of 40"):
        Room.check(39, "lint")
    assert Room.check(40, "lint") == 40
    with pytest.raises(InputError):
        reduce("x", 39)


# Head and tail


def test_both_ends_stand_around_a_marked_gap():
    log = Log([f"line {n}" for n in range(1, 101)])
    laid = HeadTail(log).lay(room(60))
    assert laid.text.startswith("line 1\nline 2\n")
    assert laid.text.endswith("\nline 99\nline 100")
    mark = re.search(
        r"\[gap: (\d+) tokens in (\d+) lines \((\d+)–(\d+)\) left out; narrow", laid.text
    )
    tokens, lines, first, last = map(int, mark.groups())
    shown = {int(n) for n in re.findall(r"^line (\d+)$", laid.text, re.M)}
    assert shown == set(range(1, first)) | set(range(last + 1, 101))
    assert lines == last - first + 1 == laid.dropped["lines"]
    assert tokens == laid.dropped["tokens"]
    head = "\n".join(log.lines[: first - 1])
    tail = "\n".join(log.lines[last:])
    assert tokens == TOKENS.count(log.text) - TOKENS.count(head) - TOKENS.count(tail)


def test_the_gap_within_one_line_is_marked_too():
    line = " ".join(f"w{n}" for n in range(2_000))
    laid = HeadTail(Log([line])).lay(room(100))
    head, mark, tail = laid.text.split("\n")
    assert line.startswith(head) and line.endswith(tail) and head and tail
    assert "tokens in 1 line (1–1) left out" in mark


@given(st.lists(st.text(alphabet="ab é日\t", max_size=200), max_size=60), st.integers(40, 300))
@settings(deadline=None, max_examples=60)
def test_head_and_tail_never_overrun_and_never_cut_in_silence(lines, limit):
    log = Log(lines)
    laid = HeadTail(log).lay(room(limit))
    assert TOKENS.count(laid.text) <= limit
    assert laid.text == log.text or ("left out" in laid.text and laid.dropped["tokens"] > 0)


# Findings


def items():
    return [
        Item("a.py:1: error: one", "a.py"),
        Item("b.py:2: error: two", "b.py"),
        Item("a.py:3: error: three", "a.py"),
        Item("c.py:4: error: four", "c.py"),
        Item("a.py:5: error: five", "a.py"),
    ]


def test_the_first_of_each_file_then_what_was_left_out_then_the_verdict():
    laid = Findings("check", items(), verdict="Found 5 errors in 3 files").lay(room(200))
    assert laid.text == (
        "a.py:1: error: one (+2 more)\n"
        "b.py:2: error: two\n"
        "c.py:4: error: four\n"
        "[left out: 2 further errors in the files above; narrow the call to see more]\n"
        "Found 5 errors in 3 files"
    )
    assert laid.dropped == {"errors": 2}


def test_what_does_not_fit_is_counted_by_file():
    many = [Item(f"file{n}.py:1: error: something is wrong", f"file{n}.py", count=2)
            for n in range(50)]  # fmt: skip
    findings = Findings("check", many, verdict="Found 100 errors in 50 files")
    laid = findings.lay(room(150))
    shown = laid.text.count(": error: ")
    assert 0 < shown < 50
    assert TOKENS.count(laid.text) <= 150
    assert laid.dropped == {"errors": 100 - shown, "files": 50 - shown}
    hidden = f"{100 - 2 * shown} errors in {50 - shown} files not shown"
    assert hidden in laid.text
    assert laid.text.endswith("Found 100 errors in 50 files")


def test_each_distinct_failure_once_with_its_number_and_its_detail_if_there_is_room():
    failures = [
        Item("t::a: assert 1 == 2", key="x", detail="  frame a", names=("t::a",)),
        Item("t::b: assert 1 == 2", key="x", detail="  frame b", names=("t::b",)),
        Item("t::c: KeyError", key="y", detail="  frame c", names=("t::c",)),
    ]
    findings = Findings("tests", failures, by="key", noun="failure", verdict="3 failed")
    assert findings.found().failures == (("t::a", "t::b"), ("t::c",))
    assert findings.lay(room(200)).text == (
        "t::a: assert 1 == 2 (+1 more)\n  frame a\nt::c: KeyError\n  frame c\n3 failed"
    )


@given(st.integers(0, 40), st.integers(1, 4), st.integers(40, 200), st.booleans())
@settings(deadline=None, max_examples=80)
def test_findings_fit_and_account_for_every_error(files, each, limit, by_key):
    every = [
        Item(f"dir/f{n}.py:{m}: error: message {m}", f"dir/f{n}.py", key=n, names=(f"n{n}",))
        for m in range(each)
        for n in range(files)
    ]
    form = Findings("x", every, by="key" if by_key else "file", head="start", verdict="end")
    laid = form.lay(room(limit))
    assert TOKENS.count(laid.text) <= limit
    shown = sum(f"dir/f{n}.py:" in laid.text for n in range(files))
    kind = "distinct errors" if by_key else "files"
    assert laid.dropped.get(kind, 0) == files - shown
    in_sight = shown * each if by_key else shown
    assert laid.dropped.get("errors", 0) == files * each - in_sight
    assert bool(laid.dropped) == ("left out" in laid.text)


def test_nouns_have_their_numbers():
    assert [plural(noun, 2) for noun in ("error", "match", "class")] == [
        "errors", "matches", "classes"
    ]  # fmt: skip
    assert plural("error", 1) == "error"


# Sections


@dataclass(frozen=True)
class Lines:
    """A form that shows as many of its lines as fit."""

    log: Log

    def found(self) -> Found:
        return Found(files=tuple(self.log.lines), counts={"lines": len(self.log)})

    def lay(self, room: Room) -> Laid:
        if room.fits(self.log.text):
            return Laid(self.log.text)
        return Laid("[left out]", {"lines": len(self.log)})


@dataclass(frozen=True)
class Letter:
    """A reducer of lines that begin with a letter."""

    name: str
    rank: int = 50
    readable: bool = True
    about = kind = "test"
    hints = ()

    def find(self, log):
        at = 0
        while at < len(log):
            stop = at
            while stop < len(log) and log.lines[stop].startswith(self.name):
                stop += 1
            if stop > at:
                yield Span(at, stop)
            at = stop + 1

    def read(self, log):
        return Lines(log) if self.readable else None


def parts(lines, *known):
    made = split(Log(lines), known, PLAIN)
    return [(part.tool, part.log.first, part.log.lines) for part in made]


def test_an_output_is_split_by_tool_and_nothing_is_lost():
    lines = ["$ run a", "a1", "a2", "", "b1", "", "end"]
    assert parts(lines, Letter("a"), Letter("b")) == [
        ("log", 1, ["$ run a"]),
        ("a", 2, ["a1", "a2"]),
        ("b", 5, ["b1"]),
        ("log", 7, ["end"]),
    ]


def test_the_higher_rank_has_what_two_claim():
    @dataclass(frozen=True)
    class All(Letter):
        def find(self, log):
            yield Span(0, len(log))

    assert parts(["b1", "a1", "b2"], Letter("a"), All("all", 40)) == [
        ("all", 1, ["b1"]),
        ("a", 2, ["a1"]),
        ("all", 3, ["b2"]),
    ]


def test_what_cannot_be_read_goes_to_the_plain_lines_around_it():
    assert parts(["x", "a1", "y", "b1"], Letter("a", readable=False), Letter("b")) == [
        ("log", 1, ["x", "a1", "y"]),
        ("b", 4, ["b1"]),
    ]


def test_scattered_spans_of_a_trace_are_one_section_and_so_is_the_rest_around_them():
    lines = ["x", "t1", "y", "t2", "z"]
    (first, trace, rest) = split(Log(lines), [Letter("t", rank=30)], PLAIN)
    assert (first.log.lines, trace.log.lines, rest.log.lines) == (["x"], ["t1", "t2"], ["y", "z"])
    assert [rest.log.number(at) for at in (0, 1)] == [3, 5]
    assert trace.title == "--- t, lines 2 within 2–4 ---"


def test_spans_out_of_range_overlapping_or_empty_do_no_harm():
    @dataclass(frozen=True)
    class Wild(Letter):
        def find(self, log):
            yield from (Span(3, 99), Span(-4, 2), Span(1, 4), Span(2, 2), Span(5, 1), Span(98, 99))

    assert parts(["1", "2", "3", "4", "5"], Wild("w")) == [("w", 1, ["1", "2", "3", "4", "5"])]


@given(st.lists(st.sampled_from(["a", "b", "t", "p", ""]), max_size=60), st.integers(1, 60))
def test_every_line_that_says_something_is_in_one_section(lines, rank):
    known = [Letter("a"), Letter("b", rank=rank), Letter("t", rank=20)]
    made = split(Log(lines), sorted(known, key=lambda each: -each.rank), PLAIN)
    numbers = [part.log.number(at) for part in made for at in range(len(part.log))]
    said = {number for number, line in enumerate(lines, 1) if line}
    assert len(numbers) == len(set(numbers))
    assert said <= set(numbers) <= set(range(1, len(lines) + 1))
    for part in made:
        assert all(
            lines[part.log.number(at) - 1] == part.log.lines[at] for at in range(len(part.log))
        )


def section(name, lines, first=1, plain=False):
    log = Log(lines, first)
    return Section(Letter(name), log, Lines(log), plain)


def test_sections_stand_under_titles_and_share_the_room():
    small, large = section("a", ["a1"]), section("b", ["b"] * 40, 2)
    laid = Sections([small, large]).lay(room(10_000))
    assert laid.text == "--- a, lines 1–1 ---\na1\n--- b, lines 2–41 ---\n" + "\n".join(["b"] * 40)
    assert not laid.dropped
    cut = Sections([small, section("b", ["b c d e f"] * 200, 2)]).lay(room(300))
    assert cut.text == "--- a, lines 1–1 ---\na1\n--- b, lines 2–201 ---\n[left out]"
    assert cut.dropped == {"lines": 200}


def test_lines_that_a_form_passes_over_are_counted():
    @dataclass(frozen=True)
    class First(Lines):
        def lay(self, room):
            return Laid(self.log.lines[0])

    log = Log(["error", "note", "", "source"])
    laid = Sections([Section(Letter("a"), log, First(log))]).lay(room(100))
    assert laid.text == "error\n[2 other lines left out; narrow the call to see more]"
    assert laid.dropped == {"lines": 2}
    alone = Log(["error", ""])
    assert Sections([Section(Letter("a"), alone, First(alone))]).lay(room(100)).text == "error"


def test_what_sections_found_is_added_up_tool_by_tool():
    parts = [section("a", ["x", "y"]), section("b", ["y"]), section("a", ["z"])]
    found = Sections(parts).found()
    assert found.files == ("x", "y", "z")
    assert found.counts == {"a lines": 3, "b lines": 1}
    assert Sections(parts[::2]).found().counts == {"lines": 3}


def test_more_sections_than_the_room_holds_are_named():
    many = [section(chr(97 + n), ["word " * 40] * 3, n + 1) for n in range(20)]
    laid = Sections(many).lay(room(200))
    assert TOKENS.count(laid.text) <= 200
    assert "left out" in laid.text
    assert laid.dropped["lines"] == 57


def test_a_clock_that_was_taken_off_is_said():
    text = "".join(f"2025-03-04T05:06:07.{n:03d}Z word number {n} of many\n" for n in range(400))
    result = reduce(text, 400)
    assert "the runner's clock and marks were taken off" in result.text
    assert result.tokens_after <= 400


# Survival


def test_a_name_counts_where_it_stands_alone():
    found = Found(
        files=("a/b.py", "b.py", "c.py"), failures=(("t::x", "t::y"), ("t::z",)), counts={}
    )
    seen = survival(found, "a/b.py:3: no\nxc.py\nFAILED t::y - E\nt::zz")
    assert (seen.files, seen.of_files, seen.failures, seen.of_failures) == (1, 3, 1, 2)
    assert seen.share_of_files == pytest.approx(1 / 3)
    assert survival(Found(), "").share_of_failures is None


# Reduction: every reducer, any bytes

FRAGMENTS = [
    b"\xff\xfe\x80", b"\x1b[31m", b"\x1b[0m\x1b]8;;", b"\r\n", b"\r", b"\n\n", b"\x00",
    "错误：找不到模块".encode(), "Ошибка компиляции".encode(), "エラー".encode(), "🎉".encode(),
    b"src/a.py:12: error: Incompatible types  [arg-type]\n", b"Found 3 errors in 2 files\n",
    b"src/b.c:3:4: error: expected ';'\n", b"make: *** [Makefile:3: all] Error 1\n",
    b"FAILED tests/test_a.py::test_b - assert 1 == 2\n", b"E   assert 1 == 2\n",
    b"==== 1 failed, 2 passed in 0.12s ====\n", b"Traceback (most recent call last):\n",
    b'  File "a.py", line 3, in f\n    g()\n', b"ValueError: no\n",
    b"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-a\n+b\n c\n",
    b'{"a": [1, 2.50, {"severity": "high"}]}\n', b'{"reason": "x", "message": null}\n',
    b"<html><head><title>t</title></head><body><p>x</body></html>\n",
    b"<testsuite tests='1'><testcase name='a'><failure>f</failure></testcase></testsuite>\n",
    b"./src:\na.py\nb.py\n\n", b"src/a/b/c.ts\n", b"2025-01-02T03:04:05.678Z step\n",
    b"[ERROR] Failed to execute goal\n", b"> Task :compileJava FAILED\n",
    b"npm ERR! code ELIFECYCLE\n", b"error[E0308]: mismatched types\n  --> src/x.rs:1:2\n",
    b"    at f (/a/b.js:1:2)\n", b"\tat a.b.C.d(C.java:12)\n", b"x" * 300, b" " * 200,
    "│   ├── a\n└── b\n".encode(),
]  # fmt: skip

anything = st.one_of(
    st.binary(max_size=3_000),
    st.text(max_size=1_500).map(lambda text: text.encode("utf-8", "surrogatepass")),
    st.lists(st.sampled_from(FRAGMENTS), max_size=60).map(b"".join),
    st.tuples(
        st.lists(st.sampled_from(FRAGMENTS), min_size=1, max_size=4), st.integers(1, 120)
    ).map(lambda pair: b"".join(pair[0]) * pair[1]),
    st.tuples(st.sampled_from(FRAGMENTS), st.sampled_from(FRAGMENTS)).map(
        lambda pair: pair[0] + pair[1].replace(b"\n", b"") * (100_000 // len(pair[1])) + pair[0]
    ),
)
MARKS = ("left out", "cut", "characters", "more", "off")


def check(result, whole, limit):
    assert result.tokens_after == TOKENS.count(result.text) <= limit
    if result.tokens_before <= limit:
        assert result.text == whole.text
        assert not result.dropped
        return
    assert all(count > 0 for count in result.dropped.values())
    if any(mark in result.text for mark in MARKS):
        return
    assert not set(result.dropped) - {"tokens"}
    shown = {line.strip() for line in result.text.split("\n")}
    missing = [line for line in whole.log.lines if line.strip() and line.strip() not in shown]
    assert not missing or result.tool == "listing", result.text[:500]


@given(raw=anything, limit=st.one_of(st.integers(40, 120), st.integers(40, 4_000)))
@example(raw=b"", limit=40)
@example(raw=b"\n" * 5_000, limit=40)
@example(raw=b"\x1b[1m" * 500, limit=40)
@settings(
    deadline=None,
    max_examples=150,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
def test_any_bytes_come_out_within_any_limit_and_no_cut_is_silent(raw, limit):
    whole = Output(raw)
    check(reduced(whole, room(limit)), whole, limit)
    blind = Output(raw, FALLBACK)
    check(reduced(blind, room(limit)), blind, limit)


@pytest.mark.parametrize("name", list(reducers()))
@given(raw=anything, limit=st.one_of(st.integers(40, 120), st.integers(40, 4_000)))
@settings(
    deadline=None,
    max_examples=15,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
def test_a_declared_reducer_copes_with_any_bytes(name, raw, limit):
    whole = Output(raw, name)
    check(reduced(whole, room(limit)), whole, limit)
    log = Log.of(decode(raw))
    for span in reducers()[name].find(log):
        assert isinstance(span, Span)
        form = reducers()[name].read(log.part(span))
        if form is not None:
            found = form.found()
            assert all(isinstance(file, str) and file for file in found.files)
            assert all(names and all(names) for names in found.failures)
            assert len(set(found.files)) == len(found.files)
            assert isinstance(form.lay(room(0)).text, str)


@given(raw=st.lists(st.sampled_from(FRAGMENTS), max_size=40).map(b"".join))
@settings(deadline=None, max_examples=40)
def test_what_is_found_does_not_depend_on_the_room(raw):
    output = Output(raw)
    before = output.found()
    reduced(output, room(60))
    assert output.found() == before
    assert reduced(Output(raw), replace(room(60), ask="ask")).tokens_after <= 60
