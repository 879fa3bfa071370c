"""A policy on a live history: the messages of an agent under way become the request to send."""

from live.agent import Agent, adapt

__all__ = ["Agent", "adapt"]
