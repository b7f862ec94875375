"""A refusal says which field, or which answer, could not be read, and why."""

from __future__ import annotations

from typing import Any

import pytest

from sponsio_like import Blocked, Guard, contract
from sponsio_like.patterns import absent, host_allowlist, precedence, scope_limit, value_from
from sponsio_like.values.limits import ANSWER_CAP, VALUES_CAP
from tests.semantics.manifest import requirement

VETTED = precedence(
    {"tool": "pay", "args": {"customer.id": "$w"}}, {"tool": "vet", "args": {"name": "$w"}}
)


def advice(rule: Any, tool: str, args: Any, *before: tuple[str, Any]) -> str:
    """What is said to a call that is refused, after calls with these answers."""
    session = Guard([contract("rule").guarantees(rule)]).session()
    for name, answer in before:
        session.settle(session.decide(name).id, output=answer)
    outcome = session.decide(tool, args)
    assert isinstance(outcome, Blocked)
    return outcome.advice


@requirement("S-CMP-11")
@pytest.mark.parametrize(
    ("customer", "why"),
    [
        ("evil", "a text, where an object is expected"),
        (7, "a plain value, where an object is expected"),
        ({"id": {"x": 1}}, "an object, where one value is expected"),
        ([0] * VALUES_CAP, "the call has more than 5,000 values"),
    ],
)
def test_a_refusal_says_which_field_could_not_be_read(customer: Any, why: str) -> None:
    """The path, and what stands there instead of what is needed."""
    said = f"`customer.id` could not be read: {why}"
    assert said in advice(VETTED, "pay", {"customer": customer})
    forbidden = absent({"tool": "pay", "args": {"customer.id": "evil"}})
    assert said in advice(forbidden, "pay", {"customer": customer})


def test_what_was_read_is_not_said_to_be_unreadable() -> None:
    """A field that is there, or is missing, has been read."""
    for args in ({"customer": {"id": "evil"}}, {}, {"customer": None}):
        assert "could not be read" not in advice(VETTED, "pay", args)


@requirement("S-CMP-11")
@pytest.mark.parametrize("answer", [{"rows": [0] * ANSWER_CAP}, "x y " * 20_000], ids=type)
def test_advice_sends_nobody_in_circles(answer: Any) -> None:
    """Where an answer was too large to read, it does not help to ask for it again."""
    rule = value_from("pay", "to", "get")
    said = advice(rule, "pay", {"to": "bob"}, ("get", answer))
    assert "the answer of call 0 could not be read: more than" in said
    assert "first call `get`" not in said
    assert "first call `get`" in advice(rule, "pay", {"to": "bob"}, ("get", answer), ("get", "ann"))


@requirement("S-CMP-11")
@pytest.mark.filterwarnings("ignore:.*every relative")
@pytest.mark.parametrize(
    ("rule", "field", "untold", "told"),
    [
        (scope_limit("read", ["f"], ["/w"]), "f", "src/users.$id.ts", "/etc/passwd"),
        (absent({"tool": "read", "args": {"f": {"outside": "/w"}}}), "f", "a/$b.ts", "/etc/a"),
        (absent({"tool": "read", "args": {"f": {"under": "/w"}}}), "f", "$b/c", "/w/a"),
        (host_allowlist("read", "f", ["a.com"]), "f", "a.com/x", "https://b.com/"),
    ],
)
def test_a_path_or_a_host_that_nobody_can_tell_is_said_to_be_so(
    rule: Any, field: str, untold: str, told: str
) -> None:
    """`src/users.$id.ts` lies in the folder, for all that the model sees."""
    kind = "url" if "com" in untold else "path"
    said = f"`{field}` could not be read: not all of it can be told as `{kind}`"
    assert said in advice(rule, "read", {field: untold})
    assert "could not be read" not in advice(rule, "read", {field: told})
