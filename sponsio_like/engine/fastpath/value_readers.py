"""The fast path to the values of a clause with variables, at calls of one tool.

In: a clause, and the name of a tool. Out: which arguments make the key, and what the slots are for
that key; or that no value is told apart, and nothing changes. Other clauses, and other arguments
than small flat ones, take the slow path.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import sponsio_like.logic.formula as f
from sponsio_like.engine.clause import Clause
from sponsio_like.engine.fastpath.readers import LARGE
from sponsio_like.events import names_tool
from sponsio_like.monitor import KEY_CAP, Form, Name, static


class Values(NamedTuple):
    """The reader of the key (None if no value is told apart), and the letter for that key.

    `others`: the letter for all other values.
    """

    key: Callable[[Mapping[str, Any]], tuple[Any, ...] | None] | None
    letter: tuple[bool | None, ...]
    others: tuple[bool | None, ...]


def short_values(clause: Clause, name: Name) -> Values | None:
    """The fast path; None if there is none."""
    bindings = clause.bindings
    if bindings is None or not clause.ignores_others or bindings.relates or bindings.names.local:
        return None
    told = static(clause.slots, name)
    others = bindings.told(told)
    if not clause.keeps_registers(others):
        return None
    letter, mute = list(told), clause.dont_care_slots(told)
    matches: list[f.Match] = []
    for i, slot, _ in bindings.atoms:
        if told[i] is False:
            continue
        if i in mute:
            letter[i] = False
            continue
        if not isinstance(slot.node, f.Happens):
            return None
        mine = [each for each in slot.node.target if _speaks_of(each, name)]
        matches += mine
        letter[i] = True
    plain = tuple(False if each is None else each for each in others)
    if not matches:
        return Values(None, tuple(letter), plain)
    key = _key(matches, bindings.names.places, bindings.names.forms)
    return None if key is None else Values(key, tuple(letter), plain)


def _speaks_of(match: f.Match, name: Name) -> bool:
    if isinstance(name, str):
        return names_tool(match, name)
    return not match.names or bool(match.globs)


def _key(
    matches: list[f.Match], places: Mapping[str, int], forms: Mapping[str, Form]
) -> Callable[[Mapping[str, Any]], tuple[Any, ...] | None] | None:
    """Return the reader of the key, if all these matches bind the same plain arguments alone."""
    if len({match.conditions for match in matches}) > 1:
        return None
    paths: list[str | None] = [None] * len(places)
    for match in matches:
        for each in match.conditions:
            simple = isinstance(each.value, f.Var) and each.op == "=" and not each.every
            if not simple or match.agent is not None or not each.path.isidentifier():
                return None
            assert isinstance(each.value, f.Var)
            place = places[each.value.name]
            if paths[place] not in (None, each.path):
                return None
            paths[place] = each.path
    if None in paths or set(forms.values()) - {"exact", "text"}:
        return None
    found = [path for path in paths if path is not None]
    textual = [forms[name] == "text" for name in sorted(places, key=places.__getitem__)]
    if found == [found[0]] and not textual[0]:
        path = found[0]
        return lambda args: _single(args.get(path))
    return lambda args: _several(args, found, textual)


def _single(value: Any) -> tuple[Any, ...] | None:
    kind = type(value)
    if kind is str:
        return (value,) if len(value) <= KEY_CAP and value.isascii() else None
    return (value,) if kind is int and -LARGE < value < LARGE else None


def _several(
    args: Mapping[str, Any], paths: list[str], textual: list[bool]
) -> tuple[Any, ...] | None:
    out: list[Any] = []
    for path, as_text in zip(paths, textual, strict=True):
        key = _single(args.get(path))
        if key is None or (as_text and (type(key[0]) is not str or len(key[0].split()) != 1)):
            return None
        out.append(key[0].strip() if as_text else key[0])
    return tuple(out)


def lookup(key: str, state: str, found: str, store: str) -> list[str]:
    """The lines that find the state of a key; what has no room takes the slow path."""
    return [
        f"if {key} is None or {store}.blind: return None",
        f"{found} = {store}.keys.get({key})",
        f"if {found} is None and {store}.texts: {found} = {store}.entry({key})",
        f"if {found} is None:",
        f"    if {store}.is_full(): return None",
        f"    if len({store}.cells) >= {store}.most_states: return None",
        f"    {state} = {store}.rest.state",
        f"else: {state} = {found}[0].state if {found}[0].into is None else {store}.state({key})",
    ]
