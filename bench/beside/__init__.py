"""What can be measured of every run beside its metrics, where it is asked for: one module each.

A module of this package that has a ``MEASURE`` is one; nothing else has to name it.
"""
