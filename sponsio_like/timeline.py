"""Why contracts are broken on a recorded trace, for people: a small timeline for each violation.

In: contracts, a trace. Out: `Finding`s: contract, values, calls that matter; as lines or as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sponsio_like.clause import Clause
from sponsio_like.errors import ContractError
from sponsio_like.outcome import Unfulfilled, Violation
from sponsio_like.reasons import Reason
from sponsio_like.replay import Judged, Replay
from sponsio_like.rereading import Reader, keys_in
from sponsio_like.terminal import Styled
from sponsio_like.trace import Called, Event, Settled, Trace
from sponsio_like.variables import Key
from sponsio_like.witnessing import Testimony, merged, testimonies

WIDTH = 72
"""Most characters of a call that are shown."""
KEYS_CAP = 400
"""Most values of which everything is told; of more, only of those that the replay has named."""
SAID = {
    "violates": "violates it",
    "forbids": "forbids it",
    "missing": "was missing",
    "counted": "was counted last",
    "asks": "still waits for",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One contract, violated (or left open) at one call, for these values.

    `applied`: to how many events of the trace the contract applied.
    """

    contract: str
    message: str
    values: tuple[tuple[str, Any], ...]
    told: Testimony
    applied: int = 0

    def as_json(self, trace: str) -> dict[str, Any]:
        """As `sponsio-like explain --json` prints it."""
        each = ({"what": r.what, "call": r.call, "text": r.text} for r in self.told.reasons)
        return {
            "id": trace,
            "contract": self.contract,
            "applied": self.applied,
            "message": self.message,
            "call": self.told.call,
            "open": self.told.open,
            "witnesses": list(self.told.witnesses),
            "values": dict(self.values),
            "because": list(each),
        }


def explained(
    replay: Replay, trace: Trace, only: str | None = None, judged: Judged | None = None
) -> list[Finding]:
    """Everything that the contracts hold against a trace. `only`: of this contract.

    `judged`: what the replay has made of the trace, if that is known. Raises `ContractError` if
    there is no such contract.
    """
    names = [contract.name for contract in replay.contracts]
    if only is not None and only not in names:
        raise ContractError.of(f"no contract is named `{only}`", f"there are: {', '.join(names)}")
    judged = judged or replay.judge(trace)
    policy = replay.play(trace).session.policy
    found: list[Finding] = []
    for i, clause in enumerate(policy.clauses):
        name = policy.contracts[policy.owner[i]].name
        named = _named(judged, name)
        if named and only in (None, name):
            found += _of_clause(clause, name, trace.events, named)
    found = [replace(each, applied=judged.applied.get(each.contract, 0)) for each in found]
    return sorted(found, key=lambda each: (each.told.call, each.contract))


def _named(judged: Judged, contract: str) -> list[Violation | Unfulfilled]:
    each: list[Violation | Unfulfilled] = [*judged.violations, *judged.unfulfilled]
    return [one for one in each if one.contract == contract]


def _of_clause(
    clause: Clause, name: str, events: Sequence[Event], named: Sequence[Violation | Unfulfilled]
) -> Iterator[Finding]:
    reader = Reader(clause)
    keys = keys_in(reader, events)
    if len(keys) > KEYS_CAP:
        told = {each.values for each in named}
        keys = [key for key in keys if _values(clause, key) in told]
    message = named[0].message
    for key in keys:
        for one in merged(testimonies(reader, events, key)):
            yield Finding(name, message, _values(clause, key), one)


def _values(clause: Clause, key: Key | None) -> tuple[tuple[str, Any], ...]:
    return () if key is None or clause.bound is None else clause.bound.said(key)


# --- for people -----------------------------------------------------------------------------------


def page(trace: Trace, found: Iterable[Finding]) -> list[Styled]:
    """The findings as timelines."""
    lines = _calls(trace.events)
    out: list[Styled] = []
    for each in found:
        values = "".join(f", ${name} = {json.dumps(v, default=str)}" for name, v in each.values)
        what = "still open" if each.told.open else "violated"
        out.append((f"{each.contract}: {what} in {trace.id}{values}", "bold"))
        out.append((f"  {each.message}", "dim"))
        out += _timeline(each.told, lines)
        out.append(("", ""))
    return out


def _timeline(told: Testimony, lines: Mapping[int, str]) -> Iterator[Styled]:
    reasons = list(told.reasons)
    if not any(each.what in ("violates", "asks") for each in reasons):
        reasons.append(Reason("violates", told.call, ""))
    places = sorted({each.call for each in reasons if each.call is not None} | {told.call})
    for call in places:
        mine = [each for each in reasons if each.call == call]
        said = "; ".join(dict.fromkeys(map(_said, mine)))
        style = "bold red" if any(each.what == "violates" for each in mine) else ""
        yield f"  call {call:<4} {lines.get(call, '(the end)')}", style
        if said:
            yield f"            <- {said}", ""
    for each in reasons:
        if each.call is None:
            since = "never happened" if each.what == "missing" else SAID[each.what]
            yield f"  {'-':<9} {each.text}", ""
            yield f"            <- {since} so far", ""


def _said(reason: Reason) -> str:
    if reason.what == "missing":
        return f"since then is missing: {reason.text}"
    if reason.what == "asks":
        return f"still waits for {reason.text or 'an answer'}"
    return f"{SAID[reason.what]}: {reason.text}" if reason.text else SAID[reason.what]


def _calls(events: Iterable[Event]) -> dict[int, str]:
    """Each call as one line, by its number."""
    out: dict[int, str] = {}
    ids: dict[str, int] = {}
    for event in events:
        match event:
            case Called(call, result):
                args = ", ".join(f"{k}={json.dumps(v, default=str)}" for k, v in call.args.items())
                line = f"{call.tool}({args})"
                ids[call.id] = len(out)
                failed = result is not None and result.status == "error"
                out[len(out)] = _short(line) + (" failed" if failed else "")
            case Settled(id, result, _) if result.status == "error" and id in ids:
                out[ids[id]] += " failed"
    return out


def _short(line: str) -> str:
    line = " ".join(line.split())
    return line if len(line) <= WIDTH else f"{line[: WIDTH - 2]}.."
