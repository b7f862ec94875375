"""Scenarios about graphs in graphs: sub-agents, subgraphs, branches.

In: a way. Out: the story of what was observed. A sub-agent is a tool whose body runs an agent, with
guarded tools of its own, under the same guard.
"""

from __future__ import annotations

from typing import Annotated, Any

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, InjectedToolCallId
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command

from sponsio_like.contracts.definition import Contract
from tests.adapters.apps import App, Both, Kit, State, Way, joined, kit, made_tool
from tests.adapters.harness import Call, Turn
from tests.adapters.rules import asked, pay, send, spending, told, yes
from tests.adapters.scenarios_people import ask, asking
from tests.adapters.scripted import resume

RESEARCH = Call("research", {"question": "why"}, "r")
SEARCH = Call("search", {"question": "where"}, "s")


def _sub_agent(made: Kit, name: str, script: tuple[Turn, ...]) -> BaseTool:
    inner = made.agent(script=[*script, "found"])

    def run(question: str) -> str:
        return str(inner.invoke({"messages": [("user", question)]})["messages"][-1].text)

    async def arun(question: str) -> str:
        state = await inner.ainvoke({"messages": [("user", question)]})
        return str(state["messages"][-1].text)

    run.__name__ = name
    return made_tool(made.way, run, arun)


def _with(way: Way, *contracts: Contract, **scripts: tuple[Turn, ...]) -> App:
    """An app with sub-agents, by name, and a tool that asks."""
    made = kit(way, *contracts)

    def build() -> Any:
        agents = [_sub_agent(made, name, script) for name, script in scripts.items()]
        return made.agent([*agents, asking(way)], saver=made.saver)

    return App(made, build)


# --- sub-agents -----------------------------------------------------------------------------------


def sub_agent(way: Way) -> str:
    """A payment, a sub-agent that pays twice, then payments again."""
    app = _with(way, spending(100), research=([pay(30, "a")], [pay(20, "b")]))
    state = app.say([pay(40, "c")], [RESEARCH], [pay(10, "d")], [pay(1, "e")])
    app.note("run", state)
    return app.told()


def sub_agent_beside(way: Way) -> str:
    """A sub-agent pays 60 beside a payment of 60, when both would be too much."""
    app = _with(way, spending(100), research=([pay(60, "a")],))
    app.note("run", app.say([pay(60, "b"), RESEARCH], [pay(40, "c")], [pay(1, "d")]))
    return app.told()


def sub_agent_depth(way: Way) -> str:
    """No payment is allowed below depth 0."""
    app = _with(way, told("G(called(pay) -> depth() <= 0)"), research=([pay(1, "a")],))
    app.note("run", app.say([pay(2, "b")], [RESEARCH], [pay(3, "c")]))
    return app.told()


def sub_agents_with_equal_ids(way: Way) -> str:
    """Two sub-agents beside each other make the same payment, each under the same call id."""
    app = _with(way, spending(100), research=([pay(30, "a")],), search=([pay(30, "a")],))
    bench = app.kit.bench
    bench.pause["pay"] = lambda: len(bench.ran) > 1
    app.note("run", app.say([RESEARCH, SEARCH], [pay(40, "b")], [pay(1, "c")]))
    return app.told()


def sub_agent_held(way: Way) -> str:
    """A sub-agent pays, then wants to pay more than it may without an approval."""
    script = [pay(20, "a")], [pay(60, "b")]
    app = _with(way, asked(50), spending(100), research=script)
    state = app.say([RESEARCH, send("hello", "c")], [pay(20, "d")], [pay(1, "e")])
    app.note("run", state)
    app.note("approved", app.answer(state, yes("b")))
    return app.told()


