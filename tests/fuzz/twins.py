"""The fast path held against the slow path: the same session twice, once with lanes, once without.

    python -m tests.fuzz.twins [formulas] [--seed N]

In: random guarantees, assumptions and sessions. Out: how many calls took the fast path; every
difference, in what was said or in what is remembered.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from sponsio_like.contracts.declaration import Rule
from sponsio_like.contracts.definition import Contract
from sponsio_like.errors import ContractError
from sponsio_like.guard.guard import Guard
from sponsio_like.logic.formula import Always, Custom, Formula
from sponsio_like.outcome import Blocked, Mode, Outcome
from sponsio_like.session.interceptor import Interceptor
from sponsio_like.session.session import Session
from tests.fuzz.fuzz_cases import Formulas
from tests.fuzz.fuzz_traces import Event, Traces, late
from tests.reference.test_predicates import Word

KEYS = (("to",), ("@tool",), ("@tool", "to"))
"""By what clauses are keyed."""


class Pair:
    """Two sessions of one guard; the second takes the slow path only."""

    def __init__(self, guard: Guard) -> None:
        self.now = 0.0
        self.short, self.long = (guard.session(clock=lambda: self.now) for _ in range(2))
        self.long._direct = False
        self.tally: Counter[str] = Counter()

    def difference(self, events: Iterable[Event]) -> str:
        """The first difference that these events make; nothing if there is none."""
        for number, event in enumerate(events):
            self.now = event["time"]
            inner = self.short._inner
            beside = len(inner.flights)
            known = event["type"] == "result" and _is_short(inner, event["id"])
            said = happen(self.short, event), happen(self.long, event)
            if event["type"] == "call":
                self.tally["short" if _is_short(inner, event["id"]) else "long"] += 1
                self.tally["beside others"] += _is_short(inner, event["id"]) and beside > 0
            self.tally["settled"] += known
            if said[0] != said[1]:
                return f"event {number}, {event}: {said[0]} is not {said[1]}"
            if self.short._inner.latest is None:
                states = remembered(self.short), remembered(self.long)
                for name, ours in states[0].items():
                    if ours != states[1][name]:
                        return f"event {number}, {event}: {name} {ours} is not {states[1][name]}"
        ends = self.short.verdicts(), self.long.verdicts()
        return "" if ends[0] == ends[1] else f"at the end: {ends[0]} is not {ends[1]}"


def _is_short(inner: Interceptor, id: str) -> bool:
    """Whether a call took the fast path: it is the latest, or in flight as one that did."""
    return inner.latest is not None or (
        id in inner.flights and inner.flights[id].result_part != "all"
    )


def happen(session: Session, event: Event) -> Any:
    """Let the event happen; what the session says of it."""
    match event["type"]:
        case "call":
            who = {key: event[key] for key in ("agent", "depth") if key in event}
            outcome = session.decide(event["tool"], event["args"], id=event["id"], **who)
            return (
                type(outcome),
                getattr(outcome, "violations", None),
                advice_of(outcome, event),
            )
        case "result":
            key = "output" if event["status"] == "ok" else "error"
            return session.settle(event["id"], **{key: event["output"]})
        case "message":
            outcome = session.message(event["role"], event["text"], usage=event.get("usage"))
            return type(outcome), getattr(outcome, "violations", None)
        case "refused":
            who = {key: event[key] for key in ("agent", "depth") if key in event}
            return session.refused(event["tool"], event["args"], **who)
        case "step":
            return session.step(event["atoms"])
        case "fact":
            return session.fact(event["key"], event["value"])
    raise ValueError(event)


def advice_of(outcome: Outcome, event: Event) -> str:
    """What a blocked call is told: of one in a few, since it takes long to find out."""
    asked = isinstance(outcome, Blocked) and int(event["id"]) % 8 == 0
    return outcome.advice if asked and isinstance(outcome, Blocked) else ""


def remembered(session: Session) -> dict[str, Any]:
    """All that a session remembers."""
    inner = session._inner
    ledger = inner.ledger
    return {
        "watches": ledger.states,
        "keyed": ledger.keyed,
        "positions": ledger.positions,
        "wakes": ledger.wakes,
        "alarms": ledger.alarms,
        "flights": {id: (each.tool, each.waits) for id, each in inner.flights.items()},
        "context": inner.context,
        "rest": (inner.time, inner.calls),
    }


def told(words: Iterable[Word]) -> Iterator[Event]:
    """The words of a pattern's traces as events: calls settle at once, or when a word says so."""
    flying: list[Event] = []
    now = 0.0
    for number, word in enumerate(words):
        now += word.seconds
        event = {**word.event, "time": now}
        if event["type"] == "result":
            tool = event["id"].partition("-")[0]
            mine = next((each for each in flying if each["tool"] == tool), None)
            if mine is not None:
                flying.remove(mine)
                failed = "failed" if event["status"] == "error" else None
                yield {**event, "id": mine["id"], "output": event.get("output", failed)}
            continue
        event["id"] = str(number)
        yield event
        if event["type"] == "call" and word.waits:
            flying.append(event)
        elif event["type"] == "call":
            status = event.get("status", "ok")
            output = event.get("output", "failed" if status == "error" else None)
            yield {**event, "type": "result", "status": status, "output": output}


def contracts(dice: random.Random) -> list[Contract]:
    """One to three random contracts, most of them over the past."""
    out = []
    for number in range(dice.randint(1, 3)):
        makes = Formulas(dice)
        body: Formula = makes.guarantee()
        if dice.random() < 0.7:
            inner = makes.formula(makes.words(), dice.randint(1, 6), past=True)
            lacking = Custom("arg_missing", (dice.choice(("to", "n")),))
            body = Always(lacking >> inner if dice.random() < 0.2 else inner)
        assumption = None
        if dice.random() < 0.2:
            assumption = makes.formula(makes.words(), dice.randint(1, 3), past=True)
        by = dice.choice(KEYS) if dice.random() < 0.2 else ()
        out.append(Contract(f"c{number}", (Rule(body, by=by),), assumption=assumption))
    return out


def compared(seed: int, number: int, tally: Counter[str]) -> str:
    """Some contracts and sessions, by number; the first difference."""
    dice = random.Random(f"{seed}/{number}")
    mode: Mode = "observe" if dice.random() < 0.3 else "enforce"
    try:
        made = contracts(dice)
        guard = Guard(made, mode=mode)
    except ContractError:
        tally["refused"] += 1
        return ""
    tally["guards"] += 1
    formula = made[0].rules[0].formula
    for _ in range(6):
        sessions = Traces(dice, formula)
        pair = Pair(guard)
        events = list(sessions.trace(dice.randint(4, 14)))
        if dice.random() < 0.5:
            events = late(events, dice)
        found = pair.difference(events)
        tally.update(pair.tally)
        if found:
            rules = [(e.rules[0].formula, e.rules[0].by, e.assumption) for e in made]
            shown = "\n    ".join(map(str, rules))
            return f"--seed {seed} --only {number}\n    {shown}\n    {found}"
    return ""


def main() -> int:
    """The campaign."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("formulas", type=int, nargs="?", default=2_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int)
    asked = parser.parse_args()
    tally: Counter[str] = Counter()
    numbers = range(asked.formulas) if asked.only is None else [asked.only]
    bad = []
    for number in numbers:
        found = compared(asked.seed, number, tally)
        if found:
            bad.append(found)
            print(found)
            if len(bad) >= 5:
                break
    print(dict(tally))
    return bool(bad)


if __name__ == "__main__":
    raise SystemExit(main())
