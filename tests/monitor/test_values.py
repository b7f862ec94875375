"""Value variables: what they bind, how long it is remembered, and what a full memory does."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from sponsio_like.contracts.declaration import Rule
from sponsio_like.contracts.definition import Contract, contract, inputs_needed
from sponsio_like.errors import ContractError, InputMissing
from sponsio_like.guard.guard import Guard
from sponsio_like.monitor.parametric import store as instances
from sponsio_like.outcome import Allowed, Blocked, Outcome
from sponsio_like.patterns import precedence
from sponsio_like.replay.replay import Replay
from sponsio_like.replay.timeline import explained
from sponsio_like.session.session import Session
from sponsio_like.syntax import read
from sponsio_like.traces.trace import trace_of
from sponsio_like.values.canonical_form import NotCanonical
from sponsio_like.values.limits import TEXT_CAP
from sponsio_like.values.tokens import GIVEN_CAP, words_in
from tests.reference.grounds import campaign
from tests.reference.smt_values import words
from tests.semantics.manifest import requirement

VETTED = "G(called(pay, to = $x) -> Y O done(vet, name = $x))"
FROZEN = "G(called(pay, to = $x) -> WY(done(thaw, id = $x) R !done(freeze, id = $x)))"
UNTIL = "G(called(pay, to = $x) -> WY !(!done(thaw, id = $x) S done(freeze, id = $x)))"
ANSWERED = "G(done(open, id = $x) -> X F done(close, id = $x))"


def session(*formulas: str, mode: Any = "enforce", direct: bool = True) -> Session:
    """A session under contracts `c0`, `c1`, .."""
    rules = [contract(f"c{i}").guarantees(read(each)) for i, each in enumerate(formulas)]
    made = Guard(rules, mode=mode).session("s")
    made._direct = made._direct and direct
    return made


def do(one: Session, tool: str, output: Any = "done", **args: Any) -> Outcome:
    """Decide a call; if it may run, it succeeds with this output."""
    outcome = one.decide(tool, args)
    if isinstance(outcome, Allowed):
        one.settle(outcome.id, output=output)
    return outcome


def legal(one: Session, tool: str, output: Any = "done", **args: Any) -> bool:
    """Whether the call was let through."""
    return isinstance(do(one, tool, output, **args), Allowed)


@pytest.fixture(params=["short", "long"])
def made(request: pytest.FixtureRequest) -> Callable[..., Session]:
    """Sessions that take the fast path, and the same on the slow path."""
    return lambda *formulas, **more: session(*formulas, direct=request.param == "short", **more)


# --- what is bound --------------------------------------------------------------------------------


@pytest.mark.long
@requirement("S-VALUE-01")
@pytest.mark.parametrize("seed", range(4, 9))
def test_random_guarantees_are_what_they_are_for_every_value(seed: int) -> None:
    """Reports, verdicts and obligations are those of one guarantee for each value."""
    agreed, violated, failures = campaign(8, seed)
    assert not failures, failures[0]
    assert agreed >= 8
    assert violated


def test_a_value_is_allowed_by_its_own_history(made: Callable[..., Session]) -> None:
    """What was vetted may be paid, nobody else."""
    one = made(VETTED)
    assert not legal(one, "pay", to="bob")
    assert legal(one, "vet", name="bob")
    assert legal(one, "pay", to="bob")
    assert not legal(one, "pay", to="eve")


def test_a_call_that_lacks_one_of_two_values_follows_none() -> None:
    """Who was vetted by whom is paid by them: with one of both missing, nobody was vetted."""
    before = {"tool": "pay", "args": {"to": "$v", "by": "$w"}}
    after = {"tool": "vet", "args": {"name": "$v", "of": "$w"}}
    one = Guard([contract("c").guarantees(precedence(before, after))]).session()
    assert legal(one, "vet", name="eve", of="ann")
    assert legal(one, "pay", to="eve", by="ann")
    for args in ({"to": "eve", "by": "bob"}, {"to": "eve"}, {"by": "ann"}, {}):
        assert not legal(one, "pay", **args), args


@pytest.mark.parametrize(
    ("first", "then", "equal"),
    [
        (1, 1.0, True),
        (1, True, False),
        (1, "1", False),
        ("\u00e9", "e\u0301", True),
        ("a", "A", False),
        ([1, 1.0], 1, True),
        ({"a": 1, "b": None}, {"b": None, "a": 1}, False),
        (None, None, True),
        (None, False, False),
        (10**40, 10**40 + 1, False),
        ("x" * 5_000, "x" * 5_000, True),
        ("x" * 5_000, "x" * 5_001, False),
    ],
)
@requirement("S-VALUE-03")
def test_values_are_one_if_they_are_the_same_json(
    made: Callable[..., Session], first: Any, then: Any, equal: bool
) -> None:
    """`1` is `1.0`, `true` is not `1`, text is compared in NFC, objects whatever their order."""
    one = made(VETTED)
    assert legal(one, "vet", name=first)
    assert legal(one, "pay", to=then) is equal


@requirement("S-VALUE-04")
def test_a_call_without_the_bound_field_does_not_match(made: Callable[..., Session]) -> None:
    """Unless the match says `missing: refuse`."""
    assert legal(made(VETTED), "pay")
    assert legal(made(VETTED.replace("to = $x", 'to = $x, @missing = "skip"')), "pay")
    strict = VETTED.replace("to = $x", 'to = $x, @missing = "refuse"')
    assert not legal(made(strict), "pay")


@pytest.mark.parametrize("odd", [float("nan"), {"deep": None}, {1, 2}])
@requirement("S-VALUE-04")
def test_a_field_that_cannot_be_read_is_refused(made: Callable[..., Session], odd: Any) -> None:
    """It could be any value, so it is none that was vetted."""
    if odd == {"deep": None}:
        for _ in range(80):
            odd = {"deep": odd}
    assert not legal(made(VETTED), "pay", to=odd)


@requirement("S-VALUE-05")
def test_every_element_of_a_list_is_a_value(made: Callable[..., Session]) -> None:
    """A booking for two needs both of them checked."""
    one = made("G(called(book, passengers[].name = $x) -> Y O done(check, name = $x))")
    ann, bob = {"name": "ann"}, {"name": "bob"}
    assert legal(one, "check", name="ann")
    assert legal(one, "book", passengers=[ann])
    refused = do(one, "book", passengers=[ann, bob])
    assert isinstance(refused, Blocked)
    assert refused.violations[0].binding == {"x": "bob"}
    assert legal(one, "book", passengers=[])


@requirement("S-VALUE-05")
def test_every_element_may_have_to_be_the_value(made: Callable[..., Session]) -> None:
    """An empty list has none: it permits nothing."""
    one = made("G(called(pay, to = $x) -> Y O done(vet, every names[] = $x))")
    assert legal(one, "vet", names=[])
    assert legal(one, "vet", names=["ann", "bob"])
    assert not any(legal(one, "pay", to=name) for name in ("ann", "bob"))
    assert legal(one, "vet", names=["ann", "ann"])
    assert legal(one, "pay", to="ann")


NAN = float("nan")


@requirement("S-VALUE-05")
@pytest.mark.parametrize(
    ("shows", "texts", "sure", "possible"),
    [
        ("matches 'id (\\w+)' as", ["id ann", "none"], "", ""),
        ("matches 'id (\\w+)' as", ["none"], "", ""),
        ("matches 'id (\\w+)' as", ["id ann, id bob", "id ann"], "ann", "ann"),
        ("matches 'id (\\w+)' as", ["id ann", 7], "", "ann"),
        ("has", ["for ann", "ann, bob"], "ann", "ann"),
        ("has", ["for ann and bob", "bob ann"], "ann bob", "ann bob"),
        ("has", ["for ann", "for eve"], "", ""),
        ("carries", ["for ann", "(Ann) and bob"], "ann", "ann"),
        ("=", ["ann", "ann"], "ann", "ann"),
        ("=", ["ann", NAN], "", "ann"),
        ("=", ["ann", "bob", NAN], "", ""),
        ("=", [NAN], "", "ann bob"),
    ],
)
def test_every_element_has_to_show_the_value(
    made: Callable[..., Session], shows: str, texts: list[Any], sure: str, possible: str
) -> None:
    """Whatever else it shows; what is sure permits, and what is possible is forbidden."""
    allows = f"G(called(pay, to = $x) -> Y O done(vet, every t[] {shows} $x))"
    forbids = f"G(called(send, every t[] {shows} $x) -> Y H !called(lock, id = $x))"
    for name in ("ann", "bob"):
        one, other = made(allows), made(forbids)
        assert legal(one, "vet", t=texts)
        assert legal(one, "pay", to=name) is (name in sure), name
        assert legal(other, "lock", id=name)
        assert legal(other, "send", t=texts) is (name not in possible), name


@requirement("S-VALUE-05", "S-VALUE-08")
def test_every_element_may_have_to_be_another_value(made: Callable[..., Session]) -> None:
    """Each of them is compared, also where they differ."""
    one = made("G(called(send) & O called(lock, id = $x) -> called(send, every t[] != $x))")
    assert legal(one, "lock", id="ann")
    assert legal(one, "send", t=["bob", "eve"])
    assert not legal(one, "send", t=["bob", "ann"])


@requirement("S-VALUE-05")
def test_an_element_that_cannot_be_read_may_be_any_and_hides_no_other(
    made: Callable[..., Session],
) -> None:
    """What stands beside it is there; what does not may be there."""
    one = made("G(called(pay, to = $x) -> Y O done(vet, t[] = $x))")
    assert legal(one, "vet", t=["ann", NAN])
    assert legal(one, "pay", to="ann")
    assert not legal(one, "pay", to="bob")
    other = made("G(called(send, t[] = $x) -> Y H !called(lock, id = $x))")
    assert legal(other, "lock", id="bob")
    assert legal(other, "send", t=["ann"])
    assert not legal(other, "send", t=["ann", NAN])


@requirement("S-VALUE-16", "S-VALUE-08")
def test_elements_that_compare_differently_cannot_be_told(made: Callable[..., Session]) -> None:
    """Of a list where one amount was meant: what all of them are is so, and else nothing is."""
    most = "G(called(refund) & O called(quote, total = $y) -> called(refund, n <= $y))"
    some = "G(called(refund, n <= $y) -> !O called(quote, total = $y))"
    for formula, said in ((most, "YYNN"), (some, "NNNY")):
        for n, sign in zip((10, [5, 10], [5, 20], [20, 30]), said, strict=True):
            one = made(formula)
            assert legal(one, "quote", total=10)
            assert legal(one, "refund", n=n) is (sign == "Y"), (formula, n)


@requirement("S-VALUE-06")
def test_an_answer_may_be_null(made: Callable[..., Session]) -> None:
    """It is a value like any other where the whole answer is bound."""
    one = made("G(called(use, ids = $x) -> Y O(done(make) & output = $x))")
    again = made("G(done(make) & output = $x -> X F(done(take) & output = $x))")
    assert legal(again, "make", output=None)
    assert len(again.pending()) == 1
    assert legal(again, "take", output=None)
    assert not again.pending()
    assert legal(one, "make", output=None)
    assert not legal(one, "use", ids="null")


@requirement("S-VALUE-06")
def test_values_come_from_outputs(made: Callable[..., Session]) -> None:
    """Whole, at a path, from JSON text, and by a regular expression."""
    whole = "G(called(use, id = $x) -> Y O(done(make) & output = $x))"
    at_path = whole.replace("output =", "output.order.id =")
    found = "G(called(use, id = $x) -> Y O(done(make) & output matches 'order (\\w+)' as $x))"
    for formula, output in (
        (whole, 7),
        (at_path, {"order": {"id": 7}}),
        (at_path, '{"order": {"id": 7}}'),
        (found, "created order 7, order 8"),
    ):
        one = made(formula)
        assert not legal(one, "use", id=7)
        assert legal(one, "make", output)
        assert legal(one, "use", id=7)
        assert not legal(one, "use", id=9)
    assert legal(one, "use", id=8)


@pytest.mark.parametrize(
    ("body", "args"),
    [
        (
            "!(done(pay, items[].sku = $y) & output = $x) S (done(pay, name = $y) & output = $x)",
            {"name": "B", "items": [{"sku": -0.0}]},
        ),
        (
            "!(done(pay, name = $y) & output = $x) S (done(pay, o.id = $y) & output = $x)",
            {"name": 1.0, "o": {"id": 1000.0}},
        ),
    ],
)
def test_a_call_may_bind_one_variable_twice(
    made: Callable[..., Session], body: str, args: dict[str, Any]
) -> None:
    """Of two values, each has its own part of the call, however that ends."""
    one = made(f"G(called(vet) -> WY !({body}))")
    assert isinstance(one.decide("pay", args, id="1"), Allowed)
    assert one.settle("1", output="an answer") == ()
    refused = one.decide("vet")
    assert isinstance(refused, Blocked)
    assert refused.violations[0].contract == "c0"
    assert "in doubt" not in refused.violations[0].message
    same = made(f"G(called(vet) -> WY !({body}))")
    assert isinstance(same.decide("pay", args, id="1"), Allowed)
    assert same.settle("1", error="no") == ()
    assert legal(same, "vet")


@pytest.mark.parametrize(
    "rule",
    [
        "G(called(go) -> WY !(!(done([pay, log]) & output = $x) S (done(pay) & output = $x)))",
        'G(called(go) -> Y (!(done([a, pay]) & output.s = "ok") S (done(pay) & output.s = "ok")))',
    ],
)
def test_an_answer_that_cannot_be_read_counts_against_the_call_at_each_place(rule: str) -> None:
    """The same condition on an answer stands for something, and against it: where the answer cannot
    be read, it is false here and true there.
    """
    one = session(rule)
    assert isinstance(one.decide("pay", {}, id="1"), Allowed)
    assert one.settle("1", output={"s": float("nan")}) == ()
    refused = one.decide("go")
    assert isinstance(refused, Blocked)
    assert refused.violations[0].contract == "c0"


def test_calls_beside_each_other_do_not_see_their_outputs() -> None:
    """A value is known once its call has settled."""
    one = session("G(called(use, id = $x) -> Y O(done(make) & output = $x))")
    making = one.decide("make", {})
    assert not legal(one, "use", id=7)
    one.settle(making.id, output=7)
    assert legal(one, "use", id=7)


def test_a_prohibition_ends_for_the_value_that_is_released(made: Callable[..., Session]) -> None:
    """And for no other."""
    one = made(UNTIL)
    assert legal(one, "freeze", id="bob")
    assert legal(one, "freeze", id="eve")
    assert legal(one, "thaw", id="bob")
    assert legal(one, "pay", to="bob")
    assert not legal(one, "pay", to="eve")


@requirement("S-VALUE-01")
def test_a_release_without_a_value_releases_all(made: Callable[..., Session]) -> None:
    """States are moved, not values: it takes no longer for many."""
    one = made(UNTIL.replace("thaw, id = $x", "thaw"))
    for i in range(50):
        assert legal(one, "freeze", id=i)
    assert not legal(one, "pay", to=7)
    assert legal(one, "thaw")
    assert legal(one, "pay", to=7)
    assert legal(one, "freeze", id=7)
    assert not legal(one, "pay", to=7)
    assert legal(one, "pay", to=8)


def test_obligations_are_kept_by_value() -> None:
    """What stays open at the end names a value for which it does."""
    one = session(ANSWERED)
    for i in (1, 2, 3):
        assert legal(one, "open", id=i)
    assert legal(one, "close", id=2)
    assert legal(one, "close", id=1)
    (left,) = one.finish()
    assert left.binding == {"x": 3}


def test_counts_are_per_value(made: Callable[..., Session]) -> None:
    """Two tries for each order."""
    one = made("G(called(try, id = $x) -> count(called(try, id = $x)) <= 2)")
    for i in (1, 2, 1, 2):
        assert legal(one, "try", id=i)
    assert not legal(one, "try", id=1)
    assert legal(one, "try", id=3)


def test_sums_are_per_value() -> None:
    """At most 100 to each."""
    one = session("G(called(pay, to = $x) -> sum(called(pay, to = $x), amount) <= 100)")
    assert legal(one, "pay", to="bob", amount=60)
    assert legal(one, "pay", to="eve", amount=60)
    assert not legal(one, "pay", to="bob", amount=60)
    assert legal(one, "pay", to="bob", amount=40)


@requirement("S-VALUE-08")
def test_values_of_different_events_are_compared() -> None:
    """A bid is above every ask; a refund is at most what was quoted for that order."""
    bids = session("G(called(bid, price = $new) & O called(ask, price = $old) -> $new >= $old)")
    assert legal(bids, "bid", price=5)
    assert legal(bids, "ask", price=10)
    assert not legal(bids, "bid", price=9)
    assert legal(bids, "bid", price=10)
    refunds = session(
        "G(called(refund, id = $x) -> arg(amount) <= last(output(total), done(quote, id = $x)))"
    )
    assert legal(refunds, "quote", {"total": 10}, id=1)
    assert legal(refunds, "quote", {"total": 5}, id=2)
    assert legal(refunds, "refund", id=1, amount=10)
    assert not legal(refunds, "refund", id=2, amount=10)
    assert not legal(refunds, "refund", id=3, amount=1)


def test_the_context_binds_a_value() -> None:
    """Not for another customer than the one who is logged in."""
    one = session("G(called(show, customer = $x) -> ctx(customer) = $x)")
    one.fact("customer", 7)
    assert legal(one, "show", customer=7)
    assert not legal(one, "show", customer=8)


@requirement("S-VALUE-08")
def test_not_another_value_than_before(made: Callable[..., Session]) -> None:
    """The first user is the only one."""
    one = made('G(called("*", user = $x) -> !Y O called("*", user != $x))')
    assert legal(one, "read", user=1)
    assert legal(one, "write", user=1)
    assert not legal(one, "write", user=2)


def test_the_same_call_may_fail_only_so_often() -> None:
    """Tool and arguments together are one value."""
    one = session('G(called("*", @call = $c) -> WY(count(failed("*", @call = $c)) < 2))')
    for _ in range(2):
        one.settle(one.decide("get", {"id": 1}).id, error="no")
    assert not legal(one, "get", id=1)
    assert legal(one, "get", id=2)
    assert legal(one, "put", id=1)


@requirement("S-VALUE-03", "S-VALUE-07")
def test_text_and_numbers_are_one_where_a_value_comes_from_text(
    made: Callable[..., Session],
) -> None:
    """A whole token, not a part of one."""
    one = made("G(called(pay, amount = $v) -> Y O(done(find) & output has $v))")
    assert legal(one, "find", "You owe 250.0, or ORD-77. Name: John Smith, mail j@x.com.")
    for found in (250, "250.0", "ORD-77", "John Smith", "j@x.com"):
        assert legal(one, "pay", amount=found), found
    for other in (25, "ORD-7", "Smith John", "x.co"):
        assert not legal(one, "pay", amount=other), other


TIED = "G(called(back, order = $o, item = $i) -> Y O(done(get, id = $o) & output.items[] = $i))"
"""Only what was in that order comes back."""


@requirement("S-VALUE-14")
def test_a_call_and_its_own_answer_are_tied(made: Callable[..., Session]) -> None:
    """The item was in that order, not in another one."""
    one = made(TIED)
    do(one, "get", {"items": [1, 2]}, id="A")
    do(one, "get", '{"items": [3]}', id="B")
    do(one, "get", {"items": [9]})
    for order, item, fine in (("A", 1, True), ("A", 3, False), ("B", 3, True), ("B", 2, False)):
        assert legal(one, "back", order=order, item=item) is fine, (order, item)
    assert not legal(one, "back", order="A", item=9)
    refused = one.decide("back", {"order": "A", "item": 3})
    assert isinstance(refused, Blocked)
    assert refused.violations[0].binding == {"o": "A", "i": 3}


@requirement("S-VALUE-14")
def test_what_is_tied_counts_once_the_call_has_settled_as_it_had_to(
    made: Callable[..., Session],
) -> None:
    """Nothing is known of a call in flight, or of one that failed."""
    one = made(TIED)
    asked = one.decide("get", {"id": "A"})
    assert not legal(one, "back", order="A", item=1)
    one.settle(asked.id, error="down")
    assert not legal(one, "back", order="A", item=1)
    two = made("G(called(back, item = $i, order = $o) -> !Y O(done(get, id = $o) & output = $i))")
    asked = two.decide("get", {"id": "A"})
    two.settle(asked.id, output=1)
    assert not legal(two, "back", order="A", item=1)
    assert legal(two, "back", order="B", item=1)
    assert legal(two, "back", order="A", item=2)


@requirement("S-VALUE-14", "S-VALUE-04")
def test_of_what_cannot_be_read_any_value_may_be_tied() -> None:
    """A prohibition then holds for all, a permission for none."""
    permits, forbids = TIED, TIED.replace("Y O", "!Y O")
    for formula, given, answer, fine in (
        (permits, float("nan"), {"items": [1]}, False),
        (permits, "A", {"items": [float("nan")]}, False),
        (forbids, float("nan"), {"items": [1]}, False),
        (forbids, "A", {"items": [float("nan")]}, False),
        (forbids, "A", {"items": []}, True),
    ):
        one = session(formula)
        do(one, "get", answer, id=given)
        assert legal(one, "back", order="A", item=1) is fine, (formula, given, answer)


@requirement("S-VALUE-14")
def test_what_a_call_has_given_is_in_snapshots() -> None:
    """Its answer may come in another process."""
    guard = Guard([contract("c").guarantees(read(TIED))])
    one = guard.session("s")
    asked = one.decide("get", {"id": "A"})
    two = guard.restore(json.loads(json.dumps(one.snapshot())))
    two.settle(asked.id, output={"items": [1]})
    assert legal(two, "back", order="A", item=1)
    assert not legal(two, "back", order="B", item=1)


@pytest.mark.parametrize(
    "body",
    [
        "called(a, id = $x, n != $y) -> Y O called(c, id = $x, n = $y)",
        "called(a, id = $x, n < $y) -> Y O called(c, id = $x, n = $y)",
        "called(a, id = $x, n != $y) & Y O called(b) -> X F called(c, id = $x, n = $y)",
        "called(a, id = $x, n < $y) & done(a, id = $x) & output = $y -> WY !O called(c)",
        "done(a, id = $x) & output = $y & arg(n) = $y -> WY !O called(c)",
        "called(a) & ctx(user) = $x & ctx(tenant) = $y -> Y O called(c, id = $x, n = $y)",
        "called(a) & ctx(user) = $x -> Y O called(c, id = $x, n = $y)",
        "called(a, n = $z) & arg(o) < $z -> Y O called(c, id = $x)",
    ],
)
@requirement("S-VALUE-12")
def test_an_event_that_only_relates_to_a_variable_cannot_judge_it(body: str) -> None:
    """Any value that never occurs is unequal to what stands there."""
    with pytest.raises(ContractError, match=r"that never occurs|not be bound by then|only some of"):
        session(f"G({body})")


@requirement("S-VALUE-08")
@pytest.mark.parametrize(
    "body",
    [
        "done(a) & output.i = $y -> WX G !called(b, j > $y)",
        "done(a) & output.i = $y -> WX G !(called(b) & arg(j) > $y)",
        "done(a, k = $x) & output.i = $y -> WX G !called(b, k = $x, j > $y)",
    ],
)
def test_nothing_is_compared_with_an_answer_that_is_not_there(body: str) -> None:
    """Else it would be compared with nothing, and the limit be taken for broken, or forgotten."""
    one = session(f"G({body})")
    asked = one.decide("a", {"k": 1})
    assert not legal(one, "b", k=1, j=2)
    assert legal(one, "b", k=1)
    assert legal(one, "c")
    assert not one.settle(asked.id, output={"i": 2})
    assert legal(one, "b", k=1, j=2)
    assert not legal(one, "b", k=1, j=9)


@requirement("S-VALUE-08")
def test_a_call_is_compared_with_every_value_of_what_it_names(made: Callable[..., Session]) -> None:
    """The most that was told for that account, whether by arguments or by an answer."""
    for trigger in ("done(get, id = $o, max = $y)", "done(get, id = $o) & output.max = $y"):
        one = made(f"G(called(pay, o = $o, n > $y) -> WY !O({trigger}))")
        do(one, "get", {"max": 5}, id="A", max=5)
        assert not legal(one, "pay", o="A", n=6), trigger
        assert legal(one, "pay", o="A", n=5), trigger
        assert legal(one, "pay", o="B", n=6), trigger


@requirement("S-VALUE-14", "S-VALUE-08")
def test_an_event_that_relates_to_a_value_is_no_part_of_a_tie(made: Callable[..., Session]) -> None:
    """It is told for each value by itself."""
    for relation, bad in (("i != $i", 5), ("i < $i", 5), ("i > $i", 9)):
        for trigger in ("called(get, id = $o, n = $i)", "done(get, id = $o) & output.n = $i"):
            one = made(f"G({trigger} -> WX G !called(pay, o = $o, {relation}))")
            do(one, "get", {"n": 7}, id=1, n=7)
            assert legal(one, "pay", o=1, i=7), (relation, trigger)
            assert legal(one, "pay", o=2, i=bad), (relation, trigger)
            assert not legal(one, "pay", o=1, i=bad), (relation, trigger)
    one = made(
        "G(called(get, id = $o, n = $i) -> WX G !called(pay, o = $o, i = $i; send, o = $o, i > $i))"
    )
    do(one, "get", id=1, n=5)
    assert not legal(one, "pay", o=1, i=5)
    assert not legal(one, "send", o=1, i=9)
    assert legal(one, "send", o=1, i=5)


@requirement("S-VALUE-09")
@pytest.mark.parametrize("trigger", ["done(a)", "done(a, i = $x)"])
def test_what_an_answer_forbids_and_had_no_room_is_refused(
    trigger: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Later calls that it may be about are, because memory is full."""
    for cap in ("VALUES_CAP", "RELATED_CAP", "STATES_CAP", "SKIPPED_CAP"):
        monkeypatch.setattr(f"sponsio_like.engine.per_value.{cap}", 1)
    later = "i = $x, j = $y" if "$x" in trigger else "j = $y"
    one = session(f"G({trigger} & output.ids[] = $y -> WX G !called(b, {later}))")
    do(one, "a", {"ids": [2, 3]}, i=3)
    assert not legal(one, "b", i=3, j=2)
    assert not legal(one, "b", i=3, j=3)


