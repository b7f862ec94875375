"""Residuals, which are what is still owed: positive Boolean combinations of obligations.

A residual is a minimal disjunctive normal form, a set of sets of literals. A literal speaks of the
positions after the last one:

    ("X", n)       there is a next position, and node n holds there
    ("W", n)       if there is a next position, node n holds there
    ("F", n, p)    node n holds at some later position up to position p
    ("G", n, p)    node n holds at every later position up to position p
    ("f", n, t)    node n holds at some later position up to time t
    ("g", n, t)    node n holds at every later position up to time t
    ("D", p, s, b) the call at position p settles so that its slot s is b

Absorption and subsumption keep a residual from growing with the trace: `("F", n, 3)` and
`("F", n, 5)` together are `("F", n, 3)`. See "Residuals" in docs/semantics.md.
"""

from __future__ import annotations

import functools
import operator
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from sponsio_like.errors import ContractError

Literal: TypeAlias = tuple[Any, ...]
Conjunction: TypeAlias = frozenset[Literal]
Residual: TypeAlias = frozenset[Conjunction]

YES: Residual = frozenset({frozenset()})
NO: Residual = frozenset()
TERM_CAP = 512
"""Most conjunctions in one residual; a formula that needs more is refused."""
BOUNDED = frozenset("FfGg")
"""The kinds of literals that have a bound."""
SHAPES_CAP = 256
"""Most residuals whose shape is remembered."""
LITERALS_CAP = 4_096
"""Most literals of which the conjunction and the residual are remembered."""
FEW = 8
"""Most alternatives that are each compared with all of another residual: less work for so few."""
Shape: TypeAlias = frozenset[frozenset[Literal]]
Bounds: TypeAlias = tuple[float, ...]


@functools.lru_cache(LITERALS_CAP)
def alone(literal: Literal) -> Conjunction:
    """Return the conjunction that is just this literal; residuals share it."""
    return frozenset({literal})


@functools.lru_cache(LITERALS_CAP)
def one(literal: Literal) -> Residual:
    """Return the residual that is just this literal."""
    return frozenset({alone(literal)})


def is_stronger(strong: Literal, weak: Literal) -> bool:
    """True if `strong` can only hold where `weak` does."""
    if strong == weak:
        return True
    match strong, weak:
        case ("X", node), ("W", other):
            return bool(node == other)
        case ("F" | "f" as kind, node, due), (other_kind, other, later):
            return bool(kind == other_kind and node == other and due <= later)
        case ("G" | "g" as kind, node, due), (other_kind, other, sooner):
            return bool(kind == other_kind and node == other and due >= sooner)
    return False


def covers(weak: Conjunction, strong: Conjunction) -> bool:
    """True if each literal of `weak` is in `strong` or implied by one: then `strong` implies it."""
    if weak <= strong:
        return True
    return all(literal in strong or _implied(literal, strong) for literal in weak)


def _is_covered(term: Conjunction, others: Residual) -> bool:
    """True if one of the others covers the term; a result of a call is covered by itself alone."""
    if term in others or others == YES:
        return True
    if len(term) == 1 and next(iter(term))[0] == "D":
        return False
    return any(covers(weak, term) for weak in others)


def _implied(weak: Literal, conjunction: Conjunction) -> bool:
    """True if another literal of the conjunction implies `weak`."""
    if weak[0] in "XD":
        return False  # only an equal literal implies these
    node = weak[1]
    return any(each[1] == node and is_stronger(each, weak) for each in conjunction)


def either(left: Residual, right: Residual) -> Residual:
    """Return the disjunction of two residuals. Raises `ContractError` beyond `TERM_CAP`."""
    if not left or right in (left, YES):
        return right
    if not right or left == YES:
        return left
    if min(len(left), len(right)) > FEW:
        return minimal(left | right)
    kept = [term for term in left if not _is_covered(term, right)]
    kept += [term for term in right if term in left or not _is_covered(term, left)]
    return _capped(kept)


