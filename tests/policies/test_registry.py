import sys
from importlib.metadata import EntryPoint

import pytest

from policies import harness, registry
from policies.registry import code, describe, installed, make, names, options, seed_names
from sim.errors import InputError
from sim.settings import KEYS

ORDER = [
    "naive-trim",
    "sliding-window",
    "naive-rewrite",
    "naive-rehydrate",
    "tag-or-drop",
    "slack-swap-refuse",
    "tiered",
    "disciplined",
    "pays-back",
    "lease",
    "masking",
    "context-editing",
    "boundary-prune",
    "rolling-summary",
    "hybrid",
    "compaction",
    "recorded",
    "clairvoyant",
    "no-op",
]

GOOD = '''
from sim.actions import Evict

class Newest:
    """Evicts from the end."""

    def __init__(self, most: int = 3, loud: bool = False, share: float = 0.5, word: str = "x"):
        self.given = (most, loud, share, word)

    def before_call(self, view):
        for segment in reversed(list(view.window)):
            if view.over <= 0:
                return
            if not segment.held:
                yield Evict(segment.id, "newest")

class Nothing:
    pass
'''


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "mine.py"

    def write(text):
        path.write_text(text)
        return str(path)

    return write


def says(spec):
    with pytest.raises(InputError) as caught:
        make(spec)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_names_in_the_order_of_the_design():
    assert names()[: len(ORDER)] == ORDER
    assert names()[len(ORDER) :] == sorted(policy.name for policy in harness.found())
    assert seed_names() == ORDER[:8]
    assert all(describe(name) for name in ORDER)


def test_every_option_is_documented():
    for name in ORDER:
        for option in options(name):
            assert option.meaning and option.takes
            if option.default is None:
                assert option.name in KEYS.values()
            else:
                assert make(f"{name}:{option.name}={option.default}").label == name


@pytest.mark.parametrize(
    ("spec", "label"),
    [
        ("tiered", "tiered"),
        (" tiered ", "tiered"),
        ("tiered:arrival=on", "tiered"),
        ("tiered:pins=last,arrival=off", "tiered:arrival=off,pins=last"),
        ("tag-or-drop:tag=off, rewrite.below=0.30", "tag-or-drop:tag=off,rewrite.below=0.3"),
        (
            "slack-swap-refuse:occupancy=mass,comparison=max,margin=0.2",
            "slack-swap-refuse:slack.occupancy=mass,rehydrate.comparison=max,rehydrate.margin=0.2",
        ),
        ("compaction:at=.5", "compaction:compaction.at=0.5"),
    ],
)
def test_one_canonical_spelling(spec, label):
    policy = make(spec)
    assert policy.label == label
    assert make(label).label == label


def test_each_call_makes_a_fresh_policy():
    assert make("tiered") is not make("tiered")


