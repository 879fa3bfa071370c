"""Sweeps: what they run, what they keep, and that they end the same however they are stopped."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from hashlib import sha256
from pathlib import Path

import pytest

from bench import api
from bench.cli import main
from bench.output import plain
from bench.results import save
from bench.results.names import JOURNAL
from sim.errors import InputError
from sim.streams import uniform

ROOT = Path(__file__).parents[3]
KILLS = 20
SMALL = {"turns": 30, "budget": 20_000}
VARY = ["salience.decay=0.5:0.9:2", "rehydrate.threshold=0.1:0.7:3"]
POLICIES = ["slack-swap-refuse", "tiered"]


def small(**more):
    return api.sweep("doc-analysis", POLICIES, VARY, seeds=2, settings=SMALL, **more)


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_cell_is_the_run_that_compare_makes_of_it():
    found = small()
    assert len(found.rows) == 2 * 3 * 2 * 2
    for number, point in enumerate(found.points):
        settings = {**SMALL, **point}
        alone = api.compare(["doc-analysis"], POLICIES, seeds=2, settings=settings).rows
        mine = [row for row in found.rows if row["setting"] == number]
        assert [{k: v for k, v in row.items() if k in alone[0]} for row in mine] == alone
        assert all(row[key] == value for row in mine for key, value in point.items())


def test_an_option_of_a_policy_is_varied_for_it_alone():
    vary = ["tag-or-drop:rewrite.below=0.1,0.6"]
    policies = ["tiered", "tag-or-drop"]
    settings = {**SMALL, "budget": 9_000}
    found = api.sweep("doc-analysis", policies, vary, seeds=2, settings=settings)
    first, second = (
        [{k: v for k, v in row.items() if k not in ("setting", *found.keys)} for row in rows]
        for rows in found.by_setting.values()
    )
    assert {row["policy"] for row in first} == set(policies)
    for one, other in zip(first, second, strict=True):
        assert (one == other) == (one["policy"] == "tiered")


def test_pins_over_the_budget_are_failed_rows():
    found = api.sweep("doc-analysis", ["tiered"], ["budget=1000,20000"], seeds=2, settings={})
    low, high = found.by_setting.values()
    assert {row["status"] for row in low} == {"failed"} != {row["status"] for row in high}
    assert "pinned in turn 1" in low[0]["reason"]


def test_bad_settings_are_named_before_anything_runs():
    with pytest.raises(InputError, match=r"setting salience.decay=2"):
        api.sweep("doc-analysis", ["tiered"], ["salience.decay=0.5,2"])
    with pytest.raises(InputError, match="set and varied"):
        api.sweep("doc-analysis", ["tiered"], ["budget=1000,2000"], settings={"budget": "3000"})
    with pytest.raises(InputError, match="--out"):
        small(resume=True)
    with pytest.raises(InputError, match="replay"):
        api.sweep(str(ROOT / "examples/demo-session.jsonl"), ["tiered"], ["budget=1000,2000"])


SAME = ["budget=20000,20_000", "salience.decay=0.5:0.50000000001:3", "tiered:line_tokens=9,09"]


@pytest.mark.parametrize("text", SAME)
def test_two_settings_are_not_the_same(text):
    with pytest.raises(InputError, match="two settings are "):
        api.sweep("doc-analysis", ["tiered"], [text])


def test_a_sweep_is_of_one_agent_and_of_rows_that_memory_holds():
    with pytest.raises(InputError, match="one agent at a time"):
        api.sweep("doc-analysis", ["tiered"], ["agents=1,2"])
    for seeds in (10**20, 5_000_001):
        with pytest.raises(InputError, match="runs are more than can be made"):
            api.sweep("doc-analysis", ["tiered"], ["budget=1000,2000"], seeds=seeds)


def test_a_listed_option_of_a_policy_is_a_number_where_it_is_one():
    vary = ["tag-or-drop:rewrite.below=0.1,0.6", "tag-or-drop:tag=on,off"]
    found = api.sweep("doc-analysis", ["tag-or-drop"], vary, seeds=1, settings=SMALL)
    assert [tuple(point.values()) for point in found.points] == [
        *((0.1, "on"), (0.1, "off")),
        *((0.6, "on"), (0.6, "off")),
    ]


KEEPS = """
from sim.actions import Evict


class Keeps:
    label = "keeps"

    def __init__(self, most=9):
        self.most = most

    def start(self, view):
        self.by_position = view.position_order(lambda segment: not segment.held)

    def before_call(self, view):
        while len(self.by_position) > self.most:
            yield Evict(self.by_position.first().id, "oldest")
