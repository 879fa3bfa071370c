"""Control characters of a transcript never reach a terminal raw, whatever prints them."""

import csv
import io
import json

import pytest

from bench.cli import main
from tests.scenarios.transcripts.made import Lines, text, use

EVIL = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202e\u2066\x00\x08\r\x7f\ud800\u2028"
"""Escape sequences of 7 and 8 bits, bidirectional overrides, NUL, a lone surrogate, separators."""


NAMED = EVIL.replace("\ud800", "")
"""All that a script file takes in a name: it must be text that can be written down."""


def named(where):
    return f"{where}{NAMED}x"


def hostile(where):
    """Return *where* with every one of them in it."""
    return f"{where}{EVIL}x"


def recording(folder):
    """Write a session with control characters in every place that holds a text."""
    lines = Lines()
    lines.user(hostile("task"), 0, cwd=hostile("/srv/"), version=hostile("1"))
    value = hostile("ACCOUNT_4711_SALARY")
    for n in range(4):
        use_ = use(hostile(f"c{n}"), hostile("Read"), file_path=hostile(f"/srv/f{n % 2}"))
        lines.model(hostile(f"m{n}"), 10 * n + 1, use_, text(f"{value} said {n}"))
        body = f"{value} identifier_{n}_{EVIL}_z = {n}\n" * 40
        block = {"type": "tool_result", "tool_use_id": hostile(f"c{n}"), "content": body}
        lines.user([block], 10 * n + 2)
        lines.model(hostile(f"v{n}"), 10 * n + 3, use(f"d{n}", "Read", file_path=f"/srv/f{n}"))
        block = {"type": "tool_result", "tool_use_id": f"d{n}", "content": body * 2}
        lines.user([block], 10 * n + 4)
    lines.model("last", 99, text(f"{value} identifier_0_{EVIL}_z"))
    lines.put(hostile("odd-type"), {"role": hostile("role")}, 100)
    lines.user([{"type": hostile("part")}, {"type": "tool_result", "tool_use_id": EVIL}], 101)
    lines.raw("{" + EVIL.replace("\ud800", ""))
    file = folder / "session\x1b[31m\u202e.jsonl"
    file.write_text("\n".join(lines.lines) + "\n", encoding="utf-8")
    return file


@pytest.fixture
def evictbench(capsys, monkeypatch):
    """Runs the command line as for a terminal: nothing that controls one is taken out for it."""
    monkeypatch.setattr("click.utils.should_strip_ansi", lambda *ignored: False)

    def run(*arguments):
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        streams = capsys.readouterr()
        return ended.value.code, streams.out, streams.err

    return run


def clean(*streams):
    """Check that every line of what was printed is printable."""
    for stream in streams:
        for line in stream.split("\n"):
            assert line.isprintable(), ascii(line)


@pytest.mark.parametrize("form", ["table", "md", "json", "csv"])
def test_replay(evictbench, tmp_path, form):
    file = recording(tmp_path)
    asked = "-p", "naive-rewrite", "-p", "tiered", "--budget", "2500"
    code, out, err = evictbench("replay", file, *asked, "--format", form)
    assert code == 0 and err
    clean(out, err)
    if form == "json":
        assert len(json.loads(out)["rows"]) == 2
    if form == "csv":
        assert len(list(csv.DictReader(io.StringIO(out)))) == 2


@pytest.mark.parametrize("strict", [[], ["--strict"]])
def test_a_replay_with_tools_and_scores_that_fit_nothing(evictbench, tmp_path, strict):
    tools, scores = tmp_path / "t\x1b[1m.toml", tmp_path / "r\x9b.json"
    tools.write_text('[tools."Reed\\u001b[2J\\u202E"]\nmax_result_tokens = 40\n')
    scores.write_text(json.dumps({hostile("Nothing"): 0.5}))
    more = "--tools", tools, "--relevance", scores, *strict
    code, out, err = evictbench("replay", recording(tmp_path), "-p", "no-op", *more)
    assert code == (2 if strict else 0)
    clean(out, err)


def test_a_folder_and_files_that_are_none(evictbench, tmp_path):
    recording(tmp_path)
    (tmp_path / "junk\x1b[5m\u202e.json").write_text('{"\\u001b[2J": 1}')
    (tmp_path / "more\x07.jsonl").write_text('{"type": "\\u001b[2J"}\n')
    code, out, err = evictbench("replay", tmp_path, "-p", "no-op")
    assert code == 0 and "passed over" in err
    clean(out, err)
    for name in ("junk\x1b[5m\u202e.json", "more\x07.jsonl", "gone\x1b[2J\u202e.jsonl"):
        for command in ("replay", "redact"):
            code, out, err = evictbench(command, tmp_path / name)
            assert code == 2
            clean(out, err)
    code, out, err = evictbench("run", tmp_path / "gone\x1b[2J\u202e.json", "-p", "no-op")
    assert code == 2
    clean(out, err)


