"""Makes a snapshot of a session as JSON data, and restores a new session from one.

In: an interceptor. Out: its snapshot; or, of a new one, what it becomes by a snapshot.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from collections.abc import Mapping
from typing import Any

from sponsio_like.engine import encode, still_asks
from sponsio_like.errors import SnapshotError
from sponsio_like.session.flights import all_resumed, flight_data
from sponsio_like.session.interceptor import Interceptor
from sponsio_like.session.snapshot import FORMAT, Written, moment, part, put_back, take, take_text

_PLAIN = frozenset({str, int, float, bool, type(None)})
DAMAGED = "snapshot is damaged: it is not as it was when it was made"
DENSE = 4_096
"""Characters of a text from which on it is compressed: keys of many values look alike."""
WHOLE = re.compile(r"(?<=\d)\.0(?!\d)")
"""The end of a whole number that is written as a float: it is left out."""


def seal(data: Mapping[str, Any]) -> str:
    """Return a fingerprint of JSON data, the same in any order of keys, and for `1.0` as for `1`.

    Empty for data that cannot be written down.
    """
    try:
        text = json.dumps({key: data[key] for key in data if key != "seal"}, sort_keys=True)
    except ValueError:  # a number of too many digits
        return ""
    text = WHOLE.sub("", text) if ".0" in text else text
    return _seal_of(text)


def copied(data: Any) -> Any:
    """Return a copy of JSON data that shares nothing that can be changed."""
    match data:
        case dict():
            return {key: copied(each) for key, each in data.items()}
        case list() | tuple():
            return [each if type(each) in _PLAIN else copied(each) for each in data]
    return data


def snapshot(inner: Interceptor, session: str) -> dict[str, Any]:
    """Return the whole state of a session as JSON data, which nobody else has."""
    with inner.lock:
        mine, written = _own(inner, session)
        whole = take(inner.ledger, inner.context, written) | mine
        return {**copied(whole), "seal": seal(whole)}


def snapshot_text(inner: Interceptor, session: str) -> str:
    """Return a snapshot as a text, with its seal in front: what has not changed is known.

    Raises `ValueError` for a number of too many digits, which cannot be written down.
    """
    with inner.lock:
        mine, written = _own(inner, session)
        text = take_text(inner.ledger, inner.context, written, mine)
    dense = base64.b64encode(zlib.compress(text.encode(), 1)).decode() if len(text) > DENSE else ""
    return f"{_seal_of(text)} {dense or text}"


def read_text(text: str) -> dict[str, Any]:
    """Return the snapshot that a text is of. Raises `SnapshotError` for one that was changed."""
    sealed, _, said = text.partition(" ")
    try:
        whole = said if said[:1] == "{" else zlib.decompress(base64.b64decode(said)).decode()
    except (ValueError, zlib.error):
        whole = ""
    if sealed != _seal_of(whole) or not whole:
        raise SnapshotError(DAMAGED)
    data: dict[str, Any] = json.loads(whole)
    return {**data, "seal": seal(data)}


def _own(inner: Interceptor, session: str) -> tuple[dict[str, Any], Written]:
    """Return what a snapshot has of a session beside its contracts; and what is written already."""
    inner.flush_fast()
    if inner.ledger.half_written:
        inner.doubts()
    flying = {**inner.settling, **inner.flights}
    flights = {id: flight_data(flight) for id, flight in flying.items()}
    mine = {"session": session, "finished": inner.finished, **inner.world.standing()}
    mine |= {"doubt": inner.doubt} if inner.doubt else {}
    mine |= {"calls": inner.calls, "time": inner.time}
    mine |= {"flights": flights, "tickets": inner.tickets.plain()}
    mine |= {} if inner.gate is None else {"risk": inner.gate.plain()}
    inner.written = inner.written or Written()
    return {key: encode(value) for key, value in mine.items()}, inner.written


def _seal_of(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def restore(inner: Interceptor, data: Mapping[str, Any]) -> tuple[str, ...]:
    """Take over the state of a snapshot; return the contracts that have changed and start anew.

    Raises `SnapshotError` for a snapshot that was changed since it was made, before anything else
    is done.
    """
    if data.get("format") == FORMAT and seal(data) != data["seal"]:
        raise SnapshotError(DAMAGED)
    inner.sequential = False
    data, inner.written = copied(data), Written()  # its parts are cached: the caller has its own
    inner.context, fresh, moved = put_back(inner.ledger, data, inner.written)
    inner.finished = part(data, "finished", bool)
    inner.doubt = part(data, "doubt", str) if "doubt" in data else ""
    inner.ledger.half_written = bool(inner.doubt)
    inner.ledger.calls, inner.time = part(data, "calls", int), moment(data)
    anew = {*fresh, *inner.world.resume(data, lived=inner.calls > 0)}
    kept, sources = part(data, "flights", dict), {repr(s): s for s in inner.policy.sources}
    inner.flights = {**inner.flights, **all_resumed(kept, moved, sources)}
    if inner.gate is not None:
        inner.gate.resume(part(data, "risk", dict) if "risk" in data else None)
    inner.tickets.resume(
        part(data, "tickets", list),
        lambda asked: asked.contract not in anew and still_asks(inner.policy, asked),
    )
    return tuple(name for name in inner.policy.all.contracts if name in anew)
