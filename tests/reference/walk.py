"""The engine, walked along the traces of a table: where does it say something else than the oracle?

In: a `Table`. Out: disagreements, in the order of the table, so the shortest trace comes first.
The walk goes through sessions, as a user would; it only looks inside to fork a session (so that a
beginning of many traces is walked once) and to ask a monitor for its verdict.
"""

from __future__ import annotations

import copy
import functools
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sponsio_like.contracts.declaration import Rule
from sponsio_like.contracts.definition import Contract, Scope
from sponsio_like.errors import ContractError
from sponsio_like.guard.guard import Guard
from sponsio_like.logic import formula as f
from sponsio_like.outcome import Allowed, Mode, Outcome
from sponsio_like.session.session import Session
from tests.reference import oracle
from tests.reference.tables import Case, Node, Table

UNARY: dict[str, Callable[..., f.Formula]] = {
    "not": f.Not,
    "X": f.Next,
    "WX": f.WeakNext,
    "F": f.Eventually,
    "G": f.Always,
    "Y": f.Yesterday,
    "WY": f.WeakYesterday,
    "O": f.Once,
    "H": f.Historically,
}
BINARY: dict[str, Callable[..., f.Formula]] = {
    "and": lambda *parts: f.And(parts),
    "or": lambda *parts: f.Or(parts),
    "implies": f.Implies,
    "iff": f.Iff,
    "U": f.Until,
    "W": f.WeakUntil,
    "R": f.Release,
    "S": f.Since,
}


def built(g: oracle.Formula) -> f.Formula:
    """The formula of the engine that is written so."""
    match g:
        case ("true" | "false" as name,):
            return f.Constant(name == "true")
        case ("called" | "done" | "failed" as what, tool):
            return f.Happens(what, (f.Match(() if tool == "*" else (tool,)),))
        case ("message", role):
            return f.MessageBy(role)
        case ("step", name):
            return f.Observed(name)
        case ("compare", left, op, right):
            return f.Compare(term(left), op, term(right))
        case ("F" | "G" | "O" | "H" as name, body, limit):
            return UNARY[name](built(body), bound(limit))
    parts = [built(part) for part in g[1:]]
    return UNARY[g[0]](*parts) if g[0] in UNARY else BINARY[g[0]](*parts)


def bound(limit: oracle.Formula | None) -> f.Bound:
    """A bound in steps or seconds."""
    if limit is None:
        return None
    return f.Steps(limit[1]) if limit[0] == "steps" else f.Seconds(limit[1])


def term(g: oracle.Formula) -> f.Term:
    """A term: a number, a count, a distance, a value."""
    match g:
        case ("number", number):
            return f.Const(number)
        case ("count", body, reset, limit):
            return f.Count(built(body), built(reset) if reset else None, bound(limit))
        case ("since", body):
            return f.StepsSince(built(body))
        case ("age", body):
            return f.Age(built(body))
        case ("last", value, body):
            return f.Last(term(value), built(body))
        case ("delivered", ("called", tool)):
            return f.Delivered((f.Match((tool,)),))
        case ("mark" | "arg" as name, path):
            return f.Mark(path) if name == "mark" else f.Arg(path)
    raise ValueError(f"no such term: {g}")


# --- a session that can be forked -----------------------------------------------------------------


