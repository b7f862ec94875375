"""Reads atoms and stateless terms at one event.

In: an atom or a term, once, at load time. Out: a function from an event and its context to `True |
False`, `OPEN` (it waits for the call's result) or `None` (a comparison cannot be made); of a term,
to its value, or `MISSING`.
"""

from __future__ import annotations

import fnmatch
import functools
import re
from collections.abc import Callable, Mapping
from enum import Enum
from math import inf
from typing import Any, TypeAlias

from sponsio_like.event_types import Call, Event, Kind, Message, Result, Step
from sponsio_like.events.condition_tests import answer_test, comparison_test, condition_on, single
from sponsio_like.events.context import Context
from sponsio_like.events.denials import refusals
from sponsio_like.events.registry import CustomAtom, custom, taking
from sponsio_like.events.relations import comparison
from sponsio_like.logic.formula import (
    ApprovalAge,
    Approved,
    Arg,
    ByAgent,
    Compare,
    Condition,
    Const,
    Ctx,
    Custom,
    Delivered,
    Denied,
    Depth,
    FactAge,
    Formula,
    Happens,
    Mark,
    Match,
    MessageBy,
    Node,
    Observed,
    Op,
    Output,
    OutputIs,
    Permitted,
    Repeats,
    Sum,
    Target,
    Term,
    TextIs,
    TextMatches,
    Tokens,
)
from sponsio_like.values import (
    ABSENT,
    UNREADABLE,
    NotCanonical,
    digest,
    path_parts,
    reach,
    spot,
    value_in_result,
    without_nulls,
)


class Missing:
    """The value of a term that has none here."""


MISSING = Missing()
SKEW_SECONDS = 60.0
"""Most seconds by which the clock of approvals may be ahead of the session's."""


def value_reader(node: Term) -> Callable[[Event, Context], Any]:
    """Return the function that reads a stateless term at an event; `MISSING`
    where it has no value.
    """
    match node:
        case Const(value):
            return lambda event, context: value
        case Arg(path):
            return lambda event, _: (
                argument(event.args, path) if isinstance(event, Call) else MISSING
            )
        case Ctx(key):
            return lambda _, context: told_value(context, key)
        case Mark(path):
            return lambda event, _: mark_at(event, path) if isinstance(event, Call) else MISSING
        case Delivered():
            return lambda event, context: context.delivered.get(node, 0)
        case Denied(_, like):
            return lambda event, context: (
                refusals(context.denied, node, event)
                if like == "any" or isinstance(event, Call)
                else MISSING
            )
        case FactAge(key):
            return lambda event, context: context.told_at.get(key, MISSING)
        case ApprovalAge(action, role):
            return lambda event, context: context.approved_at(action, role, MISSING)
        case Tokens():
            return lambda event, context: context.tokens
        case Depth():
            return lambda event, _: event.depth if isinstance(event, Call) else MISSING
    raise TypeError(f"not a stateless term: {node!r}")


def mark_at(call: Call, path: str) -> Any:
    """Return a fingerprint of the value at `path`, in any shape; `MISSING` if it cannot be read."""
    try:
        return digest(
            "", [without_nulls(call.args)] if path == "*" else list(reach(call.args, path))
        )
    except NotCanonical:
        return MISSING


def elapsed(since: Any, now: float) -> Any:
    """Return the seconds since something was told; infinite if it never was.

    `MISSING` for a time that is still to come: it is that of another clock.
    """
    if since is MISSING:
        return inf
    return MISSING if since > now + SKEW_SECONDS else now - since


def argument(args: Any, path: str) -> Any:
    """Return the argument at `path` as a term: `ABSENT` if there is none,
    `MISSING` if unreadable.
    """
    value = single(spot(args, path))
    return MISSING if value is UNREADABLE else value


class Wait(Enum):
    """The value of an atom that waits for a result.

    `OPEN`: the call is in flight. `LATE`: the atom will be true, but only at the end of the
    session.
    """

    OPEN = "open"
    LATE = "late"
    __hash__ = object.__hash__  # states have many of them


OPEN = Wait.OPEN
LATE = Wait.LATE
Truth: TypeAlias = bool | Wait | None


# --- tools ------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=4096)
def glob_matcher(pattern: str) -> Callable[[str], bool]:
    """Return a function: True if the glob matches the whole name, case-sensitively."""
    match = re.compile(fnmatch.translate(pattern)).match
    return lambda tool: match(tool) is not None


