"""``evictbench check``: what it prints, and its exit codes."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from bench.ceiling import Ceiling, GivenUp, Step, Surrender
from bench.cli import main
from bench.tables.ceiling import COLUMNS, LIMIT, ceiling_tables
from scenarios import catalogue

ROOT = Path(__file__).resolve().parents[2]
LOOP = ROOT / "examples" / "loop.toml"
TOOLS = ROOT / "examples" / "tools.json"
NUMBERS = ("--budget", "200000", "--attempts", "4", "--fill", "70000", "--material", "8500")

SCENARIO = """\
[settings]
turns = 3
budget = 1_000

[tools.lint]
max_result_tokens = 200

[[segment]]
id = "task"
turn = 1
kind = "task"
tokens = 100
pinned = true

[[attempt]]
number = 1
turn = 2
segment = [
    { id = "say", kind = "assistant", tokens = 50 },
    { id = "lint-1", kind = "tool_result", tool = "lint", tokens = 7_000 },
]

[[attempt]]
number = 2
turn = 3
needs = { facts = ["f"] }
segment = [{ id = "fact", kind = "note", tokens = 50, facts = [{ key = "f" }] }]
ok.segment = [{ id = "lint-2", kind = "tool_result", tool = "lint", tokens = 5 }]
failed.segment = [{ id = "lint-2", kind = "tool_result", tool = "lint", tokens = 50 },
                  { id = "more", kind = "note", tokens = 60 }]

