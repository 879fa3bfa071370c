import copy
import json
import pickle

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scenarios import catalogue, stories
from sim.errors import InputError
from sim.script import script_to_json


def every_name():
    for name in catalogue.names():
        scenario = catalogue.load(name)
        yield name
        yield from (f"{name}/{patch}" for patch in (*scenario.flips, *scenario.variants))


@pytest.mark.parametrize("name", [*every_name()])
def test_what_is_written_is_read_back(tmp_path, name):
    overrides = {} if "/" in name or name in stories.NAMES else {"turns": 40}
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


WRONG = [
    (("evictbench_script",), 2, "evictbench_script must be 1, not 2"),
    (("seed",), -1, "script: seed must be a whole number of at least 0, not -1"),
    (("scenario",), None, "script lacks scenario"),
    (("senario",), "x", "script: unknown key 'senario'; did you mean 'scenario'?"),
    (("stimuli",), 3, "script: stimuli must be an array of tables, not 3"),
    (("settings", "salience.decay"), 2, "settings: salience.decay must be a number above 0 and"),
    (("settings", "salience.decay"), float("nan"), "settings: salience.decay must be a number abo"),
    (("settings", "salience.decay"), None, "settings lack salience.decay"),
    (("settings", "salience.decoy"), 1, "settings: unknown key 'salience.decoy'; did you mean"),
    (("settings", "reader.fetch_tagged"), 0.5, "settings: reader.fetch_tagged, reader.abstain_"),
    (("settings", "turns"), 0, "settings: turns must be a whole number from 1 to 1,000,000, not 0"),
    (
        ("settings", "budget"),
        2_400,
        "the segments pinned in turn 1 hold 2,500 tokens (system 2,000,",
    ),
    (("output_tokens", "x"), 3, "output_tokens: 'x' is no turn"),
    (("output_tokens", "1"), -3, "output_tokens: tokens must be a whole number of at least 0, not"),
    (("recorded", "1"), 3, "recorded '1' must be a table, not 3"),
    (
        ("recorded", "1"),
        {"input": 1.5},
        "recorded: input must be a whole number of at least 0, not",
    ),
    (
        ("stimuli", 0, "type"),
        "arival",
        "unknown type of stimulus 'arival'; did you mean 'arrival'?",
    ),
    (("stimuli", 0, "type"), [], "unknown type of stimulus '[]'; known: act, "),
    (("stimuli", 0, "kind"), "sistem", "segment 'system': kind must be one of tools, system, ta"),
    (
        ("stimuli", 0, "tokens"),
        -1,
        "segment 'system': tokens must be a whole number from 1 to 1,00",
    ),
    (("stimuli", 0, "tokens"), None, "segment 'system' lacks tokens"),
    (("stimuli", 0, "score"), "1", "segment 'system': score must be a number from 0 to 1, not '1'"),
    (
        ("stimuli", 0, "turns"),
        [1, 2],
        "segment 'system': unknown key 'turns'; did you mean 'turn'?",
    ),
    (("stimuli", 0, "facts"), [{}], "segment 'system', fact lacks key"),
    (("stimuli", 0, "id"), "tax", "segment 'tax' arrives twice"),
    (("stimuli", 0, "id"), "\ud800", "segment '\\ud800': id must be a text that is not empty"),
    (("stimuli", 0, "turn"), 4, "segment 'system' comes in turn 4, after the last of 3 turns"),
    (("attempts", 1, "turn"), 1, "attempt 2 must come after attempt 1, which is in turn 1"),
    (("attempts", 1, "number"), 5, "attempt 5 should be number 2"),
    (("attempts", 1, "needs", "paths"), ["x"], "attempt 2 needs unknown path 'x'; known: billing/"),
    (("attempts", 1, "needs", "path"), ["x"], "attempt 2, needs: unknown key 'path'; did you mean"),
    (("attempts", 1, "ok", 0, "turn"), 3, "segment 'say-2' comes in turn 3, but its attempt is in"),
    (
        ("attempts", 0, "ok"),
        SCRIPT["attempts"][1]["ok"],
        "attempt 1 needs nothing, so it has no br",
    ),
]


