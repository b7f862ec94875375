"""Finds caps on a whole session that are used up: counts and sums that only grow.

In: a clause, its state, the letter of the refused event. Out: the cap that the event exceeds, and
the same event with as much of its argument as fits under the cap.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import NamedTuple

from sponsio_like.advice.goals import WHOLE, conjunctive, goals
from sponsio_like.advice.moves import conditioned, merge_maps
from sponsio_like.engine import Clause
from sponsio_like.events import Call, Event, number
from sponsio_like.logic.formula import Compare, Condition, Const, Denied, Happens, Node, Sum
from sponsio_like.monitor import EXACT, ClauseState, Letter, Op, PositionCounts, Program


class Cap(NamedTuple):
    """A cap that is used up. `room` is how much of the argument `path` still fits under it."""

    path: str = ""
    room: Decimal = Decimal(0)


def used_up(
    clause: Clause, state: ClauseState, letter: Letter, at: PositionCounts, time: float
) -> Cap | None:
    """Return the cap that this event exceeds now and for ever; None if there is none."""
    if state.segment is None or not conjunctive(clause):
        return None
    program = clause.monitor.program
    for goal in goals(clause, state, letter, at, time) - {WHOLE}:
        match program.nodes[goal]:
            case ("lit", slot, False) if _limits_refusals(program.slots[slot].node):
                return Cap()
            case ("cmp", left, "<" | "<=" as op, right, (False, _)):
                limit, grown = _constant(program, right), program.nodes[left]
                if limit is None or not _only_grows(clause, grown):
                    continue
                if grown[0] == "count" or op == "<":
                    return Cap()
                registers = state.segment.registers
                values = clause.monitor.past.read(letter, registers, at.counted, time)
                return _left(program, grown[1], limit, values[left], letter)
    return None


def _limits_refusals(node: Node) -> bool:
    """True if the node demands few refusals, whose number never falls."""
    match node:
        case Compare(Denied(), "<" | "<=", Const()) | Compare(Const(), ">" | ">=", Denied()):
            return True
    return False


def _left(program: Program, slot: int, limit: Decimal, total: object, letter: Letter) -> Cap:
    """Return the cap with the room under its limit, not counting this event's own amount."""
    node, own = program.slots[slot].node, letter[slot]
    if not isinstance(total, Decimal) or not isinstance(own, Decimal) or not isinstance(node, Sum):
        return Cap()
    return Cap(node.path, EXACT.add(EXACT.subtract(limit, total), own))


def _constant(program: Program, i: int) -> Decimal | None:
    op = program.nodes[i]
    node = program.slots[op[1]].node if op[0] == "value" else None
    return number(node.value) if isinstance(node, Const) else None


def _only_grows(clause: Clause, op: Op) -> bool:
    """True if this count, or sum, never falls, and depends on calls alone."""
    match op:
        case ("count", body, -1, None, _):
            return _is_called(clause.monitor.program, body)
        case ("sum", _, None):
            return clause.rule.cap
    return False


def _is_called(program: Program, i: int) -> bool:
    """True if this node is the atom that a call is made."""
    match program.nodes[i]:
        case ("lit", slot, False):
            node = program.slots[slot].node
            return isinstance(node, Happens) and node.what == "called"
    return False


def lessened(event: Event, cap: Cap) -> Event | None:
    """Return the event with an argument that fits; None if none fits, or it is in a list."""
    if not isinstance(event, Call) or not cap.path or "[" in cap.path or cap.room <= 0:
        return None
    room = int(cap.room) if cap.room == int(cap.room) else float(cap.room)
    args = conditioned([Condition(cap.path, "=", room)])
    return None if args is None else replace(event, args=merge_maps(event.args, args))
