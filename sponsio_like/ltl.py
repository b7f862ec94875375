"""Formulas in Python: a short name for everything that the text syntax can say.

In: tool names, conditions, formulas. Out: the same nodes that `read` makes of text, combined with
`&  |  ~  >>`; terms are compared with `<  <=  >=  >`, `.equals`, `.differs`, `.is_in`, `.matches`.

    G(called("pay", where("amount") > 500) >> Y(O(done("review"))))
"""

from __future__ import annotations

from typing import Literal, overload

import sponsio_like.logic.formula as f
from sponsio_like.errors import ContractError
from sponsio_like.logic import (
    WX,
    WY,
    F,
    Field,
    G,
    H,
    O,
    R,
    S,
    Tools,
    U,
    W,
    X,
    Y,
    bound,
    initially,
    string,
    target,
    var,
    where,
)

# fmt: off
__all__ = [
    "WX", "WY", "F", "Field", "G", "H", "O", "R", "S", "Tools", "U", "W", "X", "Y", "age",
    "agent", "approval_age", "approved", "arg", "called", "count", "ctx", "delivered", "denied",
    "depth", "done", "fact_age", "failed", "false", "initially", "last", "mark", "message",
    "output", "permission", "repeats", "since", "step", "target", "text", "tokens", "total", "true",
    "value", "var", "where",
]
# fmt: on

true = f.TRUE
false = f.FALSE


# --- atoms ------------------------------------------------------------------------------------


def called(
    tools: Tools,
    *conditions: f.Condition,
    agent: str | None = None,
    missing: Literal["refuse"] | None = None,
) -> f.Formula:
    """Return an atom: this is a call of one of `tools`, whatever becomes of it.

    `called("pay", where("n") > 3)`
    """
    return f.Happens("called", target(tools, *conditions, agent=agent, missing=missing))


def done(
    tools: Tools,
    *conditions: f.Condition,
    agent: str | None = None,
    missing: Literal["refuse"] | None = None,
) -> f.Formula:
    """Return an atom: this is such a call, and it has succeeded; false while it is in flight.

    `done("check_policy")`
    """
    return f.Happens("done", target(tools, *conditions, agent=agent, missing=missing))


def failed(
    tools: Tools,
    *conditions: f.Condition,
    agent: str | None = None,
    missing: Literal["refuse"] | None = None,
) -> f.Formula:
    """Return an atom: this is such a call, and it has failed; false while it is in flight.

    `failed(["pay", "refund"])`
    """
    return f.Happens("failed", target(tools, *conditions, agent=agent, missing=missing))


def output(path: str = "") -> Field[f.Formula]:
    """Return the output of this call, whole or at `path`, for an atom: `output("n") > 3`.

    The atom is known once the call has settled. Of an earlier call, the output is a term:
    `last(output("n"), done("quote")) > 3`.
    """
    string("the path of an output", path)
    return Field(lambda op, value: f.OutputIs(path, op, value), f.Output(path))


def agent(name: str) -> f.Formula:
    """Return an atom: this call is made by this agent: `agent("planner")`."""
    return f.ByAgent(string("an agent's name", name))


def message(role: str = "*") -> f.Formula:
    """Return an atom: this position is a message of this role, or of any: `message("user")`."""
    return f.MessageBy(string("a role", role))


@overload
def text(regex: str) -> f.Formula: ...


@overload
def text() -> Field[f.Formula]: ...


def text(regex: str | None = None) -> f.Formula | Field[f.Formula]:
    """Return an atom: the regular expression is found in this message: `text("(?i)refund")`.

    Without one, return the text itself, for variables: `text().has(var("x"))`.
    """
    return Field(_about_text) if regex is None else _about_text("matches", regex)


def _about_text(op: f.Op, value: object) -> f.Formula:
    if isinstance(value, f.Var):
        return f.TextIs(op, value)
    if op == "matches":
        return f.TextMatches(string("a regular expression", value))
    raise ContractError.of("a text is compared with a variable", "or matched: `text(regex)`")


def permission(name: str) -> f.Formula:
    """Return an atom: the calling agent holds this permission now: `permission("refund:write")`."""
    return f.Permitted(string("a permission", name))


def approved(action: str, role: str) -> f.Formula:
    """Return an atom: a standing approval of `action` by `role` exists now.

    `approved("deploy", "lead")`
    """
    return f.Approved(string("an action", action), string("a role", role))


def step(name: str) -> f.Formula:
    """Return an atom: this is a plain step at which `name` was observed: `step("door_open")`."""
    return f.Observed(string("the name of an atom", name))


# --- terms ------------------------------------------------------------------------------------


