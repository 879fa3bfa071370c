"""Sweeps: the same policies on the same seeds at many settings, kept cell by cell."""
