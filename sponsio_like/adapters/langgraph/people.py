"""Writes the questions to people about calls that are held, and reads the answers.

Out: the value of an interrupt, `{"held": [question, ...], "problems": [...]}`. In: the value
that the graph is resumed with, made by `approve` and `deny`: JSON data, a map from the ticket to
the answer. A ticket stands for one call: its id, and the digest of its tool and arguments. A call
that a person has edited is never made as the model wrote it: its ticket is closed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from sponsio_like.adapters.langgraph.asked_calls import Asking, Tools, call_fingerprint
from sponsio_like.errors import SessionError
from sponsio_like.outcome import Held
from sponsio_like.session import Session


def approve(
    *tickets: str, by: str, role: str = "", args: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the answer yes to these tickets, for `Command(resume=approve(ticket, by="ann"))`.

    Answers to several tickets are joined with `|`. With `args` the call that the ticket is of is
    made with these arguments instead: it is decided anew, and runs and counts as it is then. Raises
    `TypeError` for `args` with several tickets, or none.
    """
    if args is not None and len(tickets) != 1:
        raise TypeError("args are those of one call: approve(ticket, by=.., args={..})")
    more = {} if args is None else {"args": dict(args)}
    return {each: {"decision": "approve", "by": by, "role": role, **more} for each in tickets}


def deny(*tickets: str, by: str, role: str = "") -> dict[str, Any]:
    """Return the answer no to these tickets, to be given as that of `approve`."""
    return {each: {"decision": "deny", "by": by, "role": role} for each in tickets}


def waiting(state: Any) -> list[dict[str, Any]]:
    """Return the calls that wait for people, as they were shown; none, if nobody is asked.

    `state`: what `graph.get_state(config)` gives, or what a run of the graph has returned.
    """
    stopped = state.get("__interrupt__", ()) if isinstance(state, Mapping) else state.interrupts
    values = [each.value for each in stopped if isinstance(each.value, Mapping)]
    return [each for value in values for each in value.get("held", ())]


def question(asking: Asking, held: Held) -> dict[str, Any]:
    """Return what people are shown of one call, with the arguments that its tool would receive."""
    return {
        "ticket": held.ticket.id,
        "call": asking.id,
        "tool": asking.tool,
        "args": json.loads(json.dumps(asking.args, default=str)),
        "digest": held.ticket.mark.split(" ")[0],
        "roles": list(held.ticket.roles),
        "until": held.ticket.until,
        "reasons": [str(each) for each in held.violations],
    }


def answer(session: Session, ticket: str, said: Any, instead: Asking | None = None) -> str:
    """Tell the session what a person has said; return what is wrong with that, or `""`.

    `instead`: the call that is made instead; then this one never is.
    """
    if instead is not None and instead.problem:
        return f"ticket `{ticket}`: {instead.problem}"
    try:
        match said:
            case {"decision": "approve", "args": args}:
                return f"ticket `{ticket}`: args={args!r} are no arguments; write {{name: value}}"
            case {"decision": "approve", "by": str(by), **rest} if instead is not None:
                session.deny(ticket, by=by, role=_role(rest))
            case {"decision": "approve", "by": str(by), **rest}:
                session.approve(ticket, by=by, role=_role(rest))
            case {"decision": "deny", "by": str(by), **rest}:
                session.deny(ticket, by=by, role=_role(rest))
            case _:
                return (
                    f"ticket `{ticket}`: {said!r} is no answer; write "
                    '{"decision": "approve" or "deny", "by": name, "role": role}'
                )
    except SessionError as error:
        return str(error)
    return ""


def unknown(said: Any, tickets: Iterable[str]) -> list[str]:
    """Return, in words, what of an answer is about no ticket that is open here."""
    if not isinstance(said, Mapping):
        return [f"{said!r} is no answer; write approve(ticket, by=..) or deny(ticket, by=..)"]
    known = frozenset(tickets)
    return [f"there is no open ticket `{each}` here" for each in said if each not in known]


def _role(rest: Mapping[Any, Any]) -> str:
    role = rest.get("role", "")
    if not isinstance(role, str):
        raise SessionError(f"role {role!r} is no text")
    return role


# --- rounds of questions --------------------------------------------------------------------------


class AskedCall(NamedTuple):
    """One round of questions, `at` a time: the tickets, each with its contracts, and the answer.

    `passed`: of calls that were held, what their tools will be called with, where that is more than
    the model wrote.
    """

    at: float
    tickets: Mapping[str, list[str]]
    said: Any
    passed: Mapping[str, Mapping[str, Any]] = {}


class ResultPart(NamedTuple):
    """The answers to one ticket; what is wrong with the latest; the call that was made of it.

    `now`: the latest answer has made it.
    """

    said: tuple[Any, ...]
    wrong: list[str]
    call: Asking | None
    now: bool


def heard(
    session: Session, tools: Tools, call: Asking, held: Held, asked: Sequence[AskedCall]
) -> ResultPart:
    """Tell the session the answers to this ticket, where it was asked for the same contracts."""
    id, said, wrong = held.ticket.id, list[Any](), list[str]()
    made: Asking | None = None
    now = False
    for each in asked:
        if each.tickets.get(id) != list(held.ticket.contracts):
            continue
        session.asked(id, each.at)
        if isinstance(each.said, Mapping) and id in each.said:
            given, other = _edited(tools, call, each.said[id])
            said.append(given)
            problem = answer(session, id, given, other)
            wrong += [problem] if problem and each is asked[-1] else []
            if other is not None and not problem:
                made, now = other, each is asked[-1]
                break
    return ResultPart(tuple(said), wrong, made, now)


def _edited(tools: Tools, call: Asking, said: Any) -> tuple[Any, Asking | None]:
    """Return the answer, and the call with its arguments; None for the call, if nothing is new."""
    match said:
        case {"decision": "approve", "args": None, **rest}:
            return {"decision": "approve", **rest}, None
        case {"decision": "approve", "args": Mapping() as args} if not tools.by_name:
            why = f"`{call.tool}` is called with what the state says; update the state instead"
            return said, Asking(call.id, call.tool, args, problem=why)
        case {"decision": "approve", "args": Mapping() as args, **rest}:
            (made,) = tools.asked([{"name": call.tool, "args": args, "id": call.id}], call.of)
            same = not made.problem and call_fingerprint(call.tool, made.args) == call_fingerprint(
                call.tool, call.args
            )
            return {"decision": "approve", **rest}, None if same else made
    return said, None
