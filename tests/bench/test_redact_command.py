"""``evictbench redact``: where its scripts go, and what reads them."""

import json
import os
import stat

import pytest

from bench.cli import main
from scenarios import transcripts
from scenarios.scripts import load_script
from tests.bench.test_redaction import made


@pytest.fixture
def evictbench(capsys):
    def run(*arguments):
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        streams = capsys.readouterr()
        return ended.value.code, streams.out, streams.err

    return run


def metrics(evictbench, file, policy, *more):
    code, out, _ = evictbench("run", file, "-p", policy, "--format", "json", *more)
    assert code == 0
    return json.loads(out)["metrics"]


def test_run_compare_and_replay_of_it_give_the_same_rows(evictbench, tmp_path):
    session, script = made(tmp_path), tmp_path / "hidden.json"
    assert evictbench("redact", session, "-o", script)[0] == 0
    asked = "-p", "tiered", "-p", "naive-rewrite", "-p", "no-op", "--format", "json"
    more = "--budget", "700", "--price", "gpt-5.5", "--set", "reader=measured"
    _, out, _ = evictbench("replay", session, *asked, *more)
    replayed = json.loads(out)["rows"]
    over = "--set", "budget=700", "--price", "gpt-5.5", "--set", "reader=measured"
    code, out, _ = evictbench("compare", script, *asked, *over)
    assert code == 0
    compared = json.loads(out)["rows"]
    assert len(compared) == len(replayed) == 3
    for one, other in zip(replayed, compared, strict=True):
        assert {**one, "scenario": other["scenario"]} == other
    code, out, _ = evictbench("replay", script, *asked, *more)
    assert code == 0
    again = json.loads(out)
    assert [{**row, "scenario": session.stem} for row in again["rows"]] == replayed
    for row in compared:
        found = metrics(evictbench, script, row["policy"], *over)
        assert found == {name: row[name] for name in found}


def test_the_replay_of_it_stands_beside_the_same_recording(evictbench, tmp_path):
    session, script = made(tmp_path), tmp_path / "acme payroll.json"
    evictbench("redact", session, "-o", script)
    _, one, _ = evictbench("replay", session, "-p", "tiered", "--format", "json")
    code, other, _ = evictbench("replay", script, "-p", "tiered", "--format", "json")
    assert code == 0
    one, other = json.loads(one), json.loads(other)
    paths = [gone.pop("path") for row in other["what_if"] for gone in row["gone"]]
    assert paths and all(path.startswith("path-") for path in paths)
    assert [gone.pop("path") for row in one["what_if"] for gone in row["gone"]] != paths
    for name in one.keys() - {"manifest", "recorded"}:
        assert one[name] == other[name], name
    assert one["recorded"].keys() == other["recorded"].keys() == {"acme payroll"}
    recorded = one["recorded"]["acme payroll"]
    assert {**recorded, "format": "script"} == other["recorded"]["acme payroll"]


def test_with_names_it_is_the_script_of_the_session(evictbench, tmp_path):
    session, script = made(tmp_path), tmp_path / "script.json"
    assert evictbench("redact", session, "--keep-names", "-o", script)[0] == 0
    (scenario,) = transcripts.load([session])
    assert load_script(script).script(0) == scenario.script(0)
    assert stat.S_IMODE(script.stat().st_mode) == 0o600


def test_a_script_of_no_recording_is_not_replayed(evictbench, tmp_path):
    script = tmp_path / "s.json"
    evictbench("run", "stale-file", "-p", "no-op", "--write-script", script)
    code, out, err = evictbench("replay", script)
    assert (code, out) == (2, "") and "`evictbench compare` takes it" in err


def test_the_file_is_its_owners_alone_and_the_text_goes_to_nobody(evictbench, tmp_path):
    session, script = made(tmp_path), tmp_path / "hidden.json"
    before = session.read_bytes()
    old = os.umask(0)
    try:
        code, out, _ = evictbench("redact", session, "-o", script)
    finally:
        os.umask(old)
    assert (code, out) == (0, "")
    assert stat.S_IMODE(script.stat().st_mode) == 0o600
    assert session.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []


