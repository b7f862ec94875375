"""What a contract says is what it does, or loading says that it does not."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any
from unicodedata import normalize

import pytest

from sponsio_like import Blocked, Guard, contract
from sponsio_like.errors import ContractError, ContractWarning
from sponsio_like.events.relations import composed_pattern
from sponsio_like.patterns import (
    absent,
    always_followed_by,
    amount_limit,
    arg_allowlist,
    arg_blacklist,
    arg_value_range,
    duplicate_call_limit,
    idempotent,
    must_confirm,
    must_precede,
    precedence,
    required_steps_completion,
    until,
    value_from,
)
from tests.semantics.manifest import requirement
from tests.traps.test_found_cut import played


def guarded(*rules: Any, **options: Any) -> Guard:
    """A guard of one contract with these rules."""
    return Guard([contract("rule").guarantees(*rules)], **options)


def refused(*rules: Any) -> str:
    """What loading says of rules that it does not take."""
    with pytest.raises(ContractError) as raised:
        guarded(*rules)
    return str(raised.value)


# --- names ----------------------------------------------------------------------------------------


@requirement("S-LOAD-04")
@pytest.mark.parametrize("name", ["tools", "session"])
def test_no_contract_is_named_as_the_guard_calls_itself(name: str) -> None:
    """Violations of the inventory and of the guard itself are told from those of contracts."""
    with pytest.raises(ContractError, match=f"no contract may be named `{name}`"):
        Guard([contract(name).guarantees(must_precede("a", "b"))])


# --- what nobody can do first, or here ------------------------------------------------------------

VET = {"tool": "vet", "args": {"id": "$x"}}
SEE = VET | {"tool": "see"}
THEMSELVES: dict[str, Any] = {
    "all before all": must_precede("*", "*"),
    "within": must_precede("*", "*", within={"steps": 3}),
    "a confirmation by anything": must_confirm("*", by="*"),
    "a glob before itself": must_precede("pay_*", "pay_*"),
    "the tool itself, for the same value": precedence(VET, VET),
    "one of two, each restricted": precedence([VET, SEE], [VET, SEE]),
    "within seconds": precedence(VET, VET, within={"seconds": 60}),
}


@requirement("S-LOAD-12")
@pytest.mark.parametrize("rule", THEMSELVES.values(), ids=THEMSELVES)
def test_what_waits_for_itself_is_refused(rule: Any) -> None:
    """An order in which what has to come first waits like all the others blocks everything."""
    assert "needs an earlier one, so that none can be the first" in refused(rule)


ORDERS: dict[str, Any] = {
    "all but the first": must_precede("login", "*"),
    "all but the first, for the same value": precedence({"tool": "*", "args": {"id": "$x"}}, VET),
    "another field": precedence(
        {"tool": "*", "args": {"to": "$x"}}, {"tool": "vet", "args": {"name": "$x"}}
    ),
    "the answer": precedence(
        {"tool": "*", "args": {"id": "$x"}},
        {"tool": "find", "output": {"path": "id", "bind": "$x"}},
    ),
    "one of two is free": precedence({"tool": "vet", "args": {"id": "$x"}}, [VET, "login"]),
    "not all of it waits": must_precede("pay_*", {"tool": "pay_*", "args": {"big": True}}),
}


@pytest.mark.parametrize("rule", ORDERS.values(), ids=ORDERS)
def test_orders_that_can_begin_are_loaded(rule: Any) -> None:
    """Where something of what comes first need not wait, the order can be kept."""
    guarded(rule)


NEEDED: dict[str, Any] = {
    "must_precede": must_precede("approve", "pay"),
    "must_confirm": must_confirm("pay", by="approve"),
    "one of several steps": required_steps_completion(["check", "approve"], "pay"),
    "precedence": precedence(
        {"tool": "pay", "args": {"to": "$x"}}, {"tool": "approve", "args": {"to": "$x"}}
    ),
    "followed": always_followed_by("pay", "approve"),
}


@requirement("S-INV-07")
@pytest.mark.parametrize("rule", NEEDED.values(), ids=NEEDED)
def test_what_only_another_agent_can_do_is_warned_of(rule: Any) -> None:
    """A prerequisite that stands in `elsewhere` alone cannot be met in a session of this agent."""
    options: dict[str, Any] = {"tools": ["pay", "check"], "elsewhere": ["approve"]}
    with pytest.warns(ContractWarning, match="`approve` is a tool of another agent"):
        guarded(rule, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        guarded(rule, **options, unlisted="allow")
        guarded(rule, tools=["pay", "check", "approve"])
        guarded(must_precede(["approve", "check"], "pay"), **options)


@requirement("S-INV-07")
@pytest.mark.filterwarnings("ignore:.*elsewhere")
def test_advice_does_not_send_to_the_tool_of_another_agent() -> None:
    """What this agent cannot call is not named as what to call."""
    options: dict[str, Any] = {"tools": ["pay", "check"], "elsewhere": ["approve"]}
    outcome = guarded(must_precede("approve", "pay"), **options).session().decide("pay", {})
    assert isinstance(outcome, Blocked)
    assert "first call" not in outcome.advice
    assert "no calls make it legal in this session" in outcome.advice
    either = guarded(must_precede(["approve", "check"], "pay"), **options)
    outcome = either.session().decide("pay", {})
    assert isinstance(outcome, Blocked)
    assert "first call `check`" in outcome.advice


# --- what is said, and what is taken --------------------------------------------------------------


def test_no_sentence_tears_the_backticks_of_a_list() -> None:
    """Each name of a list has backticks of its own, and a match is said in words."""
    rule = must_confirm(["pay", "send"], by=["ask", "tell"], same=["id"])
    assert rule.sentence == (
        "tool `pay` or `send` requires confirmation by `ask` or `tell` (same: id)"
    )
    match = {"tool": "a", "args": {"x": {"in": ["p", "q"]}}}
    assert must_precede(match, ["b", "c"]).sentence == (
        'tool `a` with `x` in `["p", "q"]` must precede `b` or `c`'
    )


LOCK = {"tool": "lock", "args": {"id": "$id"}}
EDIT = {"tool": "edit", "args": {"id": "$id"}}


@requirement("S-LOAD-12")
@pytest.mark.parametrize("release", [LOCK, [LOCK, LOCK | {"status": "error"}], "lock"], ids=str)
def test_a_release_that_is_the_trigger_is_refused(release: Any) -> None:
    """What triggers again at every release would never let anything through."""
    trigger = "lock" if release == "lock" else LOCK
    with pytest.raises(ContractError, match="every `release` is a `trigger` again"):
        until(trigger, EDIT if trigger is LOCK else "edit", release)


def test_a_release_that_can_do_without_the_trigger_is_taken() -> None:
    """Another tool, another value of an argument, or the success of what has failed releases."""
    until(LOCK, EDIT, [LOCK, LOCK | {"tool": "unlock"}])
    off, on = ({"tool": "lock", "args": {"on": each}} for each in (False, True))
    until(on, "edit", off)
    until(LOCK | {"status": "error"}, EDIT, LOCK)


def test_a_single_contract_is_a_guard() -> None:
    """One contract needs no list; what is no contract at all is refused with what to write."""
    one = contract("rule").guarantees("tool `a` must precede `b`")
    assert isinstance(Guard(one).session().decide("b", {}), Blocked)
    assert [each.name for each in Guard([one]).policy.contracts] == ["rule"]
    for wrong in ("rules.yaml", {"name": "rule"}, [{"name": "rule"}], must_precede("a", "b")):
        with pytest.raises(ContractError, match="is no contract"):
            Guard(wrong)  # type: ignore[arg-type]


# --- duplicates -----------------------------------------------------------------------------------

SEVERAL: dict[str, Any] = {
    "a list": duplicate_call_limit(["get_order", "get_user"]),
    "a glob": duplicate_call_limit("get_*"),
    "all": duplicate_call_limit("*"),
    "a field": duplicate_call_limit("*", fields=["id"]),
    "matches": duplicate_call_limit(
        [{"tool": "get_order"}, {"tool": "get_user", "args": {"id": 7}}]
    ),
}


@requirement("S-KEY-07")
@pytest.mark.parametrize("rule", SEVERAL.values(), ids=SEVERAL)
def test_a_duplicate_is_a_call_of_the_same_tool(rule: Any) -> None:
    """Equal arguments of another tool are no duplicate, whether it is named or a glob covers it."""
    order, user, old = ("get_order", {"id": 7}), ("get_user", {"id": 7}), ("get_user", {"id": "7 "})
    assert played(rule, order, user, order, user) == "AABB"
    assert played(rule, user, order, ("get_order", {"id": 8})) == "AAA"
    if "args" not in repr(rule.arguments):
        assert played(rule, order, user, old) == "AAB"
    explained = guarded(rule).session()
    explained.settle(explained.decide(*order).id, output="x")
    outcome = explained.decide(*order)
    assert isinstance(outcome, Blocked)
    assert "@tool" not in outcome.advice


# --- optional fields ------------------------------------------------------------------------------

SEND = {"tool": "send", "missing": "skip"}
OPTIONAL: dict[str, tuple[Any, Any, Any]] = {
    "arg_allowlist": (arg_allowlist(SEND, "cc", ["ann", "bob"]), "ann", "eve"),
    "arg_value_range": (arg_value_range(SEND, "cc", min=0, max=5), 5, 6),
    "amount_limit": (amount_limit(SEND, "cc", 5), 2, 6),
    "beside another": (arg_allowlist([SEND, "post"], "cc", ["ann"]), "ann", "eve"),
}


@requirement("S-CMP-13")
@pytest.mark.parametrize(("rule", "good", "bad"), OPTIONAL.values(), ids=OPTIONAL)
def test_a_field_that_may_be_missing_restricts_calls_that_have_it(
    rule: Any, good: Any, bad: Any
) -> None:
    """With `missing: skip` a call without the field passes; one that has it is held to the rule."""
    gone: list[dict[str, Any]] = [{}, {"cc": None}, {"cc": []}]
    for none in gone:
        calls = [("send", args) for args in (none, {"cc": good}, none, {"cc": bad}, none)]
        assert played(rule, *calls) == "AAABA"
    assert played(rule, ("send", {"cc": {"x": good}})) == "B"
    assert played(rule, ("send", {"cc": [good, None]})) == "B"


@requirement("S-CMP-13")
def test_only_the_match_that_says_so_lets_the_field_be_missing() -> None:
    """Another tool of the list, and a rule that does not say it, refuse calls without the field."""
    assert played(OPTIONAL["beside another"][0], ("post", {}), ("post", {"cc": "ann"})) == "BA"
    for rule in (arg_allowlist("send", "cc", ["ann"]), amount_limit("send", "cc", 5)):
        assert played(rule, ("send", {})) == "B"
    inside = arg_value_range(SEND, "items[].n", max=5)
    some = {"items": [{"n": 1}, {}]}
    assert played(inside, ("send", {"items": [{}]}), ("send", {}), ("send", some)) == "AAB"


IDLE: dict[str, Any] = {
    "idempotent": lambda: idempotent(SEND, by=["cc"]),
    "duplicate_call_limit": lambda: duplicate_call_limit(SEND, fields=["cc"]),
    "must_confirm": lambda: must_confirm(SEND, by="ask", same=["cc"]),
    "arg_blacklist": lambda: arg_blacklist(SEND, "cc", ["eve"]),
    "must_precede": lambda: must_precede("login", SEND),
    "a value that is compared": lambda: absent(SEND | {"args": {"cc": "eve"}}),
    "all arguments": lambda: until(
        SEND | {"args": {"*": "$x"}}, {"tool": "a", "args": {"*": "$x"}}
    ),
    "refuse": lambda: absent({"tool": "send", "args": {"cc": "eve"}, "missing": "refuse"}),
    "a formula": lambda: guarded({"ltl": 'G !called(send, @missing = "skip")'}),
    "an assumption": lambda: Guard(
        [contract("c").assume({"called": SEND}).guarantees("tool `a` at most once")]
    ),
}


@requirement("S-CMP-13")
@pytest.mark.parametrize("made", IDLE.values(), ids=IDLE)
def test_a_missing_that_changes_nothing_is_refused(made: Any) -> None:
    """No `missing` is accepted that does nothing; the message says what it is about."""
    with pytest.raises(ContractError, match="would change nothing here") as raised:
        made()
    assert "leave it out" in str(raised.value)


def test_a_missing_that_changes_nothing_has_its_place_in_the_file(tmp_path: Path) -> None:
    """The message of a file points at the key."""
    file = tmp_path / "c.yaml"
    file.write_text(
        "version: 1\ncontracts:\n  - name: once\n    guarantee:\n      pattern: idempotent\n"
        "      action: {tool: send, missing: skip}\n      by: [cc]\n"
    )
    with pytest.raises(
        ContractError, match=r"c\.yaml:6:28: .*`missing: skip` would change nothing"
    ):
        Guard.from_yaml(file)


@requirement("S-VALUE-15")
def test_any_tool_can_be_required_to_have_the_field() -> None:
    """With `missing: refuse`, `value_from` requires the field of all tools."""
    rule = value_from({"tool": "*", "missing": "refuse"}, "id", {"message": "user"})
    assert played(rule, ("look", {})) == "B"
    assert played(value_from("*", "id", {"message": "user"}), ("look", {})) == "A"


# --- texts in which nothing is found --------------------------------------------------------------

SHELL: dict[str, Any] = {
    "tool": "shell",
    "args": {"command": {"matches": r"rm (\S+)", "bind": "$f"}},
}
LISTING = {"tool": "ls", "args": {"path": "$f"}}


@requirement("S-LOAD-14")
@pytest.mark.parametrize("rule", [precedence(SHELL, LISTING), must_precede("login", SHELL)])
def test_that_texts_without_a_value_are_refused_is_said(rule: Any) -> None:
    """Where a text in which nothing is found is refused, loading says so, and what to write."""
    with pytest.warns(ContractWarning, match="`shell` is refused if .* finds nothing") as warned:
        guarded(rule)
    assert "write `missing: skip` in the match" in str(warned[0].message)


@requirement("S-VALUE-15")
def test_a_call_in_which_nothing_is_found_is_not_the_required_one() -> None:
    """All other calls wait for it, and so does this one."""
    rule = must_precede(SHELL, {"tool": "*", "args": {"path": "$f"}})
    find = ("shell", {"command": "rm a.txt", "path": "x"})
    look = ("shell", {"command": "ls", "path": "a.txt"})
    assert played(rule, look, find, look) == "BAA"


@requirement("S-LOAD-14")
@pytest.mark.parametrize("missing", ["skip", "refuse"])
def test_who_says_what_a_text_without_a_value_means_is_not_warned(missing: str) -> None:
    """Where the match says `missing`, either way, nothing is left to tell."""
    rule = precedence(SHELL | {"missing": missing}, LISTING)
    assert played(rule, ("shell", {"command": "ls"})) == ("A" if missing == "skip" else "B")
    guarded(precedence(SHELL | {"tool": "*"}, LISTING))
    guarded(until(SHELL, LISTING))


# --- letters that are not of ASCII ----------------------------------------------------------------

FORMS = [normalize(form, "Café-Straße") for form in ("NFC", "NFD")]


@requirement("S-CMP-03")
@pytest.mark.parametrize("typed", FORMS, ids=["NFC", "NFD"])
@pytest.mark.parametrize("text", FORMS, ids=["a text in NFC", "a text in NFD"])
def test_a_pattern_matches_in_whichever_form_it_was_typed(typed: str, text: str) -> None:
    """Letters of patterns and texts are compared in NFC."""
    assert played(arg_allowlist("go", "to", [typed]), ("go", {"to": text})) == "A"
    assert played(arg_blacklist("go", "to", [typed]), ("go", {"to": text})) == "B"
    condition = absent({"tool": "go", "args": {"to": {"matches": f"^{typed}$"}}})
    assert played(condition, ("go", {"to": text})) == "B"


@requirement("S-CMP-03")
@pytest.mark.parametrize(
    ("pattern", "same"),
    [
        ("[e\u0301]", "[é]"),
        ("[aeiou\u0300-\u036f]", "[aeiou\u0300-\u036f]"),
        ("[\\s\u0301]", "[\\s\u0301]"),
        ("\\s\u0301", "\\s\u0301"),
        ("\\pL\u0301", "\\pL\u0301"),
        ("\\x41\u0301e\u0301+", "\\x41\u0301é+"),
        ("plain", "plain"),
    ],
)
def test_escapes_and_ranges_of_marks_are_what_they_were(pattern: str, same: str) -> None:
    """Only letters that stand in the pattern are composed."""
    assert composed_pattern(pattern) == same


@requirement("S-LOAD-14")
@pytest.mark.parametrize("pattern", [r"^\w+straße$", r"\bémile\b", r"(?:café)\b", r"\b(?:über|x)"])
def test_signs_that_know_ascii_alone_are_warned_of(pattern: str) -> None:
    """Beside a letter that is not of ASCII, signs for words hardly mean what they say."""
    with pytest.warns(ContractWarning, match="know the letters of ASCII alone"):
        guarded(arg_blacklist("go", "to", [pattern]))


@pytest.mark.parametrize("pattern", [r"\w+\b", r"[\wäöüß]+", r"\bdelete\b|löschen", r"\\wäre"])
def test_other_patterns_are_not_warned_of(pattern: str) -> None:
    """Where all letters are of ASCII, or the class names the others, nothing is said."""
    guarded(arg_blacklist("go", "to", [pattern]))
