"""The sessions of one guard that live in this process, between the steps that use them.

What a session has become is in the channel; here is what saves the work of restoring it, and what
only a process can know: who uses a session now, and which calls run.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sponsio_like.guard import Guard
from sponsio_like.session import Session

LIVE_CAP = 256
"""Most sessions that are kept alive between two steps; others are restored from their part."""
RUNNING_CAP = 1024
"""Most calls that are known while they run; of more, those that have begun first are forgotten."""


class LiveStep(NamedTuple):
    """A step that opens the session of a part, within a step `root` of the outermost graph.

    `run`: the run of a graph in there that has sessions of its own.
    """

    mark: str
    root: str
    task: str
    run: str = ""


class Link(NamedTuple):
    """A part that was written: what was decided, from which checkpoint, in which step.

    `idle`: no call was let through.
    """

    mark: str
    batch: str
    root: str
    checkpoint: str
    idle: bool


@dataclass
class Out:
    """A session that steps use now, which run beside each other. One decides at a time."""

    session: Session
    tasks: set[str]
    lock: threading.RLock = field(default_factory=threading.RLock)

    @property
    def shared(self) -> bool:
        """True if several steps use it."""
        return len(self.tasks) > 1


class Live:
    """The sessions of one guard in this process, for any number of threads."""

    def __init__(self) -> None:
        self._sessions: OrderedDict[str, Session] = OrderedDict()
        self._out: OrderedDict[tuple[str, str, str], Out] = OrderedDict()
        self._running: OrderedDict[str, Any] = OrderedDict()
        self._active: dict[str, Any] = {}
        self._answered: OrderedDict[str, tuple[str, frozenset[str]]] = OrderedDict()
        self._questions: OrderedDict[str, str] = OrderedDict()
        self._deciding: OrderedDict[tuple[str, str], str] = OrderedDict()
        self._next: OrderedDict[str, Link] = OrderedDict()
        self._latest: OrderedDict[str, Mapping[str, Any]] = OrderedDict()
        self._acted: OrderedDict[str, None] = OrderedDict()
        self._lock = threading.Lock()

    def open(self, step: LiveStep, opened: Callable[[Session | None], Session]) -> Out:
        """Return the session of this part, for a step that decides: what `opened` makes of the one
        that lives here.

        A step that runs again finds it as it was before; steps beside each other have one.
        """
        at = (step.mark, step.root, step.run)
        with self._lock:
            out = self._out.get(at)
            if out is not None and out.tasks != {step.task}:
                out.tasks.add(step.task)
                return out
            session = None if out is not None else self._sessions.pop(step.mark, None)
        made = Out(opened(session), {step.task})
        with self._lock:
            known = self._out.get(at)
            if known is not None and known.tasks != {step.task}:
                known.tasks.add(step.task)
                return known
            _put(self._out, at, made, LIVE_CAP)
        return made

    def keep(self, mark: str, session: Session) -> Session:
        """Let the session stand for this part, if no other one does; return the one that does."""
        with self._lock:
            session = self._sessions.setdefault(mark, session)
            _put(self._sessions, mark, session, LIVE_CAP)
            return session

    def replace(self, mark: str, session: Session) -> None:
        """Let this session stand for the part, in the place of any other."""
        with self._lock:
            _put(self._sessions, mark, session, LIVE_CAP)

    def look(self, mark: str) -> Session | None:
        """Return the session of this part, which stays here for others; None if it is not here."""
        with self._lock:
            return self._sessions.get(mark)

    def decides(self, id: str, checkpoint: str, task: str) -> bool:
        """True if it is this task that decides the call, of all that go on from a checkpoint."""
        with self._lock:
            first = self._deciding.get((checkpoint, id), task)
            _put(self._deciding, (checkpoint, id), first, RUNNING_CAP)
            return first == task

    # --- calls that run ---------------------------------------------------------------------------

    def begin(self, step: str, running: Any) -> bool:
        """Note that a call runs in this step; return False if another run is running it."""
        with self._lock:
            if self._active.setdefault(step, running) is not running:
                return False
            _put(self._running, step, running, RUNNING_CAP)
            _put(self._acted, running.rev, None, RUNNING_CAP)
            return True

    def running(self, step: str) -> Any:
        """Return the call that runs in this step, or has run there; None if there is none."""
        with self._lock:
            return self._running.get(step)

    def end(self, step: str) -> None:
        """Forget the call of this step, which is to run from its start again."""
        with self._lock:
            self._running.pop(step, None)

    def rests(self, step: str, running: Any) -> None:
        """Note that the call does not run now. It takes no lock: it may be called anywhere."""
        if self._active.get(step) is running:
            del self._active[step]

    def runs(self, session: Session) -> set[str]:
        """Return the ids of the calls of this session that run now."""
        return {each.own for each in list(self._active.values()) if each.session is session}

    # --- what was written -------------------------------------------------------------------------

    def wrote(self, before: str, link: Link, kept: Mapping[str, Any]) -> None:
        """Note a part that was written, and comes after `before`."""
        with self._lock:
            self._latest.pop(before, None)
            _put(self._next, before, link, RUNNING_CAP)
            _put(self._latest, link.mark, kept, LIVE_CAP)

    def since(self, mark: str) -> list[Link]:
        """Return what was written after this part, up to the latest; nothing, if not known."""
        with self._lock:
            links: list[Link] = []
            while (link := self._next.get(links[-1].mark if links else mark)) is not None:
                links.append(link)
            return links if links and links[-1].mark in self._latest else []

    def has_acted(self, link: Link) -> bool:
        """True if a call that was decided there has begun to run, or if none was let through."""
        with self._lock:
            return link.idle or link.mark in self._acted

    def written(self, mark: str) -> Mapping[str, Any]:
        """Return this part as it was written, if it is the latest; else an empty one."""
        with self._lock:
            return self._latest.get(mark, {})

    # --- answers ----------------------------------------------------------------------------------

    def asks(self, place: str, question: str) -> None:
        """Note that people are asked this question here, in the place of any other."""
        with self._lock:
            _put(self._questions, place, question, RUNNING_CAP)

    def question(self, place: str, question: str) -> str:
        """Return the question that was asked here last; else this one, from now on."""
        with self._lock:
            known = self._questions.get(place, question)
            _put(self._questions, place, known, RUNNING_CAP)
            return known

    def answered(self, question: str, rev: str) -> bool:
        """True if an answer to this question is good for the part `rev`.

        It is good for one: for the latest that was decided with it, until a call of one has run.
        """
        with self._lock:
            holder, spent = self._answered.get(question, (rev, frozenset()))
            if spent and holder != rev:
                return False
            _put(self._answered, question, (rev, spent), RUNNING_CAP)
            return True

    def spend(self, question: str, kept: Mapping[str, Any], id: str) -> bool:
        """Spend an answer on the call `id` of this part; return False if the call may not run.

        The answer is good for this part, or for one that was written beside it and is part of it.
        """
        mine = [kept["rev"], *kept.get("line", ())]
        with self._lock:
            holder, spent = self._answered.get(question, (mine[0], frozenset()))
            if holder not in mine or id in spent:
                return False
            _put(self._answered, question, (holder, spent | {id}), RUNNING_CAP)
            return True

    def give_back(self, question: str, id: str) -> None:
        """Let the answer run this call again, which has failed."""
        with self._lock:
            holder, spent = self._answered.get(question, ("", frozenset()))
            if id in spent:
                self._answered[question] = (holder, spent - {id})


def _put(where: OrderedDict[Any, Any], key: Any, value: Any, cap: int) -> None:
    where[key] = value
    where.move_to_end(key)
    if len(where) > cap:
        where.popitem(last=False)


def live_of(guard: Guard) -> Live:
    """Return the sessions of a guard, whichever graphs they are of; they go with it."""
    live: Live = vars(guard).setdefault("_live", Live())
    return live
