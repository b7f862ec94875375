"""Contracts read what a tool has returned, whatever it is, and not what a message says of it.

A table of what is returned, played by each kind of tool, sync and async, in a graph and in an
agent, where contracts are enforced and where they only watch.
"""

from __future__ import annotations

import enum
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest
from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, StructuredTool, ToolException
from langgraph.types import Command
from pydantic import BaseModel

from sponsio_like.outcome import Mode
from sponsio_like.session.session import Session
from tests.adapters.rules import few
from tests.adapters.talks import Way, agents, ask, everywhere, older

FIND = "find"
ID = uuid.UUID(int=7)


class Place(BaseModel):
    """Where something is."""

    city: str
    since: date


class Found(BaseModel):
    """What was found, and where."""

    id: int
    at: Place | None = None


@dataclass
class Line:
    """A part of an order."""

    item: str
    price: Decimal


class Size(enum.Enum):
    """How large it is."""

    L = "large"


def text(*said: str) -> list[Any]:
    """Blocks of text, as tools of MCP servers answer."""
    return [{"type": "text", "text": each} for each in said]


def message(content: Any, **more: Any) -> Callable[[str], ToolMessage]:
    """An answer that the tool has made itself, to the call of this id."""
    return lambda id: ToolMessage(content, tool_call_id=id, **more)


def command(content: Any) -> Callable[[str], Command[Any]]:
    """A command that has the answer."""
    return lambda id: Command(update={"messages": [ToolMessage(content, tool_call_id=id)]})


RYE = Place(city="Rye", since=date(2020, 1, 2))
RYE_READ = {"city": "Rye", "since": "2020-01-02"}
RETURNED: dict[str, tuple[Any, Any]] = {
    "text": ("found", "found"),
    "text that is JSON": ('{"id": 7}', {"id": 7}),
    "text that is a list in JSON": ("[1, 2]", [1, 2]),
    "text that says one name twice": ('{"id": 7, "id": 8}', '{"id": 7, "id": 8}'),
    "text that only begins like JSON": ("{id}", "{id}"),
    "number": (7, 7),
    "number with a rest": (7.5, 7.5),
    "truth": (True, True),
    "nothing": (None, None),
    "map": ({"id": 7}, {"id": 7}),
    "map of what is no JSON": (
        {"at": datetime(2020, 1, 2, tzinfo=UTC), "sum": Decimal("1.50"), "id": ID, "size": Size.L},
        {"at": "2020-01-02T00:00:00Z", "sum": Decimal("1.50"), "id": str(ID), "size": "large"},
    ),
    "list": ([1, "two"], [1, "two"]),
    "list of texts": (["a", "b"], ["a", "b"]),
    "list of maps": ([{"on": date(2020, 1, 2)}], [{"on": "2020-01-02"}]),
    "empty list": ([], []),
    "model": (Found(id=7), {"id": 7, "at": None}),
    "model in a model": (Found(id=7, at=RYE), {"id": 7, "at": RYE_READ}),
    "models": ([RYE, RYE], [RYE_READ, RYE_READ]),
    "model in a map": ({"all": [RYE]}, {"all": [RYE_READ]}),
    "dataclass": (Line("tea", Decimal("1.50")), {"item": "tea", "price": Decimal("1.50")}),
    "dataclasses": ([Line("tea", Decimal(1))], [{"item": "tea", "price": Decimal(1)}]),
    "pair of values": ((7, "seven"), [7, "seven"]),
    "value of an enum": (Size.L, "large"),
    "day": (date(2020, 1, 2), "2020-01-02"),
    "blocks of text": (text("found"), "found"),
    "message": (message("found"), "found"),
    "message with data of an MCP server": (
        message("found", artifact={"structured_content": {"id": 7}}),
        {"id": 7},
    ),
    "command": (command('{"id": 7}'), {"id": 7}),
}
APART: dict[str, tuple[Any, Any]] = {
    "text and a picture": (("found", b"picture"), "found"),
    "map and a picture": (({"id": ID}, None), {"id": str(ID)}),
    "model and a picture": ((RYE, {"picture": 1}), RYE_READ),
    "structured content": (
        (text('{"id": 7}'), {"structured_content": {"id": 7, "more": [1]}}),
        {"id": 7, "more": [1]},
    ),
    "structured content of a text": ((text("ok"), {"structured_content": {"result": "ok"}}), "ok"),
    "structured content of a text that is JSON": (
        (text('{"a": 1}'), {"structured_content": {"result": '{"a": 1}'}}),
        {"a": 1},
    ),
    "structured content of a list": (
        (text("1", '{"id": 7}'), {"structured_content": {"result": [1, {"id": 7}]}}),
        [1, {"id": 7}],
    ),
    "structured content of a list in one text": (
        (text("[1, 2]"), {"structured_content": {"result": [1, 2]}}),
        [1, 2],
    ),
    "structured content of a text and a map": (
        (text("1", '{"id": 7}'), {"structured_content": {"result": ["1", {"id": 7}]}}),
        ["1", {"id": 7}],
    ),
    "structured content of nothing": (([], {"structured_content": {"result": None}}), None),
    "structured content of an empty list": (([], {"structured_content": {"result": []}}), []),
    "structured content with a result of its own": (
        (text('{"result": 1}'), {"structured_content": {"result": 1}}),
        {"result": 1},
    ),
    "blocks of text that are JSON": ((text('{"id": 7}'), None), {"id": 7}),
    "other blocks": (
        ([{"type": "image", "url": "u"}], None),
        [{"type": "image", "url": "u"}],
    ),
    "message of an interceptor": (lambda id: (message('{"id": 7}')(id), None), {"id": 7}),
    "command of an interceptor": (
        lambda id: (command("left")(id), None),
        "left",
    ),
}


