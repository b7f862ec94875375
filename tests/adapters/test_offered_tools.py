"""Which tools the model is offered, and what becomes of those that nobody has told us of."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import (
    AgentMiddleware,
    LLMToolSelectorMiddleware,
    TodoListMiddleware,
)
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import StructuredTool, tool
from langgraph.checkpoint.memory import InMemorySaver

from sponsio_like.adapters.langchain import guarded
from sponsio_like.contracts.definition import contract
from sponsio_like.errors import ContractError
from sponsio_like.guard.guard import Guard
from sponsio_like.patterns import arg_value_range, rate_limit, redirect_to_safe, tool_allowlist
from tests.adapters.bodies import RAN, pay
from tests.adapters.harness import Report
from tests.adapters.rules import asked, checked, few, small
from tests.adapters.scripted import Scripted, report
from tests.adapters.talks import Way, agents, ask, graphs


@tool
def check() -> str:
    """Check what there is to check."""
    return "clean"


@tool
def trash(amount: int) -> str:
    """Do nothing."""
    return f"nothing for {amount}"


TOOLS = [check, pay]


def at(place: str, other: AgentMiddleware[Any, Any]) -> dict[str, Any]:
    """That middleware, in its place."""
    return {place: [other]}


# --- what is offered ------------------------------------------------------------------------------


@agents
def test_a_tool_that_would_be_refused_is_offered(way: Way) -> None:
    """A model that is asked to pay names the payment, and hears what to do first."""
    talk = way.open(TOOLS, checked())
    came = talk.say(ask("pay", amount=5), ask("check", "b"), ask("pay", "c", amount=5))
    assert talk.model.offered == ["check", "pay"]
    assert "`check`" in came.refused("a")
    assert came.result("c") == "paid 5"


@agents
def test_a_tool_that_is_impossible_is_hidden_on_request(way: Way) -> None:
    """With `hide=True` the model is not offered the payment before the check."""
    talk = way.open(TOOLS, checked(), hide=True)
    talk.say("hello")
    assert talk.model.offered == ["check"]


@agents
def test_a_hidden_tool_is_refused_when_it_is_named(way: Way) -> None:
    """A model that names it all the same hears what to do first."""
    talk = way.open(TOOLS, checked(), hide=True)
    came = talk.say(ask("pay", amount=5))
    assert "`check`" in came.refused("a")
    assert talk.statuses() == []


@agents
def test_a_tool_is_offered_again_when_it_is_possible(way: Way) -> None:
    """After the check, both are; after the last payment, one."""
    talk = way.open(TOOLS, checked(), few("pay", 1), hide=True)
    talk.say(ask("check"))
    assert talk.model.offered == ["check", "pay"]
    assert talk.say(ask("pay", amount=5)).result("a") == "paid 5"
    assert talk.model.offered == ["check"]


@agents
def test_a_tool_that_some_arguments_make_possible_is_offered(way: Way) -> None:
    """Only what is certain hides a tool."""
    talk = way.open(TOOLS, small(100), hide=True)
    talk.say("hello")
    assert talk.model.offered == ["check", "pay"]


@agents
def test_a_tool_that_may_be_approved_or_redirected_is_offered(way: Way) -> None:
    """Asking for it comes to something."""
    mild = contract("mild").guarantees(redirect_to_safe("check", "trash"))
    talk = way.open([*TOOLS, trash], asked(-1), mild, hide=True)
    talk.say("hello")
    assert talk.model.offered == ["check", "pay", "trash"]


@agents
def test_nothing_is_hidden_where_nothing_is_enforced(way: Way) -> None:
    """The model that is observed is offered what it was offered before."""
    talk = way.open(TOOLS, checked(), mode="observe", hide=True)
    talk.say("hello")
    assert talk.model.offered == ["check", "pay"]


@agents
def test_what_is_hidden_in_one_thread_is_offered_in_another(way: Way) -> None:
    """Each thread has its own."""
    talk = way.open(TOOLS, checked(), hide=True)
    talk.say(ask("check"), thread="one")
    talk.say("hello", thread="two")
    assert talk.model.offered == ["check"]
    talk.say("hello", thread="one")
    assert talk.model.offered == ["check", "pay"]


class Chooses(GenericFakeChatModel):
    """A model that chooses no tool."""

    def with_structured_output(self, schema: Any, **more: Any) -> Any:
        return RunnableLambda(lambda _: {"tools": ["check"]})


@agents
@pytest.mark.parametrize("place", ["before", "others", "behind"])
@pytest.mark.parametrize("hide", [False, True])
def test_tools_that_are_always_included_may_be_hidden(way: Way, place: str, *, hide: bool) -> None:
    """LangChain's selector of tools finds those that it always includes, wherever it stands."""
    choosing = Chooses(messages=iter(()))
    selector = LLMToolSelectorMiddleware(model=choosing, always_include=["pay"])
    talk = way.open(TOOLS, checked(), hide=hide, **at(place, selector))
    talk.say("hello")
    assert talk.model.offered == (["check"] if hide else ["check", "pay"])


