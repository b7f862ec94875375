"""The engine and the oracle on the same guarantee and the same session: do they say the same?

In: a formula, and the events of a trace. Out: what each of them says at every event, and where that
differs. `shrunk` makes a case that differs as small as it gets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any, NamedTuple

import sponsio_like.formula as f
from sponsio_like.contract import Contract
from sponsio_like.errors import ContractError
from sponsio_like.guard import Guard
from sponsio_like.pattern import Rule
from sponsio_like.session import Session
from tests import bridge, oracle
from tests.fuzz_cases import Event
from tests.oracle_runs import as_read, run

PERMISSIONS = ("write",)
APPROVALS = (("pay", "boss"),)


class Said(NamedTuple):
    """What is said of a session: before the first event, at every event but facts, and at the end.

    `reports`: of each event, where violations were, those of time gone by first. Places are counted
    in calls, as users do.
    """

    reports: tuple[tuple[int, ...], ...]
    verdicts: tuple[str, ...]
    unfulfilled: bool


# --- the engine -----------------------------------------------------------------------------------


class Watched:
    """A guarantee as the engine has compiled it; `refused` is the verdict that it is refused for."""

    def __init__(self, formula: f.Formula) -> None:
        self.records: list[dict[str, Any]] = []
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

    def say(self, events: Sequence[Event]) -> Said:
        """Play the events."""
        self.now = 0.0
        session = self.guard.session("s", clock=lambda: self.now)
        reports, verdicts = [], [session.verdicts()["c"]]
        for event in events:
            self.records.clear()
            self.now = event["time"]
            self.happen(session, event)
            if event["type"] != "fact":
                found = [each for record in self.records for each in record["violations"]]
                reports.append(tuple(each["position"] for each in found))
                verdicts.append(session.verdicts()["c"])
        return Said(tuple(reports), tuple(verdicts), bool(session.finish()))

    @staticmethod
    def happen(session: Session, event: Event) -> None:
        """Tell the session of one event."""
        match event["type"]:
            case "call":
                who = {key: event[key] for key in ("agent", "depth") if key in event}
                session.decide(event["tool"], event["args"], id=event["id"], **who)
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


def expected(formula: oracle.Formula, told: Sequence[oracle.Event]) -> Said:
    """What the oracle says of the events."""
    found = run(formula, told)
    reports: list[tuple[int, ...]] = [()] * len(told)
    for report in found.reports:
        made = told[report.moment]
        settles = made.kind == "settle" and not report.expired
        place = calls_before(told, made.of if settles else report.moment)
        reports[report.moment] += (place,)
    return Said(tuple(reports), found.verdicts, bool(found.unfulfilled))


def calls_before(told: Sequence[oracle.Event], moment: int) -> int:
    """How many calls there have been before an event."""
    return sum(event.kind == "call" for event in told[:moment])


def heard(formula: oracle.Formula, events: Sequence[Event]) -> list[oracle.Event]:
    """The events as the oracle knows them: facts are part of what follows."""
    told: list[oracle.Event] = []
    context: dict[str, Any] = {}
    tokens, places = 0, {}
    for event in events:
        tokens += event.get("usage", {}).get("total_tokens", 0)
        if event["type"] == "fact":
            context[event["key"]] = event["value"]
            continue
        about = {**subjects(event, context), "tokens": tokens}
        if event["type"] == "result":
            about = {"output": event["output"]}
        made = oracle.Event(event["type"], "", *bridge.facts(formula, about), time=event["time"])
        match event["type"]:
            case "call":
                places[event["id"]] = len(told)
                args = tuple(sorted(event["args"].items()))
                made = replace(made, name=event["tool"], args=args)
            case "result":
                status = "done" if event["status"] == "ok" else "failed"
                made = replace(made, kind="settle", name=status, of=places[event["id"]])
            case "message":
                made = replace(made, name=event["role"])
            case "step":
                made = replace(made, true=made.true | frozenset(event["atoms"]))
        told.append(made)
    return told


def subjects(event: Event, context: dict[str, Any]) -> dict[str, Any]:
    """What an event is, and the context then, for `bridge.facts`."""
    agent = event.get("agent", "agent")
    held = context.get("permissions", ())
    held = held.get(agent, ()) if isinstance(held, dict) else held
    approval = context.get("approval", {})
    given = (approval.get("action"), approval.get("role"), approval.get("decision"))
    call = event["type"] == "call"
    return {
        "arg": event.get("args", {}),
        "agent": agent if call else bridge.ABSENT,
        "depth": event.get("depth", 0) if call else bridge.ABSENT,
        "text": event.get("text", bridge.ABSENT),
        "ctx": context,
        "permission": {name: call and name in held for name in PERMISSIONS},
        "approved": {a: r if given == (a, r, "approve") else "" for a, r in APPROVALS},
    }


# --- agreeing -------------------------------------------------------------------------------------
def difference(formula: f.Formula, events: Sequence[Event]) -> tuple[Said, Said] | None:
    """What the engine and what the oracle says, if they disagree."""
    translated = bridge.translate(formula)
    watched = Watched(formula)
    start = run(translated, []).verdicts[0]
    if watched.refused or start != "inconclusive":
        said = Said((), (watched.refused or "inconclusive",), False)
        return None if said.verdicts[0] == start else (said, said._replace(verdicts=(start,)))
    said, judged = watched.say(events), expected(translated, heard(as_read(translated), events))
    return None if said == judged else (said, judged)
