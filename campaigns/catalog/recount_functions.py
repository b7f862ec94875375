"""The rules of functions.yaml, said again in plain Python.

In: the moments of a trace. Out: for each contract, by its name, where it spoke and where it was
broken.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from campaigns.catalog import rules
from campaigns.catalog.rules import confirming, of, well
from campaigns.recount import Found, Moment, Recount, exclusive, never_after, texts

START = of("startEngine")
BOOKING = of("book_flight")
FUEL = of("fillFuelTank")
REMOVAL = of("rm")
TWEET = of("post_tweet")


def _number(now: Moment, field: str) -> float | None:
    value = now.args.get(field)
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _locks(now: Moment) -> bool:
    return now.tool == "lockDoors" and now.ok and now.args.get("unlock") is False


def _fills(now: Moment) -> bool:
    amount = _number(now, "fuelAmount")
    return FUEL(now) and now.ok and amount is not None and amount > 5


def _fits_in(now: Moment) -> bool:
    amount = _number(now, "fuelAmount")
    return amount is not None and 0 <= amount <= 40


def _one_word(tweet: Moment) -> bool:
    return not any(re.search("[a-z][A-Z]", tag) for tag in texts(tweet.args.get("tags")))


def _short(tweet: Moment) -> bool:
    return sum(map(len, texts(tweet.args.get("content")))) <= 80


def card_after_invoice(trace: Sequence[Moment]) -> Found:
    """After an invoice, a flight is paid with the card that the last one before it was paid with.

    If none was booked by then, with the card of the first one since.
    """
    found, last, invoiced, kept = Found(), None, False, None
    for now in trace:
        if BOOKING(now):
            card = rules.values(now, ("card_id",))
            if invoiced:
                found.speaks(now.at, broken=kept is not None and card != kept)
            if now.ok:
                last = card
                kept = kept or (card if invoiced else None)
        elif now.ok and now.tool == "retrieve_invoice":
            invoiced, kept = True, last
    return found


RECOUNTS: Mapping[str, Recount] = {
    "the brake is pressed before the engine starts": rules.after(
        START, well(of("pressBrakePedal"))
    ),
    "doors are locked and the tank is filled before the engine starts": rules.after(
        START, _locks, _fills
    ),
    "what was booked is not cancelled": never_after({"cancel_booking"}, {"book_flight"}),
    "an order is looked at before each cancellation of one": rules.anew(
        of("cancel_order"), confirming(of("get_order_details")), ("order_id",)
    ),
    "folders are changed three times at most": rules.few(of("cd"), 3),
    "a message is sent within two calls of a login": rules.soon(
        of("message_login"), of("send_message"), 2
    ),
    "a stock is either added or removed": exclusive(
        {"add_to_watchlist"}, {"remove_stock_from_watchlist"}
    ),
    "at most 40 gallons are filled": rules.only(FUEL, _fits_in),
    "orders of a session are of at most 150 shares": rules.total(
        of("place_order"), "amount", 150
    ),
    "the account is funded with at most 5000 in six calls": rules.total(
        of("fund_account", "withdraw_funds"), "amount", 5000, steps=6
    ),
    "no tag of two words": rules.only(TWEET, _one_word),
    "tweets are short": rules.only(TWEET, _short),
    "the card stays the same after an invoice": card_after_invoice,
    "nothing is posted after a file was shown but what was counted": rules.reviewed(
        of("cat", "tail", "sort", "grep"),
        well(of("wc")),
        of("post_tweet", "send_message", "create_ticket"),
    ),
    "a file is deleted once": rules.few(REMOVAL, 1),
    "a copy is made before each file is deleted": rules.anew(REMOVAL, well(of("cp", "mv"))),
    "the very flight was priced before it is booked": rules.anew(
        BOOKING,
        well(of("get_flight_cost")),
        ("travel_from", "travel_to", "travel_date", "travel_class"),
    ),
    "a price is at most two calls old": rules.fresh(well(of("get_flight_cost")), BOOKING, 2),
    "every booking has its invoice": rules.answered(well(BOOKING), well(of("retrieve_invoice"))),
}