def test_pins_that_do_not_fit_are_named(evictbench, tmp_path):
    code, out, err = evictbench("replay", recording(tmp_path), "-p", "no-op", "--budget", "1")
    assert code == 2
    clean(out, err)


def script(folder, **settings):
    """Write a script whose names are full of them; the pins fill its budget."""
    lost = {"key": named("limit"), "value": named("4500"), "prior": named("3000")}
    written = folder / "clean.json"
    with pytest.raises(SystemExit):
        main(["run", "threshold-drift", "-p", "no-op", "--write-script", str(written)])
    document = json.loads(written.read_text())
    document["scenario"] = named("drift")
    document["settings"].update(turns=14, budget=3000, **settings)
    names = [named("task"), named("span"), named("long")]
    about = {"type": "arrival", "score": 1.0, "path": None}
    document["stimuli"] = [
        {**about, "turn": 1, "id": names[0], "kind": "task", "tokens": 500, "pinned": True},
        {**about, "turn": 1, "id": names[1], "kind": "note", "tokens": 40, "facts": [lost]},
        {**about, "turn": 12, "id": names[2], "kind": "file", "tokens": 2900, "path": NAMED},
        {"type": "write", "turn": 12, "path": NAMED},
        {
            "type": "query",
            "turn": 13,
            "id": named("q"),
            "key": lost["key"],
            "relevance": 0.9,
            "touches": [names[1]],
        },
        {"type": "act", "turn": 13, "id": named("act"), "requires": [names[0]]},
        {"type": "change", "turn": 13, "what": "tools", "value": named("search")},
    ]
    document["attempts"] = []
    document["output_tokens"] = {}
    file = folder / "script\x1b[31m.json"
    file.write_text(json.dumps(document))
    return file


@pytest.mark.parametrize("policy", ["naive-rewrite", "sliding-window", "naive-trim", "tiered"])
@pytest.mark.parametrize("form", ["table", "json"])
def test_run(evictbench, capsys, tmp_path, policy, form):
    file = script(tmp_path)
    capsys.readouterr()
    events, trace, written = tmp_path / "e.jsonl", tmp_path / "t.json", tmp_path / "w.json"
    files = "--events", events, "--trace", trace, "--write-script", written
    code, out, err = evictbench("run", file, "-p", policy, "--format", form, *files)
    assert code == 0
    clean(out, err)
    for each in (events, trace, written):
        clean(each.read_text(encoding="utf-8"))
        assert each.read_text(encoding="utf-8").isascii()
    if form == "json":
        json.loads(out)


@pytest.mark.parametrize("form", ["table", "md", "json", "csv"])
def test_compare(evictbench, capsys, tmp_path, form):
    file = script(tmp_path)
    capsys.readouterr()
    code, out, err = evictbench("compare", file, "-p", "naive-rewrite", "--format", form)
    assert code == 0
    clean(out, err)


def test_redact_says_nothing_of_it(evictbench, tmp_path):
    code, out, err = evictbench("redact", recording(tmp_path))
    assert code == 0
    clean(out, err)


@pytest.mark.parametrize(
    "change",
    [
        {"settings": {EVIL: 1}},
        {"stimuli": [{"type": EVIL}]},
        {"stimuli": [{"type": "arrival", "turn": 1, "id": EVIL}]},
        {"stimuli": [{"type": "act", "turn": 1, "id": EVIL, "requires": [EVIL]}]},
        {EVIL: 1},
        {"seed": EVIL},
        {"capabilities": [EVIL], "tokens_from": 3},
        {"output_tokens": {EVIL: 3}},
        {"attempts": [{"number": 1, "turn": 1, "needs": {"facts": [EVIL]}}]},
    ],
)
def test_a_script_with_faults(evictbench, capsys, tmp_path, change):
    file = script(tmp_path)
    capsys.readouterr()
    document = json.loads(file.read_text())
    file.write_text(json.dumps({**document, **change}))
    code, out, err = evictbench("run", file, "-p", "no-op")
    assert code == 2 or "capabilities" in change
    clean(out, err)


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", EVIL.replace("\x00", ""), "-p", "no-op"),
        ("run", "stale-file", "-p", EVIL),
        ("run", "stale-file", "-p", "tiered:" + EVIL),
        ("run", "stale-file", "-p", "no-op", "--set", f"{EVIL}=1"),
        ("run", "stale-file", "-p", "no-op", "--set", f"budget={EVIL}"),
        ("run", "stale-file", "-p", "no-op", "--price", EVIL),
        ("run", "stale-file", "-p", "no-op", "--" + EVIL),
        ("replay", "x.jsonl", "--budget", EVIL),
        ("replay", "x.jsonl", "--format", EVIL),
        (EVIL,),
    ],
)
def test_an_argument_that_is_echoed(evictbench, arguments):
    code, out, err = evictbench(*arguments)
    assert code == 2
    clean(out, err)