def both(left: Residual, right: Residual) -> Residual:
    """Return the conjunction of two residuals. Raises `ContractError` beyond `TERM_CAP`."""
    if left in (YES, right) or not right:
        return right
    if right == YES or not left:
        return left
    return minimal(_tight(a | b) for a in left for b in right)


def disjunction_of(parts: Sequence[Residual]) -> Residual:
    """Return the disjunction of residuals. Raises `ContractError` beyond `TERM_CAP`."""
    if len(parts) <= FEW:
        return functools.reduce(either, parts, NO)
    return minimal(frozenset().union(*parts))


def conjunction_of(parts: Sequence[Residual]) -> Residual:
    """Return the conjunction of residuals. Raises `ContractError` beyond `TERM_CAP`."""
    if len(parts) <= FEW or not all(parts):
        return functools.reduce(both, parts, YES) if all(parts) else NO
    single = [term for part in parts if len(part) == 1 for term in part]
    several = [part for part in parts if len(part) > 1]
    return functools.reduce(both, several, frozenset({_tight(frozenset().union(*single))}))


def _tight(literals: Conjunction) -> Conjunction:
    """Return the conjunction without the literals that another one implies."""
    nodes = Counter([literal[1] for literal in literals])
    if len(nodes) == len(literals):
        return literals  # literals about different nodes imply nothing
    near = [literal for literal in literals if nodes[literal[1]] > 1]
    weak = [w for w in near if any([s != w and is_stronger(s, w) for s in near])]
    return literals.difference(weak)


def minimal(terms: Iterable[Conjunction]) -> Residual:
    """Return the disjunction of these, without those that another one covers."""
    results, kept = dict[Literal, Conjunction](), _Kept()
    for term in sorted(set(terms), key=len):
        if not term:
            return frozenset({term})  # it covers all others
        if not results.keys().isdisjoint(term) or kept.covers(term):
            continue
        if len(term) == 1 and (literal := next(iter(term)))[0] == "D":
            results[literal] = term  # it is compared by a lookup: nothing else implies it
        else:
            kept.add(term)
        if len(results) + len(kept.terms) > TERM_CAP:
            _capped([*results.values(), *kept.terms])
    return frozenset([*results.values(), *kept.terms])


class _Kept:
    """Conjunctions of which none covers another one; only those that share nodes are compared."""

    def __init__(self) -> None:
        self.terms: set[Conjunction] = set()
        self._by_first: dict[Any, list[Conjunction]] = {}
        self._by_node: dict[Any, set[Conjunction]] = {}

    def covers(self, term: Conjunction) -> bool:
        """True if one of them covers the term: then all its nodes are among those of the term."""
        for node in {literal[1] for literal in term}:
            for weak in self._by_first.get(node, ()):
                if weak in self.terms and covers(weak, term):
                    return True
        return False

    def add(self, term: Conjunction) -> None:
        """Add a term, and leave out those that it covers: they have all of its nodes."""
        nodes = {literal[1] for literal in term}
        sharing = [self._by_node.get(node, set()) for node in nodes]
        self.terms.difference_update(
            [each for each in min(sharing, key=len) if each in self.terms and covers(term, each)]
        )
        self.terms.add(term)
        self._by_first.setdefault(next(iter(nodes)), []).append(term)
        for node in nodes:
            self._by_node.setdefault(node, set()).add(term)


def _capped(terms: list[Conjunction]) -> Residual:
    if len(terms) > TERM_CAP:
        raise ContractError.of(
            "formula has too many alternatives at once", "split it into several guarantees"
        )
    return frozenset(terms)


def overdue(residual: Residual, time: float) -> Residual:
    """Return what is left at `time`. Of what was due before, `f` has failed and `g` is kept."""

    def value(literal: Literal) -> Residual:
        if literal[0] not in "fg" or literal[2] >= time:
            return one(literal)
        return NO if literal[0] == "f" else YES

    return mapped(residual, value)


