"""The command line: arguments → RunConfig → run → exit code.

Heavy imports are inside the functions that need them, so that `--help` and a wrong option answer at once.
"""

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from streamlin.commands.connectors import connectors
from streamlin.commands.demo import demo
from streamlin.commands.exit_codes import exit_code
from streamlin.commands.explain import explain
from streamlin.commands.garbage import collect_rarely
from streamlin.commands.inspect import inspect
from streamlin.commands.predict import predict
from streamlin.commands.produce import produce
from streamlin.commands.run import run
from streamlin.commands.serve import serve
from streamlin.commands.warm import warm
from streamlin.errors import ConfigError
from streamlin.terminal.printing import print_notice, print_result
from streamlin.terminal.standard_streams import occupy_closed_descriptors, print_what_can_be_encoded, use_utf8
from streamlin.version import __version__

_INTERRUPTED = 130
"""The exit code after Ctrl-C, as shells count."""


class _PrintedHelp:
    """Help is printed as any result is: if it can't be, that is an error."""

    def get_help(self, ctx: Any) -> str:
        for line in super().get_help(ctx).splitlines():  # type: ignore[misc]
            print_result(line, sys.stdout)
        raise typer.Exit


class _Command(_PrintedHelp, TyperCommand):
    pass


class _Group(_PrintedHelp, TyperGroup):
    pass


app = typer.Typer(
    cls=_Group,
    help="Streaming text classification: test, then train, event by event.",
    add_completion=False,
    no_args_is_help=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        print_result(f"streamlin {__version__}", sys.stdout)
        raise typer.Exit


@app.callback(invoke_without_command=True)
def command(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_show_version, help="Show the version.")
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        known = "run, demo, predict, explain, serve, produce, inspect, connectors, warm"
        raise ConfigError(f"no command given; choose one of {known} (streamlin --help)")


_COMMANDS: tuple[Callable[..., None], ...] = (run, demo, predict, serve, produce, inspect, explain, connectors, warm)
"""In the order in which `--help` lists them."""

for function in _COMMANDS:
    app.command(cls=_Command)(function)


def main() -> None:
    """The command `streamlin`; ends the process with an exit code."""
    collect_rarely()
    use_utf8()
    occupy_closed_descriptors()
    code = command_line(sys.argv[1:])
    # Everything is closed by now; an orderly shutdown of numba and LLVM would take another quarter of a second.
    os._exit(code)


def command_line(arguments: Sequence[str]) -> int:
    """Run the command that the arguments name; returns the exit code once all output is written."""
    print_what_can_be_encoded()
    try:
        code: int = app(list(arguments), standalone_mode=False) or 0
    except (KeyboardInterrupt, typer.Abort):
        code = _INTERRUPTED
    except Exception as error:
        code = exit_code(error)
    if code == _INTERRUPTED:  # Typer may have caught the exception
        print_notice("interrupted", "error")
    for file in (sys.stdout, sys.stderr):
        if file is not None:
            with suppress(OSError):
                file.flush()
    return code


if __name__ == "__main__":
    main()
