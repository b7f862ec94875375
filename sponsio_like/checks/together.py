"""Compares contracts with each other: two that conflict, that say the same, or of which one idles.

In: contracts. Out: a `Claim` for each pair that has one, proven on the product of their monitors.
Pairs with values, scopes, or an assumption beside obligations are left out, and counted; so are
those for which the budget ended.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import sponsio_like.logic.formula as f
from sponsio_like.contracts import Contract, formulas
from sponsio_like.errors import ContractError
from sponsio_like.logic import decompose, looks_ahead
from sponsio_like.monitor import Monitor, Program, Residual, TooManyBranches, all_vars
from sponsio_like.outcome import Block, Mode

ClaimKind: TypeAlias = Literal["conflict", "trap", "forbidden", "same", "implied", "idle"]

PAIRS_CAP = 500
"""The most pairs that are compared."""
PLACES_CAP = 400
"""The most places of two monitors that are looked at for a trap."""
SIZE_CAP = 60
"""The most parts of the formula of two contracts that are compared."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A fact about two contracts.

    conflict: no trace keeps both. trap: some trace that breaks none cannot be continued so that
    both are kept. forbidden: no trace that keeps both has a call of `tool`. same: they demand the
    same. implied: what keeps the first keeps the second. idle: where the first is kept, the second
    is never asked. `steps`: no shorter trace leads into the trap.
    """

    kind: ClaimKind
    first: Contract
    second: Contract
    tool: str = ""
    steps: int = 0


@dataclass(slots=True)
class PairComparison:
    """The claims about contracts, and how much was compared.

    `left`: contracts that were not compared. `undecided`: pairs for which the budget ended.
    """

    claims: list[Claim] = field(default_factory=list)
    pairs: int = 0
    left: int = 0
    undecided: int = 0


@dataclass(frozen=True, slots=True)
class _AsFormula:
    """A contract as one formula, with the tools that it names; None: it speaks of any."""

    contract: Contract
    formula: f.Formula
    names: frozenset[str] | None
    binding: bool
    mode: Mode


def compared(
    contracts: Sequence[Contract],
    mode: Mode,
    tools: tuple[str, ...] | None = None,
    pairs: int = PAIRS_CAP,
) -> PairComparison:
    """Return what holds of at most so many pairs of contracts. `tools` are those that there are."""
    result = PairComparison()
    sides = [side for each in contracts if (side := _as_formula(each, mode)) is not None]
    result.left = len(contracts) - len(sides)
    alone: dict[tuple[int, str], bool | None] = {}
    for one, other in itertools.combinations(range(len(sides)), 2):
        if not _share_an_event(sides[one], sides[other]):
            continue
        if result.pairs >= pairs or _size(sides[one], sides[other]) > SIZE_CAP:
            result.undecided += 1
            continue
        result.pairs += 1
        found = list(_pair(sides[one], sides[other], tools, alone, (one, other)))
        result.claims += [each for each in found if each is not None]
        result.undecided += None in found
    return result


# --- one contract ---------------------------------------------------------------------------------


def _as_formula(contract: Contract, mode: Mode) -> _AsFormula | None:
    """Return the contract as a formula; None if it is none over all sessions."""
    roots = list(formulas(contract))
    if contract.segment is not None or any(rule.by for rule in contract.rules):
        return None
    if any(all_vars(root) for root in roots):
        return None
    parts = [rule.formula for rule in contract.rules]
    if contract.assumption is not None:
        read = [decompose(part) for part in parts]
        owed = [each for one in read for always in one.always for each in always]
        if any(one.rest for one in read) or any(map(looks_ahead, owed)):
            return None
        parts = [f.Always(contract.assumption >> f.conj(*owed))]
    answers = {type(contract.answer or rule.answer or Block()) for rule in contract.rules}
    nodes = [node for root in roots for node in f.postorder(root)]
    return _AsFormula(
        contract, f.conj(*parts), _names(nodes), answers == {Block}, contract.mode or mode
    )


def _names(nodes: Iterable[f.Node]) -> frozenset[str] | None:
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, f.MessageBy):
            found.add("")
        for match in f.matches_of(node):
            if match.globs or not match.names:
                return None
            found |= set(match.names)
    return frozenset(found)


def _share_an_event(one: _AsFormula, other: _AsFormula) -> bool:
    """True if both speak of one tool, or of messages."""
    if one.names is None or other.names is None:
        return True
    return bool(one.names & other.names)


def _size(one: _AsFormula, other: _AsFormula) -> int:
    return sum(1 for side in (one, other) for _ in f.postorder(side.formula))


# --- two contracts --------------------------------------------------------------------------------


def _pair(
    one: _AsFormula,
    other: _AsFormula,
    tools: tuple[str, ...] | None,
    alone: dict[tuple[int, str], bool | None],
    at: tuple[int, int],
) -> Iterator[Claim | None]:
    """Yield what holds of two contracts; None where the budget ended."""
    both = f.conj(one.formula, other.formula)
    kept = possible(both, tools)
    if kept is False:
        yield Claim("conflict", one.contract, other.contract)
        return
    if kept is None:
        yield None
        return
    told = list(_redundant(one, other, tools))
    yield from told
    if any(told) or not (one.binding and other.binding):
        return
    forbidden = False
    for tool in sorted((one.names or frozenset()) | (other.names or frozenset())):
        called = f.Eventually(f.Happens("called", (f.Match((tool,)),)))
        for k, side in zip(at, (one, other), strict=True):
            if (k, tool) not in alone:
                alone[k, tool] = possible(side.formula & called, tools)
        free = alone[at[0], tool] and alone[at[1], tool]
        if tool and free and possible(both & called, tools) is False:
            forbidden = True
            yield Claim("forbidden", one.contract, other.contract, tool)
    if not forbidden and (looks_ahead(one.formula) or looks_ahead(other.formula)):
        dead = _dead_end(both, tools)
        if dead:
            yield Claim("trap", one.contract, other.contract, steps=dead)
        elif dead is None:
            yield None


def _redundant(
    one: _AsFormula, other: _AsFormula, tools: tuple[str, ...] | None
) -> Iterator[Claim | None]:
    """Yield what one contract says that the other says as well."""
    forth = _implied(one, other, tools)
    back = _implied(other, one, tools)
    if forth and back:
        yield Claim("same", one.contract, other.contract)
    for first, second, holds in (
        (one, other, forth and not back),
        (other, one, back and not forth),
    ):
        if holds:
            asked = _triggers_of(second)
            idle = (
                asked is not None and possible(first.formula & f.Eventually(asked), tools) is False
            )
            yield Claim("idle" if idle else "implied", first.contract, second.contract)


def _implied(first: _AsFormula, second: _AsFormula, tools: tuple[str, ...] | None) -> bool:
    """True if what keeps the first keeps the second, and the first stops at least as much."""
    weak = first.mode == "observe" and second.mode == "enforce"
    same = first.contract.answer == second.contract.answer
    if weak or not (first.binding or same):
        return False
    if _has_looser_cap(first.formula, second.formula):
        return True
    return possible(first.formula & ~second.formula, tools) is False


def _has_looser_cap(first: f.Formula, second: f.Formula) -> bool:
    """True if both limit the same count, and the second limit is no lower."""
    match first, second:
        case (
            f.Always(f.Implies(event, f.Compare(term, "<=" | "<" as sign, f.Const(least)))),
            f.Always(f.Implies(again, f.Compare(same, also, f.Const(most)))),
        ):
            if isinstance(least, int | float) and isinstance(most, int | float):
                return (event, term, sign) == (again, same, also) and least <= most
    return False


def _triggers_of(side: _AsFormula) -> f.Formula | None:
    """Return the events that trigger a contract; None if one of its parts has no trigger."""
    read = decompose(side.formula)
    owed = [each for always in read.always for each in always]
    if read.rest or not all(isinstance(each, f.Implies) for each in owed):
        return None
    return f.disj(*(each.left for each in owed if isinstance(each, f.Implies)))


# --- asking ---------------------------------------------------------------------------------------


def possible(formula: f.Formula, tools: tuple[str, ...] | None) -> bool | None:
    """True if some trace keeps a formula, False if none does, None if the budget ended."""
    monitor = _monitor(formula, tools)
    if monitor is None:
        return None
    if not is_reachable("satisfy", monitor):
        return False
    return None if monitor.search.limited else True


def is_reachable(goal: Literal["satisfy", "violate"], monitor: Monitor) -> bool:
    """True if some trace keeps the formula (`satisfy`), or breaks it (`violate`)."""
    owed, registers = owed_at_start(monitor), monitor.start.registers
    return monitor.search.reachable(goal, owed, registers, -1, more=True)


def owed_at_start(monitor: Monitor) -> frozenset[Residual]:
    """Return all that is owed before the first position."""
    return frozenset(residual for each in monitor.start.live for residual in each)


def _dead_end(formula: f.Formula, tools: tuple[str, ...] | None) -> int | None:
    monitor = _monitor(formula, tools)
    if monitor is None:
        return None
    return monitor.search.dead_end(owed_at_start(monitor), monitor.start.registers, PLACES_CAP)


def _monitor(formula: f.Formula, tools: tuple[str, ...] | None) -> Monitor | None:
    try:
        return Monitor(Program(), decompose(formula), tools)
    except (ContractError, TooManyBranches):
        return None
