"""The gate of risk: one look-up before each call that contracts have let through.

In: the ledger of a session, and the call. Out: a finding for calls whose risk is above the
threshold, or unknown. The context is brought up to date when a result arrives, so that a decision
costs one look-up (`session/gate.py` says when it is asked).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from sponsio_like.engine import RISK, RISK_NAME, Finding, Ledger, action_of
from sponsio_like.events import Call
from sponsio_like.outcome import (
    Ask,
    Block,
    Decision,
    Mode,
    Violation,
)
from sponsio_like.risk.abstraction import Context, Path
from sponsio_like.risk.estimate import Risk
from sponsio_like.session import CallFields

SAFEST = 3
"""The most tools that the advice names."""
TOLD_CAP = 1_000
NOTHING: Mapping[str, Any] = {}


class LookUp(Protocol):
    """The part of a policy of risk that a gate uses."""

    @property
    def threshold(self) -> float:
        """The risk that is still let through."""

    @property
    def confidence(self) -> float:
        """The confidence of the bounds."""

    @property
    def table(self) -> Mapping[Context, Mapping[str, Risk]]:
        """The risk of every state that was seen."""

    @property
    def safe(self) -> Mapping[Context, Mapping[str, Risk]]:
        """The part of it that is bounded by the threshold."""

    def risk(self, context: Context, symbol: str) -> Risk:
        """Return the risk of a call that is proposed in a context."""

    def answer(self, risk: Risk, mode: Mode, told: int) -> Decision | None:
        """Return what is done about a risk; None if nothing."""


class RiskGate:
    """The gate of one session. `refusals`: how often its model was told to examine itself."""

    __slots__ = (
        "_asked", "_found", "_logged", "_safe", "mode", "path", "policy", "refusals",
    )  # fmt: skip

    def __init__(self, policy: LookUp, path: Path, mode: Mode) -> None:
        self.policy, self.mode, self.path = policy, mode, path
        self.refusals = 0
        self._safe: Mapping[str, Risk] = NOTHING
        self._asked: CallFields | None = None
        self._found: Risk | None = None
        self._logged: dict[str, Risk] = {}

    # --- asked by the session -----------------------------------------------------------------

    def passes(self, ledger: Ledger, call: CallFields) -> bool:
        """Return True if the risk of the call is bounded by the threshold."""
        path = self.path
        if path.seen != ledger.states or (path.split and path.has_moved(ledger)):
            self._refresh(ledger)
        self._asked = call
        symbol = call[1] if path.plain else path.symbol(call[1], call[2])
        found = self._found = self._safe.get(symbol)
        return found is not None

    def _refresh(self, ledger: Ledger) -> None:
        self.path.fresh(ledger)
        self._safe = self.policy.safe.get(self.path.context, NOTHING)

    def risk(self, ledger: Ledger, tool: str, args: Mapping[str, Any]) -> Risk:
        """Return the risk of a call, if it were proposed now."""
        self._refresh(ledger)
        return self.policy.risk(self.path.context, self.path.symbol(tool, args))

    def ahead(
        self, ledger: Ledger, call: Call, position: int, rulings: Mapping[str, Decision]
    ) -> Finding | None:
        """Return the violation by risk of a call that the contracts let through; None
        if there is none.
        """
        risk = self.risk(ledger, call.tool, call.args)
        self._keep(call.id, risk)
        off = ledger.policy.risk == "observe" or not ledger.policy.enforces  # by a switch
        mode: Mode = "observe" if off else self.mode
        decision = self.policy.answer(risk, mode, self.refusals)
        if decision is None:
            return None
        words = self._evidence(risk)
        advice = f"{words}; {self._hint(call.tool)}"
        violation = Violation(
            RISK_NAME, position, call.tool, action_of(decision), words, mode, because=advice
        )
        if isinstance(decision, Ask):
            decision = rulings.get(RISK_NAME, decision)
        return Finding(RISK, violation, decision)

    def refused(self, finding: Finding) -> None:
        """Count a refusal, after which the model is to examine itself."""
        if isinstance(finding.decision, Block):
            self.refusals += 1

    def began(self, call: CallFields) -> None:
        """Note that a call is in flight."""
        self.path.began(*call[:3])

    def note_result(self, ledger: Ledger, id: str, *, ok: bool) -> None:
        """Note the result of a call in flight, and look up the context that it leads to."""
        self.path.note_result(id, ok)
        self._refresh(ledger)

    def ran(self, ledger: Ledger, call: CallFields, *, ok: bool) -> None:
        """Note a call and its result, and look up the context that they lead to."""
        self.path.ran(*call[:3], ok=ok)
        self._refresh(ledger)

    # --- told ---------------------------------------------------------------------------------

    def _keep(self, id: str, risk: Risk) -> None:
        if len(self._logged) >= TOLD_CAP:
            self._logged.clear()
        self._logged[id] = risk

    def told(self, id: str) -> dict[str, Any] | None:
        """Return what the log says of the risk of this call, once."""
        asked = self._asked
        latest = self._found if asked is not None and asked[0] == id else None
        risk = self._logged.pop(id, None) or latest
        return None if risk is None else risk.record(self.policy.threshold)

    def _evidence(self, risk: Risk) -> str:
        _, symbols, tool = risk.state
        after = " after " + ", ".join(symbols) if symbols else " as the first call"
        if risk.by == "unknown":
            return f"no recorded run has called `{tool}`{after}: its risk is not known"
        within = "" if risk.horizon is None else f" within {risk.horizon} calls"
        sure = f"{self.policy.confidence:.0%} sure: {risk.lo:.1%} to {risk.hi:.1%}"
        alike = "" if risk.by == "observed" else ", counted with fewer calls before"
        return (
            f"{risk.hits} of {risk.runs} recorded runs that called `{tool}`{after} ended badly"
            f"{within} ({sure}{alike}); the threshold is {self.policy.threshold:.1%}"
        )

    def _hint(self, tool: str) -> str:
        row = self.policy.table.get(self.path.context, NOTHING)
        rest = [each for each in row.values() if each.state[2] != tool]
        known = sorted((each for each in rest if each.by != "unknown"), key=lambda each: each.hi)
        safe = [each for each in known if each.hi <= self.policy.threshold][:SAFEST]
        if not safe:
            return "ask the user, or stop here"
        names = ", ".join(f"`{each.state[2]}` (at most {each.hi:.1%})" for each in safe)
        return f"check whether the user asked for it; less risky now: {names}"

    # --- snapshots ----------------------------------------------------------------------------

    def plain(self) -> Any:
        """Return what a snapshot keeps: the last symbols, and how often the model was told."""
        symbols = [list(each) for each in self.path.symbols]
        return {"symbols": symbols, "asked": self.refusals}

    def resume(self, data: Any) -> None:
        """Take over what a snapshot has kept; without it, no state is known for some calls."""
        if data is None:
            self.path.lost()
            return
        for id, symbol in data["symbols"]:
            self.path.symbols.append((str(id), str(symbol)))
        self.refusals = int(data["asked"])
