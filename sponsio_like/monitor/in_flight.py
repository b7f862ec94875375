"""Lists how calls in flight may settle, and settles what waits for them.

In: what is owed. Out: the calls that it waits for, the ways in which they may settle, and what each
of them leaves.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from sponsio_like.monitor.alphabet import settlements
from sponsio_like.monitor.residual import (
    YES,
    Conjunction,
    Residual,
    alone,
    conjunction,
    literals_of,
    minimal,
)

WAYS_CAP = 1_024
"""Most ways of what is owed that are told apart."""

Owed: TypeAlias = frozenset[Residual]


def open_positions(joint: Iterable[Residual]) -> dict[int, list[int]]:
    """Return the positions of the calls that are waited for, in order, each with its slots."""
    found: dict[int, set[int]] = {}
    for literal in literals_of(joint):
        if literal[0] == "D":
            found.setdefault(literal[1], set()).add(literal[2])
    return {position: sorted(slots) for position, slots in sorted(found.items())}


def without_results(owed: Owed) -> Owed:
    """Return what is owed without the alternatives that need a result of a call in flight."""
    return frozenset(
        frozenset([term for term in each if not any([one[0] == "D" for one in term])])
        for each in owed
    )


def settled_ways(slots: Any, owed: Owed, flying: Mapping[int, list[int]]) -> list[Owed] | None:
    """Return what is left of what is owed, for each way in which these calls may settle.

    What is left in several ways stands there once; None if there are too many.
    """
    lefts, each_finals = [owed], dict[tuple[int, ...], list[dict[int, bool]]]()
    for at, open_slots in flying.items():
        finals = each_finals.get(tuple(open_slots))
        if finals is None:
            finals = [final for final, late in settlements(slots, open_slots) if not late]
            each_finals[tuple(open_slots)] = finals
        ways = [
            conjunction(settle_residual(each, at, final) for each in left)
            for left in lefts
            for final in finals
        ]
        lefts = list(dict.fromkeys(ways))  # in an order that is the same in every process
        if len(lefts) > WAYS_CAP:
            return None
    return lefts


def _calls_of(residual: Residual) -> set[int]:
    """Return the positions of the calls in flight that a residual waits for."""
    return {each[1] for term in residual for each in term if each[0] == "D"}


class WaitingResiduals:
    """The residuals that are owed while calls in flight settle one after another.

    Those that wait for a call are found by its position, so that a result touches no others.
    """

    def __init__(self, owed: Owed) -> None:
        self._rest: set[Residual] = set()
        self._by_call: dict[int, set[Residual]] = {}
        for each in owed:
            self._add(each)

    def _add(self, residual: Residual) -> None:
        calls = _calls_of(residual)
        if not calls:
            self._rest.add(residual)
        for at in calls:
            self._by_call.setdefault(at, set()).add(residual)

    def wanted(self, at: int) -> frozenset[tuple[int, bool]]:
        """Return the truths of its slots that would help, of the call at this position."""
        literals = literals_of(self._by_call.get(at, ()))
        return frozenset([each[2:] for each in literals if each[:2] == ("D", at)])

    def settle(self, at: int, final: Mapping[int, bool]) -> None:
        """Give the call at this position its result."""
        for each in self._by_call.pop(at, ()):
            for other in _calls_of(each):
                if other != at:
                    self._by_call[other].discard(each)
            self._add(settle_residual(each, at, final))

    def rest(self) -> Owed:
        """Return what is left, once all calls have settled."""
        return conjunction(self._rest)


def best_results(
    slots: Any, open_slots: Sequence[int], wanted: Iterable[tuple[int, bool]]
) -> list[dict[int, bool]]:
    """Return the results of a call in flight that help what is owed most.

    `wanted`: the truths of its slots that what is owed waits for. Of two results of which one has
    all of these that the other one has, one is enough: nothing owed is hurt by one of them. If
    there are none, all results.
    """
    finals = [final for final, late in settlements(slots, open_slots) if not late]
    if not wanted:
        return finals
    helped: dict[frozenset[tuple[int, bool]], dict[int, bool]] = {}
    for final in finals:
        true = [each for each in wanted if final[each[0]] is each[1]]
        helped.setdefault(frozenset(true), final)
    return [final for mine, final in helped.items() if not any(mine < other for other in helped)]


def settle_residual(residual: Residual, position: int, final: Mapping[int, bool]) -> Residual:
    """Return the residual once the call at `position` has settled so."""
    told = [("D", position, slot, truth) for slot in final for truth in (True, False)]
    single = [literal for literal in told if alone(literal) in residual]
    if any(final[slot] is truth for _, _, slot, truth in single):
        return YES
    if not any([len(term) > 1 for term in residual]):
        return residual.difference(map(alone, single)) if single else residual
    return _settled_terms(residual, position, final)


def _settled_terms(residual: Residual, position: int, final: Mapping[int, bool]) -> Residual:
    met, left, same = list[Conjunction](), list[Conjunction](), list[Conjunction]()
    for term in residual:
        told = [each for each in term if each[0] == "D" and each[1] == position]
        told = [each for each in told if each[2] in final]
        if not told:
            same.append(term)
        elif all([final[slot] is truth for _, _, slot, truth in told]):
            met.append(term.difference(told))
        else:
            left.append(term)
    if met:
        return YES if frozenset() in met else minimal([*met, *same])
    return frozenset(same) if left else residual
