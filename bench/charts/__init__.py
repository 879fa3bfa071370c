"""Charts of a comparison, one module each: what a design review looks at.

A module of this package that has a ``CHART`` is one; nothing else has to name it.
"""
