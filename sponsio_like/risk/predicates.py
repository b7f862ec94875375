"""States made of predicates that somebody has written: bit vectors, with what is valid declared.

In: predicates over observations (`m.on == true and some x in m.holds: x == "fork"`). Out: an
abstraction with `encode`, `decode`, `can_reach`, `filter` and `states`. A comparison with
what is not there, or is of another type, is false, and so is `!=`.
"""

from __future__ import annotations

import json
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from itertools import product
from typing import TYPE_CHECKING, Any, TypeAlias

from sponsio_like.errors import RiskError

if TYPE_CHECKING:
    from lark import Lark

Bits: TypeAlias = tuple[bool, ...]
"""A state: the truth of each predicate, in order."""
Test: TypeAlias = Callable[[Mapping[str, Any]], bool]
Read: TypeAlias = Callable[[Mapping[str, Any]], Any]
PREDICATES_CAP = 20
"""Most predicates of one abstraction, since `states` lists all that are valid."""
MISSING = object()
_OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def predicate(text: str) -> Test:
    """Return the test that a text describes. Raises `RiskError` with the place of a mistake."""
    from lark import UnexpectedInput

    try:
        made: Test = _parser().parse(text)  # type: ignore[assignment]
    except UnexpectedInput as error:
        at = f"column {getattr(error, 'column', 1)}"
        raise RiskError(
            f"predicate `{text}`: {at} is not understood; write a.b == 3, with and, or, not, "
            "`some x in list: x > 1`, `all x in list: x > 1`"
        ) from None
    return made


class Abstraction:
    """Predicates by name, and what is declared impossible, as expressions over these names.

    `impossible`: expressions that hold of no valid state; `steps`: pairs of expressions (from, to)
    between which there is no transition. Raises `RiskError` for what cannot be understood.
    """

    def __init__(
        self,
        predicates: Mapping[str, str],
        *,
        impossible: Iterable[str] = (),
        steps: Iterable[tuple[str, str]] = (),
    ) -> None:
        if not 0 < len(predicates) <= PREDICATES_CAP:
            raise RiskError(f"{len(predicates)} predicates; write 1 to {PREDICATES_CAP}")
        self.names = tuple(predicates)
        self._tests = [predicate(text) for text in predicates.values()]
        self._impossible = [self._over_names(text) for text in impossible]
        self._steps = [(self._over_names(a), self._over_names(b)) for a, b in steps]

    def _over_names(self, text: str) -> Callable[[Bits], bool]:
        test = predicate(text)
        if unknown := _names_in(text) - set(self.names):
            raise RiskError(f"`{text}`: `{min(unknown)}` is no predicate of this abstraction")
        return lambda state: test(self.decode(state))

    def encode(self, observation: Mapping[str, Any]) -> Bits:
        """Return the state of an observation."""
        return tuple([test(observation) for test in self._tests])

    def decode(self, state: Bits) -> dict[str, bool]:
        """Return the truth of every predicate in a state, by name."""
        return dict(zip(self.names, state, strict=True))

    def is_valid(self, state: Bits) -> bool:
        """Return True if nothing that was declared makes the state impossible."""
        return not any(holds(state) for holds in self._impossible)

    def can_reach(self, one: Bits, other: Bits) -> bool:
        """Return True if a step leads from one state to the other, as far as was declared."""
        if not (self.is_valid(one) and self.is_valid(other)):
            return False
        return not any(before(one) and after(other) for before, after in self._steps)

    def states(self) -> list[Bits]:
        """Return all valid states."""
        every = product((False, True), repeat=len(self.names))
        return [state for state in every if self.is_valid(state)]

    def filter(self, expression: str) -> set[Bits]:
        """Return the valid states in which an expression over the predicates' names holds."""
        holds = self._over_names(expression)
        return {state for state in self.states() if holds(state)}

    def checked(self, observations: Iterable[Mapping[str, Any]], where: str = "") -> list[Bits]:
        """Return the states of a trace. Raises `RiskError` at the first that cannot be."""
        out: list[Bits] = []
        for at, each in enumerate(observations):
            state = self.encode(each)
            said = ", ".join(name for name, holds in self.decode(state).items() if holds) or "none"
            if not self.is_valid(state):
                raise RiskError(
                    f"{where}: observation {at}: the state ({said}) was declared impossible"
                )
            if out and not self.can_reach(out[-1], state):
                raise RiskError(
                    f"{where}: observation {at}: no step was declared to lead to ({said})"
                )
            out.append(state)
        return out


