"""The nodes of formulas: linear temporal logic over the facts of a trace.

In: nothing. Out: frozen, interned nodes without behaviour: connectives and comparisons, temporal
operators (the future and the past, reflexive, with bounds in steps or seconds), atoms that are true
or false at a position, and terms that have a value there. `docs/semantics.md` and
`tests/reference/oracle.py` define their meaning; `monitor/monitor.py` evaluates them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from sponsio_like.logic.targets import Condition, Match, Op, Operand, Scalar, Target, Var
from sponsio_like.logic.tree import (
    FEW,
    PARSERS,
    Node,
    children,
    exact,
    fields_of,
    postorder,
    rewritten,
)

# fmt: off
__all__ = [
    "AT_MOST", "FALSE", "LONGEST", "TRUE", "Age", "Always", "And", "ApprovalAge", "Approved",
    "Arg", "Bound", "ByAgent", "Compare", "Condition", "Const", "Constant", "Count", "Ctx",
    "Custom", "Delivered", "Denied", "Depth", "Eventually", "FactAge", "Formula", "Happening",
    "Happens", "Historically", "Iff", "Implies", "Last", "Mark", "Match", "MessageBy", "Next",
    "Node", "Not", "Observed", "Once", "Op", "Operand", "Or", "Output", "OutputIs", "Permitted",
    "Release", "Repeats", "Scalar", "Seconds", "Since", "Steps", "StepsSince", "Sum", "Target",
    "Term", "TermLike", "TextIs", "TextMatches", "Tokens", "Until", "Var", "Variable",
    "WeakNext", "WeakUntil", "WeakYesterday", "Yesterday", "children", "conj", "disj", "exact",
    "fields_of", "matches_in", "matches_of", "postorder", "rewritten", "term",
]
# fmt: on

# --- bounds, connectives, comparisons -------------------------------------------------------------

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


# --- the future -------------------------------------------------------------------------------


class Next(Formula):
    """`X f`: there is a next position, and f holds there."""

    body: Formula


class WeakNext(Formula):
    """`WX f`: if there is a next position, f holds there."""

    body: Formula


class Eventually(Formula):
    """`F f`, `F[<=3] f`, `F[<=60s] f`: now or later (within the bound)."""

    body: Formula
    bound: Bound = None


class Always(Formula):
    """`G f`, bounded likewise: now and at every later position (within the bound)."""

    body: Formula
    bound: Bound = None


class Until(Formula):
    """`f U g`: g now or later, f at every position before it."""

    left: Formula
    right: Formula


class WeakUntil(Formula):
    """`f W g`: `f U g`, or f for ever."""

    left: Formula
    right: Formula


class Release(Formula):
    """`f R g`: g up to and including the first position where f holds, or for ever."""

    left: Formula
    right: Formula


# --- the past ---------------------------------------------------------------------------------


class Yesterday(Formula):
    """`Y f`: there is a previous position, and f held there."""

    body: Formula


class WeakYesterday(Formula):
    """`WY f`: if there is a previous position, f held there."""

    body: Formula


class Once(Formula):
    """`O f`, `O[<=10] f`, `O[<=60s] f`: now or before (within the bound)."""

    body: Formula
    bound: Bound = None


class Historically(Formula):
    """`H f`, bounded likewise: now and at every earlier position (within the bound)."""

    body: Formula
    bound: Bound = None


class Since(Formula):
    """`f S g`: g now or before, f at every position after it up to now."""

    left: Formula
    right: Formula


# --- atoms ------------------------------------------------------------------------------------


class Happens(Formula):
    """This call is one of `target`: `called` at once, `done` / `failed` once it has settled so."""

    what: Happening
    target: Target


class OutputIs(Formula):
    """The output of this call (at `path`, or whole if empty) compares so, once it has settled."""

    path: str
    op: Op
    value: Operand


class ByAgent(Formula):
    """This call is made by this agent."""

    name: str


class MessageBy(Formula):
    """This position is a message of this role (`*`: of any)."""

    role: str


class TextMatches(Formula):
    """This position is a message whose text matches the regular expression."""

    regex: str


class TextIs(Formula):
    """This position is a message whose text is, has or shows (`matches`) the variable's value."""

    op: Op
    value: Var


