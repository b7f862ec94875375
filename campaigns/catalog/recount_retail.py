"""Recounts the rules of retail.yaml in plain Python.

In: the moments of a trace. Out: for each contract, by its name, where it spoke and where it was
broken.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from campaigns.catalog import rules
from campaigns.catalog.which import Fits, alike, of, well, words
from campaigns.recount import AT_THE_END, Found, Moment, Recount, texts

FIND = of("find_user_id_by_email", "find_user_id_by_name_zip")
AFTER_DELIVERY = of("return_delivered_order_items", "exchange_delivered_order_items")
OF_ORDERS = of(
    "cancel_pending_order",
    "modify_pending_order_address",
    "modify_pending_order_items",
    "modify_pending_order_payment",
    "return_delivered_order_items",
    "exchange_delivered_order_items",
)
PROFILE = of("get_user_details")
ORDER = of("get_order_details")
PAID = of(
    "modify_pending_order_items",
    "modify_pending_order_payment",
    "return_delivered_order_items",
    "exchange_delivered_order_items",
)
MADE_UP = of("get_input_from_user")


def _writes(now: Moment) -> bool:
    return OF_ORDERS(now) or now.tool == "modify_user_address"


def _call(now: Moment) -> bool:
    return not now.role


def _answer(now: Moment) -> bool:
    return now.role == "assistant"


def _seen_delivered(now: Moment) -> bool:
    return now.ok and ORDER(now) and '"status": "delivered"' in str(now.output)


def _no_apology(now: Moment) -> bool:
    return {"sorry", "apologize"}.isdisjoint(words(now.text))


def in_time(trigger: Fits, action: Fits, seconds: int) -> Recount:
    """Recount: the action comes within so many seconds.

    If it does not, the next event after them shows it.
    """

    def recount(trace: Sequence[Moment]) -> Found:
        found = Found()
        for second, now in enumerate(trace):
            if not trigger(now):
                continue
            found.triggered.append(now.at)
            later = trace[second + 1 : second + 2 + seconds]
            if any(map(action, later[:seconds])):
                continue
            found.broken.append(later[seconds].at if len(later) > seconds else AT_THE_END)
        return found

    return recount


def not_long_after(action: Fits, event: Fits, seconds: int) -> Recount:
    """Recount: the latest event is at most so many seconds before the action."""

    def recount(trace: Sequence[Moment]) -> Found:
        found, last = Found(), None
        for second, now in enumerate(trace):
            if action(now):
                found.speaks(now.at, broken=last is None or second - last > seconds)
            if event(now):
                last = second
        return found

    return recount


RECOUNTS: Mapping[str, Recount] = {
    "an order is seen delivered before each return or exchange of it": rules.anew(
        AFTER_DELIVERY, _seen_delivered, ("order_id",)
    ),
    "the customer is found before anything is written": rules.after(_writes, well(FIND)),
    "the profile is read right after the customer was found": rules.at_once(well(FIND), PROFILE),
    "a customer who was found has the profile read": rules.answered(well(FIND), well(PROFILE)),
    "products are looked up within ten seconds of an order": in_time(
        ORDER, of("get_product_details"), 10
    ),
    "four seconds lie between two writes": rules.few(_writes, 1, seconds=4),
    "items of an order are changed once": rules.once_each(
        of("modify_pending_order_items", "exchange_delivered_order_items"),
        ("order_id",),
        tries=True,
    ),
    "nothing much the same twice in a row": rules.repeated(_call, alike),
    "no tool is made up": rules.only(_call, lambda now: not MADE_UP(now)),
    "orders are cancelled when they are no longer needed": rules.only(
        of("cancel_pending_order"), lambda now: now.args.get("reason") == "no longer needed"
    ),
    "at most two items of ten digits are sent back at once": rules.only(
        AFTER_DELIVERY, lambda now: sum(map(len, texts(now.args.get("item_ids")))) <= 20
    ),
    "all is paid and paid back in one way": rules.unchanged(PAID, "payment_method_id"),
    "after the first write no other order is read": rules.settled(ORDER, "order_id", well(_writes)),
    "each write follows a look at that very order": rules.anew(
        OF_ORDERS, well(ORDER), ("order_id",)
    ),
    "no order is read twice": rules.once_each(ORDER, ("order_id",), tries=False),
    "the customer has spoken at most three seconds before a write": not_long_after(
        _writes, lambda now: now.role == "user", 3
    ),
    "no apologies": rules.only(_answer, _no_apology),
    "answers have at most 150 words": rules.only(_answer, lambda now: len(now.text.split()) <= 150),
    "answers have at most 600 characters": rules.only(_answer, lambda now: len(now.text) <= 600),
}
