"""Reducers by name: ours, one a file, and those that a package registers."""

import re
from importlib.metadata import EntryPoint

import pytest

from policies.reducers import registry
from policies.reducers.findings import Findings, Item
from policies.reducers.form import KINDS
from policies.reducers.reduction import Output, reduce
from sim.errors import InputError

ALERT = re.compile(r"^ALERT ", re.MULTILINE)


class Numbered:
    """Lines that begin with ALERT."""

    name = "numbered"
    about = "each alert once"
    kind = "log"
    rank = 99
    hints = ("ALERT ",)

    def find(self, log):
        yield from log.runs(ALERT)

    def read(self, log):
        items = [Item(line, key=line, names=(line,)) for line in log.lines]
        return Findings(self.name, items, by="key", noun="alert", counts={"alerts": len(items)})


class Namesake(Numbered):
    name = "mypy"


class Half:
    name = "half"


@pytest.fixture
def registered(monkeypatch):
    """Return a function that registers classes of this module as if a package had done so."""

    def register(*classes):
        points = [
            EntryPoint(c, f"{__name__}:{c}", registry.GROUP)
            if isinstance(c, str)
            else EntryPoint(c.__name__.lower(), "tests", registry.GROUP)
            for c in classes
        ]
        loads = {c.__name__.lower(): c for c in classes if not isinstance(c, str)}

        class Point:
            def __init__(self, point):
                self.name, self.value = point.name, point.value

            def load(self):
                if self.name not in loads:
                    raise ModuleNotFoundError(f"no module {self.name}")
                return loads[self.name]

        monkeypatch.setattr(registry, "entry_points", lambda group: map(Point, points))
        registry.reducers.cache_clear()

    yield register
    monkeypatch.undo()
    registry.reducers.cache_clear()


def test_every_reducer_says_what_it_is():
    for name, reducer in registry.reducers().items():
        assert reducer.name == name
        assert reducer.about and reducer.about[0].islower()
        assert reducer.kind in KINDS
        assert isinstance(reducer.rank, int) and isinstance(reducer.hints, tuple)
    ranks = [reducer.rank for reducer in registry.reducers().values()]
    assert ranks == sorted(ranks, reverse=True)


def test_a_registered_reducer_is_asked_like_ours(registered):
    registered(Numbered)
    text = "ALERT disk\n" + "all is well, number one of many\n" * 100 + "ALERT disk\nALERT fan\n"
    assert "numbered" in registry.names()
    output = Output(text)
    assert output.tool == "numbered"
    assert sum(section.tool == "numbered" for section in output.sections) == 2
    result = reduce(text, 100, "numbered")
    assert result.tool == "numbered"
    assert result.tokens_after <= 100


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (Namesake, "two reducers are called 'mypy'"),
        (Half, "the registered reducer 'half' has no about, kind, rank, hints, find, read"),
        ("gone", "the registered reducer 'gone' cannot be loaded: no module gone"),
    ],
)
def test_a_registered_reducer_that_is_no_good_is_named(registered, given, says):
    registered(given)
    with pytest.raises(InputError, match=says):
        registry.reducers()


def test_an_unknown_name_is_refused_with_the_nearest():
    with pytest.raises(InputError, match="unknown reducer 'mipy'; did you mean 'mypy'"):
        registry.make("mipy")
