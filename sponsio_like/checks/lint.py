"""Finds all that is wrong with contracts, at once; and what is possible, but seldom meant.

In: contracts, and the tools that there are. Out: their clauses, compiled, with every problem.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from sponsio_like.checks.guarantees import check_guarantees, check_substitute
from sponsio_like.checks.kinds import unlike
from sponsio_like.checks.names import unknown_names
from sponsio_like.checks.orders import deadlocks, unmet
from sponsio_like.checks.shapes import rule_shape
from sponsio_like.checks.structure import duplicates, structural_problems
from sponsio_like.contracts import (
    Contract,
    Inventory,
    Rule,
    Vocabulary,
    check_idle_missing,
    check_slips,
    doubts,
    formulas,
    remarks,
    unsaid,
)
from sponsio_like.engine import Clause
from sponsio_like.errors import Problem, Problems
from sponsio_like.outcome import Mode


@dataclass(frozen=True, slots=True)
class Linted:
    """The compiled clauses, each with the number of its contract; problems, and warnings.

    With a problem the contracts are refused; with warnings they load.
    """

    clauses: tuple[tuple[int, Clause], ...]
    problems: tuple[Problem, ...]
    warnings: tuple[Problem, ...]


def linted(contracts: Sequence[Contract], mode: Mode, inventory: Inventory) -> Linted:
    """Return every clause that can be compiled, and every problem of every contract."""
    problems = [*duplicates(contracts), *structural_problems(contracts, mode)]
    clauses: list[tuple[int, Clause]] = []
    sound = set[Hashable]()
    words = Vocabulary(inventory.tools, elsewhere=inventory.elsewhere)
    for k, contract in enumerate(contracts):
        said = (
            *unknown_names(contract, words),
            *unlike(contract, inventory.tools or {}),
            *(each for root in formulas(contract) for each in check_idle_missing(root)),
        )
        problems += [_located(contract, problem) for problem in said]
        if structural_problems([contract], "enforce"):
            continue
        for rule in contract.rules:
            clause, wrong = _compiled(contract, rule, inventory, sound)
            problems += [_located(contract, problem) for problem in wrong]
            if clause is not None:
                clauses.append((k, clause))
    impossible, contrary = deadlocks(contracts)
    late = () if problems or impossible else _late(contracts, clauses)
    warnings = (*_remarks(contracts), *contrary, *unmet(contracts, inventory), *late)
    return Linted(tuple(clauses), (*problems, *impossible), warnings)


def _compiled(
    contract: Contract, rule: Rule, inventory: Inventory, sound: set[Hashable]
) -> tuple[Clause | None, list[Problem]]:
    """Return the clause, with what is wrong with it. `sound`: the shapes of which nothing is."""
    problems = Problems()
    known = None if inventory.names is not None else rule_shape(contract, rule)
    clause = problems.attempt((), Clause, contract, rule, inventory.names)
    if clause is not None:
        problems.attempt((), check_substitute, clause, inventory)
        if known not in sound:
            problems.attempt((), check_guarantees, clause)
            sound |= set() if problems.found or known is None else {known}
    if rule.authored:
        problems.attempt((), check_slips, rule.formula, inventory.names)
    return clause, problems.found


def _remarks(contracts: Iterable[Contract]) -> Iterator[Problem]:
    """Yield warnings of what loads, and is seldom meant."""
    for contract in contracts:
        for rule in contract.rules:
            if rule.authored:
                unknown = unsaid(rule.formula, rule.arguments) if rule.pattern else ()
                said = (*remarks(rule.formula), *doubts(rule.formula), *unknown)
                yield from (_located(contract, each) for each in said)


def _late(
    contracts: Sequence[Contract], clauses: Iterable[tuple[int, Clause]]
) -> Iterator[Problem]:
    """Yield warnings of guarantees that are too large for exact verdicts."""
    for k, clause in clauses:
        monitor = clause.monitor
        if not clause.rule.authored or monitor.plain:
            continue
        joint = frozenset(residual for each in monitor.start.live for residual in each)
        if not monitor.search.probed(joint, monitor.start.registers):
            what = "is too large for exact verdicts: what can no longer be kept may be told late"
            hint = "split it into several guarantees, or use smaller bounds"
            problem = Problem(f"`{clause.rule.formula!r}` {what}", "", hint)
            yield _located(contracts[k], problem)


def _located(contract: Contract, problem: Problem) -> Problem:
    where = contract.where or f"contract `{contract.name}`"
    return Problem(problem.what, problem.where or where, problem.hint)
