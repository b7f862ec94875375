"""A run is turned before its violation: risk is learned from recorded runs, and looked up.

An agent books trips; more than two charges break a contract. Runs that begin to retry a charge
mostly end there. The contract stops the third charge; risk speaks before the second one.

$ python examples/risk_turned.py
learned from 1000 runs, 146 of them bad
search: runs
book: runs
charge: runs, and fails
charge: turned
  146 of 166 recorded runs that called `charge` after book, charge! ended badly (95% sure: 82.0% to 92.5%); the threshold is 40.0%; check whether the user asked for it; less risky now: `ask_user` (at most 11.9%)
  ask_user: 0 of 29, 0.00 to 0.12
  charge: 146 of 166, 0.82 to 0.92
ask_user: Allowed
"""  # noqa: E501  as a terminal shows it

from __future__ import annotations

import random

from sponsio_like import Allowed, Blocked, Guard, contract
from sponsio_like.risk import RiskPolicy, learn
from sponsio_like.traces import Trace, trace_of

CONTRACTS = [contract("two charges at most").guarantees("tool `charge` at most 2 times")]


def recorded(rng: random.Random, number: int) -> Trace:
    """A run as it might be recorded: a charge that fails is mostly tried again, and again."""
    events = [{"tool": "search"}, {"tool": "book"}]
    status = "ok" if rng.random() < 0.8 else "error"
    events.append({"tool": "charge", "status": status})
    while status == "error" and rng.random() < 0.85:
        events.append({"tool": "charge", "status": "error"})
    events.append({"tool": "send_receipt" if status == "ok" else "ask_user"})
    return trace_of({"id": f"run {number}", "events": events})


def main() -> None:
    """Learn from 1,000 runs, then play one with the policy."""
    rng = random.Random(1)  # noqa: S311 - no secret
    model = learn(CONTRACTS, (recorded(rng, i) for i in range(1_000)))
    print(f"learned from {model.data.traces} runs, {model.data.bad} of them bad")
    policy = RiskPolicy(model, threshold=0.4, on_risk="llm_self_examine")
    session = Guard(CONTRACTS).session(risk=policy)
    for tool, works in (("search", True), ("book", True), ("charge", False), ("charge", True)):
        outcome = session.decide(tool)
        match outcome:
            case Allowed(id):
                session.settle(id, error=None if works else "card declined")
                print(f"{tool}: runs{'' if works else ', and fails'}")
            case Blocked():
                print(f"{tool}: turned\n  {outcome.advice}")
    for risk in session.risks(["charge", "ask_user"]):
        print(f"  {risk.state[2]}: {risk.hits} of {risk.runs}, {risk.lo:.2f} to {risk.hi:.2f}")
    print(f"ask_user: {type(session.decide('ask_user')).__name__}")


if __name__ == "__main__":
    main()
