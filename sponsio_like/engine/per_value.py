"""Steps a clause with value variables over one position, result or deadline.

In: what it has read, and what it remembers of each value. Out: the next state of the values that
the position binds, and of all others; a position changes nothing until `commit`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from sponsio_like.engine.clause import Clause
from sponsio_like.events import OPEN, Event, Kind, kind_of
from sponsio_like.monitor import (
    NEVER,
    RELATED_CAP,
    SKIPPED_CAP,
    STATES_CAP,
    VALUES_CAP,
    BoundLetters,
    Change,
    ClauseState,
    ClauseStep,
    Crowd,
    Instance,
    Key,
    Now,
    PositionCounts,
    TextKeys,
    ValueStates,
    branching,
    never,
    only_permits,
    open_positions,
    static,
    times_due,
)

OTHERS: Final = "others"
"""The key of a change that concerns all values that the position does not bind."""
Moves = dict[ClauseState, ClauseState]
LASTING = frozenset({"G", "R", "U", "WX"})
"""Operators that forbid something from one position on."""


class FinalValues(NamedTuple):
    """The final values that a result gives, where each stored value has to be asked for its own."""

    others: dict[int, Any]
    of: Callable[[Key], dict[int, Any]]


class Tracked(NamedTuple):
    """The changes of a position. `binding`: the first values that it violates.

    `full`: there is no room to remember what must not be forgotten.
    """

    changes: tuple[Change, ...]
    violated: bool
    binding: Key | None
    full: bool


def instances(clause: Clause) -> ValueStates:
    """Return what the clause remembers before the first position."""
    assert clause.bindings is not None
    bits = all(isinstance(cell.start, bool) for cell in clause.monitor.past.cells)
    permits = only_permits if bits and clause.is_plain else never
    cap = RELATED_CAP if clause.bindings.relates or _is_tied(clause) else VALUES_CAP
    return ValueStates(
        clause.start, cap, permits, cap if _is_calm(clause) else _most_states(clause)
    )


def _is_tied(clause: Clause) -> bool:
    """True if it makes a difference, before a call has its result, which values it may be about."""
    return clause.bindings is not None and bool(clause.bindings.parts) and not clause.monitor.plain


def _is_calm(clause: Clause) -> bool:
    """True if no call changes the state of values that it does not bind."""
    assert clause.bindings is not None
    plain = clause.ignores_others and not clause.globs and clause.kinds == {"call"}
    return plain and all(map(clause.keeps_registers, _letters_of_others(clause)))


def _most_states(clause: Clause) -> int:
    """Return how many states there may be: more if no call has to step those that it skips."""
    skips = not clause.globs and all(map(clause.skips, _letters_of_others(clause)))
    return SKIPPED_CAP if skips else STATES_CAP


def _letters_of_others(clause: Clause) -> Iterator[Sequence[bool | None]]:
    """Yield, for each tool, what is known of the letter of values that a call does not bind."""
    assert clause.bindings is not None
    for name in clause.names:
        yield clause.bindings.told(static(clause.slots, name))


def tracked(
    i: int,
    clause: Clause,
    store: ValueStates,
    reading: BoundLetters,
    event: Event,
    at: PositionCounts,
    time: float,
) -> Tracked:
    """Return what becomes of clause `i` at this position. Raises what its monitor raises."""
    if isinstance(reading.keys, TextKeys):
        place = (kind_of(event), at, time)
        whole = _by_text(i, clause, store, reading, reading.keys, place)
        if whole is not None:
            return whole
    return _one_by_one(i, clause, store, reading, event, at, time)


def _one_by_one(
    i: int,
    clause: Clause,
    store: ValueStates,
    reading: BoundLetters,
    event: Event,
    at: PositionCounts,
    time: float,
) -> Tracked:
    """Return what becomes of each value that the position binds, and of all others."""
    kind = kind_of(event)
    changes: list[Change] = []
    bad: list[Key | None] = []
    letters, crowd = _as_crowd(store, reading, _letters(clause, store, reading))
    moves = {} if reading.rests else _moved(clause, store, reading, letters, (kind, at, time), bad)
    if not reading.rests:
        changes.append(Change(i, OTHERS, at, moves, reading.others, reading.given))
    rest = moves.get(store.rest.state, store.rest.state)._replace(violated=False)
    steps: dict[tuple[int, int], tuple[ClauseStep, bool, bool]] = {}
    ways: set[tuple[int, int]] = set()
    mine, new = list[Key](), 0
    for key, letter in letters.items():
        state, known = store.state(key), store.knows(key)
        name = (id(state), id(letter))  # values of one state and one letter take one step
        if name not in steps:
            step = clause.step(state, letter, kind, at, time)
            stays = reading.rests and step.state == state and OPEN not in letter
            steps[name] = step, step.state._replace(violated=False) != rest, stays
        seen, apart, stays = steps[name]
        whose = crowd if crowd and key == crowd.keys[0] else key
        if apart and not known:
            new += len(whose.keys) if isinstance(whose, Crowd) else 1
            ways.add(name)
        if seen.violated:
            (mine if key in reading.keys else bad).append(key)
        if (known and not stays) or (apart and not known) or seen.violated or OPEN in letter:
            changes.append(Change(i, whose, at, seen.state, letter, reading.given))
    bad = [*mine, *bad, *([None] if _is_vague(clause, store, reading) else [])]
    blind = store.blind and not _all_known(clause, store, reading) and _can_break(clause, event)
    started = {steps[name][0].state._replace(violated=False) for name in ways}
    full = blind or not _has_room(store, reading.rests, letters, new, moves, started)
    return Tracked(tuple(changes), bool(bad), bad[0] if bad else None, full)


def _by_text(
    i: int,
    clause: Clause,
    store: ValueStates,
    reading: BoundLetters,
    keys: TextKeys,
    place: tuple[Kind, PositionCounts, float],
) -> Tracked | None:
    """Return the changes by a text that is remembered whole; None if it cannot be.

    Of values that have a state of their own, those are looked up that it would change.
    """
    if not reading.rests or store.blind or OPEN in keys.letter:
        return None
    steps = {state: clause.step(state, keys.letter, *place) for state in store.states()}
    if any(step.violated for step in steps.values()):
        return None
    rest, at = store.rest.state, place[1]
    after = steps[rest].state
    changes = [
        Change(i, key, at, steps[state].state, keys.letter, reading.given)
        for key, state in _changed(store, steps, keys)
    ]
    if after != rest:
        changes.insert(0, Change(i, keys, at, after, keys.letter, reading.given))
    new = keys.words.size if after != rest else 0
    full = not store.has_room(new, store.cells, {after}.difference(store.cells))
    return Tracked(tuple(changes), False, None, full)


def _changed(
    store: ValueStates, steps: Mapping[ClauseState, ClauseStep], keys: TextKeys
) -> list[tuple[Key, ClauseState]]:
    """Return the values with a state of their own that stand in a text, and that it changes."""
    rest = store.rest.state
    stay = all(step.state == state for state, step in steps.items() if state != rest)
    if stay and not store.rest.keys:
        return []
    each = [(key, store.state(key)) for key in store.standing_in(keys)]
    return [(key, state) for key, state in each if steps[state].state != state]


def _moved(
    clause: Clause,
    store: ValueStates,
    reading: BoundLetters,
    but: Collection[Key],
    place: tuple[Kind, PositionCounts, float],
    bad: list[Key | None],
) -> Moves:
    """Return what becomes of the states of all other values; add to `bad` whom that violates.

    States that do not have to see the position are left out.
    """
    moves: Moves = {}
    kind, at, _ = place
    woken_by = at.seen if kind == "call" and clause.skips(reading.others) else None
    for state in store.states(but, woken_by=woken_by):
        seen = clause.step(state, reading.others, *place)
        moves[state] = seen.state
        if seen.violated:
            bad.append(store.example(state, but))
    return moves


def _as_crowd(
    store: ValueStates, reading: BoundLetters, letters: Mapping[Key, Any]
) -> tuple[Mapping[Key, Any], Crowd | None]:
    """Return the letters with one value in the place of all that are alike, and these.

    They are alike if nothing is known of any, all have one letter, and no result is awaited.
    """
    if len(letters) <= 1 or letters is not reading.keys:
        return letters, None
    letter = next(iter(letters.values()))
    if OPEN in letter or len(set(map(id, letters.values()))) > 1:
        return letters, None
    known = dict.fromkeys([key for key in letters if store.knows(key)], letter)
    new = [key for key in letters if key not in known] if known else list(letters)
    return (letters, None) if len(new) <= 1 else ({**known, new[0]: letter}, Crowd(new))


def _has_room(
    store: ValueStates,
    rests: bool,
    but: Collection[Key],
    new: int,
    moves: Moves,
    started: set[ClauseState],
) -> bool:
    """True if `new` values can be stored, in these states beside those that others move to.

    `rests`: they stay where they are; `but`: values that are no others.
    """
    states: Collection[ClauseState] = store.cells
    if not rests and len(states) + len(started) > store.most_states:
        states = {moves.get(state, state) for state in store.states(but)}
    return store.has_room(new, states, started.difference(states))


def _is_vague(clause: Clause, store: ValueStates, reading: BoundLetters) -> bool:
    """True if the event is compared with a value that the result of a call in flight may bind.

    For a clause that only speaks of the past, such a call has not happened yet.
    """
    bindings, inner = clause.bindings, store.rest.state.segment
    if bindings is None or inner is None or clause.monitor.plain or not bindings.compares(reading):
        return False
    joint = (residual for each in inner.live for residual in each)
    flying = (open_positions(joint), branching(inner.branches))
    slots = (each for calls in flying for found in calls.values() for each in found)
    return not bindings.revealing.isdisjoint(slots)


def _letters(clause: Clause, store: ValueStates, reading: BoundLetters) -> Mapping[Key, Any]:
    """Return the letter of each value whose letter may differ from that of all others."""
    bindings = clause.bindings
    assert bindings is not None
    if not (bindings.relates or (reading.given and _is_tied(clause))):
        return reading.keys
    each = {key: bindings.letter(reading.others, reading.seen, key) for key in store.keys}
    return {
        **{k: letter for k, letter in each.items() if letter != reading.others},
        **reading.keys,
    }


def _all_known(clause: Clause, store: ValueStates, reading: BoundLetters) -> bool:
    told = clause.bindings is not None and not clause.bindings.relates
    return told and reading.rests and all(map(store.knows, reading.keys))


def _can_break(clause: Clause, event: Event) -> bool:
    """True if such an event can violate the guarantee, or something that holds from then on."""
    lasting = not clause.monitor.plain and any(
        op[0] in LASTING for op in clause.monitor.program.nodes
    )
    return lasting or clause.can_break(event)


def stored(store: ValueStates, change: Change, call: int) -> None:
    """Commit one change, at this call."""
    if change.key == OTHERS:
        store.move(change.state, call)
    else:
        _put(store, change.key, change.state, call)


def _put(store: ValueStates, keys: Key | Crowd | TextKeys, state: ClauseState, call: int) -> None:
    if isinstance(keys, Crowd):
        store.put_all(keys.keys, state, call)
    elif isinstance(keys, TextKeys):
        store.put_text(keys, state, call)
    else:
        store.put(keys, state, call)


def settle_values(
    clause: Clause,
    store: ValueStates,
    results: Sequence[tuple[Change, Any]],
    place: tuple[PositionCounts, Now, int],
) -> tuple[bool, Key | None]:
    """Settle a call; return True if its result reveals a violation, and for which values.

    `place`: the last position, now, and the last call.
    """
    last, now, call = place
    assert clause.bindings is not None
    apart, crowds = _apart(store, results, clause.bindings.nobody)
    others = [(change, final) for change, final in results if change.key == OTHERS]
    bad: list[Key | None] = []
    for change, final in others:
        if isinstance(final, FinalValues):
            each = {key: final.of(key) for key in store.keys if key not in apart}
            told = {key: one for key, one in each.items() if one != final.others}
            apart |= {key: (change._replace(key=key), one) for key, one in told.items()}
    known: dict[
        Any, tuple[ClauseStep, ClauseState]
    ] = {}  # by identity of states, which are kept alive here
    after: dict[Key, ClauseState] = {}
    for key, (change, final) in apart.items():
        state = store.state(key)
        decided = tuple((i, id(value)) for i, value in final.items())
        name = (id(state), id(change.letter), decided)
        if name not in known:
            known[name] = (clause.settle(state, change, final, last, now), state)
        after[key] = known[name][0].state
        bad += [key] if known[name][0].violated else []
    for change, final in others:
        moves: Moves = {}
        for state in store.states(apart):
            late = final.others if isinstance(final, FinalValues) else final
            seen = clause.settle(state, change, late, last, now)
            moves[state] = seen.state
            bad += [store.example(state, apart)] if seen.violated else []
        store.move(moves, call)
    for key, state in after.items():
        _put(store, crowds.get(key, key), state, call)
    return bool(bad), bad[0] if bad else None


def _apart(
    store: ValueStates, results: Sequence[tuple[Change, Any]], nobody: Key
) -> tuple[dict[Key, tuple[Change, Any]], dict[Key, Crowd | TextKeys]]:
    """Return what is settled for single values, one of each crowd among them; and these crowds.

    `nobody`: the key that stands for the values of a text.
    """
    many = Crowd | TextKeys
    alone = {change.key for change, _ in results if not isinstance(change.key, many)}
    apart: dict[Key, tuple[Change, Any]] = {}
    crowds: dict[Key, Crowd | TextKeys] = {}
    for change, final in results:
        if not isinstance(change.key, many):
            apart |= {} if change.key == OTHERS else {change.key: (change, final)}
            continue
        if isinstance(change.key, TextKeys):
            for key in store.standing_in(change.key):
                apart |= {} if key in alone else {key: (change._replace(key=key), final)}
            apart[nobody], crowds[nobody] = (change._replace(key=nobody), final), change.key
            continue
        keys = change.key.keys
        known = dict.fromkeys([key for key in keys if store.knows(key)])
        new = [key for key in keys if key not in known] if known else keys
        for key in (*known, *new[:1]):
            apart[key] = (change._replace(key=key), final)
        if new:
            crowds[new[0]] = Crowd(new)
    return apart, crowds


def expired(
    clause: Clause, store: ValueStates, last: PositionCounts, now: Now, call: int
) -> list[Key | None]:
    """Step every state to this time; return the values whose deadlines were violated."""
    moves, bad = dict[ClauseState, ClauseState](), list[Key | None]()
    for state in store.overdue(now.time):
        seen = clause.expire(state, last, now)
        moves[state] = seen.state
        if seen.violated:
            bad.append(store.example(state))
    store.move(moves, call)
    return bad


def wakes_at(clause: Clause, store: ValueStates, last: PositionCounts, time: float) -> int:
    """Return the next position that some value has to see, whatever the tool; `NEVER` if none."""
    if clause.ignores_others:
        return NEVER
    return store.wakes_at(last.seen, lambda state: clause.wakes_at(state, last, time))


def due_at(store: ValueStates) -> float:
    """Return when the first bound in seconds of any value runs out; infinity if there is none."""
    return store.due_at(lambda state: min(times_due(live_in(state)), default=math.inf))


def live_in(state: ClauseState) -> frozenset[Instance]:
    """Return the instances of the open segment that still owe something."""
    return state.segment.live if state.segment is not None else frozenset()
