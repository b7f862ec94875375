"""An agent wants to refund. It is stopped, told what is missing, does that, and may.

The host asks `decide` before a tool runs, and tells `settle` what came of it. That is all.

$ python examples/refund.py
issue_refund(order=17)  blocked
    contract `policy gate` refuses `issue_refund`
check_policy(order=17)  done
issue_refund(order=17)  done
issue_refund(order=17)  blocked
    contract `one refund` refuses
"""

from sponsio_like import Allowed, Blocked, Guard, contract

guard = Guard(
    [
        contract("policy gate").guarantees("tool `check_policy` must precede `issue_refund`"),
        contract("one refund").guarantees("tool `issue_refund` at most once"),
    ]
)
session = guard.session("ticket-4711")


def call(tool: str, **args: object) -> None:
    shown = f"{tool}({', '.join(f'{name}={value}' for name, value in args.items())})"
    match session.decide(tool, args):
        case Allowed(id=id):
            session.settle(id, output="ok")  # here the tool has run
            print(f"{shown}  done")
        case Blocked(advice=advice):
            print(f"{shown}  blocked\n    {advice}")


call("issue_refund", order=17)
call("check_policy", order=17)
call("issue_refund", order=17)
call("issue_refund", order=17)