def count(
    what: Tools | f.Formula,
    *,
    since: Tools | f.Formula | None = None,
    steps: int | None = None,
    seconds: float | None = None,
) -> f.Term:
    """Return a term: the number of positions so far, with this one.

    `count("pay", seconds=60) <= 3`. With `since`, only positions after it held last; with `steps`
    or `seconds`, only the last ones. A tool stands for `called(tool)`.
    """
    reset = None if since is None else _happening(since)
    return f.Count(_happening(what), reset, bound(steps, seconds))


def total(
    tools: Tools,
    path: str,
    *conditions: f.Condition,
    steps: int | None = None,
    seconds: float | None = None,
) -> f.Term:
    """Return a term: the sum of an argument over all calls so far, with this one.

    `total("pay", "n") <= 100`. With `steps` or `seconds`, only of the last ones.
    """
    string("the path of an argument", path)
    return f.Sum(target(tools, *conditions), path, bound(steps, seconds))


def since(what: Tools | f.Formula) -> f.Term:
    """Return a term: the positions since it last held, infinite if it never did.

    `since("login") <= 10`
    """
    return f.StepsSince(_happening(what))


def age(what: Tools | f.Formula) -> f.Term:
    """Return a term: the seconds since it last held, infinite if it never did.

    `age(done("login")) < 60`

    As a pause, `age(called("move")) >= 600` is true where nothing was ever called; `done` does not
    see a call that is still in flight.
    """
    return f.Age(_happening(what))


def repeats(
    tools: Tools, *conditions: f.Condition, similar: Literal["equal", "fuzzy"] = "equal"
) -> f.Term:
    """Return a term: the number of such calls in a row with similar arguments.

    `repeats("search") <= 5`
    """
    if similar not in {"equal", "fuzzy"}:
        raise ContractError.of(f"arguments are compared `equal` or `fuzzy`, not `{similar}`")
    return f.Repeats(target(tools, *conditions), similar)


def last(value: f.Term | Field[f.Formula], what: Tools | f.Formula) -> f.Term:
    """Return a term: the value where it last held before: `last(arg("n"), "pay")`."""
    read = value.term if isinstance(value, Field) else value
    if not isinstance(read, f.Term):
        raise ContractError.of("`last` takes a term", 'write `arg("n")` or `output("n")`')
    return f.Last(read, _happening(what))


def delivered(tools: Tools, *conditions: f.Condition) -> f.Term:
    """Return a term: the number of results of such calls, failures too: `delivered("web") <= 3`."""
    return f.Delivered(target(tools, *conditions))


def denied(
    tools: Tools, *conditions: f.Condition, like: Literal["any", "tool", "call"] = "any"
) -> f.Term:
    """Return a term: the number of such calls that were refused so far: `denied("pay") < 3`.

    `like`: all of them, those of the same tool as this call, or those that are the same call.
    """
    if like not in {"any", "tool", "call"}:
        raise ContractError.of(f"refusals are like `any`, `tool` or `call`, not `{like}`")
    return f.Denied(target(tools, *conditions), like)


def fact_age(key: str) -> f.Term:
    """Return a term: the seconds since this fact was told, infinite if it never was.

    `fact_age("login") < 60`
    """
    return f.FactAge(string("a key of the context", key))


def approval_age(action: str, role: str) -> f.Term:
    """Return a term: the seconds since the latest standing approval.

    `approval_age("deploy", "lead") < 3600`
    """
    return f.ApprovalAge(string("an action", action), string("a role", role))


def mark(path: str = "*") -> f.Term:
    """Return a term that is equal for calls with equal arguments at `path`.

    `mark("sku").equals(...)`. `*` is all arguments together.
    """
    return f.Mark(string("the path of an argument", path))


def arg(path: str) -> f.Term:
    """Return a term: an argument of the call being decided: `arg("amount") <= ctx("limit")`."""
    return f.Arg(string("the path of an argument", path))


def ctx(key: str) -> f.Term:
    """Return a term: a value of the context, now: `ctx("env").equals("prod")`."""
    return f.Ctx(string("a key of the context", key))


def value(name: str) -> f.Term:
    """Return a term: the value of a variable, to be compared with other terms.

    `arg("price") < value("old")`: an argument of this call is less than `$old`.
    """
    return f.Variable(var(name).name)


def tokens() -> f.Term:
    """Return a term: the tokens that the session has used so far: `tokens() < 50_000`."""
    return f.Tokens()


def depth() -> f.Term:
    """Return a term: the delegation depth of the call being decided: `depth() <= 3`."""
    return f.Depth()


# --- arguments that cannot be meant -----------------------------------------------------------


def _happening(what: Tools | f.Formula) -> f.Formula:
    return what if isinstance(what, f.Formula) else called(what)
