"""aider chat histories: whose a line is, what a prompt holds of it, and one thread a chat."""

import json
import re
from pathlib import Path

import pytest

from scenarios.transcripts.formats import recognise
from sim.errors import InputError
from tests.scenarios.transcripts.made import by_turn, load_all, session_of

SHARED = Path(__file__).parents[5] / "shared/data/transcripts/aider"

START = "# aider chat started at 2026-05-04 10:00:00"
HEAD = f"\n{START}\n\n> /usr/bin/aider a.py  \n> Aider v0.80.0  \n> Repo-map: disabled  \n"
TOKENS = "> Tokens: 5,244 sent, 604 received. Cost: $0.02 message, $0.02 session.  \n"


def user(*lines: str) -> str:
    return "\n" + "  \n".join(f"#### {line}" for line in lines) + "  \n"


def answer(text: str, more: str = TOKENS) -> str:
    return f"\n{text}\n\n{more}"


def history(tmp_path: Path, *parts: str) -> Path:
    path = tmp_path / "history.md"
    path.write_text(HEAD + "".join(parts), encoding="utf-8")
    return path


def sizes(path: Path) -> list[tuple[int, str, int]]:
    session, _ = session_of(path)
    return [(d.turn, str(d.kind), d.tokens) for d in session.arrivals]


def test_a_chat(tmp_path):
    path = history(
        tmp_path,
        user("please add", "a function"),
        answer("Here it is, twenty b"),
        user("thanks"),
        answer("Gladly.", "> Tokens: 4.1k sent, 1,278 cache hit, 72 received. Cost: $1.  \n"),
    )
    session, findings = session_of(path, strict=True)
    # "please add\na function" is 21 bytes, the answer 20, "thanks" 6.
    assert sizes(path) == [(1, "task", 6), (2, "assistant", 5), (2, "user", 2)]
    assert session.recorded == {
        1: {"input_tokens": 5244, "output_tokens": 604},
        2: {"input_tokens": 4100, "cached_tokens": 1278, "output_tokens": 72},
    }
    assert session.output_tokens == {1: 5, 2: 2}
    assert findings.notes == ["5 lines of aider's own and 0 commands to it that no prompt held"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("492 sent, 1,278 cached, 72 received", (1770, 1278, None)),
        ("194 sent, 9,474 cache write, 7 received", (9668, None, 9474)),
        ("21,523 sent, 13,952 cache hit, 9 received", (21_523, 13_952, None)),
        ("1.2M sent, 9 received", (1_200_000, None, None)),
    ],
)
def test_a_prompt_holds_what_the_cache_did(tmp_path, line, expected):
    path = history(tmp_path, user("hello"), answer("hi", f"> Tokens: {line}. Cost: $1 m.  \n"))
    session, _ = session_of(path)
    row = session.recorded[1]
    found = tuple(row.get(f"{name}_tokens") for name in ("input", "cached", "written"))
    assert found == expected


def test_each_start_is_a_thread(tmp_path):
    second = HEAD + user("again") + answer("yes")
    empty = f"\n{START}\n\n> nothing  \n"
    path = history(tmp_path, user("one"), answer("two"), second, empty)
    found, _, notes = load_all(path)
    assert [s.name for s in found] == [
        "history/2026-05-04-10-00-00",
        "history/2026-05-04-10-00-00-2",
    ]
    assert any("1 thread without a model call" in note for note in notes)


