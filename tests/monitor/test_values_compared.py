"""Value variables where several things meet: lists, comparisons, answers in flight, full memory."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from typing import Any

import pytest

from sponsio_like.contracts.definition import contract
from sponsio_like.guard.guard import Guard
from sponsio_like.monitor.monitor import State
from sponsio_like.monitor.parametric import store as instances
from sponsio_like.monitor.parametric.variables import value_text, variable_layout
from sponsio_like.monitor.slots import short
from sponsio_like.monitor.state import ClauseState
from sponsio_like.outcome import Blocked
from sponsio_like.syntax import read
from tests.monitor.test_values import TIED, UNTIL, VETTED, do, legal, session
from tests.semantics.manifest import requirement

# --- what is bound --------------------------------------------------------------------------------


@requirement("S-VALUE-04")
def test_a_call_that_lacks_one_value_does_not_match_whatever_the_other_is() -> None:
    """A field that cannot be read does not make up for one in which nothing is found."""
    one = session(
        "G(called(pay, to = $x, note matches 'order ([0-9]+)' as $y) "
        "-> Y O called(vet, to = $x, n = $y))"
    )
    assert legal(one, "pay", to="bob", note="thanks")
    assert legal(one, "pay", to=math.nan, note="thanks")
    assert legal(one, "pay", to=math.nan)
    assert not legal(one, "pay", to=math.nan, note="order 7")


@requirement("S-VALUE-02")
def test_a_truth_value_is_told_as_it_was_written() -> None:
    """As data that people read, not as the engine keeps it."""
    refused = session(VETTED).decide("pay", {"to": True})
    assert isinstance(refused, Blocked)
    assert refused.violations[0].binding == {"x": True}


@requirement("S-VALUE-02")
@pytest.mark.parametrize(
    ("value", "told"),
    [
        (5, 5),
        (5.5, 5.5),
        (None, None),
        (False, False),
        (math.inf, "infinite"),
        (-math.inf, "minus infinite"),
        ([1, ["a"], {"b": 2, "a": [0.5]}], [1, ["a"], {"a": [0.5], "b": 2}]),
        (Decimal("1e30"), 10**30),
        (Decimal("1e31"), "1E+31"),
        (Decimal("1e-30"), 1e-30),
        (Decimal("-1e-31"), "-1E-31"),
    ],
)
def test_values_are_told_as_data_that_people_read(value: Any, told: Any) -> None:
    """Of which a number with very many digits is not written out."""
    assert repr(value_text(short(value))) == repr(told)


@requirement("S-VALUE-02")
def test_a_long_value_is_told_by_a_mark() -> None:
    """Which is another one for another value."""
    one, other = (value_text(short(letter * 100_000)) for letter in "ab")
    assert one.startswith("a long value (")
    assert len(one) < 30
    assert one != other


@requirement("S-VALUE-03", "S-LEAK-01")
@pytest.mark.parametrize(
    ("body", "form"),
    [
        ("called(a, k = $x)", "exact"),
        ("called(a, k = $x) & called(b, t has $x)", "text"),
        ("called(a, t matches 'i.*' as $x) & called(b, k = $x)", "text"),
        ("called(a, t carries $x) & called(b, k = $x, t has $x)", "folded"),
        ("called(a, t has $x) & called(b, k = $x) & called(c, t carries $x)", "folded"),
    ],
)
def test_a_value_is_compared_alike_wherever_it_stands(body: str, form: str) -> None:
    """As it is compared in the place that looks furthest into texts, in whatever order."""
    formula = read(f"G !({body})")
    assert variable_layout([formula], formula).forms == {"x": form}


@requirement("S-VALUE-12")
def test_what_compares_no_variable_may_stand_anywhere() -> None:
    """A condition on the amount needs no value to be bound before."""
    one = session("G(called(pay, to = $x) -> Y O(done(vet, id = $x) & arg(n) > 3))")
    assert legal(one, "vet", id="bob", n=3)
    assert not legal(one, "pay", to="bob")
    assert legal(one, "vet", id="bob", n=4)
    assert legal(one, "pay", to="bob")


@requirement("S-VALUE-12")
@pytest.mark.parametrize(
    "body",
    [
        "called(pay, to = $x, amount = $a) & arg(cap) < $a -> Y O done(vet, name = $x)",
        "called(pay, to = $x, amount = $a) & !(arg(cap) >= $a) -> Y O done(vet, name = $x)",
        "!(called(pay, to = $x, amount = $a) & arg(cap) < $a) | Y O done(vet, name = $x)",
        "!called(pay, to = $x, amount = $a) | $a <= arg(cap) | Y O done(vet, name = $x)",
    ],
)
def test_a_variable_of_the_judged_call_alone_is_bound_nowhere_else(body: str) -> None:
    """What the present call says of itself does not have to be said by what came before.

    However the formula says that it is about that call.
    """
    one = session(f"G({body})")
    assert legal(one, "pay", to="eve", amount=5, cap=7)
    assert not legal(one, "pay", to="eve", amount=5, cap=3)
    assert legal(one, "vet", name="eve")
    assert legal(one, "pay", to="eve", amount=5, cap=3)


@requirement("S-VALUE-01")
def test_the_context_binds_a_value_for_later() -> None:
    """Only the one that it tells: no other value is owed anything."""
    one = session('G(called(start) & ctx(job) = $x -> WX G !called("*", id != $x))')
    one.fact("job", 7)
    assert legal(one, "step", id=1)
    assert legal(one, "start")
    assert legal(one, "step", id=7)
    assert not legal(one, "step", id=8)


# --- what is compared -----------------------------------------------------------------------------


@requirement("S-VALUE-08")
@pytest.mark.parametrize("relation", ["called(b, j != $y)", "called(b) & arg(j) != $y"])
def test_nothing_is_unequal_to_an_answer_that_is_not_there(relation: str) -> None:
    """Whether it is the same value is told once the answer is there."""
    one = session(f"G(done(a) & output.i = $y -> WX G !({relation}))")
    asked = one.decide("a", {})
    assert not legal(one, "b", j=2)
    assert not one.settle(asked.id, output={"i": 2})
    assert legal(one, "b", j=2)
    assert not legal(one, "b", j=3)


@requirement("S-VALUE-08")
def test_a_call_that_only_binds_is_not_compared_with_answers_in_flight() -> None:
    """What lifts a limit is let through before the limit is known."""
    one = session("G(done(a) & output.i = $y -> WX G(called(b, j > $y) -> Y O called(c, m = $y)))")
    asked = one.decide("a", {})
    assert not legal(one, "b", j=9)
    assert legal(one, "c", m=4)
    one.settle(asked.id, output={"i": 5})
    assert not legal(one, "b", j=9)
    assert legal(one, "c", m=5)
    assert legal(one, "b", j=9)


@requirement("S-VALUE-08")
def test_what_the_context_tells_is_not_compared_with_answers_in_flight() -> None:
    """It binds a value, as an argument does: whether it is the same one, the answer reveals."""
    one = session("G(done(a) & output.i = $y -> WX G !(called(b) & ctx(who) = $y))")
    one.fact("who", 3)
    asked = one.decide("a", {})
    assert legal(one, "b")
    assert not one.settle(asked.id, output={"i": 4})
    assert legal(one, "b")
    one.fact("who", 4)
    assert not legal(one, "b")


@requirement("S-VALUE-18")
@pytest.mark.parametrize(("found", "fine"), [("1000", True), ("1,000", False)])
def test_a_term_beside_a_value_from_a_text_compares_as_a_number(found: str, fine: bool) -> None:
    """A number compares with no text that is none: that cannot be told."""
    limit = "output matches 'most ([0-9,]+)' as $v"
    one = session(f"G(done(find) & {limit} -> WX G !(called(pay) & arg(n) > $v))")
    assert legal(one, "find", f"at most {found}")
    assert legal(one, "pay", n=0) is fine
    assert not legal(one, "pay", n=1001)


@requirement("S-VALUE-18", "S-CMP-12")
def test_a_number_has_an_order_with_a_word_only_if_both_are_plain_texts() -> None:
    """What a regular expression has found in a text is a number where it reads as one."""
    told = session("G(called(bid, v < $old) -> !O called(ask, v = $old))")
    found = session("G(called(bid, v < $old) -> !O called(ask, v matches '(.+)' as $old))")
    for one in (told, found):
        assert legal(one, "ask", v="10")
        assert not legal(one, "bid", v="9")
        assert legal(one, "bid", v="11")
        assert legal(one, "bid", v="1st") is (one is told)
        assert not legal(one, "bid", v={"n": 11})
    assert not legal(told, "bid", v=9)


@requirement("S-VALUE-08")
def test_two_values_of_a_call_are_compared_with_each_other() -> None:
    """Where an earlier call names both, too."""
    both = "Y O called(link, a = $x, b = $y)"
    one = session(f"G(called(pay, from = $x, to = $y) & {both} -> $x != $y)")
    assert legal(one, "link", a=1, b=1)
    assert legal(one, "link", a=1, b=2)
    assert legal(one, "pay", **{"from": 1, "to": 2})
    assert legal(one, "pay", **{"from": 3, "to": 3})
    assert not legal(one, "pay", **{"from": 1, "to": 1})


@requirement("S-VALUE-07", "S-LEAK-03")
def test_a_message_is_looked_into_as_an_answer_is() -> None:
    """Long ones too, and what is in there is what identifies something."""
    told = session("G(called(pay, to = $x) -> Y O(message(user) & text has $x))")
    kept = session('G(called(send, "*" carries $x) -> !Y O(message(user) & text carries $x))')
    for one in (told, kept):
        one.message("user", "pay bob by sk-12345 " + "please " * 3_000)
    assert legal(told, "pay", to="bob")
    assert not legal(told, "pay", to="eve")
    assert legal(kept, "send", body="to bob")
    assert not legal(kept, "send", body="by sk-12345")


@requirement("S-VALUE-16")
def test_the_elements_of_a_list_in_a_list_of_one_vouch_each_for_itself() -> None:
    """They were asked for one by one, and the list around them has one element."""
    one = session("G(called(pay, to = $x) -> Y O called(vet, o.names[] = $x))")
    assert legal(one, "vet", o=[{"names": ["ann", "bob"]}])
    assert legal(one, "pay", to="ann")
    assert legal(one, "pay", to="bob")
    assert legal(one, "vet", o=[{"names": ["eve"]}, {"names": ["zoe"]}])
    assert not legal(one, "pay", to="eve")


@requirement("S-VALUE-08", "S-VALUE-05")
@pytest.mark.parametrize("ids", [[1, 9], [9, 1]])
def test_every_value_of_a_list_is_compared_by_itself(ids: list[int]) -> None:
    """One that is too large is enough."""
    one = session("G !(called(pay, ids[] = $x) & arg(most) < $x)")
    assert legal(one, "pay", ids=ids, most=9)
    assert not legal(one, "pay", ids=ids, most=5)


@requirement("S-VALUE-05")
@pytest.mark.parametrize(("ids", "to"), [([1, 2], 2), ([2, 1], 1)])
def test_a_value_has_to_stand_in_each_of_its_fields(ids: list[int], to: int) -> None:
    """What is in the list, and is not the receiver, is no value of the call."""
    one = session("G(called(pay, ids[] = $x, to = $x) -> Y O called(vet, id = $x))")
    assert not legal(one, "pay", ids=ids, to=to)
    assert legal(one, "vet", id=to)
    assert legal(one, "pay", ids=ids, to=to)


@requirement("S-VALUE-04")
def test_a_value_that_is_there_is_told_beside_one_that_cannot_be_read() -> None:
    """Two fields that differ have no value in common, whoever else it is about."""
    one = session("G(called(pay, to[] = $x, n = $y, m = $y) -> WY !O called(ban, id = $x, n = $y))")
    assert legal(one, "ban", id="bob", n=7)
    assert legal(one, "pay", to=["bob", math.nan], n=7, m=8)
    assert not legal(one, "pay", to=["bob", math.nan], n=7, m=7)


# --- answers that are tied to their calls ---------------------------------------------------------


@requirement("S-VALUE-14")
def test_what_can_be_read_of_a_call_and_its_answer_vouches() -> None:
    """An order that is named beside one that cannot be read has the items of the answer."""
    one = session(
        "G(called(back, o = $o, i = $i) -> Y O(done(get, ids[] = $o) & output.items[] = $i))"
    )
    do(one, "get", {"items": [1]}, ids=["A", math.nan])
    assert legal(one, "back", o="A", i=1)
    assert not legal(one, "back", o="A", i=2)
    assert not legal(one, "back", o="B", i=1)


@requirement("S-VALUE-14")
def test_an_answer_is_about_its_own_call_where_its_values_are_known() -> None:
    """The same item in another order begins nothing anew for this one."""
    one = session(
        "G(done(get, id = $o) & output.items[] = $i -> G[<=3] !called(back, o = $o, i = $i))"
    )
    do(one, "get", {"items": [1]}, id="A")
    do(one, "other")
    do(one, "get", {"items": [1]}, id="B")
    assert not legal(one, "back", o="A", i=1)
    do(one, "other")
    assert legal(one, "back", o="A", i=1)
    assert not legal(one, "back", o="B", i=1)


@requirement("S-VALUE-14")
def test_a_call_that_binds_two_values_ties_both() -> None:
    """The item of this order in this shop, not in another one that it may be about."""
    one = session(
        "G(called(back, s = $s, o = $o, i = $i) -> Y O(output.items[] = $i "
        "& done(get, shop = $s, id = $o; get, other = $s, id = $o, n > 3)))"
    )
    do(one, "get", {"items": [1]}, shop="X", other="Y", id="A", n=math.nan)
    assert legal(one, "back", s="X", o="A", i=1)
    assert not legal(one, "back", s="Y", o="A", i=1)
    do(one, "get", {"items": [1]}, shop="X", other="Y", id="A", n=4)
    assert legal(one, "back", s="Y", o="A", i=1)
    assert not legal(one, "back", s="Y", o="A", i=2)


@requirement("S-VALUE-14")
def test_a_call_that_may_be_another_one_vouches_for_nothing() -> None:
    """Whether it was large enough cannot be told, whatever its answer has."""
    one = session(TIED.replace("id = $o", "id = $o, n > 3"))
    do(one, "get", {"items": [1]}, id="A", n=math.nan)
    assert not legal(one, "back", order="A", item=1)
    do(one, "get", {"items": [1]}, id="A", n=4)
    assert legal(one, "back", order="A", item=1)


# --- states that values share ---------------------------------------------------------------------


@requirement("S-VALUE-11")
def test_values_whose_states_become_one_go_on_together() -> None:
    """Whichever of them came first: what ends for all ends for each."""
    body = "(!done(thaw) S done(freeze, id = $x)) & !Y called(freeze, id = $x)"
    for first in (1, 2):
        one = session(f"G(called(pay, to = $x) -> WY !({body}))")
        assert legal(one, "freeze", id=1)
        assert legal(one, "freeze", id=2)
        assert legal(one, "other")
        assert legal(one, "other")
        assert legal(one, "freeze", id=first)
        assert legal(one, "other")
        assert legal(one, "other")
        assert not legal(one, "pay", to=1)
        assert not legal(one, "pay", to=2)
        assert legal(one, "thaw")
        assert legal(one, "pay", to=1)
        assert legal(one, "pay", to=2)


@requirement("S-VALUE-11")
def test_what_all_values_have_become_changes_with_all_of_them() -> None:
    """Also where one of them was there before."""
    body = "!called(thaw) S (called(freeze, id = $x) | called(stop))"
    one = session(f"G(called(pay, to = $x) -> !({body}))")
    assert legal(one, "freeze", id="ann")
    for _ in range(2):
        assert legal(one, "stop")
        assert not legal(one, "pay", to="ann")
        assert not legal(one, "pay", to="zoe")
        assert legal(one, "thaw")
        assert legal(one, "pay", to="ann")
        assert legal(one, "pay", to="zoe")


@requirement("S-VALUE-02")
def test_a_violation_names_the_call_that_has_turned_against_all_values() -> None:
    """Not an earlier one, that was for this value."""
    one = session(
        "G(called(pay, to = $x) -> Y O called(vet, name = $x) & !Y O called(lock, gate = 1))"
    )
    assert legal(one, "vet", name="ann")
    assert legal(one, "vet", name="bob")
    assert legal(one, "lock", gate=1)
    assert legal(one, "vet", name="eve")
    assert legal(one, "vet", name="bob")
    for name, since in (("ann", 2), ("bob", 2), ("eve", 3), ("zoe", 2)):
        refused = one.decide("pay", {"to": name})
        assert isinstance(refused, Blocked)
        assert refused.violations[0].since == since, name


@requirement("S-VALUE-02")
def test_values_whose_states_become_one_keep_their_calls() -> None:
    """Since when a state stands against a value is told by what became of that value."""
    body = "O called(freeze, id = $x) & !Y called(heat, id = $x) & !Y Y called(heat, id = $x)"
    one = session(f"G(called(pay, to = $x) -> !({body}))")
    assert legal(one, "freeze", id="ann")
    assert legal(one, "heat", id="ann")
    assert legal(one, "freeze", id="bob")
    assert legal(one, "other")
    assert legal(one, "freeze", id="eve")
    for name, since in (("ann", 3), ("bob", 2), ("eve", 4)):
        refused = one.decide("pay", {"to": name})
        assert isinstance(refused, Blocked)
        assert refused.violations[0].since == since, name


def test_values_that_enter_a_state_that_others_are_in_need_no_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Only different states are few."""
    monkeypatch.setattr("sponsio_like.engine.per_value.STATES_CAP", 2)
    one = session("G(called(pay, to = $x) -> !(!called(thaw) S called(freeze, id = $x)))")
    assert all(legal(one, "freeze", id=i) for i in range(5))
    assert not any(legal(one, "pay", to=i) for i in range(5))
    assert legal(one, "pay", to=5)


