"""What a guarded tool returns arrives as without contracts: artifacts, commands, lists, errors."""

from __future__ import annotations

import operator
from typing import Annotated, Any

import pytest
from langchain.agents import AgentState
from langchain_core.messages import ToolMessage
from langchain_core.tools import InjectedToolCallId, ToolException, tool
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import Command

from sponsio_like.adapters.langgraph.answers import result_of
from tests.adapters.harness import Call
from tests.adapters.rules import checked, few, told
from tests.adapters.talks import (
    More,
    Way,
    agent_of,
    agents,
    ask,
    everywhere,
    graph_of,
    graphs,
    older,
)

Id = Annotated[str, InjectedToolCallId]


class Noting(AgentState[Any]):
    """A conversation with notes."""

    notes: Annotated[list[str], operator.add]


@tool(response_format="content_and_artifact")
def search(query: str) -> tuple[str, dict[str, str]]:
    """Search for something; for the host there is a picture."""
    return "found", {"picture of": query}


@tool
def check() -> str:
    """Check what there is to check."""
    return "clean"


@tool
def pay(amount: int) -> str:
    """Pay an amount."""
    return f"paid {amount}"


@tool(return_direct=True)
def show(page: str) -> str:
    """Show a page to the user, and say no more."""
    return f"page {page}"


@tool
def note(text: str, id: Id) -> Command[Any]:
    """Note something in the state."""
    return Command(update={"messages": [ToolMessage("noted", tool_call_id=id)], "notes": [text]})


@tool
def leave(id: Id) -> Command[Any]:
    """Go to another node."""
    return Command(update={"messages": [ToolMessage("left", tool_call_id=id)]}, goto="other")


@tool
def both(text: str, id: Id) -> list[Any]:
    """Answer, and note something in the state."""
    return [ToolMessage("both done", tool_call_id=id), Command(update={"notes": [text]})]


@tool
def fail(why: str) -> str:
    """Fail."""
    raise ToolException(why)


@tool
def ask_bob(id: Id) -> Command[Any]:
    """Hand over to bob."""
    message = ToolMessage("bob takes over", tool_call_id=id)
    return Command(goto="bob", update={"messages": [message]}, graph=Command.PARENT)


fail.handle_tool_error = True

# --- what is returned -----------------------------------------------------------------------------


@everywhere
def test_an_artifact_arrives_beside_the_text(way: Way) -> None:
    """The model hears the text, the host finds the artifact, and contracts see the text."""
    rule = told('G(called(pay) -> Y O (called(search) & output = "found"))')
    talk = way.open([search, pay], rule)
    came = talk.say(ask("search", query="a cat"), ask("pay", "b", amount=5))
    assert came.message("a").artifact == {"picture of": "a cat"}
    assert (came.result("a"), came.result("b")) == ("found", "paid 5")


@everywhere
def test_a_command_of_a_tool_updates_the_state(way: Way) -> None:
    """The update arrives with the answer, and the tool has succeeded."""
    rule = told('G(called(pay) -> Y O (called(note) & output = "noted"))')
    talk = way.open([note, pay], rule, more=More(schema=Noting))
    came = talk.say(ask("note", text="a cat"), ask("pay", "b", amount=5), notes=[])
    assert came.state["notes"] == ["a cat"]
    assert (came.result("a"), came.result("b")) == ("noted", "paid 5")


@everywhere
def test_commands_of_a_batch_update_the_state_each(way: Way) -> None:
    """Two commands and a plain answer of one turn all arrive, and every call has its own answer."""
    talk = way.open([note, check], few("note", 2), more=More(schema=Noting))
    calls = [Call("note", {"text": text}, text) for text in ("cat", "dog", "cow")]
    came = talk.say([*calls, *ask("check", "d")], notes=[])
    assert came.state["notes"] == ["cat", "dog"]
    assert [came.result(each) for each in ("cat", "dog", "d")] == ["noted", "noted", "clean"]
    came.refused("cow")
    assert talk.statuses() == ["ok", "ok", "ok"]


@everywhere
@pytest.mark.skipif(
    older("langgraph-prebuilt", 1, 1), reason="the nodes of this version refuse lists"
)
def test_a_list_of_a_tool_arrives(way: Way) -> None:
    """A tool may return its answer and commands in one list."""
    talk = way.open([both, pay, check], checked(), few("both", 1), more=More(schema=Noting))
    came = talk.say(ask("both", text="a cat"), ask("both", "b", text="a dog"), notes=[])
    assert (came.result("a"), came.state["notes"]) == ("both done", ["a cat"])
    came.refused("b")


@everywhere
def test_an_error_that_a_tool_handles_is_a_failure(way: Way) -> None:
    """The model hears the tool's own words, and the call has not succeeded."""
    rule = told("G(called(pay) -> Y O done(fail))")
    talk = way.open([fail, pay], rule)
    came = talk.say(ask("fail", why="no paper"), ask("pay", "b", amount=5))
    assert came.refused("a") == "no paper"
    came.refused("b")
    assert talk.statuses() == ["error"]


