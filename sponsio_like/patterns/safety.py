"""Safety: order, confirmation, permission and secrecy before what cannot be undone.

Each function is a pattern; `contracts/declaration.py` tells what its arguments and decorator mean.
"""

from __future__ import annotations

from typing import Literal

import sponsio_like.logic.formula as f
from sponsio_like.contracts import (
    Accept,
    AnswerField,
    Counts,
    Event,
    Field,
    Name,
    Positive,
    Rule,
    Tools,
    Within,
    before,
    by_name,
    calls_of_any,
    confirmed,
    default,
    dependent_calls,
    earlier,
    fresh_variable,
    granted_since_last,
    narrowed,
    pattern,
    whenever,
    worked,
)
from sponsio_like.errors import ContractError
from sponsio_like.events import Call, Context, atom
from sponsio_like.logic.formula import Formula
from sponsio_like.outcome import Escalate
from sponsio_like.patterns.phrasings import PHRASINGS

CONFIRM_IT = default("confirm_{action}", optional=True)


@pattern(
    "safety",
    "tool `{first}` must precede `{then}`",
    "must call `{first}` before `{then}`",
    "tool `{first}` must precede `{then}` by at most {within.seconds} second(s)",
    "tool `{first}` must precede `{then}` by at most {within.steps} step(s)",
    says=PHRASINGS["must_precede"],
    keeps=("", "check", "check refund", "check refund refund", "check! check refund"),
    breaks=("refund", "check! refund", "check? refund ok:check", "refund check"),
    example={"first": "check", "then": "refund"},
)
def must_precede(
    first: Tools,
    then: Tools,
    accept: Accept | None = None,
    within: Within | None = None,
    counts: Counts = "done",
) -> Formula:
    """`then` is only called after `first` has succeeded: an order of calls, and no gate.

    Whatever `first` answers, its success counts, and one serves for the whole session. A call of
    `first` that failed, or that is still in flight, does not. `accept`: only answers that are so
    count (as in `must_confirm`). `within`: one of so many calls before `then`, or not more than so
    many seconds before it: `{steps: 10}` (or `10`), `{seconds: 3600}`. `then: "*"` is all tools but
    `first`. A call that lacks the field of a `$x` of `then` is refused.
    """
    known = worked(first, counts)
    known = known if accept is None else known & accept
    return before(then, [first], earlier(known, within, f.disj(*dependent_calls(then, first))))


@pattern(
    "safety",
    "tool `{action}` requires confirmation",
    "tool `{action}` requires confirmation by `{by}`",
    says=PHRASINGS["must_confirm"],
    keeps=(
        "",
        "confirm_delete=yes delete",
        'confirm_delete={"status":"confirmed"} delete confirm_delete=true delete',
    ),
    breaks=(
        "delete",
        "confirm_delete delete",
        "confirm_delete=yes delete delete",
        "confirm_delete! delete",
        'confirm_delete={"success":false} delete',
        'confirm_delete="yes, but not now" delete',
        "confirm_delete=declined delete",
    ),
    example={"action": "delete"},
)
def must_confirm(
    action: Tools,
    by: Tools | None = CONFIRM_IT,
    same: tuple[Field, ...] | None = None,
    accept: Accept | None = None,
    counts: Counts = "done",
) -> Rule:
    """Each run of `action` needs a confirmation of its own: a yes of `by` since the last run. A
    no that comes after the yes does not take it back.

    Where an inventory is declared and has no such tool, each run is held until a person has
    answered its ticket.

    Only what cannot be read otherwise is a yes: `true`; a text that says yes, approved, confirmed
    or ok, and nothing else; or an object with that in its `status`, `answer`, `confirmed` and the
    like, and with nothing in any other field but ids, times, names, amounts. All other answers do
    not confirm, and neither does a success without an answer. `accept` says what confirms instead.
    A plain word has to stand in the answer whole, in any case, and nothing in the same text may
    deny it, take it back or leave it open (`approved, then revoked`), nor may another field say no.
    A regular expression is searched for anywhere in the answer, whatever stands beside it. The
    strict form compares one field: `{path: status, equals: verified}`; for a tool that answers
    nothing, `{equals: null}`.
    `same`: both calls have equal values of these fields.
    """
    if by is None:
        return Rule(f.Always(~calls_of_any(action)), answer=Escalate())
    yes = granted_since_last(confirmed(by, accept, counts), action, by)
    return Rule(before(action, [by], yes), by=same or ())


@pattern(
    "safety",
    "tool `{tool}` requires permission `{permission}`",
    says=PHRASINGS["requires_permission"],
    keeps=("", "permit:manager transfer", "other"),
    breaks=("transfer", "permit:clerk transfer", "permit:manager permit:clerk transfer"),
    example={"tool": "transfer", "permission": "manager"},
)
def requires_permission(tool: Tools, permission: Name) -> Formula:
    """`permission` is held whenever `tool` is called."""
    return whenever(tool, f.Permitted(permission))


