"""Recounts the rules of examples/tau_airline.yaml in plain Python.

In: the moments of a trace. Out: for each contract, by its name, where it spoke and where it was
broken. Written from the contracts' names and meaning; nothing of the engine is used.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from campaigns.recount import (
    AT_THE_END,
    Found,
    Moment,
    Recount,
    each_call,
    exclusive,
    needs_before,
    never_after,
    retries,
    runs,
    says,
)

CHANGE = {
    "update_reservation_flights",
    "update_reservation_baggages",
    "update_reservation_passengers",
}
WRITE = {*CHANGE, "book_reservation", "cancel_reservation", "send_certificate"}
SEARCH = {"search_direct_flight", "search_onestop_flight"}
DELAY = (50, 150, 250, 350, 450)
YES = r"\b(yes|yeah|yep|sure|confirm|proceed|go ahead|please do|okay|ok)\b"
WHY = (
    r"\b(because|sick|ill|unwell|weather|emergency|health|change of plan|plans? (have )?changed)\b"
)
OPINION = r"\b(I (would )?(recommend|suggest)|in my opinion|personally)\b"


def said_before(tools: set[str], fits: Callable[[Moment], bool]) -> Recount:
    """Recount: each call of these tools comes after a message that fits."""

    def recount(trace: Sequence[Moment]) -> Found:
        found, said = Found(), False
        for now in trace:
            said = said or (bool(now.role) and fits(now))
            if now.tool in tools:
                found.speaks(now.at, broken=not said)
        return found

    return recount


def _names_themselves(now: Moment) -> bool:
    return now.role == "user" and re.search(r"[a-z]+_[a-z]+_[0-9]{4}", now.text) is not None


def _offers_insurance(now: Moment) -> bool:
    return now.role == "assistant" and "insurance" in now.text.lower()


def _gives_a_reason(now: Moment) -> bool:
    asked = now.role == "assistant" and says(r"\breason\b", now.text)
    return asked or (now.role == "user" and says(WHY, now.text))


def customer_says_yes(trace: Sequence[Moment]) -> Found:
    """Recount: the last message of the customer has a yes in it."""
    found, last = Found(), ""
    for now in trace:
        if now.role == "user":
            last = now.text
        if now.tool in WRITE:
            found.speaks(now.at, broken=not says(YES, last))
    return found


def not_in_one_breath(trace: Sequence[Moment]) -> Found:
    """Recount: the event right before a call is no message of the assistant."""
    found, before = Found(), ""
    for now in trace:
        if not now.role:
            found.speaks(now.at, broken=before == "assistant")
        before = now.role
    return found


def look_at_that_reservation(trace: Sequence[Moment]) -> Found:
    """Recount: since its last change, a reservation has been read successfully."""
    found, read = Found(), set[str]()
    for now in trace:
        name = str(now.args.get("reservation_id"))
        if now.tool in {*CHANGE, "cancel_reservation"}:
            found.speaks(now.at, broken=name not in read)
            read.discard(name)
        elif now.tool == "get_reservation_details" and now.ok:
            read.add(name)
    return found


def flights_changed_once(trace: Sequence[Moment]) -> Found:
    """Recount: a reservation's flights are not changed after a change that has not failed."""
    found, changed = Found(), set[str]()
    for now in trace:
        if now.tool == "update_reservation_flights":
            name = str(now.args.get("reservation_id"))
            found.speaks(now.at, broken=name in changed)
            if now.ok:
                changed.add(name)
    return found


def economy_without_insurance(trace: Sequence[Moment]) -> Found:
    """Recount: the reservation that was read last is not a cheap one without insurance."""
    found, last = Found(), ""
    for now in trace:
        if now.tool == "cancel_reservation":
            cheap = '"cabin": "economy"' in last or '"cabin": "basic_economy"' in last
            found.speaks(now.at, broken=cheap and '"insurance": "no"' in last)
        if now.tool == "get_reservation_details" and now.ok:
            last = str(now.output)
    return found


def compensation_after_change(trace: Sequence[Moment]) -> Found:
    """Recount: a certificate for a delay comes after a change or a cancellation.

    Its amount is an odd multiple of 50.
    """
    found, changed = Found(), False
    for now in trace:
        if now.tool == "send_certificate" and now.args.get("amount") in DELAY:
            found.speaks(now.at, broken=not changed)
        changed = changed or (now.ok and now.tool in {*CHANGE, "cancel_reservation"})
    return found


def transfer_is_the_end(trace: Sequence[Moment]) -> Found:
    """Recount: after the first transfer, no call and at most one message of the assistant."""
    found, messages, over = Found(), 0, False
    for now in trace:
        messages += over and now.role == "assistant"
        if over and (not now.role or now.role == "assistant"):
            found.speaks(now.at, broken=not now.role or messages > 1)
        if now.tool == "transfer_to_human_agents" and not over:
            over = True
            found.triggered.append(now.at)
    return found


def told(trace: Sequence[Moment]) -> Found:
    """Recount: after the last write that succeeded the assistant says something."""
    found, waits = Found(), False
    for now in trace:
        if now.tool in WRITE and now.ok:
            found.speaks(now.at, broken=False)
            waits = True
        elif now.role == "assistant":
            waits = False
    if waits:
        found.broken.append(AT_THE_END)
    return found


def no_opinions(trace: Sequence[Moment]) -> Found:
    """Recount: the assistant does not recommend."""
    found = Found()
    for now in trace:
        if now.role == "assistant":
            found.speaks(now.at, broken=says(OPINION, now.text))
    return found


RECOUNTS: Mapping[str, Recount] = {
    "the customer has said who they are before a reservation is read": said_before(
        {"get_reservation_details"}, _names_themselves
    ),
    "the profile is read before anything is paid or given": needs_before(
        WRITE - {"update_reservation_passengers", "cancel_reservation"}, {"get_user_details"}
    ),
    "the customer says yes before anything is written": customer_says_yes,
    "an answer and a call do not come in one breath": not_in_one_breath,
    "flights are searched before they are booked": needs_before({"book_reservation"}, SEARCH),
    "insurance is spoken of before booking": said_before({"book_reservation"}, _offers_insurance),
    "a refused booking is tried again once": retries({"book_reservation"}, 1),
    "each change follows a look at that very reservation": look_at_that_reservation,
    "changed flights are paid by card": each_call(
        {"update_reservation_flights"},
        lambda now: str(now.args.get("payment_id")).startswith(("credit_card_", "gift_card_")),
    ),
    "flights of one reservation are changed once": flights_changed_once,
    "the reason is known before a cancellation": said_before(
        {"cancel_reservation"}, _gives_a_reason
    ),
    "economy without insurance is not cancelled": economy_without_insurance,
    "nothing is changed and cancelled in one conversation": never_after(
        {"cancel_reservation"}, CHANGE
    ),
    "compensation for a delay comes after a change or a cancellation": compensation_after_change,
    "a transfer ends the conversation": transfer_is_the_end,
    "nothing is written for a customer who is transferred": exclusive(
        WRITE, {"transfer_to_human_agents"}
    ),
    "what was written is told to the customer": told,
    "no opinions": no_opinions,
    "no call is made twice in a row with the same arguments": runs(1),
}
