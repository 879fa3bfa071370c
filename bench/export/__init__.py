"""Runs for other tools: the schema of event records, and traces that Perfetto opens."""