def labels(predicates: Mapping[str, str]) -> Callable[[str, Mapping[str, Any]], Sequence[str]]:
    """Return the function that names the predicates that hold of a call's `tool` and `args`."""
    tests = [(name, predicate(text)) for name, text in predicates.items()]

    def holding(tool: str, args: Mapping[str, Any]) -> list[str]:
        seen = {"tool": tool, "args": args}
        return [name for name, test in tests if test(seen)]

    return holding


# --- from text to tests -----------------------------------------------------------------------


@cache
def _parser() -> Lark:
    from lark import Lark, Transformer, v_args

    grammar = resources.files("sponsio_like.risk").joinpath("predicates.lark").read_text("utf-8")
    builder = v_args(inline=True)(type("Builder", (Transformer,), dict(_BUILDERS)))
    return Lark(grammar, parser="lalr", transformer=builder())


def _names_in(text: str) -> set[str]:
    tokens = _parser().lex(text)
    return {str(token) for token in tokens if token.type == "NAME"}


def _path(*parts: Any) -> Read:
    names = [int(each) if each.type == "INT" else str(each) for each in parts]

    def read(seen: Mapping[str, Any]) -> Any:
        value: Any = seen
        for name in names:
            value = _member(value, name)
        return value

    return read


def _member(value: Any, name: str | int) -> Any:
    if isinstance(name, int):
        inside = isinstance(value, list | tuple) and name < len(value)
        return value[name] if inside else MISSING
    return value.get(name, MISSING) if isinstance(value, Mapping) else MISSING


def _compared(left: Read, sign: Any, right: Read) -> Test:
    compare = _OPERATORS[str(sign)]

    def test(seen: Mapping[str, Any]) -> bool:
        a, b = left(seen), right(seen)
        if a is MISSING or b is MISSING or isinstance(a, bool) is not isinstance(b, bool):
            return False
        try:
            return bool(compare(a, b))
        except TypeError:
            return False

    return test


def _over(quantifier: Callable[[Iterable[bool]], bool]) -> Callable[..., Test]:
    def build(name: Any, path: Read, body: Test) -> Test:
        def test(seen: Mapping[str, Any]) -> bool:
            each = path(seen)
            if not isinstance(each, list | tuple):
                return False
            return quantifier(body({**seen, str(name): one}) for one in each)

        return test

    return build


def _constant(value: Any) -> Read:
    return lambda _: value


def _builders() -> Iterator[tuple[str, Callable[..., Any]]]:
    yield "any_of", lambda _, *tests: lambda seen: any(test(seen) for test in tests)
    yield "all_of", lambda _, *tests: lambda seen: all(test(seen) for test in tests)
    yield "negated", lambda _, test: lambda seen: not test(seen)
    yield "some", lambda _, *parts: _over(any)(*parts)
    yield "all", lambda _, *parts: _over(all)(*parts)
    yield "compared", lambda _, *parts: _compared(*parts)
    yield "held", lambda _, path: lambda seen: path(seen) is True
    yield "path", lambda _, *parts: _path(*parts)
    yield "other", lambda _, path: path
    yield "number", lambda _, token: _constant(json.loads(token))
    yield "text", lambda _, token: _constant(json.loads(token))
    yield "true", lambda _: _constant(True)
    yield "false", lambda _: _constant(False)
    yield "null", lambda _: _constant(None)


_BUILDERS = tuple(_builders())
