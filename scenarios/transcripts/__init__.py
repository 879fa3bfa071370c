"""Readers of recorded transcripts: any session of an agent becomes a script of stimuli."""

from scenarios.transcripts.formats import formats
from scenarios.transcripts.loading import load

__all__ = ["formats", "load"]
