import pickle
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scenarios import catalogue, stories
from scenarios.scenario import Scenario
from sim.errors import InputError
from sim.script import Arrival, Query, Script, Wait, Write

BASE = """\
about = "small"

[settings]
turns = 6
budget = 10_000

[[segment]]
id = "system"
turn = 1
kind = "system"
tokens = 1_000
pinned = true

[[segment]]
id = "read-{turn}"
turns = [2, 4]
kind = "file"
path = "a/{turn}.py"
tokens = 500
facts = [{ key = "size", value = "{turn}" }]

[[query]]
id = "ask"
turn = 5
key = "size"
relevance = 0.8
touches = ["read-2", "read-3"]

[[attempt]]
number = 1
turn = 3
segment = [{ id = "say", kind = "assistant", tokens = 10 }]
write = [{ id = "wrote", path = "a/2.py", tokens = 600 }]

[[attempt]]
number = 2
turn = 6
needs = { facts = ["size"], paths = ["a/2.py"] }
[[attempt.segment]]
id = "patch"
kind = "diff"
tokens = 20
[[attempt.ok.segment]]
id = "tests"
kind = "tool_result"
tool = "tests"
tokens = 40
[[attempt.failed.segment]]
id = "tests"
kind = "tool_result"
tool = "tests"
tokens = 900

[flips.quiet]
about = "nobody asks"
remove = ["ask"]

[variants.larger]
settings.budget = 20_000
change."read-{turn}" = { tokens = 700, turns = [2, 3] }
change.attempt-2.needs = { facts = ["size"] }
change.wrote.tokens = 650
change.tests.score = 0.5
add.wait = [{ turn = 4, seconds = 30 }]
"""


@pytest.fixture
def write(tmp_path):
    """Writes a scenario file and returns its path."""

    def write(text: str, name: str = "mine.toml") -> str:
        file = tmp_path / name
        file.write_text(text, encoding="utf-8")
        return str(file)

    return write


def faults(path: str, overrides=None) -> list[str]:
    """What is reported of a file, a sentence each, without the directory."""
    with pytest.raises(InputError) as caught:
        catalogue.load(path, overrides)
    return [
        line.replace(str(Path(path).parent) + "/", "") for line in str(caught.value).split("\n")
    ]


def arrivals(script: Script) -> dict[str, Arrival]:
    return {s.id: s for s in script.stimuli if isinstance(s, Arrival)}


