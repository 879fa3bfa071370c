"""What `evictbench reduce` makes of an output: the text, and its measure beside a blind cut."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from bench.cli import main
from bench.reducing import reduce_output
from sim.errors import InputError
from sim.tokens import tokenizer

ERRORS = [
    f'src/part{file}.py:{line}: error: Name "thing_{file}_{line}" is not defined  [name-defined]'
    for file in range(12)
    for line in range(1, 9)
]
CHECK = "\n".join([*ERRORS, "Found 96 errors in 12 files (checked 40 source files)"]) + "\n"
Run = Callable[..., str]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs the command, which must go well, and returns what it prints."""

    def command(*arguments: object) -> str:
        with pytest.raises(SystemExit) as ended:
            main(["reduce", *map(str, arguments)])
        out, err = capsys.readouterr()
        assert (ended.value.code, err) == (0, "")
        return out

    return command


@pytest.fixture
def log(tmp_path: Path) -> Path:
    file = tmp_path / "check.log"
    file.write_text(CHECK, encoding="utf-8")
    return file


def test_the_text_stands_above_its_measure(run: Run, log: Path) -> None:
    out = run(log, "--max-tokens", 800)
    for file in range(12):
        assert f"src/part{file}.py:1: error: " in out
    assert "thing_3_2" not in out
    assert "84 further errors in the files above" in out
    assert "files with an error 12 (100 %)" in out
    assert "read as mypy; budget 800; tokens by o200k" in out
    assert "it reports 96 errors, 12 files" in out
    measure = run(log, "--max-tokens", 800, "--no-show")
    assert "src/part3.py" not in measure
    assert out.endswith(measure)


def test_the_text_alone(run: Run, log: Path) -> None:
    out = run(log, "--max-tokens", 800, "--format", "text")
    assert tokenizer().count(out.removesuffix("\n")) <= 800
    assert out.startswith("src/part0.py:1: error: ")
    assert out.endswith("Found 96 errors in 12 files (checked 40 source files)\n")
    assert run(log, "--format", "text").rstrip() == CHECK.rstrip()


def test_one_document(run: Run, log: Path) -> None:
    found = json.loads(run(log, "--max-tokens", 800, "--format", "json"))
    assert found["tool"] == "mypy"
    assert found["tokens_before"] == tokenizer().count(CHECK)
    assert found["tokens_after"] == tokenizer().count(found["text"]) <= 800
    left = found["tokens_before"] - found["tokens_after"]
    assert found["dropped"] == {"errors": 84, "tokens": left}
    assert found["kept"]["files"] == found["kept"]["of_files"] == 12
    assert found["kept"]["share_of_files"] == 1.0
    assert found["kept"]["share_of_failures"] is None
    assert found["head_tail_kept"]["files"] < 12
    assert found["difference"] is None


def test_standard_input(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(CHECK.encode())))
    assert "12 (100 %)" in run("-", "--max-tokens", 800, "--no-show")


def test_an_estimate_says_so(run: Run, log: Path) -> None:
    assert '"tokenizer": "bytes/4"' in run(log, "--tokenizer", "bytes/4", "--format", "json")
    out = " ".join(run(log, "--tokenizer", "bytes/4").split())
    assert "tokens by bytes/4, an estimate: no tokenizer has counted" in out
    out = run(log, "--tokenizer", "cl100k", "--max-tokens", 800, "--format", "text")
    assert tokenizer("cl100k").count(out.removesuffix("\n")) <= 800


def test_declared_tools(run: Run, log: Path, tmp_path: Path) -> None:
    tools = tmp_path / "tools.toml"
    tools.write_text('[tools.check]\nmax_result_tokens = 700\nreducer = "mypy"\n')
    declared = ("--tools", tools, "--tool", "check", "--no-show")
    assert "read as mypy; budget 700" in run(log, *declared)
    assert "budget 900" in run(log, *declared, "--max-tokens", 900)


def test_the_difference_to_the_run_before(run: Run, log: Path, tmp_path: Path) -> None:
    before = tmp_path / "before.log"
    before.write_text(CHECK.replace("thing_3_4", "thing_3_x"), encoding="utf-8")
    out = run(log, "--since", before, "--max-tokens", 800)
    assert out.startswith("[as before, but for 1 line gone and 1 new]\n- src/part3.py:4: error: ")
    assert '+ src/part3.py:4: error: Name "thing_3_4"' in out
    assert "the text is the difference to the run before; kept is what both show" in out
    assert "12 (100 %)" in out
    before.write_text(CHECK, encoding="utf-8")
    assert run(log, "--since", before, "--max-tokens", 800).startswith("[the same as before]\n")


@pytest.mark.parametrize("earlier", ["nothing to see here\n" * 40, CHECK.replace("thing", "other")])
def test_a_difference_that_is_no_help_is_not_taken(
    run: Run, log: Path, tmp_path: Path, earlier: str
) -> None:
    before = tmp_path / "before.log"
    before.write_text(earlier, encoding="utf-8")
    out = run(log, "--since", before, "--max-tokens", 800)
    assert out.startswith("src/part0.py:1: error: ")
    assert "the difference to the run before would be longer, or of another tool" in out


def test_from_python() -> None:
    found = reduce_output(CHECK.encode(), 800)
    assert found.result.tool == "mypy"
    assert (found.kept.files, found.kept.of_files) == (12, 12)
    with pytest.raises(InputError, match="below the least of 40"):
        reduce_output(CHECK.encode(), 39)
