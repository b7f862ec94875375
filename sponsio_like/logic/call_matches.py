"""Makes matches of calls in Python: tools, conditions on arguments, the agent.

In: names, globs, lists, comparisons of fields, variables. Out: a `Target`. Values of a wrong type
are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Generic, Literal, TypeAlias, TypeVar

import sponsio_like.logic.formula as f
from sponsio_like.errors import ContractError
from sponsio_like.logic.targets import is_glob

Tools: TypeAlias = "str | f.Match | Iterable[str | f.Match]"
"""A tool's name, a glob over the full name (`pay_*`), a `Match`, or several of them."""

_Made = TypeVar("_Made")


def var(name: str) -> f.Var:
    """Return a value variable: `called("pay", where("to").equals(var("x")))` is
    `called(pay, to = $x)`.
    """
    word = string("the name of a variable", name)
    if word.isascii() and word.isidentifier():
        return f.Var(word)
    raise ContractError.of(f"`{name!r}` is not the name of a variable", 'write `var("x")`')


@dataclass(frozen=True, slots=True)
class Field(Generic[_Made]):
    """A place in arguments, an output or a text; `make` makes a condition or a formula of a
    comparison.

    `term`: the value there as a term, where that can be compared too.
    """

    make: Callable[[f.Op, f.Operand], _Made]
    term: f.Term | None = None

    def __lt__(self, value: float | str | f.Var) -> _Made:
        return self.make("<", _ordered(value))

    def __le__(self, value: float | str | f.Var) -> _Made:
        return self.make("<=", _ordered(value))

    def __gt__(self, value: float | str | f.Var) -> _Made:
        return self.make(">", _ordered(value))

    def __ge__(self, value: float | str | f.Var) -> _Made:
        return self.make(">=", _ordered(value))

    def equals(self, value: f.Scalar | f.Var | Iterable[f.Scalar]) -> _Made:
        """Return the comparison by JSON equality: `1` equals `1.0`, `True` does not equal `1`."""
        return self.make("=", _operand(value))

    def differs(self, value: f.Scalar | f.Var | Iterable[f.Scalar]) -> _Made:
        """Return the opposite of `equals`, where there is a value."""
        return self.make("!=", _operand(value))

    def is_in(self, values: Iterable[f.Scalar]) -> _Made:
        """Return the comparison: the value equals one of `values`."""
        return self.make("in", _list(values))

    def matches(self, regex: str) -> _Made:
        """Return the comparison: the regular expression (RE2) is found in the value, which must be
        text.
        """
        return self.make("matches", string("a regular expression", regex))

    def captures(self, regex: str, name: f.Var) -> _Made:
        """Return the comparison: the variable is what the group of the regular expression finds.

        Without a group, it is all that the expression finds.
        """
        found = string("a regular expression", regex)
        return self.make("matches", f.Var(_variable(name).name, found))

    def has(self, name: f.Var) -> _Made:
        """Return the comparison: the variable's value stands in there, as a whole word, line or
        element.
        """
        return self.make("has", _variable(name))

    def carries(self, name: f.Var, what: str | None = None) -> _Made:
        """Return the comparison: the variable's value stands in there as a leak would have it, in
        any case.

        `what`: the values of an output that count: `"8 characters"` or more,
        `"iban, customer.name"`.
        """
        counts = None if what is None else string("what counts", what)
        return self.make("carries", f.Var(_variable(name).name, counts))


def where(path: str, *, every: bool = False) -> Field[f.Condition]:
    """Return an argument of a call, to be compared: `where("items[].sku").equals("x")`.

    With `[]` some element has to compare so, or `every` one. `*` is all arguments together, `@call`
    the tool and all arguments, `@agent` the agent that calls.
    """
    string("the path of an argument", path)
    return Field(lambda op, value: f.Condition(path, op, value, every))


def named(*tools: str) -> f.Match:
    """Return the calls of any of these tools; a name with `*` or `?` is a glob
    over the full name.
    """
    globs = tuple(tool for tool in tools if is_glob(tool))
    return f.Match(tuple(tool for tool in tools if not is_glob(tool)), globs)


def target(
    tools: Tools,
    *conditions: f.Condition,
    agent: str | None = None,
    missing: Literal["refuse", "skip"] | None = None,
) -> f.Target:
    """Return the calls of any of `tools` that satisfy every condition, by `agent` if given.

    `missing`: a call that lacks the field of a variable is refused, or is skipped. Raises
    `ContractError` for values of other types.
    """
    items = [tools] if isinstance(tools, str | f.Match) else _items("the name of a tool", tools)
    names = [string("a tool's name", item) for item in items if not isinstance(item, f.Match)]
    matches = [item for item in items if isinstance(item, f.Match)]
    if names:
        matches.insert(0, f.Match() if names == ["*"] else named(*names))
    if not matches:
        raise ContractError.of("no tool is named", 'write a name, `["a", "b"]`, or `"*"` for any')
    checked = tuple(map(_condition, conditions))
    by = None if agent is None else string("an agent's name", agent)
    if missing not in (None, "refuse", "skip"):
        raise ContractError.of(f"`missing` is `refuse`, `skip`, or left out, not `{missing!r}`")
    strict = None if missing is None else missing == "refuse"
    return tuple(
        replace(
            match,
            conditions=match.conditions + checked,
            agent=match.agent if by is None else by,
            strict=match.strict if strict is None else strict,
        )
        for match in matches
    )


# --- arguments that cannot be meant -----------------------------------------------------------

_SCALAR = (str, int, float, bool, type(None))


def string(what: str, value: object) -> str:
    """Return `value` as a string. Raises `ContractError`, which calls it `what`, if it is none."""
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


def _operand(value: object) -> f.Operand:
    if isinstance(value, f.Var):
        return value
    return _scalar(value) if isinstance(value, _SCALAR) else _list(value)


def _variable(value: object) -> f.Var:
    if isinstance(value, f.Var):
        return value
    raise ContractError.of(f"not a variable: `{value!r}`", 'write `var("x")`')


def _ordered(value: object) -> float | str | f.Var:
    if isinstance(value, str | int | float | f.Var) and not isinstance(value, bool):
        return value
    raise ContractError.of(f"only numbers and strings have an order, not `{value!r}`")
