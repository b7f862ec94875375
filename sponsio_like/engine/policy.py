"""Holds all contracts of a guard, compiled once: clauses, and the clauses that each tool concerns.

In: contracts. Out: a frozen `Policy`, shared by all sessions.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

from sponsio_like.contracts import (
    NOTHING_KNOWN,
    Contract,
    Inventory,
    KnownTools,
    fingerprint,
    inputs_needed,
    reads_answer,
)
from sponsio_like.engine.clause import Clause, is_stateful
from sponsio_like.engine.codec import encode
from sponsio_like.engine.index import Index
from sponsio_like.errors import Problem
from sponsio_like.events import Call, Concerns, Context, Kind, concerns, inputs_of
from sponsio_like.logic.formula import Custom, Delivered, Denied, Node, postorder
from sponsio_like.monitor import NEVER, ClauseState, PositionCounts
from sponsio_like.outcome import Block, Decision, Escalate, Mode


class Counter(NamedTuple):
    """A count of positions of these kinds: in the session, or for one contract on the world."""

    owner: int
    kinds: frozenset[Kind]


class Counting(NamedTuple):
    """The counters of a ledger; and of each clause, the number of the counter of the positions it
    sees, and that of those its guarantee counts.
    """

    counters: tuple[Counter, ...]
    numbers: tuple[tuple[int, int], ...]


LINEAGE = -1
"""The owner of counters that the session keeps; a contract on the world has its own."""


class Share(NamedTuple):
    """Contracts by name; their clauses, and for each of these its contract."""

    contracts: tuple[str, ...]
    clauses: tuple[int, ...]
    names: list[str]


@dataclass(frozen=True)
class Policy:
    """All contracts of a guard, compiled. `owner[i]`: the number of the contract of clause i."""

    contracts: tuple[Contract, ...]
    modes: tuple[Mode, ...]
    clauses: tuple[Clause, ...]
    owner: tuple[int, ...]
    inventory: Inventory = NOTHING_KNOWN
    mode: Mode = "enforce"
    """The mode of whatever states none, such as the inventory."""
    warnings: tuple[Problem, ...] = ()
    family: object = field(default_factory=object, compare=False, repr=False)
    """The mark of all policies of one guard, be it in other modes, or loaded again."""
    risk: Mode = "enforce"
    """The mode of what is said by a model of risk: `observe` while it is switched off."""

    language: str = "en"
    """The language in which the contracts' own advice is given."""

    @functools.cached_property
    def lanes(self) -> dict[Any, Any]:
        """The lanes of tools that were called, and what they share (`fastpath/compile.py`)."""
        return {}

    @functools.cached_property
    def known_tools(self) -> KnownTools:
        """The tools that the guard has seen so far."""
        return KnownTools()

    @functools.cached_property
    def built(self) -> set[Any]:
        """The sets of globs for which lanes were built, of tools that no contract names."""
        return set()

    @functools.cached_property
    def call_counters(self) -> tuple[int, ...]:
        """The numbers of the counters that count calls."""
        counters = enumerate(self.counting_all.counters)
        return tuple(k for k, each in counters if "call" in each.kinds)

    @functools.cached_property
    def with_values(self) -> tuple[int, ...]:
        """The clauses with value variables."""
        return tuple(i for i, clause in enumerate(self.clauses) if clause.bindings is not None)

    def observes(self, clause: int) -> bool:
        """True if the contract of this clause only observes."""
        return self.modes[self.owner[clause]] == "observe"

    @functools.cached_property
    def views(self) -> dict[tuple[str, str], dict[int, Any]]:
        """The views of clauses on the calls of a tool by an agent, cached for `impossible.py`."""
        return {}

    @functools.cached_property
    def asking(self) -> dict[str, tuple[tuple[str, int], ...]]:
        """The inputs about the caller that contracts read, by tool, each with the contract's number
        (`checks/asked.py`).
        """
        return {}

    @functools.cached_property
    def index(self) -> Index:
        """The clauses that each tool concerns."""
        return Index(self.clauses)

    def concerned(self, tool: str) -> tuple[int, ...]:
        """Return the clauses that a call of `tool` concerns."""
        return self.index.concerned(self.index.name_of(tool))

    @functools.cached_property
    def sources(self) -> dict[Delivered, Concerns]:
        """The calls whose results are counted as they arrive, each with the test for a call."""
        return {node: concerns(node.target) for node in self._read if isinstance(node, Delivered)}

    @functools.cached_property
    def denials(self) -> dict[Denied, Concerns]:
        """The terms that count refused calls, each with the test for a call."""
        return {node: concerns(node.target) for node in self._read if isinstance(node, Denied)}

    def reads_otherwise(self, before: Context, after: Context) -> bool:
        """True if a clause may read something else in `after` than it has read in `before`."""
        if before is after:
            return False
        facts, usage = self._told
        return (
            before.delivered != after.delivered
            or (facts and before.facts != after.facts)
            or (usage and before.tokens != after.tokens)
        )

    @functools.cached_property
    def _told(self) -> tuple[bool, bool]:
        """True if a clause reads facts (an atom of users may); true if one reads tokens."""
        inputs = frozenset[str]().union(*map(inputs_of, self._read))
        own = any(isinstance(node, Custom) for node in self._read)
        return own or "facts" in inputs, "usage" in inputs

    @property
    def _read(self) -> list[Node]:
        """All atoms and terms that the clauses read."""
        slots = [slot for clause in self.clauses for slot in clause.slots]
        return [node for slot in slots for node in postorder(slot.node)]

    @functools.cached_property
    def source_names(self) -> dict[Delivered, str]:
        """The sources, each with its name in snapshots."""
        return {source: repr(source) for source in self.sources}

    def delivering(self, call: Call) -> tuple[Delivered, ...]:
        """Return the sources that this call is, or may be."""
        return tuple(each for each, asks in self.sources.items() if asks(call) is not False)

    def counting(self, kind: Kind) -> tuple[int, ...]:
        """Return the clauses that see positions of this kind."""
        return self.index.counting[kind]

    def decision(self, clause: int) -> Decision:
        """Return what to do when this clause is violated.

        The contract's strategy, else the pattern's own, else block.
        """
        return self.decisions[clause]

    @functools.cached_property
    def decisions(self) -> tuple[Decision, ...]:
        pairs = zip(self.owner, self.clauses, strict=True)
        return tuple(self.contracts[k].answer or one.rule.answer or Block() for k, one in pairs)

    def answers(self, contract: str) -> tuple[Decision, ...]:
        """Return the decisions of all clauses of a contract; empty for an unknown name."""
        return self._answers.get(contract, ())

    @functools.cached_property
    def _answers(self) -> dict[str, tuple[Decision, ...]]:
        found: dict[str, dict[Decision, None]] = {}
        for i, owner in enumerate(self.owner):
            found.setdefault(self.contracts[owner].name, {})[self.decision(i)] = None
        return {name: tuple(each) for name, each in found.items()}

    @functools.cached_property
    def notifying(self) -> frozenset[int]:
        """The clauses whose contracts have people of their own to notify."""
        told = {
            self.contracts[k].name
            for k, answer in zip(self.owner, self.decisions, strict=True)
            if isinstance(answer, Escalate) and answer.notify
        }
        return frozenset(i for i, k in enumerate(self.owner) if self.contracts[k].name in told)

    @functools.cached_property
    def stateful(self) -> tuple[str, ...]:
        """The contracts that need a lasting session: they remember, or read facts, tokens or
        results.
        """
        kept = {self.owner[i] for i, clause in enumerate(self.clauses) if is_stateful(clause)}
        return tuple(each.name for k, each in enumerate(self.contracts) if k in kept)

    @functools.cached_property
    def reading_outputs(self) -> tuple[str, ...]:
        """The contracts that read the results of calls."""
        read = {
            self.owner[i]
            for i, clause in enumerate(self.clauses)
            for slot in clause.slots
            if any(map(reads_answer, postorder(slot.node)))
        }
        return tuple(each.name for k, each in enumerate(self.contracts) if k in read)

    @functools.cached_property
    def world(self) -> tuple[str, ...]:
        """The contracts on the world: no snapshot rewinds what they remember."""
        return tuple(each.name for each in self.contracts if each.on_world)

    # --- the same for all sessions ------------------------------------------------------------

    @functools.cached_property
    def starts(self) -> tuple[ClauseState, ...]:
        """The state of every clause before the first position."""
        return tuple(clause.start for clause in self.clauses)

    @functools.cached_property
    def starts_plain(self) -> tuple[Any, ...]:
        """The same as JSON data, which nobody may change."""
        return tuple(map(encode, self.starts))

    @functools.cached_property
    def wakes(self) -> dict[int, int]:
        """The first position that each clause has to see whatever the tool, where there is one."""
        pairs = enumerate(zip(self.clauses, self.starts, strict=True))
        each = ((i, one.wakes_at(start, PositionCounts(-1, -1), 0.0)) for i, (one, start) in pairs)
        return {i: at for i, at in each if at != NEVER and not self.clauses[i].by}

    @functools.cached_property
    def without_keys(self) -> Mapping[int, Any]:
        """The keys of each clause with `by`: none as yet; nobody may change it."""
        nothing: Mapping[Any, Any] = MappingProxyType({})
        return {i: nothing for i, clause in enumerate(self.clauses) if clause.by}

    @functools.cached_property
    def counting_all(self) -> Counting:
        """The counters of a session that counts for all contracts."""
        return self._counting([LINEAGE] * len(self.contracts))

    @functools.cached_property
    def counting_apart(self) -> Counting:
        """The same where contracts on the world have counters of their own."""
        each = enumerate(self.contracts)
        return self._counting([k if one.on_world else LINEAGE for k, one in each])

    def _counting(self, owners: Sequence[int]) -> Counting:
        mine = [owners[k] for k in self.owner]
        pairs = [
            (Counter(k, clause.kinds), Counter(k, clause.counts))
            for k, clause in zip(mine, self.clauses, strict=True)
        ]
        counters = dict.fromkeys(each for pair in pairs for each in pair)
        numbers = {each: n for n, each in enumerate(counters)}
        return Counting(tuple(numbers), tuple((numbers[a], numbers[b]) for a, b in pairs))

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
        """A hash of every contract, of all that matters for its state."""
        return {contract.name: fingerprint(contract) for contract in self.contracts}

    @functools.cached_property
    def needs(self) -> dict[str, frozenset[str]]:
        """The inputs that every contract needs."""
        return {contract.name: inputs_needed(contract) for contract in self.contracts}

    @property
    def limited(self) -> tuple[str, ...]:
        """The contracts for which some search so far was too large for an exact verdict."""
        each = zip(self.owner, self.clauses, strict=True)
        found = {k for k, clause in each if clause.monitor.search.limited}
        return tuple(self.contracts[k].name for k in sorted(found))

    @property
    def enforces(self) -> bool:
        """True if any contract is enforced."""
        return "enforce" in self.modes


def in_modes(policy: Policy, modes: tuple[Mode, ...]) -> Policy:
    """Return the same contracts in other modes; what is learned of tools is shared by both."""
    for name in ("lanes", "known_tools", "built", "views", "index"):
        getattr(policy, name)
    other = copy.copy(policy)
    with_modes(other, modes)
    return other


def follow(policy: Policy, before: Policy) -> None:
    """Make these contracts those of the same guard, which has met the same tools."""
    object.__setattr__(policy, "family", before.family)
    policy.known_tools.tools.update(before.known_tools.tools)


def with_modes(policy: Policy, modes: tuple[Mode, ...], risk: Mode = "enforce") -> None:
    """Give every contract and risk another mode, in all sessions, from their next decision on.

    Nothing else of a policy ever changes; what is remembered does not depend on the mode.
    """
    assert len(modes) == len(policy.modes)
    object.__setattr__(policy, "modes", modes)
    object.__setattr__(policy, "risk", risk)
