"""PCTL: probabilistic properties of chains, answered `yes`, `no` or `unknown`, with the bounds.

In: `P<=0.05 [F bad]`, `P>=0.95 [!bad U goal]`, `P<0.1 [F<=3 (bad | P>=1 [X end])]`; a chain, exact
or only bounded. Out: for each state an answer (Hansson and Jonsson, 1994; bounds as of interval
Markov chains: Sen, Viswanathan and Agha, TACAS 2006).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from sponsio_like.errors import RiskError, closest
from sponsio_like.risk.chain import BoundedChain, MarkovChain
from sponsio_like.risk.solve import next_in, reach, reach_bounds, reach_within

if TYPE_CHECKING:
    from lark import Lark

Answer: TypeAlias = Literal["yes", "no", "unknown"]
Compare: TypeAlias = Literal["<=", ">=", "<", ">"]
States: TypeAlias = frozenset[int]
_COMPARES: Mapping[str, Callable[[Any, Any], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}


@dataclass(frozen=True, slots=True)
class Label:
    """True in the states with this label; `true` in all."""

    name: str


@dataclass(frozen=True, slots=True)
class Negation:
    """True where the body is not."""

    body: Formula


@dataclass(frozen=True, slots=True)
class Conjunction:
    """True where all parts are."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class UntilPath:
    """`stay U goal`, within `steps` if they are given."""

    stay: Formula
    goal: Formula
    steps: int | None = None


@dataclass(frozen=True, slots=True)
class NextPath:
    """True if the next state is in the goal."""

    goal: Formula


@dataclass(frozen=True, slots=True)
class Probability:
    """True where the probability of the path compares so; `never`: of the path not happening."""

    compare: Compare
    threshold: Fraction
    path: UntilPath | NextPath
    never: bool = False


Formula: TypeAlias = Label | Negation | Conjunction | Probability
TRUE = Label("true")


@dataclass(frozen=True, slots=True)
class Checked:
    """The answer in one state. `lo` and `hi` bound the probability, of a formula `P..[..]`."""

    answer: Answer
    lo: Any = None
    hi: Any = None


def parse_pctl(text: str) -> Formula:
    """Return the formula of a text. Raises `RiskError` with the column of a mistake."""
    from lark import UnexpectedInput
    from lark.exceptions import VisitError

    try:
        made: Formula = _parser().parse(text)  # type: ignore[assignment]
    except VisitError as error:
        raise RiskError(f"`{text}`: {error.orig_exc}") from None
    except UnexpectedInput as error:
        at = f"column {getattr(error, 'column', 1)}"
        raise RiskError(f"`{text}`: {at} is not understood; write P<=0.05 [F bad]") from None
    return made


def check_chain(chain: MarkovChain | BoundedChain, formula: Formula | str) -> list[Checked]:
    """Return the answer of a formula in every state."""
    read = parse_pctl(formula) if isinstance(formula, str) else formula
    if isinstance(read, Probability):
        low, high = _probability(chain, read)
        each = zip(low, high, strict=True)
        return [Checked(_answer(read, lo, hi), lo, hi) for lo, hi in each]
    must, may = _sets(chain, read)
    return [
        Checked("yes" if i in must else "unknown" if i in may else "no") for i in range(chain.size)
    ]


def _answer(formula: Probability, lo: Any, hi: Any) -> Answer:
    compare = _COMPARES[formula.compare]
    at_lo, at_hi = compare(lo, formula.threshold), compare(hi, formula.threshold)
    return "unknown" if at_lo is not at_hi else "yes" if at_lo else "no"


def _sets(chain: MarkovChain | BoundedChain, formula: Formula) -> tuple[States, States]:
    """Return the states in which a formula holds for certain, and those in which it may hold."""
    every = frozenset(range(chain.size))
    match formula:
        case Label("true"):
            return every, every
        case Label(name):
            if name not in chain.labels:
                raise RiskError(f"no state has the label `{name}`; {closest(name, chain.labels)}")
            return chain.labels[name], chain.labels[name]
        case Negation(body):
            must, may = _sets(chain, body)
            return every - may, every - must
        case Conjunction(parts):
            pairs = [_sets(chain, part) for part in parts]
            musts, mays = [must for must, _ in pairs], [may for _, may in pairs]
            return every.intersection(*musts), every.intersection(*mays)
        case Probability():
            low, high = _probability(chain, formula)
            answers = [_answer(formula, *each) for each in zip(low, high, strict=True)]
            must = frozenset(i for i, answer in enumerate(answers) if answer == "yes")
            return must, must | {i for i, answer in enumerate(answers) if answer == "unknown"}


