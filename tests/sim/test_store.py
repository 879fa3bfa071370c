"""The world outside the window: versions, and the size at which a copy comes back."""

from __future__ import annotations

from sim.segments import Fact, Segment
from sim.store import Store
from tests.sim.build import segment

OLD, NEW = (Fact("k", "old"),), (Fact("k", "new"),)


def read(name: str, tokens: int, store: Store) -> Segment:
    return segment(name, tokens, path="a.py", version=store.version("a.py"), facts=OLD)


def test_a_write_leaves_every_copy_of_its_path_behind() -> None:
    store = Store()
    one, other, free = read("f", 10, store), segment("g", path="b.py"), segment("n")
    assert store.version("a.py") == 0
    assert store.write("a.py", None, None) == 1
    assert not store.current(one)
    assert store.current(other)
    assert store.current(free)
    assert store.current(read("h", 10, store))


def test_a_copy_comes_back_as_it_was_left() -> None:
    store = Store()
    file = read("f", 10, store)
    assert (store.fetched_tokens(file), store.fetched_facts(file)) == (10, OLD)
    store.write("a.py", None, None)
    assert (store.fetched_tokens(file), store.fetched_facts(file)) == (10, OLD)
    store.write("a.py", 25, NEW)
    store.write("a.py", None, None)
    assert (store.fetched_tokens(file), store.fetched_facts(file)) == (25, NEW)


def test_a_current_copy_keeps_the_size_it_has() -> None:
    store = Store()
    store.write("a.py", 25, NEW)
    part = read("part", 7, store)
    assert (store.fetched_tokens(part), store.fetched_facts(part)) == (7, OLD)


def test_the_world_changes_a_source_without_a_path() -> None:
    store = Store()
    document = segment("d", 50)
    store.change(document, 30)
    assert store.fetched_tokens(document) == 30
    assert store.fetched_tokens(segment("e", 50)) == 50
    assert store.current(document)


def test_the_world_changes_a_file_for_every_copy() -> None:
    store = Store()
    one, two = read("f", 10, store), read("g", 12, store)
    store.change(one, 30)
    assert [store.current(s) for s in (one, two)] == [False, False]
    assert [store.fetched_tokens(s) for s in (one, two)] == [30, 30]


def test_a_write_after_the_world_has_the_last_word() -> None:
    """The file is 30 by the world, then 99 by a write, and a copy of that is what comes back."""
    store = Store()
    file = read("f", 10, store)
    store.change(file, 30)
    store.write("a.py", 99, None)
    assert store.fetched_tokens(file) == 99
    file.version, file.tokens = store.version("a.py"), 99
    assert store.fetched_tokens(file) == 99
