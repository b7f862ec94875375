"""Writes the questions to people about calls that are held, and reads the answers.

Out: the value of an interrupt, `{"held": [question, ...], "problems": [...]}`. In: the value
that the graph is resumed with, made by `approve` and `deny`: JSON data, a map from the ticket to
the answer. A ticket stands for one call: its id, and the digest of its tool and arguments.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from sponsio_like.adapters.langgraph.asking import Asking
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
