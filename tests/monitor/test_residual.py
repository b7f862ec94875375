"""The algebra of what is owed, against what literals mean: over every way in which it may go on.

A world is a continuation: which nodes hold at the positions 1, 2, .. (a second apart) and how the
call in flight settles. The last position is 0.
"""

from __future__ import annotations

import functools
import itertools
import random
from typing import Any, NamedTuple

import pytest

from sponsio_like.monitor.in_flight import settle_residual
from sponsio_like.monitor.residual import (
    NO,
    YES,
    Conjunction,
    Literal,
    Residual,
    at_the_end,
    both,
    conjunction,
    conjunction_of,
    covers,
    disjunction_of,
    either,
    entails,
    holds_at_end,
    is_stronger,
    literals_of,
    mapped,
    minimal,
    one,
    shifted,
)
from tests.support.costs import work
from tests.support.play import opened
from tests.support.size import sized


class World(NamedTuple):
    """`holds[k]`: the nodes that hold at position k + 1. `settled`: what the open slot becomes."""

    holds: tuple[frozenset[int], ...]
    settled: bool


NODES: tuple[frozenset[int], ...] = (frozenset(), frozenset({0}), frozenset({1}), frozenset({0, 1}))
WORLDS = [
    World(holds, settled)
    for length in range(4)
    for holds in itertools.product(NODES, repeat=length)
    for settled in (False, True)
]
ENDED = [world for world in WORLDS if not world.holds]
BOUNDED: list[Literal] = [(kind, node, due) for kind in "FGfg" for node in (0, 1) for due in (1, 3)]
LITERALS: list[Literal] = [
    *((kind, node) for kind in "XW" for node in (0, 1)),
    *BOUNDED,
    *(("F", 0, 2), ("g", 0, 2)),
    *(("D", 0, 4, True), ("D", 0, 4, False)),
]


def true(literal: Literal, world: World) -> bool:
    """What a literal means, word for word."""
    match literal:
        case ("X", node):
            return bool(world.holds) and node in world.holds[0]
        case ("W", node):
            return not world.holds or node in world.holds[0]
        case ("F" | "f", node, due):
            return any(node in each for each in world.holds[:due])
        case ("G" | "g", node, due):
            return all(node in each for each in world.holds[:due])
        case (_, _, _, wanted):
            return world.settled is wanted
    raise ValueError(literal)


def kept(residual: Residual, world: World) -> bool:
    """Whether a residual is kept: some conjunction has only true literals."""
    return any(all(true(literal, world) for literal in term) for term in residual)


def always(strong: Conjunction, weak: Conjunction) -> bool:
    """Whether every world that keeps `strong` keeps `weak`."""
    strong_, weak_ = frozenset({strong}), frozenset({weak})
    return all(kept(weak_, world) for world in WORLDS if kept(strong_, world))


def drawn(seed: int) -> list[Residual]:
    """Random residuals, as they are made: by `either` and `both` from literals."""
    chance = random.Random(seed)
    made = [one(literal) for literal in LITERALS]
    for _ in range(40):
        join = chance.choice([either, both])
        found = join(chance.choice(made), chance.choice(made))
        if found not in (YES, NO) and len(found) < 6:
            made.append(found)
    return made


def is_minimal(residual: Residual) -> bool:
    """Whether no conjunction covers another, and no literal implies its neighbour."""
    terms = itertools.permutations(residual, 2)
    pairs = [pair for term in residual for pair in itertools.permutations(term, 2)]
    return not any(covers(a, b) for a, b in terms) and not any(is_stronger(a, b) for a, b in pairs)


def test_a_literal_implies_the_same_one_with_more_room() -> None:
    """Of the same node and kind: F with a later bound, G with a sooner one, W for X."""
    for strong, weak in itertools.product(LITERALS, repeat=2):
        kinds = strong[0] == weak[0] or (strong[0], weak[0]) == ("X", "W")
        expected = kinds and always(frozenset({strong}), frozenset({weak}))
        assert is_stronger(strong, weak) is expected, (strong, weak)


def test_what_covers_a_conjunction_is_implied_by_it() -> None:
    """A conjunction covers another if each of its literals is implied by one of that."""
    pairs = [frozenset(pair) for pair in itertools.combinations_with_replacement(LITERALS, 2)]
    chance = random.Random(2)
    for weak, strong in (chance.sample(pairs, 2) for _ in range(4_000)):
        covered = all(any(is_stronger(s, w) for s in strong) for w in weak)
        assert covers(weak, strong) is covered
        assert not covered or always(strong, weak)
    assert covers(frozenset({("X", 0)}), frozenset({("X", 0), ("W", 1)}))
    assert not covers(frozenset({("D", 0, 4, True)}), frozenset({("D", 0, 4, False)}))
    assert covers(frozenset(), frozenset({("X", 0)}))
    assert not covers(frozenset({("X", 0)}), frozenset())


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_disjunction_and_conjunction_mean_what_they_say(seed: int) -> None:
    """In every world, and without anything that is not needed."""
    made = drawn(seed)
    chance = random.Random(seed)
    for left, right in [(chance.choice(made), chance.choice(made)) for _ in range(150)]:
        union, product = either(left, right), both(left, right)
        assert is_minimal(union)
        assert is_minimal(product)
        for world in WORLDS[:: 1 + seed]:
            assert kept(union, world) is (kept(left, world) or kept(right, world))
            assert kept(product, world) is (kept(left, world) and kept(right, world))


