"""Makes one outcome of the answers that contracts give to an event.

Flow: event -> Outcome, and the attempt that it came from. The interceptor judges and commits; here
the answers of the contracts are carried out: callables are asked, substitutes decided, tickets
opened. No lock is held meanwhile.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from functools import partial
from typing import Any

from sponsio_like.advice import Refusal
from sponsio_like.contracts import CONTRACT, SHOWN, Inventory, ruling
from sponsio_like.engine import (
    INVENTORY,
    RISK,
    Finding,
    enforced,
    holding,
    needing_ruling,
    observed,
)
from sponsio_like.errors import Finished, SessionError
from sponsio_like.events import Call, HeldBy, Message, Ticket
from sponsio_like.outcome import (
    Allowed,
    Blocked,
    Decision,
    Escalate,
    Held,
    Outcome,
    Redirect,
    Redirected,
    Stop,
    Violation,
)
from sponsio_like.session.denied import Fit, LaneRefusal, substitute
from sponsio_like.session.fast import FastFinding
from sponsio_like.session.flights import UNLIKE, Answer, Attempt, Flight, event_fingerprint, id_of
from sponsio_like.session.interceptor import Interceptor
from sponsio_like.session.tickets import why_closed
from sponsio_like.values import given_args


def decided(
    inner: Interceptor,
    event: Call | Message | FastFinding | LaneRefusal,
    args: Any = None,
    fit: Fit | None = None,
    why: str = "",
) -> tuple[Any, Outcome, Attempt]:
    """Decide an event; if the decision fails, refuse it. Return event, outcome and attempt.

    `args`: the arguments of a call, as they came; they are read once. `why`: the reason to refuse
    the event before it is judged. Of what a lane has found only the outcome is made. Raises
    `Finished`.
    """
    try:
        if isinstance(event, LaneRefusal):
            call, found = event.call, event.attempt
            return call, blocked(inner, call, found, fit=fit), found
        if isinstance(event, FastFinding):
            return event.call, event.allowed, event.attempt
        if isinstance(event, Call):
            event = replace(event, args=given_args(args))
        if why:
            return event, refuse_without_contract(inner, event, why), Attempt(why=why)
        return event, *decision(inner, event, fit)
    except Finished:
        raise
    except Exception as error:  # fail closed: whatever goes wrong, the tool does not run
        event = event.call if isinstance(event, FastFinding | LaneRefusal) else event
        return event, _failed(inner, event, error), Attempt()


def decision(
    inner: Interceptor, event: Call | Message, fit: Fit | None = None
) -> tuple[Outcome, Attempt]:
    """Decide a call, or a response that is about to be shown.

    `fit`: what a substitute will receive, where that is not just what it is given.
    """
    mark = event_fingerprint(event)

    def allowed(found: tuple[Finding, ...]) -> Outcome:
        return Allowed(id_of(event), enforced(found), observed(found))

    late: tuple[Violation, ...] = ()
    while True:
        first = _ruled(inner, event, mark, allowed)
        if late:
            first = replace(first, late=(*late, *first.late))
        if first.why:
            return refuse_without_contract(inner, event, first.why), first
        if first.flight is not None:
            assert isinstance(event, Call)
            return _standing(inner, event, mark, first.flight), first
        if first.before is None:
            return allowed(first.found), first
        match first.answer, event:
            case Redirect() as answer, Call():
                return _redirected(inner, event, mark, answer, first, fit)
            case Escalate(), _:
                outcome, news = _held(inner, event, mark, first)
                if outcome is None:
                    late = first.late
                    continue  # it was approved meanwhile
                fresh = tuple(each for each in first.found if each.violation.contract in news)
                return outcome, replace(first, found=fresh, again=not fresh)
        return blocked(inner, event, first, fit=fit), first


def _ruled(
    inner: Interceptor,
    event: Call | Message,
    mark: str,
    answer: Answer,
    *,
    substitute: bool = False,
) -> Attempt:
    """Make an attempt for which callables of the user have ruled on their violations, each once."""
    rulings: dict[str, Decision] = {}
    late: tuple[Violation, ...] = ()
    while True:
        attempt = inner.attempt(event, mark, answer, rulings, substitute=substitute)
        late += attempt.late
        asked = needing_ruling(attempt.found) if attempt.before is not None else ()
        if not asked:
            return replace(attempt, late=late) if late else attempt
        for finding, ask in asked:
            rulings[finding.violation.contract] = ruling(ask, finding.violation, event)


def blocked(
    inner: Interceptor,
    event: Call | Message,
    attempt: Attempt,
    why: str = "",
    fit: Fit | None = None,
    instead: Call | None = None,
) -> Blocked:
    """Return a refusal, whose advice is worked out when it is read.

    `why`: the reason, if it comes from no contract; `instead`: the substitute of the call, also
    refused.
    """
    violations, ends = enforced(attempt.found), isinstance(attempt.answer, Stop)
    if not why and any(each.clause == INVENTORY for each in attempt.found):
        listed = inner.policy.inventory
        return Blocked(id_of(event), violations, lambda: _outside(listed, event, instead), ends)
    if why or attempt.before is None:
        return Blocked(id_of(event), violations, lambda: why)
    risk = next((each.violation.words for each in attempt.found if each.clause == RISK), "")
    if risk and instead is None:
        return Blocked(id_of(event), violations, lambda: risk, ends)
    refusal = Refusal(
        attempt.before,
        event,
        inner.context,
        inner.time,
        attempt.found,
        inner.pending_calls(),
        instead,
        _ticket(inner, event),
        partial(substitute, event, fit=fit) if isinstance(event, Call) else lambda _: "",
        ends,
        dict(inner.unread),
        attempt.spent,
    )
    return Blocked(id_of(event), violations, refusal.explain, ends)


def _outside(known: Inventory, event: Call | Message, instead: Call | None) -> str:
    """Return why the inventory refuses the call, or its substitute, and what to call instead."""
    for call in (event, instead):
        wrong = known.wrong(call) if isinstance(call, Call) else None
        if wrong is not None and isinstance(event, Call):
            shown = event.tool[:SHOWN]
            return f"`{shown}` was not allowed by `{CONTRACT}` ({wrong.what}); {wrong.hint}"
    return ""


def _ticket(inner: Interceptor, event: Call | Message) -> Ticket | None:
    """Return the ticket of this very event; None if it has none."""
    if not inner.tickets.by_id:
        return None
    mark = event_fingerprint(event)
    return inner.with_tickets(lambda tickets, now: tickets.find(id_of(event), mark, now))


def refuse_without_contract(
    inner: Interceptor, event: Call | Message, reason: str, *, counts: bool = True
) -> Outcome:
    """Return the outcome of an event that is refused for a reason that comes from no contract.

    Blocked if anything is enforced in this session; else allowed, with the reason as observed.
    `counts`: the session counts the refusal.
    """
    tool = event.tool if isinstance(event, Call) else None
    if not inner.policy.enforces:
        seen = Violation("session", inner.calls, tool, "blocked", reason, "observe")
        return Allowed(id_of(event), (), (seen,))
    violation = Violation("session", inner.calls, tool, "blocked", reason)
    if counts:
        inner.note_refusal(event)
    return Blocked(id_of(event), (violation,), lambda: reason, bool(inner.context.stopped))


def _failed(inner: Interceptor, event: Call | Message, error: Exception) -> Outcome:
    """Return the outcome of a decision that raised: a refusal.

    If the decision was made before anything raised, it stands, since it has counted.
    """
    if inner.ledger.half_written:
        inner.doubts(error)
    flight = inner.flights.get(id_of(event)) if isinstance(event, Call) else None
    if flight is not None and flight.digest == event_fingerprint(event):
        return _own(flight.outcome(id_of(event)))
    if inner.last_response is not None and inner.last_response[0] is event:
        return inner.last_response[1]
    return refuse_without_contract(
        inner, event, f"the decision failed: {type(error).__name__}: {error}"
    )


def _standing(inner: Interceptor, call: Call, mark: str, flight: Flight) -> Outcome:
    """Return the outcome for an id that is in flight: the first one, or a
    refusal of another call.
    """
    if flight.digest == mark:
        return _own(flight.outcome(call.id))
    reason = f"call id `{call.id}` is in flight with another tool or other arguments"
    return refuse_without_contract(inner, call, reason)


def _own(outcome: Outcome) -> Outcome:
    """Return the outcome with a copy of its arguments, which the host may change."""
    if isinstance(outcome, Redirected):
        return replace(outcome, args=copy.deepcopy(outcome.args))
    return outcome


def _redirected(
    inner: Interceptor,
    call: Call,
    mark: str,
    answer: Redirect,
    first: Attempt,
    fit: Fit | None,
) -> tuple[Outcome, Attempt]:
    """Decide the substitute like any call, under the same id; block unless it is let through."""
    safe = substitute(call, answer, fit)
    if isinstance(safe, str):
        inner.note_refusal(call)
        return blocked(inner, call, first, safe), first
    redirected = Redirected(call.id, safe.tool, safe.args, enforced(first.found))
    second = _ruled(inner, safe, mark, lambda _: redirected, substitute=True)
    both = replace(first, found=(*first.found, *second.found), late=(*first.late, *second.late))
    if second.why:
        return refuse_without_contract(inner, call, second.why), both
    if second.flight is not None:  # another thread was quicker
        return _standing(inner, call, mark, second.flight), replace(both, flight=second.flight)
    if second.before is None:
        return _own(redirected), both
    before = second.before if first.before is None else second.before.joined(first.before)
    ended = replace(both, before=before, answer=second.answer)
    inner.note_refusal(call, second.found)
    return blocked(inner, call, ended, fit=fit, instead=safe), both


# --- holding ------------------------------------------------------------------------------------


def _held(
    inner: Interceptor, event: Call | Message, mark: str, attempt: Attempt
) -> tuple[Outcome | None, frozenset[str]]:
    """Return the outcome of a call that waits for a person, and the contracts not yet told of.

    No outcome if the answer has just been yes.
    """
    found = holding(attempt.found)
    names = frozenset(each.violation.contract for each in attempt.found)
    tool = event.tool if isinstance(event, Call) else "response"
    if mark.startswith(UNLIKE):
        why = f"`{tool}` has to be approved, but what it says cannot be read, so nobody can"
        inner.note_refusal(event)
        return blocked(inner, event, attempt, why), names
    asked = [HeldBy(finding.violation.contract, answer.roles) for finding, answer in found]
    limits = [answer.within for _, answer in found if answer.within is not None]
    within = min(limits, default=None)
    try:
        ticket, news = inner.with_tickets(
            lambda tickets, now: tickets.open(id_of(event), tool, mark, asked, names, within, now)
        )
    except SessionError as error:
        return refuse_without_contract(inner, event, str(error)), names
    match ticket.status:
        case "open":
            return Held(id_of(event), enforced(attempt.found), ticket), news
        case "approved":
            return None, news
    inner.note_refusal(event)
    return blocked(inner, event, attempt, why_closed(ticket)), news
