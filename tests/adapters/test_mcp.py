"""Tools of a real MCP server: contracts read what the server receives, and what it returns."""

from __future__ import annotations

import asyncio
import re
import shutil
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from sponsio_like import ContractError, contract
from sponsio_like.patterns import amount_limit, arg_blacklist, idempotent, precedence
from tests.adapters import mcp_shop
from tests.adapters.mcp_shop import RAN, by_adapters, by_langchain
from tests.adapters.rules import few, told
from tests.adapters.scripted import Scripted
from tests.adapters.talks import AGENTS, GRAPHS, Came, Talk, Way, ask

pytestmark = pytest.mark.filterwarnings("ignore")  # of the packages, which are not ours

LATER = [each for each in (*GRAPHS, *AGENTS) if each.later]
Play = Callable[[Talk], Awaitable[None]]


@pytest.fixture(autouse=True)
def _fresh() -> None:
    RAN.clear()


@pytest.fixture(params=LATER, ids=lambda each: each.name.replace(" ", "-"))
def way(request: pytest.FixtureRequest) -> Any:
    """An agent, or a graph: tools of MCP servers are coroutines."""
    return request.param


@pytest.fixture(params=[by_adapters, by_langchain], ids=lambda each: each.__name__)
def shop(request: pytest.FixtureRequest) -> Any:
    """How the tools of the server are made."""
    return request.param


def played(way: Way, shop: Any, play: Play, *rules: Any, **options: Any) -> None:
    """Play this with the tools of the server, under these contracts."""

    async def playing() -> None:
        async with shop() as tools:
            await play(way.open(tools, *rules, **options))

    asyncio.run(playing())


async def say(talk: Talk, *turns: Any) -> Came:
    """The user says something, then the model says these turns."""
    talk.plan(*turns)
    thread = {"configurable": {"thread_id": "one"}}
    return Came(await talk.graph.ainvoke({"messages": [("user", "go on")]}, thread))


def test_once_per_order_is_one_refund_however_the_order_is_written(way: Way, shop: Any) -> None:
    """The server makes 17 of `"17"`, and so do contracts."""

    async def play(talk: Talk) -> None:
        came = await say(talk, ask("refund", order=17), ask("refund", "b", order="17"))
        assert came.message("a").text == "refunded 17"
        came.refused("b")
        assert RAN == [("refund", {"order": 17, "why": "late"})]

    played(way, shop, play, contract("once").guarantees(idempotent("refund", ["order"])))


def test_a_number_that_is_never_allowed_is_refused_as_a_text(way: Way, shop: Any) -> None:
    """The server would pay 13."""

    async def play(talk: Talk) -> None:
        came = await say(talk, ask("pay", to="13"), ask("pay", "b", to="14", amount="1.50"))
        came.refused("a")
        assert came.message("b").text == "ok"
        assert RAN == [("pay", {"to": 14, "amount": 1.5, "notes": None})]

    played(way, shop, play, told("G(called(pay) -> !called(pay, to = 13))"))


def test_the_server_receives_what_was_decided(way: Way, shop: Any) -> None:
    """With its defaults, and lists that the model wrote as a text."""

    async def play(talk: Talk) -> None:
        await say(
            talk, ask("pay", to="7", amount="2", notes='["a"]'), ask("refund", "b", order=1.0)
        )
        read = [each["args"] for each in talk.records if each["event"] == "decision"]
        assert read == [{"to": 7, "amount": 2, "notes": ["a"]}, {"order": 1, "why": "late"}]
        assert [each for _, each in RAN] == read

    played(way, shop, play, few("refund", 1))


def test_what_the_schema_refuses_is_told_and_counts_nothing(way: Way, shop: Any) -> None:
    """The server never sees it."""

    async def play(talk: Talk) -> None:
        came = await say(talk, ask("refund", order="many"), ask("refund", "b"))
        assert "valid integer" in came.refused("a")
        assert "order: Field required" in came.refused("b")
        came = await say(talk, ask("refund", "c", order=1))
        assert came.message("c").text == "refunded 1"

    played(way, shop, play, few("refund", 1))


