"""The sessions of a guard that are open in this process: one for each id.

In: an id, and how a session is made. Out: the one that is open under this id, or the new one. A
host may open a session at each request, and hold on to none: they are kept, the latest 10,000; of
those before, the ones that somebody still holds.
"""

from __future__ import annotations

import logging
import threading
import weakref
from collections.abc import Callable
from typing import NamedTuple

from sponsio_like.errors import SessionError
from sponsio_like.session import Session
from sponsio_like.worlds import World

KEPT_CAP = 10_000
"""Most sessions that are kept although nobody may hold them any more."""


class Given(NamedTuple):
    """What a session was opened with."""

    clock: Callable[[], float]
    assume_success: bool
    inputs: frozenset[str] | None
    world: World | None


class Roster:
    """Open sessions by id. Any number of threads may ask; none waits for a session to be made."""

    def __init__(self) -> None:
        self._open: dict[str, tuple[weakref.ref[Session], Given]] = {}
        self._kept: dict[str, Session] = {}
        self._lock = threading.Lock()
        self._room = 2 * KEPT_CAP
        self._warned = False

    def open(self, id: str, given: Given, make: Callable[[], Session]) -> Session:
        """The session that is open under this id; else a new one, which is kept.

        Raises `SessionError` if it was opened with something else.
        """
        found = self._found(id, given)
        if found is not None:
            return found
        made = make()
        with self._lock:
            found = self._found(id, given)  # another thread may have been quicker
            if found is not None:
                return found
            self._make_room()
            self._open[id] = weakref.ref(made), given
            self._kept[id] = made
        return made

    def restored(self, session: Session, given: Given) -> None:
        """A session goes on from a snapshot: from now on it is the one of its id.

        It is kept if the one before was.
        """
        with self._lock:
            self._make_room()
            self._open[session.id] = weakref.ref(session), given
            if session.id in self._kept:
                self._kept[session.id] = session

    def _found(self, id: str, given: Given) -> Session | None:
        ref, before = self._open.get(id) or (None, given)
        session = None if ref is None else ref()
        if session is None or not session.open:
            return None
        if before != given:
            other = next(n for n in Given._fields if getattr(before, n) != getattr(given, n))
            raise SessionError(
                f"session `{id}` is open already, with another {other}=; hold on to it, open it "
                f"with the same {other}=, or finish it first"
            )
        return session

    def _make_room(self) -> None:
        """Forget sessions that are over; beyond the cap, let go of the oldest."""
        if len(self._kept) >= KEPT_CAP:
            self._kept = {id: each for id, each in self._kept.items() if each.open}
        while len(self._kept) >= KEPT_CAP:
            del self._kept[next(iter(self._kept))]
            self._warn()
        if len(self._open) >= self._room:
            each = self._open.items()
            self._open = {id: pair for id, pair in each if (s := pair[0]()) is not None and s.open}
            self._room = 2 * max(KEPT_CAP, len(self._open))

    def _warn(self) -> None:
        if not self._warned:
            self._warned = True
            logging.getLogger("sponsio_like").warning(
                "%d sessions are open; those before that nobody holds begin anew when they are "
                "opened again; finish sessions that are over",
                KEPT_CAP,
            )
