"""All contracts of a guard, compiled once: clauses, and which of them each tool concerns.

In: contracts. Out: a frozen `Policy`, shared by all sessions. A contract that could never fire,
or never be kept, does not compile.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from sponsio_like.alphabet import Name
from sponsio_like.atoms import Concerns, concerns, glob_matcher
from sponsio_like.checks import check, check_inventory
from sponsio_like.clause import Clause
from sponsio_like.contract import Contract
from sponsio_like.errors import ContractError, Problem
from sponsio_like.events import Call, Kind
from sponsio_like.fitting import fitted
from sponsio_like.formula import Delivered, Happens, Match, Repeats, Sum, postorder
from sponsio_like.outcome import Block, Decision, Mode

Targeted = Delivered | Happens | Repeats | Sum
MODES = ("observe", "enforce")
INDEX_CAP = 4_096
"""Most tools, and combinations of globs, whose clauses are remembered; others are told anew."""

ALL_INPUTS = frozenset(
    {"results", "messages", "usage", "agents", "depth", "facts", "time", "finish", "tool_names"}
)


@dataclass(frozen=True)
class Policy:
    """Compiled contracts. `kinds`: every set of kinds of position that some clause counts."""

    contracts: tuple[Contract, ...]
    modes: tuple[Mode, ...]
    clauses: tuple[Clause, ...]
    owner: tuple[int, ...]
    kinds: tuple[frozenset[Kind], ...]
    _index: dict[Name, tuple[int, ...]] = field(default_factory=dict, compare=False, repr=False)

    def concerned(self, tool: str) -> tuple[int, ...]:
        """The clauses that a call of `tool` concerns; names that match the same globs share it."""
        name = tool if tool in self.names else self._globs_of(tool)
        found = self._index.get(name)
        if found is None:
            found = self._listening(name)
            if len(self._index) < INDEX_CAP:
                self._index[name] = found
        return found

    def _globs_of(self, tool: str) -> frozenset[str]:
        return frozenset([glob for glob, matches in self.globs if matches(tool)])

    def _listening(self, name: Name) -> tuple[int, ...]:
        each = enumerate(self.clauses)
        return tuple(i for i, clause in each if "call" in clause.kinds and clause.concerns(name))

    @functools.cached_property
    def names(self) -> frozenset[str]:
        """Every tool that a contract names."""
        return frozenset(name for match in self._matches for name in match.names)

    @functools.cached_property
    def globs(self) -> tuple[tuple[str, Callable[[str], bool]], ...]:
        """Every glob over tools in a contract, and what matches it."""
        found = dict.fromkeys(glob for match in self._matches for glob in match.globs)
        return tuple((glob, glob_matcher(glob)) for glob in found)

    @functools.cached_property
    def sources(self) -> dict[Delivered, Concerns]:
        """The calls whose results are counted as they arrive, and what tells whether one is it."""
        slots = [slot for clause in self.clauses for slot in clause.slots]
        nodes = [node for slot in slots for node in postorder(slot.node)]
        return {node: concerns(node.target) for node in nodes if isinstance(node, Delivered)}

    def delivering(self, call: Call) -> tuple[Delivered, ...]:
        """Those of the sources that this call is, or may be."""
        if not self.sources:
            return ()
        return tuple(each for each, asks in self.sources.items() if asks(call) is not False)

    @functools.cached_property
    def _matches(self) -> tuple[Match, ...]:
        nodes = [slot.node for clause in self.clauses for slot in clause.slots]
        return tuple(m for node in nodes if isinstance(node, Targeted) for m in node.target)

    def counting(self, kind: Kind) -> tuple[int, ...]:
        """The clauses that count positions of this kind."""
        return self._counting[kind]

    @functools.cached_property
    def _counting(self) -> dict[Kind, tuple[int, ...]]:
        kinds: tuple[Kind, ...] = ("call", "message", "step", "end")
        each = list(enumerate(self.clauses))
        return {kind: tuple(i for i, clause in each if kind in clause.kinds) for kind in kinds}

    def decision(self, clause: int) -> Decision:
        """What to do when this clause is violated.

        The contract's strategy, else the pattern's own, else block.
        """
        contract, rule = self.contracts[self.owner[clause]], self.clauses[clause].rule
        return contract.answer or rule.answer or Block()

    def answers(self, contract: str) -> tuple[Decision, ...]:
        """The decisions of all clauses of a contract."""
        return self._answers.get(contract, ())

    @functools.cached_property
    def _answers(self) -> dict[str, tuple[Decision, ...]]:
        found: dict[str, list[Decision]] = {}
        for i, owner in enumerate(self.owner):
            mine = found.setdefault(self.contracts[owner].name, [])
            if (decision := self.decision(i)) not in mine:
                mine.append(decision)
        return {name: tuple(each) for name, each in found.items()}

    @property
    def enforces(self) -> bool:
        """Whether any contract is enforced."""
        return "enforce" in self.modes


def compile_policy(
    contracts: Iterable[Contract],
    mode: Mode,
    tools: Iterable[str] | None = None,
    *,
    relaxed: bool = False,
) -> Policy:
    """Compile every contract. `mode` is for those that do not say; `relaxed`: all of them observe.

    Raises `ContractError` with all problems found.
    """
    inventory = None if tools is None else tuple(tools)
    contracts = tuple(fitted(contract, inventory) for contract in contracts)
    problems = [*_duplicates(contracts), *_misfits(contracts, mode)]
    if problems:
        raise ContractError(*problems)
    clauses: list[Clause] = []
    owner: list[int] = []
    for k, contract in enumerate(contracts):
        for rule in contract.rules:
            try:
                clause = Clause(contract, rule, inventory)
                check_inventory(clause, inventory)
                check(clause)
            except ContractError as error:
                problems += [_located(contract, problem) for problem in error.problems]
                continue
            clauses.append(clause)
            owner.append(k)
    if problems:
        raise ContractError(*problems)
    kinds = tuple(dict.fromkeys(k for clause in clauses for k in (clause.kinds, clause.counts)))
    modes: tuple[Mode, ...] = tuple(
        "observe" if relaxed else contract.mode or mode for contract in contracts
    )
    return Policy(contracts, modes, tuple(clauses), tuple(owner), kinds)


def _duplicates(contracts: Sequence[Contract]) -> list[Problem]:
    seen: dict[str, Contract] = {}
    problems = []
    for contract in contracts:
        if contract.name in seen:
            problems.append(
                Problem(f"two contracts are named `{contract.name}`", contract.where, "rename one")
            )
        seen[contract.name] = contract
    return problems


def _misfits(contracts: Sequence[Contract], mode: Mode) -> list[Problem]:
    """Parts that would load and then do nothing: no guarantee, no such mode, no such strategy."""
    found = (
        [] if mode in MODES else [Problem(f"unknown mode `{mode}`", "", "write observe or enforce")]
    )
    for contract in contracts:
        where = contract.where or f"contract `{contract.name}`"
        answers = [contract.answer, *(rule.answer for rule in contract.rules)]
        if not contract.rules:
            found.append(Problem("there is no guarantee", where, "say what must hold"))
        if contract.mode not in (None, *MODES):
            found.append(
                Problem(f"unknown mode `{contract.mode}`", where, "write observe or enforce")
            )
        if not all(each is None or isinstance(each, Decision) for each in answers):
            found.append(Problem("the strategy is no decision", where, 'use `.strategy("block")`'))
    return found


def _located(contract: Contract, problem: Problem) -> Problem:
    where = contract.where or f"contract `{contract.name}`"
    return Problem(problem.what, problem.where or where, problem.hint)


def fingerprint(contract: Contract) -> str:
    """A hash of what the contract means for its state: guarantee, assumption, scope."""
    scope = contract.segment
    parts: list[Any] = [
        contract.name,
        contract.assumption,
        scope and (scope.kind, scope.start, scope.stop),
    ]
    parts += [(rule.formula, rule.by) for rule in contract.rules]
    return hashlib.blake2b(repr(parts).encode(), digest_size=12).hexdigest()
