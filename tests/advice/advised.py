"""Advice, executed: is what a blocked call is told true, and is nothing shorter?

    python -m tests.advice.advised [every] [start] [answer]

In: all patterns about histories and all pairs of them, over the tools a, b, c, up to renaming (or
every n-th). The last of two may hold, or redirect, what violates it: `answer` is a number in
`ANSWERS`. At every state that a trace of five events leads to (two, where calls may stay in flight
as well), every call that is blocked is followed up: what its advice says is done in a copy of the
session, and everything shorter is tried as well. Only the public interface is used. Out: how many
blocked calls were told what, and every one that was told something wrong.
"""

from __future__ import annotations

import functools
import itertools
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sponsio_like import Allowed, Blocked, Guard, Held, Redirected, contract
from sponsio_like.contracts.declaration import find_pattern
from sponsio_like.errors import ContractError
from sponsio_like.outcome import Outcome
from sponsio_like.session.session import Session

TOOLS = "abc"
OTHER = "d"
TRACES = ((5, False), (2, True))
"""Events before the call that is decided, and whether calls may stay in flight."""
ANSWERS: tuple[Any, ...] = (
    "escalate",
    {"redirect_to_safe": {"to": OTHER}},
    {"redirect_to_safe": {"to": "c"}},
)
"""What the last of two patterns answers, if it does not block."""
NEEDING = ("must_precede", "must_confirm", "required_steps_completion", "cooldown")
LASTING = ("rate_limit", "idempotent", "tool_allowlist", "mutual_exclusion", "no_data_leak")
BEYOND = 2
"""So far a way is looked for where the advice says that there is none."""
ENDINGS = ("ok", "error")

Part = tuple[str, dict[str, Any]]
Action = tuple[str, str, str]
"""What happens: `call`, its tool and ending (or `open`); `land`, a call's id and its ending."""
Snapshot = dict[str, Any]


# --- policies ---------------------------------------------------------------------------------


def patterns() -> Iterator[Part]:
    """Every pattern that speaks of what has happened before, over three tools."""
    for x, y in itertools.permutations(TOOLS, 2):
        yield "must_precede", {"first": x, "then": y}
        yield "must_confirm", {"action": x, "by": y}
        yield "destructive_action_gate", {"action": x, "gate": y}
        yield "no_data_leak", {"source": x, "sink": y}
        yield "no_reversal", {"commitment": x, "reversal": y}
        yield "segregation_of_duty", {"first": x, "second": y}
        yield "mutual_exclusion", {"first": x, "second": y}
        yield "always_followed_by", {"trigger": x, "response": y}
        yield "workflow_step", {"trigger": x, "next_action": y}
        yield from (("deadline", {"trigger": x, "action": y, "steps": n}) for n in (1, 2))
    for x in TOOLS:
        yield "idempotent", {"action": x}
        yield "loop_detection", {"action": x, "limit": 2}
        yield "rate_limit", {"action": x, "limit": 2}
        yield "rate_limit", {"action": x, "limit": 1, "per": {"steps": 3}}
        yield from (("cooldown", {"action": x, "steps": n}) for n in (1, 2))
        yield from (("bounded_retry", {"action": x, "retries": n}) for n in (0, 1))
        yield "tool_allowlist", {"tools": sorted(set(TOOLS) - {x})}
        steps = sorted(set(TOOLS) - {x})
        yield "required_steps_completion", {"steps": steps, "gate": x}


@functools.cache
def policies() -> list[tuple[Part, ...]]:
    """Every pattern and every pair; one of those that only differ in the names of the tools."""
    found: dict[str, tuple[Part, ...]] = {}
    each = list(patterns())
    for pair in [*((one,) for one in each), *itertools.combinations(each, 2)]:
        found.setdefault(
            min(_spelled(pair, names) for names in itertools.permutations(TOOLS)), pair
        )
    return list(found.values())


@functools.cache
def lasting() -> list[tuple[Part, ...]]:
    """Pairs, in both orders, of what a call can make up for and what mostly is for good."""
    both = [order for pair in policies() for order in (pair, pair[::-1])[: len(pair)]]
    return [pair for pair in both if pair[0][0] in NEEDING and pair[-1][0] in LASTING]


def _spelled(pair: Sequence[Part], names: Iterable[str]) -> str:
    table = dict(zip(TOOLS, names, strict=True))

    def renamed(value: Any) -> Any:
        if isinstance(value, list):
            return sorted(map(renamed, value))
        return table.get(value, value) if isinstance(value, str) else value

    parts = [(name, {k: renamed(v) for k, v in given.items()}) for name, given in pair]
    return json.dumps(sorted(parts, key=str), sort_keys=True)


def guard_of(pair: Sequence[Part], answer: Any) -> Guard | None:
    """The guard; None for a pair that does not load. `answer` is that of the last pattern."""
    try:
        *rest, last = [
            contract(f"{n}").guarantees(find_pattern(p).rule(args))
            for n, (p, args) in enumerate(pair)
        ]
        return Guard([*rest, last.strategy(answer)])
    except ContractError:
        return None


