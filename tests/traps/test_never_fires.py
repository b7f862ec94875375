"""Traps of contracts that never fire, or fire at what they do not concern."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from sponsio_like import Allowed, Blocked, ContractError, Guard, contract
from sponsio_like.patterns import (
    arg_blacklist,
    arg_value_range,
    bounded_retry,
    must_precede,
    segregation_of_duty,
)
from tests.semantics.manifest import requirement
from tests.support.play import opened

Loads = Callable[[str], Guard]


def decided(rule: Any, args: Any, tool: str = "bash") -> str:
    """What one rule says to one call."""
    outcome = Guard([contract("rule").guarantees(rule)]).session().decide(tool, args)
    return {Allowed: "allowed", Blocked: "blocked"}[type(outcome)]


# --- patterns that mean too much or too little ----------------------------------------------------


@requirement("T-13")
@pytest.mark.parametrize(
    "rule", ["tool `check` must precede `pay`", "must call `check` before `pay`"]
)
def test_a_session_that_calls_neither_keeps_a_precedence(rule: str) -> None:
    """Nobody is blamed for a check that was not needed: not while it lasts, and not at the end."""
    play = opened(contract("gate").guarantees(rule))
    assert play("other other") == ".."
    assert play.session.pending() == ()
    assert play.unfulfilled() == []


@requirement("T-13")
def test_weak_until_promises_nothing() -> None:
    """`!pay W check` is kept by a session without `check`; `!pay U check` asks for one."""
    for operator, left in (("W", []), ("U", ["rule 0"])):
        play = opened(f"!called(pay) {operator} done(check)")
        assert play("other pay") == ".x"
        assert play.unfulfilled() == left


@requirement("T-14")
def test_duties_are_segregated_by_agent() -> None:
    """The same two tools are fine in two hands and refused in one, in either order, per agent."""
    rule = contract("four eyes").guarantees(segregation_of_duty("draft", "sign"))
    assert opened(rule)("draft@ann sign@bob draft@ann sign@bob") == "...."
    assert opened(rule)("draft@ann sign@ann sign@bob draft@bob") == ".x.x"
    assert opened(rule)("draft@ann draft@bob sign@ann sign@bob sign@cyd") == "..xx."
    assert opened(rule)("draft@ann! sign@ann") == ".."


@requirement("T-17")
def test_a_range_of_one_tool_does_not_concern_another() -> None:
    """A minimum for the amounts of `pay` blocks neither other tools nor their arguments."""
    rule = contract("range").guarantees(arg_value_range("pay", "amount", min=10, max=20))
    play = opened(rule)
    assert play("other other(amount=1) pay_back(amount=1) Pay(amount=1)") == "...."
    assert play("pay(amount=10) pay(amount=9) pay(amount=21) pay") == ".xxx"
    assert (
        opened(contract("min").guarantees(arg_value_range("pay", "amount", min=10)))(
            "other pay(amount=9) pay(amount=1000)"
        )
        == ".x."
    )


@requirement("T-18")
def test_retries_are_tries_after_failures() -> None:
    """Successes are no retries, a success forgives, and tries in flight are tries."""
    rule = contract("few retries").guarantees(bounded_retry("deploy", 2))
    assert opened(rule)("deploy deploy deploy deploy deploy") == "....."
    assert opened(rule)("deploy! deploy! deploy! deploy other deploy") == "...x.x"
    assert opened(rule)("deploy! deploy! deploy deploy! deploy! deploy! deploy") == "......x"
    assert opened(rule)("deploy! deploy? deploy? deploy ok:deploy deploy") == "...x.."


# --- what a file cannot mean ----------------------------------------------------------------------

RULE = "guarantee: {pattern: rate_limit, action: pay, limit: 3}"

IN_FILES = """
unknown key of the file
  >>mod: observe
  did you mean `mode`?
unknown key of a contract
  contracts: [{name: a, RULE, >>stratgey: block}]
  did you mean `strategy`?
unknown pattern
  contracts: [{name: a, guarantee: {pattern: >>must_preceed, first: check, then: pay}}]
  did you mean `must_precede`?
unknown argument
  contracts: [{name: a, guarantee: {pattern: must_precede, >>frist: check, then: pay}}]
  did you mean `first`?
unknown strategy
  contracts: [{name: a, RULE, strategy: >>blok}]
  did you mean `block`?
unknown mode
  contracts: [{name: a, RULE, mode: >>enfroce}]
  did you mean `enforce`?
misspelt tool
  tools: [check, pay]
  contracts: [{name: a, guarantee: {pattern: must_precede, first: >>chekc, then: pay}}]
  did you mean `check`?
misspelt tool in a formula
  tools: [check, pay]
  contracts: [{name: a, guarantee: {ltl: >>"G !called(pya)"}}]
  did you mean `pay`?
misspelt tool in a sentence
  tools: [check, pay]
  contracts: [{name: a, guarantee: >>tool `pya` at most 3 times}]
  did you mean `pay`?