def mapped(residual: Residual, value: Callable[[Literal], Residual]) -> Residual:
    """Return the residual with every literal replaced by what `value` makes of it."""
    if len(residual) == 1:
        (term,) = residual
        if len(term) == 1:
            (literal,) = term
            return value(literal)
    become = {each: value(each) for each in literals_of([residual])}
    moved = [old for old, new in become.items() if new != one(old)]
    if not moved:
        return residual
    same = frozenset([term for term in residual if term.isdisjoint(moved)])
    return either(same, _replaced(residual - same, become))


def _replaced(terms: Residual, become: Mapping[Literal, Residual]) -> Residual:
    """Return the disjunction of the terms, with what each literal has become in its place."""
    if all(len(become[each]) <= 1 for each in literals_of([terms])):
        return minimal(_single(terms, become))
    result = set[Conjunction]()
    for term in terms:
        result |= conjunction_of([become[literal] for literal in term])
        if len(result) > TERM_CAP:
            result = set(minimal(result))
    return minimal(result)


def _single(residual: Residual, become: Mapping[Literal, Residual]) -> Iterator[Conjunction]:
    """Yield the conjunctions after replacement; each literal becomes one conjunction, or false."""
    for term in residual:
        if len(term) == 1:
            (literal,) = term
            yield from become[literal]
        elif all(become[literal] for literal in term):
            yield _tight(frozenset().union(*(part for each in term for part in become[each])))


def conjunction(residuals: Iterable[Residual]) -> frozenset[Residual]:
    """Return a conjunction of residuals, without those that another one implies."""
    each = {residual for residual in residuals if residual != YES}
    if len(each) < 2:
        return frozenset(each)
    if NO in each:
        return frozenset({NO})
    alike = _by_shape(each)
    nodes = {key: _nodes(next(iter(found.values()))) for key, found in alike.items()}
    strong = _by_result(alike)
    kept: list[Residual] = []
    for key, found in alike.items():  # residuals without a common node imply nothing
        mine = found.values()
        literals = literals_of([next(iter(mine))])
        about: list[Any] = [*nodes[key], *(each for each in literals if each[0] == "D")]
        near = (k for each in about for k in strong.get(each, ()) if k is not key)
        others = [
            other
            for k in dict.fromkeys(near)
            if not nodes[k].isdisjoint(nodes[key])
            for other in alike[k].values()
        ]
        kept += [weak for weak in mine if not any(entails(other, weak) for other in others)]
    return frozenset(kept)


def _by_result(
    alike: Mapping[Any, Mapping[Bounds, Residual]],
) -> dict[Literal | int, list[Any]]:
    """Return the keys of residuals by a result of a call in flight that meets them alone.

    One implies only what that result meets, too: so of several results, it is below the one that
    meets the fewest. Those that no result meets are below the nodes of their shortest alternative:
    what they imply shares one of these.
    """
    met = {key: _met_by(next(iter(residuals.values()))) for key, residuals in alike.items()}
    often = Counter(literal for each in met.values() for literal in each)
    found: dict[Literal | int, list[Any]] = {}
    for key, each in met.items():
        if each:
            found.setdefault(min(each, key=lambda e: (often[e], e)), []).append(key)
            continue
        shortest = min(next(iter(alike[key].values())), key=len)
        for node in {literal[1] for literal in shortest}:
            found.setdefault(node, []).append(key)
    return found


def _met_by(residual: Residual) -> list[Literal]:
    """Return the results of calls in flight each of which is an alternative by itself."""
    alone = [next(iter(term)) for term in residual if len(term) == 1]
    return [literal for literal in alone if literal[0] == "D"]


