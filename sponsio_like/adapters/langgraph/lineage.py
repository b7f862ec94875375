"""The state of a session in the graph's own checkpoint: right under resume, replay and fork.

In: the value of the channel `contracts`. Out: the live session that it stands for, and after a
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

CHANNEL = "contracts"
"""The name of the channel, and of the key in a state that shares it."""
LINE_CAP = 200
"""Most ancestors that a shared value names: the steps of a subgraph before its parent hears."""
LIVE_CAP = 256
"""Most sessions that are kept alive between two steps; others are restored from their value."""

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
    if new.get("rev") == old.get("rev", ""):
        added = new.get("results", []) if new.keys() == {"rev", "results"} else []
        return {**old, "results": [*old.get("results", []), *added]} if added else old
    if "rev" in old and old["rev"] not in new.get("line", ()):
        raise SessionError(
            f"two branches of the graph have written `{CHANNEL}` at once, each without the calls "
            "of the other; let guarded tools run one after another, or give each branch a session "
            "of its own"
        )
    return new


class GuardedState(TypedDict):
    """The channel, for states that share it: of a graph and of the subgraphs in it."""

    contracts: Annotated[Kept, merged]


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
        self._interrupted: OrderedDict[str, None] = OrderedDict()
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

    def will_run_again(self, step: str) -> None:
        """The tools of this step have interrupted the graph: its batch was decided, and told."""
        with self._lock:
            self._interrupted[step] = None
            if len(self._interrupted) > LIVE_CAP:
                self._interrupted.popitem(last=False)

    def ran_before(self, step: str) -> bool:
        """Whether the batch of this step was decided here before."""
        with self._lock:
            return self._interrupted.pop(step, "no") is None


def mark_of(kept: Mapping[str, Any]) -> str:
    """What tells this value from others, with the results that have come since."""
    results = kept.get("results", ())
    return " ".join([kept["rev"], *(each["key"] for each in results)])
