"""Scenarios about the history of a thread: replay, fork, edit, and errors after tools have run.

In: a way. Out: the story of what was observed.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph.message import REMOVE_ALL_MESSAGES

from sponsio_like.worlds import MemoryWorld
from tests.adapters.apps import App, Way, charge, kit, opened
from tests.adapters.bench import PATIENCE
from tests.adapters.rules import asked, pay, spending, yes

GO_ON = {"messages": [("user", "go on")]}


def replay(way: Way) -> str:
    """A payment is made; then the thread goes on from the checkpoint before it."""
    app = opened(kit(way, spending(100)))
    app.note("first", app.say([pay(60, "a")]))
    app.note("replay", app.run(None, app.asked_for))
    app.note("then", app.say([pay(40, "b")], [pay(1, "c")]))
    return app.told()


def replay_of_an_approval(way: Way) -> str:
    """A payment is approved; then the thread goes on from the checkpoint before it was decided."""
    app = opened(kit(way, asked()))
    state = app.say([pay(900, "a")])
    app.note("approved", app.answer(state, yes("a")))
    before = app.asked_for
    state = app.run(None, before)
    app.note("replay", state)
    app.note("approved", app.answer(state, yes("a"), at=app.asking(before)))
    return app.told()


def replay_of_what_was_approved(way: Way) -> str:
    """As before, but from the last checkpoint before the tools: the answer lets it run once."""
    app = opened(kit(way, asked()))
    state = app.say([pay(900, "a")])
    app.note("approved", app.answer(state, yes("a")))
    app.note("replay", app.run(None, app.before_tools))
    return app.told()


def replay_in_the_world(way: Way) -> str:
    """A payment under a contract on the world; then the thread goes on from before it."""
    world = MemoryWorld()
    app = opened(kit(way, spending(100).world()), world=world)
    app.note("first", app.say([pay(60, "a")]))
    app.note("replay", app.run(None, app.asked_for))
    app.note("then", app.say([pay(40, "b")]))
    return app.told()


def at_once(way: Way) -> str:
    """Two runs of one thread at once, and a contract on the world."""
    world = MemoryWorld()
    app = opened(kit(way, spending(100).world()), world=world)
    app.kit.script[:] = [[pay(60, "a")], "done"]
    for state in sorted(_two_runs(app), key=lambda state: "not allowed" in str(state)):
        app.note("one run" if not app.story else "the other", state)
    return app.told()


def _two_runs(app: App) -> list[Any]:
    async def later() -> list[Any]:
        graph, config = app.graph, app.config
        return await asyncio.gather(*[graph.ainvoke(GO_ON, config) for _ in range(2)])

    if app.kit.way.later:
        return asyncio.run(later())
    with ThreadPoolExecutor(2) as pool:
        return [each.result() for each in [pool.submit(app.run, GO_ON) for _ in range(2)]]


def fork(way: Way) -> str:
    """`update_state` on an earlier checkpoint, and on from there; then the other branch goes on."""
    app = opened(kit(way, spending(100)))
    app.note("first", app.say([pay(60, "a")]))
    common = app.here
    app.note("one branch", app.say([pay(40, "b")], [pay(1, "c")]))
    one = app.here
    other = app.edit({"messages": [HumanMessage("or rather")]}, common)
    app.note("other branch", app.say([pay(30, "d")], [pay(20, "e")], at=other))
    app.note("goes on", app.say([pay(10, "f")]))
    app.note("one branch goes on", app.say([pay(1, "g")], at=one))
    return app.told()


def edited_call(way: Way) -> str:
    """`update_state` replaces the call of 60 by one of 30, where the model has asked for it."""
    app = opened(kit(way, spending(100)))
    app.note("first", app.say([pay(60, "a")]))
    other = app.edit(_instead(app.graph.get_state(app.asked_for), 30), app.asked_for)
    app.note("edited", app.run(None, other))
    app.note("then", app.say([pay(70, "b")], [pay(1, "c")]))
    return app.told()


def edited_when_decided(way: Way) -> str:
    """As before, but at the last checkpoint before the tools: what was let through counts, too."""
    app = opened(kit(way, spending(100)))
    app.note("first", app.say([pay(60, "a")]))
    other = app.edit(_instead(app.graph.get_state(app.asked_for), 30), app.before_tools)
    app.note("edited", app.run(None, other))
    app.note("then", app.say([pay(70, "b")], [pay(1, "c")]))
    return app.told()


def edited_while_held(way: Way) -> str:
    """`update_state` replaces a call while a person is asked; then the answer comes."""
    app = opened(kit(way, asked()))
    first = app.say([pay(900, "a")])
    app.note("first", first)
    app.edit(_instead(app.graph.get_state(app.config), 9_000))
    second = app.answer(first, yes("a"))
    app.note("first approved", second)
    app.note("second approved", app.answer(second, yes("a")))
    return app.told()


def _instead(snapshot: Any, amount: int) -> dict[str, Any]:
    """Another call in the last message."""
    call = {"name": "pay", "args": {"amount": amount}, "id": "a"}
    last = snapshot.values["messages"][-1]
    return {"messages": [AIMessage("", id=last.id, tool_calls=[call])]}


def edited_messages(way: Way) -> str:
    """`update_state` puts a summary in the place of all messages."""
    app = opened(kit(way, spending(100)))
    app.note("first", app.say([pay(60, "a")]))
    summary = [HumanMessage("a summary"), AIMessage("I see")]
    app.edit({"messages": [RemoveMessage(REMOVE_ALL_MESSAGES), *summary]})
    app.note("then", app.say([pay(60, "b")], [pay(40, "c")]))
    return app.told()


def injected(way: Way) -> str:
    """The input of a run names the channel: empty, and with a session that is made up."""
    app = opened(kit(way, spending(100)))
    app.note("first", app.say([pay(60, "a")]))
    app.kit.script[:] = [[pay(60, "b")], "done"]
    app.note("empty", app.run({**GO_ON, "__contracts__": {}}))
    state = app.run({**GO_ON, "__contracts__": {"rev": "0", "line": [], "session": {}}})
    app.note("made up", state)
    app.story.append(f"the output has {'it' if 'contracts' in state else 'no such key'}")
    return app.told()


class FailingOnce(InMemorySaver):
    """A saver that cannot save the state after tools, the first time."""

    failed = False

    def put(self, config: Any, checkpoint: Any, *more: Any) -> Any:
        messages = checkpoint["channel_values"].get("messages")
        if messages and messages[-1].type == "tool" and not self.failed:
            self.failed = True
            raise OSError("the disk is full")
        return super().put(config, checkpoint, *more)

    async def aput(self, config: Any, checkpoint: Any, *more: Any) -> Any:
        return self.put(config, checkpoint, *more)


class Watched(InMemorySaver):
    """A saver that knows when a payment has been saved."""

    paid = False

    def put_writes(self, config: Any, writes: Any, *more: Any) -> None:
        super().put_writes(config, writes, *more)
        self.paid = self.paid or "content='paid " in repr(writes)

    def raising(self) -> Callable[[], Iterator[None]]:
        """Once a payment has been saved, an error, the first time."""
        first = iter([True])

        def meanwhile() -> Iterator[None]:
            until = time.monotonic() + PATIENCE
            if next(first, False):
                while not self.paid and time.monotonic() < until:
                    yield
                raise ConnectionError("not now")

        return meanwhile


def failing_saver(way: Way) -> str:
    """Two tools have run, but the state after them cannot be saved (`durability="sync"`)."""
    app = opened(kit(way, spending(100)), saver=FailingOnce())
    app.note_of("first", lambda: app.say([pay(30, "a"), pay(20, "b")], durability="sync"))
    app.note("goes on", app.run(None))
    app.note("then", app.say([pay(50, "c")], [pay(1, "d")]))
    return app.told()


def failing_model(way: Way) -> str:
    """Two tools have run; then the model fails."""
    app = opened(kit(way, spending(100)))
    app.kit.script[:] = [[pay(30, "a"), pay(20, "b")]]  # and no further turn
    app.note_of("first", lambda: app.run(GO_ON))
    app.kit.script.append("done")
    app.note("goes on", app.run(None))
    app.note("then", app.say([pay(50, "c")], [pay(1, "d")]))
    return app.told()


def failing_tool(way: Way) -> str:
    """A tool raises, when the call beside it has finished."""
    made, saver = kit(way, spending(100)), Watched()
    app = opened(made, made.charging(saver.raising()), saver=saver)
    app.note_of("first", lambda: app.say([pay(60, "a"), charge(5, "b")]))
    app.note("goes on", app.run(None))
    app.note("then", app.say([pay(40, "c")], [pay(1, "d")]))
    return app.told()


def durability_exit(way: Way) -> str:
    """With `durability="exit"`, only the end of each run is saved."""
    app = opened(kit(way, asked(50), spending(100)))
    state = app.say([pay(40, "a"), pay(60, "b")], durability="exit")
    app.note("first", state)
    app.note("approved", app.answer(state, yes("b"), durability="exit"))
    app.note("then", app.say([pay(1, "c")], durability="exit"))
    return app.told()
