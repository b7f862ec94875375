"""Random guarantees.

In: a seeded generator. Out: formulas with the whole vocabulary: future and past, bounds in steps
and seconds, counts, sums, ages, arguments, results, messages, plain steps, context.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import sponsio_like.logic.formula as f

TOOLS = ("a", "b", "c")
AGENTS = ("agent", "bob")
NUMBERS = (1, 2, 3, 4, 0.5)
WORDS = ("x", "yes", "no")
STEPS = (0, 1, 1, 2, 2, 3)
SECONDS = (0.5, 1, 1, 2)
ORDER: tuple[f.Op, ...] = ("<", "<=", ">=", ">", "=", "!=")

TERMS = (f.Count, f.Sum, f.StepsSince, f.Age, f.Repeats, f.Last, f.Delivered, f.Denied)
AGES = (f.FactAge, f.ApprovalAge)
PAST = (f.Yesterday, f.WeakYesterday, f.Once, f.Historically, f.Since, *TERMS)
FUTURE = (f.Next, f.WeakNext, f.Eventually, f.Always, f.Until, f.WeakUntil, f.Release)
Operator: TypeAlias = Callable[..., f.Formula]
UNARY_PAST: tuple[Operator, ...] = (f.Yesterday, f.WeakYesterday, f.Once, f.Historically)
UNARY_FUTURE: tuple[Operator, ...] = (f.Next, f.WeakNext, f.Eventually, f.Always)
BINARY_FUTURE: tuple[Operator, ...] = (f.Until, f.WeakUntil, f.Release)
BOUNDED: tuple[Operator, ...] = (f.Once, f.Historically, f.Eventually, f.Always)


def target(*names: str, **more: Any) -> f.Target:
    """One kind of call."""
    return (f.Match(names, **more),)


def mixed(formula: f.Formula) -> bool:
    """Whether past and future are mixed in it, the outermost G of a conjunct set aside."""
    parts = formula.parts if isinstance(formula, f.And) else (formula,)
    bodies = [part.body if isinstance(part, f.Always) else part for part in parts]
    return all(any(speaks_of(body, kinds) for body in bodies) for kinds in (PAST, FUTURE))


def speaks_of(formula: f.Formula, kinds: tuple[type[f.Node], ...]) -> bool:
    """Whether one of these kinds of nodes stands in it."""
    return any(isinstance(node, kinds) for node in f.postorder(formula))


# --- formulas -------------------------------------------------------------------------------------


@dataclass
class Words:
    """What one formula speaks of: few atoms, so that a short trace means something to it."""

    atoms: list[f.Formula]
    counts: bool
    timed: bool
    past: float


class Formulas:
    """Makes random guarantees; the same generator makes the same ones."""

    def __init__(self, dice: random.Random) -> None:
        self.dice = dice

    def guarantee(self) -> f.Formula:
        """A formula as users write them: mostly safety, mixed with everything else."""
        wanted = self.dice.random() < 0.5
        tries = (self.shaped() for _ in range(10))
        return next((each for each in tries if not wanted or mixed(each)), self.shaped())

    def shaped(self) -> f.Formula:
        """A formula of one of the usual shapes."""
        words = self.words()
        size = self.dice.choice([1, 1, 2, 2, 2, 3, 3, 4])
        shape = self.dice.random()
        body = self.formula(words, size)
        if shape < 0.04:
            return f.Always(f.Not(f.Yesterday(f.TRUE)) >> body)  # `initially`
        if shape < 0.09:
            return f.Always(self.dice.choice(words.atoms) >> self.budget())
        if shape < 0.30:
            return f.Always(body)
        if shape < 0.55:
            if not speaks_of(body, (*PAST, *FUTURE)):
                body = self.unary(words, self.dice.choice((*UNARY_PAST, *UNARY_FUTURE)), body)
            return f.Always(self.dice.choice(words.atoms) >> body)
        if shape < 0.70:
            other = self.formula(words, max(1, size - 2))
            return f.conj(f.Always(body), f.Always(other) if self.dice.random() < 0.7 else other)
        return body if speaks_of(body, FUTURE) else f.Always(body)

    def budget(self) -> f.Formula:
        """What all calls together may amount to, or those of one tool."""
        of = target(*self.dice.choice([(), (), ("a",)]))
        return f.Compare(f.Sum(of, "n"), "<=", f.Const(self.dice.choice([2, 3, 5])))

    def words(self) -> Words:
        """The atoms of one formula."""
        tools = self.dice.sample(TOOLS, self.dice.choice([1, 2, 2, 2, 3]))
        pool = self.calls(tools)
        kind = self.dice.random()
        if kind < 0.12:
            pool += self.messages()
        elif kind < 0.20:
            pool += [f.Observed("p"), f.Observed("q")]
        elif kind < 0.25:
            pool = self.messages() if kind < 0.225 else [f.Observed("p"), f.Observed("q")]
        pool += [self.special(tools) for _ in range(self.dice.choice([0, 0, 0, 0, 1, 1, 1, 2]))]
        atoms = self.dice.sample(pool, min(len(pool), self.dice.choice([2, 3, 3, 4])))
        roll = self.dice.random
        return Words(atoms, counts=roll() < 0.5, timed=roll() < 0.5, past=roll())

    def calls(self, tools: Sequence[str]) -> list[f.Formula]:
        """Called, done or failed: of each tool what counts first; of any."""
        out: list[f.Formula] = []
        for tool in tools:
            out.append(f.Happens("called", target(tool)))
            out.append(f.Happens(self.dice.choice(["done", "failed"]), target(tool)))
        if self.dice.random() < 0.2:
            out.append(f.Happens("called", target(*tools)))
        if self.dice.random() < 0.15:
            out.append(f.Happens(self.dice.choice(["called", "done", "failed"]), target()))
        return out

    def messages(self) -> list[f.Formula]:
        """What messages say."""
        return [f.MessageBy("user"), f.MessageBy("assistant"), f.TextMatches("yes")]

    def special(self, tools: Sequence[str]) -> f.Formula:
        """An atom that is not told by a name alone."""
        tool = self.dice.choice(tools)
        ordered = self.dice.choice(ORDER)
        kinds: list[Callable[[], f.Formula]] = [
            lambda: f.Happens(self.dice.choice(["called", "done"]), self.conditioned(tool)),
            lambda: f.Happens(
                "called", (*self.conditioned(tool), *target(self.dice.choice(TOOLS)))
            ),
            lambda: f.OutputIs("ok", "=", self.dice.choice(WORDS)),
            lambda: f.OutputIs("n", ordered, self.dice.choice(NUMBERS)),
            lambda: f.Happens("done", target(tool)) & f.OutputIs("ok", "=", "yes"),  # accepted
            lambda: f.Happens("called", target()) & f.Not(f.Happens("called", target(tool))),
            lambda: f.ByAgent("bob"),
            lambda: f.Permitted("write"),
            lambda: f.Approved("pay", "boss"),
            lambda: f.Compare(f.Ctx("stage"), "=", f.Const(self.dice.choice(WORDS))),
            lambda: f.Compare(f.Arg("n"), ordered, f.Const(self.dice.choice(NUMBERS))),
            lambda: f.Compare(f.Depth(), "<=", f.Const(1)),
            lambda: f.Compare(f.Tokens(), "<", f.Const(self.dice.choice([5, 10]))),
        ]
        return self.dice.choice(kinds)()

    def conditioned(self, tool: str) -> f.Target:
        """A tool, with a condition on its arguments, or on who calls it."""
        conditions = [
            f.Condition("n", self.dice.choice(ORDER), self.dice.choice(NUMBERS)),
            f.Condition("to", "in", ("x", "yes")),
            f.Condition("to", "matches", "e"),
            f.Condition("who.id", "=", 1),
        ]
        if self.dice.random() < 0.2:
            return target(tool, agent="bob")
        return target(tool, conditions=tuple(self.dice.sample(conditions, 1)))

    def formula(self, words: Words, size: int, *, past: bool = False) -> f.Formula:
        """A formula of about that depth; `past`: without future operators."""
        if size <= 0 or self.dice.random() < 0.08:
            return self.atom(words, past=past)
        kind = self.dice.random()
        if kind < 0.12:
            return f.Not(self.formula(words, size - 1, past=past))
        if kind < 0.42:
            joins: list[Operator] = [f.conj, f.disj, f.disj, f.Implies, f.Implies, f.Iff]
            return self.dice.choice(joins)(*self.pair(words, size, past=past))
        if past or self.dice.random() < words.past:
            return self.behind(words, size)
        if kind < 0.60:
            return self.dice.choice(BINARY_FUTURE)(*self.pair(words, size, past=past))
        body = self.formula(words, size - 1)
        return self.unary(words, self.dice.choice(UNARY_FUTURE), body)

    def behind(self, words: Words, size: int) -> f.Formula:
        """A past operator."""
        if words.counts and self.dice.random() < 0.4:
            return self.comparison(words, size)
        if self.dice.random() < 0.2:
            return f.Since(*self.pair(words, size, past=True))
        body = self.formula(words, size - 1, past=True)
        return self.unary(words, self.dice.choice(UNARY_PAST), body)

    def pair(self, words: Words, size: int, *, past: bool) -> tuple[f.Formula, f.Formula]:
        """Two operands, mostly different ones."""
        left, right, other = (self.formula(words, size - 1, past=past) for _ in range(3))
        return left, right if right is not left else other

    def unary(self, words: Words, operator: Operator, body: f.Formula) -> f.Formula:
        """The operator, bounded at times."""
        if operator in BOUNDED and self.dice.random() < 0.45:
            return operator(body, self.bound(words))
        return operator(body)

    def bound(self, words: Words) -> f.Bound:
        """In steps, or (of a timed formula) in seconds."""
        if words.timed and self.dice.random() < 0.7:
            return f.Seconds(self.dice.choice(SECONDS))
        return f.Steps(self.dice.choice(STEPS))

    def atom(self, words: Words, *, past: bool) -> f.Formula:
        """An atom; at times a comparison, or a constant."""
        kind = self.dice.random()
        if kind < 0.01:
            return f.Constant(kind < 0.005)
        if words.counts and past and kind < 0.3:
            return self.comparison(words, 1)
        return self.dice.choice(words.atoms)

    # --- terms ------------------------------------------------------------------------------------

    def comparison(self, words: Words, size: int) -> f.Formula:
        """A term of what happened before, compared with a number or another one."""
        op = self.dice.choice(ORDER)
        term = self.term(words, size)
        kind = self.dice.random()
        if kind > 0.92:
            mark, op = f.Mark(self.dice.choice(["n", "to", "*"])), self.dice.choice(ORDER[-2:])
            of = self.dice.choice([*words.atoms, f.TRUE, f.Happens("called", target())])
            return f.Compare(mark, op, f.Last(mark, of))
        if kind < 0.08:
            return f.Compare(term, op, self.term(words, 1))
        limit = f.Const(self.dice.choice([0, 1, 1, 1, 2, 2, 3]))
        return f.Compare(limit, op, term) if kind < 0.16 else f.Compare(term, op, limit)

    def term(self, words: Words, size: int) -> f.Term:
        """A term that remembers."""

        def body() -> f.Formula:
            return self.formula(words, self.dice.choice([0, 0, 0, size - 1]), past=True)

        tool = self.dice.choice(TOOLS)
        some = target() if self.dice.random() < 0.3 else target(tool)
        bound: f.Bound = self.dice.choice([None, None, f.Steps(self.dice.choice((1, 2, 3, 4)))])
        if words.timed and self.dice.random() < 0.4:
            bound = f.Seconds(self.dice.choice((1, 2, 4)))
        terms: list[Callable[[], f.Term]] = [
            lambda: f.Count(body(), None, bound),
            lambda: f.Count(body(), None, bound),
            lambda: f.Count(body(), body(), bound),
            lambda: f.StepsSince(body()),
            lambda: f.Age(body()),
            lambda: f.Repeats(some),
            lambda: f.Sum(some, "n", bound),
            lambda: f.Delivered(some),
            lambda: f.Delivered(self.conditioned(tool)),
            lambda: f.Denied(
                self.dice.choice([some, self.conditioned(tool)]),
                self.dice.choice(["any", "tool", "call"]),
            ),
            lambda: f.Last(self.term(words, size - 1), body()),
        ]
        if words.timed:
            terms += [lambda: f.FactAge("stage"), lambda: f.ApprovalAge("pay", "boss")]
        return self.dice.choice(terms)()