misspelt tool in an assumption
  tools: [check, pay]
  contracts: [{name: a, RULE, assume: {called: >>chek}}]
  did you mean `check`?
misspelt tool in a scope
  tools: [check, pay]
  contracts: [{name: a, RULE, scope: {after: {called: >>chek}}}]
  did you mean `check`?
glob that matches no tool
  tools: [check, pay]
  contracts: [{name: a, guarantee: {pattern: rate_limit, action: >>pya*, limit: 1}}]
  no tool matches `pya*`
misspelt field
  tools: {pay: {fields: {amount: number}}}
  contracts: [{name: a, guarantee: {pattern: arg_value_range, tool: pay, field: >>amuont, max: 1}}]
  did you mean `amount`?
misspelt atom
  contracts: [{name: a, guarantee: {ltl: >>"G !caled(pay)"}}]
  did you mean `called`
unknown operator
  contracts: [{name: a, guarantee: {ltl: "G(called(a) >>&& called(b))"}}]
  did you mean `&`?
key twice in a contract
  contracts: [{name: a, RULE, mode: enforce, >>mode: observe}]
  stands in line 2 already
block twice in a file
  contracts: [{name: a, RULE}]
  >>contracts: [{name: b, RULE}]
  stands in line 2 already
text where a list belongs
  contracts: [{name: a, guarantee: {pattern: arg_blacklist, tool: sh, field: c, patterns: >>sudo}}]
  write [sudo]
text where a number belongs
  contracts: [{name: a, guarantee: {pattern: rate_limit, action: pay, limit: >>"3"}}]
  not a whole number
regular expression that does not compile
  contracts: [{name: a, guarantee: {pattern: arg_blacklist, tool: s, field: c, patterns: [>>"("]}}]
  does not compile
guarantee that cannot be violated
  contracts: [{name: >>a, guarantee: {ltl: "G(called(a) -> called(a))"}}]
  always true
guarantee that cannot be kept
  contracts: [{name: >>a, guarantee: {ltl: "F called(a) & G !called(a)"}}]
  can never be kept
no guarantee
  contracts: [>>{name: a}]
  write guarantee
name twice
  contracts: [{name: a, RULE}, {name: >>a, RULE}]
  rename one