@pattern(
    "safety",
    "no data leak from `{source}` to `{sink}`",
    says=PHRASINGS["no_data_leak"],
    keeps=("", "send", "send read", "read! send", "read other"),
    breaks=("read send", "read other send"),
    example={"source": "read", "sink": "send"},
)
def no_data_leak(
    source: Tools,
    sink: Tools,
    match: Literal["order", "values"] = "order",
    fields: tuple[AnswerField, ...] | None = None,
    min_length: Positive | None = None,
    counts: Counts = "done",
) -> Formula:
    """Once `source` has succeeded, `sink` is never called. An agent may be either: {agent: bob}.

    `match: values`: no argument of `sink` contains what an output of `source` delivered before, a
    failed one too, wherever it stands in a text, in any case, however a number is grouped. What
    identifies nothing does not count: `3`, `true`, `Bern`, a year, a date. What counts has a digit
    or is an address and has at least `min_length` characters (4), or is a name of several words, a
    passage of 5 words, or the value of a field such as `password`. With `fields`, the values of
    these fields of the output count instead, whatever they are, also inside of other fields
    (`iban` is that of `{user: {iban: ..}}`, too). Encodings are not seen, but for `%40` and the
    like.
    """
    if match == "values":
        leak = f.Var(fresh_variable("leak", source, sink))
        told = calls_of_any(source) & f.OutputIs("", "carries", _counting(leak, fields, min_length))
        return whenever(narrowed(sink, f.Condition("*", "carries", leak)), ~earlier(told))
    if fields or min_length:
        raise ContractError.of(
            "`fields` and `min_length` are about values", "write match: values beside them"
        )
    return whenever(sink, ~earlier(worked(source, counts)))


def _counting(leak: f.Var, fields: tuple[str, ...] | None, least: int | None) -> f.Var:
    """Return the variable, with the description of the values that count."""
    if not fields:
        return f.Var(leak.name, None if least is None else f"{least} characters")
    if least is not None or "*" in fields or any("," in each for each in fields):
        raise ContractError.of(
            "all values of `fields` count, whatever they are", "leave out `min_length`, `*` and `,`"
        )
    return f.Var(leak.name, ", ".join(fields))


@pattern(
    "safety",
    "destructive action `{action}` requires confirmation",
    says=PHRASINGS["destructive_action_gate"],
    keeps=("", "confirm_drop=yes drop"),
    breaks=("drop", "confirm_drop drop", "confirm_drop=yes drop drop", "confirm_drop=false drop"),
    example={"action": "drop"},
)
def destructive_action_gate(
    action: Tools,
    gate: Tools | None = CONFIRM_IT,
    role: Name | None = None,
    accept: Accept | None = None,
    counts: Counts = "done",
) -> Rule | Formula:
    """Each run of `action` needs a confirmation of its own through `gate`.

    What confirms, and `accept`, are as in `must_confirm`.

    With `role`, a standing approval of the action by that role is needed as well. Where an
    inventory is declared and has no such tool, each run is held until a person (of the `role`) has
    answered its ticket.
    """
    if gate is None:
        return Rule(f.Always(~calls_of_any(action)), answer=Escalate((role,) if role else ()))
    gated = before(
        action, [gate], granted_since_last(confirmed(gate, accept, counts), action, gate)
    )
    if role is None:
        return gated
    return gated & by_name(action, lambda name: f.Approved(name, role))


@pattern(
    "safety",
    "after `{trigger}`, the next step must be `{next_action}`",
    says=PHRASINGS["workflow_step"],
    keeps=("", "other", "lock report", "lock report other"),
    breaks=("lock other", "lock", "lock lock report"),
    example={"trigger": "lock", "next_action": "report"},
)
def workflow_step(trigger: Event, next_action: Event) -> Formula:
    """Right after `trigger` comes `next_action`; any other call there is refused.

    Both are tools, atoms or formulas. A trigger over the context alone fires when it becomes true,
    and binds the first call after that; a fact that was never told is not true.
    """
    if not _is_context(trigger):
        return f.Always(trigger >> f.Next(next_action))
    nodes = list(f.postorder(trigger))
    nulls = {node.left for node in nodes if isinstance(node, f.Compare) and _asks_null(node)}
    facts = [node for node in nodes if isinstance(node, f.Ctx)]
    asked = ((each.key, True) if each in nulls else (each.key,) for each in facts)
    told = f.conj(trigger, *(f.Custom("ctx_told", each) for each in asked))
    return f.Always((told & f.WeakYesterday(~told)) >> next_action)


@atom("ctx_told", inputs=frozenset({"facts"}))
def ctx_told(_: Call, context: Context, key: str, null: bool = False) -> bool:
    """True if the host has told this fact; a null counts as told only with `null`."""
    return context.facts.get(key) is not None or (null and key in context.facts)


def _asks_null(node: f.Compare) -> bool:
    return isinstance(node.right, f.Const) and node.right.value is None


def _is_context(trigger: Formula) -> bool:
    """True if the formula speaks of facts alone, of no position."""
    leaves = [node for node in f.postorder(trigger) if not f.children(node)]
    facts = (f.Ctx, f.Permitted, f.Approved, f.Tokens)
    return any(isinstance(leaf, facts) for leaf in leaves) and all(
        isinstance(leaf, (*facts, f.Const, f.Constant)) for leaf in leaves
    )
