"""Agents that are nodes beside each other and share a session: none ends what another one does."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import MessagesState

from sponsio_like.adapters.langgraph import GuardedState
from sponsio_like.guard.guard import Guard
from tests.adapters.apps import joined
from tests.adapters.rules import few
from tests.adapters.scripted import Line, Scripted
from tests.adapters.talks import More, Way, ask, everywhere

WAIT = 20.0
"""Seconds after which a tool that waits for another branch gives up."""


class Shared(MessagesState, GuardedState):
    """The state of the branches and of the graph around them."""


@everywhere
@pytest.mark.parametrize("turns", [1, 2, 3])
def test_a_call_of_one_branch_goes_on_while_another_one_takes_its_turns(
    way: Way, turns: int
) -> None:
    """A payment takes as long as the branch beside it; it is known to have been made, and once."""
    ran: list[str] = []
    records: list[dict[str, Any]] = []
    begun, others = threading.Event(), threading.Semaphore(0)

    @tool
    def pay(amount: int) -> str:
        """Pay an amount, when the other branch has done all that it wants to."""
        begun.set()
        assert all(others.acquire(timeout=WAIT) for _ in range(turns))
        ran.append(f"pay {amount}")
        return "paid"

    @tool
    def send(text: str) -> str:
        """Send a mail, when the payment has begun."""
        assert begun.wait(WAIT)
        ran.append(f"send {text}")
        others.release()
        return "sent"

    guard = Guard([few("pay", 1), few("send", turns)], log=records.append, log_args=True)
    payer: list[Line] = [ask("pay", "p", amount=1), ask("pay", "q", amount=2), "done"]
    sender: list[Line] = [*(ask("send", f"s{n}", text=f"{n}") for n in range(turns)), "done"]
    branches = [
        way.build(
            guard,
            [pay, send],
            _model(script),
            more=More(schema=Shared, saver=None),
            shared=True,
        )
        for script in (payer, sender)
    ]
    graph = joined(*([each] for each in branches), saver=InMemorySaver(), state=Shared)
    given, config = {"messages": [("user", "go")]}, {"configurable": {"thread_id": "one"}}
    if way.later:
        asyncio.run(graph.ainvoke(given, config))
    else:
        graph.invoke(given, config)
    assert sorted(ran) == ["pay 1", *(f"send {n}" for n in range(turns))]
    ended = [each["status"] for each in records if each["event"] == "settlement"]
    assert ended == ["ok"] * (turns + 1)


def _model(script: list[Line]) -> Scripted:
    return Scripted(script=lambda: script)
