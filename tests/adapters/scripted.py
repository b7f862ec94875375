"""A chat model that plays a script: the same history gets the same answer, so a replay is a replay.

In: the turns of the current run. Out: messages of a model; the number of a turn is the number of
messages of the model since the user has last said something.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.errors import GraphRecursionError
from langgraph.types import Command
from pydantic import Field

from sponsio_like.adapters.langgraph import approve, deny, waiting
from tests.adapters.harness import Answers, Call, Report, Shown, Told, Turn

Line: TypeAlias = Turn | AIMessage
"""What the model says at once, or its very message."""


class Scripted(BaseChatModel):
    """The model. `script` gives the turns; `offered` are the tools it was last offered."""

    script: Callable[[], Sequence[Line]]
    offered: list[str] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Scripted:
        self.offered[:] = [each["type"] if isinstance(each, dict) else each.name for each in tools]
        return self

    def _generate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        message = said(self.script(), messages)
        return ChatResult(generations=[ChatGeneration(message=message)])


def said(script: Sequence[Line], messages: Sequence[Any]) -> AIMessage:
    """What the model says next."""
    number = len(since_user(messages, AIMessage))
    if number >= len(script):
        raise GraphRecursionError("the script is over, but the agent is not")
    turn = script[number]
    if isinstance(turn, AIMessage):
        return turn.model_copy()
    if isinstance(turn, str):
        return AIMessage(turn)
    calls = [{"name": each.tool, "args": each.args, "id": each.id} for each in turn]
    return AIMessage("", tool_calls=calls)


def since_user(messages: Sequence[Any], kind: type[Any]) -> list[Any]:
    """The messages of a kind since the user has last said something."""
    users = [
        i
        for i, each in enumerate(messages)
        if isinstance(each, HumanMessage) and "lc_source" not in each.additional_kwargs
    ]
    return [each for each in messages[users[-1] if users else 0 :] if isinstance(each, kind)]


def resume(asked: Sequence[dict[str, Any]], answers: Answers) -> Command[Any]:
    """What the graph is resumed with: the answers to those calls that were answered."""
    said: dict[str, Any] = {}
    for each in asked:
        answer = answers.get(each["call"])
        if answer is not None:
            say = approve if answer.yes else deny
            said |= say(each["ticket"], by=answer.by, role=answer.role)
    return Command(resume=said or "nobody has answered")


def report(state: dict[str, Any], shown: Sequence[dict[str, Any]]) -> Report:
    """What came of a run."""
    told = [
        Told(each.tool_call_id, str(each.text), each.status == "error")
        for each in since_user(state["messages"], ToolMessage)
    ]
    pictures = [Shown(each["call"], each["tool"], each["args"]) for each in shown]
    waits = frozenset(each["call"] for each in waiting(state))
    return Report(tuple(told), tuple(pictures), waits)


def calls(*each: tuple[str, dict[str, Any], str]) -> list[Call]:
    """The calls of one turn."""
    return [Call(*call) for call in each]
