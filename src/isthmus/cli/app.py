"""The command line: arguments and options. What a command does is loaded when it runs."""

import sys
import traceback
import warnings
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from typer.core import TyperGroup

from isthmus import __version__
from isthmus.cli.errors import UserError, one_line

Table = Annotated[
    Path, typer.Argument(metavar="TABLE", help="Named columns in csv, csv.gz, parquet or npz.")
]
ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="File written by isthmus fit.")]
Report = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Folder for an HTML page and a Markdown table.")
]
Quick = Annotated[bool, typer.Option("--quick", help="Small settings that end in seconds.")]


class _OneLineErrors(TyperGroup):
    """A group whose every error is one line on standard error and exit code 2."""

    def main(self, args: Any = None, prog_name: str | None = None, **extra: Any) -> Any:
        args = list(sys.argv[1:] if args is None else args)
        extra["standalone_mode"] = False
        with warnings.catch_warnings():
            warnings.showwarning = _one_line_warning
            try:
                code = super().main(args=args, prog_name="isthmus", **extra)
            except Exception as error:
                if "--debug" in args:
                    traceback.print_exc()
                print(f"isthmus: error: {_describe(error)}", file=sys.stderr)
                code = 2
        sys.exit(code if isinstance(code, int) else 0)


def _describe(error: Exception) -> str:
    if hasattr(error, "format_message"):  # a wrong option or argument
        return one_line(error.format_message())
    if isinstance(error, UserError):
        return one_line(error)
    hint = "run isthmus --debug COMMAND for the traceback"
    return f"{type(error).__name__}: {one_line(error)} ({hint})"


def _one_line_warning(message, category, filename, lineno, file=None, line=None):
    print(f"isthmus: warning: {one_line(message)}", file=sys.stderr)


app = typer.Typer(
    cls=_OneLineErrors,
    help="Learn maps between any two spaces, from tables or from the source documents.",
    add_completion=False,
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


@app.command()
def fit(
    table: Table,
    outputs: Annotated[
        str, typer.Option(metavar="A,B", help="Output columns; Y stands for Y_0, Y_1, … too.")
    ],
    model: Annotated[Path, typer.Option(metavar="FILE", help="Where to save the best model.")],
    inputs: Annotated[
        str | None, typer.Option(metavar="C,D", help="Input columns; default: all others.")
    ] = None,
    cv: Annotated[int, typer.Option(help="Folds of the cross-validation.")] = 5,
    seed: Annotated[int, typer.Option(help="Seed of the folds.", min=0)] = 0,
    quick: Quick = False,
) -> None:
    """Compare estimators on a table by cross-validation and save the best."""
    from isthmus.cli import commands as _commands

    _commands.fit(
        table,
        outputs=_names(outputs, "--outputs"),
        inputs=None if inputs is None else _names(inputs, "--inputs"),
        model_file=model,
        cv=cv,
        seed=seed,
        quick=quick,
        console=Console(),
    )


@app.command()
def predict(
    model: ModelFile,
    table: Table,
    output: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Table to write; default: csv to the screen."),
    ] = None,
) -> None:
    """Predict the outputs for the rows of a table."""
    from isthmus.cli import commands as _commands

    _commands.predict(model, table, output=output)


@app.command()
def score(model: ModelFile, table: Table) -> None:
    """Show the errors of a model on a table that also has the outputs."""
    from isthmus.cli import commands as _commands

    _commands.score(model, table, console=Console())


@app.command()
def reproduce(
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="[ID]...", help="Experiments; default: all.")
    ] = None,
    list_only: Annotated[
        bool, typer.Option("--list", help="List the experiments instead of running them.")
    ] = False,
    quick: Quick = False,
    report: Report = None,
) -> None:
    """Run the experiments of the source documents and compare with what they report."""
    from isthmus.cli.reproduce import reproduce as run_experiments

    code = run_experiments(
        ids or [], list_only=list_only, quick=quick, report=report, console=Console()
    )
    raise typer.Exit(code)


@app.command()
def demo(
    report: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder for the report, the tables and the model.")
    ],
) -> None:
    """Run quick reproductions of each family and one fit on a generated table."""
    from isthmus.cli.demo import demo as run_demo

    raise typer.Exit(run_demo(report, console=Console()))


def _names(text: str, option: str) -> list[str]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise UserError(f"{option} names no column")
    return names
