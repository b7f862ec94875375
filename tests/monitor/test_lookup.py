"""What stands at a place of an event, held against the value that a variable has."""

from __future__ import annotations

import pytest

import sponsio_like.logic.formula as f
from sponsio_like.contracts.blocks import optional
from sponsio_like.event_types import Call
from sponsio_like.events.argument_atoms import arg_length
from sponsio_like.events.context import Context
from sponsio_like.monitor.parametric.lookup import Lookup, holds, ordered


def found(*values: object, unclear: bool = False) -> Lookup:
    """Values that stand at a place, perhaps beside one that cannot be read."""
    return Lookup(dict.fromkeys(values), unclear, there=True, mixed=False, bare=False)


@pytest.mark.parametrize(
    ("values", "unclear", "answer"),
    [
        ((1, 2), False, True),
        ((1, 9), False, False),
        ((1, 9), True, False),
        ((1, 2), True, None),
        ((), True, None),
        ((), False, True),
    ],
)
def test_a_condition_on_every_element(
    values: tuple[int, ...], unclear: bool, answer: object
) -> None:
    """One that is false decides it; one that cannot be read leaves open what the others keep."""
    assert holds(found(*values, unclear=unclear), "<", 5, "exact", every=True) is answer


@pytest.mark.parametrize(
    ("left", "right", "answer"),
    [("9", "10", True), ("b", "a", False), ("a", "b", True), ("9", 10, None), (9, "10", None)],
)
def test_texts_are_ordered_as_numbers_if_both_are_texts(
    left: object, right: object, answer: object
) -> None:
    """A text and a number have no order."""
    assert ordered(left, "<", right, "text") is answer


def test_what_may_be_missing_is_dealt_with_once_and_what_must_not_stays() -> None:
    """`missing: skip` is taken off the matches; `missing: refuse` is not."""
    must, may = f.Match(("a",), strict=True), f.Match(("b",), strict=False)
    assert [each.strict for each in optional((must, may, f.Match(("c",))))] == [True, None, None]


@pytest.mark.parametrize(("note", "answer"), [("four", True), ("fives", False)])
def test_a_text_that_is_longer_than_allowed_is_so_for_certain(note: str, answer: object) -> None:
    """That is false, and not unclear."""
    assert arg_length(Call("send", {"note": note}, "1"), Context(), "note", 4) is answer
