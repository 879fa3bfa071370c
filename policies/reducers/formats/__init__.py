"""The formats of tool output, one a file; each holds a ``REDUCER``."""
