"""Parses formulas from text: the grammar is `grammar.lark`, read by lark as LALR(1) when first
needed.

In: text such as `G(done(pay) -> X F done(tell))`, Unicode signs too. Out: interned nodes, made by
one function for each rule while the parser runs, so depth is no limit. Mistakes become a located
`ContractError` (`logic/misread.py`). The way back is `show`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, cast

import sponsio_like.logic.formula as f
from sponsio_like.errors import ContractError, closest
from sponsio_like.logic import PARSERS, RESERVED, initially, named, show, syntax_mistake

if TYPE_CHECKING:
    from lark import Lark, Token


_IN_SECONDS = {"ms": 0.001, "m": 60, "min": 60, "minutes": 60, "h": 3600, "hours": 3600, "d": 86400}
_ASCII = {"≤": "<=", "≥": ">=", "≠": "!=", "∈": "in"}


def read(text: str) -> f.Formula:
    """Return the formula that `text` says; the same text is the same object.

    Raises `ContractError`.
    """
    return cast(f.Formula, _parsed(text, "formula"))


def read_term(text: str) -> f.Term:
    """Return the term that `text` says: `ctx(role)`, `3`. Raises `ContractError`."""
    return cast(f.Term, _parsed(text, "term"))


def _parsed(text: str, start: Literal["formula", "term"]) -> object:
    from lark import UnexpectedInput, UnexpectedToken

    try:
        return _parser().parse(text, start=start)
    except UnexpectedInput as stop:
        ended = isinstance(stop, UnexpectedToken) and stop.token.type == "$END"
        at = None if ended else stop.pos_in_stream
        raise syntax_mistake(text, at, cast(Any, stop).interactive_parser.accepts()) from None


@cache
def _parser() -> Lark:
    from importlib import resources

    from lark import Lark, Transformer, v_args

    rules = {rule: staticmethod(make) for rule, make in RULES.items()}
    builder = v_args(inline=True)(type("Builder", (Transformer,), rules))
    grammar = resources.files("sponsio_like").joinpath("grammar.lark").read_text("utf-8")
    return Lark(grammar, parser="lalr", start=["formula", "term"], transformer=builder())


def _bad(token: Token, what: str, hint: str = "") -> ContractError:
    return ContractError.of(what, hint, f"{token.line}:{token.column}")


# --- connectives ------------------------------------------------------------------------------


def _bounded(kind: Callable[..., f.Formula]) -> Callable[[f.Bound, f.Formula], f.Formula]:
    return lambda bound, body: kind(body, bound)


def _bound(within: Token, number: Token, unit: Token | None) -> f.Bound:
    """Return a bound, `[<=3]` or `[<=60s]`; `<` is read only to say what to write instead."""
    size = _number(number)
    whole = isinstance(size, int)
    if within == "<":
        instead = f"[<={size - 1}]" if whole and unit is None and size else f"[<={number}s]"
        raise _bad(within, "a bound is inclusive: `<=`, not `<`", f"did you mean `{instead}`?")
    if unit is not None and unit != "s":
        instead = "" if unit.startswith("step") else f"{size * _IN_SECONDS.get(unit, 1):.15g}s"
        what = f"unknown unit `{unit}`; a bound is in steps (`[<=3]`) or in seconds (`[<=60s]`)"
        raise _bad(unit, what, f"did you mean `[<={instead or number}]`?")
    if isinstance(size, int) and size > f.LONGEST:
        raise _bad(number, f"a bound of {len(number)} digits is too large", f.AT_MOST)
    if not math.isfinite(size) or size < 0:
        raise _bad(number, f"a bound is a number from 0, not `{number}`")
    if unit is not None:
        return f.Seconds(float(size))
    if not whole:
        raise _bad(number, f"steps are whole, not `{number}`", f"did you mean `[<={number}s]`?")
    return f.Steps(int(size))


# --- atoms ------------------------------------------------------------------------------------


def _op(sign: Token) -> f.Op:
    return cast(f.Op, _ASCII.get(sign, str(sign)))


def _output(path: str | None, sign: Token, value: f.Operand) -> f.OutputIs:
    return f.OutputIs(path or "", _op(sign), value)


def _custom(word: Token, *args: Any) -> f.Custom:
    if word in RESERVED:
        what = f"`{word}` is a word of the syntax, so it is no atom with arguments"
        raise _bad(word, what, f'an atom that you registered is written in quotes: `"{word}"(...)`')
    return f.Custom(str(word), args)


def _tools(*matches: f.Match) -> f.Match:
    if len(matches) == 1:
        return matches[0]
    names = tuple(name for match in matches for name in match.names)
    globs = (match.globs or (() if match.names else ("*",)) for match in matches)
    return f.Match(names, tuple(glob for some in globs for glob in some))


def _match(tools: f.Match, *conditions: f.Condition | tuple[Token, str]) -> f.Match:
    plain = tuple(c for c in conditions if isinstance(c, f.Condition))
    marks = [c for c in conditions if not isinstance(c, f.Condition)]
    agents = [mark for mark in marks if mark[0] == "@agent"]
    for token, _ in agents[1:]:
        raise _bad(token, "the agent is given twice", "did you mean `@agent in [...]`?")
    agent = agents[0][1] if agents else None
    said = [word for at, word in marks if at == "@missing"]
    strict = said[-1] == "refuse" if said else None
    return f.Match(tools.names, tools.globs, plain, agent, strict)


def _at_condition(at: Token, sign: Token, value: f.Operand) -> f.Condition | tuple[Token, str]:
    if at == "@missing":
        if sign == "=" and value in ("refuse", "skip"):
            return (at, str(value))
        what = "a call that lacks a variable's field is refused, or else is no such call"
        raise _bad(at, what, 'write `@missing = "refuse"`, or "skip"')
    if at == "@agent" and sign == "=" and isinstance(value, str):
        return (at, value)
    return f.Condition(str(at), _op(sign), value)


def _call(tool: str) -> f.Happens:
    return f.Happens("called", (named(tool),))


# --- terms ------------------------------------------------------------------------------------


def _repeats(target: f.Target, similar: Token | None) -> f.Repeats:
    if similar is None:
        return f.Repeats(target)
    if similar not in {"equal", "fuzzy"}:
        hint = closest(similar, ("equal", "fuzzy"))
        raise _bad(similar, "arguments are compared `equal` or `fuzzy`", hint)
    return f.Repeats(target, str(similar))


def _denied(target: f.Target, like: Token | None) -> f.Denied:
    if like is None:
        return f.Denied(target)
    if like not in {"tool", "call"}:
        hint = closest(like, ("tool", "call"))
        raise _bad(like, "what counts is of the same `tool`, or the same `call`", hint)
    return f.Denied(target, str(like))


# --- values -----------------------------------------------------------------------------------


def _number(digits: Token) -> int | float:
    if digits == "NaN":
        return math.nan  # always the same one, since NaN does not equal itself
    try:
        return int(digits) if digits.lstrip("-").isdecimal() else float(digits)
    except ValueError:  # Python reads no more than 4,300 digits
        raise _bad(digits, f"a number of {len(digits)} digits is too long") from None


def _string(token: Token) -> str:
    try:
        return str(json.loads(token, strict=False))
    except json.JSONDecodeError as error:
        wrong = error.msg.partition(":")[0].lower()
        what = f"a string in double quotes has JSON's escapes: {wrong}"
        hint = f"write `\\\\` for a backslash, or use single quotes: `'{token[1:-1]}'`"
        raise _bad(token, what, hint) from None


RULES: Mapping[str, Callable[..., object]] = {
    "iff": f.Iff,
    "implies": f.Implies,
    "until": f.Until,
    "weak_until": f.WeakUntil,
    "release": f.Release,
    "lasting": f.Since,
    "disjunction": lambda *parts: f.Or(parts),
    "conjunction": lambda *parts: f.And(parts),
    "negation": f.Not,
    "strong_next": f.Next,
    "weak_next": f.WeakNext,
    "yesterday": f.Yesterday,
    "weak_yesterday": f.WeakYesterday,
    "eventually": _bounded(f.Eventually),
    "always": _bounded(f.Always),
    "once": _bounded(f.Once),
    "historically": _bounded(f.Historically),
    "initially": initially,
    "bound": _bound,
    "true": lambda: f.TRUE,
    "false": lambda: f.FALSE,
    "happens": lambda what, target: f.Happens(cast(Any, str(what)), target),
    "output": _output,
    "agent": lambda _, name: f.ByAgent(name),
    "message": lambda role: f.MessageBy(str(role)),
    "text": lambda _, regex: f.TextMatches(regex),
    "shown_text": lambda sign, value: f.TextIs(_op(sign), value),
    "permission": f.Permitted,
    "approved": f.Approved,
    "step": f.Observed,
    "custom": _custom,
    "quoted_custom": lambda name, *args: f.Custom(name, args),
    "compare": lambda left, sign, right: f.Compare(left, _op(sign), right),
    "target": lambda *matches: matches,
    "match": _match,
    "tools": _tools,
    "bare_tool": lambda tool: f.Match() if tool == "*" else named(str(tool)),
    "quoted_tool": named,
    "exact_tool": lambda _, name: f.Match((name,)),
    "condition": lambda path, sign, value: f.Condition(str(path), _op(sign), value),
    "every_condition": lambda _, path, sign, value: f.Condition(path, _op(sign), value, True),
    "at_condition": _at_condition,
    "capture": lambda regex, word: f.Var(word[1:], regex),
    "variable_term": lambda word: f.Variable(word[1:]),
    "output_term": lambda path: f.Output(path or ""),
    "count": lambda bound, body, reset: f.Count(body, reset, bound),
    "total": lambda bound, target, path: f.Sum(target, path, bound),
    "steps_since": f.StepsSince,
    "age": f.Age,
    "repeats": _repeats,
    "last": f.Last,
    "delivered": f.Delivered,
    "denied": _denied,
    "fact_age": f.FactAge,
    "approval_age": f.ApprovalAge,
    "arg": f.Arg,
    "mark": lambda path: f.Mark(str(path)),
    "ctx": f.Ctx,
    "tokens": f.Tokens,
    "depth": f.Depth,
    "bare_call": lambda tool: _call(str(tool)),
    "quoted_call": _call,
    "calls": lambda _, target: target,
    "calls_of": lambda match: (match,),
    "list_constant": f.Const,
    "number_constant": f.Const,
    "string_constant": f.Const,
    "word_constant": lambda word: f.Const(str(word)),
    "true_constant": lambda: f.Const(True),
    "false_constant": lambda: f.Const(False),
    "null_constant": lambda: f.Const(None),
    "values": lambda *values: values,
    "variable": lambda word: f.Var(word[1:]),
    "word": str,
    "yes": lambda: True,
    "no": lambda: False,
    "null": lambda: None,
    "number": _number,
    "string": _string,
    "literal": lambda token: token[1:-1].replace("''", "'"),
}
"""A function for each rule of the grammar, from the values of its parts to the value
of the rule.
"""

__all__ = ["RULES", "read", "read_term", "show"]


PARSERS.update(formula=read, term=read_term)
