"""What is critical, with each next step in another process, over SQLite and over Postgres.

Two that run at once stand in test_overtaken.py, those that are killed in test_killed.py.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.graph import START, MessagesState, StateGraph

from sponsio_like.adapters.langchain import guarded
from sponsio_like.adapters.langgraph import guard_tools
from sponsio_like.errors import SessionError
from sponsio_like.guard.guard import Guard
from tests.adapters.lives import WAYS, Home, Left, Life, pay_tool, run
from tests.adapters.processes import barrier, elsewhere, start
from tests.adapters.rules import few, pay, send
from tests.adapters.scripted import Line, Scripted
from tests.adapters.talks import More, ask
from tests.support.size import WHOLE

GO_ON = {"messages": [("user", "go on")]}
MODES = ["messages", "updates", "values", "custom", "debug", "tasks", "checkpoints"]

ALL = [(keeps, way) for keeps in ("sqlite", "postgres") for way in WAYS]
SOME = [each for each in ALL if each[0] == "sqlite" or each[1] in ("graph", "agent async")]
everywhere = pytest.mark.parametrize(("keeps", "way"), ALL if WHOLE else SOME)


@pytest.fixture
def home(keeps: str, tmp_path: Path, request: pytest.FixtureRequest) -> Home:
    """A thread of its own."""
    address = "" if keeps == "sqlite" else request.getfixturevalue("address")
    return Home(str(tmp_path), address, thread=str(tmp_path))


# --- two guards -----------------------------------------------------------------------------------


def _two_guards(home: Home, way: str, number: int) -> None:
    """The user asks for a payment and a mail, each under a guard of its own."""
    script: list[Line] = [[pay(number, f"a{number}")], [send("hello", f"b{number}")], "done"]
    model = Scripted(script=lambda: script)
    graph = (_two_pairs if way.startswith("agent") else _two_nodes)(model, home)
    run(home, graph, GO_ON, later=WAYS[way].later)


def _send_tool(home: Home) -> BaseTool:
    def send(to: str, text: str) -> str:
        """Send a mail."""
        home.note("mails", f"{to} {text}")
        return "sent"

    return StructuredTool.from_function(send)


def _two_pairs(model: Any, home: Home) -> Any:
    tools = [pay_tool(home), _send_tool(home)]
    money = guarded(Guard([few("pay", 2)]), tools, name="money")
    mail = guarded(Guard([few("send", 2)]), tools, name="mail")
    return create_agent(model, tools, middleware=[*money, *mail])


def _two_nodes(model: Any, home: Home) -> Any:
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(MessagesState)

    def where(state: Any) -> str:
        calls = state["messages"][-1].tool_calls
        return {"pay": "money", "send": "mail"}[calls[0]["name"]] if calls else "__end__"

    builder.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
    guard_tools(builder, Guard([few("pay", 2)]), [pay_tool(home)], name="money")
    guard_tools(builder, Guard([few("send", 2)]), [_send_tool(home)], name="mail")
    builder.add_edge(START, "model")
    builder.add_conditional_edges("model", where)
    builder.add_edge("money", "model")
    builder.add_edge("mail", "model")
    return builder.compile()


@pytest.mark.long
@everywhere
def test_two_guards_hold_both(home: Home, way: str) -> None:
    """Neither forgets what it has seen in another process, where the other one has decided."""
    for number in range(3):
        elsewhere(_two_guards, home, way, number)
    assert home.lines("receipts") == ["0", "1"]
    assert len(home.lines("mails")) == 2


# --- a client leaves ------------------------------------------------------------------------------


def _left(home: Home, way: str, mode: str, number: int) -> None:
    """A client reads what is streamed until the answer of the tool, and leaves."""
    guard = Guard([few("pay", 1)])
    talk = WAYS[way].under(guard, [pay_tool(home)], more=More(saver=None))
    talk.plan(ask("pay", f"c{number}", amount=number))
    before = len(home.lines("receipts"))

    def enough(chunk: Any) -> bool:
        answer = not isinstance(chunk, tuple) or isinstance(chunk[0], ToolMessage)
        return answer and len(home.lines("receipts")) > before

    async def later() -> None:
        async with home.asaver() as talk.graph.checkpointer:
            stream = talk.graph.astream(GO_ON, home.config, stream_mode=mode)
            async for chunk in stream:
                if enough(chunk):
                    break
            await stream.aclose()

    if talk.later:
        asyncio.run(later())
        return
    with home.saver() as talk.graph.checkpointer:
        stream = talk.graph.stream(GO_ON, home.config, stream_mode=mode)
        for chunk in stream:
            if enough(chunk):
                break
        stream.close()


@pytest.mark.parametrize("mode", MODES if WHOLE else ["messages", "updates"])
@everywhere
def test_a_client_that_leaves_gets_no_more_than_the_cap(home: Home, way: str, mode: str) -> None:
    """The next message comes to another process: what was let through is in a checkpoint."""
    for number in range(2):
        elsewhere(_left, home, way, mode, number)
    assert home.lines("receipts") == ["0"]


# --- answers --------------------------------------------------------------------------------------


def _clicked(life: Life, tickets: list[str], at_once: Any = None) -> Left | str:
    """A manager says yes; if another process is at it, what the manager is told."""
    if at_once is not None:
        at_once.wait()
    try:
        return life.click(tickets)
    except SessionError as error:
        return str(error)


@pytest.mark.long
@everywhere
@pytest.mark.parametrize("world", [False, True], ids=["session", "world"])
def test_an_answer_that_comes_again_in_another_process_is_one_answer(
    home: Home, way: str, world: bool
) -> None:
    """The first click has run the call to its end; the second one finds nothing to answer."""
    life = Life(home, way, "held", world)
    tickets = elsewhere(Life.say, life).tickets
    for _ in range(2):
        elsewhere(_clicked, life, tickets)
    assert home.paid == {230: 1}


@everywhere
def test_with_a_world_a_click_in_two_processes_at_once_is_one(home: Home, way: str) -> None:
    """One of them runs the call; the other one is told so, or tells the model."""
    life = Life(home, way, "held", world=True)
    tickets = elsewhere(Life.say, life).tickets
    both = barrier(2)
    clicks = [start(_clicked, life, tickets, both) for _ in range(2)]
    came = [each.came() for each in clicks]
    assert home.paid == {230: 1}, came


@pytest.mark.long
@everywhere
def test_with_a_world_a_click_while_another_process_runs_the_call(home: Home, way: str) -> None:
    """The second click comes when the call runs: it is told so, and the first one goes on."""
    life = Life(home, way, "held", world=True)
    tickets = elsewhere(Life.say, life).tickets
    first = start(_clicked, replace(life, waits=True), tickets)
    home.wait("receipts")
    assert "runs already" in elsewhere(_clicked, life, tickets)
    home.note("goes on", "")
    assert first.came().told == {"b": ["paid 230"]}
    assert home.paid == {230: 1}


@pytest.mark.long
@everywhere
def test_one_answer_is_for_one_call_where_ids_come_again(home: Home, way: str) -> None:
    """A model server writes `call_0` each turn: an answer that comes again lets nothing run."""
    life = Life(home, way, "held")
    tickets = elsewhere(Life.say, life).tickets
    assert elsewhere(Life.click, life, tickets).told == {"b": ["paid 230"]}
    again = elsewhere(Life.say, life).tickets
    assert again != tickets
    assert elsewhere(Life.click, life, tickets).tickets == again
    assert home.paid == {230: 1}
    assert elsewhere(Life.click, life, again).told == {"b": ["paid 230"]}