class TestWhatAFileSays:
    def test_the_scenario(self, write):
        scenario = catalogue.load(write(BASE))
        assert (scenario.name, scenario.kind, scenario.seeded) == ("mine", "story", False)
        assert scenario.flips == ("quiet",)
        assert scenario.variants == ("larger",)
        assert scenario.about == "small"
        assert scenario.settings["clock.turn_seconds"] == 20

    def test_the_stimuli_in_order(self, write):
        script = catalogue.load(write(BASE)).script(0)
        assert [(s.turn, getattr(s, "id", s.type)) for s in script.stimuli] == [
            (1, "system"),
            (2, "read-2"),
            (3, "read-3"),
            (3, "say"),
            (3, "write"),
            (4, "read-4"),
            (5, "ask"),
        ]
        read = arrivals(script)["read-3"]
        assert (read.path, read.copy, read.taggable, read.score) == ("a/3.py", True, True, 1.0)
        assert (read.facts[0].key, read.facts[0].value) == ("size", "3")
        assert arrivals(script)["say"].attempt == 1
        (wrote,) = (s for s in script.stimuli if isinstance(s, Write))
        assert (wrote.attempt, wrote.tokens, wrote.facts) == (1, 600, None)
        assert script.capabilities == {"roles", "facts"}
        assert script.tokens_from == "script"

    def test_both_branches(self, write):
        first, second = catalogue.load(write(BASE)).script(0).attempts
        assert not first.guarded
        assert not (first.ok or first.failed)
        assert second.guarded
        assert (second.facts, second.paths) == (("size",), ("a/2.py",))
        assert [(s.id, s.tokens, s.turn, s.attempt) for s in second.ok] == [
            ("patch", 20, 6, 2),
            ("tests", 40, 6, 2),
        ]
        assert [(s.id, s.tokens) for s in second.failed] == [("patch", 20), ("tests", 900)]

    def test_a_flip(self, write):
        scenario = catalogue.load(write(BASE) + "/quiet")
        assert (scenario.name, scenario.about) == ("mine/quiet", "nobody asks")
        script = scenario.script(0)
        assert script.scenario == "mine/quiet"
        assert not [s for s in script.stimuli if isinstance(s, Query)]

    def test_a_variant_then_a_flip(self, write):
        script = catalogue.load(write(BASE) + "/larger/quiet").script(0)
        assert script.settings["budget"] == 20_000
        assert {n: a.tokens for n, a in arrivals(script).items() if n.startswith("read")} == {
            "read-2": 700,
            "read-3": 700,
        }
        attempt = script.attempts[1]
        assert (attempt.facts, attempt.paths) == (("size",), ())
        assert attempt.ok[1].score == attempt.failed[1].score == 0.5
        assert [s.seconds for s in script.stimuli if isinstance(s, Wait)] == [30.0]
        assert [s.tokens for s in script.stimuli if isinstance(s, Write)] == [650]

    def test_a_flip_leaves_the_file_as_it_was(self, write):
        path = write(BASE)
        before = catalogue.load(path).script(0)
        catalogue.load(path + "/larger").script(0)
        assert catalogue.load(path).script(0) == before

    def test_nothing_hangs_on_line_ends_or_a_byte_order_mark(self, write):
        one = catalogue.load(write(BASE)).script(0)
        two = catalogue.load(write("\ufeff" + BASE.replace("\n", "\r\n")))
        assert two.script(0) == one

    def test_equal_times_keep_the_order_and_times_are_kept(self, write):
        text = BASE.replace("tokens = 500", "tokens = 500\ntime = 2.5")
        assert arrivals(catalogue.load(write(text)).script(0))["read-2"].time == 2.5

    def test_an_image_counts_what_the_setting_says(self, write):
        path = write(BASE + '[[segment]]\nid = "shot"\nturn = 2\nkind = "image"\n')
        assert arrivals(catalogue.load(path).script(0))["shot"].tokens == 1_600
        wider = catalogue.load(path, {"image_tokens": "4784"})
        assert arrivals(wider.script(0))["shot"].tokens == 4_784

    def test_a_scenario_can_be_sent_to_a_worker(self, write):
        scenario = catalogue.load(write(BASE), {"copies.file": 0.5})
        assert pickle.loads(pickle.dumps(scenario)).script(7) == scenario.script(7)


class TestDraws:
    TEXT = BASE.replace("turns = [2, 4]", "turns = [1, 400]").replace("turns = 6", "turns = 400")
    TEXT = TEXT.replace('change."read-{turn}" = { tokens = 700, turns = [2, 3] }\n', "")

    def copies(self, path, share, seed=0):
        script = catalogue.load(path, {"copies.file": share}).script(seed)
        return {name for name, arrival in arrivals(script).items() if arrival.copy}

    def test_copies_are_drawn_by_segment_and_shares_nest(self, write):
        path = write(self.TEXT)
        few, many = self.copies(path, 0.3), self.copies(path, 0.6)
        assert few < many
        # 400 draws: four standard deviations are 36.7 and 39.2
        assert abs(len(few) - 120) < 37
        assert abs(len(many) - 240) < 40
        assert self.copies(path, 0) == set()
        assert len(self.copies(path, 1)) == 400
        assert self.copies(path, 0.3) == few != self.copies(path, 0.3, seed=1)

    def test_a_segment_that_says_so_itself_is_not_drawn(self, write):
        path = write(BASE.replace("tokens = 500", "tokens = 500\ncopy = false\ntaggable = false"))
        for share in (0, 1):
            overrides = {"copies.file": share, "surrogate.taggable": share}
            reads = arrivals(catalogue.load(path, overrides).script(0))
            assert not reads["read-2"].copy
            assert not reads["read-2"].taggable

    def test_taggability_is_drawn_in_branches_too(self, write):
        path = write(BASE)
        script = catalogue.load(path, {"surrogate.taggable": "0"}).script(0)
        assert not any(s.taggable for s in script.attempts[1].failed)

    def test_what_a_kind_is_worth_on_arrival(self, write):
        script = catalogue.load(write(BASE), {"relevance.file": "0.3"}).script(0)
        assert arrivals(script)["read-2"].score == 0.3
        assert arrivals(script)["system"].score == 1.0


