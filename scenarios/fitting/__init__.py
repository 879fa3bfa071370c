"""Scenarios fitted to recorded sessions: more of what a team has, for any number of seeds."""
