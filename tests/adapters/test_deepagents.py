"""deepagents, where it is installed: its built-in tools and sub-agents are held to contracts."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

from sponsio_like.adapters.langchain import guarded
from sponsio_like.contracts.definition import Contract
from sponsio_like.errors import ContractError
from sponsio_like.guard.guard import Guard
from tests.adapters.harness import Report, Turn
from tests.adapters.rules import few
from tests.adapters.scripted import Scripted, report
from tests.adapters.talks import ask

deepagents = pytest.importorskip("deepagents")


@tool
def pay(amount: int) -> str:
    """Pay an amount."""
    return f"paid {amount}"


def came(rule: Contract, *turns: Turn, later: bool, bare: bool = False, **more: Any) -> Report:
    """What the model is told in one run of a deep agent; `bare`: its sub-agent has no guard."""
    guard = Guard((rule,), elsewhere=["write_file", "task", "pay"], **more)
    worker = {
        "name": "general-purpose",
        "description": "works",
        "system_prompt": "Work.",
        "tools": [pay],
        "middleware": guarded(guard, [pay]),
    }
    agent: Any = deepagents.create_deep_agent(
        model=Scripted(script=lambda: [*turns, "done"]),
        tools=[pay],
        middleware=guarded(guard, [pay]),
        subagents=[] if bare else [worker],
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


@ways
@pytest.mark.parametrize("named", ["pay", "write_file"])
def test_a_sub_agent_without_a_guard_is_refused(named: str, *, later: bool) -> None:
    """`general-purpose` has all tools and none of the middlewares: a cap would not hold in it."""
    why = f"`general-purpose` has the tool `{named}`, which contracts name, and no guard"
    with pytest.raises(ContractError, match=why):
        came(few(named, 1), "done", later=later, bare=True)


@ways
def test_a_sub_agent_without_what_contracts_name_needs_no_guard(*, later: bool) -> None:
    """It cannot give tasks to others."""
    task = {"description": "do it", "subagent_type": "general-purpose"}
    told = came(few("task", 1), ask("task", **task), later=later, bare=True)
    assert told.result("a") == "done"


@ways
def test_where_nothing_is_enforced_a_sub_agent_without_a_guard_is_a_warning(
    caplog: pytest.LogCaptureFixture, *, later: bool
) -> None:
    """The agent goes on."""
    pays = ask("pay", amount=1)
    told = came(few("pay", 0), pays, later=later, bare=True, mode="observe")
    assert told.result("a") == "paid 1"
    assert "sub-agent `general-purpose` has the tool `pay`" in caplog.text