# --- what middlewares bring -----------------------------------------------------------------------


@tool
def late(word: str, times: int = 1) -> str:
    """A tool that another middleware brings."""
    RAN.append(word)
    return f"late {word * times}"


class Brings(AgentMiddleware[Any, Any]):
    """A middleware with a tool of its own."""

    tools = [late]  # noqa: RUF012  as LangChain has it


class Adds(AgentMiddleware[Any, Any]):
    """A middleware that adds a tool at run time, as LangChain's documentation says."""

    def __init__(self, added: Any = late) -> None:
        super().__init__()
        self.added = added

    def wrap_model_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        return handler(request.override(tools=[*request.tools, self.added]))

    async def awrap_model_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        return await handler(request.override(tools=[*request.tools, self.added]))

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        return handler(self._found(request))

    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        return await handler(self._found(request))

    def _found(self, request: Any) -> Any:
        mine = request.tool_call["name"] == self.added.name
        return request.override(tool=self.added) if mine else request


LATE = {"tool": "late", "missing": "skip"}
"""The tool, also where the model leaves an argument to its default."""
sides = pytest.mark.parametrize("place", ["before", "others", "behind"])
"""In front of the pair, between our two, or behind them."""


@agents
@sides
@pytest.mark.parametrize("kind", [Brings, Adds])
def test_tools_of_other_middlewares_are_guarded(way: Way, place: str, kind: Any) -> None:
    """They are decided as those of the agent, wherever their middleware stands."""
    talk = way.open(TOOLS, contract("all").guarantees(rate_limit("*", 1)), **at(place, kind()))
    assert talk.say(ask("late", word="hi", times=1)).result("a") == "late hi"
    assert "`all`" in talk.say(ask("late", word="hi", times=1)).refused("a")
    assert RAN == ["hi"]


@agents
@sides
def test_the_list_of_what_to_do_works(way: Way, place: str) -> None:
    """LangChain's list, in front of the pair, between them or behind."""
    talk = way.open(TOOLS, few("pay", 1), **at(place, TodoListMiddleware()))
    todos = [{"content": "pay", "status": "pending"}]
    came = talk.say(ask("write_todos", todos=todos), ask("pay", "b", amount=5))
    assert (came.state["todos"], came.result("b")) == (todos, "paid 5")


@agents
@sides
def test_a_tool_that_comes_at_run_time_is_decided_on_what_it_receives(way: Way, place: str) -> None:
    """Also behind the pair, where nobody knew it when its call was decided: defaults are read."""
    never = contract("never").guarantees(arg_value_range(LATE, "times", max=0))
    talk = way.under(Guard((never,), elsewhere=["late"]), TOOLS, **at(place, Adds()))
    assert "`never`" in talk.say(ask("late", word="hi")).refused("a")
    assert talk.say(ask("late", word="hi", times=0)).result("a") == "late "
    assert RAN == ["hi"]


@agents
@sides
def test_what_contracts_say_of_a_tool_that_comes_late_has_to_be_true(way: Way, place: str) -> None:
    """An argument that it does not have is refused when the model is offered the tool."""
    wrong = contract("wrong").guarantees(arg_value_range("late", "size", max=3))
    talk = way.under(Guard((wrong,), elsewhere=["late"]), TOOLS, **at(place, Adds()))
    if place == "behind":  # nobody is told of it
        talk.say(ask("late", word="hi")).refused("a")
    else:
        with pytest.raises(ContractError, match="size"):
            talk.say(ask("late", word="hi"))
    assert RAN == []


@agents
def test_observed_agents_run_whatever_contracts_say_of_a_late_tool(way: Way) -> None:
    """Where nothing is enforced, it is a line in the log."""
    wrong = contract("wrong").guarantees(arg_value_range("late", "size", max=3))
    guard = Guard((wrong,), elsewhere=["late"], mode="observe")
    assert way.under(guard, TOOLS, others=[Adds()]).say(ask("late", word="hi")).result("a")


@agents
@sides
def test_each_user_may_have_a_tool_of_that_name(way: Way, place: str) -> None:
    """A tool made anew for each run, with other defaults: contracts read what it receives."""

    def made(most: int) -> StructuredTool:
        def late(times: int = most) -> str:
            RAN.append(times)
            return f"{times} times"

        return StructuredTool.from_function(late, description="Do it.")

    adds, small = (
        Adds(made(1)),
        contract("small").guarantees(arg_value_range("late", "times", max=5)),
    )
    talk = way.under(Guard((small,), elsewhere=["late"]), TOOLS, **at(place, adds))
    if place != "behind":
        assert talk.say(ask("late")).result("a") == "1 times"
    adds.added = made(9)
    assert "`small`" in talk.say(ask("late")).refused("a")
    assert [1][place == "behind" :] == RAN