@pytest.mark.parametrize(("path", "value", "sentence"), WRONG)
def test_what_is_wrong_is_said(load, path, value, sentence):
    reported = [one.split(": ", 1)[1] for one in faults(load, changed(path, value))]
    assert any(one.startswith(sentence) for one in reported)
    assert all("mine.json" not in one for one in reported)


def test_one_fault_is_one_sentence(load):
    for path in (("stimuli", 0, "kind"), ("settings", "salience.decay"), ("stimuli", 3, "tokens")):
        assert len(faults(load, changed(path, "x"))) == 1


LINES = """\
{"evictbench_script": 1, "scenario": "s",
 "seed": 0,
 "settings": SETTINGS,
 "stimuli": [
  {"type": "arrival", "turn": 1, "id": "a", "kind": "user",
   "tokens": 10,
   "score": 1.0},
  {"type": "act", "turn": 2, "id": "x",
   "requires": [
     "a"]}],
 "attempts": []}
"""
SETTINGS = json.dumps(SCRIPT["settings"])


@pytest.mark.parametrize(
    ("old", "new", "line", "sentence"),
    [
        ('"seed": 0', '"seed": "0"', 2, "script: seed must be a whole number of at least 0"),
        ('"salience.decay": 0.85', '"salience.decay": -1', 3, "settings: salience.decay must be"),
        ('"kind": "user"', '"kind": "usr"', 5, "segment 'a': kind must be one of tools, "),
        ('"tokens": 10', '"tokens": 0', 6, "segment 'a': tokens must be a whole number from 1"),
        (',\n   "score": 1.0', "", 5, "segment 'a' lacks score"),
        ('"score": 1.0', '"score": NaN', 7, "segment 'a': score must be a number from 0 to 1"),
        ('"act"', '"akt"', 8, "unknown type of stimulus 'akt'; did you mean 'act'?"),
        ('     "a"', '     "b"', 9, "act 'x': unknown segment 'b'; known: a"),
        ('"seed": 0', '"seed": 0, "seed": 1', 2, "key 'seed' is given a second time in line 2"),
        ('"stimuli": [', '"stimuli": [,', 4, "not valid JSON: expecting value"),
        ('"seed": 0,', '"seed": 0', 3, "not valid JSON: expecting ',' delimiter"),
    ],
)
def test_the_line_of_what_is_wrong(tmp_path, old, new, line, sentence):
    file = tmp_path / "mine.json"
    text = LINES.replace("SETTINGS", SETTINGS)
    file.write_text(text)
    assert catalogue.load(str(file)).script(0).stimuli[0].tokens == 10
    assert old in text
    file.write_text(text.replace(old, new, 1))
    with pytest.raises(InputError) as caught:
        catalogue.load(str(file))
    assert str(caught.value).startswith(f"{file}:{line}: {sentence}")


def test_everything_is_said_at_once(load):
    document = changed(("stimuli", 0, "tokens"), 0)
    document = changed(("settings", "salience.decay"), 7, document)
    document = changed(("attempts", 1, "needs", "facts"), "x", document)
    assert [one.split(": ", 1)[1] for one in faults(load, document)] == [
        "settings: salience.decay must be a number above 0 and at most 1, not 7",
        "segment 'system': tokens must be a whole number from 1 to 1,000,000,000, not 0",
        "attempt 2, needs: facts must be a list of texts, not 'x'",
    ]


def test_a_query_must_ask_for_what_its_segment_states(load):
    asked = len(DRIFT["stimuli"]) - 1
    assert DRIFT["stimuli"][asked]["type"] == "query"
    (sentence,) = faults(load, changed(("stimuli", asked, "key"), "timeot", DRIFT))
    assert sentence.endswith("segment 'span' does not state 'timeot'; it states timeout")


