"""Reads arguments that name tools, with the actions and the inventory that a file has declared.

In: one name, a list, a glob, an action, or a `match` mapping (docs/semantics.md), and the
`Vocabulary` that a file has declared. Out: a `Target`; or a `ContractError` with every mistake.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any

from sponsio_like.contracts.operands import (
    COMPARISONS,
    SEARCHES,
    VARIABLE,
    check_keys,
    check_match_keys,
    field_path,
    read_comparison,
    scalar,
    variable,
)
from sponsio_like.contracts.typed_fields import asked, asks_amount, asks_facts, declared_kind
from sponsio_like.errors import ContractError, Problem, Problems, closest, read_each
from sponsio_like.logic import is_glob
from sponsio_like.logic.formula import Condition, Match, Target, Var
from sponsio_like.values import TEXT_KINDS, TextKind, kind_step, path_parts

ONE_AGENT = (
    "a match has one agent by its name: write a contract for each, or “only the agents `a` and `b` "
    "may call ..”; without `agent` it is any"
)
CALL_KEYS = ("tool", "args", "agent", "call", "missing")
"""The keys of a match that speak of a call before it runs."""
OF_TEXTS = (*COMPARISONS, *SEARCHES, "bind", "every", "some")
"""The keys of a comparison with a text itself."""
EVENT_KEYS = ("status", "output", "message", "text")
"""The other keys of a match, only where an event stands: see `contracts/matches.py`."""


@dataclass(frozen=True)
class Vocabulary:
    """The tools that a file has declared, with their fields (None: not declared), and its actions.

    `elsewhere` are tools of other agents. `kinds`: what is known of the kinds of fields besides.
    """

    tools: Mapping[str, Mapping[str, str] | None] | None = None
    actions: Mapping[str, Target] = field(default_factory=dict)
    elsewhere: tuple[str, ...] = ()
    kinds: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @cached_property
    def names(self) -> tuple[str, ...] | None:
        """Every name that a tool may have; None if it may have any."""
        return None if self.tools is None else (*self.tools, *self.elsewhere)

    @cached_property
    def places(self) -> Mapping[str, int]:
        """The place of each of these names among them."""
        return {name: k for k, name in enumerate(dict.fromkeys(self.names or ()))}

    def lacks(self, tool: str) -> bool:
        """True if it is known which tools there are, and this is none of them."""
        return self.tools is not None and tool not in self.places

    def fields(self, tool: str) -> Mapping[str, str] | None:
        """Return the declared fields of a tool; None if none are declared."""
        return self.tools.get(tool) if self.tools else None

    def kinds_of(self, tool: str) -> Mapping[str, str]:
        """Return the kinds of the fields of a tool, as far as they are known."""
        return {**(self.fields(tool) or {}), **self.kinds.get(tool, {})}

    def meant(self, target: Target) -> Iterator[str]:
        """Yield the tools that the names and globs cover: each that is named, and those
        that a glob finds.
        """
        for match in target:
            yield from match.names
            globs = match.globs or (() if match.names else ("*",))
            found = (each for each in self.tools or () if any(fnmatchcase(each, g) for g in globs))
            yield from found


NOTHING = Vocabulary()


def read_target(value: Any, words: Vocabulary = NOTHING) -> Target:
    """Return the calls that an argument describes. Raises `ContractError` with every mistake."""
    match value:
        case Match():
            return (value,)
        case tuple() if value and all(isinstance(part, Match) for part in value):
            return value
        case str():
            return named_calls(value, words)
        case Mapping():
            return matching(value, words)
        case list() | tuple() if value:
            return join(match for part in read_each(read_target, value, words) for match in part)
    raise ContractError.of(
        f"`{value}` is not a tool" if value or value == 0 else "no tool is named",
        "write a name, a list of names, a glob, an action, or {tool: .., args: {..}}",
    )


def join(matches: Iterable[Match]) -> Target:
    """Return one target for several; matches of nothing but names become one match."""
    matches = list({repr(match): match for match in matches}.values())  # `1` is not `True`
    bare = [match for match in matches if _is_bare(match)]
    rest = tuple(match for match in matches if not _is_bare(match))
    if not bare:
        return rest
    names = dict.fromkeys(name for match in bare for name in match.names)
    globs = dict.fromkeys(glob for match in bare for glob in match.globs)
    return (Match(tuple(names), tuple(globs)), *rest)


def _is_bare(match: Match) -> bool:
    """True if the match says nothing but names."""
    said = match.conditions or match.agent is not None or match.strict is not None
    return not said and bool(match.names or match.globs)


def named_calls(name: str, words: Vocabulary) -> Target:
    """Return the target of one name: an action, a glob, or a tool.

    Raises `ContractError` for a name that a declared inventory does not have.
    """
    if name in words.actions:
        return words.actions[name]
    if VARIABLE.fullmatch(name):
        hint = "for the tool and all arguments: {call: $x}"
        raise ContractError.of("a tool is no variable", hint)
    if not name or name != name.strip() or "`" in name:
        raise ContractError.of(f"`{name}` is not the name of a tool")
    if is_glob(name):
        if words.names is not None and not any(fnmatchcase(tool, name) for tool in words.names):
            raise ContractError.of(f"no tool matches `{name}`", closest(name, words.names))
        return (Match(globs=(name,)),)
    if words.lacks(name):
        known = [*(words.names or ()), *words.actions]
        raise ContractError.of(f"unknown tool `{name}`", closest(name, known))
    return (Match(names=(name,)),)


# --- match ------------------------------------------------------------------------------------


def matching(value: Mapping[Any, Any], words: Vocabulary) -> Target:
    """Read a match of calls before they run.

    `{tool: .., args: {path: value | $x | {in: ..} | {gt: ..}}, agent: .., call: $x}`
    """
    problems = Problems()
    for key in (key for key in EVENT_KEYS if key in value):
        what = f"`{key}` cannot stand here: a call is matched before it has run"
        hint = "it can in conditions, and in patterns such as `absent`, `precedence`, `response`"
        problems.add(what, hint, key, of_key=True)
    check_match_keys(value, (*CALL_KEYS, *EVENT_KEYS), problems)
    found: Target | None = (Match(),)
    if "tool" in value:
        found = problems.attempt(("tool",), read_target, value["tool"], words)
    conditions = (
        problems.attempt(("args",), _conditions, value.get("args", {}), found or (), words) or ()
    )
    by, agent = problems.attempt(("agent",), _agent, value.get("agent")) or ((), None)
    if "call" in value:
        call = problems.attempt(("call",), variable, value["call"])
        by = (*by, Condition("@call", "=", call))
    if not value:
        problems.add("an empty match", "write {tool: .., args: {..}}")
    problems.check()
    for match in found or ():
        for condition in conditions:
            known_field(condition.path, match, words, ("args", condition.path), problems)
    problems.check()
    narrowed = join(_narrowed(match, (*conditions, *by), agent) for match in found or ())
    return _strict(narrowed, value["missing"]) if "missing" in value else narrowed


def _agent(value: Any) -> tuple[tuple[Condition, ...], str | None]:
    if value is None:
        return (), None
    if isinstance(value, str) and "*" in value:
        raise ContractError.of(f"`{value}` would be the very name of an agent", ONE_AGENT)
    found = scalar(value) if isinstance(value, str | Var) else value
    if isinstance(found, Var):
        return (Condition("@agent", "=", found),), None
    if not isinstance(found, str) or not found:
        raise ContractError.of(f"`{value}` is not the name of an agent", ONE_AGENT)
    return (), found


def _strict(target: Target, missing: Any) -> Target:
    if missing not in ("refuse", "skip"):
        hint = "write refuse or skip, or leave it out"
        problem = Problem(f"`{missing}` is not possible here", hint=hint, path=("missing",))
        raise ContractError(problem)
    return tuple(replace(match, strict=missing == "refuse") for match in target)


def _narrowed(match: Match, conditions: tuple[Condition, ...], agent: str | None) -> Match:
    if agent is not None and match.agent not in (None, agent):
        raise ContractError.of(f"agent `{agent}`, but the action says `{match.agent}`")
    return replace(match, conditions=match.conditions + conditions, agent=agent or match.agent)


def known_field(
    path: str, match: Match, words: Vocabulary, at: tuple[str | int, ...], problems: Problems
) -> None:
    """Note a field that a tool of the inventory does not have; for a glob, that none has."""
    root = path_parts(path)[0]
    if path.startswith("@") or root == "*":
        return
    for name in match.names:
        fields = words.fields(name)
        if fields is not None and path not in fields and root not in fields:
            problems.add(f"tool `{name}` has no field `{root}`", closest(root, fields), *at)
        elif fields and (kind := fields.get(root)) and path not in fields:
            _inside(path, f"field `{root}` of tool `{name}`", kind, at, problems)
    globs = match.globs or (() if match.names else ("*",))
    if not globs:
        return
    meant = [tool for tool in words.names or () if any(fnmatchcase(tool, g) for g in globs)]
    known = [words.fields(tool) for tool in meant]
    if not known or any(each is None or path in each for each in known):
        return
    kinds = {
        tool: each[root] for tool, each in zip(meant, known, strict=True) if each and root in each
    }
    if not kinds:
        what = f"no tool has a field `{root}`"
        problems.add(
            what if globs == ("*",) else f"{what} that matches `{globs[0]}`",
            closest(root, {field for each in known for field in each or ()}),
            *at,
        )
    else:
        _inside_none(path, kinds, at, problems)


def _inside_none(
    path: str, kinds: Mapping[str, str], at: tuple[str | int, ...], problems: Problems
) -> None:
    """Note a path that goes into the field of none of these tools, by the kind each gives it."""
    noted = []
    for tool, kind in kinds.items():
        noted.append(Problems())
        _inside(path, f"field `{path_parts(path)[0]}` of tool `{tool}`", kind, at, noted[-1])
    if all(each.found for each in noted):
        problems.found += noted[0].found


_A = {
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "string": "a text",
}


def _inside(
    path: str, whose: str, kind: str, at: tuple[str | int, ...], problems: Problems
) -> None:
    """Note a path into a field whose declared kind has no such part."""
    root, *rest = path_parts(path)
    if rest and kind in _A and not _is_read(kind, rest[0]):
        problems.add(f"`{path}`: {whose} is {_A[kind]}", f"write `{root}`", *at)
    elif (
        rest and rest[0] != "[]" and not kind_step(rest[0]) and (kind == "array" or kind[:1] == "[")
    ):
        hint = f"write `{root}[].{'.'.join(rest)}`, which is of some element"
        problems.add(f"`{path}`: {whose} is a list", hint, *at)
    elif rest and rest[0] == "[]" and kind == "object":
        problems.add(f"`{path}`: {whose} is no list", f"write `{root}.name`", *at)
    else:
        _inside_a_text(path, whose, kind, at, problems)


def _inside_a_text(
    path: str, whose: str, kind: str, at: tuple[str | int, ...], problems: Problems
) -> None:
    """Note a path into a text or a number that stands in a list, or whose kind has facts."""
    root, *rest = path_parts(path)
    listed = kind[:1] == "["
    inner = kind[1:-1] if listed else kind
    place, steps = (f"{root}[]", rest[1:]) if rest[:1] == ["[]"] else (root, rest)
    known = TEXT_KINDS.get(inner)
    if not steps or kind_step(steps[0]):
        return
    if known is not None:
        hint = _as_fact(place, steps[0], known)
        problems.add(f"`{path}`: {whose} is a text of the kind `{inner}`", hint, *at)
    elif listed and inner in _A:
        what = f"`{path}`: {whose} is a list of which each is {_A[inner]}"
        problems.add(what, f"write `{place}`", *at)


def _as_fact(place: str, fact: str, kind: TextKind) -> str:
    """Return in words how a fact of the text at this place is asked for."""
    if fact not in kind.names:
        return closest(fact, kind.names)
    many = "[]" if kind.has_many(fact) else ""
    return f'write "{place}": {{{fact}: ..}} in a match, else {place}:{kind.name}.{fact}{many}'


def _is_read(kind: str, step: str) -> bool:
    """True if a step reads what a field of this kind has: a text, or for `money` a number."""
    reader = kind_step(step)
    if kind == "string":
        return reader is not None or step == "[]"
    return reader is not None and reader.numbers and kind != "boolean"


def _conditions(value: Any, target: Target, words: Vocabulary) -> tuple[Condition, ...]:
    if not isinstance(value, Mapping):
        raise ContractError.of(f"`{value}` does not describe arguments", "write {field: value}")
    problems = Problems()
    found: list[Condition] = []
    for path, wanted in value.items():
        read = problems.attempt((str(path),), _placed, str(path), wanted, target, words)
        found.extend(read or ())
    problems.check()
    return tuple(found)


def _placed(path: str, wanted: Any, target: Target, words: Vocabulary) -> list[Condition]:
    """Read the conditions on one place: of what its text means, if its kind is declared."""
    tools = [words.kinds_of(tool) for tool in words.meant(target)]
    known = declared_kind(field_path(path), tools)
    if known is None or not asks_facts(wanted, OF_TEXTS):
        return _wanted(_compared(path, wanted, tools), wanted)
    problems = Problems()
    found: list[Condition] = []
    for place, each in asked(known[0], wanted, known[1]):
        found.extend(problems.attempt((), _wanted, place, each) or ())
    problems.check()
    return found


def _compared(path: str, wanted: Any, tools: Iterable[Mapping[str, str]]) -> str:
    """Return the path to the amount, where numbers are asked of a field of the kind `money`."""
    known = declared_kind(field_path(path), tools, number=True)
    return f"{known[0]}.amount" if known and asks_amount(wanted, known[1]) else path


def _wanted(path: str, wanted: Any) -> list[Condition]:
    every = isinstance(wanted, Mapping) and "every" in wanted
    if not every and not (isinstance(wanted, Mapping) and "some" in wanted):
        found = read_comparison(wanted, path)
        if path == "*" and not all(isinstance(value, Var) for _, value in found):
            raise ContractError.of(
                "`*` is all arguments together", "write $x, {has: $x}, or name a field"
            )
        return [Condition(path, op, value) for op, value in found]
    problems = Problems()
    key = "every" if every else "some"
    check_keys(wanted, (key,), "comparison", problems, f"`{key}` stands alone")
    if "[]" not in path_parts(path):
        what = f"`{key}` speaks of the elements of a list, and `{path}` is one value"
        problems.add(what, f"did you mean `{path}[]`?", key, of_key=True)
    inner = problems.attempt((key,), read_comparison, wanted[key], path) or []
    problems.check()
    return [Condition(path, op, value, every) for op, value in inner]
