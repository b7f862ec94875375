"""The engine and the oracle on the same guarantee and the same session: do they say the same?

In: a formula, and the events of a trace. Out: what each of them says at every event.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf
from typing import Any, NamedTuple

import sponsio_like.logic.formula as f
from sponsio_like.contracts.declaration import Rule
from sponsio_like.contracts.definition import Contract
from sponsio_like.errors import ContractError
from sponsio_like.guard.guard import Guard
from sponsio_like.session.session import Session
from tests.fuzz.fuzz_heard import heard, spoken
from tests.fuzz.fuzz_traces import Event
from tests.reference import bridge, oracle
from tests.reference.oracle_exact import Ending, Machine, Row, State, answered
from tests.reference.oracle_runs import Run, as_read, run
from tests.reference.oracle_search import Answers, Question, search, shapes
from tests.reference.walk import forked

WRITTEN = 60
"""Most continuations that are written out."""


class Said(NamedTuple):
    """What is said of a session: before the first event, at every event, and at the end.

    Not at facts and refusals.

    `reports`: of each event, where violations were, those of time gone by first. Places are counted
    in calls, as users do.
    """

    reports: tuple[tuple[int, ...], ...]
    verdicts: tuple[str, ...]
    unfulfilled: bool


# --- the engine -----------------------------------------------------------------------------------


class Point(NamedTuple):
    """A session after an event, never to be played itself: what was reported, and the verdict."""

    session: Session
    reports: tuple[int, ...]
    verdict: str


class Watched:
    """A guarantee as the engine has compiled it; `refused`: the verdict that it is refused for."""

    def __init__(self, formula: f.Formula) -> None:
        self.records: list[dict[str, Any]] = []
        self.events: list[Event] = []
        self.points: list[Point] = []
        self.now = 0.0
        self.refused = ""
        try:
            contract = Contract("c", (Rule(formula),))
            self.guard = Guard([contract], mode="observe", log=self.records.append)
        except ContractError as error:
            text = str(error)
            reasons = {"can never be kept": "violated", "can never be violated": "satisfied"}
            found = [verdict for reason, verdict in reasons.items() if reason in text]
            if not found:
                raise
            self.refused = found[0]

    @property
    def limited(self) -> bool:
        """Whether some search for a continuation has reached its limits."""
        clauses = () if self.refused else self.guard.policy.clauses
        return any(clause.monitor.search.limited for clause in clauses)

    def say(self, events: Sequence[Event]) -> Said:
        """Play the events; not again those with which the last trace has begun as well."""
        if not self.points:
            session = self.guard.session(clock=lambda: self.now)
            self.points.append(Point(session, (), session.verdicts()["c"]))
        pairs = zip(self.events, events, strict=False)
        same = next((k for k, (old, new) in enumerate(pairs) if old != new), len(self.points) - 1)
        self.events = list(events)
        del self.points[min(same, len(events)) + 1 :]
        for event in events[len(self.points) - 1 :]:
            self.points.append(self.after(self.points[-1], event))
        told = [self.points[0]]
        after = zip(self.points[1:], events, strict=True)
        told += [point for point, e in after if e["type"] not in ("fact", "refused")]
        self.now = events[-1]["time"] if events else 0.0
        unfulfilled = self.owes(self.points[-1].session)
        verdicts = tuple(point.verdict for point in told)
        return Said(tuple(point.reports for point in told[1:]), verdicts, unfulfilled)

    def owes(self, session: Session) -> bool:
        """Whether something is owed at the end, be its time over or not.

        The oracle does not hear of time that goes by with a fact.
        """
        self.records.clear()
        left = forked(session).finish()
        return bool(left) or any(record.get("violations") for record in self.records)

    def after(self, point: Point, event: Event) -> Point:
        """What comes of one more event."""
        session = forked(point.session)
        self.records.clear()
        self.now = event["time"]
        self.happen(session, event)
        found = [each for record in self.records for each in record.get("violations", ())]
        reports = tuple(each["position"] for each in found)
        return Point(session, reports, session.verdicts()["c"])

    @staticmethod
    def happen(session: Session, event: Event) -> None:
        """Tell the session of one event."""
        match event["type"]:
            case "call":
                who = {key: event[key] for key in ("agent", "depth") if key in event}
                session.decide(event["tool"], event["args"], id=event["id"], **who)
            case "refused":
                who = {key: event[key] for key in ("agent",) if key in event}
                session.refused(event["tool"], event["args"], **who)
            case "result" if event["status"] == "ok":
                session.settle(event["id"], output=event["output"])
            case "result":
                session.settle(event["id"], error=event["output"])
            case "message":
                session.message(event["role"], event["text"], usage=event.get("usage"))
            case "step":
                session.step(event["atoms"])
            case "fact":
                session.fact(event["key"], event["value"])


# --- the oracle -----------------------------------------------------------------------------------


def said(found: Run, told: Sequence[oracle.Event]) -> Said:
    """What the oracle says of the events."""
    reports: list[tuple[int, ...]] = [()] * len(told)
    for report in found.reports:
        made = told[report.moment]
        settles = made.kind == "settle" and not report.expired
        place = calls_before(told, made.of if settles else report.moment)
        reports[report.moment] += (place,)
    seen = [moment for moment, event in enumerate(told) if event.kind != "refused"]
    verdicts = (found.verdicts[0], *(found.verdicts[moment + 1] for moment in seen))
    shown = tuple(reports[moment] for moment in seen)
    return Said(shown, verdicts, bool(found.unfulfilled))


def calls_before(told: Sequence[oracle.Event], moment: int) -> int:
    """How many calls there have been before an event."""
    return sum(event.kind == "call" for event in told[:moment])


# --- agreeing -------------------------------------------------------------------------------------


FUTURE = (f.Next, f.WeakNext, f.Eventually, f.Always, f.Until, f.WeakUntil, f.Release)


class TooMuch(Exception):
    """The oracle would need too long for this formula."""


class Counted(Machine):
    """The oracle, taking so much trouble and no more."""

    left = inf

    def steps(self, state: State) -> Iterator[tuple[State, frozenset[oracle.Formula], float]]:
        """Every next state."""
        for each in super().steps(state):
            self.spend(10)
            yield each

    def before(self, true: frozenset[oracle.Formula], ending: Ending) -> Row:
        """The row before another."""
        self.spend(1)
        return super().before(true, ending)

    def start(self, trace: oracle.Trace, now: float) -> Iterator[tuple[oracle.Trace, State]]:
        """Each way in which the calls in flight can settle."""
        for each in super().start(trace, now):
            self.spend(60)
            yield each

    def spend(self, trouble: int) -> None:
        """Some trouble, in about the time that a row takes."""
        self.left -= trouble
        if self.left < 0:
            raise TooMuch


class Judged:
    """A guarantee, held by both; the oracle may take so much trouble with it in all.

    Raises `TooMuch` in any method, once that is spent.
    """

    def __init__(self, formula: f.Formula, trouble: float) -> None:
        self.formula = formula
        self.translated = bridge.translate(formula)
        self.read = as_read(self.translated)
        self.spoken = spoken(self.read)
        self.watched = Watched(formula)
        self.machine = Counted(self.read, None, 0)
        self.machine.left = trouble
        self.may_be_late = clocks(formula) > 1
        self.known: dict[tuple[int, tuple[oracle.Event, ...]], Answers] = {}

    def start(self) -> tuple[str, str]:
        """The verdicts before any event: the engine's (the trivial it refuses), the oracle's."""
        return self.watched.refused or "inconclusive", self.run([]).verdicts[0]

    def run(self, told: Sequence[oracle.Event]) -> Run:
        """What the oracle says."""
        return run(self.translated, told, self.judge)

    def judge(
        self, read: oracle.Formula, questions: Sequence[Question], events: Sequence[oracle.Event]
    ) -> Answers:
        """What the oracle answers; remembered, since the questions follow from the events."""
        key = (len(questions), tuple(events))
        if key not in self.known:
            self.known[key] = answered(self.machine, read, questions, events)
        return self.known[key]

    def both(self, events: Sequence[Event]) -> tuple[Said, Said]:
        """What the engine says of a trace, and what the oracle says."""
        told = heard(self.spoken, events)
        return self.watched.say(events), said(self.run(told), told)

    def late(self, engine: Sequence[str], judge: Sequence[str]) -> bool:
        """Whether verdicts only differ in being late, as they may: never wrong.

        Beyond the limits of the search (S-VERDICT-10), and where several bounds in seconds would
        have to be taken together (S-VERDICT-09).
        """
        pairs = zip(engine, judge, strict=True)
        may = self.watched.limited or self.may_be_late
        return may and all(e in (j, "inconclusive") for e, j in pairs)

    def differ(self, events: Sequence[Event]) -> bool:
        """Whether they disagree: on the formula by itself, or on the trace."""
        engine, judge = self.start()
        if engine != judge or self.watched.refused:
            return engine != judge and not self.late([engine], [judge])
        watched, judged = self.both(events)
        return watched != judged and not self.late(watched.verdicts, judged.verdicts)

    @property
    def is_exact(self) -> bool:
        """Whether nothing in the formula is free, and no time counts."""
        free = {"prop", "prop?", "compare", "compare?", "seconds"}
        return not free & {g[0] for g in parts(self.read)}

    def written_out(self, events: Sequence[Event], verdict: str, length: int) -> str:
        """Do the continuations up to a length, written out, bear the verdict out?

        `witnessed`: they do; `open`: none keeps the formula, or none breaks it, but a longer one
        may; `wrong`: one does what the verdict says none does.
        """
        if len(list(shapes(self.read, None))) ** length > WRITTEN:
            return "too many"
        told = heard(self.spoken, events)
        found = {answer for (answer,) in search(self.read, [(self.read, 0)], told, length)}
        allowed = {"violated": {False}, "satisfied": {True}}.get(verdict, {True, False})
        return "wrong" if found - allowed else "witnessed" if found == allowed else "open"


def clocks(formula: f.Formula) -> int:
    """How many bounds in seconds a continuation has to heed, if any of them looks ahead.

    One that looks back from a later position counts for two: the clock, and that position.
    """
    nodes = list(f.postorder(formula))
    timed = [n for n in nodes if isinstance(getattr(n, "bound", None), f.Seconds)]
    inner = formula.body if isinstance(formula, f.Always) and formula.bound is None else formula
    later = [n for n in f.postorder(inner) if isinstance(n, FUTURE)]
    if any(each in timed for n in later for each in f.postorder(n) if not isinstance(each, FUTURE)):
        return 2
    if not any(isinstance(n, FUTURE) for n in timed):
        return 0
    return len(timed) * (2 if any(isinstance(n, f.Iff) for n in nodes) else 1)


def parts(f: Any) -> list[Any]:
    """A nested tuple and all tuples in it."""
    return [f, *(g for each in f if isinstance(each, tuple) for g in parts(each))]
