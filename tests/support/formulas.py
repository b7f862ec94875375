"""Formulas to test with: all small ones, and random ones with every kind of node.

In: a seeded generator. Out: nodes, built as they are, not through the text syntax.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Iterator

import sponsio_like.logic.formula as f

UNARY: dict[str, Callable[[f.Formula], f.Formula]] = {
    "!": f.Not,
    "X": f.Next,
    "WX": f.WeakNext,
    "Y": f.Yesterday,
    "WY": f.WeakYesterday,
    "F": f.Eventually,
    "G": f.Always,
    "O": f.Once,
    "H": f.Historically,
    "F[<=3]": lambda body: f.Eventually(body, f.Steps(3)),
    "G[<=0]": lambda body: f.Always(body, f.Steps(0)),
    "O[<=60s]": lambda body: f.Once(body, f.Seconds(60)),
    "H[<=0.5s]": lambda body: f.Historically(body, f.Seconds(0.5)),
}
BINARY: dict[str, Callable[[f.Formula, f.Formula], f.Formula]] = {
    "<->": f.Iff,
    "->": f.Implies,
    "U": f.Until,
    "W": f.WeakUntil,
    "R": f.Release,
    "S": f.Since,
    "|": lambda left, right: f.Or((left, right)),
    "&": lambda left, right: f.And((left, right)),
}

A = f.Happens("called", (f.Match(("a",)),))
B = f.Happens("done", (f.Match(("b",)),))
INFIX = f.Compare(f.Count(A), "<=", f.Const(1))
NODES = {getattr(f, name) for name in f.__all__ if isinstance(getattr(f, name), type)}
LEAVES = {
    node
    for node in NODES - {f.Node, f.Formula, f.Term}
    if issubclass(node, f.Node) and "Formula" not in str(node.__annotations__.values())
}
"""The atoms and terms: the nodes that hold no formula."""


def small(operators: int) -> Iterator[f.Formula]:
    """Every formula with that many operators over a plain atom and an infix one."""
    if operators == 0:
        yield from (A, INFIX)
        return
    for body in small(operators - 1):
        yield from (make(body) for make in UNARY.values())
    for left in range(operators):
        for pair in itertools.product(small(left), small(operators - 1 - left)):
            yield from (make(*pair) for make in BINARY.values())


WORDS = (
    *("a", "pay_all", "send-email", "mcp__x__y", "customer.id", "items[].sku", "refund:write"),
    *("", " ", "bash<|channel|>commentary", "we*rd", "[a]", "?", "*", "=x", "@agent", "$x", "2fa"),
    *('"', "'", "it's", "\\", "\\d+$", "\n\t\0", "Ünïcode", "工具", "😀", "\ud800", "a;b", "a,b"),
    *("true", "null", "NaN", "Infinity", "in", "since", "called", "G", "U", "x.y-z", "a..b", "-"),
    *(
        "a->b",
        "a-",
        "items[]",
        "[].x",
        "a[0]",
        "()",
        "fuzzy",
        "é",
        "x\u2028y",
        "//",
        "#",
        "matches",
    ),
)
NUMBERS = (
    *(0, 1, -1, 2**70, -(10**40), 0.0, 1.0, -1.5, 1e-7, 1e16, 1.7976931348623157e308, 5e-324),
    *(0.1, math.inf, -math.inf, math.nan),
)


class Random:
    """Makes random nodes; the same seed makes the same ones."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def word(self) -> str:
        """A string, mostly an odd one."""
        if self.random.random() < 0.2:
            return "".join(chr(self.random.randrange(1, 0x2FF)) for _ in range(4))
        return self.random.choice(WORDS)

    def scalar(self) -> f.Scalar:
        """A value in which types matter."""
        kinds: list[f.Scalar] = [self.word(), self.random.choice(NUMBERS), True, False, None]
        return self.random.choice(kinds)

    def values(self) -> tuple[f.Scalar, ...]:
        """A list, empty at times."""
        return tuple(self.scalar() for _ in range(self.random.randrange(4)))

    def variable(self) -> str:
        """The name of a value variable."""
        return self.random.choice(["x", "old", "_", "x_1", "as", "in", "G", "true", "Y2K"])

    def binding(self) -> tuple[f.Op, f.Var]:
        """How a variable is bound: by equality, in a text, or by what a regex captures."""
        ops: list[f.Op] = ["=", "!=", "has", "carries", "matches"]
        op = self.random.choice(ops)
        return op, f.Var(self.variable(), self.word() if op == "matches" else None)

    def operand(self) -> tuple[f.Op, f.Operand]:
        """An operator, and what it can compare with: a value or a variable."""
        orders: list[f.Op] = ["<", "<=", ">=", ">"]
        ordered = self.random.choice(orders), f.Var(self.variable())
        kinds: list[tuple[f.Op, f.Operand]] = [self.test(), self.test(), self.binding(), ordered]
        return self.random.choice(kinds)

    def test(self) -> tuple[f.Op, f.Scalar | tuple[f.Scalar, ...]]:
        """An operator, and a value that it can compare with."""
        tests: list[tuple[f.Op, f.Scalar | tuple[f.Scalar, ...]]] = [
            (self.random.choice(["=", "!="]), self.random.choice([self.scalar(), self.values()])),
            (
                self.random.choice(["<", "<=", ">=", ">"]),
                self.random.choice([self.word(), self.random.choice(NUMBERS)]),
            ),
            ("in", self.values()),
            ("matches", self.word()),
        ]
        return self.random.choice(tests)

    def match(self) -> f.Match:
        """Names, globs, conditions, an agent: each there or not."""
        some = self.random.randrange
        globs = [glob for glob in (self.word(), "pay_*", "?", "*") if {*glob} & {*"*?"}]
        return f.Match(
            names=tuple(self.word() for _ in range(some(3))),
            globs=tuple(self.random.choice(globs) for _ in range(some(3))),
            conditions=tuple(self.condition() for _ in range(some(3))),
            agent=self.random.choice([None, None, self.word()]),
            strict=self.random.random() < 0.2,
        )

    def condition(self) -> f.Condition:
        """A place in the arguments, or one that stands for something else, compared."""
        places = [
            "@call",
            "@agent",
            "@missing",
            "*",
            "every",
            "in",
            "has",
            "matches.x",
            self.word(),
        ]
        path = self.random.choice([*places, self.word(), self.word()])
        return f.Condition(path, *self.operand(), every=self.random.random() < 0.2)

    def target(self) -> f.Target:
        """One kind of call, or several."""
        return tuple(self.match() for _ in range(self.random.choice([1, 1, 1, 2, 3])))

    def bound(self) -> f.Bound:
        """None, steps or seconds."""
        bounds = (None, f.Steps(self.random.randrange(100)), f.Seconds(self.random.random() * 100))
        return self.random.choice([*bounds, f.Seconds(60)])

    def atom(self) -> f.Formula:
        """Any atom but a comparison."""
        word, args = (
            self.word,
            tuple(self.random.choice([self.scalar(), self.values()]) for _ in "ab"),
        )
        atoms: list[Callable[[], f.Formula]] = [
            lambda: f.Constant(self.random.random() < 0.5),
            lambda: f.Happens(self.random.choice(["called", "done", "failed"]), self.target()),
            lambda: f.OutputIs(word(), *self.operand()),
            lambda: f.ByAgent(word()),
            lambda: f.MessageBy(word()),
            lambda: f.TextMatches(word()),
            lambda: f.TextIs(*self.binding()),
            lambda: f.Permitted(word()),
            lambda: f.Approved(word(), word()),
            lambda: f.Observed(word()),
            lambda: f.Custom(word(), args[: self.random.randrange(3)]),
        ]
        return self.random.choice(atoms)()

    def reading(self, size: int) -> f.Term:
        """Any term but a constant."""
        word, body = self.word, self.formula
        terms: list[Callable[[], f.Term]] = [
            lambda: f.Count(body(size), self.random.choice([None, body(size)]), self.bound()),
            lambda: f.Sum(self.target(), word(), self.bound()),
            lambda: f.StepsSince(body(size)),
            lambda: f.Age(body(size)),
            lambda: f.Repeats(self.target(), self.random.choice(["equal", "fuzzy"])),
            lambda: f.Last(self.reading(0), body(size)),
            lambda: f.Delivered(self.target()),
            lambda: f.Denied(self.target(), self.random.choice(["any", "tool", "call"])),
            lambda: f.FactAge(word()),
            lambda: f.ApprovalAge(word(), word()),
            lambda: f.Mark(self.random.choice(["*", word()])),
            lambda: f.Arg(word()),
            lambda: f.Ctx(word()),
            lambda: f.Variable(self.variable()),
            lambda: f.Output(self.random.choice(["", word()])),
            f.Tokens,
            f.Depth,
        ]
        return self.random.choice(terms)()

    def comparison(self, size: int) -> f.Formula:
        """Two terms; constants on either side."""
        op, value = self.test()
        ordered = self.random.choice([self.word(), self.random.choice(NUMBERS)])
        left = f.Const(ordered if op in {"<", "<=", ">", ">="} else self.scalar())
        right = self.random.choice([f.Const(value), self.reading(size)])
        return f.Compare(self.random.choice([left, self.reading(size)]), op, right)

    def formula(self, size: int) -> f.Formula:
        """A formula of about `size` operators."""
        if size <= 0:
            return self.atom()
        split = self.random.randrange(size)
        kind = self.random.random()
        if kind < 0.3:
            parts = tuple(self.formula(size // 3) for _ in range(self.random.choice([2, 2, 3])))
            return self.random.choice([f.And, f.Or])(parts)
        if kind < 0.5:
            make = self.random.choice([f.Eventually, f.Always, f.Once, f.Historically])
            return make(self.formula(size - 1), self.bound())
        if kind < 0.7:
            return self.random.choice([*UNARY.values()])(self.formula(size - 1))
        if kind < 0.9:
            pair = self.formula(split), self.formula(size - 1 - split)
            return self.random.choice([*BINARY.values()])(*pair)
        return self.comparison(size // 3)
