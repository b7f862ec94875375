"""How atoms and terms are read at one event: what is true, what is false, what cannot be told."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

import pytest

import sponsio_like.logic.formula as f
from sponsio_like.errors import ContractError, SessionError
from sponsio_like.event_types import Call, Event, Message, Result, Step
from sponsio_like.events import registry, relations
from sponsio_like.events.argument_atoms import arg_allowed
from sponsio_like.events.atoms import (
    MISSING,
    OPEN,
    concerns,
    inputs_of,
    kinds_of,
    names_tool,
    reader,
    settled_value,
    value_reader,
)
from sponsio_like.events.condition_tests import comparison_test
from sponsio_like.events.context import Context, check_fact, names, tokens_of
from sponsio_like.events.relations import compare, number, regex, same
from sponsio_like.monitor.program import Slot
from sponsio_like.monitor.slots import KEY_CAP, slot_reader, split_key
from sponsio_like.syntax import read
from sponsio_like.values.canonical_form import NotCanonical
from sponsio_like.values.frozen import UNREADABLE, freeze_members
from sponsio_like.values.limits import TEXT_CAP
from sponsio_like.values.places import ABSENT, find, path_parts, reach
from tests.semantics.manifest import SEMANTICS
from tests.support.formulas import LEAVES

BOB = Call("a", {"x": 1, "y": 2, "s": "abc", "l": [1, "q"]}, "id", "bob", 2)
EVE = Call("b", {"x": 5}, "id", "eve", 0)
SAID = Message("user", "hello")
TICK = Step(frozenset({"tick"}))
CONTEXT = Context().told("permissions", {"bob": ["pay"]}, 1.0).told("k", 1, 2.0).told("e", [], 3.0)


def answer(text: str, event: Event) -> Any:
    """What an atom is worth at an event; `None` if that cannot be told."""
    atom = read(text)
    return reader(atom)(event, CONTEXT)


READ = [
    # atom, at a call of a by bob, of b by eve, at a message, at a step
    ("called(a)", True, False, False, False),
    ("called(*)", True, True, False, False),
    ('called("a*")', True, False, False, False),
    ("called([a, b])", True, True, False, False),
    ("called(a, x = 1)", True, False, False, False),
    ("called(a, x = 2)", False, False, False, False),
    ("called(a, zz = 2)", False, False, False, False),
    ("called(*, y = 2)", True, False, False, False),
    ("called(*, @agent = bob)", True, False, False, False),
    ("called(a, l[] < 2)", True, False, False, False),
    ("called(a, l[] < 1)", None, False, False, False),
    ("done(a)", OPEN, False, False, False),
    ("failed(*)", OPEN, OPEN, False, False),
    ("output = 1", OPEN, OPEN, False, False),
    ("agent = bob", True, False, False, False),
    ("message(user)", False, False, True, False),
    ("message(*)", False, False, True, False),
    ("message(assistant)", False, False, False, False),
    ('text matches "ell"', False, False, True, False),
    ("step(tick)", False, False, False, True),
    ("step(tock)", False, False, False, False),
    ("permission(pay)", True, False, False, False),
    ("permission(steal)", False, False, False, False),
    ("approved(pay, boss)", False, False, False, False),
    ("ctx(k) = 1", True, True, True, True),
    ("ctx(nothing) = 1", None, None, None, None),
    ("arg(x) = 1", True, False, None, None),
    ("arg(x) < arg(y)", True, False, None, None),
    ("arg(y) > arg(x)", True, False, None, None),
    ("arg(y) in ctx(e)", False, False, None, None),
    ("arg(x) < arg(s)", None, False, None, None),
    ("depth() <= 1", False, True, None, None),
    ("tokens() <= 1", True, True, True, True),
]


@pytest.mark.parametrize(("text", "bob", "eve", "said", "tick"), READ)
def test_an_atom_is_read_at_every_kind_of_event(
    text: str, bob: Any, eve: Any, said: Any, tick: Any
) -> None:
    """True or false where it speaks of the event, and unknown where nothing can be compared."""
    assert [answer(text, event) for event in (BOB, EVE, SAID, TICK)] == [bob, eve, said, tick]


def test_an_atom_of_the_user_is_asked_about_its_kind_of_event(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One that waits is open at calls; others are asked at once; elsewhere they are false."""
    monkeypatch.setattr(registry, "CUSTOM", dict(registry.CUSTOM))
    registry.atom("odd")(lambda event, context: event.args["x"] % 2 == 1)
    registry.atom("worked", waits=True)(lambda tool, result: result.status == "ok")
    events = (BOB, Call("a", {"x": 2}), SAID, TICK)
    assert [answer("odd()", event) for event in events] == [True, False, False, False]
    assert [answer("worked()", event) for event in events] == [OPEN, OPEN, False, False]
    assert settled_value(read("worked()"), Result("ok", 1), "a") is True
    assert settled_value(read("worked()"), Result("error", 1), "a") is False


