"""What the patterns mean, as plain Python over whole traces: the second opinion.

In: the calls that were let through, as far as they have settled, and the call to be decided. Out:
is it refused? Nothing here comes from the package.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, NamedTuple, TypeAlias


class Told(NamedTuple):
    """A fact, and when the host told it; of a message, the key is `message user`.

    Of a call that was refused it is `refused`, and the value its tool and its arguments.
    """

    key: str
    value: Any
    time: float


@dataclass
class Seen:
    """A call (or a message): what it was, when, what was known then, and what became of it so far.

    `arrived`: how many calls had been let through when its result came.
    """

    tool: str
    args: dict[str, Any]
    agent: str
    time: float
    facts: dict[str, Any]
    status: str = "open"
    output: Any = None
    arrived: int | None = None
    depth: int = 0
    role: str = ""
    text: str = ""
    told: tuple[Told, ...] = ()
    tokens: int = 0
    id: str = field(default="", repr=False)


YES: tuple[Any, ...] = ("yes", "OK.", {"status": "confirmed"}, {"ok": True, "answer": "ok"})
"""Outputs that refuse."""

Refused: TypeAlias = Callable[[list[Seen], Seen], bool]
Owed: TypeAlias = Callable[[list[Seen]], bool]


def nothing(past: list[Seen]) -> bool:
    return False


def never(past: list[Seen], now: Seen) -> bool:
    return False


def either(one: Refused, other: Refused) -> Refused:
    return lambda past, now: one(past, now) or other(past, now)


def is_call(tool: str) -> Refused:
    return lambda past, now: now.tool == tool


def not_among(*tools: str) -> Refused:
    return lambda past, now: now.tool not in tools


# --- what has to come before ----------------------------------------------------------------------


def lacks_success(tool: str, *firsts: str) -> Refused:
    def refused(past: list[Seen], now: Seen) -> bool:
        succeeded = {call.tool for call in past if call.status == "ok"}
        return now.tool == tool and not succeeded.intersection(firsts)

    return refused


def lacks_recent(
    tool: str, first: str, *, steps: int = 99, seconds: float = 99, says: Any = None
) -> Refused:
    """No success of the first was so near, counted from the call itself; `says`: no such answer."""

    def refused(past: list[Seen], now: Seen) -> bool:
        near = [c for c in past[-steps:] if now.time - c.time <= seconds]
        known = [
            c for c in near if c.tool == first and c.status == "ok" and says in (None, c.output)
        ]
        return now.tool == tool and not known

    return refused


def lacks_call(tool: str, first: str) -> Refused:
    return lambda past, now: now.tool == tool and first not in [call.tool for call in past]


def lacks_all(tool: str, steps: Sequence[str], *, called: bool = False) -> Refused:
    def refused(past: list[Seen], now: Seen) -> bool:
        finished = [call.tool for call in past if called or call.status == "ok"]
        return now.tool == tool and any(step not in finished for step in steps)

    return refused


def others_lack(*firsts: str, glob: str = "*", each: bool = False) -> Refused:
    """A call that the glob covers, but for the firsts: none has succeeded, or not `each`."""

    def refused(past: list[Seen], now: Seen) -> bool:
        succeeded = {call.tool for call in past if call.status == "ok"}
        missing = [first not in succeeded for first in firsts]
        covered = fnmatchcase(now.tool, glob) and now.tool not in firsts
        return covered and (any(missing) if each else all(missing))

    return refused


def others_lack_own(first: str, *, yes: bool = False) -> Refused:
    """Any other call needs a success of the first since the one before; `yes`: that says so."""

    def refused(past: list[Seen], now: Seen) -> bool:
        last = max((i for i, call in enumerate(past) if call.tool != first), default=-1)
        own = [call for call in past[last + 1 :] if call.status == "ok"]
        return now.tool != first and not any(says_yes(call) or not yes for call in own)

    return refused


def since_last(tool: str, past: list[Seen]) -> list[Seen]:
    """The calls after the last one of `tool`; all of them if there is none."""
    last = max((i for i, call in enumerate(past) if call.tool == tool), default=-1)
    return past[last + 1 :]


def says_yes(call: Seen) -> bool:
    return call.status == "ok" and (call.output is True or call.output in YES)


def lacks_own_yes(tool: str, by: str, same: str | None = None) -> Refused:
    def refused(past: list[Seen], now: Seen) -> bool:
        if now.tool != tool:
            return False
        if same is not None:
            if same not in now.args:
                return True
            past = [call for call in past if call.args.get(same) == now.args[same]]
        recent = since_last(tool, past)
        return not any(c.tool == by and says_yes(c) for c in recent)

    return refused


def lacks_own(tool: str, by: str, output: Any) -> Refused:
    def refused(past: list[Seen], now: Seen) -> bool:
        answers = [c.output for c in since_last(tool, past) if c.tool == by and c.status == "ok"]
        return now.tool == tool and output not in answers

    return refused


def lacks_own_match(tool: str, by: str, regex: str) -> Refused:
    def refused(past: list[Seen], now: Seen) -> bool:
        texts = [
            call.output
            for call in since_last(tool, past)
            if call.tool == by and call.status == "ok" and isinstance(call.output, str)
        ]
        return now.tool == tool and not any(re.match(regex, text) for text in texts)

    return refused


def lacks_permission(tool: str, permission: str) -> Refused:
    def refused(past: list[Seen], now: Seen) -> bool:
        return now.tool == tool and permission not in now.facts.get("permissions", [])

    return refused


def lacks_approval(tool: str, role: str) -> Refused:
    def refused(past: list[Seen], now: Seen) -> bool:
        return now.tool == tool and role not in now.facts.get("approvals", [])

    return refused


# --- what must not come after ---------------------------------------------------------------------


def after_success(tool: str, source: str) -> Refused:
    def refused(past: list[Seen], now: Seen) -> bool:
        return now.tool == tool and any(c.tool == source and c.status == "ok" for c in past)

    return refused


def after_effort(tool: str, source: str) -> Refused:
    def refused(past: list[Seen], now: Seen) -> bool:
        return now.tool == tool and any(c.tool == source and c.status != "error" for c in past)

    return refused


def after_call(tool: str, source: str) -> Refused:
    return lambda past, now: now.tool == tool and source in [call.tool for call in past]


def after_agent(agent: str, source: str) -> Refused:
    def refused(past: list[Seen], now: Seen) -> bool:
        return now.agent == agent and any(c.agent == source and c.status == "ok" for c in past)

    return refused


def exclusive(one: str, other: str, *, failed: bool = False) -> Refused:
    def refused(past: list[Seen], now: Seen) -> bool:
        counting = {call.tool for call in past if failed or call.status != "error"}
        return (now.tool == one and other in counting) or (now.tool == other and one in counting)

    return refused


def both_by_one(one: str, other: str, *, failed: bool = False) -> Refused:
    alone = exclusive(one, other, failed=failed)
    return lambda past, now: alone([call for call in past if call.agent == now.agent], now)


def both_by_one_for(one: str, other: str, key: str) -> Refused:
    """As `both_by_one`, among the calls with the same value; without one the call is refused."""
    alone = both_by_one(one, other)

    def refused(past: list[Seen], now: Seen) -> bool:
        if now.tool not in (one, other):
            return False
        like = [call for call in past if call.args.get(key) == now.args.get(key)]
        return key not in now.args or alone(like, now)

    return refused


# --- what has to come next ------------------------------------------------------------------------


def not_next(trigger: str, tool: str) -> Refused:
    return lambda past, now: bool(past) and past[-1].tool == trigger and now.tool != tool


def last_is(tool: str) -> Owed:
    return lambda past: bool(past) and past[-1].tool == tool


def not_after_rise(key: str, value: Any, tool: str) -> Refused:
    def refused(past: list[Seen], now: Seen) -> bool:
        before = past[-1].facts.get(key) if past else None
        return now.facts.get(key) == value and before != value and now.tool != tool

    return refused


def unanswered(trigger: str, response: str) -> Owed:
    """Some trigger that has not failed has no successful response after it."""

    def owed(past: list[Seen]) -> bool:
        for i, call in enumerate(past):
            later = [each.tool for each in past[i + 1 :] if each.status == "ok"]
            if call.tool == trigger and call.status != "error" and response not in later:
                return True
        return False

    return owed


def unanswered_calls(trigger: str, response: str) -> Owed:
    def owed(past: list[Seen]) -> bool:
        tools = [call.tool for call in past]
        if trigger not in tools:
            return False
        return response not in tools[len(tools) - 1 - tools[::-1].index(trigger) + 1 :]

    return owed


def missed(trigger: str, actions: str, steps: int) -> Refused:
    """This call is the last that could have been one of `actions`, and is another."""

    def refused(past: list[Seen], now: Seen) -> bool:
        tools = [*(call.tool for call in past), now.tool]
        last = len(tools) - 1 - steps
        return last >= 0 and tools[last] == trigger and not set(actions) & set(tools[last + 1 :])

    return refused


def still_due(trigger: str, actions: str, steps: int) -> Owed:
    def owed(past: list[Seen]) -> bool:
        tools = [call.tool for call in past]
        recent = range(max(0, len(tools) - steps), len(tools))
        return any(tools[i] == trigger and not set(actions) & set(tools[i + 1 :]) for i in recent)

    return owed


# --- how often ------------------------------------------------------------------------------------


def too_often(
    tool: str,
    limit: int,
    *,
    failed: bool = True,
    steps: int | None = None,
    seconds: float | None = None,
) -> Refused:
    def refused(past: list[Seen], now: Seen) -> bool:
        calls = [*past, now]
        if steps is not None:
            calls = calls[-steps:]
        if seconds is not None:
            calls = [call for call in calls if now.time - call.time < seconds]
        counted = [c for c in calls if c.tool == tool and (failed or c.status != "error")]
        return now.tool == tool and len(counted) > limit

    return refused


def again_with(tool: str, key: str) -> Refused:
    def same(one: Any, other: Any) -> bool:
        return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)

    def refused(past: list[Seen], now: Seen) -> bool:
        if now.tool != tool:
            return False
        if key not in now.args:
            return True
        return any(
            c.tool == tool and key in c.args and same(c.args[key], now.args[key]) for c in past
        )

    return refused


def within_steps(tool: str, steps: int, *, failed: bool = True) -> Refused:
    def refused(past: list[Seen], now: Seen) -> bool:
        recent = [c for c in past[-steps:] if c.tool == tool and (failed or c.status != "error")]
        return now.tool == tool and bool(recent)

    return refused


def within_seconds(tool: str, seconds: float) -> Refused:
    def refused(past: list[Seen], now: Seen) -> bool:
        times = [call.time for call in past if call.tool == tool]
        return now.tool == tool and any(now.time - time < seconds for time in times)

    return refused


def too_soon_after(tool: str, other: str, seconds: float, key: str = "") -> Refused:
    """The other tool was called less than so long ago, for the same value of `key`."""

    def refused(past: list[Seen], now: Seen) -> bool:
        if key and now.tool in (tool, other) and key not in now.args:
            return True
        found = [call for call in past if call.tool == other]
        alike = [call for call in found if not key or call.args.get(key) == now.args[key]]
        return now.tool == tool and any(now.time - call.time < seconds for call in alike)

    return refused


def steps_after(tool: str, other: str, steps: int, *, failed: bool = True) -> Refused:
    def refused(past: list[Seen], now: Seen) -> bool:
        recent = [c for c in past[-steps:] if c.tool == other and (failed or c.status != "error")]
        return now.tool == tool and bool(recent)

    return refused


def too_often_with(tool: str, limit: int, key: str) -> Refused:
    def refused(past: list[Seen], now: Seen) -> bool:
        if now.tool != tool or key not in now.args:
            return now.tool == tool
        alike = [c for c in past if c.tool == tool and c.args.get(key) == now.args[key]]
        return len(alike) >= limit

    return refused


def too_many_retries(tool: str, limit: int) -> Refused:
    """Tries after the first failure since the last success; this one included."""

    def refused(past: list[Seen], now: Seen) -> bool:
        calls = [call for call in past if call.tool == tool]
        statuses = [call.status for call in calls]
        if "ok" in statuses:
            statuses = statuses[len(statuses) - statuses[::-1].index("ok") :]
        if now.tool != tool or "error" not in statuses:
            return False
        return len(statuses) - statuses.index("error") > limit

    return refused


def looping(tool: str, limit: int) -> Refused:
    def refused(past: list[Seen], now: Seen) -> bool:
        run = 1
        for call in reversed(past):
            if call.tool != tool or call.args != now.args:
                break
            run += 1
        return now.tool == tool and run > limit

    return refused


def refused_before(limit: int, like: Callable[[Any, Seen], bool]) -> Refused:
    """`like`: whether a refused call, its tool and its arguments, counts for this one."""

    def refused(past: list[Seen], now: Seen) -> bool:
        tries = [each.value for each in now.told if each.key == "refused"]
        return now.tool != "" and sum(like(each, now) for each in tries) >= limit

    return refused


def argument(tool: str, key: str, wrong: Callable[[Any], bool]) -> Refused:
    """`wrong` is asked about the value; a call without it is asked about `None`."""
    return lambda past, now: now.tool == tool and wrong(now.args.get(key))