def test_an_answer_of_any_kind_is_heard_by_all_contracts() -> None:
    """A list where a number was meant is no reason to forget the call."""
    last = "G(called(order, id = $x) -> last(output(total), done(quote, id = $x)) != 3)"
    for total in ([1, 2], {"a": 1}, "x", 3):
        one = session(last, "G(called(pay, id = $x) -> WY !O done(quote, id = $x))")
        do(one, "quote", {"total": total}, id=1)
        assert not legal(one, "pay", id=1), total


@requirement("S-VALUE-09")
def test_what_is_owed_and_had_no_room_is_open_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """No call can be refused for it: an answer brought it."""
    monkeypatch.setattr("sponsio_like.engine.per_value.VALUES_CAP", 2)
    one = session("G(done(make) & output.ids[] = $x -> F called(use, id = $x))")
    do(one, "make", {"ids": [1, 2, 3]})
    do(one, "use", id=1)
    do(one, "use", id=2)
    (left,) = one.finish()
    assert left.message.startswith("memory is full")


@requirement("S-VALUE-14")
def test_obligations_of_what_is_tied_are_told() -> None:
    """Every item of every order has to be packed."""
    body = "done(get, id = $o) & output.items[] = $i -> X F called(pack, order = $o, item = $i)"
    one = session(f"G({body})")
    do(one, "get", {"items": [1, 2]}, id="A")
    do(one, "get", {"items": [2]}, id="B")
    do(one, "pack", order="A", item=2)
    do(one, "pack", order="B", item=2)
    assert [each.binding for each in one.finish()] == [{"o": "A", "i": 1}]


