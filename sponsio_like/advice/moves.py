"""Lists the events that could come before a refused event is tried again, as clauses mention them.

In: clauses, and the event that they refuse. Out: moves, each with words for it: calls, with the
arguments that the clauses ask for, messages, facts; and the results that a call may have. Where any
value would do, one is chosen that the clause accepts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeAlias

from sponsio_like.engine import Clause
from sponsio_like.events import (
    Call,
    Context,
    Event,
    Message,
    Result,
    Step,
    compare,
    glob_matches,
    is_status,
    names_tool,
)
from sponsio_like.logic.formula import (
    Approved,
    Compare,
    Condition,
    Const,
    Ctx,
    Custom,
    Formula,
    Happens,
    Match,
    MessageBy,
    Node,
    Not,
    Observed,
    Op,
    OutputIs,
    Permitted,
    Repeats,
    Sum,
    TextMatches,
)
from sponsio_like.monitor import Change
from sponsio_like.values import kind_step, path_parts

OTHER = "\0other"
"""The name of a tool that no contract mentions, where the tools are not known."""
ANSWER = (
    "the answer must be yes, unless the contract has `accept: REGEX` or"
    " `accept: {path: ok, equals: true}`"
)
"""The words for the answer that a confirming tool has to give."""
REPEATED = 16
"""The longest text of one repeated character that is tried on a regular expression."""


@dataclass(frozen=True, slots=True)
class MakeEvent:
    """A move: a call, a message or an observation."""

    words: str
    event: Event


@dataclass(frozen=True, slots=True)
class GetResult:
    """A move: the result of a call in flight arrives; `waits` are the changes that it settles."""

    words: str
    tool: str
    waits: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class StateFact:
    """A move: the host states something of the context."""

    words: str
    key: str
    value: Any


@dataclass(frozen=True, slots=True)
class PassTime:
    """A move: time passes until something runs out."""


Move: TypeAlias = MakeEvent | GetResult | StateFact | PassTime


# --- calls ------------------------------------------------------------------------------------


def calls(
    clauses: Iterable[Clause],
    event: Event,
    tools: Iterable[str] | None,
    fields: Mapping[str, Iterable[str]] = MappingProxyType({}),
) -> Iterator[MakeEvent]:
    """Yield the calls that these clauses tell apart; last, one that none of them mentions.

    `fields` are the arguments of tools, as far as they are known.
    """
    clauses = list(clauses)
    like = event if isinstance(event, Call) else Call("")
    matches = list(dict.fromkeys(match for clause in clauses for match in spoken_of(clause)))
    special = [match for match in matches if match.conditions]
    for tool, words in _tools(matches, tools):
        other = " with other arguments" if like.args and tool == like.tool else ""
        yield MakeEvent(f"call {words}{other}", Call(tool, {}, "", like.agent, like.depth))
        own = fields.get(tool, like.args)
        shared = {name: value for name, value in like.args.items() if name in own}
        if shared:
            named = "" if len(shared) == len(like.args) else _named(shared)
            split = _split(clauses, tool, shared)
            same = f"call {words} with the same {split or named or 'arguments'}"
            yield MakeEvent(same, Call(tool, shared, "", like.agent, like.depth))
        for match in special:
            wanted = conditioned(match.conditions) if names_tool(match, tool) else None
            if wanted is not None:
                said = " and ".join(map(_said, match.conditions))
                args = {**shared, **wanted}
                yield MakeEvent(
                    f"call {words} with {said}", Call(tool, args, "", like.agent, like.depth)
                )


def spoken_of(clause: Clause) -> Iterator[Match]:
    """Yield each description of calls that the clause mentions."""
    for slot in clause.slots:
        if isinstance(slot.node, Happens | Repeats | Sum):
            yield from slot.node.target


def _tools(matches: list[Match], tools: Iterable[str] | None) -> Iterator[tuple[str, str]]:
    """Yield the tools to call, each with words for it."""
    names = dict.fromkeys(name for match in matches for name in match.names)
    if tools is not None:
        wide = [match for match in matches if match.globs or not match.names]
        known = {t: t in names or any(names_tool(match, t) for match in wide) for t in tools}
        yield from ((tool, f"`{tool}`") for tool, named in known.items() if named)
        yield from ((tool, "some other tool") for tool, named in known.items() if not named)
        return
    yield from ((name, f"`{name}`") for name in names)
    for glob in dict.fromkeys(glob for match in matches for glob in match.globs):
        name = glob.replace("?", "x").replace("*", "")
        if glob_matches(glob, name):
            yield name, f"a tool like `{glob}`"
    yield OTHER, "some other tool"


def _split(clauses: Iterable[Clause], tool: str, shared: Collection[str]) -> str:
    """Return in words which of the `shared` arguments of a tool have to be the same, as far as
    the clauses that mention the tool name them.
    """
    about = (c for c in clauses if c.by and any(names_tool(each, tool) for each in spoken_of(c)))
    paths = (path for clause in about for path in clause.by if path[0] not in "@*")
    return _named(path for path in paths if _field(path)[0] in shared)


def _named(paths: Iterable[str]) -> str:
    return " and ".join(f"`{path}`" for path in dict.fromkeys(paths))


def conditioned(conditions: Iterable[Condition]) -> dict[str, Any] | None:
    """Return arguments that meet these conditions; None if none were found."""
    args: dict[str, Any] = {}
    for each in conditions:
        found = sample(each.op, each.value, holds=True)
        if not found:
            return None
        args = merge_maps(args, _at(each.path, found[0]))
    return args


def _said(condition: Condition) -> str:
    return f"`{condition.path} {condition.op} {json.dumps(condition.value)}`"


# --- messages, observations, facts ------------------------------------------------------------


def message_events(clauses: Iterable[Clause]) -> Iterator[MakeEvent]:
    """Yield the messages and observations that these clauses tell apart."""
    nodes = list(dict.fromkeys(slot.node for clause in clauses for slot in clause.slots))
    roles = dict.fromkeys(each.role for each in nodes if isinstance(each, MessageBy))
    regexes = [each.regex for each in nodes if isinstance(each, TextMatches)]
    for role in roles or (["*"] if regexes else []):
        who, words = ("user", "a message") if role == "*" else (role, f"a message of the {role}")
        words = "answer" if role == "assistant" else f"wait for {words}"
        yield MakeEvent(words, Message(who))
        for regex in regexes:
            for text in sample("matches", regex, holds=True):
                yield MakeEvent(f"{words} that matches `{regex}`", Message(who, text))
    for node in nodes:
        if isinstance(node, Observed):
            yield MakeEvent(f"wait until `{node.name}` is observed", Step(frozenset({node.name})))


def facts(clauses: Iterable[Clause], context: Context, agent: str) -> Iterator[StateFact]:
    """Yield the facts that these clauses ask for; only the host can state them."""
    slots = [slot for clause in clauses for slot in clause.slots]
    for node in dict.fromkeys(slot.node for slot in slots):
        match node:
            case Permitted(name):
                held = context.facts.get("permissions", [])
                mine = held.get(agent, []) if isinstance(held, Mapping) else held
                others = held if isinstance(held, Mapping) else {}
                now = {**others, agent: [*mine, name]}
                yield StateFact(f"get the permission `{name}`", "permissions", now)
            case Approved(action, role):
                by = {"action": action, "role": role, "decision": "approve", "by": role}
                yield StateFact(f"get an approval of `{action}` by a `{role}`", "approval", by)
            case Compare(Ctx(key), op, Const(value)):
                for holds, said in ((True, node), (False, Not(node))):
                    for each in sample(op, value, holds=holds):
                        yield StateFact(f"have the host state `{said!r}`", key, each)


# --- results ----------------------------------------------------------------------------------


def results(nodes: Iterable[Node]) -> Iterator[Result]:
    """Yield the results that a call may have, as far as these atoms tell them apart."""
    yield Result("ok")
    custom = False
    for node in nodes:
        match node:
            case OutputIs(path, op, value):
                for holds in (True, False):
                    yield from (
                        Result("ok", _at(path, it)) for it in sample(op, value, holds=holds)
                    )
            case Custom("answers", (str(word),)):
                yield Result("ok", word)
            case Custom():
                custom = True
    if custom:
        yield from (Result("ok", output) for output in (True, "yes", False, "no"))
    yield Result("error")


def answer_words(node: Node, holds: bool) -> str:
    """Return in words what an answer has to be; empty for the mere success of a call."""
    if not isinstance(node, OutputIs | Custom) or not is_status(node):
        return ""
    match node:
        case Custom("confirms") if holds:
            return ANSWER
        case Custom("confirms"):
            return "the answer must not be a yes"
        case Custom("answers", (word,)) if holds:
            return f"the answer must say {json.dumps(word)}, and nothing against it"
    said: Formula = node if holds else Not(node)
    return f"for its answer `{said!r}` must hold"


# --- values -----------------------------------------------------------------------------------


def sample(op: Op, value: Any, *, holds: bool) -> list[Any]:
    """Return a list of one value of which `op value` is `holds`; empty if none was found."""
    fitting = (each for each in _pool(op, value) if compare(each, op, value) is holds)
    return [each for _, each in zip(range(1), fitting, strict=False)]


def _pool(op: Op, value: Any) -> Iterator[Any]:
    """Yield values to try."""
    if op == "matches":
        pieces = re.sub(r"\(\?\w+\)|[\\^$()?*+]", "", str(value))
        yield from (pieces, *pieces.split("|"), *re.findall(r"\w+", pieces), "")
        yield from (letter * n for letter in "0aA" for n in range(1, REPEATED + 1))
        return
    yield value
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        yield from (value + 1, value - 1)
    yield from value if isinstance(value, tuple) else ()
    yield from (True, False, "", None)


def _at(path: str, value: Any) -> Any:
    """Return data with this value at this path."""
    for part in reversed(_field(path)):  # some text that has the fact
        value = [value] if part == "[]" else {part: value}
    return value


def argument_of(path: str) -> str:
    """Return the path of the argument whose fact a path names: `amount` of `amount:money.amount`.

    It is what a call has.
    """
    return ".".join(_field(path)).replace(".[]", "[]")


def _field(path: str) -> tuple[str, ...]:
    parts = path_parts(path)
    kinds = [i for i, part in enumerate(parts) if kind_step(part) is not None]
    return parts[: kinds[0]] if kinds else parts


def merge_maps(left: Any, right: Any) -> Any:
    """Return both maps as one, however deep; elsewhere `right`."""
    if not isinstance(left, Mapping) or not isinstance(right, Mapping):
        return right
    both = {key: merge_maps(left[key], value) for key, value in right.items() if key in left}
    return {**left, **right, **both}
