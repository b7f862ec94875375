"""Steps of the search, remembered: what one more position makes of each thing that is owed.

In: a place and the number of a letter. Out: the place one position later. A residual reads few
truths of a position, so it is progressed once for each combination of these, and not for each
letter; and what was computed for one place holds wherever the same is owed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias

from sponsio_like.events import LATE
from sponsio_like.logic.formula import Seconds
from sponsio_like.monitor.abstraction import Abstract, abstracted
from sponsio_like.monitor.past import Letter, Registers, Values
from sponsio_like.monitor.program import Program, operands
from sponsio_like.monitor.progression import Position, Progression
from sponsio_like.monitor.residual import (
    NO,
    YES,
    Residual,
    entails,
    holds_at_end,
    literals_of,
    shifted,
)

Goal: TypeAlias = Literal["kind", "harsh"]
"""`kind`: look for a continuation that satisfies. `harsh`: for one that violates."""

STEPS_CAP = 20_000
"""Most steps of single residuals, conjunctions and positions that are remembered."""
NODES_FREE = 50
"""A transition costs one more for each so many nodes of the formula."""
PARTS_FREE = 16
"""A transition costs one more for each so many comparisons of alternatives."""
LITERALS_FREE = 4
"""A transition costs one more for each so many literals."""


@dataclass(eq=False, slots=True)
class Part:
    """One residual that is owed in the search; equal residuals are one part.

    `reads`: the truths that its next step depends on, as bits; `nodes`: what it speaks of, as bits;
    `holds`: it holds if no position follows; `literals`: how many there are in its alternatives;
    `due`: the first bound in steps by which something must come, infinite if there is none.
    """

    residual: Residual
    reads: int
    nodes: int
    holds: bool
    literals: int
    due: float
    after: dict[int, Part] = field(default_factory=dict)
    weaker: dict[Part, bool] = field(default_factory=dict)

    def implies(self, other: Part) -> bool:
        """True if each alternative of this part is covered by one of the other."""
        found = self.weaker.get(other)
        if found is None:
            found = self.weaker[other] = entails(self.residual, other.residual)
        return found


Joint: TypeAlias = frozenset[Part]
Place: TypeAlias = tuple[Joint, Registers]


class Shown(NamedTuple):
    """What a position shows. `bits`: the truths that residuals read; `known`: what each node owes
    where these are shown; `after`: the registers behind it.
    """

    bits: int
    position: Position
    known: dict[int, Residual]
    after: Registers


class Successors:
    """The steps of one goal over one program, for all places.

    `always`: the roots owed at every position; `rest`: those owed at the first.
    """

    def __init__(
        self,
        goal: Goal,
        program: Program,
        abstract: Abstract,
        future: Progression,
        always: Sequence[Sequence[int]],
        rest: Sequence[int],
    ) -> None:
        self.goal = goal
        self._abstract = abstract
        self._future = future
        self._roots = tuple(root for roots in always for root in roots)
        self._waiting = frozenset(i for i, slot in enumerate(program.slots) if slot.waits)
        self._base = 1 + len(future.nodes) // NODES_FREE
        self._leaves = _leaves(future, (*self._roots, *rest))
        self._reads: dict[int, int] = {}
        self._parts: dict[Residual, Part] = {}
        self._joints: dict[Joint, Joint] = {}
        self._troubles: dict[Joint, int] = {}
        self._shown: dict[tuple[int, Registers], Shown] = {}
        self._known: dict[int, dict[int, Residual]] = {}
        self._fresh: dict[int, Joint] = {}
        self._steps = 0
        self._no = self._part(NO)
        self._yes = self._part(YES)
        self.none: Joint = frozenset({self._no})

    # --- places -------------------------------------------------------------------------------

    def joint(self, residuals: Iterable[Residual]) -> Joint:
        """Return what is owed, as parts."""
        if self._steps + len(self._joints) + len(self._shown) > STEPS_CAP:
            self._forget()
        return self._conjunction(frozenset([self._part(each) for each in residuals]))

    def met(self, joint: Joint) -> bool:
        """True if the goal is reached where this is owed and no position follows."""
        holds = all([part.holds for part in joint])
        return holds if self.goal == "kind" else not holds

    def trouble(self, joint: Joint) -> int:
        """Return the cost of a transition: each part of what is owed is compared with each other
        part.
        """
        found = self._troubles.get(joint)
        if found is None:
            parts = sum([len(part.residual) for part in joint])
            literals = sum([part.literals for part in joint])
            found = self._base + parts * parts // PARTS_FREE + literals // LITERALS_FREE
            self._troubles[joint] = found
        return found

    def after(self, place: Place, k: int, letter: Letter, *, more: bool) -> Place:
        """Return the place one position later, where that position is letter number `k`."""
        joint, registers = place
        shown = self._shown.get((k, registers)) or self._show(k, letter, registers)
        bits, parts = shown.bits, list[Part]()
        for part in joint:
            found = part.after.get(bits & part.reads)
            parts.append(self._progressed(part, shown) if found is None else found)
        if more:
            fresh = self._fresh.get(bits)
            parts += self._owed_anew(shown) if fresh is None else fresh
        owed = self._conjunction(frozenset(parts))
        return (owed, ()) if owed == self.none else (owed, shown.after)

    # --- steps --------------------------------------------------------------------------------

    def _forget(self) -> None:
        """Begin anew; places that were made before are no longer equal to those made now."""
        known: tuple[dict[Any, Any], ...] = (self._joints, self._troubles, self._shown)
        for each in (*known, self._known, self._fresh, self._parts):
            each.clear()
        self._parts.update({NO: self._no, YES: self._yes})
        self._steps = 0

    def _part(self, residual: Residual) -> Part:
        found = self._parts.get(residual)
        if found is None:
            literals = literals_of([residual])
            reads = nodes = 0
            for _, node, *_ in literals:
                reads |= self._read_by(node)
                nodes |= 1 << node
            due = min((each[2] for each in literals if each[0] == "F"), default=math.inf)
            many = sum(map(len, residual))
            made = Part(residual, reads, nodes, holds_at_end(residual), many, due)
            found = self._parts.setdefault(residual, made)
        return found

    def _read_by(self, node: int) -> int:
        """Return the truths that decide what this node owes, as bits."""
        found = self._reads.get(node)
        if found is None:
            order = self._future.order(node)
            found = sum(1 << k for k, (i, _) in enumerate(self._leaves) if i in order)
            self._reads[node] = found
        return found

    def _progressed(self, part: Part, shown: Shown) -> Part:
        progressed = self._future.progress(part.residual, shown.position, shown.known)
        (moved,) = shifted([progressed], 1)
        found = part.after[shown.bits & part.reads] = self._part(moved)
        self._steps += 1
        return found

    def _owed_anew(self, shown: Shown) -> Joint:
        """Return what a position owes for itself."""
        owed = [self._future.owed(root, shown.position) for root in self._roots]
        found = self._conjunction(frozenset(map(self._part, shifted(owed, 1))))
        self._fresh[shown.bits] = found
        return found

    def _conjunction(self, parts: Joint) -> Joint:
        found = self._joints.get(parts)
        if found is None:
            found = self._minimal(parts)
            found = self._joints[parts] = self._joints.setdefault(found, found)
        return found

    def _minimal(self, parts: Joint) -> Joint:
        """Return the parts without those that another one implies."""
        if self._no in parts:
            return self.none
        each = [part for part in parts if part is not self._yes]
        return frozenset(
            [
                weak
                for weak in each
                if not any(
                    other.nodes & weak.nodes and other is not weak and other.implies(weak)
                    for other in each
                )
            ]
        )

    # --- positions ----------------------------------------------------------------------------

    def _show(self, k: int, letter: Letter, registers: Registers) -> Shown:
        """Read letter number `k` once where these are the registers."""
        past = self._abstract.past
        undecided = self._undecided(letter)
        seen = past.read(undecided, registers, 1, 0.0)
        values = seen if undecided == letter else past.read(letter, registers, 1, 0.0)
        after = past.after(values, letter, registers, 1, 0.0)
        bits = self._bits(letter, seen)
        position = Position(letter, seen, 1, 0.0, self.goal)
        known = self._known.setdefault(bits, {})
        found = Shown(bits, position, known, self._shifted(after))
        self._shown[k, registers] = found
        return found

    def _bits(self, letter: Letter, seen: Values) -> int:
        """Return the truths that residuals may read at a position, as bits."""
        bits = 0
        for k, (i, slot) in enumerate(self._leaves):
            true = seen[i] if slot is None else letter[slot] is True or letter[slot] is LATE
            bits |= bool(true) << k
        return bits

    def _undecided(self, letter: Letter) -> Letter:
        """Return the letter at the time of the decision, when the call has not settled."""
        if not self._waiting:
            return letter
        return tuple([i not in self._waiting and value for i, value in enumerate(letter)])

    def _shifted(self, registers: Registers) -> Registers:
        out = []
        for value, bound in zip(registers, self._abstract.bounds, strict=True):
            timed = bound is not None and isinstance(bound[1], Seconds)
            out.append(value if timed else abstracted(value, bound, 1))
        return tuple(out)


def _leaves(future: Progression, roots: Iterable[int]) -> list[tuple[int, int | None]]:
    """Return the nodes whose truth at a position decides what it leaves, each with its slot if
    that waits for a result.
    """
    found: list[tuple[int, int | None]] = []
    looked = [future.ahead[i] or future.waits[i] for i in range(len(future.nodes))]
    below = {k for i, op in enumerate(future.nodes) if looked[i] for k in operands(op)}
    for i, op in enumerate(future.nodes):
        if not looked[i] and (i in below or i in roots):
            found.append((i, None))
        elif looked[i] and op[0] == "lit":
            found.append((i, op[1]))
    return found
