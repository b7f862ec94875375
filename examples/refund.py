"""A support agent with three tools, which know nothing of contracts: `call` stands before them.

A refused call does not run; its advice tells the model why, and what would make it legal. A call
that has run is settled: a check of the same order that succeeded, and answered yes, allows one
refund.

$ python examples/refund.py
issue_refund(order=17, amount=80)
    blocked: `issue_refund` was not allowed by `a check for each refund` (tool `issue_refund`
    requires confirmation by `check_policy` (same: order, accept: ^yes)); to make it legal,
    first call `check_policy` with the same `order` (it must succeed, and for its answer
    `output matches "^yes"` must hold)
check_policy(order=71)
    failed: KeyError(71)
check_policy(order=18)
    ran: no, a final sale
issue_refund(order=18, amount=80)
    blocked: `issue_refund` was not allowed by `a check for each refund` (tool `issue_refund`
    requires confirmation by `check_policy` (same: order, accept: ^yes)); to make it legal,
    first call `check_policy` with the same `order` (it must succeed, and for its answer
    `output matches "^yes"` must hold)
check_policy(order=17)
    ran: yes, within 30 days
issue_refund(order=17, amount=8000)
    blocked: `issue_refund` was not allowed by `small refunds` (`issue_refund.amount` between
    0 and 500); no calls make it legal with these arguments
issue_refund(order=17, amount=80)
    ran: 80 for order 17
issue_refund(order=17, amount=80)
    blocked: `issue_refund` was not allowed by `a check for each refund` (tool `issue_refund`
    requires confirmation by `check_policy` (same: order, accept: ^yes)); to make it legal,
    first call `check_policy` with the same `order` (it must succeed, and for its answer
    `output matches "^yes"` must hold)
still owed: customers are told
send_email(to='customer@example.com')
    ran: sent to customer@example.com
unfulfilled at the end: 0
"""

from collections.abc import Callable
from textwrap import indent, wrap

from sponsio_like import Allowed, Blocked, Guard, contract

POLICY = {17: "yes, within 30 days", 18: "no, a final sale"}
"""What the shop says of two orders; of any other it knows nothing."""


def check_policy(order: int) -> str:
    return POLICY[order]


def issue_refund(order: int, amount: float) -> str:
    return f"{amount} for order {order}"


def send_email(to: str) -> str:
    return f"sent to {to}"


TOOLS: dict[str, Callable[..., str]] = {
    tool.__name__: tool for tool in (check_policy, issue_refund, send_email)
}
guard = Guard(
    [
        contract("a check for each refund").guarantees(
            {
                "pattern": "must_confirm",
                "action": "issue_refund",
                "by": "check_policy",
                "same": ["order"],
                "accept": "^yes",
            }
        ),
        contract("small refunds").guarantees("`issue_refund.amount` between 0 and 500"),
        contract("customers are told").guarantees(
            "every `issue_refund` must be followed by `send_email`"
        ),
    ],
    tools=list(TOOLS),
)
session = guard.session("ticket-4711")


def call(tool: str, **args: object) -> None:
    """Decide a call, run it if it is allowed, and settle it."""
    print(f"{tool}({', '.join(f'{name}={value!r}' for name, value in args.items())})")
    match session.decide(tool, args):
        case Allowed(id=id):
            try:
                output = TOOLS[tool](**args)
            except LookupError as error:
                session.settle(id, error=repr(error))
                print(f"    failed: {error!r}")
            else:
                session.settle(id, output=output)
                print(f"    ran: {output}")
        case Blocked(advice=advice):
            print(indent("\n".join(wrap(f"blocked: {advice}", 90)), "    "))


call("issue_refund", order=17, amount=80)
call("check_policy", order=71)
call("check_policy", order=18)
call("issue_refund", order=18, amount=80)
call("check_policy", order=17)
call("issue_refund", order=17, amount=8000)
call("issue_refund", order=17, amount=80)
call("issue_refund", order=17, amount=80)
print("still owed:", *(each.contract for each in session.pending()))
call("send_email", to="customer@example.com")
print("unfulfilled at the end:", len(session.finish()))
