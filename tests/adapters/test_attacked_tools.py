"""Tools that differ from what was declared of them, that run elsewhere, or that were stopped."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any

import pytest
from langchain_core.tools import tool
from langgraph.graph import MessagesState, StateGraph
from langgraph.prebuilt import InjectedState

from sponsio_like import ContractError, Guard, contract
from sponsio_like.adapters.langchain import guarded
from sponsio_like.adapters.langgraph import guard_tools
from sponsio_like.patterns import arg_blacklist, rate_limit
from tests.semantics.manifest import requirement


@tool
def bash(cmd: str) -> str:
    """Run a command."""
    return cmd


@tool
def pay(amount: int, to: str = "ann") -> str:
    """Pay an amount."""
    return f"{amount} to {to}"


@tool
def look(amount: int, state: Annotated[Any, InjectedState]) -> str:
    """Look at the state, which no model gives."""
    return f"{amount} of {len(state)}"


class Client:
    """What is no data."""


def by_middleware(guard: Guard, each: Any) -> object:
    """The tools of an agent."""
    return guarded(guard, [each])


def by_node(guard: Guard, each: Any) -> object:
    """The tools of a graph."""
    return guard_tools(StateGraph(MessagesState), guard, [each])


def by_decorator(guard: Guard, each: Any) -> object:
    """A decorated function."""
    return guard.tool(each.func, name=each.name)


def by_wrapping(guard: Guard, each: Any) -> object:
    """A finished tool, guarded."""
    return guard.wrap([each])


Meets = Callable[[Guard, Any], object]
MEETINGS: list[Meets] = [by_middleware, by_node, by_decorator, by_wrapping]
everywhere = pytest.mark.parametrize("meets", MEETINGS, ids=lambda each: each.__name__)


def declared(name: str, fields: Mapping[str, str], **more: Any) -> Guard:
    """A guard whose contract says nothing of arguments."""
    rule = contract("few").guarantees(rate_limit(name, 9))
    return Guard([rule], tools={name: {"fields": fields}}, **more)


@requirement("S-INV-13")
@everywhere
@pytest.mark.parametrize("unlisted", ["refuse", "allow"])
def test_a_declared_field_that_the_tool_does_not_take_is_refused(
    meets: Meets, unlisted: Any
) -> None:
    """A rule about a field of another name would never fire: it is refused where the tool is."""
    rule = contract("no rm").guarantees(arg_blacklist("bash", "command", ["rm -rf"]))
    fields = {"bash": {"fields": {"command": "string"}}}
    guard = Guard([rule], tools=fields, unlisted=unlisted)
    with pytest.raises(ContractError, match="`command`"):
        meets(guard, bash)


@requirement("S-INV-13")
@everywhere
def test_an_argument_that_is_not_declared_is_refused_where_the_tool_is_met(meets: Meets) -> None:
    """Else every call would be refused, for a default that nobody gave."""
    with pytest.raises(ContractError, match="`pay` takes `to`, which `tools` does not declare"):
        meets(declared("pay", {"amount": "integer"}), pay)
    meets(declared("pay", {"amount": "integer"}, unlisted="allow"), pay)
    meets(declared("pay", {"amount": "integer", "to": "string"}), pay)


@requirement("S-INV-13")
@pytest.mark.parametrize("meets", [by_middleware, by_node, by_wrapping])
def test_what_no_model_gives_need_not_be_declared(meets: Meets) -> None:
    """The state is injected, and a client is no data; a declared path names its first part."""
    meets(declared("look", {"amount": "integer"}), look)
    guard = declared("send", {"amount": "integer", "about.deep": "string"})

    @guard.tool
    def send(amount: int, about: dict[str, str] | None = None, by: Client | None = None) -> int:
        return amount

    with guard.session().active():
        assert send(5) == 5


@requirement("S-TOOL-17")
@everywhere
def test_what_is_guarded_already_is_refused(meets: Meets) -> None:
    """Its calls would count twice; those of a tool that another guard has count once with each."""
    rules = [Guard([contract("few").guarantees(rate_limit("pay", 9))]) for _ in range(2)]
    mine, other = (guard.tool(pay) for guard in rules)
    with pytest.raises(ContractError, match="`pay` is decorated with this guard already"):
        meets(rules[0], mine)
    meets(rules[0], other)


def test_what_is_said_of_fields_does_not_send_elsewhere() -> None:
    """`elsewhere` names tools of other agents: it is no remedy for a field of another name."""
    rule = contract("no rm").guarantees(arg_blacklist("bash", "command", ["rm -rf"]))
    with pytest.raises(ContractError, match="no field `command`") as told:
        by_middleware(Guard([rule]), bash)
    assert "elsewhere" not in str(told.value)
    with pytest.raises(ContractError, match="elsewhere"):
        by_middleware(Guard([contract("few").guarantees(rate_limit("bahs", 1))]), bash)