def test_sums_and_caps_are_exact(way: Way, shop: Any) -> None:
    """Amounts that are written as texts count as what they are, in one message and in two."""

    async def play(talk: Talk) -> None:
        amounts = {"a": "40", "b": 60, "c": "1"}
        calls = [ask("pay", id, to=1, amount=each)[0] for id, each in amounts.items()]
        came = await say(talk, calls)
        came.refused("c")
        (await say(talk, ask("pay", "d", to=1, amount="0.5"))).refused("d")
        assert sorted(each["amount"] for _, each in RAN) == [40, 60]

    played(way, shop, play, contract("sum").guarantees(amount_limit("pay", "amount", 100)))


def test_a_contract_follows_values_from_structured_content(way: Way, shop: Any) -> None:
    """Only who was found is paid: the id is data of the answer."""
    rule = contract("found").guarantees(
        precedence(
            match={"tool": "pay", "args": {"to": "$who"}},
            requires={"tool": "find_customer", "output": {"path": "id", "bind": "$who"}},
        )
    )

    async def play(talk: Talk) -> None:
        came = await say(
            talk,
            ask("pay", to=3),
            ask("find_customer", "b", name="ann"),
            ask("pay", "c", to="3"),
            ask("pay", "d", to=4),
        )
        came.refused("a")
        assert came.message("c").text == "ok"
        came.refused("d")

    played(way, shop, play, rule)


def test_what_is_no_object_is_read_as_it_is(way: Way, shop: Any) -> None:
    """A text is the text, whatever it stands under in the structured content."""

    async def play(talk: Talk) -> None:
        came = await say(talk, ask("pay", to=1), ask("refund", "b", order=1), ask("pay", "c", to=1))
        came.refused("a")
        assert came.message("c").text == "ok"

    played(way, shop, play, told('G(called(pay) -> Y O (called(refund) & output = "refunded 1"))'))


def test_an_error_of_the_server_is_a_failure(way: Way, shop: Any) -> None:
    """The model hears it, and the call has not succeeded."""

    async def play(talk: Talk) -> None:
        came = await say(talk, ask("pay", to=1, amount=-1), ask("refund", "b", order=1))
        assert "no such amount" in came.message("a").text
        came.refused("b")
        assert talk.statuses() == ["error"]

    played(way, shop, play, told("G(called(refund) -> Y O done(pay))"))


def test_what_the_server_does_not_have_is_refused_when_the_agent_is_made(
    way: Way, shop: Any
) -> None:
    """A tool or an argument of another name: a rule about it would look armed, and never fire."""
    body = contract("body").guarantees(arg_blacklist("refund", "reason", ["x"]))

    async def playing() -> None:
        async with shop() as tools:
            with pytest.raises(ContractError, match="unknown tool `pya`"):
                way.open(tools, few("pya"))
            with pytest.raises(ContractError, match="`refund` has no field `reason`"):
                way.open(tools, body)

    asyncio.run(playing())


@pytest.mark.long
def test_a_server_in_another_process(way: Way) -> None:
    """Over its standard input and output, with a session for each call."""
    made = pytest.importorskip("langchain_mcp_adapters.tools")
    script = str(Path(mcp_shop.__file__))
    connection = {"transport": "stdio", "command": sys.executable, "args": [script]}

    async def playing() -> None:
        tools = await made.load_mcp_tools(None, connection=connection)
        talk = way.open(tools, contract("once").guarantees(idempotent("refund", ["order"])))
        came = await say(talk, ask("refund", order="17"), ask("refund", "b", order=17))
        assert came.message("a").text == "refunded 17"
        came.refused("b")

    asyncio.run(playing())


@pytest.mark.long
def test_the_example_of_the_docs_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it stands there, with its contracts, and the shop as the server."""
    pytest.importorskip("langchain_mcp_adapters.client")
    page = (Path(__file__).parents[2] / "docs/adapters/mcp.md").read_text("utf-8")
    (program,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    (contracts,) = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    (tmp_path / "contracts.yaml").write_text(contracts, "utf-8")
    shutil.copy(mcp_shop.__file__, tmp_path / "shop.py")
    monkeypatch.chdir(tmp_path)
    turns = [ask("refund", order="17"), ask("refund", "b", order=17), ask("pay", "c", to=1)]
    names: dict[str, Any] = {"model": Scripted(script=lambda: [*turns, "done"])}
    exec(program.replace('"python"', repr(sys.executable)), names)  # noqa: S102  our own text
    came = Came(asyncio.run(names["run"]("go on")))
    assert came.message("a").text == "refunded 17"
    came.refused("b")
    came.refused("c")
