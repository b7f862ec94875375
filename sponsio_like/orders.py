"""What contracts together make impossible: calls that each wait for another, and so never come.

In: contracts. Out: problems of one contract, which is refused, and of several together, which are
warned of.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import sponsio_like.formula as f
from sponsio_like.atoms import names_tool
from sponsio_like.contract import Contract
from sponsio_like.errors import Problem
from sponsio_like.outcome import Block
from sponsio_like.pattern import Rule
from sponsio_like.reading import conjuncts


@dataclass(frozen=True, slots=True)
class Need:
    """Calls of `name` need one of `first` before them, says contract `by`; none: never."""

    name: str
    first: f.Target
    by: int


@dataclass(slots=True)
class _Orders:
    """All that is needed, by the name of what needs it; `only`: what alone may be called."""

    needs: dict[str, list[Need]] = field(default_factory=dict)
    only: list[tuple[int, f.Target]] = field(default_factory=list)


def deadlocks(contracts: Sequence[Contract]) -> tuple[list[Problem], list[Problem]]:
    """Mistakes of single contracts, and what only several together make impossible."""
    orders = _orders(contracts)
    refused: list[Problem] = []
    warned: list[Problem] = []
    told: set[str] = set()
    possible = _possible(orders)
    for name in orders.needs:
        if name in possible or name in told or not orders.needs[name][0].first:
            continue
        chain = list(_chain(name, orders, possible))
        told.update(need.name for need in chain)
        among = {need.by for need in chain}
        problem = _told(chain, contracts)
        (refused if len(among) == 1 else warned).append(problem)
    return refused, warned


# --- reading --------------------------------------------------------------------------------------


def _orders(contracts: Sequence[Contract]) -> _Orders:
    """The orders of all contracts that hold for whole sessions, and block."""
    orders = _Orders()
    for by, contract in enumerate(contracts):
        if contract.assumption is not None or contract.segment is not None:
            continue
        for rule in contract.rules:
            if rule.authored and isinstance(contract.answer or rule.answer or Block(), Block):
                _read(rule, by, orders)
    for by, target in orders.only:
        for name in _spoken_of(orders):
            if not any(names_tool(match, name) for match in target):
                orders.needs.setdefault(name, []).insert(0, Need(name, (), by))
    return orders


def _spoken_of(orders: _Orders) -> list[str]:
    first = (each for needs in orders.needs.values() for need in needs for each in need.first)
    return list(dict.fromkeys([*orders.needs, *(name for each in first for name in each.names)]))


def _read(rule: Rule, by: int, orders: _Orders) -> None:
    for body in _always(rule.formula):
        match body:
            case f.Implies(f.Happens("called", then), needed):
                first = _first(needed)
            case f.Not(f.Happens("called", then)):
                first = ()
            case f.Happens("called", target) if _plain(target) == target:
                orders.only.append((by, target))
                continue
            case _:
                continue
        if first is None:
            continue
        for name in dict.fromkeys(name for match in _plain(then) for name in match.names):
            needs = orders.needs.setdefault(name, [])
            needs.insert(len(needs) if first else 0, Need(name, first, by))


def _always(formula: f.Formula) -> Iterator[f.Formula]:
    """What has to hold at every position, part by part."""
    for part in conjuncts(formula):
        if isinstance(part, f.Always) and part.bound is None:
            yield from conjuncts(part.body)


def _plain(target: f.Target) -> f.Target:
    """What of a target stands for all calls of some tools."""
    return tuple(match for match in target if not match.conditions and match.agent is None)


def _first(needed: f.Formula) -> f.Target | None:
    """The calls of which one has to be earlier; None if it is not of this form."""
    match needed:
        case f.Yesterday(f.Once(event)) | f.Yesterday(f.Since(_, event)):
            return _calls(event)
    return None


def _calls(event: f.Formula) -> f.Target | None:
    match event:
        case f.Happens(_, target):
            return target
        case f.And(parts):
            return next((found for each in parts if (found := _calls(each))), None)
    return None


# --- what can come --------------------------------------------------------------------------------


def _possible(orders: _Orders) -> set[str]:
    """The names that can be called at some time, as far as these orders go."""
    possible = {name for name in _spoken_of(orders) if name not in orders.needs}
    waiting: dict[str, set[str]] = {}
    for name, needs in orders.needs.items():
        for each in (each for need in needs for match in need.first for each in match.names):
            waiting.setdefault(each, set()).add(name)
    todo = list(orders.needs)
    while todo:
        name = todo.pop()
        if name in possible or any(_is_open(need, possible) for need in orders.needs[name]):
            continue
        possible.add(name)
        todo.extend(waiting.get(name, ()))
    return possible


def _is_open(need: Need, possible: set[str]) -> bool:
    """Whether nothing that it asks for can come, as far as is known."""
    return not any(not match.names or match.globs for match in need.first) and not any(
        name in possible for match in need.first for name in match.names
    )


def _chain(name: str, orders: _Orders, possible: set[str]) -> Iterator[Need]:
    """What the name needs, what that needs, and so on, until something comes again."""
    seen: set[str] = set()
    while name not in seen:
        seen.add(name)
        need = next(each for each in orders.needs[name] if _is_open(each, possible))
        yield need
        if not need.first:
            return
        name = next(each for match in need.first for each in match.names)


def _told(chain: Sequence[Need], contracts: Sequence[Contract]) -> Problem:
    steps = [
        f"{f'`{need.name}`'} needs {_listed(need.first)} before it"
        if need.first
        else f"`{need.name}` is never allowed"
        for need in chain
    ]
    places: Mapping[int, str] = {need.by: _place(contracts[need.by]) for need in chain}
    beside = [f"contract `{contracts[k].name}`" for k in list(places)[1:]]
    said = f" (with {' and '.join(beside)})" if beside else ""
    return Problem(
        f"`{chain[0].name}` can never be called: {', and '.join(steps)}{said}",
        places[chain[0].by],
        "correct the order, or forbid the call",
    )


def _place(contract: Contract) -> str:
    return contract.where or f"contract `{contract.name}`"


def _listed(target: Iterable[f.Match]) -> str:
    return " or ".join(f"`{name}`" for match in target for name in match.names)