# --- tools ----------------------------------------------------------------------------------------


def of_function(value: Any, form: Any, name: str = FIND) -> BaseTool:
    """A tool of a function."""

    def find() -> Any:
        """Find it."""
        return came_of(value, name)

    return StructuredTool.from_function(find, name=name, response_format=form)


def of_coroutine(value: Any, form: Any, name: str = FIND) -> BaseTool:
    """A tool of a function and of a coroutine."""

    def find() -> Any:
        """Find it."""
        return came_of(value, name)

    async def afind() -> Any:
        """Find it."""
        return came_of(value, name)

    return StructuredTool.from_function(find, afind, name=name, response_format=form)


def of_json(value: Any, form: Any, name: str = FIND) -> BaseTool:
    """A tool with a JSON schema."""
    return StructuredTool(
        name=name,
        description="find",
        args_schema={"type": "object", "properties": {}},
        func=lambda: came_of(value, name),
        response_format=form,
    )


class Find(BaseTool):
    """A class of the host's own."""

    name: str = FIND
    description: str = "Find it."
    response_format: Any = "content"
    value: Any = None

    def _run(self) -> Any:
        return came_of(self.value, self.name)


class FindLater(Find):
    """One that has a coroutine, too."""

    async def _arun(self) -> Any:
        return came_of(self.value, self.name)


def of_class(value: Any, form: Any, name: str = FIND) -> BaseTool:
    """A tool of a class of the host's own."""
    return Find(value=value, response_format=form, name=name)


def of_async_class(value: Any, form: Any, name: str = FIND) -> BaseTool:
    """A tool of a class that has a coroutine, too."""
    return FindLater(value=value, response_format=form, name=name)


def came_of(value: Any, id: str) -> Any:
    """The value, or what it raises."""
    if isinstance(value, Exception):
        raise value
    return value(id) if callable(value) else value