"""


def mistakes() -> list[Any]:
    """Text of a file, where `>>` is before the mistake, and what the error has to say."""
    found = []
    for each in re.findall(r"^\w.*(?:\n  .*)+", IN_FILES, re.MULTILINE):
        name, *lines, hint = [line.strip() for line in each.splitlines()]
        text = "\n".join(["version: 1", *lines]).replace("RULE", RULE)
        found.append(pytest.param(text, hint, id=name))
    return found


@requirement("T-20")
@pytest.mark.parametrize(("text", "hint"), mistakes())
def test_what_a_file_cannot_mean_is_refused_with_its_place(
    text: str, hint: str, load: Loads
) -> None:
    """What would silently do nothing, or something else, is an error with place and hint."""
    before = text[: text.index(">>")].split("\n")
    place = f"contracts.yaml:{len(before)}:{len(before[-1]) + 1}"
    with pytest.raises(ContractError) as error:
        load(text.replace(">>", ""))
    assert any(
        each.where.endswith(place) and hint in f"{each.what} {each.hint}"
        for each in error.value.problems
    ), str(error.value)


@requirement("T-20")
def test_a_strategy_of_a_file_is_the_strategy(load: Loads) -> None:
    """What a file says about violations is what happens at violations."""
    guard = load(
        f"version: 1\ncontracts:\n- {{name: a, {RULE.replace('3', '0')}, strategy: warn_only}}\n"
        "- {name: b, guarantee: {pattern: rate_limit, action: log, limit: 0}, strategy: block}\n"
        "- {name: c, guarantee: {pattern: rate_limit, action: run, limit: 0},"
        " strategy: {redirect_to_safe: {to: dry_run}}}\n"
    )
    kinds = [type(guard.session().decide(tool)).__name__ for tool in ("pay", "log", "run")]
    assert kinds == ["Allowed", "Blocked", "Redirected"]


MADE_WRONG: dict[str, Callable[[], object]] = {
    "a mode that does not exist": lambda: Guard([ruled()], mode="Enforce"),  # type: ignore[arg-type]
    "a mode of a contract that does not exist": lambda: ruled().in_mode("on"),
    "a contract without a guarantee": lambda: Guard([contract("empty")]),
    "a contract with an assumption only": lambda: Guard([contract("x").assume("called `pay`")]),
    "a strategy that does not exist": lambda: ruled().strategy("halt"),
    "two contracts of one name": lambda: Guard([ruled(), ruled()]),
    "a tool outside the inventory": lambda: Guard([ruled()], tools=["chekc", "pay"]),
}


def ruled() -> Any:
    """A contract that could be used."""
    return contract("gate").guarantees(must_precede("check", "pay"))


@requirement("T-20")
@pytest.mark.parametrize("mistake", MADE_WRONG)
def test_what_python_cannot_mean_is_refused(mistake: str) -> None:
    """A contract built in Python is held to the same: nothing loads and then never fires."""
    with pytest.raises(ContractError):
        MADE_WRONG[mistake]()


# --- what a blacklist has to see ------------------------------------------------------------------

DISGUISES: dict[str, Any] = {
    "as written": "rm -rf /",
    "in the middle": "cd / && rm -rf .",
    "two blanks": "rm  -rf /",
    "many blanks": "rm      -rf",
    "a tab": "rm\t-rf /",
    "blanks and tabs": "rm \t \t-rf",
    "a new line": "rm\n-rf",
    "a carriage return": "rm\r\n-rf",
    "a form feed": "rm\f-rf",
    "a no-break space": "rm\u00a0-rf",
    "an ideographic space": "rm\u3000-rf",
    "a list of words": ["rm", "-rf", "/"],
    "words with blanks of their own": ["rm ", " -rf"],
    "a list in a list": [["bash", "-c", "rm -rf /"]],
    "inside an object": {"run": "rm -rf /"},
    "deep inside": {"steps": [{"shell": {"argv": ["sudo", "rm", "-rf"]}}]},
    "a tuple": ("rm", "-rf"),
    "bytes": b"rm -rf /",
    "an object that is no data": object(),
}


@requirement("T-23")
@pytest.mark.parametrize("disguise", DISGUISES)
@pytest.mark.parametrize("pattern", ["rm -rf", "rm  -rf", r"rm\s-rf"])
def test_a_blacklist_sees_through_blanks_and_nesting(pattern: str, disguise: str) -> None:
    """`rm -rf` is found in fields of any shape, whatever blanks stand in it or in the pattern."""
    if pattern == r"rm\s-rf" and disguise == "many blanks":
        pattern = r"rm\s+-rf"
    rule = arg_blacklist("bash", "command", [pattern])
    assert decided(rule, {"command": DISGUISES[disguise]}) == "blocked"


@requirement("T-23")
def test_a_blacklist_of_all_fields_sees_every_field() -> None:
    """`*` is every argument, whatever its name: another name is no way round."""
    every = arg_blacklist("bash", "*", ["rm -rf"])
    for args in (
        {"command": "rm -rf"},
        {"cmd": "rm\t-rf"},
        {"a": 1, "Input": {"x": ["rm", "-rf"]}},
    ):
        assert decided(every, args) == "blocked"
    assert decided(every, {"cmd": "ls -l", "count": 5, "none": None}) == "allowed"


@requirement("T-23")
@pytest.mark.parametrize(
    "args",
    [
        {"command": "ls -l"},
        {"command": "farm -rf"},
        {"command": ["echo", "r", "m"]},
        {"command": ""},
        {"command": 5},
        {},
    ],
)
def test_a_blacklist_lets_honest_work_pass(args: dict[str, Any]) -> None:
    """What does not have the words of the pattern in their order is none of its business."""
    assert decided(arg_blacklist("bash", "command", [r"\brm -rf"]), args) == "allowed"


@requirement("T-23")
def test_a_blacklist_by_inventory_knows_the_fields(load: Loads) -> None:
    """A blacklist of a field that the tool does not have would never fire: it is refused."""
    text = (
        "version: 1\ntools: {bash: {fields: {cmd: string}}}\ncontracts:\n- name: a\n"
        "  guarantee: {pattern: arg_blacklist, tool: bash, field: command, patterns: [sudo]}\n"
    )
    with pytest.raises(ContractError, match="has no field `command`"):
        load(text)


# --- numbers --------------------------------------------------------------------------------------


@requirement("T-25")
@pytest.mark.parametrize(
    "amount", ["5000", "50", "5e1", " 50 ", "", "0x10", True, ["50"], {"value": 50}, math.nan]
)
@pytest.mark.parametrize(
    "rule",
    [
        arg_value_range("pay", "amount", max=100),
        {"ltl": "G !called(pay, amount > 100)"},
        {"ltl": "G(called(pay) -> arg(amount) <= 100)"},
        {"ltl": "G(called(pay) -> sum(pay, amount) <= 100)"},
    ],
    ids=["range", "condition", "comparison", "sum"],
)
def test_what_is_no_number_passes_no_check_for_numbers(rule: Any, amount: Any) -> None:
    """Text that looks like a number is not one: a check that cannot be made is not passed."""
    assert decided(rule, {"amount": amount}, "pay") == "blocked"


@requirement("T-25")
@pytest.mark.parametrize("amount", [100, 100.0, 0, -1, Decimal("99.99"), 1e-9])
def test_numbers_are_numbers_in_any_form(amount: Any) -> None:
    """Whole, binary and decimal numbers are compared as exact numbers."""
    rule = arg_value_range("pay", "amount", max=100)
    assert decided(rule, {"amount": amount}, "pay") == "allowed"
    assert decided(rule, {"amount": 100.00000000000001}, "pay") == "blocked"
