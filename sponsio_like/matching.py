"""What calls are matched against, said in Python: tools, conditions on arguments, the agent.

In: names, globs, lists, comparisons of fields. Out: a `Target`. What cannot be meant is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeAlias, TypeVar

import sponsio_like.formula as f
from sponsio_like.errors import ContractError
from sponsio_like.targets import is_glob

Tools: TypeAlias = "str | f.Match | Iterable[str | f.Match]"
"""A tool's name, a glob over the full name (`pay_*`), a `Match`, or several of them."""

Values: TypeAlias = f.Scalar | tuple[f.Scalar, ...]

_Made = TypeVar("_Made")


@dataclass(frozen=True, slots=True)
class Field(Generic[_Made]):
    """A place in the arguments or in the output of a call; comparing it makes a `_Made`."""

    make: Callable[[f.Op, Values], _Made]

    def __lt__(self, value: float | str) -> _Made:
        return self.make("<", _ordered(value))

    def __le__(self, value: float | str) -> _Made:
        return self.make("<=", _ordered(value))

    def __gt__(self, value: float | str) -> _Made:
        return self.make(">", _ordered(value))

    def __ge__(self, value: float | str) -> _Made:
        return self.make(">=", _ordered(value))

    def equals(self, value: f.Scalar | Iterable[f.Scalar]) -> _Made:
        """JSON equality: `1` equals `1.0`, `True` does not equal `1`."""
        return self.make("=", _scalar(value) if isinstance(value, _SCALAR) else _list(value))

    def differs(self, value: f.Scalar | Iterable[f.Scalar]) -> _Made:
        """The opposite of `equals`, where there is a value."""
        return self.make("!=", _scalar(value) if isinstance(value, _SCALAR) else _list(value))

    def is_in(self, values: Iterable[f.Scalar]) -> _Made:
        """The value equals one of `values`."""
        return self.make("in", _list(values))

    def matches(self, regex: str) -> _Made:
        """The regular expression (RE2) is found in the value, which must be a string."""
        return self.make("matches", string("a regular expression", regex))


def where(path: str) -> Field[f.Condition]:
    """An argument of a call, to be compared: `where("items[].sku").equals("x")`."""
    string("the path of an argument", path)
    return Field(lambda op, value: f.Condition(path, op, value))


def named(*tools: str) -> f.Match:
    """Calls of any of these tools; a name with `*` or `?` is a glob over the full name."""
    globs = tuple(tool for tool in tools if is_glob(tool))
    return f.Match(tuple(tool for tool in tools if not is_glob(tool)), globs)


def target(tools: Tools, *conditions: f.Condition, agent: str | None = None) -> f.Target:
    """The calls of any of `tools` that satisfy every condition, by `agent` if given."""
    items = [tools] if isinstance(tools, str | f.Match) else _items("the name of a tool", tools)
    names = [string("a tool's name", item) for item in items if not isinstance(item, f.Match)]
    matches = [item for item in items if isinstance(item, f.Match)]
    if names:
        matches.insert(0, f.Match() if names == ["*"] else named(*names))
    if not matches:
        raise ContractError.of("no tool is named", 'write a name, `["a", "b"]`, or `"*"` for any')
    checked = tuple(map(_condition, conditions))
    by = None if agent is None else string("an agent's name", agent)
    return tuple(
        replace(m, conditions=m.conditions + checked, agent=m.agent if by is None else by)
        for m in matches
    )


# --- arguments that cannot be meant -----------------------------------------------------------

_SCALAR = (str, int, float, bool, type(None))


def string(what: str, value: object) -> str:
    """`value`, which is `what`, and must be a string."""
    if isinstance(value, str):
        return str.__str__(value)  # of an enumeration too
    raise ContractError.of(f"{what} must be a string, not `{value!r}`")


def _condition(value: object) -> f.Condition:
    if isinstance(value, f.Condition):
        return value
    hint = "write `where(...) > 3` or `where(...).equals(3)`"
    raise ContractError.of(f"not a condition: `{value!r}`", hint)


def _items(what: str, values: object) -> list[Any]:
    if isinstance(values, Iterable) and not isinstance(values, str | bytes):
        return list(values)
    raise ContractError.of(f"neither {what} nor a list: `{values!r}`")


def _list(values: object) -> tuple[f.Scalar, ...]:
    if isinstance(values, str):
        raise ContractError.of(f"not a list: `{values!r}`", f"did you mean `[{values!r}]`?")
    return tuple(map(_scalar, _items("a value", values)))


def _scalar(value: object) -> f.Scalar:
    if isinstance(value, str | int | float | bool | None):
        return value
    raise ContractError.of(f"not a string, a number, true, false or null: `{value!r}`")


def _ordered(value: object) -> float | str:
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return value
    raise ContractError.of(f"only numbers and strings have an order, not `{value!r}`")
