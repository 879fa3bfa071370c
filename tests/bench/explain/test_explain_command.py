"""``evictbench explain`` as it is typed: forms, facts in each of them, errors, recordings."""

from __future__ import annotations

import json
import shlex

import pytest

from bench.cli import main
from tests.bench.test_terminal import clean, recording


@pytest.fixture
def evictbench(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("click.utils.should_strip_ansi", lambda *ignored: False)

    def run(*arguments):
        with pytest.raises(SystemExit) as ended:
            main(["explain", *map(str, arguments)])
        streams = capsys.readouterr()
        return ended.value.code, streams.out, streams.err

    return run


DRIFT = ("threshold-drift", "-p", "naive-rewrite")


def test_the_printed_chain_of_threshold_drift(evictbench):
    code, out, err = evictbench(*DRIFT, "--query", "timeout-value")
    assert code == 0 and not err
    flat = " ".join(out.split())
    places = [
        flat.index(words)
        for words in (
            "timeout = 4500",
            "4 → 2",
            "0.00048 → 0.90",
            'answers "3000"',
            "the rule against it: tag",
            "checked: it would have prevented it",
        )
    ]
    assert places == sorted(places)
    assert flat.count("inevitable from here") == 1
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.parametrize(
    "asked",
    [
        (),
        ("--query", "timeout-value"),
        ("--segment", "span"),
        ("--turn", "11"),
        ("--confabulations",),
    ],
)
def test_every_form_holds_the_same_facts(evictbench, asked):
    code, out, _ = evictbench(*DRIFT, *asked, "--format", "json")
    document = json.loads(out)
    assert code == 0 and len(document) >= 1
    texts = []
    for form in ("table", "md"):
        code, text, _ = evictbench(*DRIFT, *asked, "--format", form)
        assert code == 0
        texts.append(" ".join(text.replace("**", "").split()))
    if asked and asked[0] != "--confabulations":
        (found,) = next(iter(document.values()))
        for name in ("chain", "changes", "came", "done"):
            for step in found.get(name, ()):
                assert all(" ".join(step["says"].split()) in text for text in texts[1:])
                assert step["event"] in texts[0]


def test_the_list_names_each_and_says_how_to_go_on(evictbench):
    code, out, _ = evictbench(*DRIFT)
    assert code == 0
    assert "timeout-value" in out and "--query ID" in out and "1 wrong of 1" in out
    code, out, _ = evictbench("threshold-drift", "-p", "tag-or-drop")
    assert code == 0 and "no answer is wrong" in out


def test_several_policies_and_a_flip(evictbench):
    code, out, _ = evictbench(
        "threshold-drift/kept", "-p", "naive-rewrite", "-p", "tag-or-drop", "--format", "json"
    )
    runs = json.loads(out)["runs"]
    assert code == 0 and [run["policy"] for run in runs] == ["naive-rewrite", "tag-or-drop"]
    assert all(run["wrong"] == [] for run in runs)


def test_the_example_of_a_group_can_be_run(evictbench):
    given = ("doc-analysis", "--seeds", "2", "--set", "turns=40", "-p", "naive-rewrite")
    code, out, _ = evictbench(*given, "--confabulations", "--format", "json", "--jobs", "1")
    groups = json.loads(out)["groups"]
    assert code == 0 and groups
    words = shlex.split(groups[0]["command"])
    assert words[:2] == ["evictbench", "explain"]
    code, out, _ = evictbench(*words[2:], "--format", "json")
    (found,) = json.loads(out)["explanations"]
    assert code == 0 and found["outcome"] == groups[0]["outcome"]
    assert found["decision"]["decision"] == groups[0]["decision"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((*DRIFT, "--query", "timeout-valu"), "did you mean 'timeout-value'?"),
        ((*DRIFT, "--segment", "spam"), "did you mean 'span'?"),
        ((*DRIFT, "--turn", "50"), "turns 1 to 49, and no turn 50"),
        ((*DRIFT, "--turn", "0"), "0"),
        ((*DRIFT, "--turn", "2", "--segment", "span"), "two things"),
        ((*DRIFT, "--seed", "1", "--seeds", "2"), "give one of them"),
        ((*DRIFT, "--query", "timeout-value", "--seeds", "2"), "--query looks into one run"),
        (("threshold-drif", "-p", "tiered"), "did you mean 'threshold-drift'?"),
        (("threshold-drift", "-p", "tiere"), "did you mean 'tiered'?"),
        (("threshold-drift", "-p", "naive-trim", "--turn", "2"), "cannot run"),
        (("threshold-drift", "-p", "tiered", "--set", "budgit=3"), "budget"),
        (("doc-analysis", "-p", "tiered", "--set", "agents=2"), "explain runs one agent"),
        (("no/such/file.jsonl", "-p", "tiered"), "unknown scenario"),
    ],
)
def test_what_is_wrong_is_one_sentence(evictbench, arguments, says):
    code, out, err = evictbench(*arguments)
    assert code == 2 and not out
    assert says in err and err.startswith("evictbench: ") and "Traceback" not in err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize("form", ["table", "json", "md"])