[flips.tight]
settings.budget = 650
"""

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def check(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs the command in this process: exit code, standard output, standard error."""

    def run(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main(["check", *map(str, arguments)])
        streams = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return ended.value.code, streams.out, streams.err

    return run


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Writes a file and returns its path."""

    def write(text: str, name: str = "mine.toml") -> Path:
        (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path / name

    return write


class TestTheSeedsCase:
    def test_it_just_fits(self, check: Run) -> None:
        code, out, err = check(LOOP)
        assert (code, err) == (0, "")
        assert "At worst 200,000 tokens in a window of 200,000: 0 left." in out
        assert "tiered would give up nothing" in out

    def test_one_token_more_does_not(self, check: Run, write: Callable[..., Path]) -> None:
        file = write(LOOP.read_text(encoding="utf-8").replace("24_000", "24_001"))
        code, out, err = check(file, "--format", "json")
        assert (code, err) == (1, "")
        found = json.loads(out)
        assert [step["worst_case_tokens"] for step in found["steps"]] == [
            70_000,
            102_501,
            135_002,
            167_503,
            200_004,
        ]
        assert [step["left_tokens"] for step in found["steps"]][-2:] == [32_497, -4]
        assert (found["fits"], found["over_tokens"], found["breaks_at"]) == (False, 4, "attempt 4")
        assert found["heaviest_tool"] == "typecheck"
        assert found["tools"] == [
            {
                "tool": "typecheck",
                "results": 4,
                "max_result_tokens": 24_001,
                "tokens": 96_004,
                "share": float(f"{96_004 / 200_004:.9g}"),
            }
        ]
        assert [(r["what"], r["to"]) for r in found["remedies"]] == [
            ("tool", 24_000),
            ("fill", 69_996),
            ("material", 8_499),
            ("attempts", 3),
            ("budget", 200_004),
        ]
        assert [(g["step"], g["how"], g["segments"]) for g in found["given_up"]] == [
            ("attempt 4", "line", ["material-3"])
        ]
        assert (found["policy"], found["peak_tokens"], found["ended"]) == ("tiered", 191_516, None)

    def test_the_same_from_the_tools_of_a_provider(self, check: Run) -> None:
        # 20,000 for the type check and two pages of 2,000.
        code, out, _ = check(TOOLS, *NUMBERS, "--format", "csv")
        assert code == 0
        rows = list(csv.DictReader(io.StringIO(out)))
        assert tuple(rows[0]) == COLUMNS
        assert [row["worst_case_tokens"] for row in rows][-1] == "200000"
        assert check(TOOLS, *NUMBERS, "--material", "8501")[0] == 1

    @pytest.mark.parametrize(
        ("option", "code"),
        [
            (("--attempts", 5), 1),
            (("--attempts", 3), 0),
            (("--fill", 70_001), 1),
            (("--fill", 0), 0),
            (("--material", 8_501), 1),
            (("--budget", 199_999), 1),
            (("--budget", 199_999, "--attempts", 1), 0),
        ],
    )
    def test_options_take_the_place_of_the_numbers(
        self, check: Run, option: tuple[object, ...], code: int
    ) -> None:
        assert check(LOOP, *option)[0] == code

    def test_markdown(self, check: Run) -> None:
        code, out, _ = check(LOOP, "--budget", 190_000, "--format", "md")
        assert code == 1
        assert "| attempt 4 | 24,000 | 8,500 | 200,000 | −10,000 | no |" in out
        assert "| max_result_tokens of typecheck | 24,000 | at most 21,500 |" in out
        assert "| the window | 190,000 | at least 200,000 |" in out


class TestAScenario:
    def test_the_larger_branch_and_the_declared_budgets(
        self, check: Run, write: Callable[..., Path]
    ) -> None:
        code, out, _ = check(write(SCENARIO), "--format", "csv")
        assert code == 0
        rows = list(csv.reader(io.StringIO(out)))[1:]
        # 100; + 50 + 200; + 50 + 200 + 60.
        assert rows == [
            ["first fill", "1", "0", "100", "100", "100", "900", "True"],
            ["attempt 1", "2", "200", "50", "250", "350", "650", "True"],
            ["attempt 2", "3", "200", "110", "310", "660", "340", "True"],
        ]

    def test_a_flip(self, check: Run, write: Callable[..., Path]) -> None:
        code, out, _ = check(f"{write(SCENARIO)}/tight", "--format", "json")
        assert code == 1
        found = json.loads(out)
        assert found["over_tokens"] == 10
        # The last turn: the words of attempt 1 free 38, its lint 188.
        assert [given["segments"] for given in found["given_up"]] == [["say"]]

    def test_options(self, check: Run, write: Callable[..., Path]) -> None:
        file = write(SCENARIO)
        assert check(file, "--budget", 659)[0] == 1
        assert check(file, "--budget", 660)[0] == 0
        assert check(file, "--budget", 350, "--attempts", 1)[0] == 0
        assert check(file, "--budget", 969, "--attempts", 3)[0] == 1
        assert check(file, "--budget", 970, "--attempts", 3)[0] == 0
        assert check(file, "--budget", 659, "--fill", 99)[0] == 2
        assert check(file, "--budget", 700, "--fill", 140)[0] == 0
        assert check(file, "--budget", 559, "--material", 30)[0] == 1
        assert check(file, "--budget", 560, "--material", 30)[0] == 0

    def test_a_script_that_a_run_wrote(
        self,
        check: Run,
        write: Callable[..., Path],
        tmp_path: Path,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        file, script = write(SCENARIO), tmp_path / "script.json"
        with pytest.raises(SystemExit):
            main(["run", str(file), "-p", "no-op", "--write-script", str(script)])
        capsys.readouterr()
        assert check(script, "--format", "csv") == check(file, "--format", "csv")


class TestToolsOverAScenario:
    BARE = SCENARIO.replace("[tools.lint]\nmax_result_tokens = 200\n", "")

    def test_they_take_the_place_of_what_it_declares(
        self, check: Run, write: Callable[..., Path]
    ) -> None:
        tools = write("[tools.lint]\nmax_result_tokens = 100\n", "tools.toml")
        for text in (SCENARIO, self.BARE):
            code, out, err = check(write(text), "--tools", tools, "--format", "csv")
            assert (code, err) == (0, "")
            # 100; + 50 + 100; + 50 + 100 + 60: both branches and both attempts.
            rows = list(csv.DictReader(io.StringIO(out)))
            assert [row["worst_case_tokens"] for row in rows] == ["100", "250", "460"]

    @pytest.mark.parametrize("family", ["coding-agent", "doc-analysis", "support-agent"])
    def test_every_family_can_be_checked(
        self, check: Run, write: Callable[..., Path], family: str
    ) -> None:
        names = {"coding-agent": ("read", "edit"), "doc-analysis": ("read",)}
        tables = (
            f"[tools.{name}]\nmax_result_tokens = 40\n" for name in names.get(family, ("page",))
        )
        code, out, err = check(
            family, "--tools", write("".join(tables)), "--budget", 10**9, "--format", "csv"
        )
        assert (code, err) == (0, "")
        assert len(out.splitlines()) > 3

    def test_what_is_not_used_is_named(self, check: Run, write: Callable[..., Path]) -> None:
        text = "[loop]\nfill = 3\n[tools.lint]\nmax_result_tokens = 100\n"
        tools = write(f"{text}[tools.other]\nmax_result_tokens = 50\n", "tools.toml")
        code, _, err = check(write(SCENARIO), "--tools", tools)
        assert code == 0
        assert err == (
            f"evictbench: warning: {tools}: mine calls no 'other'\n"
            f"evictbench: warning: {tools}: [loop] is not used: mine says itself what comes\n"
        )

    def test_a_file_that_says_nothing_about_it(
        self, check: Run, write: Callable[..., Path]
    ) -> None:
        tools = write("[tools.lin]\nmax_result_tokens = 100\n", "tools.toml")
        assert check(write(SCENARIO), "--tools", tools) == (
            2,
            "",
            f"evictbench: {tools}: none of its tools is called; unknown tool 'lin'; did you mean "
            "'lint'?\n",
        )

    def test_tools_that_lack_a_budget_even_so(self, check: Run, write: Callable[..., Path]) -> None:
        tools = write("[tools.tests]\nmax_result_tokens = 100\n")
        assert check("three-tools", "--tools", tools) == (
            2,
            "",
            "evictbench: three-tools: tools 'lint' and 'typecheck' declare no max_result_tokens; "
            "nor does the file of --tools\n",
        )
        tools = write("[tools.lint]\npages = true\n")
        code, _, err = check("three-tools", "--tools", tools)
        assert code == 2
        assert err == f"evictbench: {tools}:1: tool 'lint' declares no max_result_tokens\n"

    def test_options_that_say_nothing_about_a_tools_file(self, check: Run) -> None:
        assert check(LOOP, "--seed", 0) == (
            2,
            "",
            f"evictbench: {LOOP}: a tools file has no seed: --seed is for a family\n",
        )
        assert check(LOOP, "--tools", LOOP) == (
            2,
            "",
            f"evictbench: {LOOP}: it is a tools file itself: --tools lays one over a scenario or a "
            "script\n",
        )


def test_the_page_names_what_works_without_tools(check: Run) -> None:
    text = (ROOT / "docs" / "check.md").read_text(encoding="utf-8")
    named = re.search(r"Of the stories (.*?) have one as they are", text, re.S)
    assert named is not None
    without = {name for name in catalogue.names() if check(name)[0] != 2}
    assert set(re.findall(r"`([a-z-]+)`", named[1])) == without


class TestBadInput:
    def test_tools_without_a_budget_are_named(self, check: Run, write: Callable[..., Path]) -> None:
        assert check("three-tools") == (
            2,
            "",
            "evictbench: three-tools: tools 'lint', 'tests' and 'typecheck' declare no "
            "max_result_tokens; --tools FILE lays budgets over it\n",
        )
        file = write("[tools.a]\nmax_result_tokens = 50\n[tools.b]\n[tools.c]\npages = true\n")
        assert check(file) == (
            2,
            "",
            f"evictbench: {file}:3: tool 'b' declares no max_result_tokens\n"
            f"evictbench: {file}:4: tool 'c' declares no max_result_tokens\n",
        )

    def test_a_loop_without_its_numbers(self, check: Run) -> None:
        assert check(TOOLS, "--fill", 3) == (
            2,
            "",
            f"evictbench: {TOOLS}: the loop lacks budget, attempts and material: say so under "
            "[loop], or with --budget N, --attempts N, --material N\n",
        )

    @pytest.mark.parametrize("text", ["[tools.a]\nmax_result_tokens = 50\n", SCENARIO])
    def test_an_unknown_reducer(self, check: Run, write: Callable[..., Path], text: str) -> None:
        number = text.count("\n", 0, text.index("max_result_tokens")) + 2
        text = re.sub(r"(max_result_tokens = .*\n)", r'\1reducer = "mipy"\n', text, count=1)
        file = write(text)
        code, out, err = check(file)
        assert (code, out) == (2, "")
        tool = "a" if text.startswith("[tools.a]") else "lint"
        assert err.startswith(
            f"evictbench: {file}:{number}: tool {tool!r}: unknown reducer 'mipy'; did you mean 'm"
        )

    @pytest.mark.parametrize(
        ("arguments", "sentence"),
        [
            (("no-such.toml",), "no-such.toml: cannot read it: No such file or directory"),
            (("signature-chang",), "unknown scenario 'signature-chang'; did you mean 'signature-"),
            ((ROOT / "Makefile",), f"{ROOT}/Makefile: a file to check ends with .toml or .json"),
            (
                (LOOP, "--fill", "70,000"),
                "invalid value for '--fill': '70,000' is no whole number; wr",
            ),
            ((LOOP, "--attempts", 0), "invalid value for '--attempts'"),
            ((LOOP, "--format", "cvs"), "invalid value for '--format': unknown word 'cvs'; did"),
            ((), "missing argument 'FILE'"),
        ],
    )
    def test_one_sentence(self, check: Run, arguments: tuple[object, ...], sentence: str) -> None:
        code, out, err = check(*arguments)
        assert (code, out) == (2, "")
        assert err.startswith(f"evictbench: {sentence}")
        assert err.count("\n") == 1

    def test_pins_over_the_budget(self, check: Run, write: Callable[..., Path]) -> None:
        code, _, err = check(write(SCENARIO), "--budget", 99)
        assert code == 2
        assert "the segments pinned in turn 1 hold 100 tokens" in err


class TestTables:
    def ceiling(self, steps: int) -> Ceiling:
        bare = tuple(Step(f"turn {n}", n, (("t", 50),), 1) for n in range(2, 2 + steps))
        return Ceiling(2_000, Step("first fill", 1, (), 10), 10, bare)

    def test_of_many_steps_the_first_the_last_and_those_that_matter(self) -> None:
        # 10 + 51 n > 2,000 for the first time at n = 40, which is turn 41.
        growth, *_ = ceiling_tables("x", self.ceiling(100), Surrender((), None))
        names = [line.cells[0] for line in growth.rows]
        assert names[:4] == ["first fill", "turn 2", "turn 3", "turn 4"]
        assert names[4:14] == ["…", *(f"turn {n}" for n in range(37, 45)), "…"]
        assert names[14:] == [f"turn {n}" for n in range(98, 102)]
        assert growth.title == "x: breaks at turn 41"
        assert growth.notes == (
            "At worst 5,110 tokens in a window of 2,000: 3,110 over.",
            "85 steps are not shown (…); --format csv has all",
        )
        growth, *_ = ceiling_tables("x", self.ceiling(LIMIT - 1), Surrender((), None))
        assert len(growth.rows) == LIMIT
        assert growth.notes == ("At worst 1,183 tokens in a window of 2,000: 817 left.",)

    def test_a_single_step_is_never_left_out(self) -> None:
        # It breaks in row 40: of 50 rows, 36 to 43 stand near it and 46 to 49 at the end.
        growth, *_ = ceiling_tables("x", self.ceiling(49), Surrender((), None))
        names = [line.cells[0] for line in growth.rows]
        assert names[4:] == ["…", *(f"turn {n}" for n in range(37, 45)), "…", *names[14:]]
        assert names[14:] == [f"turn {n}" for n in range(47, 51)]
        growth, *_ = ceiling_tables("x", self.ceiling(48), Surrender((), None))
        names = [line.cells[0] for line in growth.rows]
        assert names[4:] == ["…", *(f"turn {n}" for n in range(37, 50))]
        assert growth.notes[-1] == "32 steps are not shown (…); --format csv has all"

    def test_what_is_given_up_is_cut_and_counted(self) -> None:
        given = GivenUp("turn 2", 2, "cut", ("a",), 9, 0, "backstop")
        ended = Surrender((given,) * (LIMIT + 3), 5, "the pins", "turn 3")
        last = ceiling_tables("x", self.ceiling(2), ended)[-1]
        assert last.rows[0].cells == ("turn 2", "the backstop cuts a", "9", "0", "backstop")
        assert last.notes == (
            "… and 3 more; --format json has all of them",
            "It cannot go on at turn 3: the pins",
        )


def commands() -> list[str]:
    text = (ROOT / "docs" / "check.md").read_text(encoding="utf-8")
    joined = text.replace("\\\n", " ")
    return re.findall(r"^    evictbench (check .+)$", joined, re.M)


@pytest.mark.parametrize("command", commands())
def test_each_command_of_the_page_works(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    with pytest.raises(SystemExit) as ended:
        main(shlex.split(command))
    assert ended.value.code in (0, 1)
    assert capsys.readouterr().err == ""


def test_the_page_shows_commands() -> None:
    assert len(commands()) >= 3