def test_without_output_the_script_is_all_of_standard_output(evictbench, tmp_path):
    code, out, err = evictbench("redact", made(tmp_path))
    assert code == 0 and json.loads(out)["evictbench_script"] == 1
    assert "ACCOUNT_4711" not in out + err


@pytest.mark.parametrize("how", ["itself", "link", "hard link", "other name", "of a folder"])
def test_an_input_is_never_overwritten(evictbench, tmp_path, how):
    session = made(tmp_path)
    before = session.read_bytes()
    given, output = session, session
    if how == "link":
        output = tmp_path / "link.json"
        output.symlink_to(session)
    elif how == "hard link":
        output = tmp_path / "link.json"
        output.hardlink_to(session)
    elif how == "other name":
        output = f"{tmp_path}/../{tmp_path.name}/{session.name}"
    elif how == "of a folder":
        given = tmp_path
    code, _, err = evictbench("redact", given, "-o", output)
    assert code == 2 and "it is an input, which is never overwritten" in err
    assert session.read_bytes() == before


def test_an_input_in_the_folder_of_outputs_is_not_overwritten_either(evictbench, tmp_path):
    session = made(tmp_path, "session-1.json")
    before = session.read_bytes()
    code, _, err = evictbench("redact", session, "-o", tmp_path)
    assert code == 2 and "never overwritten" in err
    assert session.read_bytes() == before


def test_several_sessions_go_to_a_folder(evictbench, tmp_path):
    (tmp_path / "in").mkdir()
    for name in ("one.jsonl", "two.jsonl"):
        made(tmp_path / "in", name)
    code, out, err = evictbench("redact", tmp_path / "in")
    assert (code, out) == (2, "") and "several sessions in it: give a folder, -o DIR/" in err
    code, _, err = evictbench("redact", tmp_path / "in", "-o", tmp_path / "one.json")
    assert code == 2 and not (tmp_path / "one.json").exists()
    assert evictbench("redact", tmp_path / "in", "-o", f"{tmp_path}/out/")[0] == 0
    files = sorted((tmp_path / "out").iterdir())
    assert [file.name for file in files] == ["session-1.json", "session-2.json"]
    assert all(stat.S_IMODE(file.stat().st_mode) == 0o600 for file in files)
    one, two = (json.loads(file.read_text()) for file in files)
    assert one["scenario"] != two["scenario"]
    assert metrics(evictbench, files[0], "tiered") == metrics(evictbench, files[1], "tiered")


def test_what_exists_is_replaced_only_if_that_is_asked_for(evictbench, tmp_path):
    session, output = made(tmp_path), tmp_path / "precious.json"
    output.write_text("precious")
    output.chmod(0o644)
    code, out, err = evictbench("redact", session, "-o", output)
    assert (code, out) == (2, "") and "precious.json: it exists already; --force replaces it" in err
    assert output.read_text() == "precious" and stat.S_IMODE(output.stat().st_mode) == 0o644
    assert evictbench("redact", session, "-o", output, "--force")[0] == 0
    assert json.loads(output.read_text())["evictbench_script"] == 1
    assert stat.S_IMODE(output.stat().st_mode) == 0o600
    before = session.read_bytes()
    code, _, err = evictbench("redact", session, "-o", session, "--force")
    assert code == 2 and "never overwritten" in err and session.read_bytes() == before


def test_scripts_of_an_earlier_redaction_are_not_mixed_with_new_ones(evictbench, tmp_path):
    session, folder = made(tmp_path), tmp_path / "out"
    folder.mkdir()
    for name in ("session-2.json", "session-10.json", "session-0.json", "notes.json"):
        (folder / name).write_text("old")
    code, out, err = evictbench("redact", session, "-o", folder)
    assert (code, out) == (2, "") and "session-2.json: it exists already; --force" in err
    assert not (folder / "session-1.json").exists()
    code, _, err = evictbench("redact", session, "-o", folder, "--force")
    assert code == 0
    said = "session-2.json to session-10.json there are of an earlier redaction"
    assert f"evictbench: warning: {folder}: {said}" in err.splitlines()
    assert (folder / "session-10.json").read_text() == "old"
    (folder / "session-10.json").unlink()
    assert (
        "session-2.json there is of an" in evictbench("redact", session, "-o", folder, "--force")[2]
    )