def test_a_recorded_session_with_control_characters(evictbench, tmp_path, form):
    file = recording(tmp_path)
    base = (file, "-p", "naive-rewrite", "-p", "no-op", "--set", "budget=2500")
    code, out, err = evictbench(*base, "--format", "json")
    assert code == 0
    clean(out, err)
    ids = [row["id"] for run in json.loads(out)["runs"] for row in run["wrong"]]
    asked = [["--query", ids[0]]] if ids else []
    for more in (*asked, [], ["--turn", "3"], ["--confabulations", "--jobs", "1"]):
        code, out, err = evictbench(*base, *more, "--format", form)
        assert code == 0
        clean(out, err)


def test_a_script_file(evictbench, tmp_path):
    file = tmp_path / "script.json"
    with pytest.raises(SystemExit):
        main(["run", "threshold-drift", "-p", "naive-rewrite", "--write-script", str(file)])
    code, out, _ = evictbench(file, "-p", "naive-rewrite", "--query", "timeout-value")
    assert code == 0 and "inevitable from here" in " ".join(out.split())


def test_every_key_is_documented(evictbench):
    from pathlib import Path

    page = (Path(__file__).parents[3] / "docs" / "explain.md").read_text(encoding="utf-8")
    keys = set()

    def gather(value, free=False):
        if isinstance(value, dict):
            for key, item in value.items():
                if not free:
                    keys.add(key)
                gather(item, key in ("facts", "became", "outcomes"))
        elif isinstance(value, list):
            for item in value:
                gather(item)

    gated = ("rate-limit-table", "-p", "slack-swap-refuse")
    for asked in (
        DRIFT,
        (*DRIFT, "--query", "timeout-value"),
        (*DRIFT, "--segment", "s3"),
        (*DRIFT, "--confabulations"),
        (*gated, "--segment", "table"),
        (*gated, "--turn", "12"),
        (*gated, "--turn", "19"),
        ("rate-limit-table", "-p", "naive-rehydrate", "--query", "deploy"),
        ("the-door", "-p", "slack-swap-refuse", "--segment", "result"),
        ("stale-file", "-p", "tiered", "--turn", "1"),
        ("signature-change", "-p", "no-op", "--query", "patch-3"),
    ):
        code, out, _ = evictbench(*asked, "--format", "json")
        assert code == 0
        gather(json.loads(out))
    missing = sorted(key for key in keys if f"`{key}`" not in page)
    assert not missing


def test_a_run_that_does_not_know_the_id_is_named_beside_one_that_does(evictbench):
    code, out, err = evictbench(*DRIFT, "-p", "no-op", "--segment", "s3")
    assert code == 0 and "s3" in out
    assert "threshold-drift under no-op: unknown segment 's3'" in err