def line(text: str, snippet: str) -> int:
    return text[: text.index(snippet)].count("\n") + 1


WHOLE = "must be a whole number from 1 to 1,000,000,000"
READ = "segment 'read-{turn}'"
PINS = "the segments pinned in turn 1 hold 1,000 tokens (system 1,000), more than the budget of"

# What is replaced in BASE, by what, and what is then reported: the snippet in whose line, and the
# sentence. Nothing: the file is right.
WRONG = [
    # settings
    (
        "turns = 6",
        "turns = 0",
        [("turns = 0", "settings: turns must be a whole number from 1 to 1,000,000, not 0")],
    ),
    ("budget = 10_000\n", "", [("[settings]", "settings lack budget")]),
    ("budget = 10_000", "budget = 900", [("budget = 900", f"{PINS} 900")]),
    (
        "turns = 6",
        "turns = 6\nsalience.decay = nan",
        [("= nan", "settings: salience.decay must be a number above 0 and at most 1, not nan")],
    ),
    (
        "turns = 6",
        "turns = 6\nsalience = { decay = 1.2 }",
        [("1.2", "settings: salience.decay must be a number above 0 and at most 1, not 1.2")],
    ),
    (
        "turns = 6",
        "turns = 6\nsalience.decoy = 0.9",
        [("decoy", "settings: unknown key 'salience.decoy'; did you mean 'salience.decay'?")],
    ),
    (
        "turns = 6",
        'turns = 6\nsalience.decay = 0.9\n"salience.decay" = 0.8',
        [("0.8", "settings: salience.decay is given twice")],
    ),
    (
        "turns = 6",
        'turns = 6\ncache.breakpoints = ["sistem"]',
        [("sistem", "cache.breakpoints: unknown segment 'sistem'; did you mean 'system'?")],
    ),
    # the outline
    (
        "about =",
        "abuot =",
        [("abuot", "the file: unknown key 'abuot'; did you mean 'about'?")],
    ),
    (
        'about = "small"',
        "about = 3",
        [("about", "the file: about must be a text that is not empty, not 3")],
    ),
    (
        "[[query]]",
        "[[querry]]",
        [
            ("querry", "the file: unknown key 'querry'; did you mean 'query'?"),
            (
                'remove = ["ask"]',
                "unknown id 'ask'; known: attempt-1, attempt-2, patch, read-{turn}, say, system, "
                "tests, wrote",
            ),
        ],
    ),
    (
        "[[attempt.ok.segment]]",
        "[[attempt.okay.segment]]",
        [("okay", "attempt 2: unknown key 'okay'; did you mean 'ok'?")],
    ),
    (
        "[[attempt.failed.segment]]",
        "[[attempt.failed.wait]]",
        [("failed.wait", "attempt 2, failed: unknown key 'wait'; did you mean 'write'?")],
    ),
    # one table
    (
        "tokens = 1_000",
        "tokens = -3",
        [("-3", f"segment 'system': tokens {WHOLE}, not -3")],
    ),
    (
        "tokens = 1_000",
        "tokens = 1e3",
        [("1e3", f"segment 'system': tokens {WHOLE}, not 1000.0")],
    ),
    (
        "tokens = 1_000",
        "tokens = true",
        [("tokens = true", f"segment 'system': tokens {WHOLE}, not true")],
    ),
    ("tokens = 1_000\n", "", [("[[segment]]", "segment 'system' lacks tokens")]),
    (
        'kind = "system"',
        'kind = "sytem"',
        [
            (
                "sytem",
                "segment 'system': kind must be one of tools, system, task, user, assistant, "
                "thinking, tool_call, tool_result, file, diff, image, summary, note, not 'sytem'; "
                "did you mean 'system'?",
            )
        ],
    ),
    (
        'kind = "system"\ntokens = 1_000',
        'kind = "image"\ntokens = 1_000',
        [("tokens = 1_000", "segment 'system': an image counts image_tokens; leave out tokens")],
    ),
    (
        "pinned = true",
        "pined = true",
        [("pined", "segment 'system': unknown key 'pined'; did you mean 'pinned'?")],
    ),
    (
        "pinned = true",
        'pinned = "yes"',
        [("yes", "segment 'system': pinned must be true or false, not 'yes'")],
    ),
    ('id = "system"\n', "", [("[[segment]]", "segment lacks id")]),
    (
        'id = "system"',
        "id = 5",
        [("id = 5", "segment: id must be a text that is not empty, not 5")],
    ),
    (
        "relevance = 0.8",
        "relevance = 1.8",
        [("1.8", "query 'ask': relevance must be a number from 0 to 1, not 1.8")],
    ),
    (
        'facts = [{ key = "size", value = "{turn}" }]',
        'facts = [\n{ kee = "size" },\n{ key = "size", value = 3 }]',
        [
            ("kee", f"{READ}, fact: unknown key 'kee'; did you mean 'key'?"),
            ("kee", f"{READ}, fact lacks key"),
            ("value = 3", f"{READ}, fact: value must be a text, not 3"),
        ],
    ),
    # turns
    ("turn = 1\n", "", [("[[segment]]", "segment 'system' must have either turn or turns")]),
    (
        "turns = [2, 4]",
        "turns = [2, 4]\nturn = 2",
        [('[[segment]]\nid = "read', f"{READ} must have either turn or turns")],
    ),
    (
        "turns = [2, 4]",
        "turns = [4, 2]",
        [
            (
                "[4, 2]",
                f"{READ}: turns must be the first and the last turn, [FIRST, LAST], whole numbers "
                "from 1 to 1,000,000, not [4, 2]",
            )
        ],
    ),
    (
        "turns = [2, 4]",
        "turns = [2, 9]",
        [("[2, 9]", f"{READ} comes in turn 7, after the last of 6 turns")],
    ),
    (
        "turns = [2, 4]",
        "turns = [2, 1000000]",
        [("[2, 10", f"{READ} comes in turn 7, after the last of 6 turns")],
    ),
    (
        "turn = 5",
        "turn = 8",
        [("turn = 8", "query 'ask' comes in turn 8, after the last of 6 turns")],
    ),
    (
        'id = "patch"',
        'id = "patch"\nturn = 6',
        [("turn = 6\nkind", "segment 'patch' is its attempt's; leave out turn")],
    ),
    # ids and references
    ('id = "say"', 'id = "system"', [('id = "system", kind', "segment 'system' arrives twice")]),
    (
        'id = "patch"',
        'id = "say"',
        [('id = "say"\n', "segment 'say' arrives twice")],
    ),
    (
        '"read-{turn}"\nturns',
        '"read"\nturns',
        [
            (
                'id = "read"',
                "segment 'read' arrives twice; what comes every turn needs {turn} in its id",
            ),
            ("touches", "query 'ask': unknown segment 'read-2'; did you mean 'read'?"),
            ("touches", "query 'ask': unknown segment 'read-3'; did you mean 'read'?"),
            ('change."read-', "unknown id 'read-{turn}'; did you mean 'read'?"),
        ],
    ),
    (
        '"read-2", "read-3"',
        '"red-2"',
        [("red-2", "query 'ask': unknown segment 'red-2'; did you mean 'read-2'?")],
    ),
    ('"read-2", "read-3"', "", [("touches", "query 'ask': touches names no segment")]),
    (
        '"read-2", "read-3"',
        '"read-2", 3',
        [("touches", "query 'ask': touches must be a list of texts, not ['read-2', 3]")],
    ),
    (
        'key = "size"\nrel',
        'key = "sise"\nrel',
        [("sise", "query 'ask': segment 'read-2' does not state 'sise'; it states size")],
    ),
    (
        'touches = ["read-2"',
        'touches = ["system"',
        [('key = "size"\nrel', "query 'ask': segment 'system' does not state 'size'")],
    ),
    (
        "turn = 5",
        "turn = 2",
        [("touches", "query 'ask': segment 'read-3' only comes in turn 3, after turn 2")],
    ),
    (
        '"read-2", "read-3"',
        '"read-2", "tests"',
        [("touches", "query 'ask': segment 'tests' only comes in turn 6, after turn 5")],
    ),
    (
        'turn = 5\nkey = "size"\nrelevance = 0.8\ntouches = ["read-2"',
        'turn = 6\nkey = "size"\nrelevance = 0.8\ntouches = ["read-2", "tests"',
        [
            (
                "touches",
                "query 'ask': segment 'tests' comes in a branch that need not have been taken",
            )
        ],
    ),
    ("turn = 5\nkey", "turn = 6\nkey", []),
    (
        "[[query]]",
        '[[query]]\nid = "ask"\nturn = 6\nkey = "size"\nrelevance = 1\n'
        'touches = ["read-2"]\n\n[[query]]',
        [('id = "ask"\nturn = 6', "query 'ask': the id is used twice")],
    ),
    (
        "[[query]]",
        '[[operator]]\nid = "ask"\nturn = 6\nsegment = "reed-2"\n\n[[query]]',
        [("reed-2", "operator 'ask': unknown segment 'reed-2'; did you mean 'read-2'?")],
    ),
    # attempts
    ("number = 1", "number = 3", [("number = 3", "attempt 3 should be number 1")]),
    (
        "turn = 3\nsegment",
        "turn = 6\nsegment",
        [
            (
                "turn = 6\nneeds",
                "attempt 2 must come after attempt 1, which is in turn 6",
            )
        ],
    ),
    (
        "number = 2\nturn = 6",
        "number = 2\nturn = 7",
        [("turn = 7", "attempt 2 comes in turn 7, after the last of 6 turns")],
    ),
    (
        'facts = ["size"], paths',
        'facts = ["siz"], paths',
        [('["siz"]', "attempt 2 needs unknown fact 'siz'; did you mean 'size'?")],
    ),
    (
        'paths = ["a/2.py"] }',
        'paths = ["a/2.pi"] }',
        [("a/2.pi", "attempt 2 needs unknown path 'a/2.pi'; did you mean 'a/2.py'?")],
    ),
    (
        'needs = { facts = ["size"], paths = ["a/2.py"] }\n',
        "needs = {}\n",
        [
            ("[[attempt.ok", "attempt 2 needs nothing, so it has no branch ok"),
            ("[[attempt.failed", "attempt 2 needs nothing, so it has no branch failed"),
        ],
    ),
    (
        "needs = { facts",
        "needs = { fact = [], facts",
        [("fact = []", "attempt 2, needs: unknown key 'fact'; did you mean 'facts'?")],
    ),
    # flips and variants, though neither is loaded
    (
        'remove = ["ask"]',
        'remove = ["aks"]',
        [("aks", "unknown id 'aks'; did you mean 'ask'?")],
    ),
    (
        'remove = ["ask"]',
        'removes = ["ask"]',
        [("removes", "flips.quiet: unknown key 'removes'; did you mean 'remove'?")],
    ),
    (
        "tokens = 700, turns",
        "tokens = 0, turns",
        [("tokens = 0", f"{READ}: tokens {WHOLE}, not 0")],
    ),
    (
        "turns = [2, 3] }",
        "turns = [2, 2] }",
        [("touches", "query 'ask': unknown segment 'read-3'; did you mean 'read-2'?")],
    ),
    (
        "change.tests.score = 0.5",
        "change.tests = 0.5",
        [("change.tests", "change of 'tests' must be a table")],
    ),
    (
        "change.tests.score = 0.5",
        "change.test.score = 0.5",
        [("change.test.", "unknown id 'test'; did you mean 'tests'?")],
    ),
    (
        "change.tests.score = 0.5",
        "change.tests.scor = 0.5",
        [("change.tests", "segment 'tests': unknown key 'scor'; did you mean 'score'?")],
    ),
    (
        "seconds = 30",
        "seconds = 0",
        [("add.wait", "wait: seconds must be a number above 0 and at most 1,000,000,000, not 0")],
    ),
    (
        "add.wait",
        "add.settings.budget = 3\nadd.wait",
        [
            (
                "add.settings",
                "add: unknown key 'settings'; known: act, attempt, change, compaction, keep-alive, "
                "operator, query, refresh, segment, wait, write",
            )
        ],
    ),
    (
        "[flips.quiet]",
        "[flips.larger]",
        [("[variants", "variants.larger: the name is taken or no name")],
    ),
    ("settings.budget = 20_000", "settings.budget = 999", [("= 999", f"{PINS} 999")]),
    # no TOML at all
    (
        "[settings]",
        "[settings",
        [("[settings", "not valid TOML: expected ']' at the end of a table declaration")],
    ),
    (
        "turns = 6",
        "turns = 6\nturns = 7",
        [("turns = 7", "not valid TOML: cannot overwrite a value")],
    ),
    ("budget = 10_000", "budget = ", [("budget = ", "not valid TOML: invalid value")]),
]