@pytest.mark.parametrize("owed", [YES, NO, one(("X", 0)), either(one(("X", 0)), one(("F", 1, 3)))])
def test_true_and_false_are_neutral_or_win(owed: Residual) -> None:
    """`YES` and `NO` are the ends of the algebra, from either side."""
    assert (either(owed, NO), either(NO, owed)) == (owed, owed)
    assert (either(owed, YES), either(YES, owed)) == (YES, YES)
    assert (both(owed, YES), both(YES, owed)) == (owed, owed)
    assert (both(owed, NO), both(NO, owed)) == (NO, NO)
    assert (either(owed, owed), both(owed, owed)) == (owed, owed)


def test_what_has_less_room_is_all_that_is_kept() -> None:
    """Of two bounds the stricter remains in a conjunction, and the weaker in a disjunction."""
    soon, late = one(("F", 0, 3)), one(("F", 0, 5))
    assert (both(soon, late), either(soon, late)) == (soon, late)
    short, long = one(("g", 0, 3)), one(("g", 0, 5))
    assert (both(short, long), either(short, long)) == (long, short)
    assert both(one(("X", 0)), one(("W", 0))) == one(("X", 0))
    wide = either(soon, one(("W", 1)))
    assert both(wide, soon) == soon
    assert conjunction([soon, late, wide, YES]) == {soon}
    assert conjunction([YES, soon]) == {soon}
    assert conjunction([YES]) == frozenset()


@pytest.mark.parametrize("seed", range(4))
def test_the_strictest_are_worth_them_all(seed: int) -> None:
    """Residuals that another one implies are left out; what is left is kept in the same worlds."""
    made = drawn(seed)
    chance = random.Random(seed)
    for size in [2, 2, 2, 3, 4] * 40:
        some = [chance.choice(made) for _ in range(size)]
        few = conjunction(some)
        assert few <= {*some}
        for strong, weak in itertools.permutations(few, 2):
            assert not all(any(covers(w, s) for w in weak) for s in strong)
        for world in WORLDS[:: 2 + seed]:
            assert all(kept(r, world) for r in few) is all(kept(r, world) for r in some)


@pytest.mark.parametrize("seed", range(3))
def test_the_end_keeps_what_asks_for_no_position(seed: int) -> None:
    """Where no position follows, only what waits for a result is left."""
    for residual in drawn(seed):
        left = at_the_end(residual)
        assert {literal[0] for literal in literals_of([left])} <= {"D"}
        for world in ENDED:
            assert kept(left, world) is kept(residual, world)
        if not any(literal[0] == "D" for literal in literals_of([residual])):
            assert holds_at_end(residual) is kept(residual, ENDED[0])


@pytest.mark.parametrize("seed", range(3))
def test_literals_are_replaced_by_what_they_have_become(seed: int) -> None:
    """With one literal fixed, a residual means what it means where the literal is so."""
    chance = random.Random(seed)
    for residual in drawn(seed):
        fixed = chance.choice(sorted(literals_of([residual]), key=repr))
        for answer in (True, False):
            instead = YES if answer else NO
            new = mapped(residual, lambda each: instead if each == fixed else one(each))  # noqa: B023
            assert fixed not in literals_of([new])
            for world in WORLDS[::3]:
                if true(fixed, world) is answer:
                    assert kept(new, world) is kept(residual, world)


def test_step_bounds_are_told_from_the_last_position() -> None:
    """Only bounds in steps move along; bounds in seconds and results stay."""
    owed = both(
        both(one(("F", 7, 12)), one(("G", 8, 13))),
        both(both(one(("f", 9, 12.5)), one(("X", 3))), one(("D", 10, 1, True))),
    )
    (moved,) = shifted([owed], 10)
    assert literals_of([moved]) == {
        *(("F", 7, 2), ("G", 8, 3), ("f", 9, 12.5), ("X", 3), ("D", 10, 1, True))
    }


BESIDE = [
    ("G(called(a) -> (done(a) & !failed(b)))", "a? z error:a", "..r"),
    ("G((done(a) & called(a)) | called(b) | called(z))", "a? z error:a", "..r"),
    ("G !(failed(a) & called(a))", "a? z error:a", "..r"),
    ("G !(failed(a) & called(a))", "a? z ok:a", "..."),
]


@pytest.mark.parametrize(("text", "run", "signs"), BESIDE)
def test_a_status_beside_something_else_waits_for_the_result(
    text: str, run: str, signs: str
) -> None:
    """In a conjunction or a disjunction as by itself: the call does not violate before it ends."""
    assert opened(text, guard={"mode": "observe"})(run) == signs


