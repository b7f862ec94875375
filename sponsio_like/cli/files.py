"""The commands on contract files: check, test, say, patterns, schema, fmt.

In: arguments. Out: text, no logic.
"""

from __future__ import annotations

import json
import sys
from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer  # noqa: TID253 - nothing but the command line imports this module

from sponsio_like.cli.root import Files, Json, app
from sponsio_like.errors import ContractError, Problem, SponsioLikeError
from sponsio_like.explain import catalog_page, contracts_page, pattern_page, warnings_page
from sponsio_like.terminal import counted, print_all

if TYPE_CHECKING:
    from sponsio_like.replay import CheckedFile


@app.command()
def check(
    contracts: Annotated[
        list[Path],
        typer.Argument(metavar="CONTRACTS.yaml...", help="Contract files, or folders of them."),
    ],
    *,
    tools: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The agent's tools: names, schemas, an MCP manifest."),
    ] = None,
    traces: Annotated[
        list[Path] | None,
        typer.Option(metavar="T.jsonl", help="Recorded runs that show its tools; repeatable."),
    ] = None,
    explain_them: Annotated[
        bool, typer.Option("--explain", help="Show shortest traces that keep and break each.")
    ] = False,
    as_json: Json = False,
    github: Annotated[
        bool, typer.Option("--github", help="Print annotations for a GitHub workflow.")
    ] = False,
    pairs: Annotated[
        int, typer.Option(metavar="N", help="The pairs of contracts to compare; 0: none.")
    ] = 100,
) -> None:
    """Read contract files: say what was understood, or every mistake with its line.

    Status 2 if there is a mistake.
    """
    from sponsio_like.cli.draft import kinds_in_tools, unchecked_names
    from sponsio_like.replay import checked

    found, kinds = [], kinds_in_tools(tools)
    for path in contracts:
        each = checked(path, lambda file: unchecked_names(file, tools, traces or ()), pairs, kinds)
        pairs -= each.found.pairs
        found.append(each)
        if github:
            typer.echo("".join(f"{line}\n" for line in each.annotations()), nl=False)
        elif not as_json:
            _say_checked(each, explain=explain_them)
    if as_json:
        typer.echo(json.dumps({"files": [each.as_json() for each in found]}))
    _refuse([problem for each in found for problem in each.mistakes], told=as_json or github)


def _refuse(mistakes: list[Problem], *, told: bool) -> None:
    """Print mistakes that are not printed yet (`told`), underlined on a terminal.
    Status 2 if there are any.
    """
    from sponsio_like.replay import underlined

    if mistakes and not told:
        if not sys.stderr.isatty():
            raise ContractError(*mistakes)
        print_all(underlined(mistakes), stream=sys.stderr)
    raise typer.Exit(2 if mistakes else 0)


def _say_checked(each: CheckedFile, *, explain: bool) -> None:
    """Print the contracts, warnings and findings of a file without mistakes."""
    from sponsio_like.replay import shortest_lines

    if each.file is None:
        return
    contracts, mode = each.file.contracts, each.file.mode or "enforce"
    shown = {one.name: shortest_lines(one) for one in contracts if explain}
    print_all(contracts_page(contracts, mode, shown, each.file.words), warnings_page(each.remarks))
    typer.echo(f"{each.name}: {counted(len(contracts), 'contract')} understood")
    for line in (*each.kinds(), *each.notes(), *each.left, *each.found.limits):
        typer.echo(line)