def _by_shape(residuals: Iterable[Residual]) -> dict[Any, dict[Bounds, Residual]]:
    """Return the residuals by shape and bounds, without those that one of the same shape implies.

    What stands alone is there by itself.
    """
    alike: dict[Any, dict[Bounds, Residual]] = {}
    for each in residuals:
        shape, bounds = without_bounds(each)
        alike.setdefault(each if shape is None else shape, {})[bounds] = each
    return {
        key: found if len(found) < 2 else {bounds: found[bounds] for bounds in _least(found)}
        for key, found in alike.items()
    }


@functools.lru_cache(SHAPES_CAP)
def without_bounds(residual: Residual) -> tuple[Shape | None, Bounds]:
    """Return the residual without its bounds, and these: the more it demands, the less they are.

    Of two of one shape, one implies the other if none of its bounds is more. The shape is None
    where a node stands twice, for there another alternative may be the one that covers.
    """
    each = [literal for term in residual for literal in term]
    if len({literal[1] for literal in each}) < len(each):
        return None, ()
    shape = frozenset([frozenset(map(_boundless, term)) for term in residual])
    bounded = sorted([literal for literal in each if literal[0] in BOUNDED])
    return shape, tuple([-due if kind in "Gg" else due for kind, _, due in bounded])


def _boundless(literal: Literal) -> Literal:
    return literal[:2] if literal[0] in BOUNDED else literal


def _nodes(residual: Residual) -> frozenset[int]:
    return frozenset(literal[1] for literal in literals_of([residual]))


def _least(each: Iterable[Bounds]) -> list[Bounds]:
    """Return those of which no other one is at most as much in every place."""
    kept: list[Bounds] = []
    for bounds in sorted(each):  # what is no more than another one stands before it
        if len(bounds) < 3:
            more = kept and bounds[-1] >= kept[-1][-1]
        else:
            more = any(all(map(operator.le, other, bounds)) for other in kept)
        if not more:
            kept.append(bounds)
    return kept


def entails(strong: Residual, weak: Residual) -> bool:
    """True if each alternative of `strong` is covered by one of `weak`: then
    `strong` implies it.
    """
    return all(_is_covered(term, weak) for term in strong)


def holds_at_end(residual: Residual) -> bool:
    """True if the residual, which has no literals `D` any more, holds once no position follows."""
    return any(all(literal[0] in "WGg" for literal in term) for term in residual)


def at_the_end(residual: Residual) -> Residual:
    """Return what is left of the residual once no position follows: nothing but literals `D`."""

    def value(literal: Literal) -> Residual:
        waiting = one(literal)
        return waiting if literal[0] == "D" else YES if holds_at_end(waiting) else NO

    return mapped(residual, value)


def literals_of(residuals: Iterable[Residual]) -> set[Literal]:
    """Return all literals that occur in these residuals."""
    return {literal for residual in residuals for term in residual for literal in term}


def rank(residuals: Iterable[Residual]) -> list[Any]:
    """Return what orders these residuals among others, in the same way in every process."""
    return sorted([sorted([sorted(term) for term in residual]) for residual in residuals])


def renumbered(residuals: Iterable[Residual], names: Mapping[int, int]) -> frozenset[Residual]:
    """Return the residuals with other numbers in the place of the positions of calls in flight."""

    def moved(literal: Literal) -> Literal:
        return ("D", names[literal[1]], *literal[2:]) if literal[0] == "D" else literal

    return _moved(residuals, moved)


def shifted(residuals: Iterable[Residual], by: int) -> frozenset[Residual]:
    """Return the residuals with their bounds in steps relative to position `by`."""

    def moved(literal: Literal) -> Literal:
        return (*literal[:2], literal[2] - by) if literal[0] in "FG" else literal

    return _moved(residuals, moved)


def _moved(
    residuals: Iterable[Residual], moved: Callable[[Literal], Literal]
) -> frozenset[Residual]:
    terms = dict[Conjunction, Conjunction]()
    found = []
    for each in residuals:
        for term in each:
            if term not in terms:
                terms[term] = frozenset(map(moved, term))
        found.append(frozenset([terms[term] for term in each]))
    return frozenset(found)