# --- what nobody knows ----------------------------------------------------------------------------


@agents
def test_a_tool_that_does_not_exist_is_answered_as_by_langchain(way: Way) -> None:
    """The model hears LangChain's own words, and the call has failed; the others run."""
    talk = way.open(TOOLS, few("pay", 1))
    came = talk.say([*ask("fly"), *ask("pay", "b", amount=5)])
    assert came.refused("a") == "Error: fly is not a valid tool, try one of [check, pay]."
    assert (came.result("b"), sorted(talk.statuses())) == ("paid 5", ["error", "ok"])


@agents
def test_a_tool_that_does_not_exist_is_decided(way: Way) -> None:
    """Where only some tools are allowed, its refusal is that of the contract."""
    talk = way.open(TOOLS, contract("only").guarantees(tool_allowlist(["pay"])))
    assert "`only`" in talk.say(ask("fly")).refused("a")


@graphs
def test_a_node_knows_all_of_its_tools(way: Way) -> None:
    """In a node of tools a name that it does not have is refused, and counts nothing."""
    talk = way.open(TOOLS, contract("all").guarantees(rate_limit("*", 1)))
    came = talk.say(ask("fly"), ask("pay", "b", amount=5))
    assert "there is no tool `fly`; tools: `check`, `pay`" in came.refused("a")
    assert came.result("b") == "paid 5"


@agents
@sides
@pytest.mark.parametrize("pause", ["contracts.after_model", "tools"])
def test_another_process_goes_on_without_the_tools_that_were_offered(
    way: Way, place: str, pause: str
) -> None:
    """It has not heard which tools the model was offered: between model, decision and tools."""
    saver, script = InMemorySaver(), [ask("late", word="hi", times=1), ask("late", "b", word="ho")]

    def fresh(**more: Any) -> Any:
        guard = Guard((few("late", 1),), elsewhere=["late"])
        stack: dict[str, list[Any]] = {"before": [], "others": [], "behind": []}
        stack |= at(place, Adds())
        pair = [*stack["before"], *guarded(guard, TOOLS, *stack["others"]), *stack["behind"]]
        model = Scripted(script=lambda: [*script, "done"])
        return create_agent(model, TOOLS, middleware=pair, checkpointer=saver, **more)

    def run(agent: Any, given: Any) -> Report:
        config: Any = {"configurable": {"thread_id": "one"}}
        going = agent.ainvoke(given, config) if way.later else agent.invoke(given, config)
        return report(asyncio.run(going) if way.later else going, ())

    run(fresh(interrupt_before=[pause]), {"messages": [("user", "go on")]})
    assert RAN == []
    came = run(fresh(), None)
    assert came.result("a") == "late hi"
    assert "`few late`" in came.refused("b")
    assert RAN == ["hi"]


# --- tools of the model's provider ----------------------------------------------------------------

SEARCH = {"type": "web_search"}


class Provides(AgentMiddleware[Any, Any]):
    """A middleware that adds a tool of the model's provider."""

    def wrap_model_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        return handler(request.override(tools=[*request.tools, SEARCH]))

    async def awrap_model_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        return await handler(request.override(tools=[*request.tools, SEARCH]))


@agents
@pytest.mark.parametrize("hide", [False, True])
def test_tools_of_the_provider_are_offered(way: Way, *, hide: bool) -> None:
    """They run where the model runs: no contract holds them, and none breaks the run."""
    talk = way.open([*TOOLS, SEARCH], checked(), known=TOOLS, hide=hide)
    came = talk.say(ask("check"), ask("pay", "b", amount=5))
    assert came.result("b") == "paid 5"
    assert talk.model.offered == ["check", "pay", "web_search"]


@pytest.mark.long
@agents
@sides
@pytest.mark.parametrize("hide", [False, True])
def test_middlewares_may_offer_tools_of_the_provider(way: Way, place: str, *, hide: bool) -> None:
    """Wherever they stand."""
    talk = way.open(TOOLS, checked(), hide=hide, **at(place, Provides()))
    talk.say(ask("check"))
    assert talk.model.offered == ["check", "pay", "web_search"]


@agents
def test_a_tool_of_the_provider_may_stand_among_those_that_are_guarded(way: Way) -> None:
    """It is offered, and runs where the model runs; a contract that names it is refused."""
    talk = way.open([*TOOLS, SEARCH], checked())
    talk.say(ask("check"))
    assert talk.model.offered == ["check", "pay", "web_search"]
    with pytest.raises(ContractError, match="`web_search`"):
        way.open([*TOOLS, SEARCH], few("web_search", 1))