NAMED = [
    (f.Match(("a",)), True, False),
    (f.Match((), ("a*",)), True, False),
    (f.Match((), ("?",)), True, True),
    (f.Match(("b",), ("a*",)), True, True),
    (f.Match(), True, True),
]


@pytest.mark.parametrize(("match", "a", "b"), NAMED)
def test_a_match_names_tools_or_all(match: f.Match, a: bool, b: bool) -> None:
    """By name, by glob, and every tool if it has neither."""
    assert (names_tool(match, "a"), names_tool(match, "b")) == (a, b)
    ask = concerns((match,))
    assert (ask(BOB), ask(EVE)) == (a, b)


def test_a_target_is_any_of_its_alternatives() -> None:
    """With and without conditions mixed; one that is known to hold decides."""
    conditioned = f.Match(("b",), (), (f.Condition("x", "=", 6),))
    assert concerns((f.Match(("a",)), conditioned))(BOB) is True
    assert concerns((f.Match(("a",)), conditioned))(EVE) is False
    unknown = f.Match((), (), (f.Condition("x.id", "=", 6),))
    assert concerns((unknown,))(EVE) is None
    assert concerns((unknown, f.Match(("a",))))(BOB) is True
    assert concerns((unknown, conditioned))(EVE) is None
    several = f.Match((), (), (f.Condition("x.id", "=", 6), f.Condition("x", "=", 6)))
    assert concerns((several,))(EVE) is False
    by = f.Match((), (), (), "bob")
    assert (concerns((by,))(BOB), concerns((by,))(EVE)) == (True, False)
    globbed = f.Match(("b",), ("a*",), (f.Condition("x", "<", 9),))
    assert (concerns((globbed,))(BOB), concerns((globbed,))(EVE)) == (True, True)
    assert concerns((globbed,))(Call("c", {"x": 1})) is False
    assert concerns((f.Match((), ("a*",)),))(EVE) is False


SETTLED = [
    ("done(a)", Result("ok", 1), True),
    ("done(a)", Result("error", 1), False),
    ("failed(a)", Result("ok", 1), False),
    ("failed(a)", Result("error", 1), True),
    ("output = 1", Result("ok", 1), True),
    ("output = 1", Result("ok", 2), False),
    ("output.x = 1", Result("ok", {"x": 1}), True),
    ("output.x = 1", Result("ok", {}), False),
    ("output.x = 1", Result("ok", {"x": {"y": 1}}), None),
    ("output < 1", Result("ok", "x"), None),
]


@pytest.mark.parametrize(("text", "result", "expected"), SETTLED)
def test_a_result_tells_what_was_open(text: str, result: Result, expected: bool | None) -> None:
    """A status by how the call ended, an output by what is in it."""
    assert settled_value(read(text), result, "a") is expected