@pytest.mark.parametrize(
    "body",
    [
        "done(get, id = $o)",
        "called(get, id = $o) & output = $i",
        "done(get, id = $o) | output = $i",
        "done(get, id = $o) & Y O output = $i",
        "done(get, id != $o) & output = $i",
        "done(get, every ids[] = $o) & output = $i",
        "done(get, id = $o) & output.b = $i & output.c = $c",
        "done(get, id = $o) & output = $i & text has $i",
        "done(get, id = $o) & output = 3",
        "done(get, id = $o; find, item = $i) & output = $i",
        "done(get, id = $o; find) & output = $i",
    ],
)
@requirement("S-VALUE-12")
def test_variables_that_are_not_tied_are_refused(body: str) -> None:
    """By one event and its own answer, one variable of the answer."""
    with pytest.raises(ContractError, match="binds only some of the variables"):
        session(f"G(called(back, order = $o, item = $i) -> Y O({body}))")


@pytest.mark.parametrize(
    ("body", "waits"),
    [
        ("called(send, to = $v) -> !Y O(called(read) & output has $v)", {"read"}),
        ("called(send, to = $v) -> Y H(!called(read) | !output has $v)", {"read"}),
        ("called(send, to = $v) -> !Y O(output has $v)", {"read", "send"}),
        ("called(send, to = $v) -> !Y O(!called(mail) & output has $v)", {"read", "send"}),
        ("!(called(send, to = $v) & output has $v)", {"send"}),
    ],
)
def test_only_calls_whose_output_matters_wait_for_it(body: str, waits: set[str]) -> None:
    """Else every word of a text would be kept until its call has an answer."""
    one = session(f"G({body})", mode="observe")
    for tool in ("read", "send"):
        one.decide(tool, {"to": "bob"})
    assert {tool for _, tool, changes in one._inner.pending_calls() if changes} == waits


