"""Measures what a look-up of risk adds to a decision, and how long large chains take."""

# ruff: noqa: S311 - random calls are no secrets

from __future__ import annotations

import random
import statistics
import time
from typing import Any

from sponsio_like.contracts.definition import contract
from sponsio_like.guard import Guard
from sponsio_like.risk.chain import MarkovChain
from sponsio_like.risk.learner import Learner
from sponsio_like.risk.model import RiskModel
from sponsio_like.risk.policy import RiskPolicy
from sponsio_like.risk.solve import reach
from sponsio_like.traces.trace import trace_of

TOOLS = ("look", "send", "note")
ROUNDS = 300
STATES = (1_000, 100_000, 1_000_000)


def contracts() -> list[Any]:
    """Ten contracts that watch the tools, of which none is violated."""
    few = [contract(f"few {t}").guarantees(f"tool `{t}` must precede `x{t}`") for t in TOOLS]
    more = [
        contract(f"rule {i}").guarantees(f"tool `look` must precede `pay{i}`") for i in range(7)
    ]
    return [*few, *more]


def padded(model: RiskModel, states: int) -> RiskModel:
    """The model with states that nobody visits, up to so many."""
    row = next(iter(model.states.values()))
    more = {("-", (f"a{i}", f"b{i}"), "look"): row for i in range(states - len(model.states))}
    levels = (*model.levels[:-1], {**model.states, **more})
    return RiskModel(model.header, model.data, levels, model.moves, model.monitors)


def looked_up() -> str:
    """Return the rows: what the look-up adds to `decide`, and to `decide` and `settle`."""
    rng, learner = random.Random(1), Learner(contracts())
    for i in range(500):
        events = [{"tool": rng.choice(TOOLS)} for _ in range(20)]
        learner.add(trace_of({"id": str(i), "events": events}, str(i)))
    out = ""
    for states in STATES:
        policy = RiskPolicy(padded(learner.model(), states), 0.5, least=1)
        guard = Guard(contracts())
        calls = [rng.choice(TOOLS) for _ in range(60)]
        decides: dict[bool, list[float]] = {True: [], False: []}
        both: dict[bool, list[float]] = {True: [], False: []}
        for k in range(ROUNDS):
            sessions = [(True, guard.session(risk=policy)), (False, guard.session())]
            for i, tool in enumerate(calls):
                for risky, session in sessions if (i + k) % 2 else reversed(sessions):
                    decided, done = _timed(session, tool, f"c{i}")
                    decides[risky].append(decided)
                    both[risky].append(done)
        base = statistics.median(decides[False])
        decide = statistics.median(decides[True]) - base
        whole = statistics.median(both[True]) - statistics.median(both[False])
        more = f"{decide:.2f} µs (decision and result together: {whole:.2f} µs)"
        out += (
            f"| a look-up among {states:,} states, beside {base:.2f} µs of a decision | {more} |\n"
        )
    return out


def _timed(session: Any, tool: str, id: str) -> tuple[float, float]:
    """The microseconds of a decision, and of a decision and its result."""
    clock = time.perf_counter
    started = clock()
    session.decide(tool, id=id)
    decided = clock()
    session.settle(id)
    return (decided - started) * 1e6, (clock() - started) * 1e6


def solved(states: int = 100_000) -> str:
    """Return the rows: the seconds that chains of so many states take, near and far successors."""
    out = ""
    for kind, reaches in (("near", 40), ("random", states)):
        rng, rows = random.Random(3), list[dict[int, float]]()
        for i in range(states - 2):
            to = {(i + rng.randint(1, reaches)) % (states - 2) for _ in range(5)}
            weights = [rng.random() for _ in to]
            scale = 0.95 / sum(weights)
            row = {j: w * scale for j, w in zip(to, weights, strict=True)}
            rows.append({**row, states - 1 - i % 2: 0.05})
        rows += [{states - 2: 1.0}, {states - 1: 1.0}]
        chain = MarkovChain(tuple(map(str, range(states))), tuple(rows), {})
        started = time.process_time()
        error = reach(chain, range(states), [states - 1]).error
        seconds = time.process_time() - started
        what = f"`F bad` of {states:,} states, {kind} successors (error at most {error:.0e})"
        out += f"| {what} | {seconds:.1f} s of CPU |\n"
    return out
