"""The states that risk speaks of: how far the contracts' monitors are, and the last few symbols.

In: the ledger of a session, and its calls. Out: a context `(monitors, symbols)`; with the call that
is proposed next, a state. The same code makes the states when a model is learned and when it is
used. A symbol is a tool and how it ended: `pay`, `pay!` failed, `pay?` still runs; with the named
predicates that hold of its arguments: `pay[large]`.
"""

from __future__ import annotations

import hashlib
import json
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any, TypeAlias

from sponsio_like.engine import Clause, Ledger, Policy, encode
from sponsio_like.monitor import ClauseState, State

Context: TypeAlias = tuple[str, tuple[str, ...]]
"""The state of the monitors, and the last symbols, the oldest first."""
CACHE_CAP = 65_536
"""Most states of monitors whose names are remembered; beyond, they are named anew."""
COUNT_CAP = 8
"""The count from which on all counts are the same state."""
START = "-"
"""The name of what a monitor remembers before the first call."""
LOST = "(not known)"
"""The symbol of a call that nobody knows."""
Holds: TypeAlias = Callable[[str, Mapping[str, Any]], Sequence[str]]
"""(tool, arguments) -> the names of the predicates that hold."""


class MonitorNames:
    """Names for what the monitors of a policy remember, the same in every process.

    A monitor whose states are finitely many is named by its state; of others, counts are told up to
    8, and of any other number or value no more than that there is one. `said` has the names of each
    clause by the name of all.
    """

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._known: dict[tuple[int, ...], tuple[list[Any], str]] = {}
        self.said: dict[str, tuple[str, ...]] = {}
        self._bound = [i for i, clause in enumerate(policy.clauses) if clause.bindings is not None]
        self._keyed = [
            i for i, each in enumerate(policy.clauses) if each.by and each.bindings is None
        ]
        self.split = bool(self._bound or self._keyed)

    def used(self, ledger: Ledger) -> list[int]:
        """Return the clauses of which some value has a state of its own.

        It is asked at every decision: two short loops take half the time of one that tells apart.
        """
        bound, keyed = ledger.stores, ledger.keyed
        used = [i for i in self._bound if bound[i].keys] if self._bound else []
        return used + [i for i in self._keyed if keyed[i]] if self._keyed else used

    def name(self, ledger: Ledger) -> str:
        """Return the name of the state that all monitors are in."""
        key = tuple(map(id, ledger.states))
        if self.split:
            key = (*key, *self.used(ledger))
        found = self._known.get(key)
        if found is None:
            name = self._named([self._of(i, ledger) for i in range(len(ledger.states))])
            if len(self._known) >= CACHE_CAP:
                self._known.clear()
            found = self._known[key] = (ledger.states.copy(), name)  # which keeps their identity
        return found[1]

    def _of(self, i: int, ledger: Ledger) -> str:
        clause = self._policy.clauses[i]
        if clause.bindings is not None:
            return "some" if ledger.stores[i].tells else START
        if clause.by:
            return "some" if ledger.keyed[i] else START
        state = ledger.states[i]
        if state is self._policy.starts[i]:
            return START
        known = _summary(clause, state)
        return START if known == _summary(clause, self._policy.starts[i]) else _digest(known)

    def _named(self, parts: Sequence[str]) -> str:
        if all(part == START for part in parts):
            return START
        name = _digest(list(parts))
        self.said.setdefault(name, tuple(parts))
        return name


def _digest(data: Any) -> str:
    text = json.dumps(data, sort_keys=True, separators=(",", ":"))
    return hashlib.blake2b(text.encode(), digest_size=6).hexdigest()


def _summary(clause: Clause, state: ClauseState) -> Any:
    """Return what is told of a clause's state, as JSON data."""
    if clause.automaton is not None:
        return encode(state._replace(flying=()))
    inner = None if state.segment is None else _counts(state.segment)
    return [_counts(state.outer), inner, state.closed, state.violated, bool(state.left_open)]


def _counts(state: State) -> Any:
    return [[_number(each) for each in state.registers], min(len(state.live), 2), state.lost]


def _number(register: Any) -> Any:
    match register:
        case bool() | None:
            return register
        case int():
            return min(register, COUNT_CAP)
        case Decimal() | float():
            return "more" if register else 0
        case tuple():
            return min(len(register), COUNT_CAP)
    return "some"


class Path:
    """The calls of one session so far, as states of risk: its context, kept up to date call by
    call.

    `reach`: how many symbols are kept. Not thread-safe by itself: the session holds its lock.
    """

    __slots__ = (
        "_holds",
        "_names",
        "_states",
        "_used",
        "context",
        "plain",
        "seen",
        "split",
        "symbols",
    )  # fmt: skip

    def __init__(self, names: MonitorNames, reach: int, holds: Holds | None = None) -> None:
        self._names, self._holds, self.plain = names, holds, holds is None
        self.split = names.split
        self.symbols: deque[tuple[str, str]] = deque(maxlen=reach)
        self.seen: list[ClauseState] | None = None
        self._states: list[ClauseState] | None = None
        self._used: list[int] = []
        self.context: Context = (START, ())

    def symbol(self, tool: str, args: Mapping[str, Any]) -> str:
        """Return the symbol of a call that is proposed."""
        if self._holds is None:
            return tool
        names = self._holds(tool, args)
        return f"{tool}[{','.join(names)}]" if names else tool

    def began(self, id: str, tool: str, args: Mapping[str, Any]) -> None:
        """Note a call that was let through."""
        symbol = tool if self._holds is None else self.symbol(tool, args)
        self.symbols.append((id, symbol + "?"))
        self.seen = None

    def note_result(self, id: str, ok: bool) -> None:
        """Note the result of a call; one that lies too far back changes nothing."""
        symbols = self.symbols
        for i in range(len(symbols) - 1, -1, -1):  # the latest first: as a rule it is the one
            known, symbol = symbols[i]
            if known == id and symbol[-1] == "?":
                symbols[i] = (id, symbol[:-1] if ok else symbol[:-1] + "!")
                break
        self.seen = None

    def ran(self, id: str, tool: str, args: Mapping[str, Any], *, ok: bool) -> None:
        """Note a call and its result at once."""
        symbol = tool if self._holds is None else self.symbol(tool, args)
        self.symbols.append((id, symbol if ok else symbol + "!"))
        self.seen = None

    def lost(self) -> None:
        """Forget the calls so far: the state is unknown until enough further calls are known."""
        self.symbols.extend([("", LOST)] * (self.symbols.maxlen or 0))
        self.seen = None

    def fresh(self, ledger: Ledger) -> bool:
        """Return True if `context` is that of this ledger; else bring it up to date."""
        if self.is_fresh(ledger):
            return True
        symbols = tuple([symbol for _, symbol in self.symbols])
        used = self._names.used(ledger) if self.split else []
        if self._states != ledger.states or self._used != used:
            self.context = (self._names.name(ledger), symbols)
            self._states, self._used = ledger.states.copy(), used
        else:
            self.context = (self.context[0], symbols)
        self.seen = self._states
        return False

    def is_fresh(self, ledger: Ledger) -> bool:
        """Return True if `context` is that of this ledger."""
        if self.seen is None or self.seen != ledger.states:  # equal objects, as a rule
            return False
        return not (self.split and self.has_moved(ledger))

    def has_moved(self, ledger: Ledger) -> bool:
        """Return True if other clauses than before have states for single values."""
        return self._used != self._names.used(ledger)
