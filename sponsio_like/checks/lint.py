"""Finds all mistakes of contracts at once, and warns of what is allowed and rarely intended.

In: contracts, and the tools that there are. Out: their clauses, compiled, with every problem.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sponsio_like.checks.guarantees import (
    check_guarantees,
    check_redirect,
    check_substitute,
    check_values,
)
from sponsio_like.checks.kinds import found_always, spelled, unlike
from sponsio_like.checks.names import alike_names, unknown_names
from sponsio_like.checks.orders import deadlocks, unmet
from sponsio_like.checks.together import owed_at_start
from sponsio_like.contracts import (
    CONTRACT,
    MODES,
    Contract,
    Inventory,
    Rule,
    Vocabulary,
    check_idle_missing,
    check_slips,
    check_tools_meant,
    contract_place,
    doubts,
    formulas,
    only_told,
    remarks,
    unknown_facts,
    unsaid,
    values_never_had,
)
from sponsio_like.engine import Clause, Compiled, Shape
from sponsio_like.errors import Problem, Problems
from sponsio_like.outcome import Decision, Mode

TAKEN = {CONTRACT: "the inventory", "session": "what the guard reports itself"}
"""Names under which outcomes, logs and tickets report what comes from no contract."""


def duplicates(contracts: Sequence[Contract]) -> list[Problem]:
    """Return problems for names that logs and tickets could not distinguish:
    given twice, or taken.
    """
    seen: dict[str, Contract] = {}
    problems = []
    for contract in contracts:
        if contract.name in seen:
            problems.append(
                Problem(f"two contracts are named `{contract.name}`", contract.where, "rename one")
            )
        seen[contract.name] = contract
        if contract.name in TAKEN:
            what = f"no contract may be named `{contract.name}`: that stands for "
            problems.append(Problem(what + TAKEN[contract.name], contract.where, "rename it"))
    return problems


def structural_problems(contracts: Sequence[Contract], mode: Mode) -> list[Problem]:
    """Return problems for parts that would load and do nothing: no guarantee, an unknown mode.

    A strategy that is not a decision is such a part, too.
    """
    found = (
        [] if mode in MODES else [Problem(f"unknown mode `{mode}`", "", "write observe or enforce")]
    )
    for contract in contracts:
        where = contract_place(contract)
        answers = [contract.answer, *(rule.answer for rule in contract.rules)]
        if not contract.rules:
            found.append(Problem("there is no guarantee", where, "say what must hold"))
        if contract.mode not in (None, *MODES):
            found.append(
                Problem(f"unknown mode `{contract.mode}`", where, "write observe or enforce")
            )
        if not all(each is None or isinstance(each, Decision) for each in answers):
            found.append(
                Problem("the strategy is not a decision", where, 'use `.strategy("block")`')
            )
    return found


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
    compiled, sound = Compiled(inventory.names), set[Hashable]()
    shapes: dict[int, Hashable] = {}
    words = Vocabulary(inventory.tools, elsewhere=inventory.elsewhere)
    for k, contract in enumerate(contracts):
        said = (
            *unknown_names(contract, words),
            *unlike(contract, inventory.tools or {}),
            *unknown_facts(formulas(contract), _keys(contract), (inventory.tools or {}).values()),
            *values_never_had(formulas(contract)),
            *(each for root in formulas(contract) for each in check_idle_missing(root)),
        )
        problems += [_located(contract, problem) for problem in said]
        if structural_problems([contract], "enforce"):
            continue
        for rule in contract.rules:
            clause, shape, wrong = _compiled(contract, rule, inventory, compiled, sound)
            shapes[id(rule)] = shape and shape[:2]
            problems += [_located(contract, problem) for problem in wrong]
            if clause is not None:
                clauses.append((k, clause))
    impossible, contrary = deadlocks(contracts)
    late = () if problems or impossible else _late(contracts, clauses)
    always = [
        _located(each, problem)
        for each in contracts
        for problem in found_always(each, inventory.tools or {})
    ]
    seldom = (*_remarks(contracts, shapes), *always, *spellings(contracts, words), *contrary)
    more = (*unmet(contracts, inventory), *alike_names(contracts, inventory))
    return Linted(tuple(clauses), (*problems, *impossible), (*seldom, *more, *late))


def spellings(contracts: Iterable[Contract], words: Vocabulary) -> tuple[Problem, ...]:
    """Return a warning for each text that is compared as it is written, though its kind is known;
    the kinds are those of `words`.
    """
    tools = {tool: words.kinds_of(tool) for tool in (*(words.tools or ()), *words.kinds)}
    found = (_located(each, problem) for each in contracts for problem in spelled(each, tools))
    return tuple(dict.fromkeys(found))


def _keys(contract: Contract) -> list[str]:
    return [path for rule in contract.rules for path in rule.by]


def _compiled(
    contract: Contract,
    rule: Rule,
    inventory: Inventory,
    compiled: Compiled,
    sound: set[Hashable],
) -> tuple[Clause | None, Shape | None, list[Problem]]:
    """Return the clause and its shape, with what is wrong with it.

    `sound`: the shapes of which nothing is, and these with the values that are in them; `meant`
    where these values are no slips.
    """
    problems = Problems()
    made = problems.attempt((), compiled.clause, contract, rule)
    clause, shape = made if made is not None else (None, None)
    meant = shape and ("meant", shape[:2])
    if clause is not None:
        problems.attempt((), check_substitute, clause, inventory)
        problems.attempt((), _sound, clause, shape, sound)
    if rule.authored:
        check = check_tools_meant if meant in sound else check_slips
        problems.attempt((), check, rule.formula, inventory.names)
    if meant is not None and not problems.found:
        sound.add(meant)
    return clause, shape, problems.found


def _sound(clause: Clause, shape: Shape | None, sound: set[Hashable]) -> None:
    """Raise `ContractError` for a clause that cannot work. What was checked for its shape is not
    checked again.
    """
    if shape is None or shape[:2] not in sound:
        check_values(clause)
    if shape is None or shape.key not in sound:
        check_guarantees(clause)
    check_redirect(clause)
    if shape is not None:
        sound |= {shape.key, shape[:2]}


def _remarks(contracts: Iterable[Contract], shapes: Mapping[int, Hashable]) -> Iterator[Problem]:
    """Yield warnings of what is allowed and rarely intended. `shapes`: those of the rules, by `id`,
    with the values in them: where one needs no warning, the others need none.
    """
    silent = set[Hashable]()
    for contract in contracts:
        for rule in contract.rules:
            shape = shapes.get(id(rule))
            if rule.authored and (shape is None or shape not in silent):
                more = unsaid(rule.formula, rule.arguments) if rule.pattern else ()
                told = () if rule.pattern else only_told(rule.formula)  # `status: ok` is meant
                said = (*remarks(rule.formula), *doubts(rule.formula), *more, *told)
                yield from (_located(contract, each) for each in said)
                silent |= set() if said else {shape}


def _late(
    contracts: Sequence[Contract], clauses: Iterable[tuple[int, Clause]]
) -> Iterator[Problem]:
    """Yield warnings of guarantees that are too large for exact verdicts."""
    for k, clause in clauses:
        monitor = clause.monitor
        if not clause.rule.authored or monitor.plain:
            continue
        if not monitor.search.probed(owed_at_start(monitor), monitor.start.registers):
            what = "is too large for exact verdicts: what can no longer be kept may be told late"
            hint = "split it into several guarantees, or use smaller bounds"
            problem = Problem(f"`{clause.rule.formula!r}` {what}", "", hint)
            yield _located(contracts[k], problem)


def _located(contract: Contract, problem: Problem) -> Problem:
    return Problem(problem.what, problem.where or contract_place(contract), problem.hint)
