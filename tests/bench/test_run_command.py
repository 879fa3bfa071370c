"""``evictbench run``: what it may write to, and what it says of what is no scenario."""

import json
import os

import pytest

from bench.cli import main
from tests.bench.test_redaction import made


@pytest.fixture
def evictbench(capsys):
    def run(*arguments):
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        streams = capsys.readouterr()
        return ended.value.code, streams.out, streams.err

    return run


@pytest.fixture
def script(evictbench, tmp_path):
    file = tmp_path / "script.json"
    assert evictbench("run", "stale-file", "-p", "tiered", "--write-script", file)[0] == 0
    return file


@pytest.mark.parametrize("option", ["--events", "--trace", "--write-script"])
@pytest.mark.parametrize("how", ["itself", "link", "hard link", "other name"])
def test_the_script_is_not_written_over(evictbench, tmp_path, script, option, how):
    before, output = script.read_bytes(), script
    if how == "link":
        output = tmp_path / "link.json"
        output.symlink_to(script)
    elif how == "hard link":
        output = tmp_path / "link.json"
        output.hardlink_to(script)
    elif how == "other name":
        output = f"{tmp_path}/../{tmp_path.name}/{script.name}"
    asked = "run", script, "-p", "tiered", "--set", "budget=9000", option, output
    code, out, err = evictbench(*asked)
    assert (code, out) == (2, "") and "it is an input, which is never overwritten" in err
    assert script.read_bytes() == before


def test_a_script_may_be_written_to_where_it_stands_already(evictbench, script):
    before = script.read_bytes()
    assert evictbench("run", script, "-p", "tiered", "--write-script", script)[0] == 0
    assert script.read_bytes() == before


@pytest.mark.parametrize("option", ["--events", "--trace", "--write-script"])
@pytest.mark.parametrize("name", ["policy", "scenario", "prices", "logs"])
def test_no_other_input_is_written_over_either(evictbench, tmp_path, option, name):
    files = {
        "policy": ("mine.py", "from policies.no_op import NoOp as Mine\n"),
        "scenario": ("mine.toml", 'name = "mine"\n'),
        "prices": ("prices.toml", '[ours]\nlike = "gpt-5.5"\n'),
        "logs": ("logs/one.log", "a line\n"),
    }
    (tmp_path / "logs").mkdir()
    for file, text in files.values():
        (tmp_path / file).write_text(text)
    asked = {
        "policy": ("stale-file", "-p", f"{tmp_path}/mine.py:Mine"),
        "scenario": (f"{tmp_path}/mine.toml/flip", "-p", "no-op"),
        "prices": ("stale-file", "-p", "no-op", "--prices", tmp_path / "prices.toml"),
        "logs": ("coding-agent", "-p", "no-op", "--set", f"tool_logs={tmp_path}/logs"),
    }
    file, text = files[name]
    code, _, err = evictbench("run", *asked[name], option, tmp_path / file)
    assert code == 2
    assert (tmp_path / file).read_text() == text
    if option != "--write-script":
        assert "it is an input, which is never overwritten" in err


def test_two_outputs_are_two_files(evictbench, tmp_path):
    (tmp_path / "link").symlink_to("x.json")
    asked = "run", "stale-file", "-p", "tiered"
    for one, other in (("x.json", "x.json"), ("link", "x.json"), ("./y.json", "y.json")):
        code, out, err = evictbench(
            *asked, "--trace", f"{tmp_path}/{one}", "--write-script", f"{tmp_path}/{other}"
        )
        assert (code, out) == (2, "")
        assert "--trace and --write-script name the same file" in err
    assert sorted(os.listdir(tmp_path)) == ["link"]


def test_a_folder_called_as_a_scenario_is_no_input(evictbench, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "stale-file").mkdir()
    for _ in range(2):
        code, _, _ = evictbench("run", "stale-file", "-p", "no-op", "--events", "stale-file/e")
        assert code == 0
    assert (tmp_path / "stale-file" / "e").is_file()


@pytest.mark.parametrize("command", ["run", "compare"])
def test_what_is_recorded_is_no_scenario_and_what_takes_it_is_said(evictbench, tmp_path, command):
    session = made(tmp_path)
    messages = [
        {"role": "user", "content": "x"},
        {"role": "assistant", "content": "y"},
    ]
    other = tmp_path / "messages.json"
    other.write_text(json.dumps(messages))
    for file, format in ((session, "claude-code"), (other, "openai")):
        code, out, err = evictbench(command, file, "-p", "tiered")
        assert (code, out) == (2, "") and len(err.splitlines()) == 1
        assert f"{file}: it is a recorded session ({format})" in err
        for what in ("evictbench replay", "evictbench explain", "evictbench redact --keep-names"):
            assert f"`{what}" in err
    code, _, err = evictbench(command, tmp_path, "-p", "tiered")
    assert code == 2 and f"{tmp_path}: it is a folder and no scenario" in err
    assert "`evictbench replay`" in err


@pytest.mark.parametrize("command", ["run", "compare"])
def test_of_anything_else_the_nearest_name_is_said(evictbench, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "coding-agent").mkdir()
    (tmp_path / "notes.txt").write_text("notes\n")
    assert "did you mean 'stale-file'?" in evictbench(command, "stale-fil", "-p", "no-op")[2]
    assert "unknown scenario 'notes.txt'" in evictbench(command, "notes.txt", "-p", "no-op")[2]
    asked = "coding-agent", "-p", "no-op", "--set", "budget=-1"
    assert "budget" in evictbench(command, *asked)[2]
