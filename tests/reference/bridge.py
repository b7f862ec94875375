"""From the engine's formulas to those of the oracle, and what they say of one event.

In: a formula of `sponsio_like.logic.formula`. Out: nested tuples for `tests.reference.oracle`, in
which every condition on arguments, context, agent, text or output is a fact with a name; `facts`
tells which of these facts hold of a given event.
"""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any

from sponsio_like.logic import formula as f
from tests.reference import oracle

ABSENT = object()
ODD = object()
NAMES: dict[type[f.Formula], str] = {
    f.Not: "not",
    f.Implies: "implies",
    f.Iff: "iff",
    f.Next: "X",
    f.WeakNext: "WX",
    f.Eventually: "F",
    f.Always: "G",
    f.Until: "U",
    f.WeakUntil: "W",
    f.Release: "R",
    f.Yesterday: "Y",
    f.WeakYesterday: "WY",
    f.Once: "O",
    f.Historically: "H",
    f.Since: "S",
}


HISTORY = (
    *(f.Count, f.Sum, f.StepsSince, f.Age, f.Repeats, f.Last),
    *(f.Delivered, f.Denied, f.FactAge, f.ApprovalAge, f.Mark),
)
"""Terms of what happened before, or of the arguments as a whole: no facts of one event."""


def translate(node: f.Formula, tools: tuple[str, ...] = ()) -> oracle.Formula:
    """The same formula for the oracle. `tools` are all tools, needed only for globs but `*`."""
    match node:
        case f.Constant(value):
            return ("true",) if value else ("false",)
        case f.Happens(what, target):
            return _any(_kind_of_call(what, match, tools) for match in target)
        case f.And(parts) | f.Or(parts):
            name = "and" if isinstance(node, f.And) else "or"
            return (name, *(translate(part, tools) for part in parts))
        case f.Eventually(body, bound) | f.Always(body, bound):
            return (NAMES[type(node)], translate(body, tools), *_bounds(bound))
        case f.Once(body, bound) | f.Historically(body, bound):
            return (NAMES[type(node)], translate(body, tools), *_bounds(bound))
        case f.Compare(left, op, right):
            return _comparison(node, left, op, right, tools)
    if type(node) in NAMES:
        below = [child for child in f.children(node) if isinstance(child, f.Formula)]
        return (NAMES[type(node)], *(translate(child, tools) for child in below))
    return _fact(node)


def _fact(node: f.Formula) -> oracle.Formula:
    """A formula that is true or not of a position by itself."""
    match node:
        case f.MessageBy(role):
            return ("message", role)
        case f.Observed(name):
            return ("step", name)
        case f.OutputIs(path, op, value):
            return ("output", name_of("output", path, op, value))
        case f.TextMatches(regex):
            return ("and", ("message", "*"), ("prop", name_of("text", "", "matches", regex)))
        case f.ByAgent(name):
            return ("and", ("called", "*"), ("prop", name_of("agent", "", "=", name)))
        case f.Permitted(name):
            return ("and", ("called", "*"), ("prop", name_of("permission", name, "=", True)))
        case f.Approved(action, role):
            return ("prop", name_of("approved", action, "=", role))
        case f.Custom(name, args):
            return ("prop", name_of("custom", name, "=", args))
    raise ValueError(f"no translation of {type(node).__name__}")


def _kind_of_call(what: str, match: f.Match, tools: tuple[str, ...]) -> oracle.Formula:
    """One `Match`: any of its names, and all of its conditions."""
    globbed = [tool for tool in tools if any(fnmatchcase(tool, glob) for glob in match.globs)]
    anything = "*" in match.globs or not (match.names or match.globs)
    if match.globs and not anything and not tools:
        raise ValueError("a glob can only be translated if all tools are known")
    names = ("*",) if anything else (*match.names, *globbed)
    conditions: list[oracle.Formula] = [
        ("prop", name_of("arg", c.path, c.op, c.value)) for c in match.conditions
    ]
    if match.agent is not None:
        conditions.append(("prop", name_of("agent", "", "=", match.agent)))
    called = _any((what, name) for name in names)
    return ("and", called, *conditions) if conditions else called


def _any(parts: Any) -> oracle.Formula:
    known = tuple(dict.fromkeys(parts))
    return known[0] if len(known) == 1 else ("or", *known) if known else ("false",)


def _bounds(bound: f.Bound) -> tuple[oracle.Formula, ...]:
    if bound is None:
        return ()
    return (("steps" if isinstance(bound, f.Steps) else "seconds", bound.count),)


def _bound(bound: f.Bound) -> oracle.Formula | None:
    return next(iter(_bounds(bound)), None)


