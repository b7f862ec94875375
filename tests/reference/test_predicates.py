"""Every pattern against a predicate written by hand, on all traces up to length 6 (or 2,000).

With `TRACES=10000` in the environment a case has as many traces as that.

A predicate looks at the whole trace so far, with loops and lists, never at a formula: would this
call be refused? What would be owed if the session ended now? Where violations are only observed,
they stay in the trace, and each is seen once; where they are enforced, the trace is without them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from math import log
from typing import Any

import pytest

from sponsio_like.contracts.declaration import CATALOG
from sponsio_like.guard.guard import Guard
from sponsio_like.outcome import Allowed, Outcome
from sponsio_like.session.session import Session
from tests.reference import pattern_cases, values_cases, walk
from tests.reference import predicates as p
from tests.reference.pattern_cases import Case
from tests.support import notation
from tests.support.size import sized

LENGTH = 6
MOST = int(os.environ.get("TRACES", sized(2000, 800)))
"""Traces of one case: those of a case with many letters are as much shorter as that takes."""
CASES = [*pattern_cases.CASES, *values_cases.CASES]


# --- walking --------------------------------------------------------------------------------------


@dataclass
class Word:
    """One letter: how many seconds pass, and then what happens."""

    text: str
    seconds: float
    event: dict[str, Any]

    @property
    def waits(self) -> bool:
        return self.text.endswith("?")


def word(text: str) -> Word:
    pause = notation.TIME.match(text)
    rest = text[pause.end() :].strip() if pause else text
    settles = rest.startswith(("ok:", "error:"))
    before = f"{rest.partition(':')[2].partition('=')[0]}? " if settles else ""
    event = notation.events(before + rest)[1 if settles else 0]
    return Word(rest, float(pause[1]) if pause else 1.0, event)


@dataclass
class Run:
    """One session, and the trace as the predicates see it."""

    session: Session
    now: float = 0.0
    past: list[p.Seen] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    told: tuple[p.Told, ...] = ()
    tokens: int = 0

    def fork(self) -> Run:
        session = walk.forked(self.session)
        inner, mine = session._inner.ledger, self.session._inner.ledger
        inner.keyed = {i: dict(each) for i, each in mine.keyed.items()}
        inner.stores = {i: store.copy(store.keys) for i, store in mine.stores.items()}
        past = [replace(seen) if seen.status == "open" else seen for seen in self.past]
        return Run(session, self.now, past, dict(self.facts), self.told, self.tokens)

    def flying(self, tool: str) -> p.Seen | None:
        """The oldest call of the tool that is in flight."""
        return next((s for s in self.past if s.tool == tool and s.status == "open"), None)

    def play(self, letter: Word, which: Case, *, enforce: bool, last: bool = False) -> bool | None:
        """One event. Of a call: whether it violates; the predicate has to say so too.

        `last`: nobody asks what comes after it, so the result of a call is left out.
        """
        self.now += letter.seconds
        walk.CLOCK.now = self.now
        event = letter.event
        if event["type"] == "fact":
            approvals = [*self.facts.get("approvals", [])]
            if event["key"] == "approval":
                approvals.append(event["value"]["role"])
            self.facts |= {event["key"]: event["value"], "approvals": approvals}
            self.told += (p.Told(event["key"], event["value"], self.now),)
            self.session.fact(event["key"], event["value"])
        elif event.get("status") == "refused":
            self.told += (p.Told("refused", (event["tool"], event["args"]), self.now),)
            self.session.refused(event["tool"], event["args"])
        elif event["type"] == "result":
            self.settle(self.flying(event["id"].partition("-")[0]), event)
        elif event["type"] == "message":
            return self.message(event, which, enforce=enforce)
        else:
            return self.call(letter, which, enforce=enforce, last=last)
        return None

    def seen(self, event: dict[str, Any], tool: str = "", args: Any = None) -> p.Seen:
        """The call or the message, and what is known then."""
        who = event.get("agent", "agent")
        return p.Seen(
            tool,
            args or {},
            who,
            self.now,
            dict(self.facts),
            depth=event.get("depth", 0),
            role=event.get("role", ""),
            text=event.get("text", ""),
            told=self.told,
            tokens=self.tokens,
        )

    def message(self, event: dict[str, Any], which: Case, *, enforce: bool) -> bool:
        usage = event.get("usage", {})
        self.tokens += usage.get("total_tokens", 0)
        outcome = self.session.message(event["role"], event["text"], usage=usage)
        violated = self.judged(self.seen(event), outcome, which, enforce=enforce)
        if not (violated and enforce):
            self.told += (p.Told(f"message {event['role']}", event["text"], self.now),)
        return violated

    def call(self, letter: Word, which: Case, *, enforce: bool, last: bool) -> bool:
        event = letter.event
        now = self.seen(event, event["tool"], event["args"])
        outcome = self.session.decide(now.tool, now.args, agent=now.agent, depth=now.depth)
        violated = self.judged(now, outcome, which, enforce=enforce)
        if not (violated and enforce):
            self.past.append(replace(now, id=outcome.id))
            if not (letter.waits or last):
                self.settle(self.past[-1], event)
        return violated

    def judged(self, now: p.Seen, outcome: Outcome, which: Case, *, enforce: bool) -> bool:
        """Whether it violates; the predicate says the same, and what is enforced is stopped."""
        stopped = not isinstance(outcome, Allowed)
        violated = stopped or (isinstance(outcome, Allowed) and bool(outcome.observed))
        assert violated is which.refused(self.past, now), (self.past, now, outcome)
        assert stopped is (violated and enforce)
        return violated

    def settle(self, seen: p.Seen | None, event: dict[str, Any]) -> None:
        assert seen is not None
        seen.status, seen.output = event["status"], event.get("output")
        seen.arrived = len(self.past)
        if seen.status == "ok":
            self.session.settle(seen.id, output=seen.output)
        else:
            self.session.settle(seen.id, error="failed")


def possible(run: Run, letter: Word) -> bool:
    """Only a call in flight can settle."""
    tool = letter.event["id"].partition("-")[0] if letter.event["type"] == "result" else None
    return tool is None or run.flying(tool) is not None


def explore(
    run: Run, letters: list[Word], which: Case, length: int, *, enforce: bool
) -> Iterator[bool]:
    """Every trace of at most this length that begins like `run`; what was said of each call."""
    if which.owed is not p.nothing:
        assert bool(run.session.pending()) is which.owed(run.past), run.past
    last = length == 1 and which.owed is p.nothing
    for letter in letters if length else ():
        if not possible(run, letter):
            continue
        twin = run.fork()
        violated = twin.play(letter, which, enforce=enforce, last=last)
        if violated is not None:
            yield violated
        if not (violated and enforce):  # a refused call changes nothing
            yield from explore(twin, letters, which, length - 1, enforce=enforce)


def said(which: Case, guard: Guard, length: int, *, enforce: bool) -> set[bool]:
    """What was said of the calls of all traces."""
    start = Run(walk.opened(guard))
    letters = [word(text) for text in which.letters]
    return set(explore(start, letters, which, length, enforce=enforce))


FIRST = {each.name: each for each in reversed(CASES)}


@pytest.mark.parametrize("which", CASES, ids=str)
def test_a_pattern_means_what_its_predicate_says(which: Case) -> None:
    """On every trace, a pattern is violated where its meaning is, and owes what that owes."""
    longest = LENGTH if which is FIRST[which.name] else LENGTH - 1
    length = min(longest, int(log(MOST, len(which.letters))))
    verdicts = said(which, walk.guard(which.contract), length, enforce=False)
    assert which.refused is p.never or verdicts == {True, False}


@pytest.mark.parametrize("which", CASES, ids=str)
def test_a_pattern_refuses_what_its_predicate_refuses(which: Case) -> None:
    """Enforced, a pattern stops just the calls that its meaning forbids."""
    said(which, walk.guard(which.contract, mode="enforce"), 4, enforce=True)


def test_every_pattern_has_a_predicate() -> None:
    """No pattern of this package goes without a second opinion."""
    ours = {
        name for name, each in CATALOG.items() if each.build.__module__.startswith("sponsio_like.")
    }
    assert ours == {which.name for which in CASES}