KINDS = [
    ("called(a)", "call"),
    ("output = 1", "call"),
    ("message(user)", "message"),
    ('text matches "x"', "message"),
    ("step(p)", "step"),
    ("ctx(k) = 1", ""),
    ("arg(x) < ctx(k)", "call"),
    ("ctx(k) < arg(x)", "call"),
    ("approved(a, b)", ""),
    ("permission(p)", "call"),
    ("depth() < 1", "call"),
    ("tokens() < 1", ""),
    ("mark(x) = mark(y)", "call"),
    ("agent = bob", "call"),
    ("text has $x", "message"),
    ("arg(x) = $x", "call"),
    ("sum(a, x) < 1", "call"),
    ("repeats(a) < 1", "call"),
    ("denied(a) < 1", ""),
    ("denied(a, call) < 1", "call"),
    ("delivered(a) < 1", ""),
    ("fact_age(k) < 1", ""),
    ("approval_age(a, b) < 1", ""),
    ('arg_missing("x")', "call"),
    ("true", ""),
]


def test_of_every_atom_it_is_said_of_which_positions_it_speaks() -> None:
    """A new atom or term stands in the table; `output(..)` is read at earlier calls alone."""
    said = {type(node) for text, _ in KINDS for node in f.postorder(read(text))}
    assert LEAVES - said == {f.Output}


@pytest.mark.parametrize(("text", "kinds"), KINDS)
def test_an_atom_speaks_of_kinds_of_positions(text: str, kinds: str) -> None:
    """A comparison of both its sides; the context of none."""
    assert " ".join(sorted(kinds_of(read(text)))) == kinds


@pytest.mark.parametrize("text", [text for text, _ in KINDS])
def test_the_inputs_of_an_atom_are_on_the_page_about_meaning(text: str) -> None:
    """The table of inputs names the atom or term in the row of each input that it needs."""
    page = SEMANTICS.read_text("utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", page, re.MULTILINE))
    needs = {each for node in f.postorder(read(text)) for each in inputs_of(node)}
    words = [f"`{word}" for word in re.findall(r"[a-z_]+", text)]
    assert {each for each in needs if not any(word in rows[each] for word in words)} == set()


def test_an_atom_needs_inputs() -> None:
    """What a session must deliver so that the atom can be told."""
    assert inputs_of(read("called(a)")) == frozenset()
    assert inputs_of(read("done(a, @agent = bob)")) == {"results", "agents"}
    assert inputs_of(read("output = 1")) == {"results"}
    assert inputs_of(f.Delivered((f.Match(("a",)),))) == {"results"}


# --- slots ----------------------------------------------------------------------------------------


def test_what_cannot_be_told_takes_its_default() -> None:
    """The answer that violates; one that waits for the result stays open instead."""
    atom = read("called(a, x.id = 2)")
    for default in (True, False):
        assert slot_reader(Slot("atom", atom, default))(BOB, CONTEXT) is default
    waiting = read("done(a, x.id = 2)")
    assert slot_reader(Slot("atom", waiting, True, waits=True))(BOB, CONTEXT) is OPEN
    assert slot_reader(Slot("atom", waiting, False, waits=True))(BOB, CONTEXT) is False
    assert slot_reader(Slot("atom", waiting, False, waits=True))(EVE, CONTEXT) is False


def test_an_amount_is_the_exact_sum_of_what_stands_at_the_path() -> None:
    """Zero at other calls and events; missing if any part is missing or no number."""
    amount = slot_reader(Slot("amount", f.Sum((f.Match(("a",)),), "x")))
    assert amount(Call("a", {"x": 0.1}), CONTEXT) == Decimal("0.1")
    assert amount(EVE, CONTEXT) == Decimal(0)
    assert amount(SAID, CONTEXT) == Decimal(0)
    assert amount(TICK, CONTEXT) == Decimal(0)
    assert amount(Call("a", {"x": "1"}), CONTEXT) is MISSING
    assert amount(Call("a", {}), CONTEXT) is MISSING
    many = slot_reader(Slot("amount", f.Sum((f.Match(("a",)),), "x[]")))
    assert many(Call("a", {"x": [0.1, 0.2]}), CONTEXT) == Decimal("0.3")
    assert many(Call("a", {"x": [0.1, None]}), CONTEXT) is MISSING
    unsure = slot_reader(
        Slot("amount", f.Sum((f.Match((), (), (f.Condition("x.id", "=", 1),)),), "x"))
    )
    assert unsure(BOB, CONTEXT) == Decimal(1)