def test_what_a_model_writes_is_not_marked_with_spaces(tmp_path):
    text = "#### A heading\n> a quotation\n\n#### another"
    path = history(tmp_path, user("hello"), answer(text), user("so"), answer("done"))
    assert sizes(path)[1] == (2, "assistant", (len(text) + 3) // 4)


def test_a_message_of_several_lines_ends_with_spaces(tmp_path):
    tokens = "> Tokens: 5.5k sent, 591 received.\nCost: $0.03 message.  \n"
    path = history(tmp_path, user("hello"), answer("hi", tokens), user("so"), answer("done"))
    session, _ = session_of(path)
    assert session.recorded[1]["input_tokens"] == 5500
    assert sizes(path) == [(1, "task", 2), (2, "assistant", 1), (2, "user", 1)]


def test_a_failed_edit_is_passed_on(tmp_path):
    failure = "> The edit failed!  \n> Applied edit to a.py  \n> Try again.  \n"
    path = history(tmp_path, user("hello"), answer("hi", TOKENS + failure), answer("now"))
    # "The edit failed!\nTry again." is 27 bytes.
    assert sizes(path) == [(1, "task", 2), (2, "assistant", 1), (2, "user", 7)]
    assert session_of(path)[0].arrivals[-1].injected


@pytest.mark.parametrize(
    ("question", "held"),
    [
        ("> Add the output to the chat? y  \n", True),
        ("> Add the output to the chat?\n(y/n/instructions) y  \n", True),
        ("> Add command output to the chat? (Y)es/(N)o [Yes]: y  \n", True),
        ("> Added 1 lines of output to the chat.  \n", True),
        ("> Add the output to the chat? n  \n", False),
        ("> Add the output to the chat?\n[Y/n/instructions] n  \n", False),
    ],
)
def test_the_output_of_a_command(tmp_path, question, held):
    run = user("/run pytest") + "> one failed  \n" + question
    path = history(tmp_path, user("hello"), answer("hi"), run, user("so?"), answer("ah"))
    expected = [(2, "user", 3), (2, "user", 1)] if held else [(2, "user", 1)]
    assert sizes(path)[2:] == expected


def test_commands_go_to_aider(tmp_path):
    path = history(
        tmp_path,
        user("/add a.py"),
        user("/ask what is it"),
        answer("a file"),
        user("/usr/bin is a path"),
        answer("it is"),
    )
    # "what is it" and "/usr/bin is a path" are 10 and 18 bytes.
    assert sizes(path) == [(1, "task", 3), (2, "assistant", 2), (2, "user", 5)]


def test_clearing_is_a_compaction_to_nothing(tmp_path):
    path = history(
        tmp_path, user("/clear"), user("a"), answer("b"), user("/clear"), user("c"), answer("d")
    )
    session, _ = session_of(path)
    assert [(c.turn, c.trigger, c.tokens) for c in session.compactions] == [(1, "manual", 1)]


def test_a_call_that_wrote_nothing_was_sent(tmp_path):
    stopped = "\n> ^C again to exit  \n> Tokens: 900 sent, 0 received. Cost: $1 m.  \n"
    path = history(tmp_path, user("hello"), stopped, user("again"), answer("hi"))
    session, _ = session_of(path)
    assert [row["input_tokens"] for row in session.recorded.values()] == [900, 5244]


EXAMPLE = """---
title: x
---
A page.

<div class="chat-transcript" markdown="1">

> $ aider a.py

#### please look

```
#### no heading
> no mark
```
> Add a.py to the chat? y

</div>
The end.
<div class="chat-transcript" markdown="1">
#### and now

Done.

</div>
"""


def test_a_published_example(tmp_path):
    path = tmp_path / "example.md"
    path.write_text(EXAMPLE, encoding="utf-8")
    session, findings = session_of(path)
    # The fence is "```\n#### no heading\n> no mark\n```", 33 bytes.
    assert by_turn(load_all(path)[0][0].script(0)) == {
        1: ["task"],
        2: ["assistant-1", "user-1"],
    }
    assert [d.tokens for d in session.arrivals] == [3, 9, 2]
    assert findings.notes[0] == "5 lines of the page around the chat, left out"


def test_analytics_are_no_session(tmp_path):
    path = tmp_path / "a.jsonl"
    event = {"event": "exit", "properties": {}, "user_id": "u", "time": 1}
    path.write_text(json.dumps(event), encoding="utf-8")
    with pytest.raises(InputError, match="a log of aider's analytics"):
        load_all(path)


def test_a_history_without_an_answer(tmp_path):
    with pytest.raises(InputError, match="no model call"):
        load_all(history(tmp_path, user("hello")))


@pytest.mark.skipif(not SHARED.exists(), reason="the shared data are not here")
def test_the_real_history():
    path = SHARED / "chat-history.md"
    lines = path.read_text(encoding="utf-8").split("\n")
    starts = sum(line.startswith("# aider chat started at ") for line in lines)
    sent = sum(bool(re.match(r"> Tokens: .* sent,", line)) for line in lines)
    found, warnings, notes = load_all(path)
    assert (starts, sent) == (1133, 839)
    assert not warnings
    scripts = [scenario.script(0) for scenario in found]
    assert sum("input_tokens" in r for s in scripts for r in s.recorded.values()) == sent
    empty = next(int(n.split(": ")[1].split()[0]) for n in notes if "without a model call" in n)
    # What stands before the first start is a chat, too.
    assert len(found) + empty == starts + 1


@pytest.mark.skipif(not SHARED.exists(), reason="the shared data are not here")
def test_the_real_examples():
    turns = {
        path.stem: session_of(path)[0].turns
        for path in sorted(SHARED.glob("*.md"))
        if path.stem != "chat-history"
    }
    # Counted by hand: the answers between what the user and aider said.
    assert turns["hello"] == 1
    assert turns["semantic-search-replace"] == 1
    assert turns["add-test"] == 2
    assert turns["2048-game"] == 4
    assert recognise(SHARED / "hello.md").format.name == "aider"
