"""The command line: its commands, and every error in one line."""

import os
import sys
import traceback
import warnings
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from isthmus import __version__
from isthmus.cli.errors import UserError, one_line
from isthmus.files.atomic import CannotWriteError
from isthmus.files.contents import ModelFileError

COMMANDS = ("fit", "predict", "score", "complete", "explore", "info", "reproduce", "demo", "warmup")


class _OneLineErrors(TyperGroup):
    """A group whose every error is one line on standard error and exit code 2."""

    def main(self, args: Any = None, prog_name: str | None = None, **extra: Any) -> Any:
        args = list(sys.argv[1:] if args is None else args)
        extra["standalone_mode"] = False
        with warnings.catch_warnings():
            warnings.showwarning = _one_line_warning
            try:
                code = super().main(args=args, prog_name="isthmus", **extra)
                sys.stdout.flush()  # a full disk behind a redirection shows here at the latest
            except BrokenPipeError:  # the reader, such as head, has seen enough
                _silence_stdout()
                code = 0
            except Exception as error:
                if "--debug" in args:
                    traceback.print_exc()
                print(f"isthmus: error: {_describe(error)}", file=sys.stderr)
                _silence_stdout(only_if_broken=True)
                code = 2
        sys.exit(code if isinstance(code, int) else 0)


def _silence_stdout(*, only_if_broken: bool = False) -> None:
    """Let the interpreter not complain a second time when it closes standard output."""
    try:
        sys.stdout.flush()
        if only_if_broken:
            return
    except OSError:
        pass
    except ValueError:
        return
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        return


_EXPECTED = (UserError, ModelFileError, CannotWriteError, MemoryError)


def _describe(error: Exception) -> str:
    if hasattr(error, "format_message"):  # a wrong option or argument
        return one_line(error.format_message())
    if isinstance(error, _EXPECTED):
        return one_line(error) or "there is not enough memory"
    if isinstance(error, OSError) and error.filename is None and error.strerror:
        return f"cannot write the result: {one_line(error.strerror)}"
    hint = "run isthmus --debug COMMAND for the traceback"
    return f"{type(error).__name__}: {one_line(error)} ({hint})"


def _one_line_warning(message, category, filename, lineno, file=None, line=None):
    print(f"isthmus: warning: {one_line(message)}", file=sys.stderr)


app = typer.Typer(
    cls=_OneLineErrors,
    help="Learn maps between any two spaces from tables.\n\n"
    "Example: isthmus fit train.csv --outputs price --model price.isthmus",
    add_completion=True,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"isthmus {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _options(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show version."),
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    if context.invoked_subcommand is None:
        print(context.get_help())


for _name in COMMANDS:
    app.command(_name)(getattr(import_module(f"isthmus.cli.commands.{_name}"), _name))
