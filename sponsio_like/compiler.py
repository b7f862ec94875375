"""All contracts of a guard, compiled once: clauses, and which of them each tool concerns.

In: contracts. Out: a frozen `Policy`, shared by all sessions. A contract that could never fire,
or never be kept, does not compile.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sponsio_like.alphabet import Name
from sponsio_like.atoms import Concerns, concerns, glob_matcher
from sponsio_like.checks import check, check_inventory, needs
from sponsio_like.clause import Clause, Place, Watch
from sponsio_like.contract import Contract
from sponsio_like.encoding import encode
from sponsio_like.errors import ContractError, Problem
from sponsio_like.events import Call, Kind
from sponsio_like.fitting import fitted
from sponsio_like.formula import Delivered, Happens, Match, Repeats, Sum, postorder
from sponsio_like.misfits import duplicates, misfits
from sponsio_like.outcome import Block, Decision, Mode
from sponsio_like.remembering import remembers
from sponsio_like.resting import NEVER

Targeted = Delivered | Happens | Repeats | Sum
INDEX_CAP = 4_096
"""Most tools, and combinations of globs, whose clauses are remembered; others are told anew."""

ALL_INPUTS = frozenset(
    {"results", "messages", "usage", "agents", "depth", "facts", "time", "finish", "tool_names"}
)


class Counter(NamedTuple):
    """What counts positions of these kinds: of the session, or of one contract on the world."""

    owner: int
    kinds: frozenset[Kind]


LINEAGE = -1
"""The owner of what is counted by the session."""


class Share(NamedTuple):
    """Contracts by name; their clauses, and for each of these its contract."""

    contracts: tuple[str, ...]
    clauses: tuple[int, ...]
    names: list[str]


@dataclass(frozen=True)
class Policy:
    """Compiled contracts."""

    contracts: tuple[Contract, ...]
    modes: tuple[Mode, ...]
    clauses: tuple[Clause, ...]
    owner: tuple[int, ...]
    _index: dict[Name, tuple[int, ...]] = field(default_factory=dict, compare=False, repr=False)

    @functools.cached_property
    def views(self) -> dict[tuple[str, str], dict[int, Any]]:
        """What `excluding` knows of the calls of a tool by an agent, by clause."""
        return {}

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

    @functools.cached_property
    def source_names(self) -> dict[Delivered, str]:
        """The sources, each with its name in snapshots."""
        return {source: repr(source) for source in self.sources}

    @functools.cached_property
    def sources_by_name(self) -> dict[str, Delivered]:
        """The sources by their names in snapshots."""
        return {name: source for source, name in self.source_names.items()}

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

    @functools.cached_property
    def stateful(self) -> tuple[str, ...]:
        """The contracts that need a session that lasts: they remember, or read what is told."""
        kept = {self.owner[i] for i, clause in enumerate(self.clauses) if remembers(clause)}
        return tuple(each.name for k, each in enumerate(self.contracts) if k in kept)

    @functools.cached_property
    def world(self) -> tuple[str, ...]:
        """The contracts on the world: what they remember must not be rewound."""
        return tuple(each.name for each in self.contracts if each.on_world)

    # --- the same for all sessions ------------------------------------------------------------

    @functools.cached_property
    def starts(self) -> tuple[Watch, ...]:
        """What every clause remembers before the first position."""
        return tuple(clause.start for clause in self.clauses)

    @functools.cached_property
    def starts_plain(self) -> tuple[Any, ...]:
        """The same as JSON data; given to nobody."""
        return tuple(map(encode, self.starts))

    @functools.cached_property
    def wakes(self) -> dict[int, int]:
        """The first positions that clauses have to see, whatever the tool."""
        pairs = enumerate(zip(self.clauses, self.starts, strict=True))
        each = ((i, one.wakes_at(start, Place(-1, -1), 0.0)) for i, (one, start) in pairs)
        return {i: at for i, at in each if at != NEVER and not self.clauses[i].by}

    @functools.cached_property
    def counters(self) -> tuple[tuple[Counter, Counter], ...]:
        """What counts the positions that each clause sees, and those that its guarantee counts."""
        return tuple((Counter(LINEAGE, c.kinds), Counter(LINEAGE, c.counts)) for c in self.clauses)

    @functools.cached_property
    def counters_apart(self) -> tuple[tuple[Counter, Counter], ...]:
        """The same where contracts on the world have counters of their own."""
        each = zip(self.owner, self.counters, strict=True)
        return tuple(
            (Counter(k, seen.kinds), Counter(k, counted.kinds))
            if self.contracts[k].on_world
            else (seen, counted)
            for k, (seen, counted) in each
        )

    @functools.cached_property
    def all(self) -> Share:
        """All contracts."""
        return self._share([True] * len(self.contracts))

    @functools.cached_property
    def lineage(self) -> Share:
        """The contracts that are not on the world."""
        return self._share([not each.on_world for each in self.contracts])

    def _share(self, among: Sequence[bool]) -> Share:
        names = tuple(each.name for each, mine in zip(self.contracts, among, strict=True) if mine)
        clauses = [(i, owner) for i, owner in enumerate(self.owner) if among[owner]]
        each = [self.contracts[owner].name for _, owner in clauses]
        return Share(names, tuple(i for i, _ in clauses), each)

    @functools.cached_property
    def fingerprints(self) -> dict[str, str]:
        """What every contract means for its state, as a hash."""
        return {contract.name: fingerprint(contract) for contract in self.contracts}

    @functools.cached_property
    def needs(self) -> dict[str, frozenset[str]]:
        """The inputs that every contract needs."""
        return {contract.name: needs(contract) for contract in self.contracts}

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
    problems = [*duplicates(contracts), *misfits(contracts, mode)]
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
    modes: tuple[Mode, ...] = tuple(
        "observe" if relaxed else contract.mode or mode for contract in contracts
    )
    return Policy(contracts, modes, tuple(clauses), tuple(owner))


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