@pytest.mark.parametrize(
    ("spec", "parts"),
    [
        ("tiers", ["unknown policy 'tiers'", "did you mean 'tiered'?"]),
        ("", ["unknown policy ''"]),
        ("tiered:", ["no option follows"]),
        ("tiered:arrival", ["'arrival' is not an option NAME=VALUE"]),
        ("tiered:arrival=", ["NAME=VALUE"]),
        ("tiered:arival=off", ["unknown option 'arival'", "did you mean 'arrival'?"]),
        ("tiered:arrival=pages", ["'pages'", "did you mean 'page'?"]),
        ("tiered:arrival=off,arrival=on", ["given twice"]),
        ("slack-swap-refuse:margin=1,rehydrate.margin=2", ["'rehydrate.margin' is given twice"]),
        ("tag-or-drop:rewrite.below=-1", ["'-1' is not a number at least 0"]),
        ("tag-or-drop:rewrite.below=nan", ["not a number"]),
        ("tag-or-drop:rewrite.below=inf", ["not a number"]),
        ("tag-or-drop:surrogate.tokens=0", ["at least 1"]),
        ("tag-or-drop:surrogate.tokens=1.5", ["whole number of tokens"]),
        ("tag-or-drop:surrogate.tag_tokens=-1", ["at least 0"]),
        ("compaction:compaction.share=1.1", ["above 0 and at most 1"]),
        ("slack-swap-refuse:comparison=mean", ["unknown value 'mean'"]),
        ("no-op:tag=off", ["unknown option 'tag'"]),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(spec, parts):
    message = says(spec)
    for part in parts:
        assert part in message


def test_a_policy_from_a_file(file, play):
    from sim.script import Arrival
    from sim.segments import Kind

    path = file(GOOD)
    policy = make(f"{path}:Newest")
    assert policy.label == f"{path}:Newest"
    assert policy.declares == policy.needs == frozenset()
    told = play(
        policy,
        Arrival(1, "a", Kind.NOTE, 100, 1.0),
        Arrival(2, "b", Kind.NOTE, 100, 1.0),
        budget=150,
    )
    assert told.window == ["a"]


def test_its_options_are_keyword_arguments(file):
    path = file(GOOD)
    policy = make(f"{path}:Newest:most=5,loud=on,share=0.25,word=b")
    assert policy.given == (5, True, 0.25, "b")
    assert policy.label == f"{path}:Newest:loud=on,most=5,share=0.25,word=b"
    assert "did you mean 'most'?" in says(f"{path}:Newest:mots=5")


def test_a_changed_file_is_read_again(file):
    path = file(GOOD)
    make(f"{path}:Newest")
    file(GOOD.replace("class Newest", "class Oldest"))
    assert make(f"{path}:Oldest")


@pytest.mark.parametrize(
    ("text", "name", "parts"),
    [
        (GOOD, "Newst", ["unknown class 'Newst'", "did you mean 'Newest'?"]),
        (GOOD, "Nothing", ["Nothing has no before_call"]),
        ("x = 1", "Policy", ["it has no class Policy"]),
        ("x = 1", "x", ["x is not a class"]),
        ("import nosuchmodule", "P", ["mine.py:1:", "cannot be imported", "nosuchmodule"]),
        ("\n\nclass P(:\n  pass", "P", ["mine.py:3:", "cannot be imported"]),
        ("a = 1\nraise ValueError('two\\nlines')", "P", ["mine.py:2:", "ValueError: two lines"]),
        (
            "class P:\n  def __init__(self): raise KeyError('k')\n  def before_call(self, v): pass",
            "P",
            ["cannot be made", "KeyError"],
        ),
        (
            "class P:\n  declares = {'ignore_pins'}\n  def before_call(self, v): pass",
            "P",
            ["'ignore_pins'", "did you mean 'ignores_pins'?"],
        ),
        ("class P:\n  needs = 'ranks'\n  def before_call(self, v): pass", "P", ["needs"]),
        ("def P(): return 3", "P", ["has no before_call"]),
    ],
)
def test_a_wrong_file_is_said_in_one_sentence(file, text, name, parts):
    message = says(f"{file(text)}:{name}")
    for part in parts:
        assert part in message


def test_a_missing_file_and_a_missing_class(file, tmp_path):
    assert "there is no such file" in says(f"{tmp_path / 'none.py'}:P")
    assert "it names no class" in says(file(GOOD))
    assert "it names no class" in says(file(GOOD) + ":")


def test_a_composed_policy_of_ones_own_has_options(file):
    path = file(
        "from policies.no_op import NoOp\n"
        "from policies.options import switch\n"
        "class Mine(NoOp):\n"
        "    name = 'mine'\n"
        "    options = (switch('rule', 'a rule'),)\n"
    )
    assert make(f"{path}:Mine:rule=off").label == "mine:rule=off"
    assert "did you mean 'rule'?" in says(f"{path}:Mine:rul=off")


@pytest.fixture
def plugin(file, monkeypatch, tmp_path):
    file(GOOD)
    monkeypatch.syspath_prepend(str(tmp_path))
    entries = [
        EntryPoint("newest", "mine:Newest", registry.GROUP),
        EntryPoint("broken", "mine:Absent", registry.GROUP),
    ]
    monkeypatch.setattr(registry, "entry_points", lambda group: entries)
    installed.cache_clear()
    yield
    installed.cache_clear()
    sys.modules.pop("mine", None)


def test_installed_packages(plugin):
    assert installed() == ("broken", "newest")
    policy = make("newest:most=7")
    assert (policy.label, policy.given[0]) == ("newest:most=7", 7)
    assert "did you mean 'newest'?" in says("newst")
    assert "policy broken" in says("broken")
    assert names()[: len(ORDER)] == ORDER


def test_the_code_of_a_policy_from_outside_is_its_own_file(plugin, file):
    whole = GOOD.encode()
    assert code("newest:most=7") == whole == code(f"{file(GOOD)}:Newest:most=7")
    assert code("tiered:pins=off") == b""
