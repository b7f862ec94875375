# ruff: noqa: N802  X, F, G are the names that temporal logic gave to its operators
"""Formulas in Python: a short name for everything that the text syntax can say.

In: tool names, conditions, formulas. Out: the same nodes that `read` makes of text, combined with
`&  |  ~  >>`; terms are compared with `<  <=  >=  >`, `.equals`, `.differs`, `.is_in`, `.matches`.

    G(called("pay", where("amount") > 500) >> Y(O(done("review"))))
"""

from __future__ import annotations

import math
from typing import Any, Literal

import sponsio_like.formula as f
from sponsio_like.errors import ContractError
from sponsio_like.matching import Field, Tools, string, target, where

# fmt: off
__all__ = [
    "WX", "WY", "F", "Field", "G", "H", "O", "R", "S", "Tools", "U", "W", "X", "Y", "age",
    "agent", "approval_age", "approved", "arg", "called", "count", "ctx", "delivered", "depth",
    "done", "fact_age", "failed", "false", "last", "mark", "message", "output", "permission",
    "repeats", "since", "step", "target", "text", "tokens", "total", "true", "where",
]
# fmt: on

true = f.TRUE
false = f.FALSE


# --- atoms ------------------------------------------------------------------------------------


def called(tools: Tools, *conditions: f.Condition, agent: str | None = None) -> f.Formula:
    """This is a call of one of `tools`, whatever becomes of it: `called("pay", where("n") > 3)`."""
    return f.Happens("called", target(tools, *conditions, agent=agent))


def done(tools: Tools, *conditions: f.Condition, agent: str | None = None) -> f.Formula:
    """Such a call that has succeeded; false while it is in flight: `done("check_policy")`."""
    return f.Happens("done", target(tools, *conditions, agent=agent))


def failed(tools: Tools, *conditions: f.Condition, agent: str | None = None) -> f.Formula:
    """Such a call that has failed; false while it is in flight: `failed(["pay", "refund"])`."""
    return f.Happens("failed", target(tools, *conditions, agent=agent))


def output(path: str = "") -> Field[f.Formula]:
    """The output of this call, whole or at `path`, once it has settled: `output("n") > 3`."""
    string("the path of an output", path)
    return Field(lambda op, value: f.OutputIs(path, op, value))


def agent(name: str) -> f.Formula:
    """This call is made by this agent: `agent("planner")`."""
    return f.ByAgent(string("an agent's name", name))


def message(role: str = "*") -> f.Formula:
    """This position is a message of this role, or of any: `message("user")`."""
    return f.MessageBy(string("a role", role))


def text(regex: str) -> f.Formula:
    """This is a message in whose text the regular expression is found: `text("(?i)refund")`."""
    return f.TextMatches(string("a regular expression", regex))


def permission(name: str) -> f.Formula:
    """The calling agent holds this permission now: `permission("refund:write")`."""
    return f.Permitted(string("a permission", name))


def approved(action: str, role: str) -> f.Formula:
    """A standing approval of `action` by `role` exists now: `approved("deploy", "lead")`."""
    return f.Approved(string("an action", action), string("a role", role))


def step(name: str) -> f.Formula:
    """This position is a plain step at which the atom was observed: `step("door_open")`."""
    return f.Observed(string("the name of an atom", name))


# --- terms ------------------------------------------------------------------------------------


def count(
    what: Tools | f.Formula,
    *,
    since: Tools | f.Formula | None = None,
    steps: int | None = None,
    seconds: float | None = None,
) -> f.Term:
    """How many positions so far, this one included: `count("pay", seconds=60) <= 3`.

    Only those after the latest `since`, if given. A tool stands for `called(tool)`.
    """
    reset = None if since is None else _happening(since)
    return f.Count(_happening(what), reset, _bound(steps, seconds))


def total(
    tools: Tools,
    path: str,
    *conditions: f.Condition,
    steps: int | None = None,
    seconds: float | None = None,
) -> f.Term:
    """The sum of an argument over all calls, this one included: `total("pay", "n") <= 100`."""
    string("the path of an argument", path)
    return f.Sum(target(tools, *conditions), path, _bound(steps, seconds))


def since(what: Tools | f.Formula) -> f.Term:
    """Positions since it last held, infinite if it never did: `since("login") <= 10`."""
    return f.StepsSince(_happening(what))


def age(what: Tools | f.Formula) -> f.Term:
    """Seconds since it last held, infinite if it never did: `age(done("login")) < 60`."""
    return f.Age(_happening(what))


def repeats(
    tools: Tools, *conditions: f.Condition, similar: Literal["equal", "fuzzy"] = "equal"
) -> f.Term:
    """How many such calls in a row have had similar arguments: `repeats("search") <= 5`."""
    if similar not in {"equal", "fuzzy"}:
        raise ContractError.of(f"arguments are compared `equal` or `fuzzy`, not `{similar}`")
    return f.Repeats(target(tools, *conditions), similar)


def last(value: f.Term, what: Tools | f.Formula) -> f.Term:
    """The value at the latest earlier position where it held: `last(arg("n"), "pay")`."""
    return f.Last(value, _happening(what))