@requirement("S-VALUE-07")
def test_punctuation_may_belong_to_a_value(made: Callable[..., Session]) -> None:
    """`Bob Inc.` before a comma is both."""
    one = made("G(called(pay, to = $v) -> Y O(done(find) & output has $v))")
    assert legal(one, "find", 'Pay (Bob Inc.), then "Ann & Co.", then who?!')
    for found in ("Bob Inc.", "Bob Inc", "(Bob Inc.", "Ann & Co.", "Ann & Co", "who", "who?"):
        assert legal(one, "pay", to=found), found
    assert not legal(one, "pay", to="Bob Inc..")


@requirement("S-VALUE-07")
def test_up_to_five_words_in_a_row_are_a_value() -> None:
    """And each scalar of data, a null among them."""
    found = words_in("one two three four five six seven")
    assert "two three four five six" in found
    assert "one two three four five six" not in found
    assert words_in({"id": "a7", "note": None, "paid": True}) == {
        *("id", "a7", "note", "null", "paid", "true"),
    }


@requirement("S-VALUE-07")
def test_how_much_is_looked_into_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """In data all values together, of JSON text that is an argument its length, as of any text."""
    long = json.dumps(["a" * TEXT_CAP, "b"])
    assert "b" in words_in(long)
    with pytest.raises(NotCanonical):
        words_in(long, GIVEN_CAP)
    monkeypatch.setattr("sponsio_like.values.tokens.PIECES_CAP", 5)
    assert words_in([1, 2, 3, 4]) == {"1", "2", "3", "4"}
    assert words_in({"a": 1, "b": 2}) == {"a", "1", "b", "2"}
    for many in ([1, 2, 3, 4, 5], [1, [2, 3, 4]], {"a": 1, "b": [2]}):
        with pytest.raises(NotCanonical):
            words_in(many)


