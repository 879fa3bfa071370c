"""The command line: ``evictbench``. Each command is one file in ``bench/cli/commands``."""

from bench.cli.app import main

__all__ = ["main"]
