"""Registers atoms of users: plain functions, by name, for Python and for contract files."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from sponsio_like.errors import ContractError
from sponsio_like.event_types import Kind
from sponsio_like.logic.formula import Custom

Read: TypeAlias = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class CustomAtom:
    """An atom registered by name. `waits`: it reads the result, not the call.

    `prepared`: `read` gets the atom's arguments once, and returns the function that is asked.
    """

    name: str
    read: Read
    kind: Kind
    waits: bool
    inputs: frozenset[str]
    prepared: bool = False

    def asks(self, args: tuple[Any, ...]) -> Callable[[Any, Any], bool | None]:
        """Return the function for these arguments of the atom.

        It raises `TypeError` for an answer that is neither true, false nor None.
        """
        read: Callable[..., Any] = self.read(*args) if self.prepared else self.read
        rest = () if self.prepared else args

        def ask(event: Any, context: Any) -> bool | None:
            answer = read(event, context, *rest)
            if answer is True or answer is False or answer is None:
                return answer
            raise TypeError(f"atom `{self.name}` answered {answer!r}; write True, False or None")

        return ask

    def takes(self, args: tuple[Any, ...]) -> None:
        """Raise `TypeError` for arguments that the atom does not take."""
        first = () if self.prepared else (None, None)
        inspect.signature(self.read).bind(*first, *args)


CUSTOM: dict[str, CustomAtom] = {}


def atom(
    name: str,
    *,
    about: Kind = "call",
    waits: bool = False,
    inputs: frozenset[str] = frozenset(),
    prepared: bool = False,
) -> Callable[[Read], Read]:
    """Register an atom, for Python and for contract files.

    The function gets the event and the context (if `waits`: the call's tool and its `Result`), then
    the atom's arguments; it answers true, false, or `None` if that cannot be decided. It has to be
    quick, and pure: it may be asked again. An exception in it blocks the call. If `prepared`, it
    gets the atom's arguments alone, once, at load time, and returns the function that is asked.
    Raises `ContractError` for no name, for one that is taken, and for a coroutine function.
    """
    if not isinstance(name, str):
        raise ContractError.of(
            "an atom needs a name", 'write `@atom("weekday")` above its function'
        )

    def register(read: Read) -> Read:
        if inspect.iscoroutinefunction(read):
            raise ContractError.of(f"atom `{name}` is a coroutine", "write a plain function")
        known = CUSTOM.get(name)
        if known is not None and _home(known.read) != _home(read):
            raise ContractError.of(f"atom `{name}` exists already", "choose another name")
        CUSTOM[name] = CustomAtom(name, read, about, waits, frozenset(inputs), prepared)
        return read

    return register


def _home(read: Read) -> tuple[Any, Any]:
    """Return the module and the name of a function: the same after its module is loaded again."""
    return getattr(read, "__module__", None), getattr(read, "__qualname__", None)


def custom(node: Custom) -> CustomAtom:
    """Return the registered atom of this name. Raises `ContractError` with the known names."""
    if node.name not in CUSTOM:
        known = ", ".join(f"`{name}`" for name in sorted(CUSTOM))
        raise ContractError.of(f"unknown atom `{node.name}`", f"registered atoms: {known}")
    return CUSTOM[node.name]


def taking(node: Custom) -> CustomAtom:
    """Return the registered atom. Raises `ContractError` if it does not take these arguments."""
    known = custom(node)
    try:
        known.takes(node.args)
    except TypeError as error:
        raise ContractError.of(f"`{node!r}`: {error}", "see the atom's function") from None
    return known
