"""How a module that is a command is run: its exit code, and its errors as one sentence."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NoReturn

import click

from bench.cli.codes import BROKEN, INPUT, INTERRUPTED
from bench.output import escaped
from sim.errors import EvictbenchError, InputError

__all__ = ["run_module"]


def run_module(
    command: click.Command, name: str, arguments: Sequence[str] | None = None
) -> NoReturn:
    """Run *command* as ``python -m NAME`` and exit with what it returns, 0 for None.

    What the user gave wrong is one sentence on standard error, and exit code 2; what broke is one,
    and exit code 4.
    """
    try:
        code = command.main(arguments, prog_name=f"python -m {name}", standalone_mode=False)
    except click.Abort:
        click.echo("evictbench: interrupted", err=True)
        sys.exit(INTERRUPTED)
    except click.ClickException as error:
        click.echo(f"evictbench: {escaped(error.format_message())}", err=True)
        sys.exit(INPUT)
    except InputError as error:
        click.echo(f"evictbench: {escaped(str(error))}", err=True)
        sys.exit(INPUT)
    except EvictbenchError as error:
        click.echo(f"evictbench: {escaped(str(error))}", err=True)
        sys.exit(BROKEN)
    sys.exit(code or 0)