class Clock:
    """A clock that is set by hand."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


CLOCK = Clock()
LOGGED: list[dict[str, Any]] = []
"""What the session under test has logged last."""


def guard(*contracts: Contract, mode: Mode = "observe") -> Guard:
    """A guard whose log can be looked at."""
    return Guard(contracts, mode=mode, log=LOGGED.append)


def opened(g: Guard) -> Session:
    """A new session, at time zero."""
    CLOCK.now = 0.0
    return g.session(clock=CLOCK)


def forked(session: Session) -> Session:
    """The same session once more: what happens to one does not happen to the other."""
    twin = object.__new__(type(session))  # a copy of a session is the session itself
    vars(twin).update(vars(session))
    inner = twin._inner = copy.copy(session._inner)
    inner.ledger = inner.ledger.copy()
    inner.flights = dict(inner.flights)
    return twin


@functools.lru_cache(maxsize=2)
def another(contracts: tuple[Contract, ...]) -> Guard:
    """Another guard of these contracts, as another process has it."""
    return guard(*contracts)


def restored(session: Session) -> Session:
    """The same session once more, out of its snapshot as text, under another guard."""
    data = json.loads(json.dumps(session.snapshot()))
    return another(tuple(session.policy.contracts)).restore(data, clock=CLOCK)


@dataclass(frozen=True)
class Said:
    """What a session says at one event.

    Violations of the event, and of the time gone by before it.
    """

    now: tuple[int, ...]
    late: tuple[int, ...] = ()
    outcome: Outcome | None = None


def happen(session: Session, event: oracle.Event, number: int) -> Said:
    """Let an event happen. A call is named after its number in the trace."""
    LOGGED.clear()
    if event.time is not None:
        CLOCK.now = event.time
    match event.kind:
        case "call":
            args = dict(event.args)
            outcome: Outcome | None = session.decide(event.name, args, id=str(number))
        case "message":
            outcome = session.message(event.name)
        case "step":
            return Said(tuple(each.position for each in session.step(event.true)))
        case _:
            error = "failed" if event.name == "failed" else None
            session.settle(str(event.of), output="ok", error=error)
            outcome = None
    records = [each for record in LOGGED for each in record.get("violations", ())]
    late = tuple(each["position"] for each in records if each["tool"] is None)
    now = tuple(each["position"] for each in records if each["tool"] is not None)
    if event.kind == "message" and outcome is not None:
        found = outcome.observed if isinstance(outcome, Allowed) else outcome.violations
        now, late = tuple(each.position for each in found), ()
    return Said(now, late, outcome)


# --- walking --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Disagreement:
    """On this formula and trace, about this, the engine says one thing and the oracle another."""

    case: Case
    trace: tuple[str, ...]
    about: str
    engine: Any
    oracle: Any

    def __str__(self) -> str:
        where = " ".join(self.trace) or "(no event)"
        made = contract(self.case)
        text = [repr(made.rules[0].formula)]
        text += [f"assume {made.assumption!r}"] if made.assumption is not None else []
        text += [f"{self.case.scope}"] if self.case.scope is not None else []
        return (
            f"{' '.join(text)} | {where} | {self.about}: engine {self.engine}, oracle {self.oracle}"
        )


def contract(case: Case, name: str = "c") -> Contract:
    """The contract of a case."""
    assume = None if case.assume is None else built(case.assume)
    segment = None
    if case.scope is not None:
        kind, *ends = case.scope
        formulas = [built(end) for end in ends]
        start, stop = (None, *formulas) if kind == "before" else (*formulas, None)[:2]
        segment = Scope(kind, start, stop)  # type: ignore[arg-type]
    return Contract(name, (Rule(built(case.formula)),), assume, segment)


def compiled(case: Case, mode: Mode = "observe") -> Guard | str:
    """A guard of one contract; or the verdict that it is refused for."""
    try:
        return guard(contract(case), mode=mode)
    except ContractError as error:
        text = str(error)
        if "can never be kept" in text:
            return "violated"
        if "can never be violated" in text:
            return "satisfied"
        raise


def walk(table: Table, twin: Callable[[Session], Session] = forked) -> Iterator[Disagreement]:
    """Every disagreement on a table, in observe mode: what is violated is let through."""
    made = compiled(table.case)
    first = made if isinstance(made, str) else "inconclusive"
    if first != table.first:
        yield Disagreement(table.case, (), "contract is refused as", first, table.first)
    if isinstance(made, str):
        return
    sessions: list[Session] = []
    traces: list[tuple[oracle.Event, ...]] = []
    start = opened(made)
    for node in table.nodes:
        session = twin(sessions[node.parent] if node.parent >= 0 else start)
        before = traces[node.parent] if node.parent >= 0 else ()
        sessions.append(session)
        traces.append((*before, *node.events))
        for about, engine, said in compared(session, node, before):
            yield Disagreement(table.case, shown(traces[-1]), about, engine, said)


def compared(
    session: Session, node: Node, before: Sequence[oracle.Event]
) -> Iterator[tuple[str, Any, Any]]:
    """What engine and oracle say of the events of one node, where it differs."""
    trace = list(before)
    for k, event in enumerate(node.events):
        said = happen(session, event, len(trace))
        trace.append(event)
        n = len(trace) - 1
        now = (called_before(trace, n),) if n in node.violations else ()
        if said.now != now:
            yield f"violations at event {n}", said.now, now
        if len(said.late) != (n in node.expired):
            yield f"late violations at event {n}", len(said.late), int(n in node.expired)
        verdict = session.verdicts()["c"]
        if node.verdicts and verdict != node.verdicts[k]:
            yield f"verdict after event {n}", verdict, node.verdicts[k]
    unfulfilled = bool(session.pending())
    if unfulfilled != node.unfulfilled:
        yield "unfulfilled", unfulfilled, node.unfulfilled


def called_before(trace: Sequence[oracle.Event], moment: int) -> int:
    """The position of a violation, as users count it: in calls."""
    made = trace[moment].of if trace[moment].kind == "settle" else moment
    return sum(event.kind == "call" for event in trace[:made])


def walk_enforced(table: Table) -> Iterator[Disagreement]:
    """Every disagreement about what is blocked; a blocked call leaves the session as it was."""
    made = compiled(table.case, "enforce")
    if isinstance(made, str):
        return
    sessions: list[Session | None] = []
    traces: list[tuple[oracle.Event, ...]] = []
    start = opened(made)
    for node in table.nodes:
        origin = sessions[node.parent] if node.parent >= 0 else start
        before = traces[node.parent] if node.parent >= 0 else ()
        traces.append((*before, *node.events))
        sessions.append(None if origin is None else forked(origin))
        session = sessions[-1]
        if session is None:
            continue
        stopped = node.events[0].kind == "call" and len(before) in node.violations
        said = happen(session, node.events[0], len(before))
        blocked = said.outcome is not None and not isinstance(said.outcome, Allowed)
        if blocked != stopped:
            yield Disagreement(table.case, shown(traces[-1]), "blocked", blocked, stopped)
        if blocked and not said.late and state(session) != state(origin):
            yield Disagreement(table.case, shown(traces[-1]), "state", "changed", "as before")
        for k, event in enumerate(node.events[1:], 1):
            happen(session, event, len(before) + k)
        if stopped or node.violations or node.expired:
            sessions[-1] = None


def state(session: Session | None) -> Any:
    """All that a session remembers of its trace."""
    assert session is not None
    with session._inner.lock:
        session._inner.flush_fast()  # the last call may have taken the fast path
        ledger = session._inner.ledger
    return ledger.states, ledger.keyed, ledger.positions, ledger.wakes, ledger.alarms


def shown(trace: Sequence[oracle.Event]) -> tuple[str, ...]:
    """A trace as a person would write it down."""
    names = {"done": "ok", "failed": "error"}
    out = []
    for event in trace:
        at = "" if event.time is None else f"@{event.time:g}"
        if event.kind == "settle":
            out.append(f"{event.of}:{names[event.name]}{at}")
        else:
            out.append(f"{event.name or event.kind}{at}")
    return tuple(out)
