"""Refuses comparisons that never have an answer, or always have the same one.

In: a formula. Out: nothing, or a `ContractError` with every such comparison in it.
"""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any, Literal, TypeAlias

import sponsio_like.logic.formula as f
from sponsio_like.contracts.operands import one_group
from sponsio_like.errors import ContractError, Problems
from sponsio_like.events import compare
from sponsio_like.values import is_folder, leak_fields, path_parts

ValueKind: TypeAlias = Literal["number", "text", "other"]

_WHOLE = (f.Count, f.Denied, f.Repeats, f.Tokens, f.Depth)
_FROM_ZERO = (*_WHOLE, f.StepsSince, f.Age)
_NUMBERS = (*_FROM_ZERO, f.Sum)
_COMPARING = frozenset({f.OutputIs, f.TextIs, f.Happens, f.Sum, f.Repeats, f.Delivered, f.Denied})
"""The nodes that may have comparisons of their own, in themselves or in their matches."""
_FLIPPED: dict[f.Op, f.Op] = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


class _Quoted:
    """A node as messages quote it; its text is made when it is asked for."""

    def __init__(self, node: f.Node) -> None:
        self._node = node

    def __str__(self) -> str:
        return f"`{self._node!r}`"


def check_comparisons(root: f.Formula) -> None:
    """Raise `ContractError` with every comparison that is impossible or decides nothing."""
    problems = Problems()
    for node in f.postorder(root):
        if isinstance(node, f.Compare):
            problems.attempt((), _compared, node)
        if isinstance(node, (f.Compare, f.Last)):  # no other node has terms
            problems.attempt((), _readable, node)
        for place, op, value in tests_of(node):
            problems.attempt((), _tested, place, op, value, _Quoted(node))
    problems.check()


def tests_of(node: f.Node) -> list[tuple[str | f.Condition, f.Op, Any]]:
    """Return the comparisons of this very node: place, operator, operand."""
    if type(node) not in _COMPARING:
        return []
    match node:
        case f.OutputIs(_, op, value):
            return [("output", op, value)]
        case f.TextIs(op, value):
            return [("text", op, value)]
    conditions = [each for match in f.matches_of(node) for each in match.conditions]
    return [(each, each.op, each.value) for each in conditions]


def _tested(place: str | f.Condition, op: f.Op, value: Any, shown: _Quoted) -> None:
    if isinstance(place, f.Condition):
        _placed(place, shown)
    if not isinstance(value, f.Var):
        if op in ("has", "carries"):
            what = f"{shown}: `{op}` takes a variable"
            raise ContractError.of(what, "write `has $x`; a fixed text is found by `matches`")
        _with_value(op, value, shown)
    elif value.regex is not None and op == "matches":
        one_group(value.regex)
    elif value.regex is not None and (
        isinstance(place, f.Condition) or "" in leak_fields(value.regex)[0]
    ):
        what = f"{shown}: what counts is said of an output, by its fields"
        raise ContractError.of(what, 'write `output carries "iban, customer.name" as $x`')


def _placed(condition: f.Condition, shown: _Quoted) -> None:
    """Raise `ContractError` for an operator that this place cannot have."""
    path, op = condition.path, condition.op
    if condition.every and "[]" not in path_parts(path):
        what = f"{shown}: `every` speaks of the elements of a list, and `{path}` is one value"
        raise ContractError.of(what, f"did you mean `every {path}[]`?")
    if path == "@call" and not (op in ("=", "!=") and isinstance(condition.value, f.Var)):
        what = f"{shown}: `@call` is the tool and all arguments together"
        raise ContractError.of(what, "write `@call = $x`")
    if path == "*" and not isinstance(condition.value, f.Var):
        what = f"{shown}: `*` is all arguments together"
        raise ContractError.of(what, 'write `"*" = $x`, `"*" has $x`, or name a field')


def _readable(node: f.Node) -> None:
    """Raise `ContractError` for terms that have no value where they stand."""
    for child in f.children(node):
        if isinstance(child, f.Output) and not isinstance(node, f.Last):
            raise ContractError.of(
                f"`{child!r}` is a value of an earlier call",
                f"write `last({child!r}, done(..))`; of this call, `output.x > 3` is an atom",
            )
        if isinstance(child, f.Variable) and isinstance(node, f.Last):
            raise ContractError.of(f"`{child!r}` is one value, so it has no last one", "")


