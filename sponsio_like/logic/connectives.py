"""Formulas, terms, and what joins them: connectives and comparisons."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from sponsio_like.logic.targets import Op, Scalar
from sponsio_like.logic.tree import PARSERS, Node

TermLike: TypeAlias = "Term | Scalar"
Happening: TypeAlias = Literal["called", "done", "failed"]


@dataclass(frozen=True, slots=True)
class Steps:
    """A bound in positions: `F[<=3]` is this position and the three after it."""

    count: int


LONGEST = 10**12
"""Largest bound, in steps or in seconds."""
AT_MOST = f"at most {LONGEST:,}, or none at all"


@dataclass(frozen=True, slots=True)
class Seconds:
    """A bound in seconds, included: `F[<=60s]`."""

    count: float


Bound: TypeAlias = Steps | Seconds | None


class Formula(Node):
    """A statement that is true or false at a position. `&  |  ~  >>` combine formulas."""

    __slots__ = ()

    def __and__(self, other: Formula) -> Formula:
        return conj(self, other)

    def __or__(self, other: Formula) -> Formula:
        return disj(self, other)

    def __invert__(self) -> Formula:
        return Not(self)

    def __rshift__(self, other: Formula) -> Formula:
        return Implies(self, other)

    def __bool__(self) -> bool:
        raise TypeError("a formula has no truth by itself; combine with & | ~ >>, not `and`, `or`")


class Term(Node):
    """A value at a position. Comparing terms (`count("pay") <= 3`) makes a formula."""

    __slots__ = ()

    def __reduce__(self) -> tuple[Callable[[str], Node], tuple[str]]:
        return (PARSERS["term"], (repr(self),))  # `true` is a term and a formula

    def __lt__(self, other: TermLike) -> Formula:
        return Compare(self, "<", term(other))

    def __le__(self, other: TermLike) -> Formula:
        return Compare(self, "<=", term(other))

    def __gt__(self, other: TermLike) -> Formula:
        return Compare(self, ">", term(other))

    def __ge__(self, other: TermLike) -> Formula:
        return Compare(self, ">=", term(other))

    def equals(self, other: TermLike) -> Formula:
        """Return the formula of JSON equality: `1` equals `1.0`, `True` does not equal `1`."""
        return Compare(self, "=", term(other))

    def differs(self, other: TermLike) -> Formula:
        """Return the opposite of `equals`, where the comparison can be made."""
        return Compare(self, "!=", term(other))

    def is_in(self, values: Iterable[Any]) -> Formula:
        """Return the formula: the value equals one of `values`."""
        return Compare(self, "in", Const(tuple(values)))

    def matches(self, regex: str) -> Formula:
        """Return the formula: the regular expression (RE2) is found in the value, which must be
        text.
        """
        return Compare(self, "matches", Const(regex))


class Constant(Formula):
    """`true` or `false`."""

    value: bool


class Const(Term):
    """A number, a string, true, false, null, or (for `in`) a list of them."""

    value: Scalar | tuple[Scalar, ...]


class Compare(Formula):
    """Two terms compared; a comparison that cannot be made violates (see docs/semantics.md)."""

    left: Term
    op: Op
    right: Term


class Not(Formula):
    """`!f`"""

    body: Formula


class And(Formula):
    """`f & g & ...`, two or more."""

    parts: tuple[Formula, ...]


class Or(Formula):
    """`f | g | ...`, two or more."""

    parts: tuple[Formula, ...]


class Implies(Formula):
    """`f -> g`"""

    left: Formula
    right: Formula


class Iff(Formula):
    """`f <-> g`"""

    left: Formula
    right: Formula


TRUE = Constant(True)
FALSE = Constant(False)


def term(value: TermLike) -> Term:
    """Return a term as it is, and a plain value as a constant."""
    return value if isinstance(value, Term) else Const(value)


def conj(*formulas: Formula) -> Formula:
    """Return the conjunction; nested conjunctions are flattened, none at all is `true`."""
    return _join(And, TRUE, formulas)


def disj(*formulas: Formula) -> Formula:
    """Return the disjunction; nested disjunctions are flattened, none at all is `false`."""
    return _join(Or, FALSE, formulas)


def _join(kind: type[And | Or], empty: Formula, formulas: tuple[Formula, ...]) -> Formula:
    parts: list[Formula] = []
    for formula in formulas:
        parts.extend(formula.parts if isinstance(formula, kind) else (formula,))
    if not parts:
        return empty
    return parts[0] if len(parts) == 1 else kind(tuple(parts))
