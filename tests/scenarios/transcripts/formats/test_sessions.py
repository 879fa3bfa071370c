"""Sessions of one file, and the path of a tree, against a naive second way."""

from hypothesis import given
from hypothesis import strategies as st

from scenarios.transcripts.formats.sessions import Link, Tree, sessions


def name_of(record):
    return record.get("s")


def split(names):
    records = enumerate(({"s": name} for name in names), 1)
    return [(name, [place for place, _ in run]) for name, run in sessions(records, name_of)]


def test_a_session_ends_where_another_is_named():
    assert split([]) == []
    assert split([None]) == [("", [1])]
    assert split([None, "a", None, "a", "b", None, "a"]) == [
        ("", [1, 2, 3, 4]),
        ("b", [5, 6]),
        ("a", [7]),
    ]


def test_names_are_short_and_unique():
    names = [name for name, _ in split(["a", "0123-4567-8", "b", "0123-4567-9", "!!"])]
    assert names == ["", "01234567", "b", "01234567-2", "session"]


@given(st.lists(st.sampled_from([None, "a", "b", "c"])))
def test_every_record_is_of_one_session(names):
    found = split(names)
    assert [place for _, places in found for place in places] == list(range(1, len(names) + 1))
    assert all(len({names[p - 1] for p in places} - {None}) <= 1 for _, places in found)
    assert len({name for name, _ in found}) == len(found)


def off(links):
    return Tree.of(enumerate(links, 1), lambda link: None, lambda link: link).aside


def test_a_list_has_nothing_off_the_path():
    assert off([Link("a", None), Link("b", "a"), Link("c", ...), Link("d", 7)]) == set()


def test_what_is_not_above_the_last_record_lies_off_the_path():
    links = [Link("a", None), Link("b", "a"), Link("c", "b"), Link("d", "a"), Link("e", "d")]
    assert off(links) == {2, 3}
    assert off([*links, Link("f", None)]) == {1, 2, 3, 4, 5}
    assert off([*links, Link("f", "gone")]) == {2, 3}
    assert off([*links, Link("b", "x")]) == {2, 3, 6}


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=9))
def test_the_path_against_a_naive_walk(pairs):
    parents = {}
    for name, parent in pairs:
        parents.setdefault(str(name), str(parent))
    order = list(parents)
    kept = []
    name = order[-1] if order else None
    while name is not None and name not in kept:
        kept.append(name)
        index = order.index(name)
        name = parents[name]
        if name not in order:
            name = order[index - 1] if index else None
    links = [Link(name, parent) for name, parent in parents.items()]
    assert off(links) == {n for n, name in enumerate(order, 1) if name not in kept}