@pytest.mark.parametrize(("old", "new", "reported"), WRONG)
def test_what_is_wrong_is_said_with_its_line(write, old, new, reported):
    assert old in BASE
    text = BASE.replace(old, new, 1)
    path = write(text)
    if not reported:
        assert catalogue.load(path).name == "mine"
        return
    assert faults(path) == [
        f"mine.toml:{line(text, snippet)}: {sentence}" for snippet, sentence in reported
    ]


def test_everything_that_is_wrong_is_said_at_once(write):
    text = BASE.replace("turns = 6", "turns = 6\nsalience.decay = 2").replace("= 500", "= 0")
    text = text.replace("relevance = 0.8", "relevence = 0.8").replace('["ask"]', '["asks"]')
    assert [sentence.split(":")[1] for sentence in faults(write(text))] == [
        str(line(text, snippet))
        for snippet in ("decay = 2", "tokens = 0", "[[query]]", "relevence", '["asks"]')
    ]


def test_a_flip_that_pins_too_much_names_the_parts(write):
    parts = "".join(
        f'[[segment]]\nid = "p{n}"\nturn = 1\nkind = "user"\npinned = true\ntokens = 2_000\n'
        for n in range(6)
    )
    (sentence,) = faults(write(BASE + parts))
    assert sentence.endswith(
        "the segments pinned in turn 1 hold 13,000 tokens (system 1,000, p0 2,000, p1 2,000, "
        "p2 2,000, p3 2,000 and 2 more), more than the budget of 10,000"
    )