def test_a_key_tells_calls_apart() -> None:
    """Equal calls have equal keys; there is none for other calls and events."""
    target = (f.Match(("a",)),)
    equal = slot_reader(Slot("key", f.Repeats(target, "equal")))
    assert equal(Call("a", {"x": 1, "y": 2}), CONTEXT) == equal(
        Call("a", {"y": 2, "x": 1}), CONTEXT
    )
    assert equal(Call("a", {"x": 1}), CONTEXT) != equal(Call("a", {"x": 2}), CONTEXT)
    assert equal(EVE, CONTEXT) is None
    assert equal(SAID, CONTEXT) is None
    deep: list[Any] = []
    deep.append(deep)
    fuzzy = slot_reader(Slot("key", f.Repeats(target, "fuzzy")))
    assert fuzzy(Call("a", {"x": "One TWO"}), CONTEXT) == fuzzy(
        Call("a", {"x": "one two"}), CONTEXT
    )
    assert fuzzy(EVE, CONTEXT) is None


def test_the_values_that_split_a_clause_are_one_at_each_path() -> None:
    """A missing or a hidden second value gives no key; a list does if the path asks for it."""
    assert split_key(BOB, ("x", "y")) == split_key(Call("c", {"y": 2, "x": 1}), ("x", "y"))
    assert split_key(BOB, ("x",)) != split_key(EVE, ("x",))
    assert split_key(BOB, ("@agent",)) != split_key(EVE, ("@agent",))
    assert split_key(BOB, ("zz",)) is None
    assert split_key(BOB, ("x", "zz")) is None
    nested = Call("a", {"o.id": 1, "o": {"id": 2}})
    assert split_key(nested, ("o.id",)) is None
    assert split_key(Call("a", {"l": [1, 2]}), ("l[]",)) is not None
    assert split_key(Call("a", {"l": [1, 2]}), ("l[]",)) != split_key(
        Call("a", {"l": [2, 1]}), ("l[]",)
    )
    assert split_key(BOB, ("*",)) == split_key(Call("z", dict(BOB.args)), ("*",))


def test_a_long_key_is_kept_as_a_hash() -> None:
    """A key is kept for the whole session, so it is short; different values stay different."""
    short, long, other = ("x" * n for n in (KEY_CAP, KEY_CAP + 1, 10_000))
    keys = [split_key(Call("a", {"x": text}), ("x",)) for text in (short, long, other, long + "y")]
    assert len({*keys}) == 4
    assert "x" * KEY_CAP in repr(keys[0])
    assert all("x" * 9 not in repr(key) and "hash" in repr(key) for key in keys[1:])


# --- terms ----------------------------------------------------------------------------------------


def value(term: f.Term, event: Event, context: Context = CONTEXT) -> Any:
    """The value of a stateless term at an event."""
    return value_reader(term)(event, context)


def test_a_term_has_a_value_where_it_speaks_of_the_event() -> None:
    """Arguments, marks and depth belong to calls; facts and tokens are there always."""
    assert [value(f.Arg("x"), e) for e in (BOB, EVE, SAID)] == [1, 5, MISSING]
    assert value(f.Arg("l[]"), BOB) is MISSING
    assert value(f.Arg("zz"), BOB) is ABSENT
    assert value(f.Arg("x.id"), BOB) is MISSING
    assert [value(f.Depth(), e) for e in (BOB, SAID)] == [2, MISSING]
    assert [value(f.Const(3), e) for e in (BOB, SAID)] == [3, 3]
    assert [value(f.Ctx(k), SAID) for k in ("k", "zz")] == [1, MISSING]
    assert [value(f.FactAge(k), SAID) for k in ("k", "zz")] == [2.0, MISSING]
    assert value(f.Tokens(), SAID, CONTEXT.used(5).used(7)) == 12
    source = f.Delivered((f.Match(("a",)),))
    assert value(source, SAID) == 0
    assert value(source, SAID, CONTEXT.arrived([source]).arrived([source])) == 2
    assert CONTEXT.arrived([]) is CONTEXT
    assert value(f.Mark("x"), BOB) == value(f.Mark("x"), Call("z", {"x": 1}))
    assert value(f.Mark("x"), BOB) != value(f.Mark("y"), BOB)
    assert value(f.Mark("*"), BOB) == value(f.Mark("*"), Call("z", dict(BOB.args)))
    assert value(f.Mark("*"), BOB) != value(f.Mark("x"), BOB)
    assert value(f.Mark("x"), SAID) is MISSING
    assert value(f.Mark("x"), Call("a", {"x": object()})) is MISSING


