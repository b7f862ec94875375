"""A contract file is loaded again while threads go on: they go on under the new contracts."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langchain_core.tools import tool
from langgraph.types import Command

from sponsio_like.adapters.langgraph import approve
from sponsio_like.errors import ContractError, InputMissing, SessionError
from sponsio_like.guard.guard import Guard
from tests.adapters.talks import AGENTS, GRAPHS, More, Way, agents, ask, everywhere, once
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


@tool
def look() -> str:
    """Look."""
    return "seen"


@pytest.fixture
def guard(tmp_path: Path) -> Guard:
    """Three payments, each at most 100; a person is asked about a larger one."""
    path = tmp_path / "contracts.yaml"
    path.write_text(TEXT.replace("MOST", "100").replace("STRATEGY", "escalate"))
    return Guard.from_yaml(path)


def added(tmp_path: Path, rule: str) -> None:
    """The file has one contract more."""
    path = tmp_path / "contracts.yaml"
    path.write_text(f"{path.read_text()}  - name: new\n    guarantee: {rule}\n")


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


@requirement("S-RELOAD-02")
@once
@pytest.mark.parametrize(
    ("rule", "error", "told"),
    [
        ("{pattern: ctx_required, tool: pay, key: stage, values: [open]}", InputMissing, "facts"),
        ("tool `pay` at most 1 times\n    world: true", ContractError, "on the world"),
        ("{pattern: no_keywords, words: [secret]}", InputMissing, "answers of the model"),
    ],
)
def test_contracts_that_could_not_be_kept_are_refused(
    way: Way, guard: Guard, tmp_path: Path, rule: str, error: type[Exception], told: str
) -> None:
    """As when the graph is built: there they would be idle, or end every run."""
    talk = way.under(guard, [pay])
    added(tmp_path, rule)
    if told == "answers of the model" and way in AGENTS:
        assert guard.reload()
        return
    with pytest.raises(error, match=told):
        guard.reload()
    assert talk.say(ask("pay", "a", amount=5)).result("a") == "paid"


@requirement("S-RELOAD-02")
@once
def test_tools_that_are_not_as_they_are_declared_are_refused(
    way: Way, guard: Guard, tmp_path: Path
) -> None:
    """As when the graph is built."""
    talk = way.under(guard, [pay])
    path = tmp_path / "contracts.yaml"
    path.write_text(
        f"{path.read_text()}tools: {{pay: {{fields: {{amount: integer, note: string}}}}}}\n"
    )
    with pytest.raises(ContractError, match="`pay` does not take `note`, which `tools` declares"):
        guard.reload()
    assert talk.say(ask("pay", "a", amount=5)).result("a") == "paid"


@requirement("S-RELOAD-02")
def test_who_watches_a_file_goes_on_after_contracts_that_could_not_be_kept(
    guard: Guard, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """It says so in Python's log, and loads what is written next."""
    talk = GRAPHS[0].under(guard, [pay])
    watch, before = guard.watch(0.01), guard.policy
    added(tmp_path, "{pattern: no_keywords, words: [secret]}")
    _until(lambda: "the contracts stay as they are" in caplog.text)
    (tmp_path / "contracts.yaml").write_text(TEXT.replace("MOST", "1").replace("STRATEGY", "block"))
    _until(lambda: guard.policy is not before)
    watch.stop()
    assert "at most 1" in talk.say(ask("pay", "a", amount=5)).refused("a")


def _until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not true() and time.monotonic() < end:
        time.sleep(0.01)


@requirement("S-RELOAD-01")
@once
def test_contracts_on_messages_hear_them_from_then_on(
    way: Way, guard: Guard, tmp_path: Path
) -> None:
    """Before, no contract has asked what the user says."""
    talk = way.under(guard, [pay])
    talk.say(ask("pay", "a", amount=5))
    added(tmp_path, "'`pay` only within 10 minutes of a user message'")
    assert guard.reload()
    assert talk.say(ask("pay", "b", amount=6)).result("b") == "paid"


@requirement("S-RELOAD-01")
@once
def test_a_contract_that_remembers_needs_a_checkpointer(way: Way, tmp_path: Path) -> None:
    """As in a graph that begins with it."""
    path = tmp_path / "contracts.yaml"
    small = TEXT[TEXT.index("  - name: small") :]
    text = f"version: 1\ncontracts:\n{small}".replace("MOST", "9").replace("STRATEGY", "block")
    path.write_text(text)
    guard = Guard.from_yaml(path)
    talk = way.under(guard, [pay], more=More(saver=None))
    talk.say(ask("pay", "a", amount=5), thread=None)
    added(tmp_path, "tool `pay` at most 1 times")
    assert guard.reload()
    with pytest.raises(SessionError, match="nothing keeps them"):
        talk.say(ask("pay", "b", amount=6), thread=None)


@requirement("S-RELOAD-01")
@agents
def test_tools_are_hidden_by_the_new_contracts(way: Way, guard: Guard, tmp_path: Path) -> None:
    """From the next time that the model is asked."""
    talk = way.under(guard, [pay, look], hide=True)
    talk.say(*[ask("pay", id, amount=5) for id in "abc"])
    assert talk.model.offered == ["look"]
    path = tmp_path / "contracts.yaml"
    path.write_text(path.read_text().replace("at most 3", "at most 4"))
    guard.reload()
    talk.say("hello")
    assert talk.model.offered == ["pay", "look"]
