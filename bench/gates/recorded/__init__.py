"""Recorded sessions against the simulated cache: what was read, call by call and format by format.

``python -m bench.gates.recorded PATH...`` prints it.
"""
