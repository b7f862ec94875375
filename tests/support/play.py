"""A session that is played from short notation: `opened("G !called(pay)")("check pay") == ".x"`.

In: contracts, or formulas as text; then words of `tests.support.notation`, one second apart. Out:
one sign for each call, message and result:

    .  let through; or a result that reveals nothing       >  redirected
    w  let through with a warning, or observed              r  a result revealed a violation
    x  blocked                                              t  before the sign: time had run out
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from sponsio_like.contracts.declaration import Rule
from sponsio_like.contracts.definition import Contract
from sponsio_like.guard.guard import Guard
from sponsio_like.outcome import Allowed, Blocked, Outcome, Redirected
from sponsio_like.session.session import Session
from sponsio_like.syntax import read
from tests.support import notation

RESULT = re.compile(r"(ok|error):([^=]*)(?:=(.*))?", re.DOTALL)


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def guarded(*what: str | Contract, **options: Any) -> Guard:
    """A guard of contracts; a text is a formula, and makes a contract of its own."""
    named = (
        Contract(f"rule {n}", (Rule(read(each)),)) if isinstance(each, str) else each
        for n, each in enumerate(what)
    )
    return Guard(named, **options)


def opened(*what: str | Contract, guard: dict[str, Any] | None = None, **options: Any) -> Played:
    """A new session of a new guard, to be played; `options` are the session's."""
    records: list[dict[str, Any]] = []
    return Played(guarded(*what, log=records.append, **(guard or {})), records, **options)


def letters(rule: Any, *calls: Any) -> str:
    """The letters of the outcomes, `A` for Allowed: calls are a tool, arguments and an answer."""
    mine = Guard([Contract("c").guarantees(rule)]).session()
    out = ""
    for tool, args, *answer in calls:
        outcome = mine.decide(tool, args)
        out += type(outcome).__name__[0]
        if isinstance(outcome, Allowed):
            mine.settle(outcome.id, output=answer[0] if answer else None)
    return out


class Played:
    """A session, its clock, and what came of every event."""

    def __init__(self, guard: Guard, records: list[dict[str, Any]], **options: Any) -> None:
        self.guard = guard
        self.records = records
        self.clock = Clock()
        self.session: Session = guard.session(clock=self.clock, **options)
        self.outcomes: list[Outcome] = []
        self.flying: list[tuple[str, str]] = []
        self.wait = 0.0

    def __call__(self, text: str) -> str:
        return "".join(map(self.word, notation.split(text, " \n")))

    def word(self, word: str) -> str:
        """One word: an event, or a pause."""
        if pause := notation.TIME.fullmatch(word):
            self.wait = float(pause[1])
            return ""
        self.clock.now += self.wait
        self.wait = 1.0
        if result := RESULT.fullmatch(word):
            return self.result(result[1], result[2], result[3])
        (event, *_) = notation.events(word)
        return self.happen(event, waits=word.endswith("?"))

    def happen(self, event: dict[str, Any], *, waits: bool) -> str:
        match event["type"]:
            case "fact":
                self.session.fact(event["key"], event["value"])
                return ""
            case "message":
                usage = event.get("usage")
                return self.said(
                    lambda: self.session.message(event["role"], event["text"], usage=usage)
                )
        by = {"agent": event.get("agent", "agent"), "depth": event.get("depth", 0)}
        sign = self.said(lambda: self.session.decide(event["tool"], event["args"], **by))
        outcome = self.outcomes[-1]
        if isinstance(outcome, Blocked):
            return sign
        self.flying.append((event["tool"], outcome.id))
        if waits:
            return sign
        status = "ok" if event["status"] == "ok" else "error"
        settled = self.result(status, event["tool"], None, event.get("output"))
        return sign if settled == "." else settled

    def said(self, ask: Callable[[], Outcome]) -> str:
        self.outcomes.append(ask())
        late = "t" if self.late() else ""
        match self.outcomes[-1]:
            case Blocked():
                return late + "x"
            case Redirected():
                return late + ">"
            case Allowed(_, (), ()):
                return late + "."
        return late + "w"

    def late(self) -> bool:
        """Whether the last event is logged with something that it is not to blame for."""
        violations = self.records[-1].get("violations", ())
        logged = [each for each in violations if each["action"] == "reported" and not each["tool"]]
        outcome = self.outcomes[-1]
        own = outcome.warnings if isinstance(outcome, Allowed) else outcome.violations
        return len(logged) > len([each for each in own if each.action == "reported"])

    def result(self, status: str, tool: str, text: str | None, output: Any = None) -> str:
        """The oldest call of the tool that is in flight has its result."""
        found = next(pair for pair in self.flying if pair[0] == tool)
        self.flying.remove(found)
        output = notation.value(text) if text is not None else output
        if status == "ok":
            revealed = self.session.settle(found[1], output=output)
        else:
            revealed = self.session.settle(found[1], error="failed" if output is None else output)
        return "r" if revealed else "."

    def verdict(self) -> str:
        """The verdict of the only contract."""
        (verdict,) = self.session.verdicts().values()
        return verdict

    def unfulfilled(self) -> list[str]:
        """The contracts with obligations that are open when the session ends now."""
        return [each.contract for each in self.session.finish()]
