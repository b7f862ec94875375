"""Decides at load time, from the tool's name alone, which positions a program has to see.

In: a program, its roots, and what a name decides. Out: True if a call of that tool can matter, or
can change a register. A node's value here is `True`, `False`, `"same"` (decided by registers that
calls of other tools do not change) or `"any"`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple, TypeAlias

from sponsio_like.logic.formula import Const, OutputIs, Seconds, Steps, TextIs
from sponsio_like.monitor.alphabet import OTHER, Name, static
from sponsio_like.monitor.past import Past
from sponsio_like.monitor.program import FUTURE, PAST, STATEFUL, Op, Program, Slot, operands

Known: TypeAlias = "bool | Literal['same', 'any']"


def known(program: Program, letter: Sequence[bool | None]) -> list[Known]:
    """Return what is known of every node at a position with this static letter."""
    out: list[Known] = []
    for op in program.nodes:
        out.append(_known(op, program, letter, out))
    return out


def _known(op: Op, program: Program, letter: Sequence[bool | None], below: list[Known]) -> Known:
    match op:
        case ("true",):
            return True
        case ("false",):
            return False
        case ("lit", slot, negated):
            fixed = letter[slot]
            if fixed is None or (fixed and program.slots[slot].waits):
                return "any"
            return fixed is not negated
        case ("value", slot):
            return "same" if isinstance(program.slots[slot].node, Const) else "any"
        case ("and", *parts):
            return _weakest([below[k] for k in parts], decides=False)
        case ("or", *parts):
            return _weakest([below[k] for k in parts], decides=True)
        case (
            ("O" | "H", _, Seconds())
            | ("since" | "age", _)
            | ("count", _, _, Steps() | Seconds(), _)
        ):
            return "any"
        case ("sum" | "repeats" | "elapsed", *_):
            return "any"
        case ("last", _, body):
            return "same" if below[body] is False else "any"
        case ("O", body, _) if below[body] is True:
            return True
        case ("H", body, _) if below[body] is False:
            return False
    return "any" if any(below[k] == "any" for k in operands(op)) else "same"


def _weakest(parts: Iterable[Known], *, decides: bool) -> Known:
    each = set(parts)
    if decides in each:
        return decides
    if "any" in each:
        return "any"
    return "same" if "same" in each else not decides


def reads_unnamed(program: Program, roots: Iterable[int], letter: Sequence[bool | None]) -> bool:
    """True if calls of tools that no contract names matter by themselves.

    So they do if their context, arguments or time is read, or if they may violate.
    """
    values = known(program, letter)
    if any(values[root] in ("any", False) for root in roots):
        return True
    inputs = {k for op in program.nodes if op[0] not in ("and", "or", "cmp") for k in operands(op)}
    watched = {k for k in inputs if not _only_compared(program, k)}
    kept = {op[1] for op in program.nodes if op[0] == "last" and values[op[2]] is not False}
    sums = [op[1] for op in program.nodes if op[0] in ("sum", "repeats")]
    return any(values[k] == "any" for k in watched | kept) or any(letter[slot] for slot in sums)


def _only_compared(program: Program, k: int) -> bool:
    """True if node `k` is a term: comparisons read it."""
    return program.nodes[k][0] in STATEFUL or program.nodes[k][0] == "value"


def concerned(program: Program, roots: Iterable[int], letter: Sequence[bool | None]) -> bool:
    """True if a stateless program can be violated at a call with this static letter."""
    values = known(program, letter)
    return any(values[root] is not True for root in roots)


def stateless(program: Program) -> bool:
    """True if the program remembers nothing between positions."""
    return not any(
        op[0] in PAST or op[0] in STATEFUL or program.looks_ahead(i)
        for i, op in enumerate(program.nodes)
    )


def unchanged_by(program: Program, letter: Sequence[bool | None]) -> bool:
    """True if positions with this letter change no register, whatever the registers are."""
    values = known(program, letter)
    for op in program.nodes:
        match op:
            case ("O", body, None) | ("since" | "age", body) | ("last", _, body):
                quiet = values[body] is False
            case ("count", body, reset, _, _):
                quiet = values[body] is False and (reset < 0 or values[reset] is False)
            case ("YO" | "WYH" as name, body, _):
                quiet = values[body] is (name == "WYH")
            case _:
                quiet = op[0] not in PAST
        if not quiet:
            return False
    return True


class Relevance:
    """The tools whose calls a clause has to see, found from their names.

    `assume`: the root of the assumption; `ends`: the roots that begin and end the scope; `lasting`:
    the clause owes something beyond single positions, or has a scope; `split`: it has a monitor for
    each value of some arguments. `memoryless`: each call is judged by itself; `unaffected`: calls
    of tools that no contract names change nothing, whatever the state; `sees_all`: every call
    matters.
    """

    def __init__(
        self,
        state: Program,
        roots: Sequence[int],
        gate: Program,
        ends: Sequence[int],
        *,
        assume: int,
        lasting: bool,
        split: bool,
    ) -> None:
        self.state = state
        self.roots = roots
        self.other = static(state.slots, OTHER)
        programs = (state, gate)
        self.to_others = concerned(state, roots, self.other)
        edges = [known(gate, self.other)[root] for root in ends]
        harmless = not self.to_others and set(edges) <= {False}
        self.memoryless = not lasting and all(map(stateless, programs))
        self.unaffected = harmless and all(
            unchanged_by(program, self.other) for program in programs
        )
        self.sees_all = reads_unnamed(gate, (), self.other) or reads_unnamed(
            state, roots, self.other
        )
        ahead = any(op[0] in FUTURE for op in state.nodes)
        self.sees_all |= not harmless and known(gate, self.other)[assume] == "any"
        self.sees_all |= "any" in edges or (split and (ahead or not self.unaffected))

    def to(self, slots: Sequence[Slot], tool: Name) -> bool:
        """True if a call of `tool` can matter. `slots`: those of a program of this shape."""
        if tool == OTHER:
            return self.sees_all if not self.memoryless else self.to_others
        if self.memoryless:
            return self.restricts(slots, tool)
        return self.sees_all or static(slots, tool) != self.other

    def restricts(self, slots: Sequence[Slot], tool: Name) -> bool:
        """True if a call of `tool` by itself can violate what is owed at every position."""
        return concerned(self.state, self.roots, static(slots, tool))


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


def remembers_texts_once(program: Program, roots: Sequence[int], gate: Program) -> bool:
    """True if all that is remembered of the values in texts and answers is one bit for each value.

    The bit is that of an `O` without a bound, and nothing else reads these texts. So a value that
    stood in one text stays as it is when it stands in another.
    """
    reads = _reads_texts(program)
    bits = [op for op in program.nodes if op[0] == "O" and op[2] is None and reads[op[1]]]
    past = (
        op for op in program.nodes if op[0] in PAST | STATEFUL | FUTURE | {"cmp"} and op not in bits
    )
    if len(bits) != 1 or any(reads[i] for op in past for i in operands(op)):
        return False
    return not any(reads[root] for root in roots) and not any(_reads_texts(gate))


def _reads_texts(program: Program) -> list[bool]:
    """Return, for each node, True if it reads what `has` finds in texts, but by an `O`."""
    reads: list[bool] = []
    for op in program.nodes:
        slot = program.slots[op[1]].node if op[0] in ("lit", "value") else None
        told = isinstance(slot, OutputIs | TextIs) and slot.op == "has"
        kept = op[0] == "O" and op[2] is None
        reads.append(told or (not kept and any(reads[i] for i in operands(op))))
    return reads
