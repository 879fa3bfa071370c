"""Rewriting: segments become a surrogate, and a surrogate becomes invented text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from sim.actions import Restore, Reveal, Rewrite
from sim.asking import Asking, Text, cause_of
from sim.attribution import Cause, own
from sim.errors import (
    CompressThenSpend,
    GrowthWithoutCopy,
    InadmissibleAction,
    UntaggedRewrite,
)
from sim.keeping import ByChance, ByPlace, keep
from sim.prefix_cache import Usage
from sim.segments import Fact, Kind, Segment, State, ancestry, originals
from sim.world import Breach

if TYPE_CHECKING:
    from sim.keeping import Keeping, Kept
    from sim.world import World

__all__ = ["Rewriting"]


class Rewriting:
    """Checks, applies, prices and books rewrites and restorations."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._asking = Asking(world)

    def rewrite(self, rewrite: Rewrite, by: str) -> bool:
        """Replace the sources by one surrogate; return whether it was applied."""
        world = self.world
        sources: list[Segment] = []
        for name in dict.fromkeys(rewrite.sources):
            segment = world.resident(name, "a rewrite")
            if segment is None:
                return False
            sources.append(segment)
        if not sources or not _is_size(rewrite.tokens):
            says = f"a rewrite of {len(sources)} segments into {rewrite.tokens} tokens"
            return world.bug(InadmissibleAction, "", 0, says)
        if rewrite.preview is not None and not _previews(rewrite, sources):
            says = f"a rewrite of {sources[0].id} with a preview that cannot be of it"
            return world.bug(InadmissibleAction, sources[0].id, sources[0].tokens, says)
        sources.sort(key=lambda s: s.slot)
        before = sum(s.tokens for s in sources)
        if not self._whole_pairs(sources):
            return False
        if not world.allows(list(self._breaches(rewrite, sources, before))):
            return False
        text = self._write(rewrite, sources, before)
        if text is None:
            return False
        self._replace(rewrite, sources, before, text, by)
        return True

    def _write(self, rewrite: Rewrite, sources: list[Segment], before: int) -> Text | None:
        """Return the text of the surrogate, paid for; None if the model came to nothing."""
        world = self.world
        if rewrite.summariser is not None and not rewrite.stub:
            return self._asking.ask(rewrite, rewrite.summariser, sources)
        surrogate = world.new_id()
        keeping: Keeping = ByChance(world.seed, world.settings.surrogate_keep)
        if rewrite.preview is not None:
            head, tail = rewrite.preview
            keeping = ByPlace(head, sources[0].tokens - tail)
        if not rewrite.stub:
            self._paid(rewrite, surrogate, before)
        return Text(surrogate, rewrite.tokens, keeping, None)

    def _replace(
        self, rewrite: Rewrite, sources: list[Segment], before: int, text: Text, by: str
    ) -> None:
        world = self.world
        facts = keep(text.keeping, sources)
        if text.given is not None or rewrite.saves or rewrite.last:
            world.record(
                "summary",
                text.surrogate,
                text.given,
                tuple(sorted(facts.made_up)),
                tuple(sorted(facts.unseen)),
                rewrite.saves,
                rewrite.last,
            )
        if rewrite.saves:
            for segment in ancestry(sources):
                segment.copy = True
        surrogate = self._make_surrogate(rewrite, sources, text, facts)
        cause = surrogate.entered = cause_of(rewrite)
        place = sources[-1 if rewrite.last else 0]
        for segment in sources:
            if segment is not place:
                world.window.remove(segment, cause)
        world.window.replace(place, surrogate, cause)
        for segment in sources:
            segment.state = State.REWRITTEN
            segment.own_pin = False
            segment.surrogates.append(surrogate)
            world.ledger.note(
                segment.id, "rewritten", world.view.turn, surrogate.id, rewrite.tagged
            )
        world.ledger.books.leave("rewritten", before)
        world.ledger.books.enter("surrogate", surrogate.tokens)
        if surrogate.tokens > before:
            names = ", ".join(s.id for s in sources)
            world.grew = f"the rewrite of {names} ({before} → {surrogate.tokens} tokens)"
        world.record(
            "rewrite",
            surrogate.id,
            tuple(s.id for s in sources),
            before,
            surrogate.tokens,
            rewrite.tagged,
            tuple(sorted(surrogate.kept)),
            rewrite.reason,
            by,
            not rewrite.stub and text.given != 0,
        )
        world.balance("a rewrite")

    def _whole_pairs(self, sources: list[Segment]) -> bool:
        """Whether a surrogate of several takes no call without its result, nor the other way."""
        chosen = set(sources)
        mates = (m for s in sources for m in self.world.window.mates(s))
        parted = next((m for m in mates if m not in chosen), None)
        if len(sources) == 1 or parted is None:
            return True
        says = f"the rewrite of {sources[0].id} and others would leave {parted.id} alone"
        return self.world.bug(InadmissibleAction, parted.id, parted.tokens, says)

    def _breaches(self, rewrite: Rewrite, sources: list[Segment], before: int) -> Iterator[Breach]:
        world, window = self.world, self.world.window
        first = sources[0].id
        what = f"the rewrite of {first} ({before} → {rewrite.tokens} tokens)"
        together = dict.fromkeys(m for s in sources for m in (s, *window.mates(s)))
        yield from world.pins(together, "it would rewrite")
        taggable = rewrite.whole or all(s.taggable for s in originals(sources))
        if not (rewrite.tagged and taggable):
            says = f"{what} leaves an untagged surrogate"
            yield Breach(UntaggedRewrite, "untagged", first, before, says)
        if rewrite.tokens >= before and not (rewrite.saves or all(s.copy for s in sources)):
            says = f"{what} does not shrink and there is no copy"
            yield Breach(GrowthWithoutCopy, "grows", first, before, says)
        if world.view.spent and not rewrite.line:
            says = f"{what} is spent in the same turn"
            yield Breach(CompressThenSpend, "spends", first, before, says)

    def _make_surrogate(
        self, rewrite: Rewrite, sources: list[Segment], text: Text, facts: Kept
    ) -> Segment:
        world = self.world
        best = max(sources, key=lambda s: (world.decay.key(s), -s.seq))
        single = sources[0] if len(sources) == 1 else None
        attempts = {s.attempt for s in sources}
        surrogate = Segment(
            id=text.surrogate,
            kind=single.kind if single and single.pair else Kind.SUMMARY,
            tokens=text.tokens,
            raw_tokens=text.tokens,
            turn=world.view.turn,
            seq=len(world.log),
            score=best.score,
            scored_at=best.scored_at,
            copy=all(s.copy for s in sources),
            taggable=all(s.taggable for s in sources),
            attempt=attempts.pop() if len(attempts) == 1 else None,
            pair=single.pair if single else None,
            sources=tuple(sources),
            tagged=rewrite.tagged,
            keeping=text.keeping,
            kept=facts.kept,
            made_up=facts.made_up,
            as_of=_versions(sources),
            stub=rewrite.stub,
            state=State.RESIDENT,
            admitted=True,
            admitted_turn=world.view.turn,
        )
        world.log[surrogate.id] = surrogate
        return surrogate

    def _paid(self, rewrite: Rewrite, surrogate: str, before: int) -> None:
        """Price the call that a rewrite asks of the model."""
        world, meter = self.world, self.world.meter
        cause = cause_of(rewrite)
        sent = world.request() if rewrite.whole else None
        usage = Usage(before, 0, 0, before) if sent is None else sent.usage
        output_usd = meter.output_usd(rewrite.tokens, usage.tokens)
        usd = meter.input_usd(usage) + output_usd
        if sent is None:
            causes: tuple[Cause, ...] = (Cause(cause, before, usd),)
        else:
            causes = own(sent.causes, cause, output_usd)
        seconds = meter.prefill_seconds(usage) + meter.decode_seconds(rewrite.tokens)
        world.rewriting_seconds = max(world.rewriting_seconds, seconds)
        paid = usage.tokens, usage.read, rewrite.tokens, usd, 1, rewrite.whole
        world.record("maintain", surrogate, *paid, causes)

    def reveal(self, reveal: Reveal) -> bool:
        """Put the text that a stub hides back in its place; return whether it was applied."""
        world = self.world
        stub = world.resident(reveal.stub, "a reveal")
        if stub is None:
            return False
        if not stub.stub or len(stub.sources) != 1:
            says = f"a reveal of {stub.id}, which hides no text of the log"
            return world.bug(InadmissibleAction, stub.id, stub.tokens, says)
        (source,) = stub.sources
        if source.resident:
            says = f"a reveal of {stub.id}, whose text is there"
            return world.bug(InadmissibleAction, stub.id, stub.tokens, says)
        source.state = State.RESIDENT
        world.window.replace(stub, source, "rewrite")
        world.gone(stub, State.REWRITTEN)
        source.entered = "rewrite"
        source.sent_at = -1
        world.ledger.note(stub.id, "revealed", world.view.turn, source.id)
        world.ledger.books.leave("rewritten", stub.tokens)
        world.ledger.books.enter("rehydrated", source.tokens)
        world.ledger.books.revealed += source.tokens
        if source.tokens > stub.tokens:
            world.grew = f"the reveal of {source.id} ({stub.tokens} → {source.tokens} tokens)"
        world.record("reveal", stub.id, source.id, stub.tokens, source.tokens)
        world.balance("a reveal")
        return True

    def restore(self, restore: Restore) -> bool:
        """Put invented text in the place of a surrogate; return whether it was applied."""
        world = self.world
        surrogate = world.resident(restore.surrogate, "a restoration")
        if surrogate is None:
            return False
        if not surrogate.is_surrogate or not _is_size(restore.tokens):
            says = f"a restoration of {surrogate.id}, which is no surrogate"
            return world.bug(InadmissibleAction, surrogate.id, 0, says)
        if "untagged" not in world.declares:
            says = f"it would put invented text in the place of {surrogate.id}"
            return world.bug(UntaggedRewrite, surrogate.id, surrogate.tokens, says)
        invented = self._make_invented(restore, surrogate)
        invented.entered = "rewrite"
        world.window.replace(surrogate, invented, "rewrite")
        surrogate.state = State.REWRITTEN
        surrogate.surrogates.append(invented)
        before = surrogate.tokens
        world.ledger.note(surrogate.id, "restored", world.view.turn, invented.id)
        world.ledger.books.leave("rewritten", before)
        world.ledger.books.enter("fabricated", invented.tokens)
        if invented.tokens > before:
            world.grew = f"the restoration of {surrogate.id} ({before} → {invented.tokens} tokens)"
        world.record("restore", surrogate.id, invented.id, before, invented.tokens, restore.key)
        world.balance("a restoration")
        return True

    def _make_invented(self, restore: Restore, surrogate: Segment) -> Segment:
        world = self.world
        key = restore.key
        prior = next(
            (f.prior for c in world.carriers.get(key, ()) for f in c.facts if f.key == key), ""
        )
        invented = Segment(
            id=world.new_id(),
            kind=surrogate.kind,
            tokens=restore.tokens,
            raw_tokens=restore.tokens,
            turn=world.view.turn,
            seq=len(world.log),
            score=surrogate.score,
            scored_at=surrogate.scored_at,
            pair=surrogate.pair,
            facts=(Fact(key, prior, prior),),
            sources=(surrogate,),
            kept=surrogate.kept | {key},
            made_up=surrogate.made_up | {key},
            as_of=surrogate.as_of,
            invented=True,
            state=State.RESIDENT,
            admitted=True,
            admitted_turn=world.view.turn,
        )
        world.log[invented.id] = invented
        return invented


def _previews(rewrite: Rewrite, sources: list[Segment]) -> bool:
    """Whether there can be such a preview: of nothing, or of one source that is no surrogate.

    It is a part of a stub, and no longer than that.
    """
    assert rewrite.preview is not None
    if not rewrite.stub or not all(isinstance(n, int) and n >= 0 for n in rewrite.preview):
        return False
    single = len(sources) == 1 and not sources[0].sources
    return sum(rewrite.preview) <= (rewrite.tokens if single else 0)


def _is_size(tokens: object) -> bool:
    return isinstance(tokens, int) and tokens >= 1


def _versions(sources: Iterable[Segment]) -> dict[str, int]:
    """Return the version of each path-backed original that *sources* were made from."""
    versions: dict[str, int] = {}
    for source in sources:
        versions.update(source.as_of)
        if source.path is not None and not source.sources:
            versions[source.id] = source.version
    return versions