class TestOverrides:
    def test_they_come_on_top_of_file_and_flip(self, write):
        path = write(BASE)
        assert catalogue.load(path + "/larger", {"budget": "30000"}).settings["budget"] == 30_000
        assert catalogue.load(path + "/larger").settings["budget"] == 20_000

    def test_turns_are_fixed(self, write):
        assert faults(write(BASE), {"turns": "9"}) == [
            "turns of 'mine' cannot be set: its stimuli are written for its turns"
        ]
        with pytest.raises(InputError, match="turns of 'the-door' cannot be set"):
            catalogue.load("the-door", {"turns": 3})

    def test_all_that_is_wrong_with_them_is_said(self, write):
        assert faults(write(BASE), {"rader": 1, "salience.decay": "nan", "returns.rate": "1"}) == [
            "unknown key 'rader'; did you mean 'reader'?",
            "salience.decay must be a number above 0 and at most 1, not nan",
            "unknown key 'returns.rate'; did you mean 'turns'?",
        ]

    def test_pins_above_a_budget_that_is_set(self, write):
        assert faults(write(BASE), {"budget": "999"}) == [f"scenario 'mine': {PINS} 999"]

    def test_every_common_key_is_accepted_by_every_story(self):
        values = {
            "salience.decay": "0.9",
            "rehydrate.threshold": "0.5",
            "rehydrate.margin": "0.2",
            "slack.trigger": "0.9",
            "rewrite.below": "0.3",
            "surrogate.keep": "0.5",
            "surrogate.tokens": "20",
            "surrogate.tag_tokens": "4",
            "surrogate.taggable": "0.5",
            "copies.tool_result": "0.5",
            "reader": "measured",
            "reader.invent_untagged": "0.9",
            "price": "gpt-5.5",
            "cache.ttl": "60",
            "cache.long": "1",
            "history": "append-only",
            "keep_alive.seconds": "240",
        }
        for name in stories.NAMES:
            settled = catalogue.load(name, values).settings
            assert settled["reader.fetch_tagged"] == 0.75
            assert settled["reader.invent_untagged"] == 0.9
            assert settled["cache.ttl"] == 60.0


