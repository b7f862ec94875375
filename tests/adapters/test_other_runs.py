"""Runs of a body that were not decided with the call: tries again, substitutes, plain arguments."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from langchain.agents.middleware import AgentMiddleware, ToolRetryMiddleware
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, tool
from langgraph.prebuilt import InjectedState
from langgraph.types import Command, RetryPolicy

from sponsio_like.adapters.langgraph import approve
from tests.adapters.rules import few, small
from tests.adapters.talks import Talk, Way, agents, ask, everywhere

RAN: list[Any] = []
"""What bodies have received."""
FIRST = "not now"


def tools(*, later: bool) -> list[BaseTool]:
    """A payment that fails, and what stands in for it, with what the graph injects."""

    def fails(amount: int) -> str:
        """Pay an amount."""
        RAN.append(f"pay {amount}")
        raise OSError(FIRST)

    def stands_in(amount: int, messages: Annotated[list[Any], InjectedState("messages")]) -> str:
        """Note an amount."""
        RAN.append(f"note {amount} {len(messages)}")
        return f"noted {amount}"

    async def afails(amount: int) -> str:
        """Pay an amount."""
        return fails(amount)

    async def astands_in(
        amount: int, messages: Annotated[list[Any], InjectedState("messages")]
    ) -> str:
        """Note an amount."""
        return stands_in(amount, messages)

    pair: Any = (afails, astands_in) if later else (fails, stands_in)
    return [tool(name)(each) for name, each in zip(("pay", "note"), pair, strict=True)]


def trying_again(way: Way, *contracts: Any) -> Talk:
    """An agent whose failed calls are tried once more."""
    again: dict[str, Any] = {"max_attempts": 2, "initial_interval": 0.001, "retry_on": OSError}
    retry = ToolRetryMiddleware(max_retries=1, initial_delay=0.001, retry_on=(OSError,))
    more: dict[str, Any] = (
        {"retry_policy": RetryPolicy(**again)}
        if way.name.startswith("graph")
        else {"others": [retry]}
    )
    return way.open(tools(later=way.later), *contracts, **more)


@everywhere
def test_a_try_that_is_redirected_runs_the_substitute_as_its_tool_node_would(way: Way) -> None:
    """It is awaited in an async agent, and gets what LangGraph injects."""
    safe = few("pay", 1).strategy({"redirect_to_safe": {"to": "note"}})
    talk = trying_again(way, safe)
    came = talk.say(ask("pay", amount=5))
    assert RAN == ["pay 5", "note 5 2"]
    assert came.message("a").text == "noted 5"


@everywhere
def test_a_failed_call_that_would_need_another_approval_says_so(way: Way) -> None:
    """The model hears how it has failed, and that nobody has changed it."""
    talk = trying_again(way, small(100).strategy({"escalate": {"roles": ["manager"]}}))
    (question,) = talk.say(ask("pay", amount=900)).asked
    came = talk.go(approve_of(question))
    assert RAN == ["pay 900"]
    assert FIRST in came.message("a").text
    assert "would have to approve it again" in came.message("a").text


def approve_of(question: Any) -> Any:
    """A manager's yes."""
    return Command(resume=approve(question["ticket"], by="ann", role="manager"))


class Plain(AgentMiddleware):
    """Runs the tool by itself, with its arguments alone, in one of the ways that tools have."""

    def __init__(self, how: str, times: int) -> None:
        super().__init__()
        self.how, self.times = how, times

    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        """As many runs as wanted, and the last answer."""
        args = request.tool_call["args"]
        given = args["amount"] if self.how.endswith("text") else args
        run = getattr(request.tool, self.how.split()[0])
        said = [run(given) for _ in range(self.times)]
        return ToolMessage(str(said[-1]), tool_call_id=request.tool_call["id"])

    async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
        """As `wrap_tool_call`."""
        args = request.tool_call["args"]
        given = args["amount"] if self.how.endswith("text") else args
        run = getattr(request.tool, f"a{self.how.split()[0]}")
        said = [await run(given) for _ in range(self.times)]
        return ToolMessage(str(said[-1]), tool_call_id=request.tool_call["id"])


@agents
@pytest.mark.parametrize("how", ["invoke", "run", "invoke text", "run text"])
def test_a_tool_that_a_middleware_runs_with_its_arguments_alone_counts(way: Way, how: str) -> None:
    """The middleware gets the answer by itself; three runs are three, and two are allowed."""

    @tool
    def pay(amount: str) -> str:
        """Pay an amount."""
        RAN.append(f"pay {amount}")
        return f"paid {amount}"

    talk = way.open([pay], few("pay", 2), behind=[Plain(how, 1)])
    came = talk.say(
        ask("pay", amount="5"), ask("pay", "b", amount="6"), ask("pay", "c", amount="7")
    )
    assert RAN == ["pay 5", "pay 6"]
    assert came.message("a").text == "paid 5"
    assert talk.statuses() == ["ok", "ok"]
    RAN.clear()
    way.open([pay], few("pay", 2), behind=[Plain(how, 3)]).say(ask("pay", amount="5"))
    assert RAN == ["pay 5", "pay 5"]
