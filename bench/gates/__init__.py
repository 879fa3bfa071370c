"""Gates: published results that the simulator is held against, one module each.

A module of this package that has a ``GATE`` is a gate; nothing else has to name it.
"""