LINE = "x\nevictbench: nothing is wrong"
"""A name that would make up a line of its own."""


@pytest.fixture
def forged(tmp_path, monkeypatch):
    """Make files of such a name where the command line stands: a session, and none of anything."""
    monkeypatch.chdir(tmp_path)
    recording(tmp_path).rename(f"{LINE}.jsonl")
    for end in ("txt", "toml", "json", "py"):
        (tmp_path / f"{LINE}.{end}").write_text("x")
    (tmp_path / f"{LINE}.tools").write_text(
        "[tools.Read]\nmax_result_tokens = 40\n[tools.None]\nmax_result_tokens = 40\n"
    )
    (tmp_path / LINE).mkdir()
    return tmp_path


@pytest.mark.parametrize(
    "arguments",
    [
        ("replay", f"{LINE}.jsonl", "-p", "no-op"),
        ("replay", f"{LINE}.jsonl", "-p", "no-op", "--tools", f"{LINE}.tools"),
        ("replay", f"{LINE}.jsonl", "-p", "no-op", "--strict"),
        ("replay", ".", "-p", "no-op"),
        ("replay", f"{LINE}.txt"),
        ("replay", f"{LINE}.none"),
        ("replay", f"{LINE}.jsonl", "--tools", f"{LINE}.toml"),
        ("replay", f"{LINE}.jsonl", "--relevance", f"{LINE}.txt"),
        ("redact", f"{LINE}.jsonl"),
        ("redact", f"{LINE}.jsonl", "-o", f"{LINE}.jsonl"),
        ("redact", f"{LINE}.jsonl", "-o", f"{LINE}.txt"),
        ("redact", f"{LINE}.jsonl", "-o", f"{LINE}/none/x"),
        ("run", f"{LINE}.jsonl", "-p", "no-op"),
        ("run", LINE, "-p", "no-op"),
        ("run", f"{LINE}.toml", "-p", "no-op"),
        ("run", f"{LINE}.json", "-p", "no-op"),
        ("run", "stale-file", "-p", f"{LINE}.py:X"),
        ("run", "stale-file", "-p", "no-op", "--prices", f"{LINE}.toml"),
        ("run", "stale-file", "-p", "no-op", "--events", LINE),
        ("run", "stale-file", "-p", "no-op", "--events", f"{LINE}/none/x"),
        ("run", "stale-file", "-p", "no-op", "--events", f"{LINE}.e", "--trace", f"{LINE}.e"),
        ("compare", f"{LINE}.jsonl", "-p", "no-op"),
    ],
)
def test_a_name_makes_no_line_of_its_own(evictbench, forged, arguments):
    _, out, err = evictbench(*arguments)
    clean(out, err)
    assert "nothing is wrong" in err
    for line in err.splitlines():
        assert line.startswith("evictbench: ") and not line.startswith("evictbench: nothing")


@pytest.mark.parametrize("code", ["EIO", "ENOSPC"])
def test_what_cannot_be_read_is_not_said_to_be_standard_output(monkeypatch, evictbench, code):
    import errno

    from bench import loading

    def load(*given):
        raise OSError(getattr(errno, code), "it went wrong")

    monkeypatch.setattr(loading, "load", load)
    status, out, err = evictbench("run", "stale-file", "-p", "no-op")
    assert (status, out) == (4, "")
    assert err.startswith("evictbench: evictbench itself failed, OSError: ")
    assert "it went wrong" in err and "standard output" not in err


def test_a_usage_error_ends_as_other_sentences_do(evictbench):
    _, _, err = evictbench("run", "stale-file")
    assert "missing option '-p' / '--policy' (see `evictbench run --help`)" in err