def _comparison(
    node: f.Compare, left: f.Term, op: f.Op, right: f.Term, tools: tuple[str, ...]
) -> oracle.Formula:
    """A comparison of what happened before, or else (of this moment alone) a fact."""
    if any(isinstance(below, HISTORY) for below in f.postorder(node)):
        if op not in ("=", "!=") and (_is_mark(left) or _is_mark(right)):
            raise ValueError("of marks it can only be said whether they are equal")
        return ("compare", _term(left, tools), op, _term(right, tools))
    if isinstance(left, f.Const) and isinstance(right, f.Const):
        return ("true",) if oracle.compare(left.value, op, right.value) else ("false",)
    match left, right:
        case f.Arg(path), f.Const(value):
            return ("prop", name_of("arg", path, op, value), "call")
        case f.Ctx(key), f.Const(value):
            return ("prop", name_of("ctx", key, op, value))
        case f.Depth(), f.Const(value):
            return ("prop", name_of("depth", "", op, value), "call")
        case f.Tokens(), f.Const(value):
            return ("prop", name_of("tokens", "", op, value))
    raise ValueError("a comparison of the present must be of one term with a constant")


def _is_mark(node: f.Term) -> bool:
    return isinstance(node, f.Mark) or (isinstance(node, f.Last) and _is_mark(node.term))


def _term(node: f.Term, tools: tuple[str, ...]) -> oracle.Formula:
    match node:
        case f.Const(value):
            return ("number", value)
        case f.Arg(path):
            return ("arg", path)
        case f.Count(body, reset, bound):
            start = translate(reset, tools) if reset is not None else None
            return ("count", translate(body, tools), start, _bound(bound))
        case f.StepsSince(body):
            return ("since", translate(body, tools))
        case f.Age(body):
            return ("age", translate(body, tools))
        case f.Sum(target, path, bound):
            called = _any(_kind_of_call("called", match, tools) for match in target)
            return ("sum", called, path, _bound(bound))
        case f.Repeats(target, "equal"):
            return ("repeats", _any(_kind_of_call("called", match, tools) for match in target))
        case f.Last(value, body):
            return ("last", _term(value, tools), translate(body, tools))
        case f.Delivered(target):
            return ("delivered", _any(_kind_of_call("called", match, tools) for match in target))
        case f.Denied(target, like):
            called = _any(_kind_of_call("called", match, tools) for match in target)
            return ("denied", called) if like == "any" else ("denied like", called, like)
        case f.Mark(path) if path == "*" or not set(path) & set(".[]"):
            return ("mark", path)
        case f.FactAge(key):
            return ("fact age", key)
        case f.ApprovalAge(action, role):
            return ("approval age", action, role)
    raise ValueError(f"no translation of the term {type(node).__name__}")


# --- the facts of one event ---------------------------------------------------------------------


def name_of(subject: str, path: str, op: str, value: Any) -> str:
    """The name of a fact. A subject is `arg`, `ctx`, `agent`, `text`, `output` and so on."""
    return f"{subject}|{path}|{op}|{value!r}"


def compare(left: Any, op: str, right: Any, subject: str = "arg") -> bool | None:
    """A comparison of JSON scalars; None if it cannot be made. A missing field compares with
    nothing; a fact of the context that was not told cannot be compared.
    """
    if left is ABSENT or left is None:
        field = subject in ("arg", "output")
        return (op, right) == ("=", None) and left is None if field else None
    return None if left is ODD or isinstance(left, Mapping) else oracle.compare(left, op, right)


def facts(
    translated: oracle.Formula, subjects: Mapping[str, Any]
) -> tuple[frozenset[str], frozenset[str]]:
    """Which facts named in a translated formula hold of an event, and which cannot be known.

    `subjects` has what the event is: `{"arg": {...}, "ctx": {...}, "agent": "a", "text": "..."}`;
    for results, `{"output": ...}`. A path leads through mappings: `customer.id`.
    """
    true: set[str] = set()
    unknown: set[str] = set()
    for part in oracle.under(translated):
        if part[0] in ("prop", "prop?", "output") and part[1].split("|")[0] in subjects:
            subject, path, op, value = part[1].split("|", 3)
            found: Any = subjects[subject]
            for key in filter(None, path.split(".")):
                found = below(found, key)
            answer = compare(found, op, literal_eval(value), subject)
            if answer is not False:
                (unknown if answer is None else true).add(part[1])
    return frozenset(true), frozenset(unknown)


def below(found: Any, key: str) -> Any:
    """One step of a path; what has another shape than an object has something odd there."""
    if isinstance(found, Mapping):
        return found.get(key, ABSENT)
    return found if found is ABSENT else ABSENT if found is None else ODD
