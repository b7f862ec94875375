"""Makes random sessions of the tools of a specification, to compare contracts on.

In: a specification, contracts, a seed. Out: sessions, as many about each contract: of the tools
that it names, with values at and beside the numbers in it, repeated as often as they say. Calls
come one after the other, and each has its result before the next.
"""

from __future__ import annotations

import fnmatch
import random
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from campaigns.draft_runs import Specification
from sponsio_like.contracts import Contract, formulas

LENGTHS = (3, 12)
"""The fewest and the most events of most sessions."""
LONG = 150
"""The events of the others, in which any tool is called, some often and some hardly ever."""
REPEATED = 0.15
"""The share of sessions that are one call, again and again."""
OFTEN_LONG = 0.1
"""The share of long ones among the others."""


def sessions(
    spec: Specification, contracts: Iterable[Contract], each: int, seed: int
) -> Iterator[dict[str, Any]]:
    """Yield so many sessions about each contract, as a trace file has them."""
    for contract in contracts:
        about = " ".join([repr(contract), *map(repr, formulas(contract))])
        dice = random.Random(f"{seed}/{spec.id}/{about}")  # noqa: S311  no secret
        player = Player(spec, about, dice)
        for number in range(each):
            yield {"id": f"{contract.name}/{number}", "events": player.session()}


@dataclass
class Player:
    """Plays sessions about one contract, of which it knows the words and the numbers."""

    spec: Specification
    about: str
    dice: random.Random
    tools: list[str] = field(default_factory=list)
    numbers: list[float] = field(default_factory=list)
    events: list[dict[str, Any]] = field(default_factory=list)
    now: float = 0.0
    trouble: float = 0.0

    def __post_init__(self) -> None:
        globs = re.findall(r"\w*\*\w*", self.about)
        self.tools = [
            tool
            for tool in self.spec.tools
            if re.search(rf"\b{tool}\b", self.about)
            or any(fnmatch.fnmatch(tool, glob) for glob in globs)
        ] or list(self.spec.tools)
        found = re.findall(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.])", self.about)
        self.numbers = sorted({float(each) for each in found})

    def session(self) -> list[dict[str, Any]]:
        """Return the events of one session."""
        self.events, self.now = [], 0.0
        self.trouble = self.dice.choice([0.1, 0.5, 0.9])
        for key, values in self.spec.facts.items():
            if self.dice.random() < 0.8:
                self.event(type="fact", key=key, value=self.dice.choice(values))
        if self.dice.random() < REPEATED:
            self.repeat()
        elif self.dice.random() < OFTEN_LONG:
            some = [tool for tool in self.spec.tools for _ in range(4 ** self.dice.randrange(4))]
            for _ in range(LONG):
                self.anything(some)
        else:
            few = self.dice.sample(self.tools, min(len(self.tools), self.dice.randint(1, 4)))
            for _ in range(self.dice.randint(*LENGTHS)):
                self.anything(few)
        return self.events

    def repeat(self) -> None:
        """One call, about as often as a number of the contract says."""
        often = [int(each) for each in self.numbers if 0 < each <= 50] or [2]
        tool, same = self.dice.choice(self.tools), self.dice.random() < 0.5
        args = self.args(tool)
        for _ in range(self.dice.choice(often) + self.dice.randint(0, 2)):
            self.call(tool, args if same else self.args(tool))

    def anything(self, few: list[str]) -> None:
        """A message, a fact or a call; most are calls of these few tools."""
        kind = self.dice.random()
        if kind < 0.12:
            texts = (*self.spec.texts, *self.spec.more.get("texts", ()))
            role = self.dice.choice(self.spec.roles)
            self.event(type="message", role=role, text=self.dice.choice(texts))
        elif kind < 0.2 and self.spec.facts:
            key = self.dice.choice(list(self.spec.facts))
            self.event(type="fact", key=key, value=self.dice.choice(self.spec.facts[key]))
        else:
            tool = self.dice.choice(few if kind < 0.9 else list(self.spec.tools))
            self.call(tool, self.args(tool))

    def call(self, tool: str, args: dict[str, Any]) -> None:
        """A call that succeeds, or fails if its tool may."""
        own = self.spec.tools[tool]
        outputs = (*own.outputs, *self.spec.more.get(tool, {}).get("output", ()))
        fails = own.fails and self.dice.random() < self.trouble
        status = "error" if fails else "ok"
        by = {"agent": self.dice.choice(self.spec.agents)} if self.spec.agents else {}
        output = "failed" if fails else self.dice.choice(outputs)
        self.event(tool=tool, args=args, status=status, output=output, **by)

    def args(self, tool: str) -> dict[str, Any]:
        """Values for all arguments of a tool."""
        more = self.spec.more.get(tool, {}).get("args", {})
        return {
            name: self.value((*values, *more.get(name, ())))
            for name, values in self.spec.tools[tool].args.items()
        }

    def value(self, values: tuple[Any, ...]) -> Any:
        """One of these values, or one at the edge of a number of the contract."""
        value = self.dice.choice(values)
        if not self.numbers or self.dice.random() > 0.3:
            return value
        number = self.dice.choice(self.numbers)
        match value:
            case bool():
                return value
            case int() | float():
                step = 1 if all(isinstance(each, int) for each in values) else 0.01
                beside = number + self.dice.choice([-step, 0, step])
                return int(beside) if step == 1 else beside
            case list() if value and number <= 10:
                return [value[0]] * (int(number) + self.dice.randint(0, 1))
            case str() if 15 <= number <= 2000 and self.dice.random() < 0.5:
                return (value * int(number))[: int(number) + self.dice.randint(-1, 1)]
        return value

    def event(self, **fields: Any) -> None:
        """Put an event at the end, some time after the one before."""
        gaps = [each for each in self.numbers if each >= 10]
        wide = bool(gaps) and self.dice.random() < 0.2
        self.now += self.dice.choice(gaps) + self.dice.choice([-1, 0, 1]) if wide else 1.0
        self.events.append({**fields, "time": self.now})
