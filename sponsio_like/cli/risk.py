"""The commands `sponsio-like risk ..`: arguments in, text out, no logic."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer  # noqa: TID253 - nothing but the command line imports this module

from sponsio_like.errors import RiskError
from sponsio_like.terminal import Table, counted, print_all

if TYPE_CHECKING:
    from sponsio_like.risk import Checked, Hindsight, RiskModel, RiskPolicy

risk_app = typer.Typer(
    no_args_is_help=True, help="Risk, learned from recorded traces, with bounds."
)
Contracts = Annotated[Path, typer.Argument(metavar="CONTRACTS.yaml", help="A contract file.")]
Traces = Annotated[list[Path], typer.Argument(metavar="TRACES...", help="Trace files.")]
Models = Annotated[list[Path], typer.Argument(metavar="MODEL...", help="Models of shards.")]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A model of risk.")]
Out = Annotated[Path, typer.Option("--out", "-o", metavar="MODEL", help="Where the model goes.")]


@risk_app.command("learn")
def learn_model(
    contracts: Contracts,
    traces: Traces,
    out: Out,
    bad: Annotated[
        str, typer.Option(metavar="WHAT", help="`violated`, or FIELD=VALUE of a trace.")
    ] = "violated",
    reach: Annotated[int, typer.Option(help="How many symbols a state has.")] = 2,
    predicate: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=TEST", help="`large=args.amount > 100`; repeatable."),
    ] = None,
) -> None:
    """Count how often runs that came to a state ended badly."""
    from sponsio_like.checks import read_file
    from sponsio_like.replay import read_all
    from sponsio_like.risk import Learner

    file = read_file(contracts)
    named = dict(_named(each) for each in predicate or ())
    learner = Learner(file.contracts, reach=reach, bad=bad, predicates=named, tools=file.inventory)
    for trace in read_all(traces, sys.stderr):
        learner.add(trace)
    model = learner.model()
    model.save(out)
    _tell(model, out)


@risk_app.command()
def merge(models: Models, out: Out) -> None:
    """Add up models that were learned from shards of the traces."""
    from sponsio_like.risk import read_model

    whole = read_model(models[0])
    for each in models[1:]:
        whole = whole.merged(read_model(each))
    whole.save(out)
    _tell(whole, out)


@risk_app.command()
def enough(
    model: Model,
    eps: Annotated[float, typer.Option(help="How far a probability may be off.")] = 0.05,
    delta: Annotated[float, typer.Option(help="How often it may be farther.")] = 0.01,
    reading: Annotated[str, typer.Option(help="strong, literal, or conditioned.")] = "strong",
) -> None:
    """Say which states need how many more runs. It bounds steps, not the risk: see its interval."""
    from sponsio_like.risk import read_model, runs_missing

    found = runs_missing(read_model(model), eps, delta, reading)  # type: ignore[arg-type]
    rows = tuple((need.state, need.has, need.needs, need.more) for need in found if need.more)
    done = f"{len(found) - len(rows)} of {counted(len(found), 'state')} have enough runs"
    if rows:
        print_all(Table(("state", "has", "needs", "more"), rows))
    typer.echo(done)


@risk_app.command("check")
def ask_chain(
    model: Model,
    formula: Annotated[
        str, typer.Argument(metavar="FORMULA", help="Such as `P<=0.05 [F<=3 bad]`.")
    ],
    *,
    as_counted: Annotated[
        bool, typer.Option("--counted", help="Take the counted shares for the truth.")
    ] = False,
    confidence: Annotated[float, typer.Option(help="How sure all bounds are together.")] = 0.95,
    every: Annotated[
        bool, typer.Option("--all", help="Every state, and not where runs begin alone.")
    ] = False,
) -> None:
    """Answer a property of the chain: yes, no or unknown. Exit status 0 if yes, 1 if not."""
    from sponsio_like.risk import bounded_chain, chain_of, check_chain, read_model

    if not 0 < confidence < 1:
        raise RiskError(f"confidence is {confidence}; write a number between 0 and 1")
    known = read_model(model)
    chain = chain_of(known) if as_counted else bounded_chain(known, 1 - confidence)
    answers = check_chain(chain, formula)
    shown = range(chain.size) if every else [chain.start]
    rows = tuple((chain.names[i], answers[i].answer, _bounds(answers[i])) for i in shown)
    print_all(Table(("state", "answer", "probability"), rows))
    raise typer.Exit(0 if answers[chain.start].answer == "yes" else 1)


@risk_app.command()
def export(
    model: Model,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="*.prism or *.drn.")],
) -> None:
    """Write the counted chain for PRISM (`.prism`) or Storm (`.drn`)."""
    from sponsio_like.risk import chain_of, drn_text, prism_text, read_model

    writers = {".prism": prism_text, ".drn": drn_text}
    if out.suffix not in writers:
        raise RiskError(f"{out}: no format is written so; write a name that ends in .prism or .drn")
    chain = chain_of(read_model(model))
    out.write_text(writers[out.suffix](chain), "utf-8")
    typer.echo(f"{out}: {counted(chain.size, 'state')}")


@risk_app.command("report")
def look_back_on(
    model: Model,
    traces: Annotated[
        list[Path] | None, typer.Argument(metavar="[TRACES...]", help="Runs to look back on.")
    ] = None,
    *,
    contracts: Annotated[
        Path | None, typer.Option("--contracts", metavar="FILE", help="The model's contracts.")
    ] = None,
    threshold: Annotated[float, typer.Option(help="The risk that is still let through.")] = 0.2,
    confidence: Annotated[float, typer.Option(help="How sure the bounds are.")] = 0.95,
    horizon: Annotated[int | None, typer.Option(help="Within so many calls: 1, 3, 5.")] = None,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write a page with plots.")
    ] = None,
) -> None:
    """Show the riskiest states, and where a policy would have stepped in."""
    from sponsio_like.risk import RiskPolicy, read_model, risk_lines, risk_page, risk_table

    policy = RiskPolicy(read_model(model), threshold, confidence=confidence, horizon=horizon)
    found = _looked_back(policy, contracts, traces or [])
    if html is not None:
        html.write_text(risk_page(policy, str(model), found), "utf-8")
        typer.echo(f"{html}: written")
        return
    print_all(risk_table(policy))
    for line in risk_lines(policy, found):
        typer.echo(line)


def _looked_back(
    policy: RiskPolicy, contracts: Path | None, traces: list[Path]
) -> Hindsight | None:
    from sponsio_like.checks import read_file
    from sponsio_like.replay import read_all
    from sponsio_like.risk import look_back

    if not traces and contracts is None:
        return None
    if contracts is None or not traces:
        raise RiskError("to look back on runs, give both --contracts FILE and traces")
    file = read_file(contracts)
    return look_back(policy, file.contracts, read_all(traces, sys.stderr), tools=file.inventory)


def _bounds(answer: Checked) -> str:
    if answer.lo is None:
        return ""
    lo, hi = float(answer.lo), float(answer.hi)
    return f"{lo:.2%}" if lo == hi else f"{lo:.2%} to {hi:.2%}"


def _named(text: str) -> tuple[str, str]:
    name, sign, test = text.partition("=")
    if not sign or not name.strip().isidentifier():
        raise RiskError(f"predicate `{text}` has no name; write large=args.amount > 100")
    return name.strip(), test.strip()


def _tell(model: RiskModel, path: Path) -> None:
    data = model.data
    typer.echo(
        f"{path}: {counted(len(model.states), 'state')} from {counted(data.traces, 'run')}, "
        f"{data.bad} bad, {data.censored} stopped before their end, {data.left_out} left out"
    )
