"""A contract file is loaded again while threads go on: they go on under the new contracts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from langchain_core.tools import tool
from langgraph.types import Command

from sponsio_like.adapters.langgraph import approve
from sponsio_like.guard.guard import Guard
from tests.adapters.talks import Way, ask, everywhere
from tests.semantics.manifest import requirement

RAN: list[int] = []
ON: Any = {"configurable": {"thread_id": "one"}}
TEXT = """version: 1
contracts:
  - name: three
    guarantee: tool `pay` at most 3 times
  - name: small
    guarantee: {pattern: arg_value_range, tool: pay, field: amount, max: MOST}
    strategy: STRATEGY
"""


@tool
def pay(amount: int) -> str:
    """Pay an amount."""
    RAN.append(amount)
    return "paid"


@pytest.fixture
def guard(tmp_path: Path) -> Guard:
    """Three payments, each at most 100; a person is asked about a larger one."""
    path = tmp_path / "contracts.yaml"
    path.write_text(TEXT.replace("MOST", "100").replace("STRATEGY", "escalate"))
    return Guard.from_yaml(path)


def changed(guard: Guard, tmp_path: Path) -> None:
    """Each payment is at most 10; a larger one is blocked."""
    text = TEXT.replace("MOST", "10").replace("STRATEGY", "block")
    (tmp_path / "contracts.yaml").write_text(text)
    assert guard.reload()


@requirement("S-RELOAD-01")
@everywhere
def test_a_thread_goes_on_under_the_new_contracts(way: Way, guard: Guard, tmp_path: Path) -> None:
    """From the next turn on; the contract that means the same remembers."""
    talk = way.under(guard, [pay])
    talk.say(ask("pay", "a", amount=60))
    changed(guard, tmp_path)
    said = talk.say(
        ask("pay", "c", amount=60),
        ask("pay", "d", amount=6),
        ask("pay", "e", amount=7),
        ask("pay", "f", amount=8),
    )
    assert "at most 10" in said.refused("c")
    assert "at most 3 times" in said.refused("f")
    assert RAN == [60, 6, 7]


@requirement("S-RELOAD-01")
@everywhere
def test_an_answer_to_the_old_contracts_lets_nothing_past_the_new_ones(
    way: Way, guard: Guard, tmp_path: Path
) -> None:
    """A call waits while the file is loaded again."""
    talk = way.under(guard, [pay])
    (question,) = talk.say(ask("pay", "a", amount=900)).asked
    changed(guard, tmp_path)
    came = talk.go(Command(resume=approve(question["ticket"], by="ann")))
    assert "at most 10" in came.refused("a")
    assert RAN == []
