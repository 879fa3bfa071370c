import pickle

import pytest

from scenarios.transcripts.findings import Findings, Note, folded, named, told
from sim.errors import InputError


def report(findings, session):
    warned, noted = [], []
    findings.report(warned.append, noted.append, session)
    return warned, noted


def test_a_file_is_named_in_full_once():
    findings = Findings("/home/me/a.jsonl")
    findings.breaks("a cut last line", 9)
    findings.breaks("an odd line", 3)
    findings.note("budget 700 tokens")
    findings.note("no system prompt")
    assert report(findings, "a") == (
        ["/home/me/a.jsonl:3: an odd line (skipped)", "a:9: a cut last line (skipped)"],
        ["a: budget 700 tokens", "a: no system prompt"],
    )
    findings.restart()
    findings.note("budget 90 tokens")
    assert report(findings, "a/agent-1") == ([], ["a/agent-1: budget 90 tokens"])


def test_the_first_note_names_the_file_where_nothing_else_did():
    findings = Findings("/home/me/a.json", unit="message")
    assert report(findings, "a") == ([], [])
    findings.note("one")
    findings.note("two")
    assert report(findings, "a") == ([], ["/home/me/a.json: one", "a: two"])
    findings.restart()
    findings.breaks("an odd part", 4)
    assert report(findings, "a") == (["a: message 4: an odd part (skipped)"], [])


def test_kinds_beyond_those_reported_are_counted_under_the_name():
    findings = Findings("/home/me/a.jsonl")
    for number in range(1, 24):
        findings.breaks(f"fault {number}", number)
        findings.breaks(f"fault {number}", number + 100)
    warned, _ = report(findings, "a")
    assert len(warned) == 21
    assert warned[0] == "/home/me/a.jsonl:1: fault 1 (2 of them, this is the first; skipped)"
    assert warned[-1] == "a: 3 more kinds of breakage, 6 in all"


def test_the_first_kind_can_be_had_without_the_file():
    findings = Findings("a.jsonl")
    assert findings.first() == ""
    findings.breaks("no place", None)
    assert findings.first() == "no place (skipped)"
    other = Findings("a.json", unit="message")
    other.breaks("odd", 4)
    assert other.first() == "message 4: odd (skipped)"


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("a b/ä.jsonl", "a b/ä.jsonl"),
        ("a\nb", "a\\nb"),
        ("a\x1b[2Jb", "a\\x1b[2Jb"),
        ("a\u202e\u2028b", "a\\u202e\\u2028b"),
    ],
)
def test_a_path_in_a_sentence_is_on_one_line(path, shown):
    assert named(path) == named(named(path)) == shown
    assert told(InputError("it is odd", file=path, line=7)) == f"{shown}:7: it is odd"
    findings = Findings(path)
    findings.breaks("odd", 2)
    assert report(findings, "a")[0] == [f"{shown}:2: odd (skipped)"]


def test_several_sentences_are_told_on_one_line():
    assert told(InputError("one\ntwo")) == "one; two"


def test_a_note_is_a_sentence_that_can_be_pickled():
    for full, text in ((True, "/x/a.jsonl: says"), (False, "a: says")):
        note = Note("/x/a.jsonl", "a", "says", full)
        copy = pickle.loads(pickle.dumps(note))
        assert note == copy == text and type(copy) is Note
        assert (copy.file, copy.session, copy.says) == ("/x/a.jsonl", "a", "says")


def notes(says, *sessions):
    return [Note(f"/x/{name}.jsonl", name, text) for name, text in zip(sessions, says, strict=True)]


@pytest.mark.parametrize(
    ("says", "line"),
    [
        (["no prompt"] * 3, "no prompt"),
        (["budget 9,100 tokens"] * 3, "budget 9,100 tokens"),
        (["budget 9,100 tokens", "budget 12,000 tokens", "budget 870 tokens"], None),
        (["of 0.5 and 7", "of 0.25 and 8", "of 2 and 9"], "of 0.25 to 2 and 7 to 9"),
    ],
)
def test_what_is_the_same_of_several_sessions_is_one_line_with_its_ranges(says, line):
    line = line or "budget 870 to 12,000 tokens"
    assert folded(notes(says, "a", "b", "c")) == [f"3 sessions (a, b, c): {line}"]


def test_what_differs_in_words_or_in_names_is_not_the_same():
    told_apart = notes(["call-7 is odd", "call-8 is odd", "1 call is odd"], "a", "b", "c")
    assert folded(told_apart) == told_apart


def test_a_line_about_one_file_names_it_in_full_the_first_time():
    given = [
        Note("/x/a.jsonl", "a", "same"),
        Note("/x/b.jsonl", "b", "same"),
        Note("/x/a.jsonl", "a", "only here", False),
        Note("/x/a.jsonl", "a", "and this", False),
        "a plain sentence",
        "a plain sentence",
    ]
    lines = ["2 sessions (a, b): same", "/x/a.jsonl: only here", "a: and this", "a plain sentence"]
    assert folded(given) == lines


def test_a_note_that_a_session_has_twice_is_of_one_session():
    given = [Note("/x/a", "a", "3 reads", False), Note("/x/a", "a", "5 reads", False)]
    assert folded(given) == ["/x/a: 3 to 5 reads"]


def test_as_many_sessions_are_named_as_there_is_room_for():
    names = [f"{letter}{'x' * 24}" for letter in "abcd"]
    (line,) = folded(notes(["same"] * 4, *names))
    assert line == f"4 sessions ({names[0]}, {names[1]}, …): same"
    (line,) = folded(notes(["same"] * 2, "y" * 90, "z"))
    assert line == f"2 sessions ({'y' * 90}, …): same"


def test_nothing_is_nothing():
    assert folded([]) == []
