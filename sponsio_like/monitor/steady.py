"""Decides at load time which positions leave the registers of a clause as they are.

In: programs, and what the name of a tool tells of a letter (`None`: nothing). Out: True if such a
position changes no register, in any state that can be reached.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from sponsio_like.logic.formula import Const
from sponsio_like.monitor.past import Past
from sponsio_like.monitor.program import PAST, STATEFUL, Op, Program, operands

Told = Sequence[bool | None]


def keeps_registers(program: Program, past: Past, letter: Told) -> bool:
    """True if a position with this letter changes no register."""
    stable: list[bool] = []
    for op in program.nodes:
        stable.append(_stable(op, program, letter, stable))
    starts = {cell.node: cell.start for cell in past.cells}
    begins: list[object] = []
    for i, op in enumerate(program.nodes):
        begins.append(_first(op, letter, begins, starts.get(i)))
    for i, op in enumerate(program.nodes):
        if op[0] in ("Y", "WY") and not (stable[op[1]] and begins[op[1]] is starts[i]):
            return False
        if (op[0] in PAST or op[0] in STATEFUL) and op[0] not in ("Y", "WY") and not stable[i]:
            return False
    return True


class RootedProgram(NamedTuple):
    """A program, and the nodes whose values are read from outside."""

    program: Program
    roots: Sequence[int]


def dont_care_slots(
    judged: Sequence[RootedProgram], letter: Told, slots: Iterable[int]
) -> frozenset[int]:
    """Return the slots whose value makes no difference at such a position.

    In every `and` and `or` that has one of them, another operand already decides.
    """
    return frozenset(i for i in slots if all(_is_mute(each, letter, i) for each in judged))


def _is_mute(judged: RootedProgram, letter: Told, slot: int) -> bool:
    program, roots = judged
    lits = {k for k, op in enumerate(program.nodes) if op[0] == "lit" and op[1] == slot}
    if not lits.isdisjoint(roots):
        return False
    for op in program.nodes:
        beside = [k for k in operands(op) if k not in lits]
        if len(beside) == len(operands(op)):
            continue
        decides = op[0] == "or"
        told = op[0] in ("and", "or")
        if not told or not any(_is(program, letter, k, sought=decides) for k in beside):
            return False
    return True


def _stable(op: Op, program: Program, letter: Told, below: list[bool]) -> bool:
    """True if the node has the value it had at the position before, whatever that was."""
    match op:
        case ("true",) | ("false",):
            return True
        case ("value", slot):
            return isinstance(program.slots[slot].node, Const)
        case ("and" | "or", *parts):
            return all(below[k] for k in parts)
        case ("cmp", left, _, right, _):
            return below[left] and below[right]
        case ("Y" | "WY", body):
            return below[body]
        case ("O", body, None):
            return _is(program, letter, body, sought=False)
        case ("H", body, None):
            return _is(program, letter, body, sought=True)
        case ("S", lasting, since):
            return _is(program, letter, lasting, sought=True) and _is(
                program, letter, since, sought=False
            )
        case ("T", lasting, since):
            return _is(program, letter, lasting, sought=False) and _is(
                program, letter, since, sought=True
            )
        case ("count", body, reset, None, _):
            return _is(program, letter, body, sought=False) and (
                reset < 0 or _is(program, letter, reset, sought=False)
            )
        case ("last", _, body):
            return _is(program, letter, body, sought=False)
        case ("sum", slot, None):
            return letter[slot] is False
    return False


def _is(program: Program, letter: Told, i: int, *, sought: bool) -> bool:
    """True if the letter alone gives node `i` the truth `sought`."""
    op = program.nodes[i]
    match op:
        case ("true",) | ("false",):
            return (op[0] == "true") is sought
        case ("lit", slot, negated):
            told = letter[slot]
            if told is None or (told and program.slots[slot].waits):
                return False
            return (told is not negated) is sought
        case ("and" | "or", *parts):
            each = [_is(program, letter, k, sought=sought) for k in parts]
            return all(each) if (op[0] == "and") is sought else any(each)
    return False


def _first(op: Op, letter: Told, below: list[object], start: object) -> object:
    """Return the node's value at the first position if that has this letter; None if unknown."""
    match op:
        case ("true",) | ("false",):
            return op[0] == "true"
        case ("lit", slot, negated):
            told = letter[slot]
            return None if told is None else told is not negated
        case ("and", *parts):
            each = [below[k] for k in parts]
            return False if False in each else None if None in each else True
        case ("or", *parts):
            each = [below[k] for k in parts]
            return True if True in each else None if None in each else False
        case ("O" | "H" | "S" | "T" | "Y" | "WY", *_) if isinstance(start, bool):
            return start
    return None
