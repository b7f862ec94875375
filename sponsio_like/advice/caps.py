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
from sponsio_like.events import Call, Event
from sponsio_like.logic.formula import Compare, Condition, Const, Custom, Denied, Happens, Node, Sum
from sponsio_like.monitor import EXACT, ClauseState, Letter, Op, PositionCounts, Program
from sponsio_like.values import number


class Cap(NamedTuple):
    """A cap that is used up. `room` is how much of the argument `path` still fits under it."""

    path: str = ""
    room: Decimal = Decimal(0)


def used_up(
    clause: Clause, watch: ClauseState, letter: Letter, at: PositionCounts, time: float
) -> Cap | None:
    """Return the cap that this event exceeds now and for ever; None if there is none."""
    if watch.segment is None or not conjunctive(clause):
        return None
    program = clause.monitor.program
    for goal in goals(clause, watch, letter, at, time) - {WHOLE}:
        match program.nodes[goal]:
            case ("lit", slot, False) if _limits_refusals(program.slots[slot].node):
                return Cap()
            case ("cmp", left, "<" | "<=" as op, right, (False, _)):
                limit, grown = _constant(program, right), program.nodes[left]
                if limit is None or not _only_grows(clause, grown):
                    continue
                if grown[0] == "count" or op == "<":
                    return Cap()
                registers = watch.segment.registers
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
    program = clause.monitor.program
    match op:
        case ("count", body, -1, None, _):
            return _is_called(program, body, negated=False) is not None
        case ("sum", slot, None):
            node = program.slots[slot].node
            roots = [root for parts in clause.monitor.always for root in parts]
            return isinstance(node, Sum) and any(_positive(program, i, node) for i in roots)
    return False


def _positive(program: Program, root: int, node: Sum) -> bool:
    """True if this part of a guarantee refuses every call whose amount would lower the sum."""
    op = program.nodes[root]
    if op[0] != "or" or len(op) != 3:
        return False
    for if_not, then in (op[1:], op[:0:-1]):
        if _is_called(program, if_not, negated=True) == Happens("called", node.target):
            parts = program.nodes[then][1:] if program.nodes[then][0] == "and" else (then,)
            return any(_from_zero(program, part, node.path) for part in parts)
    return False


def _is_called(program: Program, i: int, *, negated: bool) -> Node | None:
    """Return the atom of this node if it says that a call is (`negated`: not) made; else None."""
    match program.nodes[i]:
        case ("lit", slot, sign) if sign is negated:
            node = program.slots[slot].node
            return node if isinstance(node, Happens) and node.what == "called" else None
    return None


def _from_zero(program: Program, i: int, path: str) -> bool:
    """True if this node says that the argument is a number from zero on."""
    match program.nodes[i]:
        case ("lit", slot, False):
            match program.slots[slot].node:
                case Custom("arg_between", (field, least, _)) if field == path:
                    low = number(least)
                    return low is not None and low >= 0
    return False


def lessened(event: Event, cap: Cap) -> Event | None:
    """Return the event with an argument that fits; None if none fits, or it is in a list."""
    if not isinstance(event, Call) or not cap.path or "[" in cap.path or cap.room <= 0:
        return None
    room = int(cap.room) if cap.room == int(cap.room) else float(cap.room)
    args = conditioned([Condition(cap.path, "=", room)])
    return None if args is None else replace(event, args=merge_maps(event.args, args))