@requirement("S-VALUE-07")
def test_words_are_those_of_the_definition() -> None:
    """As they are written down a second time, for the solver."""
    dice = random.Random(7)
    for _ in range(2_000):
        text = "".join(dice.choice("ab1203 .,;=\"(\n$-+:/#@'") for _ in range(dice.randint(0, 14)))
        assert words_in(text) == words(text), text


def test_an_output_is_compared_with_the_value_of_its_own_call() -> None:
    """And with values that were bound before."""
    own = session("G !(called(get, n = $x) & output >= $x)", mode="observe")
    before = "G(done(ask) & output > $x -> WY !O called(cap, n = $x))"
    earlier = session(before, mode="observe")
    for one, call, output, bad in (
        (own, {"tool": "get", "n": 1}, 2, True),
        (own, {"tool": "get", "n": 3}, 2, False),
        (earlier, {"tool": "ask"}, 7, False),
        (earlier, {"tool": "cap", "n": 5}, 0, False),
        (earlier, {"tool": "ask"}, 4, False),
        (earlier, {"tool": "ask"}, 7, True),
    ):
        told = one.verdicts()["c0"] == "violated"
        do(one, **call, output=output)
        assert (one.verdicts()["c0"] == "violated") is (bad or told)


def test_what_is_open_may_be_a_list() -> None:
    """Obligations are told, whatever their values are."""
    one = session(ANSWERED.replace("open, id", '"open", "*"'))
    assert legal(one, "open", id=[1, {"a": 2}])
    assert one.pending()[0].binding == {"x": {"id": [1, {"a": 2}]}}
    assert hash(one.pending()[0]) is not None


