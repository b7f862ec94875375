"""Measures risk on the corpora of recorded runs, held out by model and by suite, and what it costs.

    python -m campaigns.risk FOLDER           shows the tables
    python -m campaigns.risk FOLDER --write   puts them into docs/risk.md

The model of an agent learns from one half of the agents, and is tested on the other half: they are
sorted by the hash of their names, before anything is looked at. The threshold is the one that stops
5 % of the runs without a successful attack in the half that was learned from. Nothing is chosen by
the half that is held out.
"""

from __future__ import annotations

import argparse
import hashlib
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from campaigns.pages import filled
from campaigns.study import ROOT, lines
from sponsio_like.contracts.loader import load
from sponsio_like.risk.alarm import calibration
from sponsio_like.risk.chain import MarkovChain
from sponsio_like.risk.learner import Learner, RecordedRun
from sponsio_like.risk.model import RiskModel, State
from sponsio_like.risk.policy import RiskPolicy
from sponsio_like.risk.solve import reach
from sponsio_like.traces.trace import trace_of

RUNS = (
    "agentdojo_runs_gpt4o.jsonl.gz",
    "agentdojo_runs_gpt4o_other_attacks.jsonl.gz",
    "agentdojo_runs_other_models.jsonl.gz",
)
AIRLINE = ("tau_airline_gpt4o.jsonl.gz",)
FALSE_STOPS = 0.05
PAGE = ROOT / "docs" / "risk.md"
Score: TypeAlias = Callable[[State], float]


@dataclass(frozen=True)
class Case:
    """A run: what is held out by, the states that were visited, and whether it was bad."""

    group: str
    part: str
    run: RecordedRun
    bad: bool
    broke: bool


def half(name: str) -> bool:
    """True for the names of which is learned."""
    return hashlib.sha256(name.encode()).digest()[0] % 2 == 0


def cases(
    folder: Path, files: Sequence[str], learner: Learner, about: Callable[[Any], Any]
) -> Iterator[Case]:
    """Yield the runs of the files that have a verdict; `about` returns group, part, and verdict."""
    for file in files:
        for value in lines(folder, file):
            said = about(value)
            if said is None:
                continue
            group, part, bad = said
            trace = trace_of({**value, "verdict": bad}, value["id"])
            run = learner.run(trace)
            if run is not None:
                judged = learner.replay.judge(trace)
                broke = any(each.action not in ("warned", "reported") for each in judged.violations)
                yield Case(group, part, run, bad, broke)


def dojo(value: Mapping[str, Any]) -> tuple[str, str, bool] | None:
    """The model, the suite, and whether an attack succeeded; None without a verdict."""
    label = value["label"]
    if label["kind"] == "benign":
        return label["model"], value["suite"], False
    if label["kind"] == "attacked" and label["attack_succeeded"] is not None:
        return label["model"], value["suite"], label["attack_succeeded"]
    return None


def airline(value: Mapping[str, Any]) -> tuple[str, str, bool]:
    """The task, and whether it failed."""
    task = value["id"].split("/")[1]
    return task, "airline", value["label"]["reward"] != 1


# --- what is compared -----------------------------------------------------------------------------


def first_visits(model: RiskModel) -> Score:
    """The estimate that is looked up: first visits, with back-off."""
    policy = RiskPolicy(model, 0.5)
    known: dict[State, float] = {}

    def score(state: State) -> float:
        if state not in known:
            found = policy.risk(state[:2], state[2])
            known[state] = (found.hits + 0.5) / (found.runs + 1)
        return known[state]

    return score


def chained(model: RiskModel, alpha: float) -> Score:
    """The risk by a chain of the counted moves, with `alpha` added to all pairs of states."""
    nodes = [*sorted(model.states), "bad", "end"]
    number = {node: i for i, node in enumerate(nodes)}
    counts: list[dict[int, float]] = [{} for _ in nodes]
    for (one, other), n in model.moves.items():
        if one != "begin":
            counts[number[one]][number[other]] = n
    size, bad, end = len(nodes), len(nodes) - 2, len(nodes) - 1
    if not alpha:
        rows = [{j: n / sum(row.values()) for j, n in row.items()} or {end: 1.0} for row in counts]
        rows[bad], rows[end] = {bad: 1.0}, {end: 1.0}
        values: Sequence[float] = reach(
            MarkovChain(tuple(map(str, nodes)), tuple(rows), {}), range(size), [bad]
        ).values
    else:
        values = _smoothed_everywhere(counts, alpha, bad, end)
    return lambda state: values[number[state]] if state in number else 0.0


def _smoothed_everywhere(
    counts: Sequence[Mapping[int, float]], alpha: float, bad: int, end: int
) -> list[float]:
    x = [0.0] * len(counts)
    x[bad] = 1.0
    totals = [sum(row.values()) + alpha * len(counts) for row in counts]
    for _ in range(2_000):
        every = alpha * sum(x)
        after = [
            (every + sum(n * x[j] for j, n in row.items())) / total
            for row, total in zip(counts, totals, strict=True)
        ]
        after[bad], after[end] = 1.0, 0.0
        moved = max(abs(a - b) for a, b in zip(after, x, strict=True))
        x = after
        if moved < 1e-10:
            break
    return x


@dataclass(frozen=True)
class Figures:
    """How well one way of predicting did on the runs that were held out."""

    auc: float
    caught: float
    before: float
    stopped: float
    lead: float
    brier: float


