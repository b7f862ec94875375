"""Decides one batch of calls, in order, before any of them runs.

In: what the model asks for. Out: a `Ruling` for each call: what runs under its id, or what the
model is told. Where people have to be asked the graph is interrupted, and nothing of the batch
has run yet. When it is resumed, the node runs again from its start: the same questions get the
same answers, and log and notices are told once (`Tape`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

from langgraph.errors import GraphInterrupt
from langgraph.func import task
from langgraph.types import interrupt

from sponsio_like.adapters.langgraph.asked_calls import Asking, Tools, alike
from sponsio_like.adapters.langgraph.channel import CHANNEL
from sponsio_like.adapters.langgraph.leases import together
from sponsio_like.adapters.langgraph.live import Live, Out
from sponsio_like.adapters.langgraph.people import AskedCall, answer, heard, question, unknown
from sponsio_like.adapters.langgraph.proxy import marks_of
from sponsio_like.engine import renamed
from sponsio_like.guard import Flow, Run
from sponsio_like.outcome import Allowed, Blocked, Held, Outcome, Redirect, Redirected
from sponsio_like.session import Session, decide_fitted, fresh_id
from sponsio_like.worlds import World


class Said(NamedTuple):
    """One record or notice.

    `asks`: the ticket that is opened; `answers`: the one that is answered.
    """

    tell: Callable[[], Any]
    asks: str = ""
    answers: str = ""


class Tape:
    """A stand-in for a session's log and its teller: it keeps what they would tell."""

    def __init__(self, session: Session) -> None:
        self._log, self._teller = session._log, session._teller  # noqa: SLF001  it stands between
        self.said: list[Said] = []

    def record(self, record: dict[str, Any]) -> None:
        """Keep a record of the log."""
        ticket = record.get("ticket", "")
        asks, answers = (ticket, "") if record["event"] == "decision" else ("", ticket)
        self.said.append(Said(partial(self._log._send, record), asks, answers))  # noqa: SLF001

    def after_decision(self, call: str, outcome: Any, late: Any, found: Any) -> None:
        """Keep what `Teller.after_decision` would tell."""
        self.reported("", late)
        self.decided(call, found, outcome)

    def decided(self, call: str, found: Any, outcome: Any) -> None:
        """Keep what `Teller.decided` would tell."""
        ticket = outcome.ticket.id if isinstance(outcome, Held) else ""
        self.said.append(Said(partial(self._teller.decided, call, found, outcome), ticket))

    def reported(self, call: str, violations: Any) -> None:
        """Keep what `Teller.reported` would tell."""
        self.said.append(Said(partial(self._teller.reported, call, violations)))


@contextmanager
def taped(session: Session, *, alone: bool) -> Iterator[list[Said]]:
    """Keep the session silent within the block; yield what it would have said.

    One that others use meanwhile, not `alone`, tells as it goes.
    """
    if not alone:
        yield []
        return
    log, teller, tape = session._log, session._teller, Tape(session)  # noqa: SLF001
    session._log = replace(log, sink=tape.record) if log.sink else log  # noqa: SLF001
    session._teller = tape  # type: ignore[assignment]  # noqa: SLF001
    try:
        yield tape.said
    finally:
        session._log, session._teller = log, teller  # noqa: SLF001


DROPPED = "it did not run: the run was stopped"
"""The error of a call that was let through beside one that ended the run."""


