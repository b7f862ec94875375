"""What a cap cuts off is unreadable, and never missing: arguments, answers, decorated tools."""

from __future__ import annotations

from decimal import Decimal
from enum import Enum
from typing import Any

import pytest

from sponsio_like import Allowed, Blocked, Guard, contract
from sponsio_like.patterns import (
    arg_blacklist,
    arg_length_limit,
    no_data_leak,
    precedence,
    response,
    until,
    value_from,
)
from sponsio_like.values.frozen import UNREADABLE, freeze
from sponsio_like.values.limits import ANSWER_CAP, DEPTH_CAP, DIGITS_CAP, VALUES_CAP
from sponsio_like.values.plain import as_data, as_members
from tests.semantics.manifest import requirement

LONG: dict[str, Any] = {
    "numbers": [0] * VALUES_CAP,
    "lists": [[[]]] * (VALUES_CAP // 4),
    "objects": [{"a": {}}] * VALUES_CAP,
}


def played(rule: Any, *calls: tuple[Any, ...]) -> str:
    """The first letters of the outcomes: `A`llowed, `B`locked."""
    session = Guard([contract("rule").guarantees(rule)]).session()
    letters = ""
    for tool, args, *answer in calls:
        outcome = session.decide(tool, args)
        letters += type(outcome).__name__[0]
        session.settle(outcome.id, output=answer[0] if answer else None)
    return letters


RULES: dict[str, tuple[Any, dict[str, Any]]] = {
    "blacklist": (arg_blacklist("bash", "run.command", ["rm -rf"]), {}),
    "length": (arg_length_limit("bash", "run.command", 3), {}),
    "condition": ({"ltl": 'G !called(bash, run.command = "rm -rf /")'}, {}),
    "comparison": ({"ltl": 'G(called(bash) -> arg(run.command) != "rm -rf /")'}, {}),
    "precedence": (
        precedence(
            {"tool": "bash", "args": {"run.command": "$c"}},
            {"tool": "vet", "args": {"name": "$c"}},
        ),
        {},
    ),
    "value_from": (value_from("bash", "run.command", "vet"), {}),
}


@requirement("S-FAIL-05")
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("long", LONG)
@pytest.mark.parametrize("inside", [False, True])
def test_a_long_argument_in_front_hides_nothing(rule: str, long: str, inside: bool) -> None:
    """However long what stands before it is, an argument is read, or it violates."""
    args = {"x": LONG[long], "run": {"command": "rm -rf /"}}
    if inside:
        args = {"run": {"x": LONG[long], "command": "rm -rf /"}}
    assert played(RULES[rule][0], ("bash", args)) == "B"


def test_the_name_of_every_argument_is_kept() -> None:
    """A long argument in front takes no room from plain ones: those are read as they are."""
    rule = arg_blacklist("bash", "command", ["rm -rf"])
    assert played(rule, ("bash", {"x": LONG["lists"], "command": "rm -rf /"})) == "B"
    assert played(rule, ("bash", {"x": LONG["lists"], "command": "ls"})) == "A"


@requirement("S-FAIL-05")
def test_a_call_with_too_many_arguments_is_refused() -> None:
    """A call with more names than can be read is refused, and reported where all observe."""
    args = dict.fromkeys(map(str, range(VALUES_CAP + 1)), 0)
    rule = contract("rule").guarantees({"ltl": "G !called(other)"})
    outcome = Guard([rule]).session().decide("bash", args)
    assert isinstance(outcome, Blocked)
    assert "too many" in outcome.advice
    seen = Guard([rule], mode="observe").session().decide("bash", args)
    assert isinstance(seen, Allowed)
    assert "too many" in seen.observed[0].message


GET = {"tool": "get", "output": {"path": "k", "bind": "$x"}}
NESTED = {"tool": "get", "output": {"path": "in.k", "bind": "$x"}}


@pytest.mark.parametrize("j", [[0] * 5000, [0] * ANSWER_CAP, [[]] * ANSWER_CAP], ids=len)
def test_a_long_answer_hides_nothing(j: Any) -> None:
    """What stands behind many values in an answer is found, or may be any value."""
    rule = until(GET, {"tool": "send", "args": {"b": "$x"}})
    assert played(rule, ("get", {}, {"j": j, "k": "s3"}), ("send", {"b": "s3"})) == "AB"
    rule = until(NESTED, {"tool": "send", "args": {"b": "$x"}})
    assert played(rule, ("get", {}, {"in": {"j": j, "k": "s3"}}), ("send", {"b": "s3"})) == "AB"


def test_an_answer_that_is_cut_answers_for_nobody() -> None:
    """What could not be read of an answer allows nothing, and may be what has to be answered."""
    cut = {"in": {"j": [0] * ANSWER_CAP, "k": "s3"}}
    rule = precedence({"tool": "pay", "args": {"to": "$x"}}, NESTED)
    assert played(rule, ("get", {}, cut), ("pay", {"to": "s3"})) == "AB"
    rule = no_data_leak("get", "send", "values")
    assert played(rule, ("get", {}, cut), ("send", {"b": "s3"})) == "AB"
    asked = response(NESTED, {"tool": "tell", "args": {"b": "$x"}})
    session = Guard([contract("rule").guarantees(asked)]).session()
    session.settle(session.decide("get").id, output=cut)
    assert session.finish()


@requirement("S-FAIL-05")
def test_answers_of_fifty_thousand_values_are_searched() -> None:
    """A thousand rows, and fifty thousand values, are found in an answer, each of them."""
    for size in (1_000, 25_000):
        rows = [{"id": f"u{n}", "name": f"n{n}"} for n in range(size)]
        rule = value_from("pay", "to", "get")
        last = rows[-1]["id"]
        calls = [("get", {}, rows), ("pay", {"to": last}), ("pay", {"to": "u"})]
        assert played(rule, *calls) == "AAB"
        found = {"tool": "get", "output": {"path": "[].id", "bind": "$x"}}
        rule = precedence({"tool": "pay", "args": {"to": "$x"}}, found)
        assert played(rule, *calls) == "AAB"


def test_a_decorated_tool_hides_nothing() -> None:
    """What a decorated tool is given is read in the same way: cut off is not missing."""
    guard = Guard([contract("rule").guarantees(arg_blacklist("bash", "command", ["rm -rf"]))])

    @guard.tool
    def bash(x: Any = None, command: Any = "", **more: Any) -> str:
        return "ran"

    with guard.session().active(), pytest.raises(Exception, match="not allowed"):
        bash(x=[[[]]] * VALUES_CAP, command="rm -rf /")
    with guard.session().active(), pytest.raises(Exception, match="not allowed"):
        bash(command={"x": [[]] * VALUES_CAP, "run": "rm -rf /"})
    with guard.session().active():
        assert bash(x=[[[]]] * VALUES_CAP, command="ls") == "ran"


@requirement("S-FAIL-05")
@pytest.mark.parametrize("read", [freeze, as_data])
def test_the_bounds_are_reached_themselves(read: Any) -> None:
    """What has exactly as many values, levels and digits as are read is read, and no more."""
    deep: Any = []
    fields: Any = {}
    for _ in range(DEPTH_CAP - 2):
        deep, fields = [deep], {"a": fields}
    assert not is_cut(read({"a": deep, "b": fields}))
    assert is_cut(read({"a": [deep]}))
    assert is_cut(read({"b": {"a": fields}}))
    whole = int(read is as_data)  # here the map around is a value itself
    empty: tuple[Any, ...] = ([], {})
    for inner in empty:
        assert not is_cut(read({"a": [inner] * (VALUES_CAP - 1 - whole)}))
        assert is_cut(read({"a": [inner] * (VALUES_CAP - whole)}))
    assert not is_cut(read({"a": [0] * (VALUES_CAP - 2 - whole), "b": []}))
    assert is_cut(read({"a": [0] * (VALUES_CAP - 1 - whole), "b": []}))


@requirement("S-FAIL-05")
@pytest.mark.parametrize("read", [as_data, as_members])
def test_the_levels_and_values_of_what_a_host_gives_are_counted(read: Any) -> None:
    """One level too deep is unreadable; so is one list too many, even an empty one."""
    deep: Any = []
    for _ in range(DEPTH_CAP - 2 + (read is as_members)):
        deep = [deep]
    assert not is_cut(read({"a": deep}))
    assert is_cut(read({"a": [deep]}))
    assert as_members({"a": [1, 2], "b": []}, 4) == {"a": [1, 2], "b": []}
    assert as_members({"a": [1, 2], "b": []}, 3) == {"a": [1, 2], "b": UNREADABLE}
    assert as_members({"a": [1, 2], "b": 3}, 3) == {"a": [1, 2], "b": 3}


@requirement("S-FAIL-05")
def test_a_text_is_searched_as_deep_as_arguments_are_read() -> None:
    """Every list and object is one level, wherever the text stands in it."""
    texts: dict[str, Any] = {"ls": "ls", "rm": "rm -rf /"}
    for _ in range(DEPTH_CAP // 2 - 1):
        texts = {name: {"run": [each]} for name, each in texts.items()}
    rule = arg_blacklist("bash", "run", ["rm -rf"])
    assert played(rule, ("bash", {"run": texts["ls"]})) == "A"
    assert played(rule, ("bash", {"run": texts["rm"]})) == "B"
    assert played(rule, ("bash", {"run": [[[texts["ls"]]]]})) == "B"  # it is not read


@requirement("S-FAIL-05")
def test_all_arguments_together_have_as_many_values_as_are_read() -> None:
    """One more cannot be told, wherever it stands."""
    rule = arg_blacklist("bash", "*", ["rm -rf"])
    args: dict[str, Any] = dict.fromkeys(map(str, range(VALUES_CAP // 2 - 1)), "ls")
    assert played(rule, ("bash", args | {"x": ["ls"] * (VALUES_CAP // 2 - 1)})) == "A"
    assert played(rule, ("bash", args | {"x": ["ls"] * (VALUES_CAP // 2)})) == "B"


class Name(Enum):
    """Names of arguments, as a host may have them."""

    RUN = "run"


@pytest.mark.parametrize("name", [Name.RUN, b"run"], ids=repr)
def test_an_argument_is_named_as_it_is_written(name: Any) -> None:
    """A name that is no text is read as the text it stands for."""
    assert played(arg_blacklist("bash", "run", ["rm -rf"]), ("bash", {name: "rm -rf /"})) == "B"
    assert played(arg_blacklist("bash", "run", ["rm -rf"]), ("bash", {name: "ls"})) == "A"


@requirement("S-FAIL-05")
@pytest.mark.parametrize("long", [1e300, Decimal("0." + "3" * 300)], ids=["large", "exact"])
def test_digits_are_counted_as_they_would_be_written(long: Any) -> None:
    """A power of ten has as many as an exact fraction."""
    assert not is_cut(freeze({"a": [long] * (DIGITS_CAP // 300)}))
    assert is_cut(freeze({"a": [long] * (DIGITS_CAP // 300 + 1)}))


def is_cut(value: Any) -> bool:
    """Whether something in there is unreadable."""
    inner = value.values() if isinstance(value, dict) else value
    if isinstance(value, dict | list):
        return any(map(is_cut, inner))
    return value is UNREADABLE


def test_the_numbers_of_a_call_are_capped_together() -> None:
    """Many long numbers are unreadable, and what stands beside them is read."""
    rule = arg_blacklist("pay", "f", ["rm"]), {"ltl": "G !called(pay, n > 5)"}
    long = [10**4000 - n for n in range(4_900)]
    assert played(rule[0], ("pay", {"f": long})) == "B"
    assert played(rule[0], ("pay", {"x": long, "f": "ls"})) == "A"
    assert played(rule[1], ("pay", {"x": long, "n": 3})) == "A"
    assert played(rule[1], ("pay", {"x": long, "n": [10**4000]})) == "B"
