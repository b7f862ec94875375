"""Finds where a node runs, on which value of its channel, and inside of which session.

In: the state, the config and the runtime of a node. Out: `NodeContext`. A graph that was called
from a guarded tool, under the same contracts, decides on the session of that tool, one deeper. One
with a memory of its own in another (`checkpointer=True`) is allowed one at a time in a place, or it
would forget calls.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import version
from itertools import takewhile
from typing import Any
from weakref import WeakKeyDictionary

from sponsio_like.adapters.langgraph.asked_calls import Tools
from sponsio_like.adapters.langgraph.channel import CHANNEL, GuardPart, rev_of
from sponsio_like.adapters.langgraph.gate import BatchGate, Ruling, once
from sponsio_like.adapters.langgraph.journal import JournalEntry, catch_up, decided_entry, known_to
from sponsio_like.adapters.langgraph.leases import Lease
from sponsio_like.adapters.langgraph.live import Link, Out
from sponsio_like.adapters.langgraph.messages import hear, told_facts
from sponsio_like.adapters.langgraph.pending_writes import (
    BACK,
    checkpoints_of,
    ended_in,
    inside,
    left_in,
    left_over,
    parts_of,
)
from sponsio_like.adapters.langgraph.place import Outer, Place, name_at, outer, place_of, saver_of
from sponsio_like.adapters.langgraph.sessions import Sessions, read_channels, successor
from sponsio_like.guard import Flow, Guard
from sponsio_like.session import Caller, Session, caller_under, fresh_id


@dataclass(frozen=True, slots=True)
class NodeContext:
    """A node that runs. `around`: who acts where its graph was called from; `outer`: the call."""

    sessions: Sessions
    kept: GuardPart
    place: Place
    around: Caller | None
    outer: Outer | None = None
    batch: str = ""
    """The batch that is decided here: the id of a message of the model, or a name."""
    group: str | None = None
    """The common name of batches that were sent beside this one; None if nothing was sent."""
    saver: Any = None
    whole: Mapping[str, GuardPart] | None = None
    """The value of the channel, where the graph goes on inside of another one."""
    newer: bool = False
    """True if this process has decided since, and the checkpoint does not know it."""

    @property
    def by(self) -> tuple[str, int]:
        """The agent whose calls these are, and its depth."""
        around = self.around
        depth = 0 if around is None or around.depth is None else around.depth + 1
        return self.sessions.agent, depth

    def open(self) -> Out:
        """Return the session, as it was before this step."""
        if self.around is None:
            return self.sessions.open(self.kept, self.place, self.group or self.batch)
        return Out(self._inner(), {"around", self.place.step})

    @property
    def lives(self) -> bool:
        """True if the session need not be restored."""
        return self.around is not None or self.sessions.lives(self.kept)

    @property
    def since(self) -> list[Link]:
        """The parts that this process has written after the one that stands here."""
        return self.sessions.live.since(self._before)

    @property
    def _before(self) -> str:
        """The part that stands here; where there is none, the thread as its store has it."""
        run = "" if self.sessions.shared else self.place.run
        here = (self.place.thread, run, _name_of(self.saver))
        return rev_of(self.kept) or " ".join(map(str, here))

    def done_inside(self, id: str, config: Any, runtime: Any, *, later: bool) -> Flow:
        """Return what graphs inside of the call `id` have done, if another process decided it."""
        if self.around is not None or self.sessions.decided_here(self.kept):
            return []
        names = [name_at(self.kept.get("place", ""), id)]
        return (yield from inside(config, runtime, names, later=later))

    def beside(self, id: str = "", siblings: Iterable[JournalEntry] = ()) -> Session:
        """Return the session, for the call `id`, which may run beside others.

        `siblings`: what those say that have ended, where the session does not live here.
        """
        if self.around is None:
            return self.sessions.beside(self.kept, self.place, id, siblings)
        return self._inner()

    def seen(self) -> Session:
        """Return the session, to look at."""
        return self.sessions.seen(self.kept, self.place) if self.around is None else self._inner()

    def tell(self, session: Session, state: Any, config: Any, messages: Sequence[Any]) -> list[str]:
        """Tell the session what has happened since; return the marks of messages it heard."""
        told_facts(session, self.sessions.facts, state, config)
        if not self.sessions.listens:
            return []
        return hear(session, messages, self.kept.get("heard", ()))

    def _inner(self) -> Session:
        assert self.around is not None
        session: Session = self.around.session
        catch_up(session, self._journal())
        return session

    def _journal(self, *more: JournalEntry) -> list[JournalEntry]:
        """Return what this graph has done to the session around it; tell the call around it."""
        mine = self.kept if self._is_mine() else {}
        done = [*mine.get("journal", ()), *mine.get("results", ()), *more]
        if self.outer is not None:
            self.outer.note(done)
        return done

    @property
    def _outer(self) -> str:
        return "" if self.outer is None else self.outer.name

    def _is_mine(self) -> bool:
        """True if the journal is of the call that this runs in: the thread may be older."""
        return bool(self.kept.get("outer", "") == self._outer)

    def after(
        self,
        session: Session,
        more: GuardPart,
        rulings: Iterable[Ruling] = (),
        dropped: Iterable[JournalEntry] = (),
    ) -> GuardPart:
        """Return the next part of the channel. `rulings`, `dropped`: what was done in this step."""
        if self.around is None:
            own = self.sessions.own
            if self.whole is not None and own:
                self.sessions.refuse(forgets(own[0], self.place, self.whole))
            value = self.sessions.after(self.kept, session, more)
            checkpoint, idle = self.place.step.split(" ")[0], not _lets_through(more)
            link = Link(value["rev"], self.batch, self.place.root, checkpoint, idle)
            self.sessions.live.wrote(self._before, link, value)
            return value
        ran, at = [each for each in rulings if each.settles], f"decided {self.place.step}"
        entries = [*(decided_entry(f"{at} {each.id}", each, self.by) for each in ran), *dropped]
        known_to(session).note(each["key"] for each in entries)
        journal = {"journal": self._journal(*entries), "outer": self._outer}
        return successor(self.kept, {**more, **journal}, shared=self.sessions.shared)

    def write(
        self, session: Session, more: GuardPart, *done: Iterable[Any]
    ) -> dict[str, GuardPart]:
        """Return what `after` does, as the channel takes it."""
        return self.sessions.wrote(self.after(session, more, *done))

    def lease(self, id: str, question: str) -> Lease | None:
        """Return the lease of a call that was let through, by an answer to this question if any.

        None where no store says who may run.
        """
        opened, thread, kept = self.sessions, self.place.thread, self.kept
        if opened.world is None or thread is None or "rev" not in kept:
            return None
        named = opened.guard.policy.world and self.around is None
        decided = question or kept["place" if named else "rev"]
        return Lease(opened.world, thread, decided, kept["rev"], id)

    def gate(self, begin: Callable[[Session], None], tools: Tools) -> BatchGate:
        """Return the gate that decides here."""
        return BatchGate(
            self.open,
            begin,
            tools,
            self.by,
            self.sessions.clock,
            self.sessions.live,
            f"{self.place.thread} {self.place.run} {self.batch}",
            waits=self.place.thread is not None,
            own=self._own(),
            world=self.sessions.world,
        )

    def _own(self) -> Callable[[str], str]:
        """Return what maps a call's id to the session's: two graphs may use the same."""
        if self.outer is not None:
            return partial(self.outer.own, self.place.run)
        return partial(Outer("").own, self.place.run) if self.place.inside else str


def node_context(sessions: Sessions, config: Any, runtime: Any, *, later: bool) -> Flow:
    """Return where the node runs. What the world counts gets a name that no replay has again."""
    stand = read_context(sessions, config, runtime)
    if stand.around is None and not stand.lives and left_over(stand.kept):
        rev = stand.kept["rev"]
        ended = yield from ended_in(config, runtime, rev, BACK, later=later)
        within = yield from inside(config, runtime, left_in(stand.kept), later=later)
        stand = replace(stand, place=replace(stand.place, ended=(*within, *ended)))
    if sessions.guard.policy.world and stand.around is None:
        step, _ = yield from once(fresh_id, later=later)
        stand = replace(stand, place=replace(stand.place, step=f"{stand.place.step} {step}"))
    return stand


def read_context(sessions: Sessions, config: Any, runtime: Any) -> NodeContext:
    """Return where the node runs, for what decides nothing."""
    around = acting_under(sessions.guard)
    inside = None if around is None else outer(sessions.guard)
    kept, place = sessions.kept_in(config), place_of(config, runtime)
    whole = read_channels(config, CHANNEL) if place.lasting else None
    return NodeContext(sessions, kept, place, around, inside, saver=saver_of(config), whole=whole)


def _lets_through(more: GuardPart) -> bool:
    """True if calls are to run."""
    return any(each.get("tool") for each in more.get("rulings", {}).values())


_NAMES: WeakKeyDictionary[Any, str] = WeakKeyDictionary()
"""A name for each saver: threads of two of them may have the same."""


def _name_of(saver: Any) -> str:
    try:
        return "" if saver is None else _NAMES.setdefault(saver, fresh_id())
    except TypeError:  # it has no weak references, or no hash
        return str(id(saver))


def acting_under(guard: Guard) -> Caller | None:
    """Return who acts here, if it is under these contracts; else None."""
    here = caller_under(guard.policy)
    return here if here is not None and here.session.open else None


# --- graphs that keep a memory inside another one -------------------------------------------------


STEPS_CAP = 4096
"""Most steps that are known; of more, those that were seen first are forgotten."""
_SEEN: OrderedDict[tuple[str, ...], str] = OrderedDict()
_LOCK = threading.Lock()
_FORKS = tuple(map(int, version("langgraph").split(".")[:2])) >= (1, 2)
"""True if LangGraph gives a replay a checkpoint of its own: before, it looks like a second run."""


def forgets(contract: str, place: Place, whole: Mapping[str, Any]) -> str:
    """Return why the contract would forget, as another run has its own memory here; or `""`.

    `whole` is the value of the channel of this graph.
    """
    what = f"contract `{contract}` remembers earlier calls, but this graph, of checkpointer=True,"
    if place.run != place.called:
        return (
            f"{what} is called for the second time by one node (or is tried again), and LangGraph "
            "gives it another memory there; call it in a node or a @task of its own, or put the "
            "contract on the world"
        )
    revs = sorted(str(each.get("rev", "")) for each in whole.values())
    if _FORKS and _is_beside((place.root, place.run, *revs), place.step.split()[0]):
        return (
            f"{what} runs beside another one in the same place, and the one that ends last would "
            "overwrite the memory of the other; let them run one after another, or put the "
            "contract on the world"
        )
    return ""


def _is_beside(step: tuple[str, ...], checkpoint: str) -> bool:
    """True if another run has gone on from the same value, in the same step of the graph around."""
    with _LOCK:
        known = _SEEN.setdefault(step, checkpoint)
        if len(_SEEN) > STEPS_CAP:
            _SEEN.popitem(last=False)
    return known != checkpoint


# --- decisions that no checkpoint has -------------------------------------------------------------
#
# LangGraph saves while a run goes on (`durability="async"`): a run that begins when the client of
# the last one has just left, or beside another one, reads a checkpoint from before its decisions. A
# replay or a fork does so on purpose.

LOOK = 64
"""Most checkpoints that are looked at, back from the newest one of the thread."""
_FORKED = frozenset({"update", "fork"})
"""The sources of checkpoints that `update_state`, or a replay, has made."""


def newest(stand: NodeContext, config: Any, runtime: Any, *, later: bool) -> Flow:
    """Return where the node decides, after all decisions before that this process knows of."""
    if stand.around is not None or stand.place.thread is None or not stand.sessions.own:
        return stand
    links, live = stand.since, stand.sessions.live
    beside = any(each.root == stand.place.root or each.batch == stand.batch for each in links)
    if beside or stand.batch in stand.kept.get("asked", ()) or not any(map(live.has_acted, links)):
        return stand
    if (yield from _looked(config, runtime, links[0].checkpoint, links[-1].mark, later=later)):
        return stand
    asked = stand.kept.get("asked", {})
    return replace(stand, kept={**live.written(links[-1].mark), "asked": asked}, newer=True)


def _looked(config: Any, runtime: Any, since: str, rev: str, *, later: bool) -> Flow:
    """True if the run goes back on purpose: it says so, and the store knows the part `rev`."""
    found = [("checkpoint_id" in config.get("metadata", {}), False)]  # one that was named
    for where in _places(runtime):
        every = yield from checkpoints_of(saver_of(config), where, LOOK, later=later)
        newer = takewhile(lambda each: str(each.checkpoint["id"]) > since, every)
        found += [_tells(each, rev) for each in newer]  # their ids are in order
    forks, knows = zip(*found, strict=True)
    return any(forks) and any(knows)


def _places(runtime: Any) -> Iterator[Any]:
    """Yield the places of this graph's checkpoints, and of those of the outermost one."""
    here = runtime.execution_info
    for around in dict.fromkeys((here.checkpoint_ns.rpartition("|")[0], "")):
        yield {"configurable": {"thread_id": here.thread_id, "checkpoint_ns": around}}


def _tells(found: Any, rev: str) -> tuple[bool, bool]:
    """Return whether a checkpoint is a fork, and whether it knows the part."""
    knows = any(rev == part.get("rev") or rev in part.get("line", ()) for part in parts_of(found))
    return (found.metadata or {}).get("source") in _FORKED, knows
