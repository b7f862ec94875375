"""Finds all mistakes of contracts at once, and warns of what is allowed and rarely intended.

In: contracts, and the tools that there are. Out: their clauses, compiled, with every problem.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import sponsio_like.logic.formula as f
from sponsio_like.checks.guarantees import (
    check_guarantees,
    check_redirect,
    check_substitute,
    check_values,
)
from sponsio_like.checks.kinds import found_always, spelled, unlike
from sponsio_like.checks.names import alike_names, bracketed_names, decomposed_names, unknown_names
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
    lowered_sums,
    only_told,
    remarks,
    unknown_facts,
    unsaid,
    values_never_had,
)
from sponsio_like.engine import Clause, Compiled, Shape
from sponsio_like.errors import Problem, Problems
from sponsio_like.outcome import Decision, Mode

DAY = 86_400
"""The seconds of a day, which few sessions last."""
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


def _structural(contract: Contract) -> list[Problem]:
    """Return problems for parts that would load and do nothing: no guarantee, an unknown mode.

    A strategy that is not a decision is such a part, too.
    """
    found: list[Problem] = []
    if not contract.rules:
        where = contract_place(contract)
        found.append(Problem("there is no guarantee", where, "say what must hold"))
    if contract.mode not in (None, *MODES):
        what = f"unknown mode `{contract.mode}`"
        found.append(Problem(what, contract_place(contract), "write observe or enforce"))
    answers = [contract.answer, *[rule.answer for rule in contract.rules]]
    if not all(each is None or isinstance(each, Decision) for each in answers):
        what, hint = "the strategy is not a decision", 'use `.strategy("block")`'
        found.append(Problem(what, contract_place(contract), hint))
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
    structural = [_structural(contract) for contract in contracts]
    problems = [*duplicates(contracts), *_unknown_mode(mode), *itertools.chain(*structural)]
    clauses: list[tuple[int, Clause]] = []
    compiled, sound = Compiled(inventory.names), set[Hashable]()
    shapes: dict[int, Shape | None] = {}
    words = Vocabulary(inventory.tools, elsewhere=inventory.elsewhere)
    for k, contract in enumerate(contracts):
        mine = [compiled.shape(contract, rule) for rule in contract.rules]
        said = (*unknown_names(contract, words), *unlike(contract, inventory.tools or {}))
        said += (*decomposed_names(contract), *_never_true(contract, mine, inventory, sound))
        problems += [_located(contract, problem) for problem in said]
        if structural[k]:
            continue
        for rule, shape in zip(contract.rules, mine, strict=True):
            clause, wrong = _compiled(contract, rule, shape, inventory, compiled, sound)
            shapes[id(rule)] = shape
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
    more += tuple(bracketed_names(contracts, inventory))
    return Linted(tuple(clauses), (*problems, *impossible), (*seldom, *more, *late))


def _unknown_mode(mode: Mode) -> list[Problem]:
    what = f"unknown mode `{mode}`"
    return [] if mode in MODES else [Problem(what, "", "write observe or enforce")]


def _never_true(
    contract: Contract, shapes: list[Shape | None], inventory: Inventory, sound: set[Hashable]
) -> tuple[Problem, ...]:
    """Return problems for what a contract asks of arguments that none has, and for idle `missing`.

    They are the same for rules of equal shapes and values, under whatever names of tools.
    """
    keys = [shape and ("never", shape.exactly) for shape in shapes]
    if keys and all(key in sound for key in keys):
        return ()
    roots, paths = formulas(contract), [path for rule in contract.rules for path in rule.by]
    found = (
        *unknown_facts(roots, paths, (inventory.tools or {}).values()),
        *values_never_had(roots),
        *(each for root in roots for each in check_idle_missing(root)),
    )
    if not found:
        sound.update(key for key in keys if key is not None)
    return found


def spellings(contracts: Iterable[Contract], words: Vocabulary) -> tuple[Problem, ...]:
    """Return a warning for each text that is compared as it is written, though its kind is known;
    the kinds are those of `words`.
    """
    tools = {tool: words.kinds_of(tool) for tool in (*(words.tools or ()), *words.kinds)}
    found = (_located(each, problem) for each in contracts for problem in spelled(each, tools))
    return tuple(dict.fromkeys(found))


def counted_apart(contracts: Iterable[Contract]) -> list[str]:
    """Return the names of the contracts that count over a day or longer in each session anew."""
    names = []
    for each in (each for each in contracts if not each.on_world):
        nodes = (node for root in formulas(each) for node in f.postorder(root))
        bounds = (node.bound for node in nodes if isinstance(node, f.Count | f.Sum))
        if any(isinstance(bound, f.Seconds) and bound.count >= DAY for bound in bounds):
            names.append(each.name)
    return names


def lowered(contracts: Iterable[Contract]) -> Iterator[Problem]:
    """Yield a warning for each cap on a sum that an amount below 0 may lower."""
    for each in contracts:
        for root in formulas(each):
            yield from (_located(each, problem) for problem in lowered_sums(root))


def _compiled(
    contract: Contract,
    rule: Rule,
    shape: Shape | None,
    inventory: Inventory,
    compiled: Compiled,
    sound: set[Hashable],
) -> tuple[Clause | None, list[Problem]]:
    """Return the clause of a rule of this shape, with what is wrong with it.

    `sound`: the shapes of which nothing is, and these with the values that are in them; `meant`
    where these values are no slips.
    """
    problems = Problems()
    clause = problems.attempt((), compiled.clause, contract, rule, shape)
    meant = shape and ("meant", shape.exactly)
    if clause is not None:
        problems.attempt((), check_substitute, clause, inventory)
        problems.attempt((), _sound, clause, shape, sound)
    if rule.authored:
        check = check_tools_meant if meant in sound else check_slips
        problems.attempt((), check, rule.formula, inventory.names)
    if meant is not None and not problems.found:
        sound.add(meant)
    return clause, problems.found


def _sound(clause: Clause, shape: Shape | None, sound: set[Hashable]) -> None:
    """Raise `ContractError` for a clause that cannot work. What was checked for its shape is not
    checked again.
    """
    if shape is None or shape.exactly not in sound:
        check_values(clause)
    if shape is None or shape.key not in sound:
        check_guarantees(clause)
    check_redirect(clause)
    if shape is not None:
        sound |= {shape.key, shape.exactly}


def _remarks(
    contracts: Iterable[Contract], shapes: Mapping[int, Shape | None]
) -> Iterator[Problem]:
    """Yield warnings of what is allowed and rarely intended. `shapes`: those of the rules, by `id`,
    with the values in them: where one needs no warning, the others need none.
    """
    silent = set[Hashable]()
    for contract in contracts:
        for rule in contract.rules:
            shape = shapes.get(id(rule))
            key = shape and (shape.exactly, bool(rule.pattern))
            if rule.authored and (key is None or key not in silent):
                more = unsaid(rule.formula, rule.arguments) if rule.pattern else ()
                told = () if rule.pattern else only_told(rule.formula)  # `status: ok` is meant
                said = (*remarks(rule.formula), *doubts(rule.formula), *more, *told)
                yield from (_located(contract, each) for each in said)
                silent |= set() if said else {key}


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
