"""Steps of the search, remembered: what one more position makes of each thing that is owed.

In: a place and the number of a letter. Out: the place one position later. A residual reads few
truths of a position, so it is progressed once for each combination of these, and not for each
letter; and what was computed for one place holds wherever the same is owed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias

from sponsio_like.events import LATE
from sponsio_like.monitor.letter_values import LetterValues
from sponsio_like.monitor.past import Letter, Registers, Values
from sponsio_like.monitor.program import operands
from sponsio_like.monitor.progression import Position, Progression
from sponsio_like.monitor.residual import (
    NO,
    YES,
    Residual,
    entails,
    holds_at_end,
    literals_of,
    one,
    shifted,
)

Goal: TypeAlias = Literal["satisfy", "violate"]
"""`satisfy`: look for a continuation that satisfies. `violate`: for one that violates."""

STEPS_CAP = 20_000
"""Most steps of single residuals, conjunctions and positions that are remembered."""
NODES_FREE = 50
"""A transition costs one more for each so many nodes of the formula."""
PARTS_FREE = 16
"""A transition costs one more for each so many comparisons of alternatives."""
LITERALS_FREE = 4
"""A transition costs one more for each so many literals."""


@dataclass(eq=False, slots=True)
class Obligation:
    """One residual that is owed in the search; equal residuals are one obligation.

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
    after: dict[int, Obligation] = field(default_factory=dict)
    weaker: dict[Obligation, bool] = field(default_factory=dict)

    def implies(self, other: Obligation) -> bool:
        """True if each alternative of this part is covered by one of the other."""
        found = self.weaker.get(other)
        if found is None:
            found = self.weaker[other] = entails(self.residual, other.residual)
        return found


@dataclass(eq=False, slots=True)
class ObligationSet:
    """All that is owed at a place; places that owe the same share one set.

    `met`: the goal is reached if no position follows; `trouble`: the cost of a transition to it;
    `after`: the sets one position later, by the truths that are shown, without and with
    what that position owes for itself.
    """

    parts: frozenset[Obligation]
    met: bool
    trouble: int
    after: tuple[dict[int, ObligationSet], dict[int, ObligationSet]] = field(
        default_factory=lambda: ({}, {})
    )
    known: dict[Obligation, bool] = field(default_factory=dict)

    def implies(self, other: ObligationSet) -> bool:
        """True if each part of the other is implied by a part of this one."""
        known = self.known
        for part in other.parts:
            found = known.get(part)
            if found is None:
                found = known[part] = part in self.parts or _is_implied(part, self.parts)
            if not found:
                return False
        return True


Place: TypeAlias = tuple[ObligationSet, Registers]


class Observation(NamedTuple):
    """The truths that a position shows.

    `bits`: those that residuals read; `number`, `letter`: a letter that shows them; `seen`: the
    values of nodes; `known`: what each node owes where these bits are shown; `after`: the registers
    behind it.
    """

    bits: int
    number: int
    letter: Letter
    seen: Values
    known: dict[int, Residual]
    after: Registers


