"""Graphs in graphs of other packages, where they are installed (`make test-adapters`).

Supervisor, swarm and deepagents around an inner graph: the caps of both hold, as in
`tests/adapters/test_nesting.py`.
"""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import MessagesState

from sponsio_like.adapters.langchain import guarded
from sponsio_like.adapters.langgraph import GuardedState
from sponsio_like.errors import SessionError
from tests.adapters.nests import (
    RELATIONS,
    Guards,
    Inside,
    Ledger,
    Outer,
    acts,
    agent_inside,
    few,
    go,
    graph_inside,
    pays,
    turns,
)
from tests.adapters.talks import ask
from tests.adapters.test_nesting import FORGETS, LACKS, NODES, TOOLS

GO: Any = {"messages": [("user", "go on")]}


class Crew(MessagesState, GuardedState):
    """What the agents of a supervisor or a swarm share."""

    remaining_steps: int
    active_agent: str


def supervisor(made: Guards) -> Any:
    """A supervisor of the inner graph and bob."""
    package = pytest.importorskip("langgraph_supervisor")
    script = ask("transfer_to_alice", "s"), ask("transfer_to_bob", "t")
    state = Crew if made.options.get("shared") else None
    agents, model = [made.alice(), made.bob()], acts("boss", *script)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it is made of what is deprecated
        crew = package.create_supervisor(agents, model=model, state_schema=state)
    return crew.compile(checkpointer=made.saver)


def swarm(made: Guards) -> Any:
    """A swarm: the inner graph pays twice and hands over to bob, who stays."""
    package = pytest.importorskip("langgraph_swarm")
    hand_over = package.create_handoff_tool(agent_name="bob")
    alice = made.alice(hand_over, last=[ask("transfer_to_bob", "t")])
    bob = made.bob(package.create_handoff_tool(agent_name="alice"))
    state = Crew if made.options.get("shared") else package.SwarmState
    crew = package.create_swarm([alice, bob], default_active_agent="alice", state_schema=state)
    return crew.compile(checkpointer=made.saver)


def deep_agent(made: Guards) -> Any:
    """A deep agent whose sub-agent is the inner graph."""
    package = pytest.importorskip("deepagents")
    task = ask("task", "r", description="why", subagent_type="general-purpose")
    worker = {"name": "general-purpose", "description": "works", "runnable": made.alice()}
    tools = [made.ledger.pay("o")]
    return package.create_deep_agent(
        model=acts("boss", task, *pays("o", 1)),
        tools=tools,
        middleware=guarded(made.outer, tools),
        subagents=[worker],
        checkpointer=made.saver,
    )


STAYS = {
    "one guard": FORGETS,
    "one guard, shared": ["iio", "o"],
    "its own": FORGETS,
    "its own, shared": ["iio", ""],
    "its own, goes on": ["iio", ""],
    "its own, each run": ["io", "o"],
}
"""What runs in a swarm: in the second turn bob is the one who is spoken to."""

OUTERS: dict[Outer, dict[str, list[str]]] = {supervisor: NODES, swarm: STAYS, deep_agent: TOOLS}


@pytest.mark.parametrize("later", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("inside", [graph_inside, agent_inside])
@pytest.mark.parametrize("outer", OUTERS)
def test_both_caps_hold(outer: Outer, inside: Inside, relation: str, *, later: bool) -> None:
    """Over two turns; what is within them runs. What cannot be held is refused, and says why."""
    came, expected = turns(outer, inside, relation, later=later), OUTERS[outer][relation]
    for each in came.values():
        assert each == expected if len(expected) > 1 else expected[0] in each[0]


@pytest.mark.parametrize("later", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("relation", RELATIONS)
def test_both_caps_hold_of_a_sub_agent_that_deepagents_makes(relation: str, *, later: bool) -> None:
    """It is made of tools and middlewares; it cannot have `checkpointer=True`."""
    package = pytest.importorskip("deepagents")
    guards, options = RELATIONS[relation]
    if "saver" in options:
        pytest.skip("deepagents compiles it")
    ledger, (outer, inner) = Ledger(), guards()
    mine, tools = [ledger.pay("i")], [ledger.pay("o")]
    worker = {
        "name": "general-purpose",
        "description": "works",
        "system_prompt": "Work.",
        "model": acts("alice", *pays("i", 2)),
        "tools": mine,
        "middleware": guarded(inner, mine, **options),
    }
    agent = package.create_deep_agent(
        model=acts(
            "boss",
            ask("task", "r", description="why", subagent_type="general-purpose"),
            *pays("o", 1),
        ),
        tools=tools,
        middleware=guarded(outer, tools),
        subagents=[worker],
        checkpointer=InMemorySaver(),
    )
    expected = TOOLS[relation]
    if expected in (FORGETS, LACKS):
        with pytest.raises(SessionError, match=expected[0]):
            go(agent, GO, later=later)
        return
    for each in expected:
        del ledger.ran[:]
        go(agent, GO, later=later)
        assert "".join(ledger.ran) == each


@pytest.mark.parametrize("later", [False, True], ids=["sync", "async"])
def test_a_deep_agent_that_shares_hands_its_session_to_sub_agents(*, later: bool) -> None:
    """With `shared=True` deepagents passes the channel on, and takes it back."""
    package = pytest.importorskip("deepagents")
    ledger, both = Ledger(), few("both", 4)
    tools = [ledger.pay("o")]
    worker = {
        "name": "general-purpose",
        "description": "works",
        "runnable": agent_inside(
            few("inner", 3), [ledger.pay("i")], acts("alice", *pays("i", 2)), shared=True
        ),
    }
    task = ask("task", "r", description="why", subagent_type="general-purpose")
    agent = package.create_deep_agent(
        model=acts("boss", task, *pays("o", 1)),
        tools=tools,
        middleware=guarded(both, tools, shared=True),
        subagents=[worker],
        checkpointer=InMemorySaver(),
    )
    for expected in ("iio", "io"):
        del ledger.ran[:]
        go(agent, GO, later=later)
        assert "".join(ledger.ran) == expected
