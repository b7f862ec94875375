"""Replaces the value variables of contracts by values, so that advice can be searched for.

In: the ledger that refused, and the event. Out: a ledger without variables, in which each clause
speaks of the values of this refusal. Only advice is made from it; decisions never are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import sponsio_like.logic.formula as f
from sponsio_like.advice.goals import asked_once
from sponsio_like.engine import Clause, Ledger
from sponsio_like.errors import ContractError
from sponsio_like.events import Event
from sponsio_like.monitor import LONG, ClauseState, Key

NOTHING = "nothing that occurs"
"""A value that stands for those that nothing binds."""


def grounded(ledger: Ledger, event: Event, violated: Mapping[int, Key | None]) -> Ledger:
    """Return a ledger with the violated values, or those that the event binds, for the variables.

    `violated` has the values by clause. It is the same ledger if no contract has variables. Raises
    `ContractError` for values that are no scalars.
    """
    if not ledger.stores:
        return ledger
    clauses, states = list(ledger.policy.clauses), list(ledger.states)
    for i, store in ledger.stores.items():
        key = violated.get(i) or next(iter(ledger.keys_of(i, event)), None)
        state = store.rest.state if key is None else store.state(key)
        try:
            clauses[i], states[i] = _clause(clauses[i], key, state)
        except ContractError:
            if i in violated:
                raise
            clauses[i], states[i] = _clause(clauses[i], None, store.rest.state)
    twin = ledger.copy(key for each in ledger.keyed.values() for key in each)
    twin.policy = replace(ledger.policy, clauses=tuple(clauses))
    twin.states, twin.stores = states, {}
    return twin


def _clause(clause: Clause, key: Key | None, state: ClauseState) -> tuple[Clause, ClauseState]:
    """Return the clause for this key with its state, or with a new one if that does not fit."""
    made = _unbound(clause) if key is None else _pinned(clause, key)
    same = len(made.slots) == len(clause.slots) and [
        len(each.past.cells) for each in (made.monitor, made.scope_monitor)
    ] == [len(each.past.cells) for each in (clause.monitor, clause.scope_monitor)]
    return made, state if same else made.start


@asked_once
def _unbound(clause: Clause) -> Clause:
    """Return the clause for values that nothing binds: most clauses, whatever is refused."""
    return _pinned(clause, None)


def _pinned(clause: Clause, key: Key | None) -> Clause:
    """Return the clause for this key. Raises `ContractError` for values that are no scalars."""
    assert clause.bindings is not None
    said = dict(clause.bindings.said(key)) if key is not None else {}
    forms = clause.bindings.names.forms
    values = {
        name: _spelled(said.get(name, NOTHING), text=forms[name] == "text")
        for name in clause.bindings.names.places
    }
    local = clause.bindings.names.local
    contract, scope = clause.contract, clause.contract.segment
    assumed = None if contract.assumption is None else pin(contract.assumption, values, local)
    if scope is not None:
        ends = (scope.start, scope.stop)
        start, stop = (None if each is None else pin(each, values, local) for each in ends)
        scope = replace(scope, start=start, stop=stop)
    rule = replace(clause.rule, formula=pin(clause.rule.formula, values, local))
    about = replace(contract, assumption=assumed, segment=scope, rules=(rule,))
    return Clause(about, rule, clause.monitor.search.tools)


def pin(root: f.Formula, values: Mapping[str, Any], local: Mapping[str, str]) -> f.Formula:
    """Return the formula with these values.

    Raises `ContractError` for a value that is no scalar.
    """

    def swap(part: Any) -> Any:
        match part:
            case f.Variable(name):
                return f.Arg(local[name]) if name in local else f.Const(_scalar(values[name]))
            case f.OutputIs(path, op, f.Var() as var):
                value = _scalar(values[var.name])
                return f.OutputIs(path, _op(op), value[0] if isinstance(value, tuple) else value)
            case f.TextIs(_, var):
                return f.TextMatches(re.escape(str(values[var.name])))
            case f.Match():
                kept = [each for each in part.conditions if not _is_local(each, local)]
                return replace(part, conditions=tuple(_condition(each, values) for each in kept))
        return None

    return f.rewritten(root, swap)


def _is_local(condition: f.Condition, local: Mapping[str, str]) -> bool:
    return isinstance(condition.value, f.Var) and condition.value.name in local


def _condition(condition: f.Condition, values: Mapping[str, Any]) -> f.Condition:
    if not isinstance(condition.value, f.Var):
        return condition
    value = _scalar(values[condition.value.name])
    if isinstance(value, tuple) and condition.op == "=":
        return replace(condition, op="in", value=value)
    value = value[0] if isinstance(value, tuple) else value
    return replace(condition, op=_op(condition.op), value=value)


def _op(op: f.Op) -> f.Op:
    """Return the operator for a fixed value: a text has what a regular expression found."""
    return "has" if op == "matches" else op


def _spelled(value: Any, *, text: bool) -> Any:
    """Return the value; for one that is compared as text, also the number that it spells."""
    try:
        return (value, float(value)) if text and isinstance(value, str) else value
    except ValueError:
        return value


def _scalar(value: Any) -> Any:
    if isinstance(value, str) and value.startswith(LONG):
        raise ContractError.of("a long value cannot be written down")
    if isinstance(value, (str, int, float, bool, type(None), tuple)):
        return value
    raise ContractError.of(f"`{value}` is no plain value")