# --- sessions ---------------------------------------------------------------------------------


class Copies:
    """States of one guard's sessions, by number; equal snapshots have one. 0: a new session.

    `people`: what is held is approved. How a call ends is `ending`, in the words of the advice.
    """

    def __init__(self, guard: Guard) -> None:
        self.guard = guard
        self._snapshots = [guard.session(clock=lambda: 0.0).snapshot()]
        self._numbers = {json.dumps(self._snapshots[0], sort_keys=True): 0}
        self._known: dict[tuple[int, Action, bool], int | None] = {}
        self._outcomes: dict[tuple[int, str], Outcome] = {}
        self._endings: dict[tuple[int, str], str | None] = {}

    def after(self, state: int, action: Action, *, people: bool = False) -> int | None:
        """The state after this action; None if it is not allowed."""
        if (state, action, people) not in self._known:
            session = self.guard.restore(self._snapshots[state], clock=lambda: 0.0)
            done = acted(session, action, people=people)
            after = self._number(session.snapshot()) if done else None
            self._known[state, action, people] = after
        return self._known[state, action, people]

    def _number(self, snapshot: Snapshot) -> int:
        found = self._numbers.setdefault(json.dumps(snapshot, sort_keys=True), len(self._snapshots))
        if found == len(self._snapshots):
            self._snapshots.append(snapshot)
        return found

    def outcome(self, state: int, tool: str) -> Outcome:
        """What is answered to a call of `tool` now."""
        if (state, tool) not in self._outcomes:
            session = self.guard.restore(self._snapshots[state], clock=lambda: 0.0)
            self._outcomes[state, tool] = session.decide(tool, id="asked")
        return self._outcomes[state, tool]

    def ending(self, state: int, tool: str) -> str | None:
        """What comes of a call of `tool`: nothing more, or who approves it, and what runs."""
        if (state, tool) not in self._endings:
            session = self.guard.restore(self._snapshots[state], clock=lambda: 0.0)
            outcome, held = decided(session, tool, "asked", people=True)
            words = [APPROVE] if held else []
            words += (
                [f"`{outcome.tool}` runs instead of it"] if isinstance(outcome, Redirected) else []
            )
            blocked = isinstance(outcome, Blocked)
            self._endings[state, tool] = None if blocked else ", and ".join(words)
        return self._endings[state, tool]

    def legal(self, state: int, tool: str, *, people: bool) -> bool:
        """Whether `tool` may be called now; with `people`, what is not refused may be."""
        ending = self.ending(state, tool)
        return ending == "" or (people and ending is not None)

    def flying(self, state: int) -> list[str]:
        """The ids of the calls in flight: the tool's name and a number."""
        return [id for id, _ in self._snapshots[state]["flights"]["map"]]

    def continuations(self, state: int) -> Iterator[Action]:
        """All that can happen next, but that calls stay in flight."""
        yield from (("call", tool, end) for tool in TOOLS for end in ENDINGS)
        yield ("call", OTHER, "ok")
        yield from (("land", id, end) for id in self.flying(state) for end in ENDINGS)

    def states(self, events: int, *, fly: bool) -> Iterator[tuple[int, str]]:
        """Every state that a trace of at most so many events leads to, with one such trace."""
        level = {0: ""}
        for n in range(events + 1):
            yield from level.items()
            following: dict[int, str] = {}
            for state, trace in level.items() if n < events else ():
                opened: list[Action] = [("call", tool, "open") for tool in TOOLS if fly]
                for action in (*self.continuations(state), *opened):
                    after = self.after(state, action)
                    if after is not None:
                        following.setdefault(after, f"{trace} {' '.join(action)};")
            level = following

    def shortest(self, state: int, tool: str, most: int, *, people: bool) -> int | None:
        """How many actions it takes until `tool` may be called, up to `most`: all are tried."""
        level, seen = [state], {state}
        for n in range(1, most + 1):
            following = []
            for each in level:
                for action in self.continuations(each):
                    after = self.after(each, action, people=people)
                    if after is None or after in seen:
                        continue
                    if self.legal(after, tool, people=people):
                        return n
                    seen.add(after)
                    following.append(after)
            level = following
        return None


def decided(session: Session, tool: str, id: str, *, people: bool) -> tuple[Outcome, bool]:
    """The outcome of a call, and whether it was held, and approved by `people`."""
    outcome = session.decide(tool, id=id)
    if not people or not isinstance(outcome, Held):
        return outcome, False
    session.approve(outcome.ticket, by="ann")
    return session.decide(tool, id=id), True


def acted(session: Session, action: Action, *, people: bool) -> bool:
    """Do it; whether it was allowed, and revealed no violation."""
    kind, name, ending = action
    id = name
    if kind == "call":
        id = f"{name}{session.calls}"
        if not isinstance(decided(session, name, id, people=people)[0], Allowed):
            return False
    if ending == "open":
        return True
    answer = {"error": "no"} if ending == "error" else {"output": "no" if ending == "no" else "yes"}
    return not session.settle(id, **answer)


