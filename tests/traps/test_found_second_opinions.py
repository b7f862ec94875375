"""What the second opinions found: orders of globs over values, elements that lack a field."""

from __future__ import annotations

from typing import Any

import pytest

from sponsio_like.contracts.definition import contract
from sponsio_like.guard.guard import Guard
from sponsio_like.outcome import Allowed
from sponsio_like.patterns import absent, must_confirm, must_precede, precedence
from tests.semantics.manifest import requirement

GET: dict[str, Any] = {"tool": "get", "args": {"order": "$x"}}
ONE: dict[str, Any] = {"order": 1}


def played(rule: Any, *calls: tuple[Any, ...]) -> str:
    """What becomes of calls, each with its answer: `A` allowed, `r` reported by it, `B` blocked."""
    session, out = Guard([contract("c").guarantees(rule)]).session(), ""
    for tool, args, *answer in calls:
        decided = session.decide(tool, args)
        if isinstance(decided, Allowed):
            output = answer[0] if answer else None
            out += "r" if session.settle(decided.id, output=output) else "A"
        else:
            out += "B"
    return out


@requirement("S-LOAD-16")
def test_what_is_asked_for_with_a_value_does_not_wait_for_itself() -> None:
    """`precedence` of a glob does not cover the required call where it has the same value."""
    rule = precedence({"tool": "*", "args": {"order": "$x"}}, GET)
    assert played(rule, ("pay", ONE), ("get", ONE), ("pay", ONE), ("pay", {"order": 2})) == "BAAB"
    agents = precedence({"tool": "*", "agent": "$a"}, {"tool": "login", "agent": "$a"})
    assert played(agents, ("pay", {}), ("login", {}), ("pay", {})) == "BAA"


@requirement("S-LOAD-16")
def test_with_another_value_what_is_asked_for_waits_as_well() -> None:
    """A required call that has a value elsewhere, which it does not ask for, needs one for it."""
    vet = {"tool": "vet", "args": {"name": "$w"}}
    rule = precedence({"tool": "*", "args": {"to": "$w"}}, vet)
    assert played(rule, ("vet", {"name": "a", "to": "b"}), ("vet", {"name": "b"})) == "BA"


@requirement("S-LOAD-16")
def test_what_has_its_value_in_its_answer_is_covered() -> None:
    """Where the answer of the required call has the value, a glob covers that tool too."""
    shown = {"tool": "get", "output": {"path": "id", "bind": "$x"}}
    rule = precedence({"tool": "*", "args": {"order": "$x"}}, shown)
    assert played(rule, ("get", ONE), ("get", {}, {"id": 1}), ("get", ONE)) == "BAA"


@requirement("S-LOAD-16")
@pytest.mark.parametrize("status", ["ok", "any"])
def test_a_glob_of_successes_does_not_cover_what_is_asked_for(status: str) -> None:
    """That holds for the calls that succeeded, too."""
    rule = precedence({"tool": "*", "status": status}, "login")
    assert played(rule, ("login", {}), ("pay", {})) == "AA"


@requirement("S-LOAD-16")
def test_a_narrower_glob_that_is_asked_for_is_not_covered() -> None:
    """`pay_*` does not cover `pay_check_*`, which it needs; `*` is no narrower."""
    calls: Any = [("pay_1", {}), ("pay_check_1", {}, "yes"), ("pay_1", {})]
    assert played(must_precede("pay_check_*", "pay_*"), *calls) == "BAA"
    assert played(must_confirm("pay_*", by="pay_check_*"), *calls) == "BAA"
    assert played(precedence({"tool": "pay_*"}, "pay_check_*"), *calls) == "BAA"
    login = must_precede("log*", "*in")
    assert played(login, ("sign_in", {}), ("login", {}), ("sign_in", {})) == "BAA"


@requirement("S-LOAD-16")
def test_calls_of_any_tool_that_are_asked_for_are_not_covered() -> None:
    """What is asked for of any tool with a condition is narrower than all calls."""
    rule = must_precede({"tool": "*", "args": {"dry_run": True}}, "*")
    assert played(rule, ("run", {}), ("run", {"dry_run": True}), ("run", {})) == "BAA"


@requirement("S-VALUE-05")
@pytest.mark.parametrize("more", [{}, {"missing": "refuse"}])
@pytest.mark.parametrize("wanted", [{"every": {"ne": "$x"}}, {"every": {"lt": "$x"}}])
def test_what_is_compared_with_every_element_does_not_hold_of_one_without_the_field(
    wanted: Any, more: Any
) -> None:
    """`missing: refuse` is for what binds: of an element without the field, nothing compares."""
    match = {"tool": "get", "args": {"id": "$x", "items[].sku": wanted}, **more}
    lacking = {"id": 3, "items": [{"sku": 1}, {}]}
    assert played(absent(match), ("get", lacking)) == "A"
    assert played(absent(match), ("get", {"id": 3, "items": [{"sku": 1}]})) == "B"


def test_what_is_compared_with_some_element_is_not_asked_of_one_without_the_field() -> None:
    """`missing: refuse` makes no element equal or unequal that lacks the field."""
    match = {"tool": "get", "args": {"id": "$x", "items[].sku": {"ne": "$x"}}, "missing": "refuse"}
    assert played(absent(match), ("get", {"id": 3, "items": [{"sku": 3}, {}]})) == "A"
    assert played(absent(match), ("get", {"id": 3, "items": [{"sku": 1}, {}]})) == "B"


@requirement("S-VALUE-04")
def test_a_list_of_which_an_element_lacks_the_field_lacks_it_for_every_value() -> None:
    """With `every`, too: what was vetted of the other elements does not make up for it."""
    items = {"tool": "pay", "args": {"items[].sku": {"every": "$x"}}}
    rule = precedence(items, {"tool": "vet", "args": {"name": "$x"}})
    vet = ("vet", {"name": 1})
    assert played(rule, vet, ("pay", {"items": [{"sku": 1}, {"sku": 1}]})) == "AA"
    assert played(rule, vet, ("pay", {"items": [{"sku": 1}, {}]})) == "AB"
