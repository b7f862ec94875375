"""Decision trees over the calls in flight, against the past read anew for each way they settle."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import pytest

from sponsio_like import Allowed, Guard, contract
from sponsio_like.events import OPEN, Call, Context, Result, settled_value
from sponsio_like.logic import decompose
from sponsio_like.monitor.branches import TooManyBranches
from sponsio_like.monitor.monitor import Monitor, State
from sponsio_like.monitor.past import Letter, Registers
from sponsio_like.monitor.program import Program
from sponsio_like.monitor.relative_state import is_unchanged
from sponsio_like.monitor.slots import slot_reader
from sponsio_like.monitor.trees import Addition, Branch, Comparison, Trees, branching
from sponsio_like.syntax import read
from tests.support.play import opened
from tests.support.size import sized

WELL, BADLY = Result("ok", {"x": 2}), Result("error", None)
OTHERWISE = Result("ok", {"x": 5})
RESULTS = (WELL, BADLY)
Way = Mapping[int, Result]
"""The results of some calls, by position; the others stay in flight."""


class Move(NamedTuple):
    """A call and its result; None if that is still to come."""

    call: Call
    result: Result | None


class Played:
    """A formula, the calls so far, and what the engine remembers of them."""

    def __init__(self, text: str) -> None:
        self.program = Program()
        self.monitor = Monitor(self.program, decompose(read(text)))
        self.past, self.branches = self.monitor.past, self.monitor.branches
        self.readers = [slot_reader(slot) for slot in self.program.slots]
        self.registers: Registers = self.past.start
        self.trees: Trees = ()
        self.calls: list[tuple[Call, Letter]] = []
        self.results: dict[int, Result] = {}

    def __call__(self, moves: Iterable[Move]) -> Played:
        """Play these calls; each takes two seconds."""
        for call, result in moves:
            at = len(self.calls)
            letter = tuple([each(call, Context()) for each in self.readers])
            self.calls.append((call, letter))
            before, time = self.registers, 2.0 * at
            values = self.past.read(letter, before, at, time)
            self.registers = self.past.after(values, letter, before, at, time)
            pair = (before, self.registers)
            self.trees = self.branches.after(self.trees, pair, letter, at, time)
            if result is not None:
                self.settle(at, result)
        return self

    def settle(self, at: int, result: Result) -> None:
        """Let the call at `at` have this result."""
        self.results[at] = result
        final = self.final(at, result)
        told = self.branches.settled(self.trees, self.registers, at, final)
        self.trees, self.registers = told

    def final(self, at: int, result: Result) -> dict[int, Any]:
        """The values that the result gives to the slots of this call."""
        call, letter = self.calls[at]
        found = {}
        for i, value in enumerate(letter):
            if value is OPEN:
                answer = settled_value(self.program.slots[i].node, result, call.tool)
                found[i] = self.program.slots[i].default if answer is None else answer
        return found

    def open(self) -> list[int]:
        """The calls in flight."""
        return [at for at in range(len(self.calls)) if at not in self.results]

    def keeps(self, tool: str) -> bool:
        """True if a call of `tool` now keeps the formula, all of which is owed at once."""
        letter = tuple([each(Call(tool, {"n": 3}), Context()) for each in self.readers])
        at = len(self.calls)
        values = self.past.read(letter, self.again({}), at, 2.0 * at)
        return all(values[root] for roots in self.monitor.always for root in roots)

    def again(self, way: Way) -> Registers:
        """The registers after all calls, the past being read anew."""
        registers = self.past.start
        for at, (_, letter) in enumerate(self.calls):
            result = way.get(at, self.results.get(at))
            final = {} if result is None else self.final(at, result)
            now = tuple([final.get(i, each) for i, each in enumerate(letter)])
            values = self.past.read(now, registers, at, 2.0 * at)
            registers = self.past.after(values, now, registers, at, 2.0 * at)
        return registers

    def check(self, results: Iterable[Result]) -> None:
        """Each way through the trees leads to what the past is, read anew with these results."""
        flying = self.open()
        for each in itertools.product((None, *results), repeat=len(flying)):
            way = {at: one for at, one in zip(flying, each, strict=True) if one is not None}
            trees, registers = self.trees, self.registers
            for at, result in way.items():
                trees, registers = self.branches.settled(
                    trees, registers, at, self.final(at, result)
                )
            mine, again = (State(each, frozenset()) for each in (registers, self.again(way)))
            assert is_unchanged(self.monitor, mine, again), (self.calls, self.results, way)
        assert set(branching(self.trees)) <= set(flying)


FINITE = [
    "G(called(b) -> O done(a))",
    "G(called(b) -> Y O failed(a))",
    "G(called(b) -> Y Y done(a))",
    "G(called(b) -> (!called(c) S done(a)))",
    "G(called(b) -> H(done(a) -> O done(b)))",
    "G(called(b) -> O(failed(a) & Y done(b)) & O done(b))",
    "G(called(b) -> O(done(a) S failed(b)) | H !failed(a))",
]
NUMBERS = [
    "G(called(b) -> O[<=2] done(a))",
    "G(called(b) -> H[<=3s] !done(a))",
    "G(called(b) -> count(done(a)) <= 1)",
    "G(called(b) -> count[<=2](done(a) | failed(b)) <= 1)",
    "G(called(b) -> since(done(a)) <= 1)",
    "G(called(b) -> age(failed(a)) <= 3)",
    "G(called(b) -> O(count(done(a)) > 1))",
    "G(called(b) -> count(O done(a)) <= 2 & O(since(failed(b)) > 1))",
    "G(called(b) -> O(count(called(a)) > 1 & done(b)))",
    "G(called(b) -> count(!done(a)) <= 3)",
    "G(called(b) -> count(done(a) | called(a, n < 3)) <= 3)",
    "G(called(b) -> count[<=4](done(a) | called(a, n < 3)) <= 3 & H[<=2] !(done(a) & called(a)))",
    "G(called(b) -> O !done(a) | H done(a))",
    "G(called(b) -> count[<=5s](done(a)) <= 1 & count(done(a) since failed(b)) <= 2)",
    "G(called(b) -> H[<=3] !(done(a) | failed(b)))",
]
OUTPUTS = [
    "G(called(b) -> last(output(x), done(a)) < arg(n))",
    "G(called(b) -> O(output(x) > last(arg(n), called(b))))",
    "G(called(b) -> O(arg(n) < last(output(x), done(a))))",
    "G(called(b) -> count(arg(n) = last(output(x), called(a))) <= 1)",
    "G(called(b) -> O(output(x) = last(output(x), done(a))))",
    "G(called(b) -> O(called(b) & last(output(x), done(a)) < last(output(x), done(b))))",
]
CALLS = [Call(tool, {"n": 3}) for tool in "abc"]
MOVES = [Move(call, result) for call in CALLS for result in (None, WELL)]


@pytest.mark.long
@pytest.mark.parametrize("text", [*FINITE, *NUMBERS])
def test_each_way_through_the_branches_leads_to_the_past_read_anew(text: str) -> None:
    """All traces of up to three calls, and all ways in which those in flight may settle."""
    for length in (1, 2, 3):
        for moves in itertools.product(MOVES, repeat=length):
            Played(text)(moves).check(RESULTS)


@pytest.mark.long
@pytest.mark.parametrize("text", [*FINITE, *NUMBERS, *OUTPUTS])
def test_late_results_in_any_order_pick_their_branches(text: str) -> None:
    """Longer traces; calls settle while others go on, and outputs are compared as they come."""
    dice, met = random.Random(text), 0
    for _ in range(sized(150, 60)):
        played = Played(text)
        for _ in range(dice.randint(2, 9)):
            if played.open() and dice.random() < 0.4:
                played.settle(dice.choice(played.open()), dice.choice((*RESULTS, OTHERWISE)))
            elif len(played.open()) < 4:
                call = Call(dice.choice("aabbc"), {"n": dice.choice((1, 2, 3, 9))})
                played([Move(call, dice.choice((None, None, WELL, BADLY)))])
            met += bool(played.trees)
        played.check((*RESULTS, OTHERWISE))
    assert met


@pytest.mark.parametrize("text", [*FINITE, *NUMBERS, *OUTPUTS])
def test_nothing_is_kept_once_every_call_has_its_result(text: str) -> None:
    """Whatever has happened in between."""
    played = Played(text)([Move(CALLS[k % 3], None) for k in range(6)])
    for at in (3, 0, 5, 1, 4, 2):
        assert branching(played.trees).keys() <= set(played.open())
        played.settle(at, WELL)
    assert played.trees == ()


RESTLESS = [
    ("Y Y done(a)", 3),
    ("Y Y done(a)", 2),
    ("(Y Y done(a) & count(c) < 9)", 2),
    ("Y O[<=2] done(a)", 6),
    ("Y O[<=2] done(a)", 3),
    ("O[<=2] done(a)", 4),
    ("Y O done(a)", 5),
    ("Y (count(done(a)) = 1)", 5),
    ("(Y Y done(a) & sum(called(c), n) < 9)", 2),
    ("(Y Y done(a) & count[<=9s](called(c)) < 9)", 2),
]


@pytest.mark.parametrize(("text", "many"), RESTLESS)
def test_a_contract_rests_if_it_does_for_every_result(text: str, many: int) -> None:
    """Calls that no contract names are seen as long as they change what a result may make of it."""
    for result in ("ok:a", "error:a"):
        played = opened(f"G(called(b) -> {text})")
        played(f"a? {'other ' * (many - 1)} {result}")
        calls = Played(f"G(called(b) -> {text})")([Move(CALLS[0], None)])
        calls([Move(Call("other", {}), WELL)] * (many - 1))
        calls.settle(0, WELL if result == "ok:a" else BADLY)
        assert played("b") == ("." if calls.keeps("b") else "x")


def test_registers_of_different_types_are_told_apart() -> None:
    """What is remembered as a number stays one, whatever equals it."""
    made = Played("G(called(b) -> last(arg(n), done(a)) = last(arg(n), done(c)))")
    made([Move(Call("c", {"n": True}), WELL), Move(Call("a", {"n": True}), None)])
    made([Move(Call("a", {"n": 1}), None)])
    made.settle(2, BADLY)
    made.settle(1, WELL)
    assert [type(each) for each in made.registers] == [bool, bool]


def test_what_no_result_changes_has_no_branch() -> None:
    """Trees have nothing that decides nothing, so that equal states are equal."""
    played = Played("G(called(b) -> Y O done(a))")([Move(CALLS[0], None), Move(CALLS[0], WELL)])
    played([Move(CALLS[1], WELL), Move(CALLS[1], WELL)])
    assert played.trees == ()
    one, other = (Played("G(called(b) -> Y (O done(a) & O done(b)))") for _ in range(2))
    one([Move(CALLS[k], None) for k in (0, 1, 2, 2)])
    other([Move(CALLS[k], None) for k in (0, 1, 0, 2)])
    other.settle(2, BADLY)
    assert one.trees == other.trees
    assert hash(one.trees) == hash(other.trees)


def test_too_many_branches_name_the_first_call() -> None:
    """The one that is to be settled."""
    played = Played("G(called(b) -> Y O (called(c) & count(done(a)) > 2))")([Move(CALLS[2], None)])
    with pytest.raises(TooManyBranches, match="call at position 1 is in flight"):
        played([Move(CALLS[0], None)] * 100)


@pytest.mark.parametrize("inner", ["O done(a)", "count(done(a)) > 2", "H !failed(a) | O done(a)"])
def test_a_yesterday_that_follows_from_other_registers_has_no_tree(inner: str) -> None:
    """However many calls are in flight, each is one addition; the result changes both registers."""
    formula = f"G(called(b) -> Y ({inner}))"
    played = Played(formula)([Move(CALLS[0], None)] * 300)
    assert all(type(node) is Addition for tree in played.trees for node in tree)
    for at in (7, 3, 299):
        played.settle(at, WELL)
    known = Played(formula)(
        [Move(CALLS[0], WELL if at in (7, 3, 299) else None) for at in range(300)]
    )
    assert played.registers == known.registers
    assert played.registers != Played(formula)([Move(CALLS[0], None)]).registers


def test_an_output_is_asked_for_only_where_it_is_compared() -> None:
    """Until then it is just remembered that it is still to come."""
    played = Played("G(called(b) -> O(called(b) & arg(n) < last(output(x), done(a))))")
    played([Move(CALLS[0], None), Move(CALLS[2], None)])
    assert not any(isinstance(node, Comparison) for tree in played.trees for node in tree)
    assert any(isinstance(node, Branch) for tree in played.trees for node in tree)
    played([Move(CALLS[1], None), Move(CALLS[2], None)])
    assert any(isinstance(node, Comparison) for tree in played.trees for node in tree)
    played.settle(0, OTHERWISE)
    assert played.trees == ()
    assert True in played.registers


def test_many_conditions_on_one_result_take_no_time() -> None:
    """They are not tried in all combinations: they add, or the call is refused."""
    many = " | ".join(f"output matches 'w{n}$'" for n in range(40))
    played = Played(f"G(called(b) -> O(called(a) & ({many})))")([Move(CALLS[0], None)])
    assert [len(tree) for tree in played.trees] == [1]
    assert played.branches.ends(played.trees, played.registers, frozenset()) is None
    played.settle(0, Result("ok", "it is w39"))
    assert played.registers == (True,)
    other = Played(f"G(called(b) -> O (called(b) & Y O (called(a) & ({many}))))")
    with pytest.raises(TooManyBranches, match="call at position 0"):
        other([Move(CALLS[0], None)])


def test_what_a_call_in_flight_may_add_counts_up_to_the_end_of_its_bound() -> None:
    """A result that comes when the bound in seconds has just not run out is in time."""
    now = 0.0
    guard = Guard([contract("c").guarantees({"ltl": "G(called(pay) -> O[<=5s] done(a))"})])
    session = guard.session(clock=lambda: now)
    first = session.decide("a")
    now = 5.0
    session.settle(session.decide("a").id, error="x")
    session.settle(first.id)
    assert isinstance(session.decide("pay"), Allowed)


def test_calls_in_flight_add_nothing_behind_the_bound_of_a_count() -> None:
    """However many of them have no result yet, those of the last few positions are remembered."""
    guard = Guard([contract("c").guarantees({"ltl": "G(called(b) -> count[<=3](done(a)) <= 2)"})])
    session = guard.session()
    for _ in range(30):
        session.decide("a")
    segment = session._inner.ledger.states[0].segment
    assert segment is not None
    assert len(segment.branches[0]) <= 4
