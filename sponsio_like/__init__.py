"""Contracts for agents' tool calls: decided before the tool runs, without a model.

    YAML | sentence | Python -> contract -> pattern -> formula -> compiled monitor
        -> interceptor -> strategy -> outcome -> log -> report

Write contracts (`contract`, `sponsio_like.patterns`, or a YAML file), make a `Guard` of them, open
a `Session` for each conversation, `decide` before a call runs and `settle` when it has.
"""

from __future__ import annotations

import pathlib

import sponsio_like.patterns  # fills the registry of contracts
from sponsio_like.contracts import Contract, Rule, contract, pattern
from sponsio_like.errors import (
    ContractError,
    ContractWarning,
    InputMissing,
    Problem,
    SessionError,
    SnapshotError,
    SponsioLikeError,
    TraceError,
)
from sponsio_like.events import Ticket, atom
from sponsio_like.guard import CallBlocked, CallHeld, Guard, RunStopped, record
from sponsio_like.ltl import value, var
from sponsio_like.outcome import (
    Allowed,
    Blocked,
    Held,
    Outcome,
    Redirected,
    Unfulfilled,
    Violation,
)
from sponsio_like.session import Session

__all__ = [
    "Allowed",
    "Blocked",
    "CallBlocked",
    "CallHeld",
    "Contract",
    "ContractError",
    "ContractWarning",
    "Guard",
    "Held",
    "InputMissing",
    "Outcome",
    "Problem",
    "Redirected",
    "Rule",
    "RunStopped",
    "Session",
    "SessionError",
    "SnapshotError",
    "SponsioLikeError",
    "Ticket",
    "TraceError",
    "Unfulfilled",
    "Violation",
    "atom",
    "contract",
    "pattern",
    "record",
    "value",
    "var",
]


# `replay` and `risk` stand above the guard; they load when it needs them.


def _check_examples(pattern: sponsio_like.contracts.Pattern) -> None:
    import sponsio_like.replay

    sponsio_like.replay.check_examples(pattern)


def _read_risk(
    section: sponsio_like.contracts.RiskSection, folder: pathlib.Path
) -> sponsio_like.session.GatePolicy:
    import sponsio_like.risk

    return sponsio_like.risk.policy_of(section, folder)


sponsio_like.contracts.when_declared(_check_examples)
sponsio_like.guard.read_risk_with(_read_risk)


def __getattr__(name: str) -> str:
    """Return `__version__`, read from the installed package. Raises `AttributeError` otherwise."""
    if name == "__version__":
        from importlib.metadata import version

        return version("sponsio-like")
    raise AttributeError(f"module `sponsio_like` has no attribute `{name}`")
