"""One position, as a clause with value variables sees it.

In: what it has read, and what it remembers of each value. Out: what becomes of the values that the
position binds, and of all others; nothing changes until `commit`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from sponsio_like.bindings import Sight
from sponsio_like.clause import Clause
from sponsio_like.events import Event, kind_of
from sponsio_like.instances import RELATED_CAP, VALUES_CAP, Instances, never, only_permits
from sponsio_like.monitor import Instance
from sponsio_like.past import Letter
from sponsio_like.resting import NEVER
from sponsio_like.variables import Key
from sponsio_like.watch import Change, Now, Place, Seen, Watch

OTHERS: Final = "others"
"""The key of a change that concerns all values that the position does not bind."""
Moves = dict[Watch, Watch]


class Late(NamedTuple):
    """What a result decides where it has to be asked for each value that is told apart."""

    others: dict[int, Any]
    of: Callable[[Key], dict[int, Any]]


class Tracked(NamedTuple):
    """What letting the position through would do. `binding`: the first values that it violates.

    `full`: there is no room to remember what must not be forgotten.
    """

    changes: tuple[Change, ...]
    violated: bool
    binding: Key | None
    full: bool


def instances(clause: Clause) -> Instances:
    """What the clause remembers before the first position."""
    assert clause.bound is not None
    bits = all(isinstance(cell.start, bool) for cell in clause.monitor.past.cells)
    permits = only_permits if bits and clause.is_plain else never
    return Instances(clause.start, RELATED_CAP if clause.bound.relates else VALUES_CAP, permits)


def tracked(
    i: int, clause: Clause, store: Instances, sight: Sight, event: Event, at: Place, time: float
) -> Tracked:
    """What becomes of clause `i` at this position. Raises what its monitor raises."""
    kind = kind_of(event)
    changes: list[Change] = []
    bad: list[Key | None] = []
    moves: Moves = {}
    letters = _letters(clause, store, sight)
    for watch in () if sight.rests else store.watches(letters):
        seen = clause.step(watch, sight.others, kind, at, time)
        moves[watch] = seen.watch
        if seen.violated:
            bad.append(store.example(watch, letters))
    if not sight.rests:
        changes.append(Change(i, OTHERS, at, moves, sight.others))
    steps: dict[tuple[Watch, Letter], Seen] = {}
    for key, letter in letters.items():
        name = (store.watch(key), letter)
        seen = steps.get(name) or clause.step(*name, kind, at, time)
        steps[name] = seen
        changes.append(Change(i, key, at, seen.watch, letter))
        if seen.violated:
            bad.insert(sum(each is not None and each in sight.keys for each in bad), key)
    rest = moves.get(store.rest.watch, store.rest.watch)._replace(broken=False)
    told = [each for each in changes if each.key != OTHERS and not store.knows(each.key)]
    new = sum(each.watch._replace(broken=False) != rest for each in told)
    blind = store.blind and not _all_known(store, sight) and clause.can_break(event)
    full = blind or not store.has_room(new)
    return Tracked(tuple(changes), bool(bad), bad[0] if bad else None, full)


def _letters(clause: Clause, store: Instances, sight: Sight) -> Mapping[Key, Any]:
    """The letter of each value that is read apart."""
    bound = clause.bound
    assert bound is not None
    if not bound.relates or sight.rests:
        return sight.keys
    each = {key: bound.letter(sight.others, sight.seen, key) for key in store.keys}
    return {**{k: letter for k, letter in each.items() if letter != sight.others}, **sight.keys}


def _all_known(store: Instances, sight: Sight) -> bool:
    return sight.rests and all(map(store.knows, sight.keys))


def stored(store: Instances, change: Change, call: int) -> None:
    """Let it happen, at this call."""
    if change.key == OTHERS:
        store.move(change.watch, call)
    else:
        store.put(change.key, change.watch, call)


def settled(
    clause: Clause,
    store: Instances,
    change: Change,
    final: Any,
    place: tuple[Place, Now, int],
    known: dict[Any, Any],
) -> tuple[bool, Key | None]:
    """A call has its result. True if it reveals a violation, and for which values.

    `place`: the last position, now, and the last call; `known`: what became of states that other
    values of the same result were in.
    """
    last, now, call = place
    if change.key != OTHERS:
        watch = store.watch(change.key)
        name = (change.clause, id(watch), id(change.letter), tuple(final.items()))
        if name not in known:
            seen = clause.settle(watch, change, final, last, now)
            known[name] = (seen, watch, change.letter)  # which keeps their ids
        seen = known[name][0]
        store.put(change.key, seen.watch, call)
        return seen.violated, change.key
    moves, bad = dict[Watch, Watch](), list[Key | None]()
    if isinstance(final, Late):
        for key in list(store.keys):
            each = final.of(key)
            if each != final.others:
                more = settled(clause, store, change._replace(key=key), each, place, known)
                bad += [key] if more[0] else []
        final = final.others
    for watch in store.watches():
        seen = clause.settle(watch, change, final, last, now)
        moves[watch] = seen.watch
        if seen.violated:
            bad.append(store.example(watch))
    store.move(moves, call)
    return bool(bad), bad[0] if bad else None


def expired(clause: Clause, store: Instances, last: Place, now: Now, call: int) -> list[Key | None]:
    """Time has come. The values of which something ran out."""
    moves, bad = dict[Watch, Watch](), list[Key | None]()
    for watch in store.watches():
        seen = clause.expire(watch, last, now)
        moves[watch] = seen.watch
        if seen.violated:
            bad.append(store.example(watch))
    store.move(moves, call)
    return bad


def wakes_at(clause: Clause, store: Instances, last: Place, time: float) -> int:
    """The next position that some value has to see, whatever the tool."""
    if clause.is_still:
        return NEVER
    return min(clause.wakes_at(watch, last, time) for watch in store.watches())


def live_in(watch: Watch) -> frozenset[Instance]:
    """What is owed for later."""
    return watch.inner.live if watch.inner is not None else frozenset()
