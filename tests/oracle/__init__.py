"""A second, deliberately naive implementation of the model, written from its definition alone.

Plain lists, scanned whole at every step; nothing here is shared with the simulator but the price
book and the keyed draws. `run(document, policy)` takes a script as JSON and returns every metric.
"""

from .world import run

__all__ = ["run"]
