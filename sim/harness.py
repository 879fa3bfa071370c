"""The harness: checks each action of a policy, applies it to the window and books it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from sim.actions import (
    Action,
    Breakpoints,
    Evict,
    Recall,
    Refresh,
    Reread,
    Restore,
    Reveal,
    Rewrite,
)
from sim.errors import InadmissibleAction
from sim.prefix_cache import MAX_BREAKPOINTS
from sim.rewriting import Rewriting
from sim.segments import Segment, State

if TYPE_CHECKING:
    from sim.world import World

__all__ = ["Harness"]


class Harness:
    """Applies a policy's actions; what breaks an undeclared rule is refused, never silently."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._rewriting = Rewriting(world)
        self._append_only = world.settings.history == "append-only"
        self.bring_back: Callable[[Segment], str] = lambda segment: "is not asked for"
        """Brings an absent segment back; what it returns says why not, empty if it did."""
        self.reread: Callable[[Segment], str] = lambda segment: "cannot be read"
        """Reads an absent segment anew; what it returns says why not, empty if it did."""

    def obey(self, actions: Iterable[Action] | None, by: str) -> None:
        """Apply *actions* one by one; each is applied before the next is asked for."""
        self.heed(actions, by, ())

    def heed(
        self, actions: Iterable[Any] | None, by: str, decisions: tuple[type[Any], ...]
    ) -> Any | None:
        """Apply *actions* until one is of the types *decisions*, and return that one.

        A hook that goes on asking for what is refused, or never ends, is stopped.
        """
        world = self.world
        limit = 4 * len(world.window) + 64
        refused = 0
        for count, action in enumerate(actions or ()):
            if isinstance(action, decisions):
                return action
            if not self.apply(action, by):
                refused += 1
            if refused > 16 or count > limit:
                world.bug(InadmissibleAction, "", 0, f"the {by} does not end")
                break
        return None

    def apply(self, action: Action, by: str) -> bool:
        """Check, apply and book one action; return whether it was applied."""
        world = self.world
        edit = _edit(action) if self._append_only else None
        if edit is not None:
            return self._refuse_edit(*edit)
        match action:
            case Evict():
                return self._evict(action, by)
            case Rewrite():
                return self._rewriting.rewrite(action, by)
            case Refresh():
                return self._refresh(action)
            case Reveal():
                return self._rewriting.reveal(action)
            case Recall():
                return self._recall(action, by)
            case Reread():
                return self._reread(action)
            case Restore():
                return self._rewriting.restore(action)
            case Breakpoints():
                return self._breakpoints(action)
        return world.bug(InadmissibleAction, "", 0, f"{action!r} is no action of the {by}")

    def _refuse_edit(self, what: str, name: str) -> bool:
        segment = self.world.log.get(name)
        tokens = 0 if segment is None else segment.tokens
        says = f"{what} of {name!r}, though the history may only be appended to or compacted"
        return self.world.bug(InadmissibleAction, name, tokens, says)

    def _evict(self, evict: Evict, by: str) -> bool:
        world = self.world
        segment = world.resident(evict.segment, "an eviction")
        if segment is None:
            return False
        group = [segment, *world.window.mates(segment)]
        if not world.allows(list(world.pins(group, "it would evict"))):
            return False
        for member in group:
            self._leave(member, State.EVICTED)
            book = "copy" if member.copy else "dispensable"
            world.ledger.books.leave(f"evicted_{book}", member.tokens)
            world.ledger.note(member.id, "evicted", world.view.turn, book, evict.reason)
            world.record("evict", member.id, member.tokens, book, evict.reason, by)
        world.balance("an eviction")
        return True

    def _leave(self, segment: Segment, state: State) -> None:
        world = self.world
        world.window.remove(segment, "eviction")
        world.gone(segment, state)

    def _refresh(self, refresh: Refresh) -> bool:
        world = self.world
        segment = world.resident(refresh.segment, "a refresh")
        if segment is None:
            return False
        if segment.path is None or segment.sources or world.store.current(segment):
            says = f"a refresh of {segment.id}, which is not stale"
            return world.bug(InadmissibleAction, segment.id, 0, says)
        self.replace_content(segment, world.store.fetched_tokens(segment), "policy")
        return True

    def _recall(self, recall: Recall, by: str) -> bool:
        segment = self.world.log.get(recall.segment)
        if segment is None:
            why = "has not arrived"
        elif by != "after_turn":
            why = "may be recalled after the turn only"
        else:
            why = self.bring_back(segment)
        if not why:
            return True
        says = f"a recall of {recall.segment!r}, which {why}"
        return self.world.bug(InadmissibleAction, recall.segment, 0, says)

    def _reread(self, reread: Reread) -> bool:
        segment = self.world.log.get(reread.segment)
        why = "has not arrived" if segment is None else self.reread(segment)
        if not why:
            return True
        says = f"a reread of {reread.segment!r}, which {why}"
        return self.world.bug(InadmissibleAction, reread.segment, 0, says)

    def replace_content(self, segment: Segment, tokens: int, by: str) -> None:
        """Give a resident segment the newest content of its source, in place."""
        world = self.world
        before = segment.tokens
        if segment.path is None:
            segment.version += 1
        else:
            segment.facts = world.store.fetched_facts(segment)
            segment.version = world.store.version(segment.path)
            world.carry(segment)
        world.window.resize(segment, tokens, "refresh")
        segment.entered = "refresh"
        segment.raw_tokens = tokens
        segment.reduced_tokens = None
        segment.lost = frozenset()
        segment.form = "whole"
        world.ledger.books.leave("refreshed_out", before)
        world.ledger.books.enter("refreshed_in", tokens)
        if tokens > before:
            world.grew = f"the refresh of {segment.id} ({before} → {tokens} tokens)"
        world.record("refresh", segment.id, before, tokens, segment.version, by)
        world.balance("a refresh")

    def _breakpoints(self, breakpoints: Breakpoints) -> bool:
        world, after, long = self.world, tuple(breakpoints.after), breakpoints.long
        if len(after) > MAX_BREAKPOINTS:
            count = len(after)
            says = f"{count} breakpoints, more than the {MAX_BREAKPOINTS} there can be"
            return world.bug(InadmissibleAction, "", 0, says)
        if not 0 <= long <= len(after) + 1:
            says = f"a longer life for {long} of {len(after)} breakpoints"
            return world.bug(InadmissibleAction, "", 0, says)
        meter = world.meter
        if (meter.breakpoints, meter.long) != (after, long):
            meter.breakpoints, meter.long = after, long
            world.record("breakpoints", after, long)
        return True


def _edit(action: Action) -> tuple[str, str] | None:
    """Return what an action does to the history that was sent, and to what, if it edits it.

    A summary of the whole transcript starts a new one, and is no edit.
    """
    match action:
        case Evict(segment=name):
            return "an eviction", name
        case Rewrite(whole=False, sources=sources):
            return "a rewrite", next(iter(sources), "")
        case Refresh(segment=name):
            return "a refresh", name
        case Restore(surrogate=name):
            return "a restoration", name
        case Reveal(stub=name):
            return "a reveal", name
    return None