def _probability(
    chain: MarkovChain | BoundedChain, formula: Probability
) -> tuple[list[Any], list[Any]]:
    low, high = _path(chain, formula.path)
    if formula.never:
        return [1 - each for each in high], [1 - each for each in low]
    return low, high


def _path(
    chain: MarkovChain | BoundedChain, path: UntilPath | NextPath
) -> tuple[list[Any], list[Any]]:
    """Return the bounds of a path's probability in each state.

    Both grow with the sets that they speak of, so that the certain sets give the lower bound.
    """
    goals = _sets(chain, path.goal)
    stays = goals if isinstance(path, NextPath) else _sets(chain, path.stay)
    low, high = (_bound(chain, path, stays[k], goals[k], highest=k == 1) for k in (0, 1))
    return low, high


def _bound(
    chain: MarkovChain | BoundedChain,
    path: UntilPath | NextPath,
    stay: States,
    goal: States,
    *,
    highest: bool,
) -> list[Any]:
    if isinstance(chain, BoundedChain):
        if isinstance(path, NextPath):
            return _next_bound(chain, goal, highest=highest)
        solved = reach_bounds(chain, stay, goal, highest=highest, steps=path.steps)
    elif isinstance(path, NextPath):
        return list(next_in(chain, goal).values)
    elif path.steps is None:
        solved = reach(chain, stay, goal)
    else:
        solved = reach_within(chain, stay, goal, path.steps)
    if not solved.error:
        return list(solved.values)
    away = solved.error if highest else -solved.error
    return [
        each if i in goal or each in (0, 1) else min(1.0, max(0.0, each + away))
        for i, each in enumerate(solved.values)
    ]


def _next_bound(chain: BoundedChain, goal: States, *, highest: bool) -> list[float]:
    out = []
    for row in chain.rows:
        inside = [each for j, each in row.items() if j in goal]
        outside = [each for j, each in row.items() if j not in goal]
        if highest:
            rest = 1.0 - sum(each.lo for each in outside)
            out.append(min(sum(each.hi for each in inside), max(0.0, rest)))
        else:
            rest = 1.0 - sum(each.hi for each in outside)
            out.append(max(sum(each.lo for each in inside), rest, 0.0))
    return out


# --- from text --------------------------------------------------------------------------------


@cache
def _parser() -> Lark:
    from lark import Lark, Transformer, v_args

    grammar = resources.files("sponsio_like.risk").joinpath("pctl.lark").read_text("utf-8")
    builder = v_args(inline=True)(type("Builder", (Transformer,), dict(_BUILDERS)))
    return Lark(grammar, parser="lalr", transformer=builder())


def _label(_: Any, token: Any) -> Label:
    return Label(str(token).strip('"'))


def _or(_: Any, *parts: Formula) -> Formula:
    return (
        parts[0]
        if len(parts) == 1
        else Negation(Conjunction(tuple(Negation(part) for part in parts)))
    )


def _and(_: Any, *parts: Formula) -> Formula:
    return parts[0] if len(parts) == 1 else Conjunction(parts)


def _chance(_: Any, compare: Any, number: Any, path: Any) -> Probability:
    threshold = Fraction(str(number))
    if not 0 <= threshold <= 1:
        raise RiskError(f"a probability of {number}; write one from 0 to 1")
    body, never = path
    return Probability(str(compare), threshold, body, never)  # type: ignore[arg-type]


def _finally(_: Any, *parts: Any) -> tuple[UntilPath, bool]:
    *steps, body = parts
    return UntilPath(TRUE, body, *steps), False


def _globally(_: Any, *parts: Any) -> tuple[UntilPath, bool]:
    *steps, body = parts
    return UntilPath(TRUE, Negation(body), *steps), True


def _until(_: Any, stay: Formula, *parts: Any) -> tuple[UntilPath, bool]:
    *steps, goal = parts
    return UntilPath(stay, goal, *steps), False


_BUILDERS: tuple[tuple[str, Callable[..., Any]], ...] = (
    ("either", _or),
    ("both", _and),
    ("implies", lambda _, one, other: _or(None, Negation(one), other)),
    ("negated", lambda _, body: Negation(body)),
    ("true", lambda _: TRUE),
    ("false", lambda _: Negation(TRUE)),
    ("label", _label),
    ("probability", _chance),
    ("next", lambda _, body: (NextPath(body), False)),
    ("finally", _finally),
    ("globally", _globally),
    ("until", _until),
    ("bound", lambda _, number: int(number)),
)
