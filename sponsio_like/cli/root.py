"""The command line itself: its options, the demo, and what several commands share.

Exit status: 0 all is well, 1 a replayed trace breaks a contract, or nothing of a draft is kept, 2
something given is wrong.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from importlib import metadata
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer  # noqa: TID253 - nothing but the command line imports this module

from sponsio_like.cli.risk import risk_app
from sponsio_like.errors import SponsioLikeError
from sponsio_like.terminal import console_for, print_all

app = typer.Typer(
    name="sponsio-like",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    epilog="Start with: sponsio-like demo",
)
app.add_typer(risk_app, name="risk")

Contracts = Annotated[
    Path, typer.Argument(metavar="CONTRACTS.yaml", help="A contract file, or a folder.")
]
Files = Annotated[list[Path], typer.Argument(metavar="CONTRACTS.yaml...", help="Files or folders.")]
Traces = Annotated[
    list[Path], typer.Argument(metavar="TRACES...", help="Trace files, .jsonl or .jsonl.gz.")
]
Logs = Annotated[list[Path], typer.Argument(metavar="LOG...", help="Decision logs.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
ShowValues = Annotated[
    bool, typer.Option("--values", help="Show values of arguments, which may be secret.")
]


def named_in_file(context: typer.Context, incomplete: str) -> list[str]:
    """Return the names of contracts that complete a word, from the file that the command has.

    None where the file has mistakes: a completion says nothing of them.
    """
    from sponsio_like.checks import read_file

    source = context.params.get("contracts") or next(iter(context.args), None)  # not yet parsed
    try:
        names = [each.name for each in read_file(source).contracts] if source else []
    except SponsioLikeError:
        return []
    return [each for each in names if each.startswith(incomplete)]


OneContract = Annotated[
    str | None, typer.Option(help="Only this contract.", autocompletion=named_in_file)
]


def main() -> None:
    """Run the command line. A user's mistake is one line on standard error, and status 2."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure: Callable[..., None] | None = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")  # a tool's name may be anything
    sys.argv[1:] = _imports_first(sys.argv[1:])
    try:
        app()
    except SponsioLikeError as error:
        sys.stdout.flush()
        typer.echo(str(error), err=True)
        sys.exit(2)


def _imports_first(words: list[str]) -> list[str]:
    """Return the arguments with each `--import MODULE` before the command, for all commands."""
    first, rest, given = list[str](), list[str](), iter(words)
    for word in given:
        if word == "--":
            return [*first, *rest, word, *given]
        if word == "--import":
            first += [word, *islice(given, 1)]
        else:
            (first if word.startswith("--import=") else rest).append(word)
    return first + rest


def warn(lines: Iterable[str]) -> None:
    """Print warnings on standard error."""
    sys.stdout.flush()
    print_all([(each, "") for each in lines], stream=sys.stderr)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"sponsio-like {metadata.version('sponsio-like')}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[  # noqa: ARG001 - its callback prints it
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    modules: Annotated[
        list[str] | None,
        typer.Option(
            "--import",
            metavar="MODULE",
            help="Import patterns, atoms, kinds of your own; repeatable; after a command, too.",
        ),
    ] = None,
) -> None:
    """Contracts for AI agents: rules over tool calls, checked before each call runs."""
    if modules:
        from sponsio_like.contracts import import_rules

        for each in modules:
            import_rules(each, Path.cwd())


@app.command()
def demo(
    contracts: Annotated[Path | None, typer.Option(help="Other contracts than the demo's.")] = None,
    trace: Annotated[Path | None, typer.Option(help="Another recorded run.")] = None,
    save: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Copy the demo's files, to edit them.")
    ] = None,
) -> None:
    """A recorded agent run under attack: without contracts, with them, and in observe mode."""
    from sponsio_like.cli.demo import run, save_files

    if save is not None:
        print_all(save_files(save))
        return
    run(console_for(sys.stdout), contracts, trace)
