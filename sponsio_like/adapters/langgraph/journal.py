"""Tells a session what a graph inside a guarded tool has done to it.

In: the entries that its own channel keeps: calls that were decided there, and their results. Out:
the session knows of each of them, once. When the graph around it is resumed it begins the batch
anew, from a session that has not heard of them yet; the inner graph goes on where it was, and
tells it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import compress
from typing import Any
from weakref import WeakKeyDictionary

from sponsio_like.adapters.langgraph.gate import Ruling
from sponsio_like.adapters.langgraph.people import answer
from sponsio_like.engine import decode, encode
from sponsio_like.outcome import Held
from sponsio_like.session import Session

JournalEntry = dict[str, Any]
"""`{"key", "id"}` and `decided`: tool, arguments, agent and depth, with the `answers` of people; or
`output`, or `error`."""

KNOWN_CAP = 1000
"""Most entries that a session is known to know; of more, the first ones are forgotten."""
PARTS_CAP = 256
"""Most parts that a session is known to have written; of more, the first ones are forgotten."""


@dataclass
class Known:
    """The entries that a session was told of, and the parts that it has written.

    `keys`: of the entries that it was told of, in order, each with the number of parts that it had
    written by then. `parts`: the latest of these, each with its number; `count`: of all. `name`
    tells the session from others, once it has written one.
    """

    keys: dict[str, int] = field(default_factory=dict)
    parts: dict[str, int] = field(default_factory=dict)
    count: int = 0
    name: str = ""
    lock: threading.Lock = field(default_factory=threading.Lock)
    """It is held while a part is written: of two parts, the one with more to tell counts higher."""

    def note(self, keys: Iterable[str]) -> None:
        """Note that the session was told of these entries."""
        self.keys.update(dict.fromkeys(keys, self.count))
        if len(self.keys) > KNOWN_CAP:
            for old in [*self.keys][:-KNOWN_CAP]:
                self.keys.pop(old, None)

    def since(self, part: str) -> list[str]:
        """Return the keys of what it was told since it wrote a part; all, if it did not."""
        at, keys = self.parts.get(part, 0), self.keys.copy()  # another thread may note more
        return sorted(compress(keys, map(at.__le__, keys.values())))

    def wrote(self, part: str) -> None:
        """Note that the session has written this part."""
        self.count += 1
        self.parts[part] = self.count
        if len(self.parts) > PARTS_CAP:
            del self.parts[next(iter(self.parts))]


_KNOWN: WeakKeyDictionary[Session, Known] = WeakKeyDictionary()


def known_to(session: Session) -> Known:
    """Return what a session was told of, and what it has written; nothing, for a new one."""
    known = _KNOWN.get(session)
    return _KNOWN.setdefault(session, Known()) if known is None else known


def goes_on(session: Session, after: Session) -> Session:
    """Return the session that goes on `after` this one: it knows what this one was told."""
    known = known_to(session)
    _KNOWN[after] = replace(
        known, keys={**known.keys}, parts={**known.parts}, lock=threading.Lock()
    )
    return after


def catch_up(session: Session, entries: Iterable[JournalEntry]) -> None:
    """Tell the session of what it does not know yet."""
    known = known_to(session)
    for each in entries:
        if each["key"] not in known.keys:
            tell(session, each)
            known.note([each["key"]])


def tell(session: Session, entry: Mapping[str, Any]) -> None:
    """Tell the session of one entry."""
    if "decided" in entry:
        tool, args, (agent, depth) = entry["decided"]
        call: dict[str, Any] = {"id": entry["id"], "agent": agent, "depth": depth}
        outcome = session.decide(tool, decode(args), **call)
        if isinstance(outcome, Held):  # people have answered then
            for said in entry.get("answers", ()):
                answer(session, outcome.ticket.id, said)
            session.decide(tool, decode(args), **call)
    if "output" in entry or "error" in entry:
        output, error = decode(entry.get("output")), decode(entry.get("error"))
        session.settle(entry["id"], output=output, error=error)


def decided_entry(key: str, ruling: Ruling, by: tuple[str, int]) -> JournalEntry:
    """Return the entry of a call that is let through."""
    tool, args = ruling.decided
    said = {"answers": list(ruling.answers)} if ruling.answers else {}
    return {"key": key, "id": ruling.id, "decided": [tool, encode(dict(args)), list(by)], **said}


def result(key: str, id: str, came: Mapping[str, Any]) -> JournalEntry:
    """Return the entry of what came of a call: its `output`, or its `error`."""
    return {"key": key, "id": id, **{what: encode(each) for what, each in came.items()}}
