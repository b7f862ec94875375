"""Remembers where the states of a finite clause lead: each step is computed once, for all sessions.

In: a state and a letter, or a result. Out: the state after it, as the monitor says. A clause is
finite if its state says nothing of positions and times. Calls in flight are told apart by
their rank among those that the state still waits for, the oldest first; `ClauseState.flying` has
their positions.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, NamedTuple

from sponsio_like.logic.formula import Const
from sponsio_like.monitor import (
    ClauseState,
    ClauseStep,
    Instance,
    Op,
    Program,
    State,
    TooManyBranches,
    branching,
    literals_of,
    renamed_trees,
    renumbered,
)

CAP = 4_096
"""Most steps that are remembered of one clause; with one more, all are forgotten, and computed anew
as they are asked for. Sessions have their states themselves, so nothing of them is lost.
"""
LARGE = 512
"""Most parts of a state that is remembered among all: what it owes, times the calls that this may
wait for, and the nodes of its trees. Larger ones seldom come again.
"""
LARGE_CAP = 4
"""Most steps of larger states that are remembered, until the next one."""
SIMPLE = frozenset(
    {"true", "false", "lit", "value", "cmp", "and", "or", "X", "WX", "U", "R", "Y", "WY", "S", "T"}
)
UNBOUNDED = frozenset({"F", "G", "O", "H"})
NOWHERE = -1
"""The rank of a call that a state does not wait for."""

Asked = Callable[[ClauseState, int], ClauseStep]
"""(the state with ranks for positions, the rank of the call) -> the step."""


class Learned(NamedTuple):
    """A step whose state has, in `flying`, the ranks of the calls that it waits for.

    `same`: the step leaves the state as it was.
    """

    step: ClauseStep
    same: bool


class Automaton:
    """The steps of one clause that have been asked for. Sessions share it.

    `cap`: how many are remembered; with one more, all are forgotten. States stay what they are.
    """

    def __init__(self, cap: int = CAP) -> None:
        self.cap = cap
        self._known: dict[Hashable, Learned] = {}
        self._by_parts: dict[Hashable, tuple[ClauseState, Learned]] = {}
        self._of_large: dict[Hashable, tuple[ClauseState, Learned]] = {}
        self._shared: dict[Any, Any] = {}

    def known(self, state: ClauseState, key: Hashable, at: int) -> ClauseStep | None:
        """Return what `step` does, if it is remembered."""
        outer, segment, closed, broken, left, flying = state
        parts = (id(outer), id(segment), closed, broken, id(left), len(flying), key)
        found = self._by_parts.get(parts) or self._of_large.get(parts)
        return None if found is None else _moved(state, found[1], (*flying, at))

    def step(self, state: ClauseState, key: Hashable, at: int, ask: Asked) -> ClauseStep:
        """Return the step of this state over the position `at`, which `key` tells from others."""
        return self._taken(state, key, (*state.flying, at), len(state.flying), ask)

    def settle(self, state: ClauseState, key: Hashable, at: int, ask: Asked) -> ClauseStep:
        """Return the step of this state by the result of the call at position `at`."""
        flying = state.flying
        return self._taken(state, key, flying, flying.index(at) if at in flying else NOWHERE, ask)

    def _taken(
        self, state: ClauseState, key: Hashable, calls: tuple[int, ...], rank: int, ask: Asked
    ) -> ClauseStep:
        outer, segment, closed, broken, left, _ = state
        parts = (id(outer), id(segment), closed, broken, id(left), rank, key)
        found = self._by_parts.get(parts) or self._of_large.get(parts)
        known = found[1] if found is not None else self._found(state, parts, calls, ask)
        return _moved(state, known, calls)

    def _found(
        self, state: ClauseState, parts: tuple[Any, ...], calls: tuple[int, ...], ask: Asked
    ) -> Learned:
        """Return the step of this state; from now on it is found by the identity of its parts."""
        rank, key = parts[-2:]
        large = has_many_parts(state)
        name = (state[:5], rank, key)
        known = None if large else self._known.get(name)
        if known is None:
            try:
                known = _learned(state, rank, ask)
            except TooManyBranches as error:
                raise TooManyBranches(calls[error.position]) from None
            known = known if large else self._remembered(name, known)
        table, cap = (self._of_large, LARGE_CAP) if large else (self._by_parts, self.cap)
        if len(table) >= cap:
            table.clear()
        table[parts] = (state, known)  # what is kept keeps its identity
        return known

    def _remembered(self, name: Hashable, known: Learned) -> Learned:
        """Return the step, which is remembered by its name."""
        known = self._sharing(known)
        if len(self._known) >= self.cap:
            self._known.clear()
            self._shared.clear()
        self._known[name] = known
        return known

    def _sharing(self, known: Learned) -> Learned:
        """Return the step with parts that equal states share, so that they are found quickly."""
        state, one = known.step.state, self._shared.setdefault
        inner, left = state.segment, state.left_open
        parts = one(state.outer, state.outer), inner and one(inner, inner), one(left, left)
        after = state._replace(outer=parts[0], segment=parts[1], left_open=parts[2])
        return known._replace(step=known.step._replace(state=after))


def _moved(state: ClauseState, known: Learned, calls: tuple[int, ...]) -> ClauseStep:
    """Return the step of this state, with the positions of these calls for their ranks."""
    (after, violated), same = known
    if same:
        return ClauseStep(state, violated)
    if not after.flying:
        return known.step
    flying = tuple([calls[k] for k in after.flying])
    return ClauseStep(ClauseState(*after[:5], flying), violated)


def _learned(state: ClauseState, rank: int, ask: Asked) -> Learned:
    before = state._replace(flying=())
    after, violated = ask(before, rank)
    mine = in_flight(after)
    ranked = renamed_state(after, {k: n for n, k in enumerate(mine)})
    same = ranked == before and mine == tuple(range(len(state.flying)))
    return Learned(ClauseStep(ranked._replace(flying=mine), violated), same)


def is_finite(program: Program, *, counts: bool) -> bool:
    """True if what is remembered of the program says nothing of positions and times.

    `counts`: counts without a bound in steps or seconds are allowed.
    """
    atoms = all(slot.kind == "atom" or isinstance(slot.node, Const) for slot in program.slots)
    return atoms and all(is_simple(op, counts=counts) for op in program.nodes)


def is_simple(op: Op, *, counts: bool) -> bool:
    """Return True if what is remembered of this node says nothing of positions and times."""
    if op[0] == "count":
        return counts and op[3] is None
    return op[0] in SIMPLE or (op[0] in UNBOUNDED and op[2] is None)


def has_many_parts(state: ClauseState) -> bool:
    """True if a state has so many parts that it is not remembered for long."""
    outer, segment, _, _, left, flying = state
    owed, trees = len(outer.live) + len(left), outer.branches
    if segment is not None:
        owed, trees = owed + len(segment.live), (*trees, *segment.branches)
    return owed * len(flying) + sum(map(len, trees)) > LARGE


def in_flight(state: ClauseState) -> tuple[int, ...]:
    """Return the calls that a state waits for, in order."""
    found: set[int] = set()
    parts = [part for part in (state.outer, state.segment) if part is not None]
    for part in parts:
        found.update(branching(part.branches))
    for live in (*[part.live for part in parts], state.left_open):
        found.update(each[1] for one in live for each in literals_of(one) if each[0] == "D")
    return tuple(sorted(found))


def renamed_state(state: ClauseState, names: Mapping[int, int]) -> ClauseState:
    """Return the state with other numbers for the calls that it waits for."""
    if all(old == new for old, new in names.items()):
        return state
    inner = state.segment
    return state._replace(
        outer=_renamed(state.outer, names),
        segment=None if inner is None else _renamed(inner, names),
        left_open=_instances(state.left_open, names),
    )


def _renamed(state: State, names: Mapping[int, int]) -> State:
    return state._replace(
        live=_instances(state.live, names), branches=renamed_trees(state.branches, names)
    )


def _instances(live: frozenset[Instance], names: Mapping[int, int]) -> frozenset[Instance]:
    return frozenset(renumbered(each, names) for each in live)


def ranked(state: ClauseState) -> ClauseState:
    """Return the state with ranks for positions, if it was read with positions."""
    calls: Any = in_flight(state)
    if state.flying or not calls:
        return state
    names = {at: k for k, at in enumerate(calls)}
    return renamed_state(state, names)._replace(flying=calls)
