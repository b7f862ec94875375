"""The open sessions of a guard in this process, one for each id.

In: an id, and a function that makes a session. Out: the session that is open under this id, or a
new one. The latest 10,000 are kept, so that a host may open its session anew at each request; an
older one is kept only while the host has a reference to it.
"""

from __future__ import annotations

import logging
import os
import threading
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from sponsio_like.contracts import ALL_INPUTS
from sponsio_like.engine import Policy
from sponsio_like.errors import ContractError, InputMissing, SessionError
from sponsio_like.session import GatePolicy, Session
from sponsio_like.worlds import World

KEPT_CAP = 10_000
"""The most sessions that are kept although the host may have no reference to them."""


class SessionOptions(NamedTuple):
    """The options that a session was opened with."""

    clock: Callable[[], float]
    assume_success: bool
    inputs: frozenset[str] | None
    world: World | None
    risk: GatePolicy | None = None


class Host(Protocol):
    """A host that cannot keep every contract, such as an adapter."""

    def check_contracts(self, policy: Policy) -> None:
        """Raise `InputMissing` or `ContractError` for contracts that it could not keep."""


class Roster:
    """Open sessions by id, for any number of threads.

    A thread never waits for another that makes a session.
    """

    def __init__(self) -> None:
        self._open: dict[str, tuple[weakref.ref[Session], SessionOptions]] = {}
        self._kept: dict[str, Session] = {}
        self._unnamed: list[weakref.ref[Session]] = []
        self._lock = threading.Lock()
        self._room = self._many = 2 * KEPT_CAP
        self._warned = False
        _ROSTERS.add(self)

    def forked(self) -> None:
        """Open the locks in a process that was forked: it does not have the threads that held
        them.
        """
        self._lock = threading.Lock()
        for ref in (*self._unnamed, *[ref for ref, _ in self._open.values()]):
            session = ref()
            if session is not None:
                session._forked()  # noqa: SLF001  a method that is not for users

    def open(self, id: str, given: SessionOptions, make: Callable[[], Session]) -> Session:
        """Return the open session of this id; else a new one from `make`, which is kept.

        Raises `SessionError` if it was opened with other options.
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

    def unnamed(self, session: Session) -> Session:
        """Register a session that is not found again by its id, and return it."""
        refs = self._unnamed
        refs.append(weakref.ref(session))
        if len(refs) > self._many:
            with self._lock:
                many = len(refs)  # other threads only add behind these
                refs[:many] = [ref for ref in refs[:many] if ref() is not None]
                self._many = 2 * max(KEPT_CAP, len(refs))
        return session

    def restored(self, session: Session, given: SessionOptions, *, keep: bool) -> None:
        """Register a session that goes on from a snapshot as the one of its id.

        It is kept if `keep`, or if the session before it was kept.
        """
        with self._lock:
            keep = self._kept.pop(session.id, None) is not None or keep
            self._make_room()
            self._open[session.id] = weakref.ref(session), given
            if keep:
                self._kept[session.id] = session

    def _found(self, id: str, given: SessionOptions) -> Session | None:
        ref, before = self._open.get(id) or (None, given)
        session = None if ref is None else ref()
        if session is None or not session.open:
            return None
        if before != given:
            other = next(
                n for n in SessionOptions._fields if getattr(before, n) != getattr(given, n)
            )
            raise SessionError(
                f"session `{id}` is open already, with another {other}=; hold on to it, open it "
                f"with the same {other}=, or finish it first"
            )
        return session

    def _make_room(self) -> None:
        """Remove finished sessions; above the cap, also the oldest of those kept."""
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
                "%d sessions are open; older ones to which the host has no reference are dropped, "
                "and are new when they are opened again; finish sessions that are over",
                KEPT_CAP,
            )


def _forked() -> None:
    for each in _ROSTERS.copy():
        each.forked()


_ROSTERS: weakref.WeakSet[Roster] = weakref.WeakSet()
if hasattr(os, "register_at_fork"):  # there are systems that cannot fork
    os.register_at_fork(after_in_child=_forked)


# --- checks of the options ------------------------------------------------------------------------


def check_id(id: Any) -> None:
    """Raise `SessionError` for an id that is empty or no text."""
    if id is not None and (not isinstance(id, str) or not id):
        hint = "leave it out for a new session" if id == "" else "write session(str(..))"
        raise SessionError(f"session id {id!r} is empty or not a text; {hint}")


def check_switches(**given: Any) -> None:
    """Raise `ContractError` for a switch that is not True or False: any text would be on."""
    for name, value in given.items():
        if not isinstance(value, bool):
            raise ContractError.of(f"{name}={value!r} is no switch", "write True or False")


def check_inputs(inputs: Any) -> frozenset[str] | None:
    """Return the inputs that the host names.

    Raises `ContractError` for what is no list of names.
    """
    if inputs is None:
        return None
    if isinstance(inputs, (list, tuple, set, frozenset)) and all(
        isinstance(each, str) for each in inputs
    ):
        return frozenset(inputs)
    raise ContractError.of(f"inputs={inputs!r} is no list of names", "write inputs=['results']")


def check_given(policy: Policy, id: str | None, given: SessionOptions, *, content: bool) -> None:
    """Raise `InputMissing` if a session would lack what contracts need, naming the first.

    `content` is True if a session with every known input lacks nothing. Raises `SessionError` for a
    store that is none.
    """
    check_switches(assume_success=given.assume_success)
    if given.inputs is not None or not content:
        _check_inputs(policy, given.inputs, results=given.assume_success)
    if given.assume_success and policy.reading_outputs:
        name = policy.reading_outputs[0]
        what = f"contract `{name}` reads outputs, and nobody settles calls in this session"
        raise InputMissing(f"{what}; settle them, without assume_success")
    if given.world is not None:
        _check_store(given.world, id)


def _check_inputs(policy: Policy, inputs: frozenset[str] | None, *, results: bool) -> None:
    given = ALL_INPUTS if inputs is None else inputs
    given |= {"results"} if results else set()
    if unknown := given - ALL_INPUTS:
        raise ContractError.of(
            f"unknown input `{min(unknown)}`", f"inputs: {', '.join(sorted(ALL_INPUTS))}"
        )
    for contract, needs in policy.needs.items():
        if missing := needs - given:
            raise InputMissing(
                f"contract `{contract}` needs {', '.join(sorted(missing))}, "
                "which this session does not get"
            )


def _check_store(world: Any, id: str | None) -> None:
    if not isinstance(world, World):
        raise SessionError(f"{world!r} is no store; write world=SqliteWorld(path)")
    if id is None:
        raise SessionError("a session over a store needs an id; write session(id, world=..)")