def glob_matches(pattern: str, tool: str) -> bool:
    """True if the glob matches the whole name, case-sensitively."""
    return glob_matcher(pattern)(tool)


def names_tool(match: Match, tool: str) -> bool:
    """True if `match` speaks of `tool`, whatever its conditions. Names are case-sensitive."""
    if not match.names and not match.globs:
        return True
    return tool in match.names or any(glob_matches(pattern, tool) for pattern in match.globs)


Meets: TypeAlias = Callable[[Any], bool | None]
Concerns: TypeAlias = Callable[[Call], bool | None]


def meets(condition: Condition) -> Meets:
    """Return a function: True if arguments meet the condition; None if that cannot be decided."""
    path = condition.path
    asks = condition_on(condition.op, condition.value, every=condition.every)
    return lambda args: asks(spot(args, path))


def concerns(target: Target) -> Concerns:
    """Return a function: True if a call is of this target; None if a condition cannot be decided.

    What can be prepared is prepared here, once.
    """
    if all(not (match.globs or match.conditions or match.agent) for match in target):
        everything = any(not match.names for match in target)
        listed = frozenset(name for match in target for name in match.names)
        return lambda call: everything or call.tool in listed
    kinds = [_concerns(match) for match in target]
    return lambda call: _one([asks(call) for asks in kinds])


def _one(answers: list[bool | None]) -> bool | None:
    return True if True in answers else None if None in answers else False


def _concerns(match: Match) -> Concerns:
    listed, globs = frozenset(match.names), [glob_matcher(glob) for glob in match.globs]
    every = not (listed or globs)
    agent, conditions = match.agent, [meets(condition) for condition in match.conditions]

    def asks(call: Call) -> bool | None:
        if agent not in (None, call.agent):
            return False
        if not (every or call.tool in listed or any([glob(call.tool) for glob in globs])):
            return False
        answers = [condition(call.args) for condition in conditions]
        return False if False in answers else None if None in answers else True

    return asks


# --- reading ----------------------------------------------------------------------------------

Reader: TypeAlias = Callable[[Event, Context], Truth]


def reader(node: Formula) -> Reader:
    """Return the function that reads the atom at an event; `OPEN` where it waits for the result."""
    match node:
        case Happens("called", target):
            of = concerns(target)
            return lambda event, _: isinstance(event, Call) and of(event)
        case Happens(_, target):
            of = concerns(target)
            return lambda event, _: isinstance(event, Call) and (of(event) and OPEN)
        case OutputIs():
            return lambda event, _: isinstance(event, Call) and OPEN
        case ByAgent(name):
            return lambda event, _: isinstance(event, Call) and event.agent == name
        case MessageBy(role):
            return lambda event, _: isinstance(event, Message) and role in ("*", event.role)
        case TextMatches(pattern):
            found = comparison("matches", pattern)
            return lambda event, _: isinstance(event, Message) and found(event.text)
        case Observed(name):
            return lambda event, _: isinstance(event, Step) and name in event.atoms
    return _context_reader(node)


def _context_reader(node: Formula) -> Reader:
    match node:
        case Permitted(name):
            return lambda event, context: (
                isinstance(event, Call) and context.permits(event.agent, name)
            )
        case Approved(action, role):
            return lambda event, context: context.approved(action, role)
        case Custom(_, args):
            return _custom_reader(taking(node), args)
        case Compare(Arg(path), op, Const(value)):
            asks = condition_on(op, value)
            return lambda event, _: (
                asks(spot(event.args, path)) if isinstance(event, Call) else None
            )
        case Compare(Ctx(key), op, Const(value)):
            return _fact_reader(key, op, value)
        case Compare(left, op, Const(value)):
            get, holds = value_reader(left), comparison(op, value)
            return lambda event, context: (
                None
                if (left := get(event, context)) is MISSING or isinstance(left, Mapping)
                else holds(left)
            )
        case Compare(left, op, right):
            get, other = value_reader(left), value_reader(right)
            return lambda event, context: _compared(get(event, context), op, other(event, context))
    raise TypeError(f"not an atom: {node!r}")


def told_value(context: Context, key: str) -> Any:
    """Return the latest value of a fact; `MISSING` if it was never told, or is null."""
    value = context.facts.get(key)
    return MISSING if value is None else value