def delivered(tools: Tools, *conditions: f.Condition) -> f.Term:
    """How many results of such calls have arrived, failures too: `delivered("web") <= 3`."""
    return f.Delivered(target(tools, *conditions))


def fact_age(key: str) -> f.Term:
    """Seconds since this fact was told, infinite if it never was: `fact_age("login") < 60`."""
    return f.FactAge(string("a key of the context", key))


def approval_age(action: str, role: str) -> f.Term:
    """Seconds since the latest standing approval: `approval_age("deploy", "lead") < 3600`."""
    return f.ApprovalAge(string("an action", action), string("a role", role))


def mark(path: str = "*") -> f.Term:
    """What calls share whose arguments there are equal; `*`: all: `mark("sku").equals(...)`."""
    return f.Mark(string("the path of an argument", path))


def arg(path: str) -> f.Term:
    """An argument of the call being decided: `arg("amount") <= ctx("limit")`."""
    return f.Arg(string("the path of an argument", path))


def ctx(key: str) -> f.Term:
    """A value of the context, now: `ctx("env").equals("prod")`."""
    return f.Ctx(string("a key of the context", key))


def tokens() -> f.Term:
    """Tokens that the session has used so far: `tokens() < 50_000`."""
    return f.Tokens()


def depth() -> f.Term:
    """The delegation depth of the call being decided: `depth() <= 3`."""
    return f.Depth()


# --- the future -------------------------------------------------------------------------------


def X(body: f.Formula) -> f.Formula:
    """There is a next position, and the formula holds there: `X(called("b"))`."""
    return f.Next(_formula("X", body))


def WX(body: f.Formula) -> f.Formula:
    """If there is a next position, the formula holds there: `WX(called("b"))`."""
    return f.WeakNext(_formula("WX", body))


def F(body: f.Formula, *, steps: int | None = None, seconds: float | None = None) -> f.Formula:
    """Now or later, within the bound: `F(done("b"), steps=3)` looks at four positions."""
    return f.Eventually(_formula("F", body), _bound(steps, seconds))


def G(body: f.Formula, *, steps: int | None = None, seconds: float | None = None) -> f.Formula:
    """Now and at every later position, within the bound: `G(~called("b"))`."""
    return f.Always(_formula("G", body), _bound(steps, seconds))


def U(left: f.Formula, right: f.Formula) -> f.Formula:
    """`right` now or later, `left` at every position before it: `U(~called("b"), done("a"))`."""
    return f.Until(_formula("U", left), _formula("U", right))


def W(left: f.Formula, right: f.Formula) -> f.Formula:
    """`U`, or `left` for ever: `W(~called("b"), done("a"))`."""
    return f.WeakUntil(_formula("W", left), _formula("W", right))


def R(left: f.Formula, right: f.Formula) -> f.Formula:
    """`right` up to and including the first `left`, or for ever: `R(done("a"), ~called("b"))`."""
    return f.Release(_formula("R", left), _formula("R", right))


# --- the past ---------------------------------------------------------------------------------


def Y(body: f.Formula) -> f.Formula:
    """There is a previous position, and the formula held there: `Y(done("a"))`."""
    return f.Yesterday(_formula("Y", body))


def WY(body: f.Formula) -> f.Formula:
    """If there is a previous position, the formula held there: `WY(done("a"))`."""
    return f.WeakYesterday(_formula("WY", body))


def O(body: f.Formula, *, steps: int | None = None, seconds: float | None = None) -> f.Formula:  # noqa: E743
    """Now or before, within the bound: `Y(O(done("a")))` is "earlier"."""
    return f.Once(_formula("O", body), _bound(steps, seconds))


def H(body: f.Formula, *, steps: int | None = None, seconds: float | None = None) -> f.Formula:
    """Now and at every earlier position, within the bound: `H(~failed("a"))`."""
    return f.Historically(_formula("H", body), _bound(steps, seconds))


def S(left: f.Formula, right: f.Formula) -> f.Formula:
    """`right` now or before, `left` ever after it up to now: `S(~called("b"), done("a"))`."""
    return f.Since(_formula("S", left), _formula("S", right))


# --- arguments that cannot be meant -----------------------------------------------------------


def _formula(operator: str, value: object) -> f.Formula:
    if isinstance(value, f.Formula):
        return value
    hint = f"did you mean `{operator}(called({value!r}))`?" if isinstance(value, str) else ""
    raise ContractError.of(f"`{operator}` takes formulas, not `{value!r}`", hint)


def _happening(what: Tools | f.Formula) -> f.Formula:
    return what if isinstance(what, f.Formula) else called(what)


def _bound(steps: Any, seconds: Any) -> f.Bound:
    if steps is not None and seconds is not None:
        raise ContractError.of("a bound is in steps or in seconds, not in both")
    if steps is not None:
        if isinstance(steps, int) and not isinstance(steps, bool) and steps >= 0:
            return f.Steps(steps)
        raise ContractError.of(f"`steps` is a whole number from 0, not `{steps!r}`")
    if seconds is None:
        return None
    number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    if number and math.isfinite(seconds) and seconds >= 0:
        return f.Seconds(float(seconds))
    raise ContractError.of(f"`seconds` is a number from 0, not `{seconds!r}`")