def approval(**more: Any) -> dict[str, Any]:
    """An approval of `pay` by a boss."""
    return {"action": "pay", "role": "boss", "decision": "approve", "by": "ann", **more}


def test_an_approval_stands_until_it_is_revoked_or_replaced() -> None:
    """By action, role and person; the latest that stands tells its age."""
    first = Context().told("approval", approval(), 3.0)
    assert first.approved("pay", "boss")
    assert not first.approved("pay", "clerk")
    assert not first.approved("pray", "boss")
    assert first.approved_at("pay", "boss", None) == 3.0
    assert first.approved_at("pay", "clerk", "never") == "never"
    second = first.told("approval", approval(by="bob", time=9.0), 5.0)
    assert second.approved_at("pay", "boss", None) == 9.0
    assert second.told("approval", approval(by="bob", revoked=True), 10.0).approved("pay", "boss")
    gone = first.told("approval", approval(revoked=True), 6.0)
    assert not gone.approved("pay", "boss")
    assert gone.approved_at("pay", "boss", "never") == "never"
    assert not first.told("approval", approval(decision="deny"), 6.0).approved("pay", "boss")
    assert value(f.ApprovalAge("pay", "boss"), SAID, second) == 9.0
    assert value(f.ApprovalAge("pay", "boss"), SAID, gone) is MISSING


def test_what_the_host_tells_is_checked() -> None:
    """Tokens are a whole number from 0, steps a list of names, times a moment."""
    assert [tokens_of(each) for each in (0, 7, {"total_tokens": 0}, {}, None)] == [0, 7, 0, 0, 0]
    for wrong in (-1, True, 1.5, "7", {"total_tokens": -1}, {"total_tokens": "7"}):
        with pytest.raises(SessionError, match="is no number of tokens"):
            tokens_of(wrong)
    assert names(["a", "b"]) == names(("b", "a")) == frozenset({"a", "b"})
    for nothing in ("ab", [1], [["a"]], None, {"a": 1}):
        with pytest.raises(SessionError, match="is no list of names"):
            names(nothing)
    for time in (12, 12.0, "1970-01-01T00:00:12+00:00"):
        assert check_fact("approval", approval(time=time))["time"] == 12.0
    for never in ("soon", True, float("nan"), float("inf"), None, [1]):
        with pytest.raises(SessionError, match="is no time"):
            check_fact("approval", approval(time=never))
    assert check_fact("permissions", ["a"]) == ["a"]
    for unclear in (
        ("permissions", "a"),
        ("approval", {"action": "pay"}),
        ("approval", "yes"),
        (3, 4),
    ):
        with pytest.raises(SessionError):
            check_fact(*unclear)


def test_permissions_are_a_list_for_all_or_one_for_each_agent() -> None:
    """Any other agent has none; what is no list gives none."""
    everyone = Context().told("permissions", ["pay"], 0.0)
    assert everyone.permits("bob", "pay")
    assert not everyone.permits("bob", "steal")
    assert CONTEXT.permits("bob", "pay")
    assert not CONTEXT.permits("eve", "pay")
    assert not Context().told("permissions", {"bob": "pay"}, 0.0).permits("bob", "pay")
    assert not Context().permits("bob", "pay")


# --- values ---------------------------------------------------------------------------------------


