"""Values: demands for each value that goes through calls, answers and messages.

Each function is a pattern; what its arguments and decorator mean stands in `pattern.py`. A `match`
(docs/semantics.md) describes one event; the same `$x` in two of them is the same value.
"""

from __future__ import annotations

import sponsio_like.logic.formula as f
from sponsio_like.contracts import (
    Field,
    Name,
    Occurrence,
    Positive,
    Regex,
    Success,
    Tools,
    Within,
    check_release,
    check_settles,
    default,
    earlier,
    excluding,
    fresh_variable,
    narrowed,
    pattern,
    refusing,
    whenever,
)
from sponsio_like.errors import ContractError
from sponsio_like.logic.formula import Formula
from sponsio_like.monitor import vars_in
from sponsio_like.patterns.phrasings import PHRASINGS

ANY = default("*")
VET = {"tool": "vet", "args": {"name": "$who"}}
PAY = {"tool": "pay", "args": {"to": "$who"}}
OPEN = {"tool": "open", "args": {"id": "$id"}}
CLOSE = {"tool": "close", "args": {"id": "$id"}}


@pattern(
    "values",
    "no {match:with}",
    says=PHRASINGS["absent"],
    keeps=("", "pay(to=bob)", "send(to=mallory)"),
    breaks=("pay(to=mallory)", "pay(to=bob) pay(to=mallory)", "pay(to=mallory)!"),
    example={"match": {"tool": "pay", "args": {"to": "mallory"}}},
)
def absent(match: Occurrence) -> Formula:
    """Such an event never happens."""
    return f.Always(~match)


@pattern(
    "values",
    "every {match:with} requires an earlier {requires:with}",
    "every {match:with} requires an earlier {requires:with} within {within.seconds} second(s)",
    "every {match:with} requires an earlier {requires:with} within {within.steps} event(s)",
    says=PHRASINGS["precedence"],
    keeps=(
        "",
        "vet(name=bob) pay(to=bob)",
        "vet(name=bob) vet(name=ann) pay(to=ann) pay(to=bob)",
    ),
    breaks=(
        "pay(to=bob)",
        "vet(name=bob) pay",
        "vet(name=ann) pay(to=bob)",
        "vet(name=bob)! pay(to=bob)",
        "vet(name=bob) pay(to=bob) pay(to=ann)",
        "vet(name=bob)? pay(to=bob) ok:vet",
    ),
    example={"match": PAY, "requires": VET},
)
def precedence(match: Occurrence, requires: Success, within: Within | None = None) -> Formula:
    """Each such event needs an earlier one that it requires, for the same values.

    A required call must have succeeded, unless its match says otherwise. A call that lacks the
    field of a value is refused, whether its tool is named or a glob such as `pay_*`, unless the
    match says {missing: skip}; with `*` or no tool, it is left alone unless {missing: refuse} is
    said. `within`: it is one of so many events before, or not more than so many seconds before:
    `{steps: 10}` (or `10`), `{seconds: 3600}`. `match: {tool: "*"}` is all tools but the
    required one, for the same value.
    """
    return f.Always(_needing(refusing(match), requires) >> earlier(requires, within, match))


@pattern(
    "values",
    "every {match:with} must be answered by {by:with}",
    says=PHRASINGS["response"],
    keeps=("", "open(id=1) close(id=1)", "open(id=1) open(id=2) close(id=2) close(id=1)"),
    breaks=(
        "open(id=1)",
        "open(id=1) close(id=2)",
        "open(id=1) close(id=1)!",
        "close(id=1) open(id=1)",
    ),
    example={"match": OPEN, "by": CLOSE},
)
def response(match: Occurrence, by: Success) -> Formula:
    """Each such event is answered later, for the same values; one answer serves all before it."""
    _answers(match, by)
    return f.Always(match >> f.Next(f.Eventually(by)))


@pattern(
    "values",
    "every {match:with} must be answered by {by:with} within {within} event(s)",
    says=PHRASINGS["bounded_response"],
    keeps=("", "open(id=1) close(id=1)", "open(id=1) other close(id=1)"),
    breaks=("open(id=1) other other close(id=1)", "open(id=1) close(id=2) other", "open(id=1)"),
    example={"match": OPEN, "by": CLOSE, "within": 2},
)
def bounded_response(match: Occurrence, by: Success, within: Positive) -> Formula:
    """Each such event is answered by one of the next `within` events, for the same values.

    Every call of the session is an event; messages are, where one of the matches is a message.
    """
    _answers(match, by)
    return f.Always(match >> f.Next(f.Eventually(by, f.Steps(within - 1))))


@pattern(
    "values",
    "the last {match:with} must be resolved by {by:with}",
    says=PHRASINGS["resolved"],
    keeps=(
        "",
        "open(id=1) close(id=1)",
        "open(id=1) close(id=1) open(id=1) close(id=1)",
        "open(id=1) open(id=1) close(id=1)",
    ),
    breaks=("open(id=1)", "open(id=1) close(id=1) open(id=1)", "open(id=1) close(id=2)"),
    example={"match": OPEN, "by": CLOSE},
)
def resolved(match: Occurrence, by: Success) -> Formula:
    """The last such event is resolved, for each value: a later one supersedes those before it."""
    return f.Always(match >> (by | f.Next(f.Eventually(by | match))))


