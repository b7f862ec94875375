"""Clauses that owe things within steps: what each letter meets and adds is found out once.

In: a clause, and letters. Out: its state after a position, as the readable monitor says, and the
position that it has to see next. Only for `has_deadlines`: whatever it owes, one call that it
speaks of meets all of it, so that nothing is violated before the first bound runs out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from sponsio_like.engine.clause import Clause
from sponsio_like.engine.fastpath.letter import of_answer
from sponsio_like.engine.ledger import Ledger
from sponsio_like.logic.formula import Steps
from sponsio_like.monitor import (
    FUTURE,
    NEVER,
    NO,
    YES,
    Instance,
    Letter,
    Position,
    conjunction,
    literals_of,
    one,
    owing,
    unconcerned_letter,
)

FEW = 8
"""Most instances that are grouped only when something asks."""
TURNS_CAP = 256
"""Most letters of one clause of which it is remembered what they do."""


class LetterEffect(NamedTuple):
    """The effect of a position on what is owed.

    `met`: the nodes that hold there; `added`: what is owed since, as (node, steps).
    """

    met: frozenset[int]
    added: tuple[tuple[int, int], ...]


NOTHING = LetterEffect(frozenset(), ())
UNKNOWN: Any = object()


class Deadlines:
    """The turns of one clause that were looked up so far. Shared by all sessions."""

    def __init__(self, number: int, clause: Clause) -> None:
        self._number, self._clause = number, clause
        self._owed = frozenset(bodies(clause))
        self._known: dict[Letter, LetterEffect | None] = {}

    def turn(self, letter: Letter) -> LetterEffect | None:
        """Return what a position with this letter does; None if the monitor has to judge it."""
        known = self._known.get(letter, UNKNOWN)
        if known is not UNKNOWN:
            return known  # type: ignore[no-any-return]
        if len(self._known) >= TURNS_CAP:
            self._known.clear()
        found = self._known[letter] = self._read(letter)
        return found

    def _read(self, letter: Letter) -> LetterEffect | None:
        monitor = self._clause.monitor
        at = Position(letter, monitor.past.read(letter, (), 0, 0.0), 0, 0.0)
        said = {node: monitor.future.owed(node, at) for node in self._owed}
        owed = [
            conjunction(monitor.future.owed(root, at) for root in roots) for roots in monitor.always
        ]
        added = [_deadline(each) for each in owed if each]
        if None in added or not {YES, NO}.issuperset(said.values()):
            return None
        met = frozenset([node for node, residual in said.items() if residual == YES])
        return LetterEffect(met, tuple([each for each in added if each is not None]))

    def passes(self, ledger: Ledger, at: int, done: Letter, failed: Letter) -> bool:
        """True if a call at this position, which has one of these letters with its result, violates
        nothing, and `take` knows what it does.

        That is so if nothing is owed, or only bounds that run out later. INVARIANT: a clause that
        also waits for the result of a call in flight wakes at the next position, or never.
        """
        turns = self.turn(done), self.turn(failed)
        if None in turns:
            return False
        inner = ledger.states[self._number].segment
        if inner is None or inner.lost:
            return False
        return not inner.live or at < ledger.wakes.get(self._number, NEVER) < NEVER

    def take(self, ledger: Ledger, at: int, letter: Letter) -> None:
        """Write the state after this position into the ledger."""
        turn, i = self.turn(letter), self._number
        state = ledger.states[i]
        inner = state.segment
        if turn is None or inner is None:
            raise AssertionError(letter)
        met, added = turn
        kept, wake = inner.live, ledger.wakes.get(i, NEVER)
        if met and kept:
            few = () if met == self._owed else [each for each in kept if _node(each) not in met]
            kept, wake = frozenset(few), min(map(_due, few), default=NEVER)
        if added:
            dues = [(node, at + steps) for node, steps in added]
            kept |= {frozenset({one(("F", *each))}) for each in dues}
            wake = min(wake, *[due for _, due in dues])
        if len(kept) > FEW:
            owing(kept, inner.live)  # what is owed is grouped from what was owed before
        if kept is not inner.live:
            ledger.states[i] = state._replace(segment=inner._replace(live=kept))
            ledger.set_wake(i, wake)


def _deadline(instance: Instance) -> tuple[int, int] | None:
    """Return the node and the bound of an instance that is one `F` with a bound in steps."""
    literals = literals_of(instance)
    if len(instance) != 1 or len(literals) != 1:
        return None
    ((kind, node, due, *_),) = [(*literal, 0) for literal in literals]
    return (node, due) if kind == "F" and instance == {one(("F", node, due))} else None


def _literal(instance: Instance) -> tuple[str, int, int]:
    ((((kind, node, due),),),) = instance
    return kind, node, due


def _node(instance: Instance) -> int:
    return _literal(instance)[1]


def _due(instance: Instance) -> int:
    return _literal(instance)[2]


def bodies(clause: Clause) -> Iterator[int]:
    """Yield the nodes that the clause may owe within steps."""
    return (op[1] for op in clause.monitor.program.nodes if op[0] == "F")


def has_deadlines(clause: Clause) -> bool:
    """True if all that the clause remembers is what it owes within steps, and if one call meets all
    of that. It is asked once.
    """
    if has_deadlines not in clause.asked:
        clause.asked[has_deadlines] = _has_deadlines(clause)
    return bool(clause.asked[has_deadlines])


def _has_deadlines(clause: Clause) -> bool:
    monitor, contract = clause.monitor, clause.contract
    if clause.by or clause.kind_of_scope or contract.assumption is not None or monitor.plain:
        return False
    if monitor.rest or monitor.past.cells or clause.automaton is not None or clause.sees_all:
        return False
    atoms = all(slot.kind == "atom" and not of_answer(slot) for slot in clause.slots)
    calls = clause.kinds == clause.counts == {"call"}
    return atoms and calls and _owes_steps(clause) and _rests_and_ends(clause)


def _owes_steps(clause: Clause) -> bool:
    """True if each of its parts owes one `F[<=n]` of what is then, maybe below `X`, and no more.

    So all that one position owes is one literal.
    """
    program, order = clause.monitor.program, clause.monitor.future.order
    for roots in clause.monitor.always:
        parts = {i for root in roots for i in order(root)}
        parts |= {program.nodes[i][1] for i in parts if program.nodes[i][0] == "X"}
        if sum(program.nodes[i][0] == "F" for i in parts) > 1:
            return False
    for op in program.nodes:
        if op[0] not in FUTURE:
            continue
        below = program.nodes[op[1]]
        within = op[0] == "F" and isinstance(op[2], Steps) and not program.looks_ahead(op[1])
        later = op[0] == "X" and below[0] == "F"
        if not (within or later):
            return False
    return True


def _rests_and_ends(clause: Clause) -> bool:
    """True if other calls leave it as it is, and one call that it speaks of meets all it owes."""
    owed = frozenset(one(("F", node, 1)) for node in bodies(clause))
    soon = clause.monitor.search.distance("satisfy", owed, (), 0, more=True) == 1
    return soon and Deadlines(-1, clause).turn(unconcerned_letter(clause.slots)) == NOTHING
