"""Complaints: the files that ship, what they declare, and what a file may get wrong."""

import pytest

from bench.cells import run_one
from scenarios import catalogue, complaints
from scenarios.complaint import Complaint
from sim.errors import InputError

ALL = [catalogue.load(name) for name in complaints.NAMES]
PATCHED = [f"{scenario.name}/{flip}" for scenario in ALL for flip in scenario.flips]

TEXT = """\
about = "a file that somebody has"

[complaint]
row = 5
threads = ["project#1", "project#2"]
fails = "it went wrong"
policy = "no-op"
measure = "policy_bugs"

[settings]
turns = 1
budget = 100

[[segment]]
id = "task"
turn = 1
kind = "task"
tokens = 50

[flips.small]
about = "less of it"
settings.budget = 80
"""


@pytest.fixture
def write(tmp_path):
    def write(text):
        file = tmp_path / "mine.toml"
        file.write_text(text)
        return str(file)

    return write


def figure(scenario, complaint):
    """What the measure is, under the policy that the complaint was made of."""
    script = scenario.script(0)
    value = run_one(script, complaint.policy)[0][complaint.measure]
    if complaint.against is not None:
        value -= run_one(script, complaint.against)[0][complaint.measure]
    return value


# -- those that ship ---------------------------------------------------------------------------


def test_every_file_is_in_the_list():
    folder = complaints.file("x").parent
    assert {file.stem for file in folder.glob("*.toml")} == set(complaints.FILES)


def test_they_stand_in_the_order_of_their_rows():
    rows = [scenario.complaint.row for scenario in ALL]
    assert rows == sorted(rows)
    assert set(rows) == {1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 14, 15}


@pytest.mark.parametrize("scenario", ALL, ids=lambda s: s.name)
def test_each_is_described_and_is_not_compared_by_default(scenario):
    assert scenario.name not in catalogue.names()
    assert catalogue.is_known(scenario.name) and catalogue.is_known(f"{scenario.name}/x")
    assert catalogue.describe(scenario.name) == scenario.about
    assert 20 < len(scenario.about) <= 100 and "\n" not in scenario.about
    assert len(scenario.complaint.fails) <= 100
    assert all("#" in thread for thread in scenario.complaint.threads)


@pytest.mark.parametrize("name", PATCHED)
def test_every_flip_ends_the_failure(name):
    complaint = catalogue.load("/".join(name.split("/")[:2])).complaint
    flipped = catalogue.load(name)
    assert flipped.complaint is None
    assert figure(flipped, complaint) <= complaint.above


@pytest.mark.parametrize("scenario", ALL, ids=lambda s: s.name)
def test_each_has_a_flip(scenario):
    assert scenario.flips


# -- by hand, as the headers of the files have it ------------------------------------------------

FIGURES = {
    "finished-request": {"violations": 1, "rewrites": 1, "rewritten_tokens": 88_100},
    "newest-request": {"violations": 1, "rewrites": 1, "rewritten_tokens": 167_500},
    "standing-instructions": {"violations": 2, "acts": 3, "rewritten_tokens": 169_800},
    "invented-order": {"confabulated": 1, "rewritten_tokens": 169_400},
    "one-threshold": {"edit_turns": 4, "peak_tokens": 95_900},
    "large-tool-list": {"rewrites": 7},
    "read-again": {"rewrites": 18, "fetches": 72},
    "parallel-results": {"policy_bugs": 3, "truncated_tokens": 15_000},
    "old-text": {"stale": 1, "rewritten_tokens": 169_000},
    "unchanged-read": {"attempts": 3, "rewrites": 3},
    "idle-clearing": {"violations": 1, "rewrites": 2, "rewritten_tokens": 5_000},
    "no-word-of-the-user": {"violations": 1, "maintenance_cost_usd": 0},
    "one-turn-job": {"policy_bugs": 4, "truncated_tokens": 9_050},
    "uncounted-overhead": {"policy_bugs": 1, "truncated_tokens": 15_000},
    "late-result": {"violations": 1, "rewritten_tokens": 86_200},
}


@pytest.mark.parametrize(("name", "figures"), FIGURES.items())
def test_the_figures_of_the_header(name, figures):
    scenario = catalogue.load(f"{complaints.FOLDER}/{name}")
    values, _ = run_one(scenario.script(0), scenario.complaint.policy)
    assert {key: values[key] for key in figures} == figures


# -- a file of one's own -------------------------------------------------------------------------


def test_what_a_file_declares(write):
    scenario = catalogue.load(write(TEXT))
    assert scenario.complaint == Complaint(
        row=5,
        threads=("project#1", "project#2"),
        fails="it went wrong",
        policy="no-op",
        measure="policy_bugs",
        above=0.0,
        against=None,
    )


def test_under_a_flip_it_tells_of_none(write):
    assert catalogue.load(write(TEXT) + "/small").complaint is None


def test_without_the_table_there_is_none(write):
    start, end = TEXT.index("[complaint]"), TEXT.index("[settings]")
    assert catalogue.load(write(TEXT[:start] + TEXT[end:])).complaint is None


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("row = 5", "row = 0", "mine.toml:4: complaint: row must be a whole number from 1 to"),
        ("row = 5\n", "", "mine.toml:3: complaint lacks row"),
        (
            '"policy_bugs"',
            '"policy_bug"',
            "mine.toml:8: complaint: unknown metric 'policy_bug'; did",
        ),
        (
            'fails = "',
            'fail = "',
            "mine.toml:6: complaint: unknown key 'fail'; did you mean 'fails'",
        ),
        ("[complaint]", "[complaints]", "mine.toml:3: the file: unknown key 'complaints'; did you"),
        ("row = 5", "row = 5\nabove = -1", "mine.toml:5: complaint: above must be a number from 0"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(write, old, new, says):
    with pytest.raises(InputError) as caught:
        catalogue.load(write(TEXT.replace(old, new, 1)))
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("complaints/one-treshold", "did you mean 'complaints/one-threshold'"),
        ("complaints", "unknown scenario 'complaints'"),
        ("complaints/one-threshold/rom", "unknown flip or variant 'rom'; did you mean 'room'"),
    ],
)
def test_a_wrong_name_is_answered_with_the_nearest(name, says):
    with pytest.raises(InputError, match=says):
        catalogue.load(name)
