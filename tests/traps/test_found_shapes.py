"""What is there in another shape is read, or violates: lists, objects, JSON text, blanks, numbers.

What cannot be told is never taken for what is missing.
"""

from __future__ import annotations

from typing import Any

import pytest

from sponsio_like.patterns import absent, arg_blacklist, idempotent, precedence, until, value_from
from tests.semantics.manifest import requirement
from tests.traps.test_found_cut import played

VET = {"tool": "vet", "args": {"name": "$w"}}
VETTED = precedence({"tool": "pay", "args": {"customer.id": "$w"}}, VET)
SHAPES: list[Any] = [
    {"id": "evil"},
    [{"id": "evil"}],
    [[{"id": "evil"}]],
    '{"id":"evil"}',
    "evil",
    7,
    {"id": ["evil"]},
    {"id": {"x": "evil"}},
    [{"id": "bob"}, {"id": "evil"}],
    {"id": ["bob", "evil"]},
]


@requirement("S-VALUE-04")
@pytest.mark.parametrize("customer", SHAPES, ids=repr)
def test_a_bound_field_in_another_shape_is_not_missing(customer: Any) -> None:
    """A list, an object, JSON text: what the field is, is found there, or it violates."""
    calls = [("vet", {"name": "bob"}), ("pay", {"customer": customer})]
    assert played(VETTED, *calls) == "AB"
    rule = value_from("pay", "customer.id", "find")
    assert played(rule, ("find", {}, "bob"), ("pay", {"customer": customer})) == "AB"
    lock = {"tool": "lock", "args": {"id": "$w"}}
    rule = until(lock, {"tool": "pay", "args": {"customer.id": "$w"}})
    assert played(rule, ("lock", {"id": "evil"}), ("pay", {"customer": customer})) == "AB"


@pytest.mark.parametrize("customer", [{"id": "bob"}, [{"id": "bob"}], {"id": ["bob", "bob"]}])
def test_lists_that_agree_are_one_value(customer: Any) -> None:
    """A list of which all elements say the same is as good as the value itself."""
    calls = [("vet", {"name": "bob"}), ("pay", {"customer": customer})]
    assert played(VETTED, *calls) == "AA"


def test_what_is_expected_to_be_a_list_and_is_an_object() -> None:
    """A blacklist reads an object where the path expects a list; a condition cannot tell."""
    args = {"items": {"sku": "evil"}}
    assert played(arg_blacklist("pay", "items[].sku", ["evil"]), ("pay", args)) == "B"
    assert played(absent({"tool": "pay", "args": {"items[].sku": "evil"}}), ("pay", args)) == "B"


@requirement("S-VALUE-16")
def test_only_values_that_agree_vouch() -> None:
    """A call or an answer with several values, where one was meant, allows none of them."""
    rule = precedence({"tool": "pay", "args": {"to": "$w"}}, VET)
    two = [("vet", {"name": ["bob", "evil"]}), ("pay", {"to": "evil"})]
    assert played(rule, *two) == "AB"
    found = {"tool": "find", "output": {"path": "id", "bind": "$w"}}
    rule = precedence({"tool": "pay", "args": {"to": "$w"}}, found)
    assert (
        played(rule, ("find", {}, [{"id": "bob"}, {"id": "evil"}]), ("pay", {"to": "evil"})) == "AB"
    )
    assert played(rule, ("find", {}, [{"id": "bob"}]), ("pay", {"to": "bob"})) == "AA"


SHADOW = {"customer": {"id": "evil"}, "customer.id": "c1"}


@requirement("S-ATOM-04")
def test_a_key_that_spells_the_path_vouches_for_nothing() -> None:
    """Two values for one path have to agree: conditions, what is required, what is bound."""
    allowed = {"ltl": 'G(called(pay) -> called(pay, customer.id in ["c1"]))'}
    assert played(allowed, ("pay", SHADOW)) == "B"
    assert played(allowed, ("pay", {"customer": {"id": "c1"}, "customer.id": "c1"})) == "A"
    rule = precedence(
        {"tool": "pay", "args": {"to": "$x"}}, {"tool": "vet", "args": {"who.id": "$x"}}
    )
    both = {"who": {"id": "bob"}, "who.id": "evil"}
    assert played(rule, ("vet", both), ("pay", {"to": "evil"})) == "AB"
    assert played(rule, ("vet", both), ("pay", {"to": "bob"})) == "AB"