class TestFamilyFiles:
    TEXT = 'about = "more"\nfamily = "doc-analysis"\n[settings]\nturns = 9\nreturns.rate = 0.4\n'

    def test_one(self, write):
        scenario = catalogue.load(write(self.TEXT), {"turns": "7"})
        assert (scenario.name, scenario.kind, scenario.seeded) == ("mine", "family", True)
        assert (scenario.settings["turns"], scenario.settings["returns.rate"]) == (7, 0.4)
        script = scenario.script(3)
        assert (script.scenario, script.seed) == ("mine", 3)
        family = catalogue.load("doc-analysis", {"turns": 7, "returns.rate": 0.4})
        assert script.stimuli == family.script(3).stimuli
        assert pickle.loads(pickle.dumps(scenario)).script(3) == script

    @pytest.mark.parametrize(
        ("old", "new", "sentence"),
        [
            ("doc-", "dok-", "mine.toml:2: unknown family 'dok-analysis'; did you mean 'doc-a"),
            ("0.4", "-1", "mine.toml:5: settings: returns.rate must be a number from 0 to"),
            (
                "returns.rate",
                "returns.rat",
                "mine.toml:5: settings: unknown key 'returns.rat'; did",
            ),
            (
                "[settings]",
                "wait = [{ turn = 1, seconds = 3 }]\n[settings]",
                "mine.toml:3: wait: the stimuli come from family 'doc-analysis'",
            ),
        ],
    )
    def test_wrong(self, write, old, new, sentence):
        (reported,) = faults(write(self.TEXT.replace(old, new)))
        assert reported.startswith(sentence)


