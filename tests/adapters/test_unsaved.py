"""A run begins from a checkpoint that does not know what this process has decided since."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.config import get_stream_writer
from langgraph.graph import MessagesState

from sponsio_like.adapters.langgraph import GuardedState
from sponsio_like.adapters.langgraph.pending_writes import checkpoints_of
from sponsio_like.guard import drive
from sponsio_like.guard.guard import Guard
from tests.adapters.apps import joined
from tests.adapters.rules import few
from tests.adapters.scripted import Line, Scripted
from tests.adapters.talks import AGENTS, GRAPHS, More, Way, ask, everywhere

RAN: list[int] = []
GO: Any = {"messages": [("user", "go")]}
ON: Any = {"configurable": {"thread_id": "one"}}
MODES = ["messages", "updates", "values", "custom", "debug"]

later = pytest.mark.parametrize("way", [GRAPHS[1], AGENTS[1]], ids=["graph", "agent"])


@tool("pay")
def paying(amount: int) -> str:
    """Pay an amount."""
    RAN.append(amount)
    return "paid"


@tool("pay")
async def apaying(amount: int) -> str:
    """Pay an amount, and say so before it is done."""
    RAN.append(amount)
    get_stream_writer()("paying")
    await asyncio.sleep(0.02)
    return "paid"


class Slow(InMemorySaver):
    """Takes a while to save a checkpoint; `saves` says which."""

    delay = 0.02

    async def aput(self, *args: Any, **more: Any) -> Any:
        await asyncio.sleep(self.delay)
        return await super().aput(*args, **more)


class Thinking(Scripted):
    """A model that takes its time: by then what the last run has done is saved."""

    async def _agenerate(self, *args: Any, **more: Any) -> Any:
        await asyncio.sleep(0.2)
        return self._generate(*args, **more)


def _graph(way: Way, saver: Any, *turns: Line, kind: Any = Scripted, **options: Any) -> Any:
    script: list[Line] = [*turns, "done"]
    model = kind(script=lambda: script)
    guard = options.pop("guard", None) or Guard([few("pay", 2)])
    tools = options.pop("tools", [apaying])
    return way.build(guard, tools, model, more=More(saver=saver), **options)


async def _leave(graph: Any, mode: str) -> None:
    """Read the stream until a payment is made, and leave."""
    before = len(RAN)
    async for _ in graph.astream(GO, ON, stream_mode=mode):
        if len(RAN) > before:
            break


# --- a client leaves ------------------------------------------------------------------------------


@pytest.mark.long
@later
@pytest.mark.parametrize("mode", MODES)
def test_a_client_that_leaves_before_it_is_saved_gets_no_more_than_the_cap(
    way: Way, mode: str
) -> None:
    """What was decided is not in the checkpoint that the next run begins from."""

    async def main() -> None:
        graph = _graph(way, Slow(), ask("pay", amount=1))
        for _ in range(4):
            await _leave(graph, mode)

    asyncio.run(main())
    assert RAN == [1, 1]


def test_it_is_no_replay_when_the_store_knows_by_then() -> None:
    """The model of the next run thinks until all is saved that the last one has decided."""

    async def main() -> None:
        graph = _graph(AGENTS[1], Slow(), ask("pay", amount=1), kind=Thinking)
        for _ in range(4):
            await _leave(graph, "custom")

    asyncio.run(main())
    assert RAN == [1, 1]


@later
def test_so_it_is_with_a_file(way: Way, tmp_path: Path) -> None:
    """As with a saver that takes its time."""

    async def main() -> None:
        async with AsyncSqliteSaver.from_conn_string(str(tmp_path / "saved.db")) as saver:
            graph = _graph(way, saver, ask("pay", amount=1))
            for _ in range(6):
                await _leave(graph, "custom")

    asyncio.run(main())
    assert RAN == [1, 1]


@pytest.mark.long
@later
def test_a_long_run_that_was_left_is_known_whole(way: Way) -> None:
    """A saver that is far behind: none of ten decisions is in the checkpoint of the next run."""

    async def main() -> None:
        saver = Slow()
        saver.delay = 0.2
        pays: list[Line] = [ask("pay", f"{i}", amount=i) for i in range(10)]
        graph = _graph(way, saver, *pays, guard=Guard([few("pay", 12)]))
        async for each in graph.astream(GO, ON, stream_mode="custom"):
            assert each == "paying"
            if len(RAN) == 10:
                break
        await graph.ainvoke(GO, ON)

    asyncio.run(main())
    assert [*range(10), 0, 1] == RAN


@later
def test_what_a_client_left_is_in_the_next_checkpoint(way: Way) -> None:
    """The run after it saves what both have done: another process knows."""

    async def main() -> None:
        saver = Slow()
        await _leave(_graph(way, saver, ask("pay", amount=1), guard=guard), "custom")
        graph = _graph(way, saver, ask("pay", amount=1), guard=guard)
        await graph.ainvoke(GO, ON)
        other = _graph(way, saver, ask("pay", amount=1))
        await other.ainvoke(GO, ON)

    guard = Guard([few("pay", 2)])
    asyncio.run(main())
    assert RAN == [1, 1]


@later
def test_agents_that_share_a_session_know_what_was_left(way: Way) -> None:
    """An agent is a node of a graph, with `shared=True`; the client leaves the graph."""

    class Both(MessagesState, GuardedState):
        pass

    async def main() -> None:
        script: list[Line] = [ask("pay", amount=1), "done"]
        more = More(schema=Both, saver=None)
        model = Scripted(script=lambda: script)
        inner = way.build(Guard([few("pay", 2)]), [apaying], model, more=more, shared=True)
        graph = joined([inner], saver=Slow(), state=Both)
        for _ in range(6):
            before = len(RAN)
            async for _ in graph.astream(GO, ON, stream_mode="custom", subgraphs=True):
                if len(RAN) > before:
                    break

    asyncio.run(main())
    assert RAN == [1, 1]


# --- runs beside each other -----------------------------------------------------------------------


class Meeting(Scripted):
    """A model that is asked by two runs, of which one goes on when the other has paid."""

    asked: Any = None
    paid: Any = None
    second: bool = False

    def _generate(self, *args: Any, **more: Any) -> Any:
        if self.second:
            self.asked.set()
        assert (self.paid if self.second else self.asked).wait(20)
        return super()._generate(*args, **more)


@everywhere
def test_runs_of_one_thread_at_once_share_what_may_be_done(way: Way) -> None:
    """A user sends twice: both begin from one checkpoint, and the second knows of the first."""
    asked, paid, go_on = threading.Event(), threading.Event(), threading.Event()
    records: list[dict[str, Any]] = []

    @tool("pay")
    def slow(amount: int) -> str:
        """Pay an amount, which takes until the other run is over."""
        RAN.append(amount)
        paid.set()
        assert go_on.wait(20)
        return "paid"

    guard, saver = Guard([few("pay", 1)], log=records.append), InMemorySaver()

    def run(n: int) -> None:
        script: list[Line] = [ask("pay", f"{n}", amount=n), "done"]
        model = Meeting(script=lambda: script, asked=asked, paid=paid, second=n == 2)
        _invoke(way, way.build(guard, [slow], model, more=More(saver=saver)), GO)
        go_on.set()

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(run, (1, 2)))
    assert RAN == [1]
    ended = [each["status"] for each in records if each["event"] == "settlement"]
    assert ended == ["ok"]


# --- on purpose -----------------------------------------------------------------------------------


def _checkpoint(graph: Any, n: int) -> Any:
    """A checkpoint before the model has asked: that many back, of those."""
    history = list(graph.get_state_history(ON))
    return [each.config for each in history if "model" in each.next][n]


def _invoke(way: Way, graph: Any, given: Any, config: Any = ON) -> Any:
    if way.later:
        return asyncio.run(graph.ainvoke(given, config))
    return graph.invoke(given, config)


@pytest.mark.long
@everywhere
def test_a_replay_goes_on_from_its_checkpoint(way: Way) -> None:
    """The store knows what was decided since: who goes back does so on purpose."""
    graph = _graph(way, InMemorySaver(), ask("pay", amount=1), tools=[paying])
    for _ in range(2):
        _invoke(way, graph, GO)
    assert RAN == [1, 1]
    first = _checkpoint(graph, -1)
    _invoke(way, graph, None, first)
    assert RAN == [1, 1, 1]


@everywhere
def test_a_fork_goes_on_from_its_checkpoint(way: Way) -> None:
    """`update_state` on an older checkpoint is where the thread goes on, also without its name."""
    graph = _graph(way, InMemorySaver(), ask("pay", amount=1), tools=[paying])
    for _ in range(2):
        _invoke(way, graph, GO)
    graph.update_state(_checkpoint(graph, -1), {"messages": [("user", "again")]})
    for _ in range(3):
        _invoke(way, graph, GO)
    assert RAN == [1, 1, 1, 1]


@everywhere
def test_threads_of_another_store_are_others(way: Way) -> None:
    """One guard, and a thread of the same name in two stores."""
    guard = Guard([few("pay", 1)])
    for _ in range(3):
        graph = _graph(way, InMemorySaver(), ask("pay", amount=1), guard=guard, tools=[paying])
        for _ in range(2):
            _invoke(way, graph, GO)
    assert RAN == [1, 1, 1]


def test_a_saver_that_changes_while_it_is_listed_is_listed_again() -> None:
    """LangGraph's saver in memory is no store for several threads: it may change meanwhile."""
    tries: list[int] = []

    class Changing(InMemorySaver):
        def list(self, *args: Any, **more: Any) -> Any:
            tries.append(1)
            if len(tries) < 3:
                raise RuntimeError("dictionary changed size during iteration")
            return super().list(*args, **more)

    assert drive(checkpoints_of(Changing(), ON, later=False)) == []
    assert len(tries) == 3
