"""Finds the contracts that *applied* to an event: those whose guarantees ask something of it.

In: a clause, and what is read of an event; or the name of a tool. Out: True if it applies. A
guarantee asks something of an event that triggers it, or that it restricts. It asks nothing where
it holds for want of a trigger, whatever came before and whatever comes after. Nothing is decided
here, and no atom of a user runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, TypeAlias

from sponsio_like.engine.clause import Clause
from sponsio_like.engine.index import INDEX_CAP
from sponsio_like.engine.policy import Policy
from sponsio_like.logic.formula import (
    ByAgent,
    Const,
    Happens,
    MessageBy,
    Observed,
    OutputIs,
    TextIs,
    TextMatches,
)
from sponsio_like.monitor import Op, Program, Slot, fixed_at, static

Part: TypeAlias = "bool | Literal['asked', 'counted']"
"""The value of a formula as far as one event decides it: true, so that nothing is asked; false;
`asked`, so that it depends on more; `counted`, so that the event is at most counted.
"""
Letter: TypeAlias = Sequence[Any]
_EVENTS = (ByAgent, Happens, MessageBy, Observed, OutputIs, TextIs, TextMatches)
_COUNTING = frozenset({"count", "sum", "repeats", "last"})
"""Terms that change with the events that they speak of; other terms grow with every event."""


def applies(clause: Clause, letter: Letter) -> bool:
    """True if a clause asks something of an event with this letter. A None in it: not known."""
    values: list[Part] = []
    for op in clause.monitor.program.nodes:
        values.append(_by_itself(op, clause.monitor.program, letter, values))
    asked = {values[root] for roots in clause.monitor.always for root in roots}
    return bool(asked & {False, "asked"}) or ("counted" in asked and _speaks_of(clause, letter))


def _by_itself(op: Op, program: Program, letter: Letter, below: Sequence[Part]) -> Part:
    match op:
        case ("true",):
            return True
        case ("false",):
            return False
        case ("lit", slot, negated):
            if letter[slot] is False:
                return bool(negated)
            return False if negated and letter[slot] is True else "asked"
        case ("value", slot):
            return "counted" if isinstance(program.slots[slot].node, Const) else "asked"
        case ("and" | "or" as name, *parts):
            decides: bool = name == "or"
            each = {below[k] for k in parts}
            if decides in each:
                return decides
            rest = each - {not decides}
            return ("asked" if "asked" in rest else "counted") if rest else not decides
        case ("cmp", left, _, right, _):
            return "asked" if "asked" in (below[left], below[right]) else "counted"
        case ("H" | "G", body, _) if below[body] is True:
            return "counted"
        case ("O" | "F", body, _) if below[body] is True:
            return True
    return "counted" if op[0] in _COUNTING else "asked"


def _speaks_of(clause: Clause, letter: Letter) -> bool:
    """True if the event is one of those that the guarantee speaks of."""
    read = {op[1] for op in clause.monitor.program.nodes if op[0] in ("lit", "sum", "repeats")}
    return any(_speaks(clause.slots[i], letter[i]) for i in read)


def _speaks(slot: Slot, value: Any) -> bool:
    match slot.kind:
        case "atom":
            return isinstance(slot.node, _EVENTS) and value is not False
        case "amount" | "key":
            return value is not None and value is not False and value != 0
    return False


# --- by name --------------------------------------------------------------------------------------


class ByName:
    """The contracts that apply to calls of a tool, or to messages of a role, found by its name."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._known: dict[tuple[str, str], tuple[str, ...]] = {}

    def __call__(self, kind: Literal["call", "message"], name: str) -> tuple[str, ...]:
        """Return the names of the contracts that apply, or may: by arguments,
        the past or a scope.
        """
        found = self._known.get((kind, name))
        if found is None:
            each = range(len(self._policy.clauses))
            found = contract_names(self._policy, (i for i in each if self._may(i, kind, name)))
            if len(self._known) < INDEX_CAP:
                self._known[kind, name] = found
        return found

    def _may(self, i: int, kind: Literal["call", "message"], name: str) -> bool:
        clause = self._policy.clauses[i]
        if kind not in clause.counts:
            return False
        known = fixed_at(clause.slots, ("message", name))
        if kind == "call":
            known = static(clause.slots, self._policy.index.name_of(name))
        pairs = zip(clause.slots, known, strict=True)
        letter = [None if slot.waits and value else value for slot, value in pairs]
        return bool(clause.monitor.rest) or applies(clause, letter)


def contract_names(policy: Policy, clauses: Iterable[int]) -> tuple[str, ...]:
    """Return the names of the contracts that have these clauses."""
    return tuple(policy.contracts[k].name for k in sorted({policy.owner[i] for i in clauses}))