class TestNames:
    def test_stories_then_families(self):
        assert catalogue.names() == [
            "signature-change",
            "eviction-cost",
            "rate-limit-table",
            "threshold-drift",
            "stale-file",
            "three-tools",
            "only-pins-left",
            "growing-surrogate",
            "compress-then-spend",
            "the-door",
            "last-of-forty",
            "first-of-each-file",
            "cache-life",
            "doc-analysis",
            "coding-agent",
            "support-agent",
        ]

    def test_every_story_file_is_in_the_list(self):
        folder = stories.file("x").parent
        assert {file.stem for file in folder.glob("*.toml")} == set(stories.NAMES)

    @pytest.mark.parametrize("name", catalogue.names())
    def test_each_loads_and_is_described_in_a_line(self, name):
        scenario = catalogue.load(name)
        assert scenario.name == name
        assert isinstance(scenario, Scenario)
        assert scenario.seeded == (scenario.kind == "family")
        assert catalogue.describe(name) == scenario.about
        assert 20 < len(scenario.about) <= 100
        assert "\n" not in scenario.about

    @pytest.mark.parametrize(
        ("name", "sentence"),
        [
            ("the-dor", "unknown scenario 'the-dor'; did you mean 'the-door'?"),
            ("the-door/no-op", "unknown flip or variant 'no-op'; did you mean 'no-operator'?"),
            ("the-door/", "unknown flip or variant ''; known: budget-50000, no-operator"),
            ("doc-analysis/x", "family 'doc-analysis' has no flips; use --set, or a scenario "),
            ("", "unknown scenario ''; known: cache-life, coding-agent, "),
            ("a\0.toml", "a\0.toml: cannot read it: embedded null byte"),
            ("no/such.toml", "no/such.toml: cannot read it: No such file or directory"),
            ("no/such.json", "no/such.json: cannot read it: No such file or directory"),
            ("no/such.toml/flip", "no/such.toml: cannot read it: No such file or directory"),
        ],
    )
    def test_unknown(self, name, sentence):
        with pytest.raises(InputError) as caught:
            catalogue.load(name)
        assert str(caught.value).startswith(sentence)

    def test_describe_of_an_unknown_name(self):
        with pytest.raises(InputError, match="did you mean 'stale-file'"):
            catalogue.describe("stale-fil")

    def test_a_directory_is_no_file(self, tmp_path):
        folder = tmp_path / "x.toml"
        folder.mkdir()
        with pytest.raises(InputError, match="cannot read it: Is a directory"):
            catalogue.load(str(folder))


