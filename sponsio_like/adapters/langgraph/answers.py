"""Writes the answers to calls that did not run, and reads the results of those that did.

In: rulings, and what came of the tools that ran: messages, commands, or a mix of both. Out: a
message for each call that did not run, and a settlement for each that did.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from langchain_core.messages import AIMessage, ToolMessage
from langgraph._internal._config import recast_checkpoint_ns
from langgraph.config import get_config
from langgraph.errors import ParentCommand
from langgraph.types import Command

from sponsio_like.adapters.langgraph.gate import Ruling
from sponsio_like.adapters.langgraph.proxy import Pair
from sponsio_like.values import as_answer


def refusal(ruling: Ruling) -> ToolMessage:
    """Return the answer to a call that does not run."""
    return refused(ruling.asking.id, ruling.asking.tool, ruling.told, ruling.against)


def refused(id: str, tool: str, why: str, contracts: Sequence[str]) -> ToolMessage:
    """Return the answer to a refused call; its artifact names the contracts, for the host."""
    artifact = {"contracts": list(contracts)}
    return ToolMessage(why, name=tool, tool_call_id=id, status="error", artifact=artifact)


def result_of(output: Any, id: str, returned: Sequence[Any] = ()) -> dict[str, Any]:
    """Return the result of a call as `Session.settle` takes it: its `output`, or its `error`.

    It is the message under the call's `id`, wherever that stands in `output`. `returned`: what the
    body has returned, which a message says as a text; contracts read it as data.
    """
    answer = next((each for each in messages_in(output) if each.tool_call_id == id), None)
    if answer is None:  # the tool hands over to another agent, or was given its arguments alone
        alone = returned and not isinstance(output, (Command, list, tuple))
        return {"output": _read(as_answer(returned[-1])) if alone else None}
    if answer.status == "error":
        return {"error": _read(answer.content) or "error"}
    return {"output": _returned(returned[-1], answer) if returned else _said(answer)}


def _returned(value: Any, answer: ToolMessage) -> Any:
    """Return what a body has returned, as data; for commands, what the `answer` says."""
    match value:
        case Pair(content, artifact):
            (*data,) = _structured(artifact, content)
            return data[0] if data else _returned(content, answer)
        case Command():
            return _said(answer)
        case ToolMessage():
            return _said(value)
        case list() if any(isinstance(each, (ToolMessage, Command)) for each in value):
            return _said(answer)
    return _read(as_answer(value))


def _said(answer: ToolMessage) -> Any:
    """Return what an answer says, as data."""
    (*data,) = _structured(answer.artifact, answer.content)
    return data[0] if data else _read(answer.content)


def _structured(artifact: Any, content: Any) -> Iterator[Any]:
    """Yield the data that a tool of an MCP server answers beside its text, if it does.

    Servers that answer with an object only put what is none under the name `result`: contracts read
    what stands there, if the text says just that.
    """
    data = artifact.get("structured_content") if isinstance(artifact, Mapping) else None
    if data is not None:
        wrapped = isinstance(data, Mapping) and data.keys() == {"result"}
        yield as_answer(
            _read(data["result"]) if wrapped and _says(content, data["result"]) else data
        )


def _says(content: Any, value: Any) -> bool:
    """True if the texts of an answer are this value: as one, or each a member of this list."""
    blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
    if not all(map(_is_text, blocks)):
        return False
    said = [(each["text"], _parsed(each["text"])) for each in blocks]
    if len(said) == 1 and value in said[0]:
        return True
    members = [] if value is None else value if isinstance(value, list) else [value]
    pairs = zip(members, said, strict=False)
    return len(said) == len(members) and all(each in readings for each, readings in pairs)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def messages_in(output: Any) -> Iterator[ToolMessage]:
    """Yield the answers to calls in what a tool node returns."""
    match output:
        case ToolMessage():
            yield output
        case Command(update=update):
            yield from messages_in(update)
        case Mapping():
            for each in output.values():
                yield from messages_in(each)
        case list() | tuple():
            for each in output:
                yield from messages_in(each)


def _read(content: Any) -> Any:
    """Return the output that a message stands for: LangGraph writes what is no text as JSON.

    Blocks of text, as tools of MCP servers answer, are their text; of several, the list of texts.
    """
    if isinstance(content, list) and content and all(map(_is_text, content)):
        texts = [_read(each["text"]) for each in content]
        return texts[0] if len(texts) == 1 else texts
    if isinstance(content, str) and content[:1] in ("{", "["):
        try:
            return json.loads(content, object_pairs_hook=_members)
        except (ValueError, RecursionError):
            return content
    return content


def _is_text(block: Any) -> bool:
    return (
        isinstance(block, Mapping)
        and block.get("type") == "text"
        and isinstance(block.get("text"), str)
    )


def handed_here(error: ParentCommand) -> Command[Any] | None:
    """Return the command of a graph inside of a tool; None if it is for another graph than this.

    Here it is the tool's result, like a command that a tool returns.
    """
    command = error.args[0]
    here = get_config().get("configurable", {}).get("checkpoint_ns", "")
    if command.graph not in (here, recast_checkpoint_ns(here)):
        return None
    return replace(command, graph=None)


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object. Raises `ValueError` for one that says two things under one name."""
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a name is there twice")
    return members


def with_answers(messages: Sequence[Any]) -> list[Any] | None:
    """Return the messages with calls that were left waiting answered; None if there are none."""
    answered = {each.tool_call_id for each in messages if isinstance(each, ToolMessage)}
    asking = [each for each in messages if isinstance(each, AIMessage) and each.tool_calls]
    if all(call["id"] in answered for each in asking for call in each.tool_calls):
        return None
    found: list[Any] = []
    for each in messages:
        found.append(each)
        if isinstance(each, AIMessage):
            found.extend(_left(call) for call in each.tool_calls if call["id"] not in answered)
    return found


def _left(call: Any) -> ToolMessage:
    why = f"`{call['name']}` did not run: the user went on while it waited for a person"
    return ToolMessage(why, name=call["name"], tool_call_id=call["id"] or "", status="error")