def _fact_reader(key: str, op: Op, value: Any) -> Reader:
    """Return the reader of a comparison of a fact; each element of a list compares for itself, and
    they have to agree.
    """
    holds, lists = comparison(op, value), (list, tuple)
    takes_null = None in (value if op == "in" else (value,))
    whole = op in ("=", "!=") and isinstance(value, lists)

    def read(_: Event, context: Context) -> bool | None:
        fact = context.facts.get(key)
        if fact is None and not (takes_null and key in context.facts):
            return None
        if isinstance(fact, Mapping):
            return None
        if not isinstance(fact, lists) or whole:
            return holds(fact)
        found = {holds(each) for each in fact}
        return found.pop() if len(found) == 1 else None

    return read


def _custom_reader(registered: CustomAtom, args: tuple[Any, ...]) -> Reader:
    if registered.waits:
        return lambda event, _: isinstance(event, Call) and OPEN
    kinds = {"call": Call, "message": Message, "step": Step}
    kind = kinds.get(registered.kind, Call)
    ask = registered.asks(args)
    return lambda event, context: isinstance(event, kind) and ask(event, context)


def _compared(left: Any, op: Any, right: Any) -> bool | None:
    return None if left is MISSING or right is MISSING else comparison_test(left, op, right)


def settled_value(node: Node, result: Result, tool: str) -> Any:
    """Return the value of an `OPEN` atom or term, now that its call has this result."""
    match node:
        case Output(path):
            found = single(value_in_result(result.output, path))
            return MISSING if found is UNREADABLE or found is ABSENT else found
        case Happens("done"):
            return result.status == "ok"
        case Happens("failed"):
            return result.status == "error"
        case OutputIs(path, op, value):
            return answer_test(value_in_result(result.output, path), op, value, whole=not path)
        case Custom(_, args):
            return custom(node).asks(args)(tool, result)
    raise TypeError(f"not a status atom: {node!r}")


def answer_reader(node: OutputIs) -> Callable[[Any], bool | None]:
    """Return the function from an answer to what `settled_value` says of it."""
    path, op, right = node.path, node.op, node.value
    if op == "matches" or path_parts(path) != (path,):
        return lambda answer: answer_test(value_in_result(answer, path), op, right, whole=not path)
    ask = condition_on(op, right)

    def read(answer: Any) -> bool | None:
        if type(answer) is dict and path in answer:  # most answers
            return ask(answer[path])
        return answer_test(value_in_result(answer, path), op, right, whole=False)

    return read


# --- what an atom needs -----------------------------------------------------------------------


def is_status(node: Formula) -> bool:
    """True if the atom waits for a result."""
    match node:
        case Happens(what):
            return what != "called"
        case OutputIs():
            return True
        case Custom():
            return custom(node).waits
    return False


def kinds_of(node: Node) -> frozenset[Kind]:
    """Return the kinds of position that an atom or term speaks of; none for the context."""
    match node:
        case Happens() | OutputIs() | Output() | ByAgent() | Permitted() | Arg() | Mark() | Depth():
            return frozenset({"call"})
        case Sum() | Repeats() | Denied(_, "tool" | "call"):
            return frozenset({"call"})
        case Compare(left, _, right):
            return kinds_of(left) | kinds_of(right)
        case MessageBy() | TextMatches() | TextIs():
            return frozenset({"message"})
        case Observed():
            return frozenset({"step"})
        case Custom():
            return frozenset({custom(node).kind})
    return frozenset()


def _by_agent(match: Match) -> bool:
    """True if the match asks which agent calls."""
    return match.agent is not None or any(c.path == "@agent" for c in match.conditions)


def inputs_of(node: Node) -> frozenset[str]:
    """Return the inputs that a session has to deliver so that this atom or term can be read."""
    match node:
        case Happens(what, target):
            needs = {"results"} if what != "called" else set()
            agents = {"agents"} if any(map(_by_agent, target)) else set()
            return frozenset(needs | agents)
        case OutputIs() | Output():
            return frozenset({"results"})
        case ByAgent():
            return frozenset({"agents"})
        case MessageBy() | TextMatches() | TextIs():
            return frozenset({"messages"})
        case Permitted() | Approved() | Ctx() | FactAge() | ApprovalAge():
            return frozenset({"facts"})
        case Delivered():
            return frozenset({"results"})
        case Tokens():
            return frozenset({"usage"})
        case Depth():
            return frozenset({"depth"})
        case Custom():
            return custom(node).inputs | (
                frozenset({"results"}) if custom(node).waits else frozenset()
            )
    return frozenset()
