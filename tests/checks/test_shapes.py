"""Clauses that differ in the names of their tools, and in values, alone are checked once."""

from __future__ import annotations

from typing import Any

import pytest

from sponsio_like import Contract, ContractError, ContractWarning, Guard, contract
from sponsio_like.checks.guarantees import check_guarantees
from sponsio_like.outcome import Redirect
from sponsio_like.syntax import read


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the contracts whose guarantees are checked from now on."""
    seen = list[str]()

    def spy(clause: Any) -> None:
        seen.append(clause.contract.name)
        check_guarantees(clause)

    monkeypatch.setattr("sponsio_like.checks.lint.check_guarantees", spy)
    return seen


def contracts(*texts: str) -> list[Contract]:
    """Contracts of these formulas, by number."""
    return [contract(str(k)).guarantees(read(text)) for k, text in enumerate(texts)]


def order(first: str, then: str) -> str:
    """A formula that wants one tool before the other."""
    return f"G(called({then}) -> O done({first}))"


def test_a_guarantee_about_other_tools_is_not_checked_again(checked: list[str]) -> None:
    """Guarantees that differ in tools alone, or in a limit, are checked once."""
    texts = [order(f"a{k}", f"b{k}") for k in range(10)]
    Guard(contracts(*texts, "G(count(called(a)) <= 1)", "G(count(called(b)) <= 2)"))
    assert checked == ["0", "10"]


def test_which_tools_are_the_same_makes_a_difference(checked: list[str]) -> None:
    """A formula whose two tools are one is another formula, and is refused if it says nothing."""
    with pytest.raises(ContractError, match="never be violated"):
        Guard(contracts("G(called(a) -> O called(b))", "G(called(a) -> O called(a))"))
    assert checked == ["0", "1"]


def test_an_atom_of_the_same_tool_makes_a_difference(checked: list[str]) -> None:
    """A formula in which two atoms are about one tool is not the shape of one about two tools."""
    Guard(contracts(order("a", "b"), order("a", "a")))
    assert checked == ["0", "1"]


def test_each_wrong_guarantee_is_told() -> None:
    """Only what was found right is not checked again."""
    with pytest.raises(ContractError) as error:
        Guard(contracts("G(called(a) -> O called(a))", "G(called(b) -> O called(b))"))
    assert [each.where for each in error.value.problems] == ["contract `0`", "contract `1`"]


def test_each_comparison_with_what_no_text_has_is_told() -> None:
    """Of a shape whose values were found right, other values are checked by themselves."""
    runs = 'G !called({}, command.runs[] = "{}")'
    texts = [runs.format(*each) for each in (("a", "rm"), ("b", "rm -rf"), ("c", "rm -rf"))]
    texts = [text.replace("command.", "command:shell.") for text in texts]
    with pytest.raises(ContractError) as error:
        Guard(contracts(*texts))
    assert [each.where for each in error.value.problems] == ["contract `1`", "contract `2`"]


def test_what_a_scope_or_an_assumption_says_makes_a_difference(checked: list[str]) -> None:
    """A guarantee under another assumption, or in another scope, is checked by itself."""
    plain = contract("plain").guarantees(read("G !called(pay)"))
    assumed = contract("assumed").assume(read("O called(a)")).guarantees(read("G !called(pay)"))
    after = contract("after").after(read("called(a)")).guarantees(read("G !called(pay)"))
    before = contract("before").before(read("called(a)")).guarantees(read("G !called(pay)"))
    Guard([plain, assumed, after, before])
    assert checked == ["plain", "assumed", "after", "before"]


def test_under_a_glob_each_is_checked(checked: list[str]) -> None:
    """There, a tool is more than a number."""
    Guard([contract(tool).guarantees(read(f"G !called({tool}_*)")) for tool in "ab"])
    assert checked == ["a", "b"]


def test_each_redirect_is_checked(checked: list[str]) -> None:
    """A call is not redirected to itself, also where the guarantee is known from another tool."""

    def made(tool: str, instead: str) -> Contract:
        return contract(tool).guarantees(read(f"G !called({tool})")).strategy(Redirect(instead))

    with pytest.raises(ContractError, match="`b` would be redirected to themselves"):
        Guard([made("a", "safe"), made("b", "b")])
    assert checked == ["a"]


LEAST = (("a", 3), ("b", 0))


def test_each_comparison_is_checked() -> None:
    """A limit that decides nothing is told, also where the guarantee is known from another one."""
    texts = [f"G(called({tool}) -> count(called({tool})) >= {least})" for tool, least in LEAST]
    with pytest.raises(ContractError, match=r"`count\(called\(b\)\) >= 0` is always true"):
        Guard(contracts(*texts))


def test_with_an_inventory_guarantees_are_checked_once_too(checked: list[str]) -> None:
    """Where all tools are there, no name makes a difference."""
    Guard(contracts(order("a", "b"), order("c", "d")), tools=["a", "b", "c", "d"])
    assert checked == ["0"]


def test_each_slip_is_told() -> None:
    """A mistake in a value, and a warning of one, are told of every contract that has it."""
    slip = 'G(called(t{}) -> arg_contains("x", ["[^evil.com]"]))'
    with pytest.raises(ContractError) as error:
        Guard(contracts(*(slip.format(k) for k in range(3))))
    assert [each.where for each in error.value.problems] == [f"contract `{k}`" for k in range(3)]
    high = "G(called(t{0}) -> count(called(t{0})) <= 1000000)"
    with pytest.warns(ContractWarning, match="never reached") as warned:
        Guard(contracts(*(high.format(k) for k in range(3))))
    assert len(warned) == 3


def test_each_name_is_read() -> None:
    """A name that is taken for a word is told, also where the guarantee is known from a tool."""
    with pytest.raises(ContractError, match="`any` would be the name of a tool"):
        Guard(contracts(order("a", "b"), order("any", "b")))
