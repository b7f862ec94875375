"""Tells a session the messages of a conversation, as far as its contracts listen to them.

In: the messages of the graph's state, and the marks of those that were heard before. Out: the
session has been told of the new ones, and the marks of all that stand there now.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from langchain_core.messages import AIMessage, HumanMessage

from sponsio_like.engine import Clause, Policy
from sponsio_like.errors import InputMissing
from sponsio_like.events import Context, check_fact
from sponsio_like.monitor import concerned, fixed_at
from sponsio_like.outcome import Outcome
from sponsio_like.session import Session
from sponsio_like.values import NotCanonical, canonical, given_value

Facts: TypeAlias = Callable[[Any, Mapping[str, Any]], Mapping[str, Any]]
"""A function of the host, which tells facts before each batch.

From the state and the config, facts by key.
"""


def hear(session: Session, messages: Sequence[Any], heard: Iterable[str]) -> list[str]:
    """Tell the session of new messages, but of no summary; return the marks of all messages."""
    known, marks = frozenset(heard), []
    for i, each in enumerate(messages):
        if not isinstance(each, (HumanMessage, AIMessage)):
            continue
        mark = _mark(each, i)
        marks.append(mark)
        if mark not in known and "lc_source" not in each.additional_kwargs:
            _told(session, each)
    return marks


def _told(session: Session, message: HumanMessage | AIMessage) -> None:
    if isinstance(message, HumanMessage):
        session.message("user", str(message.text))
    else:
        tell_answer(session, message, ())


def tell_answer(
    session: Session, message: AIMessage, heard: Iterable[str]
) -> tuple[list[str], Outcome | None]:
    """Tell the session what the model says, if anything; return all marks, and the outcome."""
    marks = [*heard, _mark(message, len(list(heard)))]
    said = message.usage_metadata
    usage = None if said is None else {"total_tokens": said["total_tokens"]}
    if usage is None and not str(message.text):
        return marks, None
    return marks, session.message("assistant", str(message.text), usage=usage)


def said_by_user(messages: Sequence[Any]) -> str:
    """Return the mark of the last message of the user; `""` if there is none."""
    each = (m for m in reversed(messages) if isinstance(m, HumanMessage))
    last = next((m for m in each if "lc_source" not in m.additional_kwargs), None)
    return "" if last is None else _mark(last, 0)


def _mark(message: Any, place: int) -> str:
    known = message.id or f"{place} {message.content!r}"
    return hashlib.blake2b(known.encode(), digest_size=6).hexdigest()


def refuse_answers(policy: Policy) -> None:
    """Raise `InputMissing` for a contract on the model's answers, which nobody decides here."""
    for i, clause in enumerate(policy.clauses):
        if _judges_answers(clause):
            name = policy.contracts[policy.owner[i]].name
            raise InputMissing(
                f"contract `{name}` judges the answers of the model, which a node of tools never "
                "sees; use the middleware of sponsio_like.adapters.langchain"
            )


def _judges_answers(clause: Clause) -> bool:
    if "message" not in clause.counts:
        return False
    program, roots = clause.monitor.program, [k for part in clause.monitor.always for k in part]
    letter = fixed_at(program.slots, ("message", "assistant"))
    return bool(clause.monitor.rest) or concerned(program, roots, letter)


def told_facts(session: Session, facts: Facts | None, state: Any, config: Any) -> None:
    """Tell the session of the facts that are new, or not as it knows them.

    What has not changed stays as old as it is.
    """
    for key, value in (facts(state, config) if facts is not None else {}).items():
        if not _known(session._inner.context, key, value):  # noqa: SLF001  facts have no public name
            session.fact(key, value)


def _known(context: Context, key: str, value: Any) -> bool:
    fact, known = check_fact(key, given_value(value)), context.facts.get(key)
    if key == "approval" and known is not None:
        told = known.get((str(fact["action"]), str(fact["role"])), {}).get(str(fact.get("by")), {})
        known = {each: told[each] for each in told if each != "time" or each in fact}
    try:
        return key in context.facts and canonical(known) == canonical(fact)
    except NotCanonical:
        return False
