"""The command line: arguments in, text out, no logic.

Exit status: 0 all is well, 1 a replayed trace breaks a contract, or nothing of a draft is kept, 2
something given is wrong.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from importlib import metadata
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer  # noqa: TID253 - nothing but the command line imports this module

from sponsio_like.errors import ContractError, Problem, SponsioLikeError, TraceError, closest
from sponsio_like.explain import catalog_page, contracts_page, pattern_page, warnings_page
from sponsio_like.risk.commands import app as risk
from sponsio_like.terminal import console_for, counted, print_page, print_table

if TYPE_CHECKING:
    from sponsio_like.contracts import Contract, File
    from sponsio_like.replay import Applications, CheckedFile, Part, Report

app = typer.Typer(
    name="sponsio-like",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    epilog="Start with: sponsio-like demo",
)
app.add_typer(risk, name="risk")

Contracts = Annotated[
    Path, typer.Argument(metavar="CONTRACTS.yaml", help="A contract file, or a folder.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
ShowValues = Annotated[
    bool, typer.Option("--values", help="Show values of arguments, which may be secret.")
]
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


def _warn(lines: Iterable[str]) -> None:
    """Say on standard error what is seldom meant."""
    sys.stdout.flush()
    print_page([(each, "") for each in lines], console_for(sys.stderr))


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
    from sponsio_like.demo import run, save_files

    console = console_for(sys.stdout)
    if save is not None:
        print_page(save_files(save), console)
        return
    run(console, contracts, trace)


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
    from sponsio_like.drafting import kinds_in_tools, unchecked_names
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
    """Tell mistakes that are not `told`, underlined on a terminal. Status 2 if there are any."""
    from sponsio_like.replay import underlined

    if mistakes and not told:
        if not sys.stderr.isatty():
            raise ContractError(*mistakes)
        print_page(underlined(mistakes), console_for(sys.stderr))
    raise typer.Exit(2 if mistakes else 0)


def _say_checked(each: CheckedFile, *, explain: bool) -> None:
    """Print what is to be said of a contract file without mistakes."""
    from sponsio_like.replay import shortest_lines

    if each.file is None:
        return
    contracts, mode = each.file.contracts, each.file.mode or "enforce"
    shown = {one.name: shortest_lines(one) for one in contracts if explain}
    console = console_for(sys.stdout)
    print_page(contracts_page(contracts, mode, shown), console)
    print_page(warnings_page(each.remarks), console)
    typer.echo(f"{each.name}: {counted(len(contracts), 'contract')} understood")
    for line in (*each.kinds(), *each.left, *each.found.limits):
        typer.echo(line)


@app.command("test")
def run_file_tests(
    files: Annotated[
        list[Path], typer.Argument(metavar="CONTRACTS.yaml...", help="Files or folders.")
    ],
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
    from sponsio_like.testing import file_results

    if write:
        _propose(files)
        return
    results = [file_results(path, mutants=mutants) for path in files]
    console = console_for(sys.stdout)
    for each in results:
        if as_json:
            typer.echo(json.dumps(each.as_json()))
        else:
            print_table(each.table(), console)
            print_page(each.lines(), console)
    good = all(each.passed and (each.complete or not strict) for each in results)
    raise typer.Exit(0 if good else 1)


def _propose(files: list[Path]) -> None:
    """Write proposed tests at the end of each file; print them where a file has tests already."""
    from sponsio_like.checks import read_file
    from sponsio_like.testing import proposed, with_proposed

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
    known = () if file is None else (file.inventory.tools, file.actions, file.inventory.elsewhere)
    rule = read_sentence(sentence, Vocabulary(*known))
    lines = shortest_lines(contract("it").guarantees(rule))
    print_page(sentence_page(rule, lines), console_for(sys.stdout))


@app.command()
def patterns(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Explain this one.")] = None,
) -> None:
    """List the patterns that contracts are made of, or explain one of them."""
    from sponsio_like.contracts import CATALOG, find_pattern

    page = catalog_page(CATALOG.values()) if name is None else pattern_page(find_pattern(name))
    print_page(page, console_for(sys.stdout))


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


@app.command()
def replay(
    contracts: Contracts,
    traces: Annotated[
        list[Path], typer.Argument(metavar="TRACES...", help="Trace files, .jsonl or .jsonl.gz.")
    ],
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
        console = console_for(sys.stdout)
        print_table(summary.table(), console)
        print_page(summary.page(), console)
    _warn(summary.warnings())
    blind = strict and summary.not_judged
    raise typer.Exit(1 if summary.broken or blind else 0)


@app.command()
def explain(
    contracts: Contracts,
    traces: Annotated[
        list[Path], typer.Argument(metavar="TRACES...", help="Trace files, .jsonl or .jsonl.gz.")
    ],
    contract: Annotated[str | None, typer.Option(help="Only this contract.")] = None,
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
    console, broken, summary = console_for(sys.stdout), False, Summary(replay.needs)
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
            print_page(page(trace, found, word), console)
    if not summary.traces:
        raise TraceError(f"no trace has the id `{id}`")
    if not as_json:
        print_table(summary.table(contract), console)
    _warn(summary.warnings())
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
    from sponsio_like.drafting import DraftRequest, prompt_for, run_draft

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
    console = console_for(sys.stderr if out is None else sys.stdout)
    if kept:
        print_table(result.table(), console)
    print_page(result.page(), console)
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
        console = console_for(sys.stdout)
        if found.counts:
            print_table(found.table(), console)
        print_page(found.page(), console)
    raise typer.Exit(0 if found.same else 1)


Labels = Annotated[
    Path, typer.Option(metavar="FILE", help="Where answers about violations are kept.")
]


@app.command()
def review(
    logs: Annotated[list[Path], typer.Argument(metavar="LOG...", help="Decision logs.")],
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


Share = Annotated[
    str, typer.Option(metavar="10%", help="Enforce in this part of the sessions only.")
]
ByName = Annotated[
    bool, typer.Option("--by-name", help="Count sessions that only show its tools' names, too.")
]


@app.command()
def promote(  # noqa: PLR0913 - each is an option
    contracts: Contracts,
    contract: Annotated[str, typer.Argument(metavar="CONTRACT", help="Its name.")],
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
    _warn([f"warning: {each}" for each in [found.open_sessions()] if each])
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


log_app = typer.Typer(no_args_is_help=True, help="Look after decision logs.")
app.add_typer(log_app, name="log")


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
    logs: Annotated[list[Path], typer.Argument(metavar="LOG...", help="Decision logs.")],
    *,
    as_json: Json = False,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write a page instead.")
    ] = None,
    since: Annotated[
        str | None, typer.Option(metavar="TIME", help="Only from then on: 2026-11-23T08:00.")
    ] = None,
    contract: Annotated[str | None, typer.Option(help="Only this contract.")] = None,
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
    from sponsio_like.replay import Part, report_of, session_page

    part = Part(since, contract, agent, session)
    if html is not None:
        _page(logs, html, part, contracts)
        return
    if watch:
        _watch(logs, part)
        return
    lines = part.of(line for path in logs for line in read_log(path))
    if session is not None and not as_json:
        print_page(session_page(lines, session), console_for(sys.stdout))
        return
    found = report_of(lines)
    if contracts is not None:
        found.count_again(_applied(logs, part, contracts))
    _counts(part.of_report(found), as_json=as_json)


def _counts(found: Report, *, as_json: bool) -> None:
    """Print the counts of a log."""
    _warn([f"warning: {where}: not a line of JSON; left out" for where in found.damaged])
    if as_json:
        typer.echo(json.dumps(found.as_json()))
        return
    console = console_for(sys.stdout)
    if found.contracts:
        print_table(found.table(), console)
        print_page([("", "")], console)
    print_page(found.page(), console)


def _watch(logs: list[Path], part: Part) -> None:
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


def _applied(logs: list[Path], part: Part, contracts: Path) -> Applications:
    """Return where the contracts of a file applied in the sessions of logs."""
    from sponsio_like.checks import read_file
    from sponsio_like.log import read_log
    from sponsio_like.replay import Replay, applications

    file = read_file(contracts)
    lines = part.of(line for path in logs for line in read_log(path))
    return applications(lines, Replay(file.contracts, tools=file.inventory), contracts.name)


def _page(logs: list[Path], html: Path, part: Part, contracts: Path | None) -> None:
    """Write the report on logs as a page."""
    from sponsio_like.reporting import facts_of, page_of

    names, facts = ", ".join(path.name for path in logs), facts_of(logs, part)
    if contracts is not None:
        facts = facts.counted_again(_applied(logs, part, contracts))
    html.write_text(page_of(facts, names), "utf-8")
    typer.echo(f"{html}: the report on {names}")