def sub_agents_held(way: Way) -> str:
    """Two sub-agents wait for an approval, and get it one after the other (in all 170)."""
    scripts = {"research": ([pay(60, "a")],), "search": ([pay(70, "b")],)}
    app = _with(way, asked(50), spending(170), **scripts)
    state = app.say([RESEARCH, SEARCH], [pay(40, "c")], [pay(1, "d")])
    app.story.append(f"run: {len(state['__interrupt__'])} interrupts")
    state = app.run(_approval(state, "b"))
    app.note("the second approved", state)
    app.note("the first approved", app.run(_approval(state, "a")))
    return app.told()


def _approval(state: State, call: str) -> Command[Any]:
    """The answer to this call, to the interrupt that asks for it."""
    for each in state["__interrupt__"]:
        if any(asked["call"] == call for asked in each.value["held"]):
            said = resume(each.value["held"], yes(call)).resume
            return Command(resume={each.id: said})
    raise LookupError(call)


def sub_agent_finished(way: Way) -> str:
    """A sub-agent has paid and finished; a tool beside it asks a person, and gets the answer."""
    app = _with(way, spending(100), research=([pay(40, "a")],))
    state = app.say([RESEARCH, ask("size", "b")], [pay(60, "c")], [pay(1, "d")])
    app.note("run", state)
    app.note("answered", app.run(Command(resume="small")))
    return app.told()


def sub_agent_then_held(way: Way) -> str:
    """A sub-agent has paid; the next payment waits for an approval."""
    app = _with(way, asked(50), spending(100), research=([pay(40, "a")],))
    state = app.say([RESEARCH], [pay(60, "b")], [pay(1, "c")])
    app.note("run", state)
    app.note("approved", app.answer(state, yes("b")))
    return app.told()


# --- subgraphs ------------------------------------------------------------------------------------


def subgraph(way: Way) -> str:
    """An agent is a node of another graph, and a contract remembers."""
    made = kit(way, spending(100))
    app = App(made, lambda: joined([made.agent()], state=MessagesState, saver=made.saver))
    app.note_of("run", lambda: app.say([pay(60, "a")]))
    return app.told()


def shared_subgraphs(way: Way) -> str:
    """Two agents are nodes of another graph, one after the other, with `shared=True`."""
    made = kit(way, spending(100))

    def build() -> Any:
        agents = [made.agent(shared=True, agent=each) for each in ("first", "second")]
        return joined(agents, saver=made.saver)

    app = App(made, build)
    app.note("run", app.say([pay(60, "a")], "done", [pay(60, "b")], [pay(30, "c")], "done"))
    app.note("next run", app.say([pay(10, "d")], "done", [pay(1, "e")], "done"))
    return app.told()


def handed_over(way: Way) -> str:
    """An agent pays and hands over to another node, which shares the channel."""
    made = kit(way, spending(100))

    def hand_over(tool_call_id: Annotated[str, InjectedToolCallId]) -> Command[Any]:
        answer = ToolMessage("handed over", tool_call_id=tool_call_id)
        return Command(graph=Command.PARENT, goto="second", update={"messages": [answer]})

    async def ahand_over(tool_call_id: Annotated[str, InjectedToolCallId]) -> Command[Any]:
        return hand_over(tool_call_id)

    def build() -> Any:
        hands = made_tool(way, hand_over, ahand_over)
        turns = [pay(60, "a")], [Call("hand_over", {}, "b")]
        builder: StateGraph[Any, Any, Any, Any] = StateGraph(Both)
        builder.add_node("first", made.agent([hands], turns, shared=True))
        builder.add_node("second", made.agent(shared=True))
        builder.add_edge(START, "first")
        return builder.compile(checkpointer=made.saver)

    app = App(made, build)
    app.note("run", app.say([pay(50, "c")], [pay(40, "d")]))
    return app.told()


def branches(way: Way) -> str:
    """Two agents are nodes beside each other, with `shared=True`, and both pay."""
    made = kit(way, spending(100))

    def build() -> Any:
        agents = [made.agent(shared=True) for _ in range(2)]
        return joined(*[[each] for each in agents], saver=made.saver)

    app = App(made, build)
    app.note_of("run", lambda: app.say([pay(60, "a")]))
    return app.told()
