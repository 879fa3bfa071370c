"""The ledger: every token in one book, and a chain for every absence."""

from __future__ import annotations

import pytest

from sim.errors import AuditError, UnexplainedAbsence
from sim.ledger import Books, Ledger


def test_the_books_of_the_design_and_nothing_else() -> None:
    assert " ".join(Books().as_dict()) == (
        "admitted surrogate fabricated refreshed_in rehydrated evicted_copy evicted_dispensable "
        "rewritten refreshed_out truncated never_admitted"
    )


def test_what_comes_in_less_what_left_is_resident() -> None:
    ledger = Ledger()
    ledger.books.enter("admitted", 100)
    ledger.books.leave("rewritten", 60)
    ledger.books.enter("surrogate", 5)
    ledger.check(45, "a rewrite")
    with pytest.raises(AuditError, match=r"45 tokens .* after a rewrite.* holds 44"):
        ledger.check(44, "a rewrite")


def test_the_chain_of_the_design() -> None:
    """Admitted turn 3, rewritten turn 12 as s41, tagged; s41 evicted turn 30; fetched turn 31."""
    ledger = Ledger()
    ledger.note("x", "admitted", 3, "whole")
    ledger.note("y", "admitted", 4, "whole")
    ledger.note("x", "rewritten", 12, "s41", True)
    ledger.note("y", "evicted", 13, "copy", "bulk")
    ledger.note("s41", "evicted", 30, "copy", "swap")
    ledger.note("x", "fetched", 31)
    assert ledger.why("x") == (
        ("x", "admitted", 3, "whole"),
        ("x", "rewritten", 12, "s41", True),
        ("s41", "evicted", 30, "copy", "swap"),
        ("x", "fetched", 31),
    )
    assert ledger.why("y") == (("y", "admitted", 4, "whole"), ("y", "evicted", 13, "copy", "bulk"))


def test_a_chain_ends_where_the_segment_is_back() -> None:
    """What becomes of a surrogate afterwards is no part of why its source is where it is."""
    ledger = Ledger()
    ledger.note("x", "rewritten", 2, "s1", True)
    ledger.note("x", "fetched", 3)
    ledger.note("s1", "evicted", 4, "copy", "bulk")
    ledger.note("x", "rewritten", 5, "s2", False)
    ledger.note("s2", "restored", 6, "s3")
    ledger.note("s3", "truncated", 7)
    assert ledger.why("x") == (
        ("x", "rewritten", 2, "s1", True),
        ("x", "fetched", 3),
        ("x", "rewritten", 5, "s2", False),
        ("s2", "restored", 6, "s3"),
        ("s3", "truncated", 7),
    )
    assert ledger.why("s1") == (("s1", "evicted", 4, "copy", "bulk"),)


def test_a_surrogate_of_a_surrogate_is_followed_however_long_the_line() -> None:
    ledger = Ledger()
    for number in range(5_000):
        ledger.note(f"s{number}", "rewritten", number, f"s{number + 1}", True)
    ledger.note("s5000", "evicted", 9, "dispensable", "z")
    chain = ledger.why("s0")
    assert len(chain) == 5_001
    assert chain[-1] == ("s5000", "evicted", 9, "dispensable", "z")


def test_two_sources_of_one_surrogate_share_its_end() -> None:
    ledger = Ledger()
    for name in ("x", "y"):
        ledger.note(name, "rewritten", 2, "s1", True)
    ledger.note("s1", "evicted", 4, "dispensable", "z")
    assert ledger.why("x")[-1] == ledger.why("y")[-1] == ("s1", "evicted", 4, "dispensable", "z")


def test_what_was_never_heard_of_is_an_unexplained_absence() -> None:
    with pytest.raises(UnexplainedAbsence, match="'ghost'"):
        Ledger().why("ghost")
