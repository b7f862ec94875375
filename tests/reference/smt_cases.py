"""Random statements with value variables, and random traces that they are about.

In: dice. Out: pairs of a statement, as the mapping that is written in YAML, and a trace. The
alphabets are small, so that values meet; the values are of all kinds that JSON has.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from math import isnan, nan
from typing import Any, TypeAlias

from tests.reference.smt_values import Event

Written: TypeAlias = dict[str, Any]

TOOLS = ("pay", "vet", "get", "log")
PARTS = {
    "absent": ("match",),
    "precedence": ("match", "requires"),
    "response": ("match", "by"),
    "bounded_response": ("match", "by"),
    "resolved": ("match", "by"),
    "until": ("trigger", "forbidden", "release"),
    "always": ("match", "other"),
}
ANY_JSON: Sequence[Any] = (
    *(1, 1.0, "1", 2, 2.5, True, False, None, "true", [1], [1.0], [], {"k": 1}, {"k": 1.0}),
    *("b", "B", "caf\u00e9", "cafe\u0301", 0.1, 1e3, 1000, "", " b", "$x", -0.0, 0, nan),
    *("9", "10", " 9.5"),
)
TEXTUAL: Sequence[Any] = (
    1,
    1.0,
    "1",
    "b",
    "B",
    "caf\u00e9",
    "cafe\u0301",
    12,
    "12",
    "x_1",
    0.5,
    nan,
)
ARGS = ("to", "name", "items[].sku", "o.id")
SCALAR_WAYS = ("to", "name", "items[].sku", "o.id", "output", "output.id", "agent")
TEXT_WAYS = (
    *("to", "note shows", "output shows", "output.id", "note has", "output has", "items"),
    "every note",
)
SHOWS = "id ([^ ,]+)"


class Cases:
    """Makes pairs, one after the other."""

    def __init__(self, dice: random.Random) -> None:
        self.dice = dice
        self.textual = False
        self.pool: list[Any] = []

    def chance(self, share: float) -> bool:
        """Whether something happens that happens so often."""
        return self.dice.random() < share

    def pair(self) -> tuple[Written, list[Event]]:
        """A statement, and a trace."""
        self.textual = self.chance(0.3)
        values = TEXTUAL if self.textual else ANY_JSON
        self.pool = self.dice.sample(values, self.dice.randint(2, 4))
        self.tools = self.dice.sample(TOOLS, self.dice.randint(2, 3))
        self.words = self.chance(0.16)
        made = self.statement()
        return made, [self.event() for _ in range(self.dice.randint(2, 10))]

    # --- statements -------------------------------------------------------------------------------

    def statement(self) -> Written:
        """A statement of any form; an order may have no variable, and is often one of a glob."""
        form = self.dice.choice(tuple(PARTS))
        whole = self.chance(0.06)
        self.names = ["x", "y"] if self.chance(0.2) and not self.textual and not whole else ["x"]
        same = form != "precedence" or self.chance(0.85)
        parts = {name: self.pattern(name if same else "free", whole) for name in PARTS[form]}
        if form == "precedence" and self.chance(0.3):
            parts["match"]["tool"] = self.dice.choice(("*", f"{self.tools[0][0]}*", ["pay", "*"]))
        if form == "until":
            if self.chance(0.3):
                del parts["release"]
            if self.chance(0.15):
                parts["trigger"] = self.pattern("free", whole)
        if form == "always":
            return {"always": self.body(parts)}
        made: Written = {"pattern": form, **parts}
        return made | ({"within": self.dice.randint(1, 4)} if form == "bounded_response" else {})

    def body(self, parts: Mapping[str, Written]) -> Written:
        """`match` implies something about other events: a body of `not`, `and`, two diamonds."""
        demanded = self.theta(parts, 2)
        return {"not": {"and": [parts["match"], {"not": demanded}]}}

    def theta(self, parts: Mapping[str, Written], depth: int) -> Written:
        match self.dice.choice(("earlier", "later", "not", "and", "is") if depth else ("is",)):
            case "is":
                return parts[self.dice.choice(("other", "other", "match"))]
            case "and":
                return {"and": [self.theta(parts, depth - 1), self.theta(parts, depth - 1)]}
            case op:
                return {op: self.theta(parts, depth - 1)}

    def pattern(self, part: str, whole: bool) -> Written:
        """One `match`; it binds all variables, or none."""
        binding = part in ("match", "forbidden", "trigger") or self.chance(0.85)
        if self.words and part != "match" and len(self.names) == 1 and self.chance(0.5):
            return self.message(binding and part != "free")
        made: Written = {"tool": self.tool()} if self.chance(0.95) else {}
        made["args"] = {}
        if binding and part != "free":
            self.bind(made, whole)
        if self.chance(0.6 if part == "match" else 0.25):
            self.restrict(made, part != "free")
        if self.chance(0.25) and "status" not in made:
            made["status"] = self.dice.choice(("ok", "error", "any"))
        if self.chance(0.05) and binding and set(made["args"]) & {*ARGS, "note"}:
            made["missing"] = "refuse"
        return {name: value for name, value in made.items() if value != {}} or {"tool": "*"}

    def tool(self) -> Any:
        """A tool, a few, or a glob."""
        one = self.dice.choice(self.tools)
        return one if self.chance(0.8) else self.dice.choice((self.tools[:2], f"{one[0]}*", "*e*"))

    def message(self, binding: bool) -> Written:
        """A message, with or without the variable."""
        made: Written = {"message": self.dice.choice(("user", "assistant"))}
        if not binding:
            return made | ({"text": {"matches": "id"}} if self.chance(0.5) else {})
        ways: list[Any] = [{"matches": SHOWS, "bind": "$x"}, {"has": "$x"}, "$x"]
        return made | {"text": self.dice.choice(ways)}

    def bind(self, made: Written, whole: bool) -> None:
        """Bind the variables, each somewhere."""
        args = made["args"]
        if whole:
            if self.chance(0.5):
                made["call"] = "$x"
            else:
                args["*"] = "$x"
            return
        if len(self.names) == 2 and self.chance(0.4):
            self.tie(made)
            return
        if len(self.names) == 2:
            for name, path in zip(self.names, self.dice.sample(ARGS, 2), strict=True):
                args[path] = f"${name}"
            return
        match self.dice.choice(TEXT_WAYS if self.textual else SCALAR_WAYS):
            case "output":
                made["output"] = self.dice.choice(("$x", {"bind": "$x"}))
            case "output.id":
                made["output"] = {"path": "id", "bind": "$x"}
            case "output shows":
                made["output"] = {"matches": SHOWS, "bind": "$x"}
            case "output has":
                made["output"] = {"has": "$x"}
            case "agent":
                made["agent"] = "$x"
            case "note shows":
                args["note"] = {"matches": SHOWS, "bind": "$x"}
            case "note has":
                args["note"] = {"has": "$x"}
            case "every note":
                shows: Written = {"matches": SHOWS, "bind": "$x"}
                args["items[].note"] = {"every": self.dice.choice((shows, {"has": "$x"}))}
            case "items":
                args["items[].sku"] = {"every": "$x"} if self.chance(0.3) else "$x"
            case path:
                args[path] = "$x"

    def tie(self, made: Written) -> None:
        """Bind one variable by the call, and the other one by its answer."""
        one, other = self.dice.sample(self.names, 2)
        made["args"][self.dice.choice(ARGS)] = f"${one}"
        made["output"] = {"path": self.dice.choice(("id", "id", "items[]")), "bind": f"${other}"}
        made["status"] = self.dice.choice(("ok", "ok", "ok", "error"))

    def restrict(self, made: Written, related: bool) -> None:
        """One condition more, on the arguments or the output."""
        plain = [each for each in self.pool if _is_plain(each)] or [1]
        value = self.dice.choice(plain)
        choices: list[Any] = [
            *({"gt": 1}, {"lt": 2}, {"ge": 2, "le": 12}, {"ne": value}, {"in": plain[:2]}),
            *({"matches": "b|1"}, {"gt": "B"}, {"lt": "10"}),
        ]
        if related and not self.textual:
            choices += [{"ne": "$x"}, {"lt": "$x"}, {"ge": "$x"}, {"ne": "$x"}]
        elif related:
            choices += [{"ne": "$x"}]
        wanted = self.dice.choice(choices)
        path = self.dice.choice(("n", "to", "name", "items[].sku"))
        if path == "items[].sku":
            wanted = {self.dice.choice(("some", "every")): wanted}
        if self.chance(0.2) and "output" not in made:
            made["output"] = {"path": "id", **wanted} if path != "items[].sku" else {"matches": "1"}
        else:
            made["args"].setdefault(path, wanted)

    # --- traces -----------------------------------------------------------------------------------

    def event(self) -> Event:
        """A call, settled at once; or a message."""
        if self.words and self.chance(0.3):
            role = self.dice.choice(("user", "assistant"))
            return {"type": "message", "role": role, "text": self.note()}
        tool = self.dice.choice(self.tools if self.chance(0.9) else TOOLS)
        made: Written = {"tool": tool, "args": self.arguments(), "output": self.output()}
        if self.chance(0.2):
            made["status"] = "error"
            made["output"] = self.note()
        agents = [value for value in self.pool if isinstance(value, str) and value]
        if self.chance(0.3):
            made["agent"] = self.dice.choice([*agents, "bob"])
        return made

    def arguments(self) -> Written:
        """Arguments; some lack."""
        args: Written = {}
        for name in ("to", "name", "n"):
            if self.chance(0.85):
                args[name] = self.dice.choice(self.pool)
        if self.chance(0.7):
            skus = (self.dice.choice(self.pool) for _ in range(self.dice.randint(0, 3)))
            args["items"] = [{"sku": sku} if self.chance(0.95) else {} for sku in skus]
            for item in args["items"] if self.textual else ():
                item["note"] = self.note()
            if self.chance(0.03):
                args["items"] = self.dice.choice(self.pool)
        if self.chance(0.7):
            args["o"] = {"id": self.dice.choice(self.pool)}
        if self.chance(0.05):
            args["o.id"] = self.dice.choice(self.pool)
        if self.textual and self.chance(0.9):
            args["note"] = self.note()
        return args if self.chance(0.9) else {}

    def note(self) -> str:
        """A text with some values in it."""
        told = (self.dice.choice(self.pool) for _ in range(self.dice.randint(0, 2)))
        texts = [each if isinstance(each, str) else json.dumps(each) for each in told]
        return ", ".join(f"id {text}" for text in texts) if self.chance(0.9) else " ".join(texts)

    def output(self) -> Any:
        """What a tool answers."""
        value = self.dice.choice(self.pool)
        match self.dice.randint(0, 4):
            case 0:
                return value
            case 1 | 2:
                return {"id": value}
            case 3:
                return json.dumps({"id": value})
        return self.note()


def _is_plain(value: Any) -> bool:
    """Whether a value may stand in a statement, to be compared with."""
    if isinstance(value, float) and isnan(value):
        return False
    return not isinstance(value, list | dict) and value != "$x"
