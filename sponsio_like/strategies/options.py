"""What a strategy may be given."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from sponsio_like.errors import ContractError


def none(name: str, options: Mapping[str, Any]) -> None:
    """Raise `ContractError` if there are any."""
    if options:
        raise ContractError.of(f"`{name}` has no options", f"write strategy: {name}")


def function(value: Any, what: str) -> Callable[[Any], Any]:
    """A callable of one argument, as it is or by its path `package.module:name`.

    Raises `ContractError` if there is no such callable.
    """
    found = _imported(value) if isinstance(value, str) else value
    if not callable(found):
        raise ContractError.of(f"`{value}` is not {what}", "write package.module:callable")
    try:
        inspect.signature(found).bind(None)
    except TypeError:
        raise ContractError.of(f"`{value}` has to take one argument") from None
    except ValueError:  # a builtin that does not say
        pass
    made: Callable[[Any], Any] = found
    return made


def _imported(path: str) -> Any:
    module, _, name = path.partition(":")
    if not name or not all(part.isidentifier() for part in (*module.split("."), *name.split("."))):
        raise ContractError.of(
            f"`{path}` is no path to a callable", "write package.module:callable"
        )
    try:
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except Exception as error:  # to import a module is to run it
        why = f"{type(error).__name__}: {error}"
        raise ContractError.of(f"`{path}` cannot be imported: {why}") from error
    return found
