"""Prints what happens: conversations, calls that wait, the log of decisions.

In: messages, questions to people, records. Out: lines on standard output.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from textwrap import fill
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage


def tell(text: str, who: str = "") -> None:
    """Print the words of a speaker in lines that fit; texts without a speaker as they are."""
    for line in text.splitlines():
        shown = fill(f"{who:<10}{line}", 98, subsequent_indent=" " * 13) if who else line
        print(shown, flush=True)


def tell_conversation(messages: Sequence[BaseMessage], start: int) -> None:
    """Print the messages from `start` on; each call with its answer."""
    answers = {
        each.tool_call_id: each for each in messages[start:] if isinstance(each, ToolMessage)
    }
    for i, message in enumerate(messages):
        if isinstance(message, HumanMessage) and i >= start:
            tell(str(message.text), "customer")
        if not isinstance(message, AIMessage):
            continue
        for call in message.tool_calls:
            if i >= start:
                tell(f"{call['id']}: {written(call['name'], call['args'])}", "agent")
            if call["id"] in answers:
                tell(_came_of(answers[str(call["id"])], call["name"]), "   ->")
        if message.text and i >= start:
            tell(str(message.text), "agent")


def _came_of(answer: ToolMessage, tool: str) -> str:
    if answer.status == "error":
        return f"refused: {answer.text}"
    if answer.name == tool:
        return f"{answer.text}"
    return f"{answer.tool_call_id}: {answer.name} ran instead: {answer.text}"


def tell_waiting(question: Mapping[str, Any]) -> None:
    """Print a call that waits for people."""
    call, who = written(question["tool"], question["args"]), " or ".join(question["roles"])
    tell(f"{question['call']}: {call} waits for a {who}:", "waiting")
    tell("; ".join(question["reasons"]), " ")


def tell_log(records: Iterable[Mapping[str, Any]]) -> None:
    """Print what contracts would have done, had they not only observed."""
    for record in records:
        for each in record.get("violations", ()):
            what = f"{each['tool']} ran; `{each['contract']}` would have {each['action']} it"
            call = record["id"].rpartition("/")[2]  # before it, a graph puts a mark of its message
            tell(f"{call}: {what}")


def written(tool: str, args: Mapping[str, Any]) -> str:
    """Return a call as a programmer writes it."""
    return f"{tool}({', '.join(f'{name}={each!r}' for name, each in args.items())})"