def results(chance: random.Random, calls: int) -> list[frozenset[Literal]]:
    """Alternatives, most of which wait for calls in flight."""
    found = [frozenset({("D", p, 0, chance.random() < 0.5)}) for p in range(calls)]
    two = [chance.sample(LITERALS, 2) for _ in range(12)]
    pairs = [frozenset((a, b)) for a, b in two if not (is_stronger(a, b) or is_stronger(b, a))]
    longer = [chance.choice(found) | frozenset({chance.choice(LITERALS)}) for _ in range(9)]
    return [*chance.sample(found, calls // 2), *pairs, *longer, frozenset({("F", 0, 3)})]


@pytest.mark.parametrize("seed", range(20))
def test_many_alternatives_are_compared_as_pairs_are(seed: int) -> None:
    """Those that a result meets are looked up, and that leaves out what pairs would leave out."""
    chance = random.Random(seed)
    for _ in range(10):
        terms = set(results(chance, 12))
        expected = {term for term in terms if not any(o != term and covers(o, term) for o in terms)}
        assert minimal(terms) == expected
        left, right = minimal(results(chance, 12)), minimal(results(chance, 12))
        assert either(left, right) == minimal(left | right)


@pytest.mark.parametrize("seed", range(20))
def test_a_result_is_put_where_it_is_waited_for(seed: int) -> None:
    """What is left is what each literal becomes, joined as any are."""
    chance = random.Random(seed)
    for _ in range(20):
        residual, at = minimal(results(chance, 12)), chance.randrange(12)
        final = {0: chance.random() < 0.5}

        def value(literal: Literal, at: int = at, final: dict[int, bool] = final) -> Residual:
            if literal[:3] != ("D", at, 0):
                return one(literal)
            return YES if final[0] is literal[3] else NO

        assert settle_residual(residual, at, final) == mapped(residual, value)
        assert settle_residual(residual, at, {1: True}) is residual


def test_alternatives_about_different_nodes_are_not_compared() -> None:
    """Four hundred take a few calls each; each was compared with all before it."""
    terms = [frozenset({("F", n, 3), ("W", 1_000 + n)}) for n in range(400)]
    assert work(lambda: minimal(terms)) < 40 * len(terms)
    assert minimal(terms) == frozenset(terms)


def test_what_another_alternative_covers_is_left_out() -> None:
    """As when each is compared with each, whatever they are about."""
    dice = random.Random(5)

    def literal() -> Any:
        kind = dice.choice("XWFGD")
        rest = (dice.randrange(3), dice.random() < 0.5) if kind == "D" else (dice.randrange(4),)
        return (kind, dice.randrange(3), *(rest if kind in "FGD" else ()))

    for _ in range(sized(4_000, 400)):
        terms = {frozenset(literal() for _ in range(dice.randint(1, 3))) for _ in range(8)}
        found = minimal(terms)
        assert found <= terms
        assert all(any(covers(weak, term) for weak in found) for term in terms)
        assert not any(covers(a, b) and a != b and not covers(b, a) for a in found for b in found)


def test_many_parts_joined_at_once_are_what_they_are_one_by_one() -> None:
    """Conjunctions and disjunctions of any number of parts, with any number of alternatives."""
    dice = random.Random(7)

    def part() -> Residual:
        count = dice.choice((1, 1, 1, 2))
        terms = [dice.sample(LITERALS, dice.randint(1, 2)) for _ in range(count)]
        found = NO
        for one_, *others in terms:
            found = either(found, functools.reduce(both, map(one, others), one(one_)))
        return dice.choice((found, found, found, found, found, found, YES, NO))

    for _ in range(sized(2_000, 200)):
        parts = [part() for _ in range(dice.randint(0, 14))]
        kept = [each for each in parts if each or dice.random() < 0.1]
        assert disjunction_of(parts) == functools.reduce(either, parts, NO)
        assert conjunction_of(kept) == functools.reduce(both, kept, YES)


def test_instances_about_different_nodes_are_not_compared() -> None:
    """Many of them, and one of many parts, take a few calls for each."""
    each = [one(("X", n)) for n in range(400)]
    assert work(lambda: conjunction(each)) < 60 * len(each)
    assert work(lambda: conjunction_of(each)) < 10 * len(each)
    assert work(lambda: disjunction_of(each)) < 30 * len(each)
    assert conjunction(each) == frozenset(each)


def test_a_conjunction_leaves_out_what_another_part_implies() -> None:
    """As when each is compared with each: results of calls in flight, bounds, shared nodes."""
    dice = random.Random(11)
    for _ in range(sized(2_000, 200)):
        picked = [dice.sample(LITERALS, dice.randint(1, 3)) for _ in range(dice.randint(2, 9))]
        each = {minimal(frozenset({literal}) for literal in literals) for literals in picked}
        kept = conjunction(each)
        assert kept <= each
        assert all(any(entails(strong, weak) for strong in kept) for weak in each)
        assert not any(a != b and entails(a, b) and not entails(b, a) for a in kept for b in kept)
