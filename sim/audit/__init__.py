"""The second reckoning: window, books, costs and every why, from the event records alone.

It is separate code on purpose and shares with the engine nothing but the format of the records:
what both agree on has been reckoned twice.
"""

from sim.audit.recount import Audit, Recount, audit

__all__ = ["Audit", "Recount", "audit"]
