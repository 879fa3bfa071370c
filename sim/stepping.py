"""A run whose turns become known one at a time: it stops at each call until the answer is there."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING, Any

from sim.engine import Engine, Failed
from sim.errors import InputError
from sim.learning import learn
from sim.metrics import measure
from sim.script import Script, Turn

if TYPE_CHECKING:
    import simpy

    from sim.meter import Sent
    from sim.policy import Policy
    from sim.prices import Price
    from sim.script import Query
    from sim.segments import Fact, Segment

__all__ = ["Stepped"]


class Stepped(Engine):
    """An engine that is given each turn in two steps, in place of a script.

    :meth:`lead` plays what leads up to a call and sends the request; :meth:`follow` what comes of
    the answer. Played to the end, the steps of a script's turns are the script's run. *settings*
    are the flat, dotted common keys. Raises InputError where the run fails: what is pinned does
    not fit, or a request is over the budget under ``overflow = fail``.
    """

    def __init__(
        self, settings: dict[str, Any], policy: Policy, price: Price, strict: bool = False
    ) -> None:
        script = Script("live", 0, settings, (), capabilities=frozenset({"roles", "facts"}))
        super().__init__(script, policy, price, strict, "live")
        self._turn_now = Turn()
        self._waiting: Sent | None = None
        self._output = 0
        """Tokens of the answer of the turn under way."""
        self._started = False

    @property
    def window(self) -> Sequence[Segment]:
        """The segments of the request that was sent last, or of the one to come, in order."""
        return self.world.window.segments

    @property
    def turn(self) -> int:
        """The turn under way, from 1; 0 before the first."""
        return self.world.view.turn

    def lead(self, turn: Turn) -> None:
        """Begin the next turn, play what leads up to its call, and send the request."""
        if not self._started:
            self._turns = {1: turn}
            self._check_pins()
            self._start()
            self._started = True
        self._turn_now, _ = self._begin(self.turn + 1, turn)
        self._play_out(self._until_sent(self._turn_now))

    def follow(
        self,
        queries: Sequence[Query] = (),
        facts: Sequence[tuple[str, Fact]] = (),
        output: int | None = None,
    ) -> None:
        """Take in the answer to the last request, of *output* tokens, and play what comes of it.

        *queries* is what the answer asks, *facts* what it shows that segments, by id, state.
        """
        for name, fact in facts:
            segment = self.world.log.get(name)
            if segment is not None:
                learn(self.world, segment, fact)
        self._turn_now = self._turn_now.joined(queries)
        self._output = self.settings.call_output_tokens if output is None else output
        self._play_out(self._from_answer(self._turn_now))

    def metrics(self) -> dict[str, Any]:
        """Return the metrics of what was played so far; a call counts once it is answered."""
        window = tuple(s.id for s in self.world.window)
        end = ("end", self.env.now, self.turn, "completed", "", window, self.env.now)
        return measure([*self.world.records, end])

    def _until_sent(self, turn: Turn) -> Generator[simpy.Event, Any, None]:
        yield from self._lead_up(turn)
        yield from self._before_call(extra=False)
        self._waiting = self._request(self.env.now, extra=False)

    def _output_tokens(self) -> int:
        return self._output

    def _from_answer(self, turn: Turn) -> Generator[simpy.Event, Any, None]:
        sent, self._waiting = self._waiting, None
        assert sent is not None
        self._sent(turn, sent, self._output, extra=False)
        yield from self._until_answered(sent.usage, self._output)
        yield from self._follow_up(turn)

    def _play_out(self, steps: Generator[simpy.Event, Any, None]) -> None:
        """Play *steps* to their end, and raise what goes wrong."""
        self.env.process(self._caught(steps))
        self.env.run()
        if self._error is not None:
            raise self._error

    def _caught(
        self, steps: Generator[simpy.Event, Any, None]
    ) -> Generator[simpy.Event, Any, None]:
        try:
            yield from steps
        except Failed as failure:
            self._error = InputError(str(failure))
        except Exception as error:
            self._error = error
