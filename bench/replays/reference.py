"""What a recorded session came to as it was: its own usage, and the same calls simulated."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bench.replays.usage import FEWEST, UNRECORDED, cost, fit, totals

if TYPE_CHECKING:
    from scenarios.scenario import Scenario
    from sim.records import Record
    from sim.script import Script, Stimulus

__all__ = ["COMPARED", "FETCH", "reference"]

FETCH = "read-"
"""How the id of a query begins that stands for a repeated read."""

COMPARED = (
    *("input_tokens", "total_cost_usd", "total_seconds", "peak_tokens", "cache_hit_rate"),
    "prefill_cost_usd",
)
"""Metrics of the simulated recording that policies are compared with."""


def reference(scenario: Scenario, format: str, prices: Sequence[str]) -> dict[str, Any]:
    """Return what the recording of *scenario* came to.

    ``usage`` has the sums of the recorded counts and `calls`, None where no call has any; ``calls``
    each of these with its `turn`, its `recorded` prompt and the `simulated` one, at the last price,
    and what of either was read from the cache (``recorded_read`` None where that is not recorded);
    ``fit`` how the recorded follow from the simulated, None with ``unfitted``, why, where nothing
    was fitted; ``compactions`` how many it made;
    ``simulated``, by price, :data:`COMPARED` of the session replayed with the recording's own
    compactions, and room for everything else; what it read twice is brought once while it is still
    there, as for every policy, so that nothing but the policy makes a difference. The calls are
    compared with what it held, the second readings too; ``recorded_input_usd``, by price, the
    recorded prompts at that price.
    """
    from bench.cells import price_of
    from scenarios.transcripts.formats import FORMATS
    from sim.script import Arrival, Compaction

    script = scenario.script(0)
    turns = [s.turn for s in script.stimuli if isinstance(s, Compaction)]
    usage = totals(script)
    simulated: dict[str, dict[str, Any]] = {}
    for price in prices:
        metrics, _ = _as_it_was(script, price, _as_policies_meet_it(script))
        simulated[price] = {name: metrics[name] for name in COMPARED}
    _, records = _as_it_was(script, prices[-1], _as_recorded(script))
    sent = _sent(records)
    sizes = {turn: tokens for turn, (tokens, _) in sent.items()}
    unrecorded = sum(
        s.tokens for s in script.stimuli if isinstance(s, Arrival) and s.id == UNRECORDED
    )
    unheld = next(
        (f"the record lacks {f.unheld}" for f in FORMATS if f.name == format and f.unheld), ""
    )
    line = None if unheld else fit(script, sizes, unrecorded, turns)
    return {
        "format": format,
        "turns": scenario.settings["turns"],
        "compactions": len(turns),
        "usage": usage if usage["calls"] else None,
        "calls": [
            {
                "turn": turn,
                "recorded": row["input_tokens"],
                "simulated": sent[turn][0],
                "recorded_read": row.get("cached_tokens"),
                "simulated_read": sent[turn][1],
            }
            for turn, row in sorted(script.recorded.items())
            if "input_tokens" in row and turn in sent
        ],
        "fit": line,
        "unfitted": "" if line else unheld or f"fewer than {FEWEST} calls to fit one to",
        "simulated": simulated,
        "recorded_input_usd": {
            price: cost(script, price_of({**script.settings, "price": price})) for price in prices
        },
    }


def _as_it_was(
    script: Script, price: str, stimuli: Iterable[Stimulus]
) -> tuple[dict[str, Any], list[Record]]:
    """Run *stimuli* with the recording's own compactions alone, with room for all."""
    from bench.cells import run_one
    from sim.script import Arrival

    room = sum(
        max(s.tokens, script.settings["image_tokens"])
        for s in script.stimuli
        if isinstance(s, Arrival)
    )
    room += sum(getattr(s, "tokens", 0) or 0 for s in script.stimuli)
    settings = {**script.settings, "price": price, "budget": max(1, 4 * room)}
    return run_one(replace(script, settings=settings, stimuli=tuple(stimuli)), "recorded")


def _as_policies_meet_it(script: Script) -> Iterator[Stimulus]:
    """Yield the stimuli that every policy meets, but for what is asked and the pings.

    Repeated reads stay what they are: they bring something where the first has gone. Nothing else
    is asked: whatever the recorded agent had to bring back is among its readings.
    """
    from sim.script import KeepAlive, Query

    for stimulus in script.stimuli:
        asked = isinstance(stimulus, Query) and not stimulus.id.startswith(FETCH)
        if not asked and not isinstance(stimulus, KeepAlive):
            yield stimulus


def _as_recorded(script: Script) -> Iterator[Stimulus]:
    """Yield the stimuli of *script* with each fetch as the second call and reading that it was.

    A fetch brings nothing where the first reading is still there; the recording had both.
    """
    from sim.script import Arrival, KeepAlive, Query
    from sim.segments import Kind

    first = {s.id: s for s in script.stimuli if isinstance(s, Arrival)}
    calls = {s.pair: s for s in first.values() if s.kind is Kind.TOOL_CALL}
    for stimulus in script.stimuli:
        if isinstance(stimulus, Query) and stimulus.id.startswith(FETCH):
            source = first[stimulus.touches[0]]
            for each in (calls.get(source.pair), source):
                if each is not None:
                    again = f"{each.id} in {stimulus.id}"
                    turn = stimulus.turn
                    yield replace(each, turn=turn, id=again, facts=(), pair=None, pinned=False)
        elif not isinstance(stimulus, (KeepAlive, Query)):
            yield stimulus


def _sent(records: Sequence[Record]) -> dict[int, tuple[int, int]]:
    """Return the tokens of each turn's own request, and how many of them were read."""
    return {
        record[2]: (record[3], record[4])
        for record in records
        if record[0] == "call" and not record[12]
    }
