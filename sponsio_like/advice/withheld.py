"""Decides which values of variables a sentence may show, and labels the others.

In: values that a contract has bound, and the call that was refused. Out: those that the model wrote
itself; or labels, `#1` and `#2`, which are the same for the same value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from sponsio_like.engine import Clause
from sponsio_like.events import Call, Event, Message
from sponsio_like.logic.formula import OutputIs, TextIs, postorder
from sponsio_like.monitor import vars_in
from sponsio_like.values import NotCanonical, leaves, scalar_text

Values: TypeAlias = Iterable[tuple[str, Any]]


def withheld(clause: Clause, values: Sequence[tuple[str, Any]], event: Event) -> dict[str, Any]:
    """Return the values that advice must not show: of leaks, and of answers not in the call."""
    if not values:
        return {}
    nodes = [node for slot in clause.slots for node in postorder(slot.node)]
    each = [(node, op, var.name) for node in nodes for op, var in vars_in(node)]
    leaks = {name for _, op, name in each if op == "carries"}
    heard = {name for node, _, name in each if isinstance(node, OutputIs | TextIs)}
    known = dict(whole_values(values, event))
    return {
        name: value
        for name, value in values
        if name in leaks or (name in heard and name not in known)
    }


def whole_values(values: Values, event: Event) -> list[tuple[str, Any]]:
    """Return the values that are a whole argument of the call, its agent, or a whole message."""
    each = list(values)
    if not each:
        return []
    texts = set(map(scalar_text, _plain(event))) - {None}
    return [(name, value) for name, value in each if scalar_text(value) in texts]


def _plain(event: Event) -> list[Any]:
    """Return the values that the model wrote: arguments, agent, or text."""
    if isinstance(event, Message):
        return [event.text]
    if not isinstance(event, Call):
        return []
    try:
        return [event.agent, *(leaf for name, leaf in leaves(event.args) if name is not None)]
    except NotCanonical:
        return [event.agent]


def without(sentence: str, hidden: Mapping[str, Any]) -> str:
    """Return the sentence with the names of variables in the place of these values."""
    for name, value in hidden.items():
        shown = r"(?<=[ \[(])" + re.escape(json.dumps(value)) + r"(?=[`\])},])"
        sentence = re.sub(shown, f"${name}", sentence)
    return sentence


def labelled() -> Callable[[Any], Any]:
    """Return a function that replaces every text and number by a label, and keeps shapes."""
    known: dict[str, str] = {}

    def label(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {key: label(each) for key, each in value.items()}
        if isinstance(value, (list, tuple)):
            return [label(each) for each in value]
        if value is None or isinstance(value, bool):
            return value
        text = scalar_text(value)
        return known.setdefault(str(value) if text is None else text, f"#{len(known) + 1}")

    return label


def plainly(value: Any) -> Any:
    """Return the value itself."""
    return value