MALLORY = absent({"tool": "send", "args": {"to": "mallory"}})


@requirement("S-CMP-09")
@pytest.mark.parametrize(
    "to",
    [["mallory"], {"name": "mallory"}, "mallory ", [["mallory"]], ["ann", "mallory"], "\tmallory"],
    ids=repr,
)
def test_a_value_in_disguise_is_not_let_through(to: Any) -> None:
    """A list, an object, blanks around: what may be the forbidden value violates."""
    assert played(MALLORY, ("send", {"to": to})) == "B"
    assert played({"ltl": 'G(called(send) -> arg(to) != "mallory")'}, ("send", {"to": to})) == "B"
    only = {"ltl": 'G(called(send) -> called(send, to in ["ann", "bob"]))'}
    assert played(only, ("send", {"to": to})) == "B"


@pytest.mark.parametrize("to", ["ann", ["ann"], ["ann", "bob"], None, [], "mallory2", 7])
def test_other_values_are_let_through(to: Any) -> None:
    """What is certainly not the forbidden value is none."""
    assert played(MALLORY, ("send", {"to": to})) == "A"


@requirement("S-CMP-09")
def test_scalars_that_read_the_same_cannot_be_told_apart() -> None:
    """`"5"` and 5, `"true"` and true: a tool may take one for the other."""
    for value, other in ((5, "5"), (5, " 5.0 "), ("5", 5), (True, "true"), ("a", "a ")):
        literal = {"tool": "t", "args": {"n": {"in": [other]}}}
        assert played(absent(literal), ("t", {"n": value})) == "B", (value, other)
        required = {"ltl": f"G(called(t) -> !called(t, n != {_text(other)}))"}
        assert played(required, ("t", {"n": value})) == "B", (value, other)
    unequal: list[Any] = [(5, "6"), (True, 1), ("a", "A"), ("5 0", 50), (None, "x")]
    for value, other in unequal:
        literal = {"tool": "t", "args": {"n": {"in": [other]}}}
        assert played(absent(literal), ("t", {"n": value})) == "A", (value, other)


def _text(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value).lower()


@requirement("S-CMP-04")
def test_what_an_allowlist_cannot_read_is_neither_allowed_nor_not() -> None:
    """A list with a number in it is no list of texts, whatever else stands there."""
    for sign in ("", "!"):
        rule = {"ltl": f'G(called(t) -> {sign}"arg_allowed"("n", "a"))'}
        for value, said in (("a", "AB"), ("b", "BA"), (["a", 5], "BB"), (["b", 5], "BB")):
            assert played(rule, ("t", {"n": value})) == said[sign == "!"], (sign, value)


SAID = {"tool": "*", "output": {"matches": "<INFORMATION>"}}
INJECTED = until(SAID, "send")


@requirement("S-VALUE-17")
@pytest.mark.parametrize(
    "answer", [{"balance": 17}, None, 17, [1, 2], [], {}, "fine", {"a": ["fine", {"b": None}]}]
)
def test_an_answer_without_the_text_does_not_match(answer: Any) -> None:
    """Data without any text has not said what a regular expression looks for."""
    assert played(INJECTED, ("get", {}, answer), ("send", {})) == "AA"


@requirement("S-VALUE-17")
@pytest.mark.parametrize(
    "answer",
    ["<INFORMATION>", {"a": {"b": "x <INFORMATION>"}}, [1, ["<INFORMATION>"]], {"a": "x" * 70_000}],
    ids=["text", "object", "list", "too long"],
)
def test_texts_inside_answers_are_searched(answer: Any) -> None:
    """Texts in objects and lists are looked into; one that is too long may have it."""
    assert played(INJECTED, ("get", {}, answer), ("send", {})) == "AB"


