"""Answers the questions that the search asks of a clause: goals, relevant slots, equal states.

In: a clause, its state, the letter of the refused event. Out: the goals that are not reached yet,
the slots that bear on them, and a key that is equal for states with an equal future.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, TypeVar, cast

from sponsio_like.engine import Clause
from sponsio_like.events import inputs_of
from sponsio_like.logic.formula import (
    TRUE,
    Const,
    Custom,
    Denied,
    Happens,
    MessageBy,
    Node,
    Observed,
    Steps,
    postorder,
)
from sponsio_like.monitor import (
    OTHER,
    ClauseState,
    Letter,
    PositionCounts,
    Program,
    key_after,
    operands,
    positions_until,
    stateless,
    static,
    unchanged_by,
)

WHOLE = -1
"""The goal of a clause that has no parts: that it no longer refuses."""


# --- clauses, once and for all ----------------------------------------------------------------

T = TypeVar("T")


def asked_once(ask: Callable[[Clause], T]) -> Callable[[Clause], T]:
    """Return the same question, asked once of each clause, whose answer is remembered there."""

    @functools.wraps(ask)
    def asked(clause: Clause) -> T:
        if ask not in clause.asked:
            clause.asked[ask] = ask(clause)
        return cast("T", clause.asked[ask])

    return asked


@asked_once
def memoryless(clause: Clause) -> bool:
    """True if earlier positions cannot change what the clause says of an event."""
    lasting = clause.monitor.rest or clause.kind_of_scope is not None
    return not lasting and all(map(stateless, _programs(clause)))


@asked_once
def by_context(clause: Clause) -> bool:
    """True if a fact, used tokens, or a refusal may change it."""
    return any(_of_context(slot.node) for slot in clause.slots)


def _of_context(node: Node) -> bool:
    return any(
        isinstance(each, Denied) or inputs_of(each) & {"facts", "usage"} for each in postorder(node)
    )


@asked_once
def by_steps(clause: Clause) -> bool:
    """True if the clause counts steps, so that any position may change it."""
    ops = [op for program in _programs(clause) for op in program.nodes]
    return any(
        op[0] in ("since", "repeats") or any(isinstance(each, Steps) for each in op) for op in ops
    )


@asked_once
def by_others(clause: Clause) -> bool:
    """True if a call that no clause mentions may change it."""
    quiet = static(clause.slots, OTHER)
    return by_steps(clause) or not all(
        unchanged_by(program, quiet)
        and not any(map(program.looks_ahead, range(len(program.nodes))))
        for program in _programs(clause)
    )


@asked_once
def enumerable(clause: Clause) -> bool:
    """True if all events that the clause tells apart can be tried."""
    nodes = [slot.node for slot in clause.slots]
    globs = [m for n in nodes if isinstance(n, Happens) for m in n.target if m.globs]
    return len(globs) <= 1 and all(map(_enumerable, nodes))


def _enumerable(node: Node) -> bool:
    if isinstance(node, Happens):
        return not any(match.conditions or match.agent for match in node.target)
    return isinstance(node, Const | MessageBy | Observed) or node is Custom("confirms")


def _programs(clause: Clause) -> tuple[Program, Program]:
    return clause.monitor.program, clause.scope_monitor.program


# --- goals ------------------------------------------------------------------------------------


def goals(
    clause: Clause, state: ClauseState, letter: Letter, at: PositionCounts, time: float
) -> frozenset[int]:
    """Return the parts of the guarantee that do not hold at a position with this letter.

    Each is the number of a node; all of them have to hold for the clause to let the event pass.
    `WHOLE` alone, if it has no such parts.
    """
    inner = state.segment
    if inner is None or clause.kind_of_scope is not None or not clause.monitor.plain:
        return frozenset({WHOLE})
    values = clause.monitor.past.read(letter, inner.registers, at.counted, time)
    roots = [root for parts in clause.monitor.always for root in parts if not values[root]]
    found = frozenset(part for root in roots for part in _parts(clause, values, root))
    return found or frozenset({WHOLE})


def _parts(clause: Clause, values: list[Any], root: int) -> Iterator[int]:
    """Yield the conjuncts of a node that do not hold; for a choice, its only open part."""
    program, settled, stack = clause.monitor.program, _settled(clause), [root]
    while stack:
        i = stack.pop()
        op = program.nodes[i]
        below = [k for k in operands(op) if not values[k]]
        if op[0] == "or":
            below = [k for k in below if k not in settled]
        if values[i]:
            continue
        if op[0] == "and" or (op[0] == "or" and len(below) == 1):
            stack.extend(below)
        else:
            yield i


@asked_once
def _settled(clause: Clause) -> frozenset[int]:
    """Return the nodes that the event itself settles, whatever comes before it."""
    program = clause.monitor.program
    read = {i for i, slot in enumerate(program.slots) if _of_context(slot.node)}
    return frozenset(
        i
        for i, op in enumerate(program.nodes)
        if op[0] in ("true", "false") or (op[0] == "lit" and op[1] not in read)
    )


def conjunctive(clause: Clause) -> bool:
    """True if every goal has to be reached: there is no assumption that could cease to hold."""
    return clause.contract.assumption in (None, TRUE)


def slots_under(clause: Clause, goal: int) -> frozenset[int]:
    """Return the slots that a goal depends on."""
    program, slots = clause.monitor.program, clause.slots
    if goal == WHOLE:
        return frozenset(i for i, slot in enumerate(slots) if not isinstance(slot.node, Const))
    found, stack = set(), [goal]
    while stack:
        op = program.nodes[stack.pop()]
        stack.extend(operands(op))
        if op[0] in ("lit", "value", "sum", "repeats"):
            found.add(op[1])
    return frozenset(i for i in found if not isinstance(slots[i].node, Const))


def calls_until(
    clause: Clause, state: ClauseState, letter: Letter, last: int, goal: int | None = None
) -> float:
    """Return a number of positions before which the clause refuses an event with this letter.

    Infinite if it always will; 0 where that is not known. `last`: the last position that it counts;
    `goal`: only positions are meant that do not bear on this goal.
    """
    told = clause.by or clause.kind_of_scope is not None or clause.contract.on_world
    if told or state.segment is None or not conjunctive(clause) or by_context(clause):
        return 0
    without = frozenset() if goal is None else slots_under(clause, goal)
    return positions_until(clause.monitor, state.segment, letter, last, without)


# --- states -----------------------------------------------------------------------------------


def waits_for_results(state: ClauseState) -> bool:
    """True if the state has branches for the results of calls in flight."""
    return any(one is not None and one.branches for one in (state.outer, state.segment))


def key_of_state(clause: Clause, state: ClauseState, last: PositionCounts) -> Any:
    """Return a key that is equal for two states that cannot be told apart from now on."""
    rest, inner = state._replace(outer=clause.scope_monitor.start, segment=None), state.segment
    within = inner and key_after(clause.monitor, inner, last.counted)
    return rest, key_after(clause.scope_monitor, state.outer, last.seen), within
