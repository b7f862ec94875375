"""The commands from shadow to enforcement, on decision logs: review, promote, report, verify.

In: arguments. Out: text, no logic.
"""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer  # noqa: TID253 - nothing but the command line imports this module

from sponsio_like.cli.root import Contracts, Json, Logs, OneContract, app, named_in_file, warn
from sponsio_like.errors import ContractError, TraceError, closest
from sponsio_like.terminal import counted, print_all

if TYPE_CHECKING:
    from sponsio_like.contracts import Contract, File
    from sponsio_like.replay import Applications, LogPart, Report

Labels = Annotated[
    Path, typer.Option(metavar="FILE", help="Where answers about violations are kept.")
]
Share = Annotated[
    str, typer.Option(metavar="10%", help="Enforce in this part of the sessions only.")
]
NamedContract = Annotated[
    str, typer.Argument(metavar="CONTRACT", help="Its name.", autocompletion=named_in_file)
]
ByName = Annotated[
    bool, typer.Option("--by-name", help="Count sessions that only show its tools' names, too.")
]

log_app = typer.Typer(no_args_is_help=True, help="Look after decision logs.")
app.add_typer(log_app, name="log")


@app.command()
def review(
    logs: Logs,
    *,
    labels: Labels = Path("labels.jsonl"),
    contract: Annotated[str | None, typer.Option(help="Only this contract.")] = None,
) -> None:
    """Step through violations: was it right to stop the call? The answers are kept."""
    from sponsio_like.log import read_log
    from sponsio_like.replay import ANSWERS, add_label, labels_of, to_review

    lines = (line for path in logs for line in read_log(path))
    for each in list(to_review(lines, labels_of(labels), contract)):
        typer.echo(each.text)
        typer.echo("  [r]ight to stop it, [w]rong, [u]nsure, [s]kip, [q]uit: ", nl=False)
        key = sys.stdin.readline().strip().lower()[:1] or "q"
        if key == "q":
            break
        if key in ANSWERS:
            add_label(labels, each.label, ANSWERS[key])
    said = labels_of(labels)
    counts = ", ".join(f"{n} {w}" for w in ANSWERS.values() if (n := [*said.values()].count(w)))
    typer.echo(f"{labels}: {counts or 'no answers'}")


@app.command()
def promote(  # noqa: PLR0913 - each is an option
    contracts: Contracts,
    contract: NamedContract,
    *,
    evidence: Annotated[
        list[Path], typer.Option(metavar="LOG", help="A decision log; may be repeated.")
    ],
    labels: Labels = Path("labels.jsonl"),
    sessions: Annotated[int, typer.Option(help="Fewest sessions in which it applied.")] = 50,
    at_most: Annotated[
        float, typer.Option(help="Largest rate of sessions with a false stop.")
    ] = 0.05,
    confidence: Annotated[float, typer.Option(help="Confidence of the bound on it.")] = 0.95,
    share: Share = "",
    by_name: ByName = False,
) -> None:
    """Enforce a contract, if the log shows that it is ready; else say what is missing, status 1."""
    from sponsio_like.checks import compile_policy, read_file
    from sponsio_like.contracts import fingerprint
    from sponsio_like.log import read_log
    from sponsio_like.replay import Replay, Wanted, evidence_of, labels_of, promotion
    from sponsio_like.traces import logged_traces

    file = read_file(contracts)
    written = _of_name(file, contract)
    place, text = promotion(contracts, file, written, share)
    lines = (line for path in evidence for line in read_log(path))
    found = evidence_of(lines, contract, fingerprint(written), labels_of(labels))
    played = (trace for path in evidence for trace in logged_traces(read_log(path)))
    found.confirm(played, Replay(file.contracts, tools=file.inventory), by_name=by_name)
    wanted = Wanted(sessions, at_most, confidence)
    missing = list(found.missing(wanted))
    policy = compile_policy(file.contracts, file.mode or "enforce", file.inventory)
    missing += [str(each) for each in policy.warnings if each.where == contract]
    for each in missing:
        typer.echo(f"not yet: {each}")
    warn([f"warning: {each}" for each in [found.open_sessions()] if each])
    if missing:
        raise typer.Exit(1)
    place.write_text(text, "utf-8")
    typer.echo(
        f"{place}: `{contract}` is enforced: {counted(len(found.sessions), 'session')}, false "
        f"stops in at most {100 * found.bound(wanted):.2g} % with {100 * confidence:g} % confidence"
    )