"""


def test_an_option_of_a_policy_of_ones_own_is_varied(tmp_path):
    """A sweep's runs are those of the policy with the option given."""
    policy = tmp_path / "keeps.py"
    policy.write_text(KEEPS)
    spec = f"{policy}:Keeps"
    given = {"seeds": 1, "settings": SMALL}
    found = api.sweep("doc-analysis", [spec], [f"{spec}:most=3,6"], **given)
    for most, row in zip((3, 6), found.rows, strict=True):
        (alone,) = api.compare(["doc-analysis"], [f"{spec}:most={most}"], **given).rows
        assert row[f"{spec}:most"] == most
        assert {key: value for key, value in row.items() if key in alone} == alone
    few, more = (row["mean_tokens"] for row in found.rows)
    assert few < more


def test_a_varied_price_is_the_price_of_its_rows():
    prices = ["claude-sonnet-5", "gpt-4.1"]
    vary = [f"price={','.join(prices)}"]
    found = api.sweep("doc-analysis", ["tiered"], vary, seeds=2, settings=SMALL)
    assert [row["price"] for row in found.rows] == [prices[0]] * 2 + [prices[1]] * 2
    assert found.manifest["prices"] == prices and found.columns.count("price") == 1
    told = found.manifest["scenarios"]["doc-analysis"]["prices"]
    assert [row["name"] for row in told] == prices


def test_the_same_bytes_with_any_number_of_workers_and_no_journal_is_left(tmp_path):
    small(out=tmp_path / "one")
    small(out=tmp_path / "two", jobs=2)
    assert files(tmp_path / "one") == files(tmp_path / "two")
    assert JOURNAL not in files(tmp_path / "one")


def stopped(folder, after):
    """Begin the small sweep in *folder*, and stop it when *after* runs are done."""

    def report(done, planned):
        if done >= after:
            raise KeyboardInterrupt

    found = small(out=folder, report=report, partial=True)
    assert isinstance(found.stopped, KeyboardInterrupt)