TOOLS: list[Any] = [
    of_function,
    of_coroutine,
    of_json,
    of_class,
    of_async_class,
]
kinds = pytest.mark.parametrize("kind", TOOLS, ids=lambda each: each.__name__)


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What sessions are told of the results of calls."""
    told: dict[str, Any] = {}
    settle = Session.settle

    def noted(self: Session, id: str, *, output: Any = None, error: Any = None) -> None:
        told[id.rpartition("/")[2]] = {"output": output} if error is None else {"error": error}
        settle(self, id, output=output, error=error)

    monkeypatch.setattr(Session, "settle", noted)
    return told


def played(way: Way, *tools: BaseTool, mode: Mode = "enforce", **more: Any) -> None:
    """The tools are called, each under its name."""
    talk = way.open(tools, few(FIND, 9), mode=mode, **more)
    came = talk.say([ask(each.name, each.name)[0] for each in tools])
    answers = [each for each in came.state["messages"] if isinstance(each, ToolMessage)]
    assert sorted(each.tool_call_id for each in answers) == sorted(each.name for each in tools)


@pytest.mark.long
@kinds
@everywhere
def test_contracts_read_what_the_body_has_returned(
    kind: Any, way: Way, read: dict[str, Any]
) -> None:
    """As data: of MCP servers the structured content, of messages what they say, else the value."""
    assert_read_of(way, kind, read)


@everywhere
def test_contracts_that_watch_read_the_same(way: Way, read: dict[str, Any]) -> None:
    """What is found in observe mode is what would hold when it is enforced."""
    assert_read_of(way, of_coroutine, read, mode="observe")


def assert_read_of(way: Way, kind: Any, read: dict[str, Any], mode: Mode = "enforce") -> None:
    """Every row of the table is read as it says."""
    forms = (("content", RETURNED), ("content_and_artifact", APART))
    cases = [(form, *each) for form, table in forms for each in table.values()]
    names = [FIND, *(f"find{i}" for i in range(1, len(cases)))]
    tools = [kind(value, form, id) for id, (form, value, _) in zip(names, cases, strict=True)]
    played(way, *tools, mode=mode)
    wanted = dict(zip(names, ({"output": data} for _, _, data in cases), strict=True))
    assert {id: repr(each) for id, each in read.items()} == {
        id: repr(each) for id, each in wanted.items()
    }


@everywhere
@pytest.mark.skipif(
    older("langgraph-prebuilt", 1, 1), reason="the nodes of this version refuse lists"
)
def test_of_a_list_of_commands_contracts_read_the_answer(way: Way, read: dict[str, Any]) -> None:
    """The message in the list is what the tool answers."""
    played(way, of_function(lambda id: [message("done")(id), Command(update={})], "content"))
    assert read[FIND]["output"] == "done"


@kinds
@pytest.mark.parametrize("mode", ["enforce", "observe"])
@everywhere
def test_what_a_tool_reports_as_an_error_is_no_output(
    kind: Any, way: Way, mode: Mode, read: dict[str, Any]
) -> None:
    """As MCP servers do it: the exception is handled, and the call has failed with its text."""
    tool = kind(ToolException("no such order"), "content")
    as_text: Any = lambda error: text(str(error))  # noqa: E731  MCP's adapters answer with blocks
    tool.handle_tool_error = as_text
    played(way, tool, mode=mode)
    assert read[FIND]["error"] == "no such order"


@everywhere
def test_what_a_tool_raises_is_no_output(way: Way, read: dict[str, Any]) -> None:
    """The call has failed with what was raised, which reaches the host as it would."""
    with pytest.raises(OSError, match="broken"):
        played(way, of_function(OSError("broken"), "content"))
    assert "broken" in read[FIND]["error"]


class Instead(AgentMiddleware[Any, Any]):
    """Answers without the tool."""

    def __init__(self, answer: Callable[[str], ToolMessage]) -> None:
        super().__init__()
        self.answer = answer(FIND)
        self.tools = []

    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        return self.answer

    async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
        return self.answer


@agents
@pytest.mark.parametrize(
    ("answer", "data"),
    [
        (message('{"id": 7}'), {"id": 7}),
        (message("kept", artifact={"structured_content": {"id": 7}}), {"id": 7}),
        (message(text("kept")), "kept"),
    ],
)
def test_what_another_middleware_answers_is_read_the_same(
    way: Way, answer: Any, data: Any, read: dict[str, Any]
) -> None:
    """A cache, say: contracts read its answer as that of the tool."""
    played(way, of_function("new", "content"), others=[Instead(answer)])
    assert read[FIND]["output"] == data
