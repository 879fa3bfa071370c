"""The reader: every row of its table, and which comes first where several could apply."""

from __future__ import annotations

from typing import Any

import pytest

from sim.reader import Reader
from sim.segments import Fact, Kind, Segment, State
from sim.settings import Settings
from sim.store import Store
from tests.sim.build import segment
from tests.support.scripts import BASE_SETTINGS

FACT = Fact("k", "4500", "3000")
MEASURED = {
    "reader.invent_untagged": 0.40,
    "reader.fetch_tagged": 0.75,
    "reader.abstain_tagged": 0.10,
    "reader.invent_tagged": 0.15,
}


class Room:
    """A log with the segments that a test puts there, and a reader of it."""

    def __init__(self, seed: int = 0, **settings: Any) -> None:
        flat = {**BASE_SETTINGS, **{k.replace("__", "."): v for k, v in settings.items()}}
        self.store = Store()
        self.carriers: dict[str, list[Segment]] = {"k": []}
        self.reader = Reader(Settings.from_flat(flat), self.store, self.carriers, seed)
        self.made = 0

    def source(self, state: State = State.RESIDENT, **fields: Any) -> Segment:
        """Put a segment that carries the fact."""
        self.made += 1
        fields.setdefault("facts", (FACT,))
        fields.setdefault("admitted", state is not State.NEVER_ADMITTED)
        if fields.get("path") is not None:
            fields.setdefault("version", self.store.version(fields["path"]))
        it = segment(f"x{self.made}", seq=self.made, state=state, **fields)
        self.carriers["k"].append(it)
        return it

    def surrogate(self, source: Segment, *, tagged: bool, **fields: Any) -> Segment:
        """Put a resident surrogate of *source*, which is then no longer resident itself."""
        self.made += 1
        as_of = {source.id: source.version} if source.path is not None else {}
        it = segment(
            f"s{self.made}",
            seq=self.made,
            state=State.RESIDENT,
            sources=(source,),
            tagged=tagged,
            as_of=as_of,
            **fields,
        )
        source.surrogates.append(it)
        source.state = State.REWRITTEN
        return it

    def reads(self, query: str = "q") -> tuple[str, str, str | None, str | None, str]:
        """Return outcome, row, segment, what is wanted and value."""
        reading = self.reader.read(query, "k")
        names = [None if s is None else s.id for s in (reading.segment, reading.wanted)]
        return reading.outcome, reading.cause, names[0], names[1], reading.value


def invented(room: Room, source: Segment) -> Segment:
    lost = room.surrogate(source, tagged=False)
    lost.state = State.REWRITTEN
    text = segment(
        "i", sources=(lost,), invented=True, state=State.RESIDENT, kept=frozenset({"k"}),
        made_up=frozenset({"k"}),
    )  # fmt: skip
    lost.surrogates.append(text)
    return text


KEPT = frozenset({"k"})


# -- row by row ----------------------------------------------------------------------------


def test_resident_full_and_current() -> None:
    room = Room()
    room.source()
    assert room.reads() == ("correct", "full", "x1", None, "4500")


def test_resident_full_but_of_an_older_version() -> None:
    room = Room()
    room.source(path="a.py")
    room.store.write("a.py", None, None)
    assert room.reads() == ("stale", "stale", "x1", None, "4500")


@pytest.mark.parametrize("tagged", [False, True])
def test_a_surrogate_that_kept_it(tagged: bool) -> None:
    room = Room()
    room.surrogate(room.source(), tagged=tagged, kept=KEPT)
    assert room.reads() == ("correct", "kept", "s2", None, "4500")


def test_a_summary_that_covers_it_is_a_surrogate_that_kept_it() -> None:
    room = Room()
    room.source(State.EVICTED, copy=True)
    room.source(kind=Kind.SUMMARY)
    assert room.reads() == ("correct", "kept", "x2", None, "4500")


def test_text_that_was_itself_invented() -> None:
    room = Room()
    invented(room, room.source())
    assert room.reads() == ("confabulated", "invented", "i", None, "3000")


def test_an_untagged_surrogate_that_lost_it_invents_under_strict() -> None:
    room = Room()
    room.surrogate(room.source(copy=True), tagged=False)
    assert room.reads() == ("confabulated", "untagged", "s2", None, "3000")


def test_a_tagged_surrogate_that_lost_it_fetches_under_strict() -> None:
    room = Room()
    room.surrogate(room.source(copy=True), tagged=True)
    assert room.reads() == ("fetch", "tagged", "s2", "x1", "")