def _compared(node: f.Compare) -> None:
    left, op, right = node.left, node.op, node.right
    shown = _Quoted(node)
    if isinstance(left, f.Const) and isinstance(right, f.Const):
        raise ContractError.of(f"{shown} compares two constants", "write a term on one side")
    if isinstance(right, f.Variable) and op in ("in", "matches"):
        what = f"{shown}: `{right!r}` is neither a list nor a regular expression"
        raise ContractError.of(what, f"did you mean `=`, or `called(*, field has {right!r})`?")
    if isinstance(left, f.Variable) and left is right:
        raise ContractError.of(f"{shown} compares a variable with itself", "use two names")
    if isinstance(right, f.Const):
        _with_value(op, right.value, shown)
    if isinstance(left, f.Const):
        _with_value("<" if op in _FLIPPED else "=", left.value, shown)
    one, other = _kind(left), _kind(right)
    if op == "in" and isinstance(right, f.Const):
        among = {_kind_of(each) for each in _each(right.value)}
        other = one if one in among else _kind_of(_each(right.value)[0])
    elif op in ("matches", "under", "outside"):
        other = "text"
    if one is not None and other is not None and one != other:
        words = {"number": "a number", "text": "a text", "other": "neither number nor text"}
        what = f"{shown} can never be made: {words[one]} is compared with {words[other]}"
        raise ContractError.of(what, "write a number without quotes")
    _decided(node, shown)


def _kind(side: f.Term) -> ValueKind | None:
    """Return the kind of the values of this side; None if they may be anything."""
    if isinstance(side, _NUMBERS):
        return "number"
    return _kind_of(side.value) if isinstance(side, f.Const) else None


def _kind_of(value: Any) -> ValueKind:
    if isinstance(value, str):
        return "text"
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return "number" if number else "other"


def _each(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def _with_value(op: f.Op, value: Any, shown: _Quoted) -> None:
    """Raise `ContractError` for a value that this operator cannot compare with."""
    if op in ("in", "under", "outside") and not (isinstance(value, tuple) and value):
        raise ContractError.of(f"{shown} is never true", "write a list with something in it")
    if op == "matches" and not isinstance(value, str):
        raise ContractError.of(f"{shown} can never be made", "write a regular expression")
    if op in ("under", "outside"):
        for each in _each(value):
            if not isinstance(each, str) or not is_folder(each):
                what = f"{shown}: `{each}` is not an absolute folder"
                raise ContractError.of(what, 'write `under ["/workspace"]`')
    if any(isinstance(one, float) and math.isnan(one) for one in _each(value)):
        raise ContractError.of(f"{shown} can never be made: NaN equals nothing", "write a number")
    ordered = isinstance(value, str | int | float) and not isinstance(value, bool)
    if op in _FLIPPED and not ordered:
        raise ContractError.of(f"{shown} can never be made", "only numbers and texts have an order")


# --- what a number from zero can be ---------------------------------------------------------------


def _decided(node: f.Compare, shown: _Quoted) -> None:
    """Raise `ContractError` for `count(a) >= 0`: a count is never below zero."""
    left, op, right = node.left, node.op, node.right
    if isinstance(left, f.Const):
        left, op, right = right, _FLIPPED.get(op, op), left
    if not isinstance(left, _FROM_ZERO) or not isinstance(right, f.Const):
        return
    for some in (True, False):
        each = _each(right.value)
        if all(_same(op, value, some, whole=isinstance(left, _WHOLE)) for value in each):
            said = "always" if some else "never"
            raise ContractError.of(f"{shown} is {said} true", f"`{left!r}` starts from 0")


def _same(op: f.Op, value: Any, some: bool, *, whole: bool) -> bool:
    """True if the comparison is `some` for every number from zero (`whole`: 0, 1, 2, ..)."""
    if _kind_of(value) != "number":
        return some is False and op == "in"
    if math.isinf(value) or (type(value) is int and value > 0):
        return False  # of 0, this very number and the next, some are and some are not
    exact = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    near = {Decimal(0), exact, abs(exact) + 1, abs(exact).to_integral_value() + 2}
    tried = {each for each in near if each >= 0 and (not whole or each == int(each))}
    return all(compare(each, "=" if op == "in" else op, value) is some for each in tried)