@pytest.mark.parametrize("text", ["[]", "3", "{}", '{"messages": []}', "null"])
def test_what_is_no_script_is_sent_to_replay(tmp_path, text):
    file = tmp_path / "session.json"
    file.write_text(text)
    with pytest.raises(InputError, match="not an evictbench script; to replay a recorded"):
        catalogue.load(str(file))


@pytest.mark.parametrize(
    ("raw", "sentence"),
    [
        (b"{", ":1: not valid JSON: "),
        (b"\n\n{'a': 1}", ":3: not valid JSON: "),
        (b"[" * 100_000, ": not valid JSON: nested too deeply"),
        (b'{"a": 1' + b"0" * 5000 + b"}", ": not valid JSON: exceeds the limit"),
        (b"\n\xff", ":2: not UTF-8 text"),
        (b"", ":1: not valid JSON: expecting value"),
    ],
    ids=range(6),
)
def test_strange_files(tmp_path, raw, sentence):
    file = tmp_path / "mine.json"
    file.write_bytes(raw)
    with pytest.raises(InputError) as caught:
        catalogue.load(str(file))
    assert str(caught.value).startswith(f"{file}{sentence}")


class TestOverrides:
    def test_what_does_not_go_into_the_stimuli(self, load):
        overrides = {"salience.decay": "0.5", "reader": "measured", "cache.ttl": 60}
        scenario = load(SCRIPT, overrides)
        assert scenario.settings["salience.decay"] == 0.5
        assert scenario.settings["reader.fetch_tagged"] == 0.75
        assert scenario.script(0).settings == scenario.settings
        assert scenario.script(0).stimuli == load(SCRIPT).script(0).stimuli

    @pytest.mark.parametrize(
        ("key", "value"),
        [
            ("turns", "9"),
            ("copies.file", "0"),
            ("relevance.note", "0.5"),
            ("image_tokens", "9"),
            ("surrogate.taggable", "0"),
            ("returns.rate", "0.1"),
        ],
    )
    def test_what_does(self, load, key, value):
        (sentence,) = faults(load, SCRIPT, {key: value})
        assert sentence == f"{key} of a script cannot be set: its stimuli are made already"

    def test_what_is_unknown(self, load):
        (sentence,) = faults(load, SCRIPT, {"budgte": "9"})
        assert sentence == "unknown key 'budgte'; did you mean 'budget'?"

    def test_pins_above_the_budget(self, load):
        (sentence,) = faults(load, SCRIPT, {"budget": "2000"})
        assert "the segments pinned in turn 1 hold 2,500 tokens" in sentence


VALUES = st.sampled_from([None, 0, -1, 1.5, True, "", "x", "1", [], [1], {}, {"x": 1}, [{}], [[]]])


def paths(data, path=()):
    yield path
    if isinstance(data, dict):
        for key, value in data.items():
            yield from paths(value, (*path, key))
    elif isinstance(data, list):
        for index, value in enumerate(data):
            yield from paths(value, (*path, index))


PATHS = [path for path in paths(SCRIPT) if path]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(changes=st.lists(st.tuples(st.sampled_from(PATHS), VALUES), min_size=1, max_size=2))
def test_any_value_anywhere_is_taken_or_named(tmp_path, changes):
    document = copy.deepcopy(SCRIPT)
    for path, value in changes:
        try:
            document = changed(path, value, document)
        except (KeyError, IndexError, TypeError):
            continue
    file = tmp_path / "mine.json"
    file.write_text(json.dumps(document))
    try:
        catalogue.load(str(file)).script(0).digest()
    except InputError as error:
        assert str(error).startswith(str(file))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(raw=st.binary(max_size=100))
def test_any_bytes_end_in_a_sentence(tmp_path, raw):
    file = tmp_path / "mine.json"
    file.write_bytes(raw)
    with pytest.raises(InputError):
        catalogue.load(str(file))


def test_a_whole_number_may_stand_for_any_number(load):
    settings = load(changed(("settings", "salience.decay"), 1)).settings
    assert isinstance(settings["salience.decay"], float)