@pytest.mark.parametrize("blank", [" ", "\t", "\n", "\x1f", "  "])
def test_blanks_are_one_where_a_value_comes_from_text(
    made: Callable[..., Session], blank: str
) -> None:
    """However a name is broken into lines, it is the same name."""
    one = made(
        "G((called(pay, to = $x) | called(send, body has $x)) -> WY !O done(flag, who = $x))"
    )
    assert legal(one, "flag", who="bob smith")
    assert not legal(one, "pay", to=f"bob{blank}smith")
    assert legal(one, "pay", to="bobsmith")


@pytest.mark.parametrize("huge", [Decimal("1E+1000000"), Decimal("-1E+5000"), float("inf")])
def test_numbers_of_any_size_are_told_quickly(huge: Any) -> None:
    """They are shown as they are written."""
    refused = do(session(VETTED), "pay", to=huge)
    assert isinstance(refused, Blocked)
    assert len(refused.advice) < 400
    assert len(json.dumps(refused.violations[0].binding)) < 40


def test_a_key_that_stands_twice_hides_nothing() -> None:
    """Of an object in a text, neither value is lost."""
    leak = 'G(called(send, "*" carries $x) -> !Y O(called(read) & output carries $x))'
    one = session(leak)
    assert legal(one, "read", {"pin": "sk-1234"})
    assert not legal(one, "send", body='{"a": "sk-1234", "a": "x"}')


# --- witnesses ------------------------------------------------------------------------------------


@requirement("S-VALUE-02")
def test_a_violation_names_the_value_and_since_when(made: Callable[..., Session]) -> None:
    """Since the call that forbade it; the log has values only if it is asked to."""
    one = made(UNTIL)
    assert legal(one, "other")
    assert legal(one, "freeze", id="bob")
    assert legal(one, "other")
    refused = do(one, "pay", to="bob")
    assert isinstance(refused, Blocked)
    (violation,) = refused.violations
    assert violation.binding == {"x": "bob"}
    assert violation.since == 1
    assert 'for `to` "bob", since call 1' in refused.advice
    assert "bob" not in violation.message


@requirement("S-VALUE-02")
def test_the_log_has_values_only_if_it_is_asked_to() -> None:
    """It must be safe to ship."""
    for asked in (False, True):
        records: list[dict[str, Any]] = []
        guard = Guard([contract("c").guarantees(read(VETTED))], log=records.append, log_args=asked)
        guard.session("s").decide("pay", {"to": "bob"})
        assert ("bob" in json.dumps(records)) is asked


@pytest.mark.parametrize(
    ("formula", "before", "call", "says"),
    [
        (
            'G(called(bash, cmd matches "rm ([a-z]+)" as $x) -> !Y O called(flag, id = $x))',
            ("flag", {"id": "a"}),
            ("bash", {"cmd": "rm b; rm a"}),
            "since call 0",
        ),
        (VETTED, ("other", {}), ("pay", {"to": [1, [1]]}), "first call `vet` with `name = 1`"),
        (VETTED, ("other", {}), ("pay", {"to": "x" * 99}), "for such a value"),
        (
            VETTED.replace("to = $x", 'to = $x, @missing = "refuse"'),
            ("other", {}),
            ("pay", {}),
            "give the fields that the contract reads",
        ),
        (
            "G(called(pay, to = $x) -> Y O(done(find) & output has $x))",
            ("other", {}),
            ("pay", {"to": 7}),
            "first call `find`",
        ),
        (
            "G(called(edit) -> WY !O called(lock, id = $x))",
            ("lock", {"id": 1}),
            ("edit", {}),
            ", since call 0",
        ),
    ],
)
def test_advice_is_about_the_value_that_is_violated(
    formula: str, before: tuple[str, Any], call: tuple[str, Any], says: str
) -> None:
    """It never says that a call is legal which is not."""
    one = session(formula)
    assert legal(one, before[0], **before[1])
    refused = do(one, call[0], **call[1])
    assert isinstance(refused, Blocked)
    assert says in refused.advice
    assert "try again" not in refused.advice


# --- memory ---------------------------------------------------------------------------------------


