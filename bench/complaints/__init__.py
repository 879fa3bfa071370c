"""Complaint stories judged: whether a failure shows where it was reported, and where else."""

from __future__ import annotations
