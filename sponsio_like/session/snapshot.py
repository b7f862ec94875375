"""Writes what contracts remember of a session as JSON data, and reads it back.

Out: `{"format", "session", "contracts": {name: fingerprint}, ...}`. On the way back, contracts that
mean the same keep their state; the others start anew and say so. State is small: nothing in it
grows with the trace.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from sponsio_like.engine import LINEAGE, Clause, Ledger, Policy, decode, encode, ranked
from sponsio_like.errors import SnapshotError
from sponsio_like.events import Context, Counted, Denials
from sponsio_like.monitor import (
    ClauseState,
    PositionCounts,
    State,
    of_today,
    with_one_register,
)

FORMAT = 1
ONE_REGISTER = "one register"
"""Marks the states of clauses of which older snapshots had two registers."""
compact = json.JSONEncoder(separators=(",", ":")).encode
"""Writes JSON data as a text without spaces."""
_OF_PARTS = frozenset({ClauseState, State})


class Written:
    """A cache of the JSON data of a session's parts: only what has changed is encoded again.

    Parts are immutable and compared by identity, so it may be shared by copies of a session.
    """

    def __init__(self) -> None:
        self._parts: dict[Any, tuple[Any, Any]] = {}
        self._keyed: dict[int, dict[Any, tuple[Any, Any]]] = {}
        self._texts: dict[Any, tuple[Any, str]] = {}

    def one(self, name: Any, part: Any) -> Any:
        """Return the part of this name as JSON data."""
        known = self._parts.get(name)
        if known is None or known[0] is not part:
            known = self._parts[name] = (part, _anew(part, *known or (None, None)))
        return known[1]

    def many(self, name: int, parts: Mapping[Any, Any]) -> Any:
        """Return a mapping as JSON data; only the values that have changed are encoded again."""
        written, pairs = self._keyed.setdefault(name, {}), []
        for key, part in parts.items():
            known = written.get(key)
            if known is None or known[0] is not part:
                known = written[key] = (part, [encode(key), encode(part)])
            pairs.append(known[1])
        return {"map": pairs}

    def text(self, name: Any, data: Any) -> str:
        """Return the JSON data of this name as a text, which is made anew for other data."""
        known = self._texts.get(name)
        if known is None or known[0] is not data:
            known = self._texts[name] = (data, compact(data))
        return known[1]

    def read(self, i: int, clause: Clause, ledger: Ledger, data: Any) -> None:
        """Note that clause `i` of the ledger was just read from this JSON data."""
        if not clause.by:
            self._parts[i] = (ledger.states[i], data)
            return
        each = zip(ledger.keyed[i].items(), data["map"], strict=True)
        self._keyed[i] = {key: (entry, pair) for (key, entry), pair in each}


def _anew(value: Any, old: Any, data: Any) -> Any:
    """Return the value as JSON data; parts that have not changed are those of the old data."""
    if value is old:
        return data
    kind = type(value)
    if kind is not type(old) or kind not in _OF_PARTS:
        return encode(value)
    ((name, parts),) = data.items()
    if len(parts) != len(value):  # an older version had fewer of them
        return encode(value)
    return {name: [_anew(*each) for each in zip(value, old, parts, strict=True)]}


def part(data: Mapping[str, Any], key: str, *kinds: type) -> Any:
    """Return what a snapshot has under `key`.

    Raises `ValueError` if it is of none of these kinds, or is a negative number.
    """
    value = decode(data[key])
    if type(value) not in kinds or (isinstance(value, int) and value < 0):
        raise ValueError(f"`{key}` is `{value}`")
    return value


def moment(data: Mapping[str, Any]) -> float:
    """Return the time of a snapshot, which may be before 0. Raises `ValueError` if it is none."""
    time = decode(data["time"])
    if type(time) not in (int, float) or math.isnan(time):
        raise ValueError(f"`time` is `{time}`")
    return float(time)


def take(ledger: Ledger, context: Context, written: Written) -> dict[str, Any]:
    """Return the part of a snapshot that contracts and the context make, without the world."""
    lineage = ledger.lineage
    clauses = [
        {"contract": name, "watch": write_clause(ledger, i, written)}
        for i, name in zip(lineage.clauses, lineage.names, strict=True)
    ]
    return {"clauses": clauses, **_around(ledger, context, written)}


def take_text(ledger: Ledger, context: Context, written: Written, mine: dict[str, Any]) -> str:
    """Return what `take` does, and `mine`, as a text of JSON: what has not changed is known."""
    each = zip(ledger.lineage.clauses, ledger.lineage.names, strict=True)
    named = [(i, written.text(("name", i), name)) for i, name in each]
    clauses = ",".join(
        f'{{"contract":{name},"watch":{_clause_text(ledger, i, written)}}}' for i, name in named
    )
    rest = compact(_around(ledger, context, written) | mine)
    return f'{{"clauses":[{clauses}],{rest[1:]}'


def _clause_text(ledger: Ledger, i: int, written: Written) -> str:
    """Return what clause `i` remembers, as a text of JSON."""
    clause, data = ledger.policy.clauses[i], _write_states(ledger, i, written)
    if i in ledger.stores:
        text = compact(data)
    elif not clause.by:
        text = written.text(i, data)
    else:
        pairs = zip(ledger.keyed[i], data["map"], strict=True)
        each = ",".join(written.text((i, key), pair) for key, pair in pairs)
        text = f'{{"map":[{each}]}}'
    return f'{{"{ONE_REGISTER}":{text}}}' if clause.has_one_register else text


def _around(ledger: Ledger, context: Context, written: Written) -> dict[str, Any]:
    """Return what a snapshot has beside what the clauses remember."""
    policy, lineage = ledger.policy, ledger.lineage
    return {
        "format": FORMAT,
        "contracts": {name: policy.fingerprints[name] for name in lineage.contracts},
        "positions": [
            [sorted(each.kinds), n]
            for each, n in zip(ledger.counting.counters, ledger.positions, strict=True)
            if each.owner == LINEAGE
        ],
        "facts": written.one("facts", context.facts),
        "tokens": context.tokens,
        "told_at": {key: encode(time) for key, time in context.told_at.items()},
        "denied": {
            repr(term): {"each": dict(known.each), "more": known.more}
            for term, known in context.denied.items()
        },
        "stopped": [context.stopped, policy.fingerprints.get(context.stopped, "")],
        "delivered": {policy.source_names[each]: n for each, n in context.delivered.items()},
    }


def write_clause(ledger: Ledger, i: int, written: Written) -> Any:
    """Return what clause `i` remembers, as JSON data."""
    data = _write_states(ledger, i, written)
    return {ONE_REGISTER: data} if ledger.policy.clauses[i].has_one_register else data


def _write_states(ledger: Ledger, i: int, written: Written) -> Any:
    if i in ledger.stores:
        return encode(ledger.stores[i].plain())
    by = ledger.policy.clauses[i].by
    return written.many(i, ledger.keyed[i]) if by else written.one(i, ledger.states[i])


def read_clause(ledger: Ledger, i: int, plain: Any, written: Written) -> None:
    """Take over what clause `i` remembers. Raises an error if the data does not fit the clause."""
    clause, policy = ledger.policy.clauses[i], ledger.policy
    older = clause.has_one_register and ONE_REGISTER not in plain
    if clause.has_one_register and not older:
        plain = plain[ONE_REGISTER]
    if i in ledger.stores:
        states, *rest = decode(plain)
        known = [_with_registers(clause, each, older=older) for each in states]
        last = ledger.last(i)
        ledger.put(i, (tuple([_of_today(clause, each, last) for each in known]), *rest))
        return
    if clause.by or plain != policy.starts_plain[i]:
        state = decode(plain)
        if clause.by:
            state = {
                key: (_with_registers(clause, each, older=older), length)
                for key, (each, length) in state.items()
            }
        else:
            state = _with_registers(clause, state, older=older)
        now = _all_of_today(clause, state, ledger.last(i))
        ledger.put(i, now)
        if older or now != state:
            return
    else:
        ledger.put(i, policy.starts[i])
    written.read(i, clause, ledger, plain)


def _all_of_today(clause: Clause, kept: Any, last: PositionCounts) -> Any:
    """Return what the clause remembers, with branches in the place of windows."""
    if not clause.by:
        return _of_today(clause, kept, last)
    each = kept.items()
    return {
        key: (_of_today(clause, state, PositionCounts(length - 1, length - 1)), length)
        for key, (state, length) in each
    }


def _of_today(clause: Clause, state: ClauseState, last: PositionCounts) -> ClauseState:
    outer = of_today(clause.scope_monitor, state.outer, last.seen)
    inner = state.segment and of_today(clause.monitor, state.segment, last.counted)
    if outer is not state.outer or inner is not state.segment:
        state = state._replace(outer=outer, segment=inner)
    return state if clause.automaton is None else ranked(state)


def put_back(
    ledger: Ledger, data: Mapping[str, Any], written: Written
) -> tuple[Context, tuple[str, ...], dict[int, int]]:
    """Fill a new ledger from a snapshot.

    Returns its context, the contracts that start anew, and the new numbers of old clauses. Raises
    `SnapshotError`.
    """
    if data.get("format") != FORMAT:
        raise SnapshotError(
            f"snapshot has format {data.get('format')!r}; this version reads {FORMAT}"
        )
    means, mine = ledger.policy.fingerprints, ledger.lineage.contracts
    kept = {name for name in mine if data["contracts"].get(name) == means[name]}
    moved = _moved(ledger, data, kept)
    positions = {frozenset(kinds): n for kinds, n in data["positions"]}
    for k, counter in enumerate(ledger.counting.counters):
        if counter.owner == LINEAGE:
            ledger.positions[k] = positions.get(counter.kinds, 0)
    ledger.passed = max(ledger.positions, default=0)
    for old, new in moved.items():
        read_clause(ledger, new, data["clauses"][old]["watch"], written)
    return _context(ledger.policy, data), tuple(n for n in mine if n not in kept), moved


def _context(policy: Policy, data: Mapping[str, Any]) -> Context:
    counted, names = data["delivered"], policy.source_names
    delivered = {each: counted[name] for each, name in names.items() if name in counted}
    (stopped, meant), means = data["stopped"], policy.fingerprints
    return Context(
        part(data, "facts", dict),
        part(data, "tokens", int),
        {key: decode(time) for key, time in data["told_at"].items()},
        delivered,
        _denied(policy, data["denied"]),
        stopped if stopped and means.get(stopped, "") == meant else "",
    )


def _denied(policy: Policy, data: Any) -> Counted:
    """Return the counts of refused calls, for the terms that clauses still read."""
    names = {repr(term): term for term in policy.denials}
    return {
        names[name]: Denials(
            {key: part(known["each"], key, int) for key in known["each"]}, part(known, "more", int)
        )
        for name, known in data.items()
        if name in names
    }


def _with_registers(clause: Clause, state: ClauseState, *, older: bool) -> ClauseState:
    """Return the state with the registers of today.

    Raises an error if this cannot be what the clause remembers.
    """
    if older:
        inner = state.segment
        state = state._replace(segment=inner and with_one_register(clause.monitor, inner))
    for monitor, part in ((clause.scope_monitor, state.outer), (clause.monitor, state.segment)):
        if part is not None and len(part.registers) != len(monitor.past.cells):
            raise ValueError("registers are missing")
    return state


def _moved(ledger: Ledger, data: Mapping[str, Any], kept: set[str]) -> dict[int, int]:
    """Return the new numbers of clauses of unchanged contracts, by their old ones."""
    lineage, names = ledger.lineage, [clause["contract"] for clause in data["clauses"]]
    if names == lineage.names and len(kept) == len(lineage.contracts):
        return dict(enumerate(lineage.clauses))
    new: dict[str, list[int]] = {}
    for i, name in zip(lineage.clauses, lineage.names, strict=True):
        new.setdefault(name, []).append(i)
    for name in kept:
        if names.count(name) != len(new[name]):
            raise SnapshotError(f"snapshot is damaged: clauses of `{name}` are missing")
    return {old: new[name].pop(0) for old, name in enumerate(names) if name in kept}