class Successors:
    """The steps of one goal over one program, for all places.

    `always`: the roots owed at every position; `rest`: those owed at the first;
    `values` reads letters; `letters`: what a position may be.
    """

    def __init__(
        self,
        goal: Goal,
        values: LetterValues,
        future: Progression,
        always: Sequence[Sequence[int]],
        rest: Sequence[int],
        letters: Callable[[], Sequence[Letter]],
    ) -> None:
        self.goal = goal
        self._letters = letters
        self._future = future
        self._roots = tuple(root for roots in always for root in roots)
        self._read = values
        self._base = 1 + len(future.nodes) // NODES_FREE
        self._leaves = _leaves(future, (*self._roots, *rest))
        varying = self._read.changing
        self._varying = [k for k, (i, _) in enumerate(self._leaves) if i in varying]
        self._fixed = [k for k, (i, _) in enumerate(self._leaves) if i not in varying]
        self._told: dict[int, int] = {}  # the bits of each letter that are the same everywhere
        self._reads: dict[int, int] = {}
        self._parts: dict[Residual, Obligation] = {}
        self._later: dict[Residual, Obligation] = {}
        self._joints: dict[frozenset[Obligation], ObligationSet] = {}
        self._shown: dict[tuple[int, Registers], Observation] = {}
        self._moves: dict[Registers, list[tuple[Observation, int]]] = {}
        self._known: dict[int, dict[int, Residual]] = {}
        self._fresh: dict[int, frozenset[Obligation]] = {}
        self._steps = 0
        self._no = self._part(NO)
        self._yes = self._part(YES)
        self.none = self._joint(frozenset({self._no}))

    # --- places -------------------------------------------------------------------------------

    def joint(self, residuals: Iterable[Residual]) -> ObligationSet:
        """Return what is owed, as parts."""
        if self._steps + len(self._joints) + len(self._shown) > STEPS_CAP:
            self._forget()
        return self._conjunction(frozenset([self._part(each) for each in residuals]))

    def following(self, place: Place, *, more: bool) -> Iterator[tuple[Place, int]]:
        """Yield the places one position later, each with the number of letters that lead there.

        `more`: that position owes `always` as well.
        """
        joint, registers = place
        known, none = joint.after[more], self.none
        for shown, count in self.moves(registers):
            reached = known.get(shown.bits) or self.owed_after(joint, shown, more)
            yield (reached, () if reached is none else shown.after), count

    def after(self, place: Place, k: int, *, more: bool) -> Place:
        """Return the place one position later, where that position is letter number `k`."""
        joint, registers = place
        shown = self._shown.get((k, registers)) or self._show(k, registers)
        reached = joint.after[more].get(shown.bits) or self.owed_after(joint, shown, more)
        return reached, () if reached is self.none else shown.after

    def apart(self, place: Place) -> Place:
        """Return the same place, with each literal of what has no alternatives as its own part."""
        parts = place[0].parts
        whole = [part for part in parts if len(part.residual) == 1 < part.literals]
        if not whole:
            return place
        literals = literals_of([part.residual for part in whole])
        each = [self._part(one(literal)) for literal in literals]
        return self._conjunction(parts.difference(whole).union(each)), place[1]

    def telling(self, registers: Registers, reads: int) -> list[int]:
        """Return the numbers of all letters; those that show one of these truths come first."""
        each = range(len(self._letters()))
        bits = [(self._shown.get((k, registers)) or self._show(k, registers)).bits for k in each]
        return sorted(each, key=lambda k: not bits[k] & reads)

    def registers(self, registers: Registers, letter: Letter) -> Registers:
        """Return the registers behind a position with this letter."""
        return self._read.after(letter, registers)

    # --- steps --------------------------------------------------------------------------------

    def owed_after(self, joint: ObligationSet, shown: Observation, more: bool) -> ObligationSet:
        """Return what is owed one position later, where that position shows this."""
        bits, parts = shown.bits, list[Obligation]()
        for part in joint.parts:
            found = part.after.get(bits & part.reads)
            parts.append(self._progressed(part, shown) if found is None else found)
        if more:
            fresh = self._fresh.get(bits)
            parts += self._owed_anew(shown) if fresh is None else fresh
        reached = self.none if self._no in parts else self._conjunction(frozenset(parts))
        joint.after[more][bits] = reached
        self._steps += 1
        return reached

    def _forget(self) -> None:
        """Begin anew; places that were made before are no longer equal to those made now."""
        known: tuple[dict[Any, Any], ...] = (self._joints, self._parts, self._shown, self._moves)
        for each in (*known, self._known, self._fresh, self._later):
            each.clear()
        self._parts.update({NO: self._no, YES: self._yes})
        self._joints[self.none.parts] = self.none
        self._steps = 0

    def _part(self, residual: Residual) -> Obligation:
        found = self._parts.get(residual)
        if found is None:
            literals = literals_of([residual])
            reads = nodes = 0
            for _, node, *_ in literals:
                reads |= self._read_by(node)
                nodes |= 1 << node
            due = min((each[2] for each in literals if each[0] == "F"), default=math.inf)
            many = sum(map(len, residual))
            made = Obligation(residual, reads, nodes, holds_at_end(residual), many, due)
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

    def _progressed(self, part: Obligation, shown: Observation) -> Obligation:
        progressed = self._future.progress(part.residual, self._at(shown), shown.known)
        found = self._later.get(progressed)
        if found is None:
            (moved,) = shifted([progressed], 1)
            found = self._later[progressed] = self._part(moved)
        part.after[shown.bits & part.reads] = found
        self._steps += 1
        return found

    def _at(self, shown: Observation) -> Position:
        return Position(shown.letter, shown.seen, 1, 0.0, self.goal)

    def _owed_anew(self, shown: Observation) -> frozenset[Obligation]:
        """Return what a position owes for itself."""
        at = self._at(shown)
        owed = [self._future.owed(root, at) for root in self._roots]
        found = self._conjunction(frozenset(map(self._part, shifted(owed, 1)))).parts
        self._fresh[shown.bits] = found
        return found

    def _conjunction(self, parts: frozenset[Obligation]) -> ObligationSet:
        found = self._joints.get(parts)
        if found is None:
            found = self._joints[parts] = self._joint(self._minimal(parts))
        return found

    def _joint(self, parts: frozenset[Obligation]) -> ObligationSet:
        found = self._joints.get(parts)
        if found is None:
            holds = all([part.holds for part in parts])
            alternatives = sum([len(part.residual) for part in parts])
            literals = sum([part.literals for part in parts])
            trouble = alternatives * alternatives // PARTS_FREE + literals // LITERALS_FREE
            met = holds is (self.goal == "satisfy")
            made = ObligationSet(parts, met, self._base + trouble)
            found = self._joints.setdefault(parts, made)
        return found

    def _minimal(self, parts: frozenset[Obligation]) -> frozenset[Obligation]:
        """Return the parts without those that another one implies."""
        if self._no in parts:
            return frozenset({self._no})
        once = shared = 0
        for part in parts:
            shared |= once & part.nodes
            once |= part.nodes
        if not shared:
            return parts - {self._yes}
        each = [part for part in parts if part is not self._yes]
        near = [part for part in each if part.nodes & shared]
        return frozenset(
            [part for part in each if not (part.nodes & shared and _is_implied(part, near))]
        )

    # --- positions ----------------------------------------------------------------------------

    def moves(self, registers: Registers) -> list[tuple[Observation, int]]:
        """Return what positions may show where these are the registers, each with the number of
        letters that show it.
        """
        return self._moves.get(registers) or self._move(registers)

    def _move(self, registers: Registers) -> list[tuple[Observation, int]]:
        counts: dict[tuple[int, Registers], int] = {}
        shown: dict[tuple[int, Registers], Observation] = {}
        for k in range(len(self._letters())):
            each = self._shown.get((k, registers)) or self._show(k, registers)
            key = each.bits, each.after
            shown.setdefault(key, each)
            counts[key] = counts.get(key, 0) + 1
        found = self._moves[registers] = [(shown[key], count) for key, count in counts.items()]
        return found

    def _show(self, k: int, registers: Registers) -> Observation:
        """Read letter number `k` once where these are the registers."""
        letter = self._letters()[k]
        seen, after = self._read.read(k, registers)
        bits = self._told.get(k)
        if bits is None:
            bits = self._told[k] = self._bits(letter, seen, self._fixed)
        bits |= self._bits(letter, seen, self._varying)
        known = self._known.setdefault(bits, {})
        found = self._shown[k, registers] = Observation(bits, k, letter, seen, known, after)
        return found

    def _bits(self, letter: Letter, seen: Values, numbers: Iterable[int]) -> int:
        """Return the truths of these numbers at a position, as bits."""
        bits = 0
        for k in numbers:
            i, slot = self._leaves[k]
            true = seen[i] if slot is None else letter[slot] is True or letter[slot] is LATE
            bits |= bool(true) << k
        return bits


def _is_implied(weak: Obligation, parts: Iterable[Obligation]) -> bool:
    """True if another one of these parts implies this one."""
    nodes = weak.nodes  # parts without a common node imply nothing
    for part in parts:  # noqa: SIM110  a generator would take twice the time
        if part.nodes & nodes and part is not weak and part.implies(weak):
            return True
    return False


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