def test_without_a_copy_the_fetch_share_abstains() -> None:
    room = Room()
    room.surrogate(room.source(), tagged=True)
    assert room.reads() == ("abstained", "tagged", "s2", None, "")


@pytest.mark.parametrize("state", [State.EVICTED, State.TRUNCATED, State.REWRITTEN])
@pytest.mark.parametrize("copy", [False, True])
def test_gone(state: State, copy: bool) -> None:
    room = Room()
    room.source(state, copy=copy)
    expected = ("fetch", "gone", "x1", "x1", "") if copy else ("abstained", "gone", "x1", None, "")
    assert room.reads() == expected


@pytest.mark.parametrize("copy", [False, True])
def test_never_admitted(copy: bool) -> None:
    """With a copy it goes through the door; without one there is nothing to say."""
    room = Room()
    room.source(State.NEVER_ADMITTED, copy=copy)
    wanted = "x1" if copy else None
    outcome = "fetch" if copy else "abstained"
    assert room.reads() == (outcome, "never admitted", wanted, wanted, "")


def test_never_heard_of() -> None:
    assert Room().reads() == ("abstained", "never admitted", None, None, "")


# -- the first row that applies ------------------------------------------------------------


def test_a_current_copy_comes_before_an_older_one() -> None:
    room = Room()
    room.source(path="a.py")
    room.store.write("a.py", None, None)
    room.source(path="a.py", facts=(Fact("k", "new"),))
    assert room.reads() == ("correct", "full", "x2", None, "new")


def test_an_older_copy_comes_before_a_surrogate_that_kept_it() -> None:
    room = Room()
    room.source(path="a.py")
    room.store.write("a.py", None, None)
    room.surrogate(room.source(path="b.py"), tagged=True, kept=KEPT)
    assert room.reads()[:3] == ("stale", "stale", "x1")


def test_an_older_copy_comes_before_a_summary() -> None:
    room = Room()
    room.source(kind=Kind.SUMMARY)
    room.source(path="a.py")
    room.store.write("a.py", None, None)
    assert room.reads()[:3] == ("stale", "stale", "x2")


def test_a_kept_fact_comes_before_an_invented_one() -> None:
    room = Room()
    invented(room, room.source())
    room.surrogate(room.source(), tagged=True, kept=KEPT)
    assert room.reads()[:2] == ("correct", "kept")


def test_invented_text_comes_before_a_surrogate_that_lost_it() -> None:
    room = Room()
    room.surrogate(room.source(copy=True), tagged=True)
    invented(room, room.source())
    room.surrogate(room.source(), tagged=False)
    assert room.reads()[:2] == ("confabulated", "invented")


def test_an_untagged_surrogate_comes_before_a_tagged_one() -> None:
    room = Room()
    room.surrogate(room.source(copy=True), tagged=False)
    room.surrogate(room.source(copy=True), tagged=True)
    assert room.reads()[:2] == ("confabulated", "untagged")


def test_a_surrogate_that_lost_it_comes_before_what_is_gone() -> None:
    room = Room()
    room.source(State.EVICTED, copy=True)
    room.surrogate(room.source(), tagged=False)
    assert room.reads()[:2] == ("confabulated", "untagged")


def test_any_tagged_surrogate_whose_source_has_a_copy_can_be_fetched() -> None:
    room = Room()
    room.surrogate(room.source(copy=True), tagged=True)
    room.surrogate(room.source(), tagged=True)
    assert room.reads()[3] == "x1"


def test_what_is_gone_with_a_copy_comes_before_what_never_came() -> None:
    room = Room()
    room.source(State.EVICTED, copy=True)
    room.source(State.NEVER_ADMITTED, copy=True)
    assert room.reads()[1:4] == ("gone", "x1", "x1")


def test_the_door_comes_before_giving_up() -> None:
    room = Room()
    room.source(State.NEVER_ADMITTED, copy=True)
    room.source(State.EVICTED)
    assert room.reads()[1:4] == ("never admitted", "x1", "x1")


def test_a_resident_text_that_a_reduction_cut_does_not_state_it() -> None:
    room = Room()
    room.source(lost=KEPT)
    assert room.reads()[0] == "abstained"


def test_a_surrogate_of_an_evicted_source_still_misleads() -> None:
    """The source came back and was evicted; its untagged surrogate is still there."""
    room = Room()
    room.surrogate(room.source(copy=True), tagged=False)
    room.carriers["k"][0].state = State.EVICTED
    assert room.reads()[:2] == ("confabulated", "untagged")