@pytest.mark.parametrize(
    ("raw", "sentence"),
    [
        (b"turns = 6\n\xff", "2: not UTF-8 text"),
        (b"a = 1" + b"0" * 5000, " not valid TOML: exceeds the limit"),
        (b"a = " + b"[" * 5000, " not valid TOML: nested too deeply"),
        (b"a = '''\n\n", "3: not valid TOML: "),
        (b"a = 0x1" + b"0" * 5000, "1: the file: unknown key 'a'"),
        (b"[settings]\nturns = 0x1" + b"0" * 5000, "2: settings: turns must be a whole number"),
        (b"[settings]\nturns = 2026-01-01", "2: settings: turns must be a whole number"),
        (b"", " settings lack turns and budget"),
    ],
    ids=range(8),
)
def test_strange_files(tmp_path, raw, sentence):
    file = tmp_path / "mine.toml"
    file.write_bytes(raw)
    assert any(reported.startswith(f"mine.toml:{sentence}") for reported in faults(str(file)))


QUIET = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


@QUIET
@given(raw=st.binary(max_size=200))
def test_any_bytes_end_in_a_sentence(tmp_path, raw):
    file = tmp_path / "mine.toml"
    file.write_bytes(raw)
    with pytest.raises(InputError):
        catalogue.load(str(file))


SNIPPETS = st.sampled_from(
    [
        "0",
        "-1",
        "nan",
        '""',
        "[]",
        "{}",
        "true",
        "1e400",
        "[[segment]]",
        "[flips.x]",
        "=",
        "\n",
        '"x"',
    ]
)


@QUIET
@given(data=st.data(), name=st.sampled_from([None, *stories.NAMES]))
def test_a_damaged_file_loads_or_ends_in_sentences(tmp_path, data, name):
    text = BASE if name is None else stories.file(name).read_text()
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(len(text), start + 40)))
        text = text[:start] + data.draw(SNIPPETS | st.just("")) + text[end:]
    file = tmp_path / "mine.toml"
    file.write_text(text)
    try:
        scenario = catalogue.load(str(file))
    except InputError as error:
        for sentence in str(error).split("\n"):
            assert sentence.startswith(str(file))
    else:
        scenario.script(0)


VALUES = st.sampled_from(
    ["0", "-1", "1.5", "true", '""', '"x"', "[]", "[1]", "{}", "{ x = 1 }", "[{}]", "[[]]"]
)


@QUIET
@given(data=st.data())
def test_any_value_of_any_key_of_any_table_is_taken_or_named(tmp_path, data):
    key = data.draw(st.sampled_from(re.findall(r"^([\w.]+) = ", BASE, re.M)))
    value = data.draw(VALUES)
    text = re.sub(rf"^{re.escape(key)} = .*$", f"{key} = {value}", BASE, flags=re.M)
    file = tmp_path / "mine.toml"
    file.write_text(text)
    try:
        catalogue.load(str(file))
    except InputError as error:
        assert str(error).startswith(str(file))


DOCS = Path(__file__).parents[2] / "docs" / "scenarios.md"
EXAMPLES = re.findall(r"```toml\n(.*?)```", DOCS.read_text(), re.S)


@pytest.mark.parametrize("text", EXAMPLES, ids=lambda text: text.split("\n")[0])
def test_the_examples_of_the_docs_load(write, text):
    path = write(text)
    scenario = catalogue.load(path)
    assert scenario.script(0).stimuli
    for flip in scenario.flips:
        assert catalogue.load(f"{path}/{flip}").script(0) != scenario.script(0)


def test_the_docs_name_only_stories_and_flips_that_exist():
    named = re.findall(r"evictbench run ([\w-]+/[\w/-]+) ", DOCS.read_text())
    assert named
    for name in named:
        catalogue.load(name)
