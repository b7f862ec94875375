"""A session as JSON data, and back.

Out: `{"format", "session", "contracts": {name: fingerprint}, ...}`. On the way back, contracts
that mean the same keep their state; the others start anew and say so. State is small: nothing in
it grows with the trace.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from sponsio_like.atoms import LATE, OPEN
from sponsio_like.clause import Change, Clause, Place, Watch
from sponsio_like.compiler import Policy, fingerprint
from sponsio_like.context import Context
from sponsio_like.errors import SnapshotError
from sponsio_like.freezing import UNREADABLE
from sponsio_like.ledger import Ledger
from sponsio_like.monitor import State
from sponsio_like.terms import MISSING
from sponsio_like.window import Entry

FORMAT = 1
_NAMES: dict[str, Any] = {"open": OPEN, "late": LATE, "missing": MISSING, "unreadable": UNREADABLE}
_RECORDS: dict[str, Callable[..., Any]] = {
    "watch": Watch,
    "state": State,
    "entry": Entry,
    "change": Change,
    "place": Place,
}


def encode(value: Any) -> Any:
    """`value` as JSON data that `decode` reads back exactly."""
    match value:
        case bool() | int() | str() | None:
            return value
        case float():
            return value if math.isfinite(value) else {"float": repr(value)}
        case Decimal():
            return {"decimal": str(value)}
        case frozenset():
            return {"set": sorted((encode(each) for each in value), key=repr)}
        case Mapping():
            return {"map": [[encode(key), encode(each)] for key, each in value.items()]}
        case list():
            return {"list": [encode(each) for each in value]}
    for name, known in _NAMES.items():
        if value is known:
            return {"name": name}
    for name, record in _RECORDS.items():
        if type(value) is record:
            return {name: [encode(each) for each in value]}
    if isinstance(value, tuple):
        return {"tuple": [encode(each) for each in value]}
    raise TypeError(f"cannot be part of a snapshot: {value!r}")


def decode(data: Any) -> Any:
    """The value that `encode` made."""
    if not isinstance(data, dict):
        return data
    ((kind, body),) = data.items()
    match kind:
        case "float":
            return float(body)
        case "decimal":
            return Decimal(body)
        case "name":
            return _NAMES[body]
        case "set":
            return frozenset(map(decode, body))
        case "map":
            return {decode(key): decode(each) for key, each in body}
        case "list":
            return [decode(each) for each in body]
        case "tuple":
            return tuple(map(decode, body))
    return _RECORDS[kind](*map(decode, body))


def part(data: Mapping[str, Any], key: str, *kinds: type) -> Any:
    """What a snapshot has under `key`. Raises `ValueError` if it is of none of these kinds."""
    value = decode(data[key])
    number = isinstance(value, (int, float))
    if type(value) not in kinds or (number and (math.isnan(value) or 0 > value > -math.inf)):
        raise ValueError(f"`{key}` is `{value}`")
    return value


def take(
    policy: Policy, ledger: Ledger, context: Context, rest: Mapping[str, Any]
) -> dict[str, Any]:
    """The snapshot of a session."""
    clauses = [
        {
            "contract": policy.contracts[policy.owner[i]].name,
            "watch": encode(ledger.keyed[i] if clause.by else ledger.watches[i]),
        }
        for i, clause in enumerate(policy.clauses)
    ]
    return {
        "format": FORMAT,
        "contracts": {contract.name: fingerprint(contract) for contract in policy.contracts},
        "clauses": clauses,
        "positions": [[sorted(kinds), n] for kinds, n in ledger.positions.items()],
        "facts": encode(context.facts),
        "tokens": context.tokens,
        "told_at": dict(context.told_at),
        "delivered": {repr(source): n for source, n in context.delivered.items()},
        **{key: encode(value) for key, value in rest.items()},
    }


def put_back(
    policy: Policy, data: Mapping[str, Any]
) -> tuple[Ledger, Context, tuple[str, ...], dict[int, int]]:
    """The ledger and context of a snapshot; the contracts that start anew.

    Old clause numbers to new ones.
    """
    if data.get("format") != FORMAT:
        raise SnapshotError(
            f"snapshot has format {data.get('format')!r}; this version reads {FORMAT}"
        )
    ledger = Ledger(policy)
    kept = {c.name for c in policy.contracts if data["contracts"].get(c.name) == fingerprint(c)}
    moved = _moved(policy, data, kept)
    positions = {frozenset(kinds): n for kinds, n in data["positions"]}
    for kinds in ledger.positions:
        ledger.positions[kinds] = positions.get(kinds, 0)
    for old, new in moved.items():
        watch = decode(data["clauses"][old]["watch"])
        _check(policy.clauses[new], watch)
        ledger.put(new, watch)
    fresh = tuple(contract.name for contract in policy.contracts if contract.name not in kept)
    return ledger, _context(policy, data), fresh, moved


def _context(policy: Policy, data: Mapping[str, Any]) -> Context:
    counted = data["delivered"]
    delivered = {each: counted[repr(each)] for each in policy.sources if repr(each) in counted}
    return Context(part(data, "facts", dict), part(data, "tokens", int), data["told_at"], delivered)


def _check(clause: Clause, kept: Any) -> None:
    """Raise some error if this is not what the clause remembers."""
    for watch in [each for each, _ in kept.values()] if clause.by else [kept]:
        for monitor, state in ((clause.gate, watch.gate), (clause.monitor, watch.inner)):
            if state is not None and len(state.registers) != len(monitor.past.cells):
                raise ValueError("registers are missing")


def _moved(policy: Policy, data: Mapping[str, Any], kept: set[str]) -> dict[int, int]:
    """Clauses of unchanged contracts, by their old number."""
    new: dict[str, list[int]] = {}
    for i, owner in enumerate(policy.owner):
        new.setdefault(policy.contracts[owner].name, []).append(i)
    moved: dict[int, int] = {}
    names = [clause["contract"] for clause in data["clauses"]]
    for name in kept:
        if names.count(name) != len(new[name]):
            raise SnapshotError(f"snapshot is damaged: clauses of `{name}` are missing")
    for old, clause in enumerate(data["clauses"]):
        if clause["contract"] in kept:
            moved[old] = new[clause["contract"]].pop(0)
    return moved
