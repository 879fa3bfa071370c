"""How each record that moves tokens changes the window, and what it must agree with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from sim.audit.state import Item, Particulars, State
from sim.errors import AuditError
from sim.segments import SPENDING_KINDS

__all__ = ["MOVES"]

_SAVED = frozenset(
    {
        *("spill", "pointer", "head-saved", "tail-saved"),
        *("head-tail-saved", "head-tail-20-saved"),
    }
)
"""Forms of which a file holds the whole result."""


def _size(tokens: Any, what: str = "a size") -> int:
    if tokens.__class__ is not int or tokens < 0:
        raise AuditError(f"{what} is a whole number of tokens, not {tokens!r}")
    return int(tokens)


def _filled(tokens: Any) -> int:
    if _size(tokens) == 0:
        raise AuditError("what enters the window holds at least one token")
    return int(tokens)


def _enter(s: State, item: Item) -> None:
    """Book-keeping for *item*, which has just come into the window."""
    if item.kind is not None:
        s.now.entered.add(item.id)
    if s.now.calls:
        s.now.at_call.setdefault(item.id, False)


def _leave(s: State, item: Item, tokens: int) -> None:
    """Book-keeping for *item* of *tokens*, which has just gone from the window."""
    item.tokens = tokens
    s.now.left.add(item.id)
    if s.now.calls:
        s.now.at_call.setdefault(item.id, True)
        s.now.stand_in_left = s.now.stand_in_left or item.kind is None


def _originals(s: State, item: Item) -> Iterator[Item]:
    """Yield what a surrogate or invented text stands for in the end."""
    todo = list(item.sources)
    while todo:
        source = s.items[todo.pop()]
        if source.kind is None:
            todo.extend(source.sources)
        else:
            yield source


def _all_behind(s: State, items: Iterable[Item]) -> Iterator[Item]:
    """Yield *items* and all that they stand for, however often that was written anew."""
    todo, seen = list(items), set[str]()
    while todo:
        item = todo.pop()
        if item.id not in seen:
            seen.add(item.id)
            yield item
            todo.extend(s.items[source] for source in item.sources)


def _part(s: State, item: Item) -> None:
    """*item* left without a stand-in; what only it stood for is gone as well."""
    if item.kind is not None:
        if item.stand_ins:
            s.pairs.rewrite(item.id)
        else:
            s.pairs.leave(item.id)
        return
    for source in _originals(s, item):
        source.stand_ins -= 1
        if not source.stand_ins and source.id not in s.window:
            s.pairs.leave(source.id)


def _pairs_of(s: State, item: Item) -> Iterator[str]:
    """Yield the pairs that *item*, or what it stands for, came in."""
    for source in [item] if item.kind is not None else _originals(s, item):
        pair = s.pairs.of(source.id)
        if pair is not None:
            yield pair


def _cut_with_partner(s: State, item: Item) -> bool:
    """Return whether the backstop has cut a partner of *item* in this turn."""
    return bool(s.now.cut_pairs) and not s.now.cut_pairs.isdisjoint(_pairs_of(s, item))


def _displaced(s: State, displaced: Sequence[str], *, gone: bool) -> None:
    """Check that a displaced set has left in this turn, or for a refusal that it stayed."""
    for segment in displaced:
        if gone and (segment in s.window or segment not in s.now.left):
            raise AuditError(f"{segment!r} is named as displaced, but it did not leave this turn")
        if not gone and segment not in s.window:
            raise AuditError(f"{segment!r} would have been displaced, but it is not in the window")


def _unpinned(s: State, item: Item) -> None:
    if item.pinned and "ignores_pins" not in s.declares:
        raise AuditError(f"{item.id!r} is pinned and the policy does not declare ignores_pins")


def _spend(s: State, item: Item) -> None:
    if not item.copy and item.kind in SPENDING_KINDS:
        s.now.spent = item.id


def arrive(
    s: State,
    segment: str,
    kind: str,
    raw_tokens: int,
    score: float,
    copy: bool,
    pinned: bool,
    path: str | None,
    pair: str | None,
    facts: Sequence[str],
) -> None:
    if segment in s.items:
        raise AuditError(f"{segment!r} arrived or was made before")
    s.items[segment] = Item(
        segment, str(kind), bool(copy), _size(raw_tokens), bool(pinned), path, frozenset(facts)
    )
    s.items[segment].booked = segment in s.pages
    s.histories.open(segment)
    s.at_door.add(segment)
    if pair is not None:
        s.pairs.join(segment, pair)


def admit(
    s: State,
    segment: str,
    tokens: int,
    how: str,
    never: int,
    displaced: Sequence[str],
    score: float | None,
    floor: float | None,
) -> None:
    item = s.arrived(segment)
    if item.admitted:
        raise AuditError(f"{segment!r} was admitted before; it can only be fetched")
    _filled(tokens)
    out = item.raw_tokens - tokens if segment in s.pages else _size(never)
    if segment in s.at_door and (out < 0 or tokens + out != item.raw_tokens):
        raise AuditError(
            f"{segment!r} arrived with {item.raw_tokens} tokens, of which {tokens} were admitted "
            f"and {never} were not"
        )
    if item.booked and never:
        raise AuditError(f"what never entered of {segment!r} is in the books already")
    if how == "whole" and never and segment in s.at_door:
        raise AuditError(f"{segment!r} was admitted whole, yet {never} tokens never entered")
    _displaced(s, displaced, gone=True)
    s.at_door.discard(segment)
    item.admitted = True
    item.copy = item.copy or how in _SAVED
    item.version = s.versions.get(item.path, 0) if item.path is not None else item.version
    item.booked = item.booked or never > 0
    s.window.append(segment, tokens)
    s.passes.add("admit")
    s.books.admitted += tokens
    s.books.never_admitted += never
    _enter(s, item)
    _spend(s, item)
    s.pairs.admit(segment)
    s.note(segment, "admitted", how)


def refuse(
    s: State,
    segment: str,
    tokens: int,
    reason: str,
    displaced: Sequence[str],
    score: float | None,
    floor: float | None,
) -> None:
    item = s.arrived(segment)
    if item.admitted:
        raise AuditError(f"{segment!r} was admitted before; the door has no say any more")
    expected = 0 if item.booked else item.raw_tokens
    if _size(tokens) != expected:
        raise AuditError(f"{segment!r} was refused: expected {expected} tokens, found {tokens}")
    _displaced(s, displaced, gone=False)
    s.at_door.discard(segment)
    item.booked = True
    s.books.never_admitted += tokens
    s.now.refused += item.raw_tokens
    s.note(segment, "never-admitted", reason)


def write(s: State, path: str, version: int, stale: Sequence[str]) -> None:
    if version <= s.versions.get(path, -1):
        raise AuditError(
            f"{path!r} had version {s.versions[path]} already; the write made it {version}"
        )
    s.versions[path] = version
    for segment in stale:
        item = s.arrived(segment)
        if item.path != path:
            raise AuditError(f"{segment!r} is a copy of {item.path!r}, not of {path!r}")
        if segment not in s.window:
            raise AuditError(f"{segment!r} is called stale, but it is not in the window")


def _renew(s: State, item: Item, version: int) -> None:
    """*item* holds *version* from now on, and its path has no older one."""
    if version < item.version:
        raise AuditError(f"{item.id!r} had version {item.version} already, not {version}")
    item.version = version
    if item.path is not None and version > s.versions.get(item.path, 0):
        s.versions[item.path] = version


def refresh(s: State, segment: str, before: int, after: int, version: int, by: str) -> None:
    item = s.arrived(segment)
    if segment not in s.window:
        if before or after:
            raise AuditError(f"{segment!r} is not in the window, yet {before} tokens were replaced")
        _renew(s, item, version)
        return
    held = s.window.held(segment)
    if held != before:
        raise AuditError(f"{segment!r} holds {held} tokens, the record says {before}")
    s.window.resize(segment, _filled(after))
    s.counts["refreshes"] += 1
    s.books.refreshed_out += before
    s.books.refreshed_in += after
    if s.at_door:
        s.now.freed += before - after
    _renew(s, item, version)
    if not s.current(item):
        raise AuditError(f"{segment!r} was refreshed to an old version {version}")


def evict(s: State, segment: str, tokens: int, book: str, reason: str, by: str) -> None:
    item = s.item(segment)
    if book not in ("copy", "dispensable"):
        raise AuditError(f"an eviction is booked as copy or dispensable, not {book!r}")
    if (book == "copy") != item.copy:
        has = "has" if item.copy else "has no"
        raise AuditError(f"{segment!r} {has} external copy, yet it is booked as {book}")
    if not reason:
        raise AuditError(f"the eviction of {segment!r} gives no reason")
    _unpinned(s, item)
    s.window.remove(segment, _size(tokens))
    if book == "copy":
        s.books.evicted_copy += tokens
    else:
        s.books.evicted_dispensable += tokens
    s.counts["evictions"] += 1
    if by == "door":
        s.now.freed += tokens
    s.edit()
    _leave(s, item, tokens)
    _part(s, item)
    s.note(segment, "evicted", book, reason)
    s.passes.add("left", segment)


def _paid(s: State, surrogate: str, before: int, after: int, input: int | None) -> None:
    """Check that the model was asked for *surrogate*: with the sources, or the whole window.

    A summariser was sent *input*, and may have written more than one draft of that length.
    """
    if surrogate not in s.promised:
        raise AuditError(f"the model was never asked for {surrogate!r}")
    given, written = s.promised.pop(surrogate)
    if input is not None:
        if given != input or not input or not written or written % after:
            raise AuditError(
                f"{input} tokens were sent for {surrogate!r} of {after}, of which {given} were "
                f"paid for, with {written} of output"
            )
        return
    if written != after:
        raise AuditError(f"the model wrote {written} tokens for {surrogate!r}, which has {after}")
    if given not in (before, s.window.total):
        raise AuditError(
            f"the model was given {given} tokens for {surrogate!r}; the sources have {before} "
            f"and the window {s.window.total}"
        )


def _invented(
    s: State, surrogate: str, items: list[Item], kept: frozenset[str], made: Particulars
) -> frozenset[str]:
    """Return which of the facts that a surrogate of *items* *kept* nobody ever said.

    What a newer version of a file states is not in the records.
    """
    known = frozenset().union(*(item.facts for item in items))
    repeated = (frozenset().union(*(item.made_up for item in items)) - known) & kept
    if not made.said:
        return repeated
    if not made.made_up <= kept:
        raise AuditError(f"{surrogate!r} does not state all that it is said to have made up")
    told = made.unseen & (kept - made.made_up)
    if told:
        raise AuditError(f"{surrogate!r} keeps {min(told)!r}, which it was never given")
    if made.input is None and made.unseen:
        raise AuditError(f"{surrogate!r} misses {min(made.unseen)!r}, though none was asked for it")
    changed = any(item.path in s.versions for item in _all_behind(s, items))
    if not changed and not repeated <= made.made_up:
        key = min(repeated - made.made_up)
        raise AuditError(f"{surrogate!r} repeats {key!r}, which was made up before")
    return made.made_up


def rewrite(
    s: State,
    surrogate: str,
    sources: Sequence[str],
    before: int,
    after: int,
    tagged: bool,
    kept: Sequence[str],
    reason: str,
    by: str,
    asked: bool,
) -> None:
    if surrogate in s.items:
        raise AuditError(f"{surrogate!r} arrived or was made before")
    if not sources or len(set(sources)) != len(sources):
        raise AuditError("a rewrite names at least one source, and each of them once")
    items = [s.item(source) for source in sources]
    made = s.summaries.pop(surrogate, Particulars())
    if not tagged and "untagged" not in s.declares:
        raise AuditError(f"{surrogate!r} is untagged and the policy does not declare untagged")
    if made.saved:
        for item in _all_behind(s, items):
            item.copy = True
    copy = all(item.copy for item in items)
    if after >= before and not copy and "grows" not in s.declares:
        raise AuditError(
            f"{surrogate!r} does not shrink {before} tokens, a source has no copy and the policy "
            f"does not declare grows"
        )
    if asked:
        _paid(s, surrogate, before, after, made.input)
    elif surrogate in s.promised:
        raise AuditError(f"the model was asked for {surrogate!r}, the record says it was not")
    held = {item.id: s.window.held(item.id) for item in items}
    freed = s.window.replace(sources, surrogate, _filled(after), last=made.last)
    if freed != before:
        raise AuditError(f"the sources held {freed} tokens, the record says {before}")
    s.books.rewritten += before
    s.books.surrogate += after
    s.counts["rewrites"] += 1
    for source in sources:
        s.passes.add("left", source)
    if by == "door":
        s.now.freed += before - after
    s.edit()
    invented = _invented(s, surrogate, items, frozenset(kept), made)
    text = Item(
        surrogate,
        None,
        copy,
        facts=frozenset(kept) - invented,
        made_up=invented,
        sources=tuple(sources),
        tagged=bool(tagged),
        stub=not asked and made.input is None,
    )
    s.items[surrogate] = text
    s.histories.open(surrogate)
    for item in items:
        _unpinned(s, item)
        _leave(s, item, held[item.id])
        if item.kind is not None:
            item.stand_ins += 1
            s.pairs.rewrite(item.id)
        s.note(item.id, "rewritten", surrogate, bool(tagged))
    _enter(s, text)


def restore(s: State, surrogate: str, segment: str, before: int, after: int, key: str) -> None:
    item = s.item(surrogate)
    if not item.sources or item.invented:
        raise AuditError(f"{surrogate!r} is no surrogate")
    if segment in s.items:
        raise AuditError(f"{segment!r} arrived or was made before")
    held = s.window.held(surrogate)
    if held != before:
        raise AuditError(f"{surrogate!r} holds {held} tokens, the record says {before}")
    s.window.replace((surrogate,), segment, _filled(after))
    s.books.rewritten += before
    s.books.fabricated += after
    if s.at_door:
        s.now.freed += before - after
    made = Item(
        segment,
        None,
        copy=False,
        facts=item.facts - {key},
        made_up=item.made_up | {key},
        sources=(surrogate,),
        invented=True,
    )
    s.items[segment] = made
    s.histories.open(segment)
    s.note(surrogate, "restored", segment)
    _leave(s, item, before)
    _enter(s, made)


def reveal(s: State, stub: str, segment: str, before: int, after: int) -> None:
    item = s.item(stub)
    if item.sources != (segment,) or not item.stub:
        raise AuditError(f"{stub!r} is no stub of {segment!r} alone")
    source = s.item(segment)
    if after != source.tokens:
        raise AuditError(f"{segment!r} had {source.tokens} tokens, the record says {after}")
    held = s.window.held(stub)
    if held != before:
        raise AuditError(f"{stub!r} holds {held} tokens, the record says {before}")
    s.window.replace((stub,), segment, _filled(after))
    s.books.rewritten += before
    s.books.rehydrated += after
    s.books.revealed += after
    if s.at_door:
        s.now.freed += before - after
    s.edit()
    s.note(stub, "revealed", segment)
    _leave(s, item, before)
    if source.kind is not None:
        source.stand_ins -= 1
        s.pairs.reveal(segment)
    _enter(s, source)


def truncate(
    s: State, segment: str, tokens: int, pinned: bool, surrogate: bool, cause: object
) -> None:
    item = s.item(segment)
    if not _cut_with_partner(s, item):
        if segment != s.window.first():
            raise AuditError(f"the backstop cuts from the front, where {s.window.first()!r} stands")
        if s.window.total <= s.budget:
            raise AuditError(f"the window of {s.window.total} tokens is within the budget")
    if bool(surrogate) != (bool(item.sources) and not item.invented):
        raise AuditError(f"the record is wrong on whether {segment!r} is a surrogate")
    if item.pinned and not pinned:
        raise AuditError(f"{segment!r} is pinned, the record says it is not")
    s.window.remove(segment, _size(tokens))
    s.books.truncated += tokens
    s.counts["cuts"] += 1
    s.counts["pins_lost"] += bool(pinned)
    if not surrogate:
        s.now.unexplained[segment] += 1
    s.now.cut_pairs.update(_pairs_of(s, item))
    _leave(s, item, tokens)
    _part(s, item)
    s.note(segment, "truncated")
    s.passes.add("left", segment)


def rehydrate(
    s: State,
    segment: str,
    tokens: int,
    how: str,
    by: str,
    reason: str | None,
    displaced: Sequence[str],
    score: float | None,
    floor: float | None,
) -> None:
    item = s.arrived(segment)
    if not item.admitted:
        raise AuditError(f"{segment!r} never entered: it goes through the door")
    if segment in s.window:
        raise AuditError(f"{segment!r} is in the window and needs no rehydration")
    if how not in ("granted", "slack", "swap", "blocked"):
        raise AuditError(f"a rehydration is granted, slack, swap or blocked, not {how!r}")
    s.counts[f"rehydrated_{how}"] += 1
    if how != "blocked":
        s.now.granted[segment] = tuple(displaced)
    elif not reason:
        raise AuditError(f"the rehydration of {segment!r} is blocked without a reason")
    else:
        _displaced(s, displaced, gone=False)


def fetch(s: State, segment: str, tokens: int, version: int, by: str) -> None:
    item = s.arrived(segment)
    if not item.admitted:
        raise AuditError(f"{segment!r} never entered: it goes through the door")
    if not item.copy:
        raise AuditError(f"{segment!r} has no external copy to fetch")
    if segment not in s.now.granted and by != "operator":
        raise AuditError(f"{segment!r} is fetched, but its rehydration was not granted this turn")
    _displaced(s, s.now.granted.pop(segment, ()), gone=True)
    s.window.append(segment, _filled(tokens))
    s.books.rehydrated += tokens
    if s.at_door:
        s.now.freed -= tokens
    s.counts["fetches"] += 1
    s.passes.add("fetch", segment, tokens)
    _renew(s, item, version)
    if not s.current(item):
        raise AuditError(f"an old version {version} of {segment!r} was fetched")
    _enter(s, item)
    _spend(s, item)
    s.pairs.fetch(segment)
    s.note(segment, "fetched")


MOVES: Mapping[str, Callable[..., None]] = MappingProxyType(
    {
        function.__name__: function
        for function in (
            admit,
            arrive,
            evict,
            fetch,
            refresh,
            refuse,
            rehydrate,
            restore,
            reveal,
            rewrite,
            truncate,
            write,
        )
    }
)
"""Record type → what it does to the state; each takes the state and the record's values."""
