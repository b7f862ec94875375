"""Says in words what of a call, or of a result, could not be read: for advice and for `explain`.

In: a call or a result; a clause, or the atoms that read it. Out: the fields, and the reasons.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Any

import sponsio_like.logic.formula as f
from sponsio_like.contracts import forbidden_matches
from sponsio_like.engine.clause import Clause
from sponsio_like.events import (
    MISSING,
    Call,
    Context,
    Event,
    Result,
    meets,
    names_tool,
    reader,
    settled_value,
    single,
)
from sponsio_like.kinds import host_of
from sponsio_like.logic import show
from sponsio_like.monitor import CallMatcher, Letter, OutputMatcher, Slot, split_key
from sponsio_like.values import (
    ABSENT,
    ANSWER_CAP,
    TEXT_CAP,
    UNREADABLE,
    Cut,
    TextKind,
    has_gaps,
    kind_step,
    leaves_of,
    path_parts,
    reach,
    spot,
    under,
)

Unread = dict[int, tuple[str, ...]]
"""The fields that could not be read, by slot; slots that could be read are left out."""
KEPT = 100
"""Most tools for which a session remembers that a result could not be read."""


def unread_fields(nodes: Iterable[f.Node], call: Call) -> Iterator[str]:
    """Yield the fields of the call that these atoms read and cannot, each with the reason."""
    nodes = list(nodes)
    for path in dict.fromkeys(path for node in nodes for path in _paths(node, call.tool)):
        if _why(call.args, path):
            yield why_unread(path, call.args)
    untold = (each for node in nodes for each in _untold(node, call))
    for path, kind in dict.fromkeys(untold):
        if not _why(call.args, path):
            yield f"field `{path}` could not be read: not all of it can be told as `{kind}`"


def missing_fields(clause: Clause, call: Call, context: Context) -> Iterator[str]:
    """Yield the fields that the call does not have and that the clause demands of it."""
    forbidden = set(forbidden_matches(clause.rule.formula))
    for node in (node for slot in clause.slots for node in f.postorder(slot.node)):
        for path in _demanded(node, call, context, forbidden):
            if _is_missing(call, path):
                yield f"field `{path_parts(path)[0]}` is missing"


def _demanded(
    node: f.Node, call: Call, context: Context, forbidden: Container[f.Match]
) -> Iterator[str]:
    """Yield the places in arguments of which an atom wants something that is not there; atoms of
    users are not asked.
    """
    match node:
        case f.Happens(_, target):
            for match in target:
                if match not in forbidden and names_tool(match, call.tool):
                    wanting = [
                        each.path
                        for each in match.conditions
                        if not isinstance(each.value, f.Var) and not meets(each)(call.args)
                    ]
                    yield from wanting if all(_is_missing(call, each) for each in wanting) else ()
        case f.Compare(f.Arg(path), _, f.Const()) if not reader(node)(call, context):
            yield path
        case f.Custom(name, (str() as path, *_)) if name.startswith("arg_"):
            if reader(node)(call, context) is None:
                yield path


def _is_missing(call: Call, path: str) -> bool:
    return not _is_all(path) and path_parts(path)[0] not in call.args


def unread_keys(clause: Clause, call: Call) -> Iterator[str]:
    """Yield the fields that choose a monitor of the clause and have no value, with the reasons."""
    for path in clause.by:
        if split_key(call, (path,)) is None:
            yield why_unread(path, call.args)
        elif split_key(call, (path,), clause.rule.single) is None:
            yield f"field `{path}` has several values, or an object, where one value is expected"


def _paths(node: f.Node, tool: str) -> Iterator[str]:
    """Yield the places in arguments that an atom or a term compares one by one."""
    match node:
        case f.Happens(_, target) | f.Sum(target):
            mine = (match for match in target if names_tool(match, tool))
            yield from (each.path for match in mine for each in match.conditions)
            if isinstance(node, f.Sum):
                yield node.path
        case f.Arg(path) | f.Mark(path) | f.Custom(_, (str() as path, *_)):
            yield path


def _untold(node: f.Node, call: Call) -> Iterator[tuple[str, str]]:
    """Yield the fields whose text has no one reading as a path, or as a URL, with that kind."""
    match node:
        case f.Custom("arg_inside", (str() as path, tuple() as folders, str() as root, *_)):
            if any(under(each, folders, root or folders[0]) is None for each in _each(call, path)):
                yield path, "path"
        case f.Custom("arg_host", (str() as path, *_)):
            texts = (each for each in _each(call, path) if isinstance(each, str))
            if any(not isinstance(host_of(each), str) for each in texts):
                yield path, "url"
        case f.Happens(_, target):
            mine = (match for match in target if names_tool(match, call.tool))
            for each in (each for match in mine for each in match.conditions):
                if each.op in ("under", "outside") and meets(each)(call.args) is None:
                    yield each.path, "path"


def _each(call: Call, path: str) -> list[Any]:
    return [each for each in leaves_of(reach(call.args, path)[0]) if each is not None]


def unread_slots(clause: Clause, event: Event, context: Context, letter: Letter) -> Unread:
    """Return what of this event could not be read, by slot."""
    found: Unread = {}
    bound = {} if clause.bindings is None else {i: atom for i, _, atom in clause.bindings.atoms}
    for i, slot in enumerate(clause.slots):
        if i in bound:
            atom = bound[i]
            words = _of_looks(atom, event, context) if isinstance(atom, CallMatcher) else ()
        else:
            words = _of_slot(slot, event, context, letter[i])
        if said := tuple(dict.fromkeys(words)):
            found[i] = said
    return found


def unread_in_result(clause: Clause, letter: Letter, result: Result, tool: str) -> tuple[str, ...]:
    """Return what of a result could not be read though the clause waits for it."""
    found: dict[str, None] = {}
    waiting = {i for i in range(len(letter)) if clause.slots[i].waits and letter[i] is not False}
    for i, _, atom in () if clause.bindings is None else clause.bindings.atoms:
        waiting.discard(i)
        if (
            isinstance(atom, OutputMatcher)
            and letter[i] is not False
            and atom.found(result).unclear
        ):
            found[_answer(atom.node.path)] = None
    for i in waiting:
        node = clause.slots[i].node
        if isinstance(node, f.OutputIs) and settled_value(node, result, tool) is None:
            found[_answer(node.path)] = None
    return tuple(found)


def too_large(answer: Any) -> str:
    """Return why a result, or a member of it, cannot be searched; empty if it can."""
    inner = answer.values() if isinstance(answer, Mapping) else answer
    for each in [answer, *(inner if isinstance(answer, (Mapping, list)) else ())]:
        if each is UNREADABLE:
            return f"more than {ANSWER_CAP:,} values, or no data"
        if isinstance(each, str) and len(each) > TEXT_CAP:
            return f"more than {TEXT_CAP:,} characters in one text"
    return ""


def why_unread(path: str, args: Mapping[str, Any]) -> str:
    """Return what is wrong with a field that has no value: it is missing, or could not be read."""
    why = _why(args, path)
    if not why and not _is_all(path):
        place = spot(args, path)
        if single(place) is ABSENT or has_gaps(place):
            return f"field `{path}` is missing"
    return f"field `{path}` could not be read{why and ': '}{why}"


def _is_all(path: str) -> bool:
    """True if the path stands for the whole call, or for who makes it."""
    return path == "*" or path.startswith("@")


def _why(args: Any, path: str) -> str:
    """Return why the value at a path cannot be read; empty if it can."""
    if path == "*" and isinstance(args, Cut):
        return _blank(args)
    if _is_all(path):
        return ""
    value = args
    for part in path_parts(path):
        if value is None or isinstance(value, (list, tuple)):
            break
        if value is UNREADABLE:
            return _blank(args)
        if (kind := kind_step(part)) is not None:
            return _unread_by(kind, spot(args, path))
        if part == "[]":
            return f"{_kind(value)}, where a list is expected"
        if not isinstance(value, Mapping):
            return f"{_kind(value)}, where an object is expected"
        value = value.get(part)
    found = single(spot(args, path))
    if isinstance(found, Mapping):
        return "an object, where one value is expected"
    if isinstance(found, str) and len(found) > TEXT_CAP:
        return f"a text of more than {TEXT_CAP:,} characters"
    blank = found is value is UNREADABLE or (isinstance(args, Cut) and _is_cut(value))
    return _blank(args) if blank else ""


def _unread_by(kind: TextKind, place: Any) -> str:
    """Return why a text has no facts of this kind; empty if it has."""
    unclear = any(each is UNREADABLE for each in leaves_of(place))
    return f"not all of it can be told as `{kind.name}`" if unclear else ""


def _is_cut(value: Any) -> bool:
    """True if something inside the value could not be read."""
    stack = [value]
    while stack:
        each = stack.pop()
        if each is UNREADABLE:
            return True
        inner = each.values() if isinstance(each, Mapping) else each
        stack.extend(inner if isinstance(each, (Mapping, list)) else ())
    return False


def _blank(args: Any) -> str:
    """Return why nothing of a value could be read: the cap that the whole call met, if it did."""
    met = args.met if isinstance(args, Cut) else ""
    return f"the call has {met}" if met else "it is too large, or no data"


def _kind(value: Any) -> str:
    if isinstance(value, str):
        return "a text"
    return "an object" if isinstance(value, Mapping) else "a plain value"


def _answer(path: str) -> str:
    return f"field `{path}` of its answer could not be read" if path else "its answer is unreadable"


def _of_looks(atom: CallMatcher, event: Event, context: Context) -> Iterator[str]:
    """Yield the fields of a call that may bind values and that could not be read."""
    if not isinstance(event, Call):
        return
    for kind, base, looks in atom.see(event, context):
        for test, look in zip(kind.tests, looks, strict=True):
            path, regex = test.condition.path, test.var.regex
            if look.bare and kind.strict:
                yield f"in field `{path}` there is nothing that `{regex}` finds"
            elif look.unclear or (kind.strict and not look.there):
                yield why_unread(path, event.args)
        if base is None:
            yield "a condition on its arguments cannot be told"


def _of_slot(slot: Slot, event: Event, context: Context, read: Any) -> Iterator[str]:
    node = slot.node
    if not isinstance(event, Call):
        return
    match node:
        case f.Happens(_, target):
            for each in target:
                mine = names_tool(each, event.tool) and each.agent in (None, event.agent)
                for condition in each.conditions if mine else ():
                    if meets(condition)(event.args) is None:
                        yield why_unread(condition.path, event.args)
        case f.Arg(path) | f.Mark(path) if slot.kind == "value" and read is MISSING:
            yield why_unread(path, event.args)
        case f.Sum(_, path) if slot.kind == "amount" and (read is None or read is MISSING):
            yield why_unread(path, event.args)
        case f.Compare() | f.Custom() if not slot.waits and reader(node)(event, context) is None:
            paths = [each.path for each in f.postorder(node) if isinstance(each, f.Arg | f.Mark)]
            if isinstance(node, f.Custom):  # the built-in ones name the argument first
                paths = [each for each in node.args[:1] if isinstance(each, str)]
            yield from (why_unread(path, event.args) for path in paths)
            if not paths:
                yield f"`{show(node)}` could not be told"
