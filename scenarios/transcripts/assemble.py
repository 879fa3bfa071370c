"""From a session and settings to a script: scores, copies, tags and a budget."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any

from scenarios.pings import with_pings
from scenarios.scenario import capabilities
from scenarios.transcripts.relevance import Relevance
from scenarios.transcripts.session import Asked, Compacted, Draft, Fetched, Session, Written
from sim.script import Arrival, Compaction, Query, Script, Stimulus, Wait, Write
from sim.segments import Fact, Kind
from sim.streams import uniform

__all__ = [
    "Stated",
    "add_unrecorded",
    "arrival",
    "assemble",
    "fetch_query",
    "learned_by_turn",
    "mention_query",
    "suggest_budget",
    "unrecorded",
]

_CALL = Kind.TOOL_CALL

_MENTIONED = 1.0
"""What a mention re-scores its source to."""


def add_unrecorded(session: Session, image_tokens: int) -> int | None:
    """Give a session whose tools are not recorded one segment for them and what else is missing.

    Its size is what the recorded prompt of the first call exceeds its messages by. Returns that
    size, None where the record holds its tools, or the system prompt and no larger prompt, and 0
    where it does not say enough.
    """
    kinds = {draft.kind for draft in session.first()}
    if Kind.TOOLS in kinds:
        return None
    known = session.uncut(image_tokens)[0]
    prompt = session.recorded.get(1, {}).get("input_tokens", 0)
    if prompt <= known:
        return None if Kind.SYSTEM in kinds else 0
    session.arrivals.insert(0, unrecorded(prompt - known))
    return prompt - known


def unrecorded(tokens: int) -> Draft:
    """Return the segment of what every request holds besides its messages, of *tokens*."""
    return Draft("unrecorded", Kind.SYSTEM, tokens, 0.0, 1, pinned=True)


def suggest_budget(session: Session, image_tokens: int) -> tuple[int, str]:
    """Return a budget for the session, and where it comes from.

    The recorded context window if there is one; else what the log held when the recording's own
    harness first compacted because it had to, if a tenth of the calls were still to come; else what
    is pinned and half of everything else, so that the budget binds; or the largest turn, or what
    the loop itself is at (the newest result of each tool, the files written), if that is more.
    """
    if session.window is not None:
        return session.window, "the recorded context window"
    sizes = session.uncut(image_tokens)
    for compacted in session.compactions:
        if compacted.trigger != "manual" and 0 < compacted.turn <= 0.9 * session.turns:
            why = "what the log held when the recording's harness compacted it"
            return sizes[compacted.turn - 1], why
    pinned = sum(draft.tokens for draft in session.arrivals if draft.pinned)
    half = (sizes[-1] - pinned) // 2
    largest = max(after - before for before, after in pairwise([pinned, *sizes]))
    rooms = {
        "half of the rest": half,
        "the largest turn": largest,
        "the newest result of each tool and the files written": _at_work(session),
    }
    room = max(rooms, key=lambda name: rooms[name])
    why = f"the recording names none; room for what is pinned and {room}, of {sizes[-1]:,} in all"
    step = 1000 if sizes[-1] > 20_000 else 10
    return max(step, -(-(pinned + rooms[room]) // step) * step), why


def _at_work(session: Session) -> int:
    """Return the most tokens, at any turn, of each tool's newest result and the files written.

    With their calls: what a policy keeps that pins by role in the loop.
    """
    arrivals: dict[int, list[Draft]] = defaultdict(list)
    for draft in session.arrivals:
        arrivals[draft.turn].append(draft)
    writes: dict[int, list[Written]] = defaultdict(list)
    for written in session.writes:
        writes[written.turn].append(written)
    calls = {draft.pair: draft.tokens for draft in session.arrivals if draft.kind is _CALL}
    newest: dict[str | None, int] = {}
    files: dict[str | None, list[Draft]] = defaultdict(list)
    held: dict[str, int] = {}
    total = most = 0
    for turn in range(1, session.turns + 1):
        paths = {written.path: written.tokens for written in writes[turn]}
        for draft in arrivals[turn]:
            size = draft.tokens + calls.get(draft.pair, 0)
            if draft.kind is Kind.FILE:
                files[draft.path].append(draft)
                if draft.path in held:
                    paths.setdefault(draft.path, None)
            elif draft.kind is Kind.TOOL_RESULT:
                total += size - newest.get(draft.tool, 0)
                newest[draft.tool] = size
        for path, tokens in paths.items():
            size = sum((tokens or d.tokens) + calls.get(d.pair, 0) for d in files[path])
            total += size - held.get(path, 0)
            held[path] = size
        most = max(most, total)
    return most


def assemble(
    name: str, session: Session, settings: Mapping[str, Any], relevance: Relevance, seed: int = 0
) -> Script:
    """Return the script of *session* under the complete *settings*.

    Copies and tags are drawn by segment as in every scenario; a read of a path counts as a file.
    """
    stimuli = with_pings(_stimuli(session, settings, relevance, seed), settings)
    return Script(
        scenario=name,
        seed=seed,
        settings=settings,
        stimuli=stimuli,
        capabilities=capabilities(stimuli) | {"recording"},
        output_tokens=dict(session.output_tokens),
        tokens_from=session.tokens_from,
        recorded={turn: row for turn, row in session.recorded.items() if row},
    )


def _stimuli(
    session: Session, settings: Mapping[str, Any], relevance: Relevance, seed: int
) -> Iterator[Stimulus]:
    for turn, seconds in session.waits.items():
        yield Wait(turn, seconds)
    stated = Stated()
    for learned in learned_by_turn(session):
        stated.learn(*learned)
    for draft in session.arrivals:
        yield arrival(draft, settings, relevance, seed, stated.facts(draft))
    for written in session.writes:
        yield Write(written.turn, written.path, written.tokens)
    for compacted in session.compactions:
        if compacted.turn < session.turns:
            yield _compaction(compacted, session)
    for number, fetched in enumerate(session.fetched, 1):
        yield fetch_query(fetched, number, relevance)
    for number, asked in enumerate(session.asked, 1):
        yield mention_query(asked, number, relevance)


def fetch_query(fetched: Fetched, number: int, relevance: Relevance) -> Query:
    """Return the query that the fetch *number* of a session, from 1, is."""
    source = fetched.source
    score = _mentioned(source, fetched.turn, relevance)
    return Query(fetched.turn, f"read-{number}", source.text_key, score, (source.id,))


def mention_query(asked: Asked, number: int, relevance: Relevance) -> Query:
    """Return the query that the mention *number* of a session, from 1, is."""
    score = _mentioned(asked.source, asked.turn, relevance)
    return Query(asked.turn, f"query-{number}", asked.key, score, (asked.source.id,))


def _mentioned(source: Draft, turn: int, relevance: Relevance) -> float:
    given = relevance.score(source, turn)
    return _MENTIONED if given is None else given


Learned = tuple[int, str, tuple[Draft, ...]]
"""The turn whose query shows it, a key, and the texts that hold it."""


def learned_by_turn(session: Session) -> Iterator[Learned]:
    """Yield what the queries of *session* show of its texts, turn by turn, fetches first."""
    fetches = ((f.turn, f.source.text_key, (f.source,)) for f in session.fetched)
    mentions = ((a.turn, a.key, a.holders) for a in session.asked)
    yield from sorted((*fetches, *mentions), key=lambda learned: learned[0])


class Stated:
    """What texts are known to state, by the queries so far; keys are numbered in their order."""

    def __init__(self) -> None:
        self._draws: dict[str, str] = {}
        self._since: dict[tuple[str, str], int] = {}

    def learn(self, turn: int, key: str, holders: Iterable[Draft]) -> None:
        """Take in that a query of *turn* shows that *holders* state *key*."""
        self._draws.setdefault(key, f"value-{len(self._draws) + 1}")
        for draft in holders:
            self._since.setdefault((draft.id, key), turn)

    def fact(self, draft: Draft, key: str) -> Fact:
        """Return the fact that *draft* states *key*, which is known."""
        draw, since, place = self._draws[key], self._since[draft.id, key], draft.keys[key]
        if place is None:
            return Fact(key, key, draw=draw, since=since)
        return Fact(key, key, reducible=place.kept, at=place.at, draw=draw, since=since)

    def facts(self, draft: Draft) -> tuple[Fact, ...]:
        """Return all that *draft* is known to state."""
        return tuple(self.fact(draft, key) for key in draft.keys if (draft.id, key) in self._since)


def _compaction(compacted: Compacted, session: Session) -> Compaction:
    """Return the boundary with the ids of what it left as it was, of what had come by its turn."""
    turn, since = compacted.turn + 1, compacted.kept_from or compacted.place
    kept = tuple(
        draft.id for draft in session.arrivals if draft.turn <= turn and draft.place >= since
    )
    return Compaction(turn, compacted.tokens, compacted.trigger, kept)


def arrival(
    draft: Draft,
    settings: Mapping[str, Any],
    relevance: Relevance,
    seed: int,
    facts: tuple[Fact, ...] = (),
) -> Arrival:
    """Return how *draft* arrives under the complete *settings*, stating *facts*."""
    score = relevance.score(draft, draft.turn)
    source = Kind.FILE if draft.path is not None else draft.kind
    image = draft.kind is Kind.IMAGE
    return Arrival(
        turn=draft.turn,
        id=draft.id,
        kind=draft.kind,
        tokens=settings["image_tokens"] if image else draft.tokens,
        score=settings[f"relevance.{draft.kind}"] if score is None else score,
        time=draft.time or 0.0,
        facts=facts,
        copy=_drawn(seed, "copy", draft.id, settings[f"copies.{source}"]),
        pinned=draft.pinned,
        taggable=_drawn(seed, "taggable", draft.pair or draft.id, settings["surrogate.taggable"]),
        path=draft.path,
        tool=draft.tool if draft.tool and draft.tool.strip() else None,
        pair=draft.pair,
        max_result_tokens=draft.max_result_tokens,
        reduced_tokens=draft.reduced_tokens,
        delta_tokens=draft.delta_tokens,
        pages=draft.pages,
    )


def _drawn(seed: int, stream: str, name: str, share: float) -> bool:
    return uniform(seed, stream, name) < share
