"""An agent whose thread outlives its processes: each step may be done by another one.

In: `Home`, where the thread is kept, and a `Story`, what the model will say. Out: what people are
asked, what the model was told, and receipts of what ran, on the disk. A process may be told to die
at one of its points: there it is killed, as by `kill -9`.
"""

from __future__ import annotations

import asyncio
import functools
import hashlib
import os
import shutil
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.types import Command

from sponsio_like.adapters.langgraph import approve, waiting
from sponsio_like.guard.guard import Guard
from sponsio_like.worlds import Entry, SqliteWorld
from tests.adapters.bench import POLL
from tests.adapters.harness import Call
from tests.adapters.rules import asked, pay, spending
from tests.adapters.scripted import Line, since_user
from tests.adapters.talks import AGENTS, GRAPHS, More, Talk

WAYS = {each.name: each for each in (*GRAPHS, *AGENTS)}
TOTAL = 255
"""All that may be paid in most stories; above 226 a manager is asked."""


PATIENCE = 60.0
"""Seconds that a process waits for another one."""


# --- where it lives -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Home:
    """Where a thread is kept: `folder` has receipts, points, the world, and the checkpoints.

    With `address`, of a server, checkpoints are there.
    """

    folder: str
    address: str = ""
    thread: str = "one"

    @property
    def config(self) -> Any:
        """The thread, as graphs are told of it."""
        return {"configurable": {"thread_id": self.thread}}

    def note(self, where: str, line: str) -> None:
        """Write a line; it stays, however the process ends."""
        file = os.open(self._file(where), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(file, f"{line}\n".encode())
        os.close(file)

    def lines(self, where: str) -> list[str]:
        """What was written there."""
        file = self._file(where)
        return file.read_text().splitlines() if file.exists() else []

    def wait(self, where: str) -> None:
        """Wait until another process has written there."""
        until = time.monotonic() + PATIENCE
        while not self.lines(where):
            assert time.monotonic() < until, f"nobody has written {where}"
            time.sleep(POLL)

    def _file(self, where: str) -> Path:
        return Path(self.folder) / where

    @property
    def paid(self) -> Counter[int]:
        """How often the payment of each amount has run."""
        return Counter(int(each) for each in self.lines("receipts"))

    def inner(self, name: str) -> Home:
        """An empty home inside of this one."""
        folder = self._file(name)
        folder.mkdir()
        return replace(self, folder=str(folder), thread=str(folder))

    def clear(self) -> None:
        """Nothing is left on the disk."""
        shutil.rmtree(self.folder)

    def copied(self, name: str = "copy") -> Home:
        """Another home with all that this one has."""
        other = replace(self, folder=f"{self.folder}-{name}")
        shutil.copytree(self.folder, other.folder)
        if not self.address:
            return other
        from tests.adapters.postgres import copied

        schema = hashlib.blake2b(other.folder.encode(), digest_size=8).hexdigest()
        return replace(other, address=copied(self.address, self.thread, f"copy_{schema}"))

    def saver(self) -> Any:
        """What keeps the thread, as a context."""
        if self.address:
            from langgraph.checkpoint.postgres import PostgresSaver

            return PostgresSaver.from_conn_string(self.address)
        return SqliteSaver.from_conn_string(str(self._file("threads.sqlite")))

    def asaver(self) -> Any:
        """As `saver`, for `ainvoke`."""
        if self.address:
            from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver

            return AsyncPostgresSaver.from_conn_string(self.address)
        return AsyncSqliteSaver.from_conn_string(str(self._file("threads.sqlite")))

    def world(self, points: Points) -> SqliteWorld:
        """What remembers contracts on the world, with a point whenever these have counted."""
        return World(self._file("world.sqlite"), points)


class Points:
    """The points of a thread's life, over all its processes.

    The process that passes number `last` is killed there. One that passes its own number `pause`
    notes that, and waits there until it is told to go on.
    """

    def __init__(self, home: Home, last: int = 0, pause: int = 0) -> None:
        self._home, self._last, self._pause = home, last, pause
        self._passed = len(home.lines("points"))
        self._own = 0
        self._lock = threading.Lock()

    def at(self, name: str) -> None:
        """The process is at the point of this name."""
        with self._lock:
            self._passed += 1
            self._own += 1
            self._home.note("points", name)
            if self._passed == self._last:
                os.kill(os.getpid(), signal.SIGKILL)
            if self._own == self._pause:
                self._home.note("pauses", name)
                self._home.wait("goes on")

    def around(self, saver: Any) -> Any:
        """The saver, with a point after each time that it has saved."""
        for name in ("put", "put_writes", "aput", "aput_writes"):
            save = getattr(saver, name)
            setattr(saver, name, (self._asaved if name[0] == "a" else self._saved)(name, save))
        return saver

    def _saved(self, name: str, save: Callable[..., Any]) -> Callable[..., Any]:
        def saved(*args: Any, **more: Any) -> Any:
            came = save(*args, **more)
            self.at(f"saved {_what(name, args)}")
            return came

        return saved

    def _asaved(self, name: str, save: Callable[..., Any]) -> Callable[..., Any]:
        async def saved(*args: Any, **more: Any) -> Any:
            came = await save(*args, **more)
            self.at(f"saved {_what(name, args)}")
            return came

        return saved


def _what(name: str, args: Sequence[Any]) -> str:
    """What is saved: a checkpoint, or writes of a task; and the payments that it tells of."""
    if name.endswith("writes"):
        return " ".join([*_paid(each for _, each in args[1]), "in", *(name for name, _ in args[1])])
    inside = bool(args[0]["configurable"].get("checkpoint_ns"))
    paid = [] if inside else _paid(args[1]["channel_values"].values())
    return " ".join(["checkpoint", *paid])


def _paid(values: Iterable[Any]) -> list[str]:
    """What tools have answered, by these values of channels."""
    each = (one for value in values for one in (value if isinstance(value, list) else [value]))
    return [str(one.content) for one in each if isinstance(one, ToolMessage)]


class World(SqliteWorld):
    """A store that passes a point after each time that contracts on the world have counted."""

    def __init__(self, path: Path, points: Points) -> None:
        super().__init__(path, durable=False)
        self._points = points

    @contextmanager
    def entry(self, id: str) -> Iterator[Entry]:
        """As `SqliteWorld.entry`."""
        with super().entry(id) as entry:
            before = entry.read()
            yield entry
            counted = entry.read() != before and not id.startswith("leases")
        if counted:
            self._points.at("counted")


# --- what runs ------------------------------------------------------------------------------------


def run(
    home: Home,
    graph: Any,
    given: Any,
    *,
    later: bool,
    points: Points | None = None,
    **options: Any,
) -> Any:
    """Run the graph on its thread; the state in the end."""
    points = points or Points(home)

    async def arun() -> Any:
        async with home.asaver() as saver:
            graph.checkpointer = points.around(saver)
            return await graph.ainvoke(given, home.config, **options)

    if later:
        return asyncio.run(arun())
    with home.saver() as saver:
        graph.checkpointer = points.around(saver)
        return graph.invoke(given, home.config, **options)


def pay_tool(home: Home, points: Points | None = None, *, waits: bool = False) -> BaseTool:
    """A tool that leaves receipts. If it `waits`, then after each until it is told to go on."""
    points = points or Points(home)

    def pay(amount: int) -> str:
        """Pay an amount."""
        points.at(f"begin paid {amount}")
        home.note("receipts", str(amount))
        if waits:
            home.wait("goes on")
        points.at(f"end paid {amount}")
        return f"paid {amount}"

    return StructuredTool.from_function(pay)


# --- what is said ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Story:
    """What the model says. `inner`: what a sub-agent says, if there is one.

    `pays`: the payments that run in the end.
    """

    script: Sequence[Line]
    pays: frozenset[int]
    inner: Sequence[Line] = ()
    total: int = TOTAL

    @property
    def rest(self) -> int:
        """What may be paid after it."""
        return self.total - sum(self.pays)


HELPER = Call("helper", {"task": "pay"}, "h")
STORIES = {
    "beside": Story(([pay(10, "a"), pay(250, "b"), pay(20, "c")], "done"), frozenset({10, 20})),
    "asked": Story(([pay(10, "a"), pay(230, "b")], "done"), frozenset({10, 230})),
    "held": Story(([pay(230, "b")], "done"), frozenset({230}), total=1000),
    "inside": Story(
        ([pay(10, "a"), HELPER], "done"),
        frozenset({10, 30}),
        inner=([pay(30, "a")], [pay(250, "b")], "found"),
    ),
}


@dataclass(frozen=True)
class Left:
    """What a run has left: what people are asked, and what the model was told of each call."""

    asked: list[dict[str, Any]]
    told: dict[str, list[str]]

    @property
    def tickets(self) -> list[str]:
        """The tickets of what is asked."""
        return [each["ticket"] for each in self.asked]


@dataclass(frozen=True)
class Life:
    """A thread in one process. With `last` it is killed at this point; with `pause` it waits."""

    home: Home
    way: str
    story: str
    world: bool = False
    durability: str = "sync"
    last: int = 0
    waits: bool = False
    pause: int = 0

    def moved(self, name: str) -> Life:
        """The same in another home, which is empty."""
        return replace(self, home=self.home.inner(name))

    def copied(self) -> Life:
        """The same in another home, which has what this one has."""
        return replace(self, home=self.home.copied())

    def say(self, *script: Line) -> Left:
        """The user says something; without a script the model tells the story."""
        return self.go({"messages": [("user", "go on")]}, *script)

    def on(self) -> Left:
        """Go on where the thread is."""
        return self.go(None)

    def click(self, tickets: Sequence[str]) -> Left:
        """A manager says yes to these."""
        return self.go(Command(resume=approve(*tickets, by="ann", role="manager")))

    def to_the_end(self, left: Left) -> Left:
        """A manager says yes, as long as something is asked."""
        while left.asked:
            for each in left.tickets:
                self.home.note("tickets", each)
            left = self.click(left.tickets)
        return left

    def go(self, given: Any, *script: Line) -> Left:
        """Run the graph on this input."""
        talk, points = _talk(self)
        talk.script[:] = script or STORIES[self.story].script
        options: dict[str, Any] = {"points": points, "durability": self.durability}
        return _left(run(self.home, talk.graph, given, later=talk.later, **options))


@functools.lru_cache(4)
def _talk(life: Life) -> tuple[Talk, Points]:
    """The agent, as each process makes it."""
    home, way, story = life.home, WAYS[life.way], STORIES[life.story]
    budget, points = spending(story.total), Points(home, life.last, life.pause)
    guard = Guard([budget.world() if life.world else budget, asked(226)])
    options: dict[str, Any] = {"more": More(saver=None)}
    if life.world:
        options["world"] = home.world(points)
    tools = [pay_tool(home, points, waits=life.waits)]
    if story.inner:
        sub_agent = way.under(guard, tools, **options)
        sub_agent.script[:] = story.inner
        tools.append(_helper(sub_agent))
    return way.under(guard, tools, **options), points


def _helper(agent: Talk) -> BaseTool:
    def helper(task: str) -> str:
        """Let somebody else do it."""
        return str(agent.graph.invoke({"messages": [("user", task)]})["messages"][-1].text)

    async def ahelper(task: str) -> str:
        state = await agent.graph.ainvoke({"messages": [("user", task)]})
        return str(state["messages"][-1].text)

    if agent.later:
        return StructuredTool.from_function(coroutine=ahelper, name="helper", description="Help.")
    return StructuredTool.from_function(helper)


def _left(state: Mapping[str, Any]) -> Left:
    told: dict[str, list[str]] = {}
    for each in since_user(state["messages"], ToolMessage):
        text = "refused" if each.status == "error" else str(each.text)
        told.setdefault(each.tool_call_id, []).append(text)
    return Left(waiting(state), told)


# --- what processes do ----------------------------------------------------------------------------


def lived(life: Life) -> Left:
    """The user says something, and managers say yes until the story is told."""
    return life.to_the_end(life.say())
