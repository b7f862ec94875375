"""Random sessions to watch a guarantee over.

In: a seeded generator, a formula. Out: traces in the events of a trace file, with what the formula
speaks of: successes, failures, calls in flight, late results, messages, plain steps, facts, gaps in
time.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import sponsio_like.logic.formula as f
from tests.fuzz.fuzz_cases import AGES, NUMBERS, TOOLS, WORDS

Event: TypeAlias = dict[str, Any]
"""An event as a trace file has it; a call is named (`id`) after its place in the trace."""

GAPS = (0, 0, 0.5, 0.5, 1, 1, 1.5, 2, 3, 6)


@dataclass
class Traces:
    """Makes random sessions for a formula; the same generator makes the same ones.

    Most begin as the one before has begun: then less has to be played.
    """

    dice: random.Random
    formula: f.Formula
    events: list[Event] = field(default_factory=list)
    flying: list[int] = field(default_factory=list)
    now: float = 0.0

    def __post_init__(self) -> None:
        nodes = list(f.postorder(self.formula))
        self.talks = any(isinstance(n, (f.MessageBy, f.TextMatches, f.Tokens)) for n in nodes)
        self.steps = any(isinstance(n, f.Observed) for n in nodes)
        self.refuses = any(isinstance(n, f.Denied) for n in nodes)
        self.facts = any(isinstance(n, (f.Ctx, f.Permitted, f.Approved, *AGES)) for n in nodes)
        bounds = [getattr(n, "bound", None) for n in nodes]
        self.spans = [bound.count for bound in bounds if isinstance(bound, f.Seconds)]

    def trace(self, length: int) -> list[Event]:
        """A session of about that many events."""
        places = [self.dice.randint(0, min(len(self.events), 6)) for _ in range(3)]
        self.branch(0 if self.dice.random() < 0.1 else max(places))
        length = max(length, len(self.events) + 1)
        talks, steps = self.talks, self.steps
        own = self.dice.random() < 0.7 and (talks or steps)
        eager, wait = self.dice.random(), self.dice.random() * 0.5
        while len(self.events) < length:
            self.pass_time()
            kind = self.dice.random()
            if self.flying and (kind < 0.35 or len(self.flying) > 1):
                self.settle(self.flying.pop(self.dice.randrange(len(self.flying))), eager)
            elif self.facts and kind < 0.55:
                self.fact()
            elif self.refuses and kind < 0.55:
                self.refusal()
            elif own and kind < 0.85:
                (self.message if talks and (not steps or kind < 0.7) else self.step)()
            else:
                self.call(eager, wait)
        return self.events

    def pass_time(self) -> None:
        """Some time passes; at times a bound ends just now."""
        ends = {event["time"] + span for event in self.events for span in self.spans}
        later = sorted(end for end in ends if end > self.now)
        if later and self.dice.random() < 0.4:
            self.now = self.dice.choice(later)
        else:
            self.now += self.dice.choice(GAPS)

    def branch(self, length: int) -> None:
        """Go back to the beginning of the last session."""
        self.events = self.events[:length]
        self.now = self.events[-1]["time"] if self.events else 0.0
        settled = {event["id"] for event in self.events if event["type"] == "result"}
        calls = [i for i, event in enumerate(self.events) if event["type"] == "call"]
        self.flying = [i for i in calls if self.events[i]["id"] not in settled]

    def call(self, eager: float, wait: float) -> None:
        """A call; most settle at once."""
        number = len(self.events)
        tool = self.dice.choice([*TOOLS, *TOOLS, "other"])
        event: Event = {"type": "call", "tool": tool, "id": str(number), "args": self.arguments()}
        if self.dice.random() < 0.3:
            event |= {"agent": "bob", "depth": self.dice.randrange(3)}
        self.events.append(event | {"time": self.now})
        if self.dice.random() < wait:
            self.flying.append(number)
        else:
            self.settle(number, eager)

    def refusal(self) -> None:
        """Somebody has refused a call; that takes no time."""
        tool = self.dice.choice(TOOLS)
        event: Event = {"type": "refused", "tool": tool, "args": self.arguments()}
        if self.dice.random() < 0.3:
            event |= {"agent": "bob"}
        self.events.append(event | {"time": self.events[-1]["time"] if self.events else 0.0})

    def settle(self, number: int, eager: float) -> None:
        """The call settles: done or failed."""
        status = "ok" if self.dice.random() < 0.3 + 0.6 * eager else "error"
        output = {"ok": self.dice.choice(WORDS), "n": self.dice.choice(NUMBERS)}
        event = {"type": "result", "id": str(number), "status": status, "output": output}
        self.events.append(event | {"time": self.now})

    def arguments(self) -> dict[str, Any]:
        """Arguments that conditions speak of; now and then one is missing or of another type."""
        args: dict[str, Any] = {
            "n": self.dice.choice(NUMBERS),
            "to": self.dice.choice(WORDS),
            "who": {"id": self.dice.choice([1, 2])},
        }
        kind = self.dice.random()
        if kind < 0.15:
            del args[self.dice.choice(list(args))]
        elif kind < 0.22:
            args[self.dice.choice(list(args))] = "odd"
        return args if kind < 0.8 else {"n": 1}

    def message(self) -> None:
        """A message."""
        role, text = self.dice.choice(["user", "assistant", "tool"]), self.dice.choice(WORDS)
        event: Event = {"type": "message", "role": role, "text": text, "time": self.now}
        if self.dice.random() < 0.5:
            event["usage"] = {"total_tokens": self.dice.randrange(6)}
        self.events.append(event)

    def step(self) -> None:
        """A plain step."""
        atoms = [name for name in ("p", "q", "r") if self.dice.random() < 0.5]
        self.events.append({"type": "step", "atoms": atoms, "time": self.now})

    def fact(self) -> None:
        """The host tells something."""
        decision = self.dice.choice(["approve", "refuse"])
        key, value = self.dice.choice(
            [
                ("stage", self.dice.choice([*WORDS, 3])),
                ("permissions", self.dice.choice([["write"], [], {"bob": ["write"]}])),
                ("approval", {"action": "pay", "role": "boss", "by": "x", "decision": decision}),
            ]
        )
        self.events.append({"type": "fact", "key": key, "value": value, "time": self.now})


def late(events: Iterable[Event], dice: random.Random) -> list[Event]:
    """The same events with results that come later, in another order, if at all."""
    kept: list[Event] = []
    waiting: list[tuple[int, Event]] = []
    each = list(events)
    times = [event["time"] for event in each]
    for number, event in enumerate(each):
        if event["type"] == "result" and dice.random() < 0.6:
            waiting.append((number + dice.randint(1, 8), event))
        else:
            kept.append(event)
        come = [event for due, event in waiting if due <= number]
        waiting = [(due, event) for due, event in waiting if due > number]
        dice.shuffle(come)
        kept += come
    last = times[-1:]
    return [
        {**event, "time": time}
        for event, time in zip(kept, (times + last * len(kept))[: len(kept)], strict=True)
    ]