# --- when memory is full --------------------------------------------------------------------------


@requirement("S-VALUE-09")
def test_values_that_are_only_told_apart_have_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where one value is unequal, every other is: they are not compared one by one."""
    monkeypatch.setattr("sponsio_like.engine.per_value.RELATED_CAP", 1)
    one = session("G(called(pay, id = $x) -> Y O called(vet, id = $x) & !Y called(lock, id != $x))")
    assert all(legal(one, "vet", id=i) for i in range(3))
    assert all(legal(one, "pay", id=i) for i in range(3))


@requirement("S-VALUE-09")
def test_what_is_known_is_told_where_memory_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls about values that are remembered go on; of all others nothing is certain."""
    monkeypatch.setattr("sponsio_like.engine.per_value.VALUES_CAP", 2)
    one = session("G(called(use, id = $x) -> count(done(make) & output.ids[] = $x) <= 1)")
    do(one, "make", {"ids": [1, 2, 3]})
    assert legal(one, "use", id=1)
    assert legal(one, "use", id=2)
    assert not legal(one, "use", id=3)
    assert not legal(one, "use", id=4)


@requirement("S-VALUE-09")
def test_a_call_is_compared_with_what_had_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is refused, though it binds no value by itself."""
    monkeypatch.setattr("sponsio_like.engine.per_value.RELATED_CAP", 1)
    one = session("G(called(b, k = $x, j > $y) -> WY !O(done(a, k = $x) & output.limits[] = $y))")
    do(one, "a", {"limits": [9, 5]}, k=1)
    assert not legal(one, "b", k=1, j=7)


@requirement("S-VALUE-09")
def test_a_clause_that_no_call_moves_has_room_for_as_many_states(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Only states that have to be stepped at each call are few."""
    monkeypatch.setattr("sponsio_like.engine.per_value.STATES_CAP", 2)
    one = session("G(called(try, id = $x) -> count(called(try, id = $x)) <= 5)")
    assert all(legal(one, "try", id=i) for i in range(5) for _ in range(i + 1))
    assert len(one._inner.ledger.stores[0].cells) == 6


