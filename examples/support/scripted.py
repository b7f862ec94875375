"""A chat model without a network: it does what the customer asks, and reads what it is told.

In: a conversation. Out: the calls that come next, or an answer. It knows no contract, and no order
of its tools: where a refusal says what to call first, it calls that, and then tries again; what it
was told once, it does for the rest of the conversation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

REFUND = re.compile(r"(\d+) euros for order (\d+)")
DELETE = re.compile(r"delete the account of (\w+)")
FIRST = re.compile(r"first call `(\w+)`")


class Call(NamedTuple):
    """A call that the model wants to make."""

    tool: str
    args: dict[str, Any]


class Made(NamedTuple):
    """A call that was made, and its answer."""

    call: Call
    refused: bool
    told: str


class Scripted(BaseChatModel):
    """A chat model that follows fixed rules."""

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(
        self, tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool], **kwargs: Any
    ) -> Runnable[Any, AIMessage]:
        """Return the model, bound to the tools that it is offered."""
        return self.bind(tools=[convert_to_openai_tool(each) for each in tools], **kwargs)

    def _generate(
        self, messages: list[BaseMessage], *_: Any, tools: Sequence[dict[str, Any]] = (), **__: Any
    ) -> ChatResult:
        offered = [each["function"] for each in tools]
        takes = {each["name"]: set(each["parameters"]["properties"]) for each in offered}
        return ChatResult(generations=[ChatGeneration(message=said(messages, takes))])


def said(messages: Sequence[BaseMessage], takes: dict[str, set[str]]) -> AIMessage:
    """Return the model's next message.

    `takes` are the tools that it is offered, with their parameters.
    """
    now = max(i for i, each in enumerate(messages) if isinstance(each, HumanMessage))
    wishes, known, tried = wished(str(messages[now].text)), advice(messages), made(messages[now:])
    steps = [each for wish in wishes if (each := step(wish, tried, known, takes)) is not None]
    if not steps:
        return AIMessage(" ".join(_outcome(wish, tried) for wish in wishes) or "What can I do?")
    number = sum(len(each.tool_calls) for each in messages if isinstance(each, AIMessage))
    return AIMessage(
        "",
        tool_calls=[
            {"name": each.tool, "args": each.args, "id": f"call-{number + i}"}
            for i, each in enumerate(steps, 1)
        ],
    )


def wished(text: str) -> list[Call]:
    """Return the calls that the customer asks for."""
    refunds = [(int(amount), int(order)) for amount, order in REFUND.findall(text)]
    return [
        *(Call("issue_refund", {"order": order, "amount": amount}) for amount, order in refunds),
        *(Call("delete_account", {"customer": name}) for name in DELETE.findall(text)),
    ]


def made(messages: Sequence[BaseMessage]) -> list[Made]:
    """Return the calls that were made, in order, as far as they have an answer."""
    calls = [call for each in messages if isinstance(each, AIMessage) for call in each.tool_calls]
    answers = {each.tool_call_id: each for each in messages if isinstance(each, ToolMessage)}
    return [
        Made(Call(call["name"], call["args"]), answer.status == "error", str(answer.text))
        for call in calls
        if (answer := answers.get(str(call["id"]))) is not None
    ]


def advice(messages: Sequence[BaseMessage]) -> dict[str, str]:
    """Return the tool to call before another, for each tool that a refusal has named one for."""
    refusals = [each for each in made(messages) if each.refused]
    found = [(each.call.tool, FIRST.search(each.told)) for each in refusals]
    return {tool: first[1] for tool, first in found if first is not None}


def step(
    wish: Call, tried: Sequence[Made], known: dict[str, str], takes: dict[str, set[str]]
) -> Call | None:
    """Return the next call for a wish; None if it is granted, or no more can be done for it."""
    mine = [each for each in tried if each.call == wish]
    if mine and not (len(mine) == 1 and mine[0].refused and FIRST.search(mine[0].told)):
        return None
    tool = known.get(wish.tool)
    if tool not in takes:
        return wish
    first = Call(tool, {key: each for key, each in wish.args.items() if key in takes[tool]})
    return wish if first in [each.call for each in tried] else first


def _outcome(wish: Call, tried: Sequence[Made]) -> str:
    """Return the words to the customer about a wish."""
    last = [each for each in tried if each.call == wish][-1]
    if not last.refused:
        return f"Done: {last.told}."
    about = ", ".join(f"{name} {each}" for name, each in wish.args.items())
    return f"I am sorry, but I may not do this: {wish.tool.replace('_', ' ')}, {about}."
