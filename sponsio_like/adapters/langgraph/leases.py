"""Decides which process may run a call, where several share a store of the world.

The calls of one batch are one transaction there (`together`): while people are asked about a call,
nothing of its message has happened.

In: the store, a thread, and a call that was let through. Out: whether it runs here. Not where
another run has made something else of the same step, or of the same answer, and runs that; and not
while another process, that lives, runs this very call, or has just run it. A call is told by its
decision, not by its checkpoint: two processes that find one decision among the writes of a step
make a checkpoint each.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from sponsio_like.worlds import Data, Entry, Processes, World

CAP = 100
"""Most decisions of a thread that are known; of more, those that have run first are forgotten."""
SAVING = 10.0
"""Seconds in which what a call has come to is saved. Later it runs again if that is not known."""
TAKEN = "it did not run: another run of this step has run its calls, or runs them now"
"""The reason told of a call that another run has taken."""


Leave: TypeAlias = Literal["first", "again", "never"]
"""The permission to run a call: the first time, again after a process that died, or never."""


class Taken(Exception):
    """Raised if another process runs this call, or has just run it."""


@dataclass(frozen=True)
class Lease:
    """A `call` of a thread that was `decided` by a name, in the part `rev`."""

    world: World
    thread: str
    decided: str
    rev: str
    call: str

    def begin(self) -> Leave:
        """Note that the call begins; return whether it may run as it was decided.

        Raises `Taken` if another process is at it. After one that has died ("again") the checkpoint
        may know what the call has come to.
        """
        with self.world.entry(self._name) as entry:
            data = entry.read() or {}
            decided, runs = data.get("decided", {}), data.get("runs", {})
            if decided.get(self.decided, self.rev) != self.rev:
                return "never"
            before = self._others_of(runs)
            latest = dict(list({**decided, self.decided: self.rev}.items())[-CAP:])
            entry.replace({"decided": latest, "runs": self._with_mine(runs)})
            return "again" if before else "first"

    def end(self, *, came: bool) -> None:
        """Note that the call has ended. `came`: it has a result, and is not to run again."""
        if not isinstance(self.world, Processes):
            return
        with self.world.entry(self._name) as entry:
            data = entry.read() or {}
            runs, own = dict(data.get("runs", {})), self.world.process()
            if runs.pop(self._run, [None])[0] != own:
                return
            if came:
                runs[self._run] = [own, time.time()]
            entry.replace({**data, "runs": runs})

    @property
    def _name(self) -> str:
        return f"leases of {self.thread}"

    @property
    def _run(self) -> str:
        return f"{self.rev} {self.call}"

    def _others_of(self, runs: Mapping[str, Any]) -> bool:
        """True if another process was at this call, and has died. Raises `Taken` if it lives."""
        world = self.world
        if not isinstance(world, Processes) or self._run not in runs:
            return False
        process, ended = runs[self._run]
        if ended is not None and ended < time.time() - SAVING:
            return False
        if process != world.process() and world.lives(process):
            raise Taken
        return bool(process != world.process())

    def _with_mine(self, runs: Mapping[str, Any]) -> dict[str, Any]:
        """Return the calls that run, or have just run, and this one."""
        if not isinstance(self.world, Processes):
            return {}
        since = time.time() - SAVING
        recent = [(call, run) for call, run in runs.items() if run[1] is None or run[1] > since]
        return {**dict(recent[-CAP:]), self._run: [self.world.process(), None]}


# --- one transaction ------------------------------------------------------------------------------


@dataclass
class _View:
    """An entry within a block, and what it will become."""

    entry: Entry
    data: Data | None = None

    def read(self) -> Data | None:
        return self.entry.read() if self.data is None else self.data

    def replace(self, data: Data) -> None:
        self.data = data


@dataclass
class _Block:
    world: World
    stack: ExitStack
    views: dict[str, _View] = field(default_factory=dict)

    @contextmanager
    def entry(self, id: str) -> Iterator[Entry]:
        if id not in self.views:
            self.views[id] = _View(self.stack.enter_context(self.world.entry(id)))
        view = self.views[id]
        before, done = view.data, False
        try:
            yield view
            done = True
        finally:
            view.data = view.data if done else before


_BLOCK: ContextVar[_Block | None] = ContextVar("sponsio_like_together", default=None)


@dataclass(frozen=True)
class Together:
    """A store of the world whose entries within a block are one transaction."""

    world: World

    def entry(self, id: str) -> AbstractContextManager[Entry]:
        """Open an entry as `World.entry` does; within a block, as a part of its one transaction."""
        block = _BLOCK.get()
        mine = block is not None and block.world is self.world
        return block.entry(id) if mine and block is not None else self.world.entry(id)


@contextmanager
def together(world: World | None) -> Iterator[Callable[[], None]]:
    """Make the block one transaction on the store, kept if what is yielded is called."""
    kept: list[bool] = []
    if world is None:
        yield lambda: None
        return
    with ExitStack() as stack:
        block = _Block(world, stack)
        token = _BLOCK.set(block)
        try:
            yield lambda: kept.append(True)
        finally:
            _BLOCK.reset(token)
        for view in block.views.values() if kept else ():
            if view.data is not None:
                view.entry.replace(view.data)