@requirement("S-VALUE-09", "S-VALUE-02")
def test_a_snapshot_knows_what_had_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """And since when all values are as they are."""
    monkeypatch.setattr("sponsio_like.engine.per_value.VALUES_CAP", 2)
    some = "G(called(use, id = $x) -> count(done(make) & output.ids[] = $x) <= 1)"
    locked = "G(called(pay, to = $x) -> Y O called(vet, id = $x) & !Y O called(make))"
    rules = [contract(f"c{i}").guarantees(read(each)) for i, each in enumerate([some, locked])]
    guard = Guard(rules)
    one = guard.session("s")
    assert legal(one, "other")
    do(one, "make", {"ids": [1, 2, 3]})
    again = guard.restore(json.loads(json.dumps(one.snapshot())))
    assert legal(again, "use", id=1)
    assert not legal(again, "use", id=3)
    refused = again.decide("pay", {"to": "bob"})
    assert isinstance(refused, Blocked)
    assert refused.violations[0].since == 1


Made = tuple[instances.ValueStates, list[ClauseState]]


def made(cap: int = 9, states: int = 9) -> Made:
    """A store, the state of which all values are at first, and four others."""
    start = ClauseState(State((0,), frozenset()), None)
    others = [start._replace(outer=State((i,), frozenset())) for i in range(1, 5)]
    permits = {others[0], others[1]}
    return instances.ValueStates(start, cap, lambda state, _: state in permits, states), others


