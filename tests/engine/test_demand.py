"""What a contract demands, in words: written down once, however often it is violated."""

from __future__ import annotations

import pytest

from sponsio_like import Blocked, Guard, contract
from sponsio_like.logic.formula import Node
from sponsio_like.syntax import show


def test_a_formula_is_written_down_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """At the first refusal; the ones after it, of every session, have the same words."""
    written = []

    def noted(node: Node) -> str:
        written.append(node)
        return show(node)

    monkeypatch.setattr("sponsio_like.engine.status.show", noted)
    texts = ("G(called(a) -> Y O called(b))", "G !called(c)")
    guard = Guard([contract(text).guarantees({"ltl": text}) for text in texts])
    said = []
    for _ in range(3):
        session = guard.session()
        for tool in "ac":
            outcome = session.decide(tool)
            assert isinstance(outcome, Blocked)
            said.append(outcome.violations[0].message)
    assert said[:2] * 3 == said
    assert said[0] != said[1]
    assert len(written) == 2
