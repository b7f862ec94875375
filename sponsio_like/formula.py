"""Linear temporal logic over the facts of a trace: frozen, interned nodes without behaviour.

Out: `Formula` and `Term` nodes. The same formula is the same object, so equality is identity,
hashing is constant and depth does not matter. What a node means stands in `docs/semantics.md`
and `tests/oracle.py`; how it is watched, in `monitor.py`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, TypeVar, dataclass_transform
from weakref import WeakValueDictionary

_TABLE: WeakValueDictionary[Any, Any] = WeakValueDictionary()
_LOCK = threading.Lock()
_Class = TypeVar("_Class", bound=type)


def _key(value: Any) -> Any:
    """A dictionary key in which `1`, `1.0` and `True` differ, in conditions too."""
    if isinstance(value, tuple):
        return tuple(map(_key, value))
    if isinstance(value, Match | Condition):
        return (type(value), *(_key(getattr(value, name)) for name in value.__match_args__))
    return value if isinstance(value, Node) else (type(value), value)


class _Interned(type):
    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        node = super().__call__(*args, **kwargs)
        key = (cls, *(_key(getattr(node, name)) for name in cls.__match_args__))  # type: ignore[attr-defined]
        with _LOCK:
            return _TABLE.setdefault(key, node)


@dataclass_transform(frozen_default=True)
def _node(cls: _Class) -> _Class:
    return dataclass(frozen=True, eq=False, slots=True, repr=False)(cls)  # type: ignore[return-value]


class Node(metaclass=_Interned):
    """A formula or a term. Prints as its text; the same node is the same object."""

    __slots__ = ("__weakref__",)

    def __repr__(self) -> str:
        from sponsio_like.syntax import show  # the printer stands above the tree

        return show(self)

    def __copy__(self) -> Node:
        return self

    def __deepcopy__(self, memo: object) -> Node:
        return self

    def __reduce__(self) -> tuple[Callable[[str], Node], tuple[str]]:
        from sponsio_like.syntax import read  # as text, so that depth does not matter

        return (read, (repr(self),))


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
        from sponsio_like.syntax import read_term  # `true` is a term and a formula

        return (read_term, (repr(self),))

    def __lt__(self, other: TermLike) -> Formula:
        return Compare(self, "<", term(other))

    def __le__(self, other: TermLike) -> Formula:
        return Compare(self, "<=", term(other))

    def __gt__(self, other: TermLike) -> Formula:
        return Compare(self, ">", term(other))

    def __ge__(self, other: TermLike) -> Formula:
        return Compare(self, ">=", term(other))

    def equals(self, other: TermLike) -> Formula:
        """JSON equality: `1` equals `1.0`, `True` does not equal `1`."""
        return Compare(self, "=", term(other))

    def differs(self, other: TermLike) -> Formula:
        """The opposite of `equals`, where the comparison can be made."""
        return Compare(self, "!=", term(other))

    def is_in(self, values: Iterable[Any]) -> Formula:
        """The value equals one of `values`."""
        return Compare(self, "in", Const(tuple(values)))

    def matches(self, regex: str) -> Formula:
        """The regular expression (RE2) is found in the value, which must be a string."""
        return Compare(self, "matches", Const(regex))


Scalar: TypeAlias = bool | int | float | str | None
TermLike: TypeAlias = "Term | Scalar"
Op: TypeAlias = Literal["<", "<=", "=", "!=", ">=", ">", "in", "matches"]
Happening: TypeAlias = Literal["called", "done", "failed"]


@dataclass(frozen=True, slots=True)
class Steps:
    """A bound in positions: `F[<=3]` is this position and the three after it."""

    count: int


@dataclass(frozen=True, slots=True)
class Seconds:
    """A bound in seconds, included: `F[<=60s]`."""

    count: float


Bound: TypeAlias = Steps | Seconds | None


# --- what a call is matched against -----------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Condition:
    """`path op value` on the arguments of a call; with `[]` in the path: of some element."""

    path: str
    op: Op
    value: Scalar | tuple[Scalar, ...]


@dataclass(frozen=True, slots=True)
class Match:
    """One kind of call: exact tool names, globs over the full name, conditions, the agent."""

    names: tuple[str, ...] = ()
    globs: tuple[str, ...] = ()
    conditions: tuple[Condition, ...] = ()
    agent: str | None = None


Target: TypeAlias = tuple[Match, ...]
"""Any of these kinds of call."""


# --- atoms ------------------------------------------------------------------------------------


@_node
class Constant(Formula):
    """`true` or `false`."""

    value: bool


@_node
class Happens(Formula):
    """This call is one of `target`: `called` at once, `done` / `failed` once it has settled so."""

    what: Happening
    target: Target


@_node
class OutputIs(Formula):
    """The output of this call (at `path`, or whole if empty) compares so, once it has settled."""

    path: str
    op: Op
    value: Scalar | tuple[Scalar, ...]


@_node
class ByAgent(Formula):
    """This call is made by this agent."""

    name: str


@_node
class MessageBy(Formula):
    """This position is a message of this role (`*`: of any)."""

    role: str


@_node
class TextMatches(Formula):
    """This position is a message whose text matches the regular expression."""

    regex: str


@_node
class Permitted(Formula):
    """The calling agent holds this permission now."""

    name: str


@_node
class Approved(Formula):
    """A standing approval by `role` for `action` exists now, neither revoked nor refused."""

    action: str
    role: str


@_node
class Observed(Formula):
    """This position is a plain step at which the named atom was observed."""

    name: str


@_node
class Custom(Formula):
    """An atom registered by the user, with its arguments in order."""

    name: str
    args: tuple[Scalar | tuple[Scalar, ...], ...] = ()


@_node
class Compare(Formula):
    """Two terms compared; a comparison that cannot be made violates (see docs/semantics.md)."""

    left: Term
    op: Op
    right: Term


# --- connectives ------------------------------------------------------------------------------


@_node
class Not(Formula):
    """`!f`"""

    body: Formula


@_node
class And(Formula):
    """`f & g & ...`, two or more."""

    parts: tuple[Formula, ...]


@_node
class Or(Formula):
    """`f | g | ...`, two or more."""

    parts: tuple[Formula, ...]


@_node
class Implies(Formula):
    """`f -> g`"""

    left: Formula
    right: Formula


@_node
class Iff(Formula):
    """`f <-> g`"""

    left: Formula
    right: Formula


# --- the future -------------------------------------------------------------------------------


@_node
class Next(Formula):
    """`X f`: there is a next position, and f holds there."""

    body: Formula


@_node
class WeakNext(Formula):
    """`WX f`: if there is a next position, f holds there."""

    body: Formula


@_node
class Eventually(Formula):
    """`F f`, `F[<=3] f`, `F[<=60s] f`: now or later (within the bound)."""

    body: Formula
    bound: Bound = None


@_node
class Always(Formula):
    """`G f`, bounded likewise: now and at every later position (within the bound)."""

    body: Formula
    bound: Bound = None


@_node
class Until(Formula):
    """`f U g`: g now or later, f at every position before it."""

    left: Formula
    right: Formula


@_node
class WeakUntil(Formula):
    """`f W g`: `f U g`, or f for ever."""

    left: Formula
    right: Formula


@_node
class Release(Formula):
    """`f R g`: g up to and including the first position where f holds, or for ever."""

    left: Formula
    right: Formula


# --- the past ---------------------------------------------------------------------------------


@_node
class Yesterday(Formula):
    """`Y f`: there is a previous position, and f held there."""

    body: Formula


@_node
class WeakYesterday(Formula):
    """`WY f`: if there is a previous position, f held there."""

    body: Formula


@_node
class Once(Formula):
    """`O f`, `O[<=10] f`, `O[<=60s] f`: now or before (within the bound)."""

    body: Formula
    bound: Bound = None


@_node
class Historically(Formula):
    """`H f`, bounded likewise: now and at every earlier position (within the bound)."""

    body: Formula
    bound: Bound = None


@_node
class Since(Formula):
    """`f S g`: g now or before, f at every position after it up to now."""

    left: Formula
    right: Formula


# --- terms ------------------------------------------------------------------------------------


@_node
class Const(Term):
    """A number, a string, true, false, null, or (for `in`) a list of them."""

    value: Scalar | tuple[Scalar, ...]


@_node
class Count(Term):
    """How many positions so far, this one included, where `body` holds.

    Only those within `bound` (the last N steps, or the window `(t-W, t]`), and only those
    after the latest position where `reset` holds, if given.
    """

    body: Formula
    reset: Formula | None = None
    bound: Bound = None


@_node
class Sum(Term):
    """The decimal sum of the argument `path` over the calls of `target`, this one included."""

    target: Target
    path: str
    bound: Bound = None


@_node
class StepsSince(Term):
    """Positions since `body` last held: 0 if it holds now, infinite if it never did."""

    body: Formula


@_node
class Age(Term):
    """Seconds since `body` last held: 0 if it holds now, infinite if it never did."""

    body: Formula


@_node
class Repeats(Term):
    """How many calls in a row, this one included, are of `target` with similar arguments.

    0 if this position is not such a call. `similar` is `equal` or `fuzzy`.
    """

    target: Target
    similar: str = "equal"


@_node
class Arg(Term):
    """An argument of the call being decided."""

    path: str


@_node
class Ctx(Term):
    """A value of the context, now."""

    key: str


@_node
class Tokens(Term):
    """Tokens that the session has used so far."""


@_node
class Depth(Term):
    """The delegation depth of the call being decided."""


TRUE = Constant(True)
FALSE = Constant(False)


def term(value: TermLike) -> Term:
    """A term as it is; a plain value as a constant."""
    return value if isinstance(value, Term) else Const(value)


def conj(*formulas: Formula) -> Formula:
    """The conjunction; nested conjunctions are flattened, none at all is `true`."""
    return _join(And, TRUE, formulas)


def disj(*formulas: Formula) -> Formula:
    """The disjunction; nested disjunctions are flattened, none at all is `false`."""
    return _join(Or, FALSE, formulas)


def _join(kind: type[And | Or], empty: Formula, formulas: tuple[Formula, ...]) -> Formula:
    parts: list[Formula] = []
    for formula in formulas:
        parts.extend(formula.parts if isinstance(formula, kind) else (formula,))
    if not parts:
        return empty
    return parts[0] if len(parts) == 1 else kind(tuple(parts))


def children(node: Node) -> tuple[Node, ...]:
    """The formulas and terms that stand directly under `node`."""
    out: list[Node] = []
    for name in node.__match_args__:  # type: ignore[attr-defined]
        value = getattr(node, name)
        if isinstance(value, Node):
            out.append(value)
        elif isinstance(value, tuple):
            out.extend(item for item in value if isinstance(item, Node))
    return tuple(out)


def postorder(root: Node) -> Iterator[Node]:
    """Every node under `root` once, children before parents. No recursion: depth is no limit."""
    seen: set[Node] = set()
    stack: list[tuple[Node, bool]] = [(root, False)]
    while stack:
        node, ready = stack.pop()
        if ready:
            yield node
        elif node not in seen:
            seen.add(node)
            stack.append((node, True))
            stack.extend((child, False) for child in reversed(children(node)))