@requirement("S-VALUE-17")
@pytest.mark.parametrize("answer", [{"balance": 17}, None, "not found", 17, [], {"in": None}])
def test_a_path_that_an_answer_lacks_does_not_match(answer: Any) -> None:
    """Neither conditions nor bindings of a path meet an answer that does not have it."""
    for output in ({"path": "in.code", "matches": "x"}, {"path": "in.code", "in": ["x"]}):
        rule = until({"tool": "get", "output": output}, "send")
        assert played(rule, ("get", {}, answer), ("send", {})) == "AA"
    bound = {"tool": "get", "output": {"path": "in.code", "bind": "$x"}}
    rule = until(bound, {"tool": "send", "args": {"b": "$x"}})
    assert played(rule, ("get", {}, answer), ("send", {"b": "s"})) == "AA"
    inner = {"in": '{"code": "s"}'}
    assert played(rule, ("get", {}, inner), ("send", {"b": "s"})) == "AB"


@requirement("S-CMP-04")
@pytest.mark.parametrize("text", ["[" * 200_000, " {" + " " * 4_000_000], ids=["deep", "long"])
def test_json_text_of_an_answer_that_cannot_be_read_is_not_missing(text: str) -> None:
    """Too deep, or too long: what stands at the path cannot be told, and is no null."""
    for condition in ("output.code != 1", "output.code = null", "output.code matches 'x'"):
        rule = {"ltl": f"G(called(send) -> O(done(get) & {condition}))"}
        assert played(rule, ("get", {}, text), ("send", {})) == "AB", condition
        never = {"ltl": f"G(called(send) -> !O(done(get) & {condition}))"}
        assert played(never, ("get", {}, text), ("send", {})) == "AB", condition


@requirement("S-CMP-08")
def test_what_an_answer_lacks_is_no_null() -> None:
    """Only a null that stands there is equal to null: a plain text or a number has no fields."""
    null = {"ltl": "G(called(send) -> O(done(get) & output.code = null))"}
    assert played(null, ("get", {}, {"code": None}), ("send", {})) == "AA"
    answers: tuple[Any, ...] = ("plain", "{", 17, {}, None)
    for answer in answers:
        assert played(null, ("get", {}, answer), ("send", {})) == "AB", answer


BAGS = until(
    {"tool": "get", "output": {"matches": r'"bags": ([\de]+)', "bind": "$had"}},
    {"tool": "set", "args": {"bags": {"lt": "$had"}}},
)


@requirement("S-VALUE-18")
@pytest.mark.parametrize(
    ("had", "bags", "said"),
    [
        *((10, 9, "AB"), (9, 10, "AA"), (9, 9, "AA"), (10, "9", "AB"), (9, "n/a", "AB")),
        *((9, 9.5, "AA"), ("1e1", 9, "AB"), ("1e1", 11, "AA")),
        *(("1e", 9, "AB"), ("1e", "2e", "AA"), ("2e", "1e", "AB")),
    ],
)
def test_a_captured_number_compares_as_a_number(had: Any, bags: Any, said: str) -> None:
    """9 is less than 10, and than 1e1; a text is compared with texts, and not with numbers."""
    assert played(BAGS, ("get", {}, f'{{"bags": {had}}}'), ("set", {"bags": bags})) == said


@requirement("S-CMP-10")
def test_texts_that_cannot_be_composed_are_not_unequal() -> None:
    """Beyond 30 marks in a row, or a million characters, two texts cannot be told to differ."""
    for heap in ("\u0301" * 31, "\u00e9" * 1_100_000):
        first, second = heap + "\u00e9", heap + "e\u0301"
        calls = [("t", {"f": first}), ("t", {"f": second})]
        assert played(idempotent("t", by=["f"]), *calls)[-1] == "B"
        assert played({"ltl": 'G !called(t, f = "x")'}, ("t", {"f": first})) == "B"
    long = "\u00e9" * 100_000
    calls = [("t", {"f": long}), ("t", {"f": "e\u0301" * 100_000})]
    assert played(idempotent("t", by=["f"]), *calls) == "AB"