@requirement("S-VALUE-09")
def test_of_new_states_that_have_no_room_each_has_to_be_one_that_may_be_forgotten() -> None:
    """One that forbids makes the position impossible, whatever stands beside it."""
    store, (a, b, c, _) = made(states=1)
    assert store.has_room(2, [store.rest.state], [a, b])
    assert not store.has_room(2, [store.rest.state], [a, c])
    assert not store.has_room(2, [store.rest.state], [c, a])


@requirement("S-VALUE-09")
def test_values_have_room_up_to_the_cap_and_beyond_it_where_others_may_be_forgotten() -> None:
    """A position that tells no value apart needs none, also where a snapshot was over the cap."""
    store, (a, _, c, _) = made(cap=2)
    store.put((1,), a, 1)
    store.put((2,), c, 2)
    assert store.has_room(0, [], [])
    assert store.has_room(1, [], [])  # the first may be forgotten
    assert not store.has_room(2, [], [])
    store.put((3,), c, 3)
    assert not store.knows((1,))
    assert not store.has_room(1, [], [])
    few, _ = made(cap=1)
    few.fill(store.plain())
    assert few.has_room(0, [], [])
    assert not few.has_room(1, [], [])


def test_a_state_that_its_last_value_has_left_is_told_again_with_the_next() -> None:
    """It moves with all others: it is no longer the one that was left."""
    store, (a, b, _, _) = made()
    store.put((1,), a, 1)
    store.drop((1,))
    store.put((2,), a, 2)
    assert store.states() == [store.rest.state, a]
    assert store.example(a) == (2,)
    store.move({a: b}, 3)
    assert store.state((2,)) == b
    assert store.states([(2,)]) == [store.rest.state]


def test_a_copy_to_try_things_on_knows_what_had_no_room() -> None:
    """And since when all values are as they are."""
    one = session(UNTIL.replace("thaw, id = $x", "thaw"))
    store = one._inner.ledger.stores[0]
    assert isinstance(store, instances.ValueStates)
    store.blind, store.rest.moved = True, 3
    twin = store.copy(())
    assert (twin.blind, twin.since(None)) == (True, 3)
