"""Decorated tools: block, redirect and a person's approval, without touching the agent's loop.

The functions are what they were, async ones too. Every call is decided on the arguments that the
body would receive, and settled when the body has returned or raised.

$ python examples/tools.py
read_orders: 17, 18
send_offer: drafted for ann@example.com
read_orders again: blocked: `read_orders` was not allowed by `few reads` (tool `read_orders` at
    most 1 times); no calls make it legal in this session
refund: held for a manager
refund: a clerk may not answer
refund: 900.0 for order 17
refund again: held for a manager
told on the side: ['large refunds', 'large refunds']
"""

import asyncio
from textwrap import fill

from sponsio_like import CallBlocked, CallHeld, Guard, SessionError, contract
from sponsio_like.notices import Notice, drain

told: list[str] = []


def on_the_side(notice: Notice) -> None:
    """A notifier: it has a thread of its own, and delays nobody."""
    if notice.action == "held":
        told.append(notice.contract)


guard = Guard(
    [
        contract("few reads").guarantees("tool `read_orders` at most 1 times"),
        contract("offers are drafted")
        .guarantees("tool `send_offer` at most 0 times")
        .strategy({"redirect_to_safe": {"to": "draft_offer"}}),
        contract("large refunds")
        .guarantees("`issue_refund.amount` between 0 and 500")
        .strategy({"escalate": {"roles": ["manager"]}}),
    ],
    notify=[on_the_side],
)


@guard.tool
def read_orders() -> str:
    return "17, 18"


@guard.tool
async def send_offer(to: str) -> str:
    return f"sent to {to}"


@guard.tool
async def draft_offer(to: str) -> str:
    return f"drafted for {to}"


@guard.tool
def issue_refund(order: int, amount: float) -> str:
    return f"{amount} for order {order}"


async def main() -> None:
    session = guard.session("ticket-4711")
    with session.active():
        print("read_orders:", read_orders())
        print("send_offer:", await send_offer("ann@example.com"))
        try:
            read_orders()
        except CallBlocked as blocked:
            print(fill(f"read_orders again: blocked: {blocked}", 98, subsequent_indent="    "))
        try:
            issue_refund(17, amount=900)
        except CallHeld as held:
            print("refund: held for a", *held.outcome.ticket.roles)
            ticket = held.outcome.ticket
        try:
            session.approve(ticket, by="bob", role="clerk")
        except SessionError:
            print("refund: a clerk may not answer")
        session.approve(ticket, by="ann", role="manager")
        print("refund:", issue_refund(17, amount=900))  # the same call, decided again
        try:
            issue_refund(17, amount=900)
        except CallHeld as held:  # an approval is used up
            print("refund again: held for a", *held.outcome.ticket.roles)
    drain()
    print("told on the side:", told)


asyncio.run(main())
