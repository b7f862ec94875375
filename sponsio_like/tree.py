"""The tree of formulas and terms: frozen nodes, interned.

The same node is the same object, so equality is identity, hashing is constant and depth does not
matter.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar, dataclass_transform
from weakref import WeakValueDictionary

from sponsio_like.targets import Condition, Match

_TABLE: WeakValueDictionary[Any, Any] = WeakValueDictionary()
_LOCK = threading.Lock()
_Class = TypeVar("_Class", bound=type)


def _key(value: Any) -> Any:
    """A dictionary key in which `1`, `1.0` and `True` differ, in conditions too."""
    if isinstance(value, tuple):
        return tuple(map(_key, value))
    if isinstance(value, Match | Condition):
        return (type(value), *(_key(getattr(value, name)) for name in value.__match_args__))
    return value if isinstance(value, Node) else (type(value), value)


class _Interned(type):
    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        node = super().__call__(*args, **kwargs)
        key = (cls, *(_key(getattr(node, name)) for name in cls.__match_args__))  # type: ignore[attr-defined]
        with _LOCK:
            return _TABLE.setdefault(key, node)


@dataclass_transform(frozen_default=True)
def node(cls: _Class) -> _Class:
    """Declare a kind of node."""
    return dataclass(frozen=True, eq=False, slots=True, repr=False)(cls)  # type: ignore[return-value]


class Node(metaclass=_Interned):
    """A formula or a term. Prints as its text; the same node is the same object."""

    __slots__ = ("__weakref__",)

    def __repr__(self) -> str:
        from sponsio_like.syntax import show  # the printer stands above the tree

        return show(self)

    def __copy__(self) -> Node:
        return self

    def __deepcopy__(self, memo: object) -> Node:
        return self

    def __reduce__(self) -> tuple[Callable[[str], Node], tuple[str]]:
        from sponsio_like.syntax import read  # as text, so that depth does not matter

        return (read, (repr(self),))


def children(node: Node) -> tuple[Node, ...]:
    """The formulas and terms that stand directly under `node`."""
    out: list[Node] = []
    for name in node.__match_args__:  # type: ignore[attr-defined]
        value = getattr(node, name)
        if isinstance(value, Node):
            out.append(value)
        elif isinstance(value, tuple):
            out.extend(item for item in value if isinstance(item, Node))
    return tuple(out)


def postorder(root: Node) -> Iterator[Node]:
    """Every node under `root` once, children before parents. No recursion: depth is no limit."""
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