def test_provenance_decides_and_not_the_value() -> None:
    room = Room()
    lucky = room.source(facts=(Fact("k", "3000", "3000"),))
    room.surrogate(lucky, tagged=False)
    assert room.reads() == ("confabulated", "untagged", "s2", None, "3000")


# -- guards --------------------------------------------------------------------------------


def test_a_guard_is_met_by_a_current_copy_or_by_what_kept_it() -> None:
    room = Room()
    assert not room.reader.meets("k")
    old = room.source(path="a.py")
    assert room.reader.meets("k")
    room.store.write("a.py", None, None)
    assert not room.reader.meets("k")
    room.surrogate(room.source(), tagged=False, kept=KEPT)
    assert old.resident
    assert room.reader.meets("k")
    assert room.reads()[0] == "stale"


def test_a_guard_fetches_nothing_and_invents_nothing() -> None:
    for tagged in (False, True):
        room = Room()
        room.surrogate(room.source(copy=True), tagged=tagged)
        assert not room.reader.meets("k")
    room = Room()
    room.source(State.EVICTED, copy=True)
    assert not room.reader.meets("k")
    room = Room()
    invented(room, room.source())
    assert not room.reader.meets("k")


# -- probabilities -------------------------------------------------------------------------


def shares(copy: bool, tagged: bool, **settings: Any) -> dict[str, float]:
    """Return how often each outcome comes over 4,000 queries."""
    room = Room(seed=1, **settings)
    room.surrogate(room.source(copy=copy), tagged=tagged)
    found: dict[str, float] = {}
    for number in range(4_000):
        outcome = room.reads(f"q{number}")[0]
        found[outcome] = found.get(outcome, 0.0) + 1 / 4_000
    return found


def near(**expected: float) -> Any:
    return pytest.approx(expected, abs=0.03)


def test_the_measured_reader() -> None:
    measured = {k.replace(".", "__"): v for k, v in MEASURED.items()}
    assert shares(True, False, **measured) == near(confabulated=0.40, abstained=0.60)
    assert shares(True, True, **measured) == near(fetch=0.75, abstained=0.10, confabulated=0.15)
    assert shares(False, True, **measured) == near(abstained=0.85, confabulated=0.15)


def test_a_reader_that_never_fetches_shares_out_the_rest() -> None:
    given = {
        "reader__fetch_tagged": 0.0,
        "reader__abstain_tagged": 0.4,
        "reader__invent_tagged": 0.6,
    }
    assert shares(True, True, **given) == near(abstained=0.4, confabulated=0.6)
    given = {
        "reader__fetch_tagged": 0.5,
        "reader__abstain_tagged": 0.5,
        "reader__invent_tagged": 0.0,
    }
    assert shares(True, True, **given) == near(fetch=0.5, abstained=0.5)


def test_a_reader_that_always_refetches_needs_no_tag_but_a_copy() -> None:
    always = {"reader__refetch": "always", "reader__fetch_tagged": 0.0}
    assert shares(True, False, **always) == near(fetch=1.0)
    assert shares(True, True, **always) == near(fetch=1.0)
    assert shares(False, False, **always) == near(confabulated=1.0)


def test_one_draw_belongs_to_one_query_whoever_asks() -> None:
    rooms = [Room(seed=5), Room(seed=5)]
    for name in ("q1", "q2", "q3"):
        assert rooms[0].reader.draw(name) == rooms[1].reader.draw(name)
    assert rooms[0].reader.draw("q1") != Room(seed=6).reader.draw("q1")


# -- distraction ---------------------------------------------------------------------------


def distracted(p: float, files: int) -> float:
    room = Room(seed=2, reader__distraction=p)
    room.source()
    readings = [
        room.reader.distracted(f"q{n}", room.reader.read(f"q{n}", "k"), files) for n in range(4_000)
    ]
    wrong = [r for r in readings if r.outcome != "correct"]
    assert {(r.outcome, r.cause) for r in wrong} <= {("confabulated", "distraction")}
    return len(wrong) / len(readings)


@pytest.mark.parametrize(
    ("p", "files", "share"),
    [(0.0, 5, 0.0), (0.2, 0, 0.0), (0.2, 1, 0.2), (0.2, 3, 1 - 0.8**3), (1.0, 1, 1.0)],
)
def test_each_bulk_file_may_distract(p: float, files: int, share: float) -> None:
    assert distracted(p, files) == pytest.approx(share, abs=0.03)


def test_only_a_right_answer_can_be_spoilt() -> None:
    room = Room(reader__distraction=1.0)
    room.source(State.EVICTED)
    reading = room.reader.read("q", "k")
    assert room.reader.distracted("q", reading, 9) is reading
