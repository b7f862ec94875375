"""The inputs that a contract needs from its session, and the formulas that it is made of."""

from __future__ import annotations

import sponsio_like.logic.formula as f
from sponsio_like.contracts.definition import Contract
from sponsio_like.events import inputs_of

ALL_INPUTS = frozenset(
    {"results", "messages", "usage", "agents", "depth", "facts", "time", "finish", "tool_names"}
)


def inputs_needed(contract: Contract) -> frozenset[str]:
    """Return the inputs that a session has to deliver for this contract."""
    found: set[str] = set()
    for root in formulas(contract):
        for node in f.postorder(root):
            found |= inputs_of(node)
            if isinstance(getattr(node, "bound", None), f.Seconds) or isinstance(
                node, (f.Age, f.FactAge, f.ApprovalAge)
            ):
                found.add("time")
            if isinstance(node, f.Until) or (isinstance(node, f.Eventually) and node.bound is None):
                found.add("finish")
    return frozenset(
        found | {"agents"} if any("@agent" in rule.by for rule in contract.rules) else found
    )


def formulas(contract: Contract) -> list[f.Formula]:
    """Return every formula of the contract: guarantees, assumption, ends of its scope."""
    scope = contract.segment
    extra = [contract.assumption, scope.start if scope else None, scope.stop if scope else None]
    return [
        *(rule.formula for rule in contract.rules),
        *(each for each in extra if each is not None),
    ]
