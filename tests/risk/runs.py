"""Small contracts and random traces for the tests of risk, with a second count of their own."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from sponsio_like import Contract, contract
from sponsio_like.traces.trace import Trace, trace_of

TOOLS = ("look", "pay", "send")


def contracts() -> list[Contract]:
    """At most two payments, and none before a look."""
    return [
        contract("two payments at most").guarantees("tool `pay` at most 2 times"),
        contract("look first").guarantees("tool `look` must precede `pay`"),
    ]


def trace(calls: Sequence[str], name: str = "t", **fields: Any) -> Trace:
    """A trace in the notation of the patterns: `pay`, `pay!` failed, `pay-` was refused."""
    status = {"!": "error", "-": "refused"}
    events = [{"tool": each.rstrip("!-"), "status": status.get(each[-1], "ok")} for each in calls]
    return trace_of({"id": name, "events": events, **fields}, name)


def random_calls(rng: random.Random, *, refused: bool = False) -> list[str]:
    """Calls at random, some of which fail; `refused`: some runs were stopped by somebody."""
    calls = [rng.choice(TOOLS) + rng.choice(["", "", "!"]) for _ in range(rng.randint(0, 7))]
    if refused and rng.random() < 0.3:
        calls.insert(rng.randint(0, len(calls)), "send-")
    return calls


def first_bad(calls: Sequence[str]) -> int | None:
    """The first call that breaks one of the contracts; counted without the engine."""
    paid, looked = 0, False
    for i, each in enumerate(calls):
        if each.endswith("-"):
            return None
        tool = each.rstrip("!")
        if tool == "pay":
            paid += 1
            if paid > 2 or not looked:
                return i
        looked |= tool == "look" and not each.endswith("!")
    return None
