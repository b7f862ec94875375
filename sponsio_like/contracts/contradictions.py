"""Refuses contradictions in a pattern: answers that ask again, releases that trigger, tools on both
sides.

In: targets and events of a pattern. Out: nothing, or a `ContractError` with what to write instead.
"""

from __future__ import annotations

from dataclasses import replace

from sponsio_like.errors import ContractError
from sponsio_like.events import names_tool
from sponsio_like.logic.formula import And, Formula, Happens, Match, Or, Target


def check_settles(answer: Target, trigger: Target) -> None:
    """Raise `ContractError` for an obligation that every event which meets it causes again.

    It could never be kept.
    """
    again = all(
        match.names
        and not match.globs
        and all(
            any(names_tool(each, name) and not each.conditions for each in trigger)
            for name in match.names
        )
        for match in answer
    )
    if again:
        raise ContractError.of(
            "every answer would be a trigger again, so no session could end well",
            "name an answer that is no trigger",
        )


def check_release(release: Formula, trigger: Formula) -> None:
    """Raise `ContractError` for a release that is always a trigger, too.

    It would never let anything through.
    """
    if _implies(release, trigger):
        raise ContractError.of(
            "every `release` is a `trigger` again, so nothing is ever released",
            "name a release that is no trigger, or leave `release` out",
        )


def _implies(event: Formula, other: Formula) -> bool:
    """True if the first event is certainly the second as well; False if it is not or is
    hard to decide.
    """
    match event, other:
        case Or(parts), _:
            return all(_implies(each, other) for each in parts)
        case _, And(parts):
            return all(_implies(event, each) for each in parts)
        case _, Or(parts):
            return any(_implies(event, each) for each in parts)
        case And(parts), _:
            return any(_implies(each, other) for each in parts)
        case Happens(what, some), Happens(wanted, others):
            return wanted in (what, "called") and covered(some, others)
    return event == other


def covered(some: Target, others: Target) -> bool:
    """True if every call of the one target is of the other as well."""
    return all(_covered(match, others) for match in some)


def _covered(match: Match, target: Target) -> bool:
    kinds = [replace(match, names=(name,), globs=()) for name in match.names]
    globs = match.globs or (() if match.names else ("*",))
    kinds += [replace(match, names=(), globs=(glob,)) for glob in globs]
    return all(any(_includes(other, one) for other in target) for one in kinds)


def _includes(wide: Match, one: Match) -> bool:
    """True if every call of `one`, which is one name or one glob, is of `wide`."""
    if not {repr(each) for each in wide.conditions} <= {repr(each) for each in one.conditions}:
        return False
    if wide.agent not in (None, one.agent):
        return False
    if not (wide.names or wide.globs) or any(not glob.strip("*") for glob in wide.globs):
        return True
    return any(names_tool(wide, name) for name in one.names) or bool({*one.globs} & {*wide.globs})


def check_disjoint(first: Target, second: Target, instead: str) -> None:
    """Raise `ContractError` for a tool on both sides of a pattern that compares two tools."""
    named = (name for match in _plain(first) + _plain(second) for name in match.names)
    for name in dict.fromkeys(named):
        if _named_in(first, name) and _named_in(second, name):
            raise ContractError.of(
                f"`{name}` is on both sides, and would be compared with itself", instead
            )


def _plain(target: Target) -> Target:
    return tuple(each for each in target if not each.conditions and each.agent is None)


def _named_in(target: Target, name: str) -> bool:
    return any(names_tool(match, name) for match in _plain(target))