@pytest.fixture
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clauses remember three values."""
    monkeypatch.setattr("sponsio_like.engine.per_value.VALUES_CAP", 3)


@pytest.mark.usefixtures("_small")
@requirement("S-VALUE-09")
def test_a_permission_may_be_forgotten(made: Callable[..., Session]) -> None:
    """The oldest is: that only refuses more."""
    one = made(VETTED)
    for name in "abcd":
        assert legal(one, "vet", name=name)
    assert not legal(one, "pay", to="a")
    assert all(legal(one, "pay", to=name) for name in "bcd")


@pytest.mark.usefixtures("_small")
@requirement("S-VALUE-09")
def test_a_prohibition_is_never_forgotten(made: Callable[..., Session]) -> None:
    """A call that needs one more entry is refused: memory is full."""
    one = made(UNTIL)
    for name in "abc":
        assert legal(one, "freeze", id=name)
    refused = do(one, "freeze", id="d")
    assert isinstance(refused, Blocked)
    assert "memory is full" in refused.violations[0].message
    assert not any(legal(one, "pay", to=name) for name in "abc")
    assert legal(one, "pay", to="d")
    assert legal(one, "thaw", id="a")
    assert legal(one, "freeze", id="d")
    assert not legal(one, "pay", to="d")


@pytest.mark.usefixtures("_small")
def test_what_makes_a_rule_apply_is_never_forgotten(made: Callable[..., Session]) -> None:
    """An assumption counts for the guarantee, and so against the call."""
    flagged = contract("c").assume({"ltl": "O called(flag, id = $x)"})
    one = Guard([flagged.guarantees(read("G !called(pay, id = $x)"))]).session("s")
    for i in range(6):
        do(one, "flag", id=i)
    assert not any(legal(one, "pay", id=i) for i in range(3))


@pytest.mark.usefixtures("_small")
@requirement("S-VALUE-09")
def test_what_a_count_depends_on_is_never_forgotten() -> None:
    """Whatever has happened may make more calls count, and so forbid some."""
    marked = "called(use, id = $x) & Y O called(mark, id = $x)"
    one = session(f"G(called(use, id = $x) -> count({marked}) <= 1)")
    assert all(legal(one, "mark", id=i) for i in range(3))
    assert not legal(one, "mark", id=3)
    for i in range(3):
        assert legal(one, "use", id=i)
        assert not legal(one, "use", id=i)


@pytest.mark.usefixtures("_small")
def test_an_obligation_is_never_forgotten() -> None:
    """Nor is there room for a fourth until one is met."""
    one = session(ANSWERED)
    for i in (1, 2, 3):
        assert legal(one, "open", id=i)
    assert not legal(one, "open", id=4)
    assert legal(one, "close", id=2)
    assert legal(one, "other")
    assert legal(one, "open", id=4)


@pytest.mark.usefixtures("_small")
@requirement("S-VALUE-10")
def test_in_observe_mode_a_contract_is_blind_once() -> None:
    """It says so at the first value that it cannot remember, and no call is disturbed."""
    one = session(UNTIL, mode="observe")
    told = []
    for name in "abcdef":
        outcome = do(one, "freeze", id=name)
        assert isinstance(outcome, Allowed)
        told += [each.message for each in outcome.observed]
    assert len(told) == 1
    assert "memory is full" in told[0]


@pytest.mark.usefixtures("_small")
def test_a_result_may_fill_the_memory() -> None:
    """What must not be forgotten and could not be kept: from then on nothing is certain."""
    leak = 'G(called(send, "*" carries $x) -> !Y O(called(read) & output carries $x))'
    one = session(leak)
    assert legal(one, "read", "codes X-1001 X-1002 X-1003 X-1004 X-1005")
    refused = do(one, "send", text="hello there")
    assert isinstance(refused, Blocked)
    assert "memory is full" in refused.violations[0].message


@requirement("S-VALUE-11")
def test_values_that_are_as_all_others_take_no_room() -> None:
    """What was frozen and thawed is forgotten; what was answered too."""
    one = session(UNTIL, ANSWERED)
    for i in range(300):
        assert legal(one, "freeze", id=i)
        assert legal(one, "open", id=i)
        assert legal(one, "thaw", id=i)
        assert legal(one, "close", id=i)
    assert legal(one, "other")
    assert [len(store.keys) for store in one._inner.ledger.stores.values()] == [0, 0]


@requirement("S-VALUE-11")
def test_values_in_the_same_state_share_it() -> None:
    """However many there are."""
    one = session(VETTED, UNTIL, ANSWERED)
    for i in range(200):
        assert legal(one, "vet", name=i)
        assert legal(one, "freeze", id=i)
        assert legal(one, "open", id=i)
    assert all(len(store.cells) <= 3 for store in one._inner.ledger.stores.values())


def test_states_that_are_stepped_at_every_call_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is owed within a bound is in another state at each call; there is room for so many."""
    for cap in ("STATES_CAP", "SKIPPED_CAP"):
        monkeypatch.setattr(f"sponsio_like.engine.per_value.{cap}", 4)
    one = session("G(called(open, id = $x) -> X F[<=50] done(close, id = $x))")
    opened = [legal(one, "open", id=i) for i in range(6)]
    assert opened[:3] == [True] * 3
    assert not opened[5]
    assert all(legal(one, "close", id=i) for i in range(6) if opened[i])
    assert legal(one, "other")
    assert legal(one, "open", id=7)