def test_a_path_leads_through_objects_and_lists() -> None:
    """Empty parts say nothing; a key that is the whole path is found as well."""
    assert path_parts("a.b[].c") == ("a", "b", "[]", "c")
    assert path_parts("[].x") == ("[]", "x")
    assert path_parts("a..b") == ("a", "b")
    assert find({"a": {"b": [{"c": 1}, {"c": 2}, {}, 3]}}, "a.b[].c") == [1, 2]
    assert find({"a": {"b": 1}, "a.b": 2}, "a.b") == [2, 1]
    assert find({"a": 1}, "a") == [1]
    assert find([{"x": 1}], "[].x") == [1]
    assert find({"a": "text"}, "a[]") == []
    assert find({}, "a") == []


REACHED = [
    ({"a": 1}, "a", [1], False),
    ({"a": 1}, "b", [], True),
    ({}, "a", [], True),
    ({"a": 1, "b": 2}, "*", [1, 2], False),
    ({}, "*", [], True),
    ("text", "a", ["text"], False),
    ({"a": {"b": 1}}, "a.b", [1], False),
    ({"a": {"b": 1}}, "a.c", [], True),
    ({"a.b": 2}, "a.b", [2], False),
    ({"a": {"b": 1}, "a.b": 2}, "a.b", [2, 1], False),
    ({"a": {"c": 1}, "a.b": 2}, "a.b", [2], False),
    ({"a": "text"}, "a.b", ["text"], True),
    ({"a": [1, 2]}, "a[]", [1, 2], False),
    ({"a": []}, "a[]", [], True),
    ({"a": "text"}, "a[]", ["text"], True),
    ({"a": {"b": 1}}, "a[]", [{"b": 1}], True),
    ({"a": [{"b": 1}, {"b": 2}]}, "a[].b", [1, 2], False),
    ({"a": [{"b": 1}, {}]}, "a[].b", [1], True),
    ({"a": [{"b": 1}, "x"]}, "a[].b", [1, "x"], True),
]


@pytest.mark.parametrize(("args", "path", "found", "lacking"), REACHED)
def test_what_must_not_be_in_a_field_is_found_in_any_shape(
    args: Any, path: str, found: list[Any], lacking: bool
) -> None:
    """A value of another shape than the path says is found as it is, and something is missing."""
    assert reach(args, path) == (found, lacking)


def test_a_text_is_searched_as_it_is_and_composed() -> None:
    """Half a character is no text; plain text is searched once."""
    composed, apart = "caf\u00e9", "cafe\u0301"
    assert regex("\u00e9$")(composed)
    assert regex("\u00e9$")(apart)
    assert regex("e\u0301$")(apart)
    assert not regex("x")(apart)
    assert not regex("x")(composed)
    assert regex("caf")("a cafe")
    assert not regex("x")("a cafe")
    for text in ("half \ud800", "\udfff"):
        with pytest.raises(NotCanonical, match="not text"):
            regex("x")(text)
    with pytest.raises(NotCanonical, match="too much text"):
        regex("(a|b){500}")("a" * 100_000)
    assert not regex("b")("a" * 100_000)


COMPARED: list[tuple[Any, Any, Any, bool | None]] = [
    (1, "=", 1.0, True),
    ("1", "=", 1, None),
    ("a", "=", "a", True),
    ("a", "=", 1, False),
    (1, "=", "a", False),
    ("é", "=", "e\u0301", True),
    ("e\u0301", "=", "é", True),
    (NotImplemented, "=", 1, None),
    ("a", "=", NotImplemented, None),
    (NotImplemented, "!=", 1, None),
    (1, "!=", 2, True),
    (1, "<", 2, True),
    (2, "<", 2, False),
    (2, "<=", 2, True),
    (3, "<=", 2, False),
    (3, ">", 2, True),
    (2, ">", 2, False),
    (2, ">=", 2, True),
    (1, ">=", 2, False),
    (1, "<", 1.5, True),
    (1.5, "<", 2, True),
    (1, "<", "2", None),
    ("1", "<", 2, None),
    (1, "<", True, None),
    (True, "<", 2, None),
    ("a", "<", "b", True),
    ("b", "<=", "a", False),
    (float("inf"), ">", 10**30, True),
    (10**30, "<", float("inf"), True),
    (float("nan"), "<", 1, None),
    (1, "in", [1, 2], True),
    (3, "in", [1, 2], False),
    (3, "in", [NotImplemented, 2], None),
    (2, "in", [NotImplemented, 2], True),
    (1, "in", 1, None),
    (1, "in", (), False),
    ("abc", "matches", "b", True),
    ("abc", "matches", "^b", False),
    (1, "matches", "b", None),
    ("abc", "matches", 1, None),
]


