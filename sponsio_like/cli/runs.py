"""The commands on contracts and recorded runs: replay, explain, draft, diff.

In: arguments. Out: text, no logic.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer  # noqa: TID253 - nothing but the command line imports this module

from sponsio_like.cli.root import Contracts, Json, OneContract, ShowValues, Traces, app, warn
from sponsio_like.errors import TraceError
from sponsio_like.terminal import print_all

Specification = Annotated[
    Path, typer.Argument(metavar="SKILL.md", help="What an agent is for, and its rules.")
]
Recorded = Annotated[
    list[Path], typer.Option(metavar="T.jsonl", help="Recorded runs of it; may be repeated.")
]
Endpoint = Annotated[
    str | None, typer.Option(metavar="URL", help="An OpenAI-compatible server: https://host/v1.")
]
OutputFile = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Where the contracts go; else printed.")
]
AnswerFile = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Ask nobody: the answer stands here.")
]


@app.command()
def replay(
    contracts: Contracts,
    traces: Traces,
    as_json: Json = False,
    values: ShowValues = False,
    enforce: Annotated[
        bool, typer.Option("--enforce", help="Enforce: take stopped calls out of the trace.")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Status 1, too, if a contract could not be judged.")
    ] = False,
) -> None:
    """Show what contracts would have done on recorded traces. Status 1 if any is broken."""
    from sponsio_like.checks import read_file
    from sponsio_like.replay import Replay, Summary, read_all

    file = read_file(contracts)
    player = Replay(
        file.contracts, enforce=enforce, mode=file.mode or "enforce", tools=file.inventory
    )
    summary = Summary(player.needs)
    quiet = as_json and sys.stdout.isatty()
    for trace in read_all(traces, None if quiet else sys.stderr):
        judged = player.judge(trace)
        summary.add(judged)
        if as_json:
            typer.echo(json.dumps(judged.as_json(values=values)))
    if not as_json:
        print_all(summary.table(), summary.page())
    warn(summary.warnings())
    blind = strict and summary.not_judged
    raise typer.Exit(1 if summary.broken or blind else 0)


@app.command()
def explain(
    contracts: Contracts,
    traces: Traces,
    contract: OneContract = None,
    id: Annotated[str | None, typer.Option("--id", help="Only the trace with this id.")] = None,
    as_json: Json = False,
    values: ShowValues = False,
) -> None:
    """Show why recorded traces break contracts: the values, and the calls that matter."""
    from sponsio_like.advice import labelled, plainly
    from sponsio_like.checks import read_file
    from sponsio_like.replay import Replay, Summary, explained, page, read_all

    file = read_file(contracts)
    replay = Replay(file.contracts, mode=file.mode or "enforce", tools=file.inventory)
    broken, summary = False, Summary(replay.needs)
    for trace in read_all(traces, None):
        if id not in (None, trace.id):
            continue
        judged = replay.judge(trace)
        summary.add(judged)
        found = explained(replay, trace, contract, judged)
        broken |= bool(found)
        word = plainly if values else labelled()
        if as_json:
            for each in found:
                typer.echo(json.dumps(each.as_json(trace.id, word), default=str))
        else:
            print_all(page(trace, found, word))
    if not summary.traces:
        raise TraceError(f"no trace has the id `{id}`")
    if not as_json:
        print_all(summary.table(contract))
    warn(summary.warnings())
    raise typer.Exit(1 if broken else 0)


@app.command()
def draft(  # noqa: PLR0913 - each is an option
    specification: Specification,
    *,
    traces: Recorded,
    endpoint: Endpoint = None,
    model: Annotated[str | None, typer.Option(metavar="NAME", help="The model to ask.")] = None,
    out: OutputFile = None,
    answer: AnswerFile = None,
    timeout: Annotated[float, typer.Option(help="Seconds to wait for the answer.")] = 120.0,
    values: Annotated[
        bool, typer.Option("--values/--no-values", help="Whether values of arguments are sent.")
    ] = True,
    prompt: Annotated[
        bool, typer.Option("--prompt", help="Print what would be sent, and send nothing.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Let a model draft contracts; keep those that are about what recorded runs show.

    The key is read from SPONSIO_LIKE_API_KEY or OPENAI_API_KEY. Status 1 if nothing is kept.
    """
    from sponsio_like.cli.draft import DraftRequest, prompt_for, run_draft

    order = DraftRequest(
        specification, tuple(traces), endpoint, model, answer, timeout, values, out
    )
    progress = None if as_json and sys.stdout.isatty() else sys.stderr
    if prompt:
        chat = prompt_for(order, progress)
        typer.echo(json.dumps(chat) if as_json else "\n".join(each["content"] for each in chat))
        return
    result = run_draft(order, progress)
    kept = result.draft.kept
    if as_json:
        typer.echo(json.dumps(result.as_json()))
        raise typer.Exit(0 if kept else 1)
    if out is None and kept:
        typer.echo(result.draft.text, nl=False)
    tables = [result.table()] if kept else []
    print_all(*tables, result.page(), stream=sys.stderr if out is None else sys.stdout)
    raise typer.Exit(0 if kept else 1)


@app.command()
def diff(
    old: Annotated[Path, typer.Argument(metavar="OLD.yaml", help="The contracts before.")],
    new: Annotated[Path, typer.Argument(metavar="NEW.yaml", help="The contracts now.")],
    traces: Annotated[
        list[Path], typer.Argument(metavar="TRACES|LOG...", help="Recorded runs, decision logs.")
    ],
    *,
    as_json: Json = False,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print Markdown, for a pull request.")
    ] = False,
) -> None:
    """Show what a change of contracts newly stops or lets through. Status 1 if anything."""
    from sponsio_like.checks import read_file
    from sponsio_like.replay import difference, read_all

    quiet = as_json or markdown
    files = [read_file(path) for path in (old, new)]
    found = difference(files[0], files[1], read_all(traces, None if quiet else sys.stderr))
    if as_json:
        typer.echo(json.dumps(found.as_json()))
    elif markdown:
        typer.echo(found.markdown(), nl=False)
    else:
        print_all(*([found.table()] if found.counts else []), found.page())
    raise typer.Exit(0 if found.same else 1)
