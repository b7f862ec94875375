"""Tries events on copies of a session's ledger, within a budget.

In: a state and a move. Out: the states that the move may lead to, none if it is not allowed; and
the clauses that still stop the refused event. Every judgement of a clause is counted, and none is
made beyond the budget. Atoms of users are asked here; one that raises answers as in a decision.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

from sponsio_like.advice.answers import Answering, Ending, approval
from sponsio_like.advice.goals import asked_once
from sponsio_like.advice.moves import (
    GetResult,
    MakeEvent,
    Move,
    PassTime,
    StateFact,
    answer_words,
    results,
)
from sponsio_like.engine import MOMENT, Clause, Ledger, expire, judge, settle_all, stoppable
from sponsio_like.events import OPEN, Call, Context, Event, Result
from sponsio_like.logic.formula import Const, Seconds
from sponsio_like.monitor import Change, Judgement, Now, Read, State, literals_of

MOMENTS_CAP = 16
"""The most times to wait for that are tried at once."""


class Scenario(NamedTuple):
    """A state that a session may come to; `way` is what has happened until then, in words."""

    ledger: Ledger
    context: Context
    time: float
    way: tuple[str, ...] = ()


_Judged: TypeAlias = tuple[Judgement, list[int]]
_Known: TypeAlias = tuple[Scenario, Event, _Judged, int]
"""A scene and an event that were judged, the answer, and its cost."""


class Trial:
    """A trial of events. `refusers` are the clauses that stopped some move.

    `exact` is True if every trial has told what would really happen; `left` is the budget.
    """

    def __init__(self, answering: Answering, budget: int) -> None:
        self.answering = answering
        self.policy = policy = answering.policy
        self.event = event = answering.event
        self.left = budget
        self.refusers: set[int] = set()
        self.exact = True
        self.raised = False
        known = (event, *answering.answers.known)
        self._keys = [set(map(clause.key, known)) if clause.by else () for clause in policy.clauses]
        self._reads: dict[tuple[int, int, int], tuple[Event, Context, Read | None]] = {}
        self._known: dict[tuple[Any, ...], _Known] = {}

    # --- judging --------------------------------------------------------------------------------

    def read(self, i: int, event: Event, context: Context) -> Read | None:
        """Return what clause `i` reads; None if an atom raises.

        Asked once for each event and context.
        """
        name = (i, id(event), id(context))
        if name not in self._reads:
            read = None
            try:
                clause = self.policy.clauses[i]
                read = Read(i, clause.read(event, context), clause.key(event) if clause.by else ())
            except Exception:  # an atom is user code; what cannot be read is refused
                self.raised = True
            self._reads[name] = (event, context, read)
        return self._reads[name][2]

    def judged(
        self, scene: Scenario, event: Event, only: set[int] | None = None, *, final: bool = False
    ) -> tuple[Judgement, list[int]]:
        """Return the judgement of `event`, and the clauses (all, or `only` these) that stop it.

        `final`: it is a substitute, about which nobody is asked. What was judged before is taken
        from memory, and counts as if it were judged again.
        """
        if only is not None:
            return self._judged(scene, event, only, final=final)
        name = (id(scene.ledger), id(scene.context), scene.time, id(event), final)
        if name not in self._known:
            before = self.left
            found = self._judged(scene, event, None, final=final)
            self._known[name] = (scene, event, found, before - self.left)
        else:
            self.left -= self._known[name][3]
        return self._known[name][2]

    def _judged(
        self, scene: Scenario, event: Event, only: set[int] | None, *, final: bool
    ) -> _Judged:
        reads, against = [], []
        touched = scene.ledger.touched(event)
        for i in touched if only is None else [i for i in touched if i in only]:
            read = self.read(i, event, scene.context)
            if read is None:
                against.append(i)
            elif not read.key or read.key in self._keys[i]:
                reads.append(read)
                lacks = read.key is None and self.policy.clauses[i].can_break(event)
                self.exact &= not lacks  # with a value of its own it might be legal
            else:  # another value's state is not known here, and does not matter to the event
                self.exact = False
                against += [i] if self.policy.clauses[i].can_break(event) else []
        self.left -= len(reads) + 1
        judgement = judge(scene.ledger, event, reads, scene.time)
        against += [i for i, _ in judgement.failed]
        enforced = [i for i in against if self.policy.modes[self.policy.owner[i]] == "enforce"]
        stops = self.answering.stops
        stopped = [*enforced, *(i for i in judgement.violated if stops(i, event, final=final))]
        self.exact &= not any(map(self.answering.unsure, stopped))
        return judgement, stopped if stoppable(event) else []

    def redirected(self, scene: Scenario) -> tuple[int, Call] | None:
        """Return the call that runs instead of the refused event, and the clause; else None."""
        redirects = self.answering.redirects
        if not any(map(redirects, scene.ledger.touched(self.event))):
            return None
        violated = self.judged(scene, self.event)[0].violated
        safe = self.answering.redirected(violated)
        return None if safe is None else (next(filter(redirects, violated)), safe)

    def ending(self, scene: Scenario) -> Ending:
        """Return who has to approve the refused event in this scene, and what runs instead."""
        if not self.answering.asks:
            return Ending()
        return self.answering.ending(self.judged(scene, self.event)[0].violated, self.event)

    # --- moving -----------------------------------------------------------------------------------

    def after(self, scene: Scenario, move: Move, clauses: set[int]) -> Iterator[Scenario]:
        """Yield the scenes that the move may lead to.

        `clauses` are those whose questions about answers count.
        """
        if self.left <= 0:
            return
        match move:
            case MakeEvent(words, event):
                yield from self._happened(scene, words, event, clauses)
            case GetResult(words, tool, waits):
                if not any(step.startswith(words) for step in scene.way):  # a call has one result
                    yield from self._settled(scene, scene.ledger, words, tool, waits, clauses)
            case StateFact(words, key, value):
                told = scene.context.told(key, value, scene.time)
                yield scene._replace(context=told, way=(*scene.way, words))
            case PassTime():
                yield from self._waited(scene, clauses)

    def _happened(
        self, scene: Scenario, words: str, event: Event, clauses: set[int]
    ) -> Iterator[Scenario]:
        judgement, stopped = self.judged(scene, event)
        self.refusers.update(stopped)
        if stopped:
            return
        who = approval(self.answering.ending(judgement.violated, event).people)
        words += f", which {who}" if who else ""
        keys = {key for each in scene.ledger.keyed.values() for key in each}
        ledger = scene.ledger.copy(keys | {change.key for change in judgement.changes})
        ledger.commit(judgement)
        waits = ledger.waiting(judgement)
        if isinstance(event, Call) and waits:
            yield from self._settled(scene, ledger, words, event.tool, waits, clauses)
        else:
            yield scene._replace(ledger=ledger, way=(*scene.way, words))

    def _settled(
        self,
        scene: Scenario,
        ledger: Ledger,
        words: str,
        tool: str,
        waits: tuple[Change, ...],
        clauses: set[int],
    ) -> Iterator[Scenario]:
        """Yield one scene for each result that the clauses tell from the others."""
        asked = [each for each in waits if each.clause in clauses]
        nodes = [self._slots(each)[i].node for each in asked for i in open_slots(each)]
        seen = []
        for result in results(dict.fromkeys(nodes)):
            finals = [self._final(change, result, tool) for change in waits]
            if finals in seen:
                continue
            seen.append(finals)
            twin = ledger.copy(key for each in ledger.keyed.values() for key in each)
            now = Now(scene.time, scene.context)
            pairs = list(zip(waits, finals, strict=True))
            self.left -= len(waits)
            if self._harmless(list(settle_all(twin, pairs, now))):
                said = self._said(waits, finals, clauses, result)
                yield scene._replace(ledger=twin, way=(*scene.way, f"{words} ({said})"))

    def _final(
        self,
        change: Change,
        result: Result,
        tool: str,
    ) -> dict[int, bool]:
        clause = self.policy.clauses[change.clause]
        try:
            return clause.results(change.letter, result, tool)
        except Exception:  # an atom is user code; what cannot be told violates
            self.raised = True
            return clause.worst(change.letter)

    def _said(
        self, waits: Any, finals: list[dict[int, bool]], clauses: set[int], result: Result
    ) -> str:
        """Return in words what the result has to be."""
        if result.status == "error":
            return "it has to fail"
        answers = {
            answer_words(self._slots(change)[i].node, value): None
            for change, final in zip(waits, finals, strict=True)
            if change.clause in clauses
            for i, value in final.items()
        }
        return ", and ".join(["it must succeed", *filter(None, answers)])

    def _slots(self, change: Change) -> Any:
        return self.policy.clauses[change.clause].slots

    def _harmless(self, violated: list[int]) -> bool:
        """True if none of these violations, by a result or by time, would stop a call."""
        against = list(filter(self.answering.matters, violated))
        self.refusers.update(against)
        return not against

    # --- waiting ----------------------------------------------------------------------------------

    def _waited(self, scene: Scenario, clauses: set[int]) -> Iterator[Scenario]:
        """Yield a scene for each time at which something runs out, if possible in whole seconds."""
        times = sorted({each for i in clauses for each in self._runs_out(scene, i)})
        later = [each - scene.time for each in times if each > scene.time]
        self.exact &= len(later) <= MOMENTS_CAP
        exactly = [each + more for each in later[:MOMENTS_CAP] for more in (0.0, MOMENT)]
        for wait in dict.fromkeys(it for each in exactly for it in (float(math.ceil(each)), each)):
            ledger = scene.ledger.copy(key for each in scene.ledger.keyed.values() for key in each)
            time = scene.time + wait
            self.left -= 1
            if self._harmless(list(expire(ledger, Now(time, scene.context)))):
                words = f"wait {round(wait, 3):.12g} s"
                yield scene._replace(ledger=ledger, time=time, way=(*scene.way, words))

    def _runs_out(self, scene: Scenario, i: int) -> Iterator[float]:
        """Yield the times at which something that clause `i` remembers may change."""
        clause = self.policy.clauses[i]
        widths = lengths(clause)
        keyed = [state for state, _ in scene.ledger.keyed[i].values()] if clause.by else []
        for state in keyed or [scene.ledger.states[i]]:
            for part in (state.outer, state.segment) if widths else ():
                yield from (stamp + width for stamp in _floats(part) for width in widths)
                yield from _dues(part)


def open_slots(change: Change) -> list[int]:
    """Return the slots that wait for the result."""
    return [i for i, value in enumerate(change.letter) if value is OPEN]


@asked_once
def lengths(clause: Clause) -> frozenset[float]:
    """Return the seconds in the clause, as bounds or to compare ages with."""
    programs = (clause.scope_monitor.program, clause.monitor.program)
    ops = [op for program in programs for op in program.nodes]
    bounds = {part.count for op in ops for part in op if isinstance(part, Seconds)}
    if any(op[0] == "age" for op in ops):
        nodes = [slot.node for slot in clause.slots]
        numbers = [each.value for each in nodes if isinstance(each, Const)]
        bounds |= {float(each) for each in numbers if isinstance(each, int | float)}
    return frozenset(bounds)


def _floats(value: Any) -> Iterator[float]:
    """Yield the times in the registers of a state: nothing else there is a float."""
    if isinstance(value, State):
        yield from _floats(value.registers)
    elif isinstance(value, tuple):
        for each in value:
            yield from _floats(each)
    elif isinstance(value, float) and math.isfinite(value):
        yield value


def _dues(state: State | None) -> Iterator[float]:
    for each in state.live if state is not None else ():
        yield from (literal[2] for literal in literals_of(each) if literal[0] in "fg")