@app.command("test")
def run_file_tests(
    files: Files,
    *,
    mutants: Annotated[
        bool, typer.Option("--mutants", help="Change each contract a little: does a test notice?")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Status 1, too, if something is left untested.")
    ] = False,
    write: Annotated[
        bool, typer.Option("--write", help="Propose tests: the shortest traces, at the end.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Run the tests of contract files. Status 1 if one fails, or if a file has none."""
    from sponsio_like.replay import file_results

    if write:
        _propose(files)
        return
    results = [file_results(path, mutants=mutants) for path in files]
    for each in results:
        if as_json:
            typer.echo(json.dumps(each.as_json()))
        else:
            print_all(each.table(), each.lines())
    good = all(each.passed and (each.complete or not strict) for each in results)
    raise typer.Exit(0 if good else 1)


def _propose(files: list[Path]) -> None:
    """Write proposed tests at the end of each file; print them where a file has tests already."""
    from sponsio_like.checks import read_file
    from sponsio_like.replay import proposed, with_proposed

    for path in files:
        file = read_file(path)
        text = None if path.is_dir() else with_proposed(path.read_text("utf-8"), file)
        if text is not None:
            path.write_text(text, "utf-8")
            count = len(read_file(path).tests)
            typer.echo(f"{path}: {counted(count, 'test')} proposed: read each, and correct it")
        elif lines := proposed(file):
            typer.echo(f"# Put these below `tests:` of {path}:\n{lines}", nl=False)
        else:
            typer.echo(f"{path}: a test of each name is there already")


@app.command()
def say(
    sentence: Annotated[str, typer.Argument(help="A guarantee, in English.")],
    tools: Annotated[
        Path | None,
        typer.Option(metavar="CONTRACTS.yaml", help="The contract file that declares the tools."),
    ] = None,
) -> None:
    """Say what a sentence means: its formula, and shortest traces that keep it and break it."""
    from sponsio_like.checks import read_file
    from sponsio_like.contracts import Vocabulary, contract, read_sentence
    from sponsio_like.explain import sentence_page
    from sponsio_like.replay import shortest_lines

    file = None if tools is None else read_file(tools)
    words = Vocabulary() if file is None else file.words
    rule = read_sentence(sentence, words)
    lines = shortest_lines(contract("it").guarantees(rule))
    print_all(sentence_page(rule, lines, words))


@app.command()
def patterns(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Explain this one.")] = None,
) -> None:
    """List the patterns that contracts are made of, or explain one of them."""
    from sponsio_like.contracts import CATALOG, find_pattern

    print_all(catalog_page(CATALOG.values()) if name is None else pattern_page(find_pattern(name)))


@app.command()
def schema(
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where the schema goes; else printed.")
    ] = None,
) -> None:
    """Write the JSON Schema of contract files, by which editors complete and check them."""
    from sponsio_like.contracts import modeline, schema_text

    if out is None:
        typer.echo(schema_text(), nl=False)
        return
    try:
        out.write_text(schema_text(), "utf-8")
    except OSError as error:
        raise SponsioLikeError(f"{out}: cannot be written: {error.strerror}") from None
    typer.echo(f"{out}: the first line of a contract file beside it: {modeline(out.name)}")


@app.command("fmt")
def format_files(
    files: Files,
    *,
    only_check: Annotated[
        bool, typer.Option("--check", help="Write nothing: show the changes, status 1 if any.")
    ] = False,
) -> None:
    """Lay contract files out in one way. Data, comments, quotes and their order stay.

    Status 2 if a file has mistakes; it is not written.
    """
    from sponsio_like.contracts import files_of, laid_out

    mistakes, changed = list[Problem](), False
    for path in files_of(files):
        try:
            old, new = laid_out(path)
        except ContractError as error:
            mistakes += error.problems
            continue
        if new == old:
            continue
        changed = True
        if only_check:
            typer.echo(_changes(path, old, new), nl=False)
        else:
            path.write_text(new, "utf-8")
            typer.echo(f"{path}: formatted")
    if mistakes:
        _refuse(mistakes, told=False)
    raise typer.Exit(1 if changed and only_check else 0)


def _changes(path: Path, old: str, new: str) -> str:
    """Return a unified diff."""
    name, lines = str(path), (old.splitlines(), new.splitlines())
    return "".join(f"{each}\n" for each in unified_diff(*lines, name, name, lineterm=""))
