"""Runs, sweeps, statistics, results, charts, the report and the command line."""
