"""Which session decides in a node, and what it needs to be one.

In: the guard, and the value of the channel where the node runs. Out: a session, live or restored;
or a refusal, where contracts would have to remember and nothing would.
"""

from __future__ import annotations

import functools
import logging
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias
from weakref import WeakKeyDictionary

from sponsio_like.adapters.langgraph.hearing import Facts, listens
from sponsio_like.adapters.langgraph.journal import Entry, catch_up, known_to
from sponsio_like.adapters.langgraph.lineage import CHANNEL, Kept, Live, mark_of, successor
from sponsio_like.adapters.langgraph.place import Place
from sponsio_like.errors import ContractError, InputMissing, SessionError
from sponsio_like.guard import Guard, begun, resumed
from sponsio_like.roster import Given
from sponsio_like.session import Session
from sponsio_like.worlds import World

Scope: TypeAlias = Literal["thread", "run"]
"""How far a session goes: over all runs of a thread, or over one run of the graph."""

HINTS = {
    "facts": "give facts=, a function of the state and the config",
    "finish": "no node hears the end; use the middleware of sponsio_like.adapters.langchain",
}
"""What to do about an input that is missing."""
READ = "__pregel_read"
"""Where LangGraph keeps what reads the channels, in the config of a node."""
INPUTS = frozenset({"results", "messages", "usage", "agents", "depth", "time", "tool_names"})


@dataclass(frozen=True)
class Sessions:
    """Opens sessions for the nodes of one graph.

    Raises `InputMissing` for contracts that need what no node hears of, and `ContractError` for
    contracts on the world where there is no store for it.
    """

    guard: Guard
    agent: str = "agent"
    scope: Scope = "thread"
    shared: bool = False
    world: World | None = None
    clock: Callable[[], float] = time.time
    facts: Facts | None = None
    inputs: frozenset[str] = INPUTS
    live: Live = field(default_factory=Live)

    def __post_init__(self) -> None:
        if self.scope not in ("thread", "run"):
            raise ContractError.of(f"scope={self.scope!r}", "write thread or run")
        for contract, needs in self.guard.policy.needs.items():
            if missing := sorted(needs - self.delivered):
                raise InputMissing(
                    f"contract `{contract}` needs {', '.join(missing)}; {HINTS[missing[0]]}"
                )
        if self.guard.policy.world and self.world is None:
            name = self.guard.policy.world[0]
            raise ContractError.of(
                f"contract `{name}` is on the world, which no checkpoint keeps",
                "give world=SqliteWorld(path), from sponsio_like.worlds",
            )

    @functools.cached_property
    def delivered(self) -> frozenset[str]:
        """What contracts may ask for here."""
        return self.inputs | ({"facts"} if self.facts is not None else set())

    @functools.cached_property
    def listens(self) -> bool:
        """Whether any contract speaks of messages."""
        return listens(self.guard.policy)

    def open(self, kept: Kept, place: Place, batch: str = "") -> Session:
        """The session that stands where the node runs, for a batch.

        Calls of an earlier batch that have not ended never will. Raises `SessionError` if there
        can be no session.
        """
        self._check(kept, place)
        session = (self._taken if "rev" in kept else self._restored)(kept, place)
        if _BATCHES.get(session) != batch:
            for id, *_ in session._inner.flying():  # noqa: SLF001  who settles, knows them
                session.settle(id, error="the step that it belonged to has not ended")
            _BATCHES[session] = batch
        self._at(session, place.step)
        return session

    @property
    def _given(self) -> Given:
        return Given(self.clock, False, self.delivered, self.world)

    def lives(self, kept: Kept) -> bool:
        """Whether the session of this value, as it was before any results, lives here."""
        return self.live.look(mark_of({**kept, "results": ()})) is not None

    def beside(self, kept: Kept, place: Place, siblings: Iterable[Entry] = ()) -> Session:
        """The session of this value, for one of several calls that run beside each other.

        `siblings`: what calls that have ended before say, where the session has to be restored.
        """
        mark = mark_of({**kept, "results": ()})
        live = self.live.look(mark)
        if live is None:
            live = self._restored(kept, place)
            self._at(live, kept.get("place", ""))
            catch_up(live, siblings)
        return self.live.keep(mark, live)

    def seen(self, kept: Kept, place: Place) -> Session:
        """As `open`, to look at: whoever comes next takes it."""
        session = self.open(kept, place)
        return self.live.keep(mark_of(kept), session) if "rev" in kept else session

    def after(self, kept: Kept, session: Session, more: Kept) -> Kept:
        """The next value of the channel; the session lives on for it."""
        known_to(session).clear()  # they are part of the session now, for good
        value = successor(kept, {"session": session.snapshot(), **more}, shared=self.shared)
        self.live.keep(mark_of(value), session)
        return value

    def _taken(self, kept: Kept, place: Place) -> Session:
        """The live session of this value; of the value without its results, they are told first."""
        session = self.live.take(mark_of(kept))
        if session is None:
            bare = mark_of({**kept, "results": ()})
            session = self.live.take(bare) or self._restored(kept, place)
            self._at(session, kept.get("place", ""))
            catch_up(session, kept.get("results", ()))
        return session

    def _at(self, session: Session, step: str) -> None:
        if self.world is not None:
            session.place(step)

    def _restored(self, kept: Kept, place: Place) -> Session:
        if "rev" not in kept:
            return begun(self.guard, place.thread, self._given)
        if "session" not in kept:
            raise SessionError(
                f"the channel `{CHANNEL}` is of a graph that ran inside a guarded tool; give it a "
                "thread of its own"
            )
        return resumed(self.guard, kept["session"], self._given)

    def _check(self, kept: Kept, place: Place) -> None:
        if self.scope == "run" and place.thread is not None:
            raise SessionError('scope="run" is for graphs without a thread; this one has one')
        policy = self.guard.policy
        stateful = policy.stateful if self.scope == "thread" else policy.world
        if not stateful:
            return
        what = f"contract `{stateful[0]}` remembers earlier calls, but"
        if place.inside and not self.shared:
            why = (
                f"{what} this graph runs inside another one and forgets them at its end; write "
                "shared=True, and add GuardedState to the states of both graphs"
            )
        elif place.inside and not kept:
            why = (
                f"{what} this graph runs inside another one that does not share `{CHANNEL}`; add "
                "GuardedState to its state"
            )
        elif place.thread is None:
            why = (
                f"{what} nothing keeps them: compile the graph with a checkpointer and give a "
                'thread_id, or write scope="run"'
            )
        else:
            return
        if policy.enforces:
            raise SessionError(why)
        logging.getLogger("sponsio_like").warning("%s", why)


_BATCHES: WeakKeyDictionary[Session, str] = WeakKeyDictionary()
"""The batch that a session is deciding, or was when its step ended without a result."""


def read(config: Mapping[str, Any], channels: Any, *, fresh: bool = False) -> Any:
    """The values of channels where a node runs; `fresh`: with what this node has written.

    Raises `SessionError` outside of a graph.
    """
    reader = config.get("configurable", {}).get(READ)
    if reader is None:
        raise SessionError("this is no node of a graph that runs: there is no state to be read")
    return reader(channels, fresh)


def kept_in(config: Mapping[str, Any]) -> Kept:
    """The value of the channel. Raises `SessionError` if the graph does not have it."""
    try:
        value = read(config, CHANNEL)
    except KeyError:
        value = None
    if value is None:
        raise SessionError(
            f"the graph has no channel `{CHANNEL}`, so nothing would be remembered; add the node "
            "with guard_tools(builder, guard, tools)"
        )
    return dict(value)
