"""Advice, executed: is what a blocked call is told true, and is nothing shorter?

    python -m tests.advised [every] [start]

In: all pairs of patterns about histories, over the tools a, b, c, up to renaming (or every n-th of
them). At every state that a trace of four events leads to (calls that succeed, fail or stay in
flight), every call that is blocked is followed up: what its advice says is done in a copy of the
session, and everything shorter is tried as well. Only the public interface is used. Out: how many
blocked calls were told what, and every one that was told something wrong.
"""

from __future__ import annotations

import itertools
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from sponsio_like import Allowed, Blocked, Guard, contract
from sponsio_like.errors import ContractError
from sponsio_like.pattern import find_pattern
from sponsio_like.session import Session

TOOLS = "abc"
OTHER = "d"
EVENTS = 4
"""Events before the call that is decided."""
BEYOND = 3
"""So far a way is looked for where the advice says that there is none."""
ENDINGS = ("ok", "error")

Part = tuple[str, dict[str, Any]]
Action = tuple[str, str, str]
"""What happens next: `call`, its tool and ending (or `open`); `land`, the id of a call and ending."""
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


def policies() -> list[tuple[Part, ...]]:
    """Every pattern and every pair of patterns, one of those that only differ in the tools' names."""
    found: dict[str, tuple[Part, ...]] = {}
    each = list(patterns())
    for pair in [*((one,) for one in each), *itertools.combinations(each, 2)]:
        found.setdefault(
            min(_spelled(pair, names) for names in itertools.permutations(TOOLS)), pair
        )
    return list(found.values())


def _spelled(pair: Sequence[Part], names: Iterable[str]) -> str:
    table = dict(zip(TOOLS, names, strict=True))

    def renamed(value: Any) -> Any:
        if isinstance(value, list):
            return sorted(map(renamed, value))
        return table.get(value, value) if isinstance(value, str) else value

    parts = [(name, {k: renamed(v) for k, v in given.items()}) for name, given in pair]
    return json.dumps(sorted(parts, key=str), sort_keys=True)


def guard_of(pair: Sequence[Part]) -> Guard | None:
    """The guard; None for a pair that does not load."""
    named = enumerate(pair)
    try:
        return Guard(
            contract(f"{n}").guarantees(find_pattern(p).rule(args)) for n, (p, args) in named
        )
    except ContractError:
        return None


# --- sessions ---------------------------------------------------------------------------------


class Copies:
    """Copies of sessions, made from snapshots."""

    def __init__(self, guard: Guard) -> None:
        self.guard = guard

    def open(self, state: Snapshot | None) -> Session:
        if state is None:
            return self.guard.session("s", clock=lambda: 0.0)
        return self.guard.restore(state, clock=lambda: 0.0)

    def after(self, state: Snapshot | None, action: Action) -> Snapshot | None:
        """The state after this action; None if it is not allowed."""
        session = self.open(state)
        return session.snapshot() if acted(session, action) else None

    def allows(self, state: Snapshot | None, tool: str) -> bool:
        return isinstance(self.open(state).decide(tool, id="asked"), Allowed)


def acted(session: Session, action: Action) -> bool:
    """Do it; whether it was allowed."""
    kind, name, ending = action
    id = name
    if kind == "call":
        id = f"{name}{session.calls}"
        if not isinstance(session.decide(name, id=id), Allowed):
            return False
    if ending == "open":
        return True
    return not session.settle(id, **({"error": "no"} if ending == "error" else {"output": None}))


def flying(state: Snapshot | None) -> list[str]:
    """The ids of the calls in flight, as they were given."""
    if state is None:
        return []
    return [key for key, _ in state["flights"]["map"]]


def continuations(state: Snapshot | None) -> Iterator[Action]:
    """All that can happen next."""
    yield from (("call", tool, end) for tool in (*TOOLS, OTHER) for end in ENDINGS)
    yield from (("land", id, end) for id in flying(state) for end in ENDINGS)


def key_of(state: Snapshot) -> str:
    """Equal for states with equal futures."""
    return json.dumps(state, sort_keys=True)


def states(copies: Copies, events: int) -> Iterator[tuple[Snapshot | None, str]]:
    """Every state that a trace of at most so many events leads to, with one such trace."""
    level: dict[str, tuple[Snapshot | None, str]] = {"": (None, "")}
    for n in range(events + 1):
        yield from level.values()
        following: dict[str, tuple[Snapshot | None, str]] = {}
        for state, trace in level.values() if n < events else ():
            opened: list[Action] = [("call", tool, "open") for tool in TOOLS]
            for action in (*continuations(state), *opened):
                after = copies.after(state, action)
                if after is not None:
                    following.setdefault(key_of(after), (after, f"{trace} {' '.join(action)};"))
        level = following