@dataclass(frozen=True, slots=True)
class Ruling:
    """The decision on one call: `tool` runs on `raw` under its id, or the model is `told` why not.

    `outcome` is None for a call that was not decided, because it has a problem.
    """

    asking: Asking
    outcome: Outcome | None = None
    tool: str = ""
    raw: Mapping[str, Any] = field(default_factory=dict)
    why: str = ""
    """The reason why it does not run, where no contract says so."""
    answers: tuple[Any, ...] = ()
    """The answers of people about it."""
    edited: Asking | None = None
    """The call that a person has made of it; None if nobody has."""

    @property
    def told(self) -> str:
        """The text for the model on a call that does not run: advice is worked out when read."""
        return self.why or (self.outcome.advice if isinstance(self.outcome, Blocked) else "")

    @property
    def settles(self) -> bool:
        """True if the session waits for the result: the call was let through."""
        return isinstance(self.outcome, (Allowed, Redirected))

    @property
    def id(self) -> str:
        """The id that it was decided under: in a graph inside, those of the calls around, too."""
        return self.asking.own if self.outcome is None else self.outcome.id

    @property
    def against(self) -> list[str]:
        """The contracts that stand against it, by name."""
        found = self.outcome.violations if isinstance(self.outcome, Blocked) else ()
        return list(dict.fromkeys(each.contract for each in found))

    @property
    def decided(self) -> tuple[str, Mapping[str, Any]]:
        """The tool and the arguments that were let through."""
        if isinstance(self.outcome, Redirected):
            return self.outcome.tool, self.outcome.args
        return self.asking.tool, (self.edited or self.asking).args

    def kept(self) -> dict[str, Any]:
        """Return what is needed to run it later, and to know it again; or to refuse it."""
        if not self.tool:
            return {"told": self.told, "contracts": self.against}
        mark, asked, args = self.asking.mark, self.asking.tool, self.decided[1]
        return {
            "id": self.id,
            "mark": mark,
            "asked": asked,
            "tool": self.tool,
            "raw": dict(self.raw),
            **({} if alike(args, self.raw) else {"read": marks_of(args)}),
            **({"blind": True} if self.asking.blind else {}),
            **({"edited": True} if self.edited else {}),
        }


class Batch(NamedTuple):
    """A decided batch: its session, its rulings, and the records and notices to be told of it."""

    session: Session
    rulings: list[Ruling]
    said: list[Said]
    problems: list[str]
    edits: frozenset[str] = frozenset()
    """The tickets of calls that people have edited just now."""
    question: str = ""
    """The name of what people were asked last, if they were."""

    @property
    def over(self) -> Blocked | None:
        """The refusal that ends the run, if one does."""
        each = (one.outcome for one in self.rulings)
        return next((one for one in each if isinstance(one, Blocked) and one.ends_run), None)

    def dropped(self, step: str) -> list[tuple[str, str, dict[str, str]]]:
        """Return the results of calls that were let through, but do not run: the run is over.

        Each with its key, and the id of its call.
        """
        ids = [each.id for each in self.rulings if each.settles]
        return [(f"dropped {step} {id}", id, {"error": DROPPED}) for id in ids]

    @property
    def held(self) -> list[tuple[Asking, Held]]:
        """The calls that wait for people."""
        pairs = ((each.edited or each.asking, each.outcome) for each in self.rulings)
        return [(asking, outcome) for asking, outcome in pairs if isinstance(outcome, Held)]

    @property
    def passed(self) -> dict[str, dict[str, Any]]:
        """Arguments that tools of held calls will be called with, where they are not as written.

        The calls are decided again when people have answered, on these same arguments.
        """
        waits = (each.asking for each in self.rulings if isinstance(each.outcome, Held))
        made = (each for each in waits if each.passed and each.passed != each.raw)
        return {each.written: dict(each.passed) for each in made}