# --- advice -----------------------------------------------------------------------------------

STEP = re.compile(
    r"(?:call (?:`(?P<tool>\w)`|some other tool)(?P<held>, which a person has to approve)?|"
    r"wait for the result of `(?P<settling>\w)`(?: with the id `(?P<id>\w+)`)?, which is in flight)"
    r"(?: \((?P<ending>it must succeed|it has to fail)[^()]*\))?"
    r"(?: (?P<times>\d+) times)?"
)
APPROVE = "a person has to approve it"
LAST = re.compile(rf", then ((?:{APPROVE})?(?:(?:, and )?`\w` runs instead of it)?)$")
NO_CALLS = "no calls make it legal in this session"
NOTHING_FOUND = "no short way to make it legal was found"


class Way(NamedTuple):
    """The steps that an advice tells, and what comes then."""

    steps: list[re.Match[str]]
    ending: str = ""

    @property
    def people(self) -> bool:
        """Whether more is needed than calls alone."""
        return bool(self.ending) or any(step["held"] for step in self.steps)


def way_of(advice: str) -> Way | None:
    """What the advice tells; None if it says that there is no way."""
    _, _, told = advice.rpartition("; ")
    if told in (NO_CALLS, NOTHING_FOUND):
        return None
    begin, _, steps = told.partition(", first ")
    assert begin == "to make it legal", advice
    ending = LAST.search(steps)
    steps = steps if ending is None else steps[: ending.start()]
    found = []
    for told in steps.split(", then "):
        step = STEP.fullmatch(told)
        assert step is not None, advice
        found += [step] * int(step["times"] or 1)
    return Way(found, "" if ending is None else ending[1])


def follow(copies: Copies, state: int, steps: list[re.Match[str]], free: str) -> int | None:
    """The state after the way; where it does not ask for an ending, the ending is `free`."""
    for step in steps:
        asked = step["ending"]
        end = free if asked is None else _ending(asked)
        action: Action = ("call", step["tool"] or OTHER, end)
        if step["settling"]:
            flying = [id for id in copies.flying(state) if step["id"] in (None, id)]
            (settling,) = [id for id in flying if id[0] == step["settling"]]
            action = ("land", settling, end)
        after = copies.after(state, action, people=bool(step["held"]))
        if after is None:
            return None
        state = after
    return state


def _ending(asked: str) -> str:
    """How a call ends that ends as the advice asks: with a yes, with a no, or in an error."""
    if "must not be a yes" in asked:
        return "no"
    return "ok" if "succeed" in asked else "error"


@dataclass
class Tally:
    """How many blocked calls were told what; the mistakes, in words."""

    told: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


def check(
    pair: Sequence[Part], tally: Tally, events: int, *, fly: bool, answer: Any = "block"
) -> None:
    """Follow up every call that this policy blocks after so many events; `fly`: some in flight."""
    guard = guard_of(pair, answer)
    if guard is None:
        tally.told["policies that do not load"] += 1
        return
    tally.told["policies"] += 1
    copies = Copies(guard)
    for state, trace in copies.states(events, fly=fly):
        for tool in (*TOOLS, OTHER):
            outcome = copies.outcome(state, tool)
            if isinstance(outcome, Blocked):
                mistake = _mistake(copies, state, tool, outcome.advice, tally)
                if mistake:
                    tally.wrong.append(f"{pair}:{trace} {tool}? {outcome.advice}: {mistake}")


def _mistake(copies: Copies, state: int, tool: str, advice: str, tally: Tally) -> str:
    way = way_of(advice)
    if way is None:
        tally.told[advice.rpartition("; ")[2]] += 1
        fewer = copies.shortest(state, tool, BEYOND, people=True)
        return "" if fewer is None else f"{fewer} actions make it legal"
    tally.told[f"{len(way.steps)} steps"] += 1
    tally.told[f"then {way.ending}" if way.ending else "approved steps"] += way.people
    for free in ENDINGS:
        after = follow(copies, state, way.steps, free)
        if after is None or copies.ending(after, tool) != way.ending:
            return f"following it does not end so ({free})"
    fewer = copies.shortest(state, tool, len(way.steps) - 1, people=way.people)
    if fewer is None and way.people:
        fewer = copies.shortest(state, tool, BEYOND, people=False)
    return "" if fewer is None else f"{fewer} actions are enough"


def main(every: int = 1, start: int = 0, answer: int = -1) -> int:
    """Check every so many policies; tell what was found."""
    tally = Tally()
    chosen = policies()[start::every]
    for n, pair in enumerate(chosen):
        for events, fly in TRACES:
            check(pair, tally, events, fly=fly, answer=(*ANSWERS, "block")[answer])
        if n % 50 == 49:
            print(f"{n + 1} of {len(chosen)}: {dict(tally.told)}", flush=True)
    for name, count in sorted(tally.told.items()):
        print(f"{count:8} {name}")
    print(*tally.wrong[:20], sep="\n")
    print(f"{len(tally.wrong)} mistakes")
    return 1 if tally.wrong else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
