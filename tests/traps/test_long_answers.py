"""Answers that are as long as they can be, and longer: few calls of functions for each value."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sponsio_like import Allowed, Blocked, Guard, Session, contract
from sponsio_like.syntax import read
from sponsio_like.values.limits import ANSWER_CAP, JSON_CAP
from tests.support.costs import work

FOUND = "G(called(pay, id = $x) -> Y O(done(look) & output.rows[].id = $x))"
LARGE = "G(called(pay) -> Y O(done(look) & output.rows[].total > 5000))"
TEXTS = "G(called(pay) -> Y O(done(look) & output.a[].rows[].total > 5000))"
OWED = "G(done(look) & output.rows[].id = $x -> X F done(pay, id = $x))"


def rows(many: int) -> dict[str, Any]:
    return {"rows": [{"id": i, "name": f"n{i}", "total": i * 7 % 1_000} for i in range(many)]}


def looked(formula: str) -> tuple[Session, str]:
    session = Guard([contract("c").guarantees(read(formula))]).session()
    return session, session.decide("look").id


@pytest.mark.parametrize("formula", [FOUND, LARGE, OWED])
def test_a_row_costs_few_calls(formula: str) -> None:
    """Some thirty for each row, and fifty where its values are remembered; there were fifty."""
    session, id = looked(formula)
    answer = rows(ANSWER_CAP // 4 - 10)
    assert work(lambda: session.settle(id, output=answer)) < 40 * ANSWER_CAP // 4


MANY = {
    "numbers": "[" + "0," * 400_000 + "0]",
    "lists": "[" + "[],".join(["["] * 900) + "]",
    "nested": json.dumps([[[[[]]]]] * 20_000),
    "long": json.dumps(["x" * JSON_CAP]),
    "quotes": '["' + '\\"' * 300_000 + "," * ANSWER_CAP,
    "open": "[" + '"a' * 200_000 + "," * ANSWER_CAP,
}


@pytest.mark.parametrize("name", MANY)
@pytest.mark.parametrize("formula", [FOUND, LARGE])
def test_a_text_with_too_many_values_is_not_read(name: str, formula: str) -> None:
    """A JSON text of a million numbers took two seconds: no answer has so many values."""
    session, id = looked(formula)
    assert work(lambda: session.settle(id, output=MANY[name])) < 2_000
    assert isinstance(session.decide("pay", {"id": 7}), Blocked)


def test_a_text_is_read_up_to_the_cap() -> None:
    """As many values as another answer has are read of it, and commas in texts are none."""
    for data in (rows(ANSWER_CAP // 4 - 10), {"rows": [{"id": 7, "note": "a, " * 30_000}]}):
        session, id = looked(FOUND)
        session.settle(id, output=json.dumps(data))
        assert isinstance(session.decide("pay", {"id": 7}), Allowed)


def test_many_such_texts_in_one_answer_are_counted_together() -> None:
    """Of a hundred texts of 1,800 values each some are read, and the others are unreadable."""
    texts = [json.dumps({"rows": [{"total": 1}] * 900, "k": k}) for k in range(100)]
    session, id = looked(TEXTS)
    assert work(lambda: session.settle(id, output={"a": texts})) < 1_200_000
    assert isinstance(session.decide("pay"), Blocked)
    (violation,) = session.decide("pay").violations  # type: ignore[union-attr]
    assert violation.contract == "c"