@pattern(
    "values",
    "no {forbidden:with} after {trigger:with} until {release:with}",
    "no {forbidden:with} after {trigger:with}",
    says=PHRASINGS["until"],
    keeps=(
        "",
        "edit(id=1)",
        "lock(id=1) edit(id=2)",
        "lock(id=1) unlock(id=1) edit(id=1)",
        "edit(id=1) lock(id=1)",
    ),
    breaks=(
        "lock(id=1) edit(id=1)",
        "lock(id=1) unlock(id=2) edit(id=1)",
        "lock(id=1) unlock(id=1)! edit(id=1)",
        "lock(id=1) unlock(id=1) lock(id=1) edit(id=1)",
    ),
    example={
        "trigger": {"tool": "lock", "args": {"id": "$id"}},
        "forbidden": {"tool": "edit", "args": {"id": "$id"}},
        "release": {"tool": "unlock", "args": {"id": "$id"}},
    },
)
def until(trigger: Occurrence, forbidden: Occurrence, release: Success | None = None) -> Formula:
    """After `trigger`, no `forbidden` until `release`, for the same values; ever, without one.

    Both are compared by when they were called: a `trigger` that still runs when `release` is called
    is released by it. So that its result counts too (`write_file` ends while `run_tests` runs), add
    {pattern: sanitized_before_sink, source: write_file, sanitizer: run_tests, sink: merge_pr}. A
    call that still runs when `forbidden` is called, and was called before `release`, stops neither.
    """
    if release is not None:
        check_release(release, trigger)
    binds = f.Once(trigger) if release is None else f.Since(~release, trigger)
    return f.Always(forbidden >> f.WeakYesterday(~binds))


@pattern(
    "values",
    "`{tool}.{field}` must come from {source:with}",
    says=PHRASINGS["value_from"],
    keeps=(
        "",
        'find={"id": 7} delete(id=7)',
        'find="found order 7, paid" delete(id=7)',
        'find={"id": 7} find={"id": 8} delete(id=7)',
    ),
    breaks=(
        "delete(id=7)",
        'find={"id": 71} delete(id=7)',
        'find!={"id": 7} delete(id=7)',
        'find={"id": 7} delete',
    ),
    example={"tool": "delete", "field": "id", "source": "find"},
)
def value_from(tool: Tools, field: Field, source: Success) -> Formula:
    """The value of `field` in a call of `tool` stands, as a word, in an earlier answer of `source`.

    A message may be the source: {message: user}. A call without the field is refused, by name or by
    a glob such as `pay_*`, unless the tool says so: {tool: delete, missing: skip}; `*` speaks of
    tools without the field, too, and leaves them alone.
    """
    if field == "*":
        raise ContractError.of("all arguments together stand in no answer", "name one field")
    value = f.Var(fresh_variable("value", tool, _calls(source)))
    bound = narrowed(tool, f.Condition(field, "=", value))
    return f.Always(refusing(f.Happens("called", bound)) >> earlier(_showing(source, value)))


@pattern(
    "values",
    "`{action}` requires the latest `{role}` message to match `{matches}`",
    says=PHRASINGS["message_says"],
    keeps=(
        "",
        'msg:user="yes, do it" delete',
        'msg:user="yes" msg:assistant=fine other delete delete',
        "msg:user=no other",
    ),
    breaks=(
        "delete",
        "msg:user=no delete",
        "msg:user=yes msg:user=no delete",
        "msg:assistant=yes delete",
    ),
    example={"action": "delete", "role": "user", "matches": "(?i)yes"},
)
def message_says(action: Tools, matches: Regex, role: Name = "user") -> Formula:
    """The latest message of `role` before each call of `action` matches."""
    message = f.MessageBy(role)
    said = f.Since(~message, message & f.TextMatches(matches))
    return whenever(action, f.Yesterday(said))


@pattern(
    "values",
    "`{action}` must not be repeated after {limit} failure(s)",
    says=PHRASINGS["repeated_failure"],
    keeps=(
        "",
        "run(cmd=x)! run(cmd=x)!",
        "run(cmd=x)! run(cmd=x)! run(cmd=y)",
        "run(cmd=x) run(cmd=x) run(cmd=x)",
    ),
    breaks=("run(cmd=x)! run(cmd=x)! run(cmd=x)", "run(cmd=x)! run(cmd=y) run(cmd=x)! run(cmd=x)"),
    example={"action": "run", "limit": 2},
)
def repeated_failure(action: Tools = ANY, limit: Positive = 2) -> Formula:
    """The same call, tool and arguments, is not made again once it has failed `limit` times."""
    call = f.Var(fresh_variable("call", action))
    again = narrowed(action, f.Condition("@call", "=", call))
    failures = f.Count(f.Happens("failed", again))
    return whenever(again, f.WeakYesterday(failures < limit))


# --- what they are made of ------------------------------------------------------------------------


def _answers(match: Formula, by: Formula) -> None:
    """Raise `ContractError` for an answer that is a trigger again, where that can be seen."""
    if isinstance(match, f.Happens) and isinstance(by, f.Happens) and match.what == "called":
        check_settles(by.target, match.target)


def _needing(event: Formula, requires: Formula) -> Formula:
    """Return the event, where globs leave out the required calls for the same values.

    If an answer or a message has the value, they are not left out.
    """
    needed = _calls(requires)
    asked = (node for node in f.postorder(requires) if not isinstance(node, f.Happens))
    if any(vars_in(node) for node in asked):
        return event
    return f.rewritten(
        event,
        lambda node: (
            f.disj(*excluding(node.what, node.target, needed))
            if isinstance(node, f.Happens)
            else None
        ),
    )


def _calls(source: Formula) -> f.Target:
    happenings = [node for node in f.postorder(source) if isinstance(node, f.Happens)]
    return tuple(match for each in happenings for match in each.target)


def _showing(source: Formula, value: f.Var) -> Formula:
    """Return the formula of such an event, with the value in its answer or its text."""
    if isinstance(source, f.Or):
        return f.disj(*(_showing(part, value) for part in source.parts))
    if any(isinstance(node, f.MessageBy) for node in f.postorder(source)):
        return source & f.TextIs("has", value)
    return source & f.OutputIs("", "has", value)
