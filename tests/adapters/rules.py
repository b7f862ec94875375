"""The contracts that adapters are tried under, each with the shortest way to say it."""

from __future__ import annotations

from typing import Any

from sponsio_like.contracts.definition import Contract, contract
from sponsio_like.event_types import Call as Event
from sponsio_like.events.registry import atom
from sponsio_like.outcome import Violation
from sponsio_like.patterns import (
    amount_limit,
    arg_value_range,
    ctx_required,
    must_precede,
    rate_limit,
)
from tests.adapters.harness import Answer, Answers, Call

UNLUCKY = 13


@atom("adapters_lucky")
def lucky(event: Event, _: object) -> bool:
    """True, but it cannot tell of one amount, and raises."""
    if event.args["amount"] == UNLUCKY:
        raise OSError("cannot tell")
    return True


def undecided(violation: Violation) -> str:
    """A strategy that raises."""
    raise OSError(violation.contract)


# --- contracts ------------------------------------------------------------------------------------


def few(tool: str, limit: int = 0) -> Contract:
    """At most so many calls of this tool."""
    return contract(f"few {tool}").guarantees(rate_limit(tool, limit))


def spending(total: int) -> Contract:
    """All payments together are at most so much."""
    return contract("spending").guarantees(amount_limit("pay", "amount", total))


def small(most: int = 100) -> Contract:
    """Every payment is at most so much."""
    return contract("small").guarantees(arg_value_range("pay", "amount", max=most))


def asked(most: int = 100, **options: Any) -> Contract:
    """A larger payment is held until a manager has answered."""
    escalate = {"escalate": {"roles": ["manager"], **options}}
    return (
        contract("asked").guarantees(arg_value_range("pay", "amount", max=most)).strategy(escalate)
    )


def staged_by_facts() -> Contract:
    """A message is sent only at a stage that the host tells."""
    return contract("staged").guarantees(ctx_required("send", "stage", ["open"]))


def checked() -> Contract:
    """A payment needs a check that has succeeded."""
    return contract("checked").guarantees(must_precede("check", "pay"))


def kept() -> Contract:
    """What is to be deleted goes to the trash, where files have other names for arguments."""
    trash = {"redirect_to_safe": {"to": "trash", "map": {"path": "file"}}}
    return few("delete").strategy(trash)


def told(formula: str) -> Contract:
    """A formula."""
    return contract("told").guarantees({"ltl": formula})


# --- what the model asks for, and what people say -------------------------------------------------


def pay(amount: Any, id: str | None) -> Call:
    """A payment."""
    return Call("pay", {"amount": amount}, id)


def check(id: str) -> Call:
    """A check."""
    return Call("check", {}, id)


def delete(path: str, id: str) -> Call:
    """A deletion."""
    return Call("delete", {"path": path}, id)


def send(text: str, id: str) -> Call:
    """A message to Ann."""
    return Call("send", {"to": "ann", "text": text}, id)


def yes(*calls: str) -> Answers:
    """A manager says yes to these calls."""
    return dict.fromkeys(calls, Answer(True))


def no(*calls: str) -> Answers:
    """A manager says no to these calls."""
    return dict.fromkeys(calls, Answer(False))
