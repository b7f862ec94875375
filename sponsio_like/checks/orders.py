"""Finds calls that contracts make impossible: they wait for each other, themselves, or nobody.

In: contracts, and the inventory. Out: problems of one contract, which is refused, and of several
together, which are warned of; so is what waits for the tool of another agent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import sponsio_like.logic.formula as f
from sponsio_like.contracts import Contract, Inventory, Rule, covered
from sponsio_like.errors import Problem
from sponsio_like.events import names_tool
from sponsio_like.logic import conjuncts
from sponsio_like.outcome import Block


@dataclass(frozen=True, slots=True)
class Need:
    """An order of contract `by`: calls of `name` need one of `first` before them; none: never."""

    name: str
    first: f.Target
    by: int


@dataclass(slots=True)
class _Orders:
    """The needs of all contracts, by the name of the tool; `only`: the calls that are allowed
    alone.
    """

    needs: dict[str, list[Need]] = field(default_factory=dict)
    only: list[tuple[int, f.Target]] = field(default_factory=list)


def deadlocks(contracts: Sequence[Contract]) -> tuple[list[Problem], list[Problem]]:
    """Return the mistakes of single contracts, and those that only several together make."""
    orders = _orders(contracts)
    refused = [*_waiting_for_themselves(contracts)]
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
    """Return the orders of all contracts that hold for whole sessions, and block."""
    orders = _Orders()
    for by, contract in enumerate(contracts):
        for rule in _binding(contract):
            _read(rule, by, orders)
    for by, target in orders.only:
        for name in _spoken_of(orders):
            if not any(names_tool(match, name) for match in target):
                orders.needs.setdefault(name, []).insert(0, Need(name, (), by))
    return orders


def _binding(contract: Contract) -> Iterator[Rule]:
    """Yield the rules of the contract that hold for whole sessions, and block."""
    if contract.assumption is None and contract.segment is None:
        for rule in contract.rules:
            if rule.authored and isinstance(contract.answer or rule.answer or Block(), Block):
                yield rule


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
    """Yield the parts of what has to hold at every position."""
    for part in conjuncts(formula):
        if isinstance(part, f.Always) and part.bound is None:
            yield from conjuncts(part.body)


def _plain(target: f.Target) -> f.Target:
    """Return the matches of a target that stand for all calls of some tools."""
    return tuple(match for match in target if not match.conditions and match.agent is None)


def _first(needed: f.Formula) -> f.Target | None:
    """Return the calls of which one has to be earlier; None if the formula has another form."""
    match needed:
        case f.Yesterday(f.Once(event)) | f.Yesterday(f.Since(_, event)):
            return _calls(event)
        case f.Once(event, f.Seconds()) if not _is_now(event):
            return _calls(event)
    return None


def _is_now(event: f.Formula) -> bool:
    """True if the call that is decided may be the event itself."""
    happening = [each for each in f.postorder(event) if isinstance(each, f.Happens)]
    return not happening or any(each.what == "called" for each in happening)


def _calls(event: f.Formula) -> f.Target | None:
    match event:
        case f.Happens(_, target):
            return target
        case f.And(parts):
            return next((found for each in parts if (found := _calls(each))), None)
        case f.Or(parts):
            either = [_calls(each) for each in parts]
            return None if None in either else tuple(m for each in either for m in each or ())
    return None


# --- what can come --------------------------------------------------------------------------------


def _possible(orders: _Orders) -> set[str]:
    """Return the names that can be called at some time, as far as these orders go."""
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
    """True if no call that the need asks for is known to be possible."""
    return not any(not match.names or match.globs for match in need.first) and not any(
        name in possible for match in need.first for name in match.names
    )


def _chain(name: str, orders: _Orders, possible: set[str]) -> Iterator[Need]:
    """Yield the need of a name, the need of what that needs, and so on, until a
    name comes again.
    """
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


# --- what waits for itself, or for nobody ---------------------------------------------------------


def _waiting_for_themselves(contracts: Iterable[Contract]) -> Iterator[Problem]:
    """Yield problems for globs and matches whose every call needs another one like it before it."""
    for contract in contracts:
        for body in (each for rule in _binding(contract) for each in _always(rule.formula)):
            if not isinstance(body, f.Implies):
                continue
            first = _first(body.right) or ()
            if first and not _named(first) and covered(first, _waiting(body.left)):
                said = repr(f.Happens("called", first))
                what = f"`{said}` would need itself before it, so that none can be the first"
                hint = "leave what comes first out of what has to wait for it"
                yield Problem(what, _place(contract), hint)


def _waiting(event: f.Formula) -> f.Target:
    """Return the calls that all are such an event, as far as the form of the formula shows."""
    parts = event.parts if isinstance(event, f.Or) else (event,)
    calls = [each for each in parts if isinstance(each, f.Happens) and each.what == "called"]
    return tuple(match for each in calls for match in each.target)


def _named(target: f.Target) -> bool:
    """True if the target is nothing but names; `_told` reports these."""
    return _plain(target) == target and all(each.names and not each.globs for each in target)


def unmet(contracts: Iterable[Contract], known: Inventory) -> Iterator[Problem]:
    """Yield warnings of what waits only for tools of other agents, which no session of this one
    sees.
    """
    for contract in contracts:
        for body in (each for rule in contract.rules for each in _always(rule.formula)):
            for needed in conjuncts(body.right) if isinstance(body, f.Implies) else ():
                wanted = _first(needed) or _answer(needed) or ()
                tools = [
                    tool
                    for tool in (known.names or ())
                    if any(names_tool(match, tool) for match in wanted)
                ]
                if tools and not any(map(known.has, tools)):
                    named = " or ".join(f"`{tool}`" for tool in tools)
                    what = (
                        f"{named} stands in `elsewhere`, and what has to come is never called here"
                    )
                    hint = (
                        "put it into `tools`, or require a fact that the host tells: `ctx_required`"
                    )
                    yield Problem(what, _place(contract), hint)


def _answer(needed: f.Formula) -> f.Target | None:
    """Return the calls of which one has to come later; None if the formula has another form."""
    match needed:
        case f.Next(f.Eventually(event)):
            return _calls(event)
    return None
