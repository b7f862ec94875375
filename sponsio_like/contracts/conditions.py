"""Reads conditions of contracts: an atom as a mapping, the sentence "called `x`", a formula as
text.

In: `{called: pay}`, `{ctx: {stage: review}}`, `{ltl: "O done(login)"}`, "called `pay`". Out: a
`Formula` in which every action is resolved and every tool is of the inventory.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import sponsio_like.logic.formula as f
from sponsio_like.contracts.circumstances import condition_formula, tool_test
from sponsio_like.contracts.comparisons import check_comparisons, tests_of
from sponsio_like.contracts.matches import OF_CALLS, OF_MESSAGES, is_match, matched
from sponsio_like.contracts.operands import (
    COMPARISONS,
    check_keys,
    name,
    pattern_text,
    scalar,
    scalars,
)
from sponsio_like.contracts.prose import conditions
from sponsio_like.contracts.targets import (
    NOTHING,
    Vocabulary,
    join,
    known_field,
    named_calls,
    read_target,
)
from sponsio_like.errors import ContractError, Problems, closest, read_at
from sponsio_like.events import CUSTOM, regex, taking
from sponsio_like.logic import RESERVED, looks_ahead
from sponsio_like.logic.formula import (
    Formula,
    Happening,
    Happens,
    Target,
    conj,
    disj,
    postorder,
)
from sponsio_like.syntax import read as read_text

HAPPENINGS: tuple[Happening, ...] = ("called", "done", "failed")
ATOMS = (*HAPPENINGS, "ctx", "permission", "approved", "agent", "message", "step", "ltl")
SENTENCE = re.compile(r"\s*called `([^`]+)`\s*")


def condition(value: Any, words: Vocabulary = NOTHING) -> Formula:
    """Read a formula, a match, an atom as a mapping, or a sentence, as a formula.

    Raises `ContractError` for anything else.
    """
    match value:
        case Formula():
            return with_actions(value, words)
        case str():
            return sentence(value, words)
        case Mapping() if is_match(value) and not value.keys() & {*ATOMS} - {"message", "agent"}:
            return matched(value, words)
        case Mapping():
            return read_atom(value, words)
    raise ContractError.of(
        f"`{value}` is not a condition", "write called `x`, {called: x}, or {ltl: ..}"
    )


def assumption(value: Any, words: Vocabulary = NOTHING) -> Formula:
    """Read a condition in which `called x` means that it has happened by now.

    A match with conditions on arguments speaks of the call being decided; a formula stays as it is.
    Raises `ContractError` for a condition that speaks of the future.
    """
    read = condition(value, words)
    if looks_ahead(read):
        raise ContractError.of("an assumption cannot speak of the future", "use O, H, Y, S, since")
    as_written = isinstance(value, Formula) or (isinstance(value, Mapping) and "ltl" in value)
    if as_written:
        return read
    if isinstance(read, f.And) and any(isinstance(each, f.OutputIs) for each in read.parts):
        return _answered_by_now(read)
    return _by_now(read) if isinstance(read, Happens) else read


def _answered_by_now(match: f.And) -> Formula:
    conditions = [
        condition
        for part in match.parts
        if isinstance(part, Happens)
        for one in part.target
        for condition in one.conditions
    ]
    if conditions:
        raise ContractError.of(
            "what the call being decided will answer is not known yet",
            'for an earlier call write {ltl: "O (done(..) & output ..)"}',
        )
    return f.Once(match)


def _by_now(atom: Happens) -> Formula:
    now = tuple(match for match in atom.target if match.conditions)
    ever = tuple(match for match in atom.target if not match.conditions)
    if now and atom.what != "called":
        raise ContractError.of(
            f"whether the call being decided is {atom.what} is not known yet",
            f'for an earlier call write {{ltl: "O {atom.what}(..)"}}',
        )
    parts = [f.Once(Happens(atom.what, ever))] if ever else []
    return disj(*parts, *([Happens("called", now)] if now else []))


def sentence(text: str, words: Vocabulary = NOTHING) -> Formula:
    """Read the sentence "called `x`", or another that says when.

    Raises `ContractError` for one that is not understood, or means two things.
    """
    found = SENTENCE.fullmatch(text)
    if found:
        return Happens("called", named_calls(found[1], words))
    read = [condition_formula(each, words) for each in conditions(text, tool_test(words))]
    meant = list(dict.fromkeys(read))
    if len(meant) == 1:
        return meant[0]
    raise ContractError.of(
        f"`{text}` {'can mean two things' if meant else 'is not understood'}",
        "write called `x`, an atom {called: x}, or {ltl: ..}",
    )


def event(value: Any, words: Vocabulary = NOTHING) -> Formula:
    """Read a condition; a bare name of a tool, or a list of them, means that it is called."""
    plain = isinstance(value, str) and "`" not in value
    if plain and re.fullmatch(r"[\w.:/*?-]+", value):
        return Happens("called", named_calls(value, words))
    if plain:
        return formula(value, words)
    return matched(value, words) if isinstance(value, (list, tuple)) else condition(value, words)


# --- atoms as mappings --------------------------------------------------------------------------


def read_atom(value: Mapping[Any, Any], words: Vocabulary) -> Formula:
    """Read an atom as a mapping: `{called: x}`, `{ctx: {k: v}}`, `{ltl: "..."}`, ..."""
    problems = Problems()
    known = (*ATOMS, *OF_CALLS, *OF_MESSAGES)
    hints = (closest(key, known) for key in value if key not in ATOMS)
    check_keys(value, ATOMS, "condition", problems, next(hints, ""))
    keys = [key for key in value if key in ATOMS]
    if not value:
        problems.add("an empty mapping says nothing", "write {called: x}, or {tool: x}")
    elif not problems.found and len(keys) != 1:
        problems.add(
            "a condition has one atom", 'combine several with {ltl: "called(x) & ctx(k) = v"}'
        )
    problems.check()
    return conj(read_at((keys[0],), _READERS[keys[0]], value[keys[0]], words))


def _happens(what: Happening) -> Callable[[Any, Vocabulary], Formula]:
    return lambda value, words: Happens(what, read_target(value, words))


def _context(value: Any) -> Formula:
    if not isinstance(value, Mapping) or not value:
        raise ContractError.of(f"`{value}` does not describe the context", "write {ctx: {key: v}}")
    problems = Problems()
    parts = [problems.attempt((str(k),), _fact, str(k), v) for k, v in value.items()]
    problems.check()
    return conj(*(part for part in parts if part is not None))


def _fact(key: str, wanted: Any) -> Formula:
    if not isinstance(wanted, Mapping):
        return f.Ctx(key).equals(_side(scalar(wanted)))
    problems = Problems()
    check_keys(wanted, COMPARISONS, "comparison", problems)
    if not wanted:
        problems.add("an empty comparison", "write the value itself")
    readers: Mapping[str, Callable[[Any], Any]] = {"in": scalars, "matches": pattern_text}
    parts: list[Formula] = []
    for sign, op in COMPARISONS.items():
        if sign in wanted:
            operand = problems.attempt((sign,), readers.get(sign, scalar), wanted[sign])
            parts.append(f.Compare(f.Ctx(key), op, _side(operand)))
    problems.check()
    return conj(*parts)


def _side(value: f.Operand) -> f.Term:
    return f.Variable(value.name) if isinstance(value, f.Var) else f.Const(value)


def _approved(value: Any) -> Formula:
    if not isinstance(value, Mapping) or set(value) != {"action", "role"}:
        raise ContractError.of(f"`{value}` is not an approval", "write {action: pay, role: boss}")
    return f.Approved(name(value["action"]), name(value["role"]))


def formula(value: Any, words: Vocabulary = NOTHING) -> Formula:
    """Read a formula from its text, and check it. Raises `ContractError` with every mistake."""
    if not isinstance(value, str):
        raise ContractError.of(f"`{value}` is not a formula", 'write it as text: "G !called(x)"')
    return check_formula(with_actions(read_text(value), words))


def check_formula(root: Formula) -> Formula:
    """Return the formula itself.

    Raises `ContractError` for atoms that are not registered, comparisons and regular expressions
    that cannot be.
    """
    problems = Problems()
    for node in postorder(root):
        if isinstance(node, f.Custom):
            problems.attempt((), _registered, node)
        for pattern in regexes(node):
            problems.attempt((), regex, pattern)
    problems.attempt((), check_comparisons, root)
    problems.check()
    return root


def _registered(node: f.Custom) -> None:
    if node.name not in CUSTOM:
        hint = closest(node.name, [*CUSTOM, *RESERVED])
        raise ContractError.of(f"unknown atom `{node.name}`", hint)
    taking(node)


def regexes(node: f.Node) -> list[str]:
    """Return the regular expressions that stand in this very node."""
    match node:
        case f.TextMatches(pattern):
            return [pattern]
        case f.Compare(_, "matches", f.Const(str(pattern))):
            return [pattern]
    return [text for _, op, text in tests_of(node) if op == "matches" and isinstance(text, str)]


_READERS: Mapping[str, Callable[[Any, Vocabulary], Formula]] = {
    **{what: _happens(what) for what in HAPPENINGS},
    "ctx": lambda value, _: _context(value),
    "permission": lambda value, _: f.Permitted(name(value)),
    "approved": lambda value, _: _approved(value),
    "agent": lambda value, _: f.ByAgent(name(value)),
    "message": lambda value, _: f.MessageBy(name(value)),
    "step": lambda value, _: f.Observed(name(value)),
    "ltl": formula,
}


# --- tools in formulas --------------------------------------------------------------------------


def with_actions(root: Formula, words: Vocabulary) -> Formula:
    """Return the formula with the tools of each action in the place of its name.

    Raises `ContractError` for tools and fields that are not in the inventory.
    """
    if words.tools is None and not words.actions:
        return root
    problems = Problems()

    def swap(part: Any) -> Any:
        match part:
            case f.Arg() | f.Sum():
                for match in part.target if isinstance(part, f.Sum) else (f.Match(),):
                    known_field(part.path, match, words, (), problems)
            case (f.Match(), *_):
                return problems.attempt((), _resolved_target, part, words) or part
        return None

    found = f.rewritten(root, swap)
    problems.check()
    return found


def _resolved_target(old: Target, words: Vocabulary) -> Target:
    problems = Problems()
    found: list[f.Match] = []
    for match in old:
        for condition_ in match.conditions:
            known_field(condition_.path, match, words, (), problems)
        names = [
            problems.attempt((), named_calls, each, words) for each in match.names + match.globs
        ]
        parts = [part for each in names for part in each or ()]
        found.extend(
            replace(
                part,
                conditions=part.conditions + match.conditions,
                agent=match.agent or part.agent,
                strict=part.strict if match.strict is None else match.strict,
            )
            for part in (parts if names else [f.Match()])
        )
    problems.check()
    return join(found)
