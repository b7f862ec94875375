"""Reads the checkpoints of LangGraph: a SQLite file as `SqliteSaver` writes it, a thread a session.

In: the path of the file. Out: the objects of traces. LangGraph is imported here alone, and reads
the file itself: of what stands in it, only messages and plain values are made. Nothing is written.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

from sponsio_like.errors import TraceError

SQLITE = b"SQLite format 3\0"
"""The first bytes of a file of SQLite."""
SAID = {"human": "user", "ai": "assistant", "system": "system"}
"""The role of each type of message that says something."""
NEEDED = "pip install langgraph-checkpoint-sqlite"


def is_sqlite(path: str | Path) -> bool:
    """Return True if the file can be read and begins like one of SQLite."""
    try:
        with Path(path).open("rb") as file:
            return file.read(len(SQLITE)) == SQLITE
    except OSError:
        return False  # who reads the file next says why


def checkpointed(path: str | Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the trace of each thread of the file, with its place. Raises `TraceError`."""
    saver_of = _saver_of(path)
    where = f"{Path(path).resolve().as_uri()}?mode=ro"
    try:
        with closing(sqlite3.connect(where, uri=True, check_same_thread=False)) as file:
            saver = saver_of(file)
            for (thread,) in file.execute("select distinct thread_id from checkpoints").fetchall():
                yield f"{path}: thread {thread}", {"id": thread, "events": _events(saver, thread)}
    except sqlite3.Error as error:
        expected = "expected the tables `checkpoints` and `writes` of LangGraph's `SqliteSaver`"
        raise TraceError(f"{path}: {expected}: {error}") from None


def _saver_of(path: str | Path) -> Any:
    """Return the function that makes a saver of a file that is only read."""
    try:
        from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
        from langgraph.checkpoint.sqlite import SqliteSaver
    except ImportError:
        raise TraceError(f"{path}: to read checkpoints of LangGraph: {NEEDED}") from None

    def saver(file: sqlite3.Connection) -> Any:
        made = SqliteSaver(file, serde=JsonPlusSerializer(allowed_msgpack_modules=None))
        made.is_setup = True  # else it would write its tables
        return made

    return saver


def _events(saver: Any, thread: str) -> list[dict[str, Any]]:
    """Return the events of a thread: its latest state, and what led to it.

    A message that was removed from the state is still one of the run; of one that was changed, the
    last form counts.
    """
    found: dict[Any, tuple[float, Any]] = {}
    for checkpoint in reversed(_history(saver, thread)):
        messages = checkpoint["channel_values"].get("messages", ())
        if not isinstance(messages, list | tuple):
            raise TraceError(f"thread {thread}: expected a list of messages in `messages`")
        at = datetime.fromisoformat(checkpoint["ts"]).timestamp()
        for n, message in enumerate(messages):
            name = getattr(message, "id", None) or n
            found[name] = (found[name][0] if name in found else at, message)
    return [event for at, message in found.values() for event in _said(thread, at, message)]


def _history(saver: Any, thread: str) -> list[Mapping[str, Any]]:
    """Return the checkpoints from the latest one back to the first, past those of other forks."""
    config = {"configurable": {"thread_id": thread, "checkpoint_ns": ""}}
    found, wanted = [], None
    for each in saver.list(config):
        if wanted in (None, each.checkpoint["id"]):
            found.append(each.checkpoint)
            if each.parent_config is None:
                break
            wanted = each.parent_config["configurable"]["checkpoint_id"]
    return found


def _said(thread: str, at: float, message: Any) -> Iterator[dict[str, Any]]:
    """Yield the events that a message of LangChain is."""
    kind, text = getattr(message, "type", None), getattr(message, "text", None)
    if kind is None or text is None:
        shown = repr(message)[:80]
        raise TraceError(f"thread {thread}: expected messages of LangChain in `messages`: {shown}")
    if kind == "tool":
        status = "error" if message.status == "error" else "ok"
        result = {"id": message.tool_call_id, "status": status, "output": str(text)}
        yield {"type": "result", **result, "time": at}
        return
    if text and kind in SAID:
        yield {"type": "message", "role": SAID[kind], "text": str(text), "time": at}
    for call in getattr(message, "tool_calls", ()):
        yield {"tool": call["name"], "args": call["args"], "id": call["id"], "time": at}