@pytest.mark.parametrize(("left", "op", "right", "expected"), COMPARED, ids=repr)
def test_a_comparison_is_true_false_or_cannot_be_made(
    left: Any, op: Any, right: Any, expected: bool | None
) -> None:
    """Numbers by value, texts as they are, and nothing across types."""
    assert compare(left, op, right) is expected


def test_numbers_are_exact_and_finite() -> None:
    """No truth value, no text, nothing infinite is a number."""
    assert number(0.1) == Decimal("0.1")
    assert number(7) == Decimal(7)
    assert [number(each) for each in (True, "1", float("inf"), float("nan"), None)] == [None] * 5
    assert number(Decimal("1e4301")) is None
    assert number(Decimal("1e-4301")) is None
    assert number(Decimal("1e4300")) is not None
    assert same("a", "b") is False


def test_a_wrong_expression_is_refused_with_its_reason() -> None:
    """The reason is that of the library, as text."""
    with pytest.raises(ContractError, match=r"`a\(` does not compile: missing \)") as caught:
        regex("a(")
    assert "b'" not in str(caught.value)
    with pytest.raises(ContractError, match="1001 characters"):
        regex("a" * 1001)
    assert regex("a" * 1000)("a" * 1000)
    with pytest.raises(ContractError, match="pattern too large"):
        regex(r"\pL{300}")


@pytest.mark.parametrize(
    ("left", "op", "right", "answer"),
    [
        ([1, 2], "=", [1, 2], True),
        ([1, 2], "=", [2, 1], False),
        ([2, 2], "=", 2, True),
        ([1, 2], "=", 2, None),
        (2, "=", [2, 2], True),
        (2, "=", [1, 2], None),
        (3, "=", [1, 2], False),
        ([1, 2], "in", [1, 2], True),
        ([5, 2], "in", [1, 2], None),
    ],
)
def test_two_lists_are_compared_whole(left: Any, op: f.Op, right: Any, answer: object) -> None:
    """One list is looked into, and has to be of one mind; of two, each element and their order."""
    assert comparison_test(left, op, right) is answer


def test_a_text_that_is_too_long_is_no_allowed_one() -> None:
    """Nothing is searched in it: it cannot be read."""
    allowed = arg_allowed("note", ["^a*$"])
    assert allowed(Call("send", {"note": "a" * TEXT_CAP}, "1"), Context()) is True
    assert allowed(Call("send", {"note": "a" * (TEXT_CAP + 1)}, "1"), Context()) is None


def test_a_map_of_too_many_members_cannot_be_read() -> None:
    """Nor can one member that two others have the name of."""
    pairs = [(str(n), n) for n in range(4)]
    assert freeze_members(pairs, lambda each: each, 4) == dict(pairs)
    assert freeze_members(pairs, lambda each: each, 3) is UNREADABLE
    assert freeze_members([(1, 1), ("1", 2)], lambda each: each, 4) == {"1": UNREADABLE}


def test_true_and_false_are_values_of_arguments() -> None:
    """A formula has them as they are; `"false"` is a text."""
    for text, value in (("true", True), ("false", False), ("null", None), ('"false"', "false")):
        (match,) = read(f"called(pay, ok = {text})").target  # type: ignore[attr-defined]
        assert match.conditions[0].value is value or match.conditions[0].value == value == "false"


def test_a_group_that_takes_no_part_in_a_match_finds_nothing() -> None:
    """The other matches are found."""
    assert relations.captures("a(b)?", "a ab") == ["b"]


def test_a_regular_expression_that_does_not_compile_is_an_error_alone(
    capfd: pytest.CaptureFixture[str],
) -> None:
    """The library that compiles it writes nothing by itself."""
    with pytest.raises(ContractError, match="does not compile"):
        relations.captures("a(", "a")
    assert capfd.readouterr() == ("", "")