def test_no_call_goes_through_that_has_no_room(
    made: Callable[..., Session], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is refused itself: nothing that must be remembered is lost, whichever way it goes."""
    monkeypatch.setattr("sponsio_like.engine.per_value.STATES_CAP", 4)
    paid = "arg(n) <= last(arg(n), done(charge, id = $o))"
    one = made(f"G(called(refund, id = $o) -> {paid} & O called(ok))")
    assert [legal(one, "charge", id=i, n=i * 10) for i in range(6)] == [True] * 3 + [False] * 3
    assert not one._inner.ledger.stores[0].blind
    assert legal(one, "ok")
    assert legal(one, "refund", id=2, n=20)


def test_an_argument_of_very_many_words_cannot_be_told() -> None:
    """It is refused once there is something that it could carry."""
    leak = 'G(called(send, "*" carries $x) -> !Y O(called(read) & output carries $x))'
    one, long = session(leak), "a " * 21_000
    assert legal(one, "send", body=long)
    assert legal(one, "read", {"pin": "sk-1234"})
    assert legal(one, "send", body="short")
    assert not legal(one, "send", body=long)


def test_related_values_are_fewer() -> None:
    """A contract that compares every value with the present one remembers a thousand."""
    one = session("G(called(bid, price = $new) & O called(ask, price = $old) -> $new >= $old)")
    assert one._inner.ledger.stores[0].cap == instances.RELATED_CAP < instances.VALUES_CAP


@pytest.mark.usefixtures("_small")
def test_a_violation_is_never_forgotten() -> None:
    """The verdict latches, whatever has become of the value."""
    one = session(VETTED, mode="observe")
    do(one, "pay", to="eve")
    for name in "abcdef":
        do(one, "vet", name=name)
    assert one.verdicts()["c0"] == "violated"
    assert len(one._inner.ledger.stores[0].keys) == 3


def test_a_variable_that_is_an_agent_needs_agents() -> None:
    """Where nobody says who calls, the contract would be idle."""
    rule = read("G(called(pay, @agent = $who) -> Y O done(train, name = $who))")
    assert "agents" in inputs_needed(contract("c").guarantees(rule))


def test_what_waits_for_a_result_is_not_dropped() -> None:
    """A scope that begins with a result begins for its value."""
    rule = (
        contract("c").after({"ltl": "done(vet, n = $x)"}).guarantees(read("G !called(pay, n = $x)"))
    )
    one = Guard([rule]).session("s")
    assert legal(one, "pay", n=1)
    assert legal(one, "vet", n=1)
    assert not legal(one, "pay", n=1)


def test_a_variable_that_stands_twice_is_no_field_of_the_call() -> None:
    """Equal parts of a formula are one node, and still stand twice."""
    one = session("G(called(step, id = $x) & ctx(job) = $x -> WX called(step, id = $x))")
    one.fact("job", 7)
    assert legal(one, "step", id=7)
    assert not legal(one, "step", id=8)


def test_values_of_any_shape_beside_a_remembered_one(made: Callable[..., Session]) -> None:
    """A list is not remembered; nothing raises."""
    one = made("G(called(pay, id = $o) -> arg(n) = last(arg(n), done(vet, id = $o)))")
    assert legal(one, "vet", id=1, n=[1, 2])
    refused = do(one, "pay", id=1, n=[1, 2])
    assert isinstance(refused, Blocked)
    assert "could not be evaluated" not in refused.violations[0].message


def test_missing_elements_are_refused_too(made: Callable[..., Session]) -> None:
    """Where a match says `missing: refuse`."""
    one = made('G(called(book, p[].name = $x, @missing = "refuse") -> Y O done(check, n = $x))')
    assert legal(one, "check", n="ann")
    assert legal(one, "book", p=[{"name": "ann"}])
    assert not legal(one, "book", p=[{"name": "ann"}, {}])


def test_outputs_cannot_be_read_where_nobody_settles() -> None:
    """The contract would be idle: the session does not open."""
    rule = read("G(called(use, id = $x) -> Y O(done(make) & output = $x))")
    guard = Guard([contract("made here").guarantees(rule)])
    with pytest.raises(InputMissing, match="contract `made here` reads outputs"):
        guard.session("s", assume_success=True)


# --- snapshots ------------------------------------------------------------------------------------


def test_a_snapshot_keeps_values() -> None:
    """Permissions, prohibitions, obligations, and calls in flight that may reveal more."""
    made = "G(called(use, id = $x) -> Y O(done(make) & output = $x))"
    rules = [
        contract(f"c{i}").guarantees(read(each)) for i, each in enumerate([VETTED, UNTIL, made])
    ]
    guard = Guard(rules)
    one = guard.session("s")
    assert legal(one, "vet", name="bob")
    assert legal(one, "vet", name=2)
    assert legal(one, "freeze", id=2)
    making = one.decide("make", {})
    data = json.loads(json.dumps(one.snapshot()))
    other = guard.restore(data)
    other.settle(making.id, output="new")
    assert legal(other, "pay", to="bob")
    assert not legal(other, "pay", to=2)
    assert not legal(other, "pay", to="eve")
    assert legal(other, "use", id="new")
    assert not legal(other, "use", id="old")
    refused = do(other, "pay", to=2)
    assert isinstance(refused, Blocked)
    assert refused.violations[0].since == 2
    assert not legal(one, "use", id="new")


# --- recorded traces ------------------------------------------------------------------------------


HAPPENED = [
    {"tool": "vet", "args": {"name": "bob"}},
    {"tool": "freeze", "args": {"id": "bob"}},
    {"tool": "open", "args": {"id": 7}},
    {"tool": "pay", "args": {"to": "bob"}},
    {"tool": "pay", "args": {"to": "eve"}},
    {"tool": "open", "args": {"id": 8}},
    {"tool": "close", "args": {"id": 8}},
]


@requirement("S-VALUE-13")
def test_a_trace_tells_why_it_breaks_contracts() -> None:
    """The call that violates, what forbade it, what never happened, who asks for what is open."""
    texts = enumerate((UNTIL, VETTED, ANSWERED))
    rules = [contract(f"c{i}").guarantees(read(text)) for i, text in texts]
    found = explained(Replay(rules), trace_of({"id": "t", "events": HAPPENED}))
    told = {
        (each.contract, each.told.call, dict(each.values)["x"]): {
            (reason.what, reason.call) for reason in each.told.reasons
        }
        for each in found
    }
    assert told == {
        ("c0", 3, "bob"): {("violates", 3), ("forbids", 1)},
        ("c1", 4, "eve"): {("violates", 4), ("missing", None)},
        ("c2", 2, 7): {("asks", 2)},
    }
    assert [each.told.open for each in found] == [True, False, False]


# --- what is refused at load ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("formula", "why"),
    [
        ("G(called(b) -> O called(a, id = $x))", "never occurs would violate"),
        ("G(called(a, n < $x) -> Y O called(b, n < $x))", "nothing binds"),
        ("G(called(a, i = $x, j = $y) -> Y O called(b, i = $x))", "binds only some"),
        ("G(called(a, n = $x) -> !O called(b, n < $x))", "nothing has bound yet"),
        ("G !(called(get, to >= $x) & output = $x)", "may not be bound by then"),
        ("G !called(get, n[].a = $x, n[].b = $y)", "combine all with all"),
        (
            "G(called(a, id = $x) -> repeats(called(a, id = $x)) <= 2)",
            "cannot have a value variable",
        ),
        (
            "G(called(a, id = $x) -> last(arg(id), called(b)) = $x)",
            r"compared with a value of an earlier call; write `arg\(FIELD\)` for it",
        ),
    ],
)
@requirement("S-VALUE-12")
def test_variables_that_cannot_be_followed_are_refused(formula: str, why: str) -> None:
    """A rule that looks armed and is not does not load."""
    with pytest.raises(ContractError, match=why):
        session(formula)


def test_a_contract_that_is_split_by_fields_has_no_variables() -> None:
    """One of the two says it all."""
    rule = Rule(read(VETTED), by=("to",))
    with pytest.raises(ContractError, match="split by fields"):
        Guard([Contract("c", (rule,))])
