"""What a host gives to a tool, and no model: state, store, runtime, call id, context, config."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any

import pytest
from langchain.agents import AgentState
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import InjectedToolCallId, tool
from langgraph.config import get_stream_writer
from langgraph.prebuilt import InjectedState, InjectedStore, ToolRuntime
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore

from sponsio_like.contracts.definition import contract
from sponsio_like.errors import ContractError
from sponsio_like.patterns import arg_allowlist
from tests.adapters.rules import few, told
from tests.adapters.talks import More, Way, ask, everywhere


class Shopping(AgentState[Any]):
    """A conversation in a shop."""

    shop: str


@tool
def whole(word: str, state: Annotated[Any, InjectedState]) -> str:
    """Read the whole state."""
    return f"{word} {state['shop']} {len(state['messages'])} messages"


@tool
def one(word: str, shop: Annotated[str, InjectedState("shop")]) -> str:
    """Read a field of the state."""
    return f"{word} in {shop}"


@tool
def stored(word: str, store: Annotated[BaseStore, InjectedStore]) -> str:
    """Put something into the store."""
    store.put(("words",), word, {"said": True})
    return "stored"


@tool
def named(word: str, id: Annotated[str, InjectedToolCallId]) -> str:
    """Tell the id of the call."""
    return f"{word} {id}"


@tool
def running(word: str, runtime: ToolRuntime[Any, Any]) -> str:
    """Tell what it knows of the run."""
    shop = runtime.context.shop
    thread = runtime.config["configurable"]["thread_id"]
    return f"{word} {runtime.state['shop']} {shop} {thread} {runtime.tool_call_id}"


@tool
def configured(word: str, config: RunnableConfig) -> str:
    """Tell what the config has."""
    return f"{word} {config['configurable']['thread_id']} {' '.join(config.get('tags') or ())}"


@tool
def loud(word: str) -> str:
    """Write to the stream."""
    get_stream_writer()({"loud": word})
    return word


@dataclasses.dataclass
class Context:
    """What the host gives to a run."""

    shop: str


class Seen(BaseCallbackHandler):
    """Notes the tools that begin and end."""

    def __init__(self) -> None:
        self.began: list[str] = []
        self.ended: list[str] = []

    def on_tool_start(self, serialized: Any, input_str: str, **kwargs: Any) -> None:
        self.began.append(serialized["name"])

    def on_tool_end(self, output: Any, **kwargs: Any) -> None:
        self.ended.append(output.text)


@everywhere
def test_a_tool_reads_the_state(way: Way) -> None:
    """The whole state or a field of it, as without contracts."""
    talk = way.open([whole, one], few("one", 1), more=More(schema=Shopping))
    came = talk.say([*ask("whole", word="hi"), *ask("one", "b", word="hi")], shop="Bakery")
    assert came.result("a") == "hi Bakery 2 messages"
    assert came.result("b") == "hi in Bakery"


@everywhere
def test_a_tool_reads_the_store(way: Way) -> None:
    """The store that the graph was compiled with."""
    store = InMemoryStore()
    talk = way.open([stored], few("stored", 1), more=More(store=store))
    assert talk.say(ask("stored", word="hi")).result("a") == "stored"
    talk.say(ask("stored", word="you")).refused("a")
    assert [each.key for each in store.search(("words",))] == ["hi"]


@everywhere
def test_a_tool_reads_the_id_of_its_call(way: Way) -> None:
    """The id that the model gave."""
    talk = way.open([named], few("named", 1))
    assert talk.say(ask("named", "call 7", word="hi")).result("call 7") == "hi call 7"


@everywhere
def test_a_tool_reads_its_runtime(way: Way) -> None:
    """State, context, config and call id are those of this run."""
    talk = way.open([running], few("running", 1), more=More(schema=Shopping, context=Context))
    given = {"messages": [("user", "go on")], "shop": "Bakery"}
    came = talk.go(given, ask("running", word="hi"), context=Context("Rye"))
    assert came.result("a") == "hi Bakery Rye one a"


@everywhere
def test_a_tool_reads_the_config_and_is_called_back(way: Way) -> None:
    """Tags and callbacks of the run reach the tool; a call that is refused is no tool that runs."""
    seen = Seen()
    talk = way.open([configured], few("configured", 1))
    calls = [*ask("configured", word="hi"), *ask("configured", "b", word="you")]
    config = {"tags": ["red"], "callbacks": [seen]}
    came = talk.go({"messages": [("user", "go on")]}, calls, config=config)
    assert came.result("a").split()[:2] == ["hi", "one"]
    assert "red" in came.result("a").split()
    came.refused("b")
    assert (seen.began, seen.ended) == (["configured"], [came.result("a")])


@everywhere
def test_contracts_read_what_the_model_gave_and_not_what_the_host_gave(way: Way) -> None:
    """What is injected is no argument: it is not logged, and a contract does not find it."""
    rules = [told('G(called(one) -> called(one, word != "Bakery"))'), few("stored", 1)]
    tools, store = [whole, one, stored, named], InMemoryStore()
    talk = way.open(tools, *rules, more=More(schema=Shopping, store=store), mode="observe")
    calls = [ask(each.name, each.name, word="hi")[0] for each in tools]
    talk.say(calls, shop="Bakery")
    decided = [each for each in talk.records if each["event"] == "decision"]
    assert [each["args"] for each in decided] == [{"word": "hi"}] * 4
    hers = told('G(called(one) -> called(one, shop != "Bakery"))')
    with pytest.raises(ContractError, match="tool `one` has no field `shop`"):
        way.open(tools, hers, more=More(schema=Shopping, store=store))


@everywhere
def test_a_model_cannot_pass_what_the_host_gives(way: Way) -> None:
    """An argument that is the host's is not the model's to fill."""
    talk = way.open([one], few("one", 1), more=More(schema=Shopping))
    came = talk.say(ask("one", word="hi", shop="Bank"), shop="Bakery")
    assert came.result("a") == "hi in Bakery"


@everywhere
def test_a_redirect_keeps_what_the_host_gives(way: Way) -> None:
    """The substitute reads its own state, and the id is that of the call."""
    rule = contract("mild").guarantees(arg_allowlist("loud", "word", ["^hush$"]))
    talk = way.open([loud, named], rule.strategy({"redirect_to_safe": {"to": "named"}}))
    assert talk.say(ask("loud", word="hey")).result("a") == "hey a"


@everywhere
def test_a_tool_writes_to_the_stream(way: Way) -> None:
    """What a tool writes is streamed, also from parallel calls; what is refused writes nothing."""
    talk = way.open([loud], few("loud", 2))
    calls = [ask("loud", word, word=word)[0] for word in ("one", "two", "three")]
    streamed = talk.stream(calls, mode="custom")
    assert sorted(each["loud"] for each in streamed) == ["one", "two"]