class Permitted(Formula):
    """The calling agent holds this permission now."""

    name: str


class Approved(Formula):
    """A standing approval by `role` for `action` exists now, neither revoked nor refused."""

    action: str
    role: str


class Observed(Formula):
    """This position is a plain step at which the named atom was observed."""

    name: str


class Custom(Formula):
    """An atom registered by the user, with its arguments in order."""

    name: str
    args: tuple[Scalar | tuple[Scalar, ...], ...] = ()


# --- terms ------------------------------------------------------------------------------------


class Count(Term):
    """The number of positions so far, this one included, where `body` holds.

    Only those within `bound` (the last N steps, or the window `(t-W, t]`), and only those after the
    latest position where `reset` holds, if given.
    """

    body: Formula
    reset: Formula | None = None
    bound: Bound = None


class Variable(Term):
    """The value of a value variable: `arg(price) < $old`."""

    name: str


class Output(Term):
    """The value at `path` in the output of this call, once it has settled; all of it if empty."""

    path: str


class Sum(Term):
    """The decimal sum of the argument `path` over the calls of `target`, this one included."""

    target: Target
    path: str
    bound: Bound = None


class StepsSince(Term):
    """Positions since `body` last held: 0 if it holds now, infinite if it never did."""

    body: Formula


class Age(Term):
    """Seconds since `body` last held: 0 if it holds now, infinite if it never did."""

    body: Formula


class Repeats(Term):
    """The number of calls in a row, this one included, that are of `target` with similar arguments.

    0 if this position is not such a call. `similar` is `equal` or `fuzzy`.
    """

    target: Target
    similar: str = "equal"


class Last(Term):
    """The value that `term` had at the latest earlier position where `body` held."""

    term: Term
    body: Formula


class Delivered(Term):
    """The number of results of calls of `target` that have arrived by now, failures too."""

    target: Target


class Denied(Term):
    """The number of calls of `target` that were refused so far.

    `like`: `any` counts all of them; `tool` those of the tool of the present call; `call` those
    with the same arguments, too.
    """

    target: Target
    like: str = "any"


class FactAge(Term):
    """Seconds since this fact was told, infinite if it never was."""

    key: str


class ApprovalAge(Term):
    """Seconds since the latest standing approval by `role` for `action`, infinite without one."""

    action: str
    role: str


class Arg(Term):
    """An argument of the call being decided."""

    path: str


class Mark(Term):
    """A fingerprint of the call's value at `path`, equal for equal values;
    missing equals missing.
    """

    path: str


class Ctx(Term):
    """A value of the context, now."""

    key: str


class Tokens(Term):
    """Tokens that the session has used so far."""


class Depth(Term):
    """The delegation depth of the call being decided."""


_TARGETED = frozenset({Happens, Sum, Repeats, Delivered, Denied})
"""The nodes that have a target."""


def matches_of(node: Node) -> Target:
    """Return the matches that this very node has; none if it is not about calls."""
    return getattr(node, "target", ()) if type(node) in _TARGETED else ()


def matches_in(roots: Iterable[Formula]) -> Iterator[Match]:
    """Yield every match in these formulas."""
    return itertools.chain.from_iterable(map(_matches_in, roots))


def _matches_in(root: Node) -> Target:
    found: Target | None = getattr(root, "_matches", None)
    if found is None:  # loading asks for these often
        targets = [matches_of(node) for node in postorder(root) if type(node) in _TARGETED]
        found = tuple(itertools.chain.from_iterable(targets))
        if len(found) < FEW:
            object.__setattr__(root, "_matches", found)
    return found
