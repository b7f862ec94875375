"""Prints a formula or a term as text that reads back as the same object.

In: any node. Out: ASCII text with the parentheses it needs, and a few that make it readable. No
recursion: the text is written left to right from a stack of pieces, so depth is no limit.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, TypeAlias

import sponsio_like.logic.formula as f
from sponsio_like.logic.targets import is_glob
from sponsio_like.logic.tree import PRINTERS

Piece: TypeAlias = "str | f.Node"

FUNCTIONS = (
    "called", "done", "failed", "output", "agent", "message", "text", "permission", "approved",
    "step", "count", "sum", "since", "age", "repeats", "last", "delivered",
    "denied", "fact_age", "approval_age", "arg", "mark", "ctx", "tokens", "depth", "initially",
)  # fmt: skip
RESERVED = frozenset(FUNCTIONS) | frozenset(
    {
        *("X", "WX", "Y", "WY", "F", "G", "O", "H", "U", "W", "R", "S"),
        *("true", "false", "null", "NaN", "Infinity"),
    }
)
"""The words of the syntax; an atom of the user with such a name is written in quotes."""

_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_PATH = re.compile(r"[A-Za-z_][\w-]*(\[\])*(:\w+)?(\.[\w-]+(\[\])*(:\w+)?)*", re.ASCII)
_WORD = re.compile(r"[A-Za-z_][\w.:/-]*", re.ASCII)
_TOOL = re.compile(r"[\w*?][\w.:/*?-]*", re.ASCII)
_TEST = re.compile(r"(?:in|matches|has|carries|under|outside)(?!\w)")
"""Beginnings that a path after `every` must not have unless it is in quotes."""

FIRST = f.Not(f.Yesterday(f.TRUE))
"""The formula "this is the first position": `G` of what it implies is written `initially(..)`."""

# Levels of binding, the loosest first. Infix atoms (`agent = "a"`) under prefix operators, and
# operands of U, W, R, S, are bracketed although they need not be: `G(count(f) <= 3)`,
# `(f | g) U h`.
_IFF, _IMPLIES, _TEMPORAL, _OR, _AND, _INFIX, _UNARY = range(7)

_PREFIX: dict[type[f.Node], str] = {
    f.Not: "!", f.Next: "X", f.WeakNext: "WX", f.Yesterday: "Y", f.WeakYesterday: "WY",
    f.Eventually: "F", f.Always: "G", f.Once: "O", f.Historically: "H",
}  # fmt: skip
# operator, own level, level that the left and the right side must have
_BINARY: dict[type[f.Node], tuple[str, int, int, int]] = {
    f.Iff: ("<->", _IFF, _TEMPORAL, _TEMPORAL),
    f.Implies: ("->", _IMPLIES, _TEMPORAL, _IMPLIES),
    f.Until: ("U", _TEMPORAL, _UNARY, _UNARY),
    f.WeakUntil: ("W", _TEMPORAL, _UNARY, _UNARY),
    f.Release: ("R", _TEMPORAL, _UNARY, _UNARY),
    f.Since: ("S", _TEMPORAL, _UNARY, _UNARY),
}


def show(node: f.Node) -> str:
    """Return the text of a formula or a term; `read` (`read_term`) makes the same object of it."""
    out: list[str] = []
    stack: list[Piece] = [node]
    while stack:
        piece = stack.pop()
        if isinstance(piece, str):
            out.append(piece)
        else:
            stack.extend(reversed(list(_pieces(piece))))
    return "".join(out)


PRINTERS.update(node=show)


def _pieces(node: f.Node) -> Iterator[Piece]:
    match node:
        case f.And(parts) | f.Or(parts):
            sign, level = (" & ", _INFIX) if isinstance(node, f.And) else (" | ", _AND)
            for at, part in enumerate(parts):
                yield from ([sign] if at else [])
                yield from _bracketed(part, level)
        case f.Always(f.Implies(left, body), None) if left is FIRST:
            yield from ("initially(", body, ")")
        case f.Formula() if type(node) in _PREFIX:
            sign, (body, *bound) = _PREFIX[type(node)], _fields(node)
            yield from _prefixed(sign + (_bound(bound[0]) if bound else ""), body)
        case f.Formula() if type(node) in _BINARY:
            (sign, _, level, other), (left, right) = _BINARY[type(node)], _fields(node)
            yield from _bracketed(left, level)
            yield f" {sign} "
            yield from _bracketed(right, other)
        case f.Compare(left, op, right):
            yield from (left, f" {op} ", right)
        case f.Formula():
            yield _atom(node)
        case _:
            yield from _term(node)


def _fields(node: f.Node) -> list[Any]:
    return [getattr(node, name) for name in f.fields_of(type(node))]


def _prefixed(sign: str, body: f.Formula) -> Iterator[Piece]:
    yield sign
    if sign != "!" and _level(body) >= _UNARY:
        yield " "
    yield from _bracketed(body, _UNARY)


def _bracketed(formula: f.Formula, level: int) -> Iterator[Piece]:
    yield from (formula,) if _level(formula) >= level else ("(", formula, ")")


def _level(formula: f.Formula) -> int:
    match formula:
        case f.And():
            return _AND
        case f.Or():
            return _OR
        case f.Compare() | f.OutputIs() | f.ByAgent() | f.TextMatches() | f.TextIs():
            return _INFIX
        case _:
            return _BINARY[type(formula)][1] if type(formula) in _BINARY else _UNARY


def _atom(atom: f.Formula) -> str:
    match atom:
        case f.Constant(value):
            return "true" if value else "false"
        case f.Happens(what, target):
            return f"{what}({_target(target)})"
        case f.OutputIs(path, op, value):
            return f"output{'.' + _plain(path, _PATH) if path else ''} {op} {_operand(value)}"
        case f.ByAgent(name):
            return f"agent = {_string(name)}"
        case f.MessageBy(role):
            return f"message({'*' if role == '*' else _plain(role, _WORD)})"
        case f.TextMatches(regex):
            return f"text matches {_string(regex)}"
        case f.TextIs(op, value):
            return f"text {op} {_operand(value)}"
        case f.Permitted(name):
            return f"permission({_plain(name, _WORD)})"
        case f.Approved(action, role):
            return f"approved({_plain(action, _WORD)}, {_plain(role, _WORD)})"
        case f.Observed(name):
            return f"step({_plain(name, _WORD)})"
        case f.Custom(name, args):
            word = _string(name) if name in RESERVED else _plain(name, _NAME)
            return f"{word}({', '.join(map(_value, args))})"
    raise TypeError(f"no text for {type(atom).__name__}")  # a node that this module does not know


def _term(node: f.Node) -> Iterator[Piece]:
    match node:
        case f.Const(value):
            yield _value(value)
        case f.Variable(name):
            yield f"${name}"
        case f.Output(path):
            yield f"output({_plain(path, _PATH) if path else ''})"
        case f.Count(body, reset, bound):
            yield from (f"count{_bound(bound)}(", body)
            yield from () if reset is None else (" since ", reset)
            yield ")"
        case f.Sum(target, path, bound):
            yield f"sum{_bound(bound)}(called({_target(target)}), {_plain(path, _PATH)})"
        case f.StepsSince(body):
            yield from ("since(", body, ")")
        case f.Age(body):
            yield from ("age(", body, ")")
        case f.Repeats(target, similar):
            how = "" if similar == "equal" else f", {similar}"
            yield f"repeats(called({_target(target)}){how})"
        case f.Last(value, body):
            yield from ("last(", value, ", ", body, ")")
        case f.Delivered(target):
            yield f"delivered(called({_target(target)}))"
        case f.Denied(target, like):
            how = "" if like == "any" else f", {like}"
            yield f"denied(called({_target(target)}){how})"
        case f.FactAge(key):
            yield f"fact_age({_plain(key, _PATH)})"
        case f.ApprovalAge(action, role):
            yield f"approval_age({_plain(action, _WORD)}, {_plain(role, _WORD)})"
        case f.Mark(path):
            yield f"mark({path if path == '*' else _plain(path, _PATH)})"
        case f.Arg(path):
            yield f"arg({_plain(path, _PATH)})"
        case f.Ctx(key):
            yield f"ctx({_plain(key, _PATH)})"
        case f.Tokens():
            yield "tokens()"
        case f.Depth():
            yield "depth()"
        case _:
            raise TypeError(f"no text for {type(node).__name__}")


def _bound(bound: f.Bound) -> str:
    if bound is None:
        return ""
    if isinstance(bound, f.Steps):
        return f"[<={bound.count}]"
    return f"[<={repr(bound.count).removesuffix('.0')}s]"


def _target(target: f.Target) -> str:
    return "; ".join(map(_match, target))


def _match(match: f.Match) -> str:
    names = [f"={_string(n)}" if is_glob(n) else _plain(n, _TOOL) for n in match.names]
    globs = [_string(g) if g == "*" else _plain(g, _TOOL) for g in match.globs]
    tools = [*names, *globs]
    head = ", ".join(tools)
    parts = [f"[{head}]" if len(tools) > 1 else head or "*"]
    parts.extend(map(_condition, match.conditions))
    if match.agent is not None:
        parts.append(f"@agent = {_string(match.agent)}")
    if match.strict is not None:
        parts.append(f'@missing = "{"refuse" if match.strict else "skip"}"')
    return ", ".join(parts)


def _condition(condition: f.Condition) -> str:
    path, op, value = condition.path, condition.op, condition.value
    if condition.every:
        field = f"every {_string(path) if _TEST.match(path) else _plain(path, _PATH)}"
    elif path == "@call" or (path == "@agent" and not (op == "=" and isinstance(value, str))):
        field = path
    else:
        field = _plain(path, _PATH)
    return f"{field} {op} {_operand(value)}"


def _operand(value: f.Operand) -> str:
    if isinstance(value, f.Var):
        shown = "" if value.regex is None else f"{_string(value.regex)} as "
        return f"{shown}${value.name}"
    return _value(value)


def _value(value: f.Scalar | tuple[f.Scalar, ...]) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_value, value))}]"
    return json.dumps(value)


def _string(text: str) -> str:
    return json.dumps(text)


def _plain(text: str, pattern: re.Pattern[str]) -> str:
    """Return a word as it is where it fits the pattern, else in quotes."""
    return text if pattern.fullmatch(text) else _string(text)