def shortest(copies: Copies, state: Snapshot | None, tool: str, most: int) -> int | None:
    """How many actions it takes until `tool` may be called, up to `most`; by trying all of them."""
    level, seen = [state], set[str]()
    for n in range(1, most + 1):
        following = []
        for each in level:
            for action in continuations(each):
                after = copies.after(each, action)
                if after is None or key_of(after) in seen:
                    continue
                seen.add(key_of(after))
                if copies.allows(after, tool):
                    return n
                following.append(after)
        level = following
    return None


# --- advice -----------------------------------------------------------------------------------

STEP = re.compile(
    r"(?:call (?:`(?P<tool>\w)`|some other tool)|"
    r"wait for the result of `(?P<landing>\w)`, which is in flight)"
    r"(?: \((?P<ending>it must succeed|it has to fail)[^()]*\))?"
    r"(?: (?P<times>\d+) times)?"
)
NO_CALLS = "no calls make it legal in this session"
NOTHING_FOUND = "no short way to make it legal was found"


def way_of(advice: str) -> list[re.Match[str]] | None:
    """The steps that the advice tells; None if it says that there are none."""
    _, _, told = advice.rpartition("; ")
    if told in (NO_CALLS, NOTHING_FOUND):
        return None
    begin, _, steps = told.partition(", first ")
    assert begin == "to make it legal", advice
    found = [STEP.fullmatch(step) for step in steps.split(", then ")]
    assert None not in found, advice
    return [step for step in found for _ in range(int(step["times"] or 1))] if found else []


def follow(copies: Copies, state: Snapshot | None, way: list[re.Match[str]], free: str) -> Any:
    """The state after the way; where it does not ask for an ending, the ending is `free`."""
    for step in way:
        asked = step["ending"]
        end = free if asked is None else "ok" if "succeed" in asked else "error"
        name = step["landing"]
        if name is None:
            actions: list[Action] = [("call", step["tool"] or OTHER, end)]
        else:
            actions = [("land", id, end) for id in flying(state) if id[0] == name]
        found = (copies.after(state, action) for action in actions)
        state = next((after for after in found if after is not None), None)
        if state is None:
            return None
    return state


@dataclass
class Tally:
    """How many blocked calls were told what; the mistakes, in words."""

    told: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


def check(pair: Sequence[Part], tally: Tally, events: int = EVENTS) -> None:
    """Follow up every call that this policy blocks."""
    guard = guard_of(pair)
    if guard is None:
        tally.told["policies that do not load"] += 1
        return
    tally.told["policies"] += 1
    copies = Copies(guard)
    for state, trace in states(copies, events):
        for tool in (*TOOLS, OTHER):
            outcome = copies.open(state).decide(tool, id="asked")
            if isinstance(outcome, Blocked):
                mistake = _mistake(copies, state, tool, outcome.advice, tally)
                if mistake:
                    tally.wrong.append(f"{pair}:{trace} {tool}? {outcome.advice}: {mistake}")


def _mistake(copies: Copies, state: Any, tool: str, advice: str, tally: Tally) -> str:
    way = way_of(advice)
    if way is None:
        tally.told[advice.rpartition("; ")[2]] += 1
        fewer = shortest(copies, state, tool, BEYOND)
        return "" if fewer is None else f"{fewer} actions make it legal"
    tally.told[f"{len(way)} steps"] += 1
    for free in ENDINGS:
        after = follow(copies, state, way, free)
        if after is None or not copies.allows(after, tool):
            return f"following it does not make it legal ({free})"
    fewer = shortest(copies, state, tool, len(way) - 1)
    return "" if fewer is None else f"{fewer} actions are enough"


def main(every: int = 1, start: int = 0) -> int:
    """Check every so many policies; tell what was found."""
    tally = Tally()
    chosen = policies()[start::every]
    for n, pair in enumerate(chosen):
        check(pair, tally)
        if n % 50 == 49:
            print(f"{n + 1} of {len(chosen)}: {dict(tally.told)}", flush=True)
    for name, count in sorted(tally.told.items()):
        print(f"{count:8} {name}")
    print(*tally.wrong[:20], sep="\n")
    print(f"{len(tally.wrong)} mistakes")
    return 1 if tally.wrong else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
