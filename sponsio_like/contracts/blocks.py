"""Building blocks for the formulas of patterns.

In: targets, and what counts (`counts: called | done` of a pattern). Out: formulas.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Literal, TypeAlias

from sponsio_like.errors import ContractError
from sponsio_like.events import glob_matches, names_tool
from sponsio_like.logic.formula import (
    Always,
    And,
    Bound,
    Condition,
    Custom,
    Formula,
    Happening,
    Happens,
    Match,
    MessageBy,
    Not,
    Once,
    Or,
    OutputIs,
    Seconds,
    Since,
    Steps,
    Target,
    Var,
    Yesterday,
    conj,
    disj,
    postorder,
    rewritten,
)

Counts: TypeAlias = Literal["called", "done"]


def calls_of_any(tools: Target) -> Formula:
    """Return the formula that this call is one of `tools`."""
    return Happens("called", tools)


def counted_calls(tools: Target, counts: Counts) -> Formula:
    """Return the formula of a call that a restriction counts.

    `called`: every attempt; `done`: every attempt that has not failed.
    """
    if counts == "called":
        return calls_of_any(tools)
    return calls_of_any(tools) & Not(Happens("failed", tools))


def worked(tools: Target, counts: Counts) -> Formula:
    """Return the formula of a call that a prerequisite or an answer counts.

    `done`: one that succeeded; `called`: any.
    """
    return Happens(counts, tools)


def earlier(formula: Formula, within: Bound = None, of: Formula | None = None) -> Formula:
    """Return the formula that `formula` held before this position.

    `within` is a number of steps or seconds, counted from here. `of` describes this position.
    Raises `ContractError` where, for seconds, it might itself be `formula`.
    """
    match within:
        case Steps(count):
            return Yesterday(Once(formula, Steps(count - 1)))
        case Seconds():
            if of is None or not _is_past(formula, of):
                raise ContractError.of(
                    "within seconds, a call may not come before itself",
                    "ask for its success (status: ok), or for another tool",
                )
            return Once(formula, within)
    return Yesterday(Once(formula))


def _is_past(formula: Formula, now: Formula) -> bool:
    """True if `formula` cannot hold at a position where `now` does, when that is judged."""
    match formula:
        case And(parts):
            return any(_is_past(part, now) for part in parts)
        case Or(parts):
            return all(_is_past(part, now) for part in parts)
        case Happens(what, target):
            undecided = what != "called" and not _has_result(now)
            return undecided or _excludes_calls(now, lambda event: _meets(event, target))
        case MessageBy():
            return _excludes_calls(now, lambda event: isinstance(event, MessageBy))
        case OutputIs():
            return not _has_result(now)
    return False


def _has_result(formula: Formula) -> bool:
    """True if the formula is about calls with results; a call that is being decided has none."""
    return any(
        isinstance(each, OutputIs) or (isinstance(each, Happens) and each.what != "called")
        for each in postorder(formula)
    )


Events: TypeAlias = tuple[Match | MessageBy, ...]


def _excludes_calls(formula: Formula, meets: Callable[[Match | MessageBy], bool]) -> bool:
    """True if the formula holds only at certain calls and messages, and `meets` is
    false for them.
    """
    events = _events(formula)
    return events is not None and not any(map(meets, events))


def _events(formula: Formula) -> Events | None:
    """Return the calls and messages at one of which the formula holds; None if it may be any."""
    match formula:
        case MessageBy():
            return (formula,)
        case Happens(_, target):
            return target
        case And(parts):
            return next((found for each in parts if (found := _events(each)) is not None), None)
        case Or(parts):
            each = [_events(part) for part in parts]
            return None if None in each else tuple(one for some in each for one in some or ())
    return None


def _meets(event: Match | MessageBy, target: Target) -> bool:
    """True if the event may be one of these calls, by its name."""
    return isinstance(event, Match) and any(
        not (event.names and each.names)
        or bool(event.globs or each.globs or set(event.names) & set(each.names))
        for each in target
    )


def dependent_calls(tools: Target, *needed: Target) -> tuple[Formula, ...]:
    """Return formulas of the calls that need others before them: any of `tools`.

    The formula of named tools comes first, then that of globs, which leave out what is `needed`. A
    call that lacks the field of a variable is one of them, unless its match says `missing: skip`.
    """
    tools = tuple(each for match in tools for each in _refusing(match))
    return excluding("called", tools, [_of_any(match) for target in needed for match in target])


def _of_any(match: Match) -> Match:
    """Return the match without the variables that it binds: the same calls with any values."""
    tests = tuple(
        replace(each, value=each.value.regex) if isinstance(each.value, Var) else each
        for each in match.conditions
        if not isinstance(each.value, Var) or each.value.regex is not None
    )
    return replace(match, conditions=tests)


def excluding(what: Happening, tools: Target, needed: Iterable[Match]) -> tuple[Formula, ...]:
    """Return the formulas that a call of `tools` has `what` (called, done, failed): named tools
    first, then globs.

    The globs do not cover the calls that are `needed`.
    """
    exact = tuple(replace(match, globs=()) for match in tools if match.names)
    loose = tuple(replace(match, names=()) for match in tools if match.globs or not match.names)
    free = tuple(each for match in needed for each in _free(match, loose))
    if not free:
        return (Happens(what, tools),)
    covered = Happens(what, loose) & Not(calls_of_any(free))
    return (Happens(what, exact), covered) if exact else (covered,)


def _free(match: Match, loose: Target) -> Iterator[Match]:
    """Yield the needed calls that these globs must not cover; never all calls of a glob."""
    every = [glob for each in loose for glob in each.globs or ("*",)]
    narrow = bool(match.conditions or match.agent)
    names = tuple(n for n in match.names if any(names_tool(each, n) for each in loose))
    globs = tuple(
        glob
        for glob in (match.globs if match.names else match.globs or ("*",))
        if every and (narrow or not any(glob_matches(glob, each) for each in every))
    )
    if names or globs:
        yield replace(match, names=names, globs=globs, strict=None)


def before(tools: Target, needed: Iterable[Target], then: Formula) -> Formula:
    """Return the formula that `then`, which `needed` calls make true, holds at calls of `tools`."""
    return conj(*(Always(part >> then) for part in dependent_calls(tools, *needed)))


def granted_since_last(granted: Formula, action: Target, *needed: Target) -> Formula:
    """Return the formula that `granted` held between the last call of `action` and this one."""
    return Yesterday(Since(Not(disj(*dependent_calls(action, *needed))), granted))


def having(tools: Target, field: str, then: Formula) -> Formula:
    """Return the formula that `then` holds at every call of `tools`.

    With `missing: skip`, only at calls that have the field.
    """
    must = tuple(match for match in tools if match.strict is not False)
    may = optional(tuple(match for match in tools if match.strict is False))
    free = Custom("arg_missing", (field,))
    parts = [whenever(must, then)] if must else []
    return conj(*parts, whenever(may, free | then)) if may else conj(*parts)


def optional(tools: Target) -> Target:
    """Return the same calls without `missing: skip`, for a caller that has dealt with it."""
    return tuple(replace(each, strict=None) if each.strict is False else each for each in tools)


def by_name(tools: Target, stands: Callable[[str], Formula]) -> Formula:
    """Return the formula that `stands(name)` holds at every call of the tool `name`.

    Raises `ContractError` for globs.
    """
    if any(match.globs or not match.names for match in tools):
        raise ContractError.of("approvals are by name", "list every tool by its name")
    names = dict.fromkeys(name for match in tools for name in match.names)
    narrowed = {
        name: tuple(replace(match, names=(name,)) for match in tools if name in match.names)
        for name in names
    }
    return conj(*(whenever(each, stands(name)) for name, each in narrowed.items()))


def narrowed(tools: Target, *conditions: Condition) -> Target:
    """Return the calls that satisfy these conditions as well."""
    return tuple(replace(match, conditions=match.conditions + conditions) for match in tools)


def refusing(match: Formula) -> Formula:
    """Return the same event, made to hold also at calls that lack the field of a variable.

    A match that says `missing: skip` is left as it is, and so are `*` and a match without tools,
    which speak of tools that may not have the field.
    """
    return rewritten(
        match,
        lambda node: (
            Happens(node.what, tuple(each for one in node.target for each in _refusing(one)))
            if isinstance(node, Happens)
            else None
        ),
    )


def _refusing(match: Match) -> Iterator[Match]:
    binds = any(isinstance(each.value, Var) for each in match.conditions)
    if match.strict is not None or not binds or not (match.names or match.globs):
        yield match
        return
    some = tuple(glob for glob in match.globs if glob.strip("*"))
    if match.names or some:
        yield replace(match, globs=some, strict=True)
    if some != match.globs:
        yield replace(match, names=(), globs=("*",))


def fresh_variable(name: str, *targets: Target) -> str:
    """Return a name for a variable that none of the targets has."""
    taken = {
        each.value.name
        for match in (match for one in targets for match in one)
        for each in match.conditions
        if isinstance(each.value, Var)
    }
    while name in taken:
        name += "_"
    return name


def exclusive(first: Target, second: Target, counts: Counts) -> Formula:
    """Return the formula that neither is called after the other."""
    return whenever(first, ~earlier(counted_calls(second, counts))) & whenever(
        second, ~earlier(counted_calls(first, counts))
    )


def whenever(tools: Target, then: Formula) -> Formula:
    """Return the formula that `then` holds at every call of `tools`."""
    return Always(calls_of_any(tools) >> then)