# --- where it leads -------------------------------------------------------------------------------


@graphs
def test_a_command_of_a_tool_may_go_to_a_node(way: Way) -> None:
    """The node that the tool names runs, and the contracts remember the call."""
    went: list[str] = []
    nodes = {"other": lambda _: went.append("other")}
    talk = way.open([leave], few("leave", 1), more=More(nodes=nodes))
    assert talk.say(ask("leave")).result("a") == "left"
    talk.say(ask("leave")).refused("a")
    assert went == ["other"]


@agents
def test_a_command_of_a_tool_may_end_the_agent(way: Way) -> None:
    """`goto` of a tool is kept."""
    talk = way.open([finish, pay], few("finish", 1))
    came = talk.say(ask("finish"))
    assert came.result("a") == "finished"
    talk.say(ask("finish")).refused("a")


@tool
def finish(id: Id) -> Command[Any]:
    """Finish."""
    return Command(update={"messages": [ToolMessage("finished", tool_call_id=id)]}, goto=END)


class _Team:
    """Ann and bob are graphs in a graph; ann can hand over to bob."""

    def __init__(self, way: Way, tools: list[Any], *rules: Any) -> None:
        shared = More(schema=AgentState if way.build is agent_of else MessagesState, saver=None)
        self.ann = way.open(tools, *rules, more=shared, scope="run")
        self.ann.graph = self._around(self.ann.graph)

    def _around(self, graph: Any) -> Any:
        builder: StateGraph[Any, Any, Any, Any] = StateGraph(MessagesState)
        builder.add_node("ann", graph)
        builder.add_node("bob", lambda _: {"messages": [("ai", "bob is here")]})
        builder.add_edge(START, "ann")
        return builder.compile()


@everywhere
def test_a_tool_may_hand_over_to_another_agent(way: Way) -> None:
    """`Command.PARENT` reaches the graph around, with the update of the tool."""
    team = _Team(way, [ask_bob, pay], few("pay", 1))
    came = team.ann.say(ask("ask_bob"), thread=None)
    assert came.last == "bob is here"
    assert came.result("a") == "bob takes over"


@everywhere
def test_a_hand_over_that_is_refused_stays_here(way: Way) -> None:
    """Bob never runs, and the model hears why."""
    team = _Team(way, [ask_bob], few("ask_bob"))
    came = team.ann.say(ask("ask_bob"), thread=None)
    came.refused("a")
    assert came.said == ["done"]


# --- answers that go to the user ------------------------------------------------------------------


@agents
def test_a_direct_answer_ends_the_agent(way: Way) -> None:
    """What a tool with `return_direct` returns is the last message."""
    assert way.open([show], few("show", 5)).say(ask("show", page="one")).last == "page one"


@agents
def test_a_direct_answer_that_is_refused_goes_to_the_model(way: Way) -> None:
    """The model hears the advice, does what it says, and gets its direct answer."""
    rule = told("G(called(show) -> Y O done(check))")
    talk = way.open([show, check], rule)
    came = talk.say(ask("show", page="one"), ask("check", "b"), ask("show", "c", page="one"))
    assert "call `check`" in came.refused("a")
    assert came.last == "page one"


@agents
def test_a_refused_call_beside_a_direct_answer_is_heard(way: Way) -> None:
    """Where one of two direct answers is refused, the model goes on."""
    talk = way.open([show], few("show", 1))
    came = talk.say([*ask("show", page="one"), *ask("show", "b", page="two")])
    assert came.result("a") == "page one"
    came.refused("b")
    assert came.last == "done"


@pytest.mark.parametrize("build", [graph_of, agent_of])
def test_tools_are_what_they_were(build: Any) -> None:
    """Guarding wraps no tool: class, name, schema and flags are the author's."""
    before = [_authored(each) for each in (show, search, fail)]
    Way("any", build).open([show, search, fail], few("show", 1)).say(ask("show", page="one"))
    assert before == [_authored(each) for each in (show, search, fail)]


def _authored(each: Any) -> tuple[Any, ...]:
    """The class of a tool, and its fields, without what it keeps for later."""
    return type(each), {name: getattr(each, name) for name in type(each).model_fields}


@pytest.mark.parametrize(
    ("content", "output"),
    [
        ([{"type": "text", "text": '{"id": 7, "iban": "x1yz"}'}], {"id": 7, "iban": "x1yz"}),
        ([{"type": "text", "text": "fine", "id": "b1"}], "fine"),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "[1]"}], ["a", [1]]),
        ([{"type": "text", "text": "a"}, {"type": "image", "url": "u"}], None),
        ([], []),
    ],
)
def test_blocks_of_text_are_their_text(content: Any, output: Any) -> None:
    """What tools of MCP servers answer is read as the text in it; other blocks as they are."""
    message = ToolMessage(content, tool_call_id="1")
    assert result_of(message, "1") == {"output": content if output is None else output}