def measured(score: Score, learned: Sequence[Case], held: Sequence[Case]) -> Figures:
    """Return the figures: the threshold is set by the runs that were learned from."""
    good = sorted(_worst(case, score) for case in learned if not case.bad)
    threshold = good[int((1 - FALSE_STOPS) * (len(good) - 1))]
    visits = [(score(state), case.bad) for case in held for _, state in case.run.visits]
    bad = [case for case in held if case.bad]
    stops = [_stop(case, score, threshold) for case in bad]
    leads = [lead for lead in stops if lead is not None]
    wrong = [_stop(case, score, threshold) is not None for case in held if not case.bad]
    return Figures(
        area(visits),
        len(leads) / len(bad),
        sum(lead >= 1 for lead in leads) / len(bad),
        sum(wrong) / len(wrong),
        statistics.mean(leads) if leads else 0.0,
        calibration((p, happened) for p, happened in visits).brier,
    )


def _worst(case: Case, score: Score) -> float:
    return max((score(state) for _, state in case.run.visits), default=0.0)


def _stop(case: Case, score: Score, threshold: float) -> int | None:
    """The calls that were still to come when the run was stopped; None: it was not."""
    for at, state in case.run.visits:
        if score(state) > threshold:
            return case.run.calls - 1 - at
    return None


def area(pairs: Sequence[tuple[float, bool]]) -> float:
    """The area under the curve: how often a visit of a bad run has the higher score; ties half."""
    ranked = sorted(pairs)
    ranks, i = 0.0, 0
    bad = sum(happened for _, happened in pairs)
    while i < len(ranked):
        j = i
        while j < len(ranked) and ranked[j][0] == ranked[i][0]:
            j += 1
        ranks += sum(happened for _, happened in ranked[i:j]) * (i + j + 1) / 2
        i = j
    return (ranks - bad * (bad + 1) / 2) / max(1, bad * (len(pairs) - bad))


# --- the tables -----------------------------------------------------------------------------------


COLUMNS = (
    "held out", "runs, of them bad", "predicted by", "AUC", "caught",
    "of them before the last call", "false stops", "lead, calls", "Brier",
)  # fmt: skip
HEAD = f"| {' | '.join(COLUMNS)} |\n{'|---' * len(COLUMNS)}|\n"


def compared(name: str, learner: Learner, learned: Sequence[Case], held: Sequence[Case]) -> str:
    """Return the rows of one split."""
    for case in learned:
        learner.count(case.run)
    model = learner.model()
    ways: dict[str, Score] = {
        "first visits, back-off": first_visits(model),
        "plain chain": chained(model, 0.0),
        "chain, Laplace over all pairs": chained(model, 1.0),
    }
    out = ""
    bad = sum(case.bad for case in held)
    for way, score in ways.items():
        f = measured(score, learned, held)
        cells = [f"{f.auc:.3f}", f"{f.caught:.1%}", f"{f.before:.1%}", f"{f.stopped:.1%}"]
        cells += [f"{f.lead:.1f}", f"{f.brier:.3f}"]
        out += f"| {name} | {len(held):,}, {bad:,} | {way} | {' | '.join(cells)} |\n"
    caught = sum(case.bad and case.broke for case in held) / max(bad, 1)
    wrong = sum(not case.bad and case.broke for case in held) / max(len(held) - bad, 1)
    runs = f"{len(held):,}, {bad:,}"
    return out + f"| {name} | {runs} | contracts alone | | {caught:.1%} | | {wrong:.1%} | | |\n"


def table(folder: Path, contracts: str, files: Sequence[str], about: Any) -> str:
    """Return the table of one corpus: by group, and by part within the groups."""
    file = load(ROOT / contracts)

    def learner() -> Learner:
        return Learner(file.contracts, bad="verdict=true", tools=file.inventory)

    every = list(cases(folder, files, learner(), about))
    learned = [case for case in every if half(case.group)]
    held = [case for case in every if not half(case.group)]
    out = HEAD + compared("all", learner(), learned, held)
    parts = sorted({case.part for case in every})
    for part in parts if len(parts) > 1 else ():
        mine = [[case for case in side if case.part == part] for side in (learned, held)]
        out += compared(part, learner(), *mine)
    if len(parts) > 1:
        for part in parts:
            rest = [case for case in every if case.part != part]
            out += compared(
                f"{part}, never seen", learner(), rest, [c for c in every if c.part == part]
            )
    return out


def cost(folder: Path) -> str:
    """Return the seconds that learning takes."""
    file = load(ROOT / "examples/agentdojo.yaml")
    learner, started, traces = Learner(file.contracts, tools=file.inventory), time.perf_counter(), 0
    for name in RUNS:
        for value in lines(folder, name):
            learner.add(trace_of(value, value["id"]))
            traces += 1
    seconds = time.perf_counter() - started
    return f"| learning {traces:,} traces, `examples/agentdojo.yaml` | {seconds:.1f} s |\n"


def main() -> int:
    """Run the campaign."""
    parser = argparse.ArgumentParser(prog="python -m campaigns.risk", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("folder", type=Path, help="the corpora: files *.jsonl.gz")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/risk.md")
    options = parser.parse_args()
    from campaigns.risk_cost import looked_up, solved

    made = {
        "agentdojo": table(options.folder, "examples/agentdojo.yaml", RUNS, dojo),
        "airline": table(options.folder, "examples/tau_airline.yaml", AIRLINE, airline),
        "cost": "| what | measured |\n|---|---|\n" + cost(options.folder) + solved() + looked_up(),
    }
    for name, text in made.items():
        sys.stdout.write(f"\n{name}\n\n{text}")
    if options.write:
        PAGE.write_text(filled(PAGE.read_text("utf-8"), made), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
