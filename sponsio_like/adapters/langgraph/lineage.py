"""The state of a session in the graph's own checkpoint: right under resume, replay and fork.

In: the value of the channel `__contracts__`. Out: the live session that it stands for, and after a
batch the next value. A value names the one that it was made from; two that were made from the
same one, in parallel branches, do not fit together, and the graph stops.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from typing import Annotated, Any

from typing_extensions import TypedDict  # as LangGraph's own states: classes of both can be joined

from sponsio_like.errors import SessionError
from sponsio_like.naming import fresh
from sponsio_like.session import Session

CHANNEL = "__contracts__"
"""The name of the channel, and of the key in a state that shares it: one that nobody else has."""
LINE_CAP = 200
"""Most ancestors that a shared value names: the steps of a subgraph before its parent hears."""
LIVE_CAP = 256
"""Most sessions that are kept alive between two steps; others are restored from their value."""
RUNNING_CAP = 1024
"""Most calls that are known while they run; of more, those that have begun first are forgotten."""

Kept = dict[str, Any]
"""JSON data: `rev` and its ancestors in `line`, the `session`, the messages that were `heard`, the
`place` where it was made; between decision and settlement, `rulings` and `results` by call."""


def merged(old: Kept, new: Kept) -> Kept:
    """The value after a write.

    Results of calls are added; another value has to be a successor of this one. Raises
    `SessionError` if it is not.
    """
    if not new:  # it comes from the graph around this one, which has not decided anything yet
        return {**old, "entered": True}
    if new.keys() == {"rev", "said"} and new["rev"] == old.get("rev"):  # people have answered
        *before, last = old["asked"]
        return {**old, "asked": [*before, {**last, "said": new["said"]}]}
    if new.get("rev") == old.get("rev", ""):
        added = new.get("results", []) if new.keys() == {"rev", "results"} else []
        return {**old, "results": [*old.get("results", []), *added]} if added else old
    if (cached := _cached(old, new)) is not None:
        return {**old, "results": [*old.get("results", []), *cached]}
    if "rev" in old and old["rev"] not in new.get("line", ()):
        raise SessionError(
            f"two branches of the graph have written `{CHANNEL}` at once, each without the calls "
            "of the other; let guarded tools run one after another, or give each branch a session "
            "of its own"
        )
    return new


def _cached(old: Kept, new: Kept) -> list[Any] | None:
    """The results of calls of this very message, which ran in another branch; None for others."""
    if new.keys() != {"rev", "results"}:
        return None
    mine = {each.get("id") for each in old.get("rulings", {}).values()}
    mine |= {each["id"] for each in new["results"] if "decided" in each}
    return new["results"] if mine.issuperset(each["id"] for each in new["results"]) else None


class GuardedState(TypedDict):
    """The channel, for states that share it: of a graph and of the subgraphs in it."""

    __contracts__: Annotated[Kept, merged]


def successor(kept: Kept, more: Kept, *, shared: bool) -> Kept:
    """The value after `kept`, that says this."""
    mine = [kept["rev"]] if "rev" in kept else []
    line = [*kept.get("line", ())[1 - LINE_CAP :], *mine] if shared else mine
    return {"rev": fresh(), "line": line, **more}


class Live:
    """The sessions that live between two steps, by the value that they stand for.

    Each is taken by one step at most; a step that finds none restores its own.
    """

    def __init__(self) -> None:
        self._sessions: OrderedDict[str, Session] = OrderedDict()
        self._running: OrderedDict[str, Any] = OrderedDict()
        self._lock = threading.Lock()

    def take(self, mark: str) -> Session | None:
        """The session of this very value, if it lives here and nobody else has taken it."""
        with self._lock:
            return self._sessions.pop(mark, None)

    def keep(self, mark: str, session: Session) -> Session:
        """From now on the session stands for this value, unless another one does already."""
        with self._lock:
            session = self._sessions.setdefault(mark, session)
            if len(self._sessions) > LIVE_CAP:
                self._sessions.popitem(last=False)
            return session

    def look(self, mark: str) -> Session | None:
        """As `take`, but it stays here, for others that run beside this one."""
        with self._lock:
            return self._sessions.get(mark)

    def begin(self, step: str, running: Any) -> None:
        """A call runs, which is a step of its own."""
        with self._lock:
            self._running[step] = running
            if len(self._running) > RUNNING_CAP:
                self._running.popitem(last=False)

    def running(self, step: str) -> Any:
        """The call that runs in this step, or has failed there; None if there is none."""
        with self._lock:
            return self._running.get(step)

    def end(self, step: str) -> None:
        """The call of this step is run from its start again."""
        with self._lock:
            self._running.pop(step, None)


def mark_of(kept: Mapping[str, Any]) -> str:
    """What tells this value from others, with the results that have come since."""
    results = kept.get("results", ())
    return " ".join([kept["rev"], *(each["key"] for each in results)])