def test_a_sweep_of_which_nothing_is_finished_leaves_nothing_to_resume(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        small(out=tmp_path, report=stop)
    assert files(tmp_path) == {}


def stop(done, planned):
    raise KeyboardInterrupt


def test_what_is_finished_is_not_run_again(tmp_path):
    stopped(tmp_path, 8)
    kept = (tmp_path / JOURNAL).read_bytes()
    begun = []
    small(out=tmp_path, resume=True, report=lambda done, planned: begun.append(done))
    assert begun[0] >= 8 and kept.count(b"\n") > 1
    assert JOURNAL not in files(tmp_path)


def test_another_sweep_is_refused_by_name(tmp_path):
    stopped(tmp_path, 4)
    kept = files(tmp_path)
    wrong = {
        "--seeds (2 then, 3 now)": {"seeds": 3},
        "the scenario doc-analysis (its settings, what its first seed meets)": {
            "settings": {**SMALL, "turns": 31}
        },
        "the scenario doc-analysis (its settings, its prices)": {"price": "gpt-4.1"},
        "--vary": {"vary": ["salience.decay=0.5:0.9:3"]},
        "the policies": {"policies": ["tiered"]},
        "--strict": {"strict": True},
        "--baseline (none then, tiered now)": {"baseline": "tiered"},
    }
    for name, more in wrong.items():
        given = {"policies": POLICIES, "vary": VARY, "seeds": 2, "settings": SMALL, **more}
        with pytest.raises(InputError) as found:
            api.sweep("doc-analysis", out=tmp_path, resume=True, **given)
        assert name in str(found.value)
    with pytest.raises(InputError, match="--resume"):
        small(out=tmp_path)
    assert files(tmp_path) == kept


def test_other_code_is_refused_by_name(tmp_path, monkeypatch):
    stopped(tmp_path, 4)
    from bench.code_digest import code_files

    changed = {**code_files(), "sim/window.py": "0", "sim/new.py": "1"}
    monkeypatch.setattr("bench.sweep.fingerprint.code_files", lambda: changed)
    with pytest.raises(InputError, match=r"the code \(sim/window.py, sim/new.py\)"):
        small(out=tmp_path, resume=True)


MINE = """
class Mine:
    def before_call(self, view):
        return ()
"""


def test_a_changed_file_of_the_user_is_refused_by_name(tmp_path):
    """A policy and a scenario that mean the same after the change, but for all one can tell."""
    policy, scenario, out = tmp_path / "mine.py", tmp_path / "work.toml", tmp_path / "out"
    made = {policy: MINE, scenario: 'family = "doc-analysis"\n[settings]\nturns = 10\n'}
    for file, text in made.items():
        file.write_text(text)
    spec = f"{policy}:Mine"
    given = {"seeds": 2, "out": out}
    api.sweep(str(scenario), [spec], ["budget=9000,20000"], **given)
    for file, says in ((policy, rf"the policy {spec}$"), (scenario, r"work \(its file\)$")):
        file.write_text(made[file] + "# another line\n")
        with pytest.raises(InputError, match=says):
            api.sweep(str(scenario), [spec], ["budget=9000,20000"], resume=True, **given)
        file.write_text(made[file])
    again = api.sweep(str(scenario), [spec], ["budget=9000,20000"], resume=True, **given)
    assert len(again.rows) == 4


def test_no_comparison_is_written_over_an_unfinished_sweep(tmp_path, capsys):
    stopped(tmp_path, 4)
    kept = files(tmp_path)
    demo = str(ROOT / "examples/demo-session.jsonl")
    for words in (["compare", "doc-analysis", "--seeds", "1"], ["replay", demo]):
        with pytest.raises(SystemExit) as left:
            main([*words, "--out", str(tmp_path)])
        assert left.value.code == 2 and "there is an unfinished sweep" in capsys.readouterr().err
    assert files(tmp_path) == kept


def test_results_that_are_of_no_sweep_are_told(tmp_path):
    save(api.compare(["doc-analysis"], ["tiered"], seeds=1, settings=SMALL), tmp_path)
    with pytest.raises(InputError, match="the results there are of no sweep"):
        small(out=tmp_path, resume=True)


def command(*more):
    varied = [word for text in VARY for word in ("--vary", text)]
    policies = [word for name in POLICIES for word in ("-p", name)]
    words = ["sweep", "doc-analysis", *policies, *varied, "--seeds", "2", "--set", "turns=80"]
    words += ["--set", "budget=20000", "--jobs", "2", "--out", "out", "--turns", *more]
    return [sys.executable, "-m", "bench", *words]


def test_killed_at_random_moments_it_ends_in_the_same_bytes(tmp_path):
    """kill -9 of the process twenty times, at moments drawn by name, each time resumed."""
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    whole = tmp_path / "whole"
    whole.mkdir()
    began = time.monotonic()
    subprocess.run(command(), cwd=whole, env=env, check=True, capture_output=True)
    lasts = time.monotonic() - began
    kills = round_ = 0
    while kills < KILLS:
        folder = tmp_path / f"killed-{round_}"
        folder.mkdir()
        round_ += 1
        while True:
            process = subprocess.Popen(
                command("--resume"),
                cwd=folder,
                env=env,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
            )
            try:
                _, said = process.communicate(timeout=uniform(0, "kill", kills) * lasts)
            except subprocess.TimeoutExpired:
                os.kill(process.pid, signal.SIGKILL)
                process.communicate()
                kills += 1
                continue
            assert process.returncode == 0, said
            break
        assert files(folder / "out") == files(whole / "out")
    assert "turns.parquet" in files(whole / "out")


@pytest.mark.parametrize("form", ["table", "json", "csv", "md"])
def test_the_command_prints_it(form, capsys):
    words = ["sweep", "doc-analysis", "-p", "tiered", "-p", "slack-swap-refuse", "--seeds", "2"]
    words += ["--vary", VARY[0], "--vary", VARY[1], "--set", "turns=30", "--jobs", "1"]
    with pytest.raises(SystemExit) as left:
        main([*words, "--set", "budget=20000", "--format", form])
    assert left.value.code == 0
    out = capsys.readouterr().out
    if form == "json":
        document = json.loads(out)
        assert len(document["rows"]) == 24 and document["manifest"]["points"] == 6
        assert {line["setting"] for line in document["summary"]} == set(range(6))
        assert {line["key"] for line in document["effects"]} == set(document["rows"][0]) & {
            *("salience.decay", "rehydrate.threshold"),
        }
    elif form == "csv":
        assert out.startswith(
            "salience.decay,rehydrate.threshold,scenario,policy,seed,price,setting,"
        )
    else:
        assert "what moves it" in out and "What the gate says most" in out


def test_what_every_seed_met_is_in_the_manifest(tmp_path):
    """A decay changes no script; turns do, and the hash is then one of the hashes of both."""
    given = {"seeds": 2, "settings": {**SMALL, "turns": 20}}
    alone = api.compare(["doc-analysis"], ["tiered"], **given)
    found = api.sweep("doc-analysis", ["tiered"], ["salience.decay=0.5,0.9"], **given)
    told, expected = (
        each.manifest["scenarios"]["doc-analysis"]["stimuli"] for each in (found, alone)
    )
    assert told == expected and list(told) == ["0", "1"]
    longer = api.compare(["doc-analysis"], ["tiered"], seeds=2, settings={**SMALL, "turns": 30})
    more = longer.manifest["scenarios"]["doc-analysis"]["stimuli"]
    both = api.sweep(
        "doc-analysis", ["tiered"], ["turns=20,30"], seeds=2, settings={"budget": 20_000}
    )
    assert both.manifest["scenarios"]["doc-analysis"]["stimuli"] == {
        seed: sha256((expected[seed] + more[seed]).encode()).hexdigest() for seed in ("0", "1")
    }


def test_a_finished_sweep_is_shown_again_and_not_run_over(tmp_path):
    first = small(out=tmp_path)
    kept = files(tmp_path)
    with pytest.raises(InputError, match="results already"):
        small(out=tmp_path)
    with pytest.raises(InputError, match="--seeds"):
        api.sweep(
            "doc-analysis", POLICIES, VARY, seeds=3, settings=SMALL, out=tmp_path, resume=True
        )
    ran = []
    again = small(out=tmp_path, resume=True, report=lambda done, planned: ran.append(done))
    assert again.rows == plain(first.rows) and again.points == first.points and not ran
    assert again.leads == first.leads and again.keys == first.keys
    assert files(tmp_path) == kept


def test_a_goal_says_who_is_best_where():
    policies = ["tiered", "masking", "no-op"]
    vary = ["budget=12000,400000"]
    settings = {"turns": 40, "reader": "measured"}
    wanted = {"require": ["status_none=0"], "minimise": "total_cost_usd"}
    with pytest.raises(InputError, match="unknown metric"):
        api.sweep("doc-analysis", policies, vary, seeds=2, settings=settings, **wanted)
    found = api.sweep(
        "doc-analysis", policies, vary, seeds=3, settings=settings, minimise="total_cost_usd"
    )
    for number, best in found.best.items():
        rows = [row for row in found.by_setting[number] if row["status"] == "completed"]
        mean = {
            policy: sum(row["total_cost_usd"] for row in rows if row["policy"] == policy)
            for policy in policies
            if sum(row["policy"] == policy for row in rows) == 3
        }
        assert min(mean, key=mean.get) in best and set(best) <= set(mean)


def printed(found):
    return "\n".join(note for table in found.tables(wide=True) for note in table.notes)


def test_where_none_is_best_it_is_said():
    """Nobody completes where the first pins exceed the budget, or meets what nobody can meet."""
    given = {"seeds": 2, "settings": {"turns": 20}}
    two, vary = ["tiered", "masking"], ["budget=1000,30000"]
    for more, says in (
        ({}, "No policy completed a run in 1 (50.0 %) of the settings."),
        ({"minimise": "total_cost_usd"}, "No policy completed every run in 1 (50.0 %)"),
        (
            {"minimise": "total_cost_usd", "require": ["peak_tokens<=1"]},
            "No policy meets every requirement in 2 (100 %) of the settings.",
        ),
    ):
        found = api.sweep("doc-analysis", two, vary, **given, **more)
        assert found.best[0] == [] and says in printed(found)
    assert "failed: tiered in 2 runs, the first on doc-analysis: " in printed(found)
    alone = api.sweep("doc-analysis", ["tiered"], vary, **given, minimise="total_cost_usd")
    assert alone.best == {0: [], 1: ["tiered"]}
    nowhere = printed(api.sweep("doc-analysis", ["tiered"], ["budget=900,1000"], **given))
    assert "tokens:" not in nowhere


def test_settings_of_which_one_seed_is_finished_are_not_ranked(tmp_path):
    def report(done, planned):
        if done >= 6:
            raise KeyboardInterrupt

    found = small(out=tmp_path, report=report, partial=True)
    assert len(found.rows) == 6 and list(found.best) == [0]


def test_all_differences_of_a_sweep_are_one_family():
    """A q-value is the least of p · m ÷ rank from its rank up, of all m of the metric."""
    found = small()
    lines = [line for line in found.lines if line["metric"] == "total_cost_usd"]
    tested = sorted((line["p_value"], line["q_value"]) for line in lines if line["p_value"])
    m = len(tested)
    assert m == 6, "one difference at each of six settings"
    for rank, (_, q) in enumerate(tested, 1):
        least = min(p * m / r for r, (p, _) in enumerate(tested, 1) if r >= rank)
        assert q == pytest.approx(min(1, least))


def test_an_interrupt_says_how_to_go_on(tmp_path, capsys, monkeypatch):
    from contextlib import contextmanager

    @contextmanager
    def shown(what):
        def report(done, planned):
            if done >= 4:
                raise KeyboardInterrupt

        yield report

    monkeypatch.setattr("bench.progress.shown", shown)
    words = ["sweep", "doc-analysis", "-p", "tiered", "--seeds", "2", "--vary", VARY[1]]
    words += ["--set", "turns=30", "--jobs", "1", "--out", str(tmp_path)]
    with pytest.raises(SystemExit) as left:
        main(words)
    assert left.value.code == 130
    said = capsys.readouterr().err
    assert "4 of 6 runs were finished" in said and "--resume goes on" in said
    monkeypatch.undo()
    with pytest.raises(SystemExit) as left:
        main([*words, "--resume"])
    assert left.value.code == 0 and "what moves it" in capsys.readouterr().out