@dataclass(frozen=True, slots=True)
class BatchGate:
    """Decides batches for the tools of a node, as an agent at a depth.

    `open` gives the session as it was before the batch, `begin` tells it what has happened since.
    `waits`: people can be asked. `own`: the id of a call here, from that in its message. `live`:
    what this process knows of answers; `about`: what is decided here, also in a replay.
    """

    open: Callable[[], Out]
    begin: Callable[[Session], None]
    tools: Tools
    by: tuple[str, int]
    clock: Callable[[], float]
    live: Live
    about: str
    waits: bool = True
    own: Callable[[str], str] = str
    world: World | None = None

    def decide(self, calls: Sequence[Asking], *, later: bool) -> Flow:
        """Decide the calls; return the `Batch` once nobody has to be asked any more."""
        asked, name = list[AskedCall](), ""
        while True:
            batch = self._decided(calls, asked)
            if not batch.held or not self.waits:
                break
            now, new = yield from once(partial(_asking, batch, self.clock), later=later)
            at, tickets, passed, name = now
            if new:
                _tell(batch, asked, tickets.keys())
            elif _too_late(batch, at):
                asked.append(AskedCall(at, tickets, {}, passed))
                continue
            said, name = yield from self._said(batch, f"{self.about} {len(asked)}", name, new=new)
            asked.append(AskedCall(at, tickets, said, passed))
        _tell(batch, asked, {""})
        rulings = list(map(_unheard, batch.rulings))
        return batch._replace(rulings=rulings, question=name if asked else "")

    def _said(self, batch: Batch, place: str, name: str, *, new: bool) -> Flow:
        """Ask people about held calls; return their answer, and the name of the question.

        An answer that is given to an earlier checkpoint finds no name there: LangGraph runs the
        step from its start, with the answer. The question is the one that was asked last about this
        batch: there, or in a replay that goes on from there.
        """
        shown = {"held": [question(*each) for each in batch.held]}
        try:
            said = yield Run(interrupt, ({**shown, "problems": batch.problems},))
        except GraphInterrupt:
            self.live.asks(place, name)
            raise
        if new:
            return said, self.live.question(place, name)
        self.live.asks(place, name)
        return said, name

    def attempt(self, calls: Sequence[Asking], asked: Sequence[AskedCall]) -> Batch:
        """Decide the batch, with what people have said so far; those that are held still wait.

        Logs and notices are told of what is new: tickets that are opened, and the rest at the end.
        """
        batch = self._decided(calls, asked)
        if batch.held and self.waits:
            _tell(batch, asked, {held.ticket.id for _, held in batch.held})
            return batch
        _tell(batch, asked, {""})
        return batch._replace(rulings=list(map(_unheard, batch.rulings)))

    def _decided(self, calls: Sequence[Asking], asked: Sequence[AskedCall]) -> Batch:
        """Decide in order; what people have said counts where their call stands."""
        out = self.open()
        with out.lock:
            return self._decided_on(out.session, calls, asked, alone=not out.shared)

    def _decided_on(
        self, session: Session, calls: Sequence[Asking], asked: Sequence[AskedCall], *, alone: bool
    ) -> Batch:
        problems = unknown(asked[-1].said, asked[-1].tickets) if asked else []
        rulings, edits = list[Ruling](), set[str]()
        with together(self.world) as keep, taped(session, alone=alone) as said:
            self.begin(session)
            for call in calls:
                ruling = self.ruling(session, self._as_asked(call, asked))
                if isinstance(ruling.outcome, Held) and asked:
                    ruling, wrong = self._heard(session, ruling, asked, edits)
                    problems.extend(wrong)
                rulings.append(ruling)
            batch = Batch(session, rulings, said, problems, frozenset(edits))
            if not (batch.held and self.waits):
                keep()
        return batch

    def _as_asked(self, call: Asking, asked: Sequence[AskedCall]) -> Asking:
        """Return the call as people were asked about it: what its tool makes up is made up once."""
        for each in asked:
            if (passed := each.passed.get(call.written)) is not None:
                args = self.tools.received(call.tool, passed)
                return call if isinstance(args, str) else replace(call, passed=passed, args=args)
        return call

    def _heard(
        self, session: Session, ruling: Ruling, asked: Sequence[AskedCall], edits: set[str]
    ) -> tuple[Ruling, list[str]]:
        """Decide a held call on what people have said; return the ruling, and what is wrong.

        A call that a person has edited is decided anew; the answer is good for it, unless more
        contracts ask. `edits`: the tickets of calls that the latest answer has made.
        """
        call, held = ruling.edited or ruling.asking, ruling.outcome
        assert isinstance(held, Held)
        found = heard(session, self.tools, call, held, asked)
        said, made, again = found.said, found.call, self.ruling(session, found.call or call)
        if made is None:
            said = (*ruling.answers, *said)
            return replace(
                again, asking=ruling.asking, edited=ruling.edited, answers=said
            ), found.wrong
        answers: tuple[Any, ...] = ()
        if isinstance(again.outcome, Held):
            ticket = again.outcome.ticket
            edits.update([ticket.id] if found.now else [])
            if set(ticket.contracts) <= set(held.ticket.contracts):
                answers = said[-1:]
                answer(session, ticket.id, answers[0])
                again = self.ruling(session, made)
        again = replace(again, asking=ruling.asking, edited=made, answers=answers)
        if isinstance(again.outcome, Held):
            return self._heard(session, again, asked, edits)
        return again, []

    def ruling(self, session: Session, asking: Asking) -> Ruling:
        """Decide one call."""
        if asking.problem:
            if session.policy.enforces:
                return Ruling(asking, why=asking.problem)
            return Ruling(asking, tool=asking.tool, raw=asking.raw)
        id, instead = self.own(asking.own), list[Mapping[str, Any]]()

        def fit(redirect: Redirect) -> Mapping[str, Any] | str:
            instead[:] = [self.tools.passed(redirect.tool, renamed(asking.raw, redirect))]
            return self.tools.received(redirect.tool, instead[0])

        outcome = decide_fitted(session, asking.tool, asking.args, id, self.by, fit)
        match outcome:
            case Allowed():
                return Ruling(asking, outcome, asking.tool, asking.passed)
            case Redirected(tool=tool):
                return Ruling(asking, outcome, tool, instead[0])
            case Held() | Blocked():
                return Ruling(asking, outcome)


