"""Makes the calls of one batch one transaction on the world.

In: a store of the world. Out: a store whose entries, within a block, are kept together at its end,
or not at all: while people are asked about a call, nothing of its message has happened.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from sponsio_like.worlds import Data, Entry, World


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
