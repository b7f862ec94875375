"""What formulas speak of: facts of one position (atoms), and values at a position (terms)."""

from __future__ import annotations

from sponsio_like.logic import Bound, Formula, Happening, Term
from sponsio_like.targets import Op, Scalar, Target
from sponsio_like.tree import node

# --- atoms ------------------------------------------------------------------------------------


@node
class Happens(Formula):
    """This call is one of `target`: `called` at once, `done` / `failed` once it has settled so."""

    what: Happening
    target: Target


@node
class OutputIs(Formula):
    """The output of this call (at `path`, or whole if empty) compares so, once it has settled."""

    path: str
    op: Op
    value: Scalar | tuple[Scalar, ...]


@node
class ByAgent(Formula):
    """This call is made by this agent."""

    name: str


@node
class MessageBy(Formula):
    """This position is a message of this role (`*`: of any)."""

    role: str


@node
class TextMatches(Formula):
    """This position is a message whose text matches the regular expression."""

    regex: str


@node
class Permitted(Formula):
    """The calling agent holds this permission now."""

    name: str


@node
class Approved(Formula):
    """A standing approval by `role` for `action` exists now, neither revoked nor refused."""

    action: str
    role: str


@node
class Observed(Formula):
    """This position is a plain step at which the named atom was observed."""

    name: str


@node
class Custom(Formula):
    """An atom registered by the user, with its arguments in order."""

    name: str
    args: tuple[Scalar | tuple[Scalar, ...], ...] = ()


# --- terms ------------------------------------------------------------------------------------


@node
class Count(Term):
    """How many positions so far, this one included, where `body` holds.

    Only those within `bound` (the last N steps, or the window `(t-W, t]`), and only those
    after the latest position where `reset` holds, if given.
    """

    body: Formula
    reset: Formula | None = None
    bound: Bound = None


@node
class Sum(Term):
    """The decimal sum of the argument `path` over the calls of `target`, this one included."""

    target: Target
    path: str
    bound: Bound = None


@node
class StepsSince(Term):
    """Positions since `body` last held: 0 if it holds now, infinite if it never did."""

    body: Formula


@node
class Age(Term):
    """Seconds since `body` last held: 0 if it holds now, infinite if it never did."""

    body: Formula


@node
class Repeats(Term):
    """How many calls in a row, this one included, are of `target` with similar arguments.

    0 if this position is not such a call. `similar` is `equal` or `fuzzy`.
    """

    target: Target
    similar: str = "equal"


@node
class Arg(Term):
    """An argument of the call being decided."""

    path: str


@node
class Ctx(Term):
    """A value of the context, now."""

    key: str


@node
class Tokens(Term):
    """Tokens that the session has used so far."""


@node
class Depth(Term):
    """The delegation depth of the call being decided."""
