"""deepagents, where it is installed: its built-in tools and sub-agents are held to contracts."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

from sponsio_like.adapters.langchain import guarded
from sponsio_like.contract import Contract
from sponsio_like.guard import Guard
from tests.adapters.harness import Report, Turn
from tests.adapters.rules import few
from tests.adapters.scripted import Scripted, report
from tests.adapters.talks import ask

deepagents = pytest.importorskip("deepagents")


@tool
def pay(amount: int) -> str:
    """Pay an amount."""
    return f"paid {amount}"


def came(rule: Contract, *turns: Turn, later: bool) -> Report:
    """What the model is told in one run of a deep agent."""
    guard = Guard((rule,), elsewhere=["write_file", "task", "pay"])
    agent: Any = deepagents.create_deep_agent(
        model=Scripted(script=lambda: [*turns, "done"]),
        tools=[pay],
        middleware=guarded(guard, [pay]),
        checkpointer=InMemorySaver(),
    )
    config: Any = {"configurable": {"thread_id": "one"}}
    given = {"messages": [("user", "go on")]}
    run = asyncio.run(agent.ainvoke(given, config)) if later else agent.invoke(given, config)
    return report(run, ())


ways = pytest.mark.parametrize("later", [False, True])
"""With `invoke`, and with `ainvoke`."""


@ways
def test_built_in_tools_are_guarded(*, later: bool) -> None:
    """One file may be written; it is read, and others run."""
    first = ask("write_file", file_path="/a.txt", content="hello")
    again = [*ask("write_file", "b", file_path="/b.txt", content="x"), *ask("pay", "c", amount=1)]
    told = came(few("write_file", 1), first, again, ask("ls", "d", path="/"), later=later)
    assert "`few write_file`" in told.refused("b")
    assert (told.result("c"), told.result("d")) == ("paid 1", "['/a.txt']")


@ways
def test_its_sub_agents_are_calls(*, later: bool) -> None:
    """A task that is given to a sub-agent is a call of `task`."""
    task = {"description": "do it", "subagent_type": "general-purpose"}
    told = came(few("task", 1), ask("task", **task), ask("task", "b", **task), later=later)
    assert told.result("a") == "done"
    assert "`few task`" in told.refused("b")
