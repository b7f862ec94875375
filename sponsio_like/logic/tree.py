"""The tree of formulas and terms: frozen nodes, interned.

The same node is the same object, so equality is identity, hashing is constant and depth does not
matter.
"""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Callable, Iterator
from typing import Any, TypeVar, dataclass_transform
from weakref import WeakValueDictionary

from sponsio_like.logic.targets import Condition, Match, Var

_TABLE: WeakValueDictionary[Any, Any] = WeakValueDictionary()
_LOCK = threading.Lock()
_NODES = frozenset({"Formula", "Formula | None", "Term", "tuple[Formula, ...]", "Bound"})
"""The annotations of fields in which no value equals one of another type."""
_PLAIN = frozenset({str, int, float, bool, type(None)})
_PARTS = frozenset({Condition, Var})
FEW = 64
"""Most nodes of a formula whose list of them is kept, and most matches."""


def _forked() -> None:
    """Open the lock in a process that was forked: it does not have the thread that held it."""
    global _LOCK  # noqa: PLW0603  the name is that of the lock
    _LOCK = threading.Lock()


if hasattr(os, "register_at_fork"):  # there are systems that cannot fork
    os.register_at_fork(after_in_child=_forked)


def exact(value: Any) -> Any:
    """Return a dictionary key in which `1`, `1.0` and `True` differ, in conditions too."""
    kind = type(value)
    if kind in _PLAIN:
        return kind, value
    if type(kind) is _Interned:
        return value
    if kind is Match:
        conditions = exact(value.conditions) if value.conditions else ()
        return kind, value.names, value.globs, conditions, value.agent, value.strict
    if isinstance(value, tuple):
        return tuple([exact(each) for each in value])
    if kind in _PARTS:
        return (kind, *[exact(getattr(value, name)) for name in kind.__match_args__])
    return kind, value


@dataclass_transform(frozen_default=True, eq_default=False)
class _Interned(type):
    """The metaclass of nodes: it reads their fields from annotations, and interns instances."""

    def __new__(mcs, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> _Interned:
        fields = tuple(body.get("__annotations__", {}))
        if fields or "__slots__" not in body:
            body["__slots__"] = fields
        body["__match_args__"] = fields
        body["_defaults"] = {each: body.pop(each) for each in fields if each in body}
        body["_has_values"] = any(
            said not in _NODES for said in body.get("__annotations__", {}).values()
        )
        return super().__new__(mcs, name, bases, body)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        fields = cls.__match_args__  # type: ignore[attr-defined]
        values = args
        if kwargs or len(args) != len(fields):
            values = _bound(cls, args, kwargs)
        parts = map(exact, values) if cls._has_values else values  # type: ignore[attr-defined]
        key = (cls, *parts)
        with _LOCK:
            node = _TABLE.get(key)
            if node is None:
                node = object.__new__(cls)  # type: ignore[arg-type]
                for name, value in zip(fields, values, strict=True):
                    object.__setattr__(node, name, value)
                _TABLE[key] = node
        return node


def fields_of(cls: Any) -> tuple[str, ...]:
    """Return the names of the fields, in order."""
    names: tuple[str, ...] = cls.__match_args__
    return names


def _bound(cls: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """Return the values of the fields, in order. Raises `TypeError` for other arguments."""
    left = fields_of(cls)[len(args) :]
    if not kwargs and left and cls._defaults.keys() >= {*left}:
        return (*args, *[cls._defaults[name] for name in left])
    given = {**cls._defaults, **dict(zip(fields_of(cls), args, strict=False)), **kwargs}
    twice = kwargs.keys() & set(fields_of(cls)[: len(args)])
    if twice or len(args) > len(fields_of(cls)) or given.keys() != set(fields_of(cls)):
        fields = ", ".join(fields_of(cls))
        raise TypeError(f"`{cls.__name__}` takes exactly: {fields or 'nothing'}")
    return tuple(given[name] for name in fields_of(cls))


PARSERS: dict[str, Callable[[str], Any]] = {}
"""The functions that read a formula and a term from text; `syntax` fills it."""
PRINTERS: dict[str, Callable[[Any], str]] = {}
"""The function that returns the text of a node; `logic/printer.py` fills it."""


class Node(metaclass=_Interned):
    """A formula or a term. Prints as its text; the same node is the same object."""

    __slots__ = ("__weakref__", "_below", "_children", "_matches")

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"`{type(self).__name__}` is frozen")

    def __repr__(self) -> str:
        return PRINTERS["node"](self)

    def __copy__(self) -> Node:
        return self

    def __deepcopy__(self, memo: object) -> Node:
        return self

    def __reduce__(self) -> tuple[Callable[[str], Node], tuple[str]]:
        return (PARSERS["formula"], (repr(self),))  # as text, so that depth does not matter


def children(node: Node) -> tuple[Node, ...]:
    """Return the formulas and terms that stand directly under `node`."""
    found: tuple[Node, ...] | None = getattr(node, "_children", None)
    if found is None:  # nodes never change, and loading asks for these often
        found = _children(node)
        object.__setattr__(node, "_children", found)
    return found


def _children(node: Node) -> tuple[Node, ...]:
    out: list[Node] = []
    for name in fields_of(type(node)):
        value = getattr(node, name)
        if isinstance(value, Node):
            out.append(value)
        elif isinstance(value, tuple):
            out.extend(item for item in value if isinstance(item, Node))
    return tuple(out)


_Root = TypeVar("_Root", bound=Node)


def rewritten(root: _Root, swap: Callable[[Any], Any]) -> _Root:
    """Return the tree with parts replaced, children before parents.

    `swap` gets each node as it stands in `root`, and every other part of a node (a target, a match,
    a number): it returns what stands there instead, or None to keep it with its parts replaced.
    """
    done: dict[Node, Node] = {}

    def again(part: Any) -> Any:
        if isinstance(part, Node):
            return done[part]
        found = swap(part)
        if found is None and isinstance(part, tuple):
            return tuple(map(again, part))
        return part if found is None else found

    for node in postorder(root):
        found = swap(node)
        if found is None:
            found = type(node)(*(again(getattr(node, name)) for name in fields_of(type(node))))
        done[node] = found
    return done[root]  # type: ignore[return-value]


def postorder(root: Node) -> Iterator[Node]:
    """Return every node under `root` once, children before parents. No
    recursion: depth is no limit.
    """
    below: tuple[Node, ...] | None = getattr(root, "_below", None)
    if below is None:  # loading asks for these often, too
        below = tuple(_postorder(root))[:-1]
        if len(below) < FEW:
            object.__setattr__(root, "_below", below)
    return itertools.chain(below, (root,))


def _postorder(root: Node) -> Iterator[Node]:
    seen: set[Node] = set()
    stack: list[tuple[Node, bool]] = [(root, False)]
    while stack:
        node, ready = stack.pop()
        if ready:
            yield node
        elif node not in seen:
            seen.add(node)
            stack.append((node, True))
            stack.extend((child, False) for child in reversed(children(node)))
