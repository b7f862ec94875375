"""Puts a demand under a condition, and tells whether two demands mean the same.

In: a condition as `prose` reads it, and guarantees as formulas. Out: the condition in words, which
read back; guarantees that count only there; and the verdict of a truth table over the parts that
are no connectives.
"""

from __future__ import annotations

import itertools
import json
from typing import Any

import sponsio_like.logic.formula as f
from sponsio_like.contracts.circumstances import condition_formula
from sponsio_like.contracts.declaration import Rule
from sponsio_like.contracts.targets import Vocabulary, read_target
from sponsio_like.contracts.templates import phrase
from sponsio_like.errors import ContractError
from sponsio_like.logic import conjuncts
from sponsio_like.logic.formula import Formula

LOGIC_CAP = 12
"""The most different parts of two formulas whose truth tables are compared."""
PAST = (f.Once, f.Historically, f.Yesterday, f.WeakYesterday, f.Since)
LOOKING_BACK = (
    *PAST,
    *(f.Count, f.Sum, f.Repeats, f.Delivered, f.Last, f.Mark, f.Age),
)
CONNECTIVES = (f.Not, f.And, f.Or, f.Implies, f.Iff)


def circumstance(
    how: str, what: Any, words: Vocabulary, *, forbids: bool = False
) -> tuple[Formula, str]:
    """Return when a sentence counts, and that in words.

    Raises `ContractError` for “never .. unless `x` was called”, which is an order of calls.
    """
    if how in ("after", "before"):
        calls = read_target(what, words)
        was = f.Yesterday(f.Once(f.Happens("called", calls) & f.Not(f.Happens("failed", calls))))
        return (was if how == "after" else ~was), f"{how} {phrase(what)}"
    read = condition_formula(what, words)
    if how == "unless":
        if forbids and any(isinstance(each, PAST) for each in f.postorder(read)):
            raise ContractError.of("this is an order of calls", "write: tool `a` must precede `b`")
        return ~read, f"unless {condition_words(what)}"
    return read, f"if {condition_words(what)}"


def condition_words(what: Any) -> str:
    """Return a condition as a sentence has it, which reads back."""
    kind, *parts = what
    match kind:
        case "both" | "either":
            return f" {'and' if kind == 'both' else 'or'} ".join(map(condition_words, parts))
        case "not":
            return _negated(*parts[0])
        case "ctx":
            return f"ctx `{parts[0]}` is {_value(parts[1])}"
        case "called":
            return f"{phrase(parts[0])} has been called"
        case "done" | "failed":
            return f"{phrase(parts[0])} has {'succeeded' if kind == 'done' else 'failed'}"
        case "now":
            tool, ((path, wanted),) = parts[0]["tool"], parts[0]["args"].items()
            sign, value = next(iter(wanted.items())) if isinstance(wanted, dict) else ("", wanted)
            signs = {"gt": "over", "lt": "under", "ge": "at least", "le": "at most", "": "is"}
            return f"`{path}` of {phrase(tool)} {signs[sign]} {_value(value)}"
        case "permitted":
            return f"the agent has permission `{parts[0]}`"
        case "agent":
            return f"the agent is `{parts[0]}`"
    return f"`{parts[1]}` has approved {phrase(parts[0])}"


def _negated(kind: str, *parts: Any) -> str:
    if kind == "ctx":
        return f"ctx `{parts[0]}` is not {_value(parts[1])}"
    said = {"called": "been called", "done": "succeeded"}[kind]
    return f"{phrase(parts[0])} has not {said}"


def _value(value: Any) -> str:
    if isinstance(value, str):
        return f'"{value}"' if '"' not in value else f"`{value}`"
    return json.dumps(value)


def demanded_where(when: Formula, demand: Formula, how: str) -> Formula:
    """Return the demand, made to count only where `when` holds.

    Raises `ContractError` where that can mean two things: of a demand that looks back, whether it
    sees what was before.
    """
    parts = conjuncts(demand)
    bodies = [part.body for part in parts if isinstance(part, f.Always)]
    looks_back = any(isinstance(n, LOOKING_BACK) for b in bodies for n in f.postorder(b))
    if len(bodies) < len(parts) or (how in ("after", "before") and looks_back):
        raise ContractError.of(
            f"“{how} ..” in front of this demand can mean two things",
            "write a contract with a scope: {after: {called: x}}, in which the past begins anew",
        )
    return f.conj(*(f.Always(when >> body) for body in bodies))


def same_meaning(first: Rule, second: Rule) -> bool:
    """True if two rules demand the same, as far as connectives show it."""
    if (first.by, first.answer) != (second.by, second.answer):
        return False
    if first.formula is second.formula:
        return True
    mine, yours = (_body(each.formula) for each in (first, second))
    return mine is not None and yours is not None and _equivalent(mine, yours)


def _body(formula: Formula) -> Formula | None:
    """Return the conjunction of what must always hold; None if other things are demanded."""
    parts = conjuncts(formula)
    bodies = [part.body for part in parts if isinstance(part, f.Always)]
    return f.rewritten(f.conj(*bodies), _one_of_one) if len(bodies) == len(parts) else None


def _one_of_one(node: object) -> Formula | None:
    """Return `t = v` for `t in [v]`."""
    match node:
        case f.Compare(left, "in", f.Const((only,))):
            return f.Compare(left, "=", f.Const(only))
    return None


def _equivalent(first: Formula, second: Formula) -> bool:
    """True if both have the same truth table over their parts that are no connectives."""
    atoms = list(dict.fromkeys([*_atoms(first), *_atoms(second)]))
    if len(atoms) > LOGIC_CAP:
        return False
    for values in itertools.product((False, True), repeat=len(atoms)):
        given = dict(zip(atoms, values, strict=True))
        if _truth(first, given) != _truth(second, given):
            return False
    return True


def _atoms(node: Formula) -> list[Formula]:
    if isinstance(node, CONNECTIVES):
        return [atom for each in f.children(node) for atom in _atoms(each)]  # type: ignore[arg-type]
    return [] if isinstance(node, f.Constant) else [node]


def _truth(node: Formula, given: dict[Formula, bool]) -> bool:
    match node:
        case f.Constant(value):
            return bool(value)
        case f.Not(body):
            return not _truth(body, given)
        case f.And(parts):
            return all(_truth(each, given) for each in parts)
        case f.Or(parts):
            return any(_truth(each, given) for each in parts)
        case f.Implies(left, right):
            return not _truth(left, given) or _truth(right, given)
        case f.Iff(left, right):
            return _truth(left, given) == _truth(right, given)
    return given[node]
