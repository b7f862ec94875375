"""The gate: a judge beside the contracts, who is asked about a call that they have let through.

In: the ledger and a call, before the call runs; then that it was let through, and its result. Out:
a finding like that of a contract, or none. A session has one gate at most, and calls it under its
lock; nothing of the engine knows who stands behind it (`sponsio_like/risk/gate.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, TypeAlias

from sponsio_like.engine import Finding, Ledger, Policy
from sponsio_like.events import Call
from sponsio_like.outcome import Decision

CallFields: TypeAlias = tuple[str, str, Mapping[str, Any], str, int]
"""A call: its id, tool, arguments, agent and depth."""


class GatePolicy(Protocol):
    """A source of gates, such as a policy of risk."""

    def opened(self, policy: Policy, *, relaxed: bool = False) -> Gate:
        """Return the gate of a new session under these contracts; `relaxed`: it only observes."""


class Gate(Protocol):
    """The judge of one session. It raises nothing, and keeps no lock."""

    def passes(self, ledger: Ledger, call: CallFields) -> bool:
        """Return True if nothing stands against the call; nothing changes."""

    def ahead(
        self, ledger: Ledger, call: Call, position: int, rulings: Mapping[str, Decision]
    ) -> Finding | None:
        """Return what stands against a call that the contracts let through; None if nothing."""

    def risk(self, ledger: Ledger, tool: str, args: Mapping[str, Any]) -> Any:
        """Return the risk of a call, if it were proposed now; it has `lo` and `hi`."""

    def refused(self, finding: Finding) -> None:
        """Note that the call was refused because of this finding."""

    def began(self, call: CallFields) -> None:
        """Note that a call is in flight."""

    def note_result(self, ledger: Ledger, id: str, *, ok: bool) -> None:
        """Note the result of a call in flight."""

    def ran(self, ledger: Ledger, call: CallFields, *, ok: bool) -> None:
        """Note the call and its result, of one that nothing came between."""

    def told(self, id: str) -> dict[str, Any] | None:
        """Return what the log says of the latest decision on this call, once."""

    def plain(self) -> Any:
        """Return what a snapshot keeps of the gate, as JSON data."""

    def resume(self, data: Any) -> None:
        """Take over what a snapshot has kept; None: it has kept nothing."""