def _of_name(file: File, name: str) -> Contract:
    """Return the contract of this name. Raises `ContractError` if there is none."""
    named = {each.name: each for each in file.contracts}
    if name not in named:
        raise ContractError.of(f"there is no contract `{name}`", closest(name, named))
    return named[name]


@log_app.callback()
def of_log() -> None:
    """Look after decision logs."""


@log_app.command()
def verify(
    logs: Annotated[
        list[Path], typer.Argument(metavar="LOG...", help="Chained logs, the oldest file first.")
    ],
    *,
    ended: Annotated[
        bool, typer.Option("--ended", help="Status 1, too, if a chain has no end.")
    ] = False,
) -> None:
    """Check the chains of decision logs: status 1 if a line was changed, removed or added."""
    from sponsio_like.log import verify as verify_chains

    links = verify_chains(logs)
    for each in links.wrong:
        typer.echo(each)
    for writer, last in links.last.items():
        typer.echo(f"the chain of {writer} ends with {last}")
    for writer in sorted(links.open):
        why = "it goes on, its writer was killed, or lines were cut off at the end"
        typer.echo(f"the chain of {writer} has no end: {why}")
    what = counted(len(links.wrong), "line") + " wrong" if links.wrong else "every link holds"
    typer.echo(f"{counted(links.lines, 'line')}: {what}")
    raise typer.Exit(1 if links.wrong or (ended and links.open) else 0)


@app.command()
def report(  # noqa: PLR0913 - each is an option
    logs: Logs,
    *,
    as_json: Json = False,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write a page instead.")
    ] = None,
    since: Annotated[
        str | None, typer.Option(metavar="TIME", help="Only from then on: 2026-11-23T08:00.")
    ] = None,
    contract: OneContract = None,
    agent: Annotated[str | None, typer.Option(help="Only the calls of this agent.")] = None,
    session: Annotated[
        str | None, typer.Option(metavar="ID", help="Only this session, record by record.")
    ] = None,
    contracts: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Play sessions to see where they applied.")
    ] = None,
    watch: Annotated[
        bool, typer.Option("--watch", help="Show each decision as it is made, until Ctrl-C.")
    ] = False,
) -> None:
    """Show what each contract stopped, or would have stopped, from a decision log."""
    from sponsio_like.log import read_log
    from sponsio_like.replay import LogPart, report_of, session_page

    part = LogPart(since, contract, agent, session)
    if html is not None:
        _page(logs, html, part, contracts)
        return
    if watch:
        _watch(logs, part)
        return
    lines = part.of(line for path in logs for line in read_log(path))
    if session is not None and not as_json:
        print_all(session_page(lines, session))
        return
    found = report_of(lines)
    if contracts is not None:
        found.count_again(_applied(logs, part, contracts))
    _counts(part.of_report(found), as_json=as_json)


def _counts(found: Report, *, as_json: bool) -> None:
    """Print the counts of a log."""
    warn([f"warning: {where}: not a line of JSON; left out" for where in found.damaged])
    if as_json:
        typer.echo(json.dumps(found.as_json()))
        return
    if found.contracts:
        print_all(found.table(), [("", "")])
    print_all(found.page())


def _watch(logs: list[Path], part: LogPart) -> None:
    """Print the records of one log as they come, until the user has seen enough."""
    from sponsio_like.log import drawing, followed

    if len(logs) != 1:
        raise TraceError("--watch follows one log: give one")
    draw = drawing(colours=sys.stdout.isatty())
    with suppress(KeyboardInterrupt, BrokenPipeError):
        for _, record in part.of(followed(logs[0])):
            of_contract = part.contract in (None, *record.get("applied", ()))
            if of_contract and (record["event"] != "settlement" or record.get("violations")):
                typer.echo(draw(record))
                sys.stdout.flush()


def _applied(logs: list[Path], part: LogPart, contracts: Path) -> Applications:
    """Return where the contracts of a file applied in the sessions of logs."""
    from sponsio_like.checks import read_file
    from sponsio_like.log import read_log
    from sponsio_like.replay import Replay, applications

    file = read_file(contracts)
    lines = part.of(line for path in logs for line in read_log(path))
    return applications(lines, Replay(file.contracts, tools=file.inventory), contracts.name)


def _page(logs: list[Path], html: Path, part: LogPart, contracts: Path | None) -> None:
    """Write the report on logs as a page."""
    from sponsio_like.replay import facts_of, page_of

    names, facts = ", ".join(path.name for path in logs), facts_of(logs, part)
    if contracts is not None:
        facts = facts.counted_again(_applied(logs, part, contracts))
    html.write_text(page_of(facts, names), "utf-8")
    typer.echo(f"{html}: the report on {names}")
