"""The command ``evictbench``: finds its commands, and turns what goes wrong into an exit code."""

from __future__ import annotations

import errno
import os
import pkgutil
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NoReturn

import click

from bench.cli import commands
from bench.cli.codes import BROKEN, INPUT, INTERRUPTED, STRICT
from bench.output import escaped, on_one_line
from sim.errors import EvictbenchError, InputError, PolicyError, unknown

__all__ = ["app", "main"]

DEBUG = "EVICTBENCH_DEBUG"

_FULL = frozenset({errno.EBADF, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.ENOSPC})
"""What the system answers where a stream takes nothing more."""

COMPLETE = "_EVICTBENCH_COMPLETE"
"""Set by a shell that asks how a command line may go on."""


class Commands(click.Group):
    """A group whose commands are the modules of ``bench.cli.commands``, each with a `command`.

    A command has a hyphen where its module has an underscore.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        modules = pkgutil.iter_modules(commands.__path__)
        return sorted(module.name.replace("_", "-") for module in modules)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in self.list_commands(ctx):
            return None
        module = import_module(f"{commands.__name__}.{name.replace('-', '_')}")
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if not name.startswith("-") and self.get_command(ctx, name) is None:
            raise click.UsageError(unknown("command", name, self.list_commands(ctx)), ctx)
        return super().resolve_command(ctx, args)


def _print_version(ctx: click.Context, option: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        from bench.manifest import version

        click.echo(f"evictbench {version()}")
        ctx.exit()


@click.command(
    cls=Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="`evictbench COMMAND --help` shows a command's options, with examples.",
)
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_print_version,
    help="Show the version and exit.",
)
@click.pass_context
def app(ctx: click.Context) -> None:
    """Compare context-window eviction policies for agent harnesses, seed by seed.

    Drives interchangeable policies with the same workload and shows which one to ship: how often
    answers were made up, how high the window peaked, what prefill cost.

    \b
    Examples:
      evictbench compare doc-analysis -p naive-rewrite -p tag-or-drop --seeds 30
      evictbench run rate-limit-table -p slack-swap-refuse
      evictbench replay session.jsonl
      evictbench list policies
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit with its code; errors are one sentence on standard error."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    if sys.stdout is None:
        sys.exit(_fail("standard output is closed", BROKEN))
    if COMPLETE in os.environ:
        app.main(prog_name="evictbench")
    sys.exit(_run(sys.argv[1:] if arguments is None else list(arguments)))


def _run(arguments: list[str]) -> int:
    try:
        with app.make_context("evictbench", arguments) as ctx:
            code: Any = app.invoke(ctx)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except click.exceptions.Exit as ended:
        return ended.exit_code
    except (click.Abort, KeyboardInterrupt):
        return _fail("interrupted", INTERRUPTED)
    except click.UsageError as error:
        where = error.ctx.command_path if error.ctx else "evictbench"
        return _fail(f"{_plain(error.format_message())} (see `{where} --help`)", INPUT)
    except click.ClickException as error:
        return _fail(_plain(error.format_message()), INPUT)
    except InputError as error:
        return _fail(_sentences(error), INPUT)
    except PolicyError as error:
        return _fail(f"{error.rule}: {error}", STRICT)
    except EvictbenchError as error:
        return _fail(str(error), BROKEN)
    except BrokenPipeError:
        _give_up_output()
        return 0
    except Exception as error:
        lost = _lost_output(error)
        if lost:
            return _fail(f"standard output cannot be written: {lost}", BROKEN)
        if os.environ.get(DEBUG):
            traceback.print_exception(error)
        text = " ".join(str(error).split())
        return _fail(
            f"evictbench itself failed, {type(error).__name__}: {text}; {DEBUG}=1 shows where",
            BROKEN,
        )


def _lost_output(error: Exception) -> str:
    """Return why what was printed cannot leave this process, empty if *error* says something else.

    What fails on the way to a file that was opened by name is an InputError long before; what
    fails while one is read was not printed.
    """
    if not isinstance(error, OSError) or error.filename is not None or error.errno not in _FULL:
        return ""
    if not _was_printed(error):
        return ""
    _give_up_output()
    reason = error.strerror or str(error)
    return reason[:1].lower() + reason[1:]


def _was_printed(error: OSError) -> bool:
    """Whether *error* came up where something was printed: here, in click or in rich."""
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    module = "" if last is None else str(last.tb_frame.f_globals.get("__name__"))
    return module == __name__ or module.split(".")[0] in ("click", "rich")


def _give_up_output() -> None:
    """Let what standard output still holds go nowhere, so that it does not fail again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _sentences(error: InputError) -> str:
    """Return what *error* says; the name of a file makes no line of its own."""
    file = None if error.file is None else on_one_line(error.file)
    return str(InputError(error.message, file=file, line=error.line))


def _fail(sentences: str, code: int) -> int:
    for sentence in sentences.split("\n"):
        click.echo(f"evictbench: {escaped(sentence)}", err=True)
    return code


def _plain(sentence: str) -> str:
    """Return a sentence of click's as ours are: no capital in front, no stop behind."""
    return sentence[:1].lower() + sentence[1:].removesuffix(".")
