import copy
import json
import pickle

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scenarios import catalogue
from sim.errors import InputError
from sim.script import script_to_json


def every_name():
    for name in catalogue.names():
        scenario = catalogue.load(name)
        yield name
        yield from (f"{name}/{patch}" for patch in (*scenario.flips, *scenario.variants))


@pytest.mark.parametrize("name", every_name())
def test_what_is_written_is_read_back(tmp_path, name):
    overrides = {} if "/" in name or name in catalogue.names()[:10] else {"turns": 40}
    script = catalogue.load(name, overrides).script(5)
    file = tmp_path / "written.json"
    file.write_text(json.dumps(script_to_json(script)))
    scenario = catalogue.load(str(file))
    assert (scenario.name, scenario.kind, scenario.seeded) == (name, "script", False)
    assert scenario.script(0) == script
    assert scenario.settings == script.settings
    assert pickle.loads(pickle.dumps(scenario)).script(9) == script


SCRIPT = script_to_json(catalogue.load("stale-file").script(0))
DRIFT = script_to_json(catalogue.load("threshold-drift").script(0))


@pytest.fixture
def load(tmp_path):
    """Writes a script with one key of each line set anew, and loads it."""

    def load(document, overrides=None):
        file = tmp_path / "mine.json"
        file.write_text(json.dumps(document, indent=1))
        return catalogue.load(str(file), overrides)

    return load


def changed(path, value, document=SCRIPT):
    """Return a copy of *document* with the item at *path* set, or without it if value is None."""
    document = copy.deepcopy(document)
    inner = document
    for key in path[:-1]:
        inner = inner[key]
    if value is None:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    return document


def faults(load, document, overrides=None):
    with pytest.raises(InputError) as caught:
        load(document, overrides)
    return str(caught.value).split("\n")


QUERY = len(DRIFT["stimuli"]) - 1

WRONG = [
    (("evictbench_script",), 2, "evictbench_script must be 1, not 2"),
    (("seed",), -1, "script: seed must be a whole number of at least 1, not -1"),
    (("scenario",), None, "script lacks scenario"),
    (("senario",), "x", "script: unknown key 'senario'; did you mean 'scenario'?"),
    (("stimuli",), 3, "script: stimuli must be an array of tables, not 3"),
    (("settings", "salience.decay"), 2, "settings: salience.decay must be a number above 0 and"),
    (("settings", "salience.decay"), float("nan"), "settings: salience.decay must be a number abo"),
    (("settings", "salience.decay"), None, "settings lack salience.decay"),
    (("settings", "salience.decoy"), 1, "settings: unknown key 'salience.decoy'; did you mean"),
    (("settings", "reader.fetch_tagged"), 0.5, "settings: reader.fetch_tagged, reader.abstain_"),
    (("settings", "turns"), 0, "settings: turns must be a whole number from 1 to 1,000,000, not 0"),
    (("settings", "budget"), 2_400, "the segments pinned in turn 1 hold 2,500 tokens (system 2,000,"),
    (("output_tokens", "x"), 3, "output_tokens: 'x' is no turn"),
    (("output_tokens", "1"), -3, "output_tokens: tokens must be a whole number of at least 0, not"),
    (("recorded", "1"), 3, "recorded '1' must be a table, not 3"),
    (("recorded", "1"), {"input": 1.5}, "recorded: input must be a whole number of at least 0, not"),
    (("stimuli", 0, "type"), "arival", "unknown type of stimulus 'arival'; did you mean 'arrival'?"),
    (("stimuli", 0, "type"), [], "unknown type of stimulus '[]'; known: act, "),
    (("stimuli", 0, "kind"), "sistem", "segment 'system': kind must be one of tools, system, ta"),
    (("stimuli", 0, "tokens"), -1, "segment 'system': tokens must be a whole number from 1 to 1,00"),
    (("stimuli", 0, "tokens"), None, "segment 'system' lacks tokens"),
    (("stimuli", 0, "score"), "1", "segment 'system': score must be a number from 0 to 1, not '1'"),
    (("stimuli", 0, "turns"), [1, 2], "segment 'system': unknown key 'turns'; did you mean 'turn'?"),
    (("stimuli", 0, "facts"), [{}], "segment 'system', fact lacks key"),
    (("stimuli", 0, "id"), "tax", "segment 'tax' arrives twice"),
    (("stimuli", 0, "id"), "\ud800", "segment '\\ud800': id must be a text that is not empty"),
    (("stimuli", 0, "turn"), 4, "segment 'system' comes in turn 4, after the last of 3 turns"),
    (("attempts", 1, "turn"), 1, "attempt 2 must come after attempt 1, which is in turn 1"),
    (("attempts", 1, "number"), 5, "attempt 5 should be number 2"),
    (("attempts", 1, "needs", "paths"), ["x"], "attempt 2 needs unknown path 'x'; known: billing/"),
    (("attempts", 1, "needs", "path"), ["x"], "attempt 2, needs: unknown key 'path'; did you mean"),
    (("attempts", 1, "ok", 0, "turn"), 3, "segment 'say-2' comes in turn 3, but its attempt is in"),
    (("attempts", 0, "ok"), SCRIPT["attempts"][1]["ok"], "attempt 1 needs nothing, so it has no br"),
]


@pytest.mark.parametrize(("path", "value", "sentence"), WRONG)
def test_what_is_wrong_is_said_with_its_line(load, tmp_path, path, value, sentence):
    document = changed(path, value)
    reported = faults(load, document)
    # Each key of an indented document stands on a line of its own.
    around = path if value is not None else path[:-1]
    if sentence.startswith("segment 'system', fact"):
        around = (*path, 0)
    if path == ("output_tokens", "x"):
        around = path
    marked = json.dumps(changed(around, "HERE", document), indent=1) if around else ""
    line = next((n for n, text in enumerate(marked.split("\n"), 1) if "HERE" in text), None)
    place = f"{tmp_path / 'mine.json'}:"
    assert any(one.startswith((f"{place}{line}: {sentence}", f"{place} {sentence}", f"{place}1: {sentence}")) for one in reported)
