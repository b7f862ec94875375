"""Stores what the world remembers of one contract, in the entry of one session.

In: JSON data, or a ledger. Out: the same as clauses of the ledger, and as JSON data. Beside the
clauses these are the calls that have counted: those in flight, with what waits for their results,
and the last that have settled.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sponsio_like.engine import Counter, Ledger, Policy, decode, encode
from sponsio_like.events import Kind
from sponsio_like.monitor import Change
from sponsio_like.session.snapshot import Written, read_clause, write_clause

KEY = 12
"""The length of a key, in characters of six bits."""


@dataclass(slots=True)
class WorldContract:
    """One contract on the world. `means`: its fingerprint; `kinds`: of the positions it counts.

    `settled`: the keys of calls that have settled, with blanks between them, the oldest first.
    `plain`: all of it as JSON data, or None if it has changed since it was written.
    """

    name: str
    means: str
    clauses: tuple[int, ...]
    counters: tuple[tuple[int, Counter], ...]
    kinds: frozenset[Kind]
    flights: dict[str, tuple[Change, ...]] = field(default_factory=dict)
    settled: str = ""
    plain: Any = None
    written: Written = field(default_factory=Written)

    @classmethod
    def of(cls, policy: Policy, k: int) -> WorldContract:
        """Return the account of contract number `k`, before anything has counted."""
        clauses = tuple(i for i, owner in enumerate(policy.owner) if owner == k)
        name = policy.contracts[k].name
        counters = tuple(
            (n, each) for n, each in enumerate(policy.counting_apart.counters) if each.owner == k
        )
        kinds = frozenset(kind for _, counter in counters for kind in counter.kinds)
        return cls(name, policy.fingerprints[name], clauses, counters, kinds)

    def knows(self, key: str) -> bool:
        """True if this call has counted."""
        return key in self.flights or key in self.settled

    def settle(self, key: str, most: int) -> None:
        """Note that the call has its result; keep the last `most` of such keys."""
        del self.flights[key]
        self.settled = f"{self.settled} {key}".lstrip()[-most * (KEY + 1) + 1 :]

    # --- JSON data ----------------------------------------------------------------------------

    def load(self, ledger: Ledger, plain: Any, *, again: bool) -> None:
        """Take over this data, or start anew if it is None. Raises an error if the data does not
        fit.
        """
        if plain == self.plain and plain is not None and not again:
            return
        self.plain = None  # until all of it is read
        for n, _ in self.counters:
            ledger.positions[n] = 0
        for i in self.clauses:
            ledger.clear(i)
        self.flights, self.settled = {}, ""
        if plain is not None:
            self._read(ledger, plain)
        self.plain = plain

    def _read(self, ledger: Ledger, plain: Mapping[str, Any]) -> None:
        positions = {frozenset(kinds): _number(n) for kinds, n in plain["positions"]}
        for n, counter in self.counters:
            ledger.positions[n] = positions[counter.kinds]
        for i, each in zip(self.clauses, list(plain["clauses"]), strict=True):
            read_clause(ledger, i, each, self.written)
        self.flights = {
            key: tuple(self._change(ledger, *each) for each in waits)
            for key, waits in plain["flights"].items()
        }
        self.settled = _text(plain["settled"])

    def _change(self, ledger: Ledger, k: int, *waits: Any) -> Change:
        key, at, letter, *given = map(decode, waits)
        i = self.clauses[k]
        return Change(i, key, at, ledger.policy.starts[i], letter, *given)

    def write(self, ledger: Ledger) -> Any:
        """Return all of it as JSON data."""
        if self.plain is None:
            self.plain = {
                "name": self.name,
                "positions": [
                    [sorted(each.kinds), ledger.positions[n]] for n, each in self.counters
                ],
                "clauses": [write_clause(ledger, i, self.written) for i in self.clauses],
                "flights": {key: list(map(self._waiting, w)) for key, w in self.flights.items()},
                "settled": self.settled,
            }
        return self.plain

    def _waiting(self, change: Change) -> list[Any]:
        parts = (change.key, change.at, change.letter, change.given)
        return [self.clauses.index(change.clause), *map(encode, parts)]


def _number(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise ValueError(f"`{value}` is no number of positions")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"`{value}` is no list of keys")  # noqa: TRY004  damaged data, like any
    return value
