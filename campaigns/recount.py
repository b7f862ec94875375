"""Reads a trace's events for the recounts, and has the recounts that several files share.

Plain Python over JSON, without a line of the engine.

In: the `events` of one trace as read from JSON. Out: its calls and messages in order, each with the
position that a replay gives it (the calls before it). A recount is a function from these to the
positions where a rule of the example contracts spoke (`triggered`) and where it was broken.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

AT_THE_END = -1
"""The position of what is still missing when a trace ends."""


@dataclass(frozen=True)
class Moment:
    """A call or a message. A message has no tool, a call no role."""

    at: int
    tool: str = ""
    args: Mapping[str, Any] = field(default_factory=dict)
    ok: bool = True
    output: Any = None
    role: str = ""
    text: str = ""


@dataclass
class Found:
    """The positions where a rule spoke, and where it was broken."""

    triggered: list[int] = field(default_factory=list)
    broken: list[int] = field(default_factory=list)

    def speaks(self, at: int, *, broken: bool) -> None:
        """Note that the rule speaks at this position."""
        self.triggered.append(at)
        if broken:
            self.broken.append(at)


Recount: TypeAlias = Callable[[Sequence[Moment]], Found]


def moments(events: Sequence[Mapping[str, Any]]) -> list[Moment]:
    """Return the calls and messages of a trace in which every call has its result."""
    out: list[Moment] = []
    calls = 0
    for event in events:
        if event.get("type", "call") == "message":
            out.append(Moment(calls, role=event["role"], text=event.get("text") or ""))
            continue
        ok = event.get("status", "ok") == "ok"
        args = event.get("args") or {}
        out.append(Moment(calls, event["tool"], args, ok, event.get("output")))
        calls += 1
    return out


def needs_before(then: set[str], *firsts: set[str]) -> Recount:
    """Recount: each call of `then` comes after a success of each of `firsts`."""

    def recount(trace: Sequence[Moment]) -> Found:
        found, seen = Found(), [False] * len(firsts)
        for now in trace:
            if now.tool in then:
                found.speaks(now.at, broken=not all(seen))
            seen = [
                had or (now.ok and now.tool in first)
                for had, first in zip(seen, firsts, strict=True)
            ]
        return found

    return recount


def never_after(then: set[str], first: set[str]) -> Recount:
    """Recount: no call of `then` comes after a success of `first`."""

    def recount(trace: Sequence[Moment]) -> Found:
        found, seen = Found(), False
        for now in trace:
            if now.tool in then:
                found.speaks(now.at, broken=seen)
            seen = seen or (now.ok and now.tool in first)
        return found

    return recount


def at_most(tools: set[str], limit: int) -> Recount:
    """Recount: at most `limit` calls."""

    def recount(trace: Sequence[Moment]) -> Found:
        found, count = Found(), 0
        for now in trace:
            if now.tool in tools:
                count += 1
                found.speaks(now.at, broken=count > limit)
        return found

    return recount


def each_call(tools: set[str], fine: Callable[[Moment], bool]) -> Recount:
    """Recount: each call of these tools is fine by itself."""

    def recount(trace: Sequence[Moment]) -> Found:
        found = Found()
        for now in trace:
            if now.tool in tools:
                found.speaks(now.at, broken=not fine(now))
        return found

    return recount


def retries(tools: set[str], limit: int) -> Recount:
    """Recount: after a failure at most `limit` more tries until one succeeds."""

    def recount(trace: Sequence[Moment]) -> Found:
        found, tries = Found(), None
        for now in trace:
            if now.tool not in tools:
                continue
            if tries is not None:
                tries += 1
                found.speaks(now.at, broken=tries > limit)
            if now.ok:
                tries = None
            elif tries is None:
                tries = 0
        return found

    return recount


def runs(limit: int) -> Recount:
    """Recount: no call more than `limit` times in a row with the same arguments.

    It speaks after `limit` of them.
    """

    def recount(trace: Sequence[Moment]) -> Found:
        found, run, before = Found(), 0, None
        for now in trace:
            if not now.role:
                args = {name: each for name, each in now.args.items() if each is not None}
                call = (now.tool, args)
                same = before == call
                if run >= limit:
                    found.speaks(now.at, broken=same)
                run = run + 1 if same else 1
                before = call
        return found

    return recount


def exclusive(left: set[str], right: set[str]) -> Recount:
    """Recount: not both, unless one has failed.

    It speaks at each call of `right` and at what breaks it.
    """

    def recount(trace: Sequence[Moment]) -> Found:
        found, seen_left, seen_right = Found(), False, False
        for now in trace:
            broken = (now.tool in left and seen_right) or (now.tool in right and seen_left)
            if now.tool in right or broken:
                found.speaks(now.at, broken=broken)
            seen_left = seen_left or (now.tool in left and now.ok)
            seen_right = seen_right or (now.tool in right and now.ok)
        return found

    return recount


def texts(value: Any) -> list[str]:
    """Return every text inside a value."""
    match value:
        case str():
            return [value]
        case list():
            return [text for each in value for text in texts(each)]
        case dict():
            return [text for each in value.values() for text in texts(each)]
    return []


def says(pattern: str, text: Any) -> bool:
    """True if a text matches the pattern somewhere, in upper or lower case."""
    return isinstance(text, str) and bool(re.search(pattern, text, re.IGNORECASE | re.ASCII))
