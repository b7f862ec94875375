"""Statements over events, read from the plain mapping that a user writes in YAML.

In: `{pattern: precedence, match: {...}, requires: {...}}`, or `{always: ...}` over `not`, `and`,
`earlier`, `later`. Out: a `Statement`: conjunctions of tests on one event, with value variables.
Shares no code with the engine.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from tests.reference.smt_values import Event, How, Place, key

Op: TypeAlias = Literal["binds", "=", "in", "!=", "<", "<=", ">", ">=", "matches"]
OPS: Mapping[str, Op] = {
    "in": "in",
    "matches": "matches",
    "ne": "!=",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
}
AGENT_AND_CALL: tuple[Literal["agent", "call"], ...] = ("agent", "call")
VARIABLE = re.compile(r"\$([A-Za-z_]\w*)")
FORMS = ("absent", "precedence", "response", "bounded_response", "resolved", "until")


@dataclass(frozen=True)
class Test:
    """`place op operand`, of some value there, or of every; `var` instead of the operand."""

    place: Place
    op: Op
    operand: Any = None
    var: str = ""
    every: bool = False


@dataclass(frozen=True)
class Pattern:
    """What one event has to be: a call of these tools, or a message, that passes the tests."""

    kind: Literal["call", "message"]
    names: tuple[str, ...] = ()
    status: str = "any"
    agent: str | None = None
    role: str = "*"
    tests: tuple[Test, ...] = ()
    strict: bool = False
    lax: bool = False
    required: tuple[str, ...] = ()
    but: tuple[str, ...] = ()

    def names_it(self, event: Event) -> bool:
        """Whether the event is of the kind, the tool or role, the agent that is meant."""
        if (event.get("type", "call") == "message") != (self.kind == "message"):
            return False
        if self.kind == "message":
            return self.role in ("*", event["role"])
        if self.agent not in (None, event.get("agent", "agent")):
            return False
        tool = event["tool"]
        named = not self.names or any(_is_named(tool, name) for name in self.names)
        return named and tool not in self.but

    def bound(self) -> set[str]:
        """The variables that such an event binds."""
        return {test.var for test in self.tests if test.op == "binds"}

    def refuses(self, test: Test, event: Event) -> bool:
        """Whether a call without the argument that is tested may be any."""
        strict = self.strict or any(_is_named(event["tool"], name) for name in self.required)
        return strict and test.place.source == "args"

    def binders(self, name: str) -> list[Test]:
        """The tests that bind a variable."""
        return [test for test in self.tests if test.op == "binds" and test.var == name]


def _is_named(tool: str, name: str) -> bool:
    return fnmatch.fnmatchcase(tool, name) if _is_glob(name) else tool == name


def _is_glob(name: str) -> bool:
    return "*" in name or "?" in name


@dataclass(frozen=True)
class Body:
    """A temporal body: a pattern; `not`, `and`, `earlier`, `later` of bodies."""

    op: Literal["is", "not", "and", "earlier", "later"]
    parts: tuple[Body, ...] = ()
    pattern: Pattern | None = None


@dataclass(frozen=True)
class Statement:
    """One form with its patterns, by the names of the parts; `always` has a body.

    The part `spared` of `precedence` has the calls that it does not ask of.
    """

    form: str
    parts: Mapping[str, Pattern]
    within: int = 0
    body: Body | None = None

    def variables(self) -> list[str]:
        """All variables, in order."""
        tests = (test for part in self.patterns() for test in part.tests)
        return sorted({test.var for test in tests if test.var})

    def patterns(self) -> list[Pattern]:
        """All patterns."""
        return [*self.parts.values(), *(() if self.body is None else patterns_in(self.body))]

    def judged(self) -> Pattern | None:
        """The pattern whose events have a condition; None if all have."""
        return self.parts.get("match") or self.parts.get("forbidden")

    def counted(self, events: Sequence[Event]) -> list[int]:
        """The events that are positions: those of the kinds that are spoken of."""
        kinds = {pattern.kind for pattern in self.patterns()}
        return [n for n, event in enumerate(events) if event.get("type", "call") in kinds]


def patterns_in(body: Body) -> Iterator[Pattern]:
    """All patterns of a body."""
    if body.pattern is not None:
        yield body.pattern
    for part in body.parts:
        yield from patterns_in(part)


# --- reading --------------------------------------------------------------------------------------


def statement(mapping: Mapping[str, Any]) -> Statement:
    """The statement that a mapping writes."""
    if "always" in mapping:
        read = Statement("always", {}, body=_body(mapping["always"]))
    else:
        form = mapping["pattern"]
        names = [name for name in mapping if name not in ("pattern", "within")]
        parts = {name: pattern(mapping[name], _usual(name)) for name in names}
        if form == "precedence":
            parts["match"] = _refusing(parts["match"])
            parts |= _spared(parts["match"], parts["requires"])
        read = Statement(form, parts, mapping.get("within", 0))
    return _with_texts(read)


def _refusing(asked: Pattern) -> Pattern:
    """A tool must have the fields that `precedence` binds, unless its match skips it.

    `*` alone asks that of no tool.
    """
    binds = any(test.var for test in asked.tests)
    named = tuple(name for name in asked.names if name.strip("*"))
    return replace(asked, required=named if binds and not asked.lax else ())


def _spared(asked: Pattern, needed: Pattern) -> dict[str, Pattern]:
    """The calls that only a glob asks of, and that are what it needs themselves (S-LOAD-16)."""
    exact = tuple(name for name in asked.names if not _is_glob(name))
    globs = [name for name in asked.names or ("*",) if _is_glob(name)]
    told = [test for test in needed.tests if test.place.source not in ("args", "agent", "call")]
    if "message" in (asked.kind, needed.kind) or not globs or any(test.var for test in told):
        return {}
    tests = tuple(test for test in needed.tests if test not in told)
    narrow = tests or needed.agent is not None
    names = tuple(
        name
        for name in needed.names or ("*",)
        if not _is_glob(name) or narrow or not any(fnmatch.fnmatchcase(g, name) for g in globs)
    )
    spared = replace(needed, names=names, tests=tests, status="any", strict=False, but=exact)
    return {"spared": spared} if names else {}


def _usual(part: str) -> str:
    return "ok" if part in ("requires", "by", "release") else "any"


def _body(mapping: Mapping[str, Any]) -> Body:
    (op, inner), *rest = mapping.items()
    if rest or op not in ("not", "and", "earlier", "later"):
        return Body("is", pattern=pattern(mapping, "any"))
    inner = inner if op == "and" else [inner]
    return Body(op, tuple(map(_body, inner)))  # type: ignore[arg-type]  # op is one of the four


def pattern(mapping: Mapping[str, Any], status: str) -> Pattern:
    """The pattern that a `match` writes; `status` if it says none."""
    if "message" in mapping:
        said = tuple(_wanted(Place("text"), mapping["text"])) if "text" in mapping else ()
        return Pattern("message", role=mapping["message"], tests=said)
    tools = mapping.get("tool", ())
    agent = mapping.get("agent")
    return Pattern(
        "call",
        names=(tools,) if isinstance(tools, str) else tuple(tools),
        status=mapping.get("status", status),
        agent=None if agent is None or variable(agent) else agent,
        tests=tuple(_tests(mapping)),
        strict=mapping.get("missing") == "refuse",
        lax=mapping.get("missing") == "skip",
    )


def _tests(mapping: Mapping[str, Any]) -> Iterator[Test]:
    for path, wanted in mapping.get("args", {}).items():
        yield from _wanted(Place("args", path), wanted)
    for name in AGENT_AND_CALL:
        if variable(mapping.get(name)):
            yield from _wanted(Place(name), mapping[name])
    if "output" in mapping:
        output = mapping["output"]
        for each in output if isinstance(output, list) else [output]:
            path = each.get("path", "") if isinstance(each, Mapping) else ""
            yield from _wanted(Place("output", path), each)


def variable(value: Any) -> str:
    """The name of a variable, or nothing."""
    found = VARIABLE.fullmatch(value) if isinstance(value, str) else None
    return found[1] if found else ""


def _wanted(place: Place, wanted: Any) -> Iterator[Test]:
    if name := variable(wanted):
        yield Test(place, "binds", var=name)
        return
    if not isinstance(wanted, Mapping):
        yield Test(place, "=", key(wanted))
        return
    for word in ("some", "every"):
        if word in wanted:
            for test in _wanted(place, wanted[word]):
                yield replace(test, every=word == "every")
            return
    rest = {word: value for word, value in wanted.items() if word != "path"}
    if "bind" in rest:
        regex = rest.pop("matches", "")
        shows = replace(place, how="regex", regex=regex) if regex else place
        yield Test(shows, "binds", var=variable(rest.pop("bind")))
    for word, value in rest.items():
        yield _compared(place, word, value)


def _compared(place: Place, word: str, value: Any) -> Test:
    name = variable(value)
    if word == "has":
        return Test(replace(place, how="words"), "binds", var=name)
    if name:
        return Test(place, OPS[word], var=name)
    match word:
        case "in":
            return Test(place, "in", tuple(map(key, value)))
        case "matches":
            shows = replace(place, how="texts") if place.source == "output" else place
            return Test(shows, "matches", value)
    return Test(place, OPS[word], key(value))


def _with_texts(read: Statement) -> Statement:
    """A variable that is anywhere bound from text compares as text everywhere."""
    tests = [test for part in read.patterns() for test in part.tests]
    textual = {test.var for test in tests if test.place.how in ("words", "regex")}

    def told(part: Pattern) -> Pattern:
        return replace(part, tests=tuple(map(of_text, part.tests)))

    def of_text(test: Test) -> Test:
        how: How = "text" if test.var in textual and test.place.how == "plain" else test.place.how
        return replace(test, place=replace(test.place, how=how))

    def inside(body: Body) -> Body:
        part = None if body.pattern is None else told(body.pattern)
        return replace(body, parts=tuple(map(inside, body.parts)), pattern=part)

    body = None if read.body is None else inside(read.body)
    return replace(read, parts={n: told(part) for n, part in read.parts.items()}, body=body)
