"""Reads what people have said about a call that was held, and what they have made of it.

In: the rounds in which people were asked. Out: `Heard`; the session has been told. A call that a
person has edited is never made as the model wrote it: its ticket is closed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sponsio_like.adapters.langgraph.asking import Asking, Tools, mark_of
from sponsio_like.adapters.langgraph.people import answer
from sponsio_like.outcome import Held
from sponsio_like.session import Session


class Asked(NamedTuple):
    """One round of questions, `at` a time: the tickets, each with its contracts, and the answer.

    `passed`: of calls that were held, what their tools will be called with, where that is more than
    the model wrote.
    """

    at: float
    tickets: Mapping[str, list[str]]
    said: Any
    passed: Mapping[str, Mapping[str, Any]] = {}


class Heard(NamedTuple):
    """The answers to one ticket; what is wrong with the latest; the call that was made of it.

    `now`: the latest answer has made it.
    """

    said: tuple[Any, ...]
    wrong: list[str]
    call: Asking | None
    now: bool


def heard(
    session: Session, tools: Tools, call: Asking, held: Held, asked: Sequence[Asked]
) -> Heard:
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
    return Heard(tuple(said), wrong, made, now)


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
            same = not made.problem and mark_of(call.tool, made.args) == mark_of(
                call.tool, call.args
            )
            return {"decision": "approve", **rest}, None if same else made
    return said, None