def advised(rulings: Sequence[Ruling], *, later: bool) -> Flow:
    """Work out what the model is told of calls that are refused; `later`: in a thread."""
    refused = [each for each in rulings if isinstance(each.outcome, Blocked)]

    def work() -> list[str]:
        return [each.told for each in refused]

    if refused:
        yield Run(asyncio.to_thread, (work,)) if later else Run(work)


def _asking(batch: Batch, clock: Callable[[], float]) -> tuple[Any, ...]:
    """Return the time, the tickets with their contracts, what is `passed`, and a new name."""
    tickets = {held.ticket.id: list(held.ticket.contracts) for _, held in batch.held}
    return clock(), tickets, batch.passed, fresh_id()


def _too_late(batch: Batch, at: float) -> bool:
    """True if the time to answer one of these, asked then, is over."""
    return any(batch.session.asked(held.ticket.id, at).status != "open" for _, held in batch.held)


def _tell(batch: Batch, asked: Sequence[AskedCall], about: Collection[str]) -> None:
    """Tell of tickets `about`, opened just now, and of answers just given; of the rest, if `""`."""
    before = {id for each in asked for id in each.tickets}
    latest = asked[-1].said if asked and isinstance(asked[-1].said, Mapping) else {}
    for each in batch.said:
        due = each.answers in latest if each.answers else each.asks in about
        if (due or {each.answers, each.asks} & batch.edits) and each.asks not in before:
            each.tell()


def _unheard(ruling: Ruling) -> Ruling:
    """Return the ruling; a held one with what the model is told: nobody can be asked."""
    if not isinstance(ruling.outcome, Held):
        return ruling
    roles = " or ".join(f"`{each}`" for each in ruling.outcome.ticket.roles) or "a person"
    why = f"`{ruling.asking.tool}` waits for {roles}, but nobody can be asked: the graph has no"
    return replace(ruling, why=f"{why} checkpointer, so it could not be resumed")


# --- what is done once ----------------------------------------------------------------------------


def once(make: Callable[[], Any], *, later: bool) -> Flow:
    """Return what `make` gives, once, however often the node runs; and True if that was now.

    It is a task of LangGraph. Streams of updates show one as they show a node: what it gives stands
    under the channel, so that nobody takes it for an update of the state.
    """
    fresh: list[bool] = []

    def made() -> Any:
        fresh.append(True)
        return {CHANNEL: make()}

    named: Any = task(name="contracts")
    waiting = named(made)()
    came = yield Run((lambda: waiting) if later else waiting.result)
    return came[CHANNEL], bool(fresh)
