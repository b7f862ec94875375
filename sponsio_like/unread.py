"""What of an event a clause could not read, in words: a comparison that cannot be made violates.

In: a clause, an event, what it was told. Out: for each slot that could not be told, the fields.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import sponsio_like.formula as f
from sponsio_like.atoms import meets, names_tool, reader, settled
from sponsio_like.clause import Clause
from sponsio_like.context import Context
from sponsio_like.events import Call, Event, Result
from sponsio_like.past import Letter
from sponsio_like.program import Slot
from sponsio_like.show import show
from sponsio_like.terms import MISSING
from sponsio_like.variable_atoms import OfCalls, OfOutput

Unread = dict[int, tuple[str, ...]]
"""For each slot that could not be told, what could not be read."""


def unread(clause: Clause, event: Event, context: Context, letter: Letter) -> Unread:
    """What of this event could not be read."""
    found: Unread = {}
    bound = {} if clause.bound is None else {i: atom for i, _, atom in clause.bound.atoms}
    for i, slot in enumerate(clause.slots):
        if i in bound:
            atom = bound[i]
            words = _of_looks(atom, event, context) if isinstance(atom, OfCalls) else ()
        else:
            words = _of_slot(slot, event, context, letter[i])
        if said := tuple(dict.fromkeys(words)):
            found[i] = said
    return found


def unheard(clause: Clause, letter: Letter, result: Result, tool: str) -> tuple[str, ...]:
    """What of an answer could not be read, though the clause waits for it."""
    found: dict[str, None] = {}
    waiting = {i for i in range(len(letter)) if clause.slots[i].waits and letter[i] is not False}
    for i, _, atom in () if clause.bound is None else clause.bound.atoms:
        waiting.discard(i)
        if isinstance(atom, OfOutput) and letter[i] is not False and atom.found(result).unclear:
            found[_answer(atom.node.path)] = None
    for i in waiting:
        node = clause.slots[i].node
        if isinstance(node, f.OutputIs) and settled(node, result, tool) is None:
            found[_answer(node.path)] = None
    return tuple(found)


def field(path: str, args: Mapping[str, Any]) -> str:
    """What is wrong with a field that has no value."""
    first = path.partition(".")[0].partition("[")[0]
    there = path in ("*", "@call", "@agent") or first in args or path in args
    return f"field `{path}` {'could not be read' if there else 'is missing'}"


def _answer(path: str) -> str:
    return f"field `{path}` of its answer could not be read" if path else "its answer is unreadable"


def _of_looks(atom: OfCalls, event: Event, context: Context) -> Iterator[str]:
    """Of a call that may bind values: the fields that could not be told."""
    if not isinstance(event, Call):
        return
    for kind, base, looks in atom.see(event, context):
        for test, look in zip(kind.tests, looks, strict=True):
            path, regex = test.condition.path, test.var.regex
            if look.bare and kind.strict:
                yield f"in field `{path}` there is nothing that `{regex}` finds"
            elif look.unclear or (kind.strict and not look.there):
                yield field(path, event.args)
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
                        yield field(condition.path, event.args)
        case f.Arg(path) | f.Mark(path) if slot.kind == "value" and read is MISSING:
            yield field(path, event.args)
        case f.Sum(_, path) if slot.kind == "amount" and (read is None or read is MISSING):
            yield field(path, event.args)
        case f.Compare() | f.Custom() if not slot.waits and reader(node)(event, context) is None:
            paths = [each.path for each in f.postorder(node) if isinstance(each, f.Arg | f.Mark)]
            if isinstance(node, f.Custom):  # the built-in ones name the argument first
                paths = [each for each in node.args[:1] if isinstance(each, str)]
            yield from (field(path, event.args) for path in paths)
            if not paths:
                yield f"`{show(node)}` could not be told"
