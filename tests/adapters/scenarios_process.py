"""Scenarios about several processes, which share a SQLite file and nothing else.

In: a way. Out: the story of what was observed. The first process leaves a call held, and then dies
while a tool runs.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from sponsio_like.contracts.definition import contract
from sponsio_like.patterns import amount_limit
from tests.adapters.apps import IN_ONE_PROCESS, App, State, Way, charge, kit
from tests.adapters.processes import start
from tests.adapters.rules import asked, pay, send, spending, yes

DIED = 9


@dataclass
class Filed(App):
    """An app whose thread is in a SQLite file, opened for each step."""

    file: str = ""

    def run(self, given: Any, at: Any = None, **options: Any) -> State:
        self.graph = self.build()
        return dict(self._within(lambda run: run(given, at or self.config, **options), "invoke"))

    def left(self) -> State:
        """What people are asked, by what an earlier process has left."""
        snapshot = self._within(lambda look: look(self.config), "get_state")
        return {"__interrupt__": snapshot.interrupts, "messages": snapshot.values["messages"]}

    def _within(self, act: Callable[[Any], Any], method: str) -> Any:
        async def later() -> Any:
            async with AsyncSqliteSaver.from_conn_string(self.file) as saver:
                self.graph.checkpointer = saver
                return await act(getattr(self.graph, f"a{method}"))

        if self.kit.way.later:
            return asyncio.run(later())
        with SqliteSaver.from_conn_string(self.file) as saver:
            self.graph.checkpointer = saver
            return act(getattr(self.graph, method))


def _app(way: Way, file: Path, thread: str, *, dies: bool = False) -> Filed:
    charges = contract("charges").guarantees(amount_limit("charge", "amount", 100))
    made = kit(way, asked(), spending(100 if thread == "dies" else 1_000), charges)
    charging = made.charging(lambda: _until_saved(file)) if dies else made.charging()
    return Filed(made, lambda: made.agent([charging]), thread, file=str(file))


def _until_saved(file: Path) -> Iterator[None]:
    """Wait for what has come of the call beside to be saved; then the process dies."""
    saved = (
        "SELECT 1 FROM writes WHERE thread_id = 'dies' AND instr(value, CAST('paid 60' AS BLOB))"
    )
    with closing(sqlite3.connect(file)) as connection:
        while connection.execute(saved).fetchone() is None:
            yield
    os._exit(DIED)


def first_process(name: str, file: Path) -> None:
    """Leave a call held in one thread, and die in another."""
    [way] = [each for each in IN_ONE_PROCESS if str(each) == name]
    _app(way, file, "held").say([send("hello", "a"), pay(900, "b")])
    app = _app(way, file, "dies", dies=True)
    app.say([pay(60, "a"), charge(60, "b")], durability="sync")


@cache
def _left(way: Way) -> bytes:
    """The file that the first process leaves."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "threads.sqlite"
        assert start(first_process, str(way), file).ended() == DIED
        with closing(sqlite3.connect(file)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return file.read_bytes()


@contextmanager
def _found(way: Way, thread: str) -> Iterator[Filed]:
    """A thread of the first process, as another process finds it."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "threads.sqlite"
        file.write_bytes(_left(way))
        app = _app(way, file, thread)
        app.kit.script[:] = ["what the first process has asked for", "done"]
        yield app


def new_process(way: Way) -> str:
    """A call is held; another process gets the answer (the limit is 1,000)."""
    with _found(way, "held") as app:
        state = app.left()
        app.note("found", state)
        app.note("approved", app.answer(state, yes("b")))
        app.note("then", app.say([pay(100, "c")], [pay(1, "d")]))
        return app.told()


def dead_process(way: Way) -> str:
    """The process dies while a tool runs; the call beside it has finished. Another goes on."""
    with _found(way, "dies") as app:
        app.note("goes on", app.run(None))
        app.note("then", app.say([pay(40, "c"), charge(40, "d")], [pay(1, "e"), charge(1, "f")]))
        return app.told()