def test_a_pipe_takes_the_script(evictbench, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert evictbench("redact", made(tmp_path), "-o", pipe)[0] == 0
        assert os.read(reader, 20) == b'{\n"evictbench_script'
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_the_same_note_of_many_sessions_is_one_line(evictbench, tmp_path):
    (tmp_path / "in").mkdir()
    for name in ("one.jsonl", "two.jsonl", "three.jsonl"):
        made(tmp_path / "in", name)
    _, _, err = evictbench("redact", tmp_path / "in", "-o", f"{tmp_path}/out/")
    notes = [line.removeprefix("evictbench: ") for line in err.splitlines()]
    assert notes and all(note.startswith("3 sessions (one, three, two): ") for note in notes)
    assert len(set(notes)) == len(notes)


def test_a_script_file_is_redacted_too(evictbench, tmp_path):
    written, hidden = tmp_path / "stale.json", tmp_path / "hidden.json"
    evictbench("run", "stale-file", "-p", "tiered", "--write-script", written)
    code, _, err = evictbench("redact", written, "-o", hidden)
    assert (code, err) == (0, "")
    assert "invoice" not in hidden.read_text()
    assert metrics(evictbench, hidden, "tiered") == metrics(evictbench, written, "tiered")


def test_it_says_where_a_script_draws_by_its_names(evictbench, tmp_path):
    written = tmp_path / "written.json"
    evictbench("run", "coding-agent", "-p", "tiered", "--write-script", written)
    code, _, err = evictbench("redact", written, "-o", tmp_path / "hidden.json")
    assert code == 0 and "draws anew" in err


def test_a_price_of_ones_own_book_is_left_out_by_name(evictbench, tmp_path):
    book, session = tmp_path / "book.toml", made(tmp_path)
    from bench.prices import load_book

    assert "our-secret-rate" not in load_book()
    book.write_text('[our-secret-rate]\nlike = "gpt-5.5"\n')
    written = tmp_path / "written.json"
    evictbench("run", "stale-file", "-p", "no-op", "--write-script", written)
    script = json.loads(written.read_text())
    script["settings"]["price"] = "our-secret-rate"
    written.write_text(json.dumps(script))
    code, out, err = evictbench("redact", written)
    assert code == 0 and "is of a book of your own" in err
    assert "our-secret-rate" not in out
    assert evictbench("redact", session)[0] == 0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("nothing.jsonl",), "there is no such file"),
        (("",), "a path is empty and names no file"),
        (("{session}", ""), "a path is empty and names no file"),
        (("-",), "-: standard input is not read"),
        (("{session}", "--budget", "0"), "budget"),
        (("{session}", "--tokenizer", "o20k"), "did you mean 'o200k'?"),
        (("{session}", "--set", "turns=3"), "turns of a recorded session cannot be set"),
        (("{script}", "--tools", "{tools}"), "a script has the budgets of its tools already"),
        (("{session}", "-o", "{session}/x.json"), "cannot write it"),
    ],
)
def test_wrong_input_is_one_sentence(evictbench, tmp_path, arguments, says):
    session, script, tools = made(tmp_path), tmp_path / "s.json", tmp_path / "t.toml"
    evictbench("run", "stale-file", "-p", "no-op", "--write-script", script)
    tools.write_text("[tools.Read]\nmax_result_tokens = 100\n")
    filled = [a.format(session=session, script=script, tools=tools) for a in arguments]
    code, out, err = evictbench("redact", *filled)
    assert (code, out) == (2, "")
    assert says in err and "Traceback" not in err
