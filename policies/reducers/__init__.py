"""Reducers of tool results: by the structure of each format, within a budget of tokens."""
