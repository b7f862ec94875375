"""The atoms and terms of formulas: facts of one position, and values at a position."""

from __future__ import annotations

from sponsio_like.logic.connectives import Bound, Formula, Happening, Term
from sponsio_like.logic.targets import Op, Operand, Scalar, Target, Var

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
