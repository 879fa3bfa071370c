"""``evictbench complaints``: what is chosen, how it is judged, what it prints, its exit codes."""

import csv
import io
import json
from pathlib import Path

import pytest

from bench.cli import main
from bench.complaints.beyond import BEYOND
from bench.complaints.choosing import choose
from bench.complaints.judging import judge
from bench.pages import put_figures
from scenarios import catalogue, complaints
from sim.errors import InputError

PAGE = Path(__file__).parents[3] / "docs" / "complaints.md"

TEXT = """\
about = "three segments of 50 in a window of 100"

[complaint]
row = 77
threads = ["project#1"]
fails = "nothing was removed, and the request was cut"
policy = "no-op"
measure = "policy_bugs"
MORE

[settings]
turns = 3
budget = 100

[[segment]]
id = "note-{turn}"
turns = [1, 3]
kind = "note"
tokens = 50
"""


@pytest.fixture
def own(tmp_path):
    """Write the complaint, with more in its table; the third note makes the backstop cut one."""

    def own(more=""):
        file = tmp_path / "mine.toml"
        file.write_text(TEXT.replace("MORE", more))
        return str(file)

    return own


@pytest.fixture
def cli(capsys):
    def run(*arguments):
        with pytest.raises(SystemExit) as ended:
            main(["complaints", *arguments])
        printed = capsys.readouterr()
        return ended.value.code, printed.out, printed.err

    return run


# -- choosing ------------------------------------------------------------------------------------


def test_without_names_all_that_ship():
    assert [s.name for s in choose()] == catalogue.complaint_names()


def test_by_row_by_name_and_by_file(own):
    names = [
        s.name for s in choose(["1", "complaints/unchanged-read", "one-threshold", own(), "5"])
    ]
    first = ["complaints/finished-request", "complaints/newest-request"]
    assert names == [*first, "complaints/unchanged-read", "complaints/one-threshold", "mine"]


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("one-treshold", "unknown complaint 'one-treshold'; did you mean 'one-threshold'"),
        ("99", "unknown complaint '99'"),
        ("9", "row 9 has no scenario: a call and its result leave the window together"),
        ("stale-file", "unknown complaint 'stale-file'"),
        ("nowhere.toml", "nowhere.toml: cannot read it"),
    ],
)
def test_what_is_none(cli, name, says):
    code, out, err = cli(name)
    assert (code, out) == (2, "")
    assert says in err and len(err.splitlines()) == 1


def test_a_file_without_the_table(tmp_path):
    file = tmp_path / "plain.toml"
    file.write_text(TEXT[: TEXT.index("[complaint]")] + TEXT[TEXT.index("[settings]") :])
    with pytest.raises(InputError, match=r"plain\.toml: it has no \[complaint\] table"):
        choose([str(file)])


# -- judging -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("above", "there"), [(0, True), (0.99, True), (1, False), (2, False)])
def test_the_failure_is_there_above_the_bound_and_not_at_it(own, above, there):
    """The third note is one too many: one cut."""
    (judged,) = judge(choose([own(f"above = {above}")]), {"sliding-window": "sliding-window"})
    assert (judged.own.policy, judged.own.figure, judged.own.there) == ("no-op", 1, there)
    (other,) = judged.others
    assert (other.policy, other.figure, other.there) == ("sliding-window", 0, False)


def test_against_another_policy_the_difference_counts(own):
    (judged,) = judge(choose([own('against = "sliding-window"')]), {"tiered": "tiered"})
    assert (judged.own.figure, judged.others[0].figure) == (1, 0)
    (judged,) = judge(choose([own('against = "no-op"')]), {"tiered": "tiered"})
    assert (judged.own.figure, judged.own.there) == (0, False)
    assert judged.others[0].figure == -1


def test_its_own_policy_may_be_asked_for(own):
    (judged,) = judge(choose([own()]), {"tiered": "tiered", "no-op": "no-op"})
    assert [other.policy for other in judged.others] == ["tiered", "no-op"]
    assert judged.others[1] == judged.own


def test_a_policy_that_cannot_run_it_is_not_measured(own):
    """naive-trim needs retrieval ranks."""
    (judged,) = judge(choose([own()]), {"naive-trim": "naive-trim"})
    (other,) = judged.others
    assert (other.figure, other.there) == (None, False)
    assert other.reason == "the scenario does not offer ranks"


def test_progress_is_told(own):
    told = []
    judge(choose([own()]), {}, lambda done, planned: told.append((done, planned)))
    assert told == [(1, 1)]


# -- what it prints ------------------------------------------------------------------------------


def test_the_code_says_whether_every_failure_shows(cli, own):
    assert cli(own())[0] == 0
    assert cli(own("above = 1"))[0] == 1
    assert cli(own(), "-p", "no-op")[0] == 0


def test_the_table(cli, own, monkeypatch):
    monkeypatch.setenv("COLUMNS", "140")
    _, out, _ = cli(own(), "-p", "tiered", "-p", "no-op", "-p", "naive-trim", "--format", "md")
    assert (
        "| 77 | nothing was removed, and the request was cut | project#1 | mine | no-op "
        "| policy_bugs > 0 | 1, shown | not measured: the scenario does not offer ranks "
        "| 0, absent | 1, there too |"
    ) in out
    assert "1 of 1 failures show" in out
    monkeypatch.setenv("COLUMNS", "80")
    _, out, _ = cli(own(), "-p", "tiered")
    assert "project#1" not in out and "1, shown" in out
    assert max(map(len, out.splitlines())) <= 80


def test_the_difference_is_named(cli, own):
    _, out, _ = cli(own('above = 0.5\nagainst = "tiered"'), "--format", "md")
    assert "policy_bugs > 0.500 more than under tiered" in out


def test_json_and_csv(cli, own):
    _, out, _ = cli(own(), "-p", "tiered", "--format", "json")
    (item,) = json.loads(out)["complaints"]
    assert item == {
        "row": 77,
        "threads": ["project#1"],
        "fails": "nothing was removed, and the request was cut",
        "scenario": "mine",
        "measure": "policy_bugs",
        "against": None,
        "above": 0,
        "shown": True,
        "policy": "no-op",
        "figure": 1,
        "there": True,
        "reason": None,
        "others": [{"policy": "tiered", "figure": 0, "there": False, "reason": None}],
    }
    _, out, _ = cli(own(), "-p", "tiered", "--format", "csv")
    lines = list(csv.DictReader(io.StringIO(out)))
    assert [(x["policy"], x["reported_for"], x["figure"], x["there"]) for x in lines] == [
        ("no-op", "True", "1", "True"),
        ("tiered", "False", "0", "False"),
    ]


def test_what_cannot_be_told_stands_behind_all_of_them_alone(cli, own):
    _, out, _ = cli("--format", "json")
    found = json.loads(out)
    assert [item["scenario"] for item in found["complaints"]] == list(complaints.NAMES)
    assert [item["row"] for item in found["beyond"]] == [each.row for each in BEYOND]
    assert json.loads(cli(own(), "--format", "json")[1])["beyond"] == []


def test_the_page_has_what_the_command_prints(cli):
    code, out, _ = cli("--format", "md")
    page = PAGE.read_text(encoding="utf-8")
    assert code == 0
    assert put_figures(page, {"complaints": out}) == page
