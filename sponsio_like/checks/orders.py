"""Finds calls that contracts make impossible: they wait for each other, themselves, or nobody.

In: contracts, and the inventory. Out: problems. A single contract that causes one is refused; where
several contracts cause it together, or a demand waits for the tool of another agent, there is a
warning.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import sponsio_like.logic.formula as f
from sponsio_like.contracts import Contract, Inventory, Rule, contract_place, covered
from sponsio_like.errors import Problem
from sponsio_like.events import names_tool
from sponsio_like.logic import conjuncts
from sponsio_like.outcome import Block


@dataclass(frozen=True, slots=True)
class Need:
    """A precedence that contract number `by` demands: a call of `name` needs an earlier call of one
    of `first`; if `first` is empty, `name` may never be called.
    """

    name: str
    first: f.Target
    by: int


@dataclass(slots=True)
class _OrderIndex:
    """The needs of all contracts, by the name of the tool that has them. `only` has the targets of
    allowlists, each with the number of its contract: nothing else may be called.
    """

    needs: dict[str, list[Need]] = field(default_factory=dict)
    only: list[tuple[int, f.Target]] = field(default_factory=list)


def deadlocks(contracts: Sequence[Contract]) -> tuple[list[Problem], list[Problem]]:
    """Return problems for tools that can never be called: those that a single contract causes,
    which is refused, and those that only several contracts cause together.
    """
    demands = [
        (by, body)
        for by, contract in enumerate(contracts)
        for rule in _blocking_rules(contract)
        for body in demands_at_every_position(rule.formula)
    ]
    orders = _orders(demands)
    refused = [*_self_dependent(demands, contracts)]
    warned: list[Problem] = []
    told: set[str] = set()
    possible = _possible(orders)
    for name in orders.needs:
        if name in possible or name in told or not orders.needs[name][0].first:
            continue
        chain = list(_chain(name, orders, possible))
        told.update(need.name for need in chain)
        among = {need.by for need in chain}
        problem = _cycle_problem(chain, contracts)
        (refused if len(among) == 1 else warned).append(problem)
    return refused, warned


# --- reading --------------------------------------------------------------------------------------


def _orders(demands: Iterable[tuple[int, f.Formula]]) -> _OrderIndex:
    """Return the precedences that contracts demand for the whole session by blocking calls.

    `demands`: what they demand at every position, each with the number of its contract.
    """
    orders = _OrderIndex()
    for by, body in demands:
        _read(body, by, orders)
    for by, target in orders.only:
        for name in _names_in(orders):
            if not any(names_tool(match, name) for match in target):
                orders.needs.setdefault(name, []).insert(0, Need(name, (), by))
    return orders


def _blocking_rules(contract: Contract) -> Iterator[Rule]:
    """Yield the rules of a contract without assumption and scope whose strategy is `block`."""
    if contract.assumption is None and contract.segment is None:
        for rule in contract.rules:
            if rule.authored and isinstance(contract.answer or rule.answer or Block(), Block):
                yield rule


def _names_in(orders: _OrderIndex) -> list[str]:
    first = (each for needs in orders.needs.values() for need in needs for each in need.first)
    return list(dict.fromkeys([*orders.needs, *(name for each in first for name in each.names)]))


def _read(body: f.Formula, by: int, orders: _OrderIndex) -> None:
    match body:
        case f.Implies(f.Happens("called", then), needed):
            first = calls_before(needed)
        case f.Not(f.Happens("called", then)):
            first = ()
        case f.Happens("called", target) if _unconditional(target) == target:
            orders.only.append((by, target))
            return
        case _:
            return
    if first is None:
        return
    for name in dict.fromkeys(name for match in _unconditional(then) for name in match.names):
        needs = orders.needs.setdefault(name, [])
        needs.insert(len(needs) if first else 0, Need(name, first, by))


def demands_at_every_position(formula: f.Formula) -> Iterator[f.Formula]:
    """Yield the formulas that the formula demands at every position: the conjuncts below `G`."""
    for part in conjuncts(formula):
        if isinstance(part, f.Always) and part.bound is None:
            yield from conjuncts(part.body)


def _unconditional(target: f.Target) -> f.Target:
    """Return the matches of a target without conditions: they match all calls of their tools."""
    return tuple(match for match in target if not match.conditions and match.agent is None)


def calls_before(needed: f.Formula) -> f.Target | None:
    """Return the calls of which the formula demands an earlier one; None if it has another form."""
    match needed:
        case f.Yesterday(f.Once(event)) | f.Yesterday(f.Since(_, event)):
            return _calls(event)
        case f.Once(event, f.Seconds()) if not _may_be_this_call(event):
            return _calls(event)
    return None


def _may_be_this_call(event: f.Formula) -> bool:
    """True if the event may be the call that is being decided, and not only an earlier one."""
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


def _possible(orders: _OrderIndex) -> set[str]:
    """Return the tools that can be called at some position, as far as these precedences
    decide it.
    """
    possible = {name for name in _names_in(orders) if name not in orders.needs}
    waiting: dict[str, set[str]] = {}
    for name, needs in orders.needs.items():
        for each in (each for need in needs for match in need.first for each in match.names):
            waiting.setdefault(each, set()).add(name)
    todo = list(orders.needs)
    while todo:
        name = todo.pop()
        if name in possible or any(_is_unmet(need, possible) for need in orders.needs[name]):
            continue
        possible.add(name)
        todo.extend(waiting.get(name, ()))
    return possible


def _is_unmet(need: Need, possible: set[str]) -> bool:
    """True if none of the calls that the need demands first is known to be possible."""
    return not any(not match.names or match.globs for match in need.first) and not any(
        name in possible for match in need.first for name in match.names
    )


def _chain(name: str, orders: _OrderIndex, possible: set[str]) -> Iterator[Need]:
    """Yield the unmet need of a tool, then that of the tool it needs, until a tool is repeated."""
    seen: set[str] = set()
    while name not in seen:
        seen.add(name)
        need = next(each for each in orders.needs[name] if _is_unmet(each, possible))
        yield need
        if not need.first:
            return
        name = next(each for match in need.first for each in match.names)


def _cycle_problem(chain: Sequence[Need], contracts: Sequence[Contract]) -> Problem:
    steps = [
        f"{f'`{need.name}`'} needs {_names_shown(need.first)} before it"
        if need.first
        else f"`{need.name}` is never allowed"
        for need in chain
    ]
    places: Mapping[int, str] = {need.by: contract_place(contracts[need.by]) for need in chain}
    beside = [f"contract `{contracts[k].name}`" for k in list(places)[1:]]
    said = f" (with {' and '.join(beside)})" if beside else ""
    return Problem(
        f"`{chain[0].name}` can never be called: {', and '.join(steps)}{said}",
        places[chain[0].by],
        "correct the order, or forbid the call",
    )


def _names_shown(target: Iterable[f.Match]) -> str:
    return " or ".join(f"`{name}`" for match in target for name in match.names)


# --- what waits for itself, or for nobody ---------------------------------------------------------


def _self_dependent(
    demands: Iterable[tuple[int, f.Formula]], contracts: Sequence[Contract]
) -> Iterator[Problem]:
    """Yield a problem for each glob or match of which every call needs an earlier call
    of the same.
    """
    for by, body in demands:
        if not isinstance(body, f.Implies):
            continue
        first = calls_before(body.right) or ()
        if first and not _has_only_names(first) and covered(first, _triggering_calls(body.left)):
            said = repr(f.Happens("called", first))
            what = f"every `{said}` needs an earlier one, so that none can be the first"
            hint = "leave the calls that come first out of those that need them"
            yield Problem(what, contract_place(contracts[by]), hint)


def _triggering_calls(event: f.Formula) -> f.Target:
    """Return the calls that always make the formula true: those it names, alone or below `|`."""
    parts = event.parts if isinstance(event, f.Or) else (event,)
    calls = [each for each in parts if isinstance(each, f.Happens) and each.what == "called"]
    return tuple(match for each in calls for match in each.target)


def _has_only_names(target: f.Target) -> bool:
    """True if the target has nothing but names of tools, which `deadlocks` handles."""
    return _unconditional(target) == target and all(
        each.names and not each.globs for each in target
    )


def unmet(contracts: Iterable[Contract], known: Inventory) -> Iterator[Problem]:
    """Yield a warning for each demand that only tools of other agents (`elsewhere`) can meet: no
    session of this agent sees their calls.
    """
    if not known.elsewhere:
        return
    for contract in contracts:
        for body in (
            each for rule in contract.rules for each in demands_at_every_position(rule.formula)
        ):
            for needed in conjuncts(body.right) if isinstance(body, f.Implies) else ():
                wanted = calls_before(needed) or _calls_after(needed) or ()
                tools = [
                    tool
                    for tool in (known.names or ())
                    if any(names_tool(match, tool) for match in wanted)
                ]
                if tools and not any(map(known.has, tools)):
                    named = " or ".join(f"`{tool}`" for tool in tools)
                    what = f"{named} is a tool of another agent (`elsewhere`), never called here"
                    hint = (
                        "put it into `tools`, or require a fact that the host tells: `ctx_required`"
                    )
                    yield Problem(what, contract_place(contract), hint)


def _calls_after(needed: f.Formula) -> f.Target | None:
    """Return the calls of which the formula demands a later one; None if it has another form."""
    match needed:
        case f.Next(f.Eventually(event)):
            return _calls(event)
    return None
