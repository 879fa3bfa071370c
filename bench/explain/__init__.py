"""Explanations of a run from its event records: why an answer was wrong, where a segment was."""
