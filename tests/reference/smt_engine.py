"""What the engine says of a statement and a trace, to be held against the solver.

In: a statement as the mapping that is written in YAML, and a trace. Out: the events at which a
session in observe mode reports a violation, the values that it names, and what it leaves open; and
what is told of the recorded trace: every event and binding of which the statement is false.
"""

from __future__ import annotations

import functools
import json
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

from sponsio_like.contracts.loader import loads
from sponsio_like.errors import ContractWarning
from sponsio_like.guard.guard import Guard
from sponsio_like.monitor.parametric.lookup import UNBOUND
from sponsio_like.monitor.parametric.variables import value_text
from sponsio_like.outcome import Allowed, Violation
from sponsio_like.replay.reread import Reader, keys_in
from sponsio_like.replay.witness import explanations
from sponsio_like.session.session import Session
from sponsio_like.traces.trace import trace_of
from tests.reference.smt_reading import statement, variable
from tests.reference.smt_values import FRESH, Event, Key, key

Named = Mapping[str, Any]
"""The values that a report names, by the variables."""
Blamed = dict[tuple[Key, ...], set[int]]
"""For all values, the calls of which the statement is false; a message, by the calls before it."""
KEYS = 300
"""Of more values it is not told which calls are to blame."""
SIGNS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "ne": "!=", "in": "in", "matches": "matches"}


@dataclass
class Said:
    """What the engine has said: reports by the number of their event, and at the end."""

    reported: dict[int, list[Named]] = field(default_factory=dict)
    unfulfilled: list[Named] = field(default_factory=list)
    blamed: Blamed = field(default_factory=dict)
    raised: str = ""

    @property
    def violated(self) -> bool:
        """Whether anything was said."""
        return bool(self.reported or self.unfulfilled)


def engine_witnesses(mapping: Mapping[str, Any], events: Sequence[Event]) -> Said:
    """Play the trace in observe mode. Raises `ContractError` if the statement is refused."""
    session = guard_of(mapping).session()
    said = Said()
    try:
        for number, event in enumerate(events):
            for found in _played(session, event):
                said.reported.setdefault(number, []).append(found.binding)
        said.unfulfilled = [each.binding for each in session.finish()]
        with mock.patch("sponsio_like.monitor.slots.KEY_CAP", 10**9):  # values as they are
            said.blamed = blamed(mapping, events)
    except Exception as error:  # whatever it is, it is a disagreement
        said.raised = repr(error)
    return said


def blamed(mapping: Mapping[str, Any], events: Sequence[Event]) -> Blamed:
    """What `explain` tells of the recorded trace. A value that occurs nowhere is `FRESH`.

    Nothing, where more than `KEYS` values occur, and without variables.
    """
    (clause,) = guard_of(mapping).policy.clauses
    trace = trace_of({"events": list(events)})
    if clause.bindings is None:
        return {}
    found: Blamed = {}
    reader = Reader(clause)
    keys = keys_in(reader, trace.events)
    if len(keys) > KEYS:
        return {}
    for each in (*keys, clause.bindings.nobody):
        assert each is not None
        given = {name: each[place] for name, place in clause.bindings.names.places.items()}
        mine = (given[name] for name in statement(mapping).variables())
        values = tuple(FRESH if one is UNBOUND else key(value_text(one)) for one in mine)
        told = explanations(reader, trace.events, each)
        found[values] = {call for one in told for call in one.witnesses}
    return found


def guard_of(mapping: Mapping[str, Any]) -> Guard:
    """A guard with this one statement, in observe mode."""
    contract = {"name": "statement", "guarantee": guarantee(mapping)}
    return _guard(json.dumps({"version": 1, "contracts": [contract]}))


@functools.lru_cache(maxsize=64)
def _guard(text: str) -> Guard:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ContractWarning)  # what is written is tried as it is
        return Guard(loads(text).contracts, mode="observe")


def _played(session: Session, event: Event) -> Iterable[Violation]:
    """One event; the violations that are reported."""
    if event.get("type") == "message":
        outcome = session.message(event["role"], event.get("text"))
        assert isinstance(outcome, Allowed)
        return outcome.observed
    agent = event.get("agent", "agent")
    outcome = session.decide(event["tool"], event.get("args", {}), agent=agent)
    assert isinstance(outcome, Allowed)
    output = event.get("output")
    if event.get("status", "ok") == "ok":
        return (*outcome.observed, *session.settle(outcome.id, output=output))
    return (*outcome.observed, *session.settle(outcome.id, error=output or ""))


# --- a temporal body as a formula -----------------------------------------------------------------


def guarantee(mapping: Mapping[str, Any]) -> dict[str, Any]:
    """A statement as a guarantee; a temporal body becomes a formula."""
    if "always" not in mapping:
        return dict(mapping)
    return {"ltl": f"G({_formula(mapping['always'])})"}


def _formula(body: Mapping[str, Any]) -> str:
    (op, inner), *rest = body.items()
    if not rest:
        match op:
            case "not":
                return f"!({_formula(inner)})"
            case "and":
                return " & ".join(f"({_formula(part)})" for part in inner)
            case "earlier":
                return f"Y O ({_formula(inner)})"
            case "later":
                return f"X F ({_formula(inner)})"
    return " & ".join(_atoms(body))


def _atoms(match: Mapping[str, Any]) -> Iterator[str]:
    """A match as atoms of one event."""
    if "message" in match:
        yield f"message({match['message']})"
        yield from _tests("text", match["text"]) if "text" in match else ()
        return
    tools = match.get("tool", "*")
    parts = [tools if isinstance(tools, str) else f"[{', '.join(tools)}]"]
    for path, wanted in match.get("args", {}).items():
        parts += _tests('"*"' if path == "*" else path, wanted)
    for name in ("agent", "call"):
        parts += _tests(f"@{name}", match[name]) if name in match else ()
    parts += ['@missing = "refuse"'] if "missing" in match else []
    happens = {"any": "called", "ok": "done", "error": "failed"}[match.get("status", "any")]
    yield f"{happens}({', '.join(parts)})"
    if "output" in match:
        output = match["output"]
        path = output.get("path") if isinstance(output, Mapping) else None
        yield from _tests(f"output.{path}" if path else "output", output)


def _tests(path: str, wanted: Any) -> Iterator[str]:
    if not isinstance(wanted, Mapping):
        yield f"{path} = {_value(wanted)}"
        return
    rest = {word: value for word, value in wanted.items() if word != "path"}
    if "every" in rest or "some" in rest:
        ((word, inner),) = rest.items()
        yield from _tests(f"every {path}" if word == "every" else path, inner)
        return
    if "bind" in rest:
        bound = rest.pop("bind")
        regex = rest.pop("matches", None)
        yield f"{path} = {bound}" if regex is None else f"{path} matches {_value(regex)} as {bound}"
    for word, value in rest.items():
        yield f"{path} {SIGNS.get(word, word)} {_value(value)}"


def _value(value: Any) -> str:
    return str(value) if variable(value) else json.dumps(value)
